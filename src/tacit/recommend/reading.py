"""Tables of ratings, read part by part: which columns hold users, items, ratings, times and weights, and what is in them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ..datasets.dataset import Dataset
from ..frames import columns_of, package
from ..notes import Note, NoteError, Option
from ..source.delayed import is_dask
from ..survey.cells import Missing
from ..tables.delimited import TEXT, DelimitedReader
from ..tables.opening import open_reader
from ..tables.reader import Reader, meant
from .cells import names_of

__all__ = ["NAMES", "Parts", "as_arrow", "find_columns", "parts_of"]

NAMES = {
    "user": (
        "user", "userid", "uid", "users", "customer", "customerid", "client", "clientid", "member", "memberid", "reviewer",
        "reviewerid", "reader", "readerid", "viewer", "viewerid", "visitor", "visitorid", "account", "accountid", "rater",
        "raterid", "person", "personid", "subject", "subjectid", "username", "session", "sessionid", "who",
    ),
    "item": (
        "item", "itemid", "iid", "items", "movie", "movieid", "film", "filmid", "product", "productid", "asin", "parentasin",
        "book", "bookid", "isbn", "song", "songid", "track", "trackid", "artist", "artistid", "album", "albumid", "business",
        "businessid", "article", "articleid", "joke", "jokeid", "game", "gameid", "anime", "animeid", "recipe", "recipeid",
        "course", "courseid", "restaurant", "restaurantid", "placeid", "venue", "venueid", "sku", "title", "what",
    ),
    "rating": (
        "rating", "ratings", "stars", "star", "starrating", "userrating", "score", "reviewscore", "overall", "rate", "grade",
        "mark", "vote", "preference", "points", "value", "plays", "playcount", "count",
    ),
    "time": ("time", "timestamp", "ts", "date", "datetime", "ratedat", "createdat", "unixreviewtime", "reviewtime", "when"),
    "weight": ("weight", "weights", "sampleweight"),
}  # fmt: skip
"""Names of columns by what they hold, in small letters without marks between; the first that is there is taken."""
WITHIN = {"rating": ("rating", "stars", "score"), "time": ("timestamp", "datetime", "date", "time")}
"""Words of names that are none of these, such as Book-Rating and reviewDate."""
GATHERED_ROWS = 1 << 20
"""Rows of a table that are read at a time."""


@dataclass
class Parts:
    """A table somewhere, as parts of its rows.

    Attributes
    ----------
    names : list of str
        Of the columns; numbers from 0 where they have none.
    read : callable
        ``read(names)`` yields columns by name, part by part: Arrow arrays, or arrays of objects where Arrow has no type for them.
    place : str
        What messages call the table.
    written : bool
        Whether cells are text of a file.
    missing : Missing
        What stands for a missing cell.
    notes : list of Note
        What the reader found out.
    """

    names: list
    read: Callable[[list], Iterator[dict[Any, Any]]]
    place: str = "the table"
    written: bool = False
    missing: Missing = field(default_factory=Missing)
    notes: list = field(default_factory=list)

    def ids(self, column: Any) -> Any:
        """A column as `tacit.recommend.ids.Ids` takes it."""
        return names_of(column, self.written, self.missing)

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own."""
        return not all(isinstance(name, int) or re.fullmatch(r"column_\d+", str(name)) for name in self.names)


# Tables of every kind as parts


def parts_of(table: Any, **reading: Any) -> Parts:
    """The parts of a table of any kind.

    Parameters
    ----------
    table : data frame, Arrow table, dict of columns, array, tuple of columns, list of rows, Dask frame, or path
        Columns, with or without names.
    **reading
        As in `tacit.tables.open_reader`.
    """
    if isinstance(table, (str, os.PathLike)) or reading.get("sql") is not None:
        return _of_reader(table, reading)
    if is_dask(table):
        return _of_dask(table)
    missing = Missing(reading.pop("missing", ()))
    if reading:
        raise TypeError(f"{', '.join(reading)} is for files and queries; leave it out for a table in memory.")
    columns = dict(_in_memory(table))
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(
            f"the columns of the table have {min(lengths)} to {max(lengths)} rows; all must have the same number."
        )
    return Parts(
        list(columns), lambda names: iter([{name: as_arrow(columns[name]) for name in names}]), missing=missing
    )


def _in_memory(table: Any) -> Iterable[tuple[Any, Any]]:
    """Names and columns of a table in memory."""
    if isinstance(table, np.ndarray) and table.dtype.names:
        return [(name, table[name]) for name in table.dtype.names]
    if isinstance(table, Dataset):
        told = [*zip(table.columns, table.X.T), ("rating", table.target)]
        return [*told, ("time", table.more["time"])] if "time" in table.more else told
    if isinstance(table, tuple):
        return enumerate(column if hasattr(column, "__len__") else list(column) for column in table)
    if isinstance(table, list):
        table = _of_rows(table)
    if not (isinstance(table, (dict, np.ndarray)) or package(table) in ("pandas", "polars", "pyarrow")):
        raise TypeError(
            f"ratings cannot be read from {type(table).__name__}; give a data frame, a dictionary of columns, an array of three "
            "columns, a sparse matrix or a path."
        )
    return columns_of(table)


