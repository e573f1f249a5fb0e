"""Tests of what differs between two sides of rows: values, levels, shares; with effects, intervals, and one correction for all.

An effect of values is P(B > A) + P(B = A)/2 (Brunner and Munzel), of levels and shares a difference of shares, with Newcombe's
interval. Of few cells, p-values go by permutations or Fisher's exact test.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from ..assess.adjusting import adjust
from ..assess.contingency import independence
from ..assess.intervals import difference_of_shares, rank_interval
from ..assess.ranks import relative_effect
from ..schema import Column

__all__ = ["column_tests", "correct", "share_test"]

FEW = 20
"""Cells of the smaller side below which the rank test goes by permutations; expected counts below 5 do so for categories."""
DRAWS, MANY = 9999, 400


def column_tests(column: Column, cells: np.ndarray, side: np.ndarray, rng: np.random.Generator) -> list[dict]:
    """Tests of the values of a column, and of which of its cells are missing."""
    known = ~np.isnan(cells)
    x, y = cells[known & (side == 0)], cells[known & (side == 1)]
    told = {"column": str(column.name), "n_a": len(x), "n_b": len(y)}
    tests = []
    if min(len(x), len(y)) >= 2 and len(np.unique(cells[known])) > 1:
        found = _levels(column, x, y, rng) if column.kind == "category" else _ranks(x, y, rng)
        middle = {} if column.kind == "category" else {"a": _middle(column, x), "b": _middle(column, y)}
        tests.append(told | found | middle)
    if not known.all() and known.any():
        lost = np.bincount(side[~known], minlength=2), np.bincount(side, minlength=2)
        tests.append({"column": str(column.name), "what": "missing"} | share_test(*lost))
    return tests


def _middle(column: Column, cells: np.ndarray) -> float | str:
    """The median of cells: of levels in order, which are coded by their places, the level there."""
    median = float(np.median(cells))
    if not column.levels:
        return median
    low, high = (str(column.levels[int(place)]) for place in (math.floor(median), math.ceil(median)))
    try:
        return (float(low) + float(high)) / 2
    except ValueError:
        return low if low == high else f"{low} to {high}"


def _ranks(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> dict:
    """Brunner and Munzel's test of P(y > x) + P(y = x)/2 = 1/2; of few cells, the permutation test of the rank sum."""
    m, n = len(x), len(y)
    ranks = stats.rankdata(np.concatenate([x, y]))
    effect, se, df = relative_effect(x, y, ranks)
    if min(m, n) >= FEW and se > 0:
        p = 2 * stats.t.sf(abs(effect - 0.5) / se, df)
    else:
        p = _permuted(ranks, m, n, rng)
    found = {"what": "values", "measure": "P(B > A)", "a": float(np.median(x)), "b": float(np.median(y)), "level": None}
    return found | {"effect": effect, "p": float(p), "strength": 2 * effect - 1, "_": ("ranks", effect, se, df, m, n)}


def _permuted(ranks: np.ndarray, m: int, n: int, rng: np.random.Generator) -> float:
    """Share of random splits whose rank sum is as far from its mean, the one at hand among them."""
    few = min(m, n)
    own = ranks[:m] if m <= n else ranks[m:]
    middle = few * (m + n + 1) / 2
    if m + n <= MANY:
        drawn = rng.permuted(np.tile(ranks, (DRAWS, 1)), axis=1)[:, :few].sum(axis=1)
    else:
        drawn = np.array([ranks[rng.choice(m + n, few, replace=False)].sum() for _ in range(DRAWS)])
    return (1 + int((abs(drawn - middle) >= abs(own.sum() - middle) - 1e-9).sum())) / (DRAWS + 1)


def _levels(column: Column, x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> dict:
    """The χ² test of the shares of levels, by random tables where few are expected; the level that moved most."""
    counts = np.array([np.bincount(side.astype(int), minlength=len(column.levels)) for side in (x, y)])
    kept = counts.sum(axis=0) > 0
    seen, labels = counts[:, kept], [str(level) for level, there in zip(column.levels, kept) if there]
    chi2, p, _ = independence(seen, rng)
    total = seen.sum(axis=1)
    pooled = seen.sum(axis=0) / seen.sum()
    moved = np.abs(seen[1] / total[1] - seen[0] / total[0]) / np.sqrt(np.maximum(pooled * (1 - pooled), 1e-12))
    j = int(np.argmax(moved))
    found = share_test(seen[:, j], total)
    strength = math.sqrt(chi2 / seen.sum())
    return found | {"what": "levels", "level": labels[j], "p": p, "strength": strength}


def share_test(n: np.ndarray, total: np.ndarray) -> dict:
    """Fisher's exact test of two shares, and their difference."""
    a, b = n[0] / total[0], n[1] / total[1]
    table = np.array([n, total - n])
    p = (
        stats.fisher_exact(table).pvalue
        if table.sum() <= 100_000
        else stats.chi2_contingency(table, correction=False).pvalue
    )
    strength = 2 * (math.asin(math.sqrt(b)) - math.asin(math.sqrt(a)))  # Cohen's h
    return {
        "measure": "difference of shares", "a": float(a), "b": float(b), "level": None, "effect": float(b - a), "p": float(p),
        "n_a": int(total[0]), "n_b": int(total[1]), "strength": strength, "_": ("shares", n, total),
    }  # fmt: skip


def correct(tests: list[dict], correction: str, level: float) -> None:
    """Adjusted p-values, what moved, and intervals that hold together."""
    p, alpha = np.array([test["p"] for test in tests]), 1 - level
    for test, value in zip(tests, adjust(p, correction)):
        low, high = _interval(test.pop("_"), alpha / len(tests))
        test |= {"low": low, "high": high, "adjusted": float(value), "moved": bool(value <= alpha)}


def _interval(found: tuple, alpha: float) -> tuple[float, float]:
    """The interval of an effect: Brunner and Munzel's, or Newcombe's of two shares by those of Wilson."""
    if found[0] == "ranks":
        _, effect, se, df, m, n = found
        return rank_interval(effect, se, df, min(m, n), alpha)
    _, n, total = found
    return difference_of_shares(n, total, alpha)
