"""Gaussian rows without missing values that matter: complete rows, or independent columns.

    log N(x | μ, Σ) = −½ ‖(x − μ) P‖² + log|P| − ½ d log 2π,    Σ⁻¹ = P Pᵀ, P upper triangular
    S₀ = Σ r,  S₁ = Σ r (x − o),  S₂ = Σ r (x − o)(x − o)ᵀ        about a fixed origin o

Each kernel makes one pass in one of three modes: SCORE fills `out` (classes, rows) with log densities; MOMENTS reads
responsibilities from `out` and adds up moments; EXPECT makes the responsibilities itself from class weights, row weights and
labels, adds up moments and returns the log-likelihood, so that rows are read once and nothing of size rows × classes is written.

Rows are taken in tiles that stay in cache, laid out (feature, row), so that every loop runs over rows whatever the number of
features or classes. P is applied in strips of columns: a strip that ends at column e needs only the first e features,
which halves the work of the triangular product.
"""

import numpy as np

from . import MOMENTS, SCORE
from .jit import jit
from .mixture import add_up, settle
from .small import add_outer

TILE = 120
LONG_TILE = 240  # rows of a tile where there are no products of features
PACKED = 32  # up to this many features, moments are one product with all pairs x_i x_j as rows
GROUP = 32768  # elements of a product that stay in cache


@jit
def load(X, rows, start, tile, origin):
    """Rows[start:] less the origin, as (features, rows) at the head of the flat `tile`."""
    return load_some(X, rows, start, min(TILE, rows.size - start), tile, origin)


@jit
def load_some(X, rows, start, m, tile, origin):
    d = X.shape[1]
    out = tile[: d * m].reshape(d, m)
    i = 0
    while i + 4 <= m:  # four rows at a time write whole vectors
        a, b, c, e = X[rows[start + i]], X[rows[start + i + 1]], X[rows[start + i + 2]], X[rows[start + i + 3]]
        for j in range(d):
            o, target = origin[j], out[j]
            target[i] = a[j] - o
            target[i + 1] = b[j] - o
            target[i + 2] = c[j] - o
            target[i + 3] = e[j] - o
        i += 4
    while i < m:
        a = X[rows[start + i]]
        for j in range(d):
            out[j, i] = a[j] - origin[j]
        i += 1
    return out


@jit
def multiply(a, b, out):
    for i in range(out.size):
        out[i] = a[i] * b[i]


@jit
def copy(a, out):
    # A slice on the left takes seconds to compile, for the sake of a message about shapes.
    for i in range(out.size):
        out[i] = a[i]


@jit
def settle_tile(joint, rows, start, mode, log_weight, weight, labels, out, r):
    """As `settle` for a tile; r (rows, classes) is filled unless the mode is SCORE."""
    n_classes, m = joint.shape
    batch, loglik = rows[start : start + m], 0.0
    if mode != MOMENTS:
        loglik = settle(joint, batch, mode, log_weight, weight, labels, out)
    if mode != SCORE:
        for k in range(n_classes):
            for i in range(m):
                r[i, k] = out[k, batch[i]] if mode == MOMENTS else joint[k, i]
    return loglik


