"""Generalised linear experts: the law of y given η = β_k·z, z = [1, x].

    Poisson  y ~ Poisson(e^η)      binomial  s of t trials ~ Binomial(t, 1 / (1 + e^−η))      gamma  mean e^η, variance φ_k e^2η

Their log-likelihoods have third derivatives along h of at most max_i |h·z_i| times the second, so that the step of the gate's
softmax regression (see `tacit.mixture.gate`) always climbs here too.

References
----------
McLachlan and Peel (2000), Finite mixture models, chapter 5.
Grün and Leisch (2008), FlexMix version 2: finite mixtures with concomitant variables and varying and constant parameters.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, gammaln, log_expit, xlogy
from scipy.stats import binom, gamma, poisson
from sklearn.utils import check_random_state

from ..arrays import Arrays, record
from ..families.family import draw_classes, occupied
from ..families.roots import gamma_shape
from .expert_families import LinearExperts, LinearParams, scores
from .gate import grams

__all__ = ["GLMS", "GLMConditional", "GLMExperts"]

LARGEST_LOG = 300.0
"""Linear predictors beyond are taken as this, so that no mean overflows."""


@record
class GLMStats(Arrays):
    """Σ r, Σ r ∂ log p / ∂η zᵀ, −Σ r ∂² log p / ∂η² z zᵀ and, of a dispersion, the sum that tells it."""

    count: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray
    deviance: np.ndarray


class GLMExperts(LinearExperts):
    """Generalised linear models of one target, with a Gaussian prior of precision `alpha` on the coefficients.

    A subclass knows one law: ``terms(Y, eta, shape)`` are log density, score, curvature and deviance; ``view`` the linear look of
    the targets; ``check`` what they may be; ``mean``, ``variance`` and ``law`` (of SciPy) what follows from a mean.
    """

    scaled = False
    dispersed = False  # whether there is a dispersion to learn
    whole = True  # whether values are whole numbers

    def __init__(self, alpha: float, floor: float = 1e-4, equal: bool = False):
        super().__init__(floor, equal)
        self.alpha = alpha

    def columns(self, Y: np.ndarray) -> np.ndarray:
        """Targets as the model takes them, checked."""
        if Y.shape[1] != 1:
            raise ValueError(f"y has {Y.shape[1]} columns; family={self.name!r} takes one.")
        self.check(Y)
        return Y

    name: str

    def check(self, Y: np.ndarray) -> None:
        """Raise ValueError where targets are not what the law describes."""
        raise NotImplementedError

    def terms(self, Y: np.ndarray, eta: np.ndarray, dispersion: np.ndarray) -> tuple[np.ndarray, ...]:
        """Log density, its first derivative and minus its second by η, and the deviance, (rows, experts) each."""
        raise NotImplementedError

    def variance(self, mean: np.ndarray, dispersion: np.ndarray) -> np.ndarray:
        """Variance of y at a mean."""
        raise NotImplementedError

    def law(self, mean: np.ndarray, dispersion: np.ndarray) -> Any:
        """The distribution of y at a mean, of SciPy."""
        raise NotImplementedError

    def mean(self, eta: np.ndarray) -> np.ndarray:
        """Mean of y at a linear predictor."""
        return np.exp(np.clip(eta, -LARGEST_LOG, LARGEST_LOG))

    def _terms(self, params: LinearParams, Z: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, ...]:
        eta = np.clip(scores(Z, params.coef)[:, :, 0], -LARGEST_LOG, LARGEST_LOG)
        return self.terms(Y, eta, params.variance[:, 0])

    def log_prob(self, params: LinearParams, Z: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return self._terms(params, Z, Y)[0]

    def start(self, Z: np.ndarray, Y: np.ndarray, resp: np.ndarray, reach: np.ndarray) -> LinearParams:
        """Coefficients near the best for soft assignments, from least squares in the targets' linear look on."""
        first = LinearExperts(self.floor).start(Z, self.view(Y), resp, reach)
        params = LinearParams(first.coef, np.ones_like(first.variance))
        for _ in range(5):
            params = self.m_step(self.stats(params, Z, Y, resp), params, reach)
        return params

    def stats(self, params: LinearParams, Z: np.ndarray, Y: np.ndarray, resp: np.ndarray) -> GLMStats:  # type: ignore[override]
        _, score, bend, deviance = self._terms(params, Z, Y)
        told = (resp * deviance).sum(axis=0)
        return GLMStats(resp.sum(axis=0), (resp * score).T @ Z, grams(Z, resp * bend), told)

    def m_step(self, stats: GLMStats, params: LinearParams, reach: np.ndarray) -> LinearParams:  # type: ignore[override]
        """The likeliest dispersions, and one safe Newton step of the coefficients."""
        alive = occupied(stats.count)
        dispersion = self._dispersion(stats, params, alive)
        coef = params.coef.copy()
        for k in np.flatnonzero(alive):
            curvature = stats.curvature[k] / dispersion[k] + self.alpha * np.eye(coef.shape[2])
            gradient = stats.gradient[k] / dispersion[k] - self.alpha * coef[k, 0]
            direction = np.linalg.lstsq(curvature, gradient, rcond=1e-12)[0]
            m = float(np.linalg.norm(reach @ direction))
            coef[k, 0] += (np.log1p(m) / m if m > 0 else 1.0) * direction
        return LinearParams(coef, dispersion)

    def _dispersion(self, stats: GLMStats, params: LinearParams, alive: np.ndarray) -> np.ndarray:
        if not self.dispersed:
            return params.variance
        if self.equal:
            gap = np.full(len(alive), stats.deviance[alive].sum() / stats.count[alive].sum())
        else:
            gap = stats.deviance / np.where(alive, stats.count, 1.0)
        found = 1.0 / gamma_shape(gap, 1.0 / self.floor)
        return np.where(alive | self.equal, found, params.variance[:, 0])[:, None]

    def log_prior(self, params: LinearParams) -> float:
        return -0.5 * self.alpha * float((params.coef**2).sum())

    def _n_variances(self, params: LinearParams) -> int:
        return super()._n_variances(params) if self.dispersed else 0

    def bound(self, vector: np.ndarray, params: LinearParams) -> LinearParams:
        if self.dispersed:
            return super().bound(vector, params)
        return LinearParams(vector.reshape(params.coef.shape), params.variance)


