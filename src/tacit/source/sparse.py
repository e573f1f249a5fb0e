"""`SparseSource`: rows of a sparse matrix in memory, whose cells that are not stored are zero, or missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from .block import Block, Patterns
from .source import Source
from .threads import thread_count
from .units import eligible_units, rows_of_units, unit_offsets

__all__ = ["SparseRows", "SparseSource", "canonical"]

LEAST_CELLS = 1 << 17  # of a block, so that it is worth a thread
MOST_BLOCKS = 32
ABSENT = ("zero", "missing")


@dataclass(frozen=True)
class SparseRows:
    """Rows by the cells that are stored; an index gives sparse rows, and ``rows @ array`` is the matrix product.

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
    absent : {"zero", "missing"}
        What a cell is that is not stored: 0, as of documents, or unknown, as of ratings.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]
    absent: str = "zero"

    @classmethod
    def of(cls, matrix: Any, absent: str = "zero") -> SparseRows:
        """The rows of a CSR matrix in canonical form."""
        kind = np.int32 if matrix.shape[1] < 1 << 31 else np.int64
        indices, indptr = matrix.indices.astype(kind, copy=False), matrix.indptr.astype(np.int64)
        return cls(matrix.data, indices, indptr, matrix.shape, absent)

    @cached_property
    def matrix(self) -> Any:
        """The same rows as a SciPy array."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    @property
    def dtype(self) -> np.dtype:
        """Precision of the cells."""
        return self.data.dtype

    @property
    def patterns(self) -> Patterns:
        """Rows grouped by their missing cells."""
        return (Patterns if self.absent == "zero" else EachRow).whole(*self.shape)

    def toarray(self) -> np.ndarray:
        """The rows as an ordinary array; NaN is missing."""
        if self.absent == "zero":
            return self.matrix.toarray()
        dense = np.full(self.shape, np.nan, self.dtype)
        dense[np.repeat(np.arange(len(self)), np.diff(self.indptr)), self.indices] = self.data
        return dense

    def double(self) -> SparseRows:
        """The same rows in double precision."""
        return replace(self, data=self.data.astype(np.float64, copy=False))

    def slice(self, start: int, stop: int) -> SparseRows:
        """The rows from `start` to before `stop`; nothing but `indptr` is copied."""
        a, b = self.indptr[start], self.indptr[stop]
        cells = self.data[a:b], self.indices[a:b], self.indptr[start : stop + 1] - a
        return SparseRows(*cells, (stop - start, self.shape[1]), self.absent)

    def __getitem__(self, rows: Any) -> SparseRows:
        return SparseRows.of(self.matrix[np.atleast_1d(rows)], self.absent)

    def __matmul__(self, array: np.ndarray) -> np.ndarray:
        return self.matrix @ array

    def __len__(self) -> int:
        return self.shape[0]


class EachRow(Patterns):
    """The patterns of sparse rows whose other cells are missing: every row its own, of which no mask is made."""

    is_complete = False

    @classmethod
    def whole(cls, n_rows: int, n_features: int) -> EachRow:
        nothing = np.broadcast_to(np.zeros(1, bool), (n_rows, n_features))
        return cls(np.arange(n_rows, dtype=np.int32), np.arange(n_rows + 1), nothing)


def canonical(matrix: Any) -> Any:
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


def _count(cells: int, n_features: int) -> int:
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
    weight, labels, targets, unit
        As in `ArraySource`.
    absent : {"zero", "missing"}, default="zero"
        What a cell is that is not stored: 0, as of documents, or unknown, as of ratings.
    n_blocks : int, optional
        Number of blocks.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    """

    in_memory = True

    def __init__(
        self,
        X: Any,
        weight: np.ndarray | None = None,
        labels: np.ndarray | None = None,
        targets: np.ndarray | None = None,
        *,
        unit: Any = None,
        absent: str = "zero",
        n_blocks: int | None = None,
        n_jobs: int | None = None,
    ):
        if absent not in ABSENT:
            raise ValueError(f"absent={absent!r} is unknown; use one of {', '.join(map(repr, ABSENT))}.")
        self.X: Any = canonical(X)
        self.rows = SparseRows.of(self.X, absent)
        self.n_rows, self.n_features = X.shape
        self.weight = np.ones(self.n_rows) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        self.labels = np.full(self.n_rows, -1) if labels is None else np.ascontiguousarray(labels, dtype=np.int64)
        self.targets, self.n_targets = targets, 0 if targets is None else targets.shape[1]
        self.offsets = unit_offsets(unit, self.n_rows)
        self.n_jobs, self.dtype = thread_count(n_jobs), self.rows.dtype
        known = self.labels[self.labels >= 0]
        self.label_range = (int(self.labels.min()), int(known.max())) if len(known) else None
        self.labelled = len(known) == self.n_rows and absent == "zero"
        self._cut(n_blocks or _count(len(self.rows.data), self.n_features))

    @classmethod
    def of(cls, block: Block, n_jobs: int | None = None) -> SparseSource:
        """The rows of a block as a source."""
        unit = None if block.units is None else np.repeat(np.arange(block.n_units), np.diff(block.units))
        along = block.weight, block.labels, block.targets
        return cls(block.X.matrix, *along, unit=unit, absent=block.X.absent, n_jobs=n_jobs)

    def _cut(self, n_blocks: int) -> None:
        """Cut the rows at units, so that blocks have about equally many cells."""
        offsets = np.arange(self.n_rows + 1) if self.offsets is None else self.offsets
        cells = self.rows.indptr[offsets]
        ends = np.searchsorted(cells, np.linspace(0, cells[-1], n_blocks + 1)[1:-1])
        cuts = np.unique([0, *ends, self.n_units])
        self._blocks = [self._ingest(int(first), int(stop), offsets) for first, stop in pairwise(cuts)]
        self.n_blocks = len(self._blocks)

    def _ingest(self, first: int, stop: int, offsets: np.ndarray) -> Block:
        rows = slice(offsets[first], offsets[stop])
        units = None if self.offsets is None else offsets[first : stop + 1] - offsets[first]
        targets = None if self.targets is None else self.targets[rows]
        X = self.rows.slice(rows.start, rows.stop)
        return Block(X, self.weight[rows], self.labels[rows], X.patterns, targets, units, first=first)

    def parts(self) -> Iterator[Block]:
        return iter(self._blocks)

    def block(self, part: Block) -> Block:
        return part

    def __len__(self) -> int:
        return len(self._blocks)

    def eligible(self) -> np.ndarray:
        return eligible_units(self.weight, self.n_rows, self.offsets)

    def take(self, units: np.ndarray) -> Block:
        rows, offsets = rows_of_units(units, self.offsets)
        targets = None if self.targets is None else self.targets[rows]
        return Block.of(self.rows[rows], self.weight[rows], self.labels[rows], targets, units=offsets)
