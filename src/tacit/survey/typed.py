"""Cells in the type of their column's role: float64 for numbers, text for the rest."""

import numpy as np

from ..frames import Cells
from .cells import Texts
from .column import ROLES
from .numerals import canonical
from .tally import PARSERS

__all__ = ["as_typed", "level_lookup"]


def as_typed(column, cells):
    """Cells in the type of their role.

    Parameters
    ----------
    column : ColumnInfo
    cells : Cells
        As they were read.

    Returns
    -------
    Cells
        Numbers of measurements and counts (days of dates that are taken as numbers); text otherwise, None where missing. Texts
        that are no level of a category are missing.
    """
    if ROLES[column.role] in ("continuous", "count"):
        return cells if cells.numeric else _numbers(column, cells)
    given = cells.values if cells.given is None else cells.given
    values = np.full(len(cells.values), None, dtype=object)
    seen = ~cells.missing
    if ROLES[column.role] == "category":
        if isinstance(cells, Texts):
            texts, places = cells.distinct
            values[seen] = np.array([*level_lookup(column, texts), None], dtype=object)[places]
        else:
            values[seen] = level_lookup(column, cells.values[seen].tolist())
        return Cells(values, np.fromiter((value is None for value in values), bool, len(values)), given=given)
    texts = cells.values[seen].tolist()
    values[seen] = [canonical(value) for value in texts] if cells.numeric else texts
    return Cells(values, cells.missing, given=given)


def _numbers(column, cells):
    values, seen = np.full(len(cells.missing), np.nan), ~cells.missing
    if column.reading == "number" and isinstance(cells, Texts) and cells.numbers is not None:
        values[seen] = cells.numbers
        return Cells(values, cells.missing, given=Written(cells))
    if seen.any():
        parser = PARSERS.get(column.reading, PARSERS["number"])
        found = cells.read(parser) if column.reading in PARSERS else None
        if found is None:
            text = next((text for text in cells.distinct[0] if parser([text]) is None), cells.distinct[0][0])
            raise ValueError(f"column {column.name!r} holds {text!r}, which is not a number as its other cells are.")
        values[seen] = found
    return Cells(values, cells.missing, given=cells.values if cells.given is None else cells.given)


class Written:
    """Cells as they were written, made into texts only when somebody asks."""

    def __init__(self, cells):
        self.cells = cells

    def to_pylist(self):
        """The cells in a list."""
        return self.cells.originals()


def level_lookup(column, cells):
    """The levels that cells stand for, None for what is no level; case matters only where it must."""
    levels = set(column.levels)
    loose: dict = {}
    for level in column.levels:
        key = level.casefold()
        loose[key] = None if key in loose else level
    known = {cell: _level(cell, levels, loose) for cell in set(cells)}
    return [known[cell] for cell in cells]


def _level(cell, levels, loose):
    text = cell if isinstance(cell, str) else canonical(cell)
    if text not in levels and isinstance(cell, str):
        found = PARSERS["number"]([cell])
        text = text if found is None else canonical(found[0])
    return text if text in levels else loose.get(text.casefold())
