"""Tests of tables of counts: χ² of fit and of independence, Fisher's exact test.

    χ² = Σ (observed − expected)² / expected,   w = √(χ²/n)        Fisher:  P(T = t) of a cell given the margins

Where few are expected, the null law of χ² is that of random tables with the same margins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from ..checks import check_choice
from ..words import count
from .counts import Counted
from .design import tail_of
from .laws import Frozen, Law, Simulated
from .noncentral import ChiSquared, chi_squared, rising_interval
from .result import TestResult
from .samples import check_alpha, counts_of

__all__ = ["chi_square_test", "fisher_test", "independence"]

FEW, DRAWS, SEED = 5.0, 9999, 20
"""Expected counts below which tables are drawn at random, and how many."""


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
