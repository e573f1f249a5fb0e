"""Medoids: the loss Σ_i w_i min_m D[m, i], what a new medoid would save of it, and what an exchange would change.

D is a symmetric matrix of dissimilarities, so that row c holds the distances of all rows to the candidate c. Every kernel
works on a range of candidates or rows and writes only there: ranges may run on threads, and no result depends on their number.
"""

import numpy as np

from .jit import jit, jit_sums

__all__ = [
    "assign", "best_exchange", "best_member", "exchange", "first_addition", "first_exchange", "inspect",
    "removal_loss", "savings", "totals",
]  # fmt: skip


@jit_sums
def total_of(row, weight):
    """Σ_i w_i d_i."""
    total = 0.0
    for i in range(len(row)):
        total += weight[i] * row[i]
    return total


@jit
def totals(D, weight, start, stop, out):
    """out[c] = Σ_i w_i D[c, i], the loss with the one medoid c."""
    for c in range(start, stop):
        out[c] = total_of(D[c], weight)


@jit_sums
def saving(row, nearest, weight):
    """Σ_i w_i max(nearest_i − d_i, 0), in an order that is always the same: it can only fall as `nearest` does."""
    total = 0.0
    for i in range(len(row)):
        total += weight[i] * max(nearest[i] - row[i], 0.0)
    return total


@jit
def savings(D, nearest, weight, start, stop, out):
    """out[c] = what one more medoid c saves."""
    for c in range(start, stop):
        out[c] = saving(D[c], nearest, weight)


@jit
def first_addition(D, nearest, weight, order, bound):
    """The candidate that saves most, the first of several; `bound` holds savings that were true once and can only fall.

    Candidates come by falling bound, so that those whose bound is below the best saving need not be looked at. Candidates with
    a negative bound are no candidates.
    """
    best, most = -1, -1.0
    for c in order:
        if bound[c] < most or bound[c] < 0.0:
            break
        bound[c] = saving(D[c], nearest, weight)
        if bound[c] > most or (bound[c] == most and c < best):
            best, most = c, bound[c]
    return best


@jit
def two_nearest(D, medoids, i):
    """Places of the nearest and the second nearest medoid of row i, the first of several; −1 where there is no second."""
    a, b, da, db = 0, -1, np.float64(D[medoids[0], i]), np.inf
    for m in range(1, len(medoids)):
        d = np.float64(D[medoids[m], i])
        if d < da:
            a, b, da, db = m, a, d, da
        elif d < db:
            b, db = m, d
    return a, b, da, db


@jit
def assign(D, medoids, start, stop, near, second, d1, d2):
    """Nearest and second nearest medoid of rows, by their place among the medoids, and the distances."""
    for i in range(start, stop):
        near[i], second[i], d1[i], d2[i] = two_nearest(D, medoids, i)


@jit
def removal_loss(near, d1, d2, weight, out):
    """out[m] = what leaving out medoid m would cost; returns the loss."""
    out[:] = 0.0
    loss = 0.0
    for i in range(len(near)):
        loss += weight[i] * d1[i]
        out[near[i]] += weight[i] * (d2[i] - d1[i])
    return loss


@jit
def change_of(row, weight, near, d1, d2, removal, rows, change):
    """The medoid that c replaces best, and by how much the loss changes."""
    change[:] = removal
    n_near = 0
    for i in range(len(row)):  # without a branch: which rows are near is as good as random
        rows[n_near] = i
        n_near += row[i] < d2[i]
    shared = 0.0
    for j in range(n_near):
        i = rows[j]
        shared += weight[i] * (min(np.float64(row[i]), d1[i]) - d1[i])
        change[near[i]] += weight[i] * (max(np.float64(row[i]), d1[i]) - d2[i])
    place = np.argmin(change)
    return place, change[place] + shared


@jit
def first_exchange(D, weight, free, near, d1, d2, removal, start, stop, least, found, turn):
    """The first candidate of a range that lowers the loss by more than `least`: (candidate, place), else (−1, −1).

    Ranges run side by side; found[turn] is set by the one that finds, and those after it stop.
    """
    rows = np.empty(len(near) + 1, np.int32)
    change = np.empty(len(removal))
    for c in range(start, stop):
        if not free[c]:
            continue
        for before in range(turn):
            if found[before]:
                return -1, -1
        place, delta = change_of(D[c], weight, near, d1, d2, removal, rows, change)
        if delta < -least:
            found[turn] = True
            return c, place
    return -1, -1


