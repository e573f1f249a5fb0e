"""The best of cuts that are drawn: a column's threshold lies anywhere between the least and the largest value of a node.

That takes no order of the rows: one pass over raw cells finds the ends, another one the sums on the left.
"""

# mypy: disable-error-code="assignment,attr-defined,call-arg,misc"
import numpy as np

from .growth_records import (
    CATEGORICAL,
    FEATURE,
    GAIN,
    GAPS,
    IMPURITY,
    LEVELS,
    LOWER,
    MISSING_LEFT,
    MONOTONE,
    START,
    STOP,
    SUM_ALL,
    SUM_LEFT,
    SUM_MISSING,
    SUM_OBSERVED,
    THRESHOLD,
    UPPER,
    WEIGHT,
    draw,
    draw_column,
    is_sparse,
    without_value,
)
from .jit import inner, inner_sums
from .splits import ABSOLUTE, allowed, gain, loss_of, median_of

__all__ = ["search_drawn"]


@inner
def _copy_cells(cells, order, out):
    """Copy a column's cells of a node; the ends of its values."""
    low, high = np.inf, -np.inf
    for i in range(len(order)):
        x = cells[np.uint32(order[i])]  # unsigned: no place is counted from the end
        out[i] = x
        low = x if x < low else low
        high = x if x > high else high
    return low, high


@inner
def _list_missing(cells, places):
    """Write the places of missing cells; how many there are."""
    n = 0
    for i in range(len(cells)):
        places[n] = np.uint64(i)
        n += cells[i] != cells[i]
    return n


@inner
def _draw_sides(state, cells, n_known, sides):
    """Draw a side for every level that a node has, and write it over the cells."""
    sides[:] = 2
    ones = zeros = 0
    for x in cells:
        if x == x and sides[np.int64(x)] == 2:
            side = 1 if draw(state) < 0.5 else 0
            sides[np.int64(x)] = side
            ones, zeros = ones + side, zeros + 1 - side
    if not ones or not zeros:
        skipped = np.int64(draw(state) * n_known)
        for x in cells:
            if x == x:
                if skipped == 0:
                    sides[np.int64(x)] = 1 - sides[np.int64(x)]
                    break
                skipped -= 1
    for i in range(len(cells)):
        if cells[i] == cells[i]:
            cells[i] = sides[np.int64(cells[i])]


@inner_sums
def _sum_left(cells, cut, weight, moment):
    """Rows, weight and moment of what lies left of a cut, without a branch: no processor foretells sides that are drawn."""
    rows, w, total = 0, 0.0, 0.0
    for i in range(len(cells)):
        goes = cells[i] <= cut
        rows += goes
        w += weight[i] if goes else 0.0
        total += moment[i] if goes else 0.0
    return rows, w, total


@inner
def _sum_parts(cells, cut, weights, codes, y, width, left):
    """Sums by class or output of what lies left of a cut."""
    left[:] = 0.0
    for i in range(len(cells)):
        weight = weights[i] if cells[i] <= cut else 0.0
        for o in range(len(codes)):
            left[o * width + codes[o, i]] += weight
        for o in range(len(y)):
            left[o] += weight * y[o, i]


@inner
def _part_keys(cells, cut, gone_left, with_gone, keys, spare):
    """Write the places of rows on the left, then of those on the right; how many of each there are."""
    left, right = 0, 0
    for i in range(len(cells)):
        gone = cells[i] != cells[i]
        if gone and not with_gone:
            continue
        if cells[i] <= cut or (gone and gone_left):
            keys[left] = np.uint64(i)
            left += 1
        else:
            spare[right] = np.uint64(i)
            right += 1
    for i in range(right):
        keys[left + i] = spare[i]
    return left, right


