"""Missing cells of Gaussian rows: their posterior mean and covariance, and draws of them.

x_M | x_O, k ~ N(μ_M + deviation_M, C) as `condition` finds them; over classes, mixed by the responsibilities.
"""

import math

import numpy as np

from .conditional import condition_batch, split_cells, workspace
from .jit import jit


@jit
def root(A):
    """Replace A by a lower triangle L with A = L Lᵀ; directions without variance get zero columns."""
    for i in range(A.shape[0]):
        for j in range(i + 1):
            total = A[i, j]
            for h in range(j):
                total -= A[i, h] * A[j, h]
            if i == j:
                A[i, i] = math.sqrt(max(total, 0.0))
            else:
                A[i, j] = total / A[j, j] if A[j, j] > 0.0 else 0.0


@jit
def complete(X, rows, starts, missing, mean, precision, covariance, log_det, resp, filled, cov):
    """Posterior mean of every row in `filled`, and its covariance in `cov` (zero on observed cells)."""
    n_classes, d = mean.shape
    work = workspace(n_classes, d)
    lost, seen = np.empty(d + 1, np.int64), np.empty(d + 1, np.int64)
    wanted = cov.shape[0] > 0
    start = 0
    while start < rows.size:
        batch, bounds, deviation, spread = condition_batch(
            X, rows, start, starts, missing, mean, precision, covariance, log_det, work
        )
        for s in range(bounds.shape[0]):
            m = split_cells(missing, bounds[s, 2], lost, seen)
            for i in range(bounds[s, 0], bounds[s, 1]):
                row = batch[i]
                for a in range(m):
                    j = lost[a]
                    filled[row, j] = 0.0
                    for k in range(n_classes):
                        filled[row, j] += resp[k, row] * (mean[k, j] + deviation[k, i, j])
                if not wanted:
                    continue
                for a in range(m):
                    for b in range(m):
                        ja, jb = lost[a], lost[b]
                        total = 0.0
                        for k in range(n_classes):
                            da = mean[k, ja] + deviation[k, i, ja] - filled[row, ja]
                            db = mean[k, jb] + deviation[k, i, jb] - filled[row, jb]
                            total += resp[k, row] * (spread[k, s, a * m + b] + da * db)
                        cov[row, ja, jb] = total
        start += batch.size


@jit
def draw(X, rows, starts, missing, mean, precision, covariance, log_det, classes, noise, filled):
    """Draws of the missing cells: filled (draws, all rows, d) given a class per draw and row and standard noise."""
    n_classes, d = mean.shape
    work = workspace(n_classes, d)
    lost, seen = np.empty(d + 1, np.int64), np.empty(d + 1, np.int64)
    start = 0
    while start < rows.size:
        batch, bounds, deviation, spread = condition_batch(
            X, rows, start, starts, missing, mean, precision, covariance, log_det, work
        )
        for s in range(bounds.shape[0]):
            m = split_cells(missing, bounds[s, 2], lost, seen)
            for k in range(n_classes):
                root(spread[k, s, : m * m].reshape(m, m))
            for i in range(bounds[s, 0], bounds[s, 1]):
                row = batch[i]
                for t in range(filled.shape[0]):
                    k = classes[t, row]
                    for a in range(m):
                        j = lost[a]
                        value = mean[k, j] + deviation[k, i, j]
                        for b in range(a + 1):
                            value += spread[k, s, a * m + b] * noise[t, row, lost[b]]
                        filled[t, row, j] = value
        start += batch.size


@jit
def parts(X, rows, starts, missing, mean, precision, covariance, log_det, first, location, variance, square):
    """Each class's own posterior of every missing cell: mean and variance (classes, cells), cells row by row.

    `first` (all rows) says where a row's cells begin; `square` (classes, all rows) becomes the distance of its observed cells.
    """
    n_classes, d = mean.shape
    work = workspace(n_classes, d)
    lost, seen = np.empty(d + 1, np.int64), np.empty(d + 1, np.int64)
    start = 0
    while start < rows.size:
        batch, bounds, deviation, spread = condition_batch(
            X, rows, start, starts, missing, mean, precision, covariance, log_det, work
        )
        for s in range(bounds.shape[0]):
            m = split_cells(missing, bounds[s, 2], lost, seen)
            for i in range(bounds[s, 0], bounds[s, 1]):
                row = batch[i]
                for k in range(n_classes):
                    square[k, row] = work[3][k, i]
                    for a in range(m):
                        location[k, first[row] + a] = mean[k, lost[a]] + deviation[k, i, lost[a]]
                        variance[k, first[row] + a] = spread[k, s, a * m + a]
        start += batch.size
