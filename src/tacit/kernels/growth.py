"""The growth of one tree: rows of a node lie side by side, and a split parts them in place.

A node is described (its weight, value and impurity), searched for its best split, and expanded: depth first, or the node with the
largest gain first where the number of leaves is limited. Columns are ranks, so that a forest sorts values once.
"""

# mypy: disable-error-code="assignment,attr-defined,call-arg,misc"
from collections import namedtuple

import numpy as np

from .jit import inner, jit
from .splits import (
    ABSOLUTE,
    GAIN_RATIO,
    POISSON,
    RANK,
    SQUARED,
    allowed,
    ascending,
    gain,
    impurity,
    loss_of,
    median_loss,
    middle_of_medians,
    scan,
    scan_absolute,
    scan_scalar,
    sort_keys,
)  # fmt: skip

__all__ = ["SETTINGS", "grow"]

SETTINGS = (
    "criterion", "width", "max_depth", "min_split", "min_leaf", "max_leaf_nodes", "max_features", "random", "n_surrogates",
)  # fmt: skip

FEATURE, CUT, LEFT, RIGHT, MISSING_LEFT, CATEGORY, ROWS, START, STOP, DEPTH = range(10)  # columns of Nodes.whole
THRESHOLD, IMPURITY, GAIN, WEIGHT, LOWER, UPPER = range(6)  # of Nodes.real
FLIP = 2  # of Nodes.s_whole, beside FEATURE and CUT, before a set's place
SET = 3
FIRST, LEVELS, CATEGORICAL, MONOTONE = range(4)  # of Data.columns
SUM_LEFT, SUM_ALL, SUM_MISSING, SUM_OBSERVED = range(4)  # of Space.sums
PLACE = np.uint64(0xFFFFFFFF)
SPARSE = 16  # a cell in so many is looked at where rows are looked up one by one

# What is learned from: ranks (columns, rows), a rank equal to the number of values standing for a missing cell. Few arrays, since
# compilers take long over many.
Data = namedtuple("Data", ["ranks", "by_row", "values", "columns", "y", "codes", "weight"])
Rules = namedtuple("Rules", [*SETTINGS, "scalar", "min_weight", "min_decrease"])
Space = namedtuple(
    "Space", ["order", "y", "codes", "pair", "keys", "counts", "sums", "side", "share", "places", "visit", "state"]
)
Nodes = namedtuple("Nodes", ["whole", "real", "value", "sets", "count", "s_whole", "s_threshold"])


