"""Cells in the type of their column's role: float64 for numbers, text for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..frames import Cells
from .cells import Missing, Texts
from .column import CODED, ROLES, ColumnInfo
from .dates import DATE_READINGS
from .numerals import canonical
from .tally import PARSERS

__all__ = ["Coded", "as_codes", "as_typed", "level_lookup", "read_numbers"]


def as_typed(column: ColumnInfo, cells: Cells) -> Cells:
    """Cells, as they were read, in the type of their role.

    Numbers of measurements, counts and cyclic columns (days of dates that are taken as numbers); text otherwise, None where
    missing. Texts that are no level of a category are missing.
    """
    if column.scores:
        return _scored(column, cells)
    if ROLES[column.role] in ("continuous", "count", "cyclic"):
        return read_numbers(column.name, column.reading, cells) if isinstance(cells, Texts) else cells
    if ROLES[column.role] in CODED:
        return Coded(column.levels, as_codes(column, cells), given=cells)
    if isinstance(cells, Texts):
        texts = cells.known.to_pylist()
        return Cells(cells.spread(np.array([*texts, None], dtype=object)[:-1], None), cells.missing, given=cells)
    values, seen = np.full(len(cells.values), None, dtype=object), ~cells.missing
    values[seen] = list(map(canonical, cells.values[seen].tolist()))
    return Cells(values, cells.missing, given=cells)


class Coded(Cells):
    """Cells of a category as its levels, None where missing, which are made of their codes where somebody asks."""

    numeric = False
    names: Sequence[str]
    codes: np.ndarray

    def __init__(self, names: Sequence[str], codes: np.ndarray, given: Any):
        missing = np.isnan(codes)
        self.__dict__.update(names=names, codes=codes, missing=missing, given=given, levels=None, whole=False)

    @cached_property
    def values(self) -> np.ndarray:  # type: ignore[override]
        """The levels."""
        return self.spread(self.names)

    def spread(self, values: Sequence, missing: Any = None) -> np.ndarray:
        """An array with the value of its level in every cell, from one for each level."""
        every = np.array([*values, missing], dtype=object if missing is None else None)
        return every[np.where(self.missing, len(self.names), self.codes).astype(np.intp)]


def as_codes(column: ColumnInfo, cells: Cells) -> np.ndarray:
    """Cells, as they were read, as the numbers of their role: those of levels count from 0; NaN where missing."""
    if not column.coded:
        return as_typed(column, cells).values
    codes = {level: float(code) for code, level in enumerate(column.levels)} | {None: np.nan}
    if isinstance(cells, Texts):
        return cells.spread(
            np.array([codes[level] for level in level_lookup(column, cells.known.to_pylist())], dtype=float)
        )
    out, seen = np.full(len(cells.values), np.nan), ~cells.missing
    found, places = np.unique(cells.values[seen], return_inverse=True)
    out[seen] = np.array([codes[level] for level in level_lookup(column, found.tolist())], dtype=float)[places]
    return out


def _scored(column: ColumnInfo, cells: Cells) -> Cells:
    """Levels in order as the numbers that stand for them."""
    levels, scores = zip(*column.scores)
    codes = as_codes(replace(column, scores=(), levels=levels), cells)
    gone = np.isnan(codes)
    return Cells(np.append(scores, np.nan)[np.where(gone, len(scores), codes).astype(int)], gone, given=cells)


def read_numbers(name: object, reading: str, cells: Cells) -> Cells:
    """Cells of text, or of Python's dates, as the numbers that a reading makes of them."""
    if not isinstance(cells, Texts):
        cells = Missing().of_objects(cells.objects.tolist())
        if not isinstance(cells, Texts):
            return cells
    found = cells.numbers if reading == "number" else None
    if found is None and len(cells.known):
        parser, texts = PARSERS.get(reading, PARSERS["number"]), cells.known.to_pylist()
        found = cells.days if reading in DATE_READINGS else None
        found = parser(texts) if found is None and reading in PARSERS else found
        if found is None:
            text = next((text for text in texts if parser([text]) is None), texts[0])
            raise ValueError(f"column {name!r} holds {text!r}, which is not a number as its other cells are.")
    return Cells(cells.spread([] if found is None else found), cells.missing, given=cells)


def level_lookup(column: ColumnInfo, cells: list) -> list[str | None]:
    """The levels that cells stand for, None for what is no level; case matters only where it must."""
    levels = set(column.levels)
    loose: dict[str, str | None] = {}
    for level in column.levels:
        key = level.casefold()
        loose[key] = None if key in loose else level
    known = {cell: _level(cell, levels, loose) for cell in set(cells)}
    return [known[cell] for cell in cells]


def _level(cell: float | str, levels: set[str], loose: dict[str, str | None]) -> str | None:
    text = canonical(cell)
    if text not in levels and isinstance(cell, str):
        found = PARSERS["number"]([cell])
        text = text if found is None else canonical(found[0])
    return text if text in levels else loose.get(text.casefold())
