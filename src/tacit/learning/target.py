"""`Target`: numbers to be predicted as standard scores, of their logarithms where a model is of these, and back.

With log y ~ N(m, s²), E y = exp(m + s²/2) and Var y = (E y)² (exp s² − 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

__all__ = ["Target", "starts_at_zero"]

NEAR = 0.2
"""Part of the mean within which the least number is near 0."""


@dataclass(frozen=True)
class Target:
    """How targets become standard scores.

    Attributes
    ----------
    middle, spread : float
        Mean and standard deviation of the targets, or of their logarithms.
    logs : bool
    from_zero : bool
        Whether nothing below 0 is predicted.
    """

    middle: float
    spread: float
    logs: bool
    from_zero: bool

    @classmethod
    def of(cls, y: np.ndarray, logs: bool, from_zero: bool) -> Self:
        """As targets have it."""
        y = np.log(y) if logs else y
        return cls(float(y.mean()), float(y.std()) or 1.0, logs, from_zero)

    def scores(self, y: np.ndarray) -> np.ndarray:
        return ((np.log(y) if self.logs else y) - self.middle) / self.spread

    def back(self, found: np.ndarray) -> np.ndarray:
        """Expectation and standard deviation, (n, 2), of targets; of their scores they are given."""
        mean, std = found[:, 0] * self.spread + self.middle, found[:, 1] * self.spread
        if self.logs:
            with np.errstate(over="ignore"):
                mean = np.exp(mean + 0.5 * std**2)
                std = mean * np.sqrt(np.expm1(std**2))
        return np.column_stack([np.maximum(mean, 0.0) if self.from_zero else mean, std])


def starts_at_zero(y: np.ndarray) -> bool:
    """Whether no number is below 0 and some are near it, as amounts and counts are."""
    return bool(0.0 <= y.min() <= NEAR * y.mean() and y.mean() > 0)
