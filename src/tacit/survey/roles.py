"""Which role a column takes, and why: rules that look at all cells at once."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from scipy.special import pdtrc

from .cycles import find_cycle, words_of
from .dates import DATE_READINGS, MONTHS
from .moments import Moments
from .numerals import NUMBER_READINGS, canonical
from .scores import scored, told
from .tally import Tally

__all__ = ["are_days", "asked_reading", "count_law", "find_reading", "infer_role", "levels_of", "says_id"]

MANY_LEVELS = 20
MOST_LEVELS = 100
CODES = 6
MOST_CODES = 12
"""Whole numbers up to this, each of them there, may be codes or ordered levels; from 1 on they are rather that than counts."""
ROWS_PER_CODE = 5
LONG_ID, LONG_FIRST = 9, 6
"""Digits of numbers that are longer than most measurements, anywhere and in the first of several columns."""
MOST_COUNTED, LEAST_COUNTED = 20, 2
"""Mean of whole numbers up to which they may be counts, and what one of them reaches down to: others are as good as measured."""
COUNTS, EVEN = ("Poisson", "negative binomial"), 0.0133
LONG_TEXT = 50
ID_NAME = re.compile(
    r"(?:.*[^a-z])?(?:id|ids|[cefgnoprstuv]id|uuid|guid|key|nr|no|number|identifier|code|index|row|rows|rowname|rownames|rowid|record)[^a-z]*|.*ID"
)
CODE_NAME = re.compile(
    r"\b(?:zip|zipcode|postal|postcode|plz|fips|precinct|district|ward|tract|county|department|dept|region|borough|state|flight|"
    r"route|status|code|sic|naics|account|phone|serial|ticket|invoice)\b"
)
"""Names that codes have, as words; what they hold must look like codes too."""
UNEVEN = 1.3
"""Squares of n(x − 1) − 2 n(x) + n(x + 1), n being how often x occurs, over what they are where a smooth law is drawn from."""
BEYOND = 4.0
"""Cells above the largest that a Poisson would have, from which whole numbers from 0 on are no counts."""
TIMES = re.compile(r"\b(?:time|t|period|step|wave|visit|round|day|week|month|year|age|rank|score|percent|pct)\b")
"""Names of what runs evenly through whole numbers without being a name of anything."""
YEARS = 1500, 2100
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
BOOLEANS = (
    {"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"0", "1"}, {"on", "off"}, {"ja", "nein"}, {"oui", "non"},
    {"si", "no"}, {"sí", "no"},
)  # fmt: skip


def find_reading(tally: Tally, decimal: str | None = None) -> str:
    """How the cells are read, without being asked: "number", "comma", a date, or "text"."""
    alive = tally.readings
    if not tally.n_seen:
        return "text"
    if "number" in alive:
        codes = (tally.leading_zeros or tally.long_digits) and alive["number"].whole
        return "text" if codes else "number"
    # 1,234 may mean either; another cell that can only be a decimal settles it.
    settled = decimal == "," or (
        decimal is None and tally.shapes["comma"] and not tally.shapes["point"] and not tally.points
    )
    if "comma" in alive and settled:
        return "comma"
    return next((reading for reading in DATE_READINGS if reading in alive), "text")


def asked_reading(tally: Tally, decimal: str | None = None) -> str | None:
    """How the cells are read if they must be numbers; None if they are not."""
    order = ["number", "amount", "comma amount", "comma", *DATE_READINGS]
    if decimal == "," or (decimal is None and tally.shapes["comma"]):
        order = ["number", "comma", "comma amount", "amount", *DATE_READINGS]
    return next((reading for reading in order if reading in tally.readings), None)


def levels_of(tally: Tally, reading: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The different values as texts with their counts, in order: numbers by size, texts by the alphabet."""
    counts: Counter[str] = Counter()
    for value, times in tally.distinct.counts.items():
        counts[canonical(float(value) if reading == "number" else value)] += times
    ordered = sorted(counts, key=float if reading == "number" else _in_calendar(counts))
    return tuple(ordered), tuple(counts[level] for level in ordered)


