"""Tests of counts: exact binomial, sign, McNemar's, χ² of fit and independence, Fisher's exact test.

    binomial:  P₀(T = t) = C(n, t) pᵗ (1 − p)ⁿ⁻ᵗ        χ² = Σ (observed − expected)² / expected,   w = √(χ²/n)

Two-sided p-values of a binomial or hypergeometric statistic add up all values that are no more probable than the one at hand.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from ..checks import check_choice
from ..words import count, number
from .design import Design, Region, tail_of
from .intervals import median_interval
from .laws import Frozen, Law, Simulated
from .noncentral import ChiSquared, chi_squared, rising_interval
from .result import TestResult
from .samples import check_alpha, cleaned, counts_of, paired

__all__ = ["binomial_test", "chi_square_test", "fisher_test", "independence", "mcnemar", "sign_test"]

FEW, DRAWS, SEED = 5.0, 9999, 20
"""Expected counts below which tables are drawn at random, and how many."""


@dataclass(frozen=True)
class Counted(Design):
    """A statistic that counts, whose two-sided p-values go by how probable values are."""

    whole = True
    least = 1

    def p_value(self, statistic: float) -> float:
        if self.tail != "two-sided":
            return super().p_value(statistic)
        law = self.null(self.sizes)
        _, pmf = _probabilities(law)
        at = float(law.density(np.array([statistic]))[0])
        return float(min(pmf[pmf <= at * (1 + 1e-7)].sum(), 1.0)) if at > 0 else 0.0

    def region(self, alpha: float, sizes: tuple[int, ...] | None = None) -> Region:
        if self.tail != "two-sided":
            return super().region(alpha, sizes)
        first, pmf = _probabilities(self.null(sizes or self.sizes))
        order = np.argsort(pmf, kind="stable")
        total = np.cumsum(pmf[order])
        # Values as probable as each other are in the region together.
        last = np.searchsorted(pmf[order], pmf * (1 + 1e-7), side="right") - 1
        kept = np.flatnonzero(total[last] > alpha + 1e-12)
        ends = self._ends(sizes or self.sizes)
        if not len(kept):
            return Region(np.inf, -np.inf, *ends)
        lower, upper = first + float(kept[0]) - 1, first + float(kept[-1]) + 1
        return Region(lower if kept[0] > 0 else -np.inf, upper if kept[-1] < len(pmf) - 1 else np.inf, *ends)


def _probabilities(law: Law) -> tuple[float, np.ndarray]:
    """The least value of a law of whole numbers, and the probabilities of all."""
    low, high = law.frozen.support()  # type: ignore[attr-defined]
    return float(low), law.density(np.arange(low, high + 1))


@dataclass(frozen=True)
class Binomial(Counted):
    """Successes among n rows; the effect is the probability of one."""

    effects = (0.0, 1.0)

    def null(self, sizes: tuple[int, ...]) -> Law:
        return Frozen(stats.binom(sizes[0], self.null_effect))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        return Frozen(stats.binom(sizes[0], effect))


def binomial_test(
    successes: int, n: int, p: float = 0.5, *, alternative: str = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Test the probability of a success, exactly.

    Parameters
    ----------
    successes, n : int
        How many of how many.
    p : float
        The probability under the null hypothesis.
    alternative : {"two-sided", "less", "greater"}
    alpha : float
        Level of the test; the interval holds with probability 1 − alpha at least.

    Returns
    -------
    TestResult
        The effect is the probability, with Clopper and Pearson's interval.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26.

    Examples
    --------
    >>> from tacit.assess import binomial_test
    >>> found = binomial_test(15, 40, 0.5, alternative="less")
    >>> round(found.p_value, 3), str(found.critical_region), round(found.power(0.3), 3)
    (0.077, '{0, …, 14}', 0.807)
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    for name, value, least in (("n", n, 1), ("successes", successes, 0)):
        if not isinstance(value, (numbers.Integral, np.integer)) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name}={value!r} is not a whole number of at least {least}.")
    if successes > n:
        raise ValueError(f"successes={successes} exceeds n={n}; give how many of how many.")
    if not isinstance(p, numbers.Real) or not 0 < p < 1:
        raise ValueError(f"p={p!r} is not between 0 and 1; give the probability under the null hypothesis.")
    return _binomial(
        "The exact binomial test", "probability of a success", int(successes), int(n), float(p), tail, alpha
    )


def _binomial(name: str, what: str, k: int, n: int, p: float, tail: str, alpha: float, **more: Any) -> TestResult:
    ends = stats.binomtest(k, n).proportion_ci(1 - alpha)
    order = {"two-sided": "", "less": "at least ", "greater": "at most "}[tail]
    design = Binomial((n,), tail, null_effect=p)
    # SciPy's of large n need no sum over all values.
    p_value = float(stats.binomtest(k, n, p, tail).pvalue)
    null = more.pop("null", f"the {what} is {order}{number(p)}")
    return TestResult(
        name, null, "count", float(k), p_value, alpha, what, k / n, (float(ends.low), float(ends.high)), (n,), design=design,
        **more,
    )  # fmt: skip


def sign_test(
    x: Any,
    y: Any = None,
    *,
    median: float = 0.0,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    missing: str = "raise",
) -> TestResult:
    """Test a median, or that of the differences of pairs, by how many values lie above it.

    Parameters
    ----------
    x, y : array-like of shape (n_rows,)
        One sample, or pairs.
    median : float
        The median under the null hypothesis. Values equal to it are left out.
    alternative : {"two-sided", "less", "greater"}
    alpha : float
        Level of the test; intervals hold with probability 1 − alpha at least.
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    TestResult
        The effect is the share above; the estimate the median, with the interval between two of the values in order.

    Examples
    --------
    >>> from tacit.assess import sign_test
    >>> sign_test([1, 2, 3, 4, 5, 6, -1, 8]).p_value
    0.0703125
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    samples, dropped = cleaned([x], "x", missing) if y is None else paired([x, y], "xy", missing)
    values = samples[0] - (samples[1] if y is not None else 0.0)
    known = values[values != median]
    if not len(known):
        raise ValueError(f"all {len(values)} values are {median:g}, the median to test; none lies on either side.")
    order = {"two-sided": "", "less": "at least ", "greater": "at most "}[tail]
    what = "median" if y is None else "median difference"
    ties = len(values) - len(known)
    notes = (
        f"{count(ties, 'value').capitalize()} equal to {number(median)} {'was' if ties == 1 else 'were'} left out.",
    )
    ends = median_interval(values, 1 - alpha)
    return _binomial(
        "The sign test", "share above", int((known > median).sum()), len(known), 0.5, tail, alpha,
        null=f"the {what} is {order}{number(median)}", estimate_name=what, estimate=float(np.median(values)),
        interval=(ends.low, ends.high), dropped=dropped, notes=notes if ties else (),
    )  # fmt: skip


