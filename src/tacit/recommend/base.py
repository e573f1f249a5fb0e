"""`Recommender`: what every recommender does once it can tell what a user would rate an item.

Users are rows, items are columns, and nearly all cells are missing. A subclass learns (``_learn_ratings``) and tells the law of a
cell (``_expect``, ``_spread``); predictions, intervals, rankings and neighbours are made of these here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import ndtr, ndtri
from sklearn.utils.validation import check_is_fitted

from ..base import RowsEstimator
from ..checks import check_number
from ..declared import Listed, Names, Numbers
from ..kernels import lazy
from ..source.threads import one_blas_thread
from .features import ids_in
from .ratings import Ratings, as_ratings, codes_of, codes_of_pairs

__all__ = ["Explanation", "Recommendations", "Recommender"]

ranking = lazy("ranking")
BLOCK_CELLS = 1 << 22
"""Scores that are made at a time."""
SHOWN = 5
"""Items that are shown of a list when it is printed."""


@dataclass(frozen=True)
class Recommendations:
    """Items for one user, the best first.

    Attributes
    ----------
    user : object
        Who they are for.
    items : (n,)
        Ids.
    ratings : (n,)
        Expected ratings.
    spread : (n,) or None
        Standard deviations of a rating, where the model tells them.
    cold : bool
        Whether nothing was known of the user, so that these are what users like in general.
    """

    user: Any
    items: np.ndarray
    ratings: np.ndarray
    spread: np.ndarray | None = None
    cold: bool = False

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        told = ", ".join(f"{item} ({rating:.2f})" for item, rating in zip(self.items[:SHOWN], self.ratings))
        return f"Recommendations({self.user!r}: {told}{_more(len(self))})"

    def to_dict(self) -> dict[str, np.ndarray]:
        """Columns of a table: item, rating and, where it is known, std."""
        columns = {"item": self.items, "rating": self.ratings}
        return columns if self.spread is None else columns | {"std": self.spread}


@dataclass(frozen=True)
class Explanation:
    """Why a user is expected to rate an item as told.

    Attributes
    ----------
    user, item : object
    rating : float
        What is expected.
    parts : dict of str to float
        Numbers that add up to the rating: the mean, the user's and the item's bias, factors, votes.
    because : list of (object, float, float)
        Items that the user rated: id, rating, and what each adds.
    """

    user: Any
    item: Any
    rating: float
    parts: dict[str, float]
    because: list[tuple[Any, float, float]]

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {value:+.2f}" for name, value in self.parts.items())
        because = ", ".join(f"{item} ({rating:g}: {adds:+.2f})" for item, rating, adds in self.because[:SHOWN])
        told = f"; {because}{_more(len(self.because))}" if because else ""
        return f"Explanation({self.user!r}, {self.item!r}: {self.rating:.2f} = {parts}{told})"


def _more(n: int) -> str:
    """How many are not shown."""
    return f", … {n} in all" if n > SHOWN else ""


class Recommender(RowsEstimator):
    """Base of recommenders.

    A subclass defines ``_learn_ratings(ratings)`` and, for numbers of users and items (−1 unknown), ``_expect(user, item)``, the
    expected ratings, and ``_spread(user, item)``, variances of a rating. It may define ``_chances`` (probabilities of levels),
    ``_rows`` (expected ratings of all items, for blocks of users), ``_vectors`` (what items, or users, are compared by),
    ``_newcomer`` (a user by ratings alone) and ``_reasons``.
    """

    _saved = RowsEstimator._saved | {
        "users_": Names("n", labels=True),
        "items_": Names("d", labels=True),
        "mean_": Numbers(),
        "scale_": Listed((Numbers(), Numbers()), tuple),
        "levels_": Numbers("L", optional=True),
        "seen_": Numbers("n d", sparse=True),
        "item_counts_": Numbers("d", low=0, kind="i"),
    }
    _takes_sparse = True
    _study = "ratings"
    users_: np.ndarray
    items_: np.ndarray
    mean_: float
    scale_: tuple[float, float]
    levels_: np.ndarray | None
    seen_: Any
    item_counts_: np.ndarray

    # What a subclass defines

    def _learn_ratings(self, ratings: Ratings) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not define _learn_ratings.")

    def _expect(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        """Expected ratings of pairs."""
        raise NotImplementedError(f"{type(self).__name__} does not define _expect.")

    def _spread(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        """Variances of ratings of pairs."""
        raise NotImplementedError(f"{type(self).__name__} does not tell how uncertain it is.")

    def _chances(self, user: np.ndarray, item: np.ndarray) -> np.ndarray | None:
        """Probabilities (n, levels) of the ratings of pairs; None where a Gaussian is all that is known."""
        return None

    def _rows(self, users: np.ndarray) -> np.ndarray:
        """Expected ratings (users, items) of all items."""
        n_items = len(self.items_)
        pairs = np.repeat(users, n_items), np.tile(np.arange(n_items), len(users))
        return self._expect(*pairs).reshape(len(users), n_items)

    @property
    def _of_events(self) -> bool:
        """Whether ratings are strengths of events, and what is told is no rating."""
        return getattr(self, "response", "") == "implicit"

    def _vectors(self, side: str = "item") -> np.ndarray:
        """What items (n_items, p), or users, are compared by."""
        raise NotImplementedError(f"{type(self).__name__} does not tell which {side}s are alike.")

    def _lengths(self, vectors: np.ndarray, side: str = "item") -> np.ndarray:
        """Lengths that these are divided by; larger where vectors are uncertain."""
        return np.linalg.norm(vectors, axis=1)

    def _newcomer(self, item: np.ndarray, rating: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Expected ratings of all items, and their variances, for a user who is known by some ratings alone."""
        raise NotImplementedError(f"{type(self).__name__} takes no new users by ratings; fit it with them.")

    def _reasons(self, user: int, item: int) -> tuple[dict[str, float], list[tuple[int, float, float]]]:
        """Parts that add up to the rating, and (number of an item, rating, what it adds) of items that speak for it."""
        return {"mean": self.mean_, "rest": float(self._expect(np.array([user]), np.array([item]))[0]) - self.mean_}, []

    # Learning

    def fit(self, X: Any, y: Any = None, **along: Any) -> Self:
        """Learn from ratings.

        Parameters
        ----------
        X : Ratings, table, path or sparse matrix
            Ratings; a table has columns for user, item and rating, and of a sparse matrix of users by items what is not stored
            is missing.
        y : None
            Ignored.
        **along
            What the recommender takes besides, such as features of items.

        Returns
        -------
        self
        """
        self._check_settings()
        ratings = described(as_ratings(X), along.get("user_features"), along.get("item_features"))
        self._know(ratings)
        with one_blas_thread():  # threads of BLAS spin for a while after every small product, in the way of ours
            self._learn_ratings(ratings, **along)
        return self

    def _know(self, ratings: Ratings) -> None:
        """Keep who and what there is, and who rated what."""
        rows = ratings.by_user.rows
        if ratings.scale[0] == ratings.scale[1] and len(ratings) > 1 and not self._of_events:
            warnings.warn(
                f"all {len(ratings)} ratings are {ratings.scale[0]:g}, so that there is nothing to learn; name the column of "
                "ratings in Ratings.read, or, for events such as purchases, use MatrixFactorization(response='implicit').",
                UserWarning,
                stacklevel=4,
            )
        self.n_features_in_ = ratings.n_items
        self.users_, self.items_ = ratings.users, ratings.items
        self.mean_ = float(np.average(ratings.rating, weights=ratings.weight))
        self.scale_, self.levels_ = ratings.scale, ratings.levels
        self.seen_ = csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)
        self.item_counts_ = np.diff(ratings.by_item.rows.indptr)

    # Predictions

    def _codes(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of users and items of pairs; −1 where unknown."""
        check_is_fitted(self, "users_")
        return codes_of_pairs(X, self.users_, self.items_)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected ratings, within the scale.

        Parameters
        ----------
        X : Ratings, table with columns for user and item, (n, 2) array or (users, items)
            Pairs. Of users and items that were not seen, what is known in general is told.
        return_std : bool, default=False
            Whether to return the standard deviations of ratings as well.

        Returns
        -------
        rating : ndarray of shape (n,)
        std : ndarray of shape (n,)
            Where `return_std`.
        """
        user, item = self._codes(X)
        rating = np.clip(self._expect(user, item), *self.scale_)
        return (rating, np.sqrt(self._spread(user, item))) if return_std else rating

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Limits between which a rating lies with a probability, within the scale.

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
        user, item = self._codes(X)
        mean, half = self._expect(user, item), ndtri(0.5 + coverage / 2) * np.sqrt(self._spread(user, item))
        return np.clip(mean - half, *self.scale_), np.clip(mean + half, *self.scale_)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities (n, levels) of the ratings ``levels_``; of a Gaussian, those of the bins about them."""
        user, item = self._codes(X)
        if self.levels_ is None:
            raise ValueError("ratings have too many distinct values for a probability of each; use predict_interval.")
        found = self._chances(user, item)
        if found is not None:
            return found
        cuts = (self.levels_[1:] + self.levels_[:-1]) / 2
        mean, std = self._expect(user, item)[:, None], np.sqrt(self._spread(user, item))[:, None]
        below = np.hstack([np.zeros_like(mean), ndtr((cuts - mean) / std), np.ones_like(mean)])
        return np.diff(below, axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """R² of the predictions of ratings, as of scikit-learn's regressors."""
        ratings = as_ratings(X)
        wrong = self.predict(ratings) - ratings.rating
        return float(1.0 - (wrong**2).sum() / ((ratings.rating - ratings.rating.mean()) ** 2).sum())

    # Rankings

    def recommend(
        self, user: Any, n: int = 10, *, exclude_seen: bool = True, items: Any = None, diversity: float = 0.0,
        popularity: float = 0.0,
    ) -> Recommendations:  # fmt: skip
        """The items that a user is expected to rate highest.

        Parameters
        ----------
        user : id or dict
            Who. An id that was not seen gets what users like in general; a dictionary of items to ratings is a new user.
        n : int, default=10
            How many.
        exclude_seen : bool, default=True
            Whether items that the user has rated are left out.
        items : array-like of ids, optional
            Items to choose from, such as those in stock; default all.
        diversity : float, default=0
            From 0 to 1: how much an item's likeness to those above it counts against it (maximal marginal relevance).
        popularity : float, default=0
            By how much the expected rating of an item is lowered for each tenfold of its number of ratings, in ratings' units:
            less popular items come first. `evaluate` tells how popular lists are (``popularity_lift``).

        Returns
        -------
        Recommendations
        """
        check_is_fitted(self, "users_")
        if isinstance(user, (list, tuple, np.ndarray)):
            raise TypeError(
                f"recommend takes one user, not {type(user).__name__}; recommend_all(n, users) takes several."
            )
        check_number("n", n, int, 1)
        check_number("diversity", diversity, (int, float), 0, 1)
        check_number("popularity", popularity, (int, float), 0)
        ratings, spread, seen, cold = self._all_items(user)
        free = self._among(items)
        if exclude_seen:
            free[seen] = False
        worth = ratings - self._lowered(popularity)
        chosen = self._diverse(worth, free, n, diversity) if diversity else _best(worth, free, n)
        told = None if spread is None else np.sqrt(spread[chosen])
        return Recommendations(user, self.items_[chosen], np.clip(ratings[chosen], *self.scale_), told, cold)

    def _lowered(self, popularity: float) -> np.ndarray:
        """By how much expected ratings of items are lowered for their numbers of ratings."""
        return popularity * np.log10(np.maximum(self.item_counts_, 1))

    def _among(self, items: Any) -> np.ndarray:
        """Whether each item is one of those to choose from."""
        if items is None:
            return np.ones(len(self.items_), bool)
        codes = codes_of(items, self.items_)
        if len(codes) and (codes < 0).all():
            first = np.asarray(items, dtype=object).ravel()[0]
            raise ValueError(
                f"none of the {len(codes)} items to choose from was seen, such as {first!r}; give ids of items_."
            )
        free = np.zeros(len(self.items_), bool)
        free[codes[codes >= 0]] = True
        return free

    def _all_items(self, user: Any) -> tuple[np.ndarray, np.ndarray | None, np.ndarray, bool]:
        """Expected ratings of all items and their variances, items that a user has seen, and whether the user is unknown."""
        every = np.arange(len(self.items_))
        if isinstance(user, Mapping):
            item = codes_of(list(user), self.items_)
            kept, rated = item >= 0, self._rated(user)
            return *self._newcomer(item[kept], rated[kept]), item[kept], not kept.any()
        code = int(codes_of([user], self.users_)[0])
        who = np.full(len(every), code)
        seen = self.seen_.indices[self.seen_.indptr[code] : self.seen_.indptr[code + 1]] if code >= 0 else every[:0]
        try:
            spread = self._spread(who, every)
        except NotImplementedError:
            spread = None
        return self._expect(who, every), spread, seen, code < 0

    def _rated(self, user: Mapping) -> np.ndarray:
        """Ratings of a new user, within the scale."""
        rated = np.array(list(user.values()), dtype=float)
        low, high = (0.0, np.inf) if self._of_events else self.scale_
        bad = [(item, value) for item, value in zip(user, rated.tolist()) if not low <= value <= high]
        if bad:
            item, value = bad[0]
            raise ValueError(
                f"the rating of {item!r} is {value:g}, but ratings lie from {low:g} to {high:g}; leave it out."
            )
        return rated

    def _diverse(self, ratings: np.ndarray, free: np.ndarray, n: int, diversity: float) -> np.ndarray:
        """Items by maximal marginal relevance, among the best twenty times as many."""
        pool = _best(ratings, free, 20 * n)
        vectors = self._vectors()[pool]
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        worth = (ratings[pool] - ratings[pool].min()) / max(float(np.ptp(ratings[pool])), 1e-12)
        alike = np.full(len(pool), -1.0)
        chosen: list[int] = []
        for _ in range(min(n, len(pool))):
            value = (1.0 - diversity) * worth - diversity * np.maximum(alike, 0.0)
            value[chosen] = -np.inf
            best = int(value.argmax())
            chosen.append(best)
            alike = np.maximum(alike, vectors @ vectors[best])
        return pool[chosen]

    def recommend_all(
        self, n: int = 10, users: Any = None, *, exclude_seen: bool = True, items: Any = None, popularity: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """The n best items of many users, block by block: never all scores at once.

        Parameters
        ----------
        n : int, default=10
            How many for each.
        users : array-like of ids, optional
            Who; default everyone.
        exclude_seen : bool, default=True
            Whether items that a user has rated are left out.
        items, popularity
            As in `recommend`.

        Returns
        -------
        items : ndarray of shape (n_users, n)
            Ids, the best first; where too few are left, the rating beside them is −∞.
        ratings : ndarray of shape (n_users, n)
            Expected ratings.
        """
        check_is_fitted(self, "users_")
        check_number("n", n, int, 1)
        codes = np.arange(len(self.users_)) if users is None else codes_of(users, self.users_)
        check_number("popularity", popularity, (int, float), 0)
        n, lowered = min(n, len(self.items_)), self._lowered(popularity).astype(np.float32)
        if items is not None:
            lowered[~self._among(items)] = np.inf
        chosen, ratings = np.zeros((len(codes), n), np.int32), np.empty((len(codes), n), np.float32)
        for part, scores in self._score_blocks(codes):
            if lowered.any():
                scores -= lowered
            ranking.top(scores, codes[part], *self._seen(exclude_seen), chosen[part], ratings[part])
        found = np.isfinite(ratings)
        ratings[found] = np.clip(ratings[found] + lowered[chosen[found]], *self.scale_)
        return self.items_[chosen], ratings

    def _score_blocks(self, codes: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        size = max(BLOCK_CELLS // max(len(self.items_), 1), 1)
        for start in range(0, len(codes), size):
            part = slice(start, min(start + size, len(codes)))
            yield part, np.ascontiguousarray(self._rows(codes[part]), dtype=np.float32)

    def _seen(self, exclude: bool) -> tuple[np.ndarray, np.ndarray]:
        """Where the seen items of users begin, and the items; none where they are not left out."""
        if exclude:
            return self.seen_.indptr.astype(np.int64), self.seen_.indices
        return np.zeros(len(self.users_) + 1, np.int64), self.seen_.indices[:0]

    def similar_items(self, item: Any, n: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """Items like one item, with their cosine similarities, the most similar first.

        Parameters
        ----------
        item : id
            One that was seen.
        n : int, default=10
            How many.

        Returns
        -------
        items : ndarray of shape (n,)
        similarity : ndarray of shape (n,)
        """
        return self._alike("item", item, n)

    def similar_users(self, user: Any, n: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """Users like one user, with their cosine similarities, the most similar first.

        Parameters
        ----------
        user : id
            One that was seen.
        n : int, default=10
            How many.

        Returns
        -------
        users : ndarray of shape (n,)
        similarity : ndarray of shape (n,)
        """
        return self._alike("user", user, n)

    def _alike(self, side: str, which: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Ids of one side that are like one of them, with similarities."""
        check_is_fitted(self, "users_")
        ids = getattr(self, f"{side}s_")
        code = int(codes_of([which], ids)[0])
        if code < 0:
            raise ValueError(f"{side} {which!r} was not seen; similar_{side}s takes ids of {side}s_.")
        vectors = self._vectors(side)
        length = np.maximum(self._lengths(vectors, side), 1e-12)
        alike = vectors @ vectors[code] / (length * length[code])
        others = np.ones(len(alike), bool)
        others[code] = False
        chosen = _best(alike, others, n)
        return ids[chosen], alike[chosen]

    def explain(self, user: Any, item: Any) -> Explanation:
        """Why a user is expected to rate an item as told.

        Parameters
        ----------
        user, item : id
            Who and what.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self, "users_")
        u, i = int(codes_of([user], self.users_)[0]), int(codes_of([item], self.items_)[0])
        parts, because = self._reasons(u, i)
        named = [(self.items_[j], rating, adds) for j, rating, adds in because]
        return Explanation(user, item, float(self.predict(([user], [item]))[0]), parts, named)


def described(ratings: Ratings, user_features: Any, item_features: Any) -> Ratings:
    """Ratings, with the users and items besides that tables of features tell of."""
    return ratings.with_ids(ids_in(user_features, "user"), ids_in(item_features, "item"))


def _best(values: np.ndarray, free: np.ndarray, n: int) -> np.ndarray:
    """Places of the n largest values that are free, in order; equal ones by place."""
    places = np.flatnonzero(free)
    n = min(n, len(places))
    if n < len(places):
        places = places[np.argpartition(-values[places], n - 1)[:n]] if n else places[:0]
    return places[np.lexsort((places, -values[places]))]
