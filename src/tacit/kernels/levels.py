"""Columns of codes, independent given the class: log p(x | k) = Σ_j log p_kj(x_j) over observed cells.

The levels of all columns lie side by side; a cell is one row of the table of log probabilities, a few numbers from cache.
"""

import numpy as np

from . import MOMENTS, SCORE
from .jit import jit
from .mixture import add_up, settle

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
    n_levels, n_classes = table.shape
    flat = np.empty(n_classes * TILE)
    r = np.empty((TILE, n_classes))
    places, index = np.empty((TILE, d), np.int64), np.empty(TILE, np.uint64)
    # Of a single column there is nothing to add up: its table is turned, with a last level for missing cells.
    turned, tallies = np.zeros((n_classes, n_levels + 1)), np.zeros((n_classes, n_levels + 1))
    for k in range(n_classes if d == 1 else 0):
        for place in range(n_levels):
            turned[k, place] = table[place, k]
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
            index[i] = places[i, 0] if d == 1 and places[i, 0] >= 0 else n_levels
        if mode != MOMENTS and d == 1:
            look_up(index[:m], turned, joint)
        elif mode != MOMENTS:
            score_levels(places[:m], table, r, joint)
        loglik += settle(joint, rows[start : start + m], mode, log_weight, weight, labels, out)
        if mode == SCORE:
            continue
        for k in range(n_classes):
            count[k] += add_up(joint[k])
        if d == 1:
            tally_levels(index[:m], joint, tallies)
        else:
            add_levels(places[:m], joint, r, sums)
    for k in range(n_classes if d == 1 else 0):
        for place in range(n_levels):
            sums[place, k] += tallies[k, place]
    return loglik


@jit
def look_up(index, turned, joint):
    """Entries of a table (classes, levels), of all classes."""
    for k in range(len(joint)):
        row, of = joint[k], turned[k]
        for i in range(row.size):
            row[i] = of[index[i]]


@jit
def tally_levels(index, joint, tallies):
    """Add what classes have of rows to the levels of these, for four classes at a time: sums of one wait for each other."""
    n_classes = len(joint)
    for k in range(0, n_classes - 3, 4):
        a, b, c, e = joint[k], joint[k + 1], joint[k + 2], joint[k + 3]
        to_a, to_b, to_c, to_e = tallies[k], tallies[k + 1], tallies[k + 2], tallies[k + 3]
        for i in range(index.size):
            at = index[i]
            to_a[at] += a[i]
            to_b[at] += b[i]
            to_c[at] += c[i]
            to_e[at] += e[i]
    for k in range(n_classes - n_classes % 4, n_classes):
        a, to_a = joint[k], tallies[k]
        for i in range(index.size):
            to_a[index[i]] += a[i]


@jit
def add_levels(places, joint, r, sums):
    """Add what classes have of rows to the levels of all columns, the classes of a level being neighbours."""
    n_classes = len(joint)
    for k in range(n_classes):
        for i in range(len(places)):
            r[i, k] = joint[k, i]
    for i in range(len(places)):
        for j in range(places.shape[1]):
            place = places[i, j]
            if place >= 0:
                for k in range(n_classes):  # side by side: sums of one class would wait for each other
                    sums[place, k] += r[i, k]


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
