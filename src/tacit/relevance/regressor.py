"""Relevance vector regression: t = Σ_m w_m k(x, x_m) + b + noise, w_m ~ N(0, 1/α_m), each α_m learned, most of them infinite."""

import numbers
import warnings
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import stdtrit
from sklearn.base import RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..base.settings import KW_ONLY, settings
from ..checks import check_number
from ..declared import Numbers
from .estimator import RelevanceVectors
from .likelihoods import NumberTargets

__all__ = ["RelevanceVectorRegressor"]

FIRST_NOISE = 0.1  # share of the targets' variance
FOLDS, MANY = (
    5,
    1000,
)  # in which rows are left out to see how far off predictions are; rows beyond which one fold will do


@settings
class RelevanceVectorRegressor(RegressorMixin, RelevanceVectors):
    """Regression on kernels at a few of the rows, which the marginal likelihood chooses.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        A name of `sklearn.metrics.pairwise.pairwise_kernels`, "precomputed", or a function of two rows, which is compiled where
        numba can do it. It need not be positive definite.
    gamma : "scale", "auto" or float, default="scale"
        Of the named kernels that have it: 1 / (columns × variance of X), 1 / columns, or a number.
    degree, coef0 : float, default=3, 1
        Of the named kernels that have them.
    kernel_params : dict, optional
        Keyword arguments of a function.
    fit_intercept : bool, default=True
        Whether a constant is one of the functions.
    noise_variance : float, optional
        That of the noise; it is learned unless given.
    method : {"fast", "fixed_point"}, default="fast"
        How precisions are learned: one at a time (Tipping and Faul, 2003), or all from all on (Tipping, 2001).
    max_iter : int, default=3000
        Most steps.
    tol : float, default=1e-3
        The fit has settled when no step gains more than this, in nats; of the fixed point, when no log precision moves by more.
    n_jobs : int, optional
        Threads of kernels; default all cores.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_vectors,)
        Numbers of the rows that are relevance vectors.
    relevance_vectors_ : ndarray of shape (n_vectors, n_features)
    coef_ : ndarray of shape (n_vectors,)
        Mean weights.
    intercept_ : float
    alpha_, sigma_ : ndarray of shape (n_weights,), (n_weights, n_weights)
        Precisions of the weights' prior, and their posterior covariance; the constant's are last where it has a weight.
    noise_variance_ : float
    log_marginal_likelihood_, log_marginal_likelihoods_ : float, list
        At the end and after every step.
    unexplained_variance_ : float
        By how much squared deviations of rows that were left out exceed the variances told of them; see `predict_interval`.
    gamma_ : float
    n_iter_ : int
    reason_ : str
        Why the fit stopped.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Named kernels have one width for all columns: scale columns first, for example with ``make_pipeline(StandardScaler(), …)``.

    Far from all vectors the functions are 0, and so is what their weights add to the standard deviation: unlike a Gaussian
    process, the model is most certain where it has seen nothing. Do not extrapolate with local kernels.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine.
    Tipping and Faul (2003), Fast marginal likelihood maximisation for sparse Bayesian models.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.relevance import RelevanceVectorRegressor
    >>> x = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(x[:, 0] / np.pi) + np.random.default_rng(0).normal(0, 0.1, 100)
    >>> model = RelevanceVectorRegressor(gamma=0.1).fit(x, y)
    >>> mean, deviation = model.predict([[0.0]], return_std=True)
    >>> len(model.relevance_) < 12, bool(abs(mean[0] - 1.0) < 2 * deviation[0])
    (True, True)
    """

    _: KW_ONLY
    noise_variance: float | None = None

    _saved = RelevanceVectors._saved | {
        "noise_variance_": Numbers(low=0),
        "n_weight_": Numbers(low=0, needed=False),
        "unexplained_variance_": Numbers(low=0, beside=(np.inf,), needed=False),
    }

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("noise_variance", self.noise_variance, numbers.Real, np.finfo(float).tiny, also=(None,))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the relevance vectors and learn their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) kernel values
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 is a row given twice.
        """
        self._check_settings()
        targets = self._checked_targets(y)
        if not self._one_target:
            column_or_1d(targets[:, :1], warn=True)
        if targets.shape[1] > 1:
            raise ValueError(f"y has {targets.shape[1]} columns; a relevance vector regression has one target.")
        X = self._rows(X, reset=True)
        if len(targets) != len(X):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {len(X)} rows and y {len(targets)}."
            )
        weight, taken = self._counting(X, sample_weight)
        t, weight = targets[taken, 0], weight[taken]
        spread = float(weight @ (t - weight @ t / weight.sum()) ** 2 / weight.sum())
        first = FIRST_NOISE * spread if spread > 0 else 1e-6 * max(float(t[0] ** 2), 1e-6)
        noise = first if self.noise_variance is None else self.noise_variance
        learned = self._learn(X, taken, NumberTargets(t, weight, noise), self.noise_variance is None)
        self.noise_variance_ = float(learned.noise)
        self._seen, self.n_weight_ = (X[taken], t, weight, taken), float(weight.sum())
        self.__dict__.pop("unexplained_variance_", None)
        return self

    @cached_property
    def unexplained_variance_(self) -> float:
        """Mean square of deviations beyond what standard deviations told, of rows left out fold by fold.

        Learned when it is first asked for; rows are kept until then, and never written.
        """
        check_is_fitted(self)
        X, t, weight, taken = self.__dict__.pop("_seen")
        order, pairwise = np.random.default_rng(0).permutation(len(t)), self.__sklearn_tags__().input_tags.pairwise
        squares = total = 0.0
        for fold in range(1 if len(t) > MANY else FOLDS):
            out = order[fold::FOLDS]
            rest = np.setdiff1d(order, out)
            if not len(out) or len(rest) < 2:
                continue
            columns = (lambda rows, of: rows[:, taken[of]]) if pairwise else (lambda rows, of: rows)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = clone(self).fit(columns(X[rest], rest), t[rest], weight[rest])
            mean, deviation = model.predict(columns(X[out], rest), return_std=True)
            squares += float(weight[out] @ ((t[out] - mean) ** 2 - deviation**2))
            total += float(weight[out].sum())
        return max(squares / total, 0.0) if total else np.inf

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Mean of the targets of rows, with their standard deviations, noise included, where `return_std`."""
        values = self._values(X)
        mean = values[:, :-1] @ self.coef_ + self.intercept_
        if not return_std:
            return mean
        return mean, np.sqrt(self._spread(values)[:, 0, 0] + self.noise_variance_)

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Central intervals that hold the targets of rows with probability `level`.

        The standard deviations of `predict` take vectors and precisions for known, although they were chosen among as many as
        there are rows: of few rows they are far too small. Here `unexplained_variance_` is added to their squares.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_fitted) kernel values
        level : float, default=0.95
            Probability of the interval.

        Returns
        -------
        low, high : ndarray of shape (n_samples,)
        """
        if not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
            raise ValueError(f"level={level!r} is not a probability between 0 and 1, both excluded.")
        mean, deviation = self.predict(X, return_std=True)
        if not np.isfinite(self.unexplained_variance_) or self.n_weight_ <= 1.0:
            raise ValueError(
                f"an interval is not known: rows of total weight {self.n_weight_:g} are too few to leave any out; give 3 or more."
            )
        deviation = np.sqrt(deviation**2 + self.unexplained_variance_)
        reach = stdtrit(self.n_weight_ - 1.0, 0.5 + 0.5 * level) * deviation
        return mean - reach, mean + reach
