"""Biases of rows given those of columns: sums of what is left of stored ratings."""

from .jit import jit

__all__ = ["deviations", "row_biases", "squares"]


@jit
def row_biases(indptr, columns, rating, weight, mean, other, ridge, bias, mass):
    """Write the biases of rows by ridge regression, and the weight that each rests on.

    Parameters
    ----------
    indptr, columns, rating, weight
        Stored ratings by row, and their weights.
    mean : float
    other : (d,)
        Biases of columns.
    ridge : float
        Ratings that say 0, by which each is held back.
    bias, mass : (n,)
        Filled.
    """
    for row in range(len(bias)):
        total, count = 0.0, 0.0
        for p in range(indptr[row], indptr[row + 1]):
            total += weight[p] * (rating[p] - mean - other[columns[p]])
            count += weight[p]
        bias[row] = total / (count + ridge) if count > 0.0 else 0.0
        mass[row] = count


@jit
def squares(indptr, columns, rating, weight, mean, own, other, own_variance, other_variance):
    """The weighted sum of squares that biases leave, with their variances."""
    total = 0.0
    for row in range(len(own)):
        for p in range(indptr[row], indptr[row + 1]):
            j = columns[p]
            left = rating[p] - mean - own[row] - other[j]
            total += weight[p] * (left * left + own_variance[row] + other_variance[j])
    return total


@jit
def deviations(indptr, columns, rating, mean, own, other, out):
    """What biases leave of stored ratings."""
    for row in range(len(own)):
        level = mean + own[row]
        for p in range(indptr[row], indptr[row + 1]):
            out[p] = rating[p] - level - other[columns[p]]