@inner
def _draw(state):
    """The next number of a sequence that a seed begins (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inner
def _add_up(codes, width, pair, total):
    """Σ weight by class of each output."""
    total[:] = 0.0
    for o in range(len(codes)):
        for i in range(len(pair)):
            total[o * width + codes[o, i]] += pair[i, 0]


@inner
def _centre(y, pair, poisson):
    """Σ weight·y and the weighted sum of squares about the mean, or the Poisson deviance; writes weight·(y − mean)."""
    W = total = spread = 0.0
    for i in range(len(y)):
        W += pair[i, 0]
        total += pair[i, 0] * y[i]
    mean = total / W
    for i in range(len(y)):
        apart = y[i] - mean
        pair[i, 1] = pair[i, 0] * apart
        spread += pair[i, 1] * apart
    if poisson:
        spread = 0.0
        for i in range(len(y)):
            spread += pair[i, 0] * y[i] * np.log(y[i] / mean) if y[i] > 0 else 0.0
    return total, mean, spread


@inner
def _describe(D, R, S, N, node):
    """Weight, value and impurity of a node; fills the pairs and totals by which it is searched."""
    s, e = N.whole[node, START], N.whole[node, STOP]
    pair, total, spread = S.pair[s:e], S.sums[SUM_ALL], 0.0
    W = pair[:, 0].sum()
    N.real[node, WEIGHT], N.whole[node, ROWS] = W, e - s
    if R.width:
        _add_up(S.codes[:, s:e], R.width, pair, total)
        for k in range(len(total)):
            N.value[node, k] = total[k] / W
        N.real[node, IMPURITY] = impurity(R.criterion, total, W, len(S.codes))
        return
    for o in range(len(S.y)):
        if R.criterion == ABSOLUTE:
            N.value[node, o], loss = median_loss(S.y[o, s:e], pair)
        else:
            total[o], N.value[node, o], loss = _centre(S.y[o, s:e], pair, R.criterion == POISSON)
        spread += loss
    N.real[node, IMPURITY] = max(spread, 0.0) / W / len(S.y)


@inner
def _gather(D, S, s, e, f):
    """Keys of the rows with a value, how many there are, the ends of their ranks, and how many have none."""
    none, order, keys, gone = D.columns[f, LEVELS], S.order[s:e], S.keys[0], S.keys[2]
    if _is_sparse(D, s, e):
        return _gather_cells(D.by_row, f, none, order, keys, gone)
    return _gather_keys(D.ranks[f], none, order, keys, gone)


@inner
def _is_sparse(D, s, e):
    """Whether the rows of a node are so far apart that all columns of a row are had for what one cell costs by column."""
    return (e - s) * SPARSE < D.ranks.shape[1]


@inner
def _gather_cells(ranks, f, none, order, keys, gone):
    n, n_gone, low, high = 0, 0, none, -1
    for i in range(len(order)):
        r = np.int64(ranks[order[i], f])
        if r == none:
            gone[n_gone] = np.uint64(i)
            n_gone += 1
            continue
        keys[n] = (np.uint64(r) << RANK) | np.uint64(i)
        n += 1
        low, high = min(low, r), max(high, r)
    return n, low, high, n_gone


@inner
def _gather_keys(ranks, none, order, keys, gone):
    # Arrays as arguments of their own: one taken from a record within a loop is counted at every turn.
    n, n_gone, low, high = 0, 0, none, -1
    for i in range(len(order)):
        r = np.int64(ranks[order[i]])
        if r == none:
            gone[n_gone] = np.uint64(i)
            n_gone += 1
            continue
        keys[n] = (np.uint64(r) << RANK) | np.uint64(i)
        n += 1
        low, high = min(low, r), max(high, r)
    return n, low, high, n_gone


@inner
def _without_value(R, S, s, n_gone):
    """Sums over the rows without a value, and over the others in `observed`; their weight."""
    S.sums[SUM_MISSING, :] = 0.0
    w = second = 0.0
    for t in range(n_gone):
        i = s + np.int64(S.keys[2, t])
        w += S.pair[i, 0]
        second += S.pair[i, 1]
        if R.scalar or R.criterion == ABSOLUTE:
            continue
        if R.width:
            for o in range(len(S.codes)):
                S.sums[SUM_MISSING, o * R.width + S.codes[o, i]] += S.pair[i, 0]
        else:
            for o in range(len(S.y)):
                S.sums[SUM_MISSING, o] += S.pair[i, 0] * S.y[o, i]
    for k in range(S.sums.shape[1]):
        S.sums[SUM_OBSERVED, k] = S.sums[SUM_ALL, k] - S.sums[SUM_MISSING, k]
    return w, second


@inner
def _arrange(R, S, s, n, n_levels, part):
    """Give keys the place of their level in the order of a response."""
    S.share[0, :n_levels] = 0.0
    S.share[1, :n_levels] = 0.0
    for t in range(n):
        level = np.int64(S.keys[0, t] >> RANK)
        i = s + np.int64(S.keys[0, t] & PLACE)
        S.share[0, level] += S.pair[i, 0]
        if R.width:
            o = part // R.width
            S.share[1, level] += S.pair[i, 0] if S.codes[o, i] == part % R.width else 0.0
        else:
            S.share[1, level] += S.pair[i, 0] * S.y[part, i]
    for level in range(n_levels):
        S.share[1, level] = S.share[1, level] / S.share[0, level] if S.share[0, level] > 0 else np.inf
    order, place = S.places[0], S.places[1]
    ascending(S.share[1, :n_levels], order)
    for t in range(n_levels):
        place[order[t]] = t
    for t in range(n):
        level = np.int64(S.keys[0, t] >> RANK)
        S.keys[0, t] = (np.uint64(place[level]) << RANK) | (S.keys[0, t] & PLACE)


@inner
def _scan(D, R, S, N, node, f, keys, n, n_gone, w_gone, s_gone, slack):
    """The best cut of sorted keys."""
    s, e = N.whole[node, START], N.whole[node, STOP]
    both = R.n_surrogates == 0
    W = N.real[node, WEIGHT] - (0.0 if both else w_gone)
    cst, lower, upper = D.columns[f, MONOTONE], N.real[node, LOWER], N.real[node, UPPER]
    if R.scalar:
        return scan_scalar(
            keys, n, S.pair[s:e], W, 0.0 if both else -s_gone, w_gone, s_gone, n_gone, R.min_leaf, R.min_weight, slack,
            N.value[node, 0], cst, lower, upper, both,
        )  # fmt: skip
    if R.criterion == ABSOLUTE:
        whole = N.real[node, IMPURITY] * N.real[node, WEIGHT]
        if not both and n_gone:
            whole = loss_of(keys, n, S.y[:, s:e], S.pair[s:e])
        return scan_absolute(
            keys,
            n,
            S.pair[s:e],
            S.y[:, s:e],
            whole,
            R.min_leaf,
            R.min_weight,
            slack,
            S.keys[2],
            n_gone,
            cst,
            lower,
            upper,
            both,
        )
    total = S.sums[SUM_ALL] if both else S.sums[SUM_OBSERVED]
    return scan(
        R.criterion, keys, n, S.pair[s:e], S.codes[:, s:e], S.y[:, s:e], R.width, S.sums[SUM_LEFT], total, W,
        S.sums[SUM_MISSING], w_gone, n_gone, R.min_leaf, R.min_weight, slack, cst, lower, upper, both,
    )  # fmt: skip


@inner
def _middle(a, b):
    """A threshold between two values, at which a comes to lie left of b."""
    m = 0.5 * a + 0.5 * b
    return m if a <= m < b else a


@inner
def _random_cut(D, S, f, low, high):
    """A threshold drawn between the ends of a node's values, and the largest rank that goes left."""
    values = D.values[D.columns[f, FIRST] : D.columns[f, FIRST] + D.columns[f, LEVELS]]
    a, b = values[low], values[high]
    threshold = a + _draw(S.state) * (b - a)
    if not a <= threshold < b:
        threshold = a
    start, stop = low, high  # the largest rank whose value is not above the threshold
    while start < stop:
        half = (start + stop + 1) // 2
        if values[half] <= threshold:
            start = half
        else:
            stop = half - 1
    return threshold, start


