"""`Search`: neighbours of queries among rows that stay; equal distances are told by number, the lowest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import lazy
from ..source.threads import all_of
from .metrics import Metric

__all__ = ["Found", "Search", "heaps", "ranges"]

kernels = lazy("nearest")

Found = tuple[np.ndarray, np.ndarray, np.ndarray]
"""How many neighbours each query has, their numbers and distances, one query after the other."""
NONE = np.iinfo(np.int64).max


def heaps(n_queries: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The best k of each query, none yet."""
    return np.full((n_queries, k), np.inf), np.full((n_queries, k), NONE)


def ranges(n_rows: int, step: int) -> list[slice]:
    """Slices of at most `step` rows."""
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


class Search:
    """Base of searches; a subclass defines what it does for a block of queries.

    Parameters
    ----------
    metric : Metric
    rows : ndarray
        What `metric.points` made of the rows.
    threads : int
    """

    step = 256
    """Queries in a block."""
    serial_rows = 0
    """Pairs of queries and rows up to which threads do not pay."""

    def __init__(self, metric: Metric, rows: Any, threads: int):
        self.metric, self.rows, self.threads = metric, rows, threads
        self.prepared = self.computed = 0  # distances computed to prepare it, and for the last queries

    def nearest(self, Q: np.ndarray, k: int, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances and numbers of the k nearest rows of each query but its own (−1: none), nearest first."""
        values, numbers = heaps(Q.shape[0], k)

        def fill(here: slice) -> int:
            count = self._nearest(Q[here], own[here], values[here], numbers[here])
            kernels.sort_heaps(values[here], numbers[here])
            return count

        self.computed = sum(self._blocks(fill, Q))
        return self._finished(values), numbers

    def within(self, Q: np.ndarray, radius: np.ndarray, own: np.ndarray) -> Found:
        """The rows within a radius of each query, by number."""
        parts = self._blocks(lambda here: self._within(Q[here], radius[here], own[here]), Q)
        self.computed = sum(part[3] for part in parts)
        count, numbers, values = (np.concatenate(each) for each in zip(*(part[:3] for part in parts)))
        order = np.lexsort((numbers, np.repeat(np.arange(len(count)), count)))
        numbers, values = numbers[order], self._finished(values[order])
        # Sums of powers round: what counts is the distance.
        near = values <= np.repeat(radius, count)
        if not near.all():
            count = np.bincount(np.repeat(np.arange(len(count)), count)[near], minlength=len(count))
        return count, numbers[near], values[near]

    def _blocks(self, function: Callable[[slice], Any], Q: np.ndarray) -> list:
        self.metric.prepare(Q.shape[0] * self.rows.shape[0])
        threads = self.threads if self.metric.threads else 1
        if Q.shape[0] * self.rows.shape[0] <= self.serial_rows:
            threads = 1
        step = max(1, min(self.step, -(-Q.shape[0] // threads)))
        return all_of(function, ranges(Q.shape[0], step), threads, serial_blas=True)

    def _finished(self, values: np.ndarray) -> np.ndarray:
        """Distances, of what blocks give."""
        return values

    def _nearest(self, Q: np.ndarray, own: np.ndarray, values: np.ndarray, numbers: np.ndarray) -> int:
        """Show the heaps of queries all rows that may be near; returns how many distances were computed."""
        raise NotImplementedError(f"{type(self).__name__} does not define _nearest.")

    def _within(self, Q: np.ndarray, radius: np.ndarray, own: np.ndarray) -> tuple:
        """`Found` for a block, and how many distances were computed."""
        raise NotImplementedError(f"{type(self).__name__} does not define _within.")
