"""The growth of one tree: rows of a node lie side by side, and a split parts them in place.

A node is described (its weight, value and impurity), searched for its best split, and expanded: depth first, or the node with the
largest gain first where the number of leaves is limited. Columns are ranks, so that a forest sorts values once; where thresholds
are drawn, they are raw cells.
"""

# mypy: disable-error-code="assignment,attr-defined,call-arg,misc"
import numpy as np

from .growth_drawn import search_drawn
from .growth_records import (
    CATEGORICAL,
    CATEGORY,
    CUT,
    DEPTH,
    FEATURE,
    GAIN,
    IMPURITY,
    LEFT,
    LEVELS,
    LOWER,
    MISSING_LEFT,
    MONOTONE,
    RIGHT,
    ROWS,
    SET,
    SETTINGS,
    START,
    STOP,
    SUM_ALL,
    THRESHOLD,
    UPPER,
    WEIGHT,
    Data,
    Nodes,
    Rules,
    Space,
    is_left,
    is_sparse,
    keep_set,
)
from .growth_search import search
from .growth_surrogates import by_surrogate, surrogates
from .jit import inner, inner_sums, jit
from .splits import ABSOLUTE, GAIN_RATIO, POISSON, SQUARED, impurity, median_loss, middle_of_medians

__all__ = ["SETTINGS", "grow"]


@inner
def _add_up(codes, width, weight, total):
    """Σ weight by class of each output."""
    total[:] = 0.0
    for o in range(len(codes)):
        for i in range(len(weight)):
            total[o * width + codes[o, i]] += weight[i]


@inner_sums
def _centre(y, weight, moment, poisson):
    """Σ weight·y and the weighted sum of squares about the mean, or the Poisson deviance; writes weight·(y − mean)."""
    W = total = spread = 0.0
    for i in range(len(y)):
        W += weight[i]
        total += weight[i] * y[i]
    mean = total / W
    for i in range(len(y)):
        apart = y[i] - mean
        moment[i] = weight[i] * apart
        spread += moment[i] * apart
    if poisson:
        spread = 0.0
        for i in range(len(y)):
            spread += weight[i] * y[i] * np.log(y[i] / mean) if y[i] > 0 else 0.0
    return total, mean, spread


@inner_sums
def _sum(values):
    total = 0.0
    for value in values:
        total += value
    return total


@inner
def _describe(D, R, S, N, node):
    """Weight, value and impurity of a node; fills the moments and totals by which it is searched."""
    s, e = N.whole[node, START], N.whole[node, STOP]
    weight, total, spread = S.weight[s:e], S.sums[SUM_ALL], 0.0
    W = _sum(weight)
    N.real[node, WEIGHT], N.whole[node, ROWS] = W, e - s
    if R.width:
        _add_up(S.codes[:, s:e], R.width, weight, total)
        for k in range(len(total)):
            N.value[node, k] = total[k] / W
        N.real[node, IMPURITY] = impurity(R.criterion, total, W, len(S.codes))
        return
    for o in range(len(S.y)):
        if R.criterion == ABSOLUTE:
            N.value[node, o], loss = median_loss(S.y[o, s:e], weight)
        else:
            total[o], N.value[node, o], loss = _centre(S.y[o, s:e], weight, S.moment[s:e], R.criterion == POISSON)
        spread += loss
    N.real[node, IMPURITY] = max(spread, 0.0) / W / len(S.y)


@inner
def _bounds(D, R, S, N, node):
    """The middle of the values of the two children, by which a monotone constraint bounds them."""
    s, e = N.whole[node, START], N.whole[node, STOP]
    wl = wr = sl = sr = 0.0
    for i in range(s, e):
        goes_left = is_left(D, N, node, S.order[i])
        goes_left = N.whole[node, MISSING_LEFT] if goes_left == 2 else goes_left
        value = (1.0 if S.codes[0, i] == 1 else 0.0) if R.width else S.y[0, i]
        S.keys[0, i - s] = np.uint64(goes_left)
        if goes_left:
            wl, sl = wl + S.weight[i], sl + S.weight[i] * value
        else:
            wr, sr = wr + S.weight[i], sr + S.weight[i] * value
    if R.criterion == ABSOLUTE:
        return middle_of_medians(S.keys[0, : e - s], S.y[0, s:e], S.weight[s:e])
    return 0.5 * (sl / wl + sr / wr)


