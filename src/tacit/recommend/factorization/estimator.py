"""`MatrixFactorization`: ratings explained by biases and factors, with what is known of each."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np

from ...base import EMEstimator
from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_number, check_positive
from ...declared import SQUARES, Numbers
from ...source import Block
from ..base import Recommender
from ..ratings import Ratings, as_ratings
from .answers import FactorAnswers
from .drift import DriftingResponse, edges_of, periods_of
from .folding import fold_in
from .model import FactorModel, FactorParams
from .priors import SidePrior, Users, Vectors
from .responses import GaussianResponse, ImplicitResponse, OrdinalResponse
from .source import SINGLE, RatingSource

__all__ = ["MatrixFactorization"]

VARIANCE: dict[str, Any] = {"above": 0.0, "high": SQUARES}
RESPONSES = ("gaussian", "ordinal", "implicit")
MANY = 100
"""Factors from which on points are found by conjugate gradients."""
STEPS = 3


@settings
class MatrixFactorization(FactorAnswers, EMEstimator):
    """Ratings as μ + bias of the user + bias of the item + factors of the user · factors of the item, plus noise.

    Every prediction has a standard deviation. By default nothing needs to be tuned: how strongly biases and factors are held
    back, and how large the noise of each user is, is learned from the ratings.

    Parameters
    ----------
    n_components : int, default=20
        Factors. Under variational Bayes too many do little harm: those that the ratings do not support shrink.
    inference : {"vb", "map"}, default="vb"
        ``vb``: variational Bayes, a mean and a covariance for every user and item. ``map``: alternating ridge regressions.
    response : {"gaussian", "ordinal", "implicit"}, default="gaussian"
        What ratings are: measurements; levels of a scale, by a cumulative probit model; or strengths of events such as purchases,
        where cells that are not stored count as 0 with little weight.
    regularization : "learn" or float, default="learn"
        Prior precisions, learned by variational Bayes, also for ``map``; or λ, what squares of biases and factors are charged
        with (``map`` only). 0 is maximum likelihood, for which every user and item needs more ratings than it has unknowns.
    noise : {"user", "constant"}, default="user"
        Whether users differ in how consistent they are (Gaussian ratings, variational Bayes).
    alpha : float, default=1
        Weight of an event of strength r beyond that of none: 1 + α r.
    biases : bool, default=True
        Whether users and items have biases.
    periods : int, optional
        Periods of time, of about equally many ratings, between which biases of items drift (Gaussian ratings with times).
        Predictions are for the last period, unless pairs are `Ratings` with times.
    solver : {"auto", "cholesky", "cg"}, default="auto"
        How ridge regressions of ``map`` are solved; ``auto`` takes conjugate gradients from 100 factors on.
    device : str, optional
        A device of PyTorch that sweeps run on, such as ``"cuda"``; default this machine's cores.
    tol : float, default=1e-4
        A fit ends when the objective improves by less per rating.
    max_iter : int, default=200
        Sweeps at most.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the factors at the start.
    warm_start : bool, default=False
        Whether a fit begins where the last one ended, for the items that both have.
    verbose, verbose_interval : int
        How much to print, and after how many sweeps.
    callback : callable, optional
        Called with the progress after every sweep.

    Attributes
    ----------
    users_, items_ : ndarray
        Ids.
    mean_ : float
        μ, the mean of all ratings; 0 for other responses than Gaussian.
    user_bias_, item_bias_ : ndarray of shape (n_users,) and (n_items,)
    user_factors_, item_factors_ : ndarray of shape (n_users, n_components) and (n_items, n_components)
    user_spread_, item_spread_ : ndarray of shape (n, (n_components + 1)(n_components + 2) / 2)
        Covariances of (bias, factors), lower triangles by rows.
    noise_variance_ : float
        σ² of a user of average consistency.
    user_consistency_ : ndarray of shape (n_users,)
        τ: the noise of a user's ratings has the variance σ² / τ.
    thresholds_ : ndarray
        Of ordinal ratings.
    item_drift_, item_drift_variance_ : ndarray of shape (n_items, periods)
        What items gain in each period, and its variances.
    period_edges_ : ndarray of shape (periods − 1,)
        Times between periods.
    user_precision_, item_precision_, user_link_, item_link_
        Priors: precisions, and how means of vectors depend on features (the first row is the mean of all).
    user_selection_, item_selection_ : ndarray of shape (n_components + 1,)
        By how much vectors behind ratings are above their prior's mean: what is rated often is not average. Users and items
        without ratings are predicted with it, since a rating of theirs is asked for.
    fit_ : Fit
        The objective after every sweep, and why the fit stopped.

    References
    ----------
    Salakhutdinov and Mnih (2008), Probabilistic matrix factorization. Lim and Teh (2007), Variational Bayesian approach to movie
    rating prediction. Koren, Bell and Volinsky (2009), Matrix factorization techniques for recommender systems. Hu, Koren and
    Volinsky (2008), Collaborative filtering for implicit feedback datasets.

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
    response: str = "gaussian"
    regularization: Any = "learn"
    noise: str = "user"
    alpha: float = 1.0
    biases: bool = True
    periods: int | None = None
    solver: str = "auto"
    device: str | None = None
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
        "user_spread_": Numbers("n S", high=SQUARES),
        "item_spread_": Numbers("d S", high=SQUARES),
        "item_log_det_": Numbers(high=SQUARES),
        "noise_variance_": Numbers(**VARIANCE),
        "user_consistency_": Numbers("n", **VARIANCE),
        "freedom_": Numbers(above=0),
        "thresholds_": Numbers("t"),
        "item_drift_": Numbers("d T"),
        "item_drift_variance_": Numbers("d T", low=0, high=SQUARES),
        "drift_variance_": Numbers(low=0, high=SQUARES),
        "period_edges_": Numbers("e"),
        "user_precision_": Numbers("q q", form="definite"),
        "item_precision_": Numbers("q q", form="definite"),
        "user_link_": Numbers("p q"),
        "item_link_": Numbers("r q"),
        "user_selection_": Numbers("q"),
        "item_selection_": Numbers("q"),
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
        check_choice("response", self.response, RESPONSES)
        check_choice("noise", self.noise, ("user", "constant"))
        check_choice("solver", self.solver, ("auto", "cholesky", "cg"))
        check_positive("alpha", self.alpha)
        check_number("periods", self.periods, numbers.Integral, 2, also=(None,))
        if self.periods is not None and self.response != "gaussian":
            raise ValueError(f"periods={self.periods} is for response='gaussian', not {self.response!r}.")
        if self.regularization != "learn":
            check_number("regularization", self.regularization, numbers.Real, 0)
            if self.inference == "vb":
                raise ValueError(
                    f"regularization={self.regularization!r} cannot be given for inference='vb', which learns it; use "
                    "inference='map' or regularization='learn'."
                )

    @property
    def _scaled(self) -> bool:
        return self.regularization != "learn"

    def _model(self) -> FactorModel:
        points = self.inference == "map"
        many = self.solver == "cg" or (self.solver == "auto" and self.n_components >= MANY)
        bias, factor = (float(self.regularization),) * 2 if self._scaled else (5.0, 10.0)
        return FactorModel(
            self.n_components, uncertain=(not points,) * 2, learns=not points, user_features=self.user_features_,
            item_features=self.item_features_, response=self._response(), uneven=self.noise == "user" and not points,
            precision=(bias, factor), kind=np.float32 if self.seen_.nnz > SINGLE else np.float64,
            n_steps=STEPS if many and points else 0, given=self._given(), biases=self.biases, device=self.device,
        )  # fmt: skip

    def _response(self) -> Any:
        if self.response == "implicit":
            return ImplicitResponse(self.alpha)
        if self.response == "ordinal":
            found, counts = np.unique(self.seen_.data, return_counts=True)
            return OrdinalResponse(found, counts)
        data = self.seen_.data  # which may lie in a file, so that nothing of its size is made
        told = self.mean_, float(max(np.vdot(data, data) / max(len(data), 1) - self.mean_**2, 0.0)), not self._scaled
        return (
            GaussianResponse(*told)
            if self.periods is None
            else DriftingResponse(*told, (len(self.items_), self.periods))
        )

    def _given(self) -> Any:
        """σ² and priors that were learned before, for points."""
        if self._scaled or self.inference == "vb" or not hasattr(self, "user_precision_"):
            return None
        return self.noise_variance_, *self._priors()

    def _priors(self) -> list[SidePrior]:
        names = "precision", "link", "penalty"
        return [SidePrior(*(getattr(self, f"{side}_{name}_") for name in names)) for side in ("user", "item")]

    def _start(self, model: Any, task: Any) -> FactorParams:
        return model.init(task.sample, task.rng)

    # Learning

    def fit(  # type: ignore[override]
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

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take up more ratings without learning anew: users and items with new ratings get other vectors, new ones their first.

        Priors, noise and all other vectors stay as they are. A pair that was rated before has the new rating.

        Parameters
        ----------
        X : Ratings, table, path or sparse matrix
            Ratings, as in `fit`.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        if not hasattr(self, "users_"):
            return self.fit(X)
        self._check_settings()
        if self.periods is not None:
            raise ValueError(
                f"periods={self.periods}: biases drift, so that new ratings change all of them; fit again."
            )
        fold_in(self, as_ratings(X))
        return self

    def _know(self, ratings: Ratings) -> None:
        super()._know(ratings)
        self._check_ratings()
        if self.response != "gaussian":
            self.mean_ = 0.0
        if self.response == "implicit":
            self.scale_, self.levels_ = (0.0, 1.0), None

    def _check_ratings(self) -> None:
        """Raise where ratings are not what the response takes."""
        if self.response == "implicit" and len(self.seen_.data) and self.seen_.data.min() <= 0:
            raise ValueError(
                f"response='implicit' takes strengths of events above 0, but a rating is {self.seen_.data.min():g}; leave out "
                "rows without an event."
            )
        if self.response == "ordinal" and (self.levels_ is None or len(self.levels_) < 2):
            told = "too many distinct values" if self.levels_ is None else "a single value"
            raise ValueError(f"response='ordinal' takes levels of a scale, but ratings have {told}; use 'gaussian'.")

    def _learn_ratings(self, ratings: Ratings, **along: Any) -> None:  # type: ignore[override]
        self.user_features_ = features_in(along.pop("user_features", None), ratings.users, "user")
        self.item_features_ = features_in(along.pop("item_features", None), ratings.items, "item")
        self._check_determined()
        source = RatingSource(ratings, self._period(ratings), device=self.device, n_jobs=self.n_jobs)
        if self.inference == "map" and not self._scaled:
            self._learn_priors(source)
        self._learn(source, **along)

    def _period(self, ratings: Ratings) -> Any:
        """What tells periods of times, where biases drift."""
        self.period_edges_ = np.zeros(0)
        if self.periods is None:
            return None
        if ratings.time is None:
            raise ValueError(
                f"periods={self.periods} needs the times of ratings; name their column, time=…, in Ratings.read."
            )
        self.period_edges_ = edges_of(ratings.time, self.periods)
        return partial(periods_of, edges=self.period_edges_)

    def _learn_priors(self, source: RatingSource) -> None:
        """σ² and priors by variational Bayes, for points."""
        found = self.__class__(**self.get_params() | {"inference": "vb", "warm_start": False, "noise": "constant"})
        known = {*Recommender._saved, "user_features_", "item_features_"} - {"feature_names_in_"}
        found.__dict__.update({name: getattr(self, name) for name in known})
        found._learn(source)
        for name in (
            "noise_variance_",
            *(f"{side}_{what}_" for side in ("user", "item") for what in ("precision", "link", "penalty")),
        ):
            setattr(self, name, getattr(found, name))

    def _check_determined(self) -> None:
        """Raise where maximum likelihood has no unique solution."""
        if not self._scaled or self.regularization > 0:
            return
        q, seen = self.n_components + 1, np.diff(self.seen_.indptr)
        for what, ids, counts in (("user", self.users_, seen), ("item", self.items_, self.item_counts_)):
            few = np.flatnonzero(counts < q)
            if len(few):
                who, n = ids.tolist()[few[0]], counts[few[0]]
                raise ValueError(
                    f"regularization=0 leaves vectors undetermined: {what} {who!r} has {n} ratings for a bias "
                    f"and {self.n_components} factors, and {len(few) - 1} more have too few as well. Use regularization > 0 or "
                    "'learn', or fewer factors. Even where all are determined, factors are so only up to an invertible matrix."
                )

    def _publish(self, params: FactorParams, dtype: np.dtype) -> None:
        self.item_bias_, self.item_factors_ = params.vectors.mean[:, 0].copy(), params.vectors.mean[:, 1:].copy()
        self.item_spread_, self.item_log_det_ = params.vectors.spread, float(params.log_det)
        self.noise_variance_, self.freedom_ = float(params.noise), float(params.freedom)
        self.thresholds_ = params.response if self.response == "ordinal" else np.zeros(0)
        self.drift_variance_, self.item_drift_ = 0.0, np.zeros((len(params.vectors.mean), 0))
        self.item_drift_variance_ = self.item_drift_
        if self.periods is not None:
            told = self._response().parts(params)
            self.drift_variance_, self.item_drift_, self.item_drift_variance_ = told
        for side, prior in (("user", params.user_prior), ("item", params.item_prior)):
            for name, value in zip(
                ("precision", "link", "penalty"), (prior.precision, prior.coefficients, prior.penalty)
            ):
                setattr(self, f"{side}_{name}_", value)

    def _keep(self, source: Any) -> None:
        """Users at the items that were found last, and covariances of both sides."""
        model, params = self._model(), self.fit_.params
        users = Users.concatenate([self._solved(model, params, block) for block in source])
        spread = params.vectors.spread
        if self.inference == "map":
            blank = replace(params, vectors=Vectors(params.vectors.mean, model.isotropic(len(self.items_), True)))
            spread = model.with_items(source, blank, replace(users, spread=users.spread[:, :0])).vectors.spread
        if self._scaled:
            self._estimate_noise(users, params.vectors)
        scale = self.noise_variance_ if self._scaled else 1.0
        self.user_spread_, self.item_spread_ = users.spread * scale, spread * scale
        self.user_bias_, self.user_factors_ = users.mean[:, 0].copy(), users.mean[:, 1:].copy()
        self.user_consistency_ = users.steady[:, 0].copy()
        self._online = None  # `partial_fit` goes on from vectors, not from sums
        self.user_selection_, self.item_selection_ = self._selection("user"), self._selection("item")
        source.remember(None)

    def _selection(self, side: str) -> np.ndarray:
        """By how much vectors behind ratings are above their prior's mean: items that are rated often are not average."""
        seen = np.diff(self.seen_.indptr) if side == "user" else self.item_counts_
        mean = np.column_stack([getattr(self, f"{side}_bias_"), getattr(self, f"{side}_factors_")])
        above = mean - getattr(self, f"{side}_features_") @ getattr(self, f"{side}_link_")
        return seen @ above / max(seen.sum(), 1)

    def _solved(self, model: FactorModel, params: FactorParams, block: Block) -> Users:
        """Users with covariances, given the items; how consistent they are stays as it was."""
        known: Any = model.memory(block) if block.memory is None else block.memory
        users = Users(known.mean.copy(), model.isotropic(len(block), True), known.steady)
        features = self.user_features_[block.first : block.first + len(block)]
        rows: Any = block.X
        model.solve(params, rows, users, params.vectors, params.user_prior, features, users.steady[:, 0])
        return users

    def _estimate_noise(self, users: Users, items: Vectors) -> None:
        """σ² where λ is given: the squared errors over the ratings less what was fitted, by users and as much by items."""
        user = np.repeat(np.arange(len(self.users_)), np.diff(self.seen_.indptr))
        wrong = self.seen_.data - self._sums(users.mean, user, items.mean, self.seen_.indices)
        fitted = users.mean.size - self.regularization * np.trace(users.moments()[1])
        left = max(self.seen_.nnz - 2.0 * fitted, 0.1 * self.seen_.nnz)
        self.noise_variance_ = float(max(wrong @ wrong / left, 1e-12))

    def _params(self) -> FactorParams:
        spread = self.item_spread_ if self.inference == "vb" else self.item_spread_[:, :0]
        vectors = Vectors(np.column_stack([self.item_bias_, self.item_factors_]), spread)
        noise = 1.0 if self._scaled else self.noise_variance_
        response = self.thresholds_
        if self.periods is not None:
            drift = self.item_drift_, self.item_drift_variance_
            response = np.concatenate([[self.drift_variance_], *(each.ravel() for each in drift)])
        along = self.mean_, noise, self.freedom_, response, vectors, self.item_log_det_
        return FactorParams(*along, *self._priors())


def features_in(features: Any, ids: np.ndarray, what: str) -> np.ndarray:
    """Features of ids with a column of ones before them."""
    if features is None:
        return np.ones((len(ids), 1))
    if not (isinstance(features, np.ndarray) or hasattr(features, "tocsr")) or features.ndim != 2:
        from ..features import features_of

        features = features_of(features, ids, what).matrix
    matrix = features.toarray() if hasattr(features, "toarray") else np.asarray(features, dtype=float)
    if len(matrix) != len(ids):
        raise ValueError(
            f"{what}_features has {len(matrix)} rows, but there are {len(ids)} {what}s; give a table with ids."
        )
    return np.hstack([np.ones((len(ids), 1)), matrix])
