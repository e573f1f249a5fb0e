"""The best split of a node: keys of a column's ranks are sorted, and every cut between two is scored."""

# mypy: disable-error-code="assignment,attr-defined,call-arg,misc"
import numpy as np

from .growth_records import (
    CATEGORICAL,
    CUT,
    FEATURE,
    FIRST,
    GAIN,
    IMPURITY,
    LEVELS,
    LOWER,
    MISSING_LEFT,
    MONOTONE,
    PLACE,
    START,
    STOP,
    SUM_ALL,
    SUM_LEFT,
    SUM_MISSING,
    SUM_OBSERVED,
    THRESHOLD,
    UPPER,
    WEIGHT,
    draw_column,
    is_sparse,
    without_value,
)
from .jit import inner
from .splits import ABSOLUTE, GAIN_RATIO, RANK, ascending, loss_of, scan, scan_absolute, scan_scalar, sort_keys

__all__ = ["gather", "middle", "search"]


@inner
def gather(D, S, s, e, f):
    """Keys of the rows with a value, how many there are, the ends of their ranks, and how many have none."""
    none, order, keys, gone = D.columns[f, LEVELS], S.order[s:e], S.keys[0], S.keys[2]
    if is_sparse(D, s, e):
        return _gather_keys(D.by_row[:, f], none, order, keys, gone)
    return _gather_keys(D.ranks[f], none, order, keys, gone)


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
def _arrange(R, S, s, n, n_levels, part):
    """Give keys the place of their level in the order of a response."""
    S.share[0, :n_levels] = 0.0
    S.share[1, :n_levels] = 0.0
    for t in range(n):
        level = np.int64(S.keys[0, t] >> RANK)
        i = s + np.int64(S.keys[0, t] & PLACE)
        S.share[0, level] += S.weight[i]
        if R.width:
            o = part // R.width
            S.share[1, level] += S.weight[i] if S.codes[o, i] == part % R.width else 0.0
        else:
            S.share[1, level] += S.weight[i] * S.y[part, i]
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
            keys, n, S.weight[s:e], S.moment[s:e], W, 0.0 if both else -s_gone, w_gone, s_gone, n_gone, R.min_leaf,
            R.min_weight, slack, N.value[node, 0], cst, lower, upper, both,
        )  # fmt: skip
    if R.criterion == ABSOLUTE:
        whole = N.real[node, IMPURITY] * N.real[node, WEIGHT]
        if not both and n_gone:
            whole = loss_of(keys, n, S.y[:, s:e], S.weight[s:e])
        return scan_absolute(
            keys,
            n,
            S.weight[s:e],
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
    total = S.sums[SUM_OBSERVED] if n_gone and not both else S.sums[SUM_ALL]
    return scan(
        R.criterion, keys, n, S.weight[s:e], S.codes[:, s:e], S.y[:, s:e], R.width, S.sums[SUM_LEFT], total, W,
        S.sums[SUM_MISSING], w_gone, n_gone, R.min_leaf, R.min_weight, slack, cst, lower, upper, both,
    )  # fmt: skip


@inner
def middle(a, b):
    """A threshold between two values, at which a comes to lie left of b."""
    m = 0.5 * a + 0.5 * b
    return m if a <= m < b else a


@inner
def _weigh(weight, keys, n):
    """The weight of the first rows in the order of keys."""
    w = 0.0
    for t in range(n):
        w += weight[np.int64(keys[t] & PLACE)]
    return w


@inner
def _note(D, S, N, node, f, keys, n, place):
    """Write the split of sorted keys after a place to the node; the sides of levels stay in side[1]."""
    if D.columns[f, CATEGORICAL]:
        S.side[1, : D.columns[f, LEVELS]] = 2
        for t in range(n):
            i = N.whole[node, START] + np.int64(keys[t] & PLACE)
            S.side[1, np.int64(D.ranks[f, S.order[i]])] = 0 if t <= place else 1
    elif place == n - 1:
        N.real[node, THRESHOLD], N.whole[node, CUT] = np.inf, D.columns[f, LEVELS] - 1
    else:
        a, b = np.int64(keys[place] >> RANK), np.int64(keys[place + 1] >> RANK)
        values = D.values[D.columns[f, FIRST] : D.columns[f, FIRST] + D.columns[f, LEVELS]]
        N.real[node, THRESHOLD], N.whole[node, CUT] = middle(values[a], values[b]), a


@inner
def search(D, R, S, N, node, floor, again):
    """The best split of a node among columns drawn, or the same ones again; whether there is one, and the mean gain of columns.

    What is found is written to the node.
    """
    s, e, W = N.whole[node, START], N.whole[node, STOP], N.real[node, WEIGHT]
    d, slack = len(D.ranks), 1e-12 * W * N.real[node, IMPURITY]
    best, found, drawn, usable = -np.inf, False, 0, 0
    sum_gain, n_gain = 0.0, 0
    while drawn < d and (drawn < R.max_features or usable == 0):
        f = S.visit[drawn] if again else draw_column(R, S, drawn)
        drawn += 1
        n, low, high, n_gone = gather(D, S, s, e, f)
        if n == 0 or (low == high and (n_gone == 0 or R.n_surrogates)):
            continue
        usable += 1
        levels = D.columns[f, CATEGORICAL]
        w_gone = s_gone = 0.0
        if n_gone:
            w_gone, s_gone = without_value(R, S, s, n_gone)
        parts = 1
        if levels and not (R.width == 2 and len(S.codes) == 1):
            parts = S.sums.shape[1] if R.width else len(S.y)  # one order of levels for each class or output
        for part in range(parts):
            if part:
                gather(D, S, s, e, f)
            if levels:
                _arrange(R, S, s, n, D.columns[f, LEVELS], part)
                low, high = 0, D.columns[f, LEVELS] - 1
            keys = S.keys[sort_keys(S.keys[0], S.keys[1], n, low, high, S.counts)]
            score, place, to_left = _scan(D, R, S, N, node, f, keys, n, n_gone, w_gone, s_gone, slack)
            if place < 0:
                continue
            merit = score
            if R.criterion == GAIN_RATIO:
                sum_gain, n_gain = sum_gain + score, n_gain + 1
                share = (_weigh(S.weight[s:], keys, place + 1) + (w_gone if to_left else 0.0)) / W
                merit = score / max(-share * np.log2(share) - (1 - share) * np.log2(max(1 - share, 1e-300)), 1e-12)
            if score < floor or (found and not merit > best + slack):
                continue
            best, found = merit, True
            N.whole[node, FEATURE], N.real[node, GAIN], N.whole[node, MISSING_LEFT] = f, max(score, 0.0), to_left
            if n_gone == 0 or R.n_surrogates:
                N.whole[node, MISSING_LEFT] = 2 * _weigh(S.weight[s:], keys, place + 1) > W - w_gone
            _note(D, S, N, node, f, keys, n, place)
    return found, sum_gain / max(n_gain, 1)