def mcnemar(table: Any, *, alternative: str = "two-sided", alpha: float = 0.05) -> TestResult:
    """Test whether two answers about the same rows are yes equally often, exactly.

    Parameters
    ----------
    table : array-like of shape (2, 2)
        Counts of rows: the first answer along rows, the second along columns. Only rows whose answers differ count.
    alternative : {"two-sided", "less", "greater"}
        Whether rows of the upper right cell are fewer or more than those of the lower left one.
    alpha : float
        Level of the test; the interval holds with probability 1 − alpha at least.

    Returns
    -------
    TestResult
        The effect is the share of the upper right cell among rows whose answers differ.

    References
    ----------
    McNemar (1947), Note on the sampling error of the difference between correlated proportions, Psychometrika 12.

    Examples
    --------
    >>> from tacit.assess import mcnemar
    >>> mcnemar([[794, 86], [150, 570]]).rejected
    True
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    counts = counts_of(table, "table", 2)
    if counts.shape != (2, 2):
        raise ValueError(f"table has shape {counts.shape}; give two rows and two columns of counts.")
    b, c = int(counts[0, 1]), int(counts[1, 0])
    if b + c == 0:
        raise ValueError(f"no row of {int(counts.sum())} has answers that differ; there is nothing to test.")
    null = {"two-sided": "both answers are equally frequent", "less": "the first answer is no rarer",
            "greater": "the first answer is no more frequent"}[tail]  # fmt: skip
    gap = (b - c) / counts.sum()
    return _binomial(
        "McNemar's test", "share of the first among rows that differ", b, b + c, 0.5, tail, alpha, null=null,
        details={"difference": float(gap), "n": int(counts.sum()), "chi_square": (abs(b - c) - 1.0) ** 2 / (b + c)},
    )  # fmt: skip


@dataclass(frozen=True)
class Tabled(ChiSquared):
    """χ² of a table, whose null law at hand is that of random tables with the same margins, or counts, where few are expected."""

    margins: tuple[tuple[int, ...], ...] = ()
    shares: tuple[float, ...] = ()

    def null(self, sizes: tuple[int, ...]) -> Law:
        if sizes == self.sizes and self.margins:
            return _random_tables(*self.margins)
        if sizes == self.sizes and self.shares:
            return _random_counts(sum(sizes), self.shares)
        return super().null(sizes)


@cache
def _random_tables(rows: tuple[int, ...], columns: tuple[int, ...]) -> Law:
    r, c = np.array(rows), np.array(columns)
    return Simulated(drawn_tables(r, c, np.random.default_rng(SEED)), observed=1)


def drawn_tables(rows: np.ndarray, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """χ² of random tables with these margins, a bounded number of cells at a time."""
    expected = np.outer(rows, columns) / rows.sum()
    step = max(1, 4_000_000 // expected.size)
    parts = []
    for start in range(0, DRAWS, step):
        tables = stats.random_table(rows, columns, seed=rng).rvs(min(step, DRAWS - start))
        parts.append(((tables - expected) ** 2 / expected).sum(axis=(1, 2)))
    return np.concatenate(parts)


@cache
def _random_counts(n: int, shares: tuple[float, ...]) -> Law:
    expected = n * np.array(shares)
    drawn = np.random.default_rng(SEED).multinomial(n, shares, DRAWS)
    return Simulated(((drawn - expected) ** 2 / expected).sum(axis=1), observed=1)


def independence(seen: np.ndarray, rng: np.random.Generator | None = None) -> tuple[float, float, bool]:
    """χ² of a table without empty rows or columns, its p-value, and whether that is one of random tables, as few are expected."""
    rows, columns = seen.sum(axis=1), seen.sum(axis=0)
    expected = np.outer(rows, columns) / seen.sum()
    statistic = float(((seen - expected) ** 2 / expected).sum())
    if expected.min() >= FEW:
        return statistic, float(stats.chi2.sf(statistic, (len(rows) - 1) * (len(columns) - 1))), False
    drawn = drawn_tables(rows, columns, np.random.default_rng(SEED) if rng is None else rng)
    return statistic, Simulated(drawn, observed=1).at_least(statistic - 1e-9), True


def chi_square_test(observed: Any, expected: Any = None, *, method: str = "auto", alpha: float = 0.05) -> TestResult:
    """Test whether counts are in given proportions, or whether rows and columns of a table of counts are independent.

    Parameters
    ----------
    observed : array-like of shape (n_levels,) or (n_rows, n_columns)
        Counts; rows and columns of a table that are all 0 do not count.
    expected : array-like of shape (n_levels,), optional
        Of a list, in which proportions counts are expected; default equal ones.
    method : {"auto", "asymptotic", "random"}
        p-values by the χ² distribution, or by 9,999 random tables with the same margins (seeded); auto draws where any expected
        count is below 5.
    alpha : float
        Level of the test; intervals hold with probability 1 − alpha.

    Returns
    -------
    TestResult
        The effect is Cohen's w; of tables the estimate is Cramér's V, which is at most 1.

    References
    ----------
    Pearson (1900), On the criterion that a given system of deviations ... can be reasonably supposed to have arisen from random
    sampling, Philosophical Magazine 50.
    Cohen (1988), Statistical power analysis for the behavioral sciences, Erlbaum.

    Examples
    --------
    >>> from tacit.assess import chi_square_test
    >>> found = chi_square_test([[762, 327, 468], [484, 239, 477]])
    >>> round(found.statistic, 2), found.df
    (30.07, (2.0,))
    """
    alpha = check_alpha(alpha)
    check_choice("method", method, ("auto", "asymptotic", "random"))
    counts = counts_of(observed, "observed")
    if counts.ndim == 2:
        if expected is not None:
            raise ValueError(
                "expected is for a list of counts; what a table of independent rows and columns has is computed."
            )
        return _independent(counts, method, alpha)
    counts = counts_of(observed, "observed", 1)
    if len(counts) < 2:
        raise ValueError(f"observed has {count(len(counts), 'level')}; give counts of at least two.")
    weights = np.ones(len(counts)) if expected is None else np.asarray(expected, dtype=float)
    if weights.shape != counts.shape or not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(f"expected={expected!r} must be {len(counts)} proportions above 0, one per count.")
    shares, n, k = weights / weights.sum(), counts.sum(), len(counts)
    mean = n * shares
    statistic = float(((counts - mean) ** 2 / mean).sum())
    drawn = method == "random" or (method == "auto" and mean.min() < FEW)
    design = Tabled((int(n),), "greater", freedom=k - 1.0, shares=tuple(shares.tolist()) if drawn else ())
    null = "all levels are equally frequent" if expected is None else "the levels are in the given proportions"
    return _chi_squared("The χ² test of fit", null, statistic, design, alpha, drawn)


def _independent(counts: np.ndarray, method: str, alpha: float) -> TestResult:
    seen = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0].astype(int)
    if min(seen.shape) < 2:
        raise ValueError(f"observed has {count(seen.shape[0], 'row')} and {count(seen.shape[1], 'column')} that are not all 0; "
                         "give at least two of each.")  # fmt: skip
    rows, columns, n = seen.sum(axis=1), seen.sum(axis=0), seen.sum()
    expected = np.outer(rows, columns) / n
    statistic = float(((seen - expected) ** 2 / expected).sum())
    drawn = method == "random" or (method == "auto" and expected.min() < FEW)
    margins = (tuple(rows.tolist()), tuple(columns.tolist())) if drawn else ()
    freedom, top = float((seen.shape[0] - 1) * (seen.shape[1] - 1)), math.sqrt(min(seen.shape) - 1)
    design = Tabled((int(n),), "greater", freedom=freedom, margins=margins)
    result = _chi_squared(
        "The χ² test of independence", "rows and columns are independent", statistic, design, alpha, drawn, top
    )
    result.details["expected"] = expected
    return result


def _chi_squared(
    name: str, null: str, statistic: float, design: Tabled, alpha: float, drawn: bool, top: float = 0.0
) -> TestResult:
    n, df = design.sizes[0], design.freedom
    ends = rising_interval(lambda nc: chi_squared(df, nc), statistic, statistic - df, alpha)
    w, (low, high) = math.sqrt(statistic / n), (math.sqrt(end / n) for end in ends)
    more: dict = {}
    if top:
        more = {"estimate_name": "Cramér's V", "estimate": w / top, "interval": (low / top, min(high / top, 1.0))}
        high = min(high, top)
    notes = ("The p-value is by random tables, since few are expected in some cells.",) if drawn else ()
    return TestResult(
        name, null, "χ²", statistic, design.p_value(statistic), alpha, "Cohen's w", w, (low, high), (n,), (df,), notes=notes,
        design=design, **more,
    )  # fmt: skip


@dataclass(frozen=True)
class Margins(Counted):
    """The count of a cell of a table of two rows and columns whose margins are given; the effect is the odds ratio."""

    effects = (0.0, np.inf)
    share: float = 0.5  # of the first column among all

    def _law(self, odds: float, sizes: tuple[int, ...]) -> Law:
        n = sum(sizes)
        first = round(self.share * n)
        if odds == 1:
            return Frozen(stats.hypergeom(n, first, sizes[0]))
        return Frozen(stats.nchypergeom_fisher(n, first, sizes[0], max(odds, 1e-12)))

    def _ends(self, sizes: tuple[int, ...]) -> tuple[int | None, int | None]:
        low, high = self._law(1.0, sizes).frozen.support()  # type: ignore[attr-defined]
        return int(low), int(high)

    def null(self, sizes: tuple[int, ...]) -> Law:
        return self._law(1.0, sizes)

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        return self._law(effect, sizes)


def fisher_test(table: Any, *, alternative: str = "two-sided", alpha: float = 0.05) -> TestResult:
    """Test whether two rows of a table have the same shares of two columns, exactly.

    Parameters
    ----------
    table : array-like of shape (2, 2)
        Counts.
    alternative : {"two-sided", "less", "greater"}
        Whether the odds ratio is below or above 1.
    alpha : float
        Level of the test; the interval holds with probability 1 − alpha at least.

    Returns
    -------
    TestResult
        The effect is the odds ratio, by conditional maximum likelihood; power is that of tables with the same margins.

    References
    ----------
    Fisher (1935), The logic of inductive inference, Journal of the Royal Statistical Society 98.

    Examples
    --------
    >>> from tacit.assess import fisher_test
    >>> round(fisher_test([[3, 1], [1, 3]], alternative="greater").p_value, 4)
    0.2429
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    counts = counts_of(table, "table", 2).astype(int)
    if counts.shape != (2, 2):
        raise ValueError(f"table has shape {counts.shape}; give two rows and two columns of counts.")
    if not (counts.sum(axis=0).all() and counts.sum(axis=1).all()):
        raise ValueError(f"a row or column of {counts.tolist()} counts nothing; there is nothing to compare.")
    sizes = tuple(map(int, counts.sum(axis=1)))
    design = Margins(sizes, tail, null_effect=1.0, share=float(counts[:, 0].sum() / counts.sum()))
    odds = stats.contingency.odds_ratio(counts)
    ends = odds.confidence_interval(1 - alpha)
    null = {"two-sided": "both rows have the same shares", "less": "the odds of the first row are no lower",
            "greater": "the odds of the first row are no higher"}[tail]  # fmt: skip
    p = float(stats.fisher_exact(counts, tail).pvalue)
    return TestResult(
        "Fisher's exact test", null, "count", float(counts[0, 0]), p, alpha, "odds ratio", float(odds.statistic),
        (float(ends.low), float(ends.high)), sizes, design=design,
    )  # fmt: skip
