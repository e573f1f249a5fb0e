"""Hard clusters around centres: minimise Σ_i w_i ‖x_i − c_{z_i}‖² over centres c and memberships z.

E-step: z_i = argmin_k ‖x_i − c_k‖        M-step: c_k = mean of its rows

A row with missing cells is as far from a centre as its observed cells say, times d over their number; a centre is the mean of
the observed cells of its rows, weighted accordingly, so that the sum of squares never increases.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Arrays, record
from ..kernels import backend, host, integers, kernel, renamed
from .model import CenterModel
from .sparse import center_tables, nearest_sparse, sum_sparse

__all__ = ["CenterStats", "Centers", "KMeansModel", "MeansModel"]

GROUP = 100  # centres that share a lower bound
STRETCH = 512  # centres compared with all others at once
STATE = "nearest centres"


@record
class Centers(Arrays):
    """Centres (K, d), and the point (d,) that sums are taken about."""

    center: np.ndarray
    origin: np.ndarray

    @cached_property
    def about_origin(self):
        """The centres less the origin."""
        return self.center - self.origin

    @cached_property
    def near(self):
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
    def square_lengths(self):
        """‖c‖² of every centre."""
        return np.einsum("kj,kj->k", self.center, self.center)

    @cached_property
    def _tables(self):
        return {}

    def tables(self, dtype):
        """The centres transposed, as sparse rows want them, made once; see `center_tables`."""
        if dtype not in self._tables:
            self._tables[dtype] = center_tables(self.center, self.square_lengths, dtype)
        return self._tables[dtype]

    @cached_property
    def groups(self):
        """Numbers of the centres in groups of neighbours, about a hundred in each; bounds must not outgrow the rows."""
        n_groups = min(len(self.center) // GROUP, self.center.shape[1])
        return _halve(self.about_origin, np.arange(len(self.center)), max(n_groups, 1))


def _halve(points, order, n_parts):
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


@dataclass
class Memory:
    """What a block remembers of its complete rows between passes; only ever a cache."""

    order: np.ndarray
    starts: np.ndarray
    center: np.ndarray
    anchor: np.ndarray
    labels: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    totals: np.ndarray
    bounded: bool
    patience: int = 2  # passes that the next rest of the bounds takes
    wait: int = 0  # passes until the bounds are tried again

    @classmethod
    def of(cls, params, n_rows, groups, bounded, like):
        """An empty memory: sums are taken about the centres as they are now."""
        order, n_bounds = np.concatenate(groups), n_rows if bounded else 0
        c = params.about_origin[order]
        return cls(
            order=order, starts=np.append(0, np.cumsum([len(group) for group in groups])), center=c, anchor=c,
            labels=integers(n_rows, -1, like), upper=np.zeros(n_bounds, np.float32),
            lower=np.zeros((n_bounds, len(groups)), np.float32), counts=np.zeros(len(c)), sums=np.zeros(c.shape),
            totals=np.zeros(3), bounded=bounded,
        )  # fmt: skip


class MeansModel(CenterModel):
    """What models share whose centres are means: their parameters, their M-step, and what is done with empty classes."""

    def at(self, center, origin):
        """Parameters at given centres."""
        return Centers(center, origin)

    def m_step(self, stats, params):
        """Means of observed cells; a cell that no row of a cluster shows stays where it is."""
        seen = stats.cells > 0
        mean = stats.sums / np.where(seen, stats.cells, 1.0)
        mean += params.origin
        return Centers(mean if seen.all() else np.where(seen, mean, params.center), params.origin)

    def reseated(self, stats, params, image, empty, taken):
        """The image with centres at the rows `taken`, which no longer count where they were."""
        counts, cells, sums = stats.counts.copy(), stats.cells.copy(), stats.sums.copy()
        center = image.center.copy()
        for j, (k, x, weight, share) in zip(empty, taken):
            center[j] = x
            counts[k] -= weight
            cells[k] -= share
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

    def __init__(self, n_clusters, algorithm="auto"):
        super().__init__(n_clusters)
        self.algorithm = algorithm

    def e_step(self, params, block):
        """Sums over the rows of each cluster."""
        if backend(block.X) == "sparse":
            loglik, *sums = sum_sparse(params, block)
            return CenterStats(loglik, float(block.weight.sum()), *sums)
        counts, cells, sums, loss, _ = self._pass(params, block)
        return CenterStats(-loss, float(block.weight.sum()), counts, cells, sums)

    def assign(self, params, block):
        """Labels of a block's rows, and the sum of squares."""
        if backend(block.X) == "sparse":
            return nearest_sparse(params, block)
        *_, loss, missing = self._pass(params, block)
        memory = block.local[STATE]
        labels = renamed(memory.order, memory.labels)
        if len(missing):
            whole = integers(len(block), -1, block.X)
            whole[block.patterns.complete], whole[block.patterns.incomplete.rows] = labels, missing
            labels = whole
        return host(labels), loss

    def settled(self, params, image, tol):
        """Whether the centres moved by no more than `tol` in all, in squares."""
        moved = _square(image.center - params.center)
        # Sums made anew differ in their last digits even where no row moved.
        if moved <= 1e-26 * _square(params.about_origin) + 1e-30 * _square(params.center):
            return "no row changed its cluster"
        return f"the centres moved by {moved:.3g}, within tol={tol:.3g}" if moved <= tol else None

    # One pass over a block

    def _pass(self, params, block):
        """Weights, weights per cell, sums, sum of squares, and labels of rows with missing cells; the block keeps the others."""
        complete, holes = block.patterns.complete, block.patterns.incomplete.rows
        counts, sums, loss = self._complete(params, block, complete)
        cells = np.repeat(counts[:, None], sums.shape[1], axis=1)
        missing = integers(len(holes), -1, block.X)
        if len(holes):
            loss += kernel("lloyd_cells", backend(block.X))(
                block.X, holes, block.weight, *_cast(block, params.origin, params.about_origin), missing, counts, cells, sums
            )  # fmt: skip
        return counts, cells, sums, loss, missing

    def _complete(self, params, block, rows):
        """The pass over complete rows, with the help of what the block remembers."""
        memory = self._recall(params, block, len(rows))
        center = params.about_origin[memory.order]
        shift = near = np.zeros(len(center), np.float32)
        if memory.bounded:
            shift = (np.sqrt(((center - memory.center) ** 2).sum(axis=1)) * (1.0 + 1e-6)).astype(np.float32)
            near = (params.near[memory.order] * (1.0 - 1e-6)).astype(np.float32)
        kernel("lloyd", backend(block.X))(
            block.X, rows, block.weight, *_cast(block, params.origin, center), memory.anchor, shift, near, memory.starts,
            memory.labels, memory.upper, memory.lower, memory.bounded, memory.counts, memory.sums, memory.totals,
        )  # fmt: skip
        memory.center = center
        step = center - memory.anchor
        loss = memory.totals[0] - 2.0 * (step * memory.sums).sum() + memory.counts @ (step**2).sum(axis=1)
        counts, sums = np.empty_like(memory.counts), np.empty_like(memory.sums)
        counts[memory.order] = memory.counts
        sums[memory.order] = memory.sums + memory.counts[:, None] * memory.anchor
        return counts, sums, max(loss, 0.0)

    def _recall(self, params, block, n_rows):
        """The block's memory, begun anew where bounds may help again or most rows have left the anchors of their sums."""
        memory = block.local.get(STATE)
        if memory is None or memory.center.shape != params.center.shape or len(memory.labels) != n_rows:
            return self._begin(params, block, n_rows)
        memory.wait -= 1
        if memory.wait == 0 or memory.totals[2] > 0.5 * n_rows:
            return self._begin(params, block, n_rows, memory.patience)
        if memory.bounded and memory.totals[1] > 0.7 * n_rows:
            # Bounds cost more than they save: rest, each time for longer.
            memory.bounded, memory.wait, memory.patience = False, memory.patience, 2 * memory.patience
        return memory

    def _begin(self, params, block, n_rows, patience=2):
        bounded = self.algorithm != "lloyd" and backend(block.X) == "cpu"
        memory = Memory.of(params, n_rows, self._groups(params), bounded, block.X)
        memory.patience = patience
        block.local[STATE] = memory
        return memory

    def _groups(self, params):
        if self.algorithm in ("lloyd", "hamerly"):
            return [np.arange(self.n_clusters)]
        if self.algorithm == "elkan":
            return list(np.arange(self.n_clusters)[:, None])
        return params.groups


def _cast(block, *values):
    """Arrays in the precision of the block's rows."""
    return [value.astype(block.dtype) for value in values]


def _square(values):
    """The sum of squares of an array, which may be large."""
    return float(np.einsum("kj,kj->", values, values))
