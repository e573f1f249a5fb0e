"""Roots of the digamma equations that maximum likelihood leads to, for whole arrays at once.

Gamma:      log a − ψ(a) = log mean − mean log
Dirichlet:  ψ(α_l) − ψ(S) = mean log x_l,   S = Σ_l α_l
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import digamma, polygamma

__all__ = ["concentrations", "gamma_shape", "inverse_digamma"]


def increasing_root(function: Callable, low: Any, high: Any, guess: np.ndarray) -> np.ndarray:
    """Where an increasing function(x) → (value, slope) is 0, by Newton steps within a bracket; its nearest end if nowhere.

    Arrays throughout; each entry is its own equation.
    """
    low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
    low, high, x = low.copy(), high.copy(), np.clip(guess, low, high)
    for _ in range(100):
        value, slope = function(x)
        low, high = np.where(value <= 0, x, low), np.where(value >= 0, x, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = x - value / slope
        inside = (new >= low) & (new <= high)
        # An end of the bracket has to be tried before it can be the answer.
        new = np.where(inside, new, 0.5 * (low + high))
        if (np.abs(new - x) <= 1e-14 * (1.0 + np.abs(x))).all():
            return new
        x = new
    return x


def inverse_digamma(y: np.ndarray) -> np.ndarray:
    """The x > 0 with ψ(x) = y: five Newton steps from Minka's start."""
    large = y >= -2.22
    x = np.where(large, np.exp(np.minimum(y, 700.0)) + 0.5, -1.0 / (np.where(large, -3.0, y) - digamma(1.0)))
    for _ in range(5):
        x = x - (digamma(x) - y) / polygamma(1, x)
    return x


def gamma_shape(gap: np.ndarray, largest: float) -> np.ndarray:
    """The shape a ≤ largest of the likeliest Gamma, from the gap log mean − mean log ≥ 0."""
    gap = np.maximum(gap, 1e-300)
    guess = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)

    def excess(log_shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        shape = np.exp(log_shape)
        return gap - log_shape + digamma(shape), shape * polygamma(1, shape) - 1.0

    top = np.log(largest)
    root = increasing_root(excess, -50.0, top, np.log(np.minimum(guess, largest)))
    return np.exp(np.minimum(root, top))


def concentrations(mean_log: np.ndarray, largest: float, guess: np.ndarray) -> np.ndarray:
    """The α of the likeliest Dirichlet with Σ α ≤ largest, from the means of log x over rows; (…, levels).

    All α follow from one unknown λ by ψ(α_l) = mean log x_l + λ. At the maximum λ = ψ(Σ α); where that lies beyond the
    bound, Σ α is at the bound, and λ is what makes it so.
    """

    def alphas(level: np.ndarray) -> np.ndarray:
        return inverse_digamma(mean_log + level[..., None])

    def slopes(alpha: Any) -> np.ndarray:
        return (1.0 / polygamma(1, alpha)).sum(axis=-1)

    def free(log_total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = np.exp(log_total)
        alpha = alphas(digamma(total))
        return total - alpha.sum(axis=-1), total - slopes(alpha) * polygamma(1, total) * total

    def bounded(level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        alpha = alphas(level)
        return alpha.sum(axis=-1) - largest, slopes(alpha)

    top = np.log(largest)
    log_total = np.minimum(increasing_root(free, -12.0, top, np.log(guess)), top)
    level = digamma(np.exp(log_total))
    beyond = free(np.full_like(log_total, top))[0] < 0
    if beyond.any():
        bound = increasing_root(bounded, level - 50.0, digamma(largest), level)
        level = np.where(beyond, bound, level)
    return alphas(level)