@jit
def workspace(d, n_classes, width, dtype):
    """Scratch for one tile: features, a product and its factor, log densities, responsibilities, and sums over features."""
    p = 1 + d + (d * (d + 1) // 2 if d <= PACKED else 0)
    product = np.empty(max(min(n_classes, GROUP // (width * TILE)), 1) * width * max(d, TILE), dtype)
    joint, r = np.empty(n_classes * TILE), np.empty((TILE, n_classes), dtype)
    part, total = np.empty((p, n_classes), dtype), np.zeros((p, n_classes))
    return np.empty(p * TILE, dtype), product, np.empty(product.size, dtype), joint, r, part, total


@jit
def full(X, rows, origin, strips, shift, constant, width, mode, log_weight, weight, labels, out, s0, s1, s2):
    """Classes with their own covariances; `shift` is (μ − o)P, `constant` the log normaliser."""
    n_classes, d = shift.shape
    flat, product, weighted, joint, r, part, total = workspace(d, n_classes, width, X.dtype)
    loglik = 0.0
    for start in range(0, rows.size, TILE):
        x = load(X, rows, start, flat, origin)
        m = x.shape[1]
        log_prob = joint[: n_classes * m].reshape(n_classes, m)
        if mode != MOMENTS:
            score_full(x, strips, shift, constant, width, product, log_prob)
        loglik += settle_tile(log_prob, rows, start, mode, log_weight, weight, labels, out, r)
        if mode != SCORE:
            add_moments(x, flat, r[:m], weighted, product, part, total, s2)
    if mode != SCORE:
        unpack_moments(total, d <= PACKED, s0, s1, s2)
    return loglik


@jit
def add_moments(x, flat, r, weighted, product, part, total, s2):
    """Add Σ r [x, 1, x_j x_h …] of a tile to `total`, which lacks the pairs where there are too many; they go to s2."""
    d, m = x.shape
    p = total.shape[0]
    features = flat[: p * m].reshape(p, m)
    features[d] = 1.0
    if p > d + 1:
        at = d + 1
        for j in range(d):
            for h in range(j + 1):
                multiply(x[j], x[h], features[at])
                at += 1
    else:
        add_strips(x, r.T, weighted, product, s2)
    np.dot(features, r, part)
    total += part


@jit
def score_full(x, strips, shift, constant, width, product, out):
    """out[k] = constant_k − ½ ‖x P_k − shift_k‖²."""
    d, m = x.shape
    n_classes = shift.shape[0]
    group = max(min(n_classes, GROUP // (width * TILE)), 1)
    half = shift.dtype.type(0.5)
    for k in range(n_classes):
        out[k] = constant[k]
    offset = 0
    for s in range(0, d, width):
        e = min(s + width, d)
        w = e - s
        for first in range(0, n_classes, group):
            size = (min(first + group, n_classes) - first) * w
            y = product[: size * m].reshape(size, m)
            np.dot(strips[offset : offset + size * e].reshape(size, e), x[:e], y)
            offset += size * e
            for a in range(size):
                b, row, target = shift[first + a // w, s + a % w], y[a], out[first + a // w]
                for i in range(m):
                    t = row[i] - b
                    target[i] -= half * (t * t)


@jit
def add_strips(x, r, weighted, product, s2):
    """Add the lower triangles, by strips, of Σ r x xᵀ to s2."""
    d, m = x.shape
    n_classes = r.shape[0]
    width = 16
    group = max(min(n_classes, GROUP // (width * TILE)), 1)
    for s in range(0, d, width):
        e = min(s + width, d)
        w = e - s
        for first in range(0, n_classes, group):
            size = (min(first + group, n_classes) - first) * w
            a = weighted[: size * m].reshape(size, m)
            for c in range(size):
                k, xj = first + c // w, x[s + c % w]
                for i in range(m):
                    a[c, i] = r[k, i] * xj[i]
            y = product[: size * e].reshape(size, e)
            np.dot(a, x[:e].T, y)
            for c in range(size):
                target = s2[first + c // w, s + c % w]
                for j in range(e):
                    target[j] += y[c, j]


@jit
def unpack_moments(total, packed, s0, s1, s2):
    """Spread sums over features [x, 1, x_j x_h …] into moments, and make s2 symmetric."""
    n_classes, d = s1.shape
    for k in range(n_classes):
        s0[k] += total[d, k]
        at = d + 1
        for j in range(d):
            s1[k, j] += total[j, k]
            for h in range(j + 1):
                if packed:
                    s2[k, j, h] += total[at, k]
                    at += 1
                s2[k, h, j] = s2[k, j, h]


@jit
def tied(X, rows, origin, triangle, shift, constant, mode, log_weight, weight, labels, out, s0, s1):
    """Classes that share P, where `triangle` is Pᵀ/√2 and `shift` (μ − o)P/√2: rows are whitened once."""
    d = X.shape[1]
    n_classes = shift.shape[0]
    flat = np.empty((d + 1) * TILE, X.dtype)
    white = np.empty(d * TILE, X.dtype)
    joint = np.empty(n_classes * TILE)
    buffer = np.empty(TILE, X.dtype)
    one = np.ones(d, X.dtype)
    r = np.empty((TILE, n_classes), X.dtype)
    part = np.empty((d + 1, n_classes), X.dtype)
    loglik = 0.0
    for start in range(0, rows.size, TILE):
        x = load(X, rows, start, flat, origin)
        m = x.shape[1]
        log_prob = joint[: n_classes * m].reshape(n_classes, m)
        if mode != MOMENTS:
            y = white[: d * m].reshape(d, m)
            np.dot(triangle, x, y)
            for k in range(n_classes):
                line = buffer[:m]
                line[:] = constant[k]
                subtract_distance(y, one, shift[k], line)
                copy(line, log_prob[k])
        loglik += settle_tile(log_prob, rows, start, mode, log_weight, weight, labels, out, r)
        if mode == SCORE:
            continue
        features = flat[: (d + 1) * m].reshape(d + 1, m)
        features[d] = 1.0
        np.dot(features, r[:m], part)
        for k in range(n_classes):
            s0[k] += part[d, k]
            for j in range(d):
                s1[k, j] += part[j, k]
    return loglik


@jit
def diag(X, rows, origin, scale, shift, constant, complete, mode, log_weight, weight, labels, out, count, s0, s1, s2):
    """Classes with independent columns: log p = Σ_j constant_j − (x_j scale_j − shift_j)² over observed cells.

    `count` is the weight of each class; s0, s1 and s2 (classes, d) are moments over observed cells.
    """
    d = X.shape[1]
    n_classes = shift.shape[0]
    p = 2 * d if complete else 3 * d
    flat, buffer = np.empty(p * LONG_TILE, X.dtype), np.empty(LONG_TILE, X.dtype)
    joint, flat_r = np.empty(n_classes * LONG_TILE), np.empty(n_classes * LONG_TILE, X.dtype)
    whole = np.zeros(n_classes)
    for k in range(n_classes):
        for j in range(d):
            whole[k] += constant[k, j]
    part, total, size = np.empty((p, n_classes), X.dtype), np.zeros((p, n_classes)), np.zeros(n_classes)
    loglik = 0.0
    for start in range(0, rows.size, LONG_TILE):
        m = min(LONG_TILE, rows.size - start)
        x = load_some(X, rows, start, m, flat, origin)
        log_prob, r = joint[: n_classes * m].reshape(n_classes, m), flat_r[: n_classes * m].reshape(n_classes, m)
        if mode != MOMENTS:
            for k in range(n_classes):
                line = buffer[:m]
                if complete:
                    line[:] = whole[k]
                    subtract_distance(x, scale[k], shift[k], line)
                else:
                    line[:] = 0.0
                    subtract_observed(x, scale[k], shift[k], constant[k], line)
                copy(line, log_prob[k])
        loglik += settle(log_prob, rows[start : start + m], mode, log_weight, weight, labels, out)
        if mode == SCORE:
            continue
        features = flat[: p * m].reshape(p, m)
        for j in range(d):
            if not complete:
                mark_observed(x[j], features[2 * d + j])
            multiply(x[j], x[j], features[d + j])
        for k in range(n_classes):
            copy(log_prob[k], r[k])
            size[k] += add_up(log_prob[k])
        add_outer(features, r, part, total)
    if mode != SCORE:
        for k in range(n_classes):
            count[k] += size[k]
            for j in range(d):
                s0[k, j] += size[k] if complete else total[2 * d + j, k]
                s1[k, j] += total[j, k]
                s2[k, j] += total[d + j, k]
    return loglik


@jit
def mark_observed(x, seen):
    """1 in `seen` where x is observed; 0 in both where it is not."""
    zero, one = x.dtype.type(0.0), x.dtype.type(1.0)
    for i in range(x.size):
        there = x[i] == x[i]
        seen[i] = one if there else zero
        x[i] = x[i] if there else zero


@jit
def subtract_distance(x, scale, shift, out):
    """Out −= Σ_j (x_j scale_j − shift_j)², four features at a time to spare the trips to `out`."""
    d, m = x.shape
    j = 0
    while j + 4 <= d:
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        s0, s1, s2, s3 = scale[j], scale[j + 1], scale[j + 2], scale[j + 3]
        b0, b1, b2, b3 = shift[j], shift[j + 1], shift[j + 2], shift[j + 3]
        for i in range(m):
            t0 = x0[i] * s0 - b0
            t1 = x1[i] * s1 - b1
            t2 = x2[i] * s2 - b2
            t3 = x3[i] * s3 - b3
            out[i] = (((out[i] - t0 * t0) - t1 * t1) - t2 * t2) - t3 * t3
        j += 4
    while j < d:
        xj, sj, bj = x[j], scale[j], shift[j]
        for i in range(m):
            t = xj[i] * sj - bj
            out[i] -= t * t
        j += 1


@jit
def subtract_observed(x, scale, shift, constant, out):
    """As `subtract_distance` with the normaliser folded in, over observed cells."""
    zero = out.dtype.type(0.0)
    for j in range(x.shape[0]):
        xj, sj, bj, c = x[j], scale[j], shift[j], constant[j]
        for i in range(xj.size):
            t = xj[i] * sj - bj
            term = c - t * t
            out[i] += term if term == term else zero
