"""A test as two distributions of its statistic: under the null hypothesis, and where there is an effect of a given size.

    region:  P₀(T ∈ R) ≤ α          power:  P₁(T ∈ R)          sample size:  the fewest rows with P₁(T ∈ R) ≥ power

Whatever a test has of these is written here, once. A design tells its two laws for any sizes of the samples; an effect is in
the unit that the test reports its effect in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from .laws import Law

__all__ = ["Design", "Region", "tail_of"]

TAILS = ("two-sided", "less", "greater")
MOST = 10_000_000
"""The most rows that a sample size is looked for among."""


@dataclass(frozen=True)
class Region:
    """Where a test rejects: at `lower` and below, at `upper` and above.

    Attributes
    ----------
    lower, upper : float
        −∞ and ∞ where no value on that side rejects.
    first, last : int or None
        The least and largest value of a statistic that is a whole number.
    """

    lower: float
    upper: float
    first: int | None = None
    last: int | None = None

    def __contains__(self, statistic: float) -> bool:
        return bool(statistic <= self.lower or statistic >= self.upper)

    def __str__(self) -> str:
        parts = []
        if self.first is not None and self.last is not None:
            if self.lower >= self.first:
                parts.append(_run(self.first, int(np.floor(self.lower))))
            if self.upper <= self.last:
                parts.append(_run(int(np.ceil(self.upper)), self.last))
            return " and ".join(parts) or "{}"
        if self.lower > -np.inf:
            parts.append(f"at most {self.lower:.4g}")
        if self.upper < np.inf:
            parts.append(f"at least {self.upper:.4g}")
        return " or ".join(parts) or "no value"


def _run(first: int, last: int) -> str:
    """Whole numbers from one to another."""
    every = list(range(first, last + 1))
    return "{" + (", ".join(map(str, every)) if len(every) < 4 else f"{first}, …, {last}") + "}"


def tail_of(alternative: str) -> str:
    """The name of an alternative, checked."""
    if alternative not in TAILS:
        raise ValueError(f"alternative={alternative!r} is unknown; use one of {', '.join(map(repr, TAILS))}.")
    return alternative


@dataclass(frozen=True)
class Design:
    """How the statistic of a test is distributed.

    Parameters
    ----------
    sizes : tuple of int
        Rows of every sample.
    tail : {"two-sided", "less", "greater"}
        On which side of the null law the test rejects.
    null_effect : float
        The effect under the null hypothesis.
    """

    sizes: tuple[int, ...]
    tail: str = "two-sided"
    null_effect: float = 0.0
    whole = False  # whether the statistic counts something
    least = 2  # rows that the smallest sample must have
    effects = (-np.inf, np.inf)  # between which effects lie

    def null(self, sizes: tuple[int, ...]) -> Law:
        """The law of the statistic where the null hypothesis holds."""
        raise NotImplementedError

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        """The law of the statistic for an effect."""
        raise NotImplementedError

    def p_value(self, statistic: float) -> float:
        """P₀ of a statistic at least as extreme."""
        return self.null(self.sizes).p_of(statistic, self.tail)

    def region(self, alpha: float, sizes: tuple[int, ...] | None = None) -> Region:
        """The critical region."""
        law = self.null(sizes or self.sizes)
        share = alpha / 2 if self.tail == "two-sided" else alpha
        lower = law.low(share) if self.tail != "greater" else -np.inf
        upper = law.high(share) if self.tail != "less" else np.inf
        return Region(lower, upper, *self._ends(sizes or self.sizes))

    def _ends(self, sizes: tuple[int, ...]) -> tuple[int | None, int | None]:
        return (0, sum(sizes)) if self.whole else (None, None)

    def size(self, alpha: float) -> float:
        """P₀(T ∈ R): what the error of the first kind is, at most alpha."""
        return inside(self.null(self.sizes), self.region(alpha))

    def power(self, effect: float, alpha: float, sizes: tuple[int, ...] | None = None) -> float:
        """P₁(T ∈ R)."""
        low, high = self.effects
        if not low <= effect <= high:
            raise ValueError(f"alternative={effect:g} is no effect of this test; it lies between {low:g} and {high:g}.")
        sizes = sizes or self.sizes
        return inside(self.alternative(effect, sizes), self.region(alpha, sizes))

    def scaled(self, n: int) -> tuple[int, ...]:
        """Sizes of samples of n rows in all, in the proportions of those at hand."""
        total = sum(self.sizes)
        return tuple(max(int(np.ceil(n * size / total - 1e-9)), 1) for size in self.sizes)

    def sample_size(self, effect: float, power: float, alpha: float) -> int:
        """The fewest rows in all with which the power is reached."""

        def enough(n: int) -> bool:
            return self.power(effect, alpha, self.scaled(n)) >= power

        total = sum(self.sizes)
        low = max(int(np.ceil(self.least * total / min(self.sizes))), 1)
        high = low
        while not enough(high):
            low, high = high + 1, 2 * high
            if high > MOST:
                raise ValueError(
                    f"alternative={effect:g} is not found with power {power:g} in {MOST:,} rows; name one farther from "
                    f"{self.null_effect:g}."
                )
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        if self.whole:  # power goes up and down where few values are possible
            low = next(n for n in range(max(int(0.8 * low), self.least), low + 1) if enough(n))
        return sum(self.scaled(low))

    def detectable(self, power: float, alpha: float, side: int = 1) -> float:
        """The effect nearest to the null one, on a side of it, that is found with this power; NaN where none is."""

        def short(effect: float) -> float:
            return self.power(effect, alpha) - power

        end = self.effects[1] if side > 0 else self.effects[0]
        if np.isinf(end):
            far = self.null_effect + side * 1.0
            while short(far) < 0:
                far = self.null_effect + 2 * (far - self.null_effect)
                if abs(far) > 1e6:
                    return float("nan")
            end = far
        else:
            end = self.null_effect + (end - self.null_effect) * (1 - 1e-6)
            if short(end) < 0:
                return float("nan")
        return float(brentq(short, self.null_effect, end, xtol=1e-4 * abs(end - self.null_effect)))


def inside(law: Law, region: Region) -> float:
    """P(T ∈ R)."""
    below = law.at_most(region.lower) if region.lower > -np.inf else 0.0
    above = law.at_least(region.upper) if region.upper < np.inf else 0.0
    return float(min(below + above, 1.0))