@jit
def best_exchange(D, weight, free, near, d1, d2, removal, start, stop):
    """The candidate of a range that lowers the loss most, the first of several: (change, candidate, place)."""
    rows = np.empty(len(near) + 1, np.int32)
    change = np.empty(len(removal))
    best, candidate, place = np.inf, -1, -1
    for c in range(start, stop):
        if free[c]:
            where, delta = change_of(D[c], weight, near, d1, d2, removal, rows, change)
            if delta < best:
                best, candidate, place = delta, c, where
    return best, candidate, place


@jit
def exchange(D, medoids, place, candidate, near, second, d1, d2):
    """Put a candidate in the place of a medoid; only rows that lose one of their two medoids look at all others."""
    medoids[place] = candidate
    row = D[candidate]
    for i in range(len(near)):
        d = np.float64(row[i])
        if near[i] == place:
            if d <= d2[i]:
                d1[i] = d
            else:
                near[i], second[i], d1[i], d2[i] = two_nearest(D, medoids, i)
        elif d < d1[i]:
            near[i], second[i], d1[i], d2[i] = place, near[i], d, d1[i]
        elif second[i] == place:
            near[i], second[i], d1[i], d2[i] = two_nearest(D, medoids, i)
        elif d < d2[i]:
            second[i], d2[i] = place, d


@jit
def best_member(D, weight, candidate, members):
    """The candidate with the least weighted distance to all members, the first of several; −1 where none is one."""
    best, least = -1, np.inf
    for c in members:
        if candidate[c]:
            total = 0.0
            for i in members:
                total += weight[i] * D[c, i]
            if total < least:
                best, least = c, total
    return best


@jit
def inspect(D, start, stop, slack, duplicate):
    """What is wrong with the rows of a range: (fault, i, j); faults are 1 not finite, 2 negative, 3 asymmetric, 4 diagonal.

    Marks rows that are at distance 0 of an earlier row. Goes by tiles: a matrix is not read across without them.
    """
    n, tile = D.shape[1], 64
    for first in range(start, stop, tile):
        last = min(first + tile, stop)
        for left in range(0, last, tile):
            for i in range(first, last):
                for j in range(left, min(left + tile, i + 1)):
                    a, b = np.float64(D[i, j]), np.float64(D[j, i])
                    if not (np.isfinite(a) and np.isfinite(b)):
                        return (1, i, j) if not np.isfinite(a) else (1, j, i)
                    if a < -slack or b < -slack:
                        return (2, i, j) if a < -slack else (2, j, i)
                    if i == j and a > slack:
                        return 4, i, j
                    if abs(a - b) > slack:
                        return 3, i, j
                    if i != j and a == 0.0:
                        duplicate[i] = True
    return 0, n, n


@jit
def nan_euclidean(A, B, unknown, out):
    """√(d / observed · Σ (a − b)²) over the columns observed in both; `unknown` where there is none."""
    d = A.shape[1]
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total, observed = 0.0, 0
            for k in range(d):
                gap = np.float64(A[i, k]) - np.float64(B[j, k])
                if gap == gap:
                    total += gap * gap
                    observed += 1
            out[i, j] = np.sqrt(total / observed * d) if observed else unknown


@jit
def gower(A, B, scale, weight, unknown, out):
    """Σ_k w_k gap_k / Σ_k w_k over the columns observed in both; `unknown` where there is none.

    The gap of a column is |a − b| · scale, or 0 and 1 for equal and different where the scale is negative.
    """
    for i in range(A.shape[0]):
        for j in range(B.shape[0]):
            total, observed = 0.0, 0.0
            for k in range(A.shape[1]):
                gap = abs(A[i, k] - B[j, k])
                if gap == gap:
                    if scale[k] < 0.0:
                        gap = 1.0 if gap > 0.0 else 0.0
                    else:
                        gap *= scale[k]
                    total += weight[k] * gap
                    observed += weight[k]
            out[i, j] = total / observed if observed > 0.0 else unknown
