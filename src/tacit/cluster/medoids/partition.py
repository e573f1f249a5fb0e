"""`Partition`: k medoids of a matrix of dissimilarities, and which of them is nearest to each row.

    loss = Σ_i w_i d1_i,    medoid silhouette = Σ_i w_i (1 − d1_i / d2_i) / Σ_i w_i

with d1 ≤ d2 the distances to the nearest and the second nearest medoid.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ...kernels import lazy
from ...source.threads import all_of, over_ranges

__all__ = ["Pairs", "Partition", "medoid_silhouette"]

kernels = lazy("medoids")

SMALL = 300_000
"""Cells of a matrix that one thread passes through before others would have begun."""
CHUNK_CELLS = 10_000_000
"""Cells between two chances to interrupt."""
ROUNDING = 1e-12
"""Exchanges must gain this share of the loss: below is rounding, which could go in circles."""


def medoid_silhouette(d1: np.ndarray, d2: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean of 1 − d1 / d2, 0 where both are 0; NaN where there is no second medoid."""
    if not np.isfinite(d2).all():
        return float("nan")
    ratio = np.divide(d1, d2, out=np.ones(len(d1)), where=d2 > 0)
    return float(np.average(1.0 - ratio, weights=weight))


@dataclass(frozen=True)
class Pairs:
    """Symmetric dissimilarities of all pairs of rows, row weights, and which rows may be medoids; none of weight 0 may."""

    D: np.ndarray
    weight: np.ndarray
    candidate: np.ndarray
    threads: int = 1

    @classmethod
    def of(cls, D: np.ndarray, weight: np.ndarray, candidate: np.ndarray | None = None, threads: int = 1) -> Self:
        """All rows that count are candidates, unless said otherwise; small matrices are for one thread."""
        candidate = weight > 0 if candidate is None else candidate & (weight > 0)
        D = D.view()
        D.flags.writeable = False  # kernels are compiled once, for matrices that may be written to and others
        return cls(D, weight, candidate, 1 if len(D) ** 2 < SMALL else threads)


class Partition:
    """Medoids, and for every row the two nearest of them."""

    def __init__(self, pairs: Pairs, medoids: Sequence[int] | np.ndarray):
        self.D, self.weight, self.candidate, self.threads = pairs.D, pairs.weight, pairs.candidate, pairs.threads
        self.medoids = np.array(medoids, dtype=np.int64)
        n = len(self.D)
        self.near, self.second = np.empty(n, np.int64), np.empty(n, np.int64)
        self.d1, self.d2 = np.empty(n), np.empty(n)
        self.removal = np.empty(len(self.medoids))
        self.chunk = 64
        self.assign()

    def assign(self) -> None:
        """Find the nearest two medoids of all rows anew."""
        rows = self.near, self.second, self.d1, self.d2
        over_ranges(lambda a, b: kernels.assign(self.D, self.medoids, a, b, *rows), len(self.D), self.threads)
        self._measure()

    def _measure(self) -> None:
        self.loss = kernels.removal_loss(self.near, self.d1, self.d2, self.weight, self.removal)
        self.free = self.candidate.copy()
        self.free[self.medoids] = False

    def _state(self) -> tuple:
        return self.D, self.weight, self.free, self.near, self.d1, self.d2, self.removal

    def exchange(self, candidate: int, place: int) -> None:
        """Put a candidate in the place of a medoid."""
        kernels.exchange(self.D, self.medoids, place, candidate, self.near, self.second, self.d1, self.d2)
        self._measure()

    def first_exchange(self, start: int, stop: int) -> tuple[int, int] | None:
        """The first candidate of a range that lowers the loss, and the place of the medoid it replaces, or None.

        Chunks are small after an exchange, when the next is near, and grow; each thread takes one, and the first found counts.
        """
        largest, least = max(1, CHUNK_CELLS // len(self.D)), ROUNDING * self.loss
        while start < stop:
            starts = range(start, min(start + self.threads * self.chunk, stop), self.chunk)
            found = np.zeros(len(starts), dtype=bool)

            def look(begin: int, starts: range = starts, found: np.ndarray = found) -> tuple[int, int]:
                end = min(begin + self.chunk, stop)
                return kernels.first_exchange(*self._state(), begin, end, least, found, starts.index(begin))

            for candidate, place in all_of(look, starts, self.threads):
                if candidate >= 0:
                    self.chunk = max(16, self.chunk // 4)
                    return candidate, place
            start = min(starts[-1] + self.chunk, stop)
            self.chunk = min(2 * self.chunk, largest)
        return None

    def best_exchange(self) -> tuple[int, int] | None:
        """The candidate that lowers the loss most, and the place of the medoid it replaces, or None."""
        n = len(self.D)
        found = over_ranges(
            lambda a, b: kernels.best_exchange(*self._state(), a, b), n, self.threads, max(1, CHUNK_CELLS // n)
        )
        change, candidate, place = min(found, key=lambda one: one[0])
        return (candidate, place) if change < -ROUNDING * self.loss else None

    def centre(self) -> bool:
        """Make the best member of every cluster its medoid; say whether any changed."""
        before = self.medoids.copy()

        def best(place: int) -> int:
            return kernels.best_member(self.D, self.weight, self.candidate, np.flatnonzero(self.near == place))

        found = all_of(best, range(len(before)), self.threads)
        self.medoids = np.array([new if new >= 0 else old for new, old in zip(found, before)], dtype=np.int64)
        self.assign()
        return not np.array_equal(before, self.medoids)
