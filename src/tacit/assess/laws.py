"""Distributions of statistics: what tests, critical regions and power ask of one.

A law tells P(T ≤ t) and P(T ≥ t), and the largest tail of at most a given probability. It is one of SciPy's distributions, a
finite one (exact distributions of ranks, simulated values), or a normal one with correction for continuity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

__all__ = ["Finite", "Frozen", "Law", "Rounded", "Simulated"]

SLACK = 1e-12
"""Probabilities are compared up to rounding."""


class Law:
    """The distribution of a statistic."""

    discrete = False

    def at_most(self, t: float) -> float:
        """P(T ≤ t)."""
        raise NotImplementedError

    def at_least(self, t: float) -> float:
        """P(T ≥ t)."""
        raise NotImplementedError

    def p_of(self, t: float, tail: str) -> float:
        """The probability of a value at least as extreme, on one side or either."""
        below, above = self.at_most(t), self.at_least(t)
        return min({"less": below, "greater": above, "two-sided": 2 * min(below, above)}[tail], 1.0)

    def low(self, alpha: float) -> float:
        """The largest t with P(T ≤ t) ≤ alpha; −∞ where there is none."""
        raise NotImplementedError

    def high(self, alpha: float) -> float:
        """The smallest t with P(T ≥ t) ≤ alpha; ∞ where there is none."""
        raise NotImplementedError

    def density(self, t: np.ndarray) -> np.ndarray:
        """The density, or the probability of each value, where it is drawn."""
        raise NotImplementedError

    def span(self) -> tuple[float, float]:
        """Between which values nearly all lies."""
        raise NotImplementedError

    def support(self) -> np.ndarray:
        """The values of a discrete law in its span."""
        low, high = self.span()
        return np.arange(np.floor(low), np.ceil(high) + 1)


class Frozen(Law):
    """A distribution of SciPy's with its parameters; of whole numbers where it is discrete."""

    def __init__(self, frozen: Any):
        self.frozen = frozen
        self.discrete = hasattr(frozen.dist, "pmf")

    def at_most(self, t: float) -> float:
        return float(self.frozen.cdf(np.floor(t + SLACK) if self.discrete else t))

    def at_least(self, t: float) -> float:
        return float(self.frozen.sf(np.ceil(t - SLACK) - 1 if self.discrete else t))

    def low(self, alpha: float) -> float:
        if not self.discrete:
            return float(self.frozen.ppf(alpha))
        t = float(self.frozen.ppf(alpha))  # the first with P(T ≤ t) ≥ alpha
        t = t if self.at_most(t) <= alpha + SLACK else t - 1
        return t if t >= self.frozen.support()[0] else -np.inf

    def high(self, alpha: float) -> float:
        if not self.discrete:
            return float(self.frozen.isf(alpha))
        t = float(self.frozen.isf(alpha)) + 1  # the first with P(T > t − 1) ≤ alpha
        t = t - 1 if self.at_least(t - 1) <= alpha + SLACK else t
        return t if t <= self.frozen.support()[1] else np.inf

    def density(self, t: np.ndarray) -> np.ndarray:
        return np.asarray(self.frozen.pmf(t) if self.discrete else self.frozen.pdf(t))

    def span(self) -> tuple[float, float]:
        return float(self.frozen.ppf(0.001)), float(self.frozen.isf(0.001))


