"""The growth of one tree: rows of a node lie side by side, and a split parts them in place.

A node is described (its weight, value and impurity), searched for its best split, and expanded: depth first, or the node with the
largest gain first where the number of leaves is limited. Columns are ranks, so that a forest sorts values once.
"""

from collections import namedtuple

import numpy as np

from .jit import jit
from .splits import (
    ABSOLUTE, GAIN_RATIO, POISSON, RANK, SQUARED, impurity, median_loss, scan, scan_absolute, scan_scalar, sort_keys,
)  # fmt: skip

__all__ = ["SETTINGS", "grow"]

SETTINGS = (
    "criterion", "width", "max_depth", "min_split", "min_leaf", "max_leaf_nodes", "max_features", "random", "n_surrogates",
)  # fmt: skip

# What is learned from: ranks (columns, rows), a rank equal to the number of values standing for a missing cell.
Data = namedtuple("Data", ["ranks", "values", "first", "levels", "categorical", "monotone", "y", "codes", "weight"])
Rules = namedtuple("Rules", [*SETTINGS, "scalar", "min_weight", "min_decrease"])
Space = namedtuple(
    "Space",
    ["order", "y", "codes", "pair", "raw", "keys", "other", "gone", "counts", "left", "total", "missing", "observed",
     "visit", "side", "best_side", "share", "sums", "state"],
)  # fmt: skip
Nodes = namedtuple(
    "Nodes",
    ["feature", "threshold", "cut", "left", "right", "missing_left", "category", "sets", "value", "impurity", "gain", "n_rows",
     "weight", "start", "stop", "depth", "lower", "upper", "count", "s_feature", "s_threshold", "s_flip",
     "s_category", "s_cut"],
)  # fmt: skip


