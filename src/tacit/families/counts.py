"""Columns of counts, independent given the class.

Poisson:           log p(x | k) = Σ_j x_j log λ_kj − λ_kj − log x_j!
Geometric:         log p(x | k) = Σ_j log p_kj + x_j log(1 − p_kj)
NegativeBinomial:  log p(x | k) = Σ_j log Γ(x_j + r)/(Γ(r) x_j!) + r log(r/(r + m)) + x_j log(m/(r + m)),   r, m of k and j
"""

from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..kernels import backend, flipped, kernel
from .family import Family, occupied
from .linear import LinearFamily, ProbabilityFamily, RateFamily
from .roots import increasing_root
from .sums import expected_over_counts

__all__ = ["Geometric", "NegativeBinomial", "Poisson"]


def check_counts(name, X):
    """Raise ValueError where X holds anything but whole numbers from 0."""
    bad = X[~np.isnan(X) & ((X < 0) | (np.floor(X) != X))]
    if bad.size:
        raise ValueError(f"{name} columns hold whole numbers from 0, but X holds {bad.flat[0]:g}.")


class Poisson(RateFamily):
    """Columns of counts.

    Parameters
    ----------
    floor : float
        Smallest rate.
    prior : GammaPrior, optional
        Prior of every rate; the M-step then gives the posterior mode.

    Examples
    --------
    >>> from tacit.families import Poisson
    >>> Poisson().fit([0, 1, 2, 5]).parameters
    {'rate': array([2.])}
    """

    def check(self, X):
        check_counts("Poisson", X)

    def form(self, params):
        return np.log(params.rate), -params.rate

    def base(self, block):
        if "log_base" not in block.local:
            block.local["log_base"] = -kernel("log_factorial", backend(block.X))(block.X)
        return block.local["log_base"]

    def entropy(self, params):
        """By summing over counts; see `expected_over_counts`."""
        from scipy.stats import poisson

        return -expected_over_counts(poisson.logpmf, poisson, params.rate)

    def evidence(self, stats, params):
        return stats.total, stats.count

    def mean(self, params):
        return params.rate

    def variance(self, params):
        return params.rate

    def sample(self, params, classes, rng):
        return rng.poisson(params.rate[classes]).astype(float)

    def embed(self, block, rng):
        """Square roots, which make the spread of counts even."""
        return super().embed(block.transformed(np.sqrt), rng)

    def scipy(self, params):
        return "poisson", {"mu": params.rate}

    def predictive(self, prior):
        from .predictive import Predictive

        return Predictive("nbinom", n=prior.shape, p=prior.rate / (prior.rate + 1.0))


class Geometric(ProbabilityFamily):
    """Columns of failures before the first success, from 0.

    Parameters
    ----------
    floor : float
        Probabilities of success stay within [floor, 1 − floor].
    prior : BetaPrior, optional
        Prior of every probability; the M-step then gives the posterior mode.

    Examples
    --------
    >>> from tacit.families import Geometric
    >>> Geometric().fit([0, 1, 2, 1]).parameters
    {'probability': array([0.5])}
    """

    def check(self, X):
        check_counts("Geometric", X)

    def form(self, params):
        return np.log1p(-params.probability), np.log(params.probability)

    def evidence(self, stats, params):
        return stats.count, stats.total

    def mean(self, params):
        return (1.0 - params.probability) / params.probability

    def variance(self, params):
        return (1.0 - params.probability) / params.probability**2

    def sample(self, params, classes, rng):
        return rng.geometric(params.probability[classes]).astype(float) - 1.0

    def embed(self, block, rng):
        """Square roots, which make the spread of counts even."""
        return super().embed(block.transformed(np.sqrt), rng)

    def scipy(self, params):
        return "geom", {"p": params.probability, "loc": -1.0}

    def predictive(self, prior):
        from .predictive import Predictive

        return Predictive("betanbinom", n=1, a=prior.a, b=prior.b)


@record
class NegativeBinomialParams(Arrays):
    """Means m and sizes r, each (classes, d)."""

    mean: np.ndarray
    size: np.ndarray


