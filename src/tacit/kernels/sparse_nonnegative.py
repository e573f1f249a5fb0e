"""Non-negative parts of sparse rows, at the cost of the cells that are stored; the others are zero.

    Σ_j d_1(x_j, (wH)_j) = Σ_{j stored} x_j log(x_j / w·h_j) − x_j + w·Σ_j h_j

A step of a row reads its cells twice: once to move w, once to add up what H is learned from.
"""

import numpy as np

from .jit import jit, jit_sums
from .nonnegative import CHUNK, MEMORY, ROUNDING, TINY, _rows_down, chunk_down, log

__all__ = ["divergence", "least_squares"]

LEAST = 1e-300  # below a ratio whose logarithm is taken; cells of 0 have no loss from it


def _check(X):
    if X.absent != "zero":
        raise TypeError(
            "non-negative parts of sparse rows take cells that are not stored as 0; give X with absent='zero'."
        )


def least_squares(X, patterns, weight, W, H, columns, penalty, inner, local):
    """As the kernel for arrays."""
    _check(X)
    x, k = X.matrix.astype(np.float64, copy=False), W.shape[1]
    if MEMORY not in local or not np.array_equal(local[MEMORY][0], columns):
        square = np.asarray(X.data, dtype=np.float64) ** 2 * columns[X.indices]
        local[MEMORY] = columns, np.add.reduceat(np.append(square, 0.0), X.indptr[:-1]) * (np.diff(X.indptr) > 0)
    table, square, lost = np.ascontiguousarray((H * columns).T), local[MEMORY][1], np.empty(len(W))
    target = np.asarray(x @ table)
    charge, violation = _rows_down(
        W, target, table.T @ H.T, np.ascontiguousarray(H.T), columns, patterns.rows, patterns.starts, patterns.missing[:, :1],
        weight, square, *penalty, *inner, lost,
    )  # fmt: skip
    loss = charge + float(weight @ np.maximum(lost, ROUNDING * square))
    weighted = weight[:, None] * W
    cross = np.asarray(x.T @ weighted)
    return loss, violation, weighted.T @ W, np.zeros((1, k, k)), cross


def divergence(X, patterns, weight, W, H, columns, beta, penalty, steps, local):
    """As the kernel for arrays; divergences other than that of Kullback and Leibler need every product, chunk by chunk."""
    _check(X)
    (n, d), k = X.shape, W.shape[1]
    if beta == 1.0:
        above, below = np.zeros((d, k)), np.zeros((1, k))
        table = np.ascontiguousarray(H.T)
        loss = _stored_down(
            X.data, X.indices, X.indptr, weight, W, table, columns, columns @ table, *penalty, steps, above, below[0]
        )
        return loss, above, below
    if beta == 2.0 and not steps:  # the loss alone, which needs no product of a cell that is not stored
        loss, *_, cross = least_squares(X, patterns, weight, W, H, columns, penalty, (0, 0.0, False), local)
        return loss, cross, np.zeros((1, k))
    above, below, loss, size = np.zeros((d, k)), np.zeros((d, k)), 0.0, max(CHUNK // d, 16)
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        x = X[np.arange(rows.start, rows.stop)].toarray().astype(np.float64)
        loss += chunk_down(x, weight[rows], W[rows], H, columns, beta, penalty, steps, False, above, below)
    return loss, above, below


@jit_sums
def _dot(a, b):
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@jit_sums
def _log_loss(x, ratio, n):
    """Σ x log(ratio) − x of so many cells."""
    total = 0.0
    for p in range(n):
        total += x[p] * log(max(ratio[p], LEAST)) - x[p]
    return total


@jit
def _stored_down(data, indices, indptr, weight, W, table, columns, whole, l1, l2, steps, above, below):
    k, loss, most = W.shape[1], 0.0, 0
    for i in range(len(W)):
        most = max(most, indptr[i + 1] - indptr[i])
    up, cells, ratio = np.empty(k), np.empty(most), np.empty(most)
    for i in range(len(W)):
        w = W[i]
        for _ in range(steps):
            up[:] = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                h = table[indices[p]]
                r = columns[indices[p]] * data[p] / max(_dot(w, h), TINY)
                for a in range(k):
                    up[a] += r * h[a]
            for a in range(k):
                under = whole[a] + l1
                if l2 > 0.0:  # above = below t + fine t², as in `stepped`
                    under = 0.5 * under + np.sqrt(0.25 * under * under + up[a] * l2 * w[a])
                w[a] *= up[a] / (under if under != 0.0 else TINY)
        total = _dot(w, whole)
        for p in range(indptr[i], indptr[i + 1]):
            j, x = indices[p], np.float64(data[p])
            r = x / max(_dot(w, table[j]), TINY)
            cells[p - indptr[i]], ratio[p - indptr[i]] = columns[j] * x, r
            r *= weight[i]
            row = above[j]
            for a in range(k):
                row[a] += r * w[a]
        total += _log_loss(
            cells, ratio, indptr[i + 1] - indptr[i]
        )  # by itself, so that logarithms are taken by vectors
        for a in range(k):
            total += w[a] * (l1 + 0.5 * l2 * w[a])
            below[a] += weight[i] * w[a]
        loss += weight[i] * total
    return loss
