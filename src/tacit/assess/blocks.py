"""Tests of several treatments in the same blocks: Friedman's, and Nemenyi's of every pair.

    χ² = (k − 1) Σ_j (R_j − n(k+1)/2)² / Σ_ij (r_ij − (k+1)/2)²        Nemenyi:  |R̄_i − R̄_j| ≥ q_α √(k(k+1)/6n)

r_ij is the rank of treatment j within block i, R_j their sum, q_α the quantile of the studentised range over √2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ..checks import as_numpy, check_choice
from ..table import Table
from ..words import count, joined, number
from .noncentral import chi_squared, rising_interval
from .ordered import Blocks, friedman_statistic
from .result import TestResult
from .samples import check_alpha

__all__ = ["Nemenyi", "friedman", "nemenyi"]

FEW = 10
"""Blocks below which p-values go by permutations."""


def _ranked(scores: Any, missing: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Scores (blocks, treatments), their ranks within blocks, and how many blocks were left out."""
    check_choice("missing", missing, ("raise", "drop"))
    try:
        scores = np.asarray(as_numpy(scores), dtype=float)
    except (TypeError, ValueError):
        raise ValueError("scores hold what is no number; give a number for every block and treatment.") from None
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ValueError(
            f"scores have shape {scores.shape}; give a row per block and a column per treatment, at least two."
        )
    lost = np.isnan(scores).any(axis=1)
    if lost.any() and missing == "raise":
        raise ValueError(
            f"{count(int(lost.sum()), 'row')} of {len(lost)} {'holds' if lost.sum() == 1 else 'hold'} a missing score, "
            f"the first at "
            f"{int(lost.argmax())}; leave them out with missing='drop'."
        )
    scores = scores[~lost]
    if len(scores) < 2:
        raise ValueError(f"scores have {count(len(scores), 'complete row')}; give at least 2.")
    return scores, stats.rankdata(scores, axis=1), int(lost.sum())


def friedman(scores: Any, *, method: str = "auto", alpha: float = 0.05, missing: str = "raise") -> TestResult:
    """Test whether several treatments score the same in the same blocks, by ranks.

    Parameters
    ----------
    scores : array-like of shape (n_blocks, n_treatments)
        Such as a row per data set and a column per model.
    method : {"auto", "asymptotic", "permutation"}
        p-values by χ², or by ranks permuted within blocks (9,999 times, with a seed of their own); auto permutes below 10 blocks.
    alpha : float
        Level of the test; intervals hold with probability 1 − alpha.
    missing : {"raise", "drop"}
        What to do with blocks that hold NaN.

    Returns
    -------
    TestResult
        The effect is Kendall's coefficient of concordance W: 0 where ranks are as good as random, 1 where all blocks agree.

    References
    ----------
    Friedman (1937), The use of ranks to avoid the assumption of normality, Journal of the American Statistical Association 32.
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning Research 7.

    Examples
    --------
    >>> from tacit.assess import friedman
    >>> found = friedman([[0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5], [0.6, 0.5, 0.4]], method="asymptotic")
    >>> round(found.statistic, 2), round(found.p_value, 3)
    (6.5, 0.039)
    """
    alpha = check_alpha(alpha)
    check_choice("method", method, ("auto", "asymptotic", "permutation"))
    scores, ranks, dropped = _ranked(scores, missing)
    n, k = ranks.shape
    permuted = method == "permutation" or (method == "auto" and n < FEW)
    statistic = float(friedman_statistic(ranks))
    design = Blocks((n,), "greater", treatments=k, ties=tuple(map(tuple, ranks)) if permuted else ())
    low, high = rising_interval(lambda nc: chi_squared(k - 1, nc), statistic, statistic - k + 1, alpha)
    scale = n * (k - 1)
    notes = ("The p-value is by permutations of ranks within blocks.",) if permuted else ()
    return TestResult(
        "Friedman's test", f"all {k} treatments score the same", "χ²", statistic, design.p_value(statistic), alpha, "Kendall's W",
        statistic / scale, (low / scale, min(high / scale, 1.0)), (n,), (k - 1.0,), dropped=dropped, notes=notes,
        details={"mean_ranks": ranks.mean(axis=0)}, design=design,
    )  # fmt: skip


