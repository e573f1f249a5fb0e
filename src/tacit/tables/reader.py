"""`Reader`: a table somewhere, read once as Arrow record batches, which are gone through as often as wanted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from ..frames import Batch, Cells
from ..notes import NoteError, Option
from ..survey.cells import Missing, cells_of_arrow
from ..survey.numerals import numbers_of
from .store import Store

__all__ = ["BATCH_ROWS", "Reader", "checked_names", "has_header", "header_place", "joined_names", "meant"]

BATCH_ROWS = 100_000
BATCH_CELLS = 1 << 20
KEPT_CELLS = 2_000_000
"""Cells of a table up to which what is found out about them is kept as well."""
MOST_COLUMNS = 10_000


class Reader:
    """Base of readers.

    A subclass sets the attributes and defines `read`; what that yields is kept in a `Store`. In text formats (``is_text``), what
    is a number, a date or a category is for the survey to say, by the same rules for all of them.

    Parameters
    ----------
    missing : iterable of str
        Texts that stand for missing beside the usual ones.

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
    mapped : bool
        Whether what is read lies in a file that is mapped into memory, and takes none.
    on_batch : callable or None
        Called after every batch with the number of rows of this pass so far, for lines of progress.
    """

    name: str
    place: str
    folder: str = "."
    names: list[str]
    is_text: bool = False
    format: str = "csv"
    mapped: bool = False
    on_batch: Callable[[int], Any] | None = None

    def __init__(self, missing: Iterable[str] = ()):
        self.missing = Missing(missing)
        self.notes: list[str] = []
        self.odd: dict[str, str] = {}
        self._store: Store | None = None
        self._kept: list[Batch] | None = None

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield every row once, in the order of the table."""
        raise NotImplementedError

    def narrow(self, names: Sequence[str]) -> None:
        """Read no other columns, where the format has a way to leave them out; to be called before anything is read."""

    @property
    def batch_rows(self) -> int:
        """Rows of a batch: fewer where there are many columns."""
        return int(np.clip(BATCH_CELLS // max(len(self.names), 1), 1, BATCH_ROWS))

    def load(self) -> Store:
        """The rows, read."""
        store, n_rows = Store(), 0
        for batch in self.read():
            for start in range(0, batch.num_rows, self.batch_rows):
                part = _slice(batch, start, self.batch_rows)
                store.add(part, self.mapped)
                n_rows += part.num_rows
                if self.on_batch is not None:
                    self.on_batch(n_rows)
        store.close()
        return store

    def batches(self) -> Iterator[Batch]:
        """Yield every row once, in the order of the table, as `tacit.frames.Batch`; the table is read only once."""
        told = self._store is not None  # while it is loaded
        if self._store is None:
            self._store = self.load()
            told = not self._store.n_bytes
        kept: list[Batch] | None = []
        n_rows = 0
        for batch in self._kept or self._made():
            n_rows += batch.n_rows
            kept = kept if n_rows * len(self.names) <= KEPT_CELLS else None
            if kept is not None:
                kept.append(batch)
            yield batch
            if self.on_batch is not None and told:
                self.on_batch(n_rows)
        self._kept = kept

    def _made(self) -> Iterator[Batch]:
        start = 0
        for batch in self._store or ():
            yield Batch((name, self.cells(name, column, start)) for name, column in zip(self.names, batch.columns))
            start += batch.num_rows

    def cells(self, name: str, column: pa.Array, start: int) -> Cells:
        """Cells of a column of a batch that begins at a row."""
        return cells_of_arrow(column, self.missing)

    def locate(self, path: str) -> None:
        """Name the table after a file."""
        self.place, self.folder = os.fspath(path), os.path.dirname(os.path.abspath(path))
        self.name = os.path.basename(os.fspath(path))
        for ending in (".gz", ".bz2", ".xz", ".zst"):
            self.name = self.name.removesuffix(ending)
        self.name = os.path.splitext(self.name)[0] or self.name


def _slice(batch: pa.RecordBatch, start: int, n_rows: int) -> pa.RecordBatch:
    """Some rows of a batch, with no more of a dictionary than they need."""
    if batch.num_rows <= n_rows:
        return batch
    columns = [column.slice(start, n_rows) for column in batch.columns]
    columns = [
        column.dictionary_decode().dictionary_encode() if pa.types.is_dictionary(column.type) else column
        for column in columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def has_header(header: Any) -> bool:
    """Whether a table's first row names its columns, as asked; it does by default."""
    if header not in (None, True, False, "yes", "no"):
        raise NoteError("header", "{option} is neither yes nor no.", option=Option("header", header))
    return header not in (False, "no")


def header_place(rows: Sequence[Sequence]) -> int:
    """Which of the first rows names the columns: the first or, where that is mostly blank, the next that is full of words."""
    filled = [sum(not _blank(cell) for cell in row) for row in rows]
    width = Counter(len(row) for row in rows[1:]).most_common(1)[0][0] if len(rows) > 1 else 0
    if width < 2 or 2 * filled[0] > width or filled[0] > 2 + sum(filled[1:2]):
        return 0
    for place, row in enumerate(rows[1:-1], 1):
        if len(row) == width and 2 * filled[place] > width:
            return place if not any(_is_number(cell) for cell in row) else 0
    return 0


def joined_names(above: Sequence[Sequence], names: Sequence) -> list:
    """Names of columns; those that occur twice below a row of cells that span several columns, with the cell above."""
    twice = {name for name, times in Counter(names).items() if times > 1}
    spanning: Sequence = next(
        (row for row in reversed(above) if len(row) == len(names) and sum(not _blank(cell) for cell in row) > 1), []
    )
    if not twice or not spanning:
        return list(names)
    groups: list = list(accumulate(spanning, lambda before, cell: before if _blank(cell) else cell))
    return [f"{group} {name}" if name in twice and not _blank(group) else name for group, name in zip(groups, names)]


def _blank(cell: Any) -> bool:
    return cell is None or not str(cell).strip()


def _is_number(cell: Any) -> bool:
    return not _blank(cell) and (not isinstance(cell, str) or numbers_of([cell.strip()]) is not None)


def checked_names(
    found: Sequence, place: str, notes: list[str], only: Iterable[str] | None = None
) -> tuple[list[str], list[int]]:
    """Names of columns as text, each once and not empty, and their positions; `only` those where there are too many for all.

    Notes get a line for every column without a name.
    """
    names = ["" if name is None else " ".join(str(name).split()) for name in found]
    positions = list(range(len(names)))
    if len(names) > MOST_COLUMNS:
        wanted = set(only or ())
        positions = [position for position, name in enumerate(names) if name in wanted]
    if len(positions) > MOST_COLUMNS or (names and not positions):
        raise NoteError(
            "many_columns", "{place} has {n:,} columns, and at most {most:,} are read at once; choose some, such as {option}.",
            place=place, n=len(names), most=MOST_COLUMNS, option=Option("columns", list(names[:2])),
        )  # fmt: skip
    names = [names[position] for position in positions]
    taken = set(names)
    seen: dict[str, int] = {}
    for index, position in enumerate(positions):
        name = names[index] or f"column_{position + 1}"
        if not names[index]:
            while name in taken:
                name += "_"
            notes.append(f"column {position + 1} has no name and is called {name}")
        if name in seen:
            row = " or, if the first line is a row, use {option}" if _is_number(name) else ""
            raise NoteError(
                "twice", "{place} names the column {name!r} twice (columns {first} and {second}); rename one" + row + ".",
                place=place, name=name, first=seen[name], second=index + 1, option=Option("header", "no"),
            )  # fmt: skip
        names[index], seen[name] = name, index + 1
    return names, positions


def meant(name: str, known: Sequence[str]) -> str:
    """The remedy for a name that is not there: the one that is nearest, or those that there are."""
    near = get_close_matches(name, known, 1) or [other for other in known if other.lower() == name.lower()]
    if not known:
        return "it has no other columns."
    return f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known[:20])}{', …' * (len(known) > 20)}."
