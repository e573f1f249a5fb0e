"""`HeldOut`: what a recommender said of ratings that it had not seen, beside what averages alone say.

mean: r̂ = μ;   averages: r̂ = μ + b_u + b_i, the biases of users and items held back as far as the ratings ask for
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from . import metrics
from .baseline import fit_baseline
from .ratings import Ratings, codes_of
from .splits import split_ratings

__all__ = ["COVERAGES", "HeldOut", "Ranked", "held_out", "judged", "together", "try_recommender"]

COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SHARE, MOST = 0.1, 100_000
"""Share of the ratings that is held out, and how many at most."""
TOP, MOST_RANKED = 10, 2000
"""Length of a list that is judged, and users whose lists are."""


@dataclass(frozen=True)
class Ranked:
    """Lists of items that users had not rated in the learning part, judged by the held-out items that they liked.

    Attributes
    ----------
    n_users : int
        Users with a held-out rating above their own mean, up to 2,000 of them drawn at random.
    precision, recall, ndcg : float
        Share of the ten first items that are such ratings, and of such ratings that are among the ten, and their normalised
        discounted cumulative gain, on average over users.
    popular_precision, popular_recall, popular_ndcg : float
        The same of the ten items with the most ratings.
    pairs : float
        Share of pairs of held-out items of one user, rated differently, whose order is predicted.
    average_pairs : float
        The same by means of items.
    n_pairs : int
    """

    n_users: int
    precision: float
    recall: float
    ndcg: float
    popular_precision: float
    popular_recall: float
    popular_ndcg: float
    pairs: float
    average_pairs: float
    n_pairs: int


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Ratings that were left out of a fit, and what was said of them.

    Attributes
    ----------
    user, item : (n,) int
        Numbers of users and items.
    rating, predicted, mean, averages : (n,)
        What was rated, and what the recommender, the overall mean and averages of users and items say.
    low, high : (n,) or None
        Ends of intervals of 90 %; None where the recommender tells no uncertainty.
    inside : dict of float to float
        Share of the ratings inside intervals, by what the share should be.
    ranked : Ranked or None
    n_new_users, n_new_items : int
        Ratings of users, and of items, of which the learning part has none.
    n_splits : int
        How often ratings were held out; what is told is of all together.
    """

    user: np.ndarray
    item: np.ndarray
    rating: np.ndarray
    predicted: np.ndarray
    mean: np.ndarray
    averages: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None
    inside: dict[float, float]
    ranked: Ranked | None
    n_new_users: int
    n_new_items: int
    n_splits: int = 1

    def __len__(self) -> int:
        return len(self.rating)

    def __repr__(self) -> str:
        errors = ", ".join(f"{which} {self.rmse(which):.4f}" for which in ("predicted", "averages", "mean"))
        return f"HeldOut({len(self):,} ratings; errors: {errors})"

    def rmse(self, which: str = "predicted") -> float:
        """Root of the mean squared error of ``predicted``, ``averages`` or ``mean``."""
        return metrics.rmse(self.rating, getattr(self, which))

    def mae(self, which: str = "predicted") -> float:
        """Mean absolute error of ``predicted``, ``averages`` or ``mean``."""
        return metrics.mae(self.rating, getattr(self, which))

    @property
    def coverage(self) -> float | None:
        """Share of the ratings inside the intervals of 90 %."""
        if self.low is None or self.high is None:
            return None
        return metrics.interval_coverage(self.rating, self.low, self.high)

    def gain(self, over: str = "averages", of: str = "predicted") -> tuple[float, float]:
        """How much less the squared error is than that of another forecast, and its standard error, users as a whole."""
        less = (getattr(self, over) - self.rating) ** 2 - (getattr(self, of) - self.rating) ** 2
        by_user = np.bincount(self.user, less - less.mean())
        n = int((np.bincount(self.user) > 0).sum())
        spread = np.sqrt((by_user**2).sum() * n / max(n - 1, 1)) / len(less)
        return float(less.mean()), float(spread)

    def curve(self, n: int = 10) -> list[dict[str, float]]:
        """Ratings in n parts of equal size by what was predicted: its mean, that of the ratings, and how many they are."""
        parts = np.array_split(np.argsort(self.predicted, kind="stable"), min(n, len(self)))
        return [
            {"predicted": float(self.predicted[part].mean()), "rated": float(self.rating[part].mean()), "n": len(part)}
            for part in parts
        ]


