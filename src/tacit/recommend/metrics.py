r"""How well ratings are told, and how well items are ranked.

Ratings: rmse :math:`\sqrt{E(r-\hat r)^2}`, mae, the log score :math:`E\log p(r)`, and the continuous ranked probability score
:math:`E\int (F(x) - 1[x \ge r])^2\,dx`, which is in the ratings' units and the absolute error of a forecast without spread.

Rankings are lists of k items for each user, of whom R are relevant. Where lists are cut at k, conventions differ; here

- precision is hits / k, also where fewer than k items are relevant, or were left to recommend;
- recall is hits / R, so that it cannot reach 1 where R > k;
- average precision is the sum of the precisions at the ranks of hits / min(k, R), and ndcg the discounted hits / those of a list
  that begins with min(k, R) hits: both are 1 exactly where no list of k could be better;
- the reciprocal rank is that of the first hit, 0 where there is none among the k.

Users without a relevant item have no value and are left out of every mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..assess.scoring import gaussian_crps, gaussian_log_density

__all__ = [
    "average_precision", "catalogue_coverage", "crps", "discrete_crps", "gaussian_log_score", "gini", "hit_rate", "hits_of",
    "interval_coverage", "log_score", "mae", "ndcg", "novelty", "popularity_lift", "precision", "recall", "reciprocal_rank",
    "rmse",
]  # fmt: skip


def _aligned(*arrays: Any) -> list[np.ndarray]:
    """Arrays of numbers of equal lengths."""
    found = [np.asarray(each, dtype=np.float64) for each in arrays]
    if len({len(each) for each in found}) > 1:
        raise ValueError(f"ratings and what is told of them differ in length: {[len(each) for each in found]}.")
    if not len(found[0]):
        raise ValueError("there are no ratings to judge by; give at least one.")
    return found


# Ratings


def rmse(rating: Any, told: Any) -> float:
    """Root of the mean squared error.

    Parameters
    ----------
    rating, told : array-like of shape (n,)
        Ratings, and what was told of them.
    """
    rating, told = _aligned(rating, told)
    return float(np.sqrt(((rating - told) ** 2).mean()))


def mae(rating: Any, told: Any) -> float:
    """Mean absolute error.

    Parameters
    ----------
    rating, told : array-like of shape (n,)
        Ratings, and what was told of them.
    """
    rating, told = _aligned(rating, told)
    return float(np.abs(rating - told).mean())


def log_score(rating: Any, chances: Any, levels: Any) -> float:
    """Mean log probability of the ratings; larger is better.

    Parameters
    ----------
    rating : array-like of shape (n,)
        Ratings, each one of the levels.
    chances : array-like of shape (n, L)
        Probabilities of the levels.
    levels : array-like of shape (L,)
        Ratings that may be given.
    """
    rating, chances = _aligned(rating, chances)
    with np.errstate(divide="ignore"):
        return float(np.log(chances[np.arange(len(rating)), level_of(rating, levels)]).mean())


def level_of(rating: np.ndarray, levels: Any) -> np.ndarray:
    """Which level each rating is."""
    levels = np.asarray(levels, dtype=np.float64)
    found = np.abs(rating[:, None] - levels).argmin(axis=1)
    wrong = np.flatnonzero(~np.isclose(levels[found], rating))
    if len(wrong):
        raise ValueError(
            f"the rating {rating[wrong[0]]:g} is none of the levels {levels.tolist()}; use crps, or leave it out."
        )
    return found


def gaussian_log_score(rating: Any, mean: Any, std: Any) -> float:
    """Mean log density of ratings under Gaussians; larger is better.

    Parameters
    ----------
    rating, mean, std : array-like of shape (n,)
        Ratings, and the mean and the standard deviation that were told of each.
    """
    return float(gaussian_log_density(*_aligned(rating, mean, std)).mean())


def crps(rating: Any, mean: Any, std: Any) -> float:
    """Continuous ranked probability score of Gaussians; smaller is better.

    Parameters
    ----------
    rating, mean, std : array-like of shape (n,)
        Ratings, and the mean and the standard deviation that were told of each.
    """
    return float(gaussian_crps(rating, mean, std).mean())


def discrete_crps(rating: Any, chances: Any, levels: Any) -> float:
    """Continuous ranked probability score of probabilities of levels; smaller is better.

    Parameters
    ----------
    rating : array-like of shape (n,)
        Ratings, which may be any numbers.
    chances : array-like of shape (n, L)
        Probabilities of the levels.
    levels : array-like of shape (L,)
        Ratings that may be given.
    """
    rating, chances = _aligned(rating, chances)
    return float(discrete_crps_of(rating, chances, np.asarray(levels, dtype=np.float64)).mean())


def discrete_crps_of(rating: np.ndarray, chances: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The score of each rating: E|X − r| − E|X − X′| / 2."""
    below = np.cumsum(chances, axis=1)[:, :-1]
    apart = (below * (1.0 - below)) @ np.diff(levels)
    return (chances * np.abs(levels - rating[:, None])).sum(axis=1) - apart


