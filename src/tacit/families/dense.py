"""Gaussians with full covariances, one per class or one for all.

Σ_k = S_k / N_k,   S_k = Σ_i r_ik E[(x_i − μ_k)(x_i − μ_k)ᵀ];   tied: Σ = Σ_k S_k / Σ_k N_k
"""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import multigammaln, softmax

from ..arrays import Arrays, record
from ..declared import SQUARES, Numbers, declare
from ..engine.coordinates import Record
from ..kernels import EXPECT, MOMENTS, backend, cast, kernel, on_device, zeros
from ..kernels.layout import pack_strips, strip_width
from ..source.block import Block
from .family import Pass, occupied
from .gaussian import LOG_2PI, WEAK, Gaussian, GaussianParams, incomplete_rows, invert_triangle
from .predictive import MultivariatePredictive
from .scores import dense_prior_score, dense_score, gaussian_coordinates

__all__ = ["DenseStats", "FullGaussian", "FullParams", "TiedGaussian", "about_origin", "class_means"]


@record
class DenseStats(Arrays):
    """Σ r, Σ r E[x − o] and Σ r E[(x − o)(x − o)ᵀ]; the last is summed over classes where they share a covariance."""

    count: np.ndarray
    first: np.ndarray
    second: np.ndarray
    _summed = declare(count=Numbers("K", low=0), second=Numbers("K d d | d d", form="scatter", high=SQUARES))


def _constant(triangle: np.ndarray, d: int, log_unit: float = LOG_2PI) -> Any:
    """Log normaliser log|P| − ½ d log 2π."""
    return np.log(np.diagonal(triangle, axis1=-2, axis2=-1)).sum(axis=-1) - 0.5 * d * log_unit


@record
class FullParams(GaussianParams):
    """One (d, d) covariance per class."""

    _saved = GaussianParams._saved | {"covariance": Numbers("K d d", form="definite", high=SQUARES)}

    @cached_property
    def dense(self) -> np.ndarray:
        return self.covariance

    @cached_property
    def triangle(self) -> np.ndarray:
        """P_k with Σ_k⁻¹ = P_k P_kᵀ."""
        return self._roots[0]

    @cached_property
    def _roots(self) -> tuple:
        return kernel("roots", backend(self.covariance))(self.covariance)

    @cached_property
    def form(self) -> tuple:
        """Arguments of the complete-row kernel: strips of P, (μ − o)P, log normaliser, strip width."""
        return self.strips(LOG_2PI)

    def strips(self, log_unit: float) -> tuple:
        """Strips of P, (μ − o)P, log|P| − ½ d log_unit, strip width."""
        d, (triangle, log_root) = self.mean.shape[1], self._roots
        width, which = strip_width(d), backend(triangle)
        # On a device the triangles stay as they are.
        strips = pack_strips(triangle, width) if which == "cpu" else triangle
        return strips, kernel("project", which)(self.shift, triangle), log_root - 0.5 * d * log_unit, width


@record
class TiedParams(GaussianParams):
    """One (d, d) covariance for all classes."""

    _saved = GaussianParams._saved | {"covariance": Numbers("d d", form="definite", high=SQUARES)}

    @cached_property
    def dense(self) -> np.ndarray:
        return np.broadcast_to(self.covariance, (len(self.mean), *self.covariance.shape))

    @cached_property
    def triangle(self) -> np.ndarray:
        """P with Σ⁻¹ = P Pᵀ."""
        return invert_triangle(np.linalg.cholesky(self.covariance))

    @cached_property
    def form(self) -> tuple:
        """Arguments of the complete-row kernel: Pᵀ/√2, (μ − o)P/√2, log normaliser."""
        constant = np.full(len(self.mean), _constant(self.triangle, self.mean.shape[1]))
        half = self.triangle * np.sqrt(0.5)
        return np.ascontiguousarray(half.T), self.shift @ half, constant


