"""Visible units x behind which are hidden ones h: log p(x, h) = b·x + c·h + xᵀ W h − log Z, units being 0 or 1.

Given the visible units the hidden ones are independent, and the other way round: log p(x) = b·x + Σ_j log(1 + exp(c_j + x·W_j))
− log Z.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from ...arrays import Arrays, record
from ...engine import Model, Slope
from ...source.block import Block
from .states import expected

__all__ = ["HiddenModel", "HiddenParams"]

UNIT = (0.0, 1.0)


@record
class HiddenParams(Arrays):
    """Parameters of a restricted Boltzmann machine.

    Attributes
    ----------
    field, hidden : (d,), (h,) arrays
        b and c.
    weights : (d, h) array
        W.
    """

    field: np.ndarray
    hidden: np.ndarray
    weights: np.ndarray

    def score(self, X: np.ndarray) -> np.ndarray:
        """Log probabilities up to log Z, (rows,)."""
        return X @ self.field + np.logaddexp(0.0, self.hidden + X @ self.weights).sum(axis=1)

    def behind(self, X: np.ndarray) -> np.ndarray:
        """Probabilities that hidden units are 1, (rows, h)."""
        return expit(self.hidden + X @ self.weights)

    @property
    def turned(self) -> HiddenParams:
        """The same machine with hidden and visible units exchanged."""
        return HiddenParams(self.hidden, self.field, self.weights.T)

    @cached_property
    def sums(self) -> tuple[float, tuple[np.ndarray, ...]]:
        """Log Z and the means of x, h and x hᵀ, summed over the states of the fewer units."""
        if len(self.hidden) < len(self.field):
            log_z, (hidden, field, weights) = self.turned.sums
            return log_z, (field, hidden, weights.T)

        def moments(states: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, ...]:
            behind = self.behind(states)
            return p @ states, p @ behind, (states * p[:, None]).T @ behind

        return expected(len(self.field), UNIT, self.score, moments)

    def draw(self, X: np.ndarray, n_steps: int, rng: np.random.Generator) -> np.ndarray:
        """Rows after some steps of drawing hidden units given the visible ones, and back."""
        for _ in range(n_steps):
            behind = self.behind(X)
            states = (rng.random(behind.shape) < behind).astype(float)
            shown = self.turned.behind(states)
            X = (rng.random(shown.shape) < shown).astype(float)
        return X


class HiddenModel(Model):
    """Learns a restricted Boltzmann machine by the gradient of its likelihood.

    Parameters
    ----------
    n_hidden : int
    alpha : float
        Precision of the parameters' Gaussian prior.
    """

    def __init__(self, n_hidden: int, alpha: float):
        self.n_hidden, self.alpha = n_hidden, alpha

    def init(self, sample: Block, rng: np.random.Generator) -> HiddenParams:
        """Visible units by their means, small random weights: with none all hidden units would stay the same."""
        mean = np.clip(np.average(sample.X, axis=0, weights=sample.weight), 0.01, 0.99)
        weights = rng.normal(0.0, 0.1, (sample.X.shape[1], self.n_hidden))
        return HiddenParams(np.log(mean / (1.0 - mean)), np.zeros(self.n_hidden), weights)

    def free(self, params: HiddenParams) -> np.ndarray:
        """All parameters."""
        return params.to_vector()

    def bound(self, vector: np.ndarray, params: HiddenParams) -> HiddenParams:
        """Parameters of such a vector."""
        return params.from_vector(vector)

    def slope(self, params: HiddenParams, block: Block, order: int = 1) -> Slope:
        """What rows add to the log-likelihood."""
        X, weight = block.X, block.weight
        total, (log_z, means) = float(weight.sum()), params.sums
        value = float(weight @ params.score(X)) - total * log_z
        gradient = np.concatenate([
            (seen - total * mean).ravel() for seen, mean in zip(self._seen(params, X, weight), means)
        ])  # fmt: skip
        return Slope(value, total, gradient, np.zeros((0, 0)))

    def _seen(self, params: HiddenParams, X: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, ...]:
        behind = params.behind(X)
        return weight @ X, weight @ behind, (X * weight[:, None]).T @ behind

    def log_prior(self, params: HiddenParams) -> float:
        """Of a Gaussian about 0."""
        return -0.5 * self.alpha * float((self.free(params) ** 2).sum())

    def prior_slope(self, params: HiddenParams) -> tuple[Any, Any]:
        """Its gradient."""
        return -self.alpha * self.free(params), 0.0

    def ascent(self, params: HiddenParams, X: np.ndarray, n_steps: int, rng: np.random.Generator) -> np.ndarray:
        """The gradient of contrastive divergence: moments of rows less those after some steps of Gibbs sampling."""
        share = np.full(len(X), 1.0 / len(X))
        seen, drawn = (self._seen(params, rows, share) for rows in (X, params.draw(X, n_steps, rng)))
        return np.concatenate([(a - b).ravel() for a, b in zip(seen, drawn)])
