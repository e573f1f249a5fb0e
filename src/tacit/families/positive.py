"""Positive columns, independent given the class.

Exponential:  log p(x | k) = Σ_j log λ_kj − λ_kj x_j
Gamma:        log p(x | k) = Σ_j a_kj log b_kj − log Γ(a_kj) + (a_kj − 1) log x_j − b_kj x_j
LogNormal:    log x | k ~ N(μ_k, diag σ²_k)
"""

from dataclasses import replace

import numpy as np
from scipy.special import digamma, gammaln

from ..arrays import Arrays, record
from ..kernels import EXPECT, SCORE, backend, kernel
from .diagonal import DiagonalGaussian
from .family import Family, occupied
from .laws import LogNormalLaw
from .linear import LinearFamily, RateFamily
from .roots import gamma_shape

__all__ = ["Exponential", "Gamma", "LogNormal"]


def _check_positive(name, X):
    bad = X[X <= 0]
    if bad.size:
        raise ValueError(f"{name} columns are positive, but X holds {bad.flat[0]:g}.")


class Exponential(RateFamily):
    """Columns of waiting times, from 0.

    Parameters
    ----------
    floor : float
        Rates stay within [floor, 1/floor].
    prior : GammaPrior, optional
        Prior of every rate; the M-step then gives the posterior mode.

    Examples
    --------
    >>> from tacit.families import Exponential
    >>> Exponential().fit([1.0, 2.0, 3.0]).parameters
    {'rate': array([0.5])}
    """

    def check(self, X):
        bad = X[X < 0]
        if bad.size:
            raise ValueError(f"Exponential columns are not negative, but X holds {bad.flat[0]:g}.")

    def form(self, params):
        return -params.rate, np.log(params.rate)

    def evidence(self, stats, params):
        return stats.count, stats.total

    def mean(self, params):
        return 1.0 / params.rate

    def variance(self, params):
        return 1.0 / params.rate**2

    def sample(self, params, classes, rng):
        return rng.exponential(1.0 / params.rate[classes])

    def embed(self, block, rng):
        """Cube roots, which make waiting times nearly symmetric."""
        return super().embed(block.transformed(np.cbrt), rng)

    def scipy(self, params):
        return "expon", {"scale": 1.0 / params.rate}

    def predictive(self, prior):
        from .predictive import Predictive

        return Predictive("lomax", c=prior.shape, scale=prior.rate)


@record
class GammaParams(Arrays):
    """Shapes and rates, each (classes, d)."""

    shape: np.ndarray
    rate: np.ndarray


class Gamma(LinearFamily):
    """Positive columns.

    Parameters
    ----------
    floor : float
        Smallest variance of a column relative to its squared mean, 1/shape.

    Examples
    --------
    >>> from tacit.families import Gamma
    >>> Gamma().fit([1.0, 2.0, 3.0, 6.0]).mean
    array([3.])
    """

    functions = ("x", "log")

    def __init__(self, floor=1e-6):
        self.floor = floor

    def check(self, X):
        _check_positive("Gamma", X)

    def start(self, block, resp):
        flat = GammaParams(*np.ones((2, resp.shape[1], block.X.shape[1])))
        return self.first_steps(block, resp, flat)[1]

    def form(self, params):
        slope = np.concatenate([-params.rate, params.shape - 1.0], axis=1)
        offset = params.shape * np.log(params.rate) - gammaln(params.shape)
        return slope, np.concatenate([offset, np.zeros(offset.shape)], axis=1)

    def expected(self, params):
        return np.concatenate([self.mean(params), digamma(params.shape) - np.log(params.rate)], axis=1)

    def m_step(self, stats, params):
        (count, _), (total, logs) = (np.split(part, 2, axis=1) for part in (stats.count, stats.total))
        alive = occupied(count)
        count = np.where(alive, count, 1.0)
        mean = np.where(alive, total / count, 1.0)
        shape = gamma_shape(np.log(mean) - np.where(alive, logs / count, -1.0), 1.0 / self.floor)
        return GammaParams(np.where(alive, shape, params.shape), np.where(alive, shape / mean, params.rate))

    def mean(self, params):
        return params.shape / params.rate

    def variance(self, params):
        return params.shape / params.rate**2

    def sample(self, params, classes, rng):
        X = rng.gamma(params.shape[classes], 1.0 / params.rate[classes])
        return np.maximum(X, np.finfo(float).tiny)

    def scipy(self, params):
        return "gamma", {"a": params.shape, "scale": 1.0 / params.rate}

    def embed(self, block, rng):
        """Logarithms."""
        return super().embed(block.transformed(np.log), rng)

    def free(self, params):
        """Log shapes and log means."""
        return np.concatenate([np.log(params.shape).ravel(), np.log(self.mean(params)).ravel()])

    def bound(self, vector, params):
        shape, mean = (np.exp(part).reshape(params.shape.shape) for part in np.split(np.clip(vector, -600, 600), 2))
        shape = np.minimum(shape, 1.0 / self.floor)
        return GammaParams(shape, shape / mean)

    def n_parameters(self, params):
        return 2 * params.shape.size


class LogNormal(DiagonalGaussian):
    """Positive columns whose logarithms are Gaussian, independent given the class; parameters are those of the logarithms.

    Parameters
    ----------
    floor : float
        Smallest variance of a logarithm, relative to the data's.
    prior : NormalInverseGamma, optional
        Prior of the mean and variance of each logarithm; the M-step then gives the posterior mode.

    Examples
    --------
    >>> from tacit.families import LogNormal
    >>> LogNormal().fit([1.0, 10.0, 100.0]).parameters["mean"].round(3)
    array([2.303])
    """

    support = "LogNormal"

    def check(self, X):
        _check_positive("LogNormal", X)

    def logged(self, block):
        """The block of logarithms."""
        if "logged" not in block.local:
            X = kernel("features", backend(block.X))(block.X, ("log",))
            logged = replace(block, X=X, local={})
            logged.local["total"] = kernel("row_sums", backend(X))(X)
            block.local["logged"] = logged
        return block.local["logged"]

    def start(self, block, resp):
        return super().start(self.logged(block), resp)

    def law(self, params, block):
        columns = block.missing_cells[1]
        return LogNormalLaw(params.mean[:, columns].T, params.covariance[:, columns].T)

    def filled(self, params, block, resp):
        return Family.filled(self, params, block, resp)

    def embed(self, block, rng):
        return super().embed(self.logged(block), rng)

    def one_pass(self, params, block, mode, log_weight, out):
        logged = self.logged(block)
        loglik, count, stats = super().one_pass(params, logged, mode, log_weight, out)
        # The density of x is that of log x, over x.
        if mode == SCORE:
            out -= logged.local["total"]
        elif mode == EXPECT:
            loglik -= float(block.weight @ logged.local["total"])
        return loglik, count, stats

    def mean(self, params):
        return np.exp(params.mean + 0.5 * params.variance)

    def variance(self, params):
        return np.expm1(params.variance) * self.mean(params) ** 2

    def entropy(self, params):
        return super().entropy(params) + params.mean.sum(axis=1)

    def predictive(self, prior):
        raise NotImplementedError("the logarithm of the next row has a Student t; take logarithms and use Normal.")

    def distance(self, params, block):
        return super().distance(params, self.logged(block))

    def draw(self, params, block, resp, n_draws, rng):
        return Family.draw(self, params, block, resp, n_draws, rng)

    def sample(self, params, classes, rng):
        return np.exp(super().sample(params, classes, rng))
