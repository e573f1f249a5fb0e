"""Stacks of covariance matrices, as the M-steps of Gaussian classes need them.

within:   Σ = S / n − m mᵀ           clip:   the nearest Σ ⪰ floor·diag(scale) in likelihood
roots:    P with Σ⁻¹ = P Pᵀ, upper triangular, and log|P|
"""

import numpy as np
from scipy.linalg.lapack import dtrtri

__all__ = ["centre_moments", "clip", "project", "roots", "within"]


def within(second, count, shift):
    """Covariances (classes, d, d) of scatters `second` about a point from which class means are `shift` (classes, d) away."""
    covariance = second / count[:, None, None]
    covariance -= shift[:, :, None] * shift[:, None, :]
    return covariance


def centre_moments(shift, s0, s1, s2):
    """Moments about class means, where kernels keep them small, carried to the origin, where they add up."""
    cross = shift[:, :, None] * s1[:, None, :]
    outer = shift[:, :, None] * shift[:, None, :]
    return s0, s1 + s0[:, None] * shift, s2 + cross + cross.transpose(0, 2, 1) + s0[:, None, None] * outer


def clip(covariance, scale, floor):
    """The nearest covariances, in likelihood, with no direction below the floor; None where they are singular and it is 0.

    The maximum of −log|Σ| − tr(Σ⁻¹S) under Σ ⪰ floor·diag(scale) clips the eigenvalues of S, in units of scale.
    """
    if floor == 0 and (np.diagonal(covariance, axis1=-2, axis2=-1) <= 1e-13 * scale).any():
        return None
    try:
        # Costs a tenth of the eigenvalues and nearly always settles the matter.
        np.linalg.cholesky(covariance - np.diag(floor * scale))
    except np.linalg.LinAlgError:
        if floor == 0:
            return None
    else:
        return covariance
    root = np.sqrt(scale)
    value, vector = np.linalg.eigh(covariance / (root[:, None] * root))
    value = np.maximum(value, np.maximum(floor, 1e-13 * value[..., -1:]))
    clipped = (vector * value[..., None, :]) @ np.swapaxes(vector, -1, -2)
    return clipped * (root[:, None] * root)


def invert_triangle(lower):
    """L⁻ᵀ: the upper triangle P with P Pᵀ = (L Lᵀ)⁻¹, for one matrix or a stack of them."""
    if lower.ndim == 3:
        return np.array([invert_triangle(matrix) for matrix in lower])
    return dtrtri(lower.T, lower=0)[0]


def roots(covariance):
    """The upper triangles P, and log|P| of each."""
    triangle = invert_triangle(np.linalg.cholesky(covariance))
    return triangle, np.log(np.diagonal(triangle, axis1=-2, axis2=-1)).sum(axis=-1)


def project(shift, triangle):
    """Shift P of each class, (classes, d)."""
    return np.einsum("ki,kij->kj", shift, triangle)
