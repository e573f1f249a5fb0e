"""F tests: of the variances of two samples, and one-way analysis of variance.

    F = s_x² / s_y²        F = (Σ n_i (x̄_i − x̄)² / (k − 1)) / (Σ (n_i − 1) s_i² / (n − k)),   f = √(Σ n_i (μ_i − μ)² / n) / σ

Welch's analysis weighs samples by n_i / s_i² and takes fewer degrees of freedom: variances may differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ..words import number
from .design import Design, tail_of
from .laws import Frozen, Law
from .noncentral import Fisher, rising_interval
from .result import TestResult
from .samples import check_alpha, cleaned, spread_of

__all__ = ["anova", "variance_test"]


@dataclass(frozen=True)
class Ratio(Design):
    """The ratio of two variances; under an effect it is that many times an F."""

    effects = (0.0, np.inf)
    bound: float = 1.0  # the ratio under the null hypothesis

    def _law(self, ratio: float, sizes: tuple[int, ...]) -> Law:
        return Frozen(stats.f(sizes[0] - 1, sizes[1] - 1, scale=max(ratio, 1e-300)))

    def null(self, sizes: tuple[int, ...]) -> Law:
        return self._law(1.0, sizes)

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        return self._law(effect / self.bound, sizes)


def variance_test(
    x: Any, y: Any, *, ratio: float = 1.0, alternative: str = "two-sided", alpha: float = 0.05, missing: str = "raise"
) -> TestResult:
    """Test the ratio of the variances of two normal samples.

    Parameters
    ----------
    x, y : array-like of shape (n_rows,)
    ratio : float
        Variance of x over that of y, under the null hypothesis.
    alternative : {"two-sided", "less", "greater"}
    alpha : float
        Level of the test; the interval holds with probability 1 − alpha.
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    TestResult
        The effect is the ratio.

    Examples
    --------
    >>> from tacit.assess import variance_test
    >>> variance_test([1, 5, 9, 2, 8, 4], [4, 5, 5, 6, 4, 5]).rejected
    True
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    if not ratio > 0:
        raise ValueError(f"ratio={ratio!r} is not above 0; use 1 for equal variances.")
    (x, y), dropped = cleaned([x, y], "xy", missing, 2)
    found = (spread_of(x, "x") / spread_of(y, "y")) ** 2
    sizes = len(x), len(y)
    law = stats.f(sizes[0] - 1, sizes[1] - 1)
    design = Ratio(sizes, tail, null_effect=float(ratio), bound=float(ratio))
    order = {"two-sided": "", "less": "at least ", "greater": "at most "}[tail]
    ends = float(found / law.isf(alpha / 2)), float(found / law.ppf(alpha / 2))
    null = (
        "the variances are equal"
        if ratio == 1 and not order
        else f"the ratio of the variances is {order}{number(ratio)}"
    )
    return TestResult(
        "The F test of variances", null, "F", found / ratio, design.p_value(found / ratio), alpha, "ratio of the "
                                                                                                   "variances", found,
        ends, sizes, (sizes[0] - 1.0, sizes[1] - 1.0), dropped=dropped, design=design,
        notes=("It holds for normal values only.",),
    )  # fmt: skip


@dataclass(frozen=True)
class Unequal(Fisher):
    """F of Welch's analysis of variance.

    Parameters
    ----------
    kept : float
        Degrees of freedom within samples that are left, as a share of rows less samples.
    """

    kept: float = 1.0

    def _within(self, sizes: tuple[int, ...]) -> float:
        return self.kept * (sum(sizes) - len(sizes))

    def null(self, sizes: tuple[int, ...]) -> Law:
        return Frozen(stats.f(len(sizes) - 1, self._within(sizes)))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        if effect == 0:
            return self.null(sizes)
        return Frozen(stats.ncf(len(sizes) - 1, self._within(sizes), sum(sizes) * effect**2))


def anova(*samples: Any, equal_variances: bool = True, alpha: float = 0.05, missing: str = "raise") -> TestResult:
    """Test whether the means of several samples are equal.

    Parameters
    ----------
    *samples : array-like of shape (n_rows,)
        At least two.
    equal_variances : bool
        Whether all samples vary alike; if not, Welch's analysis of variance.
    alpha : float
        Level of the test; the interval holds with probability 1 − alpha.
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    TestResult
        The effect is Cohen's f; `details` has the share of the variance between samples, η².

    References
    ----------
    Welch (1951), On the comparison of several mean values: an alternative approach, Biometrika 38.

    Examples
    --------
    >>> from tacit.assess import anova
    >>> found = anova([6, 8, 4, 5, 3, 4], [8, 12, 9, 11, 6, 8], [13, 9, 11, 8, 7, 12])
    >>> round(found.statistic, 2), round(found.p_value, 4)
    (9.26, 0.0024)
    """
    alpha = check_alpha(alpha)
    if len(samples) < 2:
        raise ValueError(f"{len(samples)} sample is given; analysis of variance compares at least two.")
    names = [f"sample {i + 1}" for i in range(len(samples))]
    groups, dropped = cleaned(samples, names, missing, 1 if equal_variances else 2)
    sizes = tuple(map(len, groups))
    n, k = sum(sizes), len(sizes)
    if n <= k:
        raise ValueError(f"every one of the {k} samples has one value; at least one must have two.")
    means = np.array([group.mean() for group in groups])
    center = float(np.concatenate(groups).mean())
    between = float(np.array(sizes) @ (means - center) ** 2)
    within = float(sum(((group - group.mean()) ** 2).sum() for group in groups))
    if not within > 1e-26 * max(between, center**2 * n, 1e-300):
        raise ValueError("all values within each sample are equal; analysis of variance needs values that differ.")
    if equal_variances:
        name, df = "The analysis of variance", (k - 1.0, float(n - k))
        statistic, design = between / (k - 1) / (within / (n - k)), Fisher(sizes, "greater")
    else:
        for group, called in zip(groups, names):
            spread_of(group, called)
        name, (statistic, freedom) = "Welch's analysis of variance", _welch(groups)
        df, design = (k - 1.0, freedom), Unequal(sizes, "greater", kept=freedom / (n - k))

    def law(nc: float) -> Any:
        return stats.ncf(*df, nc) if nc > 0 else stats.f(*df)

    ends = rising_interval(law, statistic, (k - 1) * (statistic - 1), alpha)
    f = math.sqrt(statistic * (k - 1) / n)
    return TestResult(
        name, "all means are equal", "F", float(statistic), design.p_value(statistic), alpha, "Cohen's f", f,
        (math.sqrt(ends[0] / n), math.sqrt(ends[1] / n)), sizes, df, dropped=dropped, design=design,
        details={"means": means, "eta_squared": between / (between + within)},
    )  # fmt: skip


def _welch(groups: list[np.ndarray]) -> tuple[float, float]:
    """F and its second degrees of freedom, of Welch's analysis of variance."""
    k = len(groups)
    sizes = np.array([len(group) for group in groups])
    weight = sizes / np.array([group.var(ddof=1) for group in groups])
    means = np.array([group.mean() for group in groups])
    share = weight / weight.sum()
    spread = weight @ (means - share @ means) ** 2 / (k - 1)
    loss = ((1 - share) ** 2 / (sizes - 1)).sum()
    return float(spread / (1 + 2 * (k - 2) / (k * k - 1) * loss)), float((k * k - 1) / (3 * loss))
