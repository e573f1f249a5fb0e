"""Kolmogorov and Smirnov's tests: of a sample against a distribution, and of two samples.

    D = sup_x |F̂(x) − F(x)|        D = sup_x |F̂(x) − Ĝ(x)|

Of two samples the distribution of D is counted over all paths of a lattice that stay near its diagonal. Under an effect, one of
two normal populations is shifted so that their distribution functions are as far apart as it says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from scipy import stats

from .design import Design
from .laws import Frozen, Law, Simulated
from .ordered import DRAWS, SEED, parts
from .result import TestResult
from .samples import check_alpha, cleaned

__all__ = ["ks_test"]

PATHS = 40_000
"""Pairs of rows up to which the distribution of two samples is counted."""


@lru_cache(maxsize=4096)
def _outside(m: int, n: int, steps: int) -> float:
    """P(D ≥ steps / lcm) of two samples: paths of the lattice that leave the band about its diagonal."""
    unit = math.lcm(m, n)
    a, b = unit // m, unit // n
    row, start = np.zeros(n + 1), 0
    width = np.arange(n + 1) * b
    for i in range(m + 1):
        inside = np.flatnonzero(np.abs(i * a - width) < steps)
        if not len(inside):
            return 1.0
        first, last = int(inside[0]), int(inside[-1])
        ways = np.zeros(n + 1)
        if i == 0:
            ways[: last + 1] = float(first == 0)
        else:
            ways[first : last + 1] = np.cumsum(row[first : last + 1])
        row, start = ways, first
    # Both numbers of paths stay below 1e308 where there are no more pairs than PATHS.
    return float(min(max(1.0 - row[n] / math.comb(m + n, n), 0.0), 1.0)) if start <= n else 1.0


class Lattice(Law):
    """D of two samples, of which all paths are counted."""

    discrete = True

    def __init__(self, m: int, n: int):
        self.m, self.n, self.unit = m, n, math.lcm(m, n)

    def at_least(self, t: float) -> float:
        steps = math.ceil(t * self.unit - 1e-6)
        return 1.0 if steps <= 0 else _outside(self.m, self.n, steps)

    def at_most(self, t: float) -> float:
        return 1.0 - _outside(self.m, self.n, math.floor(t * self.unit + 1e-6) + 1)

    def high(self, alpha: float) -> float:
        low, high = 0, self.unit + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if _outside(self.m, self.n, middle) <= alpha + 1e-12 else (middle + 1, high)
        return low / self.unit if low <= self.unit else np.inf

    def support(self) -> np.ndarray:
        return np.arange(self.unit + 1) / self.unit

    def density(self, t: np.ndarray) -> np.ndarray:
        return np.array([self.at_least(v) - self.at_least(v + 1 / self.unit) for v in t])

    def span(self) -> tuple[float, float]:
        return 0.0, 1.0


@dataclass(frozen=True)
class Gap(Design):
    """D of one or two samples; the effect is the largest difference of the distribution functions."""

    effects = (0.0, 1.0)
    least = 1

    def null(self, sizes: tuple[int, ...]) -> Law:
        if len(sizes) == 1:
            return Frozen(stats.kstwo(sizes[0]))
        m, n = sizes
        if m * n <= PATHS and m + n <= 1000:
            return Lattice(m, n)
        return Frozen(stats.kstwo(round(m * n / (m + n))))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        return _simulated_gap(effect, sizes)


@cache
def _simulated_gap(effect: float, sizes: tuple[int, ...]) -> Law:
    rng, n = np.random.default_rng(SEED), sum(sizes)
    shift = 2 * stats.norm.ppf((1 + min(effect, 1 - 1e-12)) / 2)
    drawn = []
    for count in parts(min(DRAWS, max(400, 40_000_000 // n)), n):
        rows = rng.normal(size=(count, n))
        if len(sizes) == 1:
            u = np.sort(stats.norm.cdf(rows + shift), axis=1)
            steps = np.arange(1, n + 1) / n
            drawn.append(np.maximum(steps - u, u - steps + 1 / n).max(axis=1))
        else:
            rows[:, : sizes[0]] += shift
            jumps = np.where(rows.argsort(axis=1) < sizes[0], 1 / sizes[0], -1 / sizes[1])
            drawn.append(np.abs(np.cumsum(jumps, axis=1)).max(axis=1))
    return Simulated(np.concatenate(drawn))


def ks_test(x: Any, y: Any, *, alpha: float = 0.05, missing: str = "raise") -> TestResult:
    """Test whether a sample comes from a distribution, or two samples from the same one.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
    y : array-like of shape (n_rows,), callable, or distribution with a method cdf
        Another sample, or a continuous distribution that was not fitted to x (where it was, p-values are far too large).
    alpha : float
        Level of the test; the interval holds with probability 1 − alpha at least.
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    TestResult
        The effect is the largest difference of the distribution functions, D.

    References
    ----------
    Massart (1990), The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality, Annals of Probability 18.

    Examples
    --------
    >>> from tacit.assess import ks_test
    >>> found = ks_test([0.61, 0.29, 0.06, 0.59, -1.73, -0.74, 0.51, -0.56, 0.39, 1.64, 0.05, -0.06], "norm")
    >>> round(found.statistic, 4), found.rejected
    (0.2261, False)
    """
    alpha = check_alpha(alpha)
    sizes: tuple[int, ...]
    if callable(y) or hasattr(y, "cdf") or isinstance(y, str):
        (x,), dropped = cleaned([x], "x", missing)
        cdf = _function(y)
        u = np.asarray(cdf(np.sort(x)), dtype=float)
        if not ((u >= 0) & (u <= 1)).all():
            raise ValueError(
                f"the distribution function returns {u[~((u >= 0) & (u <= 1))][0]:g}; it must lie between 0 and 1."
            )
        steps = np.arange(1, len(x) + 1) / len(x)
        statistic, sizes = float(max((steps - u).max(), (u - steps + 1 / len(x)).max())), (len(x),)
        name, null = "The Kolmogorov-Smirnov test", "the values come from the distribution"
    else:
        (x, y), dropped = cleaned([x, y], "xy", missing)
        every = np.concatenate([x, y])
        x, y = np.sort(x), np.sort(y)
        gaps = np.searchsorted(x, every, "right") / len(x) - np.searchsorted(y, every, "right") / len(y)
        statistic, sizes = float(np.abs(gaps).max()), (len(x), len(y))
        name, null = "The Kolmogorov-Smirnov test", "both samples come from the same distribution"
    design = Gap(sizes, "greater")
    # By the inequality of Dvoretzky, Kiefer and Wolfowitz, of each sample.
    share = alpha / len(sizes)
    reach = sum(math.sqrt(math.log(2 / share) / (2 * n)) for n in sizes)
    return TestResult(
        name, null, "D", statistic, design.p_value(statistic), alpha, "largest difference of the distribution "
                                                                      "functions", statistic,
        (max(statistic - reach, 0.0), min(statistic + reach, 1.0)), sizes, dropped=dropped, design=design,
    )  # fmt: skip


def _function(distribution: Any) -> Callable:
    if isinstance(distribution, str):
        if not isinstance(getattr(stats, distribution, None), stats.rv_continuous):
            raise ValueError(
                f"y={distribution!r} is no continuous distribution of scipy.stats; use 'norm', for instance."
            )
        return getattr(stats, distribution).cdf
    return distribution.cdf if hasattr(distribution, "cdf") else distribution
