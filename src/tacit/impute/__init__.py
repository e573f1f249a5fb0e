"""Fill in the missing cells of a table."""

from importlib import import_module
from typing import Any

from .gaussian import GaussianImputer
from .mixed import MixtureImputer
from .neighbours import KNNImputer
from .pooling import Pooled, pool

__all__ = [
    "Calibration", "Choice", "GaussianImputer", "KNNImputer", "MixtureImputer", "Pooled", "calibrate", "choose_imputer", "pool",
    "try_fills",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Loaded when asked for: choosing needs tables, mixtures and factors.
    if name in ("Choice", "choose_imputer"):
        return getattr(import_module(f"{__name__}.choice"), name)
    if name in ("Calibration", "calibrate", "try_fills"):
        return getattr(import_module(f"{__name__}.trial"), name)
    raise AttributeError(f"module 'tacit.impute' has no attribute {name!r}")
