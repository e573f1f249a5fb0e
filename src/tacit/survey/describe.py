"""`describe`: a column as the tally of its cells shows it, in the role that a model takes it in."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..notes import Note, NoteError, Option
from .column import CODED, DATE_PERIODS, PERIODS, ROLES, ColumnInfo, parse_role
from .cycles import find_cycle, fitting_cycle
from .dates import DATE_READINGS
from .notes import as_role, notes_of
from .numerals import NUMBER_READINGS
from .roles import asked_reading, count_law, find_reading, infer_role, levels_of
from .tally import Tally

__all__ = ["IGNORED", "Asked", "describe", "moments_of"]

IGNORED = "ignored, as asked"
MOST_ASKED_LEVELS = 5000
MANY_ROWS, RAREST = 1000, 0.005
"""From so many rows on, a column with a smaller share of its cells observed is left out."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """What the user asked for.

    Attributes
    ----------
    roles : dict of name to role
        Roles that are known, as `parse_role` takes them; the others are inferred.
    columns : list of str or None
        Columns that models may use; None for all that suit.
    ignore : tuple of str
        Columns that models may not use.
    decimal : {".", ","} or None
        The decimal mark of texts.
    """

    roles: dict = dataclasses.field(default_factory=dict)
    columns: list | None = None
    ignore: tuple = ()
    decimal: str | None = None


def describe(tally: Tally, asked: Asked, odd: str | None = None) -> ColumnInfo:
    """A column as it is now known; `odd` says what it holds that no model can use."""
    name = tally.name
    wanted, cycle = parse_role(asked.roles[name]) if name in asked.roles else (None, None)
    reading = find_reading(tally, asked.decimal)
    role, reason = infer_role(tally, reading, odd)
    barred = "not asked for" if asked.columns is not None and name not in asked.columns else ""
    barred = IGNORED if name in asked.ignore else barred
    if wanted is None and asked.columns is not None and name in asked.columns and ROLES[role] is None:
        wanted = _usable(tally, role, reading)
    if wanted is not None and role not in ("empty", "constant"):
        if wanted != role:
            reason = "as asked"
        role, reading = wanted, _reading_for(tally, wanted, reading, asked.decimal)
    levels, counts = levels_of(tally, reading) if ROLES[role] in CODED else ((), ())
    left_out = barred or (_why_not(tally, role, reason) if ROLES[role] is None else _too_rare(tally))
    notes = notes_of(tally, role, reading, levels)
    return ColumnInfo(
        name, role, reason, left_out, reading, tally.n_rows, tally.n_missing, levels, counts, notes=notes,
        n_distinct=tally.distinct.n, law=count_law(tally.as_numbers(reading)) if role == "count" else "",
        cycle=_cycle(tally, reading, cycle) if role == "cyclic" else (), **moments_of(tally, reading),
    )  # fmt: skip


def _cycle(tally: Tally, reading: str, asked: str | float | None) -> tuple[float, float]:
    """Least value and period of the cycle that a column goes around, where one is asked for by name, period or not at all."""
    if reading in DATE_READINGS:
        period = asked if isinstance(asked, float) else DATE_PERIODS.get(asked or "season")
        if period is None:
            raise ValueError(
                f"column {tally.name!r} holds dates, which are no {asked}; use one of {', '.join(DATE_PERIODS)}."
            )
        return 0.0, period
    moments = tally.readings[reading]
    if asked is None and (found := find_cycle(tally.as_numbers(reading), moments)):
        return found[0].origin, found[0].period
    cycle = fitting_cycle(moments, PERIODS[asked] if isinstance(asked, str) else asked)
    if cycle is None:
        raise NoteError(
            "no_cycle", "column {column!r} is asked for as cyclic, but no usual cycle holds its numbers (from {low:g} to "
            "{high:g}); say its period: {option}.", column=tally.name, low=moments.low, high=moments.high,
            option=as_role(tally, "cyclic:24"),
        )  # fmt: skip
    return cycle


def _too_rare(tally: Tally) -> str:
    """Models are tried on some of many rows, of which a column must have some cells in nearly any choice."""
    if tally.n_rows >= MANY_ROWS and tally.n_seen < RAREST * tally.n_rows:
        return f"only {tally.n_seen:,} of {tally.n_rows:,} cells observed, too few to learn from"
    return ""


def _why_not(tally: Tally, role: str, reason: str) -> str:
    if role == "date" and reason == "dates":
        option = as_role(tally, "measurement")
        return Note("date", "a date; to use it as a number of days, use {option}", option=option)
    return reason


def _usable(tally: Tally, role: str, reading: str) -> str | None:
    """The role in which a column is used that was asked for by name, though it does not look like one to use."""
    if reading in NUMBER_READINGS or reading in DATE_READINGS:
        return "measurement"
    few = tally.distinct.exact and tally.distinct.n <= MOST_ASKED_LEVELS and not tally.distinct.unique
    return "category" if role in ("text", "id") and few else None


def _reading_for(tally: Tally, role: str, reading: str, decimal: str | None) -> str:
    """How the cells are read in a role that was asked for; refused where they cannot be."""
    name = tally.name
    if role in ("measurement", "count", "cyclic"):
        found = asked_reading(tally, decimal)
        if found is None:
            cell = tally.example("infinity", "text", "either", "comma", "money", "percent", "thousands") or _any_value(
                tally
            )
            raise NoteError(
                "no_number", "column {column!r} is asked for as a number but holds {cell!r}; if that stands for a missing "
                "value, use {option}.", column=name, cell=cell, option=Option("missing", cell),
            )  # fmt: skip
        moments = tally.readings[found]
        if role == "count" and (moments.low < 0 or not moments.whole):
            value = moments.low if moments.low < 0 else moments.mean
            raise NoteError(
                "no_count", "column {column!r} is asked for as a count but holds {fault} numbers (from {low:g} to {high:g}); use "
                "{option}.", column=name, fault="negative" if value < 0 else "fractional", low=moments.low,
                high=moments.high, option=as_role(tally, "measurement"),
            )  # fmt: skip
        return found
    if role == "date":
        found = next((reading for reading in DATE_READINGS if reading in tally.readings), None)
        if found is None:
            text = _any_value(tally)
            raise ValueError(f"column {name!r} is asked for as a date but holds {text!r}; write dates as 2024-01-31.")
        return found
    if ROLES[role] in CODED and not (tally.distinct.exact and tally.distinct.n <= MOST_ASKED_LEVELS):
        raise NoteError(
            "many_levels", "column {column!r} is asked for as levels but has {about}{n:,} different values, and at most "
            "{most:,} are learned; leave it out: {option}.", column=name, about="" if tally.distinct.exact else "about ",
            n=tally.distinct.n, most=MOST_ASKED_LEVELS, option=Option("ignore", name),
        )  # fmt: skip
    return reading if reading == "number" else "text"


def _any_value(tally: Tally) -> str:
    return str(next(iter(tally.distinct.counts)))


def moments_of(tally: Tally, reading: str) -> dict[str, Any]:
    """What a `ColumnInfo` says of the numbers of a column."""
    moments = tally.readings.get(reading)
    if moments is None or not moments.n:
        return {}
    return dict(low=moments.low, high=moments.high, mean=moments.mean, std=moments.std, whole=moments.whole)