class DenseGaussian(Gaussian):
    """What full and tied families share: complete rows go one way, rows with missing cells another, in one pass each."""

    conjugate: str | None = "NormalInverseWishart"

    def free(self, params: Any) -> np.ndarray:
        """Means and log-Cholesky factors, in units of the data."""
        root = np.sqrt(params.scale)
        lower = np.linalg.cholesky(params.covariance / (root[:, None] * root))
        i, j = np.tril_indices(len(root), -1)
        log_diagonal = np.log(np.diagonal(lower, axis1=-2, axis2=-1))
        return np.concatenate([(params.shift / root).ravel(), lower[..., i, j].ravel(), log_diagonal.ravel()])

    def bound(self, vector: np.ndarray, params: Any) -> Any:
        d, root = len(params.scale), np.sqrt(params.scale)
        # A leap may ask for any number; beyond these the likelihood refuses it anyway.
        mean, rest = np.split(np.clip(vector, -1e10, 1e10), [params.mean.size])
        i, j = np.tril_indices(d, -1)
        shape = params.covariance.shape[:-2]
        below, log_diagonal = np.split(rest, [int(np.prod(shape)) * len(i)])
        lower = np.zeros(params.covariance.shape)
        lower[..., i, j] = below.reshape(*shape, len(i))
        lower[..., range(d), range(d)] = np.exp(np.clip(log_diagonal, -150.0, 20.0)).reshape(*shape, d)
        covariance = (lower @ np.swapaxes(lower, -1, -2)) * (root[:, None] * root)
        mean = params.origin + mean.reshape(params.mean.shape) * root
        return self.params(mean, self.clip(covariance, params.scale), params.origin, params.scale)

    def coordinates(self, params: Any) -> Record:
        return gaussian_coordinates(self, params)

    def score(self, stats: DenseStats, params: Any) -> dict[str, np.ndarray]:
        return dense_score(stats, params)

    def prior_score(self, params: Any) -> Any:
        return None if self.prior is None else dense_prior_score(self.prior.over(params.mean.shape[1]), params)

    def with_prior_rows(self, stats: DenseStats, params: Any) -> Any:
        """Statistics with the rows that the prior is worth, and what the scatter of each class is divided by.

        The exponents of |Σ| add up: a row has ½, a class's mean ½, and the inverse Wishart (dof + d + 1)/2 for every Σ.
        """
        if self.prior is None:
            return stats, stats.count
        prior, k = self.prior.over(params.mean.shape[1]), len(stats.count)
        tied = stats.second.ndim == 2
        shift = prior.mean - params.origin
        rows = prior.kappa * np.outer(shift, shift)
        second = stats.second + (k * rows if tied else rows) + prior.scale
        pseudo = DenseStats(stats.count + prior.kappa, stats.first + prior.kappa * shift, second)
        return pseudo, stats.count + 1.0 + (prior.dof + len(shift) + 1.0) / (k if tied else 1)

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> Any:
        """Σ ~ inverse Wishart, μ | Σ ~ N(x̄, Σ/n).

        Without a prior, Σ is drawn towards the variances of the columns within classes, worth as many rows as the evidence says.
        """
        seen = self.stats(params, block, resp)
        stats = seen if self.prior is None else self.with_prior_rows(seen, params)[0]
        alive, rows, shift = class_means(stats, params)
        rows, shift = np.where(alive, rows, 0.0), np.where(alive[:, None], shift, 0.0)
        tied, d = stats.second.ndim == 2, len(params.scale)
        outer = rows[:, None, None] * shift[:, :, None] * shift[:, None, :]
        scatter = (stats.second - outer.sum(axis=0))[None] if tied else stats.second - outer
        degrees = np.array([seen.count.sum()]) if tied else seen.count
        target, varies = self.spread_within(np.einsum("kii->i", scatter), float(seen.count.sum()), params)
        if self.prior is None:
            degrees = np.maximum(degrees - (len(shift) if tied else 1.0), 0.0)
            target = target * seen.count.sum() / rng.chisquare(max(degrees.sum(), 1.0), d)  # it is not known either
            worth = drawn_dof(scatter, degrees, target, rng)
            degrees, scatter = degrees + worth, scatter + (worth - d - 1.0) * np.diag(target)
            rows = seen.count + WEAK
            shift = shift * (seen.count / rows)[:, None]
        else:
            degrees = degrees + self.prior.dof
        covariance = np.stack([drawn_covariance(*part, rng) for part in zip(degrees, scatter)])
        covariance = np.where(np.logical_and.outer(varies, varies) | np.eye(d, dtype=bool), covariance, 0.0)
        root = np.linalg.cholesky(covariance) / np.sqrt(rows)[:, None, None]
        apart = np.einsum("kij,kj->ki", root, rng.standard_normal(shift.shape))
        mean = params.origin + shift + np.where(varies, apart, 0.0)
        covariance = self.clip(covariance[0] if tied else covariance, params.scale)
        return self.params(mean, covariance, params.origin, params.scale)

    def one_pass(self, params: Any, block: Block, mode: int, log_weight: np.ndarray, out: Any) -> Pass:
        rest = mode, log_weight, block.weight, block.labels, out
        loglik, stats = self._complete(params, block, rest)
        if not block.patterns.is_complete:
            more, incomplete = self._incomplete(params, block, rest)
            loglik, stats = loglik + more, stats + incomplete
        return loglik, stats.count, stats

    def _complete(self, params: Any, block: Block, rest: tuple) -> tuple[float, Any]:
        """The pass over complete rows."""
        raise NotImplementedError

    def _incomplete(self, params: Any, block: Block, rest: tuple) -> tuple[float, Any]:
        """The pass over rows with missing cells."""
        k, d = params.mean.shape
        s0, s1, s2 = np.zeros(k), np.zeros((k, d)), zeros((k, d, d), params.dense)
        loglik = kernel("conditional", backend(block.X))(*incomplete_rows(block), *params.posterior, *rest, s0, s1, s2)
        return loglik, DenseStats(*about_origin(params.shift, s0, s1, s2))