@record
class NegativeBinomialStats(Arrays):
    """Σ w, Σ w x and Σ w r[ψ(x + r) − ψ(r)] over observed cells, w the responsibility; each (classes, d)."""

    count: np.ndarray
    total: np.ndarray
    tables: np.ndarray


class NegativeBinomial(LinearFamily):
    """Columns of failures before the r-th success: counts that vary more than Poisson, variance m + m²/r.

    Unless given, r is learned by maximum likelihood for every class and column. Its part Σ_{i<x} log(r + i) of the
    log-likelihood is bounded from below by its tangent in log r, which makes the M-step one equation,
    r log(1 + m/r) = Σ w r₀[ψ(x + r₀) − ψ(r₀)] / Σ w. Each such step improves, and the steps together maximise.

    Parameters
    ----------
    size : float or sequence of float, optional
        r of all columns or of each; learned where not given.
    floor : float
        Smallest mean; r stays below 1e6, where the family is as good as Poisson.
    prior : BetaPrior, optional
        Prior of the probability of success r/(r + m), for a given `size` only.

    References
    ----------
    M. Zhou and L. Carin, "Negative binomial process count and mixture modeling", IEEE TPAMI 37(2), 2015.

    Examples
    --------
    >>> from tacit.families import NegativeBinomial
    >>> NegativeBinomial(size=2).fit([0, 1, 2, 5]).variance
    array([4.])
    """

    conjugate = "BetaPrior"
    largest = 1e6

    def __init__(self, size=None, floor=1e-10, prior=None):
        self.size: Any = None if size is None else np.atleast_1d(np.asarray(size, dtype=np.float64))
        self.exact = size is not None
        if self.size is not None and not (self.size > 0).all():
            raise ValueError(f"size={size} must be positive.")
        self.floor, self.prior = floor, self.accepted(prior)

    def check_prior(self, prior):
        super().check_prior(prior)
        if self.size is None:
            raise ValueError("NegativeBinomial has a conjugate prior only where size is known; give size.")

    def check(self, X):
        check_counts("NegativeBinomial", X)
        if self.size is not None and self.size.size not in (1, X.shape[1]):
            raise ValueError(f"size names {self.size.size} columns, but X has {X.shape[1]}.")

    def start(self, block, resp):
        """Means, pulled towards that of all rows, and sizes from the variances."""
        resp, x = resp * block.weight[:, None], np.nan_to_num(block.X.astype(np.float64))
        seen = ~np.isnan(block.X)
        count, total, square = (resp.T @ part for part in (seen, x, x**2))
        everyone = np.maximum(count.sum(axis=0), np.finfo(float).tiny)
        pooled = np.maximum(total.sum(axis=0) / everyone, self.floor)
        mean = np.maximum(
            0.9 * np.where(count > 0, total / np.where(count > 0, count, 1.0), pooled) + 0.1 * pooled, self.floor
        )
        if self.exact:
            return NegativeBinomialParams(mean, np.broadcast_to(self.size, mean.shape).copy())
        variance = np.where(count > 0, square / np.where(count > 0, count, 1.0), 0.0) - mean**2
        size = mean**2 / np.maximum(variance - mean, 0.01 * mean)
        return NegativeBinomialParams(mean, np.clip(size, 0.01, 100.0 * np.maximum(mean, 1.0)))

    def form(self, params):
        mean, size = params.mean, params.size
        return np.log(mean / (size + mean)), -size * np.log1p(mean / size)

    def base(self, block):
        """−log x!, and the rising factorials of a given size, which no class differs in."""
        key = "log_base", *(self.size.tolist() if self.exact else ())
        if key not in block.local:
            block.local[key] = -kernel("log_factorial", backend(block.X))(block.X)
            if self.exact:
                size = np.broadcast_to(self.size, (1, block.X.shape[1]))
                block.local[key] += kernel("log_rising", backend(block.X))(block.X, size)[0]
        return block.local[key]

    def log_prob(self, params, block):
        scores = super().log_prob(params, block)
        if self.exact:
            return scores
        return scores + kernel("log_rising", backend(block.X))(block.X, params.size).T

    def stats(self, params, block, resp):
        cells = super().stats(params, block, resp)
        tables = np.zeros(cells.total.shape)
        if not self.exact:
            resp = flipped(resp, block.X)
            tables = params.size * kernel("rising_slope", backend(block.X))(block.X, params.size, resp)
        return NegativeBinomialStats(cells.count, cells.total, tables)

    def e_step(self, params, log_weight, block):
        return Family.e_step(self, params, log_weight, block)

    def m_step(self, stats, params):
        if self.exact:
            (a, b), (successes, failures) = self.pseudo, self.evidence(stats, params)
            old = params.size / (params.size + params.mean)
            return self.at(self.learned(successes + a, successes + failures + (a + b), stats, old))
        alive = occupied(stats.count)
        count = np.where(alive, stats.count, 1.0)
        mean = np.where(alive, np.maximum(stats.total / count, self.floor), params.mean)
        size = self._size(mean, stats.tables / count, params.size)
        return NegativeBinomialParams(mean, np.where(alive, size, params.size))

    def _size(self, mean, tables, size):
        """The r of r log(1 + m/r) = tables, within bounds; the left side grows with r, from 0 to m."""

        def excess(log_size):
            r = np.exp(log_size)
            grown = r * np.log1p(mean / r)
            return grown - tables, grown - r * mean / (r + mean)

        # A column without a count says nothing about r.
        root = increasing_root(excess, np.log(1e-6), np.log(self.largest), np.log(size))
        return np.where(tables > 0, np.clip(np.exp(root), 1e-6, self.largest), size)

    def evidence(self, stats, params):
        """Successes and failures, with r successes in every count."""
        return params.size * stats.count, stats.total

    def value(self, params):
        return (params.size / (params.size + params.mean),)

    def at(self, value):
        """Parameters of a probability of success."""
        size = np.broadcast_to(self.size, value.shape)
        value = np.clip(value, np.finfo(float).tiny, 1.0)
        return NegativeBinomialParams(np.maximum(size * (1.0 - value) / value, self.floor), size.copy())

    def predictive(self, prior):
        from .predictive import Predictive

        return Predictive("betanbinom", n=np.broadcast_to(self.size, prior.a.shape), a=prior.a, b=prior.b)

    def mean(self, params):
        return params.mean

    def variance(self, params):
        return params.mean + params.mean**2 / params.size

    def entropy(self, params):
        """By summing over counts; see `expected_over_counts`."""
        return -self._expected_log(params, params)

    def kl(self, params, other):
        """By summing over counts; see `expected_over_counts`."""
        return self._expected_log(params, params) - self._expected_log(params, other)

    def _expected_log(self, params, other):
        from scipy.stats import nbinom

        def success(p):
            return p.size / (p.size + p.mean)

        def log_prob(x, n, p, m, q):
            return nbinom.logpmf(x, m, q)

        return expected_over_counts(log_prob, nbinom, params.size, success(params), extra=(other.size, success(other)))

    def sample(self, params, classes, rng):
        mean, size = params.mean[classes], params.size[classes]
        return rng.poisson(rng.gamma(size, mean / size)).astype(float)

    def scipy(self, params):
        return "nbinom", {"n": params.size, "p": params.size / (params.size + params.mean)}

    def embed(self, block, rng):
        """Square roots, which make the spread of counts more even."""
        return super().embed(block.transformed(np.sqrt), rng)

    def free(self, params):
        """Square roots of means and, where they are learned, log sizes."""
        learned = () if self.exact else (np.log(params.size).ravel(),)
        return np.concatenate([np.sqrt(params.mean).ravel(), *learned])

    def bound(self, vector, params):
        parts = vector.reshape(-1, *params.mean.shape)
        mean = np.maximum(np.maximum(parts[0], 0.0) ** 2, self.floor)
        if self.exact:
            return NegativeBinomialParams(mean, params.size)
        return NegativeBinomialParams(mean, np.clip(np.exp(np.clip(parts[1], -50.0, 50.0)), 1e-6, self.largest))

    def n_parameters(self, params):
        return params.mean.size * (1 if self.exact else 2)
