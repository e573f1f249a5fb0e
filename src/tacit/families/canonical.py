"""Gaussians over two views that only a few hidden variables link: x₁ = μ₁ + W₁ z + ε₁, x₂ = μ₂ + W₂ z + ε₂, ε_m ~ N(0, Ψ_m).

Σ = [[Σ₁₁, Σ₁₂], [Σ₂₁, Σ₂₂]] is free but for the rank of Σ₁₂, which is the number of hidden variables. With L_m L_mᵀ = Σ_mm and
L₁⁻¹ Σ₁₂ L₂⁻ᵀ = A diag(ρ) Bᵀ, the likeliest Σ of a covariance S keeps S₁₁, S₂₂ and the largest ρ (Bach and Jordan 2005).
"""

from typing import Any

import numpy as np

from ..source.block import Block
from .dense import FullParams
from .gaussian import Gaussian
from .structured import StructuredDense

__all__ = ["CanonicalGaussian", "canonical_form", "link"]


def canonical_form(covariance: np.ndarray, n_first: int) -> tuple[np.ndarray, ...]:
    """L₁, L₂, A, ρ and Bᵀ of covariances (…, d, d), the first view being their first `n_first` columns."""
    first = np.linalg.cholesky(covariance[..., :n_first, :n_first])
    second = np.linalg.cholesky(covariance[..., n_first:, n_first:])
    half = np.linalg.solve(first, covariance[..., :n_first, n_first:])
    cross = np.linalg.solve(second, np.swapaxes(half, -1, -2))
    left, correlation, right = np.linalg.svd(np.swapaxes(cross, -1, -2), full_matrices=False)
    return first, second, left, correlation, right


def link(covariance: np.ndarray, n_first: int, n_components: int) -> np.ndarray:
    """The covariances (…, d, d) with the views linked by their first `n_components` canonical pairs only."""
    first, second, left, correlation, right = canonical_form(covariance, n_first)
    kept = left[..., :n_components] * correlation[..., None, :n_components] @ right[..., :n_components, :]
    cross = first @ kept @ np.swapaxes(second, -1, -2)
    linked = covariance.copy()
    linked[..., :n_first, n_first:], linked[..., n_first:, :n_first] = cross, np.swapaxes(cross, -1, -2)
    return linked


class CanonicalGaussian(StructuredDense):
    """Two views, each with a full covariance, linked by a few hidden variables; one model of them per class.

    Parameters
    ----------
    n_first : int
        Columns of the first view; the others are the second.
    n_components : int
        Hidden variables; 0 makes the views independent.
    floor : float
        Smallest variance in any direction, relative to the data's variance.
    """

    def __init__(self, n_first: int, n_components: int, *, floor: float = 1e-6) -> None:
        self.n_first, self.n_components, self.floor = n_first, n_components, floor

    def start(self, block: Block, resp: Any) -> FullParams:
        params = Gaussian.start(self, block, resp)
        apart = self.pool(np.diag(params.scale), len(params.mean))
        return self.inside(params, self.params(params.mean, apart, params.origin, params.scale))

    def _likeliest(self, W: np.ndarray, count: np.ndarray, previous: np.ndarray) -> np.ndarray:
        return link(W / count[:, None, None], self.n_first, self.n_components)

    def n_parameters(self, params: FullParams) -> int:
        n_classes, d = params.mean.shape
        p, k = self.n_first, self.n_components
        q = d - p
        return n_classes * (d + p * (p + 1) // 2 + q * (q + 1) // 2 + k * (d - k))
