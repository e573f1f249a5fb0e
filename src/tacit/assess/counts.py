"""Tests of how many of how many: exact binomial, sign, McNemar's.

    P₀(T = t) = C(n, t) pᵗ (1 − p)ⁿ⁻ᵗ

Two-sided p-values of a binomial or hypergeometric statistic add up all values that are no more probable than the one at hand.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ..words import count, number
from .design import Design, Region, tail_of
from .intervals import median_interval
from .laws import Frozen, Law
from .result import TestResult
from .samples import check_alpha, cleaned, counts_of, paired

__all__ = ["Counted", "binomial_test", "mcnemar", "sign_test"]


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
