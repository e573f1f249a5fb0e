"""Student t rows: Gaussian rows whose precision is scaled by a hidden u ~ Gamma(ν/2, ν/2).

With δ the squared distance of the o observed cells in units of Σ_OO,

    log t(x_O | k) = c(ν, o) − ½ log|Σ_OO| − ½ (ν + o) log(1 + δ/ν)
    E[u] = (ν + o) / (ν + δ),    E[log u] = ψ((ν + o)/2) − log(ν/2) − log(1 + δ/ν)

Moments are those of the Gaussian kernels with r E[u] for r, but Σ r C for the missing cells: C/u is the covariance of what is
missing given u. Beside them stand Σ r and Σ r E[log u]. `constant` and `log_scale` are tables of c(ν, o) and of the first two
terms of E[log u], (classes, d + 1).
"""

import numpy as np

from . import SCORE
from .conditional import BATCH, add_first, add_spread, condition_batch, n_missing
from .conditional import workspace as batch_workspace
from .gaussian import PACKED, TILE, add_moments, load, score_full, settle_tile, unpack_moments, workspace
from .jit import jit
from .mixture import log1p, settle


@jit
def soften_tails(half, df, n_cells, constant, pull, log_y):
    """Turn −½ δ into log densities in place; fill E[u] and log(1 + δ/ν)."""
    rate, gain, power = -2.0 / df, (df + n_cells) / df, -0.5 * (df + n_cells)
    for i in range(half.size):
        t = half[i] * rate
        value = log1p(t)
        pull[i] = gain / (1.0 + t)
        log_y[i] = value
        half[i] = constant + power * value


@jit
def weigh(r, pull, log_y, base, r_u):
    """Fill r E[u]; return Σ r, Σ r E[log u] and Σ r E[u], the last of what single precision has not yet rounded."""
    a0, a1, b0, b1, c0, c1 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    n = r.size
    for i in range(0, n - 1, 2):  # two sums each: additions wait for each other
        a0 += r[i]
        a1 += r[i + 1]
        b0 += r[i] * log_y[i]
        b1 += r[i + 1] * log_y[i + 1]
        c0 += r[i] * pull[i]
        c1 += r[i + 1] * pull[i + 1]
    if n % 2:
        a0 += r[n - 1]
        b0 += r[n - 1] * log_y[n - 1]
        c0 += r[n - 1] * pull[n - 1]
    for i in range(n):
        r_u[i] = r[i] * pull[i]
    return a0 + a1, base * (a0 + a1) - (b0 + b1), c0 + c1


@jit
def student(
    X, rows, origin, strips, shift, log_root, width, df, constant, log_scale,
    mode, log_weight, weight, labels, out, count, log_u, s0, s1, s2,
):  # fmt: skip
    """Complete rows of classes with their own scale matrices; `shift` is (μ − o)P, `log_root` is log|P|."""
    n_classes, d = shift.shape
    flat, product, weighted, joint, r, part, total = workspace(d, n_classes, width, X.dtype)
    pull, log_y = np.empty((n_classes, TILE)), np.empty((n_classes, TILE))
    zero = np.zeros(n_classes, X.dtype)
    loglik = 0.0
    for start in range(0, rows.size, TILE):
        x = load(X, rows, start, flat, origin)
        m = x.shape[1]
        log_prob = joint[: n_classes * m].reshape(n_classes, m)
        score_full(x, strips, shift, zero, width, product, log_prob)
        for k in range(n_classes):
            soften_tails(log_prob[k], df[k], d, constant[k, d] + log_root[k], pull[k, :m], log_y[k, :m])
        loglik += settle_tile(log_prob, rows, start, mode, log_weight, weight, labels, out, r)
        if mode == SCORE:
            continue
        for k in range(n_classes):
            n, log_sum, pulled = weigh(r[:m, k], pull[k, :m], log_y[k, :m], log_scale[k, d], r[:m, k])
            count[k] += n
            log_u[k] += log_sum
            s0[k] += pulled  # ν is found from what is left of this less Σ r E[log u], of the order 1/ν²
        add_moments(x, flat, r[:m], weighted, product, part, total, s2)
    if mode != SCORE:
        unpack_moments(total, d <= PACKED, np.zeros(n_classes), s1, s2)
    return loglik


@jit
def student_conditional(
    X, rows, starts, missing, mean, precision, covariance, log_det, df, constant, log_scale,
    mode, log_weight, weight, labels, out, count, log_u, s0, s1, s2,
):  # fmt: skip
    """Rows with missing cells; expected moments are about each class's mean."""
    n_classes, d = mean.shape
    work = batch_workspace(n_classes, d)
    _, _, _, joint, log_dets = work
    log_y, pull, r_u = np.empty((n_classes, BATCH)), np.empty((n_classes, BATCH)), np.empty(BATCH)
    loglik = 0.0
    start = 0
    while start < rows.size:
        batch, bounds, deviation, spread = condition_batch(
            X, rows, start, starts, missing, mean, precision, covariance, log_det, work
        )
        for k in range(n_classes):
            for s in range(bounds.shape[0]):
                at, o = slice(bounds[s, 0], bounds[s, 1]), d - n_missing(missing, bounds[s, 2])
                joint[k, at] *= -0.5
                unit = constant[k, o] - 0.5 * log_dets[k, s]
                soften_tails(joint[k, at], df[k], o, unit, pull[k, at], log_y[k, at])
        loglik += settle(joint[:, : batch.size], batch, mode, log_weight, weight, labels, out)
        start += batch.size
        if mode == SCORE:
            continue
        for k in range(n_classes):
            r = joint[k, : batch.size]
            for s in range(bounds.shape[0]):
                at, o = slice(bounds[s, 0], bounds[s, 1]), d - n_missing(missing, bounds[s, 2])
                total, log_sum, _ = weigh(r[at], pull[k, at], log_y[k, at], log_scale[k, o], r_u[at])
                count[k] += total
                log_u[k] += log_sum
            s0[k] += add_first(r_u[: batch.size], deviation[k], work, s1[k], s2[k])
            add_spread(r, missing, bounds, spread[k], s2[k])
    return loglik
