"""Gradients of Gaussian classes from their statistics, n_k, Σ r (x − o) and Σ r (x − o)(x − o)ᵀ, and of their conjugate priors.

∂μ = Σ⁻¹ Σ_i r_i (x_i − μ),    ∂Σ = ½ Σ⁻¹ (Σ_i r_i (x_i − μ)(x_i − μ)ᵀ − n Σ) Σ⁻¹
"""

from typing import Any

import numpy as np

from ..engine.coordinates import Definite, Positive, Real, Record

__all__ = ["dense_prior_score", "dense_score", "diagonal_prior_score", "diagonal_score", "gaussian_coordinates"]

Pair = tuple[np.ndarray, np.ndarray]


def gaussian_coordinates(family: Any, params: Any) -> Record:
    """Means in units of the data, and logs of variances or of Cholesky factors."""
    root, proper = np.sqrt(params.scale), family.prior is not None
    mean, shape = Real(params.mean, params.origin, root, proper), params.covariance.shape
    if family.matrices:
        return Record(params, mean=mean, covariance=Definite(shape, root, proper))
    unit = params.scale if len(shape) == 2 else params.scale.mean()
    return Record(params, mean=mean, covariance=Positive(shape, unit, proper))


def _dense(params: Any, away: np.ndarray, scatter: np.ndarray, count: Any) -> dict[str, np.ndarray]:
    """From Σ r (x − μ) of the classes, and scatter about μ and counts of each, or of all where they share Σ."""
    inverse = np.linalg.inv(params.covariance)
    count = np.asarray(count)[..., None, None]
    return {
        "mean": np.einsum("...ij,...j->...i", inverse, away),
        "covariance": 0.5 * inverse @ (scatter - count * params.covariance) @ inverse,
    }


def dense_score(stats: Any, params: Any) -> dict[str, np.ndarray]:
    """Of full covariances, one for each class or one for all."""
    shift, count = params.shift, stats.count
    away = stats.first - count[:, None] * shift
    cross = shift[:, :, None] * (stats.first - 0.5 * count[:, None] * shift)[:, None, :]
    cross = cross + cross.transpose(0, 2, 1)  # Σ r (x − μ)(x − μ)ᵀ is the second moment without it
    if stats.second.ndim == 2:
        return _dense(params, away, stats.second - cross.sum(axis=0), count.sum())
    return _dense(params, away, stats.second - cross, count)


def dense_prior_score(prior: Any, params: Any) -> dict[str, np.ndarray]:
    """Of a normal inverse Wishart prior; of a shared covariance there is one inverse Wishart."""
    away = prior.mean - params.mean
    outer = prior.kappa * away[:, :, None] * away[:, None, :]
    degrees = prior.dof + away.shape[1] + 1.0
    if params.covariance.ndim == 2:
        return _dense(params, prior.kappa * away, outer.sum(axis=0) + prior.scale, degrees + len(away))
    return _dense(params, prior.kappa * away, outer + prior.scale, np.full(len(away), degrees + 1.0))


def diagonal_score(stats: Any, params: Any) -> Pair:
    """Gradients of means and variances, both (classes, d)."""
    shift, variance = params.shift, params.variance
    away = stats.first - stats.count * shift
    squares = stats.second - shift * (stats.first + away)
    return away / variance, 0.5 * (squares / variance - stats.count) / variance


def diagonal_prior_score(prior: Any, params: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradient of the means, and what the priors of means and of variances add to that of variances."""
    away, variance = prior.mean - params.mean, params.variance
    of_mean = 0.5 * (prior.kappa * away**2 / variance - 1.0) / variance
    of_variance = (prior.scale / variance - prior.shape - 1.0) / variance
    return prior.kappa * away / variance, of_mean, np.broadcast_to(of_variance, variance.shape)
