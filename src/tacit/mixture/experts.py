"""Mixture of linear experts: p(y | x) = Σ_k g_k(x) N(y | β_k·[1, x], σ_k²), a gate handing regions of x to lines."""

import numbers
import warnings
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import as_numpy, check_number, check_range
from ..declared import SQUARES, Numbers
from .conditional import ConditionalMixture, check_levels
from .expert_families import LinearExperts, LinearParams
from .experts_estimator import ExpertsEstimator
from .experts_model import Frame

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
    n_init, random_state, warm_start, verbose, verbose_interval, convergence, accelerate, n_jobs, callback
        As in :class:`GaussianMixture`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_features) or (n_components, n_outputs, n_features)
    intercept_, noise_variance_ : ndarray of shape (n_components,) or (n_components, n_outputs)
    gate_coef_ : ndarray of shape (n_components, n_features)
        Zero for a constant gate.
    gate_intercept_ : ndarray of shape (n_components,)
    weights_ : ndarray of shape (n_components,)
        The average of the gate over the rows; for a constant gate its value.
    lower_bound_ : float
        Log-likelihood plus log prior, per row, at the last step.
    lower_bounds_ : list of float
        The same after every step.
    converged_, n_iter_, fit_, n_features_in_, feature_names_in_
        As in :class:`GaussianMixture`.

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
        "noise_variance_": Numbers("K | K m", above=0, high=SQUARES),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("noise_floor", self.noise_floor, numbers.Real, 1e-12)

    def _experts(self) -> LinearExperts:
        return LinearExperts(self.noise_floor)

    def _targets(self, y: Any, *, reset: bool = False) -> np.ndarray:
        Y = check_array(as_numpy(y), dtype=np.float64, ensure_2d=False, input_name="y")
        if reset:
            self._one_target = Y.ndim == 1
        columns = Y.reshape(len(Y), -1)
        if reset:
            check_range(columns, told=lambda column: f"{column} of y")
        if not reset and columns.shape[1] != self._n_targets:
            raise ValueError(f"y has {columns.shape[1]} columns, but {self._n_targets} were seen at fit.")
        return columns

    @property
    def _n_targets(self) -> int:
        return 1 if self.coef_.ndim == 2 else self.coef_.shape[1]

    def _review(self, frame: Frame) -> None:
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

    def _publish_experts(self, params: LinearParams) -> None:
        if self._one_target:
            params = params.map(lambda value: value[:, 0])
        self.intercept_, self.coef_, self.noise_variance_ = params.coef[..., 0], params.coef[..., 1:], params.variance

    def _expert_params(self) -> LinearParams:
        shape = (len(self.coef_), self._n_targets)
        coef = np.concatenate([self.intercept_.reshape(*shape, 1), self.coef_.reshape(*shape, -1)], axis=2)
        return LinearParams(coef, self.noise_variance_.reshape(shape))

    # Prediction

    def _conditional(self, X: Any) -> ConditionalMixture:
        """The distribution of the targets given the features, for every row."""
        check_is_fitted(self)
        X, experts = self._validate(X, reset=False), self._expert_params()
        means = np.einsum("nj,kmj->nkm", X, experts.coef[:, :, 1:]) + experts.coef[:, :, 0]
        covariances = experts.variance[:, :, None] * np.eye(self._n_targets)
        return ConditionalMixture(self._gate_of(X), means, covariances[None], np.zeros(len(X), dtype=np.intp))

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self.coef_.ndim == 2 else values

    def predict(self, X: Any, return_std: bool = False) -> Any:
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
        found = self._conditional(X)
        mean = self._shaped(found.mean)
        return (mean, self._shaped(found.std)) if return_std else mean

    def predict_experts(self, X: Any) -> np.ndarray:
        """Mean of y given x and the expert, of shape (n_samples, n_components) or (n_samples, n_outputs, n_components)."""
        return self._shaped(self._conditional(X).means.swapaxes(1, 2))

    def predict_variance(self, X: Any) -> np.ndarray:
        """Variance of y given x: noise, and disagreement of the experts."""
        return self._shaped(self._conditional(X).variance)

    def quantile(self, X: Any, q: Any) -> np.ndarray:
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
        levels = check_levels("q", q)
        every = self._conditional(X).quantile(np.ravel(levels))
        return self._shaped(np.moveaxis(every, 0, -1) if levels.ndim else every[0])

    def sample(self, X: Any, random_state: Any = None) -> np.ndarray:
        """Draw y for every row of X, (n_samples,) or (n_samples, n_outputs)."""
        return self._shaped(self._conditional(X).sample(1, random_state)[0])