def _in_calendar(levels: Iterable[str]) -> Callable[[str], Any] | None:
    """What sorts names of days or of months as the calendar has them; None for other texts."""
    for names in (DAYS, MONTHS):
        place = {name[:n]: number for number, name in enumerate(names) for n in (3, len(name))}
        if all(level.casefold() in place for level in levels):
            return lambda level, place=place: place[level.casefold()]  # type: ignore[misc]
    return None


def infer_role(tally: Tally, reading: str, odd: str | None = None) -> tuple[str, str]:
    """The role of a column and the reason."""
    if not tally.n_seen:
        return "empty", "no value in any row"
    if odd:
        return "text", f"holds {odd}"
    distinct = tally.distinct
    if distinct.n == 1:
        value = next(iter(distinct.counts))
        where = "every row" if not tally.n_missing else "every row that has one"
        return "constant", f"the same value in {where} ({canonical(value)})"
    if reading in DATE_READINGS:
        return "date", "dates"
    if reading in NUMBER_READINGS:
        few = tally.distinct.n <= MANY_LEVELS  # of more, none of the rules asks for them
        levels = levels_of(tally, reading)[0] if few else ()
        return _role_of_numbers(tally.as_numbers(reading), tally.readings[reading], levels)
    return _role_of_texts(tally)


