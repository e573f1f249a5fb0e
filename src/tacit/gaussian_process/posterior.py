"""What is known of f at other rows once targets were seen.

    mean k(x, Z) β,    variance k(x, x') − V(x)ᵀ V(x') + U(x)ᵀ U(x'),    V = L⁻¹ k(Z, x),  U = M⁻¹ V

Z are all rows and L Lᵀ = K, without U; or inducing points, with L Lᵀ = k(Z, Z) and M Mᵀ = I + A (see `inducing`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtrs

from ..source.threads import all_of, slices
from .pairs import Covariance

__all__ = ["Posterior"]


@dataclass(frozen=True)
class Posterior:
    """Given by points Z, dual coefficients β (m, T), L and, of inducing points, M."""

    covariance: Covariance
    theta: np.ndarray
    points: Any
    dual: np.ndarray
    factor: np.ndarray
    inner: np.ndarray | None = None

    def _blocks(self, X: Any, function: Callable[[np.ndarray], Any]) -> list[Any]:
        """function(k(x, Z)) of blocks of rows."""

        def one(part: slice) -> Any:
            return function(self.covariance.cross(self.theta, X[part], self.points))

        threads = self.covariance.threads if self.covariance.tree is not None else 1
        return all_of(one, slices(len(X), len(self.points)), threads, serial_blas=True)

    def mean(self, X: Any) -> np.ndarray:
        """Means (rows, T)."""
        return np.concatenate(self._blocks(X, lambda K: K @ self.dual))

    def reductions(self, K: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """V, and U where there is one, of rows whose k(x, Z) may be overwritten."""
        V = dtrtrs(self.factor, K.T, lower=1)[0]
        return V, None if self.inner is None else dtrtrs(self.inner, V, lower=1)[0]

    def mean_and_variance(self, X: Any, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means (rows, T) and variances (rows,), where `prior` are k(x, x) with whatever noise counts."""

        def one(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            mean = K @ self.dual
            V, U = self.reductions(K)
            less = np.einsum("ij,ij->j", V, V)
            return mean, less if U is None else less - np.einsum("ij,ij->j", U, U)

        found = self._blocks(X, one)
        return np.concatenate([mean for mean, _ in found]), prior - np.concatenate([less for _, less in found])

    def covariances(self, X: Any, prior: np.ndarray) -> np.ndarray:
        """Covariances of all pairs of rows."""
        found = self._blocks(X, self.reductions)
        V = np.hstack([V for V, _ in found])
        if self.inner is None:
            return prior - V.T @ V
        U = np.hstack([U for _, U in found])
        return prior - V.T @ V + U.T @ U
