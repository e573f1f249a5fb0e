"""What a given matrix of dissimilarities must be."""

import numpy as np

from ...kernels import lazy
from ...source.threads import over_ranges

__all__ = ["check_matrix"]

kernels = lazy("medoids")

SLACK = 1e-6
"""Share of the largest dissimilarity that is taken for rounding in a given matrix."""


def check_matrix(D: np.ndarray, threads: int) -> np.ndarray:
    """Raise where a matrix holds no dissimilarities; says which rows are at distance 0 of an earlier one."""
    n = len(D)
    threads = 1 if n < 500 else threads
    most = max(64, -(-n // 16))
    slack = SLACK * float(max(over_ranges(lambda a, b: D[a:b].max(), n, threads, most)))
    duplicate = np.zeros(n, dtype=bool)
    found = over_ranges(lambda a, b: kernels.inspect(D, a, b, slack, duplicate), n, threads, most)
    for fault, i, j in found:
        if fault:
            raise ValueError(_fault(fault, i, j, D))
    return duplicate


def _fault(fault: int, i: int, j: int, D: np.ndarray) -> str:
    value = f"X[{i}, {j}]={D[i, j]:g}"
    if fault == 1:
        return f"{value} is not a dissimilarity (NaN or infinity); compute it, or leave one of the two rows out."
    if fault == 2:
        return f"Negative values in data: {value}; dissimilarities must not be negative: subtract similarities from the largest."
    if fault == 3:
        return f"{value} but X[{j}, {i}]={D[j, i]:g}: the matrix is not symmetric; use (X + X.T) / 2."
    return f"{value}, but a row is at distance 0 of itself; use np.fill_diagonal(X, 0), unless X holds similarities."
