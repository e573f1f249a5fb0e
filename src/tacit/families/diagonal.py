"""Gaussians whose columns are independent given the class: a variance per column, or one for all columns.

σ²_kj = Σ_i r_ik (x_ij − μ_kj)² / Σ_i r_ik   over the rows where column j is observed
"""

from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import SQUARES, Numbers, declare
from ..engine import SingularError
from ..engine.coordinates import Record
from ..kernels import backend, cast, kernel
from ..source.block import Block
from .family import Family, Pass, occupied
from .gaussian import LOG_2PI, SINGULAR, WEAK, Gaussian, GaussianParams
from .predictive import Predictive
from .scores import diagonal_prior_score, diagonal_score, gaussian_coordinates

__all__ = ["DiagonalGaussian", "SphericalGaussian"]


@record
class DiagonalStats(Arrays):
    """Σ r, Σ r (x − o) and Σ r (x − o)² over observed cells, each (classes, d)."""

    count: np.ndarray
    first: np.ndarray
    second: np.ndarray
    _summed = declare(count=Numbers("K d", low=0), second=Numbers("K d", low=0, high=SQUARES))


@record
class DiagonalParams(GaussianParams):
    """A variance per class and column."""

    _saved = GaussianParams._saved | {"covariance": Numbers("K d", above=0, high=SQUARES)}

    @property
    def variance(self) -> np.ndarray:
        """Variances as (classes, d)."""
        return self.covariance

    @cached_property
    def dense(self) -> np.ndarray:
        return self.variance[:, :, None] * np.eye(self.mean.shape[1])

    @cached_property
    def form(self) -> tuple:
        """Arguments of the kernel: 1/σ√2, (μ − o)/σ√2 and the log normaliser of every cell."""
        scale = 1.0 / np.sqrt(2.0 * self.variance)
        return scale, self.shift * scale, -0.5 * (np.log(self.variance) + LOG_2PI)


@record
class SphericalParams(DiagonalParams):
    """A variance per class."""

    _saved = GaussianParams._saved | {"covariance": Numbers("K", above=0, high=SQUARES)}

    @property
    def variance(self) -> np.ndarray:
        return np.repeat(self.covariance[:, None], self.mean.shape[1], axis=1)


