"""`MatrixFactorization`: ratings explained by biases and factors, with what is known of each."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ...base import EMEstimator
from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_number
from ...declared import SQUARES, Numbers
from ...kernels import lazy
from ...source import Block
from ..base import Recommender
from ..ratings import Ratings
from .model import FactorModel, FactorParams
from .priors import SidePrior, Users, Vectors, packed, unpacked
from .responses import GaussianResponse
from .source import SINGLE, RatedRows, RatingSource

__all__ = ["MatrixFactorization"]

compiled = lazy("factorization")
VARIANCE = {"above": 0.0, "high": SQUARES}


@settings
class MatrixFactorization(Recommender, EMEstimator):
    """Ratings as μ + bias of the user + bias of the item + factors of the user · factors of the item, plus noise.

    Every prediction has a standard deviation. By default nothing needs to be tuned: how strongly biases and factors are held
    back, and how large the noise of each user is, is learned from the ratings.

    Parameters
    ----------
    n_components : int, default=20
        Factors. Under variational Bayes too many do little harm: those that the ratings do not support shrink.
    inference : {"vb", "map"}, default="vb"
        ``vb``: variational Bayes, a mean and a covariance for every user and item. ``map``: items are points; users are
        integrated out where `regularization` is learned, and points as well where it is given (alternating ridge regressions).
    regularization : "learn" or float, default="learn"
        Prior precisions, learned; or λ, what squares of biases and factors are charged with (for ``map``). 0 is maximum
        likelihood, for which every user and item needs more ratings than it has unknowns.
    noise : {"user", "constant"}, default="user"
        Whether users differ in how consistent they are.
    tol : float, default=1e-4
        A fit ends when the objective improves by less per rating.
    max_iter : int, default=200
        Sweeps at most.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the factors at the start.
    warm_start : bool, default=False
        Whether a fit begins where the last one ended.
    verbose, verbose_interval : int
        How much to print, and after how many sweeps.
    callback : callable, optional
        Called with the progress after every sweep.

    Attributes
    ----------
    users_, items_ : ndarray
        Ids.
    mean_ : float
        μ, the mean of all ratings.
    user_bias_, item_bias_ : ndarray of shape (n_users,) and (n_items,)
    user_factors_, item_factors_ : ndarray of shape (n_users, n_components) and (n_items, n_components)
    user_spread_, item_spread_ : ndarray of shape (n, (n_components + 1)(n_components + 2) / 2)
        Covariances of (bias, factors), lower triangles by rows.
    noise_variance_ : float
        σ² of a user of average consistency.
    user_consistency_ : ndarray of shape (n_users,)
        τ: the noise of a user's ratings has the variance σ² / τ.
    user_precision_, item_precision_, user_link_, item_link_
        Priors: precisions, and how means of vectors depend on features (the first row is the mean of all).
    fit_ : Fit
        The objective after every sweep, and why the fit stopped.

    References
    ----------
    Salakhutdinov and Mnih (2008), Probabilistic matrix factorization. Lim and Teh (2007), Variational Bayesian approach to movie
    rating prediction. Koren, Bell and Volinsky (2009), Matrix factorization techniques for recommender systems.

    Examples
    --------
    >>> from tacit.recommend import MatrixFactorization
    >>> ratings = {"user": list("aaabbbcc"), "item": list("xyzxyzxy"), "rating": [5, 4, 1, 4, 4, 2, 2, 1]}
    >>> model = MatrixFactorization(2, random_state=0).fit(ratings)
    >>> bool(model.predict((["c"], ["z"]))[0] < model.predict((["a"], ["x"]))[0])
    True
    """

    n_components: int = 20
    _: KW_ONLY
    inference: str = "vb"
    regularization: Any = "learn"
    noise: str = "user"
    tol: float = 1e-4
    max_iter: int = 200
    n_jobs: int | None = None
    random_state: Any = None
    warm_start: bool = False
    verbose: int = 0
    verbose_interval: int = 10
    callback: Callable | None = None

    _saved = Recommender._saved | EMEstimator._saved | {
        "user_bias_": Numbers("n"),
        "item_bias_": Numbers("d"),
        "user_factors_": Numbers("n K"),
        "item_factors_": Numbers("d K"),
        "user_spread_": Numbers("n S"),
        "item_spread_": Numbers("d S"),
        "item_log_det_": Numbers(high=SQUARES),
        "noise_variance_": Numbers(**VARIANCE),
        "user_consistency_": Numbers("n", **VARIANCE),
        "freedom_": Numbers(above=0),
        "user_precision_": Numbers("q q", form="definite"),
        "item_precision_": Numbers("q q", form="definite"),
        "user_link_": Numbers("p q"),
        "item_link_": Numbers("r q"),
        "user_penalty_": Numbers("p", above=0),
        "item_penalty_": Numbers("r", above=0),
        "user_features_": Numbers("n p"),
        "item_features_": Numbers("d r"),
    }  # fmt: skip

    def _sizes(self) -> dict[str, int]:
        q = self.n_components + 1
        return super()._sizes() | {"K": self.n_components, "q": q, "S": q * (q + 1) // 2}

    # Settings

    def _check_settings(self) -> None:
        self._check_engine()
        check_number("n_components", self.n_components, numbers.Integral, 0)
        check_choice("inference", self.inference, ("vb", "map"))
        check_choice("noise", self.noise, ("user", "constant"))
        if self.regularization != "learn":
            check_number("regularization", self.regularization, numbers.Real, 0)
            if self.inference == "vb":
                raise ValueError(
                    f"regularization={self.regularization!r} cannot be given for inference='vb', which learns it; use "
                    "inference='map' or regularization='learn'."
                )

    @property
    def _learns(self) -> bool:
        return self.regularization == "learn"

    def _model(self) -> FactorModel:
        uncertain = self._learns, self.inference == "vb"
        given = () if self._learns else (float(self.regularization),) * 2
        return FactorModel(
            self.n_components, uncertain=uncertain, learns=self._learns, user_features=self.user_features_,
            item_features=self.item_features_, response=self._response(), uneven=self._learns and self.noise == "user",
            precision=given or (5.0, 10.0), kind=np.float32 if self.seen_.nnz > SINGLE else np.float64,
        )  # fmt: skip

    def _response(self) -> GaussianResponse:
        return GaussianResponse(self.mean_, float(self.seen_.data.var(dtype=float)), self._learns)

    def _start(self, model: Any, task: Any) -> FactorParams:
        return model.init(task.sample, task.rng)

    # Learning

    def fit(
        self, X: Any, y: Any = None, *, user_features: Any = None, item_features: Any = None, checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> Self:  # fmt: skip
        """Learn from ratings.

        Parameters
        ----------
        X : Ratings, table, path or sparse matrix
            Ratings; a table has columns for user, item and rating, and of a sparse matrix of users by items what is not stored
            is missing.
        y : None
            Ignored.
        user_features, item_features : table or array, optional
            What is known of users and items besides: tables with a column of ids, or arrays in the order of ids. Biases and
            factors are held back towards a linear function of features, which is learned.
        checkpoint : path, optional
            A file that keeps the state of the fit. If it exists, the fit goes on from there; it is removed at the end.
        checkpoint_every : float, default=60
            Seconds between writes of the checkpoint.

        Returns
        -------
        self
        """
        along = {"user_features": user_features, "item_features": item_features}
        return super().fit(X, y, **along, checkpoint=checkpoint, checkpoint_every=checkpoint_every)

    def _learn_ratings(self, ratings: Ratings, **along: Any) -> None:  # type: ignore[override]
        self.user_features_ = with_ones(along.pop("user_features", None), ratings.n_users)
        self.item_features_ = with_ones(along.pop("item_features", None), ratings.n_items)
        self._check_determined()
        self._learn(RatingSource(ratings, n_jobs=self.n_jobs), **along)

    def _check_determined(self) -> None:
        """Raise where maximum likelihood has no unique solution."""
        if self._learns or self.regularization > 0:
            return
        q = self.n_components + 1
        for what, ids, counts in (
            ("user", self.users_, np.diff(self.seen_.indptr)),
            ("item", self.items_, np.bincount(self.seen_.indices, minlength=len(self.items_))),
        ):
            few = np.flatnonzero(counts < q)
            if len(few):
                raise ValueError(
                    f"regularization=0 leaves vectors undetermined: {what} {ids[few[0]]!r} has {counts[few[0]]} ratings for a bias "
                    f"and {self.n_components} factors, and so have {len(few) - 1} more too few. Use regularization > 0 or 'learn', "
                    "or fewer factors. Even where all are determined, factors are so only up to an invertible matrix."
                )

    def _publish(self, params: FactorParams, dtype: np.dtype) -> None:
        self.item_bias_, self.item_factors_ = params.vectors.mean[:, 0].copy(), params.vectors.mean[:, 1:].copy()
        self.item_spread_, self.item_log_det_ = params.vectors.spread, float(params.log_det)
        self.noise_variance_, self.freedom_ = float(params.noise), float(params.freedom)
        for side, prior in (("user", params.user_prior), ("item", params.item_prior)):
            for name, value in (
                ("precision", prior.precision), ("link", prior.coefficients), ("penalty", prior.penalty)
            ):  # fmt: skip
                setattr(self, f"{side}_{name}_", value)

    def _keep(self, source: Any) -> None:
        """Users at the items that were found last, and covariances of both sides."""
        model, params = self._model(), self.fit_.params
        users = Users.concatenate([self._users(model, params, block) for block in source])
        if not self._learns:
            self._estimate_noise(users, params.vectors)
        self.user_bias_, self.user_factors_ = users.mean[:, 0].copy(), users.mean[:, 1:].copy()
        self.user_consistency_ = users.steady[:, 0].copy()
        self.user_spread_ = users.spread * (1.0 if self._learns else self.noise_variance_)
        if self.inference == "map":
            blank = replace(params, vectors=Vectors(params.vectors.mean, model._isotropic(len(self.items_), True)))
            others = users if self._learns else replace(users, spread=users.spread[:, :0])
            self.item_spread_ = model.with_items(source, blank, others).vectors.spread
            self.item_spread_ = self.item_spread_ * (1.0 if self._learns else self.noise_variance_)
        source.remember(None)

    def _users(self, model: FactorModel, params: FactorParams, block: Block) -> Users:
        """Users with covariances, given the items; how consistent they are stays as it was."""
        known: Any = model.memory(block) if block.memory is None else block.memory
        users = Users(known.mean.copy(), model._isotropic(len(block), True), known.steady)
        features = self.user_features_[block.first : block.first + len(block)]
        along = params.vectors, params.user_prior, features, users.steady[:, 0]
        model.solve(params, block.X, users, *along)  # type: ignore[arg-type]
        return users

    def _estimate_noise(self, users: Users, items: Vectors) -> None:
        """σ² where λ is given: the squared errors over the ratings less what was fitted."""
        q = self.n_components + 1
        wrong = self.seen_.data - self._point(users, items)
        fitted = q * len(users.mean) - self.regularization * np.trace(users.moments()[1])
        left = max(self.seen_.nnz - 2.0 * fitted, 0.1 * self.seen_.nnz)
        self.noise_variance_ = float(max(wrong @ wrong / left, 1e-12))

    def _point(self, users: Vectors, items: Vectors) -> np.ndarray:
        """Expected ratings of all cells that were seen."""
        user = np.repeat(np.arange(len(self.users_)), np.diff(self.seen_.indptr))
        return self._sum(users.mean[user], items.mean[self.seen_.indices])

    def _sum(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.mean_ + x[:, 0] + y[:, 0] + np.einsum("nk,nk->n", x[:, 1:], y[:, 1:])

    def _params(self) -> FactorParams:
        priors = [
            SidePrior(*(getattr(self, f"{side}_{name}_") for name in ("precision", "link", "penalty"))) for side in ("user", "item")
        ]
        spread = self.item_spread_ if self.inference == "vb" else self.item_spread_[:, :0]
        vectors = Vectors(np.column_stack([self.item_bias_, self.item_factors_]), spread)
        noise = self.noise_variance_ if self._learns else 1.0
        return FactorParams(self.mean_, noise, self.freedom_, np.zeros(0), vectors, self.item_log_det_, *priors)

    # Answers

    def _side(self, side: str, code: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Vectors of one side with one more at the end, for those that are not known, and rows of them for codes."""
        bias, factors = getattr(self, f"{side}_bias_"), getattr(self, f"{side}_factors_")
        link, precision = getattr(self, f"{side}_link_"), getattr(self, f"{side}_precision_")
        noise = 1.0 if self._learns else self.noise_variance_
        mean = np.vstack([np.column_stack([bias, factors]), link[:1]])
        spread = np.vstack([getattr(self, f"{side}_spread_"), packed(noise * np.linalg.inv(precision))[None]])
        return mean, spread, np.where(code < 0, len(bias), code)

    def _expect(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        x, _, u = self._side("user", user)
        y, _, i = self._side("item", item)
        return self._sum(x[u], y[i])

    def _spread(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        x, S, u = self._side("user", user)
        y, T, i = self._side("item", item)
        found = np.empty(len(u))
        compiled.pair_spread(u, i, x, S, y, T, found)
        tau = np.append(self.user_consistency_, self.freedom_ / (self.freedom_ - 2) if self.freedom_ > 2 else 1.0)
        tau[-1] = 1.0 / tau[-1]
        return found + self.noise_variance_ / tau[u]

    def _rows(self, users: np.ndarray) -> np.ndarray:
        x, _, u = self._side("user", users)
        x = x[u].astype(np.float32)
        own = x[:, 1:] @ self.item_factors_.T.astype(np.float32)
        own += np.float32(self.mean_) + x[:, :1] + self.item_bias_.astype(np.float32)
        return own

    def _vectors(self) -> np.ndarray:
        # What users make of factors: how they vary over users is part of how alike items are.
        around = np.linalg.inv(self.user_precision_)[1:, 1:]
        return self.item_factors_ @ np.linalg.cholesky(around)

    def _folded(self, item: np.ndarray, rating: np.ndarray) -> Users:
        """A user who is known by some ratings alone."""
        params, model = self._params(), self._model()
        kind = model.kind
        rows = RatedRows(
            rating.astype(np.float32), item.astype(np.int32), np.array([0, len(item)]), (1, len(self.items_)), "missing",
            np.ones(len(item), kind),
        )  # fmt: skip
        users = Users(np.zeros((1, model.size)), model._isotropic(1, True), np.ones((1, 1)))
        along = params.vectors, params.user_prior, _average(self.user_features_), users.steady[:, 0]
        model.solve(params, rows, users, *along)
        return users

    def _newcomer(self, item: np.ndarray, rating: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        users = self._folded(item, rating)
        y, T, i = self._side("item", np.arange(len(self.items_)))
        mean = self._sum(np.repeat(users.mean, len(i), axis=0), y[i])
        found = np.empty(len(i))
        scale = 1.0 if self._learns else self.noise_variance_
        compiled.pair_spread(np.zeros(len(i), int), i, users.mean, scale * users.spread, y, T, found)
        return mean, found + self.noise_variance_

    def _reasons(self, user: int, item: int) -> tuple[dict[str, float], list[tuple[int, float, float]]]:
        x, S, u = self._side("user", np.array([user]))
        y, T, i = self._side("item", np.array([item]))
        x, y = x[u[0]], y[i[0]]
        parts = {"mean": self.mean_, "user": float(x[0]), "item": float(y[0]), "factors": float(x[1:] @ y[1:])}
        if user < 0:
            return parts, []
        cells = slice(*self.seen_.indptr[user : user + 2])
        items, ratings = self.seen_.indices[cells], self.seen_.data[cells]
        around = unpacked(S[u[0]], len(x))
        z = np.column_stack([np.ones(len(items)), self.item_factors_[items]])
        offset = self.item_bias_[items][:, None] * z
        offset[:, 1:] += self.item_spread_[items][:, [r * (r + 1) // 2 for r in range(1, len(x))]]
        rest = (ratings - self.mean_)[:, None] * z - offset
        adds = rest @ (around @ np.concatenate([[1.0], y[1:]])) * self.user_consistency_[user] / self.noise_variance_
        order = np.argsort(-np.abs(adds))[:10]
        return parts, [(int(items[k]), float(ratings[k]), float(adds[k])) for k in order]


def with_ones(features: Any, n: int) -> np.ndarray:
    """Features with a column of ones before them."""
    if features is None:
        return np.ones((n, 1))
    matrix = features.toarray() if hasattr(features, "toarray") else np.asarray(features, dtype=float)
    return np.hstack([np.ones((n, 1)), matrix])


def _average(features: np.ndarray) -> np.ndarray:
    """Features of which nothing is known but that they are average: standardised ones are 0."""
    found = np.zeros((1, features.shape[1]))
    found[0, 0] = 1.0
    return found
