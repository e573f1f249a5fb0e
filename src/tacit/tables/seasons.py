"""What the numbers of a table go with in its dates: a trend, the season, the day of the week or the time of day.

    R² of y on t,  on cos and sin of 2πt / 365.24,  on the seven days,  on cos and sin of 2πt / 1 day

of the first rows, each tested by F at 5 % over the number of tests. Dates are left out of models unless they are asked for; the
reason says which of these they may be asked for as.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
from scipy.special import fdtrc

from ..frames import Batch
from ..notes import Note, Option
from ..survey.column import ROLES, ColumnInfo
from ..survey.cycles import DATE_CYCLES
from ..survey.dates import DATE_READINGS
from ..words import share
from .copies import first_cells

__all__ = ["note_dates"]

MOST_COLUMNS = 50
LEVEL, LEAST = 0.05, 0.1
"""Probability of any false finding, and the share of a column's variance from which one is told."""
FORMS = {
    "trend": "a trend over time", "season": "the season", "weekday": "the day of the week", "hour": "the time of day",
}  # fmt: skip


def note_dates(columns: tuple[ColumnInfo, ...], batches: list[Batch]) -> tuple[ColumnInfo, ...]:
    """Say of dates that are left out what the numbers of a table go with, as far as the first rows tell."""
    numbers = [column for column in columns if column.used and ROLES[column.role] in ("continuous", "count")]
    dates = [column for column in columns if column.role == "date" and column.reading in DATE_READINGS]
    dates = [column for column in dates if getattr(column.left_out, "code", "") == "date"]
    if not dates or not numbers:
        return columns
    cells = {column.name: first_cells(column, batches) for column in numbers[:MOST_COLUMNS]}
    found = {column.name: _supported(column, cells, batches) or column.left_out for column in dates}
    return tuple(dataclasses.replace(c, left_out=found[c.name]) if c.name in found else c for c in columns)


def _supported(column: ColumnInfo, cells: dict[str, np.ndarray], batches: list[Batch]) -> Note | None:
    """The strongest of what numbers go with, or nothing."""
    days = first_cells(dataclasses.replace(column, role="measurement"), batches)
    reached = np.ptp(days[~np.isnan(days)]) if not np.isnan(days).all() else 0.0
    # The first rows of a table in the order of time say nothing of all of it.
    designs = dict(_designs(days)) if reached >= 0.9 * ((column.high or 0.0) - (column.low or 0.0)) > 0 else {}
    best = {}
    for form, design in designs.items():
        for name, values in cells.items():
            seen = ~np.isnan(design).any(axis=1) & ~np.isnan(values)
            explained, p = _explained(design[seen], values[seen])
            if explained >= LEAST and p * len(designs) * len(cells) < LEVEL:
                best[form, name] = explained
    if not best:
        return None
    (form, name), explained = max(best.items(), key=lambda item: item[1])
    text = "a date; {name} goes with {what} ({explained} of its variance); to use it so, use {option}"
    return Note(
        "date",
        text,
        name=name,
        what=FORMS[form],
        explained=share(explained, 0),
        option=Option("roles", (column.name, form)),
    )


def _designs(days: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """What may be made of dates, by what they reach over."""
    known = days[~np.isnan(days)]
    span, clock = np.ptp(known) if len(known) else 0.0, np.unique(np.floor(24 * (known % 1.0)))
    yield "trend", days[:, None] - (known.mean() if len(known) else 0.0)
    if span >= 1.5 * DATE_CYCLES["season"]:
        yield "season", _turns(days, DATE_CYCLES["season"])
    if span >= 28 and len(np.unique(np.floor(known) % 7)) > 4:
        week = np.where(np.isnan(days)[:, None], np.nan, np.floor(days)[:, None] % 7 == np.arange(1.0, 7.0))
        yield "weekday", week
    if len(clock) > 6:
        yield "hour", _turns(days, 1.0)


def _turns(days: np.ndarray, period: float) -> np.ndarray:
    turn = 2.0 * np.pi * days / period
    return np.column_stack([np.cos(turn), np.sin(turn)])


def _explained(design: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """R² of a regression, and the probability of a greater F by chance."""
    n, k = design.shape
    spread = np.square(values - values.mean()).sum() if n else 0.0
    if n < k + 10 or not np.isfinite(spread) or spread <= 0:
        return 0.0, 1.0
    centred = design - design.mean(axis=0)
    scale = np.sqrt(np.square(centred).mean(axis=0))
    solution = np.linalg.lstsq(centred / np.where(scale > 0, scale, 1.0), values - values.mean(), rcond=None)[0]
    rest = np.square(values - values.mean() - centred / np.where(scale > 0, scale, 1.0) @ solution).sum()
    explained = max(1.0 - rest / spread, 0.0)
    ratio = explained / k / max((1.0 - explained) / (n - k - 1), 1e-300)
    return float(explained), float(fdtrc(k, n - k - 1, ratio))