@inner
def _close(N, node):
    """Make a node a leaf."""
    N.whole[node, FEATURE], N.whole[node, CATEGORY], N.whole[node, MISSING_LEFT] = -2, -1, 1
    N.real[node, THRESHOLD], N.real[node, GAIN] = -2.0, 0.0
    N.s_whole[node, :, FEATURE], N.s_whole[node, :, SET] = -2, -1


@inner
def _make(D, R, S, N, start, stop, depth, parent, is_left, lower, upper):
    """Make a node; whether it can be split."""
    node = N.count[0]
    N.count[0] += 1
    N.whole[node, START], N.whole[node, STOP], N.whole[node, DEPTH] = start, stop, depth
    N.real[node, LOWER], N.real[node, UPPER] = lower, upper
    N.whole[node, LEFT], N.whole[node, RIGHT] = -1, -1
    _close(N, node)
    if parent >= 0:
        if is_left:
            N.whole[parent, LEFT] = node
        else:
            N.whole[parent, RIGHT] = node
    _describe(D, R, S, N, node)
    n, W = stop - start, N.real[node, WEIGHT]
    stops = depth >= R.max_depth or n < R.min_split or n < 2 * R.min_leaf or 2 * R.min_weight > W
    root = N.real[0, IMPURITY]
    if stops or N.real[node, IMPURITY] <= 1e-14 * root or N.real[node, IMPURITY] <= 0:
        return node, False
    found, floor = False, -np.inf
    if R.random:
        found = search_drawn(D, R, S, N, node)
    for again in range(0 if R.random else 2 if R.criterion == GAIN_RATIO else 1):
        found, mean_gain = search(D, R, S, N, node, floor, again == 1)
        if not found:
            break
        floor = mean_gain * (
            1 - 1e-12
        )  # the ratio favours lopsided splits: those below the average gain do not count (Quinlan)
    decrease = N.real[node, GAIN] / N.real[0, WEIGHT]
    if not found or decrease + 1e-15 * root < R.min_decrease:
        _close(N, node)
        return node, False
    f = N.whole[node, FEATURE]
    if D.columns[f, CATEGORICAL]:
        N.whole[node, CATEGORY] = keep_set(D, S, N, f, N.whole[node, MISSING_LEFT], S.side[1])
    return node, True


@inner
def _sides(D, R, S, N, node):
    """Write where each row of a node goes, 1 to the left, one being missing or the column one of levels."""
    for t in range(N.whole[node, STOP] - N.whole[node, START]):
        row = S.order[N.whole[node, START] + t]
        goes = is_left(D, N, node, row)
        if goes == 2:
            goes = N.whole[node, MISSING_LEFT] if R.n_surrogates == 0 else np.int64(by_surrogate(D, R, N, node, row))
        S.keys[0, t] = np.uint64(goes)


@inner
def _part_rows(sides, order, weight, y, codes, spare):
    """Bring rows that go left before the others; how many go left."""
    left, right = 0, 0
    for i in range(len(order)):
        row = order[i]
        goes = np.int64(sides[i])
        # Written to both ends, of which one moves on: no branch on where the row goes.
        order[left], weight[left], spare[right] = row, weight[i], np.uint64(row)
        for o in range(len(y)):
            y[o, left] = y[o, i]
        for o in range(len(codes)):
            codes[o, left] = codes[o, i]
        left, right = left + goes, right + 1 - goes
    return left


@inner
def _fill(order, weight, y, codes, spare, all_weight, all_y, all_codes):
    """Write the rows that went right after those that went left."""
    for t in range(len(order)):
        row = np.int64(spare[t])
        order[t], weight[t] = row, all_weight[row]
        for o in range(len(y)):
            y[o, t] = all_y[o, row]
        for o in range(len(codes)):
            codes[o, t] = all_codes[o, row]


