"""Nearest centres in L1, and where the cells of each centre lie: one pass of k-medians.

    z_i = argmin_k Σ_j |x_ij − c_kj|

Every centre and column has a grid of points. Per bin between neighbouring points, the weight of its cells and their sum tell the
loss at every point of the grid, and both are sums over rows. Tiles are laid out (column, row), so that distances vectorise, and
cells are entered column by column: the grids of one column lie side by side, and few are in use at a time.
"""

import math

import numpy as np

from .jit import jit

__all__ = ["medians"]

TILE = 2048  # rows that are entered in the bins of one column before those of the next
STRIP = 256  # rows whose distances are found at once: they stay in the nearest cache


@jit
def medians(X, weight, guide, center, grid, labels, counts, bins):
    """One pass over rows, which may have missing cells.

    Parameters
    ----------
    X : (n, d)
        Cells; NaN is missing. A row's distance is that over its observed cells times s = d over their number.
    weight : (n,) float64
        Weights of rows.
    guide : (K, d)
        The centres that rows join, in the precision of the rows.
    center : (K, d) float64
        The centres whose loss is measured.
    grid : (d, K, B) float64
        Points in order; none where bins are not wanted.
    labels : (n,) int32
        Set to the nearest of `guide`.
    counts : (K,) float64
        Σ w over the rows of each centre is added.
    bins : (d, K, B + 1, 2) float64
        Σ w s and Σ w s (x − g) over the cells between two points are added, g being the lower one, or the first.

    Returns
    -------
    float
        Σ w s |x − c| over observed cells.
    """
    n_rows, d = X.shape
    # A little wider than a power of 2, or all columns of a row would compete for the same lines of the cache.
    tile, apart, best = np.empty((d, TILE + 8), X.dtype), np.empty(STRIP, X.dtype), np.empty(STRIP, X.dtype)
    arg, place, share = np.empty(TILE, np.int32), np.empty(TILE, np.int64), np.empty(TILE)
    loss = 0.0
    for a in range(0, n_rows, TILE):
        n = min(TILE, n_rows - a)
        missing = _turn(X, a, n, tile)
        for start in range(0, n, STRIP):
            _search(tile, start, min(start + STRIP, n), guide, missing, apart, best, arg)
        _shares(tile, weight[a : a + n], share)
        for r in range(n):
            labels[a + r] = arg[r]
            counts[arg[r]] += weight[a + r]
        for j in range(d):
            loss += _measure(tile[j, :n], share, arg, center[:, j])
            if grid.shape[2]:
                _enter(tile[j, :n], share, arg, grid[j], place, bins[j])
    return loss


@jit
def _turn(X, a, n, tile):
    """Rows as columns of the tile; whether any cell is missing."""
    missing = False
    for r in range(n):
        for j in range(X.shape[1]):
            x = X[a + r, j]
            tile[j, r] = x
            missing |= math.isnan(x)
    return missing


@jit
def _search(tile, start, stop, guide, missing, apart, best, arg):
    """Nearest centres of the rows `start` to `stop` of a tile."""
    n = stop - start
    found = arg[start:stop]
    best[:] = np.inf
    found[:] = 0
    for k in range(len(guide)):
        apart[:] = 0.0
        if missing:
            _add_observed(tile, start, stop, guide[k], apart)
        else:
            _add_distances(tile, start, stop, guide[k], apart)
        name = np.int32(k)
        for r in range(n):
            found[r] = name if apart[r] < best[r] else found[r]
            best[r] = min(apart[r], best[r])


@jit
def _add_distances(tile, start, stop, center, apart):
    """Add |x − c| over columns, four at a time: sums are read and written less often."""
    d = len(center)
    for j in range(0, d - 3, 4):
        xa, xb, xc, xe = tile[j, start:stop], tile[j + 1, start:stop], tile[j + 2, start:stop], tile[j + 3, start:stop]
        ca, cb, cc, ce = center[j], center[j + 1], center[j + 2], center[j + 3]
        for r in range(stop - start):
            apart[r] += (abs(xa[r] - ca) + abs(xb[r] - cb)) + (abs(xc[r] - cc) + abs(xe[r] - ce))
    for j in range(d - d % 4, d):
        row, at = tile[j, start:stop], center[j]
        for r in range(stop - start):
            apart[r] += abs(row[r] - at)


@jit
def _add_observed(tile, start, stop, center, apart):
    for j in range(len(center)):
        row, at = tile[j, start:stop], center[j]
        for r in range(stop - start):
            step = abs(row[r] - at)
            apart[r] += step if step == step else 0.0


@jit
def _shares(tile, weight, share):
    """Weights of rows, scaled up from observed to all cells."""
    d, n = len(tile), len(weight)
    share[:] = 0.0
    for j in range(d):
        for r in range(n):
            share[r] += 1.0 if tile[j, r] == tile[j, r] else 0.0
    for r in range(n):
        share[r] = weight[r] * d / max(share[r], 1.0)


@jit
def _measure(x, share, labels, center):
    """Σ w s |x − c| over the observed cells of a column."""
    total = 0.0
    for r in range(len(x)):
        step = abs(np.float64(x[r]) - center[labels[r]])
        total += share[r] * (step if step == step else 0.0)
    return total


@jit
def _enter(x, share, labels, grid, place, bins):
    """Add the cells of a column to their bins."""
    for r in range(len(x)):
        place[r] = _count(grid[labels[r]], np.float64(x[r]))
    for r in range(len(x)):
        value, k, b = np.float64(x[r]), labels[r], place[r]
        if value == value:
            bins[k, b, 0] += share[r]
            bins[k, b, 1] += share[r] * (value - grid[k, max(b - 1, 0)])


@jit
def _count(points, value):
    """How many of the points are at most `value`: to compare all of them at once is quicker than to search."""
    count = 0
    for b in range(len(points)):
        count += 1 if points[b] <= value else 0
    return count
