"""Similarities of rows that share columns, a row at a time, and what the most similar ones vote for.

Rows are compared (items by default), columns are who rated them, and a panel is the rows that one column has rated. Of two rows,
n is the number of columns they share, and s = Σxy / √(Σx² Σy²) · n / (n + shrinkage) over these. Stored cells are given as
(where rows begin, numbers of columns, values), by row and by column.
"""

import numpy as np

from .jit import jit

__all__ = ["similar", "vote"]


@jit
def _add_row(i, by_row, by_column, sums, met):
    """Add up (n, Σxy, Σx², Σy²) of one row with all that share a column with it; write these and return how many they are."""
    indptr, columns, values = by_row
    panel, rows, others = by_column
    n_met = 0
    for p in range(indptr[i], indptr[i + 1]):
        x = values[p]
        square = x * x
        for q in range(panel[columns[p]], panel[columns[p] + 1]):
            j, y = rows[q], others[q]
            if sums[j, 0] == 0.0:
                met[n_met] = j
                n_met += 1
            sums[j, 0] += 1.0
            sums[j, 1] += x * y
            sums[j, 2] += square
            sums[j, 3] += y * y
    return n_met


@jit
def _similarity(n, product, size, least, shrinkage):
    """The similarity that sums over shared columns tell; 0 where these are too few."""
    if n < least or product <= 0.0 or size <= 0.0:
        return 0.0
    return product / np.sqrt(size) * n / (n + shrinkage)


@jit
def _sort_met(sums, met, n_met):
    """Put the rows that were met in order."""
    if 16 * n_met < len(sums):
        met[:n_met].sort()
        return
    at = 0
    for j in range(len(sums)):
        if sums[j, 0] > 0.0:
            met[at] = j
            at += 1


@jit
def _leave_out(i, column, by_column, votes, sums, rule):
    """The vote on row i of a column's panel as if the cell were missing, from sums that it is taken out of; and its weight."""
    panel, rows, others = by_column
    least, shrinkage, n_voters, power, prior = rule
    here = panel[column]
    near, x = np.empty(panel[column + 1] - here), 0.0
    for k in range(len(near)):
        if rows[here + k] == i:
            x = others[here + k]
    for k in range(len(near)):
        j, y = rows[here + k], others[here + k]
        size = (sums[j, 2] - x * x) * (sums[j, 3] - y * y)
        near[k] = -_similarity(sums[j, 0] - 1.0, sums[j, 1] - x * y, size, least, shrinkage) if j != i else 0.0
    total, weight = 0.0, 0.0
    for k in np.argsort(near, kind="mergesort")[:n_voters]:
        if near[k] < 0.0:
            w = (-near[k]) ** power
            total += w * votes[here + k]
            weight += w
    return (total / (weight + prior), weight) if weight > 0.0 else (0.0, 0.0)


@jit
def similar(first, stop, by_row, by_column, votes, rule, most, starts, tried):
    """The most similar rows of each of a range of rows, the most similar first, equal ones by number.

    Parameters
    ----------
    first, stop : int
        The range.
    by_row, by_column
        Stored values that are compared.
    votes
        Values that are voted for, by column.
    rule : (least, shrinkage, n_voters, power, prior)
        Shared columns below which rows are not compared, by how many similarities are held back, and as for `vote`.
    most : int
        How many are kept of a row.
    starts, tried
        Columns of cells that are voted on as if they were missing, and where those of each row begin.

    Returns
    -------
    count : (stop − first,) int64
    index : int32
    similarity : float32
        Of one row after the other.
    shift, mass
        Votes on the cells that were tried, and their weights.
    """
    n_rows = len(by_row[0]) - 1
    sums, met, value = np.zeros((n_rows, 4)), np.empty(n_rows, np.int64), np.empty(n_rows)
    room = min(most, n_rows)
    count, at = np.zeros(stop - first, np.int64), 0
    index, similarity = np.empty((stop - first) * room, np.int32), np.empty((stop - first) * room, np.float32)
    shift, mass = np.empty(starts[stop] - starts[first]), np.empty(starts[stop] - starts[first])
    for i in range(first, stop):
        n_met = _add_row(i, by_row, by_column, sums, met)
        _sort_met(sums, met, n_met)
        for p in range(starts[i], starts[i + 1]):
            to = p - starts[first]
            shift[to], mass[to] = _leave_out(i, tried[p], by_column, votes, sums, rule)
        n_kept = 0
        for k in range(n_met):
            j = met[k]
            s = _similarity(sums[j, 0], sums[j, 1], sums[j, 2] * sums[j, 3], rule[0], rule[1]) if j != i else 0.0
            sums[j, :] = 0.0
            if s > 0.0:
                met[n_kept], value[n_kept] = j, -s
                n_kept += 1
        order = np.argsort(value[:n_kept], kind="mergesort")[:room]
        for k in order:
            index[at], similarity[at] = met[k], -value[k]
            at += 1
        count[i - first] = len(order)
    return count, index[:at].copy(), similarity[:at].copy(), shift, mass


@jit
def vote(column, row, by_column, starts, index, similarity, n_rows, rule, shift, mass):
    """What the most similar rows on a column's panel say of a row: Σ w v / (Σ w + prior) with w = s^power.

    Parameters
    ----------
    column, row : (P,)
        Pairs; −1 where unknown. Pairs of a column should lie together.
    by_column
        Rows on each panel, and the value of each there.
    starts, index, similarity
        Similar rows of each row, the most similar first.
    n_rows : int
        How many rows can be on a panel.
    rule : (least, shrinkage, n_voters, power, prior)
        How many vote at most, by which power of the similarity, and the weight of a vote for 0; the rest is not used.
    shift, mass : (P,)
        Filled with the vote and with Σ w.
    """
    panel, rows, values = by_column
    _, _, n_voters, power, prior = rule
    place, now = np.full(n_rows, -1, np.int64), -1
    for p in range(len(column)):
        shift[p], mass[p] = 0.0, 0.0
        if column[p] < 0 or row[p] < 0:
            continue
        if column[p] != now:
            if now >= 0:
                for q in range(panel[now], panel[now + 1]):
                    place[rows[q]] = -1
            now = column[p]
            for q in range(panel[now], panel[now + 1]):
                place[rows[q]] = q
        total, weight, count = 0.0, 0.0, 0
        for q in range(starts[row[p]], starts[row[p] + 1]):
            here = place[index[q]]
            if here >= 0:
                w = similarity[q] ** power
                total += w * values[here]
                weight += w
                count += 1
                if count == n_voters:
                    break
        if weight > 0.0:
            shift[p], mass[p] = total / (weight + prior), weight
