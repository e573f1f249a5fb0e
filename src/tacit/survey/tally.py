"""`Tally`: what is kept of a column while its cells go by, and the way its texts are read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from pyarrow import compute

from ..frames import Cells
from .cells import CODES, MARKS, Missing, Texts
from .dates import DATE_READINGS
from .distinct import Distinct
from .moments import Moments
from .numerals import NUMBER_READINGS, canonical, shape_of

__all__ = ["PARSERS", "Tally"]

PARSERS: dict[str, Callable[[list[str]], np.ndarray | None]] = NUMBER_READINGS | DATE_READINGS
"""How texts become numbers, by the reading of their column; each returns None where a text does not fit."""
MANY_TEXTS = 2000
"""Texts of a column that holds nothing else, beyond which the shapes of more are not looked at."""
SENTINELS = (-9.0, -99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, 999999.0)
"""Numbers that often stand for a missing cell."""


class Tally:
    """A column as far as it has been seen.

    Attributes
    ----------
    n_rows, n_missing : int
    readings : dict of str to Moments
        Ways to read all cells seen so far as numbers or dates, and the moments of what they hold then.
    distinct : Distinct
        The different values, texts or numbers as they were read.
    shapes : Counter
        How many cells look like a number, an amount, a text …, where not all are numbers.
    examples : dict of str to Counter
        Cells of each shape and how often they occur, some of them.
    leads : bool
        Whether it is the first of several columns, where tables number their rows.
    """

    def __init__(self, name: str, leads: bool = False):
        self.name, self.n_rows, self.n_missing, self.leads = name, 0, 0, leads
        self.readings = {reading: Moments() for reading in PARSERS}
        self.distinct = Distinct()
        self.shapes: Counter[str] = Counter()
        self.examples: dict[str, Counter[str]] = {}
        self.leading_zeros = self.long_digits = self.points = False
        self.letters = 0
        self.by_number: bool | None = None
        self.sentinels: Counter[float] = Counter()
        self.marks: Counter[str] = Counter()

    @property
    def n_seen(self) -> int:
        """Cells that are not missing."""
        return self.n_rows - self.n_missing

    @property
    def n_told(self) -> int:
        """Cells that rules about how many go by: all, so that few missing ones change nothing, but at most twice those seen."""
        return min(self.n_rows, 2 * self.n_seen)

    def as_numbers(self, reading: str) -> Tally:
        """The same with numbers for the different values that were kept as texts, such as those with decimal commas."""
        texts = [value for value in self.distinct.counts if isinstance(value, str)]
        values = PARSERS[reading](texts) if texts else None
        if values is None:
            return self
        found, number = copy(self), dict(zip(texts, values.tolist()))
        found.distinct, counts = copy(self.distinct), Counter[Any]()
        for value, times in self.distinct.counts.items():
            counts[number.get(value, value)] += times
        found.distinct.counts = counts
        return found

    def example(self, *shapes: str) -> str | None:
        """A cell of the first of these shapes that was seen."""
        return next((text for shape in shapes for text in self.examples.get(shape, ())), None)

    def add(self, cells: Cells) -> None:
        """Take some cells in."""
        missing = int(cells.missing.sum())
        self.n_rows += len(cells.missing)
        self.n_missing += missing
        if not (cells.numeric or isinstance(cells, Texts)):
            cells = Missing().of_objects(cells.objects.tolist())
        if missing and isinstance(cells, Texts):
            self.marks.update({text: times for text, times in cells.marks.items() if text in MARKS})
        if missing == len(cells.missing):
            return
        if isinstance(cells, Texts):
            self._add_texts(cells)
            texts = self.leading_zeros or self.long_digits or self.by_number is False
            self._count(cells, None if texts else cells.numbers, cells.times)
        else:
            seen = cells.values[~cells.missing] if missing else cells.values
            self._add_numbers(seen)
            self._count(None, seen)

    def _count(self, cells: Texts | None, numbers: np.ndarray | None, times: np.ndarray | None = None) -> None:
        """Count different values: by number if the first cells are numbers, by text otherwise, in all batches alike."""
        if self.by_number is None:
            self.by_number = numbers is not None
        if self.by_number and numbers is not None:
            self.distinct.add(numbers, times)
        elif cells is None:
            self.distinct.add(Counter(map(canonical, [] if numbers is None else numbers.tolist())))
        elif self.by_number:
            found: Counter[str | float] = Counter()
            for text, n in cells.counts.items():
                found[_key(text)] += n
            self.distinct.add(found)
        else:
            self.distinct.add(cells.counts)

    def _add_numbers(self, values: np.ndarray) -> None:
        if not np.isfinite(values).all():
            self._note_shape("infinity", {str(v): 1 for v in values[np.isinf(values)][:1]}, int(np.isinf(values).sum()))
            self.readings = {}
            values = values[np.isfinite(values)]
        self._note_shape("number", {}, len(values))
        self._keep_plain(values)

    def _keep_plain(self, values: np.ndarray) -> None:
        """Numbers written plainly: no dates, and the same in every reading but one, where a point separates thousands."""
        for reading in list(self.readings):
            if reading in DATE_READINGS or (reading == "comma amount" and self.points):
                del self.readings[reading]
        if "number" in self.readings:
            self.readings["number"].add(values)
            for reading in self.readings:
                self.readings[reading] = self.readings["number"]  # shared until they part
        else:
            for moments in self.readings.values():
                moments.add(values)
        for end in {float(values.min()), float(values.max())} & set(SENTINELS) if len(values) else ():
            self.sentinels[end] += int((values == end).sum())

    def _add_texts(self, cells: Texts) -> None:
        if "number" in self.readings and cells.numbers is not None:
            points, zeros, long = cells.styles
            self.points = self.points or points
            self.leading_zeros = self.leading_zeros or zeros
            self.long_digits = self.long_digits or long
            values = _observed(cells, cells.numbers)
            self._note_shape("number", {}, len(values))
            self._keep_plain(values)
            return
        self.letters += int(cells.times @ compute.utf8_length(cells.known).to_numpy(zero_copy_only=False))
        self.readings = {
            reading: copy(moments) for reading, moments in self.readings.items()
        }  # from here on they differ
        self._read_otherwise(cells)
        if self.shapes["text"] < MANY_TEXTS or len(self.shapes) > 1:
            for text, times in cells.counts.items():
                self._note_shape(shape_of(text), {text: times}, times)
        else:
            self.shapes["text"] += int(cells.times.sum())

    def _read_otherwise(self, cells: Texts) -> None:
        """Drop the readings that do not suit the texts, and keep the moments of those that do."""
        for reading in list(self.readings):
            values = cells.days if reading in DATE_READINGS else None
            values = cells.read(PARSERS[reading]) if values is None else values
            if values is None:
                del self.readings[reading]
            else:
                self.readings[reading].add(_observed(cells, values))

    def _note_shape(self, shape: str, examples: dict[str, int], times: int) -> None:
        if not times:
            return
        self.shapes[shape] += times
        kept = self.examples.setdefault(shape, Counter())
        for text, count in examples.items():
            if text in kept or len(kept) < 20:
                kept[text] += count


def _observed(cells: Texts, values: np.ndarray) -> np.ndarray:
    """The numbers of the cells that are not missing, in their order, from those of the different texts."""
    return cells.spread(values)[~cells.missing]


def _key(text: str) -> str | float:
    """A text as the number it holds, if it holds one and is no name such as 007."""
    values = None if re.fullmatch(CODES, text) else NUMBER_READINGS["number"]([text])
    return text if values is None else float(values[0])
