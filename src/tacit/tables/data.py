"""`DataTable`: a table whose columns are known: cells as numbers, a batch, a sample or all of them at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..frames import Batch, Cells
from ..schema import Column, Schema
from ..survey.column import ColumnInfo
from ..survey.scores import normal_scores
from ..survey.typed import as_codes, as_typed
from .reader import Reader
from .surveying import read_like

if TYPE_CHECKING:
    from ..source import Source  # what models need is loaded when one is fitted: a look at a table must be quick

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
    order : tuple of str
        Names of the columns that models use, where their order is not that of the table.
    notes : tuple of str
        What the user may want to know about the table as a whole.
    """

    reader: Reader
    columns: tuple[ColumnInfo, ...]
    n_rows: int
    order: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def used(self) -> tuple[ColumnInfo, ...]:
        """The columns that models use."""
        if self.order:
            named = {column.name: column for column in self.columns}
            return tuple(named[name] for name in self.order)
        return tuple(column for column in self.columns if column.used)

    @cached_property
    def ids(self) -> list[str]:
        """Names of the columns that say which row it is."""
        return [column.name for column in self.columns if column.role == "id"]

    @cached_property
    def schema(self) -> Schema:
        """How the columns that models use become numbers."""
        if not self.used:
            reasons = ", ".join(f"{column.name} ({column.left_out})" for column in self.columns[:10])
            more = f" and {len(self.columns) - 10} more" if len(self.columns) > 10 else ""
            raise ValueError(f"{self.reader.place} has no column that a model can use: {reasons}{more}.")
        return Schema(tuple(Column.of(column) for column in self.used))

    @cached_property
    def decimal(self) -> str:
        """The decimal mark of the numbers of a text table; a point elsewhere."""
        return "," if any(column.reading.startswith("comma") for column in self.columns) else "."

    @property
    def is_large(self) -> bool:
        """Whether the cells that models use are too many to keep."""
        return 8 * self.n_rows * len(self.used) > IN_MEMORY

    def like(self, columns: list[dict], unknown: str = "missing") -> DataTable:
        """The same table with columns as a model knows them; `columns` and `unknown` are as in `open_table`."""
        infos, n_rows, order, notes = read_like(self.reader, columns, unknown=unknown)
        return DataTable(self.reader, infos, n_rows, order, (*self.notes, *notes))

    def scored(self) -> DataTable:
        """The same table with levels in order as numbers, for models that take numbers only: normal scores of their shares."""
        return replace(self, columns=tuple(_scored(column) if column.used else column for column in self.columns))

    def batches(self) -> Iterator[Batch]:
        """Yield batches of all columns: measurements and counts as numbers, the rest as text, None where missing.

        ``batch[name].originals()`` are the cells of a column as the table holds them.
        """
        for _, batch in self.scan():
            yield batch

    def encoded(self) -> Iterator[np.ndarray]:
        """Yield the cells that models use, as arrays of numbers, batch by batch."""
        assert self.schema  # refused where no column is in use
        for batch in self.reader.batches():
            yield np.column_stack([as_codes(column, batch[column.name]) for column in self.used])

    def scan(self, columns: Iterable[ColumnInfo] = ()) -> Iterator[tuple[Batch, Batch]]:
        """Yield every batch as it was read and as `batches` has it."""
        for read in self.reader.batches():
            yield read, Batch({c.name: as_typed(c, read[c.name]) for c in columns or self.columns})

    @cached_property
    def cells(self) -> np.ndarray:
        """All cells that models use, in memory."""
        return np.concatenate(list(self.encoded()))

    def source(self, targets: Sequence[str] = (), unit: str | None = None, n_jobs: int | None = None) -> Source:
        """The rows for an estimator's `fit`: kept in memory unless they are too many.

        Parameters
        ----------
        targets : sequence of str
            Columns in use that are to be predicted.
        unit : str, optional
            The column that says which rows belong together.
        n_jobs : int, optional
            Threads; default all cores.
        """
        from .source import TableSource

        streamed = TableSource(self, targets, unit, n_jobs=n_jobs)
        source: Source = streamed if self.is_large else streamed.held(self.cells)
        source.schema = Schema(tuple(column for column in self.schema.columns if column.name not in targets))
        source.columns = source.schema.names
        return source

    def sample(self, n_rows: int, seed: int = 0) -> tuple[np.ndarray, Batch]:
        """Sorted numbers of at most `n_rows` rows drawn at random, and those rows as one batch of all columns."""
        rows = np.arange(self.n_rows)
        if self.n_rows > n_rows:
            rows = np.sort(np.random.default_rng(seed).choice(self.n_rows, n_rows, replace=False))
        start, parts = 0, []
        for batch in self.reader.batches():
            chosen = rows[(rows >= start) & (rows < start + batch.n_rows)] - start
            start += batch.n_rows
            if len(chosen):
                parts.append(
                    {column.name: as_typed(column, batch[column.name].take(chosen)) for column in self.columns}
                )
        return rows, Batch({column.name: _joined([part[column.name] for part in parts]) for column in self.columns})


def _scored(column: ColumnInfo) -> ColumnInfo:
    """An ordinal column as numbers."""
    if column.role != "ordinal" or not column.levels:
        return column
    scores = normal_scores(column.counts)
    moments: dict[str, Any] = {"low": scores[0], "high": scores[-1], "mean": 0.0, "std": _std(column.counts, scores)}
    reason = f"{column.reason}, taken as normal scores: {scores[0]:.2f} for {column.levels[0]} to {scores[-1]:.2f} for "
    reason += f"{column.levels[-1]}"
    pairs = tuple(zip(column.levels, scores))
    return replace(column, reason=reason, levels=(), counts=(), scores=pairs, whole=False, **moments)


def _std(counts: tuple, scores: tuple) -> float:
    return float(np.sqrt(np.average(np.square(scores), weights=counts)))


def _joined(parts: list[Cells]) -> Cells:
    values = np.concatenate([part.values for part in parts])
    missing = np.concatenate([part.missing for part in parts])
    return Cells(values, missing, whole=all(part.whole for part in parts), given=tuple(parts))
