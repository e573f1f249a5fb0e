"""Columns of counts, independent given the class.

Poisson:           log p(x | k) = Σ_j x_j log λ_kj − λ_kj − log x_j!
Geometric:         log p(x | k) = Σ_j log p_kj + x_j log(1 − p_kj)
NegativeBinomial:  log p(x | k) = Σ_j log Γ(x_j + r)/(Γ(r) x_j!) + r log(r/(r + m)) + x_j log(m/(r + m)),   r, m of k and j
"""

from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, declare
from ..kernels import backend, flipped, kernel
from ..kernels.cells import LARGE
from ..source.block import Block
from .family import Family, occupied, recalled, refuse
from .linear import (
    CellStats,
    LinearFamily,
    ProbabilityFamily,
    ProbabilityParams,
    RateFamily,
    RateParams,
    expected_over_counts,
)
from .predictive import Predictive
from .roots import increasing_root

__all__ = ["Geometric", "NegativeBinomial", "Poisson"]


def check_counts(name: str, X: np.ndarray) -> None:
    """Raise ValueError where X holds anything but whole numbers from 0."""
    bad = X[~np.isnan(X) & ((X < 0) | (np.floor(X) != X))]
    refuse(bad, f"{name} columns hold whole numbers from 0, but X holds {{:g}}.")


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

    counted, whole, _evened = True, True, np.sqrt

    def check(self, X: np.ndarray) -> None:
        check_counts("Poisson", X)

    def form(self, params: RateParams) -> tuple:
        return np.log(params.rate), -params.rate

    def base(self, block: Block) -> Any:
        return recalled(block, "log_base", lambda: -kernel("log_factorial", backend(block.X))(block.X))

    def evidence(self, stats: CellStats, params: RateParams) -> tuple:
        return stats.total, stats.count

    def mean(self, params: RateParams) -> np.ndarray:
        return params.rate

    def variance(self, params: RateParams) -> np.ndarray:
        return params.rate

    def sample(self, params: RateParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(params.rate[classes]).astype(float)

    def scipy(self, params: RateParams) -> tuple[str, dict[str, Any]]:
        return "poisson", {"mu": params.rate}

    def predictive(self, prior: Any) -> Any:
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

    whole, _evened = True, np.sqrt

    def check(self, X: np.ndarray) -> None:
        check_counts("Geometric", X)

    def form(self, params: ProbabilityParams) -> tuple:
        return np.log1p(-params.probability), np.log(params.probability)

    def evidence(self, stats: CellStats, params: ProbabilityParams) -> tuple:
        return stats.count, stats.total

    def mean(self, params: ProbabilityParams) -> np.ndarray:
        return (1.0 - params.probability) / params.probability

    def variance(self, params: ProbabilityParams) -> np.ndarray:
        return (1.0 - params.probability) / params.probability**2

    def sample(self, params: ProbabilityParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.geometric(params.probability[classes]).astype(float) - 1.0

    def scipy(self, params: ProbabilityParams) -> tuple[str, dict[str, Any]]:
        return "geom", {"p": params.probability, "loc": -1.0}

    def predictive(self, prior: Any) -> Any:
        return Predictive("betanbinom", n=1, a=prior.a, b=prior.b)


@record
class NegativeBinomialParams(Arrays):
    """Means m and sizes r, each (classes, d)."""

    mean: np.ndarray
    size: np.ndarray
    _saved = declare(mean=Numbers("K d", above=0), size=Numbers("K d", above=0))


@record
class NegativeBinomialStats(Arrays):
    """Σ w, Σ w x and Σ w r[ψ(x + r) − ψ(r)] over observed cells, w the responsibility; each (classes, d)."""

    count: np.ndarray
    total: np.ndarray
    tables: np.ndarray
    _summed = declare(count=Numbers("K d", low=0), total=Numbers("K d", low=0), tables=Numbers("K p", low=0))


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
    counted, whole, _evened = True, True, np.sqrt
    largest = 1e6
    _params_type = NegativeBinomialParams
    _saved = LinearFamily._saved | {"size": Numbers("a", above=0, optional=True)}
    e_step = Family.e_step  # the one pass does not know of rising factorials

    def __init__(self, size: Any = None, *, floor: float = 1e-10, prior: Any = None) -> None:
        self.size: Any = None if size is None else np.atleast_1d(np.asarray(size, dtype=np.float64))
        self.exact = size is not None
        if self.size is not None and not (self.size > 0).all():
            raise ValueError(f"size={size} must be positive.")
        self.floor, self.prior = floor, self.accepted(prior)

    def known(self, **values: Any) -> Any:
        return super().known(**values, **({} if self.size is None else {"size": self.size}))

    def check_prior(self, prior: Any) -> None:
        super().check_prior(prior)
        if self.size is None:
            raise ValueError("NegativeBinomial has a conjugate prior only where size is known; give size.")

    def check(self, X: np.ndarray) -> None:
        check_counts("NegativeBinomial", X)
        if self.size is not None and self.size.size not in (1, X.shape[1]):
            raise ValueError(f"size names {self.size.size} columns, but X has {X.shape[1]}.")

    def start(self, block: Block, resp: Any) -> NegativeBinomialParams:
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
        return NegativeBinomialParams(
            mean, np.clip(size, 0.01, np.minimum(100.0 * np.maximum(mean, 1.0), self.largest))
        )

    def form(self, params: NegativeBinomialParams) -> tuple:
        mean, size = params.mean, params.size
        return -np.log1p(size / mean), -size * np.log1p(mean / size)

    def base(self, block: Block) -> Any:
        """−log x! of cells below `LARGE`, and the rising factorials of a given size, which no class differs in."""

        def make() -> Any:
            base = -kernel("log_factorial", backend(block.X))(block.X * (block.X < LARGE))
            if self.exact:
                size = np.broadcast_to(self.size, (1, block.X.shape[1]))
                base += kernel("log_rising", backend(block.X))(block.X, size)[0]
            return base

        return recalled(block, ("log_base", *(self.size.tolist() if self.exact else ())), make)

    def log_prob(self, params: NegativeBinomialParams, block: Block) -> Any:
        scores = super().log_prob(params, block)
        if self.exact:
            return scores
        return scores + kernel("log_rising", backend(block.X))(block.X, params.size).T

    def stats(self, params: NegativeBinomialParams, block: Block, resp: Any) -> Any:
        cells = super().stats(params, block, resp)
        tables = np.zeros(cells.total.shape)
        if not self.exact:
            resp = flipped(resp, block.X)
            tables = params.size * kernel("rising_slope", backend(block.X))(block.X, params.size, resp)
        return NegativeBinomialStats(cells.count, cells.total, tables)

    def m_step(self, stats: NegativeBinomialStats, params: NegativeBinomialParams) -> NegativeBinomialParams:
        if self.exact:
            (a, b), (successes, failures) = self.pseudo, self.evidence(stats, params)
            return self.at(self.learned(successes + a, successes + failures + (a + b), stats, *self.value(params)))
        alive = occupied(stats.count)
        count = np.where(alive, stats.count, 1.0)
        mean = np.where(alive, np.maximum(stats.total / count, self.floor), params.mean)
        size = self._size(mean, stats.tables / count, params.size)
        return NegativeBinomialParams(mean, np.where(alive, size, params.size))

    def _size(self, mean: np.ndarray, tables: np.ndarray, size: Any) -> np.ndarray:
        """The r of r log(1 + m/r) = tables, within bounds; the left side grows with r, from 0 to m."""

        def excess(log_size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            r = np.exp(log_size)
            grown = r * np.log1p(mean / r)
            return grown - tables, grown - r * mean / (r + mean)

        # A column without a count says nothing about r.
        root = increasing_root(excess, np.log(1e-6), np.log(self.largest), np.log(size))
        return np.where(tables > 0, np.clip(np.exp(root), 1e-6, self.largest), size)

    def evidence(self, stats: NegativeBinomialStats, params: NegativeBinomialParams) -> tuple:
        """Successes and failures, with r successes in every count."""
        return params.size * stats.count, stats.total

    def value(self, params: NegativeBinomialParams) -> tuple:
        return (params.size / (params.size + params.mean),)

    def at(self, value: np.ndarray) -> NegativeBinomialParams:
        """Parameters of a probability of success."""
        size = np.broadcast_to(self.size, value.shape)
        value = np.clip(value, np.finfo(float).tiny, 1.0)
        return NegativeBinomialParams(np.maximum(size * (1.0 - value) / value, self.floor), size.copy())

    def predictive(self, prior: Any) -> Any:
        return Predictive("betanbinom", n=np.broadcast_to(self.size, prior.a.shape), a=prior.a, b=prior.b)

    def mean(self, params: NegativeBinomialParams) -> np.ndarray:
        return params.mean

    def variance(self, params: NegativeBinomialParams) -> np.ndarray:
        return params.mean + params.mean**2 / params.size

    def kl(self, params: NegativeBinomialParams, other: NegativeBinomialParams) -> np.ndarray:
        """By summing over counts; see `expected_over_counts`."""
        (name, shape), (_, other_shape) = self.scipy(params), self.scipy(other)
        return expected_over_counts(name, shape) - expected_over_counts(name, shape, other_shape)

    def sample(self, params: NegativeBinomialParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        mean, size = params.mean[classes], params.size[classes]
        return rng.poisson(rng.gamma(size, mean / size)).astype(float)

    def scipy(self, params: NegativeBinomialParams) -> tuple[str, dict[str, Any]]:
        return "nbinom", {"n": params.size, "p": self.value(params)[0]}

    def score(self, stats: Any, params: NegativeBinomialParams) -> Any:
        return Family.score(self, stats, params)  # what statistics tell of sizes is a sum over cells

    def free(self, params: NegativeBinomialParams) -> np.ndarray:
        """Square roots of means and, where they are learned, log sizes."""
        learned = () if self.exact else (np.log(params.size).ravel(),)
        return np.concatenate([np.sqrt(params.mean).ravel(), *learned])

    def bound(self, vector: np.ndarray, params: NegativeBinomialParams) -> NegativeBinomialParams:
        parts = vector.reshape(-1, *params.mean.shape)
        mean = np.maximum(np.maximum(parts[0], 0.0) ** 2, self.floor)
        if self.exact:
            return NegativeBinomialParams(mean, params.size)
        return NegativeBinomialParams(mean, np.clip(np.exp(np.clip(parts[1], -50.0, 50.0)), 1e-6, self.largest))

    def n_parameters(self, params: NegativeBinomialParams) -> int:
        return params.mean.size * (1 if self.exact else 2)
