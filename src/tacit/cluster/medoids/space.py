"""`Space`: rows with weights and the dissimilarities between them, computed from the rows or given as a matrix."""

from typing import Any, TypeAlias

import numpy as np

from ..dissimilarity.blocks import Dissimilarity
from ..dissimilarity.matrix import check_matrix

__all__ = ["MatrixSpace", "RowSpace", "Space"]


def two_nearest(block: np.ndarray) -> tuple[np.ndarray, ...]:
    """(near, d1, d2) of a block of distances to medoids; d2 is infinite where there is one medoid."""
    rows = np.arange(len(block))
    near = np.argmin(block, axis=1)
    d1 = block[rows, near].astype(np.float64)
    if block.shape[1] == 1:
        return near, d1, np.full(len(block), np.inf)
    block = np.array(block, dtype=np.float64)
    block[rows, near] = np.inf
    return near, d1, block.min(axis=1)


class RowSpace:
    """Distinct rows in an order of their own.

    Equal rows are one row with the sum of their weights, and rows of weight 0 are left out. Rows are ordered by a digest of their
    cells, which is as good as random: neither the order of rows, nor weight 2 instead of a row given twice, changes a fit.
    """

    def __init__(self, X: np.ndarray, weight: np.ndarray, metric: Dissimilarity, threads: int):
        self.metric, self.threads = metric, threads
        kept = np.flatnonzero(weight > 0)
        order = kept[np.argsort(_digest(X[kept]), kind="stable")]
        cells = X[order]
        equal = (cells[1:] == cells[:-1]) | ((cells[1:] != cells[1:]) & (cells[:-1] != cells[:-1]))
        new = np.append(True, ~equal.all(axis=1))
        self.rows, self.X = order[new], cells[new]
        self.place = np.full(len(X), -1)
        self.place[order] = np.cumsum(new) - 1
        self.weight = np.bincount(self.place[kept], weight[kept])
        self.n_rows = self.n_distinct = len(self.rows)
        self.candidate = _well_observed(self.X, self.weight)
        self.itemsize = X.dtype.itemsize

    def matrix(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Dissimilarities of all or of some rows."""
        X, names = (self.X, self.rows) if rows is None else (self.X[rows], self.rows[rows])
        return self.metric.square(X, names, self.threads)

    def nearest(self, medoids: np.ndarray) -> tuple[np.ndarray, ...]:
        """Nearest medoid of all rows, its distance and that of the second."""
        parts = self.metric.table(self.X, self.X[medoids], self.rows, self.threads, two_nearest)
        return tuple(np.concatenate(part) for part in zip(*parts))

    def whole(self, near: np.ndarray, X: np.ndarray, centers: Any) -> np.ndarray:
        """Labels of all rows given, from those of the distinct ones."""
        labels = near[self.place]
        rest = np.flatnonzero(self.place < 0)
        if len(rest):
            found = self.metric.table(X[rest], centers, rest, self.threads, two_nearest)
            labels[rest] = np.concatenate([part[0] for part in found])
        return labels


def _well_observed(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Rows with no more missing cells than the median row.

    What is missing is left out of dissimilarities, so that a row of which nothing is known would be near to all, and a medoid.
    """
    missing = np.isnan(X).sum(axis=1)
    order = np.argsort(missing, kind="stable")
    middle = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)
    return missing <= missing[order[min(middle, len(order) - 1)]]


def _digest(X: np.ndarray) -> np.ndarray:
    """A number for every row that equal rows share and others most likely do not."""
    digest = np.full(len(X), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in X.T:
        cells = column.astype(np.float64) + 0.0  # −0 becomes 0
        cells[np.isnan(cells)] = np.nan
        digest = (digest ^ cells.view(np.uint64)) * np.uint64(0xD6E8FEB86659FD93)
        digest ^= digest >> np.uint64(32)
    return digest


class MatrixSpace:
    """Rows of which only the dissimilarities are known; the matrix is checked and never copied."""

    def __init__(self, D: np.ndarray, weight: np.ndarray, threads: int):
        self.D, self.weight, self.threads = (D.T if D.flags.f_contiguous else D).view(), weight, threads
        self.D.flags.writeable = False
        self.n_rows, self.itemsize = len(D), D.dtype.itemsize
        self.candidate = weight > 0
        self.rows = self.place = np.arange(len(D))
        self.n_distinct = int(np.sum((weight > 0) & ~check_matrix(self.D, threads)))

    def matrix(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Dissimilarities of all or of some rows."""
        return self.D if rows is None else self.D[np.ix_(rows, rows)]

    def nearest(self, medoids: np.ndarray) -> tuple[np.ndarray, ...]:
        """Nearest medoid of all rows, its distance and that of the second."""
        return two_nearest(self.D[medoids].T)

    def whole(self, near: np.ndarray, X: np.ndarray, centers: Any) -> np.ndarray:
        """Labels of all rows."""
        return near


Space: TypeAlias = RowSpace | MatrixSpace
