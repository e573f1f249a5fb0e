"""Noncentral laws: of t, χ² and F under an effect, and intervals of effects by inverting them.

An interval of an effect δ holds those whose law has the statistic at hand within its middle 1 − α: P_δ(T ≥ t) ≥ α/2 and P_δ(T ≤
t) ≥ α/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from .design import Design
from .laws import Frozen, Law

__all__ = ["ChiSquared", "Fisher", "Normal", "Student", "chi_squared", "inverted", "noncentral_t", "student_interval"]


class NoncentralT:
    """Student's law with a noncentrality, by SciPy; by a normal approximation where SciPy's series fails, far out in a tail."""

    dist = stats.nct

    def __init__(self, df: float, nc: float):
        self.df, self.nc, self.frozen = df, nc, stats.nct(df, nc)
        self.fails = df > 1e6 or abs(nc) > 37

    def _z(self, t: float) -> float:
        return float((t * (1 - 1 / (4 * self.df)) - self.nc) / math.sqrt(1 + t * t / (2 * self.df)))

    def cdf(self, t: float) -> float:
        """P(T ≤ t)."""
        value = math.nan if self.fails else float(self.frozen.cdf(t))
        return value if 0 <= value <= 1 else float(stats.norm.cdf(self._z(t)))

    def sf(self, t: float) -> float:
        """P(T > t)."""
        value = math.nan if self.fails else float(self.frozen.sf(t))
        return value if 0 <= value <= 1 else float(stats.norm.sf(self._z(t)))

    def pdf(self, t: np.ndarray) -> np.ndarray:
        """The density."""
        normal = stats.norm.pdf(t, self.nc, math.sqrt(1 + self.nc**2 / (2 * self.df)))
        values = normal if self.fails else self.frozen.pdf(t)
        return np.where(np.isfinite(values), values, normal)

    def ppf(self, q: float) -> float:
        """A quantile, for drawing: by the normal approximation."""
        spread = math.sqrt(1 + self.nc**2 / (2 * self.df))
        return float(self.nc + stats.norm.ppf(q) * spread * math.sqrt(1 + 10 / self.df))

    def isf(self, q: float) -> float:
        """The quantile from above."""
        return self.ppf(1 - q)


def noncentral_t(df: float, nc: float) -> Any:
    """Student's law with a noncentrality."""
    return stats.t(df) if nc == 0 else NoncentralT(df, nc)


def chi_squared(df: float, nc: float) -> Any:
    """The χ² law with a noncentrality; normal where it is far out."""
    if nc <= 0:
        return stats.chi2(df)
    return stats.ncx2(df, nc) if nc < 1e4 else stats.norm(df + nc, math.sqrt(2 * (df + 2 * nc)))


def _f(df: float, within: float, nc: float) -> Any:
    return stats.ncf(df, within, nc) if nc > 0 else stats.f(df, within)


def inverted(tail: Callable[[float], float], share: float, start: float, step: float, least: float = -np.inf) -> float:
    """The noncentrality at which a monotone tail probability is `share`, looked for from `start` in steps that double."""

    def gap(nc: float) -> float:
        return tail(nc) - share

    first = gap(start)
    if first == 0:
        return start
    here, far = start, start
    for _ in range(60):
        far = max(start + step, least)
        if gap(far) * first <= 0:
            return float(brentq(gap, here, far, xtol=1e-9 * max(abs(far), 1e-3)))
        if far == least:
            return least
        here, step = far, 2 * step
    return far


def student_interval(t: float, df: float, alpha: float) -> tuple[float, float]:
    """The interval of the noncentrality of a t statistic."""
    low = inverted(lambda nc: float(noncentral_t(df, nc).sf(t)), alpha / 2, t, -2.0)
    high = inverted(lambda nc: float(noncentral_t(df, nc).cdf(t)), alpha / 2, t, 2.0)
    return low, high


def rising_interval(law: Callable[[float], Any], statistic: float, start: float, alpha: float) -> tuple[float, float]:
    """The interval of a noncentrality of at least 0."""
    start = max(start, 0.0)
    step = 2.0 + math.sqrt(max(start, 0.0))

    def above(nc: float) -> float:
        return float(law(nc).sf(statistic))

    def below(nc: float) -> float:
        return float(law(nc).cdf(statistic))

    low = (
        0.0
        if above(0.0) >= alpha / 2
        else inverted(above, alpha / 2, start, -step if above(start) > alpha / 2 else step, 0.0)
    )
    if below(0.0) <= alpha / 2:
        return low, 0.0
    return low, inverted(below, alpha / 2, start, step if below(start) > alpha / 2 else -step, 0.0)


@dataclass(frozen=True)
class Normal(Design):
    """z: normal with variance 1, and mean effect · √(rows that count)."""

    def _rows(self, sizes: tuple[int, ...]) -> float:
        return sizes[0] if len(sizes) == 1 else 1 / sum(1 / size for size in sizes)

    least = 1

    def null(self, sizes: tuple[int, ...]) -> Law:
        return Frozen(stats.norm())

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        return Frozen(stats.norm(effect * math.sqrt(self._rows(sizes))))


@dataclass(frozen=True)
class Student(Design):
    """t of one sample, of pairs or of two samples.

    Parameters
    ----------
    ratio : float, optional
        Of two samples that may vary differently, the variance of the first over that of the second; None where they vary alike.
    """

    ratio: float | None = None

    def df(self, sizes: tuple[int, ...]) -> float:
        """Degrees of freedom."""
        if len(sizes) == 1:
            return sizes[0] - 1
        if self.ratio is None:
            return sum(sizes) - 2
        a, b = self.ratio / sizes[0], 1 / sizes[1]
        return (a + b) ** 2 / (a**2 / (sizes[0] - 1) + b**2 / (sizes[1] - 1))

    def factor(self, sizes: tuple[int, ...]) -> float:
        """The noncentrality of an effect of 1."""
        if len(sizes) == 1:
            return math.sqrt(sizes[0])
        ratio = 1.0 if self.ratio is None else self.ratio
        # The unit of the effect is the root of the mean of both variances.
        return math.sqrt((ratio + 1) / 2 / (ratio / sizes[0] + 1 / sizes[1]))

    def null(self, sizes: tuple[int, ...]) -> Law:
        return Frozen(stats.t(self.df(sizes)))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        return Frozen(noncentral_t(self.df(sizes), effect * self.factor(sizes)))


@dataclass(frozen=True)
class ChiSquared(Design):
    """χ² with noncentrality rows · effect², or rows · effect where the effect is a square already."""

    freedom: float = 1.0
    squared: bool = False
    effects = (0.0, np.inf)
    least = 1

    def null(self, sizes: tuple[int, ...]) -> Law:
        return Frozen(stats.chi2(self.freedom))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        return Frozen(chi_squared(self.freedom, sum(sizes) * (effect if self.squared else effect**2)))


@dataclass(frozen=True)
class Fisher(Design):
    """F of the means of several samples, with noncentrality rows · effect² (Cohen's f)."""

    effects = (0.0, np.inf)

    def null(self, sizes: tuple[int, ...]) -> Law:
        return Frozen(stats.f(len(sizes) - 1, sum(sizes) - len(sizes)))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        return Frozen(_f(len(sizes) - 1, sum(sizes) - len(sizes), sum(sizes) * effect**2))
