"""`Moments`: count, mean, spread and range of numbers that go by in batches."""

from __future__ import annotations

import numpy as np

__all__ = ["Moments"]


class Moments:
    """What is kept of numbers.

    Batches are merged about their own means (Chan, Golub and LeVeque 1983), so that nothing cancels at a large offset.
    """

    def __init__(self) -> None:
        self.n, self.mean, self.squares = 0, 0.0, 0.0
        self.low, self.high = np.inf, -np.inf
        self.whole = True
        self.increasing = True

    def add(self, values: np.ndarray) -> None:
        """Take some finite numbers in."""
        if not len(values):
            return
        n, low, high = len(values), float(values.min()), float(values.max())
        # Scaled, so that sums of numbers near the largest there is do not overflow.
        scale = max(abs(low), abs(high)) or 1.0
        mean = float((values / scale).mean()) * scale
        # Of numbers beyond 1e154 the spread is infinity, which nothing is concluded from.
        with np.errstate(over="ignore"):
            squares = float(((values - mean) ** 2).sum())
            total, gap = self.n + n, mean - self.mean
            self.squares += squares + float(np.float64(gap) ** 2) * self.n * n / total
        self.mean += gap * n / total
        if self.increasing:
            self.increasing = bool(values[0] > self.high) and bool((values[1:] > values[:-1]).all())
        self.whole = self.whole and bool((values == np.floor(values)).all())
        self.n, self.low, self.high = total, min(self.low, low), max(self.high, high)

    @property
    def std(self) -> float:
        """Standard deviation, divisor n."""
        return float(np.sqrt(self.squares / self.n)) if self.n else 0.0

    def without(self, value: float, times: int) -> tuple[float, float]:
        """Mean and standard deviation of the numbers that are left when one that occurs so many times is left out."""
        left = self.n - times
        mean = self.mean + (self.mean - value) * times / left
        squares = self.squares - (value - mean) ** 2 * left * times / self.n
        return mean, float(np.sqrt(max(squares, 0.0) / left))