@inner
def _cut_at_random(D, R, S, keys, n, f, low, high):
    """Turn ranks into sides 0 and 1, drawn: the keys by side in keys[1]; the threshold and rank of the cut."""
    threshold, cut = 0.0, 0
    if D.columns[f, CATEGORICAL]:
        S.side[0, : D.columns[f, LEVELS]] = 2
        ones = zeros = 0
        for t in range(n):
            level = np.int64(keys[t] >> RANK)
            if S.side[0, level] == 2:
                S.side[0, level] = 1 if _draw(S.state) < 0.5 else 0
                ones, zeros = ones + S.side[0, level], zeros + 1 - S.side[0, level]
        if not ones or not zeros:
            level = np.int64(keys[np.int64(_draw(S.state) * n)] >> RANK)
            S.side[0, level] = 1 - S.side[0, level]
    else:
        threshold, cut = _random_cut(D, S, f, low, high)
    first, last = 0, n
    for t in range(n):
        level = np.int64(keys[t] >> RANK)
        goes_left = S.side[0, level] == 0 if D.columns[f, CATEGORICAL] else level <= cut
        if goes_left:
            S.keys[1, first] = keys[t] & PLACE
            first += 1
        else:
            last -= 1
            S.keys[1, last] = (keys[t] & PLACE) | (np.uint64(1) << RANK)
    return threshold, cut


