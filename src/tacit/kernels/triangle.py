"""What the triangle inequality says of distances that were not computed: |d(q, b) − d(b, x)| ≤ d(q, x) ≤ d(q, b) + d(b, x)."""

import numpy as np

from .jit import jit

__all__ = ["broken", "lower_bounds", "next_near", "sharpen"]


@jit
def sharpen(row, distance, worst, worst_number, slack, bounds, alive, n_alive):
    """Sharpen the lower bounds of candidates by one more computed distance, and drop those that cannot be among the best.

    Parameters
    ----------
    row : (n,)
        Distances of the pivot to all rows.
    distance : float
        Its distance to the query.
    worst, worst_number : float, int
        The worst of the best so far, which a row at an equal distance and with a higher number cannot replace.
    slack : float
        What bounds may exceed distances by, by rounding.
    bounds : (n,)
        Are raised.
    alive : (n,)
        Numbers of candidates, rising; those that remain are moved to the front.
    n_alive : int

    Returns
    -------
    n_alive : int
    best : int
        The candidate of the lowest bound, the first of several; −1 where none remains.
    """
    kept, best, least = 0, -1, np.inf
    for a in range(n_alive):
        j = alive[a]
        bound = max(bounds[j], abs(row[j] - distance))
        bounds[j] = bound
        sure = bound - slack
        if sure > worst or (sure == worst and j > worst_number):
            continue
        alive[kept] = j
        kept += 1
        if bound < least:
            best, least = j, bound
    return kept, best


@jit
def lower_bounds(table, to_pivots, out):
    """out[j] = max_b |d(q, b) − d(b, j)| over the pivots b, whose distances to all rows are `table` (pivots, n)."""
    out[:] = 0.0
    for b in range(len(table)):
        distance = to_pivots[b]
        for j in range(len(out)):
            out[j] = max(out[j], abs(table[b, j] - distance))


@jit
def broken(between, to_pivots, distance, slack):
    """The first pivot b at which d(q, b), d(b, x) and d(q, x) are no three sides of a triangle, −1 where all are.

    `between` are the distances d(b, x), `to_pivots` d(q, b), `distance` d(q, x).
    """
    for b in range(len(between)):
        longest = max(between[b], to_pivots[b], distance)
        if longest > between[b] + to_pivots[b] + distance - longest + slack:
            return b
    return -1


@jit
def next_near(row, order, seen, place, limit):
    """The place in a row's list, from `place` on, of the first that was not seen; −1 where it is further off than `limit`."""
    for at in range(place, len(order)):
        if row[order[at]] > limit:
            return -1
        if not seen[order[at]]:
            return at
    return -1
