"""Half a sweep of a factorisation by conjugate gradients, where all vectors are points; see `tacit.kernels.factorization`.

With M = σ² P + what every row has besides = L Lᵀ, a row's equations in y = Lᵀx are

    (I + Σ_b w_ab ẑ_b ẑ_bᵀ) y = g + Σ_b w_ab (t_ab − o_b) ẑ_b,    ẑ = L⁻¹ (1, v)

which M no longer makes ill-conditioned and costs nothing.
"""

import numpy as np
from scipy.linalg import solve_triangular

from .jit import jit_sums

__all__ = ["half_sweep_by_gradients", "padded", "whitened"]

LANES = 16  # of a vector
TOGETHER = 4  # cells that are gone through at once


def whitened(points, metric, kind):
    """The factor L of a metric M (q, q), its inverse, and L⁻¹ of points (n, q), `padded`."""
    root = np.linalg.cholesky(metric)
    inverse = solve_triangular(root, np.eye(len(root)), lower=True)
    return root, inverse, padded(points @ inverse.T, kind)


def padded(rows, kind):
    """Rows in a precision, with zeros at their ends up to whole vectors."""
    wide = np.zeros((len(rows), -(-rows.shape[1] // LANES) * LANES), kind)
    wide[:, : rows.shape[1]] = rows
    return wide


def half_sweep_by_gradients(X, weight, target, root, inverse, z, offset, prior, shift, noise, base, n_steps, out):
    """`half_sweep` for points, by a few conjugate gradients from where they are: a cell costs K at each, not K².

    Parameters
    ----------
    X, weight, target, prior, shift, noise, out
        As in `half_sweep`.
    root, inverse, z : (q, q), (q, q) and (n_other, ·)
        L of σ² P + base, L⁻¹, and ẑ of the other side's (1, v), as `whitened` makes them, in the precision of the weights.
    offset : (n_other,)
        Its o.
    base : (2 + K, 2 + K) or (0, 0)
        Sums of moments of (1, o, v) that every row has besides.
    n_steps : int
        Steps at most.
    """
    kind, q, told = weight.dtype, len(root), np.zeros((len(out), 3))
    aside = np.delete(base[:, 1], 1) if len(base) else 0.0
    g, y = padded((noise * shift - aside) @ inverse.T, kind), padded(out @ root, kind)
    cells = X.indptr, X.indices, weight, target.astype(kind, copy=False)
    Z = np.empty((int(np.diff(X.indptr).max(initial=0)) + TOGETHER, z.shape[1]), kind)
    _by_gradients(*cells, z, offset, g, n_steps, y, Z, told[:, 0])
    np.dot(y[:, :q], inverse, out=out)
    told[:, 2] = np.einsum("nk,nk->n", out, out @ prior - 2.0 * shift)
    told[:, 0] += (base[1, 1] if len(base) else 0.0) - noise * told[:, 2]
    return told


@jit_sums
def _by_gradients(indptr, indices, weight, target, z, offset, g, n_steps, y, Z, value):
    """Move y; `value` is what is least at the solution, Σ w (t − o − ẑ·y)² + y·y − 2 y·g."""
    width, zero = z.shape[1], z.dtype.type(0.0)
    rest, way, image = np.empty(width, z.dtype), np.empty(width, z.dtype), np.empty(width, z.dtype)
    cells = np.zeros((4, len(Z)), z.dtype)
    w, minus, told, left_over = cells[0], cells[1], cells[2], cells[3]
    nothing = np.zeros(len(Z), z.dtype)
    for a in range(len(y)):
        begin, n, x, h = indptr[a], indptr[a + 1] - indptr[a], y[a], g[a if len(g) > 1 else 0]
        whole, total, left = -(-n // TOGETHER) * TOGETHER, 0.0, zero
        for p in range(n):
            i = indices[begin + p]
            w[p], minus[p], told[p] = (
                weight[begin + p],
                -weight[begin + p],
                weight[begin + p] * (target[begin + p] - offset[i]),
            )
            for k in range(width):
                Z[p, k] = z[i, k]
        for p in range(n, whole):
            w[p], minus[p], told[p] = zero, zero, zero
            for k in range(width):
                Z[p, k] = zero
        for k in range(width):
            rest[k] = h[k] - x[k]
            total += x[k] * (x[k] - 2.0 * h[k])
        _pass(Z, whole, told, minus, x, rest, left_over)
        for p in range(n):
            total += left_over[p] * left_over[p] / w[p] if w[p] > 0 else zero
        for k in range(width):
            way[k] = rest[k]
            left += rest[k] * rest[k]
        first = left
        for _ in range(n_steps):
            if left <= 1e-14 * first:
                break
            for k in range(width):
                image[k] = way[k]
            _pass(Z, whole, nothing, w, way, image, left_over)
            along, fresh = zero, zero
            for k in range(width):
                along += way[k] * image[k]
            step = left / along
            total -= step * left
            for k in range(width):
                x[k] += step * way[k]
                rest[k] -= step * image[k]
                fresh += rest[k] * rest[k]
            turn = fresh / left
            for k in range(width):
                way[k] = rest[k] + turn * way[k]
            left = fresh
        value[a] = total


@jit_sums
def _pass(Z, n, start, weight, x, out, found):
    """Add Σ c ẑ to `out`, c = start + weight ẑ·x, some cells at a time; c is `found`."""
    zero = Z.dtype.type(0.0)
    for p in range(0, n, TOGETHER):
        z0, z1, z2, z3 = Z[p], Z[p + 1], Z[p + 2], Z[p + 3]
        c0, c1, c2, c3 = zero, zero, zero, zero
        for k in range(len(x)):
            c0 += z0[k] * x[k]
            c1 += z1[k] * x[k]
            c2 += z2[k] * x[k]
            c3 += z3[k] * x[k]
        c0 = start[p] + weight[p] * c0
        c1 = start[p + 1] + weight[p + 1] * c1
        c2 = start[p + 2] + weight[p + 2] * c2
        c3 = start[p + 3] + weight[p + 3] * c3
        found[p], found[p + 1], found[p + 2], found[p + 3] = c0, c1, c2, c3
        for k in range(len(x)):
            out[k] += c0 * z0[k] + c1 * z1[k] + c2 * z2[k] + c3 * z3[k]