def held_out(ratings: Ratings, share: float = SHARE, seed: int = 0) -> tuple[Ratings, Ratings]:
    """Ratings to learn from, and some drawn at random to hold out."""
    n = min(max(round(share * len(ratings)), 1), MOST, len(ratings) - 1)
    known, out = split_ratings(ratings, n, random_state=seed)
    return known, out


def try_recommender(
    model: Any, ratings: Ratings, *, n_splits: int = 1, seed: int = 0, along: Mapping[str, Any] | None = None
) -> HeldOut:
    """Hold ratings out, learn from the others, and see what is said of those held out.

    Parameters
    ----------
    model : Recommender
        One like the one to judge; it is cloned.
    ratings : Ratings
    n_splits : int, default=1
        How often.
    seed : int, default=0
        Draws the ratings that are held out.
    along : dict, optional
        What `fit` takes besides, such as features.

    Returns
    -------
    HeldOut
    """
    found = []
    for split in range(n_splits):
        known, out = held_out(ratings, seed=seed + split)
        fitted = clone(model).fit(known, **(along or {}))
        found.append(judged(fitted, known, out, seed))
    return together(found)


def judged(fitted: Any, known: Ratings, out: Ratings, seed: int = 0) -> HeldOut:
    """What a fitted recommender says of ratings that were left out of those it knows."""
    baseline = fit_baseline(known)
    plain = np.clip(baseline.expect(out.user, out.item), *known.scale)
    seen_user, seen_item = (
        np.bincount(known.user, minlength=known.n_users),
        np.bincount(known.item, minlength=known.n_items),
    )
    ends: dict[float, tuple[np.ndarray, np.ndarray]] = {}
    with contextlib.suppress(NotImplementedError):  # some tell no uncertainty
        ends = {level: fitted.predict_interval(out, level) for level in COVERAGES}
    rating = out.rating.astype(np.float64)
    inside = {level: metrics.interval_coverage(rating, *both) for level, both in ends.items()}
    lower, upper = ends.get(0.9, (None, None))
    told, mean = np.asarray(fitted.predict(out), dtype=np.float64), np.full(len(out), baseline.mean)
    return HeldOut(
        out.user, out.item, rating, told, mean, plain, lower, upper, inside,
        _ranked(fitted, known, out, baseline.item, seed), int((seen_user[out.user] == 0).sum()),
        int((seen_item[out.item] == 0).sum()),
    )  # fmt: skip


def together(found: list[HeldOut]) -> HeldOut:
    """Several trials as one."""
    first = found[0]
    if len(found) == 1:
        return first

    def joined(name: str) -> Any:
        parts = [getattr(each, name) for each in found]
        return None if parts[0] is None else np.concatenate(parts)

    n = np.array([len(each) for each in found], dtype=float)
    inside = {level: float(np.average([each.inside[level] for each in found], weights=n)) for level in first.inside}
    made = {name: joined(name) for name in ("user", "item", "rating", "predicted", "mean", "averages", "low", "high")}
    return replace(
        first, **made, inside=inside, ranked=_together([each.ranked for each in found if each.ranked is not None]),
        n_new_users=sum(each.n_new_users for each in found), n_new_items=sum(each.n_new_items for each in found),
        n_splits=sum(each.n_splits for each in found),
    )  # fmt: skip


def _together(found: list[Ranked]) -> Ranked | None:
    if not found:
        return None
    users, pairs = [each.n_users for each in found], [each.n_pairs for each in found]
    by_user = ("precision", "recall", "ndcg", "popular_precision", "popular_recall", "popular_ndcg")
    made = {name: float(np.average([getattr(each, name) for each in found], weights=users)) for name in by_user}
    told = [each for each in found if each.n_pairs]
    for name in ("pairs", "average_pairs"):
        values = [getattr(each, name) for each in told]
        made[name] = float(np.average(values, weights=[each.n_pairs for each in told])) if told else float("nan")
    return Ranked(n_users=sum(users), n_pairs=sum(pairs), **made)