def drawn_covariance(degrees: float, scatter: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A draw of Σ ~ inverse Wishart, by Bartlett's decomposition of Σ⁻¹."""
    d = len(scatter)
    lower = np.tril(rng.standard_normal((d, d)), -1)
    lower[range(d), range(d)] = np.sqrt(rng.chisquare(degrees - np.arange(d)))
    root = solve_triangular(lower, np.linalg.cholesky(scatter).T, lower=True)  # Σ = C A⁻ᵀ A⁻¹ Cᵀ
    return root.T @ root


def drawn_dof(scatter: np.ndarray, degrees: np.ndarray, target: np.ndarray, rng: np.random.Generator) -> float:
    """Degrees of freedom of an inverse Wishart with expectation diag(target), drawn by how likely they make the scatter.

    A priori few are likelier: one correlation alone does not say how large correlations are.
    """
    d, root = len(target), np.sqrt(target)
    rows = degrees.sum()
    worth = d + 1.0 + np.geomspace(0.5, 20.0 * max(rows, d), 24)[:, None]
    value = np.maximum(np.linalg.eigvalsh(scatter / (root[:, None] * root)), 0.0)
    excess, total = worth - d - 1.0, worth + degrees
    log_det = np.log(value + excess[..., None]).sum(axis=-1)
    before = 0.5 * worth * d * np.log(excess) - multigammaln(0.5 * worth, d)
    fit = (before - 0.5 * total * log_det + multigammaln(0.5 * total, d)).sum(axis=1) - np.log(excess[:, 0])
    return float(rng.choice(worth[:, 0], p=softmax(fit)))


def about_origin(shift: np.ndarray, s0: np.ndarray, s1: np.ndarray, s2: Any) -> tuple[Any, ...]:
    """Moments about class means, where kernels keep them small, carried to the origin, where they add up."""
    return kernel("centre_moments", backend(s2))(shift, s0, s1, s2)


def class_means(stats: Any, params: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Occupied classes, their sizes, and all means about the origin; an empty class keeps its own."""
    alive = occupied(stats.count)
    count = np.where(alive, stats.count, 1.0)
    return alive, count, np.where(alive[:, None], stats.first / count[:, None], params.shift)


class FullGaussian(DenseGaussian):
    """One full covariance per class.

    Parameters
    ----------
    floor : float, default=1e-6
        Smallest variance in any direction, relative to the data's variance.
    prior : NormalInverseWishart, optional
        The M-step then gives the posterior mode.
    """

    params: Any = FullParams
    complete_posterior = True

    def pool(self, covariance: np.ndarray, n_classes: int) -> np.ndarray:
        return np.repeat(covariance[None], n_classes, axis=0)

    def _complete(self, params: FullParams, block: Block, rest: tuple) -> tuple[float, Any]:
        k, d = params.mean.shape
        X, out = self.rows(params, block), (np.zeros(k), np.zeros((k, d)), zeros((k, d, d), params.covariance))
        form = cast(params.form, X)
        loglik = kernel("full", backend(X))(X, block.patterns.complete, params.origin, *form, *rest, *out)
        return loglik, DenseStats(*out)

    def m_step(self, stats: DenseStats, params: FullParams) -> FullParams:
        stats, divisor = self.with_prior_rows(stats, params)
        alive, count, shift = class_means(stats, params)
        if not alive.all():
            stats, params = stats.on_host(), params.on_host()
        covariance = kernel("within", backend(stats.second))(stats.second, count, shift)
        if self.prior is not None:
            covariance *= (count / divisor)[:, None, None]
        # With every class alive, which is the rule, there is nothing to pick and copy.
        if alive.all():
            covariance = self.clip(covariance, params.scale)
        else:
            covariance[alive] = self.clip(covariance[alive], params.scale)
            covariance[~alive] = params.covariance[~alive]
        return FullParams(params.origin + shift, covariance, params.origin, params.scale)

    def place(self, params: FullParams, device: Any) -> FullParams:
        if type(self) is not FullGaussian or self.prior is not None or backend(params.covariance) == "torch":
            return params
        return replace(params, covariance=on_device(params.covariance, device))

    def evidence(self, stats: DenseStats, params: FullParams) -> tuple:
        """Number, mean and scatter of the rows of each class."""
        _, count, shift = class_means(stats, params)
        outer = shift[:, :, None] * shift[:, None, :]
        return stats.count, params.origin + shift, stats.second - count[:, None, None] * outer

    def value(self, params: FullParams) -> tuple:
        return params.mean, params.covariance

    def at(self, mean: np.ndarray, covariance: np.ndarray) -> FullParams:
        return FullParams(mean, covariance, mean[0], np.diagonal(covariance[0]))

    def predictive(self, prior: Any) -> Any:
        dof = prior.dof - len(prior.mean) + 1.0
        return MultivariatePredictive(prior.mean, prior.scale * (prior.kappa + 1.0) / (prior.kappa * dof), dof)

    def n_parameters(self, params: FullParams) -> int:
        k, d = params.mean.shape
        return k * d + k * d * (d + 1) // 2


class TiedGaussian(DenseGaussian):
    """One full covariance for all classes.

    Parameters
    ----------
    floor : float, default=1e-6
        Smallest variance in any direction, relative to the data's variance.
    prior : NormalInverseWishart, optional
        The M-step then gives the posterior mode.
    """

    params = TiedParams

    def shape(self, n_classes: int, d: int) -> tuple[int, ...]:
        return d, d

    def pool(self, covariance: np.ndarray, n_classes: int) -> np.ndarray:
        return covariance

    def _complete(self, params: TiedParams, block: Block, rest: tuple) -> tuple[float, Any]:
        k, d = params.mean.shape
        s0, s1 = np.zeros(k), np.zeros((k, d))
        X, rows, mode, out = self.rows(params, block), block.patterns.complete, rest[0], rest[-1]
        form = cast(params.form, X)
        which = backend(X)
        loglik = kernel("tied", which)(X, rows, params.origin, *form, *rest, s0, s1)
        if mode == EXPECT:
            # Responsibilities sum to the row's weight, so this never changes during a fit.
            key = params.origin.tobytes(), X.dtype
            if block.local.get("scatter", (None,))[0] != key:
                block.local["scatter"] = key, kernel("scatter", which)(X, rows, params.origin, block.weight)[1]
            second = block.local["scatter"][1]
        elif mode == MOMENTS:
            second = kernel("scatter", which)(X, rows, params.origin, out.sum(axis=0))[1]
        else:
            second = np.zeros((d, d))
        return loglik, DenseStats(s0, s1, second)

    def _incomplete(self, params: TiedParams, block: Block, rest: tuple) -> tuple[float, Any]:
        loglik, stats = super()._incomplete(params, block, rest)
        return loglik, DenseStats(stats.count, stats.first, stats.second.sum(axis=0))

    def m_step(self, stats: DenseStats, params: TiedParams) -> TiedParams:
        stats, divisor = self.with_prior_rows(stats, params)
        alive, count, shift = class_means(stats, params)
        between = (shift * np.where(alive, count, 0.0)[:, None]).T @ shift
        covariance = self.clip((stats.second - between) / np.sum(divisor), params.scale)
        return TiedParams(params.origin + shift, covariance, params.origin, params.scale)

    def evidence(self, stats: DenseStats, params: TiedParams) -> tuple:
        raise NotImplementedError(
            "the posterior of a shared covariance is no NormalInverseWishart per class; use map for its mode."
        )

    def log_prior(self, params: TiedParams) -> float:
        if self.prior is None:
            return 0.0
        prior = self.prior.over(params.mean.shape[1])
        means = prior.log_prob_mean(params.mean, params.covariance)
        return float(means.sum() + prior.log_prob_covariance(params.covariance[None])[0])

    def n_parameters(self, params: TiedParams) -> int:
        k, d = params.mean.shape
        return k * d + d * (d + 1) // 2
