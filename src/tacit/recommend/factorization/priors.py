"""Priors of the vectors of one side, linked to features: x ~ N(Wᵀf, P⁻¹), W ~ N(0, diag(λ)⁻¹ ⊗ P⁻¹).

q(W) is integrated out: at its best its mean is the ridge regression W = (FᵀF + diag λ)⁻¹ Fᵀ E x, whatever P. The first feature is
1, and what it adds, the mean of all vectors, is not penalised. P, and λ of the other features, are learned by EM.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np

from ...arrays import Arrays, record
from ...kernels import lazy

__all__ = ["SidePrior", "Users", "Vectors", "packed", "unpacked"]

compiled, gradients = lazy("factorization"), lazy("gradients")
FLAT = 1e-6


def unpacked(rows: np.ndarray, q: int) -> np.ndarray:
    """Symmetric matrices (…, q, q) of their packed lower triangles (…, q (q + 1) / 2)."""
    full = np.zeros((*rows.shape[:-1], q, q))
    lower = np.tril_indices(q)
    full[(..., *lower)] = rows
    full[(..., *lower[::-1])] = rows
    return full


def packed(matrices: np.ndarray) -> np.ndarray:
    """The lower triangles of matrices by rows."""
    return matrices[(..., *np.tril_indices(matrices.shape[-1]))]


@record
class Vectors(Arrays):
    """What is known of one side: means (n, q) of bias and factors, and packed covariances (n, q (q + 1) / 2), or (n, 0)."""

    mean: np.ndarray
    spread: np.ndarray

    @property
    def certain(self) -> bool:
        """Whether they are points."""
        return self.spread.shape[1] == 0

    @property
    def covariances(self) -> np.ndarray:
        """The packed covariances, with no rows where there are none, as kernels take them."""
        return self.spread[:0] if self.certain else self.spread

    @cached_property
    def table(self) -> np.ndarray:
        """Second moments of (1, bias, factors), as kernels take them; none where they are points."""
        if self.certain:
            return np.zeros((0, 0, 0), self.spread.dtype)
        return compiled.moment_table(self.mean, self.covariances, self.spread.dtype)

    @property
    def base(self) -> np.ndarray:
        """Sums of these moments over all."""
        return packed(self.gram) if self.certain else self.table.sum(axis=1, dtype=np.float64).ravel()

    def points(self, metric: np.ndarray) -> tuple[np.ndarray, ...]:
        """What conjugate gradients take of them under a metric, made once for all blocks of rows."""
        known, key = self.__dict__.setdefault("_points", {}), metric.tobytes()
        if key not in known:
            kind = self.spread.dtype
            own = gradients.whitened(np.delete(self.extended, 1, axis=1), metric, kind)
            known[key] = *own, self.mean[:, 0].astype(kind)
        return known[key]

    @cached_property
    def extended(self) -> np.ndarray:
        """(1, bias, factors) (n, 1 + q)."""
        return np.hstack([np.ones((len(self.mean), 1)), self.mean])

    @cached_property
    def gram(self) -> np.ndarray:
        """Σ of the products of (1, bias, factors), of points."""
        return self.extended.T @ self.extended

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Σ E x xᵀ and the sum of the covariances alone."""
        q = self.mean.shape[1]
        own = np.zeros((q, q)) if self.certain else unpacked(self.spread.sum(axis=0, dtype=np.float64), q)
        return self.mean.T @ self.mean + own, own


@record
class Users(Vectors):
    """What users remember: their vectors, and how consistent each is: E τ (n, 1), where the noise of a rating is σ² / τ."""

    steady: np.ndarray


@record
class SidePrior(Arrays):
    """P (q, q), W (p, q) and λ (p,)."""

    precision: np.ndarray
    coefficients: np.ndarray
    penalty: np.ndarray

    @classmethod
    def start(cls, precision: np.ndarray, n_features: int) -> Self:
        """A prior before anything was seen."""
        penalty = np.ones(n_features + 1)
        penalty[0] = FLAT
        return cls(precision, np.zeros((n_features + 1, len(precision))), penalty)

    def centre(self, features: Any) -> np.ndarray:
        """Wᵀf (n, q)."""
        return features @ self.coefficients

    def shift(self, features: Any) -> np.ndarray:
        """P Wᵀf (n, q)."""
        return self.centre(features) @ self.precision

    def updated(
        self, second: np.ndarray, cross: np.ndarray, gram: np.ndarray, n: float, learns: bool, biases: bool = True
    ) -> SidePrior:
        """The prior given Σ E x xᵀ, Σ f E xᵀ, Σ f fᵀ and the number of vectors.

        P and λ stay unless they are learned; without biases, what holds these at 0 stays as it is.
        """
        inner = gram + np.diag(self.penalty)
        W = np.linalg.solve(inner, cross)
        if not learns:
            return SidePrior(self.precision, W, self.penalty)
        q = len(second)
        around = second - cross.T @ W
        around = (around + around.T) / 2 / n
        P = np.linalg.inv(around + 1e-9 * np.trace(around) / q * np.eye(q))
        P, penalty = (P + P.T) / 2, self.penalty.copy()
        if not biases:
            P[0], P[:, 0], P[0, 0] = 0.0, 0.0, self.precision[0, 0]
        if len(penalty) > 1:
            spread = np.diag(np.linalg.inv(inner))[1:].sum()
            own = np.einsum("pq,qr,pr->", W[1:], P, W[1:])
            penalty[1:] = (len(penalty) - 1) * q / (own + q * spread)
        return SidePrior(P, W, penalty)

    def value(self, gram: np.ndarray) -> float:
        """What W adds to the bound, q(W) integrated out."""
        q = len(self.precision)
        own = np.einsum("p,pq,qr,pr->", self.penalty, self.coefficients, self.precision, self.coefficients)
        log_det = np.linalg.slogdet(gram + np.diag(self.penalty))[1]
        return float(0.5 * q * (np.log(self.penalty).sum() - log_det) - 0.5 * own)
