"""Tests of ranks: Wilcoxon's signed ranks, Mann and Whitney's, Kruskal and Wallis's.

    V = Σ rank(|d_i|) 1(d_i > 0)        U = #{x > y} + #{x = y}/2        H = (n − 1) Σ n_i (R̄_i − (n+1)/2)² / Σ (r − (n+1)/2)²

Distributions of V and U are exact, ties and all, where there are few rows: numbers of subsets of the ranks by size and sum.
With more rows they are normal. Under an effect, populations are normal and one is shifted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from ..checks import check_choice
from ..words import count, number
from .design import Design, tail_of
from .intervals import rank_interval
from .laws import Finite, Frozen, Law, Rounded, Simulated
from .noncentral import chi_squared, rising_interval
from .ordered import DRAWS, MANY, SEED, Groups, kruskal_statistic, parts
from .result import TestResult
from .samples import check_alpha, cleaned, paired

__all__ = ["kruskal", "mann_whitney", "wilcoxon"]

PAIRS, ROWS = 2500, 50
"""Pairs of rows, and rows, up to which distributions of U and V are exact."""
WALSH = 4_000_000
"""Pairs of rows up to which shifts are estimated."""
METHODS = ("auto", "exact", "asymptotic")


@cache
def _two_samples(ranks: tuple[float, ...], m: int) -> Law:
    """The exact law of U over all ways to give m of the ranks to the first sample."""
    doubled = np.round(2 * np.array(ranks)).astype(int)
    sums = np.zeros((m + 1, int(doubled.sum()) + 1))
    sums[0, 0] = 1.0
    for rank in doubled:
        sums[1:, rank:] += sums[:-1, : sums.shape[1] - rank].copy()
    held = np.flatnonzero(sums[m])
    return Finite(held / 2 - m * (m + 1) / 2, sums[m, held])


@cache
def _signed(ranks: tuple[float, ...]) -> Law:
    """The exact law of V over all signs of the ranks."""
    doubled = np.round(2 * np.array(ranks)).astype(int)
    sums = np.zeros(int(doubled.sum()) + 1)
    sums[0] = 1.0
    for rank in doubled:
        moved = sums[: len(sums) - rank].copy()
        sums[rank:] += moved
        sums /= 2
    held = np.flatnonzero(sums)
    return Finite(held / 2, sums[held])


def _together(a: float) -> float:
    """P(both of two normal variables with correlation 1/2 lie below a)."""
    return float(stats.multivariate_normal.cdf([a, a], cov=[[1.0, 0.5], [0.5, 1.0]]))


@dataclass(frozen=True)
class TwoSamples(Design):
    """U of two samples; the effect is P(X > Y) + P(X = Y)/2."""

    effects = (0.0, 1.0)
    ranks: tuple[float, ...] = ()  # at hand
    exact: bool = True
    least = 1

    def null(self, sizes: tuple[int, ...]) -> Law:
        m, n = sizes
        if sizes == self.sizes:
            if self.exact:
                return _two_samples(self.ranks, m)
            variance = float(np.var(self.ranks) * m * n / (m + n - 1))
            return Rounded(m * n / 2, math.sqrt(variance))
        if m * n <= PAIRS:
            return _two_samples(tuple(range(1, m + n + 1)), m)
        return Rounded(m * n / 2, math.sqrt(m * n * (m + n + 1) / 12))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        m, n = sizes
        if m + n <= MANY:
            return _simulated_pair(effect, sizes)
        both = _together(stats.norm.ppf(effect)) if 0 < effect < 1 else effect
        spread = effect * (1 - effect) + (m + n - 2) * (both - effect**2)
        return Frozen(stats.norm(m * n * effect, math.sqrt(m * n * max(spread, 1e-9))))


@cache
def _simulated_pair(effect: float, sizes: tuple[int, ...]) -> Law:
    rng, (m, n) = np.random.default_rng(SEED), sizes
    shift = math.sqrt(2) * stats.norm.ppf(min(max(effect, 1e-12), 1 - 1e-12))
    drawn = []
    for count_ in parts(DRAWS, m + n):
        rows = rng.normal(size=(count_, m + n))
        rows[:, :m] += shift
        drawn.append((rows.argsort(axis=1).argsort(axis=1)[:, :m] + 1).sum(axis=1) - m * (m + 1) / 2)
    return Simulated(np.concatenate(drawn))


def mann_whitney(
    x: Any, y: Any, *, alternative: str = "two-sided", method: str = "auto", alpha: float = 0.05, missing: str = "raise"
) -> TestResult:
    """Test whether two samples come from the same distribution, against values of one tending to be larger.

    Parameters
    ----------
    x, y : array-like of shape (n_rows,)
    alternative : {"two-sided", "less", "greater"}
        Whether values of x tend to be smaller or larger.
    method : {"auto", "exact", "asymptotic"}
        Exact p-values, given the ties, or normal ones with correction for continuity; auto is exact up to 2,500 pairs of rows.
    alpha : float
        Level of the test; intervals hold with probability 1 − alpha.
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    TestResult
        The effect is P(X > Y) + P(X = Y)/2, with Brunner and Munzel's interval; the estimate Hodges and Lehmann's shift.

    References
    ----------
    Mann and Whitney (1947), On a test of whether one of two random variables is stochastically larger than the other, Annals of
    Mathematical Statistics 18.

    Examples
    --------
    >>> from tacit.assess import mann_whitney
    >>> found = mann_whitney([0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46], [1.15, 0.88, 0.90, 0.74, 1.21])
    >>> found.statistic, round(found.p_value, 4)
    (35.0, 0.2544)
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    check_choice("method", method, METHODS)
    (x, y), dropped = cleaned([x, y], "xy", missing)
    m, n = len(x), len(y)
    ranks = stats.rankdata(np.concatenate([x, y]))
    exact = method == "exact" or (method == "auto" and m * n <= PAIRS)
    u = float(ranks[:m].sum() - m * (m + 1) / 2)
    design = TwoSamples((m, n), tail, null_effect=0.5, ranks=tuple(ranks.tolist()), exact=exact)
    below, se, df = relative_effect(x, y, ranks)
    effect = 1.0 - below
    more = _shift(x, y, design, alpha) if m * n <= WALSH else {}
    null = {"two-sided": "neither sample tends to larger values", "less": "x does not tend to smaller values",
            "greater": "x does not tend to larger values"}[tail]  # fmt: skip
    return TestResult(
        "The Mann-Whitney test", null, "U", u, design.p_value(u), alpha, "P(X > Y)", effect,
        rank_interval(effect, se, df, min(m, n), alpha), (m, n), dropped=dropped, design=design, **more,
    )  # fmt: skip