class PoissonExperts(GLMExperts):
    """Counts with mean e^η."""

    name = "poisson"

    def check(self, Y: np.ndarray) -> None:
        bad = Y[(Y < 0) | (np.floor(Y) != Y)]
        if bad.size:
            raise ValueError(f"y holds {bad[0]:g}, but family='poisson' takes counts 0, 1, 2, …")

    def view(self, Y: np.ndarray) -> np.ndarray:
        return np.log(Y + 0.5)

    def terms(self, Y: np.ndarray, eta: np.ndarray, dispersion: np.ndarray) -> tuple[np.ndarray, ...]:
        mean = np.exp(eta)
        return Y * eta - mean - gammaln(Y + 1.0), Y - mean, mean, np.zeros_like(mean)

    def variance(self, mean: np.ndarray, dispersion: np.ndarray) -> np.ndarray:
        return mean

    def law(self, mean: np.ndarray, dispersion: np.ndarray) -> Any:
        return poisson(mean)


class BinomialExperts(GLMExperts):
    """Successes in trials, of probability 1 / (1 + e^−η); predictions are of one trial."""

    name = "binomial"

    def columns(self, Y: np.ndarray) -> np.ndarray:
        if Y.shape[1] == 1:
            bad = Y[(Y != 0) & (Y != 1)]
            if bad.size:
                raise ValueError(
                    f"y holds {bad[0]:g}, but family='binomial' takes 0 and 1, or two columns: successes and failures."
                )
            return np.hstack([Y, np.ones_like(Y)])
        bad = Y[(Y < 0) | (np.floor(Y) != Y)]
        if Y.shape[1] != 2 or bad.size:
            told = f"holds {bad[0]:g}" if bad.size else f"has {Y.shape[1]} columns"
            raise ValueError(f"y {told}, but family='binomial' takes counts in two columns: successes and failures.")
        return np.column_stack([Y[:, 0], Y.sum(axis=1)])

    def mean(self, eta: np.ndarray) -> np.ndarray:
        return expit(eta)

    def view(self, Y: np.ndarray) -> np.ndarray:
        return np.log((Y[:, :1] + 0.5) / (Y[:, 1:] - Y[:, :1] + 0.5))

    def terms(self, Y: np.ndarray, eta: np.ndarray, dispersion: np.ndarray) -> tuple[np.ndarray, ...]:
        won, trials = Y[:, :1], Y[:, 1:]
        chance = expit(eta)
        ways = gammaln(trials + 1.0) - gammaln(won + 1.0) - gammaln(trials - won + 1.0)
        log_prob = ways + won * log_expit(eta) + (trials - won) * log_expit(-eta)
        return log_prob, won - trials * chance, trials * chance * (1.0 - chance), np.zeros_like(eta)

    def variance(self, mean: np.ndarray, dispersion: np.ndarray) -> np.ndarray:
        return mean * (1.0 - mean)

    def law(self, mean: np.ndarray, dispersion: np.ndarray) -> Any:
        return binom(1, mean)


