"""Variational inference: approximate posteriors, found by raising a bound of the evidence."""

from importlib import import_module
from typing import Any

__all__ = ["VariationalAutoencoder"]

_HOMES = {"VariationalAutoencoder": "autoencoder"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'tacit.variational' has no attribute {name!r}")
