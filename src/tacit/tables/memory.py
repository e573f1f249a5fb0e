"""`FrameReader`: a table that is in memory already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..frames import Batch, Cells, as_numbers, as_objects, columns_of, package
from ..survey.cells import cells_of_arrow, has_names
from .arrow import odd_columns
from .reader import Reader, checked_names
from .store import Store

__all__ = ["FrameReader"]


class FrameReader(Reader):
    """Read a pandas or polars DataFrame, an Arrow table, a dictionary of columns or a 2-D array.

    Columns of an array are called column_1, column_2, ….
    """

    name, place, folder = "table", "the table", "."

    def __init__(self, X: Any, missing: Iterable[str] = ()):
        super().__init__(missing)
        found = columns_of(X)
        if not found:
            raise ValueError("the table has no columns; at least one is needed.")
        names, self.columns = map(list, zip(*found))
        lengths = {len(column) for column in self.columns}
        if len(lengths) > 1:
            raise ValueError(
                f"the columns of the table have {min(lengths)} to {max(lengths)} rows; all must have the same number."
            )
        if package(X) not in ("pandas", "polars", "pyarrow") and not isinstance(X, dict):
            names = [f"column_{position + 1}" for position in names]
        self.names, _ = checked_names(names, self.place, self.notes)
        self.notes.clear()
        if package(X) == "pyarrow":
            self.odd = odd_columns(self.names, [column.type for column in self.columns])

    def _made(self) -> Iterator[Batch]:
        for start in range(0, len(self.columns[0]), self.batch_rows):
            stop = start + self.batch_rows
            yield Batch((name, self._cells(column, start, stop)) for name, column in zip(self.names, self.columns))

    def load(self) -> Store:
        return Store()  # it is in memory already

    def _cells(self, column: Any, start: int, stop: int) -> Cells:
        library = package(column)
        if library == "pyarrow":
            part = column.slice(start, stop - start)
            return cells_of_arrow(part.combine_chunks() if hasattr(part, "combine_chunks") else part, self.missing)
        part = column.iloc[start:stop] if library == "pandas" else column[start:stop]
        found = as_numbers(part)
        if found is None or has_names(*found):
            return self.missing.of_objects(as_objects(part))
        return self.missing.of_numbers(*found, given=part if library == "polars" else None)
