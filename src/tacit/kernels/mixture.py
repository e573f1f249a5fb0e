"""Responsibilities: r_ik = w_i π_k p(x_i|k) / Σ_j π_j p(x_i|j), the log of that sum, and quick exp and log1p for them."""

import math

import numpy as np

from . import EXPECT, MOMENTS
from .jit import jit, jit_sums

LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
FAINT = 1e-30
ROUND = 6755399441055744.0  # 1.5 · 2⁵²: adding and subtracting it rounds to an integer


@jit
def exp(x):
    """Exponential of x ≤ 709 by a polynomial, to 1e-15; 0 below −708."""
    shifted = x * LOG2_E + ROUND
    whole = shifted - ROUND
    r = (x - whole * LN2_HIGH) - whole * LN2_LOW
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return p * power if x > -708.0 else 0.0


ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)  # the bits of √½
EXPONENT = np.int64(-(1 << 52))
WHOLE = np.int64(0x4330000000000000)  # the bits of 2⁵²: a small integer added to them is added to the number


@jit
def log1p(t):
    """Logarithm of 1 + t for t ≥ 0 by a series, to 1e-15 of its value."""
    y = 1.0 + t
    bits = np.float64(y).view(np.int64)
    above = bits - ROOT_HALF
    power = np.int64((above >> 52) | WHOLE).view(np.float64) - 4503599627370496.0
    m = np.int64(bits - (above & EXPONENT)).view(np.float64)  # from √½ to √2
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 2.0 / 21.0
    p = p * z + 2.0 / 19.0
    p = p * z + 2.0 / 17.0
    p = p * z + 2.0 / 15.0
    p = p * z + 2.0 / 13.0
    p = p * z + 2.0 / 11.0
    p = p * z + 2.0 / 9.0
    p = p * z + 2.0 / 7.0
    p = p * z + 2.0 / 5.0
    p = p * z + 2.0 / 3.0
    # 1 + t was rounded: what it lost is added where it matters.
    lost = (t - (y - 1.0)) / y
    return power * LN2_HIGH + (power * LN2_LOW + lost + s * z * p + 2.0 * s)


@jit
def normalise(joint, log_weight, weight, labels, evidence):
    """Turn log densities (classes, rows) into weighted responsibilities in place; fill log evidence per row.

    A row with a label belongs to that class, and its evidence is the joint's: the complete-data case.
    """
    n_classes, n_rows = joint.shape
    top = np.empty(n_rows)
    total = np.zeros(n_rows)
    for i in range(n_rows):
        if labels[i] >= 0:
            known = joint[labels[i], i]
            for k in range(n_classes):
                joint[k, i] = -np.inf
            joint[labels[i], i] = known
    top[:] = -np.inf
    for k in range(n_classes):
        row = joint[k]
        for i in range(n_rows):
            row[i] += log_weight[k]
            top[i] = row[i] if row[i] > top[i] else top[i]
    for k in range(n_classes):
        row = joint[k]
        for i in range(n_rows):
            e = exp(row[i] - top[i])
            row[i] = e
            total[i] += e
    loglik = 0.0
    for i in range(n_rows):
        evidence[i] = top[i] + math.log(total[i])
        loglik += weight[i] * evidence[i]
        total[i] = weight[i] / total[i]
    for k in range(n_classes):
        row = joint[k]
        for i in range(n_rows):
            row[i] *= total[i]
    return loglik


@jit
def drop_faint(joint):
    """Set responsibilities that no sum feels to 0: in single precision they are subnormal, which many CPUs take slowly."""
    for k in range(joint.shape[0]):
        row = joint[k]
        for i in range(row.size):
            row[i] = row[i] if row[i] > FAINT else 0.0


@jit
def settle(joint, batch, mode, log_weight, weight, labels, out):
    """What a mode does with the log densities of some rows, which become responsibilities unless the mode is SCORE."""
    n_classes, n = joint.shape
    if mode == EXPECT:
        loglik = normalise(joint, log_weight, weight[batch], labels[batch], np.empty(n))
        drop_faint(joint)
        return loglik
    # Loops instead of slices on the left: those take seconds to compile, for the sake of a message about shapes.
    first = batch[0]
    if follow_on(batch):
        for k in range(n_classes):
            row, beside = joint[k], out[k, first : first + n]
            for i in range(n):
                if mode == MOMENTS:
                    row[i] = beside[i]
                else:
                    beside[i] = row[i]
        return 0.0
    for k in range(n_classes):
        for i in range(n):
            if mode == MOMENTS:
                joint[k, i] = out[k, batch[i]]
            else:
                out[k, batch[i]] = joint[k, i]
    return 0.0


@jit
def follow_on(rows):
    """Whether rows lie one after the other."""
    even = True
    for i in range(rows.size):
        even &= rows[i] == rows[0] + i
    return even


@jit_sums
def add_up(x):
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total
