"""Nearest centres in L1, and where the cells of each centre lie: one pass of k-medians.

    z_i = argmin_k Σ_j |x_ij − c_kj|

Every centre and column has a grid of points. Per bin between neighbouring points, the weight of its cells and their sum tell the
loss at every point of the grid, and both are sums over rows. Tiles are laid out (column, row), so that distances vectorise.
"""

import math

import numpy as np

from .jit import jit

__all__ = ["medians"]

TILE = 256  # rows whose distances are found at once


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
    grid : (K, d, B) float64
        Points in order; B is a power of 2, or 0 where bins are not wanted.
    labels : (n,) int32
        Set to the nearest of `guide`.
    counts : (K,) float64
        Σ w over the rows of each centre is added.
    bins : (K, d, B + 1, 2) float64
        Σ w s and Σ w s (x − g) over the cells between two points are added, g being the lower one, or the first.

    Returns
    -------
    float
        Σ w s |x − c| over observed cells.
    """
    n_rows, d = X.shape
    tile = np.empty((d, TILE), X.dtype)
    best, apart, arg = np.empty(TILE, X.dtype), np.empty(TILE, X.dtype), np.empty(TILE, np.int32)
    loss = 0.0
    for a in range(0, n_rows, TILE):
        n = min(TILE, n_rows - a)
        holes = _turn(X, a, n, tile)
        best[:] = np.inf
        arg[:] = 0
        for k in range(len(guide)):
            apart[:] = 0.0
            if holes:
                _add_observed(tile, guide[k], n, apart)
            else:
                _add_distances(tile, guide[k], n, apart)
            _keep_least(apart, np.int32(k), n, best, arg)
        for r in range(n):
            k = labels[a + r] = arg[r]
            counts[k] += weight[a + r]
            loss += _enter(X[a + r], weight[a + r], center[k], grid[k], bins[k])
    return loss


@jit
def _turn(X, a, n, tile):
    """Rows as columns of the tile; whether any cell is missing."""
    holes = False
    for r in range(n):
        for j in range(X.shape[1]):
            x = X[a + r, j]
            tile[j, r] = x
            holes |= math.isnan(x)
    return holes


@jit
def _add_distances(tile, center, n, apart):
    """Add |x − c| over columns, four at a time: sums are read and written less often."""
    d = len(center)
    for j in range(0, d - 3, 4):
        a, b, c, e = tile[j], tile[j + 1], tile[j + 2], tile[j + 3]
        ca, cb, cc, ce = center[j], center[j + 1], center[j + 2], center[j + 3]
        for r in range(n):
            apart[r] += (abs(a[r] - ca) + abs(b[r] - cb)) + (abs(c[r] - cc) + abs(e[r] - ce))
    for j in range(d - d % 4, d):
        row, at = tile[j], center[j]
        for r in range(n):
            apart[r] += abs(row[r] - at)


@jit
def _add_observed(tile, center, n, apart):
    for j in range(len(center)):
        row, at = tile[j], center[j]
        for r in range(n):
            step = abs(row[r] - at)
            apart[r] += step if step == step else 0.0


@jit
def _keep_least(apart, name, n, best, arg):
    for r in range(n):
        arg[r] = name if apart[r] < best[r] else arg[r]
        best[r] = min(apart[r], best[r])


@jit
def _enter(x, weight, center, grid, bins):
    """Enter the cells of a row in the bins of its centre; its weighted and scaled distance."""
    d, n_points = grid.shape
    observed = 0
    for j in range(d):
        observed += not math.isnan(x[j])
    share = weight * d / max(observed, 1)
    total = 0.0
    for j in range(d):
        value = np.float64(x[j])
        if math.isnan(value):
            continue
        total += abs(value - center[j])
        if n_points:
            b = _place(grid[j], value)
            bins[j, b, 0] += share
            bins[j, b, 1] += share * (value - grid[j, max(b - 1, 0)])
    return share * total


@jit
def _place(points, value):
    """How many of the points are at most `value`, by halving without branches."""
    low, step = 0, len(points) >> 1
    while step:
        low += step if points[low + step - 1] <= value else 0
        step >>= 1
    return low + (1 if points[low] <= value else 0)