@jit
def _draw(state):
    """The next number of a sequence that a seed begins (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@jit
def _describe(D, R, S, N, node):
    """Weight, value and impurity of a node; fills the pairs and totals by which it is searched."""
    s, e = N.start[node], N.stop[node]
    W, spread = 0.0, 0.0
    for i in range(s, e):
        W += S.raw[i]
    N.weight[node], N.n_rows[node] = W, e - s
    S.total[:] = 0.0
    for i in range(s, e):
        S.pair[i, 0] = S.raw[i]
    if R.width:
        for o in range(len(S.codes)):
            for i in range(s, e):
                S.total[o * R.width + S.codes[o, i]] += S.raw[i]
        N.value[node] = S.total / W
        N.impurity[node] = impurity(R.criterion, S.total, W, len(S.codes))
        return
    n_outputs = len(S.y)
    for o in range(n_outputs):
        y = S.y[o, s:e]
        if R.criterion == ABSOLUTE:
            N.value[node, o], loss = median_loss(y, S.pair[s:e])
            spread += loss
            continue
        total = 0.0
        for i in range(e - s):
            total += S.raw[s + i] * y[i]
        S.total[o] = total
        mean = total / W
        N.value[node, o] = mean
        for i in range(e - s):
            apart = y[i] - mean
            if R.criterion == POISSON:
                spread += S.raw[s + i] * y[i] * np.log(y[i] / mean) if y[i] > 0 else 0.0
            else:
                spread += S.raw[s + i] * apart * apart
            S.pair[s + i, 1] = S.raw[s + i] * apart
    N.impurity[node] = max(spread, 0.0) / W / n_outputs


@jit
def _gather(D, S, s, e, f):
    """Keys of the rows with a value, how many there are, the ends of their ranks, and how many have none."""
    ranks, none = D.ranks[f], D.levels[f]
    n, n_gone, low, high = 0, 0, none, -1
    for i in range(s, e):
        r = np.int64(ranks[S.order[i]])
        if r == none:
            S.gone[n_gone] = np.uint64(i - s)
            n_gone += 1
            continue
        S.keys[n] = (np.uint64(r) << RANK) | np.uint64(i - s)
        n += 1
        low, high = min(low, r), max(high, r)
    return n, low, high, n_gone


@jit
def _without_value(R, S, s, n_gone):
    """Sums over the rows without a value, and over the others in `observed`; their weight."""
    S.missing[:] = 0.0
    w = second = 0.0
    for t in range(n_gone):
        i = s + np.int64(S.gone[t])
        w += S.pair[i, 0]
        second += S.pair[i, 1]
        if R.scalar or R.criterion == ABSOLUTE:
            continue
        if R.width:
            for o in range(len(S.codes)):
                S.missing[o * R.width + S.codes[o, i]] += S.pair[i, 0]
        else:
            for o in range(len(S.y)):
                S.missing[o] += S.pair[i, 0] * S.y[o, i]
    S.observed[:] = S.total - S.missing
    return w, second


@jit
def _arrange(R, S, s, n, n_levels, part):
    """Give keys the place of their level in the order of a response, and tell which levels there are, in that order."""
    S.share[:n_levels] = 0.0
    S.sums[:n_levels] = 0.0
    for t in range(n):
        level = np.int64(S.keys[t] >> RANK)
        i = s + np.int64(S.keys[t] & np.uint64(0xFFFFFFFF))
        S.share[level] += S.pair[i, 0]
        if R.width:
            o = part // R.width
            S.sums[level] += S.pair[i, 0] if S.codes[o, i] == part % R.width else 0.0
        else:
            S.sums[level] += S.pair[i, 0] * S.y[part, i]
    for level in range(n_levels):
        S.sums[level] = S.sums[level] / S.share[level] if S.share[level] > 0 else np.inf
    order = np.argsort(S.sums[:n_levels], kind="mergesort")
    place = np.empty(n_levels, np.int64)
    for t in range(n_levels):
        place[order[t]] = t
    for t in range(n):
        level = np.int64(S.keys[t] >> RANK)
        S.keys[t] = (np.uint64(place[level]) << RANK) | (S.keys[t] & np.uint64(0xFFFFFFFF))
    return order


@jit
def _scan(D, R, S, N, node, f, keys, n, n_gone, w_gone, s_gone, slack):
    """The best cut of sorted keys."""
    s, e = N.start[node], N.stop[node]
    both = R.n_surrogates == 0
    W = N.weight[node] - (0.0 if both else w_gone)
    cst, lower, upper = D.monotone[f], N.lower[node], N.upper[node]
    if R.scalar:
        S.missing[0], S.missing[1] = w_gone, s_gone
        return scan_scalar(
            keys, n, S.pair[s:e], W, 0.0 if both else -s_gone, S.missing, n_gone, R.min_leaf, R.min_weight, slack,
            N.value[node, 0], cst, lower, upper, both,
        )  # fmt: skip
    if R.criterion == ABSOLUTE:
        whole = N.impurity[node] * N.weight[node]
        if not both and n_gone:
            rows = (keys[:n] & np.uint64(0xFFFFFFFF)).astype(np.int64)
            whole = 0.0
            for o in range(len(S.y)):
                whole += median_loss(S.y[o, s:e][rows], S.pair[s:e][rows])[1] / len(S.y)
        return scan_absolute(
            keys, n, S.pair[s:e], S.y[:, s:e], whole, R.min_leaf, R.min_weight, slack, S.gone, n_gone, both
        )
    return scan(
        R.criterion, keys, n, S.pair[s:e], S.codes[:, s:e], S.y[:, s:e], R.width, S.left, S.total if both else S.observed, W,
        S.missing, w_gone, n_gone, R.min_leaf, R.min_weight, slack, cst, lower, upper, both,
    )  # fmt: skip


@jit
def _middle(a, b):
    """A threshold between two values, at which a comes to lie left of b."""
    m = 0.5 * a + 0.5 * b
    return m if a <= m < b else a


@jit
def _random_cut(D, S, f, low, high):
    """A threshold drawn between the ends of a node's values, and the largest rank that goes left."""
    values = D.values[D.first[f] : D.first[f + 1]]
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


