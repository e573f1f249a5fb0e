"""Entries of kernel matrices from products of rows, in place, tile by tile.

rbf        exp(−γ (‖x‖² + ‖y‖² − 2 x·y))
polynomial (γ x·y + c)^p
sigmoid    tanh(γ x·y + c)
laplacian  exp(−γ Σ_j |x_j − y_j|)
"""

import math

from .jit import jit
from .mixture import exp

__all__ = ["laplacian", "polynomial", "power", "rbf", "sigmoid"]


@jit
def rbf(products, left, right, gamma):
    """Turn x·y into exp(−γ ‖x − y‖²); `left` and `right` are the squared lengths of the rows."""
    for i in range(products.shape[0]):
        row, square = products[i], left[i]
        for j in range(products.shape[1]):
            apart = square + right[j] - 2.0 * row[j]
            row[j] = exp(-gamma * (apart if apart > 0.0 else 0.0))


@jit
def power(x, degree):
    """X to a whole power that is not negative."""
    result = 1.0
    while degree > 0:
        if degree & 1:
            result *= x
        x *= x
        degree >>= 1
    return result


@jit
def polynomial(products, gamma, coef0, degree, whole):
    """Turn x·y into (γ x·y + c)^p; `whole` says that p is a whole number, whose powers are products."""
    for i in range(products.shape[0]):
        row = products[i]
        if whole and degree == 3:
            for j in range(products.shape[1]):
                x = gamma * row[j] + coef0
                row[j] = x * x * x
        elif whole:
            for j in range(products.shape[1]):
                row[j] = power(gamma * row[j] + coef0, int(degree))
        else:
            for j in range(products.shape[1]):
                row[j] = (gamma * row[j] + coef0) ** degree


@jit
def sigmoid(products, gamma, coef0):
    """Turn x·y into tanh(γ x·y + c)."""
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            products[i, j] = math.tanh(gamma * products[i, j] + coef0)


@jit
def laplacian(A, flipped, gamma, out):
    """Set `out` (rows of A, rows of B) to exp(−γ Σ |a − b|); `flipped` is B with its features along the first axis."""
    for i in range(A.shape[0]):
        row = out[i]
        row[:] = 0.0
        for f in range(A.shape[1]):
            a, other = A[i, f], flipped[f]
            for j in range(len(row)):
                row[j] += abs(a - other[j])
        for j in range(len(row)):
            row[j] = exp(-gamma * row[j])
