"""Mixture of experts: p(y | x) = Σ_k g_k(x) p(y | β_k·[1, x], φ_k), a gate handing regions of x to regressions."""

import numbers
import warnings
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import as_numpy, check_choice, check_number, check_range
from ..declared import SQUARES, Numbers
from .conditional import ConditionalMixture, check_levels
from .expert_families import LinearExperts, LinearParams
from .expert_glm import GLMS, GLMConditional
from .experts_estimator import ExpertsEstimator
from .experts_model import Frame

__all__ = ["MixtureOfExperts"]


@settings
class MixtureOfExperts(RegressorMixin, ExpertsEstimator):
    """Regressions, each responsible where a gate says so: p(y | x) = Σ_k g_k(x) p(y | β_k·[1, x], φ_k).

    Linear by default, or generalised linear (`family`). With one expert, a regression. With ``gate="constant"``, a mixture of
    regressions (switching regression), as R's flexmix fits.

    Features may be categories, which become indicators of their levels but the first (``terms_``). Where features are missing, a
    mixture of the features is learned, and the likelihood of y is averaged over draws of what is missing given what is observed;
    that is sound where features are missing at random given the observed ones.

    Parameters
    ----------
    n_components : int, default=2
        Number of experts.
    gate : {"softmax", "constant", "equal"}, default="softmax"
        Whether the probabilities of the experts depend on x, g = softmax(V·[1, x]), are the same everywhere, or are all equal.
    gate_columns, expert_columns : list of int or str, optional
        The features that the gate, and the experts, depend on, by number or name; default all.
    family : {"gaussian", "poisson", "binomial", "gamma"}, default="gaussian"
        The law of y given x and the expert: a line with noise; counts with a log link; 0 and 1, or columns of successes and
        failures, with a logit link (predictions are probabilities of success); positive quantities with a log link.
    equal_variances : bool, default=False
        Whether all experts have the same noise variance, or dispersion.
    n_draws : int, default=100
        Draws of the missing features of a row; more are needed where y tells a missing feature more precisely than the others do.
    alpha : float, default=1e-4
        Precision of a Gaussian prior on the gate's coefficients for features of mean 0 and variance 1, and on those of experts
        that are not Gaussian. It is part of the objective and keeps a gate finite where the experts' regions do not overlap.
    noise_floor : float, default=1e-4
        Smallest noise variance of an expert, relative to the variance of y; smallest dispersion of a gamma expert. A constraint,
        not an addition: where it is idle, estimates are those of maximum likelihood. Lower it where y is more precise than that;
        with much lower ones, lines through a few rows have the largest likelihood.
    tol : float, default=1e-6
        The fit has converged when the objective gains less than this per row.
    max_iter : int, default=500
        Most EM steps of a start.
    n_init, random_state, warm_start, verbose, verbose_interval, convergence, accelerate, n_jobs, device, callback
        As in :class:`GaussianMixture`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components, n_terms) or (n_components, n_outputs, n_terms)
        Zero for features that the experts do not depend on.
    intercept_ : ndarray of shape (n_components,) or (n_components, n_outputs)
    noise_variance_ : ndarray of shape (n_components,) or (n_components, n_outputs)
        Of gamma experts the dispersion φ, var[y | x] = φ E[y | x]²; of Poisson and binomial ones 1.
    terms_ : list of str
        What the coefficients belong to: features, or levels of features that are categories.
    features_ : Mixture or None
        The mixture of the features that missing ones are drawn from.
    schema_ : tacit.schema.Schema or None
        Kinds and levels of the features, where any is a category.
    gate_coef_ : ndarray of shape (n_components, n_terms)
        Zero for a constant gate, and for features that the gate does not depend on.
    gate_intercept_ : ndarray of shape (n_components,)
    weights_ : ndarray of shape (n_components,)
        The average of the gate over the rows, or units; for a constant gate its value.
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
    Grün and Leisch (2008), FlexMix version 2: finite mixtures with concomitant variables and varying and constant parameters.

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
    family: str = "gaussian"
    equal_variances: bool = False
    noise_floor: float = 1e-4

    _saved = ExpertsEstimator._saved | {
        "coef_": Numbers("K p | K m p"),
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
        check_choice("family", self.family, ("gaussian", *GLMS))
        if not isinstance(self.equal_variances, (bool, np.bool_)):
            raise ValueError(f"equal_variances={self.equal_variances!r} is neither True nor False.")

    def _experts(self) -> Any:
        if self.family == "gaussian":
            return LinearExperts(self.noise_floor, self.equal_variances)
        return GLMS[self.family](self.alpha, self.noise_floor, self.equal_variances)

    def _targets(self, y: Any, *, reset: bool = False) -> np.ndarray:
        Y = check_array(as_numpy(y), dtype=np.float64, ensure_2d=False, input_name="y")
        if reset:
            self._one_target = Y.ndim == 1
        columns = Y.reshape(len(Y), -1)
        if reset:
            check_range(columns, told=lambda column: f"{column} of y")
        if self.family != "gaussian":
            self._one_target = True
            return self._experts().columns(columns)
        if not reset and columns.shape[1] != self._n_targets:
            raise ValueError(f"y has {columns.shape[1]} columns, but {self._n_targets} were seen at fit.")
        return columns

    @property
    def _n_targets(self) -> int:
        return 1 if self.coef_.ndim == 2 else self.coef_.shape[1]

    def _review(self, frame: Frame) -> None:
        super()._review(frame)
        noise = self.noise_variance_.reshape(self.n_components, -1)
        if self.family in ("poisson", "binomial"):
            return
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

    def _expert_parameters(self) -> dict[str, np.ndarray]:
        dispersed = {} if self.family in ("poisson", "binomial") else {"noise_variance_": self.noise_variance_}
        return super()._expert_parameters() | dispersed

    def _expert_params(self) -> LinearParams:
        shape = (len(self.coef_), self._n_targets)
        coef = np.concatenate([self.intercept_.reshape(*shape, 1), self.coef_.reshape(*shape, -1)], axis=2)
        return LinearParams(coef, self.noise_variance_.reshape(shape))

    # Prediction

    def _conditional(self, X: Any) -> Any:
        """The distribution of the targets given the features, for every row."""
        check_is_fitted(self)
        draws, experts = self._feature_draws(X), self._expert_params()
        gates = [self._gate_of(features) for features in draws]
        lines = [np.einsum("nj,kmj->nkm", each, experts.coef[:, :, 1:]) + experts.coef[:, :, 0] for each in draws]
        if self.family != "gaussian":
            law, dispersion = self._experts(), np.tile(experts.variance[:, 0], len(draws))
            return GLMConditional(
                law, np.hstack(gates) / len(draws), law.mean(np.concatenate(lines, axis=1)), dispersion
            )
        covariances = (experts.variance[:, :, None] * np.eye(self._n_targets))[None]
        group = np.zeros(len(draws[0]), dtype=np.intp)
        return ConditionalMixture.pooled([ConditionalMixture(*each, covariances, group) for each in zip(gates, lines)])

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
        means = self._conditional(X).means  # where features are missing, of every expert under every draw of them
        means = means.reshape(len(means), -1, self.n_components, means.shape[2]).mean(axis=1)
        return self._shaped(means.swapaxes(1, 2))

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
