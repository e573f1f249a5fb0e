"""Laplace's approximation for several classes jointly: p(y_i = c | f) ∝ exp f_ic, f_c ~ N(0, K), a Gaussian at the mode.

    mode  f_c = K g_c,  g = y − π        D_c = diag π_c,  E_c = D_c^½ (I + D_c^½ K D_c^½)⁻¹ D_c^½,  Σ_c E_c = M Mᵀ
    log q(y | θ) = Σ_c (−½ g_cᵀ f_c + y_cᵀ f_c − log |L_c|) − Σ_i log Σ_c exp f_ic − log |M|,    L_c L_cᵀ = I + D_c^½ K D_c^½

Newton's steps and predictions are those of Rasmussen and Williams (2006), algorithms 3.3 and 3.4. Slopes follow from
(W⁻¹ + K)⁻¹ = E − E (1 1ᵀ ⊗ (Σ E)⁻¹) E, W being diag π − π πᵀ of every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotri, dpotrs, dtrtrs
from scipy.special import logsumexp, softmax

from ..declared import OBJECTIVE, SQUARES, Numbers, Part, declare, savable
from .averages import softmax_mean
from .evidence import factored
from .kernels import Kernel
from .laplace import CLOSE, ROUNDED, longest
from .pairs import Covariance

__all__ = ["Softmax", "SoftmaxMode"]


@savable
@dataclass(frozen=True, eq=False)
class SoftmaxMode:
    """The Gaussian at the mode.

    Attributes
    ----------
    kernel : kernel
        With its hyperparameters.
    dual, root : (n, C) arrays
        g and π^½.
    factors : (C, n, n) array
        L_c.
    inner : (n, n) array
        M.
    value : float
        log q(y | θ).
    """

    kernel: Any
    dual: np.ndarray
    root: np.ndarray
    factors: np.ndarray
    inner: np.ndarray
    value: float
    _saved = declare(
        kernel=Part(Kernel), dual=Numbers("n C", high=1), root=Numbers("n C", low=0, high=1),
        factors=Numbers("C n n", high=SQUARES), inner=Numbers("n n", high=SQUARES), value=OBJECTIVE,
    )  # fmt: skip

    def latent(self, covariance: Covariance, X: Any, points: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means (rows, C) and covariances (rows, C, C) of f at rows X."""
        theta, prior = self.kernel.theta, np.array(self.kernel.diag(X))
        n_classes = self.dual.shape[1]

        def one(part: slice) -> tuple[np.ndarray, np.ndarray]:
            K = covariance.cross(theta, X[part], points)
            spread, tied = np.zeros((len(K), n_classes, n_classes)), []
            for c, (root, L) in enumerate(zip(self.root.T, self.factors)):
                V = dtrtrs(L, (K * root).T, lower=1)[0]
                spread[:, c, c] = prior[part] - np.einsum("ij,ij->j", V, V)
                tied.append(dtrtrs(self.inner, root[:, None] * dtrtrs(L, V, lower=1, trans=1)[0], lower=1)[0])
            U = np.array(tied)
            return K @ self.dual, spread + np.einsum("cir,dir->rcd", U, U, optimize=True)

        mean, covariances = covariance.in_parts(one, len(X), len(points))
        return mean, covariances

    def probabilities(self, covariance: Covariance, X: Any, points: Any) -> np.ndarray:
        """Probabilities of the classes of rows, averaged over f."""
        return softmax_mean(*self.latent(covariance, X, points))


@dataclass(frozen=True)
class _Curvature:
    """W at some f."""

    p: np.ndarray  # (n, C)
    factors: list  # L_c
    E: list  # E_c
    own: np.ndarray  # (n, C), diagonals of (I + D_c^½ K D_c^½)⁻¹
    inner: np.ndarray  # M

    @property
    def log_root(self) -> float:
        """½ log |I + K W|."""
        logs = sum(np.log(np.diagonal(L)).sum() for L in self.factors)
        return float(logs + np.log(np.diagonal(self.inner)).sum())

    def weigh(self, v: np.ndarray) -> np.ndarray:
        """(W⁻¹ + K)⁻¹ K⁻¹-free product: E v − E (Σ E)⁻¹ Σ_c E_c v_c of (n, C)."""
        each = np.column_stack([E @ part for E, part in zip(self.E, v.T)])
        shared = dpotrs(self.inner, each.sum(axis=1), lower=1)[0]
        return each - np.column_stack([E @ shared for E in self.E])


