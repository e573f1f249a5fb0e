"""Gaussian log densities and moments of complete rows.

    log N(x | μ, Σ) = −½ ‖(x − μ) P‖² + log|P| − ½ d log 2π,    Σ⁻¹ = P Pᵀ, P upper triangular
    S₀ = Σ r,  S₁ = Σ r (x − o),  S₂ = Σ r (x − o)(x − o)ᵀ        about a fixed origin o

Rows are taken in tiles that stay in cache and are laid out (feature, row), so that every loop runs over rows whatever
the number of features or classes. `P` is applied in strips of columns: a strip that ends at column e needs only the
first e features, which halves the work of the triangular product.
"""

import numpy as np

from .jit import jit

TILE = 120
PACKED = 32  # up to this many features, moments are products with all pairs x_i x_j as columns


@jit
def spread(values, rows, start, out):
    """out[rows[start:]] = values, by a plain copy where the rows are consecutive."""
    m = values.size
    first = rows[start]
    if rows[start + m - 1] - first == m - 1:
        for i in range(m):
            out[first + i] = values[i]
    else:
        for i in range(m):
            out[rows[start + i]] = values[i]


@jit
def gather(values, rows, start, out):
    """out = values[rows[start:]], by a plain copy where the rows are consecutive."""
    m = out.size
    first = rows[start]
    if rows[start + m - 1] - first == m - 1:
        for i in range(m):
            out[i] = values[first + i]
    else:
        for i in range(m):
            out[i] = values[rows[start + i]]


@jit
def multiply(a, b, out):
    for i in range(out.size):
        out[i] = a[i] * b[i]


@jit
def load(X, rows, start, tile, origin):
    """Rows[start:] less the origin, as (features, rows) into the flat `tile`."""
    m = min(TILE, rows.size - start)
    d = X.shape[1]
    out = tile[: d * m].reshape(d, m)
    for i in range(m):
        row = rows[start + i]
        for j in range(d):
            out[j, i] = X[row, j] - origin[j]
    return out


