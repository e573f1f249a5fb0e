"""The edit distance of texts (Levenshtein's): the fewest insertions, deletions and replacements that turn one into the other."""

import numpy as np

from .jit import jit

__all__ = ["edit_distances"]


@jit
def _edits(a, b, n, m, row):
    """The distance of the first n codes of a and the first m of b, by one row of the table of prefixes."""
    first = 0
    while first < n and first < m and a[first] == b[first]:
        first += 1
    while n > first and m > first and a[n - 1] == b[m - 1]:
        n -= 1
        m -= 1
    for j in range(first, m + 1):
        row[j] = j - first
    for i in range(first, n):
        corner, row[first] = row[first], i - first + 1
        for j in range(first, m):
            best = min(row[j], row[j + 1]) + 1
            replaced = corner + (a[i] != b[j])
            corner = row[j + 1]
            row[j + 1] = min(best, replaced)
    return row[m]


@jit
def edit_distances(A, B, a_lengths, b_lengths, out):
    """Edit distances of all pairs of a text of A and one of B, as rows of codes of which the first so many count."""
    row = np.empty(B.shape[1] + 1, np.int64)
    for i in range(len(A)):
        for j in range(len(B)):
            out[i, j] = _edits(A[i], B[j], a_lengths[i], b_lengths[j], row)
