"""What an expert says of y given z = [1, x]: a line with noise, or the odds of classes.

Linear:    p(y | z, k) = Π_j N(y_j | β_kj·z, σ_kj²)        Logistic:  p(y = c | z, k) = softmax_c(B_k z)
"""

import numpy as np
from scipy.special import log_softmax

from ..arrays import Arrays, record
from ..families.family import occupied
from .gate import SoftmaxStats, grams, newton_step, softmax_stats

__all__ = ["LinearExperts", "LinearParams", "LogisticExperts", "LogisticParams"]


@record
class LinearParams(Arrays):
    """Coefficients (experts, targets, q) and noise variances (experts, targets)."""

    coef: np.ndarray
    variance: np.ndarray

    def rescaled(self, coef, factor):
        """The same experts with targets in another unit, whose coefficients are known."""
        return LinearParams(coef, self.variance * factor**2)


@record
class LinearStats(Arrays):
    """Σ r, Σ r z zᵀ, Σ r y zᵀ and Σ r y²."""

    count: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    square: np.ndarray


@record
class LogisticParams(Arrays):
    """Coefficients (experts, classes, q)."""

    coef: np.ndarray

    def rescaled(self, coef, factor):
        """The same experts with other coefficients; classes have no unit."""
        return LogisticParams(coef)


class LinearExperts:
    """Linear regressions with their own noise.

    Parameters
    ----------
    floor : float
        Smallest noise variance, relative to the variance of the target.
    """

    n_classes = 0  # the target is a quantity

    def __init__(self, floor):
        self.floor = floor

    def log_prob(self, params, Z, Y):
        """Log density of the targets under each expert, (rows, experts)."""
        residual = Y[:, None] - _scores(Z, params.coef)
        return -0.5 * (np.log(2 * np.pi * params.variance) + residual**2 / params.variance).sum(axis=2)

    def start(self, Z, Y, resp, reach=None):
        """Least squares in every class of soft assignments, all with the noise that this leaves."""
        n_experts, shape = resp.shape[1], (Y.shape[1], Z.shape[1])
        one = self.m_step(
            self.stats(None, Z, Y, resp.sum(axis=1, keepdims=True)),
            LinearParams(np.zeros((1, *shape)), np.ones((1, Y.shape[1]))),
        )
        # Directions in which a class has no spread keep the common slope.
        whole = LinearParams(np.repeat(one.coef, n_experts, axis=0), np.repeat(one.variance, n_experts, axis=0))
        parts = self.m_step(self.stats(None, Z, Y, resp), whole)
        return LinearParams(parts.coef, np.repeat(_average(parts.variance, resp.sum(axis=0)), n_experts, axis=0))

    def stats(self, params, Z, Y, resp):
        """What a block adds."""
        weighted = resp.T[:, :, None] * Y
        return LinearStats(resp.sum(axis=0), grams(Z, resp), np.swapaxes(weighted, 1, 2) @ Z, resp.T @ Y**2)

    def m_step(self, stats, params, reach=None):
        """Weighted least squares, as a step from the present coefficients."""
        coef = np.empty_like(params.coef)
        for k, (gram, cross, old) in enumerate(zip(stats.gram, stats.cross, params.coef)):
            # A step, not a solution: what an expert's rows cannot tell keeps its value, and the objective never falls.
            coef[k] = old + np.linalg.lstsq(gram, (cross - old @ gram).T, rcond=1e-13)[0].T
        explained = 2 * np.einsum("kmq,kmq->km", coef, stats.cross) - np.einsum(
            "kmq,kqp,kmp->km", coef, stats.gram, coef
        )
        alive = occupied(stats.count)
        count = np.where(alive, stats.count, 1.0)[:, None]
        variance = np.maximum((stats.square - explained) / count, self.floor)
        return LinearParams(
            np.where(alive[:, None, None], coef, params.coef), np.where(alive[:, None], variance, params.variance)
        )

    def log_prior(self, params):
        """Maximum likelihood: no prior."""
        return 0.0

    def free(self, params):
        """Coefficients and log variances as a vector."""
        return np.concatenate([params.coef.ravel(), np.log(params.variance).ravel()])

    def bound(self, vector, params):
        """Parameters from any vector."""
        coef, log_variance = np.split(vector, [params.coef.size])
        variance = np.exp(np.clip(log_variance, -700.0, 700.0)).reshape(params.variance.shape)
        return LinearParams(coef.reshape(params.coef.shape), np.maximum(variance, self.floor))

    def n_parameters(self, params):
        """Free parameters."""
        return params.coef.size + params.variance.size


class LogisticExperts:
    """Softmax regressions, with a Gaussian prior of precision `alpha`; the one target is the number of the class."""

    def __init__(self, n_classes, alpha):
        self.n_classes, self.alpha = n_classes, alpha

    def log_prob(self, params, Z, Y):
        """Log probability of the observed class under each expert, (rows, experts)."""
        every = log_softmax(_scores(Z, params.coef), axis=2)
        return every[np.arange(len(Z)), :, Y[:, 0].astype(np.intp)]

    def start(self, Z, Y, resp, reach):
        """Coefficients near the best for soft assignments, times weights, of a sample of rows."""
        params = LogisticParams(np.zeros((resp.shape[1], self.n_classes, Z.shape[1])))
        for _ in range(5):
            params = self.m_step(self.stats(params, Z, Y, resp), params, reach)
        return params

    def stats(self, params, Z, Y, resp):
        """What a block adds."""
        observed = np.eye(self.n_classes)[Y[:, 0].astype(np.intp)]
        parts = [softmax_stats(coef, Z, r[:, None] * observed) for coef, r in zip(params.coef, resp.T)]
        return SoftmaxStats(np.stack([p.gradient for p in parts]), np.stack([p.curvature for p in parts]))

    def m_step(self, stats, params, reach):
        """One safe Newton step for every expert."""
        rows = zip(params.coef, stats.gradient, stats.curvature)
        steps = [newton_step(coef, SoftmaxStats(*part), self.alpha, reach) for coef, *part in rows]
        return LogisticParams(np.stack(steps))

    def log_prior(self, params):
        """Log density of the coefficients, up to a constant."""
        return -0.5 * self.alpha * float((params.coef**2).sum())

    def free(self, params):
        """Coefficients as a vector."""
        return params.coef.ravel()

    def bound(self, vector, params):
        """Coefficients from a vector."""
        return LogisticParams(vector.reshape(params.coef.shape))

    def n_parameters(self, params):
        """Free parameters: one class is the yardstick of the others."""
        n_experts, n_classes, q = params.coef.shape
        return n_experts * (n_classes - 1) * q


def _scores(Z, coef):
    """coef_kc · z_n for every row, expert and output, (rows, experts, outputs), as one matrix product."""
    return (Z @ coef.reshape(-1, Z.shape[1]).T).reshape(len(Z), *coef.shape[:2])


def _average(values, weight):
    """The weighted mean of the rows of `values`, as one row."""
    return (weight @ values / weight.sum())[None]
