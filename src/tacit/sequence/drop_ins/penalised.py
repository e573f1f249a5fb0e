"""Gaussians with the priors of hmmlearn: a mean worth λ rows at m, and a scatter Ψ worth c rows.

    μ_k = (λ m + Σ r x) / (λ + N_k),    Σ_k = (Ψ + Σ r (x − μ)(x − μ)ᵀ + λ (μ − m)(μ − m)ᵀ) / (c + N_k)

the maximum of the log-likelihood plus −½ [c log|Σ| + tr Σ⁻¹(Ψ + λ (μ − m)(μ − m)ᵀ)] for every class. Either of the two may
be held.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...families import DiagonalGaussian, FullGaussian, SphericalGaussian, TiedGaussian
from ...families.family import occupied

__all__ = ["PENALISED", "Penalty"]

LEAST = 1e-10


class Penalty:
    """What is added to a Gaussian's M-step.

    Parameters
    ----------
    mean, mean_weight : arrays
        m of each class (classes, d), and λ (classes,).
    scatter, weight : arrays
        Ψ and c, of the shapes of the sums they are added to.
    held : str
        "m" where means are not learned, "c" where covariances are not, or both.
    groups : (classes,) int array, optional
        Classes that share a covariance.
    """

    def __init__(self, mean: Any, mean_weight: Any, scatter: Any, weight: Any, held: str = "", groups: Any = None):
        self.mean, self.mean_weight, self.scatter, self.weight = mean, mean_weight, scatter, weight
        self.held, self.groups = held, groups


class _Penalised:
    """A Gaussian with a penalty; its families come second."""

    exact = True

    def __init__(self, penalty: Penalty) -> None:
        super().__init__(floor=LEAST)  # type: ignore[call-arg]
        self.penalty = penalty

    def _means(self, stats: Any, params: Any, count: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means about the origin, those of the prior, and its weights as a column."""
        pull = self.penalty.mean_weight[:, None]
        prior = self.penalty.mean - params.origin
        total = count + pull
        alive = occupied(total)
        learned = np.where(alive, (stats.first + pull * prior) / np.where(alive, total, 1.0), params.shift)
        return params.shift if "m" in self.penalty.held else learned, prior, pull


class _Columns(_Penalised):
    """Independent columns."""

    def m_step(self, stats: Any, params: Any) -> Any:
        shift, prior, pull = self._means(stats, params, stats.count)
        covariance = params.covariance
        if "c" not in self.penalty.held:
            squares = stats.second - 2.0 * shift * stats.first + stats.count * shift**2 + pull * (shift - prior) ** 2
            squares, count = self._added(np.maximum(squares, 0.0), stats.count)
            alive = occupied(count)
            covariance = np.where(alive, squares / np.where(alive, count, 1.0), covariance)
        least = np.maximum(LEAST * (params.scale if covariance.ndim == 2 else params.scale.mean()), 1e-290)
        return self.params(params.origin + shift, np.maximum(covariance, least), params.origin, params.scale)  # type: ignore[attr-defined]

    def _added(self, squares: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return squares + self.penalty.scatter, count + self.penalty.weight

    def log_prior(self, params: Any) -> float:
        apart = self.penalty.mean_weight[:, None] * (params.mean - self.penalty.mean) ** 2
        return -0.5 * float(self._charge(apart, params.covariance))

    def _charge(self, apart: np.ndarray, variance: np.ndarray) -> Any:
        extra = (self.penalty.scatter + apart) / variance
        return (self.penalty.weight * np.log(variance) + extra).sum()


class PenalisedDiagonal(_Columns, DiagonalGaussian):
    """A variance per class and column."""


class PenalisedSpherical(_Columns, SphericalGaussian):
    """A variance per class."""

    def _added(self, squares: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return squares.sum(axis=1) + self.penalty.scatter, count.sum(axis=1) + self.penalty.weight

    def _charge(self, apart: np.ndarray, variance: np.ndarray) -> Any:
        return (self.penalty.weight * np.log(variance) + (self.penalty.scatter + apart.sum(axis=1)) / variance).sum()


class _Matrices(_Penalised):
    """Full covariances."""

    def m_step(self, stats: Any, params: Any) -> Any:
        shift, prior, pull = self._means(stats, params, stats.count[:, None])
        covariance = params.covariance
        if "c" not in self.penalty.held:
            cross = shift[:, :, None] * stats.first[:, None, :]
            apart = shift - prior
            squares = stats.count[:, None, None] * shift[:, :, None] * shift[:, None, :] - cross - cross.swapaxes(1, 2)
            squares += pull[:, :, None] * apart[:, :, None] * apart[:, None, :]
            covariance = self._divided(squares, stats, params)
        return self.params(params.origin + shift, self.clip(covariance, params.scale), params.origin, params.scale)  # type: ignore[attr-defined]

    def _divided(self, squares: np.ndarray, stats: Any, params: Any) -> np.ndarray:
        squares, count = stats.second + squares, stats.count
        if self.penalty.groups is not None:
            member = np.eye(int(self.penalty.groups.max()) + 1)[self.penalty.groups]
            squares, count = np.einsum("kg,kij->gij", member, squares), member.T @ count
        squares, count = squares + self.penalty.scatter, count + self.penalty.weight
        if self.penalty.groups is not None:
            squares, count = squares[self.penalty.groups], count[self.penalty.groups]
        alive = occupied(count)
        return np.where(alive[:, None, None], squares / np.where(alive, count, 1.0)[:, None, None], params.covariance)

    def log_prior(self, params: Any) -> float:
        dense = params.dense
        apart = params.mean - self.penalty.mean
        pull = np.einsum("k,ki,kij,kj->", self.penalty.mean_weight, apart, np.linalg.inv(dense), apart)
        first = dense if self.penalty.groups is None else dense[np.unique(self.penalty.groups, return_index=True)[1]]
        return -0.5 * float(pull + self._charge(first))

    def _charge(self, covariance: np.ndarray) -> Any:
        scatter = np.broadcast_to(self.penalty.scatter, covariance.shape)
        squares = np.einsum("kij,kji->k", np.linalg.inv(covariance), scatter)
        return (self.penalty.weight * np.linalg.slogdet(covariance)[1] + squares).sum()


class PenalisedFull(_Matrices, FullGaussian):
    """A covariance per class, or per group of classes."""


class PenalisedTied(_Matrices, TiedGaussian):
    """One covariance for all classes."""

    def _divided(self, squares: np.ndarray, stats: Any, params: Any) -> np.ndarray:
        total = stats.second + squares.sum(axis=0) + self.penalty.scatter
        count = stats.count.sum() + self.penalty.weight
        return total / count if count > 0 else params.covariance

    def _charge(self, covariance: np.ndarray) -> Any:
        one = covariance[0]
        return self.penalty.weight * np.linalg.slogdet(one)[1] + np.trace(np.linalg.solve(one, self.penalty.scatter))


PENALISED: dict[str, Any] = {
    "diag": PenalisedDiagonal, "spherical": PenalisedSpherical, "full": PenalisedFull, "tied": PenalisedTied,
}  # fmt: skip
