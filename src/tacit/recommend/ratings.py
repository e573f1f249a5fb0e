"""`Ratings`: who rated what, and how; a table of users by items of which nearly all cells are missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels import lazy
from ..notes import Note
from ..source.sparse import SparseRows

__all__ = ["Ratings", "Side", "as_ratings", "codes_of", "pairs_of"]

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
    order : (n,) int64
        Place of each of them among the ratings as they were given.
    """

    rows: SparseRows
    order: np.ndarray


class Ratings:
    """Ratings of items by users.

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

    Attributes
    ----------
    n_users, n_items : int
    scale : (float, float)
        Smallest and largest rating.
    levels : ndarray or None
        The distinct ratings in order, where they are few.
    by_user, by_item : Side
        Ratings in order of users, or of items.
    """

    def __init__(
        self, user: Any, item: Any, rating: Any, users: Any, items: Any, *, time: Any = None, weight: Any = None,
        notes: tuple[Note, ...] = (),
    ):  # fmt: skip
        self.user = np.ascontiguousarray(user, dtype=np.int32)
        self.item = np.ascontiguousarray(item, dtype=np.int32)
        self.rating = np.ascontiguousarray(rating, dtype=np.float32)
        self.users, self.items, self.time, self.weight, self.notes = users, items, time, weight, notes

    def __len__(self) -> int:
        return len(self.rating)

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
        return (float(self.rating.min()), float(self.rating.max())) if len(self) else (np.nan, np.nan)

    @cached_property
    def levels(self) -> np.ndarray | None:
        """The distinct ratings in order, where they are few."""
        found = np.unique(self.rating).astype(np.float64)
        return found if len(found) <= MOST_LEVELS else None

    @cached_property
    def by_user(self) -> Side:
        """Ratings in order of users."""
        return self._side(self.user, self.item, self.n_users, self.n_items)

    @cached_property
    def by_item(self) -> Side:
        """Ratings in order of items."""
        return self._side(self.item, self.user, self.n_items, self.n_users)

    def _side(self, own: np.ndarray, other: np.ndarray, n_own: int, n_other: int) -> Side:
        order, indptr = grouping.grouped(own, other, n_own, n_other)
        rows = SparseRows(self.rating[order], other[order], indptr, (n_own, n_other), "missing")
        return Side(rows, order)

    def take(self, rows: Any) -> Ratings:
        """Some of the ratings, with all users and items."""
        along = {name: None if (v := getattr(self, name)) is None else v[rows] for name in ("time", "weight")}
        return Ratings(self.user[rows], self.item[rows], self.rating[rows], self.users, self.items, **along)


def as_ratings(X: Any) -> Ratings:
    """Ratings of any table of them; `Ratings` are what they are."""
    if isinstance(X, Ratings):
        return X
    if hasattr(X, "tocoo"):
        X = X.tocoo()
        return Ratings(X.row, X.col, X.data, np.arange(X.shape[0]), np.arange(X.shape[1]))
    users, user = np.unique(np.asarray(X["user"]), return_inverse=True)
    items, item = np.unique(np.asarray(X["item"]), return_inverse=True)
    return Ratings(user, item, np.asarray(X["rating"], dtype=float), users, items)


def pairs_of(X: Any) -> tuple[Any, Any]:
    """Ids of users and of items of pairs."""
    if isinstance(X, Ratings):
        return X.users[X.user], X.items[X.item]
    if isinstance(X, tuple):
        return X[0], X[1]
    return np.asarray(X["user"]), np.asarray(X["item"])


def codes_of(ids: Any, known: np.ndarray) -> np.ndarray:
    """Numbers of ids among the known ones; −1 where an id is not known."""
    number = {each: place for place, each in enumerate(known.tolist())}
    return np.array([number.get(each, -1) for each in np.asarray(ids).tolist()], dtype=np.int64)
