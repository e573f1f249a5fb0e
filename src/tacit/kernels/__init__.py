"""Inner loops. One registry: a kernel has a name, and an implementation per backend with the same signature.

Backends: ``cpu`` (numba) does the work; ``reference`` (plain NumPy) says what the work is, and the tests hold every
backend to it. Nothing above this package knows numba.
"""

from functools import cache
from importlib import import_module

__all__ = ["KERNELS", "kernel"]

KERNELS = {
    "normalise": "mixture",
    "full": "gaussian",
    "tied": "gaussian",
    "diag": "gaussian",
    "conditional": "conditional",
    "complete": "conditional",
    "draw": "conditional",
}

SCORE, MOMENTS, EXPECT = 0, 1, 2
"""What a pass over rows does: score them, add up their moments, or both with responsibilities made in between."""


@cache
def kernel(name, backend="cpu"):
    """The implementation of a kernel; compiled kernels are imported when first asked for."""
    if name not in KERNELS:
        raise KeyError(f"no kernel is called {name!r}; there are {', '.join(sorted(KERNELS))}.")
    home = {"cpu": KERNELS[name], "reference": "reference"}[backend]
    return getattr(import_module(f"{__name__}.{home}"), name)