@inner
def _sum_left(keys, n, cut, pair):
    """Rows, and sums of the pairs, of what lies left of a cut, the keys being in the order of the rows.

    Without a branch: where thresholds are drawn, no processor foretells on which side a row is.
    """
    rows, w, total = 0, 0.0, 0.0
    for t in range(n):
        goes = np.int64(keys[t] >> RANK) <= cut
        rows += goes
        w += pair[t, 0] if goes else 0.0
        total += pair[t, 1] if goes else 0.0
    return rows, w, total


@inner
def _sum_parts(keys, n, cut, pair, codes, y, width, left):
    """Sums by class or output of what lies left of a cut."""
    left[:] = 0.0
    for t in range(n):
        weight = pair[t, 0] if np.int64(keys[t] >> RANK) <= cut else 0.0
        for o in range(len(codes)):
            left[o * width + codes[o, t]] += weight
        for o in range(len(y)):
            left[o] += weight * y[o, t]


@inner
def _score_cut(D, R, S, N, node, f, n, cut):
    """The score of a cut that was drawn, and the weight that goes left; −∞ where it is not allowed."""
    s, W = N.whole[node, START], N.real[node, WEIGHT]
    rows, w, total = _sum_left(S.keys[0], n, cut, S.pair[s:])
    if not R.scalar:
        _sum_parts(S.keys[0], n, cut, S.pair[s:], S.codes[:, s:], S.y[:, s:], R.width, S.sums[SUM_LEFT])
    rest = W - w
    if rows < R.min_leaf or n - rows < R.min_leaf or w < R.min_weight or rest < R.min_weight:
        return -np.inf, w
    cst, lower, upper = D.columns[f, MONOTONE], N.real[node, LOWER], N.real[node, UPPER]
    if cst != 0 or lower > -np.inf or upper < np.inf:
        own = 1 if R.width else 0
        left, right = N.value[node, 0] + total / w, N.value[node, 0] - total / rest
        if not R.scalar:
            left = S.sums[SUM_LEFT, own] / w
            right = (S.sums[SUM_ALL, own] - S.sums[SUM_LEFT, own]) / rest
        if not allowed(left, right, cst, lower, upper):
            return -np.inf, w
    if R.scalar:
        return total * total * W / (w * rest), w
    return gain(R.criterion, S.sums[SUM_LEFT], S.sums[SUM_ALL], w, W, len(S.codes) if R.width else len(S.y)), w


@inner
def _weigh(pair, keys, n):
    """The weight of the first rows in the order of keys."""
    w = 0.0
    for t in range(n):
        w += pair[np.int64(keys[t] & PLACE), 0]
    return w


@inner
def _note(D, R, S, N, node, f, keys, n, place, threshold, cut):
    """Write the split of sorted keys after a place to the node; the sides of levels stay in side[1]."""
    if D.columns[f, CATEGORICAL]:
        S.side[1, : D.columns[f, LEVELS]] = 2
        for t in range(n):
            i = N.whole[node, START] + np.int64(keys[t] & PLACE)
            S.side[1, np.int64(D.ranks[f, S.order[i]])] = 0 if t <= place else 1
    elif place == n - 1:
        N.real[node, THRESHOLD], N.whole[node, CUT] = np.inf, D.columns[f, LEVELS] - 1
        if R.random:  # among the node's own values, as other thresholds that are drawn
            a = 0
            for t in range(n):
                a = max(a, np.int64(D.ranks[f, S.order[N.whole[node, START] + np.int64(keys[t] & PLACE)]]))
            N.real[node, THRESHOLD], N.whole[node, CUT] = D.values[D.columns[f, FIRST] + a], a
    elif R.random:
        N.real[node, THRESHOLD], N.whole[node, CUT] = threshold, cut
    else:
        a, b = np.int64(keys[place] >> RANK), np.int64(keys[place + 1] >> RANK)
        values = D.values[D.columns[f, FIRST] : D.columns[f, FIRST] + D.columns[f, LEVELS]]
        N.real[node, THRESHOLD], N.whole[node, CUT] = _middle(values[a], values[b]), a


