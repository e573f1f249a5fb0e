"""What the columns of a table hold: found out in one pass over all its rows, or known from a model."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..frames import Batch
from ..schema import unknown_levels
from ..survey.column import ROLES, ColumnInfo
from ..survey.dates import DATE_READINGS
from ..survey.describe import Asked, describe, moments_of
from ..survey.numerals import canonical
from ..survey.places import pair_places
from ..survey.roles import asked_reading, says_id
from ..survey.tally import Tally
from ..survey.typed import level_lookup
from .copies import MOST_ROWS, note_copies
from .reader import Reader, meant
from .seasons import note_dates

__all__ = ["read_like", "survey"]


def survey(reader: Reader, asked: Asked) -> tuple[tuple[ColumnInfo, ...], int]:
    """The columns of a table, and the number of its rows."""
    tallies, first, n_rows = _tally_columns(reader)
    infos = [describe(tally, asked, reader.odd.get(name)) for name, tally in tallies.items()]
    if not any(info.used for info in infos):
        infos = [_rescued(info, tallies[info.name], asked) for info in infos]
    return pair_places(note_dates(note_copies(tuple(infos), first), first)), n_rows


def _rescued(info: ColumnInfo, tally: Tally, asked: Asked) -> ColumnInfo:
    """A column of numbers that look like those of rows, but do not say so, where there is no other to use."""
    if info.role != "id" or info.reading != "number" or says_id(info.name):
        return info
    if info.name in asked.roles or info.name in asked.ignore or asked.columns is not None:
        return info
    return describe(tally, dataclasses.replace(asked, roles={**asked.roles, info.name: "measurement"}))


def _tally_columns(reader: Reader) -> tuple[dict[str, Tally], list[Batch], int]:
    """A `Tally` of every column by name, the first batches, and the number of rows."""
    first_of_several = reader.names[0] if len(reader.names) > 1 else None
    tallies = {name: Tally(name, leads=name == first_of_several) for name in reader.names}
    first: list[Batch] = []
    n_rows = 0
    for batch in reader.batches():
        if n_rows < MOST_ROWS:
            first.append(batch)
        n_rows += batch.n_rows
        for name, cells in batch.items():
            tallies[name].add(cells)
    if not n_rows:
        raise ValueError(f"{reader.place} has no rows; at least one is needed.")
    return tallies, first, n_rows


# As a model knows them


def read_like(
    reader: Reader, known: list[dict], decimal: str | None = None, unknown: str = "missing"
) -> tuple[tuple[ColumnInfo, ...], int, tuple[str, ...], list[str]]:
    """Survey a table whose columns are known from the notes of a model, as `ColumnInfo.saved` gives them.

    Levels that the model does not know are missing or, where `unknown` is "error", refused.

    Returns
    -------
    columns : tuple of ColumnInfo
    n_rows : int
    order : tuple of str
        The columns that the model uses, in its order.
    notes : list of str
        What became of cells that the model does not know.
    """
    by_name = {column["name"]: column for column in known}
    order = tuple(column["name"] for column in known if _used(column))
    absent = [name for name in order if name not in reader.names]
    if absent:
        listed = ", ".join(map(repr, absent[:20])) + ", …" * (len(absent) > 20)
        hint = meant(absent[0] if len(absent) == 1 else "", [name for name in reader.names if name not in by_name])
        raise ValueError(
            f"{reader.place} has no column{'s' * (len(absent) > 1)} {listed}, which the model uses; {hint}"
        )
    tallies, _, n_rows = _tally_columns(reader)
    notes: list = []
    columns = [_column(tally, by_name.get(name), reader, decimal, notes) for name, tally in tallies.items()]
    if unknown == "error" and (strange := next((column for column in columns if column.unknown), None)):
        raise unknown_levels(strange.name, strange.unknown, strange.levels, reader.place)
    return tuple(columns), n_rows, order, notes


def _used(column: dict) -> bool:
    return ROLES[column["role"]] is not None and not column.get("left_out")


def _column(tally: Tally, known: dict | None, reader: Reader, decimal: str | None, notes: list[str]) -> ColumnInfo:
    if known is None or not _used(known):
        found = describe(tally, Asked(decimal=decimal), reader.odd.get(tally.name))
        role = "id" if known is not None and known["role"] == "id" else found.role
        return dataclasses.replace(found, role=role, left_out="not used by the model", notes=())
    facts = known["role"], "as in the model", "", known["reading"], tally.n_rows, tally.n_missing
    more: dict[str, Any] = {
        "n_distinct": tally.distinct.n,
        "cycle": tuple(known.get("cycle", ())),
        "scores": _pairs(known),
    }
    info = ColumnInfo(tally.name, *facts, tuple(known["levels"] or ()), **more)
    if info.scores:
        found = _category(dataclasses.replace(info, levels=tuple(level for level, _ in info.scores)), tally, notes)
        return dataclasses.replace(found, levels=(), counts=())
    if info.coded:
        return _category(info, tally, notes)
    return _number(info, tally, reader, decimal)


def _pairs(known: dict) -> tuple:
    return tuple((str(level), float(score)) for level, score in known.get("scores", ()))


def _number(info: ColumnInfo, tally: Tally, reader: Reader, decimal: str | None) -> ColumnInfo:
    if not tally.n_seen:
        return info
    reading = asked_reading(tally, decimal)
    if reading is None or (reading in DATE_READINGS) != (info.reading in DATE_READINGS):
        text = tally.example("infinity", "text") or canonical(next(iter(tally.distinct.counts)))
        kind = "dates" if info.reading in DATE_READINGS else "numbers"
        raise ValueError(
            f"{reader.place}: column {info.name!r} holds {text!r}, but the model was fitted to {kind} there."
        )
    return dataclasses.replace(info, reading=reading, **moments_of(tally, reading))


def _category(info: ColumnInfo, tally: Tally, notes: list[str]) -> ColumnInfo:
    values = list(tally.distinct.counts)
    found = level_lookup(info, values)
    times = dict.fromkeys(info.levels, 0)
    unknown: dict = {}
    for value, level in zip(values, found):
        if level is None:
            unknown[canonical(value)] = tally.distinct.counts[value]
        else:
            times[level] += tally.distinct.counts[value]
    if unknown:
        named = ", ".join(map(repr, sorted(unknown, key=lambda text: -unknown[text])[:3])) + ", …" * (len(unknown) > 3)
        total = sum(unknown.values())
        about = "" if tally.distinct.exact else "at least "
        cells = "cells hold" if total > 1 else "cell holds"
        note = f"{info.name}: {about}{total} {cells} {named}, which the model does not know; taken as missing"
        notes.append(note)
        info = dataclasses.replace(info, n_missing=info.n_missing + total, notes=(note,), unknown=tuple(unknown))
    return dataclasses.replace(info, counts=tuple(times[level] for level in info.levels))
