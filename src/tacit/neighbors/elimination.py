"""Searches for costly metrics, by the triangle inequality: Orchard's algorithm, AESA, and linear AESA with buoys.

    |d(q, b) − d(b, x)| ≤ d(q, x)

Distances between rows are computed once; a query then is compared with few of them. Every triangle that is met is looked at:
where its longest side is longer than the other two together, the metric is none, and a warning says so.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from ..checks import machine_memory
from ..kernels import lazy
from .metrics import Metric
from .search import Search

__all__ = ["AESA", "ELIMINATING", "LinearAESA", "Orchard", "find_buoys"]

bounds = lazy("triangle")
kernels = lazy("nearest")

EVERY = np.iinfo(np.int64).max


class Eliminating(Search):
    """Base: one query after the other; `table` holds distances of some rows, `pivots`, to all."""

    step = 16
    whole: ClassVar[bool] = True  # whether the table is of all rows

    def __init__(self, metric: Metric, rows: np.ndarray, threads: int, table: np.ndarray, pivots: np.ndarray):
        super().__init__(metric, rows, threads)
        self.table, self.pivots = table, pivots
        self._longest = float(table.max(initial=0.0))
        self._told = False

    @classmethod
    def prepare(
        cls, metric: Metric, rows: np.ndarray, threads: int, n_buoys: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The table, its rows, and how many distances it took."""
        n = len(rows)
        metric.check(rows)
        if n * n * 16 > machine_memory():
            raise ValueError(
                f"the distances between {n} rows take {n * n * 8 / 1e9:.3g} GB; use algorithm='laesa', which keeps those to a "
                "few buoys."
            )
        metric.prepare(n * n)
        rows = (
            rows.astype(np.float64) if rows.dtype == np.float32 else rows
        )  # whose matrix would be of single precision too
        return metric.square(rows, np.arange(n), threads), np.arange(n), n * (n - 1) // 2

    def _distance(self, q: np.ndarray, j: int) -> float:
        found = self.metric.between(q, self.rows[j : j + 1])
        if not 0 <= found[0, 0] < np.inf:
            self.metric.checked(found, np.zeros(1, int), np.array([j]), "row of the fit")
        return found[0, 0]

    def _slack(self, distance: float) -> float:
        """What bounds may be wrong by, by rounding."""
        return self.metric.slack * (self._longest + distance)

    def _nearest(self, Q: np.ndarray, own: np.ndarray, values: np.ndarray, numbers: np.ndarray) -> int:
        count = 0
        for i in range(len(Q)):
            if own[i] >= 0 and self.whole:  # a row's distances are known
                kernels.nearest_of_values(
                    self.table[own[i]][None], 0, own[i : i + 1], values[i : i + 1], numbers[i : i + 1]
                )
            else:
                best = values[i], numbers[i]
                count += self._one(
                    Q[i : i + 1], own[i], best, lambda value, j, best=best: kernels.push(value, j, *best)
                )
        return count

    def _within(self, Q: np.ndarray, radius: np.ndarray, own: np.ndarray) -> tuple:
        count, computed, found = np.zeros(len(Q), np.int64), 0, []
        for i in range(len(Q)):
            mine: list = []
            limit = np.array([radius[i]]), np.array([EVERY])
            computed += self._one(Q[i : i + 1], own[i], limit, lambda value, j, mine=mine: mine.append((value, j)))
            found += [(value, j) for value, j in mine if value <= radius[i]]
            count[i] = len(found) - count[:i].sum()
        values = np.array([value for value, _ in found], dtype=np.float64)
        return count, np.array([j for _, j in found], dtype=np.int64), values, computed

    def _one(self, q: np.ndarray, own: int, worst: tuple, take: Any) -> int:
        """take(distance, number) of all rows that may be near one query; returns how many distances were computed.

        `worst` are two arrays with the distance and number of the worst that counts in front.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define _one.")

    def _look(self, between: np.ndarray, to_pivots: np.ndarray, pivots: np.ndarray, distance: float, j: int) -> None:
        """Say so where a query, a pivot and row j are no triangle."""
        if self._told:
            return
        b = bounds.broken(between, to_pivots, distance, 1e-9 * (self._longest + distance))
        if b >= 0:
            self._told = True
            warnings.warn(
                f"metric={self.metric.label} is no metric: of rows {pivots[b]} and {j} of the fit and a query q, d({pivots[b]}, "
                f"{j}) = "
                f"{between[b]:.6g}, d(q, {pivots[b]}) = {to_pivots[b]:.6g} and d(q, {j}) = {distance:.6g}, of which one exceeds "
                "the sum "
                "of the others; neighbours may be missed, use algorithm='brute'.",
                UserWarning,
                stacklevel=2,
            )


class Orchard(Eliminating):
    """Orchard's algorithm: down the list of rows by distance to the nearest one so far, no further than twice its distance."""

    def __init__(self, metric: Metric, rows: np.ndarray, threads: int, table: np.ndarray, pivots: np.ndarray):
        super().__init__(metric, rows, threads, table, pivots)
        self._lists = np.argsort(table, axis=1, kind="stable").astype(np.int32)

    def _one(self, q: np.ndarray, own: int, worst: tuple, take: Any) -> int:
        seen = np.zeros(len(self.rows), np.bool_)
        guess, count, place = 0, 1, 0
        distance = self._distance(q, guess)
        seen[guess] = True
        if guess != own:
            take(distance, guess)
        while True:
            limit = distance + worst[0][0] + self._slack(distance)
            place = bounds.next_near(self.table[guess], self._lists[guess], seen, place, limit)
            if place < 0:
                return count
            j = int(self._lists[guess, place])
            seen[j] = True
            found, count = self._distance(q, j), count + 1
            self._look(self.table[guess, j : j + 1], np.array([distance]), np.array([guess]), found, j)
            if j != own:
                take(found, j)
            if found < distance:
                guess, distance, place = j, found, 0


