"""`Pooled`: the rows of two tables, or of two parts of one, read as one table that is surveyed whole."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..frames import Batch
from ..schema import level_text
from ..survey.dates import DATE_READINGS
from ..survey.describe import Asked
from ..survey.typed import read_numbers
from ..tables import Reader, open_reader
from ..tables.reader import meant
from ..tables.surveying import survey
from ..words import number

__all__ = ["Pooled", "pool"]


class Pooled(Reader):
    """The rows of some readers one after the other, in the columns that all of them have, where `keep` says so.

    `side` is 0 or 1 for every row that is read; `keep(number of the reader, batch)` gives it, and −1 for rows to leave out.
    """

    def __init__(
        self, readers: Sequence[Reader], keep: Callable[[int, int, Batch], np.ndarray], ignore: Sequence[str] = ()
    ):
        super().__init__()
        first = readers[0]
        if len({reader.is_text for reader in readers}) > 1:
            raise ValueError(
                f"{readers[0].place} and {readers[1].place} are of different formats, one text and one typed; save both in one."
            )
        self.readers, self.keep, self.is_text, self.format = readers, keep, first.is_text, first.format
        self.names = [
            name for name in first.names if all(name in reader.names for reader in readers) and name not in ignore
        ]
        self.name, self.place, self.folder = first.name, " and ".join(reader.place for reader in readers), first.folder
        if not self.names:
            raise ValueError(f"{self.place} have no column in common; columns are matched by name.")
        self.odd = {name: what for reader in readers for name, what in reader.odd.items() if name in self.names}
        self.side = np.empty(0, dtype=int)
        self.row = np.empty(0, dtype=int)

    def batches(self) -> Iterator[Batch]:
        sides, rows = [], []
        for which, reader in enumerate(self.readers):
            start = 0
            for batch in reader.batches():
                side = self.keep(which, start, batch)
                chosen = np.flatnonzero(side >= 0)
                sides.append(side[chosen])
                rows.append(start + chosen + 1)
                start += batch.n_rows
                if len(chosen):
                    yield Batch({name: batch[name].take(chosen) for name in self.names})
        self.side, self.row = np.concatenate([self.side[:0], *sides]), np.concatenate([self.row[:0], *rows])


def pool(a: Any, b: Any, by: Any, values: Any, time: Any, at: Any, reading: dict) -> tuple[Pooled, tuple[str, str]]:
    """The rows of both sides, and what the sides are called."""
    if (b is not None) + (by is not None) + (time is not None) != 1:
        raise ValueError(
            "compare two tables, or two parts of one: give a second table, or the column whose values (by) or times "
            "(time) divide the rows."
        )
    first = open_reader(a, **reading)
    if b is not None:
        second = open_reader(b, **reading)
        called = (first.name, second.name) if first.name != second.name else ("A", "B")
        return Pooled([first, second], lambda which, _, batch: np.full(batch.n_rows, which)), called
    name = by if by is not None else time
    if name not in first.names:
        raise ValueError(f"{first.place} has no column {name!r} to tell the parts by; {meant(name, first.names)}")
    side, called = _parts(first, by, values) if by is not None else _times(first, time, at)
    return Pooled([first], lambda _, start, batch: side[start : start + batch.n_rows], [name]), called


def _parts(reader: Reader, by: str, values: Any) -> tuple[np.ndarray, tuple[str, str]]:
    """The side of every row by the two values of a column."""
    texts = [None if cell is None else level_text(cell) for batch in reader.batches() for cell in batch[by].objects]
    known = sorted({text for text in texts if text is not None})
    if values is None:
        if len(known) != 2:
            some = ", ".join(map(repr, known[:6])) + ", …" * (len(known) > 6)
            raise ValueError(f"column {by!r} has {len(known):,} values ({some}), not two; say which two to compare.")
        values = known
    chosen = [level_text(value) for value in values]
    strange = next((value for value in chosen if value not in known), None)
    if len(chosen) != 2 or chosen[0] == chosen[1] or strange is not None:
        what = (
            f"no row has {strange!r} in column {by!r}"
            if strange is not None
            else f"{list(values)!r} are not two values"
        )
        raise ValueError(f"{what}; say two of {', '.join(map(repr, known[:10]))}.")
    codes = {chosen[0]: 0, chosen[1]: 1}
    return np.array([codes.get(text or "", -1) if text is not None else -1 for text in texts]), (
        f"{by} = {chosen[0]}",
        f"{by} = {chosen[1]}",
    )


def _times(reader: Reader, time: str, at: Any) -> tuple[np.ndarray, tuple[str, str]]:
    """The side of every row by when it was: before a time or not; rows without a time are left out."""
    infos, _ = survey(reader, Asked({}, None, (), None))
    info = next(each for each in infos if each.name == time)
    dated = info.reading in DATE_READINGS
    if info.reading == "text" and not dated:
        raise ValueError(
            f"column {time!r} holds neither dates nor numbers; split the rows by one that does, or by its values."
        )
    when = np.concatenate([read_numbers(time, info.reading, batch[time]).values for batch in reader.batches()])
    known = when[~np.isnan(when)]
    if at is None:
        split = float(np.median(known))
        split = split if (known < split).any() else float(known[known > split].min(initial=np.inf))
    else:
        try:
            split = (datetime.date.fromisoformat(str(at)) - datetime.date(1970, 1, 1)).days if dated else float(at)
        except ValueError:
            kind = "a date such as 2024-01-31" if dated else "a number"
            raise ValueError(f"at={at!r} is no time of column {time!r}; give {kind}.") from None
    side = np.where(np.isnan(when), -1, (when >= split).astype(int))
    if not dated:
        told = number(split, 10)
    else:
        told = str(datetime.date(1970, 1, 1) + datetime.timedelta(days=math.ceil(split)))
    if not ((side == 0).any() and (side == 1).any()):
        raise ValueError(
            f"all rows of {reader.place} lie on one side of {told} in column {time!r}; choose another time."
        )
    return side, (f"{time} before {told}", f"{time} from {told}")
