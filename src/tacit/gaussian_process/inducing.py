"""Regression by inducing points: the collapsed variational bound, whose statistics are sums over rows.

    F = Σ_t log N(y_t | 0, Q + diag v) − ½ T Σ_i (k_ii − q_ii) / v_i ≤ log p(Y | θ),    Q = k(X, Z) k(Z, Z)⁻¹ k(Z, X)

With λ_i = 1 / v_i and k_i = k(Z, x_i), all that F takes of rows is Φ = Σ λ k_i k_iᵀ, b = Σ λ k_i y_iᵀ and four numbers. With
k(Z, Z) = L Lᵀ, A = L⁻¹ Φ L⁻ᵀ, I + A = M Mᵀ and c = M⁻¹ L⁻¹ b,

    F = ½ T (Σ log λ − n log 2π − log |I + A| + tr A − Σ λ k_ii) − ½ Σ λ y² + ½ tr cᵀ c

Slopes are a second pass over rows: that of F with respect to k_i is 2 λ_i P k_i + λ_i β y_i, with P = ∂F/∂Φ and β = ∂F/∂b.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtrs
from sklearn.utils import check_array, check_random_state

from ..arrays import Arrays, record
from ..cluster import KMeans
from ..kernels import backend, host
from ..source import ArraySource, Block, Source
from ..source.threads import one_blas_thread
from .covariance import Expression
from .evidence import LOG_2PI, factored

__all__ = ["Bound", "Inducing", "Sums", "choose_points"]

JITTER = 1e-8
"""What is added to the diagonal of k(Z, Z), relative to it."""
PER_POINT = 40
"""Rows of a sample, for every point, whose clusters' centres are the points."""
CHUNK = 1024
"""Rows of a block whose kernel values are made at once: they stay in the cache."""
WIDE = 128
"""Chunks made at once on a GPU, where few large steps cost less than many small ones."""


@record
class Sums(Arrays):
    """What the bound takes of rows."""

    weight: float  # n
    square: np.ndarray  # Φ (m, m)
    cross: np.ndarray  # b (m, T)
    log_precision: float  # Σ log λ
    prior: float  # Σ λ k_ii
    targets: float  # Σ λ y²


@record
class Slopes(Arrays):
    """What rows add to slopes with respect to θ."""

    theta: np.ndarray


@dataclass(frozen=True)
class Bound:
    """The bound, and what follows from its sums."""

    value: float
    factor: np.ndarray  # L
    inner: np.ndarray  # M
    dual: np.ndarray  # β (m, T), with which means are k(x, Z) β
    square_slope: np.ndarray  # P
    points_slope: np.ndarray  # ∂F/∂k(Z, Z)


