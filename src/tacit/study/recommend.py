"""What is said of ratings and a recommender: `RatingFindings`, which the console, JSON and the page show and add nothing to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..recommend.choice import RecommenderChoice
from ..recommend.ratings import Ratings
from ..recommend.trial import HeldOut
from ..words import count
from .rating_sentences import card, limits, summary
from .reasons import Suggested, Suggestions, suggestions_for
from .tastes import Tastes, tastes_of

__all__ = [
    "MappedItem", "RatingFindings", "Suggested", "Suggestions", "Tail", "called_items", "item_places", "study_ratings",
]  # fmt: skip

MAPPED, SIMILAR, MOST_USERS = 400, 5, 500
"""Items on the map, those told to be like one, and users whose expected ratings lay it out."""
COLD, LEAST_ALIKE = 5, 20
"""Ratings below which a user or an item counts as new, and that an item has that is told as similar, unless most have fewer."""
EXAMPLES, SUGGESTED = 3, 5
MOST_BINS = 20


@dataclass(frozen=True, eq=False)
class Tail:
    """How many ratings users, or items, have.

    Attributes
    ----------
    counts : (n,) int array
        Ratings of each, those without any included.
    median : float
    cold : int
        How many have fewer than five.
    cold_ratings : int
        Ratings of these.
    top : float
        Share of all ratings that the tenth with the most ratings has.
    """

    counts: np.ndarray
    median: float
    cold: int
    cold_ratings: int
    top: float


@dataclass(frozen=True, eq=False)
class MappedItem:
    """An item on the map.

    Attributes
    ----------
    code : int
        Its number among all items.
    id, name : str
    n_ratings : int
    mean : float
    place : (float, float)
    kind : int or None
        Its type, from 1.
    bars : list of float
        Shares of its ratings by level, or by bin, as `RatingFindings.labels` has them.
    similar : list of (int, float)
        Numbers of the items most like it, with cosine similarities.
    """

    code: int
    id: str
    name: str
    n_ratings: int
    mean: float
    place: tuple[float, float]
    kind: int | None
    bars: list[float]
    similar: list[tuple[int, float]]


@dataclass(frozen=True, eq=False)
class RatingFindings:
    """Everything that was found about ratings.

    Attributes
    ----------
    title : str
    n_ratings, n_users, n_items : int
    mean, spread : float
        Of the ratings.
    labels, counts : list
        Levels, or bins, of ratings and how many ratings each has.
    users, items : Tail
    check : HeldOut or None
        Measured on ratings held out.
    tastes : Tastes or None
        Types of users and of items.
    mapped : tuple of MappedItem
        The most rated items, and `kept`, the share of the variance of expected ratings that the map keeps.
    kept : float
    names : (n_items,) array
        What items are called.
    examples : tuple of Suggestions
        For a few users, or for those asked for.
    selection : list of dict
        Recommenders that were tried: `method`, `rmse` and `failed`.
    method : str
        Class of the model.
    notes : tuple of str
        What was found out when the ratings were read.
    summary, limits : list of str
    card : dict of str to str
    trace : array
    """

    title: str
    n_ratings: int
    n_users: int
    n_items: int
    mean: float
    spread: float
    labels: list[str]
    counts: np.ndarray
    users: Tail
    items: Tail
    check: HeldOut | None
    tastes: Tastes | None
    mapped: tuple[MappedItem, ...]
    kept: float
    names: np.ndarray
    examples: tuple[Suggestions, ...]
    selection: list[dict]
    method: str
    notes: tuple[str, ...] = ()
    summary: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    card: dict[str, str] = field(default_factory=dict)
    trace: np.ndarray = field(default_factory=lambda: np.empty(0))
    kind: str = "ratings"

    def __repr__(self) -> str:
        return f"RatingFindings({self.title!r}: {self.summary[0] if self.summary else count(self.n_ratings, 'rating')})"


def study_ratings(
    choice: Any, ratings: Ratings, *, types: Any = None, names: Any = None, title: str = "ratings", users: Sequence[Any] = (),
    n: int = SUGGESTED, columns: dict[str, str] | None = None, seed: int = 0,
) -> RatingFindings:  # fmt: skip
    """Findings about ratings under a recommender.

    Parameters
    ----------
    choice : RecommenderChoice or Recommender
        What `tacit.recommend.choose_recommender` found, or a fitted recommender, of which no accuracy is known.
    ratings : Ratings
        Those it was learned from.
    types : TwoSidedMixture or False, optional
        Fitted to the ratings; by default the recommender itself where it is one. No types are told without it, or with False.
    names : dict or array, optional
        What items are called: by id, or one for each item in the order of ``ratings.items``.
    title : str
        What the ratings are called.
    users : sequence of ids, optional
        Whom to show recommendations for; default a few users, of few, middling and many ratings.
    n : int, default=5
        How many each.
    columns : dict, optional
        Names of the table's columns, by `user`, `item` and `rating`, for the lines of pandas.
    seed : int

    Returns
    -------
    RatingFindings

    Examples
    --------
    >>> from tacit.datasets import make_ratings
    >>> from tacit.recommend import Ratings, choose_recommender
    >>> from tacit.study.recommend import study_ratings
    >>> ratings = Ratings.read(make_ratings(60, 30, random_state=0).table())
    >>> found = study_ratings(choose_recommender(ratings, method="factorization", n_components=3), ratings)
    >>> found.n_users, len(found.examples)
    (60, 3)
    """
    if not isinstance(choice, RecommenderChoice):
        choice = RecommenderChoice(choice, "", None)
    _check_same(choice.model, ratings)
    model, called = choice.model, called_items(names, ratings.items)
    if types is None and hasattr(model, "user_membership_"):
        types = model
    tastes = None if types in (None, False) else tastes_of(types, ratings, called, _exact(columns, ratings))
    labels, bins = _bins(ratings)
    n_user, n_item = (
        np.bincount(side, minlength=size)
        for side, size in ((ratings.user, ratings.n_users), (ratings.item, ratings.n_items))
    )
    mapped, kept = _mapped(model, ratings, called, tastes, bins, len(labels), seed)
    shown = users if len(users) else _typical(ratings, n_user)
    trace = np.asarray(getattr(model, "lower_bounds_", ()), dtype=np.float64)
    found = RatingFindings(
        title, len(ratings), int((n_user > 0).sum()), int((n_item > 0).sum()), float(ratings.rating.mean(dtype=float)),
        float(ratings.rating.std(dtype=float)), labels, np.bincount(bins, minlength=len(labels)), _tail(n_user), _tail(n_item),
        choice.check, tastes, mapped, kept, called, tuple(suggestions_for(model, ratings, user, n, called) for user in shown),
        choice.tried, type(model).__name__, tuple(ratings.notes), trace=trace, card=card(choice, ratings, title, seed),
    )  # fmt: skip
    found.summary.extend(summary(found, choice))
    found.limits.extend(limits(found, model))
    return found


def _check_same(model: Any, ratings: Ratings) -> None:
    """Refuse ratings of other users or items than a model knows."""
    for what, known, given in (("users", model.users_, ratings.users), ("items", model.items_, ratings.items)):
        if len(known) != len(given) or any(a != b for a, b in zip(known.tolist(), given.tolist())):
            raise ValueError(
                f"the ratings are of {len(given):,} {what}, and the model knows {len(known):,} {what} that are not the same; "
                "give the ratings that it was learned from, or learn it from these."
            )


def called_items(names: Any, items: np.ndarray) -> np.ndarray:
    """What items are called, in their order; their ids where nothing else is known."""
    if names is None:
        return np.array([str(each) for each in items.tolist()], dtype=object)
    if isinstance(names, dict):
        return np.array([str(names.get(each, each)) for each in items.tolist()], dtype=object)
    names = np.array([str(each) for each in names], dtype=object)
    if len(names) != len(items):
        raise ValueError(
            f"{len(names)} names are given for {len(items)} items; give one for each, or a dictionary by id."
        )
    return names


def _exact(columns: dict[str, str] | None, ratings: Ratings) -> dict[str, str] | None:
    """Names of columns for lines of pandas, where the table's rows are the ratings: no rating was merged or left out."""
    return None if ratings.notes else columns