@inner
def _draw_column(R, S, drawn):
    """Bring one of the columns that were not looked at to its place among those that were."""
    if R.max_features < len(S.visit) or R.random:
        j = drawn + np.int64(_draw(S.state) * (len(S.visit) - drawn))
        S.visit[drawn], S.visit[j] = S.visit[j], S.visit[drawn]
    return S.visit[drawn]


@inner
def _search(D, R, S, N, node, floor, again):
    """The best split of a node among columns drawn, or the same ones again; whether there is one, and the mean gain of columns.

    What is found is written to the node.
    """
    s, e, W = N.whole[node, START], N.whole[node, STOP], N.real[node, WEIGHT]
    d, slack = len(D.ranks), 1e-12 * W * N.real[node, IMPURITY]
    best, found, drawn, usable = -np.inf, False, 0, 0
    sum_gain, n_gain = 0.0, 0
    while drawn < d and (drawn < R.max_features or usable == 0):
        f = S.visit[drawn] if again else _draw_column(R, S, drawn)
        drawn += 1
        n, low, high, n_gone = _gather(D, S, s, e, f)
        if n == 0 or (low == high and (n_gone == 0 or R.n_surrogates)):
            continue
        usable += 1
        levels, drawn_cut = D.columns[f, CATEGORICAL], R.random and low < high
        if drawn_cut and not levels and n_gone == 0 and R.criterion != ABSOLUTE:
            threshold, cut = _random_cut(D, S, f, low, high)
            score, w = _score_cut(D, R, S, N, node, f, n, cut)
            if score > best + slack:
                best, found = score, True
                N.whole[node, FEATURE], N.real[node, GAIN] = f, max(score, 0.0)
                N.whole[node, MISSING_LEFT], N.real[node, THRESHOLD], N.whole[node, CUT] = w > W - w, threshold, cut
            continue
        w_gone = s_gone = 0.0
        if n_gone:
            w_gone, s_gone = _without_value(R, S, s, n_gone)
        parts = 1
        if levels and not R.random and not (R.width == 2 and len(S.codes) == 1):
            parts = S.sums.shape[1] if R.width else len(S.y)  # one order of levels for each class or output
        for part in range(parts):
            threshold, cut = 0.0, 0
            if part:
                _gather(D, S, s, e, f)
            if drawn_cut:
                threshold, cut = _cut_at_random(D, R, S, S.keys[0], n, f, low, high)
                place = 1
            else:
                if levels:
                    _arrange(R, S, s, n, D.columns[f, LEVELS], part)
                    low, high = 0, D.columns[f, LEVELS] - 1
                place = sort_keys(S.keys[0], S.keys[1], n, low, high, S.counts)
            keys = S.keys[place]
            score, place, to_left = _scan(D, R, S, N, node, f, keys, n, n_gone, w_gone, s_gone, slack)
            if place < 0:
                continue
            merit = score
            if R.criterion == GAIN_RATIO:
                sum_gain, n_gain = sum_gain + score, n_gain + 1
                share = (_weigh(S.pair[s:], keys, place + 1) + (w_gone if to_left else 0.0)) / W
                merit = score / max(-share * np.log2(share) - (1 - share) * np.log2(max(1 - share, 1e-300)), 1e-12)
            if score < floor or (found and not merit > best + slack):
                continue
            best, found = merit, True
            N.whole[node, FEATURE], N.real[node, GAIN], N.whole[node, MISSING_LEFT] = f, max(score, 0.0), to_left
            if n_gone == 0 or R.n_surrogates:
                N.whole[node, MISSING_LEFT] = 2 * _weigh(S.pair[s:], keys, place + 1) > W - w_gone
            _note(D, R, S, N, node, f, keys, n, place, threshold, cut)
    return found, sum_gain / max(n_gain, 1)


