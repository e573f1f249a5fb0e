"""What a rating tells of η = μ + b + c + u·v: a measurement with noise, a level of a scale, or an event."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import lazy

__all__ = ["GaussianResponse"]

compiled = lazy("factorization")


class GaussianResponse:
    """r = η + noise, noise ~ N(0, σ² / weight).

    Parameters
    ----------
    mean, variance : float
        Those of all ratings.
    learns : bool
        Whether σ² is learned; otherwise it is 1, and errors are charged as they are.
    """

    def __init__(self, mean: float = 0.0, variance: float = 1.0, learns: bool = True):
        self.mean, self.variance, self.learns = mean, variance, learns

    def start(self) -> tuple[float, float, np.ndarray]:
        """μ, σ² and further parameters to start from."""
        return self.mean, max(0.7 * self.variance, 1e-6) if self.learns else 1.0, np.zeros(0)

    def targets(self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray) -> np.ndarray:
        """What cells tell of b + c + u·v."""
        return rows.data - params.centre

    def weights(self, rows: Any) -> np.ndarray:
        """Weights of the cells."""
        return rows.weight

    def base(self, table: np.ndarray) -> np.ndarray:
        """Sums of moments that every row has besides its cells'."""
        return np.zeros(0)

    def told(
        self, params: Any, rows: Any, target: np.ndarray, own: np.ndarray, others: np.ndarray, error: float
    ) -> tuple[float, float, np.ndarray]:
        """Expected log-likelihood of the cells, their weight, and sums that parameters are learned from."""
        weight = float(rows.weight.sum(dtype=float))
        return -0.5 * (weight * np.log(2 * np.pi * params.noise) + error / params.noise), weight, np.zeros(0)

    def updated(self, params: Any, stats: Any) -> tuple[float, np.ndarray]:
        """σ² and further parameters, given sums."""
        return stats.error / stats.weight if self.learns else params.noise, params.response
