"""Factors from correlations by least squares: minimum residual (ULS) and principal axis.

f(θ) = min_W ½ ‖R − WWᵀ − Ψ‖² = ½ Σ_rest γ²,    R − Ψ = V diag(γ) Vᵀ,    ψ_j = exp θ_j,    W = V₁ Γ₁^(1/2)

With the best diagonal Ψ only residual correlations are left in f. Principal axis repeats ψ_j = 1 − Σ_k w_jk²; it comes
to rest where f has no slope, in more and cheaper steps.

References
----------
Harman and Jones (1966), Factor analysis by minimizing residuals (minres).
Jöreskog (1977), Factor analysis by least-squares and maximum-likelihood methods.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from ...notes import Note
from .uniqueness import EXACT_COST, TIED, Point, Uniqueness, learn_uniqueness

__all__ = ["LEARN", "LeastSquares", "principal_axis"]

STILL = 1e-6  # change of a uniqueness at which principal axis ends


class LeastSquares(Point):
    """f of least squares, its slope and its curvature at log uniquenesses θ."""

    @cached_property
    def eigen(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Eigenvalues of R − Ψ, the largest first, eigenvectors, and how many of them are factors."""
        values, vectors = np.linalg.eigh(self.correlation - np.diag(np.exp(self.theta)))
        values, vectors = values[::-1], vectors[:, ::-1]
        return values, vectors, min(self.n_factors, int((values > 0.0).sum()))

    @cached_property
    def value(self) -> float:
        values, _, k = self.eigen
        return 0.5 * float((values[k:] ** 2).sum())

    @cached_property
    def misfit(self) -> float:
        loadings = self.loadings
        covariance = loadings @ loadings.T + np.diag(np.exp(self.theta))
        return float(np.linalg.slogdet(covariance)[1] + np.trace(np.linalg.solve(covariance, self.correlation)))

    @cached_property
    def slope(self) -> np.ndarray:
        """∂f/∂θ_j = −ψ_j Σ_rest γ v_j²."""
        values, vectors, k = self.eigen
        return -np.exp(self.theta) * (vectors[:, k:] ** 2 @ values[k:])

    @cached_property
    def curvature(self) -> np.ndarray:
        """∂²f/∂θ²; for large problems without what vanishes where the model fits."""
        values, vectors, k = self.eigen
        factors, rest, unique = vectors[:, :k], vectors[:, k:], np.exp(self.theta)
        curvature = (rest @ rest.T) ** 2
        if k * float(len(vectors)) ** 3 <= EXACT_COST:
            for j in range(k):
                ratio = -values[k:] / np.maximum(values[j] - values[k:], TIED * values[j])
                curvature += 2.0 * np.outer(factors[:, j], factors[:, j]) * ((rest * ratio) @ rest.T)
        return curvature * np.outer(unique, unique) + np.diag(self.slope)

    @property
    def loadings(self) -> np.ndarray:
        """W (d, n_factors); factors without a positive eigenvalue have none."""
        values, vectors, k = self.eigen
        loadings = np.zeros((len(vectors), self.n_factors))
        loadings[:, :k] = vectors[:, :k] * np.sqrt(values[:k])
        return loadings


def principal_axis(
    correlation: np.ndarray, n_factors: int, start: np.ndarray, *, floor: float = 0.005, max_iter: int = 1000
) -> Uniqueness:
    """Repeat ψ = diag(R − WWᵀ), with W of the k leading eigenvectors of R − Ψ, until no uniqueness moves."""
    lowest = np.log(floor)
    point = LeastSquares(correlation, np.clip(np.log(np.maximum(start, floor)), lowest, 0.0), n_factors)
    trace, converged = [point.misfit], False
    reason = Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=max_iter)
    for _ in range(max_iter):
        unique = np.clip(1.0 - (point.loadings**2).sum(axis=1), floor, 1.0)
        change = float(np.abs(unique - np.exp(point.theta)).max())
        point = LeastSquares(correlation, np.maximum(np.log(unique), lowest), n_factors)
        trace.append(point.misfit)
        if change <= STILL:
            converged, reason = True, Note("still", "no uniqueness changes by more than {still:g}", still=STILL)
            break
    at_floor = point.theta <= lowest
    return Uniqueness(np.exp(point.theta), point.loadings, at_floor, point.value, trace, converged, reason)


LEARN: dict[str, Callable[..., Uniqueness]] = {
    "ml": learn_uniqueness,
    "minres": partial(learn_uniqueness, kind=LeastSquares),
    "principal_axis": principal_axis,
}
"""Ways to learn uniquenesses from correlations, by name."""
