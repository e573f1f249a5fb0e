"""Pre-images: rows z whose φ(z) is near a point P φ(x) of the components' space.

ridge        z = k(s, S) (k(S, S) + αI)⁻¹ X: rows learned from scores s by kernel ridge regression (Bakır et al.)
fixed point  z = Σ_i γ_i k(z, x_i) x_i / Σ_i γ_i k(z, x_i) for the Gaussian kernel, with Pφ = Σ_i γ_i φ(x_i) (Mika et al.)
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, cho_factor, cho_solve, solve
from sklearn.metrics import pairwise_distances_argmin

from ...source.threads import all_of, slices, total_of
from .checks import check_finite
from .function import Kernel, Rows
from .nystrom import span_of

__all__ = ["fixed_points", "learn_inverse"]

MOST_STEPS = 200
TOLERANCE = 1e-7  # of a step, as a share of the kernel's width
LEAST_STEP = 1e-3


def learn_inverse(
    kernel: Kernel, scores: np.ndarray, X: np.ndarray, alpha: float, landmarks: np.ndarray | None = None
) -> np.ndarray:
    """Coefficients by which rows follow from kernel values with the scores, or with those of the rows numbered in `landmarks`."""
    try:
        if landmarks is None:
            return np.ascontiguousarray(_ridge(kernel, scores, X, alpha))
        scores = scores.astype(np.float64)  # in double precision: sums over all rows
        return np.ascontiguousarray(_ridge_on_landmarks(kernel, scores, X, scores[landmarks], alpha))
    except (LinAlgError, LinAlgWarning):
        raise ValueError(
            f"alpha={alpha:g} leaves the regression of rows on scores singular with {kernel.label}; raise alpha."
        ) from None


def _ridge(kernel: Kernel, scores: np.ndarray, X: np.ndarray, alpha: float) -> np.ndarray:
    """Coefficients (n, d) by which rows follow from kernel values of scores."""
    K = kernel.square(scores)
    check_finite(K, kernel.label)
    K.flat[:: len(K) + 1] += alpha
    factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    return cho_solve(factor, X, check_finite=False)


def _ridge_on_landmarks(
    kernel: Kernel, scores: np.ndarray, X: np.ndarray, landmarks: np.ndarray, alpha: float
) -> np.ndarray:
    """As `_ridge` with a function in the span of the landmarks' scores (m, k): coefficients (m, d) and no n × n matrix."""
    marks = kernel.rows(landmarks)
    span = span_of(kernel, marks)

    def sums(part: slice) -> tuple[np.ndarray, np.ndarray]:
        features = kernel.block(kernel.rows(scores[part]), marks) @ span.coefficients
        check_finite(features, kernel.label)
        return features.T @ features, features.T @ X[part]

    gram, right = total_of(sums, slices(len(scores), len(marks)), kernel.threads)
    gram.flat[:: len(gram) + 1] += alpha
    return span.coefficients @ solve(gram, right, assume_a="pos")


def fixed_points(
    kernel: Kernel,
    scores: np.ndarray,
    fitted: np.ndarray,
    fitted_scores: np.ndarray,
    coefficients: np.ndarray,
    mean_coefficients: np.ndarray,
) -> np.ndarray:
    """Rows z that maximise φ(z)·Pφ for the Gaussian kernel, found from the fitted row with the nearest scores.

    Pφ = Σ_i (coefficients @ score + mean_coefficients)_i φ(fitted_i).
    """
    scores, X = (np.asarray(each, dtype=np.float64) for each in (scores, fitted))
    rows = kernel.rows(X)
    out = np.empty((len(scores), X.shape[1]))

    def fill(part: slice) -> None:
        weights = scores[part] @ coefficients.T + mean_coefficients
        start = X[pairwise_distances_argmin(scores[part], fitted_scores)]
        out[part] = _ascend(kernel, rows, X, weights, start)

    all_of(fill, slices(len(scores), len(rows)), kernel.threads, serial_blas=True)
    return out


def _ascend(kernel: Kernel, rows: Rows, X: np.ndarray, weights: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Fixed-point steps, each of which is a step uphill, halved where it goes too far."""
    target, value = _step(kernel, rows, X, weights, z)
    length = np.ones(len(z))
    moving = np.flatnonzero(value > 0)  # where it is not, the step would lead downhill
    least = TOLERANCE / np.sqrt(kernel.gamma)
    for _ in range(MOST_STEPS):
        if not moving.size:
            break
        trial = z[moving] + length[moving, None] * (target[moving] - z[moving])
        after, height = _step(kernel, rows, X, weights[moving], trial)
        better = height >= value[moving]
        risen = moving[better]
        moved = np.linalg.norm(trial[better] - z[risen], axis=1)
        z[risen], target[risen], value[risen], length[risen] = trial[better], after[better], height[better], 1.0
        length[moving[~better]] *= 0.5
        settled = risen[moved <= least]
        moving = np.setdiff1d(moving[length[moving] > LEAST_STEP], settled)
    return z


def _step(
    kernel: Kernel, rows: Rows, X: np.ndarray, weights: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the fixed-point map leads from z, and φ(z)·Pφ."""
    pull = weights * kernel.block(kernel.rows(z), rows)
    value = pull.sum(axis=1)
    return pull @ X / np.where(value > 0, value, 1.0)[:, None], value
