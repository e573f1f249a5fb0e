"""Uniquenesses of maximum-likelihood factor analysis, from a correlation matrix alone.

f(θ) = min_W log|Σ| + tr Σ⁻¹R,    Σ = WWᵀ + Ψ,    ψ_j = exp θ_j

With A = Ψ^(−1/2) R Ψ^(−1/2) = V diag(λ) Vᵀ the best loadings are W = Ψ^(1/2) V₁ (Λ₁ − I)^(1/2), of the k leading eigenvectors
with λ > 1, so that f = Σ θ_j + Σ_top (log λ + 1) + Σ_rest λ: what is left is d numbers, found by Newton's method under a floor.

References
----------
Jöreskog (1967), Some contributions to maximum likelihood factor analysis.
Clarke (1970), A rapidly convergent method for maximum-likelihood factor analysis.
Bertsekas (1982), Projected Newton methods for optimization problems with simple constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ...notes import Note

__all__ = ["Uniqueness", "best_uniqueness", "first_guess", "learn_uniqueness"]

EXACT_COST = 1e10  # k d³ up to which all of the curvature is worth its products
LONGEST_STEP = 2.0  # in log ψ: far from the maximum the curvature says little
ARMIJO = 1e-4
TIED = 1e-8  # relative gap of eigenvalues, at which f has a kink and no curvature
N_OTHER_STARTS = 6  # where the first leads to the floor
GAINS_LITTLE = Note("tol", "a step would gain less than tol")
NO_BETTER = Note("no_better", "no step improves any more")


@dataclass(frozen=True)
class Point:
    """f, its slope and its curvature at log uniquenesses θ."""

    correlation: np.ndarray
    theta: np.ndarray
    n_factors: int

    @cached_property
    def eigen(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Eigenvalues of A, the largest first, eigenvectors, and how many of them are factors."""
        root = np.exp(-0.5 * self.theta)
        values, vectors = np.linalg.eigh(self.correlation * np.outer(root, root))
        values, vectors = values[::-1], vectors[:, ::-1]
        return values, vectors, min(self.n_factors, int((values > 1.0).sum()))

    @cached_property
    def value(self) -> float:
        """f(θ)."""
        values, _, k = self.eigen
        return float(self.theta.sum() + np.log(values[:k]).sum() + k + values[k:].sum())

    @property
    def misfit(self) -> float:
        """log|Σ| + tr Σ⁻¹R."""
        return self.value

    @cached_property
    def slope(self) -> np.ndarray:
        """∂f/∂θ_j = 1 − A_jj + Σ_top (λ − 1) v_j²."""
        values, vectors, k = self.eigen
        return 1.0 - self._diagonal + vectors[:, :k] ** 2 @ (values[:k] - 1.0)

    @property
    def _diagonal(self) -> np.ndarray:
        return np.diagonal(self.correlation) * np.exp(-self.theta)

    @cached_property
    def curvature(self) -> np.ndarray:
        """∂²f/∂θ²; for large problems what it tends to where the model fits, (V₂V₂ᵀ)² cell by cell."""
        values, vectors, k = self.eigen
        factors, rest = vectors[:, :k], vectors[:, k:]
        inside = factors @ factors.T
        if k * float(len(vectors)) ** 3 > EXACT_COST:
            return (np.eye(len(vectors)) - inside) ** 2
        curvature = np.diag(self._diagonal) - (factors * values[:k]) @ factors.T * inside
        for j in range(k):
            gap = np.maximum(values[j] - values[k:], TIED * values[j])
            ratio = (values[j] - 1.0) * (values[j] + np.maximum(values[k:], 0.0)) / gap
            root = rest * np.sqrt(ratio)  # a matrix times itself costs half of a product
            curvature -= np.outer(factors[:, j], factors[:, j]) * (root @ root.T)
        return curvature

    @property
    def loadings(self) -> np.ndarray:
        """W (d, n_factors); factors without an eigenvalue above 1 have none."""
        values, vectors, k = self.eigen
        loadings = np.zeros((len(vectors), self.n_factors))
        loadings[:, :k] = np.exp(0.5 * self.theta)[:, None] * vectors[:, :k] * np.sqrt(values[:k] - 1.0)
        return loadings

    def free(self, lowest: float) -> np.ndarray:
        """Columns that no bound holds back."""
        return ~(((self.theta <= lowest) & (self.slope > 0.0)) | ((self.theta >= 0.0) & (self.slope < 0.0)))

    def moved(self, step: np.ndarray, lowest: float) -> Point:
        """The point a step away, inside the bounds; at a maximum no uniqueness exceeds 1."""
        return replace(self, theta=np.clip(self.theta + step, lowest, 0.0))


@dataclass(frozen=True)
class Uniqueness:
    """What was learned."""

    values: np.ndarray  # uniquenesses, relative to the variance of each column
    loadings: np.ndarray
    at_floor: np.ndarray
    value: float  # f at its minimum
    trace: list[float]  # log|Σ| + tr Σ⁻¹R after every step
    converged: bool
    reason: Note
    rival: Uniqueness | None = None  # a solution at the floor of less f, where this one is inside

    @property
    def rank(self) -> tuple[bool, float]:
        """Key to sort by, best first: maxima inside the bounds come before those that the floor makes, then f."""
        return bool(self.at_floor.any()), self.value


