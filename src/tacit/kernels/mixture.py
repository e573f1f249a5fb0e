"""Responsibilities: r_ik = w_i π_k p(x_i|k) / Σ_j π_j p(x_i|j), and the log of that sum."""

import math

import numpy as np

from .jit import jit

LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
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
