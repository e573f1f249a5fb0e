"""Factor scores from the posterior of z, z | x ~ N(m, C) with a prior N(0, I), for factors f = L z.

regression:  E[f | x] = L m,  Var = L C Lᵀ      Bartlett:  f̂ = L G⁻¹ C⁻¹ m,  Var = L G⁻¹ Lᵀ,  G = C⁻¹ − I = WᵀΨ⁻¹W

C depends on which cells are observed, and is the same for all rows of a pattern.
"""

from __future__ import annotations

import numpy as np

from ..families.factor import unpack

__all__ = ["METHODS", "bartlett", "canonical", "regression", "tenberge"]

SINGULAR = 1e-10  # of the largest eigenvalue of G: directions of z of which the cells say nothing


def canonical(loading: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The same factors turned so that WᵀΨ⁻¹W is diagonal, the largest first, with loadings of positive sum."""
    root = np.sqrt(noise)[:, None]
    axes, size, _ = np.linalg.svd(loading / root, full_matrices=False)
    axes = axes * size
    turned = np.zeros_like(loading)
    # The sign is that of the sum in units of the noise, so that it does not depend on the units of the columns.
    turned[:, : len(size)] = root * axes * np.where(axes.sum(axis=0) < 0.0, -1.0, 1.0)
    return turned


def regression(
    score: np.ndarray, packed: np.ndarray, group: np.ndarray, root: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Expectations of the factors (rows, k) and their covariances by pattern (groups, k, k)."""
    k = score.shape[1]
    return score @ root.T, root @ unpack(packed)[:, :k, :k] @ root.T


def bartlett(
    score: np.ndarray, packed: np.ndarray, group: np.ndarray, root: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted least squares; NaN with infinite variance where the cells of a row do not tell all factors apart."""
    k = score.shape[1]
    precision = np.linalg.inv(unpack(packed)[:, :k, :k])
    values, vectors = np.linalg.eigh(precision - np.eye(k))
    known = values > SINGULAR * np.maximum(values[:, -1:], 1.0)
    told = np.all(known, axis=1)
    inverse = (vectors / np.where(known, values, 1.0)[:, None, :]) @ vectors.swapaxes(1, 2)
    matrix = root @ inverse @ precision
    estimate = np.einsum("nij,nj->ni", matrix[group], score)
    spread = root @ inverse @ root.T
    spread[~told] = np.where(np.eye(k, dtype=bool), np.inf, np.nan)
    return np.where(told[group][:, None], estimate, np.nan), spread


def tenberge(
    score: np.ndarray, packed: np.ndarray, group: np.ndarray, root: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The scores nearest to the factors among those whose covariance is Φ; NaN where cells do not tell all factors apart.

    References
    ----------
    ten Berge, Krijnen, Wansbeek and Shapiro (1999), Some new results on correlation-preserving factor scores prediction methods.
    """
    k = score.shape[1]
    value, vector = np.linalg.eigh(root @ root.T)
    symmetric = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T
    turn = np.linalg.solve(root, symmetric)  # orthogonal
    explained = np.eye(k) - unpack(packed)[:, :k, :k]  # variance of E[z | x]
    values, vectors = np.linalg.eigh(turn.T @ explained @ turn)
    known = values > SINGULAR
    told = np.all(known, axis=1)
    inverse = (vectors / np.sqrt(np.where(known, values, 1.0))[:, None, :]) @ vectors.swapaxes(1, 2)
    matrix = symmetric @ inverse @ turn.T
    shared = matrix @ explained @ root.T
    spread = 2.0 * root @ root.T - shared - shared.swapaxes(1, 2)
    spread[~told] = np.where(np.eye(k, dtype=bool), np.inf, np.nan)
    return np.where(told[group][:, None], np.einsum("nij,nj->ni", matrix[group], score), np.nan), spread


METHODS = {"regression": regression, "bartlett": bartlett, "tenberge": tenberge}
"""Ways to estimate factors, by name."""
