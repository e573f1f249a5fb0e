"""Products of small matrices with wide ones, where a call of BLAS costs more than its work.

times:      A X,       A (n, k) and X (k, lanes)
add_outer:  += X Yᵀ,   X and Y (n, lanes)
"""

import numpy as np

from .jit import jit, jit_sums

__all__ = ["add_outer", "times"]

MOST_TIMES, MOST_OUTER = 12, 32  # rows beyond which BLAS is faster


@jit
def times(a, x, out):
    """Put A X into `out`."""
    if len(a) > MOST_TIMES:
        np.dot(a, x, out)
    else:
        _times(a, x, out)


@jit
def add_outer(x, y, part, total):
    """Add X Yᵀ to `total`; `part` has its shape."""
    if len(x) > MOST_OUTER:
        np.dot(x, y.T, part)
        for i in range(len(x)):
            for j in range(len(x)):
                total[i, j] += part[i, j]
    else:
        _add_outer(x, y, total)


@jit_sums
def _times(a, x, out):
    n, k = a.shape
    for j in range(n):
        to, i = out[j], 2 - k % 2
        x0, x1, a0, a1 = x[0], x[i - 1], a[j, 0], a[j, i - 1] if i == 2 else 0.0
        for l in range(to.size):
            to[l] = a0 * x0[l] + a1 * x1[l]
        while i + 4 <= k:  # rows of X at once: every sum is read and written once for all of them
            x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
            a0, a1, a2, a3 = a[j, i], a[j, i + 1], a[j, i + 2], a[j, i + 3]
            for l in range(to.size):
                to[l] += a0 * x0[l] + a1 * x1[l] + a2 * x2[l] + a3 * x3[l]
            i += 4
        if i < k:
            x0, x1, a0, a1 = x[i], x[i + 1], a[j, i], a[j, i + 1]
            for l in range(to.size):
                to[l] += a0 * x0[l] + a1 * x1[l]


@jit_sums
def _add_outer(x, y, total):
    n, even = len(x), len(x) - len(x) % 2
    for i in range(0, even, 2):
        for j in range(0, even, 2):
            _add_four(x[i], x[i + 1], y[j], y[j + 1], total[i : i + 2, j : j + 2])
    for i in range(n if even < n else 0):
        down, across = 0.0, 0.0
        for l in range(x.shape[1]):
            down += x[i, l] * y[even, l]
            across += x[even, l] * y[i, l]
        total[i, even] += down
        total[even, i] += across if i < even else 0.0


@jit_sums
def _add_four(x0, x1, y0, y1, total):
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for l in range(x0.size):
        a += x0[l] * y0[l]
        b += x0[l] * y1[l]
        c += x1[l] * y0[l]
        d += x1[l] * y1[l]
    total[0, 0] += a
    total[0, 1] += b
    total[1, 0] += c
    total[1, 1] += d
