"""Ratings cut into a part to learn from and a part to judge by; both have all users and items.

Three questions have three cuts: how well is a known user's next rating told (at random, or the last ones by time), what comes
after a day (by time), and how well does a user fare who was not there when the model was learned (by user, from a few ratings).
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..assess.splits import deal
from ..checks import check_choice, check_number
from .ratings import Ratings, as_ratings

__all__ = ["folds", "split_ratings"]

WAYS = ("random", "user", "time", "last")


def split_ratings(
    ratings: Any, test: float = 0.2, by: str = "random", *, given: int | None = None, random_state: int | None = None
) -> tuple[Ratings, ...]:
    """Ratings to learn from and ratings to judge by.

    Parameters
    ----------
    ratings : Ratings, or any table of them
        What to cut.
    test : float or int, default=0.2
        How much to hold out: a share, or a number. Of users where `by="user"`, of the last ratings of each user where
        `by="last"`, else of ratings.
    by : {"random", "user", "time", "last"}, default="random"
        Which: ratings at random; all ratings of users at random; the latest ratings of all; the latest of each user.
    given : int, optional
        Where `by="user"`: how many ratings of each user who is held out, the earliest by time or else at random, are known when
        the others are to be told. Users with no more than that are not held out.
    random_state : int, optional
        Seed.

    Returns
    -------
    train, test : Ratings
        And between the two, where `given`, the ratings that are known of users who were held out.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.recommend import split_ratings
    >>> user, item, rating = np.repeat([1, 2, 3], 4), np.tile([1, 2, 3, 4], 3), np.arange(12)
    >>> table = {"user": user, "item": item, "rating": rating, "time": rating}
    >>> train, test = split_ratings(table, 1, by="last")
    >>> test.rating.tolist()
    [3.0, 7.0, 11.0]
    """
    ratings = as_ratings(ratings)
    check_choice("by", by, WAYS)
    if given is not None:
        check_number("given", given, numbers.Integral, 1)
        if by != "user":
            raise ValueError(f"given={given} is for by='user', where all ratings of a user are held out; by is {by!r}.")
    rng = np.random.default_rng(random_state)
    if by == "user":
        return _by_user(ratings, test, given, rng)
    held = _last(ratings, test) if by == "last" else _some(ratings, test, by, rng)
    return _both(ratings, held, f"test={test!r}")


def folds(
    ratings: Any, n_folds: Any = 5, by: str = "random", *, random_state: int | None = None
) -> Iterator[tuple[Ratings, Ratings]]:
    """Yield (train, test) for each fold: every rating is judged by once.

    Parameters
    ----------
    ratings : Ratings, or any table of them
        What to cut.
    n_folds : int or array-like of int, default=5
        How many, or the number of the fold that each rating is in; ratings of a negative number are always learned from.
    by : {"random", "user"}, default="random"
        Whether ratings are dealt out, or users with all their ratings.
    random_state : int, optional
        Seed.

    Yields
    ------
    train, test : Ratings
    """
    ratings = as_ratings(ratings)
    number = fold_numbers(ratings, n_folds, by, random_state)
    for fold in np.unique(number[number >= 0]):
        train, test = _both(ratings, number == fold, f"fold {fold}")
        yield train, test


def fold_numbers(ratings: Ratings, n_folds: Any, by: str = "random", random_state: int | None = None) -> np.ndarray:
    """The number of the fold (n,) that each rating is in; the rest is as in `folds`."""
    check_choice("by", by, ("random", "user"))
    if not isinstance(n_folds, numbers.Integral):
        return _given_numbers(ratings, n_folds)
    check_number("n_folds", n_folds, numbers.Integral, 2)
    n_folds = int(n_folds)
    rng, there = np.random.default_rng(random_state), np.flatnonzero(np.bincount(ratings.user, minlength=1))
    n = len(ratings) if by == "random" else len(there)
    if n_folds > n:
        what = "ratings" if by == "random" else "users with ratings"
        raise ValueError(f"n_folds={n_folds} exceeds the {n} {what}, so that a fold would be empty; use at most {n}.")
    number = deal(n, n_folds, rng).astype(np.int32)
    if by == "random":
        return number
    of_user = np.full(ratings.n_users, -1, np.int32)
    of_user[there] = number
    return of_user[ratings.user]


def _given_numbers(ratings: Ratings, given: Any) -> np.ndarray:
    number = np.asarray(given)
    if number.shape != (len(ratings),) or number.dtype.kind not in "iu":
        raise ValueError(
            f"n_folds is neither a number nor an array with the number of a fold for each of the {len(ratings)} ratings: its "
            f"shape is {number.shape}."
        )
    found = np.unique(number)
    if len(found) < 2 or not (found >= 0).any():
        raise ValueError(
            f"the numbers of folds are {found.tolist()}, so that nothing is left to learn from or to judge by; use two or more."
        )
    return number


def _both(ratings: Ratings, held: np.ndarray, setting: str) -> tuple[Ratings, Ratings]:
    """Ratings that are not held out, and those that are; neither may be empty."""
    n = int(held.sum())
    if not 0 < n < len(ratings):
        part = "judge by" if not n else "learn from"
        raise ValueError(
            f"{setting} leaves nothing to {part}: {n} of {len(ratings)} ratings are held out; choose another."
        )
    return ratings.take(~held), ratings.take(held)


def _number(name: str, value: Any, n: int, what: str) -> int:
    """How many a share, or a number, of n is."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        check_number(name, value, numbers.Integral, 1)
        return int(value)
    if not isinstance(value, (float, np.floating)) or not 0 < value < 1:
        raise ValueError(f"{name}={value!r} is neither a share between 0 and 1 nor a number of {what}.")
    return round(float(value) * n)


