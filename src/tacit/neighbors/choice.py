"""Which search to take, by what it costs on a sample of the rows. All find the same neighbours; the choice is one of time."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .brute import BrutePoints, BruteValues
from .elimination import LinearAESA
from .metrics import Metric, Points, Spoken
from .search import Search
from .tree import TreePoints

__all__ = ["choose"]

FEW_ROWS = 1000
"""Rows up to which all pairs are as quick as anything."""
SAMPLE = 8192
QUERIES = 128
MOST_COLUMNS = 40
"""Columns beyond which no tree is tried: boxes then leave out next to nothing unless rows lie on a surface of few dimensions."""
COSTLY = 2e-5
"""Seconds that a distance takes beyond which bounds pay: about what keeping them costs."""


def choose(metric: Metric, rows: np.ndarray, threads: int, n_buoys: int) -> str:
    """The algorithm, "brute", "kd_tree" or "laesa", for rows as the metric's points."""
    if len(rows) <= FEW_ROWS:
        return "brute"
    if isinstance(metric, Points):
        return "kd_tree" if metric.p >= 1 and rows.shape[1] <= MOST_COLUMNS and _tree_pays(metric, rows) else "brute"
    may = metric.triangle or isinstance(metric, Spoken)
    return "laesa" if may and _bounds_pay(metric, rows, n_buoys) else "brute"


def _spread(n: int, size: int) -> np.ndarray:
    return np.unique(np.linspace(0, n - 1, size).astype(int))


def _seconds(search: Search, Q: np.ndarray) -> float:
    own = np.full(len(Q), -1)
    search.nearest(Q[:2], 5, own[:2])  # compiles
    begin = time.perf_counter()
    search.nearest(Q, 5, own)
    return time.perf_counter() - begin


def _tree_pays(metric: Points, rows: np.ndarray) -> bool:
    """Whether a tree is quicker: its distances rise with a power of the number of rows that two samples tell."""
    n, sample = len(rows), rows[_spread(len(rows), SAMPLE)]
    Q = sample[_spread(len(sample), QUERIES)]
    small = TreePoints(metric, sample[_spread(len(sample), len(sample) // 8)], 1)
    large = TreePoints(metric, sample, 1)
    _seconds(small, Q)
    taken = _seconds(large, Q)
    power = np.log2(max(large.computed, 1) / max(small.computed, 1)) / 3.0
    more = n / len(sample)
    return taken * more**power < _seconds(BrutePoints(metric, sample, 1), Q) * more


def _bounds_pay(metric: Metric, rows: np.ndarray, n_buoys: int) -> bool:
    """Whether distances cost so much, and bounds save so many of them, that linear AESA is quicker by half."""
    few = rows[_spread(len(rows), 32)]
    begin = time.perf_counter()
    D = metric.between(few, few)
    cost = (time.perf_counter() - begin) / D.size
    if cost < COSTLY or not _triangular(D):
        return False
    sample = rows[_spread(len(rows), 500)]
    try:
        table, buoys, _ = LinearAESA.prepare(metric, sample, 1, n_buoys)
    except ValueError:  # no dissimilarity: all pairs take any function
        return False
    Q = sample[_spread(len(sample), 8)]
    search: Any = LinearAESA(metric, sample, 1, table, buoys)
    # Rows of the sample, not counted among their neighbours: new rows are not in the fit.
    search.nearest(Q, 1, _spread(len(sample), 8))
    saved = search.computed < 0.5 * BruteValues(metric, sample, 1).rows.shape[0] * len(Q)
    return bool(saved)


def _triangular(D: np.ndarray) -> bool:
    """Whether a matrix of distances is symmetric and keeps the triangle inequality."""
    slack = 1e-9 * D.max(initial=0.0)
    symmetric = np.abs(D - D.T).max() <= slack
    return bool(symmetric and (D[:, None] <= D[:, :, None] + D[None] + slack).all())