@jit
def log_prob_full(X, rows, origin, strips, shift, constant, width, out):
    """out[k, rows] = log N(x | μ_k, Σ_k); `shift` is (μ − o)P, `constant` the log normaliser."""
    d = X.shape[1]
    n_classes = shift.shape[0]
    group = max(1, min(n_classes, 32768 // (width * TILE)))
    tile = np.empty(d * TILE, X.dtype)
    product = np.empty(group * width * TILE, X.dtype)
    distance = np.empty((n_classes, TILE), X.dtype)
    for start in range(0, rows.size, TILE):
        x = load(X, rows, start, tile, origin)
        m = x.shape[1]
        distance[:] = 0.0
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
                    k = first + a // w
                    b = shift[k, s + a % w]
                    row = y[a]
                    total = distance[k]
                    for i in range(m):
                        t = row[i] - b
                        total[i] += t * t
        for k in range(n_classes):
            for i in range(m):
                distance[k, i] = constant[k] - 0.5 * distance[k, i]
            spread(distance[k, :m], rows, start, out[k])


@jit
def moments_full(X, rows, origin, resp, s0, s1, s2):
    """Add S₀, S₁ and S₂ of the rows, weighted by resp (classes, all rows), to the float64 outputs."""
    if X.shape[1] <= PACKED:
        _moments_packed(X, rows, origin, resp, s0, s1, s2)
    else:
        _moments_strips(X, rows, origin, resp, s0, s1, s2)


@jit
def load_resp(resp, rows, start, m, flat):
    """The tile's responsibilities (classes, m) in the working precision."""
    n_classes = resp.shape[0]
    r = flat[: n_classes * m].reshape(n_classes, m)
    for k in range(n_classes):
        gather(resp[k], rows, start, r[k])
    return r


@jit
def _moments_packed(X, rows, origin, resp, s0, s1, s2):
    d = X.shape[1]
    n_classes = resp.shape[0]
    p = 1 + d + d * (d + 1) // 2
    flat = np.empty(p * TILE, X.dtype)
    tile = np.empty(d * TILE, X.dtype)
    r = np.empty((TILE, n_classes), X.dtype)
    part = np.empty((p, n_classes), X.dtype)
    total = np.zeros((p, n_classes))
    for start in range(0, rows.size, TILE):
        x = load(X, rows, start, tile, origin)
        m = x.shape[1]
        features = flat[: p * m].reshape(p, m)
        features[0] = 1.0
        for j in range(d):
            multiply(features[0], x[j], features[1 + j])
        at = 1 + d
        for j in range(d):
            for h in range(j + 1):
                multiply(x[j], x[h], features[at])
                at += 1
        for k in range(n_classes):
            gather(resp[k], rows, start, r[:m, k])
        np.dot(features, r[:m], part)
        total += part
    for k in range(n_classes):
        s0[k] += total[0, k]
        at = 1 + d
        for j in range(d):
            s1[k, j] += total[1 + j, k]
            for h in range(j + 1):
                s2[k, j, h] += total[at, k]
                if h < j:
                    s2[k, h, j] += total[at, k]
                at += 1


@jit
def _moments_strips(X, rows, origin, resp, s0, s1, s2):
    d = X.shape[1]
    n_classes = resp.shape[0]
    width = 16
    group = max(1, min(n_classes, 32768 // (width * TILE)))
    tile = np.empty(d * TILE, X.dtype)
    flat = np.empty(n_classes * TILE, X.dtype)
    weighted = np.empty(group * width * TILE, X.dtype)
    product = np.empty(group * width * d, X.dtype)
    one = np.ones(TILE, X.dtype)
    zeroth_order = np.empty(n_classes, X.dtype)
    first_order = np.empty((n_classes, d), X.dtype)
    for start in range(0, rows.size, TILE):
        x = load(X, rows, start, tile, origin)
        m = x.shape[1]
        r = load_resp(resp, rows, start, m, flat)
        np.dot(r, x.T, first_order)
        s1 += first_order
        np.dot(r, one[:m], zeroth_order)
        s0 += zeroth_order
        for s in range(0, d, width):
            e = min(s + width, d)
            w = e - s
            for first in range(0, n_classes, group):
                size = (min(first + group, n_classes) - first) * w
                a = weighted[: size * m].reshape(size, m)
                for c in range(size):
                    rk = r[first + c // w]
                    xj = x[s + c % w]
                    for i in range(m):
                        a[c, i] = rk[i] * xj[i]
                y = product[: size * e].reshape(size, e)
                np.dot(a, x[:e].T, y)
                for c in range(size):
                    target = s2[first + c // w, s + c % w]
                    for j in range(e):
                        target[j] += y[c, j]
    for k in range(n_classes):
        for s in range(0, d, width):
            e = min(s + width, d)
            for j in range(s, e):
                for h in range(s):
                    s2[k, h, j] = s2[k, j, h]


@jit
def log_prob_diag(X, rows, origin, scale, shift, constant, complete, out):
    """out[k, rows] = Σ_j constant_kj − ½ (x_j scale_kj − shift_kj)² over the observed cells of each row."""
    d = X.shape[1]
    tile = np.empty(d * TILE, X.dtype)
    whole = constant.sum(axis=1)
    buffer = np.empty(TILE, X.dtype)
    for start in range(0, rows.size, TILE):
        x = load(X, rows, start, tile, origin)
        total = buffer[: x.shape[1]]
        for k in range(shift.shape[0]):
            if complete:
                total[:] = whole[k]
                _subtract_distance(x, scale[k], shift[k], total)
            else:
                total[:] = 0.0
                _subtract_observed(x, scale[k], shift[k], constant[k], total)
            spread(total, rows, start, out[k])


@jit
def log_prob_tied(X, rows, origin, triangle, shift, constant, out):
    """As log_prob_full where all classes share P, given transposed: rows are whitened once."""
    d = X.shape[1]
    tile = np.empty(d * TILE, X.dtype)
    flat = np.empty(d * TILE, X.dtype)
    buffer = np.empty(TILE, X.dtype)
    one = np.ones(d, X.dtype)
    for start in range(0, rows.size, TILE):
        x = load(X, rows, start, tile, origin)
        y = flat[: x.size].reshape(x.shape)
        np.dot(triangle, x, y)
        total = buffer[: x.shape[1]]
        for k in range(shift.shape[0]):
            total[:] = constant[k]
            _subtract_distance(y, one, shift[k], total)
            spread(total, rows, start, out[k])


@jit
def _subtract_distance(x, scale, shift, out):
    """out −= ½ Σ_j (x_j scale_j − shift_j)², four features at a time to spare the trips to `out`."""
    d, m = x.shape
    half = scale.dtype.type(0.5)
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
            out[i] -= half * ((t0 * t0 + t1 * t1) + (t2 * t2 + t3 * t3))
        j += 4
    while j < d:
        xj, sj, bj = x[j], scale[j], shift[j]
        for i in range(m):
            t = xj[i] * sj - bj
            out[i] -= half * (t * t)
        j += 1


@jit
def _subtract_observed(x, scale, shift, constant, out):
    """As `_subtract_distance` with the normaliser folded in, over observed cells."""
    half = scale.dtype.type(0.5)
    zero = scale.dtype.type(0.0)
    for j in range(x.shape[0]):
        xj, sj, bj, c = x[j], scale[j], shift[j], constant[j]
        for i in range(xj.size):
            t = xj[i] * sj - bj
            term = c - half * (t * t)
            out[i] += term if term == term else zero


@jit
def moments_diag(X, rows, origin, resp, complete, s0, s1, s2):
    """Add Σ r, Σ r (x − o) and Σ r (x − o)² per class and feature over observed cells."""
    d = X.shape[1]
    n_classes = resp.shape[0]
    width = 3 * d if not complete else 2 * d + 1
    features = np.ones((TILE, width), X.dtype)
    flat = np.empty(n_classes * TILE, X.dtype)
    part = np.empty((n_classes, width), X.dtype)
    for start in range(0, rows.size, TILE):
        m = min(TILE, rows.size - start)
        for i in range(m):
            row = rows[start + i]
            for j in range(d):
                value = X.dtype.type(X[row, j] - origin[j])
                features[i, j] = value
                features[i, d + j] = value * value
            if not complete:
                for j in range(d):
                    seen = features[i, j] == features[i, j]
                    features[i, 2 * d + j] = seen
                    if not seen:
                        features[i, j] = 0.0
                        features[i, d + j] = 0.0
        r = load_resp(resp, rows, start, m, flat)
        np.dot(r, features[:m], part)
        for k in range(n_classes):
            for j in range(d):
                s0[k, j] += part[k, 2 * d + (0 if complete else j)]
                s1[k, j] += part[k, j]
                s2[k, j] += part[k, d + j]
