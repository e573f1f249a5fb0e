"""Types of users and of items, in words: who rates what higher than others do.

Every user and item is counted with its most probable type; means are of the ratings themselves, so that anyone can count again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..notes import Claim
from ..recommend.ratings import Ratings
from ..words import joined, number

__all__ = ["Taste", "Tastes", "quoted", "tastes_of"]

FEW = 20
"""Ratings below which no mean is told."""
TOLD, SMALL = 3.0, 0.05
"""Standard errors, and share of the scale, by which a mean must differ to be told."""
NAMED, LISTED = 3, 8


@dataclass(frozen=True)
class Taste:
    """A type of users or of items.

    Attributes
    ----------
    number : int
        From 1, the largest first.
    n : int
        Users, or items, of which it is the most probable type.
    share : float
        Of all users, or items.
    n_ratings : int
    mean : float or None
        Of their ratings.
    names : list of str
        Of items, the most rated first; empty of users.
    words : list of str
        What sets it apart.
    """

    number: int
    n: int
    share: float
    n_ratings: int
    mean: float | None
    names: list[str]
    words: list[str]

    @property
    def name(self) -> str:
        """Its first items."""
        return "; ".join(self.names[:NAMED])


@dataclass(frozen=True, eq=False)
class Tastes:
    """Types of users and of items.

    Attributes
    ----------
    users, items : tuple of Taste
    user_type, item_type : (n,) int array
        Number of the type of each, from 1.
    means, counts : (types of users, types of items) array
        Mean rating and number of ratings; the mean is NaN where there are none.
    """

    users: tuple[Taste, ...]
    items: tuple[Taste, ...]
    user_type: np.ndarray
    item_type: np.ndarray
    means: np.ndarray
    counts: np.ndarray


def tastes_of(model: Any, ratings: Ratings, names: np.ndarray, columns: dict[str, str] | None = None) -> Tastes:
    """Types of a fitted `TwoSidedMixture`, described by the ratings.

    Parameters
    ----------
    model : TwoSidedMixture
        Fitted to these ratings.
    ratings : Ratings
    names : (n_items,) array
        What items are called.
    columns : dict, optional
        Names of the columns `user`, `item` and `rating` of the table, for the lines of pandas; none are told without it.

    Returns
    -------
    Tastes
    """
    rated_by, rated = (
        np.bincount(side, minlength=n) for side, n in ((ratings.user, ratings.n_users), (ratings.item, ratings.n_items))
    )
    user_type = _numbered(np.asarray(model.user_membership_)[0], rated_by > 0)
    item_type = _numbered(np.asarray(model.item_membership_)[0], rated > 0)
    K, L = int(user_type.max()), int(item_type.max())
    cell = (user_type[ratings.user] - 1) * L + item_type[ratings.item] - 1
    value = ratings.rating.astype(np.float64)
    counts = np.bincount(cell, minlength=K * L).reshape(K, L)
    sums, squares = (np.bincount(cell, part, K * L).reshape(K, L) for part in (value, value**2))
    with np.errstate(invalid="ignore"):
        means = sums / counts
    table = _Table(counts, sums, squares, float(value.std()), ratings.scale, columns)
    items = tuple(_item_type(table, l, item_type, rated, names) for l in range(L))
    users = tuple(_user_type(table, k, user_type, items) for k in range(K))
    return Tastes(users, items, user_type, item_type, means, counts)


def _numbered(probability: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The most probable type of each, numbered from 1 by how many it has; types of nobody have no number."""
    main = probability.argmax(axis=1)
    n = np.bincount(main[there], minlength=probability.shape[1])
    order = np.argsort(-n, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(1, len(order) + 1)
    return np.minimum(number[main], max(int((n > 0).sum()), 1))


@dataclass(frozen=True, eq=False)
class _Table:
    """Sums of ratings by type of user and type of item."""

    counts: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    spread: float
    scale: tuple[float, float]
    columns: dict[str, str] | None

    def contrast(self, own: np.ndarray, other: np.ndarray) -> tuple[float, float, int, int] | None:
        """Means in two sets of cells and the numbers of their ratings, where both are known and differ by more than chance."""
        n, m = int(self.counts[own].sum()), int(self.counts[other].sum())
        if min(n, m) < FEW:
            return None
        a, b = self.sums[own].sum() / n, self.sums[other].sum() / m
        va, vb = self.squares[own].sum() / n - a**2, self.squares[other].sum() / m - b**2
        error = np.sqrt(max(va, 0.0) / n + max(vb, 0.0) / m)
        least = max(TOLD * error, SMALL * (self.scale[1] - self.scale[0]))
        return (float(a), float(b), n, m) if abs(a - b) >= least else None

    def pandas(self, users: str, items: str, others: str) -> str:
        """The line that counts a contrast again; nothing where the columns are not known."""
        if self.columns is None:
            return ""
        c = self.columns
        both = (
            f"table.merge(users[['user', 'type']], left_on={c['user']!r}, right_on='user')"
            f".merge(items[['item', 'type']], left_on={c['item']!r}, right_on='item', suffixes=('_user', '_item'))"
            f".rename(columns={{{c['rating']!r}: 'rating_'}}).dropna(subset=['rating_'])"
        )
        return (
            f"(lambda t: {{'mean': t.rating_[{users}{items}].mean(), 'others': t.rating_[{others}{items}].mean(), "
            f"'n': int(({users}{items}).sum())}})({both})"
        )


def _item_type(table: _Table, l: int, item_type: np.ndarray, rated: np.ndarray, names: np.ndarray) -> Taste:
    """A type of items: its most rated ones, and whether all users like them more than others."""
    own = np.flatnonzero((item_type == l + 1) & (rated > 0))
    first = own[np.argsort(-rated[own], kind="stable")][:LISTED]
    every, here = np.ones_like(table.counts, bool), np.zeros_like(table.counts, bool)
    here[:, l] = True
    told = table.contrast(here, every & ~here)
    words: list[str] = []
    if told is not None:
        way = "higher" if told[0] > told[1] else "lower"
        sentence = f"Rated {way} than other items: {number(told[0], 3)} on average, others {number(told[1], 3)}."
        words.append(Claim.of(
            "item_type", sentence, f"{told[2]:,} ratings of items of the type, {told[3]:,} of others",
            {"mean": told[0], "others": told[1], "n": told[2]},
            table.pandas(f"(t.type_item == {l + 1})", "", f"(t.type_item != {l + 1})"),
        ))  # fmt: skip
    n, mean = int(table.counts[here].sum()), table.sums[here].sum()
    return Taste(
        l + 1, len(own), len(own) / max(int((rated > 0).sum()), 1), n, float(mean / n) if n else None,
        [str(names[j]) for j in first], words,
    )  # fmt: skip


def _user_type(table: _Table, k: int, user_type: np.ndarray, items: tuple[Taste, ...]) -> Taste:
    """A type of users: whether they rate high, and which items they like more and less than other users do."""
    here = np.zeros_like(table.counts, bool)
    here[k] = True
    told = table.contrast(here, ~here)
    words: list[str] = []
    if told is not None:
        way = "high" if told[0] > told[1] else "low"
        sentence = f"Rate {way}: {number(told[0], 3)} on average, other users {number(told[1], 3)}."
        words.append(Claim.of(
            "user_type", sentence, f"{told[2]:,} ratings of users of the type, {told[3]:,} of others",
            {"mean": told[0], "others": told[1], "n": told[2]},
            table.pandas(f"(t.type_user == {k + 1})", "", f"(t.type_user != {k + 1})"),
        ))  # fmt: skip
    words += [_liked(table, k, l, items[l], contrast) for l, contrast in _outstanding(table, k)]
    n = int((user_type == k + 1).sum())
    n_ratings = int(table.counts[k].sum())
    mean = float(table.sums[k].sum() / n_ratings) if n_ratings else None
    return Taste(k + 1, n, n / len(user_type), n_ratings, mean, [], words)


def _outstanding(table: _Table, k: int) -> list[tuple[int, tuple[float, float, int, int]]]:
    """Types of items that a type of users rates most above, and most below, other users, beyond how it rates all."""
    counts = np.maximum(table.counts, 1)
    means = table.sums / counts
    others = (table.sums.sum(axis=0) - table.sums[k]) / np.maximum(table.counts.sum(axis=0) - table.counts[k], 1)
    usual = table.sums[k].sum() / max(table.counts[k].sum(), 1) - (table.sums.sum() - table.sums[k].sum()) / max(
        table.counts.sum() - table.counts[k].sum(), 1
    )
    beyond = means[k] - others - usual
    found = []
    for l in dict.fromkeys((int(beyond.argmax()), int(beyond.argmin()))):
        own, other = np.zeros_like(table.counts, bool), np.zeros_like(table.counts, bool)
        own[k, l], other[:, l] = True, True
        other[k, l] = False
        told = table.contrast(own, other)
        if told is not None and (told[0] - told[1]) * beyond[l] > 0:
            found.append((l, told))
    return found


def _liked(table: _Table, k: int, l: int, items: Taste, told: tuple[float, float, int, int]) -> str:
    more = "more" if told[0] > told[1] else "less"
    sentence = (
        f"Like items such as {quoted(items.names[:NAMED])} (type {l + 1}) {more} than other users do: {number(told[0], 3)} on "
        f"average, other users {number(told[1], 3)}."
    )
    return Claim.of(
        "taste", sentence, f"{told[2]:,} ratings of users of the type, {told[3]:,} of others, both of items of type {l + 1}",
        {"mean": told[0], "others": told[1], "n": told[2]},
        table.pandas(f"(t.type_user == {k + 1})", f" & (t.type_item == {l + 1})", f"(t.type_user != {k + 1})"),
    )  # fmt: skip


def quoted(names: Iterable[str]) -> str:
    """Names as a list; in quotation marks where one holds a comma."""
    names = list(names)
    return joined(f"“{name}”" if any("," in each for each in names) else name for name in names)
