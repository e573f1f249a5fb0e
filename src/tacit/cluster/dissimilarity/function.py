"""`Function`: a dissimilarity that the user wrote in Python, at native speed where numba can compile it."""

import inspect
import logging
from collections.abc import Callable

import numpy as np

from ...kernels import lazy
from .blocks import Dissimilarity

__all__ = ["Function"]

compiled = lazy("compiled")

log = logging.getLogger("tacit")

SYMMETRIC = 1e-8
"""Share of the largest value by which d(x, y) and d(y, x) may differ, and d(x, x) from 0."""
ROUNDING = 1e-9
"""Share of the largest value up to which a negative value is taken for 0: 1 − a cosine may fall below by rounding."""


class Function(Dissimilarity):
    """A Python function of two rows, compiled where numba can do it and finds the same values; `note` tells whether and why."""

    undefined = "a dissimilarity must be a finite number; metric='gower' handles missing cells"

    def __init__(self, function: Callable, parameters: dict, sample: np.ndarray):
        self.function, self.parameters = function, parameters
        self.label = repr(function)
        self._extra: tuple = ()
        self.note = ""
        self._python = compiled.python_pairs(function, parameters)
        sample = sample[np.unique(np.linspace(0, len(sample) - 1, 6).astype(int))]
        self._slack = 1e-14
        expected = self._run(self._python, sample, sample)
        self._slack += ROUNDING * np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        self._pairs = self._compiled(sample, expected) or self._python
        self.threads = self._pairs is not self._python
        log.info("metric %r: %s", function, self.note)

    def _compiled(self, sample: np.ndarray, expected: np.ndarray) -> tuple | None:
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
        scale = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        if not np.allclose(found, expected, rtol=1e-7, atol=1e-10 * scale, equal_nan=True):
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
        out[(out < 0) & (out >= -self._slack)] = 0.0
        return out

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return self._run(self._pairs, A, B)

    def within(self, A: np.ndarray) -> np.ndarray:
        return self._run(self._pairs, A)

    def check(self, X: np.ndarray) -> None:
        """Raise where the function is no dissimilarity, as far as a few rows show."""
        picked = np.unique(np.linspace(0, len(X) - 1, 40 if self.threads else 8).astype(int))
        block = self.checked(self.between(X[picked], X[picked]), picked, picked)
        slack = SYMMETRIC * block.max()
        i, j = np.unravel_index(np.argmax(np.abs(block - block.T)), block.shape)
        if abs(block[i, j] - block[j, i]) > slack:
            raise ValueError(
                f"metric={self.label} is not symmetric: it gives {block[i, j]:g} for rows {picked[i]} and {picked[j]} but "
                f"{block[j, i]:g} for rows {picked[j]} and {picked[i]}; use the mean of both."
            )
        i = np.argmax(np.diag(block))
        if block[i, i] > slack:
            raise ValueError(
                f"metric={self.label} gives {block[i, i]:g} between row {picked[i]} and itself; a dissimilarity must give 0."
            )


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
