"""Gaussians whose columns are independent given the class: a variance per column, or one for all columns.

σ²_kj = Σ_i r_ik (x_ij − μ_kj)² / Σ_i r_ik   over the rows where column j is observed
"""

from functools import cached_property

import numpy as np

from ..arrays import Arrays, record
from ..engine.loop import SingularError
from ..kernels import backend, cast, kernel
from .base import occupied
from .gaussian import LOG_2PI, SINGULAR, Gaussian, GaussianParams

__all__ = ["DiagonalGaussian", "SphericalGaussian"]


@record
class DiagonalStats(Arrays):
    """Σ r, Σ r (x − o) and Σ r (x − o)² over observed cells, each (classes, d)."""

    count: np.ndarray
    first: np.ndarray
    second: np.ndarray


@record
class DiagonalParams(GaussianParams):
    """A variance per class and column."""

    @property
    def variance(self):
        """Variances as (classes, d)."""
        return self.covariance

    @cached_property
    def dense(self):
        return self.variance[:, :, None] * np.eye(self.mean.shape[1])

    @cached_property
    def form(self):
        """Arguments of the kernel: 1/σ√2, (μ − o)/σ√2 and the log normaliser of every cell."""
        scale = 1.0 / np.sqrt(2.0 * self.variance)
        return scale, self.shift * scale, -0.5 * (np.log(self.variance) + LOG_2PI)


@record
class SphericalParams(DiagonalParams):
    """A variance per class."""

    @property
    def variance(self):
        return np.repeat(self.covariance[:, None], self.mean.shape[1], axis=1)


class DiagonalGaussian(Gaussian):
    """One variance per class and column."""

    matrices = False

    def shape(self, n_classes, d):
        return n_classes, d

    def params(self, mean, covariance, origin, scale):
        return DiagonalParams(mean, covariance, origin, scale)

    def pool(self, covariance, n_classes):
        return np.repeat(np.diag(covariance)[None], n_classes, axis=0)

    def one_pass(self, params, block, mode, log_weight, out):
        count, moments = np.zeros(len(params.mean)), [np.zeros(params.mean.shape) for _ in range(3)]
        form = cast(params.form, block.X)
        patterns = block.patterns
        loglik = kernel("diag", backend(block.X))(
            block.X, patterns.rows, params.origin, *form, patterns.is_complete,
            mode, log_weight, block.weight, block.labels, out, count, *moments,
        )  # fmt: skip
        return loglik, count, DiagonalStats(*moments)

    def m_step(self, stats, params):
        alive = occupied(stats.count)
        count = np.where(alive, stats.count, 1.0)
        shift = np.where(alive, stats.first / count, params.shift)
        squares = np.where(alive, stats.second - count * shift**2, 0.0)
        # What rounding leaves of a difference is no variance.
        squares = np.where(squares > 1e-13 * stats.second, squares, 0.0)
        covariance = self.variances(squares, np.where(alive, stats.count, 0.0), params)
        return self.params(params.origin + shift, covariance, params.origin, params.scale)

    def variances(self, squares, count, params):
        """Variances from sums of squared deviations and counts, each (classes, d)."""
        variance = np.where(count > 0, squares / np.where(count > 0, count, 1.0), params.covariance)
        return self.floored(variance, params)

    def least(self, params):
        """The smallest variance allowed."""
        return self.floor * params.scale

    def floored(self, variance, params):
        """Variances no smaller than allowed."""
        if self.floor == 0 and not (variance > 0).all():
            raise SingularError(SINGULAR)
        return np.maximum(variance, self.least(params))

    def free(self, params):
        """Means and log variances, in units of the data."""
        return np.concatenate([(params.shift / np.sqrt(params.scale)).ravel(), np.log(params.covariance).ravel()])

    def bound(self, vector, params):
        mean, log_variance = np.split(vector, [params.mean.size])
        mean = params.origin + mean.reshape(params.mean.shape) * np.sqrt(params.scale)
        covariance = np.exp(log_variance).reshape(params.covariance.shape)
        return self.params(mean, np.maximum(covariance, self.least(params)), params.origin, params.scale)

    def n_parameters(self, params):
        return 2 * params.mean.size


class SphericalGaussian(DiagonalGaussian):
    """One variance per class."""

    def shape(self, n_classes, d):
        return (n_classes,)

    def params(self, mean, covariance, origin, scale):
        return SphericalParams(mean, covariance, origin, scale)

    def pool(self, covariance, n_classes):
        return np.full(n_classes, np.diag(covariance).mean())

    def variances(self, squares, count, params):
        total = count.sum(axis=1)
        variance = np.where(total > 0, squares.sum(axis=1) / np.where(total > 0, total, 1.0), params.covariance)
        return self.floored(variance, params)

    def least(self, params):
        return self.floor * params.scale.mean()

    def n_parameters(self, params):
        return params.mean.size + len(params.mean)
