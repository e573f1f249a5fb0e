"""Positive columns, independent given the class.

Exponential:  log p(x | k) = Σ_j log λ_kj − λ_kj x_j
Gamma:        log p(x | k) = Σ_j a_kj log b_kj − log Γ(a_kj) + (a_kj − 1) log x_j − b_kj x_j
LogNormal:    log x | k ~ N(μ_k, diag σ²_k)
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

from ..arrays import Arrays, record
from ..declared import Numbers, declare
from ..kernels import EXPECT, SCORE, backend, kernel
from ..source.block import Block
from .diagonal import DiagonalGaussian, DiagonalParams
from .family import Family, Pass, occupied, recalled, refuse
from .laws import Law, LogNormalLaw
from .linear import CellStats, LinearFamily, RateFamily, RateParams
from .predictive import Predictive
from .roots import gamma_shape

__all__ = ["Exponential", "Gamma", "LogNormal"]


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

    _evened = np.cbrt  # makes waiting times nearly symmetric

    def check(self, X: np.ndarray) -> None:
        refuse(X[X < 0], "Exponential columns are not negative, but X holds {:g}.")

    def form(self, params: RateParams) -> tuple:
        return -params.rate, np.log(params.rate)

    def evidence(self, stats: CellStats, params: RateParams) -> tuple:
        return stats.count, stats.total

    def mean(self, params: RateParams) -> np.ndarray:
        return 1.0 / params.rate

    def variance(self, params: RateParams) -> np.ndarray:
        return 1.0 / params.rate**2

    def sample(self, params: RateParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.exponential(1.0 / params.rate[classes])

    def scipy(self, params: RateParams) -> tuple[str, dict[str, Any]]:
        return "expon", {"scale": 1.0 / params.rate}

    def predictive(self, prior: Any) -> Any:
        return Predictive("lomax", c=prior.shape, scale=prior.rate)


@record
class GammaParams(Arrays):
    """Shapes and rates, each (classes, d)."""

    shape: np.ndarray
    rate: np.ndarray
    _saved = declare(shape=Numbers("K d", above=0), rate=Numbers("K d", above=0))


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
    _params_type = GammaParams
    _evened = np.log

    def __init__(self, *, floor: float = 1e-6) -> None:
        self.floor = floor

    def check(self, X: np.ndarray) -> None:
        refuse(X[X <= 0], "Gamma columns are positive, but X holds {:g}.")
        refuse(X[X < 1e-140], "X holds {:g}, of which a Gamma column's rate would overflow; multiply the column.")

    def form(self, params: GammaParams) -> tuple:
        slope = np.concatenate([-params.rate, params.shape - 1.0], axis=1)
        offset = params.shape * np.log(params.rate) - gammaln(params.shape)
        return slope, np.concatenate([offset, np.zeros(offset.shape)], axis=1)

    def expected(self, params: GammaParams) -> np.ndarray:
        return np.concatenate([self.mean(params), digamma(params.shape) - np.log(params.rate)], axis=1)

    def m_step(self, stats: CellStats, params: GammaParams) -> GammaParams:
        (count, _), (total, logs) = (np.split(part, 2, axis=1) for part in (stats.count, stats.total))
        alive = occupied(count)
        count = np.where(alive, count, 1.0)
        mean = np.where(alive, total / count, 1.0)
        shape = gamma_shape(np.log(mean) - np.where(alive, logs / count, -1.0), 1.0 / self.floor)
        return GammaParams(np.where(alive, shape, params.shape), np.where(alive, shape / mean, params.rate))

    def mean(self, params: GammaParams) -> np.ndarray:
        return params.shape / params.rate

    def variance(self, params: GammaParams) -> np.ndarray:
        return params.shape / params.rate**2

    def sample(self, params: GammaParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        X = rng.gamma(params.shape[classes], 1.0 / params.rate[classes])
        return np.maximum(X, np.finfo(float).tiny)

    def scipy(self, params: GammaParams) -> tuple[str, dict[str, Any]]:
        return "gamma", {"a": params.shape, "scale": 1.0 / params.rate}

    def free(self, params: GammaParams) -> np.ndarray:
        """Log shapes and log means."""
        return np.concatenate([np.log(params.shape).ravel(), np.log(self.mean(params)).ravel()])

    def bound(self, vector: np.ndarray, params: GammaParams) -> GammaParams:
        shape, mean = (np.exp(part).reshape(params.shape.shape) for part in np.split(np.clip(vector, -600, 600), 2))
        shape = np.minimum(shape, 1.0 / self.floor)
        return GammaParams(shape, shape / mean)


LARGEST_LOG = 345.0
"""Of a number whose square is a number."""


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

    @property
    def core(self) -> Any:
        return DiagonalGaussian()  # of the logarithms

    def check_params(self, params: Any, n_classes: int, n_columns: int) -> None:
        super().check_params(params, n_classes, n_columns)
        Numbers("K d", high=LARGEST_LOG).check("mean", np.abs(params.mean) + params.variance, {}, self)

    draw, filled = Family.draw, Family.filled  # by the law and by samples: the parent's are those of the logarithms

    def check(self, X: np.ndarray) -> None:
        refuse(X[X <= 0], "LogNormal columns are positive, but X holds {:g}.")

    def logged(self, block: Block) -> Block:
        """The block of logarithms."""

        def make() -> Any:
            X = kernel("features", backend(block.X))(block.X, ("log",))
            return replace(block, X=X, local={"total": kernel("row_sums", backend(X))(X)})

        return recalled(block, "logged", make)

    def start(self, block: Block, resp: Any) -> DiagonalParams:
        return super().start(self.logged(block), resp)

    def law(self, params: DiagonalParams, block: Block) -> Law:
        columns = block.missing_cells[1]
        return LogNormalLaw(params.mean[:, columns].T, params.covariance[:, columns].T)

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        return super().embed(self.logged(block), rng)

    def one_pass(self, params: DiagonalParams, block: Block, mode: int, log_weight: np.ndarray, out: Any) -> Pass:
        logged = self.logged(block)
        loglik, count, stats = super().one_pass(params, logged, mode, log_weight, out)
        # The density of x is that of log x, over x.
        if mode == SCORE:
            out -= logged.local["total"]
        elif mode == EXPECT:
            loglik -= float(block.weight @ logged.local["total"])
        return loglik, count, stats

    def mean(self, params: DiagonalParams) -> np.ndarray:
        return np.exp(params.mean + 0.5 * params.variance)

    def variance(self, params: DiagonalParams) -> np.ndarray:
        return np.expm1(params.variance) * self.mean(params) ** 2

    def entropy(self, params: DiagonalParams) -> np.ndarray:
        return super().entropy(params) + params.mean.sum(axis=1)

    def predictive(self, prior: Any) -> Any:
        raise NotImplementedError("the logarithm of the next row has a Student t; take logarithms and use Normal.")

    def distance(self, params: DiagonalParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        return super().distance(params, self.logged(block))

    def sample(self, params: DiagonalParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.exp(super().sample(params, classes, rng))
