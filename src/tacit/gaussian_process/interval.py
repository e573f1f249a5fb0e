"""Intervals of targets that hold what they promise, also of few rows: hyperparameters are averaged over, not taken as known.

p(y | X, Y) ≈ Σ_s w_s N(y | μ_s, σ_s²),    θ_s ~ q = N(θ̂, (H + I / 4)⁻¹),    w_s ∝ p(Y | θ_s) N(θ_s | θ̂, 4 I) / q(θ_s)

with H the curvature of the log marginal likelihood at its maximum θ̂. The weak prior keeps hyperparameters of which the rows
say nothing within an order of magnitude or two of where they are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

__all__ = ["around", "quantiles"]

PRIOR = 0.25
STEP = 1e-4
DRAWS = 64


def around(evidence: Callable, theta: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hyperparameters about the best ones, and their weights.

    Parameters
    ----------
    evidence : callable
        The log marginal likelihood of θ and its slopes.
    theta, bounds : (p,) and (p, 2) arrays
        Where it is greatest, and what θ lies between.
    """
    p = len(theta)
    ends = [evidence(np.clip(theta + sign * STEP * e, *bounds.T))[1] for e in np.eye(p) for sign in (1, -1)]
    H = np.array([(low - high) / (2 * STEP) for high, low in zip(ends[::2], ends[1::2])])
    values, vectors = np.linalg.eigh(0.5 * (H + H.T))
    root = vectors / np.sqrt(np.maximum(values, 0.0) + PRIOR)
    points = ndtri(qmc.Sobol(p, seed=0).random(DRAWS))
    drawn = np.clip(theta + points @ root.T, *bounds.T)
    logs = np.array([evidence(each, False)[0] for each in drawn])
    logs += 0.5 * (points**2).sum(axis=1) - 0.5 * PRIOR * ((drawn - theta) ** 2).sum(axis=1)
    weights = np.exp(logs - logs.max())
    return drawn, weights / weights.sum()


def quantiles(share: float, weights: np.ndarray, means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Quantiles of mixtures of normal distributions, by bisection.

    Parameters
    ----------
    share : float
        Below the quantile.
    weights : (S,) array
    means, deviations : (S, ...) arrays
    """
    reach = (means - 10 * deviations).min(axis=0), (means + 10 * deviations).max(axis=0)
    low, high = reach
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = np.tensordot(weights, ndtr((middle - means) / deviations), 1) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)
