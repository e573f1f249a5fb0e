"""`Function`: a dissimilarity that the user wrote in Python, at native speed where numba can compile it."""

from collections.abc import Callable

import numpy as np

from ...pairs import Pairs
from .blocks import Dissimilarity

__all__ = ["Function"]

SYMMETRIC = 1e-8
"""Share of the largest value by which d(x, y) and d(y, x) may differ, and d(x, x) from 0."""
ROUNDING = 1e-9
"""Share of the largest value up to which a negative value is taken for 0: 1 − a cosine may fall below by rounding."""


class Function(Dissimilarity):
    """A Python function of two rows, compiled where numba can do it and finds the same values; `note` tells whether and why."""

    undefined = "a dissimilarity must be a finite number; metric='gower' handles missing cells"

    def __init__(self, function: Callable, parameters: dict, sample: np.ndarray):
        self.label = repr(function)
        self._pairs = Pairs(function, parameters, sample)
        self.note, self.threads = self._pairs.note, self._pairs.compiled
        tried = self._pairs.tried
        self._slack = 1e-14 + ROUNDING * np.abs(tried[np.isfinite(tried)]).max(initial=0.0)

    def _rounded(self, values: np.ndarray) -> np.ndarray:
        """Values, 0 where they are below it by rounding alone."""
        values[(values < 0) & (values >= -self._slack)] = 0.0
        return values

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return self._rounded(self._pairs.between(A, B))

    def within(self, A: np.ndarray) -> np.ndarray:
        return self._rounded(self._pairs.within(A))

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