@inner
def _score_cut(D, R, S, N, node, f, cut, n_gone, w_gone, s_gone, gone_left):
    """The score of a cut, −∞ where it is not allowed, and the weight that goes left."""
    s, e, W = N.whole[node, START], N.whole[node, STOP], N.real[node, WEIGHT]
    cells, n, offset, whole = S.cells[: e - s], e - s, 0.0, S.sums[SUM_ALL]
    if R.n_surrogates and n_gone:  # what counts are rows with a value
        n, W, whole = n - n_gone, W - w_gone, S.sums[SUM_OBSERVED]
        offset = -s_gone / W
    left, own = S.sums[SUM_LEFT], 1 if R.width else 0
    rows, w, total = _sum_left(cells, cut, S.weight[s:e], S.moment[s:e])
    if not R.scalar and R.criterion != ABSOLUTE:
        _sum_parts(cells, cut, S.weight[s:e], S.codes[:, s:e], S.y[:, s:e], R.width, left)
    if gone_left:
        rows, w, total = rows + n_gone, w + w_gone, total + s_gone
        for k in range(len(left)):
            left[k] += S.sums[SUM_MISSING, k]
    rest = W - w
    if rows < R.min_leaf or n - rows < R.min_leaf or w < R.min_weight or rest < R.min_weight:
        return -np.inf, w
    a = b = score = 0.0  # the values of the sides
    if R.scalar:
        apart, mean = total - offset * w, N.value[node, 0]
        a, b = mean + total / w, mean + (offset * W - total) / rest
        score = apart * apart * W / (w * rest)
    elif R.criterion == ABSOLUTE:
        keys, y, weight = S.keys[1], S.y[:, s:e], S.weight[s:e]
        first, last = _part_keys(cells, cut, gone_left, R.n_surrogates == 0, keys, S.keys[0])
        before = loss_of(keys, n, y, weight) if n < e - s else N.real[node, IMPURITY] * W
        score = before - loss_of(keys, first, y, weight) - loss_of(keys[first:], last, y, weight)
        a, b = median_of(keys, 0, first, y[0], weight), median_of(keys, first, n, y[0], weight)
    else:
        a, b = left[own] / w, (whole[own] - left[own]) / rest
        score = gain(R.criterion, left, whole, w, W, len(S.codes) if R.width else len(S.y))
    cst, lower, upper = D.columns[f, MONOTONE], N.real[node, LOWER], N.real[node, UPPER]
    if (cst != 0 or lower > -np.inf or upper < np.inf) and not allowed(a, b, cst, lower, upper):
        return -np.inf, w
    return score, w


@inner
def search_drawn(D, R, S, N, node):
    """The best of the cuts drawn in columns that are drawn, written to the node; whether there is one.

    Missing cells go right, or left, or are parted from the others.
    """
    s, e, W = N.whole[node, START], N.whole[node, STOP], N.real[node, WEIGHT]
    d, slack, cells = len(D.columns), 1e-12 * W * N.real[node, IMPURITY], S.cells[: e - s]
    best, found, drawn, usable = -np.inf, False, 0, 0
    sparse = is_sparse(D, s, e)
    while drawn < d and (drawn < R.max_features or usable == 0):
        f = draw_column(R, S, drawn)
        drawn += 1
        if sparse:
            low, high = _copy_cells(D.rows[:, f], S.order[s:e], cells)
        else:
            low, high = _copy_cells(D.cells[f], S.order[s:e], cells)
        n_gone = _list_missing(cells, S.keys[2]) if D.columns[f, GAPS] else 0
        directions = n_gone > 0 and R.n_surrogates == 0
        if low > high or (low == high and not directions):
            continue
        usable += 1
        w_gone = s_gone = 0.0
        if n_gone:
            w_gone, s_gone = without_value(R, S, s, n_gone)
        levels, last, threshold = D.columns[f, CATEGORICAL] > 0, high, low
        sides = S.side[0, : D.columns[f, LEVELS]]
        if levels:
            sides[:] = 2
            sides[np.int64(low)] = 0
        if low < high and levels:
            _draw_sides(S.state, cells, e - s - n_gone, sides)
            threshold, last = 0.0, 1.0
        elif low < high:
            threshold = low + draw(S.state) * (high - low)
            threshold = threshold if low <= threshold < high else low
        for turn in range(3 if directions else 1):
            if low == high and turn != 1:
                continue
            cut = last if turn == 1 else threshold
            score, w = _score_cut(D, R, S, N, node, f, cut, n_gone, w_gone, s_gone, turn == 2)
            if not score > best + slack:
                continue
            best, found = score, True
            N.whole[node, FEATURE], N.real[node, GAIN], N.real[node, THRESHOLD] = (
                f,
                max(score, 0.0),
                -2.0 if levels else cut,
            )
            N.whole[node, MISSING_LEFT] = turn == 2 if directions else 2 * w > W - w_gone
            if levels:
                for level in range(len(sides)):
                    S.side[1, level] = 0 if turn == 1 and sides[level] < 2 else sides[level]
    return found