class DiagonalGaussian(Gaussian):
    """One variance per class and column.

    Parameters
    ----------
    floor : float, default=1e-6
        Smallest variance in any direction, relative to the data's variance.
    prior : NormalInverseGamma, optional
        The M-step then gives the posterior mode.
    """

    params = DiagonalParams
    conjugate: str | None = "NormalInverseGamma"
    matrices = False
    expect = Family.expect  # no matrix per row: columns are independent given the class

    def shape(self, n_classes: int, d: int) -> tuple[int, ...]:
        return n_classes, d

    def variance(self, params: DiagonalParams) -> np.ndarray:
        return params.variance

    def pool(self, covariance: np.ndarray, n_classes: int) -> np.ndarray:
        return np.repeat(np.diag(covariance)[None], n_classes, axis=0)

    def one_pass(self, params: DiagonalParams, block: Block, mode: int, log_weight: np.ndarray, out: Any) -> Pass:
        count, moments = np.zeros(len(params.mean)), [np.zeros(params.mean.shape) for _ in range(3)]
        form = cast(params.form, block.X)
        patterns = block.patterns
        loglik = kernel("diag", backend(block.X))(
            block.X, patterns.rows, params.origin, *form, patterns.is_complete,
            mode, log_weight, block.weight, block.labels, out, count, *moments,
        )  # fmt: skip
        return loglik, count, DiagonalStats(*moments)

    def m_step(self, stats: DiagonalStats, params: DiagonalParams) -> DiagonalParams:
        shift, squares, count = self.moments(self.with_prior_rows(stats, params), params)
        squares, count = self.with_prior_squares(squares, count)
        covariance = self.variances(squares, count, params)
        return self.params(params.origin + shift, covariance, params.origin, params.scale)

    def moments(self, stats: DiagonalStats, params: DiagonalParams) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means about the origin, sums of squared deviations from them, and counts, each (classes, d)."""
        alive = occupied(stats.count)
        count = np.where(alive, stats.count, 1.0)
        shift = np.where(alive, stats.first / count, params.shift)
        squares = np.where(alive, stats.second - count * shift**2, 0.0)
        # What rounding leaves of a difference is no variance.
        squares = np.where(squares > 1e-13 * stats.second, squares, 0.0)
        return shift, squares, np.where(alive, stats.count, 0.0)

    def with_prior_rows(self, stats: DiagonalStats, params: DiagonalParams) -> Any:
        """Statistics with the rows at its mean that the prior is worth."""
        if self.prior is None:
            return stats
        prior = self.prior.over(params.mean.shape[1])
        shift, kappa = prior.mean - params.origin, prior.kappa
        return DiagonalStats(stats.count + kappa, stats.first + kappa * shift, stats.second + kappa * shift**2)

    def with_prior_squares(self, squares: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Squares and counts that give the mode of σ²: its exponents are ½ a row, ½ for the mean, and shape + 1."""
        if self.prior is None:
            return squares, count
        prior = self.prior.over(squares.shape[1])
        return squares + 2.0 * prior.scale, count - prior.kappa + 1.0 + 2.0 * (prior.shape + 1.0)

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> Any:
        """σ² ~ inverse χ², μ | σ² ~ N(x̄, σ²/n); without a prior, three rows with the spread of all classes are added."""
        count, mean, squares = DiagonalGaussian.evidence(self, self.stats(params, block, resp), params)
        within, varies = self.spread_within(squares.sum(axis=0), float(count[:, 0].sum()), params)
        if self.prior is None:
            rows, degrees, squares = count + WEAK, count + 2.0, squares + 3.0 * within
            mean = (mean * count + WEAK * params.origin) / rows
        else:
            posterior = self.prior.over(mean.shape[1]).observe(count, mean, squares)
            mean, rows, degrees, squares = posterior.mean, posterior.kappa, 2.0 * posterior.shape, 2.0 * posterior.scale
        variance = self.floored(self.over_columns(squares) / rng.chisquare(self.over_columns(degrees)), params)
        spread = self.params(mean, variance, params.origin, params.scale).variance / rows
        spread = np.where(varies, spread, 0.0)
        return self.params(rng.normal(mean, np.sqrt(spread)), variance, params.origin, params.scale)

    def over_columns(self, values: np.ndarray) -> np.ndarray:
        """Sums over the columns that share a variance."""
        return values

    def evidence(self, stats: DiagonalStats, params: DiagonalParams) -> tuple:
        """Number, mean and summed squared deviations of the cells of each class and column."""
        shift, squares, count = self.moments(stats, params)
        return count, params.origin + shift, squares

    def value(self, params: DiagonalParams) -> tuple:
        return params.mean, params.variance

    def at(self, mean: np.ndarray, variance: np.ndarray) -> DiagonalParams:
        return self.params(mean, variance, mean[0], variance[0])

    def predictive(self, prior: Any) -> Any:
        scale = np.sqrt(prior.scale * (prior.kappa + 1.0) / (prior.shape * prior.kappa))
        return Predictive("t", df=2.0 * prior.shape, loc=prior.mean, scale=scale)

    def variances(self, squares: np.ndarray, count: np.ndarray, params: DiagonalParams) -> np.ndarray:
        """Variances from sums of squared deviations and counts, each (classes, d)."""
        variance = np.where(count > 0, squares / np.where(count > 0, count, 1.0), params.covariance)
        return self.floored(variance, params)

    def are_above(self, params: DiagonalParams, least: float) -> bool:
        return bool((params.variance > least * params.scale).all())

    def is_whole_above(self, params: DiagonalParams, weight: Any, least: float) -> bool:
        low = int((weight @ params.variance <= least * params.scale).sum())
        if low == 0 or low >= len(weight):  # the means add variance in fewer directions than there are classes
            return low == 0
        return super().is_whole_above(params, weight, least)

    def least(self, params: DiagonalParams) -> Any:
        """The smallest variance allowed."""
        return self.floor * params.scale

    def floored(self, variance: np.ndarray, params: DiagonalParams) -> Any:
        """Variances no smaller than allowed."""
        if self.floor == 0 and not (variance > 0).all():
            raise SingularError(SINGULAR)
        return np.maximum(variance, self.least(params))

    def free(self, params: DiagonalParams) -> np.ndarray:
        """Means and log variances, in units of the data."""
        return np.concatenate([(params.shift / np.sqrt(params.scale)).ravel(), np.log(params.covariance).ravel()])

    def bound(self, vector: np.ndarray, params: DiagonalParams) -> DiagonalParams:
        mean, log_variance = np.split(vector, [params.mean.size])
        mean = params.origin + mean.reshape(params.mean.shape) * np.sqrt(params.scale)
        covariance = np.exp(log_variance).reshape(params.covariance.shape)
        return self.params(mean, np.maximum(covariance, self.least(params)), params.origin, params.scale)

    def coordinates(self, params: DiagonalParams) -> Record:
        return gaussian_coordinates(self, params)

    def score(self, stats: DiagonalStats, params: DiagonalParams) -> dict[str, np.ndarray]:
        mean, variance = diagonal_score(stats, params)
        return {"mean": mean, "covariance": self.over_columns(variance)}

    def prior_score(self, params: DiagonalParams) -> Any:
        if self.prior is None:
            return None
        mean, of_mean, of_variance = diagonal_prior_score(self.prior.over(params.mean.shape[1]), params)
        return {"mean": mean, "covariance": of_mean + of_variance}

    def n_parameters(self, params: DiagonalParams) -> int:
        return 2 * params.mean.size


