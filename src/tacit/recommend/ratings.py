"""`Ratings`: who rated what, and how; a table of users by items of which nearly all cells are missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels import lazy
from ..notes import Note
from ..source.sparse import SparseRows
from .ids import codes_of, known_as
from .ingestion import ingest
from .reading import find_columns, parts_of
from .spool import Columns, blocks, counts_of, is_mapped, let_go, sorted_columns

__all__ = ["Ratings", "Side", "as_ratings", "codes_of", "codes_of_pairs", "pairs_of"]

grouping = lazy("grouping")
MOST_LEVELS = 20
"""Distinct ratings up to which they are levels of a scale, not measurements."""


@dataclass(frozen=True)
class Side:
    """Ratings in order of one side, users or items, and of the other one within.

    Attributes
    ----------
    rows : SparseRows
        Ratings; the columns are the other side.
    order : (n,) int64 or None
        Place of each of them among the ratings as they were given; None where the ratings lie in files, in this order.
    given : dict of str to array
        Times and weights, as they were given; where `order` is None, in this order.
    """

    rows: SparseRows
    order: np.ndarray | None
    given: dict[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def weight(self) -> np.ndarray | None:
        """Weights (n,) of the ratings in this order; None where there are none."""
        return self._along("weight")

    @cached_property
    def time(self) -> np.ndarray | None:
        """Times (n,) of the ratings in this order; None where there are none."""
        return self._along("time")

    def _along(self, name: str) -> np.ndarray | None:
        found = self.given.get(name)
        return found if found is None or self.order is None else found[self.order]


class Ratings:
    """Ratings of items by users.

    `Ratings.read` makes them of a table of any kind; here users and items are numbered already.

    Parameters
    ----------
    user, item : array-like of int
        Numbers of users and items.
    rating : array-like
        What each rated; 1 for all where only the event is known.
    users, items : ndarray
        Ids, of any type.
    time : array-like, optional
        When, in seconds or any other unit.
    weight : array-like, optional
        Weights of the ratings.
    notes : tuple of Note
        What was found out when they were read: duplicates, missing ratings.
    scale : (float, float), optional
        Smallest and largest rating that may be given; default those that were.
    levels : ndarray, optional
        The ratings that may be given; default those that were, where they are few.

    Attributes
    ----------
    n_users, n_items : int
    by_user, by_item : Side
        Ratings in order of users, or of items.
    columns : dict of str to object
        Names of the columns that were read, by what they hold.

    Examples
    --------
    >>> from tacit.recommend import Ratings
    >>> table = {"user": ["ann", "bob", "ann"], "item": [7, 7, 9], "rating": [4, 2, 5]}
    >>> ratings = Ratings.read(table)
    >>> ratings
    Ratings(3 ratings of 2 items by 2 users, from 2 to 5)
    >>> ratings.by_user.rows.toarray()
    array([[ 4.,  5.],
           [ 2., nan]], dtype=float32)
    """

    def __init__(
        self, user: Any, item: Any, rating: Any, users: Any, items: Any, *, time: Any = None, weight: Any = None,
        notes: tuple[Note, ...] = (), scale: tuple[float, float] | None = None, levels: np.ndarray | None = None,
    ):  # fmt: skip
        self.user = np.ascontiguousarray(user, dtype=np.int32)
        self.item = np.ascontiguousarray(item, dtype=np.int32)
        self.rating = np.ascontiguousarray(rating, dtype=np.float32)
        self.users, self.items, self.notes = known_as(users), known_as(items), notes
        self.time = None if time is None else np.ascontiguousarray(time)
        self.weight = None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        self.columns: dict[str, Any] = {}
        self._in_order = self._checked = False
        if scale is not None:
            self.scale = scale
        if levels is not None:
            self.levels = levels

    @classmethod
    def read(
        cls, table: Any, *, user: Any = None, item: Any = None, rating: Any = None, time: Any = None, weight: Any = None,
        scale: tuple[float, float] | None = None, duplicates: str = "last", n_jobs: int | None = None, **reading: Any,
    ) -> Ratings:  # fmt: skip
        """Ratings of a table with a row for each.

        Parameters
        ----------
        table : data frame, Arrow table, dict of columns, array, list of rows, sparse matrix, Dask frame, path or database
            A pandas or polars frame; columns as a dictionary, a structured array or a tuple; an array or a list with a user, an
            item and a rating in each row; a CSV, Parquet, Arrow or Excel file; a database with a query (``sql=``). Of a sparse
            matrix of users by items, cells that are stored are ratings, zeros among them, and the others are missing. Dask
            frames are read partition by partition.
        user, item, rating, time, weight : name of a column, optional
            Default by names such as userId, movie_id, stars, timestamp; columns without names are taken in the order user, item,
            rating, time. Without a column of ratings, each row is a rating of 1. False says that there is no such column.
        scale : (float, float), optional
            The smallest and the largest rating; others are refused. Default those that occur.
        duplicates : {"last", "first", "mean", "sum", "error"}, default="last"
            What to take where a user rated an item more than once: the last or first rating by time, or by row where there are no
            times, the mean, the sum, or to refuse the table.
        n_jobs : int, optional
            Threads; default all cores.
        **reading
            How a file or query is read: ``sql``, ``sheet``, ``separator``, ``header`` and others of `tacit.tables.open_reader`.

        Returns
        -------
        Ratings
            Rows without a user, an item or a finite rating are left out, which `notes` tell. Ids keep their type and are in
            order where they have one. Beyond 512 MB, ratings lie in temporary files in order of users.
        """
        roles = {"user": user, "item": item, "rating": rating, "time": time, "weight": weight}
        found = ingest(table, roles, scale, duplicates, n_jobs, reading)
        made = cls(**found.columns, users=found.users, items=found.items, notes=found.notes, scale=found.scale)
        made.columns, made._checked = found.names, True
        made._in_order = found.order is None and found.arranged is not None
        if found.arranged is not None:
            made.by_user = made._arranged(found.order, *found.arranged)
        return made

    def __len__(self) -> int:
        return len(self.rating)

    def __repr__(self) -> str:
        low, high = self.scale
        return f"Ratings({len(self):,} ratings of {self.n_items:,} items by {self.n_users:,} users, from {low:g} to {high:g})"

    def check(self) -> None:
        """Raise where a rating or a weight is not finite, or is of a user or an item that there is not; looked at once."""
        if self._checked:
            return
        columns = {"user": self.user, "item": self.item} | self._along
        for name, column in columns.items():
            if len(column) != len(self):
                raise ValueError(
                    f"there are {len(self)} ratings and {len(column)} values of {name}; give one for each."
                )
        for part in blocks(len(self)):
            self._refuse(part, ~np.isfinite(self.rating[part]), self.rating, "rating", "must be finite; leave it out")
            for name, n in (("user", self.n_users), ("item", self.n_items)):
                code, told = columns[name], f"must be a number from 0 to {n - 1}, the place of an id in {name}s"
                self._refuse(part, (code[part] < 0) | (code[part] >= n), code, name, told)
            if self.weight is not None:
                bad = ~(np.isfinite(self.weight[part]) & (self.weight[part] >= 0))
                self._refuse(part, bad, self.weight, "weight", "must be finite and not negative")
            let_go(self.rating, *columns.values())
        self._checked = True

    def _refuse(self, part: slice, bad: np.ndarray, column: np.ndarray, name: str, told: str) -> None:
        if bad.any():
            place = part.start + int(bad.argmax())
            raise ValueError(f"{name} {column[place]:g} of row {place} {told}.")

    @property
    def n_users(self) -> int:
        """Users, those without a rating included."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """Items, those without a rating included."""
        return len(self.items)

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Smallest and largest rating."""
        low, high = np.inf, -np.inf
        for part in blocks(len(self)):
            low, high = min(low, float(self.rating[part].min())), max(high, float(self.rating[part].max()))
            let_go(self.rating)
        return (low, high) if len(self) else (np.nan, np.nan)

    @cached_property
    def levels(self) -> np.ndarray | None:
        """The distinct ratings in order, where they are few."""
        found = np.empty(0, np.float32)
        for part in blocks(len(self)):
            found = np.union1d(found, self.rating[part])
            let_go(self.rating)
            if len(found) > MOST_LEVELS:
                return None
        return found.astype(np.float64)

    @cached_property
    def by_user(self) -> Side:
        """Ratings in order of users."""
        if self._in_order:
            return self._arranged(None, _offsets(counts_of(self.user, self.n_users)), self.item, self.rating)
        return self._side("user", "item")

    @cached_property
    def by_item(self) -> Side:
        """Ratings in order of items."""
        return self._side("item", "user")

    @property
    def _along(self) -> dict[str, np.ndarray]:
        """Times and weights, where there are some."""
        return {name: value for name in ("time", "weight") if (value := getattr(self, name)) is not None}

    def _arranged(self, order: np.ndarray | None, indptr: np.ndarray, item: np.ndarray, rating: np.ndarray) -> Side:
        """Users with their ratings, in an order that is known."""
        return Side(SparseRows(rating, item, indptr, (self.n_users, self.n_items), "missing"), order, self._along)

    def _side(self, own: str, other: str) -> Side:
        numbers: dict[str, np.ndarray] = {"user": self.user, "item": self.item}
        n_own, n_other = (self.n_users, self.n_items) if own == "user" else (self.n_items, self.n_users)
        if is_mapped(self.rating):
            columns = numbers | {"rating": self.rating} | self._along
            made, indptr = sorted_columns(columns, own, other, n_own, n_other)
            rows = SparseRows(made["rating"], made[other], indptr, (n_own, n_other), "missing")
            return Side(rows, None, {name: made[name] for name in self._along})
        order, indptr, others, data, _ = grouping.grouped(numbers[own], numbers[other], self.rating, n_own, n_other)
        return Side(SparseRows(data, others, indptr, (n_own, n_other), "missing"), order, self._along)

    def with_ids(self, users: Any = (), items: Any = ()) -> Ratings:
        """The same ratings, with users and items besides who have none; those that are known already are not added.

        Parameters
        ----------
        users, items : array-like of ids
        """
        sides = [(self.users, users), (self.items, items)]
        both = [extended_ids(known, np.asarray(more)) for known, more in sides]
        if all(ids is known for ids, (known, _) in zip(both, sides)):
            return self
        columns = {"user": self.user, "item": self.item, "rating": self.rating} | self._along
        made = Ratings(**columns, users=both[0], items=both[1], notes=self.notes, scale=self.scale, levels=self.levels)
        made.columns, made._in_order, made._checked = self.columns, self._in_order, self._checked
        return made

    def take(self, rows: Any) -> Ratings:
        """Some of the ratings, by a mask or by their places, with all users and items, and the same scale."""
        rows = np.asarray(rows)
        columns = {"user": self.user, "item": self.item, "rating": self.rating} | self._along
        taken = (
            _taken(columns, rows) if is_mapped(self.rating) else {name: each[rows] for name, each in columns.items()}
        )
        made = Ratings(**taken, users=self.users, items=self.items, scale=self.scale, levels=self.levels)
        made._in_order, made._checked = self._in_order and rows.dtype == bool, self._checked
        return made