def relative_effect(x: np.ndarray, y: np.ndarray, ranks: np.ndarray) -> tuple[float, float, float]:
    """P(Y > X) + P(Y = X)/2, its standard error and degrees of freedom, by Brunner and Munzel.

    `ranks` are those of both together, x's first. The standard error is 0 where a sample has one row or samples do not overlap.
    """
    m, n = len(x), len(y)
    own_x, own_y = ranks[:m] - stats.rankdata(x), ranks[m:] - stats.rankdata(y)  # how many of the others lie below
    effect = float(own_y.mean() / m)
    if min(m, n) < 2:
        return effect, 0.0, 1.0
    var = own_x.var(ddof=1) / (n**2 * m), own_y.var(ddof=1) / (m**2 * n)
    df = sum(var) ** 2 / max(var[0] ** 2 / (m - 1) + var[1] ** 2 / (n - 1), 1e-300)
    return effect, math.sqrt(sum(var)), float(df)


def _shift(x: np.ndarray, y: np.ndarray, design: TwoSamples, alpha: float) -> dict:
    """By how much x lies above y: the median of all differences, and the interval that inverts the test."""
    gaps = np.sort(np.subtract.outer(x, y), axis=None)
    low = TwoSamples(design.sizes, ranks=design.ranks, exact=False).null((len(x), len(y)))
    if len(gaps) <= PAIRS:
        low = _two_samples(tuple(range(1, len(x) + len(y) + 1)), len(x))
    return {
        "estimate_name": "shift",
        "estimate": float(np.median(gaps)),
        "interval": _ordered(gaps, low.low(alpha / 2)),
    }


