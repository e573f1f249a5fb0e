"""`ExcelReader`: a sheet of an Excel or OpenDocument file."""

from difflib import get_close_matches
from itertools import islice

from ..frames import Batch
from ..notes import Note, Option
from .reader import Reader, checked_names

__all__ = ["ExcelReader"]


class ExcelReader(Reader):
    """Read a sheet; its first row that is not empty names the columns.

    Parameters
    ----------
    path : str
        The file (xlsx, xlsm, xlsb, xls or ods).
    sheet : str, optional
        Name of the sheet, or its number from 1; default the first.
    missing : iterable of str
        Texts that stand for missing beside the usual ones.
    """

    def __init__(self, path, sheet=None, missing=()):
        super().__init__(missing)
        self.locate(path)
        self.sheet = self._open(path, sheet)
        rows = self._rows()
        found: list = next(rows, [])
        if not found:
            raise ValueError(f"{self.place} is empty; a row of names and at least one row below it are needed.")
        self.names, self.positions = checked_names(found, self.place, self.notes)

    def _open(self, path, sheet):
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
        close = get_close_matches(sheet, names, 1)
        hint = f"is {close[0]!r} meant?" if close else f"it has {', '.join(names)}."
        raise ValueError(f"{path} has no sheet {sheet!r}; {hint}")

    def _rows(self):
        """Rows that hold anything, without the cells beyond the last name."""
        return (row for row in self.sheet.iter_rows() if any(cell != "" for cell in row))

    def read(self):
        rows = islice(self._rows(), 1, None)
        empty = True
        while part := list(islice(rows, self.batch_rows)):
            empty = False
            columns = list(zip(*part))
            yield Batch(zip(self.names, map(self._cells, columns)))
        if empty:
            raise ValueError(f"{self.place} has a row of names but no row below it.")

    def _cells(self, cells):
        return self.missing.of_objects([None if cell == "" else cell for cell in cells])
