"""tacit: latent-variable models that take missing cells. Submodules load when first used."""

from importlib import import_module as _import_module
from typing import Any

__version__ = "0.1.0"

_SUBMODULES = (
    "classification", "cluster", "datasets", "engine", "ensemble", "factor", "families", "gaussian_process", "graph", "impute",
    "learning", "linear_model", "mixture", "neighbors", "plot", "recommend", "relevance", "report", "sequence", "source", "study",
    "svm", "tables", "testing", "topics", "tree", "variational",
)  # fmt: skip
_NAMES = {"load": "tacit.persistence", "save": "tacit.persistence"}

__all__ = ["__version__", *_SUBMODULES, *_NAMES]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return _import_module(f"tacit.{name}")
    if name in _NAMES:
        return getattr(_import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
