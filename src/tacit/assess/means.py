"""Tests of means: z, Student's t and Welch's, and t of cross-validation.

    t = (x̄ − μ₀) / (s / √n)        Welch:  t = (x̄ − ȳ) / √(s_x²/m + s_y²/n)        resampled:  t = d̄ / (s √(1/J + n_test/n_train))

Under an effect δ = (μ − μ₀)/σ, t is noncentral with noncentrality δ√n; the effect's interval inverts that law. Of two samples the
unit σ is their pooled standard deviation (Cohen's d), or the root of their mean variance where they may vary differently.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ..words import number
from .design import tail_of
from .laws import Frozen, Law
from .noncentral import Normal, Student, noncentral_t, student_interval
from .result import TestResult
from .samples import check_alpha, cleaned, paired, spread_of

__all__ = ["corrected_resampled_t", "t_test", "z_test"]

ORDERS = {"two-sided": "", "less": "at least ", "greater": "at most "}


def _hypothesis(alternative: str, mean: float, pairs: bool = False) -> str:
    what = "mean difference" if pairs else "mean"
    return f"the {what} is {ORDERS[alternative]}{number(mean)}"


def _difference(alternative: str, mean: float) -> str:
    if mean == 0:
        return {"two-sided": "the means are equal", "less": "the first mean is no smaller", "greater": "the first mean is "
                                                                                                       "no larger"}[
            alternative
        ]  # fmt: skip
    return f"the difference of the means is {ORDERS[alternative]}{number(mean)}"


def z_test(
    x: Any, y: Any = None, *, sd: float | tuple[float, float], mean: float = 0.0, alternative: str = "two-sided",
    alpha: float = 0.05, missing: str = "raise",
) -> TestResult:  # fmt: skip
    """Test a mean, or the difference of two, where standard deviations are known.

    Parameters
    ----------
    x, y : array-like of shape (n_rows,)
        One sample, or two.
    sd : float, or pair of float
        The known standard deviation, of each sample where they differ.
    mean : float
        The mean, or the difference of the means of x and y, under the null hypothesis.
    alternative : {"two-sided", "less", "greater"}
    alpha : float
        Level of the test; intervals hold with probability 1 − alpha.
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    TestResult
        The effect is the difference in standard deviations.

    Examples
    --------
    >>> from tacit.assess import z_test
    >>> round(z_test([102, 107, 111, 104], mean=100, sd=15).p_value, 3)
    0.424
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    samples, dropped = cleaned([x] if y is None else [x, y], ("x", "y"), missing)
    sds = np.broadcast_to(np.asarray(sd, dtype=float), len(samples))
    if not (np.isfinite(sds) & (sds > 0)).all():
        raise ValueError(f"sd={sd!r} is not above 0; give the known standard deviation.")
    sizes = tuple(map(len, samples))
    gap = samples[0].mean() - (samples[1].mean() if len(samples) > 1 else 0.0)
    se = math.sqrt(sum(s**2 / n for s, n in zip(sds, sizes)))
    z, reach = (gap - mean) / se, stats.norm.isf(alpha / 2) * se
    # The unit makes the effect what a common standard deviation would.
    unit = se * math.sqrt(sizes[0] if len(sizes) == 1 else 1 / sum(1 / n for n in sizes))
    design = Normal(sizes, tail)
    two = len(samples) > 1
    return TestResult(
        "The z test", _difference(tail, mean) if two else _hypothesis(tail, mean), "z", float(z), design.p_value(z), alpha,
        "difference in standard deviations", float((gap - mean) / unit),
        (float((gap - mean - reach) / unit), float((gap - mean + reach) / unit)), sizes,
        estimate_name="difference of the means" if two else "mean", estimate=float(gap),
        interval=(float(gap - reach), float(gap + reach)), dropped=dropped, design=design,
    )  # fmt: skip


