"""Recommendations for a user with the reasons for each, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..recommend.ratings import Ratings, codes_of
from ..words import joined, number, signed

__all__ = ["Suggested", "Suggestions", "reason_words", "suggestions_for"]

PARTS = {"mean": "all ratings", "user": "this user's ratings", "item": "this item's ratings", "taste": "taste", "factors": "taste",
         "votes": "similar items", "types": "types", "rest": "the rest"}  # fmt: skip
"""Parts of an expected rating in words, by the names that recommenders give them."""
LIKED, TOLD = 5, 3
WIDE = 1.6448536269514722


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
        reason = "" if given.cold or not len(items) else reason_words(model.explain(user, given.items[k]), names, ratings)
        ends = (None, None) if low is None else (float(low[k]), float(high[k]))
        found.append(Suggested(given.items[k], str(names[j]), float(given.ratings[k]), *ends, reason))
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
    parts = [f"{PARTS.get(name, name)} {number(value, 3) if name == 'mean' else signed(value)}" for name, value in told.parts.items()
             if name == "mean" or abs(value) >= 0.005]  # fmt: skip
    words = ", ".join(parts)
    speak = sorted((each for each in told.because if each[2] > 0), key=lambda each: -each[2])[:TOLD]
    if not speak:
        return words
    codes = codes_of([item for item, _, _ in speak], ratings.items)
    return f"{words}; {joined(f'{names[j]} was rated {number(rated, 3)}' for j, (_, rated, _) in zip(codes, speak))}"
