"""Passes that are matrix products and little else, so that NumPy is the compiled form.

    linear:  log p(x | k) = x·a_k + s·b_k + c(x),    s_j = 1 where x_j is observed (Bernoulli, Poisson)

A missing cell drops out of the sums.
"""

import numpy as np

from . import EXPECT, MOMENTS, SCORE, kernel

__all__ = ["about_means", "linear", "row_order", "scatter", "settle", "square_lengths"]


def _zero_filled(X):
    """The rows in float64 with 0 in missing cells, and the mask of observed cells."""
    seen = ~np.isnan(X)
    return np.where(seen, X, 0.0).astype(np.float64), seen.astype(np.float64)


def settle(log_prob, mode, log_weight, weight, labels, out):
    """Responsibilities (classes, rows) for the modes that need them, and the log-likelihood."""
    if mode == SCORE:
        out[:] = log_prob
    if mode != EXPECT:
        return out, 0.0
    log_prob = np.ascontiguousarray(log_prob)
    return log_prob, kernel("normalise")(log_prob, log_weight, weight, labels, np.empty(len(weight)))


def linear(X, slope, offset, base, mode, log_weight, weight, labels, out, count, s0, s1):
    """One pass; `base` (rows,) is c(x) or empty. s0 = Σ r s and s1 = Σ r x are (classes, d), `count` is Σ r."""
    x, seen = _zero_filled(X)
    log_prob = None if mode == MOMENTS else slope @ x.T + offset @ seen.T
    if log_prob is not None and len(base):
        log_prob += base
    resp, loglik = settle(log_prob, mode, log_weight, weight, labels, out)
    if mode != SCORE:
        count += resp.sum(axis=1)
        s0 += resp @ seen
        s1 += resp @ x
    return loglik


def square_lengths(X):
    """Σ_j x_j² of every row."""
    return (X**2).sum(axis=1)


def row_order(X):
    """The order of rows by their cells, the last column first."""
    return np.lexsort(X.T)


def about_means(X, means):
    """Rows about the means of their columns, missing cells at them, in double precision."""
    return np.where(np.isnan(X), 0.0, X - means)


def scatter(X, rows, origin, weight):
    """Σ_i w_i (x_i − o) and Σ_i w_i (x_i − o)(x_i − o)ᵀ over `rows`; `weight` has an entry for every row of X."""
    x, weight = (X, weight) if len(rows) == len(X) else (X[rows], weight[rows])
    # Single precision is kept, where products cost half as much: the difference is exact enough, sums of blocks are double.
    near = origin.astype(X.dtype, copy=False)
    x = x - near if near.any() else x
    weight = weight.astype(X.dtype, copy=False)
    total, first = weight.sum(dtype=np.float64), (weight @ x).astype(np.float64, copy=False)
    if (weight != 1.0).any():
        x = x * np.sqrt(weight)[:, None]
    # A matrix times itself costs half of a product.
    second = (x.T @ x).astype(np.float64, copy=False)
    return _moved(first, second, total, near - origin)


def _moved(first, second, total, shift):
    """Sums about an origin from those about it plus a shift, the rounding of the origin to the rows' precision."""
    if not shift.any():
        return first, second
    cross = np.outer(first, shift)
    return first + total * shift, second + cross + cross.T + total * np.outer(shift, shift)
