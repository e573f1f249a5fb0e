"""`Dissimilarity`: d(x, y) ≥ 0, d(x, y) = d(y, x), d(x, x) = 0, in blocks of a matrix that are checked as they are made."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...source.threads import all_of

__all__ = ["Dissimilarity"]

TILE = 256


class Dissimilarity:
    """Base of dissimilarities; a subclass defines ``between`` and how messages name it."""

    label: str
    undefined: str  # what to do where it gives no finite number
    threads: bool = True  # whether several may compute it at once

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """d(a, b) for all rows of A and B."""
        raise NotImplementedError(f"{type(self).__name__} does not define between.")

    def within(self, A: np.ndarray) -> np.ndarray:
        """d(a, a') for all pairs of rows of A."""
        lower = np.tril(self.between(A, A), -1)  # some differ by rounding when rows change places
        return lower + lower.T

    def checked(self, block: np.ndarray, names: np.ndarray, others: np.ndarray, of: str = "row") -> np.ndarray:
        """A block, unless it holds a value that is no dissimilarity; `names` and `others` are numbers of rows."""
        if not block.size or (block.min() >= 0 and block.max() < np.inf):
            return block
        i, j = np.argwhere(~((block >= 0) & (block < np.inf)))[0]
        remedy = self.undefined
        if block[i, j] < 0:
            remedy = "a dissimilarity must not be negative; subtract a similarity from its largest value"
        pair = f"row {names[i]} and {of} {others[j]}"
        raise ValueError(f"metric={self.label} gives {block[i, j]:g} between {pair}: {remedy}.")

    def all_of(self, function: Callable[[Any], Any], items: Any, threads: int) -> list:
        """function(item) for every item, on several threads where that is allowed."""
        return all_of(function, items, threads if self.threads else 1)

    def square(self, X: np.ndarray, names: np.ndarray, threads: int) -> np.ndarray:
        """The matrix of all pairs of rows, every pair computed once, in the precision of X."""
        n = len(X)
        D = np.empty((n, n), dtype=np.float32 if X.dtype == np.float32 else np.float64)

        def fill(tile: tuple[int, int]) -> None:
            a, b = (slice(start, start + TILE) for start in tile)
            block = self.within(X[a]) if a == b else self.between(X[a], X[b])
            D[a, b] = self.checked(block, names[a], names[b])
            D[b, a] = block.T

        self.all_of(fill, [(i, j) for i in range(0, n, TILE) for j in range(0, i + TILE, TILE)], threads)
        np.fill_diagonal(D, 0.0)
        return D

    def table(
        self, X: np.ndarray, centers: np.ndarray, names: np.ndarray, threads: int, reduce: Callable = np.asarray
    ) -> list:
        """reduce(d(x, centre) for some rows x and all centres) over blocks of rows, in order."""
        step = max(64, (1 << 18) // max(len(centers), 1))
        places = np.arange(len(centers))

        def distances(start: int) -> Any:
            here = slice(start, start + step)
            return reduce(self.checked(self.between(X[here], centers), names[here], places, "medoid"))

        return self.all_of(distances, range(0, len(X), step), threads)
