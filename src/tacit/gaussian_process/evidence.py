"""The marginal likelihood of exact regression, and the posterior, in the memory of one matrix of all pairs.

log p(Y | θ) = −½ tr Yᵀ K⁻¹ Y − ½ T log |K| − ½ n T log 2π,    ∂/∂K = ½ (K⁻¹ Y Yᵀ K⁻¹ − T K⁻¹),    K = k(X, X) + diag(v)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from .pairs import Covariance

__all__ = ["Evidence", "evidence", "factored"]

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Evidence:
    """What one evaluation gives."""

    value: float
    slopes: np.ndarray  # with respect to θ
    noise_slopes: np.ndarray  # (n,), with respect to v
    factor: np.ndarray  # the lower triangle L of K = L Lᵀ; K⁻¹ where slopes were asked for
    dual: np.ndarray  # K⁻¹ Y (n, T)


def factored(K: np.ndarray) -> np.ndarray | None:
    """The Cholesky factor of a matrix whose lower triangle is given, in its place; None where it is not positive definite."""
    L, info = dpotrf(K, lower=1, clean=0, overwrite_a=1)
    return L if info == 0 and np.isfinite(L[-1, -1]) else None


def evidence(
    covariance: Covariance, theta: np.ndarray, X: Any, Y: np.ndarray, noise: Any, gradient: bool = True
) -> Evidence | None:
    """The marginal likelihood of targets Y (n, T) with noise variances v; None where K is not positive definite.

    Parameters
    ----------
    covariance : Covariance
    theta : (p,) array
    X, Y, noise
        Rows, targets, and noise variances: one or (n,).
    gradient : bool
        Whether slopes are wanted; the factor is then overwritten by the inverse.
    """
    K, passed = covariance.square(theta, X, gradient)
    n, n_targets = Y.shape
    K[np.diag_indices(n)] += noise
    L = factored(K)
    if L is None:
        return None
    dual = dpotrs(L, Y, lower=1)[0]
    value = -0.5 * np.vdot(Y, dual) - n_targets * (np.log(np.diagonal(L)).sum() + 0.5 * n * LOG_2PI)
    if not gradient:
        return Evidence(value, np.zeros(0), np.zeros(0), L, dual)
    inverse = dpotri(L, lower=1, overwrite_c=1)[0]

    def slope(a: slice, b: slice) -> np.ndarray:
        return 0.5 * (dual[a] @ dual[b].T - n_targets * inverse[a, b])

    own = 0.5 * ((dual * dual).sum(axis=1) - n_targets * np.diagonal(inverse))
    return Evidence(value, passed(slope), own, inverse, dual)