class Finite(Law):
    """Finitely many values with weights."""

    discrete = True

    def __init__(self, values: np.ndarray, weights: np.ndarray):
        self.values, inverse = np.unique(np.round(values, 9), return_inverse=True)
        weights = np.bincount(inverse, weights)
        self.weights = weights / weights.sum()
        self.below = np.cumsum(self.weights)
        self.above = np.cumsum(self.weights[::-1])[::-1]

    def at_most(self, t: float) -> float:
        k = int(np.searchsorted(self.values, t + 1e-8, side="right"))
        return float(min(self.below[k - 1], 1.0)) if k else 0.0

    def at_least(self, t: float) -> float:
        k = int(np.searchsorted(self.values, t - 1e-8, side="left"))
        return float(min(self.above[k], 1.0)) if k < len(self.values) else 0.0

    def low(self, alpha: float) -> float:
        k = int((self.below <= alpha + SLACK).sum())
        return float(self.values[k - 1]) if k else -np.inf

    def high(self, alpha: float) -> float:
        k = int((self.above <= alpha + SLACK).sum())
        return float(self.values[-k]) if k else np.inf

    def density(self, t: np.ndarray) -> np.ndarray:
        place = np.clip(np.searchsorted(self.values, t - 1e-8), 0, len(self.values) - 1)
        return np.where(np.abs(self.values[place] - t) < 1e-8, self.weights[place], 0.0)

    def span(self) -> tuple[float, float]:
        return float(self.values[0]), float(self.values[-1])

    def support(self) -> np.ndarray:
        return self.values


class Simulated(Law):
    """Values that were drawn.

    Parameters
    ----------
    values : ndarray
    observed : int
        1 where the data count as one more draw, as they must under the null hypothesis for a p-value to be valid.
    """

    def __init__(self, values: np.ndarray, observed: int = 0):
        self.values, self.observed = np.sort(np.asarray(values, dtype=float)), observed

    def _share(self, n: int) -> float:
        return (n + self.observed) / (len(self.values) + self.observed)

    def _slack(self, t: float) -> float:
        return 1e-10 * max(abs(t), 1e-10) if np.isfinite(t) else 0.0

    def at_most(self, t: float) -> float:
        return self._share(int(np.searchsorted(self.values, t + self._slack(t), side="right")))

    def at_least(self, t: float) -> float:
        return self._share(len(self.values) - int(np.searchsorted(self.values, t - self._slack(t), side="left")))

    def _allowed(self, alpha: float) -> int:
        return int(np.floor(alpha * (len(self.values) + self.observed) + 1e-9)) - self.observed

    def low(self, alpha: float) -> float:
        n = self._allowed(alpha)
        if n < 0:
            return -np.inf
        if n >= len(self.values):
            return float(self.values[-1])
        # Below the first value that is one too many: whatever lies there has few enough values at or below it.
        return float(np.nextafter(self.values[n] - self._slack(self.values[n]) * 2, -np.inf))

    def high(self, alpha: float) -> float:
        n = self._allowed(alpha)
        if n < 0:
            return np.inf
        if n >= len(self.values):
            return float(self.values[0])
        value = self.values[len(self.values) - 1 - n]
        return float(np.nextafter(value + self._slack(value) * 2, np.inf))

    def density(self, t: np.ndarray) -> np.ndarray:
        spread = self.values.std()
        if not spread > 0:
            return np.where(np.abs(t - self.values[0]) < 1e-9, 1.0, 0.0)
        return stats.gaussian_kde(self.values)(t)

    def span(self) -> tuple[float, float]:
        return float(self.values[0]), float(self.values[-1])


class Rounded(Law):
    """A normal distribution that stands for one of whole or half numbers, with correction for continuity."""

    def __init__(self, mean: float, sd: float, half: float = 0.5):
        self.mean, self.sd, self.half = mean, sd, half

    def at_most(self, t: float) -> float:
        if self.sd == 0:
            return float(t >= self.mean - 1e-9)
        return float(stats.norm.cdf((t + self.half - self.mean) / self.sd))

    def at_least(self, t: float) -> float:
        if self.sd == 0:
            return float(t <= self.mean + 1e-9)
        return float(stats.norm.sf((t - self.half - self.mean) / self.sd))

    def low(self, alpha: float) -> float:
        return -np.inf if self.sd == 0 else float(self.mean + stats.norm.ppf(alpha) * self.sd - self.half)

    def high(self, alpha: float) -> float:
        return np.inf if self.sd == 0 else float(self.mean + stats.norm.isf(alpha) * self.sd + self.half)

    def density(self, t: np.ndarray) -> np.ndarray:
        return stats.norm.pdf(t, self.mean, max(self.sd, 1e-12))

    def span(self) -> tuple[float, float]:
        return self.mean - 3.1 * self.sd, self.mean + 3.1 * self.sd
