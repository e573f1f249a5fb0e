"""Laplace's approximation for two classes: p(y_i = 1 | f) = σ(f_i), f ~ N(0, K), a Gaussian at the mode of f.

    mode  f = K g,  g = y − σ(f)        W = σ (1 − σ),   B = I + W^½ K W^½ = L Lᵀ
    log q(y | θ) = −½ gᵀ f + Σ log p(y_i | f_i) − ½ log |B|

Newton's steps are those of Rasmussen and Williams (2006), algorithms 3.1, 3.2 and 5.1, all in the memory of two matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotri, dpotrs, dtrtrs
from scipy.special import expit

from ..declared import OBJECTIVE, SQUARES, Numbers, Part, declare, savable
from .averages import logistic_mean
from .evidence import factored
from .kernels import Kernel
from .pairs import Covariance

__all__ = ["Binary", "BinaryMode"]

CLOSE, NEAR, ROUNDED = 1e-8, 1e-5, 1e-4
"""Steps of f, of which the next is the square: that are the last, the last where slopes are known, and rounding."""
HALVINGS, STRIP = 30, 64


def longest(fit: Callable, place: tuple, step: tuple, least: float) -> float:
    """The largest of 1, ½, ¼, … steps from a place to where a fit is not below where it was, but for rounding."""
    length = 1.0
    for _ in range(HALVINGS):
        if fit(*(here + length * ahead for here, ahead in zip(place, step))) >= least - 1e-10 * abs(least):
            break
        length /= 2
    return length


def scale(K: np.ndarray, root: np.ndarray, out: np.ndarray) -> None:
    """Set the lower triangle of `out`, in columns, to 1 + root K root."""
    n = len(root)
    for start in range(0, n, STRIP):  # strips stay in the cache for the second factor
        columns = slice(start, start + STRIP)
        np.multiply(K[start:, columns], root[start:, None], out=out[start:, columns])
        out[start:, columns] *= root[columns]
    out[np.diag_indices(n)] += 1.0


@savable
@dataclass(frozen=True, eq=False)
class BinaryMode:
    """The Gaussian at the mode.

    Attributes
    ----------
    kernel : kernel
        With its hyperparameters.
    dual : (n,) array
        g.
    root : (n,) array
        W^½.
    factor : (n, n) array
        L.
    value : float
        log q(y | θ).
    """

    kernel: Any
    dual: np.ndarray
    root: np.ndarray
    factor: np.ndarray
    value: float
    _saved = declare(
        kernel=Part(Kernel), dual=Numbers("n", high=1), root=Numbers("n", low=0, high=0.5),
        factor=Numbers("n n", high=SQUARES), value=OBJECTIVE,
    )  # fmt: skip

    def latent(self, covariance: Covariance, X: Any, points: Any) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of f at rows X, where f was learned at `points`."""
        theta, prior = self.kernel.theta, np.array(self.kernel.diag(X))

        def one(part: slice) -> tuple[np.ndarray, np.ndarray]:
            K = covariance.cross(theta, X[part], points)
            mean = K @ self.dual
            V = dtrtrs(self.factor, (K * self.root).T, lower=1)[0]
            return mean, np.einsum("ij,ij->j", V, V)

        mean, less = covariance.in_parts(one, len(X), len(points))
        return mean, prior - less

    def probability(self, covariance: Covariance, X: Any, points: Any) -> np.ndarray:
        """Probability of class 1 of rows, averaged over f."""
        return logistic_mean(*self.latent(covariance, X, points))


