"""What the user may want to know about a column, each with the option that changes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ..notes import Note, Option
from .moments import Moments
from .numerals import NUMBER_READINGS
from .roles import CODES, MOST_CODES, YEARS, are_days
from .tally import Tally

__all__ = ["as_role", "notes_of"]

NEGATIVE_MARKS = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0)


def notes_of(tally: Tally, role: str, reading: str, levels: Iterable[str] = ()) -> tuple[Note, ...]:
    """Notes on a column that was taken in a role; `levels` are those of a category."""
    return (
        *_missing_marks(tally, reading), *_mixed_cells(tally, role, reading), *_of_role(tally, role, reading),
        *_spellings(levels),
    )  # fmt: skip


def as_role(tally: Tally, role: str) -> Option:
    """The option that takes a column in another role."""
    return Option("roles", (tally.name, role))


def _of_role(tally: Tally, role: str, reading: str) -> Iterator[Note]:
    """What follows from how a column is taken."""
    number = as_role(tally, "measurement")
    for mark, n in sorted(tally.marks.items()) if reading == "text" else ():
        cells = f"{n} cell{'s' if n > 1 else ''}"
        text = "{mark!r} is taken as missing ({cells}); if it is a value, write it as a word"
        yield Note("mark", text, mark=mark, cells=cells)
    if role == "category" and reading == "number":
        yield Note("codes", "whole numbers taken as codes; if their size counts, use {option}", option=number)
    if role == "ordinal" and reading == "number":
        text = "whole numbers taken as levels in order; if they are codes, use {option}, if their size counts, {number}"
        yield Note("levels", text, option=as_role(tally, "category"), number=number)
    if role == "count" and 2 < tally.distinct.n <= MOST_CODES:
        yield Note("counts", "taken as counts; if they are codes, use {option}", option=as_role(tally, "category"))
    if role == "measurement" and reading == "number" and _grows(tally):
        text = "grows from row to row; if it only numbers the rows, use {option}"
        yield Note("grows", text, option=as_role(tally, "id"))
    if role == "measurement" and reading == "number" and are_days(tally, tally.readings[reading]):
        text = "runs through the days of a month; to leave it out, use {option}"
        yield Note("days", text, option=Option("ignore", tally.name))
    if role == "cyclic" and reading in NUMBER_READINGS:
        yield Note("cycle", "goes around a cycle; if its size counts instead, use {option}", option=number)
    if role == "code":
        text = "codes; to use them as levels, use {option}, if they measure something, {number}"
        yield Note("codes", text, option=as_role(tally, "category"), number=number)
    if role == "id" and reading == "number":
        yield Note("ids", "numbers taken as ids; if they measure something, use {option}", option=number)
    if role == "text" and 20 < tally.distinct.n <= 1000 and reading == "text" and not tally.distinct.unique:
        yield Note("texts", "to use it all the same, use {option}", option=as_role(tally, "category"))
    if role == "date" and reading == "number" and YEARS[0] <= tally.readings[reading].low <= YEARS[1]:
        yield Note("years", "to use the years as a trend, use {option}", option=number)
    if role == "date" and reading != "number":
        order = ""
        if "date month first" in tally.readings and "date" in tally.readings and _ambiguous(tally):
            order = " (read with the day before the month, which its cells leave open)"
        yield Note("dates", "to use it as a number of days{order}, use {option}", order=order, option=number)
    if tally.leading_zeros and reading == "text":
        text = "written with leading zeros, as codes are; if they are numbers, use {option}"
        yield Note("zeros", text, option=number)
    if tally.long_digits and reading == "text":
        yield Note("digits", "numbers with more digits than double precision keeps, taken as names")
    if role == "constant" and tally.n_missing:
        yield Note("constant", "if an empty cell means no, write no into it")


def _ambiguous(tally: Tally) -> bool:
    return tally.readings["date"].mean != tally.readings["date month first"].mean


def _missing_marks(tally: Tally, reading: str) -> Iterator[Note]:
    """Numbers that may stand for missing cells: far from the rest again and again, or the only negative one."""
    if reading != "number":
        return
    moments = tally.readings["number"]
    for value, times in sorted(tally.sentinels.items()):
        if 2 <= times < moments.n and value in (moments.low, moments.high):
            mean, std = moments.without(value, times)
            if abs(value - mean) > 6 * std:
                text = "{value:g} occurs {times} times, far from the rest; if it stands for missing, use {option}"
                yield Note("sentinel", text, value=value, times=times, option=Option("missing", f"{value:g}"))
                return
    if _only_negative(tally, moments):
        times = tally.distinct.counts[moments.low]
        where = "one row" if times == 1 else f"{times:,} rows"
        text = "{value:g} in {where} is the only negative number; if it stands for missing, use {option}"
        yield Note("only_negative", text, value=moments.low, where=where, option=Option("missing", f"{moments.low:g}"))


def _only_negative(tally: Tally, moments: Moments) -> bool:
    """Whether the lowest number is a usual mark of missing cells, below whole numbers that are all positive."""
    if moments.low not in NEGATIVE_MARKS or not moments.whole or not tally.distinct.exact or tally.distinct.n <= 3:
        return False
    return min(value for value in tally.distinct.counts if value != moments.low) > 0


def _grows(tally: Tally) -> bool:
    moments = tally.readings["number"]
    return moments.whole and moments.increasing and tally.n_seen > CODES and moments.low >= 0


def _mixed_cells(tally: Tally, role: str, reading: str) -> Iterator[Note]:
    """Cells of several shapes in one column, and shapes that only a person can tell the meaning of."""
    shapes, number = tally.shapes, as_role(tally, "measurement")
    if reading != "text" or role in ("measurement", "count", "empty"):
        return
    numbers = shapes["number"] + shapes["point"]
    commas, amounts = shapes["comma"] + shapes["either"], shapes["percent"] + shapes["thousands"] + shapes["money"]
    others = shapes["text"] + shapes["infinity"]
    if others and numbers + commas > others:
        yield _texts_among_numbers(tally, numbers + commas)
    elif commas and (shapes["point"] or tally.points) and not others:
        text = "{comma} and {point} in one column: decimal commas and points; to read both as decimals, use {option}"
        yield Note(
            "decimals", text, comma=_example(tally, "comma", "either"), point=_example(tally, "point"), option=number
        )
    elif shapes["either"] and not others and not amounts:
        text = "{cell} may mean thousands or decimals; use {option} for thousands, {decimal} for decimals"
        yield Note("either", text, cell=_example(tally, "either"), option=number, decimal=Option("decimal", ","))
    elif amounts and not others:
        text = "{cell} is text; to read it as a number, use {option}"
        yield Note("amounts", text, cell=_example(tally, "percent", "money", "thousands"), option=number)


def _texts_among_numbers(tally: Tally, numbers: int) -> Note:
    texts = tally.examples.get("infinity", Counter()) | tally.examples.get("text", Counter())
    few = [text for text, _ in texts.most_common(3)]
    named = ", ".join(repr(text) for text in few) + (", …" if len(texts) > len(few) else "")
    if len(texts) > len(few):  # many texts are values: what stands for missing is one, or a few
        return Note("mixed", "{cells} among {numbers:,} numbers", cells=named, numbers=numbers)
    text = "{cells} among {numbers:,} numbers; if it stands for missing, use {option}"
    return Note("strangers", text, cells=named, numbers=numbers, option=Option("missing", few))


def _example(tally: Tally, *shapes: str) -> str:
    found = tally.example(*shapes)
    return "a number with a point" if found is None else repr(found)


def _spellings(levels: Iterable[str]) -> Iterator[Note]:
    """Levels that differ in case or spaces only."""
    seen: dict[str, str] = {}
    for level in levels:
        key = "".join(level.casefold().split())
        if key in seen:
            text = "{first!r} and {second!r} differ in case or spaces only; write them alike if they mean the same"
            yield Note("spellings", text, first=seen[key], second=level)
        seen.setdefault(key, level)
