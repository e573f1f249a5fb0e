"""`Pairs`: a function of two rows that the user wrote in Python, at native speed where numba can compile it."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable

import numpy as np

from .kernels import lazy

__all__ = ["Pairs"]

compiled = lazy("compiled")

log = logging.getLogger("tacit")


class Pairs:
    """A Python function of two rows, compiled where numba can do it and finds the same values; `note` tells whether and why.

    Parameters
    ----------
    function : callable
    parameters : dict
        Its keyword arguments.
    sample : ndarray of shape (n, d)
        Rows, on a few of which it is tried.
    noun : str
        What to call it in messages.
    """

    def __init__(self, function: Callable, parameters: dict, sample: np.ndarray, noun: str = "metric"):
        self.function, self.parameters = function, parameters
        self._extra: tuple = ()
        self.note = ""
        self._python = compiled.python_pairs(function, parameters, noun)
        sample = sample[np.unique(np.linspace(0, len(sample) - 1, 6).astype(int))]
        self.tried = self._run(self._python, sample, sample)
        self._pairs = self._compiled(sample) or self._python
        self.compiled = self._pairs is not self._python
        log.info("%s %r: %s", noun, function, self.note)

    def _compiled(self, sample: np.ndarray) -> tuple | None:
        """The compiled function, or None and a note that says why not."""
        try:
            self._extra = _positional(self.function, self.parameters)
            pairs = compiled.compile_pairs(self.function)
            found = self._run(pairs, sample, sample)
            self._run(pairs, sample)
        except Exception as error:  # whatever keeps numba from compiling it must not keep the fit from running
            reason = " ".join(str(error).split())[:300]
            self.note = f"called from Python, because numba cannot compile it ({type(error).__name__}: {reason})"
            return None
        scale = np.abs(self.tried[np.isfinite(self.tried)]).max(initial=0.0)
        if not np.allclose(found, self.tried, rtol=1e-7, atol=1e-10 * scale, equal_nan=True):
            self.note = "called from Python, because numba's version of it gives other values"
            return None
        self.note = "compiled by numba"
        return pairs

    def _run(self, pairs: tuple, A: np.ndarray, B: np.ndarray | None = None) -> np.ndarray:
        A = _read_only(A)
        out = np.empty((len(A), len(A if B is None else B)))
        if B is None:
            pairs[1](A, self._extra, out)
        else:
            pairs[0](A, _read_only(B), self._extra, out)
        return out

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Values of all pairs of a row of A and one of B."""
        return self._run(self._pairs, A, B)

    def within(self, A: np.ndarray) -> np.ndarray:
        """Values of all pairs of different rows, each computed once; the diagonal is 0."""
        return self._run(self._pairs, A)


def _read_only(rows: np.ndarray) -> np.ndarray:
    """Rows that a function cannot write into, in the precision in which it would compute by itself."""
    rows = np.ascontiguousarray(rows, dtype=np.float64).view()
    rows.flags.writeable = False
    return rows


def _positional(function: Callable, parameters: dict) -> tuple:
    """Values of parameters after the two rows, in the order of the function's signature."""
    if not parameters:
        return ()
    bound = inspect.signature(getattr(function, "py_func", function)).bind(None, None, **parameters)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"the parameter {next(iter(bound.kwargs))!r} can only be given by name")
    return bound.args[2:]