@dataclass(frozen=True)
class Nemenyi:
    """Every pair of treatments compared by mean ranks.

    Attributes
    ----------
    names : tuple of str
        Of the treatments.
    mean_ranks : ndarray of shape (n_treatments,)
        Rank 1 is the best.
    critical_difference : float
        Mean ranks that are as far apart differ at `alpha`.
    p_values : ndarray of shape (n_treatments, n_treatments)
        Corrected for all pairs.
    n_blocks : int
    alpha : float
    dropped : int
        Blocks with missing scores that were left out.
    """

    names: tuple[str, ...]
    mean_ranks: np.ndarray
    critical_difference: float
    p_values: np.ndarray
    n_blocks: int
    alpha: float
    dropped: int = 0

    @property
    def different(self) -> list[tuple[str, str]]:
        """Pairs that differ at `alpha`, the better first."""
        order = np.argsort(self.mean_ranks, kind="stable")
        pairs = [(i, j) for place, i in enumerate(order) for j in order[place + 1 :]]
        return [(self.names[i], self.names[j]) for i, j in pairs if self.p_values[i, j] <= self.alpha]

    @property
    def alike(self) -> list[tuple[str, ...]]:
        """The largest sets of neighbours in rank none of which differ, the best first."""
        order = np.argsort(self.mean_ranks, kind="stable")
        sets: list[tuple[int, int]] = []
        for start in range(len(order)):
            stop = start
            while stop + 1 < len(order) and self.p_values[order[start], order[stop + 1]] > self.alpha:
                stop += 1
            if not sets or stop > sets[-1][1]:
                sets.append((start, stop))
        return [tuple(self.names[i] for i in order[a : b + 1]) for a, b in sets]

    @property
    def table(self) -> Table:
        """A row per treatment, the best first."""
        order = np.argsort(self.mean_ranks, kind="stable")
        return Table([{"treatment": self.names[i], "mean_rank": float(self.mean_ranks[i])} for i in order])

    @property
    def sentence(self) -> str:
        """The result in words."""
        found = self.different
        least = number(self.critical_difference, 3)
        gap = f"Nemenyi's test: mean ranks over {count(self.n_blocks, 'block')} that are {least} apart or more differ"
        gap += f" at the level {number(self.alpha)}"
        if not found:
            return f"{gap}; no two of the {len(self.names)} treatments do."
        return f"{gap}: {joined(f'{a} is better than {b}' for a, b in found)}."

    def __str__(self) -> str:
        return f"{self.table}\n{self.sentence}"


def nemenyi(
    scores: Any, names: Sequence[str] | None = None, *, best: str = "high", alpha: float = 0.05, missing: str = "raise"
) -> Nemenyi:
    """Compare every pair of treatments in the same blocks by their mean ranks.

    Parameters
    ----------
    scores : array-like of shape (n_blocks, n_treatments)
    names : sequence of str, optional
        Of the treatments; default the columns' names, or numbers from 1.
    best : {"high", "low"}
        Which scores are good; they have low ranks.
    alpha : float
        Probability of finding any difference where there is none.
    missing : {"raise", "drop"}
        What to do with blocks that hold NaN.

    Returns
    -------
    Nemenyi

    References
    ----------
    Nemenyi (1963), Distribution-free multiple comparisons, PhD thesis, Princeton.

    Examples
    --------
    >>> from tacit.assess import nemenyi
    >>> found = nemenyi([[0.9, 0.7, 0.5]] * 8, ["forest", "tree", "guess"])
    >>> found.different
    [('forest', 'guess')]
    """
    alpha = check_alpha(alpha)
    check_choice("best", best, ("high", "low"))
    if names is None and hasattr(scores, "columns"):
        names = list(map(str, scores.columns))
    scores, ranks, dropped = _ranked(scores, missing)
    n, k = scores.shape
    names = tuple(map(str, names)) if names is not None else tuple(map(str, range(1, k + 1)))
    if len(names) != k:
        raise ValueError(f"names has {len(names)} entries, but scores have {k} columns; name each.")
    means = (k + 1 - ranks if best == "high" else ranks).mean(axis=0)
    unit = math.sqrt(k * (k + 1) / (6 * n))
    gaps = np.abs(means[:, None] - means[None, :])
    upper = np.triu_indices(k, 1)
    p = np.ones((k, k))
    p[upper] = stats.studentized_range.sf(gaps[upper] / unit * math.sqrt(2), k, np.inf)
    p = np.minimum(p, p.T)
    critical = float(stats.studentized_range.isf(alpha, k, np.inf)) / math.sqrt(2) * unit
    return Nemenyi(names, means, critical, p, n, alpha, dropped)
