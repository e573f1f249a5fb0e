"""Permutation tests: the statistic at hand among those of rows given to samples at random, signs flipped, or pairs made anew.

    p = (1 + #{T* ≥ T}) / (1 + B),   exact where all B permutations are taken

Under an effect the statistic is taken to vary as its bootstrap replicates do, moved to where the effect says.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state

from ..checks import check_choice, check_memory, check_number
from .design import Design, tail_of
from .laws import Finite, Law, Simulated
from .ordered import BLOCK
from .replicates import bootstrap
from .result import TestResult
from .samples import check_alpha, cleaned, paired

__all__ = ["permutation_test"]

KINDS = ("samples", "signs", "pairings")
POWER_DRAWS = 2000


def _difference(x: np.ndarray, y: np.ndarray, axis: int = -1) -> Any:
    return x.mean(axis=axis) - y.mean(axis=axis)


def _mean(x: np.ndarray, axis: int = -1) -> Any:
    return x.mean(axis=axis)


@dataclass(frozen=True)
class Permuted(Design):
    """A statistic over permutations at hand; for other numbers of rows, of rows drawn from those at hand."""

    least = 2
    samples: tuple = ()
    statistic: Any = None
    kind: str = "samples"
    values: tuple[float, ...] = ()
    exact: bool = False
    seed: int = 0

    def null(self, sizes: tuple[int, ...]) -> Law:
        if sizes == self.sizes:
            return _law(np.array(self.values), self.exact)
        rng = np.random.default_rng([self.seed, *sizes])
        if self.kind == "samples":
            pool = np.concatenate([part - part.mean() for part in self.samples])
            drawn = [rng.choice(pool, n) for n in sizes]
        else:
            rows = rng.integers(len(self.samples[0]), size=sizes[0])
            drawn = [part[rows] for part in self.samples]
        return _law(*_null(drawn, self.statistic, self.kind, POWER_DRAWS, self.seed))

    @cached_property
    def center(self) -> float:
        """The statistic at hand."""
        return float(self.statistic(*self.samples))

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        rng = np.random.default_rng([self.seed, 1, *sizes])
        values = np.empty(POWER_DRAWS)
        for b in range(POWER_DRAWS):
            if self.kind == "samples":
                drawn = [part[rng.integers(len(part), size=n)] for part, n in zip(self.samples, sizes)]
            else:
                rows = rng.integers(len(self.samples[0]), size=sizes[0])
                drawn = [part[rows] for part in self.samples]
            values[b] = self.statistic(*drawn)
        return Simulated(values - self.center + effect)


def _law(values: np.ndarray, exact: bool) -> Law:
    return Finite(values, np.ones(len(values))) if exact else Simulated(values, observed=1)


def _null(samples: list[np.ndarray], statistic: Callable, kind: str, n: int, seed: int) -> tuple[np.ndarray, bool]:
    """The statistic over permutations, and whether these are all."""
    vectorized = statistic in (_difference, _mean)
    found = stats.permutation_test(
        samples, statistic, permutation_type={"samples": "independent", "signs": "samples", "pairings": "pairings"}[kind],
        n_resamples=n, vectorized=vectorized, rng=np.random.default_rng(seed), batch=max(1, BLOCK // sum(map(len, samples))),
    )  # fmt: skip
    values = np.asarray(found.null_distribution)
    return values, len(values) != n


def permutation_test(
    *samples: Any, statistic: Callable | None = None, kind: str = "samples", alternative: str = "two-sided",
    n_resamples: int = 9999, random_state: Any = 0, alpha: float = 0.05, missing: str = "raise",
) -> TestResult:  # fmt: skip
    """Test by permutations, with any statistic.

    Parameters
    ----------
    *samples : array-like of shape (n_rows,)
    statistic : callable, optional
        Of the samples; default the difference of the means of two, or the mean of one whose signs are flipped.
    kind : {"samples", "signs", "pairings"}
        What the null hypothesis lets one exchange: rows between samples; signs, or the two values of a pair; which values of
        two samples go together.
    alternative : {"two-sided", "less", "greater"}
    n_resamples : int
        Permutations; all of them where there are no more.
    random_state : int, RandomState instance or None
    alpha : float
        Level of the test; the interval holds with probability 1 − alpha, approximately.
    missing : {"raise", "drop"}
        What to do with NaN.

    Returns
    -------
    TestResult
        The effect is the statistic, with the BCa bootstrap's interval.

    References ---------- Phipson and Smyth (2010), Permutation p-values should never be zero, Statistical Applications in
    Genetics and Molecular Biology 9.

    Examples
    --------
    >>> from tacit.assess import permutation_test
    >>> round(permutation_test([23, 21, 25, 30], [18, 17, 20, 22]).p_value, 4)
    0.0571
    """
    alpha, tail = check_alpha(alpha), tail_of(alternative)
    check_choice("kind", kind, KINDS)
    check_number("n_resamples", n_resamples, numbers.Integral, 1)
    n_rows = sum(len(np.atleast_1d(sample)) for sample in samples)
    check_memory("n_resamples", n_resamples, 8.0 * 3)
    if not samples or (kind != "signs" and len(samples) < 2):
        raise ValueError(f"{len(samples)} sample is given; kind={kind!r} needs at least two.")
    if kind == "samples":
        rows, dropped = cleaned(samples, [f"sample {i + 1}" for i in range(len(samples))], missing, 2)
    else:
        rows, dropped = paired(samples, [f"sample {i + 1}" for i in range(len(samples))], missing, 2)
    if statistic is None:
        if len(rows) > 2 or (kind == "pairings"):
            raise ValueError(f"statistic is needed for {len(rows)} samples of kind {kind!r}; give a function of them.")
        statistic = _difference if len(rows) == 2 else _mean
    chosen: Any = statistic
    seed = int(check_random_state(random_state).randint(2**31))
    values, exact = _null(rows, statistic, kind, int(n_resamples), seed)
    observed = float(chosen(*rows))
    if not np.isfinite(observed) or not np.isfinite(values).all():
        raise ValueError(
            "the statistic is not finite for the data or a permutation; give one that is for any order of the rows."
        )
    sizes = tuple(map(len, rows)) if kind == "samples" else (len(rows[0]),)
    design = Permuted(sizes, tail, samples=tuple(rows), statistic=statistic, kind=kind, values=tuple(values.tolist()),
                      exact=exact, seed=seed)  # fmt: skip
    ends = _interval(rows, statistic, kind, alpha, seed)
    null = {"samples": "rows of all samples come from the same distribution", "signs": "signs are as good as random",
            "pairings": "the samples are independent"}[kind]  # fmt: skip
    means = statistic in (_difference, _mean)
    name = "statistic" if not means else "difference of the means" if len(rows) == 2 else "mean"
    note = (
        f"All {len(values):,} permutations were taken." if exact else f"{len(values):,} of the permutations were drawn."
    )
    return TestResult(
        "The permutation "
        "test", null, "T", observed, design.p_value(observed), alpha, name, observed, ends, sizes, dropped=dropped,
        notes=(note,), details={"null_distribution": values, "n_rows": n_rows}, design=design,
    )  # fmt: skip


def _interval(rows: list[np.ndarray], statistic: Callable, kind: str, alpha: float, seed: int) -> tuple[float, float]:
    """BCa's interval of the statistic; none where the statistic fails for samples with repeated rows."""
    try:
        if kind == "samples":
            found = bootstrap(statistic, tuple(rows), level=1 - alpha, n_resamples=POWER_DRAWS, random_state=seed)
        else:
            together = np.stack(rows, axis=1)
            found = bootstrap(lambda table: statistic(*table.T), together, level=1 - alpha, n_resamples=POWER_DRAWS,
                              random_state=seed)  # fmt: skip
    except ValueError:
        return float("nan"), float("nan")
    return float(found.low), float(found.high)
