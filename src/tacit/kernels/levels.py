"""Columns of codes, independent given the class: log p(x | k) = Σ_j log p_kj(x_j) over observed cells.

The levels of all columns lie side by side; a cell is one row of the table of log probabilities, a few numbers from cache.
"""

import numpy as np

from . import MOMENTS, SCORE
from .jit import jit
from .mixture import settle

__all__ = ["levels"]

TILE = 240


def levels(X, n_levels, log_probability, mode, log_weight, weight, labels, out, count, total):
    """One pass; `log_probability` and `total` are (classes, Σ levels)."""
    first = np.concatenate([[0], np.cumsum(n_levels)]).astype(np.int64)
    table = np.ascontiguousarray(log_probability.T)
    sums = np.zeros(table.shape)
    loglik = pass_levels(X, first, table, mode, log_weight, weight, labels, out, count, sums)
    total += sums.T
    return loglik


@jit
def pass_levels(X, first, table, mode, log_weight, weight, labels, out, count, sums):
    """As `levels`, with tables (Σ levels, classes) and the first level of each column, and where the last one ends."""
    n, d = X.shape
    n_classes = table.shape[1]
    flat = np.empty(n_classes * TILE)
    r = np.empty((TILE, n_classes))
    places = np.empty((TILE, d), np.int64)
    rows = np.arange(n)
    loglik = 0.0
    for start in range(0, n, TILE):
        m = min(TILE, n - start)
        joint = flat[: n_classes * m].reshape(n_classes, m)
        for i in range(m):
            for j in range(d):
                x = X[start + i, j]
                # A code that is none of the column's counts as missing: nothing outside of the table is ever read.
                there = x >= 0 and x < first[j + 1] - first[j]
                places[i, j] = first[j] + np.int64(x) if there else -1
        if mode != MOMENTS:
            score_levels(places[:m], table, r, joint)
        loglik += settle(joint, rows[start : start + m], mode, log_weight, weight, labels, out)
        if mode == SCORE:
            continue
        for k in range(n_classes):
            for i in range(m):
                r[i, k] = joint[k, i]
        for i in range(m):
            for k in range(n_classes):  # sums of all classes side by side: of one they would wait for each other
                count[k] += r[i, k]
            for j in range(d):
                place = places[i, j]
                if place >= 0:
                    for k in range(n_classes):
                        sums[place, k] += r[i, k]
    return loglik


@jit
def score_levels(places, table, r, joint):
    """Log densities (classes, rows) of a tile, added up row by row in `r`, where the classes of a level are neighbours."""
    m, d = places.shape
    n_classes = table.shape[1]
    for i in range(m):
        for k in range(n_classes):
            r[i, k] = 0.0
        for j in range(d):
            place = places[i, j]
            if place >= 0:
                for k in range(n_classes):
                    r[i, k] += table[place, k]
    for k in range(n_classes):
        for i in range(m):
            joint[k, i] = r[i, k]
