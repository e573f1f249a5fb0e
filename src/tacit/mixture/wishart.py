"""Beliefs about the means and precisions of Gaussian classes, Normal–Wishart with one of four shapes.

μ_k | Λ_k ~ N(m_k, (β_k Λ_k)⁻¹),   Λ_k ~ Wishart(ν_k, V_k⁻¹),   held as Σ_k = V_k / ν_k = E[Λ_k]⁻¹

After seeing N_k rows about m₀ with a prior β₀, m₀, ν₀, V₀, the best V_k of any shape is that shape's view of

V₀ + Σ_i r_ik x_i x_iᵀ + β₀ m₀ m₀ᵀ − β_k m_k m_kᵀ:    the matrix itself, its mean over classes, its diagonal, or the mean of that.

Shapes restrict what is believed, V_k, and not the rows: a restricted V_k is the closest of its shape, in divergence, to the
posterior of free covariances, so ν_k and the bound are those of free covariances too.
"""

from typing import Any

import numpy as np
from scipy.special import digamma, multigammaln

from ..families import DiagonalGaussian, FullGaussian, SphericalGaussian, TiedGaussian

__all__ = ["SHAPES", "expected_log_det", "wishart_divergence"]


def expected_log_det(degrees: np.ndarray, d: int) -> np.ndarray:
    """E log|Λ| − log|E Λ| for Wishart beliefs."""
    halves = 0.5 * (degrees[:, None] - np.arange(d))
    return digamma(halves).sum(axis=1) + d * np.log(2.0 / degrees)


def wishart_divergence(
    degrees: np.ndarray, log_det: np.ndarray, trace: np.ndarray, prior_degrees: float, prior_log_det: float, d: int
) -> np.ndarray:
    """KL from Wishart(ν₀, V₀⁻¹) to Wishart(ν, (ν Σ)⁻¹), given log|Σ|, tr(V₀ Σ⁻¹) and log|V₀|."""

    def log_normaliser(degrees: Any, log_det_scale: Any) -> Any:
        return 0.5 * degrees * (log_det_scale - d * np.log(2.0)) - multigammaln(0.5 * degrees, d)

    new = log_normaliser(degrees, log_det + d * np.log(degrees))
    gap = 0.5 * (degrees - prior_degrees) * (expected_log_det(degrees, d) - log_det)
    return new - log_normaliser(prior_degrees, prior_log_det) + gap + 0.5 * (trace - degrees * d)


class Full:
    """Any V_k, one per class."""

    def share(self, counts: np.ndarray) -> np.ndarray:
        """How many rows each class's precision is learned from."""
        return counts

    def moments(self, stats: Any, counts: np.ndarray, components: Any) -> tuple[np.ndarray, np.ndarray]:
        """Σ_i r_ik x_i, and Σ_i r_ik x_i x_iᵀ as this shape sees it, with expectations for missing cells."""
        return stats.first, stats.second

    def square(self, weight: np.ndarray, x: np.ndarray) -> np.ndarray:
        """w_k x_k x_kᵀ as this shape sees it."""
        return weight[:, None, None] * x[:, :, None] * x[:, None, :]

    def covariance(self, family: Any, scatter: np.ndarray, degrees: np.ndarray, components: Any) -> np.ndarray:
        """Σ_k = V_k / ν_k, no smaller than the family allows: still the best there is, as ν and Σ part in the bound."""
        return family.clip(scatter / degrees[:, None, None], components.scale)

    def log_det(self, components: Any) -> np.ndarray:
        """log|Σ_k|."""
        return -2.0 * np.log(np.diagonal(components.triangle, axis1=-2, axis2=-1)).sum(axis=-1)

    def prior_log_det(self, covariance: np.ndarray, d: int) -> float:
        """log|V₀|."""
        return np.linalg.slogdet(covariance)[1]

    def trace(self, covariance: np.ndarray, components: Any) -> np.ndarray:
        """tr(V₀ Σ_k⁻¹)."""
        return ((np.linalg.cholesky(covariance).T @ components.triangle) ** 2).sum(axis=(-2, -1))

    def distance(self, x: np.ndarray, components: Any) -> np.ndarray:
        """x_kᵀ Σ_k⁻¹ x_k."""
        return ((x[:, None, :] @ components.triangle) ** 2).sum(axis=(1, 2))


class Tied(Full):
    """One V for all classes: each learns from the mean of what all have seen."""

    def share(self, counts: np.ndarray) -> np.ndarray:
        return np.full(len(counts), counts.mean())

    def moments(self, stats: Any, counts: np.ndarray, components: Any) -> tuple[np.ndarray, np.ndarray]:
        return stats.first, stats.second / len(counts)

    def square(self, weight: np.ndarray, x: np.ndarray) -> np.ndarray:
        return (weight[:, None] * x).T @ x / len(x)

    def covariance(self, family: Any, scatter: np.ndarray, degrees: np.ndarray, components: Any) -> np.ndarray:
        return family.clip(scatter / degrees[0], components.scale)


class Diagonal(Full):
    """Diagonal V_k.

    A missing cell counts as a row of its class whose value is known as well as the class is: one number of rows for all
    columns, as for the other shapes, and a bound that never falls.
    """

    def view(self, squares: np.ndarray) -> np.ndarray:
        """A diagonal, (classes, d), as this shape sees it."""
        return squares

    def moments(self, stats: Any, counts: np.ndarray, components: Any) -> tuple[np.ndarray, np.ndarray]:
        missing, shift = np.maximum(counts[:, None] - stats.count, 0.0), components.shift
        return stats.first + missing * shift, self.view(stats.second + missing * (shift**2 + components.variance))

    def square(self, weight: np.ndarray, x: np.ndarray) -> np.ndarray:
        return self.view(weight[:, None] * x**2)

    def covariance(self, family: Any, scatter: np.ndarray, degrees: np.ndarray, components: Any) -> np.ndarray:
        return family.floored((scatter.T / degrees).T, components)

    def log_det(self, components: Any) -> np.ndarray:
        return np.log(components.variance).sum(axis=1)

    def prior_log_det(self, covariance: np.ndarray, d: int) -> float:
        return np.log(np.broadcast_to(covariance, d)).sum()

    def trace(self, covariance: np.ndarray, components: Any) -> np.ndarray:
        return (covariance / components.variance).sum(axis=1)

    def distance(self, x: np.ndarray, components: Any) -> np.ndarray:
        return (x**2 / components.variance).sum(axis=1)


class Spherical(Diagonal):
    """V_k a multiple of the unit matrix."""

    def view(self, squares: np.ndarray) -> np.ndarray:
        return squares.mean(axis=1)


SHAPES = {FullGaussian: Full(), TiedGaussian: Tied(), DiagonalGaussian: Diagonal(), SphericalGaussian: Spherical()}
"""What a Gaussian family's covariances are learned as."""