@jit
def _cut_at_random(D, R, S, keys, n, f, low, high):
    """Turn ranks into sides 0 and 1, drawn: the keys in the order of their sides, and the threshold and rank of the cut."""
    threshold, cut = 0.0, 0
    if D.categorical[f]:
        S.side[: D.levels[f]] = 2
        ones = zeros = 0
        for t in range(n):
            level = np.int64(keys[t] >> RANK)
            if S.side[level] == 2:
                S.side[level] = 1 if _draw(S.state) < 0.5 else 0
                ones, zeros = ones + S.side[level], zeros + 1 - S.side[level]
        if not ones or not zeros:
            level = np.int64(keys[np.int64(_draw(S.state) * n)] >> RANK)
            S.side[level] = 1 - S.side[level]
    else:
        threshold, cut = _random_cut(D, S, f, low, high)
    first, last = 0, n
    for t in range(n):
        level = np.int64(keys[t] >> RANK)
        goes_left = S.side[level] == 0 if D.categorical[f] else level <= cut
        if goes_left:
            S.other[first] = keys[t] & np.uint64(0xFFFFFFFF)
            first += 1
        else:
            last -= 1
            S.other[last] = (keys[t] & np.uint64(0xFFFFFFFF)) | (np.uint64(1) << RANK)
    return S.other, threshold, cut


@jit
def _search(D, R, S, N, node, floor, found_any):
    """The best split of a node among columns drawn; whether there is one, and the sum and number of gains (of gain ratios).

    What is found is written to the node; the sides of levels are left in `best_side`.
    """
    s, e = N.start[node], N.stop[node]
    d = len(D.levels)
    slack = 1e-12 * N.weight[node] * N.impurity[node]
    best, found, drawn, usable = -np.inf, False, 0, 0
    sum_gain, n_gain = 0.0, 0
    while drawn < d and (drawn < R.max_features or usable == 0):
        if R.max_features < d or R.random:
            if not found_any:
                j = drawn + np.int64(_draw(S.state) * (d - drawn))
                S.visit[drawn], S.visit[j] = S.visit[j], S.visit[drawn]
        f = S.visit[drawn]
        drawn += 1
        n, low, high, n_gone = _gather(D, S, s, e, f)
        if n == 0 or (low == high and (n_gone == 0 or R.n_surrogates)):
            continue
        usable += 1
        w_gone = s_gone = 0.0
        if n_gone:
            w_gone, s_gone = _without_value(R, S, s, n_gone)
        parts = 1
        if D.categorical[f] and not R.random:
            parts = len(S.total) if not R.scalar and R.width else len(S.y)
            if R.width == 2 and len(S.codes) == 1:
                parts = 1
        for part in range(parts):
            order, threshold, cut = S.visit[:0], 0.0, 0
            if part:
                _gather(D, S, s, e, f)
            if R.random and low < high:
                keys, threshold, cut = _cut_at_random(D, R, S, S.keys, n, f, low, high)
            elif D.categorical[f]:
                order = _arrange(R, S, s, n, D.levels[f], part)
                keys, _ = sort_keys(S.keys, S.other, n, 0, D.levels[f] - 1, S.counts)
            else:
                keys, _ = sort_keys(S.keys, S.other, n, low, high, S.counts)
            score, place, to_left = _scan(D, R, S, N, node, f, keys, n, n_gone, w_gone, s_gone, slack)
            if place < 0:
                continue
            merit = score
            if R.criterion == GAIN_RATIO:
                sum_gain, n_gain = sum_gain + score, n_gain + 1
                if score < floor:
                    continue
                w = w_gone if to_left else 0.0
                for t in range(place + 1):
                    w += S.pair[s + np.int64(keys[t] & np.uint64(0xFFFFFFFF)), 0]
                share = w / N.weight[node]
                merit = score / max(-share * np.log2(share) - (1 - share) * np.log2(max(1 - share, 1e-300)), 1e-12)
            if found and not merit > best + slack:
                continue
            best, found = merit, True
            N.feature[node], N.gain[node], N.missing_left[node] = f, max(score, 0.0), to_left
            w = s_left = 0.0
            total = 0.0
            for t in range(n):
                i = s + np.int64(keys[t] & np.uint64(0xFFFFFFFF))
                total += S.pair[i, 0]
                if t <= place:
                    w += S.pair[i, 0]
            if n_gone == 0 or R.n_surrogates:
                N.missing_left[node] = w > total - w
            if D.categorical[f]:
                S.best_side[: D.levels[f]] = 2
                for t in range(n):
                    i = s + np.int64(keys[t] & np.uint64(0xFFFFFFFF))
                    S.best_side[np.int64(D.ranks[f, S.order[i]])] = 0 if t <= place else 1
                continue
            values = D.values[D.first[f] : D.first[f + 1]]
            if place == n - 1:
                N.threshold[node], N.cut[node] = np.inf, D.levels[f] - 1
            elif R.random:
                N.threshold[node], N.cut[node] = threshold, cut
            else:
                a, b = np.int64(keys[place] >> RANK), np.int64(keys[place + 1] >> RANK)
                N.threshold[node], N.cut[node] = _middle(values[a], values[b]), a
    return found, sum_gain, n_gain


