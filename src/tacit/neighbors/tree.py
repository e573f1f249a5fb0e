"""`TreePoints`: a KD-tree, which leaves out boxes of points that are further off than the neighbours found so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import lazy
from .metrics import Points
from .search import Search

__all__ = ["TreePoints"]

trees = lazy("kd_tree")


class TreePoints(Search):
    """Points in a tree with at most `leaf_size` rows in a leaf."""

    metric: Points
    step, serial_rows = 1024, 1 << 17

    def __init__(self, metric: Any, rows: np.ndarray, threads: int, leaf_size: int = 30):
        super().__init__(metric, rows, threads)
        n, d = rows.shape
        n_levels = 1 + max(0, int(np.ceil(np.log2(n / leaf_size))))
        n_nodes = 2**n_levels - 1
        order, (start, stop) = np.arange(n), np.zeros((2, n_nodes), np.int64)
        low, high = np.empty((2, n_nodes, d))
        trees.build_tree(rows, n_levels, order, start, stop, low, high)
        self._tree, self._sorted = (order, start, stop, low, high), np.ascontiguousarray(rows[order].T)

    def _finished(self, values: np.ndarray) -> np.ndarray:
        return self.metric.finish(values)

    def _nearest(self, Q: np.ndarray, own: np.ndarray, values: np.ndarray, numbers: np.ndarray) -> int:
        return trees.nearest_in_tree(Q, self._sorted, self.metric.p, own, *self._tree, values, numbers)

    def _within(self, Q: np.ndarray, radius: np.ndarray, own: np.ndarray) -> tuple:
        return trees.within_tree(Q, self._sorted, self.metric.p, own, self.metric.most(radius), *self._tree)
