"""A new table read as the one that a model was fitted to."""

import dataclasses
from difflib import get_close_matches

from ..survey.column import ROLES, ColumnInfo
from ..survey.dates import DATE_READINGS
from ..survey.describe import Asked, describe, moments_of
from ..survey.numerals import canonical
from ..survey.roles import asked_reading
from ..survey.typed import level_lookup
from .surveying import tally_columns

__all__ = ["read_like"]


def read_like(reader, known, decimal=None):
    """Survey a table whose columns are known from the notes of a model.

    Parameters
    ----------
    reader : Reader
        The new table.
    known : list of dict
        Columns with "name", "role", "reading" and "levels".
    decimal : {".", ","}, optional
        The decimal mark of texts.

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
        others = [name for name in reader.names if name not in by_name]
        close = get_close_matches(absent[0], others, 1) if len(absent) == 1 else []
        hint = f"is {close[0]!r} meant?" if close else f"it has {', '.join(reader.names[:20])}."
        listed = ", ".join(map(repr, absent[:20])) + ", …" * (len(absent) > 20)
        raise ValueError(
            f"{reader.place} has no column{'s' * (len(absent) > 1)} {listed}, which the model uses; {hint}"
        )
    tallies, _, n_rows = tally_columns(reader)
    notes: list = []
    columns = [_column(tally, by_name.get(name), reader, decimal, notes) for name, tally in tallies.items()]
    return tuple(columns), n_rows, order, notes


def _used(column):
    return ROLES[column["role"]] is not None and not column.get("left_out")


def _column(tally, known, reader, decimal, notes):
    if known is None or not _used(known):
        found = describe(tally, Asked(decimal=decimal), reader.odd.get(tally.name))
        role = "id" if known is not None and known["role"] == "id" else found.role
        return dataclasses.replace(found, role=role, left_out="not used by the model", notes=())
    facts = dict(n_rows=tally.n_rows, n_missing=tally.n_missing, n_distinct=tally.distinct.n)
    info = ColumnInfo(
        tally.name,
        known["role"],
        "as in the model",
        reading=known["reading"],
        levels=tuple(known["levels"] or ()),
        **facts,
    )
    if ROLES[info.role] == "category":
        return _category(info, tally, notes)
    return _number(info, tally, reader, decimal)


def _number(info, tally, reader, decimal):
    if not tally.n_seen:
        return info
    reading = asked_reading(tally, decimal)
    if reading is None or (reading in DATE_READINGS) != (info.reading in DATE_READINGS):
        text = next((text for shape in ("infinity", "text") for text in tally.examples.get(shape, ())), None)
        if text is None:
            value = next(iter(tally.distinct.counts))
            text = value if isinstance(value, str) else canonical(value)
        kind = "dates" if info.reading in DATE_READINGS else "numbers"
        raise ValueError(
            f"{reader.place}: column {info.name!r} holds {text!r}, but the model was fitted to {kind} there."
        )
    return dataclasses.replace(info, reading=reading, **moments_of(tally, reading))


def _category(info, tally, notes):
    values = list(tally.distinct.counts)
    found = level_lookup(info, values)
    times = dict.fromkeys(info.levels, 0)
    unknown: dict = {}
    for value, level in zip(values, found):
        if level is None:
            unknown[value if isinstance(value, str) else canonical(value)] = tally.distinct.counts[value]
        else:
            times[level] += tally.distinct.counts[value]
    if unknown:
        named = ", ".join(map(repr, sorted(unknown, key=lambda text: -unknown[text])[:3])) + ", …" * (len(unknown) > 3)
        total = sum(unknown.values())
        about = "" if tally.distinct.exact else "at least "
        note = (
            f"{info.name}: {about}{total} cells hold {named}, which the model does not know; they are taken as missing"
        )
        notes.append(note)
        info = dataclasses.replace(info, n_missing=info.n_missing + total, notes=(note,))
    return dataclasses.replace(info, counts=tuple(times[level] for level in info.levels))