def t_test(
    x: Any, y: Any = None, *, mean: float = 0.0, pairs: bool = False, equal_variances: bool = False,
    alternative: str = "two-sided", alpha: float = 0.05, missing: str = "raise",
) -> TestResult:  # fmt: skip
    """Test a mean, the difference of two, or the mean difference of pairs.

    Parameters
    ----------
    x, y : array-like of shape (n_rows,)
        One sample, or two.
    mean : float
        The mean, or the difference of the means of x and y, under the null hypothesis.
    pairs : bool
        Whether rows of x and y belong together.
    equal_variances : bool
        Whether both samples vary alike (Student's test); default Welch's, which does not ask for it.
    alternative : {"two-sided", "less", "greater"}
    alpha : float
        Level of the test; intervals hold with probability 1 − alpha.
    missing : {"raise", "drop"}
        What to do with NaN; pairs are left out as wholes.

    Returns
    -------
    TestResult
        The effect is Cohen's d, with the interval of the noncentral t distribution.

    References
    ----------
    Student (1908), The probable error of a mean, Biometrika 6.
    Welch (1947), The generalization of Student's problem when several different population variances are involved, Biometrika 34.

    Examples
    --------
    >>> from tacit.assess import t_test
    >>> found = t_test([0.7, -1.6, -0.2, -1.2, -0.1], [1.9, 0.8, 1.1, 0.1, -0.1])
    >>> round(found.statistic, 3), round(found.p_value, 3)
    (-2.268, 0.054)
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    if y is None:
        if pairs:
            raise ValueError("pairs=True needs y; give both samples.")
        (x,), dropped = cleaned([x], "x", missing, 2)
        return _one_sample("The t test", x, mean, tail, alpha, dropped)
    if pairs:
        (x, y), dropped = paired([x, y], ("x", "y"), missing, 2)
        return _one_sample("The paired t test", x - y, mean, tail, alpha, dropped, True)
    (x, y), dropped = cleaned([x, y], ("x", "y"), missing, 2)
    m, n = len(x), len(y)
    vx, vy = float(x.var(ddof=1)), float(y.var(ddof=1))
    if not vx + vy > 1e-28 * max(float(np.abs(x).max()), float(np.abs(y).max()), 1e-150) ** 2:
        raise ValueError(
            f"all values of x are {x[0]:g} and all of y {y[0]:g}; a test of means needs values that differ."
        )
    if equal_variances:
        pooled = ((m - 1) * vx + (n - 1) * vy) / (m + n - 2)
        name, unit, se, ratio = "Student's t test", math.sqrt(pooled), math.sqrt(pooled * (1 / m + 1 / n)), None
    else:
        name, unit, se = "Welch's t test", math.sqrt((vx + vy) / 2), math.sqrt(vx / m + vy / n)
        ratio = vx / vy if vy > 1e-12 * vx else 1e12
    design = Student((m, n), tail, ratio=ratio)
    gap, df = float(x.mean() - y.mean()), design.df((m, n))
    result = _student(name, _difference(tail, mean), gap, mean, se, unit, df, design, alpha, dropped)
    result.details.update(means=(float(x.mean()), float(y.mean())), sds=(math.sqrt(vx), math.sqrt(vy)))
    return result


def _one_sample(
    name: str, x: np.ndarray, mean: float, tail: str, alpha: float, dropped: int, pairs: bool = False
) -> TestResult:
    n, sd = len(x), spread_of(x, "the differences" if pairs else "x")
    design = Student((n,), tail)
    null = "the mean difference is 0" if pairs and mean == 0 and tail == "two-sided" else _hypothesis(tail, mean, pairs)
    return _student(
        name, null, float(x.mean()), mean, sd / math.sqrt(n), sd, n - 1, design, alpha, dropped,
        "mean difference" if pairs else "mean",
    )  # fmt: skip


def _student(
    name: str, null: str, gap: float, mean: float, se: float, unit: float, df: float, design: Student, alpha: float,
    dropped: int, what: str = "difference of the means",
) -> TestResult:  # fmt: skip
    t, reach = (gap - mean) / se, float(stats.t.isf(alpha / 2, df)) * se
    ends = student_interval(t, df, alpha)
    factor = design.factor(design.sizes)
    return TestResult(
        name, null, "t", float(t), Frozen(stats.t(df)).p_of(t, design.tail), alpha, "Cohen's d", (gap - mean) / unit,
        (ends[0] / factor, ends[1] / factor), design.sizes, (float(df),), what, gap, (gap - reach, gap + reach), dropped,
        design=design,
    )  # fmt: skip


@dataclass(frozen=True)
class Resampled(Student):
    """t of differences over overlapping training sets, each pair of which shares `share` of its variance."""

    share: float = 0.0

    def factor(self, sizes: tuple[int, ...]) -> float:
        return 1 / math.sqrt(1 / sizes[0] + self.share)

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        return Frozen(noncentral_t(self.df(sizes), effect * self.factor(sizes)))


def corrected_resampled_t(
    differences: Any, n_train: float, n_test: float, *, alternative: str = "two-sided", alpha: float = 0.05,
    missing: str = "raise",
) -> TestResult:  # fmt: skip
    """Test the mean difference of two models' scores over the splits of a cross-validation.

    Training sets overlap, so that differences are correlated and a plain t test finds far too much; the variance is taken to be
    larger by n_test / n_train.

    Parameters
    ----------
    differences : array-like of shape (n_splits,)
        Score of one model less that of the other, of every split.
    n_train, n_test : float
        Rows of a training set and of a test set; means where they vary.
    alternative : {"two-sided", "less", "greater"}
    alpha : float
        Level of the test; intervals hold with probability 1 − alpha.
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    TestResult

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52.

    Examples
    --------
    >>> from tacit.assess import corrected_resampled_t
    >>> found = corrected_resampled_t([0.02, 0.01, 0.03, 0.02, 0.00], n_train=80, n_test=20)
    >>> round(found.p_value, 3)
    0.105
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    for name, value in (("n_train", n_train), ("n_test", n_test)):
        if not value > 0:
            raise ValueError(f"{name}={value!r} is not above 0; give the rows of a split.")
    (gaps,), dropped = cleaned([differences], ("differences",), missing, 2)
    sd, n = spread_of(gaps, "differences"), len(gaps)
    design = Resampled((n,), tail, share=n_test / n_train)
    null = {"two-sided": "both models score the same", "less": "the first model scores no less",
            "greater": "the first model scores no more"}[tail]  # fmt: skip
    return _student(
        "The corrected resampled t test", null, float(gaps.mean()), 0.0, sd / design.factor((n,)), sd, n - 1, design, alpha,
        dropped, "mean difference of the scores",
    )  # fmt: skip
