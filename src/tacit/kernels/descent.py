"""Coordinate descent on quadratics with penalties on absolute values: argmax_d g·d − ½ dᵀ A d − Σ_j c_j |x_j + d_j|."""

import numpy as np

from .jit import jit

__all__ = ["shrunken_step"]

SWEEPS, ENOUGH = 1000, 1e-12


@jit
def shrunken_step(A, g, x, c):
    """The d that maximises it; every coordinate in turn is set to its best, until none moves by a share of its curvature."""
    n = len(g)
    d, rest = np.zeros(n), g.copy()
    for sweep in range(SWEEPS):
        most = 0.0
        for j in range(n):
            if A[j, j] <= 0.0:
                continue
            before = x[j] + d[j]
            aim = rest[j] + A[j, j] * before
            after = np.sign(aim) * max(abs(aim) - c[j], 0.0) / A[j, j]
            step = after - before
            if step != 0.0:
                d[j] = after - x[j]
                for i in range(n):
                    rest[i] -= A[j, i] * step
                most = max(most, A[j, j] * step * step)
        if sweep == 0:
            first = most
        if most <= ENOUGH * first:
            break
    return d
