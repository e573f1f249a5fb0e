"""`TwoSidedMixture`: users and items of several types, P(r | i, j) = Σ_kl P(k | i) P(l | j) P(r | k, l)."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..base.settings import KW_ONLY, settings
from ..checks import check_n_jobs, check_number
from ..declared import Numbers
from ..engine import Fit, fit
from ..source import ArraySource, Block
from .base import Recommender
from .baseline import weights_of
from .ratings import Ratings
from .two_sided_model import SHARES, TwoSidedModel, TypeParams
from .types import describe_types

__all__ = ["TwoSidedMixture"]

PAIRS_OF_A_BLOCK = 1 << 15
LEAST_VARIANCE = 1e-6
SEEN = 4000
"""Ratings by which it is judged how much intervals hold."""


@settings
class TwoSidedMixture(Recommender):
    """Types of users and types of items, and how each of the ones rates each of the others.

    Every user is of several types in proportions of their own, and so is every item; for a rating one of each is drawn, and their
    table says how probable every level is. So there is a full distribution of the rating of any cell, and types can be read
    (`describe`). Learned by EM under Dirichlet priors. Fits from different starts find other types but predict alike: their
    predictions are averaged, which is better than any of them.

    Parameters
    ----------
    n_user_types, n_item_types : int, default=20 and 10
        How many types.
    user_prior, item_prior : float, default=3 and 0.5
        How many ratings the prior of a user's, and of an item's, types is worth; it spreads them evenly.
    table_prior : float, default=5
        How many ratings the prior of each table is worth; it spreads them as all ratings are.
    n_fits : int, default=8
        Fits whose predictions are averaged.
    max_iter : int, default=150
        Passes over the ratings at most, for each fit.
    tol : float, default=1e-5
        A fit ends when a pass gains less, in nats per rating.
    random_state : int, RandomState instance or None, default=None
        Seed.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    callback : callable, optional
        Called with a `tacit.engine.Progress` after every pass; a KeyboardInterrupt ends the fits with what was learned.

    Attributes
    ----------
    user_membership_ : ndarray of shape (n_fits, n_users, n_user_types)
        P(k | i); the fit with the highest objective comes first, and in each fit the most common type.
    item_membership_ : ndarray of shape (n_fits, n_items, n_item_types)
        P(l | j).
    rating_table_ : ndarray of shape (n_fits, n_user_types, n_item_types, n_levels)
        P(r | k, l).
    user_share_, item_share_ : ndarray of shape (n_fits, n_user_types) and (n_fits, n_item_types)
        Means of the memberships, which unknown users and items have.
    objective_ : ndarray of shape (n_fits,)
        Log posterior of each fit.
    n_iter_ : ndarray of shape (n_fits,)
        Passes of each.
    fits_ : list of Fit
        Objectives after every pass, and why each fit ended; not in model files.
    users_, items_, mean_, scale_, levels_, seen_
        See `Recommender`.

    References
    ----------
    Hofmann and Puzicha (1999), Latent class models for collaborative filtering. Godoy-Lorente, Guimerà, Moore and Sales-Pardo
    (2016), Accurate and scalable social recommendation using mixed-membership stochastic block models.

    Examples
    --------
    >>> from tacit.recommend import TwoSidedMixture
    >>> table = {"user": [0, 0, 1, 1, 2, 2, 3], "item": ["a", "b", "a", "b", "a", "b", "a"], "rating": [5, 1, 1, 5, 5, 1, 5]}
    >>> model = TwoSidedMixture(2, 2, n_fits=1, random_state=0).fit(table)
    >>> model.predict_proba(([3], ["b"])).sum(axis=1).round(6)
    array([1.])
    """

    n_user_types: int = 20
    n_item_types: int = 10
    _: KW_ONLY
    user_prior: float = 3.0
    item_prior: float = 0.5
    table_prior: float = 5.0
    n_fits: int = 8
    max_iter: int = 150
    tol: float = 1e-5
    random_state: Any = None
    n_jobs: int | None = None
    callback: Callable | None = None

    _saved = Recommender._saved | {
        "user_membership_": Numbers("F n K", total=1.0, **SHARES),
        "item_membership_": Numbers("F d M", total=1.0, **SHARES),
        "rating_table_": Numbers("F K M L", total=1.0, **SHARES),
        "user_share_": Numbers("F K", total=1.0, **SHARES),
        "item_share_": Numbers("F M", total=1.0, **SHARES),
        "objective_": Numbers("F", high=1e300),
        "n_iter_": Numbers("F", low=0, kind="i"),
        "levels_": Numbers("L"),
    }

    def _check_settings(self) -> None:
        for name in ("n_user_types", "n_item_types", "n_fits", "max_iter"):
            check_number(name, getattr(self, name), numbers.Integral, 1)
        for name in ("user_prior", "item_prior", "table_prior", "tol"):
            check_number(name, getattr(self, name), numbers.Real, 0)
        check_n_jobs(self.n_jobs)

    # Learning

    def _model(self) -> TwoSidedModel:
        K, L, levels = int(self.n_user_types), int(self.n_item_types), self.levels_
        assert levels is not None
        counts = np.array([(self.seen_.data == np.float32(level)).sum() for level in levels]) + 1.0
        table = float(self.table_prior) * counts / counts.sum()
        return TwoSidedModel(K, L, len(self.items_), len(levels), self.user_prior / K, self.item_prior / L, table)

    def _learn_ratings(self, ratings: Ratings) -> None:
        if self.levels_ is None:
            raise ValueError(
                f"the ratings have {len(np.unique(ratings.rating))} distinct values, and a two-sided mixture has a probability "
                "of each; round them to a scale of at most 20 levels, or use MatrixFactorization."
            )
        side, model, rng = ratings.by_user, self._model(), self._rng()
        level = np.searchsorted(self.levels_, side.rows.data.astype(float))
        cells = np.column_stack([side.rows.indices, level]).astype(float)
        number = np.repeat(np.arange(ratings.n_users), np.diff(side.rows.indptr))
        source = ArraySource(cells, weights_of(side), unit=number, n_jobs=self.n_jobs)
        fits: list[tuple[Fit, np.ndarray]] = []
        while len(fits) < self.n_fits and not (fits and fits[-1][0].interrupted):
            fits.append(self._fit_once(model, source, rng, len(fits)))
        order = np.argsort([-each.trace.objectives[-1] for each, _ in fits], kind="stable")
        self.fits_ = [fits[k][0] for k in order]
        self.objective_ = np.array([each.trace.objectives[-1] for each in self.fits_])
        self.n_iter_ = np.array([len(each.trace) for each in self.fits_])
        self._publish(np.unique(number), [(fits[k][1], fits[k][0].params) for k in order])

    def _fit_once(
        self, model: TwoSidedModel, source: ArraySource, rng: np.random.Generator, number: int
    ) -> tuple[Fit, np.ndarray]:
        """A fit from a random start, and the memberships of users at its end."""
        start = model.init(source.sample(source.n_rows, rng), rng)
        run = number + 1, int(self.n_fits)
        found = fit(model, source, start, max_iter=self.max_iter, tol=self.tol, callback=self.callback, run=run)
        kept: Any = source.recall()
        return found, kept.types

    def _publish(self, rated: np.ndarray, found: list[tuple[np.ndarray, TypeParams]]) -> None:
        """Keep memberships and tables, the most common types first; those without ratings are as all are."""
        known = np.zeros(len(self.items_), bool)
        known[self.seen_.indices] = True
        users, items, tables = [], [], []
        for types, params in found:
            share, general = types.mean(axis=0), params.item[known].mean(axis=0)
            first, second = np.argsort(-share, kind="stable"), np.argsort(-general, kind="stable")
            user = np.tile(share, (len(self.users_), 1))
            user[rated] = types
            users.append(user[:, first])
            items.append(np.where(known[:, None], params.item, general)[:, second])
            tables.append(np.moveaxis(params.table, 0, 2)[first][:, second])
        self.user_membership_, self.item_membership_, self.rating_table_ = map(np.stack, (users, items, tables))
        self.user_share_ = self.user_membership_[:, rated].mean(axis=1)
        self.item_share_ = self.item_membership_[:, known].mean(axis=1)

    # Predictions

    def _members(self, number: np.ndarray, members: np.ndarray, share: np.ndarray) -> Iterator[np.ndarray]:
        """Memberships of numbers in each fit; shares of all where one is −1."""
        for each, general in zip(members, share):
            yield np.where(number[:, None] >= 0, each[number], general)

    def _pairs(self, user: np.ndarray, item: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Memberships of users and items, and the table, of each fit."""
        users = self._members(user, self.user_membership_, self.user_share_)
        items = self._members(item, self.item_membership_, self.item_share_)
        return zip(users, items, self.rating_table_)

    def _chances(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        found = np.empty((len(user), self.rating_table_.shape[-1]))
        for start in range(0, len(user), PAIRS_OF_A_BLOCK):
            part = slice(start, start + PAIRS_OF_A_BLOCK)
            each = [_mixed(*given) for given in self._pairs(user[part], item[part])]
            found[part] = sum(each) / len(each)
        return found

    def _expect(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        return self._chances(user, item) @ self.levels_

    def _spread(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        return self._moments(self._chances(user, item))[1]

    def _moments(self, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        levels = np.asarray(self.levels_)
        mean = chances @ levels
        return mean, np.maximum(chances @ levels**2 - mean**2, LEAST_VARIANCE)

    def _rows(self, users: np.ndarray) -> np.ndarray:
        members = self._members(users, self.user_membership_, self.user_share_)
        means = self.rating_table_ @ self.levels_
        found: Any = sum(user @ mean @ item.T for user, mean, item in zip(members, means, self.item_membership_))
        return found / len(means)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Limits between which a rating lies with a probability, within the scale.

        The probability of each level is spread evenly between the middles of its gaps to the next ones, and the interval is the
        central one of that. Levels are inside or outside as a whole, so single intervals hold more or less than was asked for:
        the tails are cut such that intervals of the ratings that were learned from hold as much on average.

        Parameters
        ----------
        X
            As in `predict`.
        coverage : float, default=0.9
            The probability.

        Returns
        -------
        low, high : ndarray of shape (n,)
        """
        check_number("coverage", coverage, float, 0, 1)
        below, levels = _below(self._chances(*self._codes(X))), np.asarray(self.levels_)
        if len(levels) == 1:
            return np.full(len(below), levels[0]), np.full(len(below), levels[0])
        gaps = np.diff(levels)
        edges = np.concatenate([levels[:1] - gaps[0] / 2, levels[:-1] + gaps / 2, levels[-1:] + gaps[-1] / 2])
        tail = self._tail(coverage)
        return tuple(np.clip(_quantile(below, edges, at), *self.scale_) for at in (tail, 1.0 - tail))  # type: ignore[return-value]

    def _tail(self, coverage: float) -> float:
        """The tail to cut on either side for intervals to hold so much on average, by the chances of ratings that were seen."""
        place = np.random.default_rng(0).choice(self.seen_.nnz, min(SEEN, self.seen_.nnz), replace=False)
        user = np.searchsorted(self.seen_.indptr, place, side="right") - 1
        below = _below(self._chances(user, self.seen_.indices[place]))
        middle, chances = (below[:, 1:] + below[:, :-1]) / 2, np.diff(below, axis=1)
        distance = np.minimum(middle, 1.0 - middle).ravel()
        order = np.argsort(-distance, kind="stable")
        held = np.cumsum(chances.ravel()[order]) / len(place)
        return float(np.append(distance[order], 0.0)[np.searchsorted(held, coverage)])

    def _newcomer(self, item: np.ndarray, rating: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        model, levels = self._model(), np.asarray(self.levels_)
        level = np.abs(np.asarray(rating)[:, None] - levels).argmin(axis=1)
        block = Block.of(np.column_stack([item, level]).astype(float), units=np.array([0, len(item)]))
        chances: Any = 0.0
        for members, table, share in zip(self.item_membership_, self.rating_table_, self.user_share_):
            params = TypeParams(members, np.ascontiguousarray(np.moveaxis(table, 2, 0)))
            user = model.posterior(params, block)[0][0] if len(item) else share
            chances = chances + members @ np.tensordot(user, table, 1)
        return self._moments(chances / len(self.user_share_))

    # What is told

    def _vectors(self, side: str = "item") -> np.ndarray:
        return np.hstack(list(getattr(self, f"{side}_membership_")))

    def _reasons(self, user: int, item: int) -> tuple[dict[str, float], list[tuple[int, float, float]]]:
        pair = np.array([user]), np.array([item])
        mine, its, table = next(self._pairs(*pair))
        adds = mine[0] * (table @ self.levels_ @ its[0] - self.mean_)
        parts = {"mean": self.mean_} | {f"user type {k + 1}": float(value) for k, value in enumerate(adds)}
        if len(self.rating_table_) > 1:
            parts["other fits"] = float(self._expect(*pair)[0]) - sum(parts.values())
        return parts, []

    def describe(self, n_items: int = 5) -> dict[str, Any]:
        """Types of users and of items in numbers and words, by the best fit.

        Parameters
        ----------
        n_items : int, default=5
            How many items to name for each.

        Returns
        -------
        dict
            ``user_types`` and ``item_types``, lists of records with ``number``, ``share``, ``mean``, ``words`` and items
            with their deviations, and ``table``, the expected rating by types of user and item.
        """
        return describe_types(self, n_items)

    @property
    def user_types_(self) -> list[dict[str, Any]]:
        """Types of users; see `describe`."""
        return self.describe()["user_types"]

    @property
    def item_types_(self) -> list[dict[str, Any]]:
        """Types of items; see `describe`."""
        return self.describe()["item_types"]


def _mixed(user: np.ndarray, item: np.ndarray, table: np.ndarray) -> np.ndarray:
    """P(r | i, j) of pairs of memberships (n, K) and (n, L) by a table (K, L, levels)."""
    n_types, n_levels = table.shape[1:]
    by_type = (user @ table.reshape(len(table), -1)).reshape(len(user), n_types, n_levels)
    return (item[:, None, :] @ by_type)[:, 0]


def _below(chances: np.ndarray) -> np.ndarray:
    """Probabilities (n, levels + 1) below the edges of levels."""
    below = np.cumsum(chances, axis=1)
    return np.hstack([np.zeros((len(below), 1)), below / below[:, -1:]])


def _quantile(below: np.ndarray, edges: np.ndarray, at: float) -> np.ndarray:
    """Quantiles of laws with probabilities `below` edges, straight between them."""
    bin_ = np.clip((below < at).sum(axis=1) - 1, 0, len(edges) - 2)
    row = np.arange(len(below))
    low, high = below[row, bin_], below[row, bin_ + 1]
    share = np.clip((at - low) / np.maximum(high - low, 1e-300), 0.0, 1.0)
    return edges[bin_] + share * (edges[bin_ + 1] - edges[bin_])