def _ordered(values: np.ndarray, last: float) -> tuple[float, float]:
    """The interval between values in order whose ends are so many values from either end."""
    k = int(np.floor(last)) if np.isfinite(last) else -1
    return (float(values[k]), float(values[len(values) - 1 - k])) if 0 <= k < len(values) / 2 else (-np.inf, np.inf)


@dataclass(frozen=True)
class Signed(Design):
    """V of one sample; the effect is P(D + D' > 0) of two rows."""

    effects = (0.0, 1.0)
    ranks: tuple[float, ...] = ()
    exact: bool = True
    least = 1

    def null(self, sizes: tuple[int, ...]) -> Law:
        n = sizes[0]
        if sizes == self.sizes:
            if self.exact:
                return _signed(self.ranks)
            squares = float(np.square(self.ranks).sum())
            return Rounded(sum(self.ranks) / 2, math.sqrt(squares / 4))
        if n <= ROWS:
            return _signed(tuple(range(1, n + 1)))
        return Rounded(n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        n = sizes[0]
        shift = stats.norm.ppf(min(max(effect, 1e-12), 1 - 1e-12)) / math.sqrt(2)
        if n <= MANY:
            return _simulated_signs(shift, n)
        one, two, three = float(stats.norm.cdf(shift)), effect, _together(math.sqrt(2) * shift)
        mean = n * one + n * (n - 1) / 2 * two
        variance = n * one * (1 - one) + n * (n - 1) / 2 * (2 * (one - two) ** 2 + 3 * two * (1 - two))
        variance += n * (n - 1) * (n - 2) * (three - two**2)
        return Frozen(stats.norm(mean, math.sqrt(max(variance, 1e-9))))


@cache
def _simulated_signs(shift: float, n: int) -> Law:
    rng, drawn = np.random.default_rng(SEED), []
    for count_ in parts(DRAWS, n):
        rows = rng.normal(shift, size=(count_, n))
        drawn.append(((np.abs(rows).argsort(axis=1).argsort(axis=1) + 1) * (rows > 0)).sum(axis=1))
    return Simulated(np.concatenate(drawn))


def wilcoxon(
    x: Any, y: Any = None, *, center: float = 0.0, alternative: str = "two-sided", method: str = "auto", alpha: float = 0.05,
    missing: str = "raise",
) -> TestResult:  # fmt: skip
    """Test the center of a symmetric distribution, or of the differences of pairs, by signed ranks.

    Parameters
    ----------
    x, y : array-like of shape (n_rows,)
        One sample, or pairs.
    center : float
        The center under the null hypothesis. Values equal to it are left out.
    alternative : {"two-sided", "less", "greater"}
    method : {"auto", "exact", "asymptotic"}
        Exact p-values, given the ties, or normal ones with correction for continuity; auto is exact up to 50 rows.
    alpha : float
        Level of the test; intervals hold with probability 1 − alpha.
    missing : {"raise", "drop"}
        What to do with NaN; pairs are left out as wholes.

    Returns
    -------
    TestResult
        The statistic is the sum of the ranks of what lies above; the effect the probability that the mean of two rows does; the
        estimate the median of the means of all pairs of rows (Hodges and Lehmann).

    References
    ----------
    Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bulletin 1.

    Examples
    --------
    >>> from tacit.assess import wilcoxon
    >>> before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    >>> after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    >>> found = wilcoxon(before, after, alternative="greater")
    >>> found.statistic, round(found.p_value, 5)
    (40.0, 0.01953)
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    check_choice("method", method, METHODS)
    samples, dropped = cleaned([x], "x", missing) if y is None else paired([x, y], "xy", missing)
    values = samples[0] - (samples[1] if y is not None else 0.0) - center
    known = values[values != 0]
    n, ties = len(known), len(values) - len(known)
    if not n:
        raise ValueError(f"all {len(values)} values are {center:g}, the center to test; none lies on either side.")
    ranks = stats.rankdata(np.abs(known))
    v = float(ranks[known > 0].sum())
    exact = method == "exact" or (method == "auto" and n <= ROWS)
    design = Signed((n,), tail, null_effect=0.5, ranks=tuple(ranks.tolist()), exact=exact)
    what = "center" if y is None else "center of the differences"
    order = {"two-sided": "", "less": "at least ", "greater": "at most "}[tail]
    effect, ends, more = _walsh(known, center, design, alpha)
    more = {"estimate_name": what} | more if more else {}
    notes = (
        f"{count(ties, 'value').capitalize()} equal to {number(center)} {'was' if ties == 1 else 'were'} left out.",
    )
    return TestResult(
        "Wilcoxon's signed rank test", f"the {what} is {order}{number(center)}", "V", v, design.p_value(v), alpha,
        "share of positive ranks", effect, ends, (n,), dropped=dropped, notes=notes if ties else (), design=design, **more,
    )  # fmt: skip


def _walsh(values: np.ndarray, center: float, design: Signed, alpha: float) -> tuple[float, tuple[float, float], dict]:
    """The share of pairs of rows whose mean lies above, its interval, and the center with that which inverts the test."""
    n = len(values)
    ordered = np.sort(values)
    # Of every row, how many others it is above 0 together with; ties count half.
    above = n - 0.5 * (np.searchsorted(ordered, -values, side="right") + np.searchsorted(ordered, -values, side="left"))
    own = np.where(values > 0, 1.0, 0.0)
    share = float((above - own).sum() / (n * (n - 1))) if n > 1 else float(own[0])
    se = 2 * float(np.std((above - own) / max(n - 1, 1), ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    ends = rank_interval(share, se, max(n - 1, 1), max(n, 1), alpha)
    if n * (n + 1) / 2 > WALSH:
        return share, ends, {}
    means = np.sort((np.add.outer(values, values) / 2)[np.triu_indices(n)])
    law = _signed(tuple(range(1, n + 1))) if n <= ROWS else Signed((n,), ranks=design.ranks, exact=False).null((n,))
    low, high = _ordered(means, law.low(alpha / 2))
    return share, ends, {"estimate": float(np.median(means)) + center, "interval": (low + center, high + center)}


def kruskal(*samples: Any, method: str = "auto", alpha: float = 0.05, missing: str = "raise") -> TestResult:
    """Test whether several samples come from the same distribution, by ranks.

    Parameters
    ----------
    *samples : array-like of shape (n_rows,)
        At least two.
    method : {"auto", "asymptotic", "permutation"}
        p-values by χ², or by permuted ranks (9,999 times, seeded); auto permutes where a sample has fewer than 5 rows.
    alpha : float
        Level of the test; the interval holds with probability 1 − alpha, approximately.
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    TestResult
        The effect is ε², the share of the variance of ranks that lies between samples.

    References ---------- Kruskal and Wallis (1952), Use of ranks in one-criterion variance analysis, Journal of the American
    Statistical Association 47.

    Examples
    --------
    >>> from tacit.assess import kruskal
    >>> found = kruskal([2.9, 3.0, 2.5, 2.6, 3.2], [3.8, 2.7, 4.0, 2.4], [2.8, 3.4, 3.7, 2.2, 2.0], method="asymptotic")
    >>> round(found.statistic, 4), round(found.p_value, 4)
    (0.7714, 0.68)
    """
    alpha = check_alpha(alpha)
    check_choice("method", method, ("auto", "asymptotic", "permutation"))
    if len(samples) < 2:
        raise ValueError(f"{len(samples)} sample is given; at least two are compared.")
    groups, dropped = cleaned(samples, [f"sample {i + 1}" for i in range(len(samples))], missing)
    sizes = tuple(map(len, groups))
    n, k = sum(sizes), len(sizes)
    ranks = stats.rankdata(np.concatenate(groups))
    permuted = method == "permutation" or (method == "auto" and min(sizes) < 5)
    statistic = float(kruskal_statistic(ranks, sizes))
    design = Groups(sizes, "greater", ties=tuple(ranks.tolist()) if permuted else ())
    low, high = rising_interval(lambda nc: chi_squared(k - 1, nc), statistic, statistic - k + 1, alpha)
    return TestResult(
        "The Kruskal-Wallis test", "no sample tends to larger values", "H", statistic, design.p_value(statistic), alpha, "ε²",
        statistic / (n - 1), (min(low / (n - 1), 1.0), min(high / (n - 1), 1.0)), sizes, (k - 1.0,), dropped=dropped,
        notes=("The p-value is by permuted ranks.",) if permuted else (), design=design,
        details={"mean_ranks": np.array([part.mean() for part in np.split(ranks, np.cumsum(sizes)[:-1])])},
    )  # fmt: skip
