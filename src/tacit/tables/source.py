"""`TableSource`: the rows of a table too large for memory, read anew at every pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..source import ArraySource, Block, Source
from ..source.source import default_block_rows
from ..source.threads import thread_count
from ..source.units import UnitScan, block_bounds, recut, rows_of_units

__all__ = ["TableSource"]


class TableSource(Source):
    """Rows of the columns in use of a `DataTable` in blocks of fixed size, whatever the batches it is read in.

    Parameters are as in `DataTable.source`; rows of a unit must lie together.
    """

    def __init__(
        self,
        table: Any,
        targets: Sequence[str] = (),
        unit: str | None = None,
        block_rows: int | None = None,
        n_jobs: int | None = None,
    ):
        self.table, names = table, table.schema.names
        self._target_places = [names.index(name) for name in targets]
        self._places = [place for place in range(len(names)) if place not in self._target_places]
        self.n_rows, self.n_features, self.n_targets = table.n_rows, len(self._places), len(targets)
        self.n_jobs = thread_count(n_jobs)
        self.offsets = None if unit is None else _scan(table, unit).offsets()
        self._rows, self._units = block_bounds(
            self.n_rows, block_rows or default_block_rows(self.n_features), self.offsets
        )
        self.n_blocks = len(self._rows) - 1

    def parts(self) -> Iterator[tuple[int, list]]:
        return enumerate(recut(self.table.encoded(), self._rows, lambda cells, start, stop: cells[start:stop]))

    def block(self, part: tuple[int, list]) -> Block:
        number, cells = part
        first, units = int(self._units[number]), None
        if self.offsets is not None:
            units = self.offsets[first : self._units[number + 1] + 1] - self._rows[number]
        return self._of(np.concatenate(cells), units=units, first=first)

    def _split(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The rows, and what is to be predicted of them."""
        return (cells[:, self._places], cells[:, self._target_places]) if self.n_targets else (cells, None)

    def _of(self, cells: np.ndarray, **known: Any) -> Block:
        X, targets = self._split(cells)
        return Block.of(X, targets=targets, **known)

    def held(self, cells: np.ndarray) -> ArraySource:
        """The same rows, all in memory."""
        X, targets = self._split(cells)
        unit = None if self.offsets is None else np.repeat(np.arange(self.n_units), np.diff(self.offsets))
        return ArraySource(X, targets=targets, unit=unit, n_jobs=self.n_jobs)

    def take(self, units: np.ndarray) -> Block:
        rows, offsets = rows_of_units(units, self.offsets)
        start, parts = 0, []
        for cells in self.table.encoded():
            parts.append(cells[rows[(rows >= start) & (rows < start + len(cells))] - start])
            start += len(cells)
        return self._of(np.concatenate(parts), units=offsets)


def _scan(table: Any, unit: str) -> UnitScan:
    """Where the units of a table begin."""
    scan, column = UnitScan(), [column for column in table.columns if column.name == unit]
    if not column:
        known = ", ".join(column.name for column in table.columns)
        raise ValueError(f"the table has no column {unit!r} to tell units by; it has {known}.")
    for _, batch in table.scan(column):
        scan.add(batch[unit].objects)
    return scan
