"""Texts, titles and times from columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..survey.dates import times_of

__all__ = ["text_columns"]

PROSE = 0.5
"""Share of cells that must hold a letter for a column to be one of texts."""


def text_columns(
    table: Any, text: str, title: str | None, time: str | None, reading: dict
) -> tuple[list[str], list[str] | None, np.ndarray | None, str]:
    """Texts, titles and times of the rows of a table, and its name."""
    from ..tables import open_reader

    reader = getattr(table, "reader", None) or open_reader(table, **reading)
    for name in filter(None, (text, title, time)):
        if name not in reader.names:
            raise ValueError(f"{reader.place} has no column {name!r}; it has {', '.join(reader.names[:20])}.")
    cells: dict[str, list] = {name: [] for name in filter(None, (text, title, time))}
    for batch in reader.batches():
        for name, found in cells.items():
            found += batch[name].originals()
    texts = _texts(cells[text], text, reader.place)
    titles = ["" if cell is None else str(cell) for cell in cells[title]] if title else None
    return texts, titles, times_of(cells[time], time) if time else None, reader.name


def _texts(cells: list, name: str, place: str) -> list[str]:
    """Cells as texts, '' where missing; a column of numbers is none."""
    if not cells:
        raise ValueError(f"{place} has no rows; give at least one document.")
    known = [cell for cell in cells if cell is not None]
    if not known:
        raise ValueError(f"all cells of column {name!r} are missing; name the column of texts.")
    wordy = [isinstance(cell, str) and any(map(str.isalpha, cell)) for cell in known]
    if sum(wordy) < PROSE * len(known):
        odd = known[wordy.index(False)]
        raise ValueError(f"column {name!r} holds {odd!r} and the like, which are no texts; name the column of texts.")
    return ["" if cell is None else str(cell) for cell in cells]