class SphericalGaussian(DiagonalGaussian):
    """One variance per class.

    Parameters
    ----------
    floor : float, default=1e-6
        Smallest variance in any direction, relative to the data's variance.
    prior : NormalInverseGamma, optional
        The M-step then gives the posterior mode.
    """

    params = SphericalParams

    def shape(self, n_classes: int, d: int) -> tuple[int, ...]:
        return (n_classes,)

    def with_prior_squares(self, squares: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Here the exponents of the d means come with the inverse gamma's only once."""
        if self.prior is None:
            return squares, count
        prior, d = self._one_variance(self.prior), squares.shape[1]
        return squares + 2.0 * prior.scale[0] / d, count - prior.kappa + 1.0 + 2.0 * (prior.shape[0] + 1.0) / d

    def log_prior(self, params: DiagonalParams) -> float:
        if self.prior is None:
            return 0.0
        prior = self._one_variance(self.prior)
        means = prior.over(params.mean.shape[1]).log_prob_mean(params.mean, params.variance)
        return float(means.sum() + prior.log_prob_variance(params.covariance[:, None])[:, 0].sum())

    def prior_score(self, params: DiagonalParams) -> Any:
        if self.prior is None:
            return None
        prior = self._one_variance(self.prior).over(params.mean.shape[1])
        mean, of_mean, of_variance = diagonal_prior_score(prior, params)
        return {"mean": mean, "covariance": of_mean.sum(axis=1) + of_variance[:, 0]}

    def _one_variance(self, prior: Any) -> Any:
        if np.ptp(prior.shape) > 0 or np.ptp(prior.scale) > 0:
            raise ValueError(
                "SphericalGaussian has one variance for all columns; give its prior one shape and one scale."
            )
        return prior

    def evidence(self, stats: DiagonalStats, params: DiagonalParams) -> tuple:
        raise NotImplementedError(
            "the posterior of one variance for all columns is no NormalInverseGamma per column; use map for its mode."
        )

    def pool(self, covariance: np.ndarray, n_classes: int) -> np.ndarray:
        return np.full(n_classes, np.diag(covariance).mean())

    def over_columns(self, values: np.ndarray) -> np.ndarray:
        return values.sum(axis=1)

    def variances(self, squares: np.ndarray, count: np.ndarray, params: DiagonalParams) -> np.ndarray:
        total = count.sum(axis=1)
        variance = np.where(total > 0, squares.sum(axis=1) / np.where(total > 0, total, 1.0), params.covariance)
        return self.floored(variance, params)

    def least(self, params: DiagonalParams) -> Any:
        return self.floor * params.scale.mean()

    def n_parameters(self, params: DiagonalParams) -> int:
        return params.mean.size + len(params.mean)