@inner
def _part(D, R, S, N, node):
    """Bring the rows that go left before the others, both in their order; where the others begin."""
    s, e, f = N.whole[node, START], N.whole[node, STOP], N.whole[node, FEATURE]
    if R.n_surrogates:
        surrogates(D, R, S, N, node)
    order, sides, sparse = S.order[s:e], S.keys[0], is_sparse(D, s, e)
    if len(D.cells):
        cut, last = N.real[node, THRESHOLD], np.inf
        missing = (
            _compare(D.rows[:, f], cut, last, order, sides) if sparse else _compare(D.cells[f], cut, last, order, sides)
        )
    else:
        place, none = N.whole[node, CUT], D.columns[f, LEVELS]
        missing = (
            _compare(D.by_row[:, f], place, none - 1, order, sides)
            if sparse
            else _compare(D.ranks[f], place, none - 1, order, sides)
        )
    if missing or N.whole[node, CATEGORY] >= 0:
        _sides(D, R, S, N, node)
    begin = s + _part_rows(S.keys[0], S.order[s:e], S.weight[s:e], S.y[:, s:e], S.codes[:, s:e], S.keys[2])
    _fill(S.order[begin:e], S.weight[begin:e], S.y[:, begin:e], S.codes[:, begin:e], S.keys[2], D.weight, D.y, D.codes)
    return begin


@inner
def _compare(column, cut, last, order, sides):
    """Write which rows lie left of a cut; whether one has no value, which is none up to the last."""
    missing = False
    for t in range(len(order)):
        x = column[np.uint32(order[t])]
        sides[t] = np.uint64(x <= cut)
        missing |= not x <= last
    return missing


@inner
def _expand(D, R, S, N, node):
    """Part the rows of a node; the middle of its children's values, and the bounds that follow for them."""
    lower, upper, f = N.real[node, LOWER], N.real[node, UPPER], N.whole[node, FEATURE]
    bounds = lower, upper, lower, upper
    if D.columns[f, MONOTONE] != 0:
        middle = _bounds(D, R, S, N, node)
        bounds = (lower, middle, middle, upper) if D.columns[f, MONOTONE] > 0 else (middle, upper, lower, middle)
    return _part(D, R, S, N, node), bounds


@inner
def _wait(spec, bound, place, start, stop, depth, parent, is_left, lower, upper):
    """Enter a node that is to be made."""
    spec[place, 0], spec[place, 1], spec[place, 2], spec[place, 3], spec[place, 4] = start, stop, depth, parent, is_left
    bound[place, 0], bound[place, 1] = lower, upper


@inner
def _grow(D, R, S, N, n, spec, bound, open_nodes):
    """Grow a tree to the left before the right; where leaves are limited, what gains most first, the rest staying leaves."""
    waiting, n_open, leaves, limited = 1, 0, 1, R.max_leaf_nodes > 0
    _wait(spec, bound, 0, 0, n, 0, -1, 1, -np.inf, np.inf)
    while True:
        if waiting:
            waiting -= 1
            start, stop, depth = spec[waiting, 0], spec[waiting, 1], spec[waiting, 2]
            parent, is_left = spec[waiting, 3], spec[waiting, 4]
            node, splits = _make(D, R, S, N, start, stop, depth, parent, is_left, bound[waiting, 0], bound[waiting, 1])
            if not splits:
                continue
            if limited:
                open_nodes[n_open] = node
                n_open += 1
                continue
        elif n_open and leaves < R.max_leaf_nodes:
            best = 0
            for t in range(1, n_open):
                if N.real[open_nodes[t], GAIN] > N.real[open_nodes[best], GAIN]:
                    best = t
            node = open_nodes[best]
            for t in range(best, n_open - 1):  # ties go to the one made first
                open_nodes[t] = open_nodes[t + 1]
            n_open, leaves = n_open - 1, leaves + 1
        else:
            break
        cut, (a, b, c, d) = _expand(D, R, S, N, node)
        start, stop, below = N.whole[node, START], N.whole[node, STOP], N.whole[node, DEPTH] + 1
        _wait(spec, bound, waiting, cut, stop, below, node, 0, c, d)
        _wait(spec, bound, waiting + 1, start, cut, below, node, 1, a, b)
        waiting += 2
    for t in range(n_open):
        _close(N, open_nodes[t])


