"""`Clock`: in which steps times go on. Times are numbers, or dates as days since 1970 with the time of day as a fraction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..declared import Flag, Numbers, Text, declare, savable
from ..words import number

__all__ = ["Clock", "unit_named"]

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
SECONDS = {"hour": 3600.0, "minute": 60.0, "second": 1.0}
WEEKDAYS_SEEN = 10  # dates without a weekend that make days of the week
MOST_MISSING = 9.0  # missing steps for each row
NEAR = 1e-6  # of a step
NEAR_END = 5  # days of a month, its last or first included


@dataclass(frozen=True)
@savable
class Clock:
    """The step between rows of a sequence.

    Attributes
    ----------
    unit : str
        "year", "quarter", "month", "week", "weekday", "day", "hour", "minute" or "second" of dates; "" of numbers.
    step : float
        How many of these, or by how much numbers go on.
    dated : bool
        Whether times are dates.
    """

    unit: str = ""
    step: float = 1.0
    dated: bool = False

    _saved = declare(unit=Text(), step=Numbers(above=0), dated=Flag())

    @classmethod
    def of(cls, times: np.ndarray, offsets: np.ndarray, dated: bool) -> Clock | None:
        """The largest step of which all steps of all sequences are multiples; None where there is none."""
        inside = np.ones(len(times), dtype=bool)
        inside[offsets[:-1]] = False
        if not inside.any():
            return cls("day" if dated else "", 1.0, dated)
        for unit in _units_of(times) if dated else ("",):
            places = _places(times, unit)
            if places is None:
                continue
            gaps = np.diff(places, prepend=0.0)[inside]
            whole = np.round(gaps)
            step = float(np.gcd.reduce(whole.astype(int)) if (np.abs(gaps - whole) < NEAR).all() else gaps.min())
            rounding = max(NEAR, 1e-9 * float(np.abs(places).max()) / step) if step > 0 else 0.0
            if step > 0 and (np.abs(gaps / step - np.round(gaps / step)) <= rounding).all():
                return cls(unit, step, dated)
        return None

    def count(self, times: np.ndarray) -> np.ndarray:
        """Times in steps, as numbers that are whole on the clock's grid but for rounding."""
        places = _places(times, self.unit)
        if places is None:
            raise ValueError(f"times are not all on the same {self.unit} grid as those of the fit.")
        return places / self.step

    @property
    def even(self) -> float:
        """By how much times go on with every step; 0 where that depends on the calendar."""
        if self.unit in SECONDS:
            return SECONDS[self.unit] / 86400.0 * self.step
        return {"week": 7.0, "": 1.0, "day": 1.0}.get(self.unit, 0.0) * self.step

    def ahead(self, time: float, n_steps: int) -> np.ndarray:
        """The times of the next steps after one."""
        if self.even:
            return time + self.even * np.arange(1, n_steps + 1)
        day = np.datetime64(int(np.floor(time)), "D")
        if self.unit == "weekday":
            steps = np.busday_offset(day, (self.step * np.arange(1, n_steps + 1)).astype(int), roll="forward")
            return steps.astype("datetime64[D]").astype(float)
        months = {"year": 12, "quarter": 3, "month": 1}[self.unit] * int(self.step) * np.arange(1, n_steps + 1)
        first = day.astype("datetime64[M]")
        of_month = int((day - first.astype("datetime64[D]")).astype(int))
        last = (day + 1).astype("datetime64[M]") != first  # the end of a month stays the end of a month
        starts = first + months
        length = ((starts + 1).astype("datetime64[D]") - starts.astype("datetime64[D]")).astype(int)
        days = starts.astype("datetime64[D]") + (length - 1 if last else np.minimum(of_month, length - 1))
        return days.astype(float) + time % 1.0

    def told(self, n_steps: float) -> str:
        """So many steps in words, in the clock's own units."""
        unit = {"weekday": "working day", "": "step" if self.step == 1.0 else "unit of time"}.get(self.unit, self.unit)
        text = number(n_steps * self.step, 3)
        return (
            f"{text} {unit}"
            if text == "1"
            else f"{text} {unit.replace('unit of', 'units of') if 'unit' in unit else unit + 's'}"
        )


def unit_named(name: Any) -> str:
    """The unit that a column of numbers is called after, in the plural; empty where it is called otherwise."""
    unit = str(name).strip().lower().removesuffix("s")
    return f"{unit}s" if unit in UNITS else ""


def _units_of(times: np.ndarray) -> list[str]:
    """Units of dates from the largest, as far as they suit."""
    if (times % 1.0 > 1e-9).any():
        return ["hour", "minute", "second"]
    days = np.floor(times).astype(int)
    weekend = (days + 3) % 7 >= 5  # 1970-01-01 was a Thursday
    weekly = len(np.unique(days % 7)) == 1
    every_day = not weekend.any() and len(np.unique(days % 7)) == 5 and len(days) >= WEEKDAYS_SEEN
    return ["year", "quarter", "month", *["week"] * weekly, *["weekday"] * every_day, "day"]


def _places(times: np.ndarray, unit: str) -> np.ndarray | None:
    """Times as numbers of units; None where they are not all at the same place of their unit."""
    if unit == "":
        return np.asarray(times, dtype=float)
    if unit in SECONDS:
        return np.round(times * (86400.0 / SECONDS[unit]), 6)
    days = np.floor(times).astype(int).astype("datetime64[D]")
    if unit == "day":
        return days.astype(float)
    if unit == "week":
        return (days.astype(int) - int(days.astype(int).min()) % 7) / 7.0
    if unit == "weekday":
        return np.busday_count("1970-01-01", days).astype(float)
    months = days.astype("datetime64[M]")
    number, of_month = months.astype(int), (days - months).astype(int)
    left = (months + 1).astype("datetime64[D]") - days
    # First and last working days of months move by a few days.
    if len(np.unique(of_month)) > 1 and not (left.astype(int) <= NEAR_END).all() and not (of_month < NEAR_END).all():
        return None
    each = {"year": 12, "quarter": 3, "month": 1}[unit]
    if len(np.unique(number % each)) > 1:
        return None
    return (number // each).astype(float)


def check_gaps(n_rows: int, n_steps: int, told: str) -> None:
    """Raise where times leave out far more steps than there are rows."""
    if n_steps > (1.0 + MOST_MISSING) * n_rows + 10:
        raise ValueError(
            f"{told} leaves out {n_steps - n_rows:,} steps between its {n_rows:,} rows, which is more than a chain in steps can "
            "tell; use continuous_time=True, or gaps='ignore' to take rows as they follow."
        )


def irregular(told: str, times: np.ndarray) -> ValueError:
    """That times lie on no grid."""
    gaps: Any = np.unique(np.round(np.diff(np.sort(times)), 6))
    shown = ", ".join(f"{gap:g}" for gap in gaps[gaps > 0][:3])
    return ValueError(
        f"the times of {told} go on by {shown} …, which are multiples of no step; use continuous_time=True, or gaps='ignore' to "
        "take rows as they follow."
    )