class Inducing:
    """The bound of rows of a source by inducing points.

    Parameters
    ----------
    tree : Expression
        The covariance; its noise that a row shares with itself alone is v, with `alpha`.
    points : (m, d) array
        Z.
    source : Source
        Rows with targets.
    alpha : float
        Noise variance added.
    shift, scale : (T,) arrays
        What targets are less and divided by.
    """

    def __init__(self, tree: Expression, points: np.ndarray, source: Source, alpha: float, shift: Any, scale: Any):
        self.tree, self.points, self.source, self.alpha = tree, points, source, alpha
        self.shift, self.scale = shift, scale

    def of_sample(self, n_rows: int, rng: np.random.Generator) -> Inducing:
        """The same of a sample of the rows."""
        sample = ArraySource.of(self.source.sample(n_rows, rng), n_jobs=self.source.n_jobs)
        return Inducing(self.tree, self.points, sample, self.alpha, self.shift, self.scale)

    def _chunks(self, block: Block) -> Any:
        """Rows and targets of a block, a few at a time, in float64, and the points, all where the block's rows are."""
        X, Y = block.X, block.targets
        Z: Any = self.points
        step = CHUNK
        if backend(X) == "torch":
            import torch

            Z, step = torch.as_tensor(Z, device=X.device), (WIDE if X.is_cuda else 16) * CHUNK
        for start in range(0, len(X), step):
            rows = X[start : start + step]
            rows = rows.double() if backend(X) == "torch" else rows.astype(np.float64, copy=False)
            yield rows, self._scaled(Y[start : start + step], rows), Z

    def _scaled(self, targets: Any, rows: Any) -> Any:
        """Targets, shifted and scaled, where their rows are."""
        if backend(rows) == "torch" and backend(targets) == "torch":
            return (targets.to(rows) - _beside(self.shift, rows)) / _beside(self.scale, rows)
        return _beside((np.asarray(host(targets), dtype=np.float64) - self.shift) / self.scale, rows)

    def _precision(self, theta: np.ndarray, rows: Any) -> tuple[Any, Any, Any]:
        """k_ii, λ_i and what passes slopes with respect to k_ii and v_i back."""
        prior, noise, pull = self.tree.diagonal(theta, rows)
        prior, variance = (_of_rows(each, rows) for each in (prior, noise + self.alpha))
        if not (variance > 0).all():
            raise ValueError(
                "inducing points need noise, but the kernel has no WhiteKernel and alpha is 0; add WhiteKernel() to the kernel."
            )
        return prior, 1.0 / variance, pull

    def _sums(self, theta: np.ndarray, block: Block) -> Sums:
        m = len(self.points)
        total: Any = None
        for rows, y, Z in self._chunks(block):
            prior, precision, _ = self._precision(theta, rows)
            K = _full(self.tree(theta, rows, Z)[0], rows, m)
            weighted = K * precision[:, None]
            part = Sums(
                float(len(y)), np.asarray(host(weighted.T @ K)), np.asarray(host(weighted.T @ y)),
                float(np.log(host(precision)).sum()), float(precision @ prior), float(precision @ (y * y).sum(-1)),
            )  # fmt: skip
            total = part if total is None else total + part
        return total

    def _slopes(self, theta: np.ndarray, found: Bound, block: Block) -> Slopes:
        slopes, n_targets = np.zeros(len(theta)), found.dual.shape[1]
        for rows, y, Z in self._chunks(block):
            prior, precision, pull_own = self._precision(theta, rows)
            values, pull = self.tree(theta, rows, Z)
            K = _full(values, rows, len(self.points))
            dual = _beside(found.dual, K)
            bent = K @ _beside(found.square_slope, K)
            # ∂F/∂λ_i, of which −λ_i² is ∂F/∂v_i.
            own = (bent * K).sum(-1) + ((K @ dual) * y - 0.5 * y * y).sum(-1)
            own = own + 0.5 * n_targets * (1.0 / precision - prior)
            pull_own(-0.5 * n_targets * precision, -(precision**2) * own, slopes)
            bent *= 2.0
            bent += y @ dual.T
            bent *= precision[:, None]
            pull(bent, slopes)
        return Slopes(slopes)

    def bound(self, theta: np.ndarray) -> Bound | None:
        """F at hyperparameters; None where k(Z, Z) is not positive definite."""
        sums = self.source.sum(lambda block: self._sums(theta, block))
        with one_blas_thread():  # threads of small factorisations cost more than they save
            return self._bound(theta, sums)

    def _bound(self, theta: np.ndarray, sums: Sums) -> Bound | None:
        m, n_targets = sums.cross.shape
        own = np.array(np.broadcast_to(self.tree(theta, self.points, self.points.copy())[0], (m, m)), order="F")
        own[np.diag_indices(m)] *= 1.0 + JITTER
        L = factored(own)
        if L is None:
            return None
        L = np.tril(L)
        A = dtrtrs(L, dtrtrs(L, sums.square, lower=1)[0].T, lower=1)[0]
        A = 0.5 * (A + A.T)
        M = factored(np.asfortranarray(A + np.eye(m)))
        if M is None:
            return None
        M = np.tril(M)
        c = dtrtrs(M, dtrtrs(L, sums.cross, lower=1)[0], lower=1)[0]
        dual = dtrtrs(L, dtrtrs(M, c, lower=1, trans=1)[0], lower=1, trans=1)[0]
        value = 0.5 * n_targets * (
            sums.log_precision - sums.weight * LOG_2PI - 2.0 * np.log(np.diagonal(M)).sum() + np.trace(A) - sums.prior
        ) - 0.5 * sums.targets + 0.5 * np.vdot(c, c)  # fmt: skip
        root = dtrtrs(M, np.eye(m), lower=1)[0]
        less = np.eye(m) - root.T @ root  # I − (I + A)⁻¹
        outer = 0.5 * dual @ dual.T
        square_slope = 0.5 * n_targets * _about(L, less) - outer
        points_slope = 0.5 * n_targets * _about(L, less - A) - outer
        return Bound(value, L, M, dual, square_slope, points_slope)

    def evidence(self, theta: np.ndarray, gradient: bool = True) -> tuple[float, np.ndarray]:
        """F and its slopes with respect to θ; −∞ where there is none."""
        found = self.bound(theta)
        if found is None or not np.isfinite(found.value):
            return -np.inf, np.zeros(len(theta))
        if not gradient:
            return found.value, np.zeros(0)
        slopes = self.source.sum(lambda block: self._slopes(theta, found, block)).theta
        _, pull = self.tree(theta, self.points, self.points.copy())
        own = found.points_slope.copy()
        own[np.diag_indices(len(own))] *= 1.0 + JITTER
        pull(own, slopes)
        return found.value, slopes


def choose_points(source: Source, asked: Any, random_state: Any) -> np.ndarray:
    """Inducing points: given ones, checked, or centres of clusters of rows, each column divided by its deviation.

    Parameters
    ----------
    source : Source
    asked : int or array
    random_state : int, RandomState or None
    """
    if not isinstance(asked, numbers.Integral):
        points = check_array(asked, dtype=np.float64)
        if points.shape[1] != source.n_features:
            raise ValueError(
                f"inducing_points have {points.shape[1]} columns, but X has {source.n_features}; give as many."
            )
        return points
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    rows = np.asarray(host(source.sample(PER_POINT * int(asked), rng).X), dtype=np.float64)
    distinct = np.unique(rows, axis=0)
    if len(distinct) <= int(asked):
        return distinct
    scale = rows.std(axis=0)
    scale[scale == 0] = 1.0
    found = KMeans(int(asked), n_init=1, max_iter=10, random_state=0, n_jobs=source.n_jobs).fit(rows / scale)
    return np.asarray(found.cluster_centers_, dtype=np.float64) * scale


def _about(L: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """L⁻ᵀ inside L⁻¹ of a symmetric matrix."""
    half = dtrtrs(L, inside, lower=1, trans=1)[0]
    return dtrtrs(L, half.T, lower=1, trans=1)[0]


def _beside(values: np.ndarray, like: Any) -> Any:
    """An array where another one is."""
    return like.new_tensor(values) if backend(like) == "torch" else values


def _of_rows(value: Any, rows: Any) -> Any:
    """A number, or one for each row, as one for each row, where the rows are."""
    if backend(rows) != "torch":
        return np.broadcast_to(value, len(rows))
    return value if np.ndim(value) else rows.new_full((len(rows),), value)


def _full(values: Any, rows: Any, m: int) -> Any:
    """Kernel values as a matrix, where they are one number."""
    if np.ndim(values):
        return values
    return rows.new_full((len(rows), m), values) if backend(rows) == "torch" else np.full((len(rows), m), values)
