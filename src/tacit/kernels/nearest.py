"""The nearest rows of queries, by distances of all pairs: exactly, equal distances by number, the lowest first.

Distances of points are sums of powers: Σ_j |x_j − y_j|^p, or the largest gap for p = ∞, always of cells and never of products.
The best k of a query are a heap of (distance, number) with the worst in front; full heaps make order and blocks irrelevant.
"""

import numpy as np

from .jit import jit

__all__ = [
    "nearest_donors", "nearest_of_points", "nearest_of_products", "nearest_of_values", "power_sums", "push", "sort_heaps",
    "sums_to", "within_points", "within_products",
]  # fmt: skip

TILE = 512
"""Rows whose distances to a query are kept at once."""


@jit
def power_sum(x, y, p):
    """Σ |x − y|^p in the order of columns, as `sums_to` takes it, or the largest gap."""
    total = 0.0
    if p == 2.0:
        for j in range(len(x)):
            gap = np.float64(x[j]) - np.float64(y[j])
            total += gap * gap
    elif p == 1.0:
        for j in range(len(x)):
            total += abs(np.float64(x[j]) - np.float64(y[j]))
    elif p == np.inf:
        for j in range(len(x)):
            total = max(total, abs(np.float64(x[j]) - np.float64(y[j])))
    else:
        for j in range(len(x)):
            total += abs(np.float64(x[j]) - np.float64(y[j])) ** p
    return total


@jit
def sums_to(x, columns, start, stop, p, out):
    """The sums of powers between a row and the rows from start to stop − 1 of a table held by column (d, n), into `out`.

    The innermost loop runs over rows, so that it vectorises for any number of columns, and every sum has one order.
    """
    m = stop - start
    for r in range(m):
        out[r] = 0.0
    for j in range(len(columns)):
        cell, column = np.float64(x[j]), columns[j, start:stop]
        if p == 2.0:
            for r in range(m):
                gap = cell - np.float64(column[r])
                out[r] += gap * gap
        elif p == 1.0:
            for r in range(m):
                out[r] += abs(cell - np.float64(column[r]))
        elif p == np.inf:
            for r in range(m):
                out[r] = max(out[r], abs(cell - np.float64(column[r])))
        else:
            for r in range(m):
                out[r] += abs(cell - np.float64(column[r])) ** p


@jit
def push(value, number, values, numbers):
    """Put a pair in the place of the heap's worst, if it is better."""
    if value > values[0] or (value == values[0] and number >= numbers[0]) or value != value:
        return
    _sift(value, number, values, numbers, len(values))


