"""Ratings made of a table: ids numbered, cells read as numbers, missing ones left out and pairs that occur twice settled."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import words
from ..checks import check_choice, check_n_jobs
from ..kernels import lazy
from ..notes import Note, NoteError, Option
from ..source.threads import all_of, thread_count
from .cells import numbers, seconds
from .ids import Ids
from .reading import Parts, find_columns, parts_of
from .spool import Columns, blocks, counts_of, is_mapped, let_go, sorted_columns

__all__ = ["DUPLICATES", "Found", "ingest"]

grouping = lazy("grouping")
DUPLICATES = ("last", "first", "mean", "sum", "error")
ROLES = ("user", "item", "rating", "time", "weight")


@dataclass
class Found:
    """What was found in a table.

    Attributes
    ----------
    columns : dict of str to array
        Numbers of users and items, ratings and, where there are some, times and weights.
    users, items : ndarray
        Ids.
    names : dict of role to name
        Columns of the table that were taken.
    notes : tuple of Note
    scale : (float, float) or None
        As it was given.
    order : ndarray or None
        Places of the ratings in order of users, where that is not the order of the columns.
    arranged : tuple of ndarray or None
        Where each user begins in that order, and items and ratings in it.
    """

    columns: dict[str, np.ndarray]
    users: np.ndarray
    items: np.ndarray
    names: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    scale: tuple[float, float] | None = None
    order: np.ndarray | None = None
    arranged: tuple[np.ndarray, ...] | None = None


def ingest(
    table: Any, roles: dict[str, Any], scale: Any, duplicates: str, n_jobs: int | None, reading: dict[str, Any]
) -> Found:
    """Ratings of a table; see `Ratings.read`."""
    check_choice("duplicates", duplicates, DUPLICATES)
    check_n_jobs(n_jobs)
    scale = _checked_scale(scale)
    count: Counter = Counter()
    if hasattr(table, "tocoo"):
        found = _of_matrix(table, count)
    else:
        found = _of_table(parts_of(table, **reading), roles, count, thread_count(n_jobs))
    _check_ratings(found, scale, count)
    found.scale = scale
    _settle(found, duplicates, count)
    found.notes = (*found.notes, *_told(count, duplicates))
    return found


def _checked_scale(scale: Any) -> tuple[float, float] | None:
    if scale is None:
        return None
    try:
        low, high = map(float, scale)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"scale={scale!r} is not a smallest and a largest rating; give two numbers, such as (1, 5).")
    return low, high


# Columns


def _of_matrix(matrix: Any, count: Counter) -> Found:
    """The stored cells of a sparse matrix of users by items."""
    matrix = matrix.tocoo()
    if len(matrix.shape) != 2:
        raise ValueError(f"the sparse array has the shape {matrix.shape}; users by items are needed.")
    rows = {"user": matrix.row, "item": matrix.col, "rating": np.asarray(matrix.data)}
    if rows["rating"].dtype.kind not in "biuf":
        raise ValueError(f"the sparse matrix holds {rows['rating'].dtype}, which is no number; convert it to float.")
    columns = _kept(rows, count)
    return Found(columns, np.arange(matrix.shape[0]), np.arange(matrix.shape[1]))


def _of_table(parts: Parts, roles: dict[str, Any], count: Counter, n_threads: int) -> Found:
    names, notes = find_columns(parts, roles), list(parts.notes)
    ids = {role: Ids(parts.written) for role in ("user", "item")}
    columns = Columns()
    for part in parts.read(list(dict.fromkeys(names.values()))):
        if "time" in names and roles.get("time") is None and not columns.n_rows:
            _try_time(part, parts, names, notes)
        columns.add(_kept(_cells(part, parts, names, ids, n_threads), count))
    if "rating" not in names:
        text = "{place} has no column of ratings, so that each row is a rating of 1; if one holds ratings, name it by {option}"
        notes.append(Note("implicit", text, place=parts.place, option=Option("rating")))
    if not columns.n_rows:
        raise _empty(parts.place, count)
    made = columns.finish()
    users, items = (_renumbered(made[role], ids[role]) for role in ("user", "item"))
    return Found(made, users, items, names, tuple(notes))


def _try_time(part: dict, parts: Parts, names: dict[str, Any], notes: list) -> None:
    """Leave out a column that is named like times and holds none."""
    try:
        seconds(part[names["time"]], names["time"], parts.missing)
    except NoteError as error:
        text = "column {name!r} was not taken as times: it holds {cell!r}"
        notes.append(Note("no_time", text, name=names.pop("time"), cell=str(error.note.values["cell"])))


def _cells(part: dict, parts: Parts, names: dict, ids: dict[str, Ids], n_threads: int) -> dict[str, np.ndarray]:
    """Numbers of users and items, ratings, times and weights of some rows; the columns are read side by side."""

    def read(role: str) -> np.ndarray:
        column = part[names[role]]
        if role in ids:
            return ids[role].add(parts.ids(column))
        return (seconds if role == "time" else numbers)(column, names[role], parts.missing)

    held = [role for role in ROLES if role in names]
    rows = dict(zip(held, all_of(read, held, n_threads)))
    rows.setdefault("rating", np.ones(len(rows["user"]), np.float32))
    return rows


def _kept(rows: dict[str, np.ndarray], count: Counter) -> dict[str, np.ndarray]:
    """The rows that have a user, an item and a finite rating; the others are counted."""
    user, item, rating = rows["user"], rows["item"], rows["rating"]
    known, rated = (user >= 0) & (item >= 0), np.isfinite(rating)
    count["rows"] += len(user)
    types = {"user": np.int32, "item": np.int32, "rating": np.float32}
    if not (known.all() and rated.all()):
        count["ids"] += int((~known).sum())
        count["infinite"] += int((known & np.isinf(rating)).sum())
        count["ratings"] += int((known & np.isnan(rating)).sum())
        kept = known & rated
        rows = {name: column[kept] for name, column in rows.items()}
    weight = rows.get("weight")
    if weight is not None and not (np.isfinite(weight) & (weight >= 0)).all():
        bad = weight[~(np.isfinite(weight) & (weight >= 0))][0]
        raise ValueError(f"the weights hold {bad:g}; they must be finite and not negative.")
    return {name: column.astype(types.get(name, np.float64), copy=False) for name, column in rows.items()}


def _renumbered(codes: np.ndarray, ids: Ids) -> np.ndarray:
    """Put numbers in order of their ids; return the ids."""
    found, place = ids.settled(counts_of(codes, ids.n))
    if not np.array_equal(place, np.arange(len(place))):
        for part in blocks(len(codes)):
            codes[part] = place[codes[part]]
            let_go(codes)
    return found


# Faults


def _empty(place: str, count: Counter) -> ValueError:
    if not count["rows"]:
        return ValueError(f"{place} has no rows; at least one rating is needed.")
    lost = ", ".join(f"{count[name]:,} {kind}" for name, (_, kind) in LEFT_OUT.items() if count[name])
    return ValueError(f"none of the {count['rows']:,} rows of {place} is a rating ({lost}); at least one is needed.")


def _check_ratings(found: Found, scale: tuple[float, float] | None, count: Counter) -> None:
    rating = found.columns["rating"]
    if not len(rating):
        raise _empty("the sparse matrix", count)
    if scale is None:
        return
    outside, example = 0, 0.0
    for part in blocks(len(rating)):
        wrong = rating[part][(rating[part] < scale[0]) | (rating[part] > scale[1])]
        outside, example = outside + len(wrong), float(wrong[0]) if len(wrong) and not outside else example
    let_go(rating)
    if outside:
        low, high = min(scale[0], float(rating.min())), max(scale[1], float(rating.max()))
        text = "{n:,} of {all:,} ratings lie outside the scale from {low:g} to {high:g}, such as {value:g}; correct them, or use "
        told: dict[str, Any] = {"n": outside, "all": len(rating), "low": scale[0], "high": scale[1], "value": example}
        raise NoteError("scale", text + "{option}.", option=Option("scale", (low, high)), **told)


# Pairs that occur twice


def _settle(found: Found, duplicates: str, count: Counter) -> None:
    """Leave one rating of each user and item."""
    columns, n_users, n_items = found.columns, len(found.users), len(found.items)
    if is_mapped(columns["rating"]):
        found.columns, indptr = sorted_columns(
            columns, "user", "item", n_users, n_items, lambda rows: _distinct(rows, duplicates, count, found)
        )
        found.arranged = indptr, found.columns["item"], found.columns["rating"]
        return
    order, *arranged, twice = grouping.grouped(columns["user"], columns["item"], columns["rating"], n_users, n_items)
    if not twice:
        found.order, found.arranged = order, tuple(arranged)
        return
    rows = {name: column[order] for name, column in columns.items()} | {"row": order}
    rows = _distinct(rows, duplicates, count, found)
    place = np.full(len(columns["user"]), -1)
    place[rows.pop("row")] = np.arange(len(rows["user"]))
    given = place[place >= 0]
    found.columns = {name: column[given] for name, column in rows.items()}


def _distinct(rows: dict[str, np.ndarray], duplicates: str, count: Counter, found: Found) -> dict[str, np.ndarray]:
    """One row of each pair, of rows in order of pairs."""
    user, item = rows["user"], rows["item"]
    first = np.ones(len(user), bool)
    first[1:] = (user[1:] != user[:-1]) | (item[1:] != item[:-1])
    begin = np.flatnonzero(first)
    sizes = np.diff(begin, append=len(user))
    count["duplicates"] += len(user) - len(begin)
    count["pairs"] += int((sizes > 1).sum())
    if len(begin) == len(user):
        return rows
    if duplicates == "error":
        at = begin[int(sizes.argmax())]
        text = "user {user!r} rated item {item!r} {n} times; leave one rating of each pair, or use {option}."
        who, what = found.users[[user[at]]].tolist()[0], found.items[[item[at]]].tolist()[0]
        told: dict[str, Any] = {"user": who, "item": what, "n": int(sizes.max())}
        raise NoteError("duplicates", text, option=Option("duplicates", "last"), **told)
    if "time" in rows:
        order = np.lexsort((np.nan_to_num(rows["time"], nan=-np.inf), np.repeat(np.arange(len(begin)), sizes)))
        rows = {name: column[order] for name, column in rows.items()}
    taken = {name: column[begin if duplicates == "first" else begin + sizes - 1] for name, column in rows.items()}
    return taken if duplicates in ("first", "last") else taken | _pooled(rows, begin, sizes, duplicates)


def _pooled(
    rows: dict[str, np.ndarray], begin: np.ndarray, sizes: np.ndarray, duplicates: str
) -> dict[str, np.ndarray]:
    """The mean, or the sum, of ratings of each pair, and the sum of their weights."""
    rating, weight = rows["rating"].astype(np.float64), rows.get("weight")
    if duplicates == "sum":
        return {"rating": np.add.reduceat(rating, begin).astype(np.float32)}
    if weight is None:
        return {"rating": (np.add.reduceat(rating, begin) / sizes).astype(np.float32)}
    total = np.add.reduceat(weight, begin)
    # Where all of a pair weigh nothing they count alike.
    even = np.where(np.repeat(total, sizes) > 0, weight, 1.0)
    mean = np.add.reduceat(rating * even, begin) / np.add.reduceat(even, begin)
    return {"rating": mean.astype(np.float32), "weight": total}


LEFT_OUT = {
    "ids": ("missing_ids", "without a user or an item"),
    "ratings": ("missing_ratings", "without a rating"),
    "infinite": ("infinite", "with an infinite rating"),
}
"""Rows that are no ratings: code of the note, and words."""


def _told(count: Counter, duplicates: str) -> list[Note]:
    """What was left out."""
    text = "{rows} {kind} {were} left out, of {all:,}"
    notes = [
        Note(code, text, rows=words.count(n, "row"), kind=kind, were="was" if n == 1 else "were", all=count["rows"], n=n)
        for name, (code, kind) in LEFT_OUT.items() if (n := count[name])
    ]  # fmt: skip
    if count["duplicates"]:
        text = "{pairs} more than once ({rows} beyond the first); {how} was taken: {option}"
        pairs = words.count(count["pairs"], "pair of a user and an item occurs", "pairs of a user and an item occur")
        how = f"the {duplicates} rating" if duplicates in ("first", "last") else f"the {duplicates} of its ratings"
        rows, option = words.count(count["duplicates"], "row"), Option("duplicates", duplicates)
        notes.append(Note("duplicates", text, pairs=pairs, rows=rows, how=how, option=option, n=count["duplicates"]))
    return notes
