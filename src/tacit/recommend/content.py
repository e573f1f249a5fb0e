"""`ContentRecommender`: what users think of features of items, r_uj = w_u·φ_j + c_j + ε with w_u ~ N(B ψ_u, Σ)."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from scipy.sparse.linalg import svds

from ..base.settings import KW_ONLY, settings
from ..checks import check_n_jobs, check_number
from ..declared import Names, Numbers, Part
from ..engine import fit
from ..source import ArraySource, Block
from .base import Recommender
from .baseline import weights_of
from .content_model import ContentModel, ContentParams
from .features import features_of
from .ratings import Ratings

__all__ = ["ContentRecommender"]

USERS_OF_A_BLOCK = 1 << 10


@settings
class ContentRecommender(Recommender):
    """Ratings from features of items and of users.

    Every user has a weight for every feature of items: a Bayesian regression of her ratings, whose prior is what users are like
    in general and, where features of users are given, what such users are like. All that is shared (mean weights, how they vary
    between users, the noise, and how much items differ from what their features tell) is learned by EM. So items that nobody has
    rated and users without ratings have predictions, with variances. Items that were rated are known by their ratings as well.

    Parameters
    ----------
    n_directions : int, default=50
        Features of items, and of users, beyond so many are replaced by so many of their main directions.
    max_iter : int, default=100
        Passes over the ratings at most.
    tol : float, default=1e-5
        The fit ends when a pass gains less, in nats per rating.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.

    Attributes
    ----------
    params_ : ContentParams
        Mean weights, their covariance, noise, and what items are beyond their features.
    item_features_ : ndarray of shape (n_items, q)
        φ: 1, and features about their means in units of their spread, or directions of these.
    user_features_ : ndarray of shape (n_users, s)
        ψ, likewise.
    feature_names_ : ndarray of shape (p,)
        Names of the features of items.
    directions_ : ndarray of shape (p, q)
        How features make φ, but for its 1.
    n_iter_ : int
        Passes.
    fit_ : Fit
        The objective after every pass, and why the fit ended; not in model files.
    users_, items_, mean_, scale_, levels_, seen_
        See `Recommender`.

    References
    ----------
    Laird and Ware (1982), Random-effects models for longitudinal data. Condliff, Lewis, Madigan and Posse (1999), Bayesian
    mixed-effects models for recommender systems.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.recommend import ContentRecommender
    >>> user, item = np.divmod(np.arange(200), 10)
    >>> funny = {"item": np.arange(10), "funny": np.arange(10) % 2}
    >>> likes = np.where(user % 2, 1, -1) * np.where(item % 2, 1, -1)  # every other user likes what is funny
    >>> table = {"user": user[:-1], "item": item[:-1], "rating": 3 + likes[:-1]}
    >>> ContentRecommender().fit(table, item_features=funny).predict(([18, 19], [9, 9])).round()
    array([2., 4.])
    """

    _: KW_ONLY
    n_directions: int = 50
    max_iter: int = 100
    tol: float = 1e-5
    n_jobs: int | None = None

    _saved = Recommender._saved | {
        "params_": Part(ContentParams),
        "item_features_": Numbers("d q"),
        "user_features_": Numbers("n s"),
        "feature_names_": Names("p"),
        "directions_": Numbers("p k"),
        "rating_weight_": Numbers("w", low=0, optional=True),
        "n_iter_": Numbers(low=0, kind="i"),
    }

    def _check_settings(self) -> None:
        check_number("n_directions", self.n_directions, numbers.Integral, 1)
        check_number("max_iter", self.max_iter, numbers.Integral, 1)
        check_number("tol", self.tol, numbers.Real, 0)
        check_n_jobs(self.n_jobs)

    def _check_loaded(self) -> None:
        sizes = {"q": self.item_features_.shape[1], "s": self.user_features_.shape[1], "d": len(self.items_)}
        self.params_.check(sizes)
        names, directions = self.directions_.shape
        if sizes["q"] != directions + 1 or names != len(self.feature_names_):
            raise ValueError(f"its {sizes['q']} features are not made of {directions} directions of {names} features")
        if self.rating_weight_ is not None and len(self.rating_weight_) != self.seen_.nnz:
            raise ValueError(f"it has {len(self.rating_weight_)} weights of {self.seen_.nnz} ratings")

    # Learning

    def _learn_ratings(self, ratings: Ratings, item_features: Any = None, user_features: Any = None) -> None:
        if item_features is None and user_features is None:
            raise ValueError(
                "ContentRecommender learns from features, and none are given; pass item_features or user_features to fit, or use "
                "MatrixFactorization, which needs none."
            )
        most = int(self.n_directions)
        self.item_features_, self.feature_names_, self.directions_ = _designed(
            item_features, ratings.items, "item", most
        )
        self.user_features_, *_ = _designed(user_features, ratings.users, "user", most)
        rows = ratings.by_user.rows
        weighted = ratings.by_user.weight is not None
        self.rating_weight_ = weights_of(ratings.by_user) if weighted else None
        number = np.repeat(np.arange(ratings.n_users), np.diff(rows.indptr))
        cells = np.column_stack([rows.indices, rows.data]).astype(np.float64)
        source = ArraySource(cells, self.rating_weight_, unit=number, n_jobs=self.n_jobs)
        model = self._model(self.user_features_[np.unique(number)])
        start = model.init(source.sample(source.n_rows, np.random.default_rng(0)), np.random.default_rng(0))
        self.fit_ = fit(model, source, start, max_iter=self.max_iter, tol=self.tol)
        self.params_: ContentParams = self.fit_.params
        self.n_iter_ = len(self.fit_.trace)

    def _model(self, about: np.ndarray) -> ContentModel:
        return ContentModel(self.item_features_, about, float(self.seen_.data.var(dtype=float)))

    # Predictions

    def _weights(self, users: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means and covariances of the weights of users; of −1, what is known in general."""
        rows, about = self.seen_[np.maximum(users, 0)], self.user_features_[np.maximum(users, 0)]
        weight = None
        if self.rating_weight_ is not None:
            kept = csr_matrix((self.rating_weight_, self.seen_.indices, self.seen_.indptr), self.seen_.shape)
            weight = kept[np.maximum(users, 0)].data
        about = np.where(users[:, None] >= 0, about, self._nobody())
        weight = np.ones(rows.nnz) if weight is None else weight.astype(np.float64)
        weight[np.repeat(users < 0, np.diff(rows.indptr))] = 0.0
        return self._posterior(rows.indices, rows.data, weight, rows.indptr, about)

    def _nobody(self) -> np.ndarray:
        """Features of a user of whom nothing is known."""
        return np.eye(1, self.user_features_.shape[1])[0]

    def _posterior(self, item: Any, rating: Any, weight: Any, offsets: Any, about: Any) -> tuple[Any, Any]:
        cells = np.column_stack([item, rating]).astype(np.float64)
        block = Block.of(cells, weight, units=np.asarray(offsets, np.int64))
        mean, covariance, _ = self._model(about)._weights(self.params_, block, about)
        return mean, covariance

    def _features(self, item: np.ndarray) -> np.ndarray:
        """φ of items; of −1, that of an item of which nothing is known."""
        return np.where(item[:, None] >= 0, self.item_features_[item], np.eye(1, self.item_features_.shape[1]))

    def _moments(self, user: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Expected ratings of pairs, and their variances."""
        mean, variance = np.empty(len(user)), np.empty(len(user))
        who, place = np.unique(user, return_inverse=True)
        order = np.argsort(place, kind="stable")
        for start in range(0, len(who), USERS_OF_A_BLOCK):
            stop = min(start + USERS_OF_A_BLOCK, len(who))
            weights, covariance = self._weights(who[start:stop])
            here = order[slice(*np.searchsorted(place[order], [start, stop]))]
            features, number = self._features(item[here]), place[here] - start
            mean[here] = (features * weights[number]).sum(axis=1)
            variance[here] = np.einsum("pa,pab,pb->p", features, covariance[number], features, optimize=True)
            strange = item[here] < 0
            unlike = np.einsum("pa,ab,pb->p", weights[number[strange]], self._variety(), weights[number[strange]])
            variance[here[strange]] += unlike
        known, params = item >= 0, self.params_
        mean += np.where(known, params.item[item], 0.0)
        return mean, variance + np.where(known, params.item_variance[item], params.item_prior) + params.noise

    def _variety(self) -> np.ndarray:
        """The covariance of features over items."""
        return np.atleast_2d(np.cov(self.item_features_.T, bias=True))

    def _expect(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        return self._moments(user, item)[0]

    def _spread(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        return self._moments(user, item)[1]

    def _rows(self, users: np.ndarray) -> np.ndarray:
        return self._weights(users)[0] @ self.item_features_.T + self.params_.item

    def _newcomer(self, item: np.ndarray, rating: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        offsets, params, phi = np.array([0, len(item)]), self.params_, self.item_features_
        weights, covariance = self._posterior(item, rating, np.ones(len(item)), offsets, self._nobody()[None])
        variance = ((phi @ covariance[0]) * phi).sum(axis=1) + params.item_variance + params.noise
        return phi @ weights[0] + params.item, variance

    # What is told

    def _vectors(self, side: str = "item") -> np.ndarray:
        if side == "user":
            weights = self._weights(np.arange(len(self.users_)))[0]
            return weights[:, 1:] if weights.shape[1] > 1 else weights
        return self.item_features_[:, 1:] if self.item_features_.shape[1] > 1 else self.params_.item[:, None]

    def _reasons(self, user: int, item: int) -> tuple[dict[str, float], list[tuple[int, float, float]]]:
        weights = self._weights(np.array([user]))[0][0]
        found = {"mean": self.mean_, "user": float(weights[0]) - self.mean_}
        if item < 0:
            return found, []
        found["item"] = float(self.params_.item[item])
        # Directions of features back in features: the least that makes φ.
        back = np.linalg.pinv(self.directions_)
        adds = (self.item_features_[item, 1:] @ back) * (self.directions_ @ weights[1:])
        return found | {str(name): float(value) for name, value in zip(self.feature_names_, adds)}, []


def _designed(table: Any, ids: np.ndarray, what: str, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """1 and features about their means in units of their spread, or their main directions; names; and directions."""
    if table is None:
        return np.ones((len(ids), 1)), np.zeros(0, object), np.zeros((0, 0))
    found = features_of(table, ids, what)
    matrix, names = found.matrix, np.asarray(found.names, dtype=object)
    dense = np.asarray(matrix.todense() if issparse(matrix) else matrix, dtype=np.float64)
    dense = dense - dense.mean(axis=0)
    spread = dense.std(axis=0)
    scale = np.where(spread > 0, 1.0 / np.where(spread > 0, spread, 1.0), 0.0)
    dense *= scale
    directions = np.eye(len(names))
    if len(names) > most:
        directions = svds(dense, min(most, min(dense.shape) - 1), random_state=0)[2].T
        dense = dense @ directions
    return np.hstack([np.ones((len(ids), 1)), dense]), names, directions