def first_guess(correlation: np.ndarray, n_factors: int) -> np.ndarray:
    """Uniquenesses to start from: a share of what the other columns do not explain, (1 − k/2d) / (R⁻¹)_jj."""
    values, vectors = np.linalg.eigh(correlation)
    unexplained = 1.0 / (vectors**2 @ (1.0 / np.maximum(values, 1e-3)))
    return np.minimum((1.0 - 0.5 * n_factors / len(values)) * unexplained, 1.0)


def best_uniqueness(
    correlation: np.ndarray,
    n_factors: int,
    rng: np.random.Generator,
    *,
    start: np.ndarray | None = None,
    n_init: int = 1,
    learn: Callable[..., Uniqueness] | None = None,
    **settings: Any,
) -> Uniqueness:
    """The best of `n_init` starts or more: where the first one leads to the floor, others may find a maximum inside.

    A `start` that is given is the only one; `settings` are those of `learn`, by default `learn_uniqueness`.
    """
    learn = learn_uniqueness if learn is None else learn
    if start is not None:
        return learn(correlation, n_factors, start, **settings)
    d = len(correlation)
    found = [learn(correlation, n_factors, first_guess(correlation, n_factors), **settings)]
    more = max(n_init - 1, N_OTHER_STARTS if found[0].at_floor.any() else 0)
    starts = [np.ones(d), *rng.uniform(0.01, 1.0, (max(more - 1, 0), d))][:more]
    found += [learn(correlation, n_factors, start, **settings) for start in starts]
    best, likeliest = min(found, key=lambda one: one.rank), min(found, key=lambda one: one.value)
    return replace(best, rival=likeliest) if likeliest.value < best.value - 1e-9 else best


def learn_uniqueness(
    correlation: np.ndarray,
    n_factors: int,
    start: np.ndarray,
    *,
    floor: float = 0.005,
    max_iter: int = 1000,
    kind: type[Point] = Point,
) -> Uniqueness:
    """Minimise f, that of a `kind` of `Point`, from `start` with all uniquenesses at least `floor`.

    There is nothing left to do where the gain of a step, as its curvature foretells it, is what rounding hides: close to the
    minimum every step doubles the digits, so that going on to the last costs a step or two.
    """
    lowest = np.log(floor)
    point = kind(correlation, np.clip(np.log(np.maximum(start, floor)), lowest, 0.0), n_factors)
    trace, converged = [point.misfit], False
    reason = Note("max_iter", "max_iter={max_iter} steps were taken", max_iter=max_iter)
    rounding = 1e-15 * len(correlation) / floor**0.5
    for _ in range(max_iter):
        step, gain = _newton_step(point, lowest)
        if gain <= rounding:
            point, converged, reason = _polished(point, step, lowest), True, GAINS_LITTLE
            break
        following = _search(point, step, lowest)
        if following is None:
            converged, reason = gain < 1e-6, NO_BETTER
            break
        point = following
        trace.append(point.misfit)
    at_floor = point.theta <= lowest
    return Uniqueness(np.exp(point.theta), point.loadings, at_floor, point.value, trace, converged, reason)


def _newton_step(point: Point, lowest: float) -> tuple[np.ndarray, float]:
    """Newton's step of the free columns, and the gain that the curvature foretells."""
    free = point.free(lowest)
    step = np.zeros(len(free))
    if not free.any():
        return step, 0.0
    slope = point.slope[free]
    step[free] = -_solved(point.curvature[np.ix_(free, free)], slope)
    gain = -0.5 * float(slope @ step[free])
    return step * min(1.0, LONGEST_STEP / max(np.abs(step).max(), 1e-300)), gain


def _solved(curvature: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """H⁻¹ g; where H is not positive its eigenvalues are turned up, so that the step still goes down."""
    try:
        factor = linalg.cho_factor(curvature)
        if np.diagonal(factor[0]).min() > 1e-4:
            return linalg.cho_solve(factor, slope)
    except linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(curvature)
    return vectors @ (vectors.T @ slope / np.maximum(np.abs(values), 1e-6 * max(1.0, values[-1])))


def _polished(point: Point, step: np.ndarray, lowest: float) -> Point:
    """The point after a last step, if its slope is less: so close to the minimum, the value is all rounding."""
    following, free = point.moved(step, lowest), point.free(lowest)
    better = free.any() and np.abs(following.slope[free]).max() < np.abs(point.slope[free]).max()
    return following if better else point


def _search(point: Point, step: np.ndarray, lowest: float) -> Point | None:
    """The first point along the step, halved as often as needed, that is better by enough; None where there is none."""
    for halvings in range(50):
        following = point.moved(0.5**halvings * step, lowest)
        promised = float(point.slope @ (following.theta - point.theta))
        if following.value < point.value and following.value <= point.value + ARMIJO * promised:
            return following
    return None