@inner
def _keep_set(D, S, N, f, missing_left, side):
    """Write a set of levels; those that the node has none of go where missing cells go."""
    start, n = N.count[1], D.columns[f, LEVELS]
    N.sets[start] = n
    for word in range(-(-n // 32)):
        N.sets[start + 1 + word] = 0
    for level in range(n):
        if side[level] == 0 or (side[level] == 2 and missing_left):
            N.sets[start + 1 + (level >> 5)] |= np.uint32(1) << np.uint32(level & 31)
    N.count[1] = start + 1 - (-n // 32)
    return start


@inner
def _in_set(sets, start, level):
    return (sets[start + 1 + (level >> 5)] >> np.uint32(level & 31)) & np.uint32(1)


@inner
def _bounds(D, R, S, N, node):
    """The middle of the values of the two children, by which a monotone constraint bounds them."""
    s, e, f = N.whole[node, START], N.whole[node, STOP], N.whole[node, FEATURE]
    wl = wr = sl = sr = 0.0
    for i in range(s, e):
        r = np.int64(D.ranks[f, S.order[i]])
        goes_left = N.whole[node, MISSING_LEFT] if r == D.columns[f, LEVELS] else r <= N.whole[node, CUT]
        value = (1.0 if S.codes[0, i] == 1 else 0.0) if R.width else S.y[0, i]
        S.keys[0, i - s] = np.uint64(goes_left)
        if goes_left:
            wl, sl = wl + S.pair[i, 0], sl + S.pair[i, 0] * value
        else:
            wr, sr = wr + S.pair[i, 0], sr + S.pair[i, 0] * value
    if R.criterion == ABSOLUTE:
        return middle_of_medians(S.keys[0, : e - s], S.y[0, s:e], S.pair[s:e])
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
    for again in range(2 if R.criterion == GAIN_RATIO and not R.random else 1):
        found, mean_gain = _search(D, R, S, N, node, floor, again == 1)
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
        N.whole[node, CATEGORY] = _keep_set(D, S, N, f, N.whole[node, MISSING_LEFT], S.side[1])
    return node, True


@inner
def _is_left(D, N, node, row):
    """1 and 0: left and right; 2 where the row has no value of the node's column."""
    f = N.whole[node, FEATURE]
    r = np.int64(D.ranks[f, row])
    if r == D.columns[f, LEVELS]:
        return 2
    if N.whole[node, CATEGORY] >= 0:
        return 1 if _in_set(N.sets, N.whole[node, CATEGORY], r) else 0
    return 1 if r <= N.whole[node, CUT] else 0


@jit
def _surrogates(D, R, S, N, node):
    """Find the cuts of other columns that agree best with a node's split, over the rows that have both values."""
    s, e = N.whole[node, START], N.whole[node, STOP]
    m = e - s
    side, kept = np.empty(m, np.int8), np.full(R.n_surrogates, -np.inf)
    for t in range(m):
        side[t] = _is_left(D, N, node, S.order[s + t])
    for f in range(len(D.ranks)):
        if f == N.whole[node, FEATURE]:
            continue
        n, low, high, _ = _gather(D, S, s, e, f)
        k, left, right = 0, 0.0, 0.0
        for t in range(n):
            i = np.int64(S.keys[0, t] & PLACE)
            if side[i] < 2:
                S.keys[0, k] = S.keys[0, t]
                k += 1
                left, right = left + side[i] * S.pair[s + i, 0], right + (1 - side[i]) * S.pair[s + i, 0]
        if k == 0 or low == high:
            continue
        agreed, flip, cut, threshold = -np.inf, False, 0, 0.0
        if D.columns[f, CATEGORICAL]:
            S.share[0, : D.columns[f, LEVELS]] = 0.0
            S.share[1, : D.columns[f, LEVELS]] = 0.0
            for t in range(k):
                level, i = np.int64(S.keys[0, t] >> RANK), np.int64(S.keys[0, t] & PLACE)
                if side[i]:
                    S.share[0, level] += S.pair[s + i, 0]
                else:
                    S.share[1, level] += S.pair[s + i, 0]
            agreed = 0.0
            for level in range(D.columns[f, LEVELS]):
                a, b = S.share[0, level], S.share[1, level]
                S.side[0, level] = 2 if a + b == 0 else 0 if a >= b else 1
                agreed += max(a, b)
        else:
            keys = S.keys[sort_keys(S.keys[0], S.keys[1], k, low, high, S.counts)]
            a = b = 0.0  # weight of left and right rows so far
            values = D.values[D.columns[f, FIRST] : D.columns[f, FIRST] + D.columns[f, LEVELS]]
            for t in range(k - 1):
                i = np.int64(keys[t] & PLACE)
                a, b = a + side[i] * S.pair[s + i, 0], b + (1 - side[i]) * S.pair[s + i, 0]
                this, following = np.int64(keys[t] >> RANK), np.int64(keys[t + 1] >> RANK)
                if this == following:
                    continue
                straight, turned = a + right - b, b + left - a
                if max(straight, turned) > agreed * (1 + 1e-12):
                    agreed, flip, cut = max(straight, turned), turned > straight, this
                    threshold = _middle(values[this], values[following])
        if not agreed > max(left, right) * (1 + 1e-12) or agreed <= kept[-1]:
            continue
        place = R.n_surrogates - 1
        while place > 0 and agreed > kept[place - 1]:
            kept[place], place = kept[place - 1], place - 1
            N.s_whole[node, place + 1] = N.s_whole[node, place]
            N.s_threshold[node, place + 1] = N.s_threshold[node, place]
        kept[place] = agreed
        N.s_whole[node, place, FEATURE], N.s_threshold[node, place], N.s_whole[node, place, CUT] = f, threshold, cut
        N.s_whole[node, place, FLIP], N.s_whole[node, place, SET] = flip, -1
        if D.columns[f, CATEGORICAL]:
            N.s_whole[node, place, SET] = _keep_set(D, S, N, f, N.whole[node, MISSING_LEFT], S.side[0])


@inner
def _by_surrogate(D, R, N, node, row):
    """Whether a row without the node's value goes left, as the first surrogate says that it has the value of."""
    for place in range(R.n_surrogates):
        f = N.s_whole[node, place, FEATURE]
        if f < 0:
            break
        r = np.int64(D.ranks[f, row])
        if r == D.columns[f, LEVELS]:
            continue
        if N.s_whole[node, place, SET] >= 0:
            return _in_set(N.sets, N.s_whole[node, place, SET], r) == 1
        return (r <= N.s_whole[node, place, CUT]) != N.s_whole[node, place, FLIP]
    return N.whole[node, MISSING_LEFT]


@inner
def _sides(D, R, S, N, node):
    """Write where each row of a node goes, 1 to the left, one being missing or the column one of levels."""
    for t in range(N.whole[node, STOP] - N.whole[node, START]):
        row = S.order[N.whole[node, START] + t]
        goes = _is_left(D, N, node, row)
        if goes == 2:
            goes = N.whole[node, MISSING_LEFT] if R.n_surrogates == 0 else np.int64(_by_surrogate(D, R, N, node, row))
        S.keys[0, t] = np.uint64(goes)


@inner
def _part_rows(sides, order, pair, y, codes, spare):
    """Bring rows that go left before the others; how many go left."""
    left, right = 0, 0
    for i in range(len(order)):
        row = order[i]
        goes = np.int64(sides[i])
        # Written to both ends, of which one moves on: no branch on where the row goes.
        order[left], pair[left, 0], spare[right] = row, pair[i, 0], np.uint64(row)
        for o in range(len(y)):
            y[o, left] = y[o, i]
        for o in range(len(codes)):
            codes[o, left] = codes[o, i]
        left, right = left + goes, right + 1 - goes
    return left


@inner
def _fill(order, pair, y, codes, spare, weight, all_y, all_codes):
    """Write the rows that went right after those that went left."""
    for t in range(len(order)):
        row = np.int64(spare[t])
        order[t], pair[t, 0] = row, weight[row]
        for o in range(len(y)):
            y[o, t] = all_y[o, row]
        for o in range(len(codes)):
            codes[o, t] = all_codes[o, row]


@inner
def _part(D, R, S, N, node):
    """Bring the rows that go left before the others, both in their order; where the others begin."""
    s, e, f = N.whole[node, START], N.whole[node, STOP], N.whole[node, FEATURE]
    if R.n_surrogates:
        _surrogates(D, R, S, N, node)
    missing = _compare(
        D.ranks[f], D.by_row, f, _is_sparse(D, s, e), N.whole[node, CUT], D.columns[f, LEVELS], S.order[s:e], S.keys[0]
    )
    if missing or N.whole[node, CATEGORY] >= 0:
        _sides(D, R, S, N, node)
    cut = s + _part_rows(S.keys[0], S.order[s:e], S.pair[s:e], S.y[:, s:e], S.codes[:, s:e], S.keys[2])
    _fill(S.order[cut:e], S.pair[cut:e], S.y[:, cut:e], S.codes[:, cut:e], S.keys[2], D.weight, D.y, D.codes)
    return cut


@inner
def _compare(ranks, by_row, f, sparse, cut, none, order, sides):
    """Write which rows lie left of a cut; whether one has no value."""
    missing = False
    for t in range(len(order)):
        r = np.int64(by_row[order[t], f]) if sparse else np.int64(ranks[order[t]])
        sides[t] = np.uint64(r <= cut)
        missing |= r == none
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
def grow(ranks, by_row, values, columns, y, codes, weight, rows, whole, real, seed):
    """One tree from ranked columns.

    `columns` (columns, 4) tells where a column's values begin, how many there are, whether they are levels, and its monotone
    constraint; `y` (outputs, rows) are numbers, `codes` (outputs, rows) classes, of which the one that is not used is empty;
    `rows` are those with weight, `whole` are SETTINGS, `real` the least weight of a leaf and the least decrease. Returns the
    arrays of `Nodes`.
    """
    R = Rules(
        whole[0], whole[1], whole[2], whole[3], whole[4], whole[5], whole[6], whole[7], whole[8],
        whole[0] == SQUARED and whole[1] == 0 and len(y) == 1, real[0], real[1],
    )  # fmt: skip
    d, n = len(ranks), len(rows)
    D = Data(ranks, by_row, values, columns, y, codes, weight)
    width, most, any_levels = len(codes) * R.width if R.width else len(y), 1, False
    for f in range(d):
        if columns[f, CATEGORICAL]:
            most, any_levels = max(most, columns[f, LEVELS]), True
    S = Space(
        np.empty(n, np.int32), np.empty((len(y), n)), np.empty((len(codes), n), np.int32), np.zeros((n, 2)),
        np.empty((3, n), np.uint64), np.empty(2048, np.int64), np.zeros((4, width)), np.empty((2, most), np.int8),
        np.empty((2, most)), np.empty((2, most), np.int64), np.arange(d), np.full(1, seed, np.uint64),
    )  # fmt: skip
    for t in range(n):
        row = rows[t]
        S.order[t], S.pair[t, 0] = row, weight[row]
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
