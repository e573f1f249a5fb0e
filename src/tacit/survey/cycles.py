"""Columns that go around a cycle: hours, months, days of the week, bearings.

Values decide: they stay within the cycle, reach both of its ends, and where they are whole numbers a law that goes around,

    log p(x) = Σ_h a_h cos hθ + b_h sin hθ,    θ = 2π x / period, h ≤ 2,

describes how often each occurs about as well as one that does not. A name such as "hour" supports; without one, only cycles count
whose range no other numbers have by chance, and only where going around describes them best.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from .moments import Moments
from .scores import MOST_CELLS, scored, scored_around
from .tally import Tally

__all__ = ["CYCLES", "DATE_CYCLES", "Cycle", "find_cycle", "fitting_cycle", "words_of"]

MARGIN = 0.05
"""Nats a cell that a law may be worse by under a name that supports it."""
CELLS = 5
"""Cells for each step of a cycle from which values alone may tell it."""


@dataclass(frozen=True)
class Cycle:
    """A cycle: what it is told as, its least value and its period, and which values and names are taken for it.

    Values reach down to `low` or below and up to `high` or above, and are at least `n` different ones; `alone` says
    whether they may tell the cycle without a name, and `parts` whether they may have decimals.
    """

    told: str
    origin: float
    period: float
    names: str
    low: float
    high: float
    n: int = 2
    alone: bool = False
    parts: bool = False

    def holds(self, low: float, high: float, whole: bool) -> bool:
        """Whether numbers lie within it; 360 degrees are 0."""
        last = self.origin + self.period - (1.0 if whole and self.period < 360 else 0.0)
        return self.origin <= low and high <= last and (whole or self.parts)


WEEKDAY = r"weekday|wday|dow|day ?of ?(the )?week|day"
BEARING = r"bearing|heading|course|azimuth|aspect|direction|dir|wd|wind ?dir|angle"
PHASE = r"angle|phase|theta|azimuth|bearing|heading|direction|dir"
MONTH = r"month|mon|mth|month ?of ?(the )?year"
HOUR = r"hour|hr|hod|hour ?of ?(the )?day|time ?of ?(the )?day"
CYCLES = (
    Cycle("hours of the day", 0, 24, HOUR, 9, 18, 8, alone=True, parts=True),
    Cycle("hours of the day", 1, 24, HOUR, 9, 24, 8),
    Cycle("months", 1, 12, MONTH, 6, 7, 4),
    Cycle("months", 0, 12, MONTH, 0, 11, 4),
    Cycle("days of the week", 0, 7, WEEKDAY, 0, 6, 5),
    Cycle("days of the week", 1, 7, WEEKDAY, 1, 7, 5),
    Cycle("quarters of the year", 1, 4, r"quarter|qtr", 1, 4, 4),
    Cycle("minutes or seconds", 0, 60, r"minute|second", 9, 50, 20),
    Cycle("weeks of the year", 1, 53, r"week|wk|week ?of ?(the )?year|iso ?week", 8, 45, 20),
    Cycle("days of the year", 1, 366, r"doy|yday|day ?of ?(the )?year|julian ?day", 31, 335, 60, alone=True),
    Cycle("degrees", 0, 360, BEARING, 45, 315, 8, alone=True, parts=True),
    Cycle("degrees", -180, 360, BEARING, -135, 135, 8, parts=True),
    Cycle("radians", 0, 2 * math.pi, PHASE, 0.8, 5.5, 8, parts=True),
    Cycle("radians", -math.pi, 2 * math.pi, PHASE, -2.4, 2.4, 8, parts=True),
)
DATE_CYCLES = {"season": 365.2425, "weekday": 7.0, "time of day": 1.0}
"""Periods, in days, of what dates go around."""


def words_of(name: str) -> str:
    """A name as words in small letters: "windDir_10m" is "wind dir m"."""
    return " ".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)).lower()


def find_cycle(tally: Tally, moments: Moments) -> tuple[Cycle, str] | None:
    """The cycle that numbers go around, and why they are taken to."""
    words, cells, distinct = words_of(tally.name), tally.n_told, tally.distinct
    for cycle in CYCLES:
        if not cycle.holds(moments.low, moments.high, moments.whole) or distinct.n < cycle.n:
            continue
        named = " per " not in words and re.search(rf"\b(?:{cycle.names})\b", words) is not None
        reaches = moments.low <= cycle.low and moments.high >= cycle.high
        if not reaches or not (named or cycle.alone):
            continue
        if not moments.whole or not distinct.exact:
            if named:
                return cycle, f"{cycle.told}, from {moments.low:g} to {moments.high:g}"
            continue
        if named and cycle.period <= 12:
            return cycle, f"{cycle.told}, from {moments.low:g} to {moments.high:g}"
        steps = _steps(np.array(sorted(distinct.counts)), cycle)
        around, straight = _scores(tally, cycle, steps)
        whole = moments.low == cycle.origin and distinct.n >= steps - 2 and cells >= CELLS * steps
        if around <= straight + MARGIN if named else whole and around < straight:
            scores = f"nats a cell: around the cycle {around:.3f}, along a line {straight:.3f}"
            return cycle, f"{cycle.told}, from {moments.low:g} to {moments.high:g} ({scores})"
    return None


def fitting_cycle(moments: Moments, period: float | None = None) -> tuple[float, float] | None:
    """Least value and period of the shortest usual cycle that holds numbers, or of one of this period; None where none does."""
    if period is not None:
        return (1.0 if moments.low >= 1 and moments.high == period else min(0.0, moments.low)), period
    holding = [cycle for cycle in CYCLES if cycle.holds(moments.low, moments.high, moments.whole)]
    best = min(holding, key=lambda cycle: cycle.period, default=None)
    return None if best is None else (best.origin, best.period)


def _steps(values: np.ndarray, cycle: Cycle) -> int:
    """In how many steps whole numbers go around: 36 where bearings are multiples of 10."""
    step = np.gcd.reduce((values - cycle.origin).astype(np.int64))
    return round(cycle.period / step) if step and cycle.period % step == 0 else round(cycle.period)


def _scores(tally: Tally, cycle: Cycle, steps: int) -> tuple[float, float]:
    """Scores of the best law around the cycle, and of the best along a line."""
    counts: dict[float, int] = {}
    for value, times in tally.distinct.counts.items():
        place = round((value - cycle.origin) * steps / cycle.period) % steps
        counts[place] = counts.get(place, 0) + times
    line = scored(counts, tally.n_told, levels=False)
    return scored_around(counts, steps, min(tally.n_told, MOST_CELLS)), min(line.values())
