"""`MatrixFactorization`: ratings explained by biases and factors, with what is known of each."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, Self

from ...base import EMEstimator
from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_number, check_positive
from ...declared import SQUARES, Numbers
from ..base import Recommender
from ..ratings import as_ratings
from .folding import fold_in
from .learning import FactorLearning

__all__ = ["MatrixFactorization"]

VARIANCE: dict[str, Any] = {"above": 0.0, "high": SQUARES}
RESPONSES = ("gaussian", "ordinal", "implicit")


@settings
class MatrixFactorization(FactorLearning):
    """Ratings as μ + bias of the user + bias of the item + factors of the user · factors of the item, plus noise.

    Every prediction has a standard deviation. By default nothing needs to be tuned: how strongly biases and factors are held
    back, and how large the noise of each user is, is learned from the ratings.

    Parameters
    ----------
    n_components : int, default=20
        Factors. Under variational Bayes too many do little harm: those that the ratings do not support shrink.
    inference : {"vb", "map"}, default="vb"
        ``vb``: variational Bayes, a mean and a covariance for every user and item. ``map``: alternating ridge regressions,
        whose intervals hold somewhat less than they say where λ is given.
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
