"""`DataTable`: a table whose columns are known: cells as numbers, a batch, a sample or all of them at a time."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..frames import Batch, Cells
from ..schema import Schema
from ..source import ArraySource
from .reader import Reader
from .source import TableSource

__all__ = ["DataTable"]

IN_MEMORY = 1 << 30
"""Bytes of cells beyond which rows are read anew at every pass."""


@dataclass(frozen=True)
class DataTable:
    """A table and what is known about its columns; made by `open_table`.

    Attributes
    ----------
    reader : Reader
    columns : tuple of ColumnInfo
        All columns of the table, in its order.
    n_rows : int
    """

    reader: Reader
    columns: tuple
    n_rows: int

    @cached_property
    def used(self):
        """The columns that models use."""
        return tuple(column for column in self.columns if column.used)

    @cached_property
    def ids(self):
        """Names of the columns that say which row it is."""
        return [column.name for column in self.columns if column.role == "id"]

    @cached_property
    def schema(self):
        """How the columns that models use become numbers."""
        return Schema(tuple(column.schema_column() for column in self.used))

    @property
    def is_large(self):
        """Whether the cells that models use are too many to keep."""
        return 8 * self.n_rows * len(self.used) > IN_MEMORY

    def batches(self):
        """Yield batches of all columns: measurements, counts and dates as numbers, the rest as text."""
        for batch in self.reader.batches():
            yield Batch({column.name: as_typed(column, batch[column.name]) for column in self.columns})

    def encoded(self):
        """Yield the cells that models use, as arrays of numbers, batch by batch."""
        for batch in self.batches():
            yield self.schema.encode(batch)

    @cached_property
    def cells(self):
        """All cells that models use, in memory."""
        return np.concatenate(list(self.encoded()))

    def source(self, n_jobs=None):
        """The rows for an estimator's `fit`: kept in memory unless they are too many."""
        source = TableSource(self, n_jobs=n_jobs) if self.is_large else ArraySource(self.cells, n_jobs=n_jobs)
        source.schema, source.columns = self.schema, self.schema.names
        return source

    def sample(self, n_rows, seed=0):
        """Sorted numbers of at most `n_rows` rows drawn at random, and those rows as one batch of all columns."""
        rows = np.arange(self.n_rows)
        if self.n_rows > n_rows:
            rows = np.sort(np.random.default_rng(seed).choice(self.n_rows, n_rows, replace=False))
        start, parts = 0, []
        for batch in self.batches():
            chosen = rows[(rows >= start) & (rows < start + batch.n_rows)] - start
            parts.append({name: Cells(cells.values[chosen], cells.missing[chosen]) for name, cells in batch.items()})
            start += batch.n_rows
        return rows, Batch({name: _joined([part[name] for part in parts]) for name in self.reader.names})


def _joined(parts):
    return Cells(np.concatenate([part.values for part in parts]), np.concatenate([part.missing for part in parts]))


def as_typed(column, cells):
    """Cells in the type of their role: float64 for numbers, text for the rest."""
    if column.role in ("measurement", "count"):
        if cells.numeric:
            return cells
        values = np.full(len(cells.values), np.nan)
        values[~cells.missing] = cells.values[~cells.missing].astype(np.float64)
        return Cells(values, cells.missing)
    if not cells.numeric:
        return cells
    texts = np.array(
        [None if gone else f"{value:.15g}" for value, gone in zip(cells.values, cells.missing)], dtype=object
    )
    return Cells(texts, cells.missing)
