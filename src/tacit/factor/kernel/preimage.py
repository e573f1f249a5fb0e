"""Pre-images: rows z whose φ(z) is near a point P φ(x) of the components' space.

ridge        z = k(s, S) (k(S, S) + αI)⁻¹ X: rows learned from scores s by kernel ridge regression (Bakır et al.)
fixed point  z = Σ_i γ_i k(z, x_i) x_i / Σ_i γ_i k(z, x_i) for the Gaussian kernel, with Pφ = Σ_i γ_i φ(x_i) (Mika et al.)
"""

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, cho_factor, cho_solve, solve
from sklearn.metrics import pairwise_distances_argmin

from ...source.threads import all_of, slices, total_of
from .checks import check_finite
from .nystrom import span_of

__all__ = ["fixed_points", "learn_inverse"]

MOST_STEPS = 200
TOLERANCE = 1e-7  # of a step, as a share of the kernel's width
LEAST_STEP = 1e-3


def learn_inverse(kernel, scores, X, alpha, landmarks=None):
    """Coefficients by which rows follow from kernel values with the scores, or with those of the rows numbered in `landmarks`."""
    if landmarks is None:
        return ridge(kernel, scores, X, alpha)
    scores = scores.astype(np.float64)  # in double precision: sums over all rows
    return ridge_on_landmarks(kernel, scores, X, scores[landmarks], alpha)


def ridge(kernel, scores, X, alpha):
    """Coefficients (n, d) by which rows follow from kernel values of scores."""
    K = kernel.square(scores)
    check_finite(K, kernel.label)
    K.flat[:: len(K) + 1] += alpha
    try:
        factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
        return np.ascontiguousarray(cho_solve(factor, X, check_finite=False))
    except LinAlgError:
        raise ValueError(
            f"alpha={alpha:g} leaves the regression of rows on scores singular with {kernel.label}; raise alpha."
        ) from None


def ridge_on_landmarks(kernel, scores, X, landmarks, alpha):
    """As `ridge` with a function in the span of the landmarks' scores (m, k): coefficients (m, d) and no n × n matrix."""
    marks = kernel.rows(landmarks)
    W = kernel.block(marks, marks)
    check_finite(W, kernel.label)
    span = span_of(0.5 * (W + W.T), kernel.label)

    def sums(part):
        features = kernel.block(kernel.rows(scores[part]), marks) @ span.coefficients
        check_finite(features, kernel.label)
        return features.T @ features, features.T @ X[part]

    gram, right = total_of(sums, slices(len(scores), len(marks)), kernel.threads)
    gram.flat[:: len(gram) + 1] += alpha
    try:
        return np.ascontiguousarray(span.coefficients @ solve(gram, right, assume_a="pos"))
    except (LinAlgError, LinAlgWarning):
        raise ValueError(
            f"alpha={alpha:g} leaves the regression of rows on scores singular with {kernel.label}; raise alpha."
        ) from None


def fixed_points(kernel, scores, fitted, fitted_scores, coefficients, mean_coefficients):
    """Rows z that maximise φ(z)·Pφ, found from the fitted row with the nearest scores.

    Parameters
    ----------
    kernel : Kernel
        The Gaussian kernel.
    scores : ndarray of shape (n_rows, k)
    fitted, fitted_scores : ndarray of shape (n, d), (n, k)
        Rows and their scores.
    coefficients, mean_coefficients : ndarray of shape (n, k), (n,)
        Pφ = Σ_i (coefficients @ score + mean_coefficients)_i φ(fitted_i).
    """
    scores, X = (np.asarray(each, dtype=np.float64) for each in (scores, fitted))
    rows = kernel.rows(X)
    out = np.empty((len(scores), X.shape[1]))

    def fill(part):
        weights = scores[part] @ coefficients.T + mean_coefficients
        start = X[pairwise_distances_argmin(scores[part], fitted_scores)]
        out[part] = _ascend(kernel, rows, X, weights, start)

    all_of(fill, slices(len(scores), len(rows)), kernel.threads, serial_blas=True)
    return out


def _ascend(kernel, rows, X, weights, z):
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


def _step(kernel, rows, X, weights, z):
    """Where the fixed-point map leads from z, and φ(z)·Pφ."""
    pull = weights * kernel.block(kernel.rows(z), rows)
    value = pull.sum(axis=1)
    return pull @ X / np.where(value > 0, value, 1.0)[:, None], value
