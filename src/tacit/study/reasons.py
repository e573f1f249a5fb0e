"""Recommendations for a user with the reasons for each, in words."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..notes import Claim
from ..recommend.ratings import Ratings, codes_of
from ..words import number, signed

__all__ = ["PairReasons", "Suggested", "Suggestions", "explain_pair", "reason_words", "suggestions_for"]

PARTS = {
    "mean": "all ratings", "user": "this user's ratings", "item": "this item's ratings", "factors": "taste",
    "votes": "similar items", "rest": "the rest",
}  # fmt: skip
"""Parts of an expected rating in words, by the names that recommenders give them."""
LIKED, TOLD, LISTED = 5, 3, 10


@dataclass(frozen=True)
class Suggested:
    """An item for a user.

    Attributes
    ----------
    item : object
        Its id.
    name : str
    rating : float
        What the user is expected to rate it.
    low, high : float or None
        Between which the rating lies with a probability of 90 %.
    reason : str
        Why, in words; empty where nothing is known of the user.
    """

    item: Any
    name: str
    rating: float
    low: float | None
    high: float | None
    reason: str


@dataclass(frozen=True)
class Suggestions:
    """Items for a user.

    Attributes
    ----------
    user : object
    n_ratings : int
    mean : float or None
        Of the user's ratings.
    liked : list of (str, float)
        Names of items that the user rated highest, and the ratings.
    items : tuple of Suggested
    cold : bool
        Whether nothing is known of the user, so that these are what users like in general.
    """

    user: Any
    n_ratings: int
    mean: float | None
    liked: list[tuple[str, float]]
    items: tuple[Suggested, ...]
    cold: bool


def suggestions_for(model: Any, ratings: Ratings, user: Any, n: int, names: np.ndarray) -> Suggestions:
    """The n best items for a user, with reasons.

    Parameters
    ----------
    model : Recommender
        Fitted to the ratings.
    ratings : Ratings
    user : object
        Who; someone unknown gets what users like in general.
    n : int
    names : (n_items,) array
        What items are called.

    Returns
    -------
    Suggestions
    """
    given = model.recommend(user, n)
    code = int(codes_of([user], ratings.users)[0])
    rows = ratings.by_user.rows
    own = slice(rows.indptr[code], rows.indptr[code + 1]) if code >= 0 else slice(0, 0)
    items, rated = rows.indices[own], np.asarray(rows.data[own], dtype=np.float64)
    best = np.lexsort((items, -rated))[:LIKED]
    number_of = dict(zip(codes_of(given.items, ratings.items).tolist(), range(len(given))))
    low, high = _ends(model, given)
    found = []
    for j, k in number_of.items():
        reason = (
            "" if given.cold or not len(items) else reason_words(model.explain(user, given.items[k]), names, ratings)
        )
        own_low, own_high = (None, None) if low is None else (float(low[k]), float(high[k]))
        found.append(Suggested(given.items[k], str(names[j]), float(given.ratings[k]), own_low, own_high, reason))
    mean = float(rated.mean()) if len(rated) else None
    liked = [(str(names[items[p]]), float(rated[p])) for p in best]
    return Suggestions(user, len(items), mean, liked, tuple(found), given.cold)


def _ends(model: Any, given: Any) -> tuple[Any, Any]:
    """Ends of intervals of 90 %; None where the recommender tells no uncertainty."""
    try:
        return model.predict_interval(([given.user] * len(given), list(given.items)), 0.9)
    except NotImplementedError:
        return None, None


def reason_words(told: Any, names: np.ndarray, ratings: Ratings) -> str:
    """An explanation in words: what adds to the expected rating, and which ratings of the user speak for it."""
    kept = {name: value for name, value in told.parts.items() if name == "mean" or abs(value) >= 0.005}
    parts = [
        f"{PARTS.get(name, name)} {number(value, 3) if name == 'mean' else signed(value)}"
        for name, value in kept.items()
    ]
    words = ", ".join(parts)
    speak = sorted((each for each in told.because if each[2] > 0), key=lambda each: -each[2])[:TOLD]
    if not speak:
        return words
    codes = codes_of([item for item, _, _ in speak], ratings.items)
    own = [f"{names[j]} ({number(rated, 3)})" for j, (_, rated, _) in zip(codes, speak)]
    return f"{words}; rated: {'; '.join(own)}"


def _item(item: Any, name: str) -> str:
    return f"item {item}" if name == str(item) else f"{name} (item {item})"


@dataclass(frozen=True)
class PairReasons:
    """Why a user is expected to rate an item as told.

    Attributes
    ----------
    user, item : object
    rating : float
        What is expected, within the scale.
    low, high : float or None
        Between which the rating lies with a probability of 90 %.
    parts : dict of str to float
        What adds up to it, in words.
    because : list of (object, float, float, str)
        Items that the user rated and that speak for it most: id, rating, what each adds and what it is called.
    words : str
        The same as a sentence.
    notes : list of str
        That the user or the item is not known.
    """

    user: Any
    item: Any
    rating: float
    low: float | None
    high: float | None
    parts: dict[str, float]
    because: list[tuple[Any, float, float, str]]
    words: str
    notes: list[str]

    @property
    def total(self) -> float:
        """The sum of the parts, before it is cut to the scale."""
        return float(sum(self.parts.values()))


def explain_pair(model: Any, user: Any, item: Any, names: np.ndarray | None = None) -> PairReasons:
    """Why a user is expected to rate an item as told, in words.

    Parameters
    ----------
    model : Recommender
        Fitted.
    user, item : object
        Ids; of those that the model does not know, what is known in general is told.
    names : (n_items,) array, optional
        What items are called, in the order of ``model.items_``; default their ids.

    Returns
    -------
    PairReasons
    """
    told = model.explain(user, item)
    low, high = None, None
    with contextlib.suppress(NotImplementedError):
        low, high = (float(end[0]) for end in model.predict_interval(([user], [item]), 0.9))
    parts: dict[str, float] = {}
    for name, value in told.parts.items():
        parts[PARTS.get(name, name)] = parts.get(PARTS.get(name, name), 0.0) + float(value)

    def called(each: Any) -> str:
        code = int(codes_of([each], model.items_)[0])
        return str(each) if names is None or code < 0 else str(names[code])

    because = sorted(
        ((each, float(rated), float(adds), called(each)) for each, rated, adds in told.because),
        key=lambda row: -abs(row[2]),
    )[:LISTED]
    unknown = [
        f"the {what} {each!r} is not known to the model; what is known in general is told"
        for what, each, known in (("user", user, model.users_), ("item", item, model.items_))
        if codes_of([each], known)[0] < 0
    ]
    inside = "" if low is None else f", and between {number(low, 3)} and {number(high, 3)} with a probability of 90 %"
    sentence = f"User {user} is expected to rate {_item(item, called(item))} with {number(told.rating, 3)}{inside}."
    figures = {"rating": told.rating} | ({} if low is None else {"low": low, "high": high})
    words = Claim.of("expected", sentence, f"what {type(model).__name__} has learned from all ratings", figures)
    return PairReasons(user, item, told.rating, low, high, parts, because, words, unknown)
