"""Texts read as dates: days since 1970, with the time of day as a fraction."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache

import numpy as np

__all__ = ["DATE_READINGS", "date_text", "dates_like", "days_of", "times_of"]

TIME = r"(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([AaPp][Mm])?\s*(Z|UTC|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?"
YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + TIME)
YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + TIME)
DAY_NAMED = re.compile(r"(\d{1,2})[-/. ]([A-Za-z]{3,9})[-/., ]+(\d{4})" + TIME)
MONTH_NAMED = re.compile(r"([A-Za-z]{3,9})\.?[- ](\d{1,2}),?[- ](\d{4})" + TIME)
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
EPOCH = datetime.date(1970, 1, 1).toordinal()


def days_of(texts: list[str], month_first: bool = False) -> np.ndarray | None:
    """Days since 1970 of dates such as 2024-01-31, 31/01/2024 14:30, 31-Jan-2024 or Jan 31, 2024; None if a text is no date.

    With the month first, 01/02/2024 is the second of January.
    """
    try:
        return np.array([_day(text, month_first) for text in texts])
    except ValueError:
        return None


@lru_cache(1 << 16)  # dates come again in every batch
def _day(text: str, month_first: bool) -> float:
    """The day of a date; ValueError where the text is none."""
    if found := YEAR_FIRST.fullmatch(text):
        year, month, day = found[1], found[3], found[4]
    elif found := YEAR_LAST.fullmatch(text):
        year, (day, month) = found[4], (found[1], found[3])[:: -1 if month_first else 1]
    elif found := DAY_NAMED.fullmatch(text):
        year, month, day = found[3], _month(found[2]), found[1]
    elif found := MONTH_NAMED.fullmatch(text):
        year, month, day = found[3], _month(found[1]), found[2]
    else:
        raise ValueError("no date")
    ordinal = datetime.date(int(year), int(month), int(day)).toordinal()
    return ordinal - EPOCH + _fraction(*found.groups()[-6:])


def _month(name: str) -> int:
    """The number of a month by its English name, whole or cut to three letters or more."""
    found = [number for number, month in enumerate(MONTHS, 1) if month.startswith(name.lower())]
    if len(found) != 1:
        raise ValueError("no month")
    return found[0]


def _fraction(
    hour: str | None, minute: str, second: str | None, fraction: str | None, half: str | None, zone: str | None
) -> float:
    """The time of day, as a share of it."""
    if hour is None:
        return 0.0
    hours = int(hour) % 12 + 12 * (half.lower() == "pm") if half else int(hour)
    if hours > 24 or int(minute) > 59 or int(second or 0) > 60:
        raise ValueError("no time of day")
    seconds = 3600 * hours + 60 * int(minute) + float(f"{second or 0}.{fraction or 0}")
    if zone and zone[0] in "+-":
        sign = -1 if zone[0] == "-" else 1
        seconds -= sign * (3600 * int(zone[1:3]) + 60 * int(zone[-2:] if len(zone) > 3 else 0))
    return seconds / 86400


DATE_READINGS = {"date": days_of, "date month first": lambda texts: days_of(texts, month_first=True)}
"""How a column of texts may hold dates: with the day or the month first where the year is last."""


def dates_like(known: np.ndarray, days: np.ndarray) -> np.ndarray:
    """Days since 1970 as the dates of a column of which some are known: dates, dates with a time, or texts; None where NaN."""
    made, first = np.full(len(days), None, dtype=object), known[0] if len(known) else ""
    for row in np.flatnonzero(~np.isnan(days)):
        day = datetime.date.fromordinal(EPOCH + round(days[row]))
        if isinstance(first, datetime.datetime):
            made[row] = datetime.datetime.combine(day, datetime.time(), first.tzinfo)
        else:
            made[row] = day if isinstance(first, datetime.date) else day.isoformat()
    return made


def date_text(value: datetime.date | datetime.time | datetime.timedelta) -> str:
    """A date, time or duration of Python as text; midnight is left out."""
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None and value.time() == datetime.time():
            return value.date().isoformat()
        return value.isoformat(sep=" ")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def times_of(cells: list, name: str) -> np.ndarray:
    """Cells of a column as dates (datetime64) or numbers, NaT or NaN where missing; ValueError where they are neither."""
    known = [place for place, cell in enumerate(cells) if cell is not None]
    texts = [
        str(cells[place]) if not hasattr(cells[place], "isoformat") else date_text(cells[place]) for place in known
    ]
    try:
        numbers = np.full(len(cells), np.nan)
        numbers[known] = [float(text) for text in texts]
        return numbers
    except ValueError:
        pass
    for read in DATE_READINGS.values():
        days = read([text.strip() for text in texts])
        if days is not None:
            dates = np.full(len(cells), np.datetime64("NaT"), dtype="datetime64[s]")
            dates[known] = (days * 86400).round().astype("timedelta64[s]") + np.datetime64("1970-01-01")
            return dates
    odd = next(text for text in texts if all(read([text.strip()]) is None for read in DATE_READINGS.values()))
    raise ValueError(f"column {name!r} holds {odd!r}, which is neither a date nor a number; name a column of dates.")
