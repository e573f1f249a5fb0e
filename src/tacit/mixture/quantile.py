"""Quantiles of one-dimensional Gaussian mixtures: the root of F(y) = Σ_k w_k Φ((y − μ_k) / σ_k) = q."""

import numpy as np
from scipy.special import ndtr, ndtri

__all__ = ["mixture_quantile"]


def mixture_quantile(q, weight, mean, std):
    """The q-quantile of every mixture.

    Newton's method inside a bracket that shrinks at every step, and halves where Newton would leave it.

    Parameters
    ----------
    q : float
        Between 0 and 1, exclusive.
    weight, mean, std : ndarray of shape (..., components)
        Mixtures along the last axis.

    Returns
    -------
    ndarray of shape (...)
    """
    # The mixture's quantile lies between the smallest and the largest of its components'.
    parts = mean + std * ndtri(q)
    low, high = parts.min(axis=-1), parts.max(axis=-1)
    y = (weight * parts).sum(axis=-1)
    for _ in range(200):
        t = (y[..., None] - mean) / std
        excess = (weight * ndtr(t)).sum(axis=-1) - q
        low, high = np.where(excess < 0, y, low), np.where(excess >= 0, y, high)
        slope = (weight * np.exp(-0.5 * t**2) / std).sum(axis=-1) / np.sqrt(2 * np.pi)
        newton = y - excess / np.maximum(slope, 1e-300)
        better = np.where((newton >= low) & (newton <= high), newton, 0.5 * (low + high))
        done = np.abs(better - y) <= 1e-13 * (np.abs(y) + std.min(axis=-1))
        y = better
        if done.all():
            break
    return y
