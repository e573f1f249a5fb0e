"""Gaussian rows with missing cells: the observed density and the posterior of what is missing.

With z = x − μ on the observed cells O and 0 on the missing cells M, Λ = Σ⁻¹ and u = Λ z,

    E[x_M | x_O] = μ_M − Λ_MM⁻¹ u_M,    Cov[x_M | x_O] = C = Λ_MM⁻¹,
    (x_O − μ_O)ᵀ Σ_OO⁻¹ (x_O − μ_O) = zᵀu − u_Mᵀ C u_M,    log|Σ_OO| = log|Σ| + log|Λ_MM|.

Only the missing block is factored, once per pattern; rows with more missing than observed cells are conditioned
through Σ_OO instead. Rows come sorted by pattern and are taken in batches; a run of rows with one pattern is a segment.
"""

import math

import numpy as np

from . import SCORE
from .jit import jit
from .mixture import settle

BATCH = 120
SCRATCH = 400_000  # doubles kept per batch for deviations and conditional covariances
LOG_2PI = math.log(2 * math.pi)


@jit
def invert(A, size):
    """Replace the leading block of A by its inverse through Cholesky; return its log determinant."""
    log_det = 0.0
    pivots = 1.0  # one logarithm for many pivots
    for i in range(size):
        for j in range(i + 1):
            total = A[i, j]
            least = 1e-15 * A[i, j]
            for h in range(j):
                total -= A[i, h] * A[j, h]
            if i == j:
                total = max(total, least)
                pivots *= total
                if not 1e-100 < pivots < 1e100:
                    log_det += math.log(pivots)
                    pivots = 1.0
                A[i, i] = 1.0 / math.sqrt(total)
            else:
                A[i, j] = total * A[j, j]
    log_det += math.log(pivots)
    for i in range(size):
        for j in range(i):
            total = 0.0
            for h in range(j, i):
                total -= A[i, h] * A[h, j]
            A[i, j] = total * A[i, i]
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for h in range(i, size):
                total += A[h, i] * A[h, j]
            A[j, i] = total
    for i in range(size):
        for j in range(i):
            A[i, j] = A[j, i]
    return log_det


@jit
def n_missing(missing, pattern):
    """How many cells of a pattern are missing."""
    lost = 0
    for j in range(missing.shape[1]):
        lost += missing[pattern, j]
    return lost


@jit
def cut_batch(start, n_rows, starts, missing, n_classes):
    """End of the batch that begins at `start`, and its segments as (first row, end row, pattern)."""
    d = missing.shape[1]
    segment = np.searchsorted(starts, start, side="right") - 1
    bounds = np.empty((BATCH, 3), np.int64)
    n_segments = 0
    used = 0
    end = start
    while end < n_rows and end - start < BATCH:
        lost = n_missing(missing, segment)
        stop = min(starts[segment + 1], start + BATCH)
        used += n_classes * lost * lost
        if n_segments and used + n_classes * d * (stop - start) > SCRATCH:
            break
        bounds[n_segments, 0] = end - start
        bounds[n_segments, 1] = stop - start
        bounds[n_segments, 2] = segment
        n_segments += 1
        end = stop
        segment += 1
    return end, bounds[:n_segments]


@jit
def split_cells(missing, pattern, lost, seen):
    """Indices of the missing and observed cells of a pattern; return how many are missing."""
    n_lost = 0
    n_seen = 0
    # Both lists are written and one end moves: patterns are random, so a branch would be guessed wrong half of the time.
    for j in range(missing.shape[1]):
        gone = int(missing[pattern, j])
        lost[n_lost] = j
        seen[n_seen] = j
        n_lost += gone
        n_seen += 1 - gone
    return n_lost


@jit
def condition(
    X, rows, missing, bounds, mean, precision, covariance, log_det, deviation, spread, square, log_dets, work
):
    """Condition one class on the observed cells of a batch.

    Fills deviation (rows, d) with E[x | x_O] − μ, spread (segments, m·m) with C, square (rows) with the squared distance of
    the observed cells and log_dets (segments) with log|Σ_OO|.
    """
    d = mean.size
    lost, seen = np.empty(d + 1, np.int64), np.empty(d + 1, np.int64)
    gain = np.empty((d, d))
    n = deviation.shape[0]
    for i in range(n):
        for j in range(d):
            z = X[rows[i], j] - mean[j]
            deviation[i, j] = z if z == z else 0.0
    u = work[1][: n * d].reshape(n, d)
    np.dot(deviation, precision, u)
    A = work[0]
    for s in range(bounds.shape[0]):
        m = split_cells(missing, bounds[s, 2], lost, seen)
        o = d - m
        C = spread[s, : m * m].reshape(m, m)
        if m <= o:
            for a in range(m):
                for b in range(m):
                    A[a, b] = precision[lost[a], lost[b]]
            log_dets[s] = log_det + invert(A, m)
            for a in range(m):
                for b in range(m):
                    C[a, b] = A[a, b]
            for i in range(bounds[s, 0], bounds[s, 1]):
                q = 0.0
                for b in range(o):
                    q += deviation[i, seen[b]] * u[i, seen[b]]
                for a in range(m):
                    t = 0.0
                    for b in range(m):
                        t += A[a, b] * u[i, lost[b]]
                    deviation[i, lost[a]] = -t
                    q -= t * u[i, lost[a]]
                square[i] = q
        else:
            for a in range(o):
                for b in range(o):
                    A[a, b] = covariance[seen[a], seen[b]]
            log_dets[s] = invert(A, o)
            for a in range(m):
                for b in range(o):
                    t = 0.0
                    for c in range(o):
                        t += covariance[lost[a], seen[c]] * A[c, b]
                    gain[a, b] = t
            for a in range(m):
                for b in range(a + 1):
                    t = covariance[lost[a], lost[b]]
                    for c in range(o):
                        t -= gain[a, c] * covariance[seen[c], lost[b]]
                    C[a, b] = t
                    C[b, a] = t
            for i in range(bounds[s, 0], bounds[s, 1]):
                q = 0.0
                for a in range(o):
                    t = 0.0
                    for b in range(o):
                        t += A[a, b] * deviation[i, seen[b]]
                    q += t * deviation[i, seen[a]]
                for a in range(m):
                    t = 0.0
                    for b in range(o):
                        t += gain[a, b] * deviation[i, seen[b]]
                    deviation[i, lost[a]] = t
                square[i] = q


