"""Products of small matrices with wide ones: BLAS loses to loops that hold four rows of either at once.

times:      A X_s,     A (n, n) and X (n, slices, lanes)
add_outer:  += X Yᵀ,   X (n, columns) and Y (k, columns)
"""

import numpy as np

from .jit import jit, jit_sums

__all__ = ["add_outer", "aligned", "times"]

MOST = 48  # rows beyond which BLAS is faster
LINE = 8  # numbers of a line of the cache


@jit
def aligned(size):
    """An empty flat array that begins where a line of the cache does: vectors that lie across two lines take two reads."""
    room = np.empty(size + LINE)
    begin = (-(room.ctypes.data // room.itemsize)) % LINE
    return room[begin : begin + size]


@jit
def times(a, x, s, out, q):
    """Put A X_s into slice q of `out`, (n, slices, lanes)."""
    if len(a) > MOST:
        out[:, q] = np.dot(a, np.ascontiguousarray(x[:, s]))
    elif len(a) < 4:
        _times_few(a, x, s, out, q)
    else:
        _times(a, x, s, out, q)


@jit_sums
def _times_few(a, x, s, out, q):
    n = len(a)
    p1, p2, w1, w2 = min(1, n - 1), n - 1, 1.0 if n > 1 else 0.0, 1.0 if n > 2 else 0.0
    x0, x1, x2 = x[0, s], x[p1, s], x[p2, s]
    for j in range(n):
        to, a0, a1, a2 = out[j, q], a[j, 0], a[j, p1] * w1, a[j, p2] * w2
        for l in range(to.size):
            to[l] = a0 * x0[l] + a1 * x1[l] + a2 * x2[l]


@jit_sums
def _times(a, x, s, out, q):
    n = len(a)
    last = (n - 1) % 4  # of the first rows of X: as many as leave a multiple of four
    p1, p2, p3 = min(1, last), min(2, last), min(3, last)
    w1, w2, w3 = 1.0 if last > 0 else 0.0, 1.0 if last > 1 else 0.0, 1.0 if last > 2 else 0.0
    j = 0
    while j < n:
        h = min(j, n - 4)  # the last four rows of A may have been among those before
        g, f, e = h + 1, h + 2, h + 3
        to0, to1, to2, to3 = out[h, q], out[g, q], out[f, q], out[e, q]
        x0, x1, x2, x3 = x[0, s], x[p1, s], x[p2, s], x[p3, s]
        a00, a01, a02, a03 = a[h, 0], a[h, p1] * w1, a[h, p2] * w2, a[h, p3] * w3
        a10, a11, a12, a13 = a[g, 0], a[g, p1] * w1, a[g, p2] * w2, a[g, p3] * w3
        a20, a21, a22, a23 = a[f, 0], a[f, p1] * w1, a[f, p2] * w2, a[f, p3] * w3
        a30, a31, a32, a33 = a[e, 0], a[e, p1] * w1, a[e, p2] * w2, a[e, p3] * w3
        for l in range(to0.size):
            y0, y1, y2, y3 = x0[l], x1[l], x2[l], x3[l]
            to0[l] = a00 * y0 + a01 * y1 + a02 * y2 + a03 * y3
            to1[l] = a10 * y0 + a11 * y1 + a12 * y2 + a13 * y3
            to2[l] = a20 * y0 + a21 * y1 + a22 * y2 + a23 * y3
            to3[l] = a30 * y0 + a31 * y1 + a32 * y2 + a33 * y3
        i = last + 1
        while i < n:
            x0, x1, x2, x3 = x[i, s], x[i + 1, s], x[i + 2, s], x[i + 3, s]
            a00, a01, a02, a03 = a[h, i], a[h, i + 1], a[h, i + 2], a[h, i + 3]
            a10, a11, a12, a13 = a[g, i], a[g, i + 1], a[g, i + 2], a[g, i + 3]
            a20, a21, a22, a23 = a[f, i], a[f, i + 1], a[f, i + 2], a[f, i + 3]
            a30, a31, a32, a33 = a[e, i], a[e, i + 1], a[e, i + 2], a[e, i + 3]
            for l in range(to0.size):
                y0, y1, y2, y3 = x0[l], x1[l], x2[l], x3[l]
                to0[l] += a00 * y0 + a01 * y1 + a02 * y2 + a03 * y3
                to1[l] += a10 * y0 + a11 * y1 + a12 * y2 + a13 * y3
                to2[l] += a20 * y0 + a21 * y1 + a22 * y2 + a23 * y3
                to3[l] += a30 * y0 + a31 * y1 + a32 * y2 + a33 * y3
            i += 4
        j += 4


@jit
def add_outer(x, y, part, total):
    """Add X Yᵀ to `total`; `part` has its shape."""
    n, k = len(x), len(y)
    if max(n, k) > MOST:
        np.dot(x, y.T, part)
    else:
        for i in range(0, n - n % 4, 4):
            for j in range(0, k - k % 4, 4):
                _sixteen(x[i], x[i + 1], x[i + 2], x[i + 3], y[j], y[j + 1], y[j + 2], y[j + 3], part[i : i + 4], j)
        for i in range(n - n % 4, n, 2):  # what is left over, in pairs of rows, the last of which may overlap
            for j in range(0, k, 2):
                _four(x, y, max(min(i, n - 2), 0), max(min(j, k - 2), 0), part)
        for j in range(k - k % 4, k, 2):
            for i in range(0, n - n % 4, 2):
                _four(x, y, i, max(min(j, k - 2), 0), part)
    for i in range(n):
        for j in range(k):
            total[i, j] += part[i, j]


@jit_sums
def _sixteen(x0, x1, x2, x3, y0, y1, y2, y3, part, j):
    zero = x0.dtype.type(0.0)
    a00 = a01 = a02 = a03 = a10 = a11 = a12 = a13 = zero
    a20 = a21 = a22 = a23 = a30 = a31 = a32 = a33 = zero
    for l in range(x0.size):
        p0, p1, p2, p3, q0, q1, q2, q3 = x0[l], x1[l], x2[l], x3[l], y0[l], y1[l], y2[l], y3[l]
        a00, a01, a02, a03 = a00 + p0 * q0, a01 + p0 * q1, a02 + p0 * q2, a03 + p0 * q3
        a10, a11, a12, a13 = a10 + p1 * q0, a11 + p1 * q1, a12 + p1 * q2, a13 + p1 * q3
        a20, a21, a22, a23 = a20 + p2 * q0, a21 + p2 * q1, a22 + p2 * q2, a23 + p2 * q3
        a30, a31, a32, a33 = a30 + p3 * q0, a31 + p3 * q1, a32 + p3 * q2, a33 + p3 * q3
    part[0, j], part[0, j + 1], part[0, j + 2], part[0, j + 3] = a00, a01, a02, a03
    part[1, j], part[1, j + 1], part[1, j + 2], part[1, j + 3] = a10, a11, a12, a13
    part[2, j], part[2, j + 1], part[2, j + 2], part[2, j + 3] = a20, a21, a22, a23
    part[3, j], part[3, j + 1], part[3, j + 2], part[3, j + 3] = a30, a31, a32, a33


@jit_sums
def _four(x, y, i, j, part):
    h, g = min(i + 1, len(x) - 1), min(j + 1, len(y) - 1)
    x0, x1, y0, y1 = x[i], x[h], y[j], y[g]
    a = b = c = d = x.dtype.type(0.0)
    for l in range(x0.size):
        p0, p1, q0, q1 = x0[l], x1[l], y0[l], y1[l]
        a, b, c, d = a + p0 * q0, b + p0 * q1, c + p1 * q0, d + p1 * q1
    part[i, j], part[i, g], part[h, j], part[h, g] = a, b, c, d
