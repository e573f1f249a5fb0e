"""Cells in the type of their column's role: float64 for numbers, text for the rest."""

from __future__ import annotations

import numpy as np

from ..frames import Cells
from .cells import Missing, Texts
from .column import CODED, ROLES, ColumnInfo
from .dates import DATE_READINGS
from .numerals import canonical
from .tally import PARSERS

__all__ = ["as_codes", "as_typed", "level_lookup", "read_numbers"]


def as_typed(column: ColumnInfo, cells: Cells) -> Cells:
    """Cells, as they were read, in the type of their role.

    Numbers of measurements and counts (days of dates that are taken as numbers); text otherwise, None where missing. Texts that
    are no level of a category are missing.
    """
    if ROLES[column.role] in ("continuous", "count"):
        return read_numbers(column.name, column.reading, cells) if isinstance(cells, Texts) else cells
    if isinstance(cells, Texts):
        texts = cells.known.to_pylist()
        texts = level_lookup(column, texts) if ROLES[column.role] in CODED else texts
        values = cells.spread(np.array([*texts, None], dtype=object)[:-1], None)
        gone = cells.spread(np.array([text is None for text in texts], dtype=bool), True)
        return Cells(values, gone, given=cells)
    values, seen = np.full(len(cells.values), None, dtype=object), ~cells.missing
    if ROLES[column.role] in CODED:
        values[seen] = level_lookup(column, cells.values[seen].tolist())
        return Cells(values, np.fromiter((value is None for value in values), bool, len(values)), given=cells)
    values[seen] = list(map(canonical, cells.values[seen].tolist()))
    return Cells(values, cells.missing, given=cells)


def as_codes(column: ColumnInfo, cells: Cells) -> np.ndarray:
    """Cells, as they were read, as the numbers of their role: those of levels count from 0; NaN where missing."""
    if ROLES[column.role] not in CODED:
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