def _ranked(fitted: Any, known: Ratings, out: Ratings, by_item: np.ndarray, seed: int) -> Ranked | None:
    """Lists of ten and pairs of items, judged."""
    n = np.bincount(known.user, minlength=known.n_users)
    with np.errstate(invalid="ignore"):
        own = np.bincount(known.user, known.rating, known.n_users) / n
    liked = (n[out.user] > 0) & (out.rating > np.nan_to_num(own[out.user], nan=np.inf))
    users = np.unique(out.user[liked])
    if not len(users):
        return None
    if len(users) > MOST_RANKED:
        users = np.sort(np.random.default_rng(seed).choice(users, MOST_RANKED, replace=False))
    wanted = _by_user(out, liked, users)
    items, told = fitted.recommend_all(TOP, users=known.users[users])
    given = np.where(np.isfinite(told), codes_of(items.ravel(), known.items).reshape(items.shape), -1)
    figures = [_figures(lists, wanted) for lists in (given, _popular(known, users))]
    pairs, plain, n_pairs = _pairs(fitted, out, by_item)
    return Ranked(len(users), *figures[0], *figures[1], pairs, plain, n_pairs)


def _by_user(out: Ratings, liked: np.ndarray, users: np.ndarray) -> list[np.ndarray]:
    """Liked items of each user."""
    places = np.flatnonzero(liked)
    places = places[np.argsort(out.user[places], kind="stable")]
    ends = np.searchsorted(out.user[places], users), np.searchsorted(out.user[places], users, side="right")
    return [out.item[places[a:b]] for a, b in zip(*ends)]


def _popular(known: Ratings, users: np.ndarray) -> np.ndarray:
    """The most rated items that each user has not rated."""
    order = np.argsort(-np.bincount(known.item, minlength=known.n_items), kind="stable")
    rows = known.by_user.rows
    made = np.empty((len(users), min(TOP, known.n_items)), np.int64)
    for k, user in enumerate(users):
        seen = rows.indices[rows.indptr[user] : rows.indptr[user + 1]]
        first = order[: len(seen) + TOP]
        free = first[~np.isin(first, seen)][:TOP]
        made[k] = -1
        made[k, : len(free)] = free
    return made


def _figures(lists: np.ndarray, wanted: list[np.ndarray]) -> tuple[float, float, float]:
    """Mean precision, recall and normalised discounted cumulative gain of lists of numbers of items."""
    hits = np.array([np.isin(row, own) for row, own in zip(lists, wanted)])
    n = np.array([len(own) for own in wanted])
    return tuple(
        float(part.mean()) for part in (metrics.precision(hits), metrics.recall(hits, n), metrics.ndcg(hits, n))
    )  # type: ignore[return-value]


def _pairs(fitted: Any, out: Ratings, by_item: np.ndarray) -> tuple[float, float, int]:
    """Shares of pairs of one user's items, rated differently, in the right order by the model and by means of items."""
    order = np.argsort(out.user, kind="stable")
    told, plain = np.asarray(fitted.predict(out)), by_item[out.item]
    right = usual = n_pairs = 0.0
    # A pair is two neighbours in the shuffled list of a user: as many as there are ratings, however many a user has.
    rng = np.random.default_rng(0)
    order = order[np.lexsort((rng.random(len(order)), out.user[order]))]
    for step in (1, 2, 3):
        a, b = order[:-step], order[step:]
        kept = (out.user[a] == out.user[b]) & (out.rating[a] != out.rating[b])
        way = np.sign(out.rating[a][kept] - out.rating[b][kept])
        n_pairs += len(way)
        right += _agree(told[a][kept] - told[b][kept], way)
        usual += _agree(plain[a][kept] - plain[b][kept], way)
    if not n_pairs:
        return float("nan"), float("nan"), 0
    return right / n_pairs, usual / n_pairs, int(n_pairs)


def _agree(difference: np.ndarray, way: np.ndarray) -> float:
    """How many differences go the same way; equal ones by half."""
    return float((np.sign(difference) == way).sum() + 0.5 * (difference == 0).sum())
