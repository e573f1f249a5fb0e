"""`evaluate`: how well a recommender tells ratings that it has not seen, how sure it may be, and how well it ranks.

Every rating of the test part is told once; every user with something relevant in it gets a list of k out of all items that the
user has not rated before. Scores are made for a block of users at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.utils.validation import check_is_fitted

from ..assess.scoring import gaussian_crps
from ..checks import check_number
from ..kernels import lazy
from ..notes import Note, Option
from . import metrics
from .ids import codes_of
from .ratings import Ratings, as_ratings, codes_of_pairs
from .spool import blocks

__all__ = ["RANKINGS", "RATINGS", "Evaluation", "Sums", "evaluate"]

ranking = lazy("ranking")
RATINGS = ("rmse", "mae", "log_score", "crps", "coverage")
"""Measures of ratings."""
RANKINGS = ("precision", "recall", "map", "ndcg", "mrr", "hit_rate")
"""Measures of lists, each a mean over users."""
SUMS = ("squared", "absolute", "log", "crps", "covered")
COVERAGES = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Sums:
    """What measures are made of, added up over the ratings of each user and of each item.

    Attributes
    ----------
    user, item : (n, 2, 5)
        Of each user and each item: losses (squared, absolute, log score, crps, covered), and how many ratings have them.
    lists : (n_users, 2, 6)
        Of each user: the measures of `RANKINGS`, and 1 where the user has them.
    """

    user: np.ndarray
    item: np.ndarray
    lists: np.ndarray

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.user + other.user, self.item + other.item, self.lists + other.lists)


@dataclass(frozen=True)
class Evaluation:
    """How well a recommender did on ratings that it had not seen; None where it does not tell what is needed.

    Attributes
    ----------
    rmse, mae : float or None
        Errors of expected ratings; None, as all measures of ratings, of a model of events, which expects none.
    log_score : float or None
        Mean log probability of the rating; where ratings have no levels, log density.
    crps : float or None
        Continuous ranked probability score, in the ratings' units.
    coverage : float or None
        Share of ratings within their 90 % intervals.
    calibration : list of (float, float)
        Coverage that intervals claim, and the one that they achieved.
    precision, recall, map, ndcg, mrr, hit_rate : float or None
        Of lists of k, as `tacit.recommend.metrics` defines them; means over users with something relevant.
    catalogue_coverage : float or None
        Share of all items that are in some list.
    novelty : float or None
        Mean −log₂ of the share of users who know a recommended item.
    popularity_lift : float or None
        How much more popular recommended items are than those the same users rated; 0 is as popular.
    gini : float or None
        How unequally items are recommended: 0 all alike, 1 one for all.
    k : int
        Length of the lists.
    relevant : float
        Rating from which an item is relevant; of events, all are.
    n_ratings, n_users, n_ranked : int
        Ratings that were told, users who gave them, and users who have lists.
    cold_users, cold_items : float
        Share of the ratings whose user, or item, the model has no rating of.
    notes : tuple of Note
        What to know about the figures.
    sums : Sums or None
        What the measures are made of, by user and by item: intervals rest on it.
    """

    rmse: float | None
    mae: float | None
    log_score: float | None
    crps: float | None
    coverage: float | None
    calibration: list[tuple[float, float]]
    precision: float | None
    recall: float | None
    map: float | None
    ndcg: float | None
    mrr: float | None
    hit_rate: float | None
    catalogue_coverage: float | None
    novelty: float | None
    popularity_lift: float | None
    gini: float | None
    k: int
    relevant: float
    n_ratings: int
    n_users: int
    n_ranked: int
    cold_users: float
    cold_items: float
    notes: tuple[Note, ...] = ()
    sums: Sums | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        names = ("rmse", "mae", "log_score", "coverage", "precision", "recall", "ndcg")
        told = [f"{name}={value:.4f}" for name in names if (value := getattr(self, name)) is not None]
        return f"Evaluation({', '.join(told)}; {self.n_ratings:,} ratings, {self.n_ranked:,} lists of {self.k})"

    def to_dict(self) -> dict[str, Any]:
        """All figures by name, as plain numbers and text."""
        told = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("sums", "notes")}
        return told | {
            "calibration": [list(pair) for pair in self.calibration],
            "notes": [str(note) for note in self.notes],
        }


def evaluate(model: Any, test: Any, train: Any = None, k: int = 10, relevant: float | None = None) -> Evaluation:
    """How well a fitted recommender tells ratings, and ranks items.

    Parameters
    ----------
    model : fitted Recommender
        What is judged.
    test : Ratings, or any table of them
        Ratings that it has not seen.
    train : Ratings, or any table of them, optional
        Ratings whose items are not recommended again; default those that the model was fitted to.
    k : int, default=10
        Length of the lists.
    relevant : float, optional
        Rating from which an item is relevant; default three quarters up the scale, which is 4 of 1 to 5. Of events, all are.

    Returns
    -------
    Evaluation
    """
    check_is_fitted(model, "users_")
    check_number("k", k, int, 1)
    test, notes = as_ratings(test), []
    relevant = _relevant(test, model) if relevant is None else float(relevant)
    user, item = codes_of_pairs(test, model.users_, model.items_)
    by_user, by_item, achieved = _told(model, test)
    wanted = np.asarray(test.rating) >= np.float32(relevant)
    lists, about = _ranked(model, test, None if train is None else as_ratings(train), wanted, k)
    if not wanted.any():
        text = (
            "no rating of the test part is at least {value:g}, so that lists cannot be judged; use a smaller {option}"
        )
        notes.append(Note("nothing_relevant", text, value=relevant, option=Option("relevant")))
    if model._of_events:
        text = "the model ranks items by events and expects no ratings, so that errors and intervals of ratings are not told"
        notes.append(Note("no_ratings", text))
    sums = Sums(by_user, by_item, lists)
    told = measures(sums)
    if told["log_score"] is not None and by_user[:, 1, 2].sum() < len(test):
        n = int(len(test) - by_user[:, 1, 2].sum())
        text = "{n:,} ratings are none of the levels that the model knows and were left out of the log score"
        notes.append(Note("unknown_level", text, n=n))
    return Evaluation(
        **told, calibration=achieved, **about, k=k, relevant=relevant, n_ratings=len(test),
        n_users=len(np.unique(test.user)), n_ranked=int(lists[:, 1, 0].sum()),
        cold_users=_cold(user, np.diff(model.seen_.indptr)), notes=tuple(notes), sums=sums,
        cold_items=_cold(item, np.bincount(model.seen_.indices, minlength=len(model.items_))),
    )  # fmt: skip


def measures(sums: Sums) -> dict[str, Any]:
    """The measures that sums make."""
    told = {name: measure(name, sums.user[:, :, column].sum(axis=0)) for column, name in enumerate(RATINGS)}
    told |= {name: measure(name, sums.lists[:, :, column].sum(axis=0)) for column, name in enumerate(RANKINGS)}
    return {name: None if np.isnan(value) else float(value) for name, value in told.items()}


def measure(name: str, sums: np.ndarray) -> np.ndarray:
    """A measure made of (…, 2) sums of losses and counts; NaN where nothing is counted."""
    total, count = sums[..., 0], sums[..., 1]
    mean = np.divide(total, count, out=np.full(np.shape(count), np.nan), where=count > 0)
    return np.sqrt(mean) if name == "rmse" else mean


def _relevant(test: Ratings, model: Any) -> float:
    if model._of_events:
        return float(test.rating.min())
    low, high = (min(model.scale_[0], test.scale[0]), max(model.scale_[1], test.scale[1]))
    return low + 0.75 * (high - low)


def _cold(codes: np.ndarray, counts: np.ndarray) -> float:
    """Share of numbers that are unknown, or have no ratings."""
    return float((np.append(counts, 0)[codes] == 0).mean())


# Ratings


def _told(model: Any, test: Ratings) -> tuple[np.ndarray, np.ndarray, list[tuple[float, float]]]:
    """Losses by user and by item, and what intervals cover."""
    by_user, by_item = np.zeros((test.n_users, 2, len(SUMS))), np.zeros((test.n_items, 2, len(SUMS)))
    inside = np.zeros(len(COVERAGES))
    for part in blocks(len(test)):
        some = test if len(test) == part.stop - part.start else test.take(np.arange(part.start, part.stop))
        losses, covered = _losses(model, some)
        for column, loss in enumerate(losses.T):
            known = ~np.isnan(loss)
            for sums, code in ((by_user, some.user[known]), (by_item, some.item[known])):
                sums[:, 0, column] += np.bincount(code, loss[known], minlength=len(sums))
                sums[:, 1, column] += np.bincount(code, minlength=len(sums))
        inside += covered
    told = list(zip(COVERAGES, (inside / len(test)).tolist()))
    return by_user, by_item, [] if np.isnan(inside).any() else told


def _losses(model: Any, some: Ratings) -> tuple[np.ndarray, np.ndarray]:
    """Losses (n, 5) of some ratings, NaN where there is none, and how many ratings lie within intervals of each coverage."""
    rating = some.rating.astype(np.float64)
    losses, covered = np.full((len(rating), len(SUMS)), np.nan), np.full(len(COVERAGES), np.nan)
    if model._of_events:
        return losses, covered
    try:
        told, std = model.predict(some, return_std=True)
    except NotImplementedError:
        told, std = model.predict(some), None
    losses[:, 0], losses[:, 1] = (rating - told) ** 2, np.abs(rating - told)
    levels = model.levels_
    chances = None if levels is None else _given(lambda: model.predict_proba(some))
    if chances is not None:
        level = np.abs(rating[:, None] - levels).argmin(axis=1)
        with np.errstate(divide="ignore"):
            log = np.log(chances[np.arange(len(rating)), level])
        losses[:, 2] = np.where(np.isclose(levels[level], rating), log, np.nan)
        losses[:, 3] = metrics.discrete_crps_of(rating, chances, levels)
    elif std is not None:
        losses[:, 2] = -0.5 * ((rating - told) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)
        losses[:, 3] = gaussian_crps(rating, told, std)
    for number, coverage in enumerate(COVERAGES):
        limits = _given(lambda coverage=coverage: model.predict_interval(some, coverage))
        if limits is not None:
            inside = metrics.within(rating, *limits)
            covered[number] = inside.sum()
            losses[:, 4] = inside if coverage == 0.9 else losses[:, 4]
    return losses, covered


def _given(ask: Any) -> Any:
    """What a model tells; None where it does not tell it."""
    try:
        return ask()
    except NotImplementedError:
        return None


# Lists


def _ranked(
    model: Any, test: Ratings, train: Ratings | None, wanted: np.ndarray, k: int
) -> tuple[np.ndarray, dict[str, Any]]:
    """Measures of the lists of each user (n_users, 2, 6), and what they say about all lists together."""
    sums = np.zeros((test.n_users, 2, len(RANKINGS)))
    about: dict[str, Any] = dict.fromkeys(("catalogue_coverage", "novelty", "popularity_lift", "gini"))
    who = np.unique(test.user[wanted])
    if not len(who):
        return sums, about
    seen = _seen(model, test, train, who)
    items = _lists(model, codes_of(test.users[who], model.users_), seen, k)
    n_items = len(model.items_)
    row, item = np.searchsorted(who, test.user[wanted]), codes_of(test.items, model.items_)[test.item[wanted]]
    liked = row[item >= 0] * np.int64(n_items) + item[item >= 0]
    hits = (items >= 0) & np.isin(np.arange(len(who))[:, None] * np.int64(n_items) + items, liked)
    n_relevant = np.bincount(row, minlength=len(who))
    found = (
        metrics.precision(hits), metrics.recall(hits, n_relevant), metrics.average_precision(hits, n_relevant),
        metrics.ndcg(hits, n_relevant), metrics.reciprocal_rank(hits), metrics.hit_rate(hits),
    )  # fmt: skip
    sums[who, 0], sums[who, 1] = np.stack(found, axis=1), 1.0
    known = model.seen_ if train is None else _matrix(train, train.users, model.items_)
    popularity, n_users = np.bincount(known.indices, minlength=n_items), max(int((np.diff(known.indptr) > 0).sum()), 1)
    about["catalogue_coverage"] = metrics.catalogue_coverage(items, n_items)
    about["novelty"] = _number(metrics.novelty(items, popularity, n_users))
    about["popularity_lift"] = _number(metrics.popularity_lift(items, popularity, seen))
    about["gini"] = _number(metrics.gini(items, n_items))
    return sums, about


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


def _matrix(ratings: Ratings, users: np.ndarray, items: np.ndarray) -> csr_matrix:
    """Who of some users rated which of some items, as ones."""
    user, item = codes_of_pairs(ratings, users, items)
    known = (user >= 0) & (item >= 0)
    ones = np.ones(int(known.sum()), np.float32)
    return csr_matrix((ones, (user[known], item[known])), shape=(len(users), len(items)))


def _seen(model: Any, test: Ratings, train: Ratings | None, who: np.ndarray) -> csr_matrix:
    """What each of some users of the test part has rated before, in the model's numbers of items."""
    if train is not None:
        return _matrix(train, test.users[who], model.items_)
    nothing = csr_matrix((1, model.seen_.shape[1]), dtype=model.seen_.dtype)
    return vstack([model.seen_, nothing], format="csr")[codes_of(test.users[who], model.users_)]


def _lists(model: Any, codes: np.ndarray, seen: csr_matrix, k: int) -> np.ndarray:
    """Numbers of the k best items of each user that are not seen; −1 where fewer are left."""
    size = min(k, len(model.items_))
    items, best = np.zeros((len(codes), size), np.int32), np.empty((len(codes), size), np.float32)
    indptr = seen.indptr.astype(np.int64)
    for part, scores in _blocks(model, codes):
        ranking.top(scores, np.arange(part.start, part.stop), indptr, seen.indices, items[part], best[part])
    found = np.where(np.isneginf(best), -1, items)
    return np.pad(found, ((0, 0), (0, k - size)), constant_values=-1)


def _blocks(model: Any, codes: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    return model._score_blocks(codes)
