"""`Reader`: a table somewhere, read in batches of rows as often as wanted and never held whole."""

import os

import numpy as np

from ..notes import NoteError, Option
from ..survey.cells import Missing

__all__ = ["BATCH_ROWS", "Reader", "checked_names", "duplicate_error"]

BATCH_ROWS = 50_000
BATCH_CELLS = 1 << 20
KEPT_CELLS = 2_000_000
"""Cells of a table up to which its batches are kept after the first pass, for others to use."""
MOST_COLUMNS = 10_000


class Reader:
    """Base of readers.

    Parameters
    ----------
    missing : iterable of str
        Texts that stand for missing beside the usual ones.

    A subclass sets the attributes and defines `read`. Cells of text formats are text (``is_text``): what is a number, a date
    or a category is for the survey to say, by the same rules for all of them.

    Attributes
    ----------
    name : str
        What results are named after: the file's name without its ending.
    place : str
        What messages call the table: a path, or the database and the query, without any password.
    folder : str
        Where results are written unless said otherwise.
    names : list of str
        Names of the columns, each once.
    is_text : bool
        Whether all cells are text, as in a CSV file.
    format : {"csv", "parquet"}
        Which of the formats of results is nearest to the table's.
    notes : list of str
        What the user may want to know about the table as a whole.
    odd : dict of str to str
        Columns whose type no model can use, and what they hold: "lists".
    on_batch : callable or None
        Called after every batch with the number of rows of this pass so far, for lines of progress.
    """

    name: str
    place: str
    folder: str = "."
    names: list
    is_text: bool = False
    format: str = "csv"
    on_batch = None

    def __init__(self, missing=()):
        self.missing = Missing(missing)
        self.notes: list = []
        self.odd: dict = {}
        self._kept = None

    def read(self):
        """Yield every row once, in the order of the table, as `tacit.frames.Batch` of at most `batch_rows` rows."""
        raise NotImplementedError

    @property
    def batch_rows(self):
        """Rows of a batch: fewer where there are many columns."""
        return int(np.clip(BATCH_CELLS // max(len(self.names), 1), 1, BATCH_ROWS))

    def batches(self):
        """Yield every row once, in the order of the table, as `tacit.frames.Batch`; small tables are read only once."""
        kept: list | None = []
        n_rows = 0
        for batch in self._kept or self.read():
            n_rows += batch.n_rows
            kept = kept if n_rows * len(self.names) <= KEPT_CELLS else None
            if kept is not None:
                kept.append(batch)
            yield batch
            if self.on_batch is not None:
                self.on_batch(n_rows)
        self._kept = kept

    def locate(self, path):
        """Name the table after a file."""
        self.place, self.folder = os.fspath(path), os.path.dirname(os.path.abspath(path))
        self.name = os.path.basename(os.fspath(path))
        for ending in (".gz", ".bz2", ".xz"):
            self.name = self.name.removesuffix(ending)
        self.name = os.path.splitext(self.name)[0] or self.name


def checked_names(names, place, notes, only=None):
    """Names of columns as text, each once and not empty, and their positions.

    Parameters
    ----------
    names : list
        Names as they are found.
    place : str
        What messages call the table.
    notes : list of str
        Gets a line for every column without a name.
    only : list of str, optional
        The columns to read where there are too many for all.
    """
    names = ["" if name is None else " ".join(str(name).split()) for name in names]
    positions = list(range(len(names)))
    if len(names) > MOST_COLUMNS:
        positions = [position for position, name in enumerate(names) if name in set(only or ())]
    if len(positions) > MOST_COLUMNS or (names and not positions):
        raise NoteError(
            "many_columns", "{place} has {n:,} columns, and at most {most:,} are read at once; choose some, such as {option}.",
            place=place, n=len(names), most=MOST_COLUMNS, option=Option("columns", list(names[:2])),
        )  # fmt: skip
    names = [names[position] for position in positions]
    taken = set(names)
    for index, position in enumerate(positions):
        if not names[index]:
            names[index] = _unused(f"column_{position + 1}", taken)
            notes.append(f"column {position + 1} has no name and is called {names[index]}")
    if len(set(names)) < len(names):
        raise duplicate_error(names, place)
    return names, positions


def _unused(name, taken):
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def duplicate_error(names, place):
    """The error of a name that occurs twice."""
    seen: dict = {}
    for position, name in enumerate(names, 1):
        if name in seen:
            return ValueError(
                f"{place} names the column {name!r} twice (columns {seen[name]} and {position}); rename one."
            )
        seen[name] = position
    raise AssertionError("all names differ")
