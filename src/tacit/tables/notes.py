"""What the user may want to know about a column, each with the option that changes it."""

import shlex

__all__ = ["notes_of"]


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
    option = f"--as {shlex.quote(f'{tally.name}=number')}"
    if role in ("category", "yes/no") and reading == "number":
        notes.append(f"whole numbers taken as codes; if their size counts, say {option}")
    if role == "count" and 2 < tally.distinct.n <= 10 and tally.readings[reading].low >= 1:
        notes.append(f"taken as counts; if they are codes, say --as {shlex.quote(f'{tally.name}=category')}")
    if role == "id" and reading == "number":
        notes.append(f"numbers taken as ids; if they measure something, say {option}")
    if role == "text" and 20 < tally.distinct.n <= 1000 and reading == "text" and not tally.distinct.unique:
        notes.append(f"to use it all the same, say --as {shlex.quote(f'{tally.name}=category')}")
    if role == "date":
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
    """Numbers far from the rest that occur again and again."""
    if reading != "number":
        return
    moments = tally.readings["number"]
    for value, times in sorted(tally.sentinels.items()):
        if 2 <= times < moments.n and value in (moments.low, moments.high):
            mean, std = moments.without(value, times)
            if abs(value - mean) > 6 * std:
                yield f"{value:g} occurs {times} times, far from the rest; if it stands for missing, say --missing={value:g}"


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
