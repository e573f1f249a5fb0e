"""Mixture of linear experts: p(y | x) = Σ_k g_k(x) N(y | β_k·[1, x], σ_k²), a gate handing regions of x to lines."""

import numbers
import warnings

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import check_number
from ..declared import Numbers
from ..families.laws import NormalLaw
from .expert_families import LinearExperts, LinearParams
from .experts_estimator import ExpertsEstimator

__all__ = ["MixtureOfExperts"]


@settings
class MixtureOfExperts(RegressorMixin, ExpertsEstimator):
    """Linear regressions, each responsible where a gate says so: p(y | x) = Σ_k g_k(x) N(y | β_k·[1, x], σ_k²).

    With one expert, least squares. With ``gate="constant"``, a mixture of regressions (switching regression).

    Parameters
    ----------
    n_components : int, default=2
        Number of experts.
    gate : {"softmax", "constant"}, default="softmax"
        Whether the probabilities of the experts depend on x, g = softmax(V·[1, x]), or are the same everywhere.
    alpha : float, default=1e-4
        Precision of a Gaussian prior on the gate's coefficients for features of mean 0 and variance 1. It is part of the
        objective and keeps a gate finite where the experts' regions do not overlap.
    noise_floor : float, default=1e-4
        Smallest noise variance of an expert, relative to the variance of y. A constraint, not an addition: where it is
        idle, estimates are those of maximum likelihood. Lower it where y is more precise than that; with much lower ones,
        lines through a few rows have the largest likelihood.
    tol : float, default=1e-6
        The fit has converged when the objective gains less than this per row.
    max_iter : int, default=500
        Most EM steps of a start.
    n_init : int, default=1
        Number of starts; the best is kept. Each is already the best of several short runs.
    random_state : int, RandomState instance or None, default=None
        Seeds the starts. Results do not depend on the number of threads.
    warm_start : bool, default=False
        Continue from the last fit.
    verbose : int, default=0
        Print progress lines.
    verbose_interval : int, default=10
        Steps between lines.
    convergence : {"relative", "aitken"}, default="relative"
        Stop when a step gains less than `tol` per row, or when the limit extrapolated from the last steps is closer.
    accelerate : {"auto", "anderson", "squarem", None}, default="auto"
        Take fewer steps by extrapolating them; ``auto`` does so only where steps gain little each.
    n_jobs : int, optional
        Threads; default all cores.
    callback : callable, optional
        Called with a :class:`tacit.engine.Progress` after every step.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_features) or (n_components, n_outputs, n_features)
    intercept_, noise_variance_ : ndarray of shape (n_components,) or (n_components, n_outputs)
    gate_coef_ : ndarray of shape (n_components, n_features)
        Zero for a constant gate.
    gate_intercept_ : ndarray of shape (n_components,)
    weights_ : ndarray of shape (n_components,)
        The average of the gate over the rows; for a constant gate its value.
    converged_ : bool
    n_iter_ : int
        Steps of the best start.
    lower_bound_ : float
        Log-likelihood plus log prior, per row, at the last step.
    lower_bounds_ : list of float
        The same after every step.
    fit_ : tacit.engine.Fit
        Parameters, trace, the reason the fit stopped, and what became of failed starts.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Jacobs, Jordan, Nowlan and Hinton (1991), Adaptive mixtures of local experts.
    Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm.
    Hurn, Justel and Robert (2003), Estimating mixtures of regressions.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import MixtureOfExperts
    >>> X = np.linspace(-2, 2, 200)[:, None]
    >>> y = np.abs(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=200)
    >>> model = MixtureOfExperts(2, random_state=0).fit(X, y)
    >>> np.sort(model.coef_[:, 0]).round(1)
    array([-1.,  1.])
    """

    _: KW_ONLY
    noise_floor: float = 1e-4

    _saved = ExpertsEstimator._saved | {
        "coef_": Numbers("K d | K m d"),
        "intercept_": Numbers("K | K m"),
        "noise_variance_": Numbers("K | K m", low=0),
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _check_settings(self):
        super()._check_settings()
        check_number("noise_floor", self.noise_floor, numbers.Real, 1e-12)

    def _experts(self):
        return LinearExperts(self.noise_floor)

    def _targets(self, y, *, reset=False):
        Y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        if reset:
            self._one_target = Y.ndim == 1
        columns = Y.reshape(len(Y), -1)
        if not reset and columns.shape[1] != self._n_targets:
            raise ValueError(f"y has {columns.shape[1]} columns, but {self._n_targets} were seen at fit.")
        return columns

    @property
    def _n_targets(self):
        return 1 if self.coef_.ndim == 2 else self.coef_.shape[1]

    def _review(self, frame):
        super()._review(frame)
        noise = self.noise_variance_.reshape(self.n_components, -1)
        low = noise <= 1.001 * self.noise_floor * frame.target_scale**2
        if low.any():
            expert = int(low.any(axis=1).argmax())
            warnings.warn(
                f"the noise variance of expert {expert} is at its floor, {noise[expert][low[expert]][0]:.3g}: it passes "
                f"through its rows. Lower noise_floor={self.noise_floor:g} if y is that precise; else use fewer experts.",
                UserWarning,
                stacklevel=3,
            )

    def _publish_experts(self, params):
        if self._one_target:
            self.intercept_, self.coef_ = params.coef[:, 0, 0], params.coef[:, 0, 1:]
            self.noise_variance_ = params.variance[:, 0]
        else:
            self.intercept_, self.coef_ = params.coef[:, :, 0], params.coef[:, :, 1:]
            self.noise_variance_ = params.variance

    def _expert_params(self):
        shape = (len(self.coef_), self._n_targets)
        coef = np.concatenate([self.intercept_.reshape(*shape, 1), self.coef_.reshape(*shape, -1)], axis=2)
        return LinearParams(coef, self.noise_variance_.reshape(shape))

    # Prediction

    def _components(self, X):
        """Gate (rows, 1, experts), means and standard deviations (rows, targets, experts)."""
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        experts = self._expert_params()
        mean = np.einsum("nj,kmj->nmk", X, experts.coef[:, :, 1:]) + experts.coef[:, :, 0].T
        return self._gate_of(X)[:, None], mean, np.broadcast_to(np.sqrt(experts.variance).T, mean.shape)

    def _shaped(self, values):
        return values[:, 0] if self.coef_.ndim == 2 else values

    def predict(self, X, return_std=False):
        """Mean of y given x.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        return_std : bool, default=False
            Also return the standard deviation of y given x.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        std : ndarray of the same shape
            Only if `return_std`.
        """
        gate, mean, _ = self._components(X)
        average = self._shaped((gate * mean).sum(axis=2))
        return (average, np.sqrt(self.predict_variance(X))) if return_std else average

    def predict_experts(self, X):
        """Mean of y given x and the expert, of shape (n_samples, n_components) or (n_samples, n_outputs, n_components)."""
        return self._shaped(self._components(X)[1])

    def predict_variance(self, X):
        """Variance of y given x: noise, and disagreement of the experts."""
        gate, mean, std = self._components(X)
        apart = mean - (gate * mean).sum(axis=2, keepdims=True)
        return self._shaped((gate * (std**2 + apart**2)).sum(axis=2))

    def quantile(self, X, q):
        """Quantiles of y given x, one target at a time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        q : float or sequence of float
            Between 0 and 1, exclusive.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            For a sequence, with one more axis, the last, of its length.
        """
        levels = np.asarray(q, dtype=np.float64)
        outside = levels[~((levels > 0) & (levels < 1))]
        if outside.size:
            raise ValueError(
                f"q={outside.ravel()[0]:g} is no level of a quantile; use numbers between 0 and 1, exclusive."
            )
        gate, mean, std = self._components(X)
        n, m, k = mean.shape
        law, weight = (
            NormalLaw(mean.reshape(-1, k), std.reshape(-1, k) ** 2),
            np.broadcast_to(gate, mean.shape).reshape(-1, k),
        )
        every = [self._shaped(law.quantile(level, weight).reshape(n, m)) for level in levels.ravel()]
        return np.stack(every, axis=-1) if levels.ndim else every[0]

    def sample(self, X, random_state=None):
        """Draw y for every row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        _, mean, std = self._components(X)
        expert, rng = self._pick(X, random_state)
        rows = np.arange(len(expert))
        mean, std = mean[rows, :, expert], std[rows, :, expert]
        return self._shaped(rng.normal(mean, std))