class Binary:
    """Classes 0 and 1 of rows; remembers the last mode, from which the next is sought.

    Parameters
    ----------
    covariance : Covariance
    X, y : rows, and their classes
    max_iter : int
        Most Newton steps.
    """

    n_matrices = 2

    def __init__(self, covariance: Covariance, X: Any, y: np.ndarray, max_iter: int):
        self.covariance, self.X, self.y, self.max_iter = covariance, X, y.astype(np.float64), max_iter
        self.last = np.zeros(len(y))

    def _fit(self, f: np.ndarray, dual: np.ndarray) -> float:
        """What Newton's steps increase."""
        return -0.5 * dual @ f - np.logaddexp(0.0, np.where(self.y > 0, -f, f)).sum()

    def _aim(self, K: np.ndarray, B: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The dual where a Newton step from f leads, W^½ and L; B is overwritten."""
        p = expit(f)
        W = p * (1.0 - p)
        root = np.sqrt(W)
        scale(K, root, B)
        L = factored(B)
        if L is None:
            raise np.linalg.LinAlgError("not positive definite")
        b = W * f + self.y - p
        return b - root * dpotrs(L, root * dsymv(1.0, K, b, lower=1), lower=1)[0], root, L

    def _mode(self, K: np.ndarray, close: float = CLOSE) -> tuple[Any, Any, Any, Any, Any]:
        """F and its dual at the mode, W^½ and L before the last step, and that step, no longer than `close`."""
        B, n = np.empty_like(K), len(self.y)
        # Steps from the last f first, which is near the mode though no dual of this kernel leads to it.
        dual, root, L = self._aim(K, B, self.last)
        f = dsymv(1.0, K, dual, lower=1)
        objective, zero = self._fit(f, dual), -n * np.log(2.0)
        if not objective > zero:
            f, dual, objective = np.zeros(n), np.zeros(n), zero
        before = np.inf
        for _ in range(self.max_iter):
            aim, root, L = self._aim(K, B, f)
            step, ahead = aim - dual, dsymv(1.0, K, aim, lower=1) - f
            length = longest(self._fit, (f, dual), (ahead, step), objective)
            f, dual = f + length * ahead, dual + length * step
            objective, size = self._fit(f, dual), np.abs(ahead).max()
            if size < close or (size < ROUNDED and size > 0.5 * before):
                break
            before = size
        self.last = f
        return f, dual, root, L, length * ahead

    def evidence(self, theta: np.ndarray, gradient: bool = True) -> tuple[float, np.ndarray]:
        """Log q(y | θ) and its slopes; −∞ where the kernel is not positive definite."""
        K, passed = self.covariance.square(theta, self.X, gradient)
        try:
            f, dual, root, L, last = self._mode(K, NEAR if gradient else CLOSE)
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros(len(theta))
        value = self._fit(f, dual) - np.log(np.diagonal(L)).sum()
        if not gradient:
            return value, np.zeros(0)
        p = expit(f)
        inverse = dpotri(L, lower=1, overwrite_c=1)[0]
        # ∂ log q / ∂f: the third derivative of the likelihood times variances (1 − B⁻¹_ii) / W_i, where W cancels.
        bend = -0.5 * (1.0 - np.diagonal(inverse)) * (1.0 - 2.0 * p)
        moved = bend - root * dsymv(1.0, inverse, root * dsymv(1.0, K, bend, lower=1), lower=1)
        left, right = np.column_stack([0.5 * dual, moved]), np.column_stack([dual, self.y - p])

        def slope(a: slice, b: slice) -> np.ndarray:
            G = left[a] @ right[b].T
            G[:] = 0.5 * (G + right[a] @ left[b].T)
            return G - 0.5 * root[a, None] * inverse[a, b] * root[b]

        # The factor is that of the last step but one: to first order, the step changes its determinant by this.
        return value + bend @ last, passed(slope)

    def mode(self, kernel: Any) -> BinaryMode:
        """What is kept of the hyperparameters of a kernel."""
        f, dual, root, L, _ = self._mode(self.covariance.square(kernel.theta, self.X, False)[0])
        value = self._fit(f, dual) - np.log(np.diagonal(L)).sum()
        return BinaryMode(kernel, self.y - expit(f), root, np.tril(L), float(value))
