"""Half a sweep of a factorisation by conjugate gradients, where all vectors are points; see `tacit.kernels.factorization`."""

import numpy as np

from .factorization import _place
from .jit import jit_sums

__all__ = ["half_sweep_by_gradients", "padded"]

LANES = 8  # of a vector


def half_sweep_by_gradients(X, weight, target, z, offset, prior, shift, noise, base, n_steps, out):
    """`half_sweep` for points, by a few conjugate gradients from where they are: a cell costs K at each, not K².

    Parameters
    ----------
    X, weight, target, prior, shift, noise, out
        As in `half_sweep`.
    z : (n_other, ·)
        The other side's (1, v), `padded`, in the precision of the weights.
    offset : (n_other,)
        Its o.
    base : (2 + K, 2 + K) or (0, 0)
        Sums of moments of (1, o, v) that every row has besides.
    n_steps : int
        Steps at most.
    """
    told, kind = np.zeros((len(out), 3)), weight.dtype
    longest = int(np.diff(X.indptr).max(initial=0))
    given = z, offset, padded(padded(prior, kind).T, kind), shift, kind.type(1.0 / noise), base
    cells = X.indptr, X.indices, weight, target.astype(kind, copy=False)
    _by_gradients(*cells, *given, n_steps, out, np.empty((longest, z.shape[1]), kind), told)
    return told


def padded(rows, kind):
    """Rows in a precision, with zeros at their ends up to whole vectors."""
    wide = np.zeros((len(rows), -(-rows.shape[1] // LANES) * LANES), kind)
    wide[:, : rows.shape[1]] = rows
    return wide


@jit_sums
def _times(Z, weight, begin, n, prior, x, out):
    """Out = P x + Σ w z (z·x)."""
    q = len(x)
    for r in range(q):
        total = prior[r, 0] * x[0]
        for s in range(1, q):
            total += prior[r, s] * x[s]
        out[r] = total
    for p in range(n):
        along = Z[p, 0] * x[0]
        for k in range(1, q):
            along += Z[p, k] * x[k]
        along *= weight[begin + p]
        for k in range(q):
            out[k] += along * Z[p, k]


@jit_sums
def _by_gradients(indptr, indices, weight, target, z, offset, prior, shift, per_noise, base, n_steps, out, Z, told):
    (n, q), width, kind = out.shape, z.shape[1], z.dtype
    x, rest, way, image = np.zeros(width, kind), np.zeros(width, kind), np.empty(width, kind), np.empty(width, kind)
    P, aside = prior / per_noise, np.zeros(q, kind)  # all in units of σ²
    for r in range(q):
        for s in range(q if len(base) else 0):
            P[r, s] += base[_place(r), _place(s)]
        if len(base):
            aside[r] = base[_place(r), 1]
    for a in range(n):
        begin, n_cells, h = indptr[a], indptr[a + 1] - indptr[a], shift[a if len(shift) > 1 else 0]
        for r in range(q):
            x[r], rest[r] = out[a, r], h[r] / per_noise - aside[r]
        for p in range(n_cells):
            i = indices[begin + p]
            both = weight[begin + p] * (target[begin + p] - offset[i])
            for k in range(width):
                Z[p, k] = z[i, k]
                rest[k] += both * Z[p, k]
        _times(Z, weight, begin, n_cells, P, x, image)
        left = kind.type(0.0)
        for r in range(width):
            rest[r] -= image[r]
            way[r] = rest[r]
            left += rest[r] * rest[r]
        first = left
        for _ in range(n_steps):
            if left <= 1e-14 * first:
                break
            _times(Z, weight, begin, n_cells, P, way, image)
            along, fresh = kind.type(0.0), kind.type(0.0)
            for r in range(width):
                along += way[r] * image[r]
            step = left / along
            for r in range(width):
                x[r] += step * way[r]
                rest[r] -= step * image[r]
                fresh += rest[r] * rest[r]
            for r in range(width):
                way[r] = rest[r] + fresh / left * way[r]
            left = fresh
        _tell(Z, weight, target, offset, indices, begin, n_cells, base, prior, h, x, told[a])
        for r in range(q):
            out[a, r] = x[r]


@jit_sums
def _tell(Z, weight, target, offset, indices, begin, n, base, prior, h, x, told):
    """The squared errors of a row, and x·P x − 2 x·P h."""
    error, charge, q, width = 0.0, 0.0, len(h), len(x)
    for p in range(n):
        fitted = Z[p, 0] * x[0]
        for k in range(1, width):
            fitted += Z[p, k] * x[k]
        wrong = target[begin + p] - offset[indices[begin + p]] - fitted
        error += weight[begin + p] * wrong * wrong
    for r in range(q):
        charge -= 2.0 * x[r] * h[r]
        for s in range(q):
            charge += float(x[r]) * x[s] * prior[r, s]
            if len(base):
                error += float(x[r]) * x[s] * base[_place(r), _place(s)]
        if len(base):
            error += 2.0 * x[r] * base[_place(r), 1]
    if len(base):
        error += base[1, 1]
    told[0], told[2] = error, charge