@jit
def _sift(value, number, values, numbers, size):
    """Put a pair in the place of the first of a heap, and the heap in order."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            values[other] > values[child] or (values[other] == values[child] and numbers[other] > numbers[child])
        ):
            child = other
        if value > values[child] or (value == values[child] and number > numbers[child]):
            break
        values[place], numbers[place] = values[child], numbers[child]
        place = child
    values[place], numbers[place] = value, number


@jit
def sort_heaps(values, numbers):
    """Put every heap in order, the best first."""
    for i in range(len(values)):
        for size in range(values.shape[1] - 1, 0, -1):
            value, number = values[i, size], numbers[i, size]
            values[i, size], numbers[i, size] = values[i, 0], numbers[i, 0]
            _sift(value, number, values[i], numbers[i], size)


@jit
def power_sums(A, columns, p, out):
    """Sums of powers of all pairs of a row of A and one of a table held by column, into `out`."""
    for i in range(len(A)):
        sums_to(A[i], columns, 0, columns.shape[1], p, out[i])


@jit
def nearest_of_points(Q, columns, p, own, values, numbers):
    """The heaps of queries (q, k) are shown all rows of a table held by column but their own (−1: none)."""
    n = columns.shape[1]
    sums = np.empty(TILE)
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        for i in range(len(Q)):
            sums_to(Q[i], columns, start, stop, p, sums)
            worst = values[i, 0]
            for r in range(stop - start):
                if sums[r] <= worst and start + r != own[i]:
                    push(sums[r], start + r, values[i], numbers[i])
                    worst = values[i, 0]


@jit
def nearest_of_values(D, start, own, values, numbers):
    """The heaps of queries are shown the rows from `start` on, which are at the distances D (q, m)."""
    for i in range(len(D)):
        for j in range(D.shape[1]):
            if D[i, j] <= values[i, 0] and start + j != own[i]:
                push(D[i, j], start + j, values[i], numbers[i])


@jit
def _below(row, limit, found):
    for j in range(len(row)):
        found[j] = row[j] <= limit


@jit
def nearest_of_products(S, start, Q, X, unit, square, own, values, numbers):
    """The heaps of queries are shown rows of X whose distance may be small; returns how many were computed.

    Parameters
    ----------
    S : (q, m)
        At most ‖y‖² − 2 q·y of scaled rows y, from row `start` of X on.
    Q, X : (q, d), (n, d)
        Queries and rows as they are.
    unit : float
        What one squared distance is in the unit of S.
    square : (q,)
        At most ‖q‖² of scaled queries.
    own, values, numbers
        As in `nearest_of_points`; 2-norms, squared.
    """
    m, count = S.shape[1], 0
    found = np.zeros((m + 7) // 8 * 8, np.bool_)
    words = found.view(np.uint64)
    limit = np.empty(1, S.dtype)
    for i in range(len(S)):
        limit[0] = values[i, 0] * unit - square[i]
        _below(S[i], limit[0], found[:m])
        for w in range(len(words)):  # eight at a time: next to none is near
            if words[w] == 0:
                continue
            for c in range(8 * w, min(8 * w + 8, m)):
                if found[c] and S[i, c] <= limit[0] and start + c != own[i]:
                    push(power_sum(Q[i], X[start + c], 2.0), start + c, values[i], numbers[i])
                    limit[0] = values[i, 0] * unit - square[i]
                    count += 1
    return count


@jit
def _longer(array, size):
    """The array with room for twice as many."""
    longer = np.empty(max(2 * len(array), size), array.dtype)
    longer[: len(array)] = array
    return longer


@jit
def within_points(Q, columns, p, own, limit):
    """Rows of a table held by column whose sum of powers is at most limit (q,).

    How many each query has, their numbers and sums, one query after the other.
    """
    n = columns.shape[1]
    count, sums = np.zeros(len(Q), np.int64), np.empty(TILE)
    numbers, values, at = np.empty(64, np.int64), np.empty(64), 0
    for i in range(len(Q)):
        for start in range(0, n, TILE):
            stop = min(start + TILE, n)
            sums_to(Q[i], columns, start, stop, p, sums)
            for r in range(stop - start):
                if sums[r] <= limit[i] and start + r != own[i]:
                    if at == len(numbers):
                        numbers, values = _longer(numbers, 64), _longer(values, 64)
                    numbers[at], values[at] = start + r, sums[r]
                    at += 1
                    count[i] += 1
    return count, numbers[:at].copy(), values[:at].copy()


@jit
def within_products(S, start, Q, X, unit, square, own, limit):
    """As `within_points`, of squared 2-norms, from products as in `nearest_of_products`."""
    m, at = S.shape[1], 0
    found = np.zeros((m + 7) // 8 * 8, np.bool_)
    words = found.view(np.uint64)
    most = np.empty(1, S.dtype)
    count = np.zeros(len(S), np.int64)
    numbers, values = np.empty(64, np.int64), np.empty(64)
    for i in range(len(S)):
        most[0] = limit[i] * unit - square[i]
        _below(S[i], most[0], found[:m])
        for w in range(len(words)):
            if words[w] == 0:
                continue
            for c in range(8 * w, min(8 * w + 8, m)):
                if found[c] and start + c != own[i]:
                    value = power_sum(Q[i], X[start + c], 2.0)
                    if value <= limit[i]:
                        if at == len(numbers):
                            numbers, values = _longer(numbers, 64), _longer(values, 64)
                        numbers[at], values[at] = start + c, value
                        at += 1
                        count[i] += 1
    return count, numbers[:at].copy(), values[:at].copy()


@jit
def nearest_donors(D, rows, columns, donors, values, numbers):
    """The heaps of missing cells are shown the donors that have the cell.

    Parameters
    ----------
    D : (r, n)
        Distances of rows to donors; NaN where unknown: such a donor gives nothing.
    rows, columns : (cells,)
        Where cells are missing.
    donors : (n, d)
        Missing cells are NaN.
    values, numbers : (cells, k)
    """
    for c in range(len(rows)):
        i = rows[c]
        for j in range(len(donors)):
            if D[i, j] <= values[c, 0] and not np.isnan(donors[j, columns[c]]):
                push(D[i, j], j, values[c], numbers[c])
