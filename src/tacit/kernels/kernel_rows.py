"""Rows of a kernel matrix, k(x_i, x_t) for all t, made when they are first asked for and kept while there is room.

A store has so many places; `places` says where a row is, or −1, `owners` whose row a place holds, and `clocks` when it was last
used: where there is no free place, the row that has rested longest gives up its own.
"""

import math

import numpy as np

from .gram import power
from .jit import jit
from .mixture import exp

__all__ = [
    "LINEAR",
    "POLYNOMIAL",
    "RBF",
    "SIGMOID",
    "TOGETHER",
    "all_rows",
    "expansion",
    "make_rows",
    "sparse_expansion",
]

LINEAR, POLYNOMIAL, RBF, SIGMOID = 0, 1, 2, 3
CHUNK = 2048  # products of four rows that stay in the nearest cache while features are added up
TOGETHER = 4  # rows that are made together, which costs hardly more than one

LOG2_E = np.float32(1.44269504088896341)
LN2_HIGH = np.float32(0.693359375)
LN2_LOW = np.float32(-2.12194440e-4)
ROUND = np.float32(12582912.0)  # 1.5 · 2²³: adding and subtracting it rounds to an integer
C2, C3, C4 = np.float32(0.5), np.float32(1.6666665459e-1), np.float32(4.1665795894e-2)
C5, C6, C7 = np.float32(8.3334519073e-3), np.float32(1.3981999507e-3), np.float32(1.9875691500e-4)
ONE, LEAST = np.float32(1.0), np.float32(-87.0)
BIAS, MANTISSA = np.int32(127), np.int32(23)


@jit
def exp_single(x):
    """Exponential of x ≤ 0 in single precision, to 2e-7 of its value; e⁻⁸⁷ below −87."""
    x = x if x > LEAST else LEAST
    shifted = x * LOG2_E + ROUND
    whole = shifted - ROUND
    r = (x - whole * LN2_HIGH) - whole * LN2_LOW
    p = C7 * r + C6
    p = p * r + C5
    p = p * r + C4
    p = p * r + C3
    p = p * r + C2
    p = p * r * r + r + ONE
    return p * np.int32((np.int32(whole) + BIAS) << MANTISSA).view(np.float32)


@jit
def _add(first, second, third, fourth, own, x, y, z, w):
    a0, a1, a2, a3 = own[0, 0], own[0, 1], own[0, 2], own[0, 3]
    b0, b1, b2, b3 = own[1, 0], own[1, 1], own[1, 2], own[1, 3]
    c0, c1, c2, c3 = own[2, 0], own[2, 1], own[2, 2], own[2, 3]
    d0, d1, d2, d3 = own[3, 0], own[3, 1], own[3, 2], own[3, 3]
    for t in range(len(x)):
        xt, yt, zt, wt = x[t], y[t], z[t], w[t]
        first[t] += a0 * xt + a1 * yt + a2 * zt + a3 * wt
        second[t] += b0 * xt + b1 * yt + b2 * zt + b3 * wt
        third[t] += c0 * xt + c1 * yt + c2 * zt + c3 * wt
        fourth[t] += d0 * xt + d1 * yt + d2 * zt + d3 * wt


@jit
def _products(flipped, own, start, stop, outs):
    """x_i · x_t of four rows and a chunk of all, into arrays of its size; loops run over rows."""
    first, second, third, fourth = outs
    first[:], second[:], third[:], fourth[:] = 0.0, 0.0, 0.0, 0.0
    for f in range(0, flipped.shape[0], 4):
        x, y, z, w = flipped[f], flipped[f + 1], flipped[f + 2], flipped[f + 3]
        _add(
            first, second, third, fourth, own[:, f : f + 4], x[start:stop], y[start:stop], z[start:stop], w[start:stop]
        )


@jit
def _sparse_products(data, indices, starts, width, i, out):
    """x_i · x_t of all rows of sparse cells."""
    dense = np.zeros(width)
    for p in range(starts[i], starts[i + 1]):
        dense[indices[p]] = data[p]
    for t in range(len(out)):
        total = 0.0
        for p in range(starts[t], starts[t + 1]):
            total += data[p] * dense[indices[p]]
        out[t] = total


@jit
def _radial(out, square, squares, minus_gamma, minus_twice):
    for t in range(len(out)):
        apart = square + squares[t] + minus_twice * out[t]
        apart = apart if apart > 0 else apart - apart
        out[t] = exp_single(minus_gamma * apart)


@jit
def _radial_double(out, square, squares, gamma):
    for t in range(len(out)):
        apart = square + squares[t] - 2.0 * out[t]
        out[t] = exp(-gamma * (apart if apart > 0.0 else 0.0))


@jit
def _finish(out, i, start, squares, kind, settings):
    """Turn products into kernel values."""
    _transform(out, squares[i], squares[start : start + len(out)], kind, settings)


