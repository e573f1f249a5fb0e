"""Places on a cycle in words: "around 22–2" of hours, "around 5 Jun – 20 Aug" of dates."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from ..families.cyclic import placed
from ..schema import Column
from ..words import number

__all__ = ["around_words", "mean_direction", "place_text"]

DAYS = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")
"""Days of the week from 1 January 1970 on, which days of dates are counted from."""
WIDE = 0.35
"""Share of a cycle, on either side of the mean direction, from which numbers lie all around it."""


def mean_direction(column: Column, cos: Any, sin: Any) -> Any:
    """The direction of a mean place on the circle, in the units of the column."""
    origin, period = column.cycle
    return placed(np.arctan2(sin, cos) * period / (2.0 * np.pi), origin, period)


def around_words(column: Column, cos: float, sin: float) -> str:
    """Where cells with a mean place on the circle lie: their mean direction, a circular standard deviation to either side."""
    (origin, period), length = column.cycle, float(np.hypot(cos, sin))
    if not length > 0:
        return "–"
    spread = np.sqrt(-2.0 * np.log(min(length, 1.0))) / (2.0 * np.pi) if length < 1.0 else 0.0
    if spread > WIDE:
        return "all around the cycle"
    mean = float(mean_direction(column, cos, sin))
    ends = [place_text(column, float(placed(mean + side * spread * period, origin, period))) for side in (-1, 1)]
    between = " – " if any(" " in end for end in ends) else "–"
    return f"around {ends[0] if ends[0] == ends[1] else between.join(ends)}"


def place_text(column: Column, value: float) -> str:
    """A place on the cycle: a number, or of dates a day of the year, a day of the week or a time of day."""
    origin, period = column.cycle
    if column.dated and period == 7.0:
        return DAYS[int(value) % 7]
    if column.dated and period == 1.0:
        return f"{int(24 * value):02d}:{int(1440 * value) % 60:02d}"
    if column.dated and 365.0 <= period < 366.0:
        day = datetime.date(2001, 1, 1) + datetime.timedelta(days=min(int(value), 364))
        return f"{day.day} {day:%b}"
    return number(float(placed(round(value), origin, period)) if column.steps else value, 3)
