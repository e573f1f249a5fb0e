"""Gaussians with full covariances, one per class or one for all.

    Σ_k = S_k / N_k,   S_k = Σ_i r_ik E[(x_i − μ_k)(x_i − μ_k)ᵀ];   tied: Σ = Σ_k S_k / Σ_k N_k
"""

from functools import cached_property

import numpy as np

from ..arrays import Arrays, record
from ..kernels import EXPECT, MOMENTS, SCORE, kernel
from ..kernels.layout import pack_strips, strip_width
from .base import responsibilities
from .gaussian import LOG_2PI, Gaussian, GaussianParams, invert_triangle

__all__ = ["FullGaussian", "TiedGaussian"]


@record
class DenseStats(Arrays):
    """Σ r, Σ r E[x − o] and Σ r E[(x − o)(x − o)ᵀ]; the last is summed over classes where they share a covariance."""

    count: np.ndarray
    first: np.ndarray
    second: np.ndarray


def _constant(triangle, d):
    """Log normaliser log|P| − ½ d log 2π."""
    return np.log(np.diagonal(triangle, axis1=-2, axis2=-1)).sum(axis=-1) - 0.5 * d * LOG_2PI


@record
class FullParams(GaussianParams):
    """One (d, d) covariance per class."""

    @cached_property
    def dense(self):
        return self.covariance

    @cached_property
    def triangle(self):
        """P_k with Σ_k⁻¹ = P_k P_kᵀ."""
        return invert_triangle(np.linalg.cholesky(self.covariance))

    @cached_property
    def form(self):
        """Arguments of the complete-row kernel: strips of P, (μ − o)P, log normaliser, strip width."""
        d = self.mean.shape[1]
        width = strip_width(d)
        shift = np.einsum("ki,kij->kj", self.shift, self.triangle)
        return pack_strips(self.triangle, width), shift, _constant(self.triangle, d), width


@record
class TiedParams(GaussianParams):
    """One (d, d) covariance for all classes."""

    @cached_property
    def dense(self):
        return np.broadcast_to(self.covariance, (len(self.mean), *self.covariance.shape))

    @cached_property
    def triangle(self):
        """P with Σ⁻¹ = P Pᵀ."""
        return invert_triangle(np.linalg.cholesky(self.covariance))

    @cached_property
    def form(self):
        """Arguments of the complete-row kernel: Pᵀ, (μ − o)P, log normaliser."""
        constant = np.full(len(self.mean), _constant(self.triangle, self.mean.shape[1]))
        return np.ascontiguousarray(self.triangle.T), self.shift @ self.triangle, constant


def _as(dtype, values):
    return [value.astype(dtype, copy=False) if isinstance(value, np.ndarray) else value for value in values]


class DenseGaussian(Gaussian):
    """What full and tied families share: the passes over complete rows and over rows with missing cells."""

    log_prob_kernel = ""

    def log_prob(self, params, block):
        """Log density of the observed cells of each row under each class, (rows, classes)."""
        out = np.empty((len(params.mean), len(block)))
        form = _as(block.X.dtype, params.form)
        kernel(self.log_prob_kernel)(block.X, block.patterns.complete, params.origin, *form, out)
        if not block.patterns.is_complete:
            self._conditional(params, block, SCORE, out)
        return out.T

    def e_step(self, params, log_weight, block):
        """As `Family.e_step`; rows with missing cells are conditioned once for both halves."""
        if block.patterns.is_complete:
            joint = self.log_prob(params, block) + log_weight
            resp, _, loglik = responsibilities(joint, block.weight, block.labels)
            resp, whole = resp.T, block.patterns.complete
            return loglik, resp.sum(axis=1), self._moments(params, block, whole, resp, normalised=True)
        whole = block.patterns.complete
        resp = np.zeros((len(params.mean), len(block)))
        form = _as(block.X.dtype, params.form)
        kernel(self.log_prob_kernel)(block.X, whole, params.origin, *form, resp)
        part = resp[:, whole] + log_weight[:, None]
        loglik = kernel("normalise")(part, block.weight[whole], block.labels[whole], np.empty(len(whole)))
        resp[:, whole] = part
        more, stats = self._conditional(params, block, EXPECT, resp, log_weight)
        stats = self._moments(params, block, whole, resp, normalised=True) + stats
        return loglik + more, resp.sum(axis=1), stats

    def stats(self, params, block, resp):
        """Expected moments about the origin, of rows weighted by resp (rows, classes)."""
        resp = np.ascontiguousarray(resp.T)
        stats = self._moments(params, block, block.patterns.complete, resp)
        if block.patterns.is_complete:
            return stats
        return stats + self._conditional(params, block, MOMENTS, resp)[1]

    def _moments(self, params, block, rows, resp, *, normalised=False):
        """Moments of complete rows; `normalised` says that responsibilities sum to the rows' weights."""
        k, d = params.mean.shape
        out = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
        kernel("moments_full")(block.X, rows, params.origin, resp, *out)
        return DenseStats(*out)

    def _conditional(self, params, block, mode, out, log_weight=np.zeros(0)):
        """Score rows with missing cells into `out` or add up their expected moments."""
        k, d = params.mean.shape
        s0, s1, s2 = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
        holes = block.patterns.incomplete
        loglik = kernel("conditional")(
            block.X, holes.rows, holes.starts, holes.missing, *params.posterior,
            mode, log_weight, block.weight, block.labels, out, s0, s1, s2,
        )  # fmt: skip
        if mode == SCORE:
            return loglik, None
        # The kernel's moments are about the class means, where they are small; carried to the origin they add up.
        shift = params.shift
        cross = shift[:, :, None] * s1[:, None, :]
        outer = shift[:, :, None] * shift[:, None, :]
        s2 += cross + cross.transpose(0, 2, 1) + s0[:, None, None] * outer
        return loglik, DenseStats(s0, s1 + s0[:, None] * shift, s2)