@jit
def _keep_set(D, S, N, f, missing_left, side):
    """Write a set of levels; those that the node has none of go where missing cells go."""
    start, n = N.count[1], D.levels[f]
    N.sets[start] = n
    for word in range(-(-n // 32)):
        N.sets[start + 1 + word] = 0
    for level in range(n):
        if side[level] == 0 or (side[level] == 2 and missing_left):
            N.sets[start + 1 + (level >> 5)] |= np.uint32(1) << np.uint32(level & 31)
    N.count[1] = start + 1 - (-n // 32)
    return start


@jit
def _in_set(sets, start, level):
    return (sets[start + 1 + (level >> 5)] >> np.uint32(level & 31)) & np.uint32(1)


@jit
def _bounds(D, R, S, N, node):
    """The middle of the values of the two children, by which a monotone constraint bounds them."""
    s, e, f = N.start[node], N.stop[node], N.feature[node]
    wl = wr = sl = sr = 0.0
    for i in range(s, e):
        r = np.int64(D.ranks[f, S.order[i]])
        goes_left = N.missing_left[node] if r == D.levels[f] else r <= N.cut[node]
        value = (1.0 if S.codes[0, i] == 1 else 0.0) if R.width else S.y[0, i]
        if goes_left:
            wl, sl = wl + S.raw[i], sl + S.raw[i] * value
        else:
            wr, sr = wr + S.raw[i], sr + S.raw[i] * value
    return 0.5 * (sl / wl + sr / wr)


@jit
def _make(D, R, S, N, start, stop, depth, parent, is_left, lower, upper):
    """Make a node; whether it can be split."""
    node = N.count[0]
    N.count[0] += 1
    N.start[node], N.stop[node], N.depth[node] = start, stop, depth
    N.lower[node], N.upper[node] = lower, upper
    N.feature[node], N.threshold[node], N.left[node], N.right[node] = -2, -2.0, -1, -1
    N.category[node], N.gain[node], N.missing_left[node] = -1, 0.0, True
    if parent >= 0:
        if is_left:
            N.left[parent] = node
        else:
            N.right[parent] = node
    _describe(D, R, S, N, node)
    n, W = stop - start, N.weight[node]
    stops = depth >= R.max_depth or n < R.min_split or n < 2 * R.min_leaf or W < 2 * R.min_weight
    root = N.impurity[0]
    if stops or N.impurity[node] <= 1e-14 * root or N.impurity[node] <= 0:
        return node, False
    found, sum_gain, n_gain = _search(D, R, S, N, node, -np.inf, False)
    if found and R.criterion == GAIN_RATIO and n_gain > 1 and not R.random:
        # The ratio favours lopsided splits: only those count that gain as much as the average one (Quinlan).
        found, _, _ = _search(D, R, S, N, node, sum_gain / n_gain * (1 - 1e-12), True)
    decrease = N.gain[node] / N.weight[0]
    if not found or decrease + 1e-15 * root < R.min_decrease:
        N.feature[node], N.threshold[node], N.gain[node], N.missing_left[node] = -2, -2.0, 0.0, True
        return node, False
    f = N.feature[node]
    if D.categorical[f]:
        N.category[node] = _keep_set(D, S, N, f, N.missing_left[node], S.best_side)
    return node, True


@jit
def _is_left(D, N, node, row):
    """1 and 0: left and right; 2 where the row has no value of the node's column."""
    f = N.feature[node]
    r = np.int64(D.ranks[f, row])
    if r == D.levels[f]:
        return 2
    if N.category[node] >= 0:
        return 1 if _in_set(N.sets, N.category[node], r) else 0
    return 1 if r <= N.cut[node] else 0


@jit
def _surrogates(D, R, S, N, node):
    """Find the cuts of other columns that agree best with a node's split, over the rows that have both values."""
    s, e = N.start[node], N.stop[node]
    m = e - s
    side, kept = np.empty(m, np.int8), np.full(R.n_surrogates, -np.inf)
    for t in range(m):
        side[t] = _is_left(D, N, node, S.order[s + t])
    N.s_feature[node] = -2
    for f in range(len(D.levels)):
        if f == N.feature[node]:
            continue
        n, low, high, _ = _gather(D, S, s, e, f)
        k, left, right = 0, 0.0, 0.0
        for t in range(n):
            i = np.int64(S.keys[t] & np.uint64(0xFFFFFFFF))
            if side[i] < 2:
                S.keys[k] = S.keys[t]
                k += 1
                left, right = left + side[i] * S.raw[s + i], right + (1 - side[i]) * S.raw[s + i]
        if k == 0 or low == high:
            continue
        agreed, flip, cut, threshold = -np.inf, False, 0, 0.0
        if D.categorical[f]:
            S.share[: D.levels[f]] = 0.0
            S.sums[: D.levels[f]] = 0.0
            for t in range(k):
                level, i = np.int64(S.keys[t] >> RANK), np.int64(S.keys[t] & np.uint64(0xFFFFFFFF))
                if side[i]:
                    S.share[level] += S.raw[s + i]
                else:
                    S.sums[level] += S.raw[s + i]
            agreed = 0.0
            for level in range(D.levels[f]):
                a, b = S.share[level], S.sums[level]
                S.side[level] = 2 if a + b == 0 else 0 if a >= b else 1
                agreed += max(a, b)
        else:
            keys, _ = sort_keys(S.keys, S.other, k, low, high, S.counts)
            a = b = 0.0  # weight of left and right rows so far
            values = D.values[D.first[f] : D.first[f + 1]]
            for t in range(k - 1):
                i = np.int64(keys[t] & np.uint64(0xFFFFFFFF))
                a, b = a + side[i] * S.raw[s + i], b + (1 - side[i]) * S.raw[s + i]
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
            for told in (N.s_feature, N.s_category, N.s_cut):
                told[node, place + 1] = told[node, place]
            N.s_threshold[node, place + 1], N.s_flip[node, place + 1] = N.s_threshold[node, place], N.s_flip[node, place]
        kept[place] = agreed
        N.s_feature[node, place], N.s_threshold[node, place], N.s_cut[node, place] = f, threshold, cut
        N.s_flip[node, place], N.s_category[node, place] = flip, -1
        if D.categorical[f]:
            N.s_category[node, place] = _keep_set(D, S, N, f, N.missing_left[node], S.side)


@jit
def _by_surrogate(D, R, N, node, row):
    """Whether a row without the node's value goes left, as the first surrogate says that it has the value of."""
    for place in range(R.n_surrogates):
        f = N.s_feature[node, place]
        if f < 0:
            break
        r = np.int64(D.ranks[f, row])
        if r == D.levels[f]:
            continue
        if N.s_category[node, place] >= 0:
            return _in_set(N.sets, N.s_category[node, place], r) == 1
        return (r <= N.s_cut[node, place]) != N.s_flip[node, place]
    return N.missing_left[node]


@jit
def _part(D, R, S, N, node):
    """Bring the rows that go left before the others, both in their order; where the others begin."""
    s, e = N.start[node], N.stop[node]
    if R.n_surrogates:
        _surrogates(D, R, S, N, node)
    left, right = s, 0
    for i in range(s, e):
        row = S.order[i]
        goes = _is_left(D, N, node, row)
        if goes == 2:
            goes = N.missing_left[node] if R.n_surrogates == 0 else _by_surrogate(D, R, N, node, row)
        if goes:
            S.order[left], S.raw[left] = row, S.raw[i]
            for o in range(len(S.y)):
                S.y[o, left] = S.y[o, i]
            for o in range(len(S.codes)):
                S.codes[o, left] = S.codes[o, i]
            left += 1
        else:
            S.gone[right] = np.uint64(row)
            right += 1
    for t in range(right):
        row = np.int64(S.gone[t])
        S.order[left + t], S.raw[left + t] = row, D.weight[row]
        for o in range(len(S.y)):
            S.y[o, left + t] = D.y[o, row]
        for o in range(len(S.codes)):
            S.codes[o, left + t] = D.codes[o, row]
    return left


@jit
def _expand(D, R, S, N, node):
    """Part the rows of a node; the middle of its children's values, and the bounds that follow for them."""
    lower, upper, f = N.lower[node], N.upper[node], N.feature[node]
    bounds = lower, upper, lower, upper
    if D.monotone[f] != 0:
        middle = _bounds(D, R, S, N, node)
        bounds = (lower, middle, middle, upper) if D.monotone[f] > 0 else (middle, upper, lower, middle)
    return _part(D, R, S, N, node), bounds


@jit
def _depth_first(D, R, S, N, n):
    """Grow a tree to the left before the right, which numbers nodes in that order."""
    size = 64
    spec, bound = np.empty((size, 5), np.int64), np.empty((size, 2))
    spec[0] = (0, n, 0, -1, 1)
    bound[0] = (-np.inf, np.inf)
    depth = 1
    while depth:
        depth -= 1
        start, stop, level, parent, is_left = spec[depth]
        node, splits = _make(D, R, S, N, start, stop, level, parent, is_left, bound[depth, 0], bound[depth, 1])
        if not splits:
            continue
        cut, (a, b, c, d) = _expand(D, R, S, N, node)
        if depth + 2 > size:
            wider, further = np.empty((2 * size, 5), np.int64), np.empty((2 * size, 2))
            wider[:size], further[:size] = spec, bound
            spec, bound, size = wider, further, 2 * size
        spec[depth] = (cut, stop, level + 1, node, 0)
        bound[depth] = (c, d)
        spec[depth + 1] = (start, cut, level + 1, node, 1)
        bound[depth + 1] = (a, b)
        depth += 2


@jit
def _best_first(D, R, S, N, n):
    """Grow the node that gains most, until there are as many leaves as allowed; the others stay leaves."""
    open_nodes, n_open, leaves = np.empty(len(N.feature), np.int64), 0, 1
    node, splits = _make(D, R, S, N, 0, n, 0, -1, True, -np.inf, np.inf)
    if splits:
        open_nodes[0], n_open = node, 1
    while n_open and leaves < R.max_leaf_nodes:
        best = 0
        for t in range(1, n_open):
            if N.gain[open_nodes[t]] > N.gain[open_nodes[best]]:
                best = t
        node = open_nodes[best]
        for t in range(best, n_open - 1):  # the first made stays first: ties go to it
            open_nodes[t] = open_nodes[t + 1]
        n_open -= 1
        cut, (a, b, c, d) = _expand(D, R, S, N, node)
        start, stop, level = N.start[node], N.stop[node], N.depth[node] + 1
        child, splits = _make(D, R, S, N, start, cut, level, node, True, a, b)
        if splits:
            open_nodes[n_open] = child
            n_open += 1
        child, splits = _make(D, R, S, N, cut, stop, level, node, False, c, d)
        if splits:
            open_nodes[n_open] = child
            n_open += 1
        leaves += 1
    for t in range(n_open):
        node = open_nodes[t]
        N.feature[node], N.threshold[node], N.gain[node], N.category[node] = -2, -2.0, 0.0, -1
        N.missing_left[node] = True


@jit
def grow(ranks, values, first, categorical, monotone, y, codes, weight, rows, whole, real, seed):
    """One tree from ranked columns.

    `y` (outputs, rows) are numbers, `codes` (outputs, rows) are classes, of which the one that is not used is empty; `rows` are those
    with weight, `whole` are SETTINGS, `real` least weight of a leaf and least decrease. Returns the arrays of `tree.grown.Tree`.
    """
    R = Rules(
        whole[0], whole[1], whole[2], whole[3], whole[4], whole[5], whole[6], whole[7], whole[8],
        whole[0] == SQUARED and whole[1] == 0 and len(y) == 1, real[0], real[1],
    )  # fmt: skip
    d, n = len(ranks), len(rows)
    levels = first[1:] - first[:-1]
    D = Data(ranks, values, first, levels, categorical, monotone, y, codes, weight)
    columns = len(codes) * R.width if R.width else len(y)
    sums, most = max(columns, 2), 1
    for f in range(d):
        if categorical[f]:
            most = max(most, levels[f])
    S = Space(
        np.empty(n, np.int32), np.empty((len(y), n)), np.empty((len(codes), n), np.int32), np.empty((n, 2)), np.empty(n),
        np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(2048, np.int64),
        np.zeros(columns), np.zeros(columns), np.zeros(sums), np.zeros(columns), np.arange(d),
        np.empty(most, np.int8), np.empty(most, np.int8), np.empty(most), np.empty(most), np.full(1, seed, np.uint64),
    )  # fmt: skip
    for t in range(n):
        row = rows[t]
        S.order[t], S.raw[t] = row, weight[row]
        for o in range(len(y)):
            S.y[o, t] = y[o, row]
        for o in range(len(codes)):
            S.codes[o, t] = codes[o, row]
    most_nodes = 2 * n - 1
    if R.max_leaf_nodes > 0:
        most_nodes = min(most_nodes, 2 * R.max_leaf_nodes - 1)
    if R.max_depth < 30:
        most_nodes = min(most_nodes, 2 ** (R.max_depth + 1) - 1)
    words = (1 - (-most // 32)) * (1 + R.n_surrogates) * (most_nodes + 1) // 2 if categorical.any() else 0
    k = R.n_surrogates
    N = Nodes(
        np.empty(most_nodes, np.int32), np.empty(most_nodes), np.empty(most_nodes, np.int64), np.empty(most_nodes, np.int32),
        np.empty(most_nodes, np.int32), np.empty(most_nodes, np.bool_), np.empty(most_nodes, np.int32),
        np.empty(words, np.uint32), np.empty((most_nodes, columns)), np.empty(most_nodes), np.empty(most_nodes),
        np.empty(most_nodes, np.int64), np.empty(most_nodes), np.empty(most_nodes, np.int64), np.empty(most_nodes, np.int64),
        np.empty(most_nodes, np.int64), np.empty(most_nodes), np.empty(most_nodes), np.zeros(2, np.int64),
        np.empty((most_nodes, k), np.int32), np.empty((most_nodes, k)), np.empty((most_nodes, k), np.bool_),
        np.empty((most_nodes, k), np.int32), np.empty((most_nodes, k), np.int32),
    )  # fmt: skip
    if R.max_leaf_nodes > 0:
        _best_first(D, R, S, N, n)
    else:
        _depth_first(D, R, S, N, n)
    m = N.count[0]
    for node in range(m):
        own = 1 if R.width else 0
        if N.lower[node] > -np.inf or N.upper[node] < np.inf:  # constraints are for one output: a mean, or a second class
            N.value[node, own] = min(max(N.value[node, own], N.lower[node]), N.upper[node])
            if R.width:
                N.value[node, 0] = 1.0 - N.value[node, 1]
        if N.feature[node] < 0:
            for place in range(k):
                N.s_feature[node, place], N.s_category[node, place], N.s_threshold[node, place] = -2, -1, 0.0
                N.s_flip[node, place] = False
        else:
            for place in range(k):
                if N.s_feature[node, place] < 0:
                    N.s_category[node, place], N.s_threshold[node, place], N.s_flip[node, place] = -1, 0.0, False
    return (
        N.feature[:m].copy(), N.threshold[:m].copy(), N.left[:m].copy(), N.right[:m].copy(), N.missing_left[:m].copy(),
        N.category[:m].copy(), N.sets[: N.count[1]].copy(), N.value[:m].copy(), N.impurity[:m].copy(), N.gain[:m].copy(),
        N.n_rows[:m].copy(), N.weight[:m].copy(), N.s_feature[:m].copy(), N.s_threshold[:m].copy(), N.s_flip[:m].copy(),
        N.s_category[:m].copy(),
    )  # fmt: skip