def _some(ratings: Ratings, test: Any, by: str, rng: np.random.Generator) -> np.ndarray:
    """Ratings at random, or the latest."""
    n = len(ratings)
    held, count = np.zeros(n, bool), _number("test", test, n, "ratings")
    if by == "random":
        held[:count] = True
        rng.shuffle(held)
        return held
    held[np.argsort(_times(ratings, by), kind="stable")[n - min(count, n) :]] = True
    return held


def _last(ratings: Ratings, test: Any) -> np.ndarray:
    """The last ratings of each user that has more than that."""
    time = _times(ratings, "last")
    order = np.lexsort((time, ratings.user))
    counts = np.bincount(ratings.user, minlength=ratings.n_users)
    if isinstance(test, numbers.Integral):
        check_number("test", test, numbers.Integral, 1)
        share = np.where(counts > test, int(test), 0)
    else:
        _number("test", test, 1, "ratings of each user")
        share = np.minimum(np.ceil(test * counts).astype(np.int64), np.maximum(counts - 1, 0))
    ends = np.cumsum(counts)
    from_end = np.repeat(ends, counts) - np.arange(len(order))
    held = np.zeros(len(ratings), bool)
    held[order[from_end <= np.repeat(share, counts)]] = True
    return held


def _times(ratings: Ratings, by: str) -> np.ndarray:
    if ratings.time is None:
        raise ValueError(
            f"by={by!r} needs times, and the ratings have none; name their column by time, or use by='random'."
        )
    return np.nan_to_num(ratings.time.astype(np.float64), nan=-np.inf)


def _by_user(ratings: Ratings, test: Any, given: int | None, rng: np.random.Generator) -> tuple[Ratings, ...]:
    """All ratings of some users, or all but some."""
    counts = np.bincount(ratings.user, minlength=ratings.n_users)
    there = np.flatnonzero(counts > (given or 0))
    if given is not None and not len(there):
        raise ValueError(
            f"given={given} leaves nothing to judge by: no user has more than {counts.max()} ratings; use fewer."
        )
    chosen = rng.permutation(there)[: _number("test", test, len(there), "users")]
    held = np.isin(np.arange(ratings.n_users), chosen)[ratings.user]
    if given is None:
        return _both(ratings, held, f"test={test!r}")
    train, aside = _both(ratings, held, f"test={test!r}")
    key = rng.random(len(aside)) if aside.time is None else _times(aside, "user")
    order, sizes = np.lexsort((key, aside.user)), np.bincount(aside.user, minlength=ratings.n_users)
    known = np.zeros(len(aside), bool)
    place = np.arange(len(aside)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    known[order[place < given]] = True
    return train, aside.take(known), aside.take(~known)
