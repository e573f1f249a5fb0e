"""Packages whose public names are loaded when first used, so that one of them does not load all others."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["lazily"]


def lazily(package: str, homes: dict[str, str]) -> tuple[Callable, Callable]:
    """The functions `__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : dict
        Public names, separated by spaces, by the module of the package that has them.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted({*vars(sys.modules[package]), *home})