def interval_coverage(rating: Any, low: Any, high: Any) -> float:
    """Share of ratings within intervals, limits included.

    Parameters
    ----------
    rating, low, high : array-like of shape (n,)
        Ratings and the limits of their intervals.
    """
    rating, low, high = _aligned(rating, low, high)
    return float(within(rating, low, high).mean())


def within(rating: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Which ratings lie within their intervals; a limit that is the rating but for rounding includes it."""
    slack = 1e-6 * np.maximum(np.abs(rating), 1.0)
    return (rating >= low - slack) & (rating <= high + slack)


# Rankings, user by user


def hits_of(recommended: Sequence, relevant: Sequence) -> tuple[np.ndarray, np.ndarray]:
    """Which recommendations are relevant.

    Parameters
    ----------
    recommended : list of lists of ids, of length n_users
        For each user, the best first; lists may be shorter than k.
    relevant : list of collections of ids, of length n_users
        What is relevant to each.

    Returns
    -------
    hits : ndarray of bool of shape (n_users, k)
    n_relevant : ndarray of shape (n_users,)

    Examples
    --------
    >>> from tacit.recommend import metrics
    >>> hits, n_relevant = metrics.hits_of([["a", "b", "c"], ["a", "d", "e"]], [{"b", "c"}, {"a"}])
    >>> metrics.precision(hits).round(2).tolist(), metrics.average_precision(hits, n_relevant).round(2).tolist()
    ([0.67, 0.33], [0.58, 1.0])
    """
    if len(recommended) != len(relevant):
        raise ValueError(
            f"there are {len(recommended)} lists of recommendations for {len(relevant)} users; give one for each."
        )
    hits = np.zeros((len(recommended), max(map(len, recommended), default=0)), bool)
    for row, (told, wanted) in enumerate(zip(recommended, relevant)):
        wanted = set(wanted)
        hits[row, : len(told)] = [each in wanted for each in told]
    return hits, np.array([len(set(wanted)) for wanted in relevant])


def precision(hits: np.ndarray) -> np.ndarray:
    """Hits / k of each user.

    Parameters
    ----------
    hits : (n_users, k)
        Which of the recommendations of each user are relevant, the best first; False where there was none to give.
    """
    return hits.mean(axis=1)


def recall(hits: np.ndarray, n_relevant: np.ndarray) -> np.ndarray:
    """Hits / R of each user; NaN where nothing is relevant.

    Parameters
    ----------
    hits : (n_users, k)
        As in `precision`.
    n_relevant : (n_users,)
        How many items are relevant to each user.
    """
    return _over(hits.sum(axis=1), n_relevant)


def average_precision(hits: np.ndarray, n_relevant: np.ndarray) -> np.ndarray:
    """Sum of the precisions at hits / min(k, R) of each user; NaN where nothing is relevant. Their mean is MAP at k.

    Parameters
    ----------
    hits : (n_users, k)
        As in `precision`.
    n_relevant : (n_users,)
        How many items are relevant to each user.
    """
    at = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    return _over((at * hits).sum(axis=1), np.minimum(n_relevant, hits.shape[1]))


def ndcg(hits: np.ndarray, n_relevant: np.ndarray) -> np.ndarray:
    """Normalised discounted cumulative gain of each user, hits worth 1 / log₂(rank + 1); NaN where nothing is relevant.

    Parameters
    ----------
    hits : (n_users, k)
        As in `precision`.
    n_relevant : (n_users,)
        How many items are relevant to each user.
    """
    worth = 1.0 / np.log2(np.arange(2, hits.shape[1] + 2))
    best = np.concatenate([[0.0], np.cumsum(worth)])
    return _over(hits @ worth, best[np.minimum(n_relevant, hits.shape[1])])


def reciprocal_rank(hits: np.ndarray) -> np.ndarray:
    """1 / the rank of the first hit of each user, 0 where there is none; their mean is MRR.

    Parameters
    ----------
    hits : (n_users, k)
        As in `precision`.
    """
    return np.asarray(hits.any(axis=1) / (hits.argmax(axis=1) + 1.0))


def hit_rate(hits: np.ndarray) -> np.ndarray:
    """1 where a user's list has a hit, else 0.

    Parameters
    ----------
    hits : (n_users, k)
        As in `precision`.
    """
    return np.asarray(hits.any(axis=1).astype(np.float64))


def _over(value: np.ndarray, by: np.ndarray) -> np.ndarray:
    out = np.full(len(by), np.nan)
    np.divide(value, by, out=out, where=np.asarray(by) > 0)
    return out


# What is recommended, whether liked or not


def catalogue_coverage(items: np.ndarray, n_items: int) -> float:
    """Share of all items that are recommended to anyone.

    Parameters
    ----------
    items : (n_users, k) int
        Numbers of recommended items; −1 where there was none to give.
    n_items : int
        How many there are.
    """
    return len(np.unique(items[items >= 0])) / n_items


def novelty(items: np.ndarray, popularity: np.ndarray, n_users: int) -> float:
    """Mean −log₂ of the share of users who rated what is recommended, in bits.

    Parameters
    ----------
    items : (n_users, k) int
        As in `catalogue_coverage`.
    popularity : (n_items,)
        How many users rated each item; an item that nobody rated counts as if one had.
    n_users : int
        How many users there are.
    """
    told = items[items >= 0]
    return float(-np.log2(np.maximum(popularity[told], 1) / n_users).mean()) if len(told) else float("nan")


def popularity_lift(items: np.ndarray, popularity: np.ndarray, rated: Any) -> float:
    """How much more popular recommended items are than those that the same users rated: 0 as popular, 1 twice as popular.

    Parameters
    ----------
    items, popularity
        As in `novelty`.
    rated : (n_users, n_items) CSR matrix
        Who rated what; users without a rating are left out.
    """
    counts = np.diff(rated.indptr)
    total = np.concatenate([[0.0], np.cumsum(popularity[rated.indices], dtype=np.float64)])
    own = _over(total[rated.indptr[1:]] - total[rated.indptr[:-1]], counts)
    given = (items >= 0).sum(axis=1)
    told = _over(np.where(items >= 0, popularity[items], 0.0).sum(axis=1), given)
    fine = np.isfinite(own) & np.isfinite(told) & (own > 0)
    return float(told[fine].mean() / own[fine].mean() - 1.0) if fine.any() else float("nan")


def gini(items: np.ndarray, n_items: int) -> float:
    """How unequally often items are recommended: 0 all alike, near 1 where a few take all.

    Parameters
    ----------
    items, n_items
        As in `catalogue_coverage`.
    """
    counts = np.sort(np.bincount(items[items >= 0], minlength=n_items)).astype(np.float64)
    if not counts.sum():
        return float("nan")
    rank = np.arange(1, n_items + 1)
    return float(((2 * rank - n_items - 1) * counts).sum() / (n_items * counts.sum()))