@jit
def workspace(n_classes, d):
    """Scratch for one batch: a matrix, a product, deviations and conditional covariances, distances and log determinants."""
    width = max(SCRATCH, n_classes * d * d) + n_classes * d * BATCH
    square, log_dets = np.empty((n_classes, BATCH)), np.empty((n_classes, BATCH))
    return np.empty((d, d)), np.empty(BATCH * d), np.empty(width), square, log_dets


@jit
def views(work, n_classes, n, d, bounds, missing):
    """Deviations (classes, n, d) and spreads (classes, segments, widest m²) inside the workspace."""
    widest = 0
    for s in range(bounds.shape[0]):
        widest = max(widest, n_missing(missing, bounds[s, 2]))
    size = n_classes * n * d
    flat = work[2]
    need = size + n_classes * bounds.shape[0] * widest * widest
    if need > flat.size:
        flat = np.empty(need)
    deviation = flat[:size].reshape(n_classes, n, d)
    spread = flat[size:need].reshape(n_classes, bounds.shape[0], widest * widest)
    return deviation, spread


@jit
def condition_batch(X, rows, start, starts, missing, mean, precision, covariance, log_det, work):
    """Condition every class on the observed cells of the batch that begins at `start`; see `condition`.

    Returns the batch's rows, its segments, and deviations and spreads by class; squared distances and log determinants are in
    the workspace.
    """
    n_classes, d = mean.shape
    _, _, _, square, log_dets = work
    end, bounds = cut_batch(start, rows.size, starts, missing, n_classes)
    batch = rows[start:end]
    deviation, spread = views(work, n_classes, batch.size, d, bounds, missing)
    for k in range(n_classes):
        condition(
            X, batch, missing, bounds, mean[k], precision[k], covariance[k], log_det[k],
            deviation[k], spread[k], square[k], log_dets[k], work,
        )  # fmt: skip
    return batch, bounds, deviation, spread


@jit
def conditional(
    X, rows, starts, missing, mean, precision, covariance, log_det, mode, log_weight, weight, labels, out, s0, s1, s2
):
    """One pass over rows with missing cells.

    The modes are those of the complete-row kernels; expected moments are about each class's mean.
    """
    n_classes, d = mean.shape
    work = workspace(n_classes, d)
    _, _, _, joint, log_dets = work
    loglik = 0.0
    start = 0
    while start < rows.size:
        batch, bounds, deviation, spread = condition_batch(
            X, rows, start, starts, missing, mean, precision, covariance, log_det, work
        )
        for k in range(n_classes):
            for s in range(bounds.shape[0]):
                constant = log_dets[k, s] + (d - n_missing(missing, bounds[s, 2])) * LOG_2PI
                for i in range(bounds[s, 0], bounds[s, 1]):
                    joint[k, i] = -0.5 * (joint[k, i] + constant)
        loglik += settle(joint[:, : batch.size], batch, mode, log_weight, weight, labels, out)
        start += batch.size
        if mode != SCORE:
            for k in range(n_classes):
                r = joint[k, : batch.size]
                s0[k] += add_first(r, deviation[k], work, s1[k], s2[k])
                add_spread(r, missing, bounds, spread[k], s2[k])
    return loglik


@jit
def add_first(r, deviation, work, s1, s2):
    """Add Σ r z and Σ r z zᵀ of a batch and a class to s1 and s2; return Σ r."""
    n, d = deviation.shape
    weighted = work[1][: n * d].reshape(n, d)
    total = 0.0
    for i in range(n):
        total += r[i]
        for j in range(d):
            weighted[i, j] = r[i] * deviation[i, j]
            s1[j] += weighted[i, j]
    np.dot(weighted.T, deviation, work[0])
    s2 += work[0]
    return total


@jit
def add_spread(r, missing, bounds, spread, s2):
    """Add Σ r C of a batch and a class to s2."""
    d = missing.shape[1]
    lost, seen = np.empty(d + 1, np.int64), np.empty(d + 1, np.int64)
    for s in range(bounds.shape[0]):
        m = split_cells(missing, bounds[s, 2], lost, seen)
        total = 0.0
        for i in range(bounds[s, 0], bounds[s, 1]):
            total += r[i]
        for a in range(m):
            for b in range(m):
                s2[lost[a], lost[b]] += total * spread[s, a * m + b]