def _role_of_numbers(tally: Tally, moments: Moments, levels: tuple[str, ...]) -> tuple[str, str]:
    distinct, n_told = tally.distinct.n, tally.n_told
    if len(levels) == 1:
        return "constant", f"the same value in every row ({levels[0]})"
    if cycle := find_cycle(tally, moments):
        return "cyclic", cycle[1]
    if not moments.whole:
        return "measurement", "numbers with decimals"
    if _is_compact_date(tally):
        return "date", "dates written as yyyymmdd; write them as 2024-01-31 to use them"
    named = says_id(tally.name)
    if tally.distinct.unique and n_told > MANY_LEVELS:
        reason = _id_reason(tally, moments, named or bool(CODE_NAME.search(words_of(tally.name))))
        if reason and _are_years(tally, moments):
            return "date", "years, a different one in every row"
        if reason:
            return "id", reason
    if named and distinct > max(MANY_LEVELS, n_told // 10):
        return "id", "whole numbers under a name that ids have"
    if set(levels) == {"0", "1"}:
        return "yes/no", "0 and 1 only"
    if reason := _code_reason(tally, moments):
        return ("category" if distinct <= MANY_LEVELS else "code"), reason
    if _may_be_levels(moments, distinct, n_told):
        return _role_of_levels(tally, moments)
    if are_days(tally, moments):
        return "measurement", "days of a month"
    if reason := _panel_reason(tally, moments):
        return "id", reason
    numbered = moments.low == 1 and moments.high <= MOST_CODES and distinct >= moments.high - 2
    if 0 <= moments.low <= LEAST_COUNTED and moments.mean <= MOST_COUNTED and tally.distinct.exact and not numbered:
        scores = scored(tally.distinct.counts, n_told, levels=False)
        if moments.low > 0:  # without a 0, two Poissons are flexible enough to pass for any measurement
            del scores["two Poissons"]
        cut = _is_cut(tally, moments)
        if not cut and min(scores, key=lambda name: scores[name] + EVEN * (name == "measurement")) != "measurement":
            return "count", f"whole numbers from {moments.low:g} to {moments.high:g} ({told(scores)})"
        return "measurement", f"whole numbers ({told(scores)})"
    return "measurement", "whole numbers"


def _may_be_levels(moments: Moments, distinct: int, cells: int) -> bool:
    """Whether whole numbers are so few, each so often, that they may be codes or ordered levels."""
    if cells <= CODES or (distinct > 2 and cells < ROWS_PER_CODE * distinct):
        return False
    return distinct <= CODES or (moments.high - moments.low + 1 == distinct <= MOST_CODES and moments.low <= 1)


def _role_of_levels(tally: Tally, moments: Moments) -> tuple[str, str]:
    """What a few whole numbers are, by the scores of what they may be."""
    distinct, few = tally.distinct.n, f"only {tally.distinct.n} distinct whole numbers"
    if distinct == 2:
        return "category", few
    scores = scored(tally.distinct.counts, tally.n_told, levels=True)
    # Numbers from 1 on count nothing, and those from 0 or 1 on measure nothing, where they are few and each is there.
    barred = {"measurement"} if moments.low <= 1 else set()
    cut = moments.low == 0 and _is_cut(tally, moments)
    barred |= set(COUNTS) if moments.low != 0 or cut else set()
    scores = {name: score for name, score in scores.items() if name not in barred}
    # Levels are rarely numbered from 0: a count is taken for one that is no worse than by a parameter.
    best = min(scores, key=lambda name: scores[name] - EVEN * (name in COUNTS))
    if best == "uniform" and distinct > 3:
        return "category", f"{few}, each about as often, as codes are"
    if cut and distinct == 3:
        return "category", f"{few}, where counts would go beyond {moments.high:g}"
    if best in ("uniform", "category"):
        return "category", few + (f" ({told(scores)})" if distinct > 3 else "")
    if best == "ordinal":
        return "ordinal", f"{distinct} levels in order ({told(scores)})"
    if best == "measurement":
        return "measurement", f"whole numbers ({told(scores)})"
    return "count", f"whole numbers from {moments.low:g} to {moments.high:g} ({told(scores)})"


def _is_cut(tally: Tally, moments: Moments) -> bool:
    """Whether whole numbers from 0 on end where counts would go on: a Poisson of their mean has cells above the largest."""
    return tally.n_told * float(pdtrc(moments.high, moments.mean)) > BEYOND


def _code_reason(tally: Tally, moments: Moments) -> str | None:
    """Why whole numbers are codes, if they are: by their name, and by how unevenly they and their neighbours occur."""
    if not CODE_NAME.search(words_of(tally.name)) or moments.low < 0 or tally.distinct.n <= CODES:
        return None
    counts = tally.distinct.counts
    every = {value + step for value in counts for step in (-1, 0, 1)}
    middle = [value for value in every if moments.low < value < moments.high]  # a range may end where it is
    bends = (counts.get(x - 1, 0) - 2 * counts.get(x, 0) + counts.get(x + 1, 0) for x in middle)
    if not tally.distinct.exact or sum(bend**2 for bend in bends) < UNEVEN * 6 * sum(counts.values()):
        return None
    return f"{tally.distinct.n:,} different whole numbers, some far oftener than their neighbours, under a name that codes have"


def _panel_reason(tally: Tally, moments: Moments) -> str | None:
    """Why whole numbers say which person or place a row is of, if they do: all from 0 or 1 on, each equally often."""
    counts = tally.distinct.counts
    whole = moments.high - moments.low + 1 == tally.distinct.n > MANY_LEVELS and moments.low in (0, 1)
    if not whole or not tally.distinct.exact or TIMES.search(words_of(tally.name)):
        return None
    times = max(counts.values())
    if times < 2 or times * len(counts) > 1.05 * tally.n_told:
        return None
    return f"all whole numbers from {moments.low:g} to {moments.high:g}, each {times} times, as persons or places are numbered"


def count_law(tally: Tally) -> str:
    """The family that describes counts: "poisson", or "negative_binomial" where they vary more than one or two Poissons do."""
    values = tally.distinct.counts
    if not tally.distinct.exact or any(isinstance(value, str) or value < 0 for value in values):
        return "poisson"
    scores = scored(values, tally.n_told, levels=False)
    groups = min(scores["Poisson"], scores["two Poissons"])
    return "negative_binomial" if scores["negative binomial"] < groups else "poisson"


def are_days(tally: Tally, moments: Moments) -> bool:
    """Whether whole numbers run evenly through the days of a month."""
    if (
        moments.low != 1
        or not 28 <= moments.high <= 31
        or tally.distinct.n + tally.n_told - tally.n_seen < moments.high
    ):
        return False
    return max(tally.distinct.counts.values()) <= 2 * tally.n_seen / moments.high or "day" in tally.name.lower()


def _are_years(tally: Tally, moments: Moments) -> bool:
    """Whether whole numbers that all differ are the years of a series."""
    low, high = YEARS
    named = re.search(r"\byears?\b", words_of(tally.name)) is not None
    return named and moments.increasing and low <= moments.low and moments.high <= high


def _is_compact_date(tally: Tally) -> bool:
    """Whether whole numbers are dates without dashes, such as 20240131."""
    moments = tally.readings.get("number")
    if moments is None or not moments.whole or not 19000101 <= moments.low <= moments.high <= 21001231:
        return False
    return all(not isinstance(value, str) and _is_day(int(value)) for value in tally.distinct.counts)


def _is_day(value: int) -> bool:
    try:
        datetime.date(value // 10000, value // 100 % 100, value % 100)
    except ValueError:
        return False
    return True


def says_id(name: str) -> bool:
    """Whether the name of a column says that it tells which row it is."""
    return bool(ID_NAME.fullmatch(name) or ID_NAME.fullmatch(name.lower()))


def _id_reason(tally: Tally, moments: Moments, named: bool) -> str | None:
    """Why whole numbers that all differ say which row it is, if they do: a sorted measurement does not."""
    span = moments.high - moments.low + 1
    consecutive = span <= tally.n_told
    if consecutive and (named or tally.leads or (moments.increasing and moments.low in (0, 1))):
        return "a row number"
    if named:
        return "a different whole number in every row, under a name that ids have"
    # Were they drawn from their range, some would come twice: of n among 2 n, with a probability next to 1.
    if span <= 2 * tally.n_told and tally.n_told > 2 * MANY_LEVELS and not TIMES.search(words_of(tally.name)):
        return "different whole numbers that fill at least half of their range, as numbers of rows do"
    digits = len(canonical(moments.low))
    if moments.low > 0 and digits == len(canonical(moments.high)) >= (LONG_FIRST if tally.leads else LONG_ID):
        return f"a different number of {digits} digits in every row"
    return None


def _role_of_texts(tally: Tally) -> tuple[str, str]:
    distinct, seen, told = tally.distinct, tally.n_seen, tally.n_told
    words = {str(value).casefold() for value in distinct.counts}
    if distinct.exact and any(words <= pair for pair in BOOLEANS):
        return "yes/no", " and ".join(sorted(map(str, distinct.counts))[:2]) + (" only" if len(words) == 2 else "")
    long = tally.letters > LONG_TEXT * seen
    codes = tally.leading_zeros or tally.long_digits
    if 2 * (seen - tally.shapes["text"]) > seen and distinct.n > CODES and not codes:
        if tally.shapes["infinity"]:
            return "text", "holds infinity; replace it, or leave the cell empty if it is missing"
        return "text", "numbers mixed with other texts" if tally.shapes["text"] else "numbers written as text"
    # Of few cells, any may differ by chance.
    if distinct.unique and seen > 1 and (told > CODES or long or says_id(tally.name)):
        return ("text", "long texts, each only once") if long else ("id", "a different value in every row")
    if distinct.n > 0.9 * seen and told > MANY_LEVELS and not long:
        return "id", "a different value in nearly every row"
    if ID_NAME.fullmatch(tally.name.lower()) and distinct.n > max(MANY_LEVELS, told // 10):
        return "id", "many different values under a name that ids have"
    if distinct.n > max(MANY_LEVELS, told // 2) or distinct.n > MOST_LEVELS or long:
        about = "" if distinct.exact else "about "
        return "text", f"{about}{distinct.n:,} different texts"
    return "category", f"{distinct.n} levels"