def _of_rows(rows: list) -> Any:
    """Rows given one by one as columns."""
    if rows and all(isinstance(row, dict) for row in rows):
        return {name: [row.get(name) for row in rows] for name in dict.fromkeys(key for row in rows for key in row)}
    if len({len(row) if isinstance(row, (tuple, list)) else 0 for row in rows}) > 1:
        raise ValueError("the rows of the list are not equally long; give (user, item, rating) in each.")
    return np.array(rows, dtype=object).reshape(len(rows), -1)


def _of_dask(table: Any) -> Parts:
    if not hasattr(table, "columns"):
        raise TypeError("a Dask array has no names of columns; give a Dask data frame with users, items and ratings.")

    def read(names: list) -> Iterator[dict[Any, Any]]:
        for part in table[names].to_delayed():
            frame = part.compute()
            if len(frame):
                yield {name: as_arrow(column) for name, column in columns_of(frame)}

    return Parts(list(table.columns), read, "the Dask frame")


def _of_reader(table: Any, reading: dict[str, Any]) -> Parts:
    reader = open_reader(table, **reading)
    notes = list(reader.notes)
    if reading.get("header") is None and any(getattr(note, "code", "") == "header" for note in notes):
        reader = open_reader(table, **reading, header="no")
        text = (
            "the first line of {place} holds numbers only and was taken as a rating; if it names columns, use {option}"
        )
        notes = [Note("no_header", text, place=reader.place, option=Option("header", "yes"))]

    def read(names: list) -> Iterator[dict[Any, Any]]:
        reader.narrow(names)
        if isinstance(reader, DelimitedReader):
            reader.kinds = dict.fromkeys(names, TEXT)
        for batch in _gathered(reader):
            yield {name: batch.column(name) for name in names}

    return Parts(list(reader.names), read, reader.place, reader.is_text, reader.missing, notes)


def _gathered(reader: Reader) -> Iterator[pa.Table]:
    """Record batches in large parts: what is known of ids is looked up once for each."""
    batches: list[pa.RecordBatch] = []
    n_rows = 0
    for batch in reader.read():
        batches.append(batch)
        n_rows += batch.num_rows
        if n_rows >= GATHERED_ROWS:
            yield pa.Table.from_batches(batches)
            batches, n_rows = [], 0
    if n_rows:
        yield pa.Table.from_batches(batches)


def as_arrow(column: Any) -> Any:
    """A column as an Arrow array, or as an array of objects where Arrow has no type for them."""
    if package(column) == "pyarrow":
        return column
    if package(column) == "polars":
        return column.to_arrow()
    try:
        if package(column) == "pandas":
            return pa.Array.from_pandas(column)
        column = np.ascontiguousarray(column) if isinstance(column, np.ndarray) else column
        if isinstance(column, np.ndarray) and column.dtype.kind == "U":
            column = column.astype(object)
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError):
        return np.fromiter(column, object, len(column))


# Which columns hold what


def find_columns(parts: Parts, asked: dict[str, Any], needed: Sequence[str] = ("user", "item")) -> dict[str, Any]:
    """Names of columns by what they hold: those asked for, else by their names, else, where they have none, by their places.

    Parameters
    ----------
    parts : Parts
        The table.
    asked : dict of role to name or None
        What is looked for; False where a column of that kind is not wanted though it is there.
    needed : sequence of str
        What must be there.
    """
    found = {role: name for role, name in asked.items() if name is not None and name is not False}
    for role, name in found.items():
        if name not in parts.names:
            text = "{place} has no column {name!r}, which {option} names; {hint}"
            hint = meant(str(name), [str(known) for known in parts.names])
            raise NoteError("no_column", text, place=parts.place, name=name, option=Option(role), hint=hint)
    open_roles = [role for role, name in asked.items() if name is None]
    if parts.named:
        plain = {re.sub(r"[\W_]+", "", str(name)).lower(): name for name in reversed(parts.names)}
        for role in open_roles:
            name = next((plain[known] for known in NAMES[role] if known in plain), None)
            if name is None:
                free = [each for each in parts.names if each not in found.values()]
                name = next((each for word in WITHIN.get(role, ()) for each in free if word in _words(each)), None)
            if name is not None and name not in found.values():
                found[role] = name
    elif not found:
        found = dict(zip((role for role in asked if role != "weight"), parts.names))
    lacking = [role for role in needed if role not in found]
    if lacking:
        raise _not_found(parts, lacking)
    return found


def _words(name: Any) -> list[str]:
    """Words of a name, in small letters."""
    return re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", str(name)).lower())


def _not_found(parts: Parts, lacking: list[str]) -> NoteError:
    listed = ", ".join(map(repr, parts.names[:20])) + ", …" * (len(parts.names) > 20)
    text = "{place} has no column that is named like {kinds}; it has {columns}: say which it is by {option}."
    kinds = " or ".join(f"{'an' if role == 'item' else 'a'} {role}" for role in lacking)
    option = Option(lacking[0], parts.names[-1] if parts.names else None)
    return NoteError("no_role", text, place=parts.place, kinds=kinds, columns=listed, option=option)
