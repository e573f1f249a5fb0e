"""Which role a column takes, and why: rules that look at all cells at once."""

import re

from .column import ROLES
from .dates import DATE_READINGS
from .numerals import NUMBER_READINGS, canonical

__all__ = ["asked_reading", "find_reading", "infer_role", "levels_of"]

MANY_LEVELS = 20
MOST_LEVELS = 100
CODES = 6
MOST_COUNTED = 50
LONG_TEXT = 50
ID_NAME = re.compile(r"(?:.*[^a-z])?(?:id|ids|uuid|guid|key|nr|no|number|identifier|code|index|rownames)[^a-z]*|.*ID")
BOOLEANS = (
    {"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"0", "1"}, {"on", "off"}, {"ja", "nein"}, {"oui", "non"},
    {"si", "no"}, {"sí", "no"},
)  # fmt: skip


def find_reading(tally, decimal=None):
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


def asked_reading(tally, decimal=None):
    """How the cells are read if they must be numbers; None if they are not."""
    order = ["number", "amount", "comma amount", "comma", *DATE_READINGS]
    if decimal == "," or (decimal is None and tally.shapes["comma"]):
        order = ["number", "comma", "comma amount", "amount", *DATE_READINGS]
    return next((reading for reading in order if reading in tally.readings), None)


def levels_of(tally, reading):
    """The different values as texts with their counts, in order: numbers by size, texts by the alphabet."""
    counts: dict = {}
    for value, times in tally.distinct.counts.items():
        level = value
        if not isinstance(value, str):
            level = canonical(value)
        elif reading == "number":
            level = canonical(float(value))
        counts[level] = counts.get(level, 0) + times
    ordered = sorted(counts, key=float if reading == "number" else None)
    return tuple(ordered), tuple(counts[level] for level in ordered)


def infer_role(tally, reading, odd=None):
    """The role of a column and the reason."""
    if not tally.n_seen:
        return "empty", "no value in any row"
    if odd:
        return "text", f"holds {odd}"
    distinct = tally.distinct
    if distinct.n == 1:
        value = next(iter(distinct.counts))
        where = "every row" if not tally.n_missing else "every row that has one"
        return "constant", f"the same value in {where} ({value if isinstance(value, str) else canonical(value)})"
    if reading in DATE_READINGS:
        return "date", "dates"
    if reading in NUMBER_READINGS:
        few = tally.distinct.n <= MANY_LEVELS  # of more, none of the rules asks for them
        return _role_of_numbers(tally, tally.readings[reading], levels_of(tally, reading)[0] if few else ())
    return _role_of_texts(tally)


def _role_of_numbers(tally, moments, levels):
    distinct, seen = tally.distinct.n, tally.n_seen
    if len(levels) == 1:
        return "constant", f"the same value in every row ({levels[0]})"
    if not moments.whole:
        return "measurement", "numbers with decimals"
    named = bool(ID_NAME.fullmatch(tally.name) or ID_NAME.fullmatch(tally.name.lower()))
    if tally.distinct.unique and seen > MANY_LEVELS:
        reason = _id_reason(moments, seen, named)
        if reason:
            return "id", reason
    if named and distinct > max(MANY_LEVELS, seen // 10):
        return "id", "whole numbers under a name that ids have"
    if set(levels) == {"0", "1"}:
        return "yes/no", "0 and 1 only"
    if distinct <= CODES < seen and (moments.low != 0 or distinct == 2):
        return "category", f"only {distinct} distinct whole numbers"
    if 0 <= moments.low <= 2 and moments.high <= MOST_COUNTED:
        return "count", f"whole numbers from {moments.low:g} to {moments.high:g}"
    return "measurement", "whole numbers"


def _id_reason(moments, seen, named):
    """Why whole numbers that all differ say which row it is, if they do."""
    if moments.high - moments.low + 1 == seen:
        return "a row number"
    if named:
        return "a different whole number in every row, under a name that ids have"
    if moments.low > 0 and len(canonical(moments.low)) == len(canonical(moments.high)) >= 5:
        return f"a different number of {len(canonical(moments.low))} digits in every row"
    if moments.increasing and moments.low >= 0:
        return "whole numbers that grow from row to row"
    return None


def _role_of_texts(tally):
    distinct, seen = tally.distinct, tally.n_seen
    words = {str(value).casefold() for value in distinct.counts}
    if distinct.exact and any(words <= pair for pair in BOOLEANS):
        return "yes/no", " and ".join(sorted(map(str, distinct.counts))[:2]) + (" only" if len(words) == 2 else "")
    long = tally.letters > LONG_TEXT * seen
    codes = tally.leading_zeros or tally.long_digits
    if 2 * (seen - tally.shapes["text"]) > seen and distinct.n > CODES and not codes:
        return "text", "numbers mixed with other texts" if tally.shapes["text"] else "numbers written as text"
    if distinct.unique and seen > 1:
        return ("text", "long texts, each only once") if long else ("id", "a different value in every row")
    if distinct.n > 0.9 * seen and seen > MANY_LEVELS and not long:
        return "id", "a different value in nearly every row"
    if ID_NAME.fullmatch(tally.name.lower()) and distinct.n > max(MANY_LEVELS, seen // 10):
        return "id", "many different values under a name that ids have"
    if distinct.n > max(MANY_LEVELS, seen // 2) or distinct.n > MOST_LEVELS or long:
        about = "" if distinct.exact else "about "
        return "text", f"{about}{distinct.n:,} different texts"
    return "category", f"{distinct.n} levels"


def is_number(role):
    """Whether cells of that role are numbers."""
    return ROLES[role] in ("continuous", "count")