class GammaExperts(GLMExperts):
    """Positive quantities with mean e^η and variance φ e^2η."""

    name = "gamma"
    dispersed = True
    whole = False

    def check(self, Y: np.ndarray) -> None:
        bad = Y[Y <= 0]
        if bad.size:
            raise ValueError(f"y holds {bad[0]:g}, but family='gamma' takes numbers above 0.")

    def view(self, Y: np.ndarray) -> np.ndarray:
        return np.log(Y)

    def terms(self, Y: np.ndarray, eta: np.ndarray, dispersion: np.ndarray) -> tuple[np.ndarray, ...]:
        Y = np.where(Y > 0, Y, 1.0)  # rows of weight 0 come without a target
        # Score and curvature are those of dispersion 1: the M-step divides by the dispersion it finds.
        ratio, shape, log_y = Y * np.exp(-eta), 1.0 / dispersion, np.log(Y)
        log_prob = xlogy(shape, shape) - gammaln(shape) + shape * (log_y - eta - ratio) - log_y
        return log_prob, ratio - 1.0, ratio, ratio - (log_y - eta) - 1.0

    def variance(self, mean: np.ndarray, dispersion: np.ndarray) -> np.ndarray:
        return dispersion * mean**2

    def law(self, mean: np.ndarray, dispersion: np.ndarray) -> Any:
        return gamma(1.0 / dispersion, scale=mean * dispersion)


GLMS = {"poisson": PoissonExperts, "binomial": BinomialExperts, "gamma": GammaExperts}


@dataclass(frozen=True)
class GLMConditional:
    """For every row a mixture of the experts' laws of y given x, with the answers of `ConditionalMixture`.

    Attributes
    ----------
    experts : GLMExperts
        The law.
    weights : ndarray of shape (n_samples, n_components)
        Probability of each component.
    means : ndarray of shape (n_samples, n_components, 1)
        Mean of y under each.
    dispersion : ndarray of shape (n_components,)
    """

    experts: GLMExperts
    weights: np.ndarray
    means: np.ndarray
    dispersion: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Expectation of y, (n_samples, 1)."""
        return (self.weights * self.means[:, :, 0]).sum(axis=1, keepdims=True)

    @property
    def variance(self) -> np.ndarray:
        """Variance of y, (n_samples, 1)."""
        means = self.means[:, :, 0]
        within = self.experts.variance(means, self.dispersion)
        return (self.weights * (within + (means - self.mean) ** 2)).sum(axis=1, keepdims=True)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of y, (n_samples, 1)."""
        return np.sqrt(self.variance)

    def quantile(self, p: np.ndarray) -> np.ndarray:
        """Quantiles of y, (len(p), n_samples, 1), by bisection between those of the experts."""
        law = self.experts.law(self.means[:, :, 0], self.dispersion)
        found = []
        for q in p:
            each = law.ppf(q)
            low, high = each.min(axis=1), each.max(axis=1)
            for _ in range(80):
                middle = np.floor(0.5 * (low + high)) if self.experts.whole else 0.5 * (low + high)
                enough = (self.weights * law.cdf(middle[:, None])).sum(axis=1) >= q
                low, high = np.where(enough, low, middle + self.experts.whole), np.where(enough, middle, high)
                low = np.minimum(low, high)
            found.append(high[:, None])
        return np.array(found)

    def sample(self, n_draws: int, random_state: Any = None) -> np.ndarray:
        """Draws of y, (n_draws, n_samples, 1)."""
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        rows = np.arange(len(self.weights))
        chosen = draw_classes(self.weights, n_draws, rng)
        laws = (self.experts.law(self.means[rows, k, 0], self.dispersion[k]) for k in chosen)
        return np.array([np.asarray(law.rvs(random_state=rng), dtype=float)[:, None] for law in laws])
