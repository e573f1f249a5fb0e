"""`Reader`: a table somewhere, read in batches of rows as often as wanted and never held whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..frames import Batch
from ..notes import NoteError, Option
from ..survey.cells import Missing

__all__ = ["BATCH_ROWS", "Reader", "checked_names", "meant"]

BATCH_ROWS = 50_000
BATCH_CELLS = 1 << 20
KEPT_CELLS = 2_000_000
"""Cells of a table up to which its batches are kept after the first pass, for others to use."""
MOST_COLUMNS = 10_000


class Reader:
    """Base of readers.

    A subclass sets the attributes and defines `read`. Cells of text formats are text (``is_text``): what is a number, a date
    or a category is for the survey to say, by the same rules for all of them.

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
    on_batch : callable or None
        Called after every batch with the number of rows of this pass so far, for lines of progress.
    """

    name: str
    place: str
    folder: str = "."
    names: list[str]
    is_text: bool = False
    format: str = "csv"
    on_batch: Callable[[int], Any] | None = None

    def __init__(self, missing: Iterable[str] = ()):
        self.missing = Missing(missing)
        self.notes: list[str] = []
        self.odd: dict[str, str] = {}
        self._kept: list[Batch] | None = None

    def read(self) -> Iterator[Batch]:
        """Yield every row once, in the order of the table, as `tacit.frames.Batch` of at most `batch_rows` rows."""
        raise NotImplementedError

    @property
    def batch_rows(self) -> int:
        """Rows of a batch: fewer where there are many columns."""
        return int(np.clip(BATCH_CELLS // max(len(self.names), 1), 1, BATCH_ROWS))

    def batches(self) -> Iterator[Batch]:
        """Yield every row once, in the order of the table, as `tacit.frames.Batch`; small tables are read only once."""
        kept: list[Batch] | None = []
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

    def locate(self, path: str) -> None:
        """Name the table after a file."""
        self.place, self.folder = os.fspath(path), os.path.dirname(os.path.abspath(path))
        self.name = os.path.basename(os.fspath(path))
        for ending in (".gz", ".bz2", ".xz"):
            self.name = self.name.removesuffix(ending)
        self.name = os.path.splitext(self.name)[0] or self.name


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
            raise ValueError(
                f"{place} names the column {name!r} twice (columns {seen[name]} and {index + 1}); rename one."
            )
        names[index], seen[name] = name, index + 1
    return names, positions


def meant(name: str, known: Sequence[str]) -> str:
    """The remedy for a name that is not there: the one that is nearest, or those that there are."""
    near = get_close_matches(name, known, 1) or [other for other in known if other.lower() == name.lower()]
    if not known:
        return "it has no other columns."
    return f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known[:20])}{', …' * (len(known) > 20)}."
