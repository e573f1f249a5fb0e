"""Hard clusters around centres: minimise Σ_i w_i ‖x_i − c_{z_i}‖² over centres c and memberships z.

E-step: z_i = argmin_k ‖x_i − c_k‖        M-step: c_k = mean of its rows

A row with missing cells is as far from a centre as its observed cells say, times d over their number; a centre is the mean of
the observed cells of its rows, weighted accordingly, so that the sum of squares never increases.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, declare
from ..engine import Trace
from ..kernels import backend, kernel
from ..kernels.layout import center_tables
from ..notes import Note
from ..source import Block
from .model import UNCHANGED, CenterModel

__all__ = ["CenterStats", "Centers", "KMeansModel", "MeansModel", "moved_within"]

GROUP = 100  # centres that share a lower bound
STRETCH = 512  # centres compared with all others at once


@record
class Centers(Arrays):
    """Centres (K, d), and the point (d,) that sums are taken about."""

    center: np.ndarray
    origin: np.ndarray
    _saved = declare(center=Numbers("K d"), origin=Numbers("d"))

    @cached_property
    def about_origin(self) -> np.ndarray:
        """The centres less the origin."""
        return self.center - self.origin

    @cached_property
    def near(self) -> np.ndarray:
        """Half the distance of every centre to the nearest other one, less what rounding may have added."""
        c, square = self.about_origin, (self.about_origin**2).sum(axis=1)
        near = np.full(len(c), np.inf)
        for start in range(0, len(c), STRETCH):
            rows = np.arange(start, min(start + STRETCH, len(c)))
            apart = square[rows, None] - 2.0 * c[rows] @ c.T + square
            apart[np.arange(len(rows)), rows] = np.inf
            near[rows] = apart.min(axis=1)
        return 0.5 * np.sqrt(np.maximum(near - 1e-14 * square.max(), 0.0))

    @cached_property
    def _tables(self) -> dict:
        return {}

    def tables(self, dtype: Any) -> Any:
        """The centres about the origin, transposed, as sparse rows want them, made once; see `center_tables`."""
        if dtype not in self._tables:
            offset = 0.5 * np.einsum("kj,kj->k", self.about_origin, self.center + self.origin)
            self._tables[dtype] = center_tables(self.about_origin, offset, dtype)
        return self._tables[dtype]

    @cached_property
    def groups(self) -> list[np.ndarray]:
        """Numbers of the centres in groups of neighbours, about a hundred in each; bounds must not outgrow the rows."""
        n_groups = min(len(self.center) // GROUP, self.center.shape[1])
        return _halve(self.about_origin, np.arange(len(self.center)), max(n_groups, 1))


def _halve(points: np.ndarray, order: np.ndarray, n_parts: int) -> list[np.ndarray]:
    """Cut points in parts of about equal size, each time along the axis they spread most along; a list of their numbers."""
    if n_parts == 1:
        return [order]
    axis = np.linalg.svd(points[order] - points[order].mean(axis=0), full_matrices=False)[2][0]
    along = order[np.argsort(points[order] @ axis, kind="stable")]
    left = n_parts // 2
    cut = len(order) * left // n_parts
    return _halve(points, along[:cut], left) + _halve(points, along[cut:], n_parts - left)


@record
class CenterStats(Arrays):
    """Minus the sum of squares, total weight, weight of each cluster, and per cell its weight and sum about the origin.

    Weights of cells are (K, d), or (K, 1) where the cells of a cluster share theirs.
    """

    loglik: float
    weight: float
    counts: np.ndarray
    cells: np.ndarray
    sums: np.ndarray
    _summed = declare(weight=Numbers(low=0), counts=Numbers("K", low=0), cells=Numbers("K d", low=0))


def moved_within(moved: float, tol: float) -> Note:
    """That centres moved little enough to end a fit."""
    return Note("moved", "the centres moved by {moved:.3g}, within tol={tol:.3g}", moved=moved, tol=tol)


class MeansModel(CenterModel):
    """What models share whose centres are means: their parameters, their M-step, and what is done with empty classes."""

    def at(self, center: np.ndarray, origin: np.ndarray) -> Centers:
        return Centers(center, origin)

    def m_step(self, stats: CenterStats, params: Centers) -> Centers:
        """Means of observed cells; a cell that no row of a cluster shows stays where it is."""
        seen = stats.cells > 0
        mean = stats.sums / np.where(seen, stats.cells, 1.0)
        mean += params.origin
        return Centers(mean if seen.all() else np.where(seen, mean, params.center), params.origin)

    def reseated(
        self, stats: CenterStats, params: Centers, image: Centers, empty: np.ndarray, taken: Sequence[tuple]
    ) -> Centers:
        """The image with centres at the rows `taken`, which no longer count where they were."""
        counts, cells, sums = stats.counts.copy(), stats.cells.copy(), stats.sums.copy()
        center = image.center.copy()
        for j, (k, x, weight, share) in zip(empty, taken):
            center[j] = x
            counts[k] -= weight
            cells[k] -= share[: cells.shape[1]]
            sums[k] -= share * (x - params.origin)
        mended = self.m_step(CenterStats(0.0, stats.weight, counts, np.maximum(cells, 0.0), sums), params)
        center[counts > 0] = mended.center[counts > 0]
        return Centers(center, params.origin)


class KMeansModel(MeansModel):
    """K-means, as the engine learns it.

    Parameters
    ----------
    n_clusters : int
        Number of centres.
    algorithm : {"auto", "lloyd", "hamerly", "yinyang", "elkan"}
        Which bounds save distances: none, one per row, one per row and group of centres, or one per row and centre. ``auto``
        takes one per hundred centres. All give the same answer, and all rest where bounds do not help.
    """

    def __init__(self, n_clusters: int, algorithm: str = "auto"):
        super().__init__(n_clusters)
        self.algorithm = algorithm

    def e_step(self, params: Centers, block: Block) -> CenterStats:
        """Sums over the rows of each cluster."""
        counts, cells, sums, loss = self._pass("means", params, block)
        return CenterStats(-loss, float(block.weight.sum()), counts, cells, sums)

    def assign(self, params: Centers, block: Block) -> tuple[np.ndarray, float]:
        return self._pass("nearest", params, block)

    def _pass(self, name: str, params: Centers, block: Block) -> tuple:
        return kernel(name, backend(block.X))(
            block.X, block.patterns, block.weight, params, self.algorithm, block.local
        )

    def settled(self, trace: Trace, params: Centers, image: Centers, tol: float) -> Note | None:
        """Whether the centres moved by no more than `tol` in all, in squares."""
        moved = _square(image.center - params.center)
        # Sums made anew differ in their last digits even where no row moved.
        if moved <= 1e-26 * _square(params.about_origin) + 1e-30 * _square(params.center):
            return UNCHANGED
        return moved_within(moved, tol) if moved <= tol else None


def _square(values: np.ndarray) -> float:
    """The sum of squares of an array, which may be large."""
    return float(np.einsum("kj,kj->", values, values))
