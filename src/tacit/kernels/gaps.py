"""Squared distances of pairs of rows, added up cell by cell, so that nothing cancels; what covariances are made of.

D_ij = Σ_f (a_if − b_jf)²,    exp(−D),    Σ_ij W_ij (a_if − b_jf)² for every f
"""

from .jit import jit, jit_sums
from .mixture import exp

__all__ = ["decay", "square_gaps", "weigh_gaps"]


@jit
def square_gaps(A, flipped, out):
    """Set `out` (rows of A, rows of B) to squared distances; `flipped` is B with its features along the first axis."""
    for i in range(A.shape[0]):
        row = out[i]
        row[:] = 0.0
        for f in range(A.shape[1]):
            a, other = A[i, f], flipped[f]
            for j in range(len(row)):
                gap = a - other[j]
                row[j] += gap * gap


@jit
def decay(values, factor, out):
    """Set `out` to exp(−factor · values), for values that are not negative."""
    for i in range(values.shape[0]):
        row, made = values[i], out[i]
        for j in range(len(row)):
            made[j] = exp(-factor * row[j])


@jit_sums
def weigh_gaps(weights, A, flipped, out):
    """Add Σ_ij weights_ij (a_if − b_jf)² of every feature f to `out`."""
    for f in range(A.shape[1]):
        other, total = flipped[f], 0.0
        for i in range(A.shape[0]):
            a, row = A[i, f], weights[i]
            for j in range(len(row)):
                gap = a - other[j]
                total += row[j] * gap * gap
        out[f] += total