@jit
def grow(ranks, by_row, cells, cells_by_row, values, columns, y, codes, weight, rows, whole, real, seed):
    """One tree from ranked columns, or from cells, (columns, rows) and (rows, columns), where thresholds are drawn.

    `columns` (columns, 5) tells where a column's values begin, how many there are, whether they are levels, its monotone
    constraint, and whether cells are missing; `y` (outputs, rows) are numbers, `codes` (outputs, rows) classes, of which the one
    that is not used is empty; `rows` are those with weight, `whole` are SETTINGS, `real` the least weight of a leaf and the least
    decrease. Returns the arrays of `Nodes`.
    """
    R = Rules(
        whole[0], whole[1], whole[2], whole[3], whole[4], whole[5], whole[6], whole[7], whole[8],
        whole[0] == SQUARED and whole[1] == 0 and len(y) == 1, real[0], real[1],
    )  # fmt: skip
    d, n = len(columns), len(rows)
    D = Data(ranks, by_row, cells, cells_by_row, values, columns, y, codes, weight)
    width, most, any_levels = len(codes) * R.width if R.width else len(y), 1, False
    for f in range(d):
        if columns[f, CATEGORICAL]:
            most, any_levels = max(most, columns[f, LEVELS]), True
    S = Space(
        np.empty(n, np.int32), np.empty((len(y), n)), np.empty((len(codes), n), np.int32), np.empty(n), np.empty(n),
        np.empty((3, n), np.uint64), np.empty(n if R.random else 0), np.empty(2048, np.int64), np.zeros((4, width)),
        np.empty((2, most), np.int8), np.empty((2, most)), np.empty((2, most), np.int64), np.arange(d),
        np.full(1, seed, np.uint64),
    )  # fmt: skip
    for t in range(n):
        row = rows[t]
        S.order[t], S.weight[t] = row, weight[row]
        for o in range(len(y)):
            S.y[o, t] = y[o, row]
        for o in range(len(codes)):
            S.codes[o, t] = codes[o, row]
    size = 2 * n - 1
    if R.max_leaf_nodes > 0:
        size = min(size, 2 * min(R.max_leaf_nodes, n) - 1)
    if R.max_depth < 30:
        size = min(size, 2 ** (R.max_depth + 1) - 1)
    k = R.n_surrogates
    N = Nodes(
        np.empty((size, 10), np.int64), np.empty((size, 6)), np.empty((size, width)),
        np.empty((1 - (-most // 32)) * (1 + k) * (size + 1) // 2 if any_levels else 0, np.uint32), np.zeros(2, np.int64),
        np.empty((size, k, 4), np.int64), np.zeros((size, k)),
    )  # fmt: skip
    _grow(D, R, S, N, n, np.empty((n + 2, 5), np.int64), np.empty((n + 2, 2)), np.empty(size, np.int64))
    m = N.count[0]
    own = 1 if R.width else 0
    for node in range(m):
        if N.real[node, LOWER] > -np.inf or N.real[node, UPPER] < np.inf:  # of one output: a mean, or a second class
            N.value[node, own] = min(max(N.value[node, own], N.real[node, LOWER]), N.real[node, UPPER])
            if R.width:
                N.value[node, 0] = 1.0 - N.value[node, 1]
    return (
        N.whole[:m].copy(), N.real[:m].copy(), N.value[:m].copy(), N.sets[: N.count[1]].copy(), N.s_whole[:m].copy(),
        N.s_threshold[:m].copy(),
    )  # fmt: skip