def _bins(ratings: Ratings) -> tuple[list[str], np.ndarray]:
    """Levels of ratings, or bins where they are many: their texts, and the one of each rating."""
    from ..words import number

    if ratings.levels is not None:
        return [number(level) for level in ratings.levels], np.searchsorted(
            ratings.levels, ratings.rating.astype(np.float64)
        )
    edges = np.linspace(*ratings.scale, MOST_BINS + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    return [number(each, 3) for each in middles], np.clip(
        np.searchsorted(edges, ratings.rating, "right") - 1, 0, MOST_BINS - 1
    )


def _tail(counts: np.ndarray) -> Tail:
    few = (counts > 0) & (counts < COLD)
    known = np.sort(counts[counts > 0])[::-1]
    first = known[: max(len(known) // 10, 1)]
    return Tail(
        counts, float(np.median(known)), int(few.sum()), int(counts[few].sum()), float(first.sum() / known.sum())
    )


def _typical(ratings: Ratings, n_user: np.ndarray) -> list[Any]:
    """Users with few, middling and many ratings: at the quartiles of those who have any."""
    there = np.flatnonzero(n_user)
    order = there[np.argsort(n_user[there], kind="stable")]
    at = [round(part * (len(order) - 1)) for part in (0.25, 0.5, 0.75)][:EXAMPLES]
    return [ratings.users[order[each]] for each in dict.fromkeys(at)]


def _mapped(
    model: Any, ratings: Ratings, called: np.ndarray, tastes: Tastes | None, bins: np.ndarray, n_bins: int, seed: int
) -> tuple[tuple[MappedItem, ...], float]:
    """The most rated items, laid out by what users are expected to rate them."""
    n_item = np.bincount(ratings.item, minlength=ratings.n_items)
    chosen = np.argsort(-n_item, kind="stable")[:MAPPED]
    chosen = chosen[n_item[chosen] > 0]
    places, kept = item_places(model, ratings, chosen, seed)
    bars = np.zeros((ratings.n_items, n_bins))
    np.add.at(bars, (ratings.item, bins), 1.0)
    sums = np.bincount(ratings.item, ratings.rating.astype(np.float64), ratings.n_items)
    kinds = None if tastes is None else tastes.item_type
    usual = n_item >= min(LEAST_ALIKE, int(np.median(n_item[chosen]))) if len(chosen) else n_item > 0
    found = [
        MappedItem(
            int(j), str(ratings.items[j]), str(called[j]), int(n_item[j]), float(sums[j] / n_item[j]),
            (float(place[0]), float(place[1])), None if kinds is None else int(kinds[j]), (bars[j] / n_item[j]).tolist(),
            _similar(model, ratings, int(j), usual),
        )
        for j, place in zip(chosen, places)
    ]  # fmt: skip
    return tuple(found), kept


def item_places(model: Any, ratings: Ratings, items: np.ndarray, seed: int = 0) -> tuple[np.ndarray, float]:
    """Where items lie: the plane that keeps most of how users differ in what they are expected to rate them.

    What a user adds to all items, and an item has of all users, is taken off: near items are liked by the same users. Returns the
    places (n, 2) and the share of the variance that they keep.
    """
    users = np.flatnonzero(np.bincount(ratings.user, minlength=ratings.n_users))
    if len(users) > MOST_USERS:
        users = np.sort(np.random.default_rng(seed).choice(users, MOST_USERS, replace=False))
    expected = np.asarray(model._rows(users), dtype=np.float64)[:, items]
    expected = expected - expected.mean(axis=0) - (expected.mean(axis=1, keepdims=True) - expected.mean())
    _, values, axes = np.linalg.svd(expected, full_matrices=False)
    if not len(values) or values[0] <= 1e-9 * (1.0 + abs(ratings.rating).max()):
        return np.zeros((len(items), 2)), 1.0
    first = axes[:2] * values[:2, None]
    first = np.vstack([first, np.zeros((2 - len(first), len(items)))])
    first *= np.sign(first[np.arange(2), np.abs(first).argmax(axis=1)] + 1e-300)[:, None]
    return first.T / np.sqrt(len(users)), float((values[:2] ** 2).sum() / (values**2).sum())


def _similar(model: Any, ratings: Ratings, item: int, usual: np.ndarray) -> list[tuple[int, float]]:
    """The items most like one, of those that are usual; none where the recommender does not tell."""
    from ..recommend.ratings import codes_of

    try:
        ids, alike = model.similar_items(ratings.items[item], 10 * SIMILAR)
    except NotImplementedError:
        return []
    codes = codes_of(ids, ratings.items)
    return [(int(j), float(a)) for j, a in zip(codes, alike) if usual[j] and a > 0][:SIMILAR]
