"""Soft memberships of centres: one pass of soft k-means.

    r_ik = w_i exp(−β ‖x_i − c_k‖²) / Σ_l exp(−β ‖x_i − c_l‖²)

Differences are squared, not expanded, and in double precision: with a large β, small differences of large distances decide. Tiles
are laid out (column, row), so that everything vectorises over rows; sums are matrix products.
"""

import math

import numpy as np

from .gaussian import subtract_distance
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
        Set to the responsibilities and to (1/β) log Σ_k exp(−β ‖x − c_k‖²), unless they are empty.
    counts : (K,) float64
        Σ r is added.
    cells, sums : (K, d) float64
        Σ r s and Σ r s (x − origin) over observed cells are added.

    Returns
    -------
    float
        Σ w (1/β) log Σ_k exp(−β ‖x − c_k‖²).
    """
    n_rows, d = X.shape
    n_centers = len(center)
    cell_space, mask_space, joint_space = np.empty(d * TILE), np.empty(d * TILE), np.empty(n_centers * TILE)
    scale, nearest, log_sum = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    zero, unknown, one = np.zeros(n_centers), np.full(TILE, -1), np.ones(d)
    total = 0.0
    for a in range(0, n_rows, TILE):
        n = min(TILE, n_rows - a)
        x, mask = cell_space[: d * n].reshape(d, n), mask_space[: d * n].reshape(d, n)
        joint = joint_space[: n_centers * n].reshape(n_centers, n)
        missing = _turn(X, a, n, origin, x, mask, scale)
        joint[:] = 0.0
        for k in range(n_centers):
            if missing:
                _subtract_observed(x, mask, center[k], joint[k])
            else:
                subtract_distance(x, one, center[k], joint[k])
        _exponents(joint, scale, stiffness, nearest)
        normalise(joint, zero, weight[a : a + n], unknown[:n], log_sum[:n])
        for r in range(n):
            log_sum[r] = log_sum[r] / stiffness - nearest[r]
            total += weight[a + r] * log_sum[r]
        if len(resp):
            resp[a : a + n] = joint.T
            evidence[a : a + n] = log_sum[:n]
        _add_up(joint, x, mask, scale, missing, counts, cells, sums)
    return total


@jit
def _turn(X, a, n, origin, x, mask, scale):
    """Rows about the origin as columns, 0 in missing cells, which the mask tells, and their scales; whether any is missing."""
    d, missing = X.shape[1], False
    for r in range(n):
        observed = 0.0
        for j in range(d):
            value = np.float64(X[a + r, j]) - origin[j]
            there = not math.isnan(value)
            x[j, r] = value if there else 0.0
            mask[j, r] = 1.0 if there else 0.0
            observed += mask[j, r]
        scale[r] = d / max(observed, 1.0)
        missing |= observed < d
    return missing


@jit
def _subtract_observed(x, mask, center, out):
    for j in range(len(center)):
        row, seen, at = x[j], mask[j], center[j]
        for r in range(len(out)):
            out[r] -= seen[r] * (row[r] - at) ** 2


@jit
def _exponents(joint, scale, stiffness, nearest):
    """Turn −squared distances over observed cells into −β times what they exceed the least by: 0 for the nearest, whatever β."""
    n_centers, n = joint.shape
    nearest[:] = np.inf
    for k in range(n_centers):
        for r in range(n):
            joint[k, r] *= -scale[r]
            nearest[r] = min(nearest[r], joint[k, r])
    for k in range(n_centers):
        for r in range(n):
            joint[k, r] = stiffness * (nearest[r] - joint[k, r])


@jit
def _add_up(resp, x, mask, scale, missing, counts, cells, sums):
    n_centers, n = resp.shape
    for k in range(n_centers):
        total = 0.0
        for r in range(n):
            total += resp[k, r]
        counts[k] += total
        if not missing:
            cells[k] += total
    if missing:
        for k in range(n_centers):
            for r in range(n):
                resp[k, r] *= scale[r]
        cells += np.dot(resp, mask.T)
    sums += np.dot(resp, x.T)
