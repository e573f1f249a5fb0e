"""Kernel PCA of φ(x) projected onto the span of m landmarks: K ≈ C W⁺ Cᵀ, C = k(X, landmarks), W = k(landmarks, landmarks).

The projection lowers K in the Loewner order: every eigenvalue found is at most the exact one, and all that is missing together is
the variance outside the span, which is measured. Rows are read in blocks; nothing of size n × m is kept.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from ...source.threads import slices, total_of
from .checks import check_finite, check_negative, warn_constant
from .function import Kernel, Rows
from .spectrum import Spectrum

if TYPE_CHECKING:
    from .estimator import KernelPCA

__all__ = ["Embedding", "Span", "choose_landmarks", "nystrom", "span_of", "takes_landmarks", "warn_landmarks"]

N_LANDMARKS = 1000
EXACT_ROWS = 16_384  # a matrix of 2 GB
CUT = 1e-8  # of eigenvalues of W: sums of squares of C have half of the digits


@dataclass(frozen=True)
class Span:
    """An orthonormal basis of the span of landmarks, Σ_l M_lr φ(landmark_l)."""

    coefficients: np.ndarray  # M (m, r)
    mean: (
        np.ndarray
    )  # (m,), of the landmarks' kernel values, by which values of rows are shifted before they are multiplied
    level: float  # mean of `mean`
    largest: float  # kernel value in size


def span_of(kernel: Kernel, marks: Rows) -> Span:
    """The `Span` of landmarks.

    Differences of landmarks come first, and the direction from 0 to their mean last: a kernel that is nearly constant keeps
    its digits, since its size does not decide what is negligible.
    """
    W = kernel.block(marks, marks)
    check_finite(W, kernel.label)
    W = 0.5 * (W + W.T)
    mean, largest = W.mean(axis=0), float(np.abs(W).max())
    level = float(mean.mean())
    values, vectors = eigh(W - mean - mean[:, None] + level)
    check_negative(values[::-1], float(values[0]), kernel.label)
    kept = values > max(CUT * values[-1], 1e-13 * largest)
    basis = vectors[:, kept] / np.sqrt(values[kept])
    basis -= basis.mean(axis=0)
    inside = basis.T @ mean
    outside = level - inside @ inside
    if outside > CUT * max(level, values[-1] / len(W)):
        direction = (np.full(len(W), 1 / len(W)) - basis @ inside) / np.sqrt(outside)
        basis = np.hstack([basis, direction[:, None]])
    return Span(basis, mean, level, largest)


@dataclass(frozen=True)
class Embedding:
    """What Nyström's method learns: scores are (k(x, landmarks) − center) @ coefficients."""

    values: np.ndarray  # eigenvalues, decreasing
    coefficients: np.ndarray  # (m, k)
    center: np.ndarray  # (m,), mean kernel values of the rows with the landmarks
    mean_coefficients: np.ndarray  # (m,), the mean of φ(x) in terms of the landmarks
    total: float  # trace of the centred kernel matrix
    missed: float  # share of it that lies outside the span of the landmarks

    @property
    def floor(self) -> float:
        """Eigenvalues up to here are rounding."""
        return 0.1 * CUT * float(self.values[0]) if len(self.values) else 0.0

    def spectrum(self, kernel: Kernel, X: Any, landmarks: Any) -> Spectrum:
        """The `Spectrum` of rows X, whose eigenvectors are their scores, scaled to length 1."""
        scores = kernel.project(X, landmarks, self.center, self.coefficients)
        scale = np.sqrt(np.where(self.values > 0, self.values, 1.0)).astype(scores.dtype)
        return Spectrum(self.values, scores / scale)


def takes_landmarks(model: KernelPCA, n_rows: int) -> bool:
    """Whether an estimator's settings ask for landmarks with so many rows."""
    if model.eigen_solver != "auto" or model.kernel == "precomputed":
        return model.eigen_solver == "nystrom"
    return model.n_landmarks is not None or n_rows > EXACT_ROWS


def choose_landmarks(n_rows: int, n_components: int | None, n_landmarks: int | None, random_state: Any) -> np.ndarray:
    """Numbers of random rows, in order; `n_landmarks` None is 1000, or twice `n_components` where that is more."""
    n_landmarks = min(n_rows, n_landmarks or max(N_LANDMARKS, 2 * (n_components or 0)))
    if n_components is not None and n_components > n_landmarks:
        raise ValueError(
            f"n_components={n_components} exceeds n_landmarks={n_landmarks}, and landmarks span no more dimensions than there "
            "are of them; use more."
        )
    return np.sort(check_random_state(random_state).permutation(n_rows)[:n_landmarks])


def warn_landmarks(n_rows: int, n_landmarks: int, missed: float) -> None:
    """Say that landmarks stand for all rows without having been asked for."""
    warnings.warn(
        f"the {n_rows} rows of X have too many pairs for an exact solution, so that {n_landmarks} landmarks stand for them; "
        f"outside their span lies {missed:.2%} of the variance. Set eigen_solver='nystrom' to accept this, with n_landmarks for "
        "more accuracy, or 'arpack' for all pairs.",
        stacklevel=4,
    )


def nystrom(kernel: Kernel, X: Any, landmarks: Any, n_components: int | None) -> Embedding:
    """The `Embedding` of rows X by landmarks; `n_components` None is all."""
    marks = kernel.rows(landmarks)
    span = span_of(kernel, marks)

    def sums(part: slice) -> tuple[np.ndarray, np.ndarray, float]:
        rows = kernel.rows(X[part].astype(np.float64))
        values = kernel.block(rows, marks)
        check_finite(values, kernel.label)
        apart = kernel.diagonal(rows) - 2 * values.mean(axis=1) + span.level
        values -= span.mean
        return values.sum(axis=0), values.T @ values, float(apart.sum())

    n = X.shape[0]
    first, second, apart = total_of(sums, slices(n, len(marks)), kernel.threads)
    shift = first / n
    covariance = span.coefficients.T @ (second - n * np.outer(shift, shift)) @ span.coefficients
    values, vectors = eigh(0.5 * (covariance + covariance.T))
    captured = float(values.sum())
    total = max(apart - n * float(((shift @ span.coefficients) ** 2).sum()), captured, 0.0)
    if total <= 1e-13 * n * span.largest:
        warn_constant(kernel.label)
    if n_components is not None and n_components > len(values):  # the span has fewer dimensions: the others are 0
        more = n_components - len(values)
        values, vectors = np.pad(values, (more, 0)), np.pad(vectors, ((0, 0), (more, 0)))
    kept = slice(None, None, -1) if n_components is None else slice(None, -1 - n_components, -1)
    center = span.mean + shift
    mean_coefficients = span.coefficients @ (span.coefficients.T @ center)
    missed = 1 - captured / total if total > 0 else 0.0
    return Embedding(values[kept], span.coefficients @ vectors[:, kept], center, mean_coefficients, total, missed)
