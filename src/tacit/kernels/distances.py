"""Distances of rows to centres, computed cell by cell, so that nothing cancels and missing cells drop out.

d(x, c) = (d / observed) Σ_{j observed} |x_j − c_j|^power,    power 1 or 2
"""

import math

from .jit import jit, jit_sums

__all__ = ["column_sums", "distances", "misfit"]


@jit
def distances(X, center, power, out):
    """Σ_j |x_j − c_j|^power over the observed cells, times d over their number, for power 1 or 2, into `out` (n, K)."""
    n_rows, d = X.shape
    for i in range(n_rows):
        observed = 0
        for j in range(d):
            observed += not math.isnan(X[i, j])
        scale = d / max(observed, 1)
        for k in range(len(center)):
            if observed == d:
                out[i, k] = _apart(X[i], center[k], power)
            else:
                total = 0.0
                for j in range(d):
                    step = abs(X[i, j] - center[k, j])
                    total += 0.0 if math.isnan(step) else (step if power == 1 else step * step)
                out[i, k] = scale * total


@jit_sums
def _apart(x, center, power):
    total = 0.0
    if power == 1:
        for j in range(len(x)):
            total += abs(x[j] - center[j])
    else:
        for j in range(len(x)):
            step = x[j] - center[j]
            total += step * step
    return total


@jit
def misfit(X, weight, center, labels, power, out):
    """Weighted distance, for power 1, or squared distance, for 2, of every row to the centre it belongs to, into `out` (n,)."""
    d = X.shape[1]
    for i in range(len(X)):
        total, observed = 0.0, 0
        for j in range(d):
            step = abs(X[i, j] - center[labels[i], j])
            if not math.isnan(step):
                total += step if power == 1 else step * step
                observed += 1
        out[i] = weight[i] * total * d / max(observed, 1)


@jit
def column_sums(X, weight, origin, count, total, square):
    """Σ w, Σ w (x − origin) and Σ w (x − origin)² over the observed cells of each column are added to (d,) arrays."""
    for i in range(len(X)):
        for j in range(X.shape[1]):
            x = X[i, j] - origin[j]
            seen = 0.0 if math.isnan(x) else weight[i]
            x = 0.0 if math.isnan(x) else x
            count[j] += seen
            total[j] += seen * x
            square[j] += seen * x * x