def _taken(columns: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, np.ndarray]:
    """Some rows of columns in files, in files where they are many."""
    made = Columns()
    for part in blocks(len(rows)):
        chosen = np.flatnonzero(rows[part]) + part.start if rows.dtype == bool else rows[part]
        made.add({name: column[chosen] for name, column in columns.items()})
        let_go(*columns.values())
    return made.finish()


def extended_ids(known: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Known ids and, after them, those of others that are new."""
    new = more[codes_of(more, known) < 0] if len(more) else more
    if not len(new):
        return known
    new = np.array(list(dict.fromkeys(new.tolist())), dtype=new.dtype)
    if known.dtype.kind == new.dtype.kind:
        return np.concatenate([known, new])
    return np.array([*known.tolist(), *new.tolist()], dtype=object)


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)])


def as_ratings(X: Any) -> Ratings:
    """Ratings of any table of them; `Ratings` are what they are, and are refused where they cannot be."""
    if not isinstance(X, Ratings):
        return Ratings.read(X)
    X.check()
    return X


def pairs_of(X: Any) -> tuple[Any, Any]:
    """Ids of users and of items of pairs.

    Parameters
    ----------
    X : Ratings, table with columns for user and item, (n, 2) array, (users, items), list of pairs, or path
    """
    if isinstance(X, Ratings):
        return X.users[X.user], X.items[X.item]
    if isinstance(X, tuple):
        if len(X) < 2 or len(X[0]) != len(X[1]):
            raise ValueError("pairs are (users, items) with as many of the one as of the other.")
        return X[0], X[1]
    parts = parts_of(X)
    names = find_columns(parts, {"user": None, "item": None})
    found: dict[str, list] = {"user": [], "item": []}
    for part in parts.read(list(names.values())):
        for role, each in found.items():
            each.append(_as_ids(parts.ids(part[names[role]])))
    users, items = (np.concatenate(each) if each else np.empty(0, np.int64) for each in found.values())
    return users, items


def _as_ids(column: Any) -> np.ndarray:
    """Ids of a column of Arrow as an array: numbers, or objects."""
    return column if isinstance(column, np.ndarray) else column.to_numpy(zero_copy_only=False)


def codes_of_pairs(X: Any, users: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the users and of the items of pairs among known ones; −1 where an id is not known.

    Parameters
    ----------
    X
        As in `pairs_of`.
    users, items : ndarray
        Known ids.
    """
    if isinstance(X, Ratings):
        sides = ((X.users, X.user, users), (X.items, X.item, items))
        user, item = (code if ids is known else codes_of(ids, known)[code] for ids, code, known in sides)
        return user, item
    asked = pairs_of(X)
    return codes_of(asked[0], users), codes_of(asked[1], items)
