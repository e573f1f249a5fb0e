"""What the user may want to know about a column, each with the option that changes it."""

import shlex

from .roles import CODES, MOST_CODES, are_days

__all__ = ["notes_of"]

NEGATIVE_MARKS = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0)


def notes_of(tally, role, reading, levels=()):
    """Notes on a column that was taken in a role.

    Parameters
    ----------
    tally : Tally
    role, reading : str
    levels : tuple of str
        Of a category.
    """
    notes = [*_missing_marks(tally, reading), *_mixed_cells(tally, role, reading)]
    for mark, n in sorted(tally.marks.items()) if reading == "text" else ():
        notes.append(
            f"{mark!r} is taken as missing ({n} cell{'s' if n > 1 else ''}); if it is a value, write it as a word"
        )
    option = f"--as {shlex.quote(f'{tally.name}=number')}"
    if role == "category" and reading == "number":
        notes.append(f"whole numbers taken as codes; if their size counts, say {option}")
    if role == "count" and 2 < tally.distinct.n <= MOST_CODES:
        notes.append(f"taken as counts; if they are codes, say --as {shlex.quote(f'{tally.name}=category')}")
    if role == "measurement" and reading == "number" and _grows(tally):
        notes.append(f"grows from row to row; if it only numbers the rows, say --id {shlex.quote(tally.name)}")
    if role == "measurement" and reading == "number" and are_days(tally, tally.readings[reading]):
        notes.append(f"runs through the days of a month; to leave it out, say --ignore {shlex.quote(tally.name)}")
    if role == "id" and reading == "number":
        notes.append(f"numbers taken as ids; if they measure something, say {option}")
    if role == "text" and 20 < tally.distinct.n <= 1000 and reading == "text" and not tally.distinct.unique:
        notes.append(f"to use it all the same, say --as {shlex.quote(f'{tally.name}=category')}")
    if role == "date" and reading != "number":
        order = ""
        if "date month first" in tally.readings and "date" in tally.readings and _ambiguous(tally):
            order = " (read with the day before the month, which its cells leave open)"
        notes.append(f"to use it as a number of days{order}, say {option}")
    if tally.leading_zeros and reading == "text":
        notes.append(f"written with leading zeros, as codes are; if they are numbers, say {option}")
    if tally.long_digits and reading == "text":
        notes.append("numbers of more digits than a computer's numbers keep, taken as names")
    if role == "constant" and tally.n_missing:
        notes.append("if an empty cell means no, write no into it")
    return (*notes, *_spellings(levels))


def _ambiguous(tally):
    return tally.readings["date"].mean != tally.readings["date month first"].mean


def _missing_marks(tally, reading):
    """Numbers that may stand for missing cells: far from the rest again and again, or the only negative one."""
    if reading != "number":
        return
    moments = tally.readings["number"]
    for value, times in sorted(tally.sentinels.items()):
        if 2 <= times < moments.n and value in (moments.low, moments.high):
            mean, std = moments.without(value, times)
            if abs(value - mean) > 6 * std:
                yield f"{value:g} occurs {times} times, far from the rest; if it stands for missing, say --missing={value:g}"
                return
    if _lonely(tally, moments):
        times = tally.distinct.counts[moments.low]
        where = "one row" if times == 1 else f"{times:,} rows"
        yield (
            f"{moments.low:g} in {where} is the only negative number; if it stands for missing, say --missing={moments.low:g}"
        )


def _lonely(tally, moments):
    """Whether the lowest number is a usual mark of missing cells, below whole numbers that are all positive."""
    if moments.low not in NEGATIVE_MARKS or not moments.whole or not tally.distinct.exact or tally.distinct.n <= 3:
        return False
    return min(value for value in tally.distinct.counts if value != moments.low) > 0


def _grows(tally):
    moments = tally.readings["number"]
    return moments.whole and moments.increasing and tally.n_seen > CODES and moments.low >= 0


def _mixed_cells(tally, role, reading):
    """Cells of several shapes in one column, and shapes that only a person can tell the meaning of."""
    shapes, option = tally.shapes, f"--as {shlex.quote(f'{tally.name}=number')}"
    if reading != "text" or role in ("measurement", "count", "empty"):
        return
    numbers = shapes["number"] + shapes["point"]
    commas, amounts = shapes["comma"] + shapes["either"], shapes["percent"] + shapes["thousands"] + shapes["money"]
    others = shapes["text"] + shapes["infinity"]
    if others and numbers + commas > others:
        yield _strangers(tally, numbers + commas)
    elif commas and (shapes["point"] or tally.points) and not others:
        yield (
            f"{_example(tally, 'comma', 'either')} and {_example(tally, 'point')} in one column: decimal commas and points; "
            f"to read both as decimals, say {option}"
        )
    elif shapes["either"] and not others and not amounts:
        yield f"{_example(tally, 'either')} may mean thousands or decimals; say {option} for thousands, --decimal , for decimals"
    elif amounts and not others:
        yield f"{_example(tally, 'percent', 'money', 'thousands')} is text; to read it as a number, say {option}"


def _strangers(tally, numbers):
    texts = tally.examples.get("infinity", {}) | tally.examples.get("text", {})
    few = sorted(texts, key=texts.get, reverse=True)[:3]
    named = ", ".join(repr(text) for text in few) + (", …" if len(texts) > len(few) else "")
    options = " ".join(f"--missing={shlex.quote(text)}" for text in few)
    return f"{named} among {numbers:,} numbers; if it stands for missing, say {options}"


def _example(tally, *shapes):
    for shape in shapes:
        if tally.examples.get(shape):
            return repr(next(iter(tally.examples[shape])))
    return "a number with a point"


def _spellings(levels):
    """Levels that differ in case or spaces only."""
    seen: dict = {}
    for level in levels:
        key = "".join(level.casefold().split())
        if key in seen:
            yield f"{seen[key]!r} and {level!r} differ in case or spaces only; write them alike if they mean the same"
        seen.setdefault(key, level)