class AESA(Eliminating):
    """AESA: compute the distance to the row of the lowest bound, sharpen all bounds by it, drop rows that cannot be near."""

    def __init__(self, metric: Metric, rows: np.ndarray, threads: int, table: np.ndarray, pivots: np.ndarray):
        super().__init__(metric, rows, threads, table, pivots)
        self._first = int(np.argmin(table.sum(axis=1)))  # the medoid

    def _one(self, q: np.ndarray, own: int, worst: tuple, take: Any) -> int:
        n = len(self.rows)
        lower, alive, n_alive, j, count = np.zeros(n), np.arange(n), n, self._first, 0
        pivots, to_pivots = np.empty(n, np.int64), np.empty(n)
        if own >= 0:
            lower[own] = np.inf
        while j >= 0:
            distance = self._distance(q, j)
            self._look(self.table[j, pivots[:count]], to_pivots[:count], pivots, distance, j)
            pivots[count], to_pivots[count] = j, distance
            count += 1
            lower[j] = np.inf
            if j != own:
                take(distance, j)
            n_alive, j = bounds.sharpen(
                self.table[j], distance, worst[0][0], worst[1][0], self._slack(distance), lower, alive, n_alive
            )
        return count


class LinearAESA(Eliminating):
    """Linear AESA: distances to a few buoys bound all others; candidates come by rising bound until it exceeds what was found."""

    whole = False

    @classmethod
    def prepare(
        cls, metric: Metric, rows: np.ndarray, threads: int, n_buoys: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        metric.check(rows)
        metric.prepare(n_buoys * len(rows))
        table, buoys = find_buoys(metric, rows, n_buoys)
        return table, buoys, table.size

    def _one(self, q: np.ndarray, own: int, worst: tuple, take: Any) -> int:
        lower, buoys = np.empty(len(self.rows)), self.pivots
        to_buoys = self.metric.checked(
            self.metric.between(q, self.rows[buoys]), np.zeros(1, int), buoys, "row of the fit"
        )[0]
        bounds.lower_bounds(self.table, to_buoys, lower)
        for distance, j in zip(to_buoys, buoys):
            if j != own:
                take(distance, j)
        lower[buoys] = np.inf
        if own >= 0:
            lower[own] = np.inf
        count, slack = len(buoys), self._slack(float(to_buoys.max()))
        for j in np.argsort(lower, kind="stable"):
            sure = lower[j] - slack
            if sure > worst[0][0] or sure == np.inf:
                break
            if sure == worst[0][0] and j > worst[1][0]:
                continue
            distance, count = self._distance(q, j), count + 1
            self._look(self.table[:, j], to_buoys, buoys, distance, int(j))
            take(distance, int(j))
        return count


def find_buoys(metric: Metric, rows: np.ndarray, n_buoys: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows far from each other, each the farthest from those before, and their distances to all."""
    n, buoys = len(rows), [0]
    table = np.empty((min(n_buoys, n), n))
    nearest = np.full(n, np.inf)
    for b in range(len(table)):
        here = slice(buoys[b], buoys[b] + 1)
        table[b] = metric.checked(metric.between(rows[here], rows), np.array(buoys[b:]), np.arange(n))[0]
        np.minimum(nearest, table[b], out=nearest)
        if nearest.max() == 0:  # all other rows are equal to a buoy
            return table[: b + 1].copy(), np.array(buoys)
        buoys.append(int(np.argmax(nearest)))
    return table, np.array(buoys[: len(table)])


ELIMINATING: dict[str, type[Eliminating]] = {"orchard": Orchard, "aesa": AESA, "laesa": LinearAESA}
