"""All pairs, in blocks: of points by products of matrices and an exact second look, of any other rows value by value.

    ‖q − y‖² = ‖q‖² + (‖y‖² − 2 q·y)

The product, in single precision, only says which rows cannot be among the nearest; its error is bounded, and the distances of all
others are computed from the cells. So nothing cancels, and results depend neither on blocks nor on threads.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..kernels import lazy
from .metrics import Points
from .search import Search, ranges

__all__ = ["BrutePoints", "BruteValues"]

kernels = lazy("nearest")

TILE = 2048
"""Rows in a block against 256 queries: 2 MB of single precision."""
FEW = 1 << 25
"""Cells of all pairs up to which products do not pay."""
USELESS = 0.1
"""Share of pairs that single precision cannot tell from near ones, beyond which products are taken in double."""
CENTRAL = 1000
"""Rows that a centre is the median of, about."""
FAR = {np.float32: 1e15, np.float64: 1e120}
"""How far out a query may be, in lengths of the longest row, so that nothing overflows."""


class _Scaled:
    """Rows about a centre, the longest of length 1, by column in one precision, and two columns more that bound the error.

    The product of (−2 q, 1, −2 ε ‖q‖) and (y, (1 − ε) ‖y‖², ‖y‖) is at most ‖y‖² − 2 q·y, whatever rounding does; rows far out do
    not matter to others.
    """

    def __init__(self, rows: np.ndarray, kind: Any):
        n, d = rows.shape
        # The median: a mean would lie far from all rows where one is far out.
        self.kind, self.center = kind, np.median(rows[:: max(1, n // CENTRAL)], axis=0).astype(np.float64)
        self.matrix = np.empty((d + 2, n), kind)
        square, here = np.empty(n), ranges(n, 4 * TILE)
        for part in here:
            gap = rows[part] - self.center
            square[part] = np.einsum("ij,ij->i", gap, gap)
        longest = float(np.sqrt(square.max()))
        self.factor = 1.0 / longest if longest > 0 else 1.0
        for part in here:
            self.matrix[:d, part] = ((rows[part] - self.center) * self.factor).T
        square *= self.factor**2
        # Of a sum of d + 2 products, of the casts, and of the limit that it is compared with.
        self.error = (d + 12) * float(np.finfo(kind).eps)
        self.matrix[d], self.matrix[d + 1] = (1.0 - self.error) * square, np.sqrt(square)
        self.unit = (1.0 + self.error) * self.factor**2

    def queries(self, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """What products are taken with, and a lower bound of ‖q‖²; None where queries are too far out."""
        scaled = (Q - self.center) * self.factor
        if np.abs(scaled).max(initial=0.0) > FAR[self.kind]:
            return None
        square = np.einsum("ij,ij->i", scaled, scaled)
        more = np.column_stack([np.ones(len(Q)), -2.0 * self.error * np.sqrt(square)])
        left = np.hstack([-2.0 * scaled, more]).astype(self.kind)
        return left, (1.0 - self.error) * square - float(np.finfo(self.kind).tiny) * (scaled.shape[1] + 12)


class BrutePoints(Search):
    """All pairs of points; see the module."""

    metric: Points
    serial_rows = 1 << 16

    def __init__(self, metric: Any, rows: np.ndarray, threads: int):
        super().__init__(metric, rows, threads)
        self._kept: dict[Any, _Scaled] = {}
        self._few = False
        self._kind: Any = np.float32

    @cached_property
    def _columns(self) -> np.ndarray:
        return np.ascontiguousarray(self.rows.T)

    def _scaled(self, kind: Any) -> _Scaled:
        if kind not in self._kept:
            self._kept[kind] = _Scaled(self.rows, kind)
        return self._kept[kind]

    def _blocks(self, function: Any, Q: np.ndarray) -> list:
        self._few = self.metric.p != 2 or len(Q) * self.rows.size <= FEW
        if self._few:
            self._columns  # noqa: B018  # made once, by one thread
        else:
            self._scaled(self._kind)
        return super()._blocks(function, Q)

    def _finished(self, values: np.ndarray) -> np.ndarray:
        return self.metric.finish(values)

    def _nearest(self, Q: np.ndarray, own: np.ndarray, values: np.ndarray, numbers: np.ndarray) -> int:
        def show(S: np.ndarray, start: int, unit: float, square: np.ndarray) -> int:
            return kernels.nearest_of_products(S, start, Q, self.rows, unit, square, own, values, numbers)

        if self._few or not self._products(Q, show):
            values[:], numbers[:] = np.inf, np.iinfo(np.int64).max
            kernels.nearest_of_points(Q, self._columns, self.metric.p, own, values, numbers)
        return Q.shape[0] * self.rows.shape[0]

    def _within(self, Q: np.ndarray, radius: np.ndarray, own: np.ndarray) -> tuple:
        limit, parts = self.metric.most(radius), []

        def show(S: np.ndarray, start: int, unit: float, square: np.ndarray) -> int:
            parts.append(kernels.within_products(S, start, Q, self.rows, unit, square, own, limit))
            return 0

        if self._few or not self._products(Q, show):
            parts = [kernels.within_points(Q, self._columns, self.metric.p, own, limit)]
        return (*joined(parts), Q.shape[0] * self.rows.shape[0])

    def _products(self, Q: np.ndarray, show: Any) -> bool:
        """show(products) of all tiles of rows, False where queries are too far out for products."""
        taken = self._scaled(self._kind)
        ready: Any = taken.queries(Q)
        if ready is None:
            return False
        S: Any = np.empty(len(Q) * TILE, taken.kind)
        for part in ranges(len(self.rows), TILE):
            tile = S[: len(Q) * (part.stop - part.start)].reshape(len(Q), -1)
            np.dot(ready[0], taken.matrix[:, part], out=tile)
            count = show(tile, part.start, taken.unit, ready[1])
            if part.start > 0 and taken.kind == np.float32 and count > USELESS * tile.size:
                self._kind = np.float64  # from here on, and for later queries
                taken, S = self._scaled(np.float64), np.empty(S.shape)
                ready = taken.queries(Q)
        return True


class BruteValues(Search):
    """All pairs of any rows."""

    step, tile = 64, 4096

    def _nearest(self, Q: Any, own: np.ndarray, values: np.ndarray, numbers: np.ndarray) -> int:
        for part in ranges(self.rows.shape[0], self.tile):
            kernels.nearest_of_values(self._values(Q, part), part.start, own, values, numbers)
        return Q.shape[0] * self.rows.shape[0]

    def _within(self, Q: Any, radius: np.ndarray, own: np.ndarray) -> tuple:
        parts = []
        for part in ranges(self.rows.shape[0], self.tile):
            D = self._values(Q, part)
            i, j = np.nonzero((radius[:, None] >= D) & (own[:, None] != np.arange(part.start, part.stop)))
            parts.append((np.bincount(i, minlength=Q.shape[0]), part.start + j, D[i, j]))
        return (*joined(parts), Q.shape[0] * self.rows.shape[0])

    def _values(self, Q: Any, part: slice) -> np.ndarray:
        """Distances of queries to some of the rows."""
        D = self.metric.between(Q, self.rows[part])
        return self.metric.checked(D, np.arange(Q.shape[0]), np.arange(part.start, part.stop), "row of the fit")


def joined(parts: list[tuple]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What tiles of rows have found, one query after the other."""
    if len(parts) == 1:
        return parts[0]
    counts = [part[0] for part in parts]
    owner = np.concatenate([np.repeat(np.arange(len(count)), count) for count in counts])
    order = np.argsort(owner, kind="stable")
    return (
        sum(counts),
        np.concatenate([part[1] for part in parts])[order],
        np.concatenate([part[2] for part in parts])[order],
    )
