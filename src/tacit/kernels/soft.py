"""Soft memberships of centres: one pass of soft k-means.

    r_ik = w_i exp(−β ‖x_i − c_k‖²) / Σ_l exp(−β ‖x_i − c_l‖²)

Distances and sums are matrix products of tiles laid out (column, row), in double precision: with a large β, small differences of
large distances decide.
"""

import math

import numpy as np

from .jit import jit
from .mixture import normalise

__all__ = ["soft"]

TILE = 256  # rows multiplied at once


@jit
def soft(X, weight, origin, center, stiffness, resp, evidence, counts, cells, sums):
    """One pass over rows, which may have missing cells.

    Parameters
    ----------
    X : (n, d)
        Cells; NaN is missing. A row's squared distance is that over its observed cells times s = d over their number.
    weight : (n,) float64
        Weights of rows.
    origin : (d,) float64
        What rows and centres are taken about.
    center : (K, d) float64
        Centres less the origin.
    stiffness : float
        β.
    resp, evidence : (n, K) and (n,) float64, or empty
        Set to the responsibilities and to log Σ_k exp(−β ‖x − c_k‖²), unless they are empty.
    counts : (K,) float64
        Σ r is added.
    cells, sums : (K, d) float64
        Σ r s and Σ r s (x − origin) over observed cells are added.

    Returns
    -------
    float
        Σ w log Σ_k exp(−β ‖x − c_k‖²).
    """
    n_rows, d = X.shape
    n_centers = len(center)
    square = center * center
    norms = square.sum(axis=1)
    tile, seen = np.empty(d * TILE), np.empty(d * TILE)
    product, other = np.empty(n_centers * TILE), np.empty(n_centers * TILE)
    length, scale, log_sum = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    zero, unknown = np.zeros(n_centers), np.full(TILE, -1)
    loglik = 0.0
    for a in range(0, n_rows, TILE):
        n = min(TILE, n_rows - a)
        x, mask = tile[: d * n].reshape(d, n), seen[: d * n].reshape(d, n)
        joint, own = product[: n_centers * n].reshape(n_centers, n), other[: n_centers * n].reshape(n_centers, n)
        holes = _turn(X, a, n, origin, x, mask, length, scale)
        np.dot(center, x, joint)
        if holes:
            np.dot(square, mask, own)
        else:
            for k in range(n_centers):
                own[k] = norms[k]
        _exponents(joint, own, stiffness, length, scale)
        loglik += normalise(joint, zero, weight[a : a + n], unknown[:n], log_sum[:n])
        if len(resp):
            resp[a : a + n] = joint.T
            evidence[a : a + n] = log_sum[:n]
        _add_up(joint, x, mask, scale, holes, counts, cells, sums)
    return loglik


@jit
def _turn(X, a, n, origin, x, mask, length, scale):
    """Rows about the origin as columns with 0 in missing cells, their squared lengths and scales; whether any cell is missing."""
    d, holes = X.shape[1], False
    for r in range(n):
        total, observed = 0.0, 0.0
        for j in range(d):
            value = np.float64(X[a + r, j]) - origin[j]
            there = not math.isnan(value)
            value = value if there else 0.0
            x[j, r] = value
            mask[j, r] = 1.0 if there else 0.0
            total += value * value
            observed += 1.0 if there else 0.0
        length[r], scale[r] = total, d / max(observed, 1.0)
        holes |= observed < d
    return holes


@jit
def _exponents(joint, own, stiffness, length, scale):
    """Turn x·c into −β s ‖x − c‖²."""
    for k in range(len(joint)):
        row, base = joint[k], own[k]
        for r in range(len(row)):
            row[r] = -stiffness * scale[r] * (length[r] - 2.0 * row[r] + base[r])


@jit
def _add_up(resp, x, mask, scale, holes, counts, cells, sums):
    n_centers, n = resp.shape
    for k in range(n_centers):
        total = 0.0
        for r in range(n):
            total += resp[k, r]
        counts[k] += total
        if not holes:
            cells[k] += total
    if holes:
        for k in range(n_centers):
            for r in range(n):
                resp[k, r] *= scale[r]
        cells += np.dot(resp, mask.T)
    sums += np.dot(resp, x.T)