@jit
def _transform(out, square, some, kind, settings):
    gamma, coef0, degree = settings
    if kind == RBF:
        if out.itemsize == 4:
            _radial(out, square, some, np.float32(-gamma), np.float32(-2.0))
        else:
            _radial_double(out, square, some, gamma)
    elif kind == POLYNOMIAL:
        for t in range(len(out)):
            out[t] = power(gamma * out[t] + coef0, int(degree))
    elif kind == SIGMOID:
        for t in range(len(out)):
            out[t] = math.tanh(gamma * out[t] + coef0)


@jit
def _place(i, places, owners, clocks, clock):
    """A place for the row of i: a free one, or that of the row that has rested longest."""
    place = np.argmin(clocks)  # free places have clock −1
    if owners[place] >= 0:
        places[owners[place]] = -1
    places[i], owners[place], clocks[place] = place, i, clock
    return place


@jit
def make_rows(wanted, store, places, owners, clocks, clock, rows, squares, kind, settings, spare):
    """Make the rows of up to four numbers, of which the first is not −1 and none is in the store."""
    flipped, data, indices, starts, width = rows
    n = store.shape[1]
    if width:
        out = store[_place(wanted[0], places, owners, clocks, clock)]
        _sparse_products(data, indices, starts, width, wanted[0], out)
        _finish(out, wanted[0], 0, squares, kind, settings)
        return
    own = np.zeros((TOGETHER, flipped.shape[0]), flipped.dtype)
    at = np.full(TOGETHER, -1)
    for k in range(TOGETHER):
        if wanted[k] >= 0:
            at[k] = _place(wanted[k], places, owners, clocks, clock)
            own[k] = flipped[:, wanted[k]]
    outs = (
        store[at[0]], store[at[1]] if at[1] >= 0 else spare, store[at[2]] if at[2] >= 0 else spare,
        store[at[3]] if at[3] >= 0 else spare,
    )  # fmt: skip
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        first, second, third, fourth = outs
        parts = first[start:stop], second[start:stop], third[start:stop], fourth[start:stop]
        _products(flipped, own, start, stop, parts)
        for k in range(TOGETHER):
            if at[k] >= 0:
                _finish(store[at[k], start:stop], wanted[k], start, squares, kind, settings)


@jit
def _weigh(total, first, second, third, fourth, weights):
    a, b, c, d = weights[0], weights[1], weights[2], weights[3]
    for t in range(len(total)):
        total[t] += a * first[t] + b * second[t] + c * third[t] + d * fourth[t]


@jit
def expansion(flipped, squares, centers, center_squares, weights, kind, settings, out):
    """Set out[t] = Σ_j w_j k(c_j, x_t).

    Parameters
    ----------
    flipped : ndarray of shape (d, n)
        Features of x, in a multiple of 4.
    squares, center_squares : ndarray of shape (n,), (m,)
        Squared lengths.
    centers : ndarray of shape (m, d)
    weights : ndarray of shape (m,)
    kind, settings
        The kernel.
    out : ndarray of shape (n,)
    """
    n, m = flipped.shape[1], len(centers)
    values = np.empty((TOGETHER, CHUNK), flipped.dtype)
    own, some = np.zeros((TOGETHER, flipped.shape[0]), flipped.dtype), np.zeros(TOGETHER)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        total = out[start:stop]
        total[:] = 0.0
        size = stop - start
        outs = values[0, :size], values[1, :size], values[2, :size], values[3, :size]
        for j in range(0, m, TOGETHER):
            some[:] = 0.0
            for k in range(min(TOGETHER, m - j)):
                own[k], some[k] = centers[j + k], weights[j + k]
            _products(flipped, own, start, stop, outs)
            for k in range(min(TOGETHER, m - j)):
                _transform(values[k, :size], center_squares[j + k], squares[start:stop], kind, settings)
            _weigh(total, outs[0], outs[1], outs[2], outs[3], some)


@jit
def all_rows(flipped, squares, kind, settings, out):
    """Set `out` (n, n) to k(x_i, x_t) of all rows; `flipped` and `squares` are as in `expansion`."""
    n = flipped.shape[1]
    own, spare = np.zeros((TOGETHER, flipped.shape[0]), flipped.dtype), np.empty(n, flipped.dtype)
    for i in range(0, n, TOGETHER):
        size = min(TOGETHER, n - i)
        for k in range(size):
            own[k] = flipped[:, i + k]
        second, third = out[i + 1] if size > 1 else spare, out[i + 2] if size > 2 else spare
        fourth = out[i + 3] if size > 3 else spare
        _products(flipped, own, i, n, (out[i, i:], second[i:], third[i:], fourth[i:]))
        for k in range(size):
            _finish(out[i + k, i:], i + k, i, squares, kind, settings)
            for t in range(i + size, n):
                out[t, i + k] = out[i + k, t]


@jit
def sparse_expansion(rows, squares, chosen, weights, kind, settings, out):
    """As `expansion`, of sparse rows: the centres are the rows that are chosen."""
    _, data, indices, starts, width = rows
    values = np.empty(len(out))
    out[:] = 0.0
    for j in range(len(chosen)):
        _sparse_products(data, indices, starts, width, chosen[j], values)
        _finish(values, chosen[j], 0, squares, kind, settings)
        for t in range(len(out)):
            out[t] += weights[j] * values[t]