def _means(stats, params):
    """Occupied classes, their sizes, and all means about the origin; an empty class keeps its own."""
    alive = stats.count > 1e-10
    count = np.where(alive, stats.count, 1.0)
    return alive, count, np.where(alive[:, None], stats.first / count[:, None], params.shift)


class FullGaussian(DenseGaussian):
    """One full covariance per class."""

    log_prob_kernel = "log_prob_full"

    def params(self, mean, covariance, origin, scale):
        return FullParams(mean, covariance, origin, scale)

    def pool(self, covariance, n_classes):
        return np.repeat(covariance[None], n_classes, axis=0)

    def m_step(self, stats, params):
        alive, count, shift = _means(stats, params)
        covariance = stats.second / count[:, None, None] - shift[:, :, None] * shift[:, None, :]
        covariance[alive] = self.clip(covariance[alive], params.scale)
        covariance[~alive] = params.covariance[~alive]
        return FullParams(params.origin + shift, covariance, params.origin, params.scale)

    def n_parameters(self, params):
        k, d = params.mean.shape
        return k * d + k * d * (d + 1) // 2


class TiedGaussian(DenseGaussian):
    """One full covariance for all classes."""

    log_prob_kernel = "log_prob_tied"

    def params(self, mean, covariance, origin, scale):
        return TiedParams(mean, covariance, origin, scale)

    def pool(self, covariance, n_classes):
        return covariance

    def _moments(self, params, block, rows, resp, *, normalised=False):
        x = (block.X[rows] if len(rows) < len(block) else block.X) - params.origin
        resp = np.ascontiguousarray(resp[:, rows]) if len(rows) < len(block) else resp
        if not normalised:
            second = (x * resp.sum(axis=0)[:, None]).T @ x
        else:
            # Responsibilities sum to the weights, so this never changes during a fit.
            key = params.origin.tobytes()
            if block.local.get("scatter", (None,))[0] != key:
                block.local["scatter"] = key, (x * block.weight[rows][:, None]).T @ x
            second = block.local["scatter"][1]
        return DenseStats(resp.sum(axis=1), resp @ x, second)

    def _conditional(self, params, block, mode, out, log_weight=np.zeros(0)):
        loglik, stats = super()._conditional(params, block, mode, out, log_weight)
        return loglik, stats and DenseStats(stats.count, stats.first, stats.second.sum(axis=0))

    def m_step(self, stats, params):
        _, count, shift = _means(stats, params)
        between = (shift * np.where(stats.count > 1e-10, count, 0.0)[:, None]).T @ shift
        covariance = self.clip((stats.second - between) / stats.count.sum(), params.scale)
        return TiedParams(params.origin + shift, covariance, params.origin, params.scale)

    def n_parameters(self, params):
        k, d = params.mean.shape
        return k * d + d * (d + 1) // 2
