"""`ExcelReader`: a sheet of an Excel or OpenDocument file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from ..notes import Note, Option
from ..survey.cells import arrow_of
from .reader import Reader, checked_names, has_header, header_place, joined_names, meant

__all__ = ["ExcelReader"]

LOOKED_AT = 20


class ExcelReader(Reader):
    """Read a sheet of an xlsx, xlsm, xlsb, xls or ods file; its first row that is not empty names the columns.

    The sheet is given by its name or by its number from 1; default the first. Rows of a title above the names, and of merged
    cells that span several, are found and skipped; `header` and `skip` are as in `open_reader`.
    """

    def __init__(
        self, path: str, sheet: str | None = None, missing: Iterable[str] = (), header: Any = None, skip: int | None = None
    ):  # fmt: skip
        super().__init__(missing)
        self.locate(path)
        self.sheet = self._open(path, sheet)
        self.skipped, named = skip or 0, has_header(header)
        rows = list(islice(self._rows(), LOOKED_AT))
        if not rows:
            raise ValueError(f"{self.place} is empty; a row of names and at least one row below it are needed.")
        place = header_place(rows) if named and skip is None else 0
        found = joined_names(rows[:place], rows[place])
        if place:
            above = " ".join(str(cell) for cell in rows[0] if cell != "")[:40]
            text = "names of columns were found below {above!r}; to take other rows, use {option}"
            row = next(number for number, row in enumerate(self.sheet.iter_rows()) if row == rows[place])
            self.notes.append(Note("title", text, above=above, option=Option("skip", row)))
        if not named:
            found = [f"column_{position + 1}" for position in range(len(found))]
        self.first = place + named
        self.names, self.positions = checked_names(found, self.place, self.notes)

    def _open(self, path: str, sheet: str | None) -> Any:
        try:
            import python_calamine
        except ImportError as error:
            raise ImportError(
                "reading Excel needs python-calamine; install it with: pip install 'tacit[excel]'"
            ) from error
        try:
            book = python_calamine.CalamineWorkbook.from_path(path)
        except python_calamine.PasswordError:
            raise ValueError(f"{path} is protected by a password; save it without one.") from None
        except (python_calamine.CalamineError, OSError) as error:
            raise ValueError(f"{path} cannot be read as an Excel file ({error}); save it again as xlsx.") from None
        names = book.sheet_names
        if len(names) > 1:
            self.place = f"{path}, sheet {sheet or names[0]}"
            if sheet is None:
                listed, option = ", ".join(names[:6]), Option("sheet", names[1])
                text = "read the first of {n} sheets ({listed}); to choose another, use {option}"
                self.notes.append(Note("sheets", text, n=len(names), listed=listed, option=option))
        if sheet is None or sheet in names:
            return book.get_sheet_by_name(sheet or names[0])
        if sheet.isdigit() and 1 <= int(sheet) <= len(names):
            return book.get_sheet_by_index(int(sheet) - 1)
        raise ValueError(f"{path} has no sheet {sheet!r}; {meant(sheet, names)}")

    def _rows(self) -> Iterator[list]:
        """Rows that hold anything, without the cells beyond the last name."""
        return (row for row in islice(self.sheet.iter_rows(), self.skipped, None) if any(cell != "" for cell in row))

    def read(self) -> Iterator[pa.RecordBatch]:
        rows = islice(self._rows(), self.first, None)
        empty = True
        while part := list(islice(rows, self.batch_rows)):
            empty = False
            columns = [arrow_of([None if cell == "" else cell for cell in cells]) for cells in zip(*part)]
            yield pa.RecordBatch.from_arrays(columns, names=self.names)
        if empty:
            raise ValueError(f"{self.place} has a row of names but no row below it.")
