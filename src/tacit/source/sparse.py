"""`SparseSource`: rows of a sparse matrix in memory. Cells that are not stored are zero, and none is missing."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..kernels import kernel
from .base import Source, n_cores
from .block import Block, Patterns

__all__ = ["SparseRows", "SparseSource", "canonical"]

LEAST_CELLS = 1 << 17  # of a block, so that it is worth a thread
MOST_BLOCKS = 32


@dataclass(frozen=True)
class SparseRows:
    """Rows by the cells that are not zero.

    An index gives rows as an ordinary array, so there should be few of them; ``rows @ array`` is the matrix product.

    Attributes
    ----------
    data : (cells,) float32 or float64
        Values, row by row.
    indices : (cells,) int32
        Their columns, in increasing order in each row.
    indptr : (n + 1,) int64
        Where rows begin.
    shape : (int, int)
        Rows and columns.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple

    @classmethod
    def of(cls, matrix):
        """The rows of a CSR matrix in canonical form."""
        kind = np.int32 if matrix.shape[1] < 1 << 31 else np.int64
        return cls(matrix.data, matrix.indices.astype(kind, copy=False), matrix.indptr.astype(np.int64), matrix.shape)

    @cached_property
    def matrix(self):
        """The same rows as a SciPy array."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    @property
    def dtype(self):
        """Precision of the cells."""
        return self.data.dtype

    @cached_property
    def square_lengths(self):
        """Σ_j x_j² of every row, in double precision."""
        row = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        return np.bincount(row, self.data.astype(np.float64) ** 2, minlength=len(self))

    def double(self):
        """The same rows in double precision."""
        return SparseRows(self.data.astype(np.float64, copy=False), self.indices, self.indptr, self.shape)

    def order(self):
        """The order of the rows by their cells, the last column first."""
        return kernel("row_order", "sparse")(self.data, self.indices, self.indptr)

    def slice(self, start, stop):
        """The rows from `start` to before `stop`; nothing but `indptr` is copied."""
        a, b = self.indptr[start], self.indptr[stop]
        return SparseRows(
            self.data[a:b], self.indices[a:b], self.indptr[start : stop + 1] - a, (stop - start, self.shape[1])
        )

    def row(self, number):
        """One row, still sparse."""
        return self.slice(number, number + 1)

    def take(self, rows):
        """The rows with these numbers."""
        return SparseRows.of(self.matrix[rows])

    def __getitem__(self, rows):
        if np.ndim(rows) == 0:
            return self.matrix[[rows]].toarray()[0]
        return self.matrix[rows].toarray()

    def __matmul__(self, array):
        return self.matrix @ array

    def __len__(self):
        return self.shape[0]


def canonical(matrix):
    """A CSR matrix with sorted columns and no cell stored twice; the one given is not changed.

    Raises
    ------
    ValueError
        Where a stored cell is NaN.
    """
    bad = np.flatnonzero(np.isnan(matrix.data))
    if len(bad):
        row, column = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1, int(matrix.indices[bad[0]])
        raise ValueError(
            f"X is sparse and holds NaN in row {row}, column {column}; sparse rows have no missing cells, so drop the cell "
            "or give a dense array, where NaN is missing."
        )
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _count(cells, n_features):
    """Blocks for so many cells: sums over a block are dense, so four may be small, and more only where they are large."""
    few, many = (cells // max(LEAST_CELLS, share * n_features) for share in (12, 32))
    return int(np.clip(max(min(few, 4), many), 1, MOST_BLOCKS))


class SparseSource(Source):
    """Rows of a sparse matrix, cut into blocks of about equally many stored cells.

    Sums over the rows of a block are dense, so blocks have many more cells than the matrix has columns.

    Parameters
    ----------
    X : CSR matrix or array of float32 or float64
        Cells. Not copied, unless cells are stored twice or in disorder.
    weight : (n,) array, optional
        Row weights, default 1.
    labels : None
        Sparse rows have no known classes.
    n_blocks : int, optional
        Number of blocks.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    """

    def __init__(self, X, weight=None, labels=None, *, n_blocks=None, n_jobs=None):
        if labels is not None:
            raise ValueError("sparse rows are for models without known classes; leave out labels.")
        self.X: Any = canonical(X)
        self.rows = SparseRows.of(self.X)
        self.weight = np.ones(len(self.rows)) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        self.n_rows, self.n_features = X.shape
        self.n_jobs = n_cores() if n_jobs in (None, -1) else n_jobs
        self.dtype = self.rows.dtype
        cells = len(self.rows.data)
        n_blocks = n_blocks or _count(cells, self.n_features)
        ends = np.searchsorted(self.rows.indptr, np.linspace(0, cells, n_blocks + 1)[1:-1])
        cuts = np.unique([0, *ends, self.n_rows])
        self._blocks = [self._ingest(start, stop) for start, stop in pairwise(cuts)]
        self.n_blocks = len(self._blocks)

    def _ingest(self, start, stop):
        return _block(self.rows.slice(start, stop), self.weight[start:stop])

    def __len__(self):
        return len(self._blocks)

    def __iter__(self):
        return iter(self._blocks)

    def eligible(self):
        return np.flatnonzero(self.weight > 0)

    def take(self, rows):
        return _block(self.rows.take(rows), self.weight[rows])


def _block(rows, weight):
    """A block of sparse rows, all of them complete."""
    n, d = rows.shape
    whole = Patterns(np.arange(n, dtype=np.int32), np.array([0, n]), np.zeros((1, d), bool))
    return Block(rows, weight, np.full(n, -1), whole)