class Softmax:
    """Classes 0, 1, … of rows; remembers the last mode, from which the next is sought.

    Parameters
    ----------
    covariance : Covariance
    X, y : rows, and their classes
    max_iter : int
        Most Newton steps.
    """

    def __init__(self, covariance: Covariance, X: Any, y: np.ndarray, max_iter: int):
        self.covariance, self.X, self.max_iter = covariance, X, max_iter
        self.y = (y[:, None] == np.arange(y.max() + 1)).astype(np.float64)
        self.n_matrices = 2 * self.y.shape[1] + 4
        self.last = np.zeros_like(self.y)

    def _fit(self, f: np.ndarray, dual: np.ndarray) -> float:
        """What Newton's steps increase."""
        return float(-0.5 * np.vdot(dual, f) + np.vdot(self.y, f) - logsumexp(f, axis=1).sum())

    def _curvature(self, K: np.ndarray, f: np.ndarray) -> _Curvature:
        p = softmax(f, axis=1)
        factors, weights, own = [], [], []
        for root in np.sqrt(p).T:
            B = root[:, None] * K * root
            B[np.diag_indices(len(K))] += 1.0
            L = factored(np.asfortranarray(B))
            if L is None:
                raise np.linalg.LinAlgError("not positive definite")
            inverse = _whole(dpotri(L, lower=1)[0])
            factors.append(L)
            own.append(np.diagonal(inverse).copy())
            inverse *= root
            inverse *= root[:, None]
            weights.append(inverse)
        inner = factored(np.asfortranarray(np.sum(weights, axis=0)))
        if inner is None:
            raise np.linalg.LinAlgError("not positive definite")
        return _Curvature(p, factors, weights, np.array(own).T, inner)

    def _mode(self, K: np.ndarray) -> tuple[np.ndarray, np.ndarray, _Curvature]:
        """f, its dual and the curvature at the mode."""
        n, n_classes = self.y.shape
        dual = self._aim(K, self._curvature(K, self.last), self.last)
        f = K @ dual
        objective, zero, before = self._fit(f, dual), -n * np.log(n_classes), np.inf
        if not objective > zero:
            f, dual, objective = np.zeros_like(f), np.zeros_like(f), zero
        for _ in range(self.max_iter):
            bent = self._curvature(K, f)
            aim = self._aim(K, bent, f)
            step, ahead = aim - dual, K @ aim - f
            length = longest(self._fit, (f, dual), (ahead, step), objective)
            f, dual = f + length * ahead, dual + length * step
            objective, size = self._fit(f, dual), np.abs(ahead).max()
            if size < CLOSE or (size < ROUNDED and size > 0.5 * before):
                break
            before = size
        self.last = f
        return f, dual, bent

    def _aim(self, K: np.ndarray, bent: _Curvature, f: np.ndarray) -> np.ndarray:
        """The dual where a Newton step from f leads."""
        p = bent.p
        b = p * f - p * (p * f).sum(axis=1, keepdims=True) + self.y - p
        return b - bent.weigh(K @ b)

    def evidence(self, theta: np.ndarray, gradient: bool = True) -> tuple[float, np.ndarray]:
        """Log q(y | θ) and its slopes; −∞ where the kernel is not positive definite."""
        K, passed = self.covariance.square(theta, self.X, gradient)
        K = _whole(K)
        try:
            f, dual, bent = self._mode(K)
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros(len(theta))
        value = self._fit(f, dual) - bent.log_root
        if not gradient:
            return value, np.zeros(0)
        H = np.sum(bent.E, axis=0)
        tied = []
        for E in bent.E:
            Q = dtrtrs(bent.inner, E, lower=1)[0]
            H -= Q.T @ Q
            tied.append(Q @ K)
        moved = self._moved(K, bent, tied)
        g = self.y - bent.p
        left, right = np.hstack([0.5 * dual, moved]), np.hstack([dual, g])

        def slope(a: slice, b: slice) -> np.ndarray:
            return 0.5 * (left[a] @ right[b].T + right[a] @ left[b].T - H[a, b])

        return value, passed(slope)

    @staticmethod
    def _moved(K: np.ndarray, bent: _Curvature, tied: list) -> np.ndarray:
        """(I + W K)⁻¹ s with s = ∂(−½ log |I + K W|) / ∂f, (n, C)."""
        p = bent.p
        # Posterior covariances of each row's f, from which the change of its W is weighed.
        spread = np.array([[np.einsum("ij,ij->j", a, b) for b in tied] for a in tied]).transpose(2, 0, 1)
        n_classes = p.shape[1]
        spread[:, range(n_classes), range(n_classes)] += (1.0 - bent.own) / np.maximum(p, 1e-300)
        h = np.diagonal(spread, axis1=1, axis2=2) - 2.0 * np.einsum("ncd,nd->nc", spread, p)
        s = -0.5 * p * (h - (p * h).sum(axis=1, keepdims=True))
        return s - bent.weigh(K @ s)

    def mode(self, kernel: Any) -> SoftmaxMode:
        """What is kept of the hyperparameters of a kernel."""
        f, dual, bent = self._mode(_whole(self.covariance.square(kernel.theta, self.X, False)[0]))
        value = self._fit(f, dual) - bent.log_root
        factors = np.array([np.tril(L) for L in bent.factors])
        return SoftmaxMode(kernel, self.y - bent.p, np.sqrt(bent.p), factors, np.tril(bent.inner), float(value))


def _whole(lower: np.ndarray) -> np.ndarray:
    """A symmetric matrix from its lower triangle."""
    made = np.tril(lower)
    made += np.tril(lower, -1).T
    return made
