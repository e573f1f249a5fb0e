"""Intervals: of a share, a mean, a variance, a median, two shares, and of an effect of ranks.

Wald:  p̂ ± z√(p̂(1 − p̂)/n)        Wilson:  {p : |p̂ − p| ≤ z√(p(1 − p)/n)}        Clopper–Pearson:  both exact tests accept p
mean:  x̄ ± t s/√n                  variance:  (n − 1)s² / χ²_{1−α/2} to (n − 1)s² / χ²_{α/2}
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ..checks import check_choice
from ..words import number, share
from .samples import check_alpha, cleaned, spread_of

__all__ = [
    "Interval", "difference_of_shares", "mean_interval", "median_interval", "proportion_interval", "rank_interval",
    "variance_interval",
]  # fmt: skip

METHODS = ("wilson", "clopper-pearson", "wald", "likelihood")


@dataclass(frozen=True)
class Interval:
    """An interval of an estimate.

    Attributes
    ----------
    estimate, low, high : float
    level : float
        The probability with which the method holds the true value.
    method : str
    dropped : int
        Values that were NaN and were left out.

    Examples
    --------
    >>> from tacit.assess import proportion_interval
    >>> print(proportion_interval(15, 40))
    0.375 (95 % interval 0.2422 to 0.5297, wilson)
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    dropped: int = 0

    def __contains__(self, value: float) -> bool:
        return bool(self.low <= value <= self.high)

    def __str__(self) -> str:
        ends = f"{number(self.low)} to {number(self.high)}"
        return f"{number(self.estimate)} ({share(self.level)} interval {ends}, {self.method})"


def proportion_interval(successes: int, n: int, *, level: float = 0.95, method: str = "wilson") -> Interval:
    """The interval of a probability.

    Parameters
    ----------
    successes, n : int
        How many of how many.
    level : float
    method : {"wilson", "clopper-pearson", "wald", "likelihood"}
        Wilson's holds the level on average; Clopper and Pearson's at least the level for every probability; Wald's holds far
        less near 0 and 1, and is there to be compared with; the likelihood's holds what is not too unlikely.

    Returns
    -------
    Interval

    References
    ----------
    Brown, Cai and DasGupta (2001), Interval estimation for a binomial proportion, Statistical Science 16.

    Examples
    --------
    >>> from tacit.assess import proportion_interval
    >>> found = proportion_interval(15, 40, method="clopper-pearson")
    >>> round(found.low, 3), round(found.high, 3)
    (0.227, 0.542)
    """
    level = check_alpha(level, "level")
    check_choice("method", method, METHODS)
    for name, value, least in (("n", n, 1), ("successes", successes, 0)):
        if not isinstance(value, (numbers.Integral, np.integer)) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name}={value!r} is not a whole number of at least {least}.")
    if successes > n:
        raise ValueError(f"successes={successes} exceeds n={n}; give how many of how many.")
    p = successes / n
    if method == "wald":
        reach = stats.norm.isf((1 - level) / 2) * math.sqrt(p * (1 - p) / n)
        return Interval(p, p - reach, p + reach, level, method)
    if method == "likelihood":
        from .profile import likelihood_ends

        low, high = likelihood_ends(lambda q: _binomial_loglik(successes, n, q), p, (0.0, 1.0), level)
        return Interval(p, low, high, level, method)
    named = "exact" if method == "clopper-pearson" else "wilson"
    ends = stats.binomtest(int(successes), int(n)).proportion_ci(level, named)
    return Interval(p, float(ends.low), float(ends.high), level, method)


def _binomial_loglik(k: int, n: int, p: float) -> float:
    return float(stats.binom.logpmf(k, n, p))


def mean_interval(x: Any, *, level: float = 0.95, missing: str = "raise") -> Interval:
    """Student's interval of a mean.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
    level : float
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    Interval

    Examples
    --------
    >>> from tacit.assess import mean_interval
    >>> print(mean_interval([5.1, 4.9, 5.6, 5.8, 5.2]))
    5.32 (95 % interval 4.86 to 5.78, t)
    """
    level = check_alpha(level, "level")
    (x,), dropped = cleaned([x], "x", missing, 2)
    reach = float(stats.t.isf((1 - level) / 2, len(x) - 1)) * spread_of(x, "x") / math.sqrt(len(x))
    mean = float(x.mean())
    return Interval(mean, mean - reach, mean + reach, level, "t", dropped)


def variance_interval(x: Any, *, level: float = 0.95, missing: str = "raise") -> Interval:
    """The χ² interval of a variance; it holds for normal values, and for others it does not.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
    level : float
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    Interval

    Examples
    --------
    >>> from tacit.assess import variance_interval
    >>> print(variance_interval([5.1, 4.9, 5.6, 5.8, 5.2]))
    0.137 (95 % interval 0.04918 to 1.131, chi-square)
    """
    level = check_alpha(level, "level")
    (x,), dropped = cleaned([x], "x", missing, 2)
    variance, n = spread_of(x, "x") ** 2, len(x)
    low, high = (float((n - 1) * variance / stats.chi2.isf(q, n - 1)) for q in ((1 - level) / 2, (1 + level) / 2))
    return Interval(variance, low, high, level, "chi-square", dropped)


def median_interval(x: Any, level: float = 0.95, missing: str = "raise") -> Interval:
    """The interval of a median between two of the values in order, whatever the distribution; unbounded where values are too few.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
    level : float
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    Interval

    Examples
    --------
    >>> from tacit.assess import median_interval
    >>> print(median_interval(range(1, 21)))
    10.5 (95 % interval 6 to 15, order statistics)
    """
    level = check_alpha(level, "level")
    (x,), dropped = cleaned([x], "x", missing)
    n = len(x)
    ordered = np.sort(x)
    k = int(stats.binom.ppf((1 - level) / 2, n, 0.5))  # the first with P(B ≤ k) ≥ (1 − level)/2
    low, high = (float(ordered[k - 1]), float(ordered[n - k])) if k > 0 else (-np.inf, np.inf)
    return Interval(float(np.median(x)), low, high, level, "order statistics", dropped)


def difference_of_shares(n: np.ndarray, total: np.ndarray, alpha: float) -> tuple[float, float]:
    """Newcombe's interval of the second share less the first, from those of Wilson.

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions, Statistics in Medicine 17.
    """
    shares = n / total
    z2 = stats.norm.ppf(1 - alpha / 2) ** 2
    middle = (n + z2 / 2) / (total + z2)
    reach = np.sqrt(z2 * (n * (total - n) / total + z2 / 4)) / (total + z2)
    low, high = middle - reach, middle + reach
    gap = shares[1] - shares[0]
    down = math.hypot(shares[1] - low[1], high[0] - shares[0])
    up = math.hypot(high[1] - shares[1], shares[0] - low[0])
    return float(gap - down), float(gap + up)


def rank_interval(effect: float, se: float, df: float, fewest: int, alpha: float) -> tuple[float, float]:
    """The interval of P(Y > X) + P(Y = X)/2, from its standard error and the size of the smaller sample."""
    least = (alpha / 2) ** (1 / fewest)
    if se == 0:  # the samples do not overlap, or all is tied
        return (least, 1.0) if effect > 0.5 else (0.0, 1 - least) if effect < 0.5 else (1 - least, least)
    reach = stats.t.ppf(1 - alpha / 2, df) * se
    low, high = max(effect - reach, 0.0), min(effect + reach, 1.0)
    # Samples that overlap a little are no surer to lie apart than samples that do not overlap.
    return (min(low, least), high) if effect > 0.5 else (low, max(high, 1 - least))
