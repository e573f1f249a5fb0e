"""Sums of Euclidean distances between rows, by cluster: S_ik = Σ_{j in k} w_j ‖x_i − x_j‖.

Squares are expanded, ‖x‖² + ‖y‖² − 2 x·y, with the products made by BLAS. Where that cancels, the distances of a row to a cluster
are taken from the differences instead, so that equal rows are exactly 0 apart.
"""

import math

from .jit import jit, jit_sums

__all__ = ["cluster_sums"]

CANCELS = 1e-7
"""Share of ‖x‖² + ‖y‖² below which a square has lost about half of its digits."""


@jit_sums
def _expanded(product, square, squares, weight, start, stop):
    """Σ w d over a stretch of rows, and whether no square cancels."""
    total, least = 0.0, math.inf
    for j in range(start, stop):
        both = square + squares[j]
        apart = both - 2.0 * product[j]
        least = min(least, apart - CANCELS * both)
        total += weight[j] * math.sqrt(max(apart, 0.0))
    return total, least >= 0.0


@jit_sums
def _direct(x, X, weight, start, stop):
    """Σ w d over a stretch of rows, from differences."""
    total = 0.0
    for j in range(start, stop):
        square = 0.0
        for c in range(len(x)):
            square += (x[c] - X[j, c]) ** 2
        total += weight[j] * math.sqrt(square)
    return total


@jit
def cluster_sums(product, X, squares, weight, cuts, first, out):
    """Sums of the distances of some rows to all rows of every cluster.

    Parameters
    ----------
    product : (m, n)
        X[first : first + m] @ X.T.
    X : (n, d)
        Rows, those of a cluster side by side.
    squares, weight : (n,)
        Their squared lengths, and weights.
    cuts : (K + 1,) int
        Where clusters begin.
    first : int
        The row that `product` begins with.
    out : (m, K)
        The sums.
    """
    for i in range(len(product)):
        own = first + i  # not compared with itself: its square cancels always
        for k in range(len(cuts) - 1):
            total = 0.0
            for side in range(2):
                start = cuts[k] if side == 0 else max(own + 1, cuts[k])
                stop = min(own, cuts[k + 1]) if side == 0 else cuts[k + 1]
                if start < stop:
                    part, sound = _expanded(product[i], squares[own], squares, weight, start, stop)
                    total += part if sound else _direct(X[own], X, weight, start, stop)
            out[i, k] = total
