"""Statistics of one sample whose replicates are compiled: means and moments by sums over drawn rows, quantiles by their own law.

The i-th of n values drawn with replacement from x₍₁₎ ≤ … ≤ x₍ₙ₎ is x₍⌈nU₎₎ with U the i-th of n uniform numbers, which is
Beta(i, n + 1 − i), and the next one lies above it as the smallest of n − i uniform numbers does: replicates of a quantile need
no samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import lazy

__all__ = ["NAMED", "Moment", "Quantile", "named_statistic"]

resampling = lazy("resampling")
STEP = 256
"""Replicates of one block, which has a seed of its own."""

NAMED: dict[str, tuple[int, Callable]] = {
    "mean": (1, lambda m, n: m[0]),
    "variance": (2, lambda m, n: m[1] * n / (n - 1)),
    "sd": (2, lambda m, n: np.sqrt(m[1] * n / (n - 1))),
    "skewness": (3, lambda m, n: m[2] / m[1] ** 1.5),
    "kurtosis": (4, lambda m, n: m[3] / m[1] ** 2 - 3),
}
"""Order of a moment, and the statistic from mean and central moments."""


def named_statistic(statistic: Any, x: np.ndarray, seed: int) -> Moment | Quantile | None:
    """The compiled form of a statistic; None where there is none."""
    if statistic is np.mean:
        statistic = "mean"
    if statistic is np.median or (isinstance(statistic, str) and statistic == "median"):
        statistic = 0.5
    if isinstance(statistic, (float, np.floating)):
        if not 0 < statistic < 1:
            raise ValueError(f"statistic={statistic!r} is no quantile between 0 and 1; use 0.5 for the median.")
        return Quantile(float(statistic), x, seed)
    if isinstance(statistic, str):
        if statistic not in NAMED:
            known = ", ".join(map(repr, (*NAMED, "median")))
            raise ValueError(
                f"statistic={statistic!r} is unknown; use one of {known}, a quantile such as 0.9, or a function."
            )
        return Moment(statistic, x, seed)
    return None


def _central(sums: np.ndarray, n: float) -> list[np.ndarray]:
    """Mean and central moments from power sums about a fixed point."""
    raw = [sums[..., k] / n for k in range(sums.shape[-1])]
    mean = raw[0]
    found = [mean]
    if len(raw) > 1:
        found.append(np.maximum(raw[1] - mean**2, 0.0))
    if len(raw) > 2:
        found.append(raw[2] - 3 * mean * raw[1] + 2 * mean**3)
    if len(raw) > 3:
        found.append(raw[3] - 4 * mean * raw[2] + 6 * mean**2 * raw[1] - 3 * mean**4)
    return found


class Moment:
    """A mean, or another function of moments.

    Parameters
    ----------
    name : str
        One of `NAMED`.
    x : ndarray of shape (n,)
    seed : int
    """

    def __init__(self, name: str, x: np.ndarray, seed: int):
        self.name, self.seed, self.n = name, np.uint64(seed), len(x)
        self.order, self.function = NAMED[name]
        self.origin, self.scale = float(x.mean()), float(x.std()) or 1.0
        # About the mean in units of the spread, so that powers lose no digits.
        self.z = (x - self.origin) / self.scale

    def _value(self, sums: np.ndarray, n: float) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.asarray(self.function(_central(sums, n), n), dtype=float)
        if self.name == "mean":
            return self.origin + self.scale * value
        return value * {"variance": self.scale**2, "sd": self.scale}.get(self.name, 1.0)

    def _powers(self, order: int) -> np.ndarray:
        return np.stack([self.z**k for k in range(1, order + 1)], axis=1)

    def estimate(self) -> np.ndarray:
        """The statistic of the data."""
        return self._value(self._powers(self.order).sum(axis=0), self.n)[None]

    def block(self, first: int, count: int, spreads: bool = False) -> tuple[np.ndarray, np.ndarray | None]:
        """Replicates from `first` on, and their standard errors if asked for."""
        order = max(self.order, 2) if spreads else self.order
        sums = np.empty((count, order))
        resampling.draw_sums(self.z, self.seed, first, sums)
        values = self._value(sums[:, : self.order], self.n)[:, None]
        if not spreads:
            return values, None
        variance = _central(sums, self.n)[1] * self.n / (self.n - 1)
        return values, self.scale * np.sqrt(variance / self.n)[:, None]

    def spread(self) -> np.ndarray:
        """The standard error of a mean."""
        return np.array([self.scale * math.sqrt(self.n / (self.n - 1) / self.n)])

    def jackknife(self) -> np.ndarray:
        """The statistic without each row in turn."""
        powers = self._powers(self.order)
        return self._value(powers.sum(axis=0) - powers, self.n - 1)[:, None]


class Quantile:
    """A quantile, between the two values that it lies between (as `numpy.quantile` has it).

    Parameters
    ----------
    q : float
    x : ndarray of shape (n,)
    seed : int
    """

    name = "quantile"

    def __init__(self, q: float, x: np.ndarray, seed: int):
        self.q, self.x, self.seed, self.n = q, np.sort(x), seed, len(x)

    def _between(self, n: int) -> tuple[int, float]:
        """The number of the value below, from 1, and how far the quantile lies towards the next."""
        place = self.q * (n - 1)
        return int(place) + 1, place - int(place)

    def estimate(self) -> np.ndarray:
        """The quantile of the data."""
        return np.array([np.quantile(self.x, self.q)])

    def block(self, first: int, count: int, spreads: bool = False) -> tuple[np.ndarray, None]:
        """Replicates from `first` on, which begins a block."""
        rng, n = np.random.default_rng([self.seed, first]), self.n
        i, part = self._between(n)
        u = rng.beta(i, n + 1 - i, size=count)
        low = self.x[np.minimum((u * n).astype(int), n - 1)]
        if part == 0:
            return low[:, None], None
        # The smallest of the n − i numbers that lie above u.
        v = u + (1 - u) * -np.expm1(np.log(rng.random(count)) / (n - i))
        high = self.x[np.minimum((v * n).astype(int), n - 1)]
        return (low * (1 - part) + high * part)[:, None], None

    def jackknife(self) -> np.ndarray:
        """The quantile without each row in turn."""
        i, part = self._between(self.n - 1)
        rows = np.arange(self.n)
        low, high = (self.x[np.minimum(j - 1 + (rows <= j - 1), self.n - 1)] for j in (i, min(i + 1, self.n - 1)))
        return (low * (1 - part) + high * part)[:, None]
