"""Bayesian Gaussian mixtures: weights, means and covariances have priors, and components that rows do not need fade away.

z ~ π,   x | z = k ~ N(μ_k, Λ_k⁻¹),   μ_k | Λ_k ~ N(m₀, (β₀ Λ_k)⁻¹),   Λ_k ~ Wishart(ν₀, V₀⁻¹),   π ~ Dirichlet or stick-breaking
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ..base import Task
from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_positive, check_shaped
from ..declared import SQUARES, Listed, Numbers, Spec
from ..engine import Trace, fit, short_runs
from ..engine.restarts import SAMPLE_ROWS
from ..families import DiagonalGaussian, FullGaussian, NormalInverseGamma, NormalInverseWishart
from ..source import Block, Source
from .gaussian_base import BaseGaussianMixture
from .model import MixtureModel, MixtureStats
from .variational import VariationalMixture, VariationalParams, VariationalPrior
from .weights import Dirichlet, Sticks

__all__ = ["BayesianGaussianMixture"]

WEIGHT_PRIORS = ("dirichlet_process", "dirichlet_distribution")
SCATTER = {"full": "d d", "tied": "d d", "diag": "d", "spherical": ""}
"""Shapes of the prior scatter."""


class Concentration(Spec):
    """What is believed of the weights: an array, or two in a tuple where they are stick-breaking."""

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        each = Numbers("K", above=0)
        process = owner.weight_concentration_prior_type == "dirichlet_process"
        (Listed(each, kind=tuple) if process else each).examine(name, value, sizes, owner)
        if process and len(value) != 2:
            raise ValueError(f"{name!r} has {len(value)} parts, not 2")


@settings
class BayesianGaussianMixture(BaseGaussianMixture):
    """Gaussian mixture learned by variational Bayes; takes missing cells, weights and partial labels.

    A drop-in for :class:`sklearn.mixture.BayesianGaussianMixture`: the same arguments, methods and attributes. Missing cells
    (NaN) are integrated out, at fit and at prediction. The number of components is an upper limit: those that the rows do not
    need end with hardly any weight.

    Parameters
    ----------
    n_components : int, default=1
        Largest number of components.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Shape of the components: each its own covariance, one shared by all, a variance per column, or a single variance.
    tol : float, default=1e-3
        The fit has converged when the lower bound of all rows together gains less than this: a component that fades away
        gains little per row.
    reg_covar : float, default=1e-6
        Smallest variance of a component in any direction, relative to the data's variance in each column. A floor, not
        an addition, and seldom reached, as the prior keeps covariances away from zero.
    max_iter, n_init, init_params
        As in :class:`tacit.mixture.GaussianMixture`.
    weight_concentration_prior_type : {"dirichlet_process", "dirichlet_distribution"}, default="dirichlet_process"
        Prior of the weights: stick-breaking, which prefers few large components, or a Dirichlet distribution.
    weight_concentration_prior : float, optional
        Concentration of that prior; the smaller, the fewer components. Default ``1 / n_components``.
    mean_precision_prior : float, optional
        The number of rows that the prior mean counts for. Default 1.
    mean_prior : array-like of shape (n_features,), optional
        Prior mean. Default the mean of X.
    degrees_of_freedom_prior : float, optional
        The number of rows that the prior covariance counts for, more than ``n_features - 1``. Default `n_features`.
    covariance_prior : float or array-like, optional
        Prior scatter, of the shape of one component's covariance. Default the covariance of X.
    random_state, warm_start, parameter_draws, verbose, verbose_interval, convergence, accelerate, n_jobs, device, callback
        As in :class:`tacit.mixture.GaussianMixture`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Expected weights.
    means_ : ndarray of shape (n_components, n_features)
        Expected means.
    covariances_, precisions_, precisions_cholesky_ : ndarray
        Expected precisions and their inverses, shaped as in :class:`tacit.mixture.GaussianMixture`.
    weight_concentration_ : ndarray of shape (n_components,), or a tuple of two
        Parameters of the Dirichlet distribution, or of the Beta distributions of stick-breaking.
    mean_precision_ : ndarray of shape (n_components,)
    degrees_of_freedom_ : ndarray of shape (n_components,), or a number for tied covariances
    weight_concentration_prior_, mean_precision_prior_, mean_prior_, degrees_of_freedom_prior_, covariance_prior_
        The priors that were used.
    lower_bound_ : float
        Lower bound of the log evidence at the last step; no constant is left out, so that settings can be compared.
    lower_bounds_ : list of float
        The same after every step.
    draws_, converged_, n_iter_, fit_, n_features_in_, feature_names_in_
        As in :class:`tacit.mixture.GaussianMixture`.

    Notes
    -----
    Weights of rows count as rows, so their scale matters: it is weighed against the prior. `score_samples` gives the expected
    log density of a row by its class under the beliefs, as scikit-learn does.

    References
    ----------
    Bishop (2006), Pattern Recognition and Machine Learning, section 10.2.
    Blei and Jordan (2006), Variational inference for Dirichlet process mixtures.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import BayesianGaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) + np.repeat([[0.0], [9.0], [18.0]], 100, axis=0)
    >>> X[::7, 0] = np.nan
    >>> mixture = BayesianGaussianMixture(8, random_state=0).fit(X)
    >>> int((mixture.weights_ > 0.05).sum())
    3
    """

    _: KW_ONLY
    weight_concentration_prior_type: str = "dirichlet_process"
    weight_concentration_prior: Any = None
    mean_precision_prior: Any = None
    mean_prior: Any = None
    degrees_of_freedom_prior: Any = None
    covariance_prior: Any = None

    _saved = BaseGaussianMixture._saved | {
        "weight_concentration_": Concentration(),
        "mean_precision_": Numbers("K", low=0),
        "degrees_of_freedom_": Numbers(lambda self: "" if self.covariance_type == "tied" else "K", low=0),
        "weight_concentration_prior_": Numbers(above=0),
        "mean_precision_prior_": Numbers(above=0),
        "mean_prior_": Numbers("d"),
        "degrees_of_freedom_prior_": Numbers(low=0),
        "covariance_prior_": Numbers(lambda self: SCATTER[self.covariance_type], form="definite", high=SQUARES),
    }
    _by_likelihood = False

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("covariance_type", self.covariance_type, ("full", "tied", "diag", "spherical"))
        check_choice("weight_concentration_prior_type", self.weight_concentration_prior_type, WEIGHT_PRIORS)
        for name in ("weight_concentration_prior", "mean_precision_prior", "degrees_of_freedom_prior"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))

    def _tol(self, task: Task) -> float:
        return self.tol / task.source.n_rows

    def _bounds(self, trace: Trace) -> list[float]:
        return list(trace.objectives)

    def _start(self, model: Any, task: Task) -> VariationalParams:
        """The best of short runs that occupy from one to all components: it takes many steps to empty a component."""
        sample, rng = task.sample, task.rng
        if model.one_start:
            return model.init(sample, rng)
        sizes = np.unique(np.geomspace(1, self.n_components, 8).round().astype(int))
        sizes = np.repeat(sizes, 4 if len(sample) <= 1000 else 2)
        draws = iter(sizes)
        return short_runs(
            model, sample, lambda: model.init(sample, rng, next(draws)), n_starts=len(sizes), taken=task.taken
        )

    # Priors

    def _prepare(self, source: Source) -> None:
        d = source.n_features
        concentration, precision = self.weight_concentration_prior, self.mean_precision_prior
        degrees = self.degrees_of_freedom_prior
        if degrees is not None and degrees <= d - 1:
            raise ValueError(
                f"The parameter 'degrees_of_freedom_prior' should be greater than {d - 1}, but got {degrees:.3f}."
            )
        self.weight_concentration_prior_ = 1.0 / self.n_components if concentration is None else concentration
        self.mean_precision_prior_ = 1.0 if precision is None else precision
        self.degrees_of_freedom_prior_ = d if degrees is None else degrees
        mean = None if self.mean_prior is None else check_shaped("means", self.mean_prior, (d,))
        covariance = None if self.covariance_prior is None else self._covariance_prior(d)
        if mean is None or covariance is None:
            found_mean, found_covariance = self._moments(source)
        self.mean_prior_ = found_mean if mean is None else mean
        self.covariance_prior_ = found_covariance if covariance is None else covariance

    def _covariance_prior(self, d: int) -> Any:
        """The user's prior covariance, checked."""
        value, kind = self.covariance_prior, self.covariance_type
        if kind == "spherical":
            check_positive("covariance_prior", value)
            return value
        dense = kind in ("full", "tied")
        value = check_shaped(f"{kind} covariance_prior", value, (d, d) if dense else (d,))
        if dense and not np.allclose(value, value.T):
            raise ValueError("covariance_prior is not symmetric; give a covariance matrix.")
        least = (np.linalg.eigvalsh(value) if dense else value).min()
        if least <= 0:
            raise ValueError(
                f"covariance_prior is not positive: its least {'eigenvalue' if dense else 'variance'} is {least:g}."
            )
        return value

    def _moments(self, source: Source) -> tuple[np.ndarray, Any]:
        """Mean and unbiased covariance of all rows, taken as one Gaussian with missing cells integrated out."""
        family = FullGaussian if self.covariance_type in ("full", "tied") else DiagonalGaussian
        model, rng = OneGaussian(family(floor=self.reg_covar), 1), np.random.default_rng(0)
        start = model.init(source.sample(SAMPLE_ROWS, rng), rng)
        learned = fit(model, source, start, max_iter=100, tol=1e-8, accelerate="anderson")
        if learned.interrupted:
            raise KeyboardInterrupt
        n, components = learned.trace.weight, learned.params.components
        covariance = components.covariance[0] * n / max(n - 1.0, 0.5 * n)
        return components.mean[0], float(covariance.mean()) if self.covariance_type == "spherical" else covariance

    def _weights(self, *beliefs: np.ndarray) -> Dirichlet | Sticks:
        return (
            Sticks(*beliefs) if self.weight_concentration_prior_type == "dirichlet_process" else Dirichlet(beliefs[-1])
        )

    def _model(self) -> VariationalMixture:
        k = self.n_components
        prior = VariationalPrior(
            self._weights(np.ones(k), np.full(k, float(self.weight_concentration_prior_))),
            float(self.mean_precision_prior_),
            np.asarray(self.mean_prior_, dtype=np.float64),
            float(self.degrees_of_freedom_prior_),
            np.asarray(self.covariance_prior_, dtype=np.float64),
        )
        return VariationalMixture(self._family(), k, prior, self.init_params, self._drawn())

    def _drawn(self) -> Any:
        """The family that parameters are drawn by: with the prior scatter where one was given, else as evidence chooses."""
        if self.covariance_prior is None:
            return self._family()
        mean, kappa, degrees = (
            self.mean_prior_,
            float(self.mean_precision_prior_),
            float(self.degrees_of_freedom_prior_),
        )
        if self.covariance_type in ("full", "tied"):
            prior: Any = NormalInverseWishart(mean, kappa, degrees, self.covariance_prior_)
        else:
            scale = np.broadcast_to(0.5 * np.asarray(self.covariance_prior_, dtype=np.float64), np.shape(mean))
            prior = NormalInverseGamma(mean, kappa, 0.5 * degrees, scale)
        return type(self._family())(prior=prior, floor=self.reg_covar)

    # Fitted attributes and parameters

    def _publish(self, params: Any, dtype: np.dtype) -> None:
        beliefs = [value.astype(dtype) for _, value in params.weights.items()]
        self.weight_concentration_ = tuple(beliefs) if len(beliefs) == 2 else beliefs[0]
        self.weights_ = params.weight.astype(dtype)
        self.mean_precision_ = params.mean_precision.astype(dtype)
        degrees = params.degrees.astype(dtype)
        self.degrees_of_freedom_ = degrees[0] if self.covariance_type == "tied" else degrees
        self._publish_components(params.components, dtype)

    def _params(self) -> VariationalParams:
        return VariationalParams(
            self._weights(*np.atleast_2d(np.asarray(self.weight_concentration_, dtype=np.float64))),
            np.asarray(self.mean_precision_, dtype=np.float64),
            np.full(self.n_components, self.degrees_of_freedom_, dtype=np.float64),
            self._components(),
        )


class OneGaussian(MixtureModel):
    """All rows as one class, whatever their labels."""

    def e_step(self, params: Any, block: Block) -> MixtureStats:
        return super().e_step(params, replace(block, labels=0 * block.labels - 1))
