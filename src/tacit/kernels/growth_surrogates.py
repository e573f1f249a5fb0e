"""Surrogate splits: the cuts of other columns that agree best with a node's split stand in for it where its value is missing."""

# mypy: disable-error-code="assignment,attr-defined,call-arg,misc"
import numpy as np

from .growth_records import (
    CATEGORICAL,
    CUT,
    FEATURE,
    FIRST,
    FLIP,
    LEVELS,
    MISSING_LEFT,
    PLACE,
    SET,
    START,
    STOP,
    in_set,
    is_left,
    keep_set,
)
from .growth_search import gather, middle
from .jit import inner, jit
from .splits import RANK, sort_keys

__all__ = ["by_surrogate", "surrogates"]


@jit
def surrogates(D, R, S, N, node):
    """Find the cuts of other columns that agree best with a node's split, over the rows that have both values."""
    s, e = N.whole[node, START], N.whole[node, STOP]
    m = e - s
    side, kept = np.empty(m, np.int8), np.full(R.n_surrogates, -np.inf)
    for t in range(m):
        side[t] = is_left(D, N, node, S.order[s + t])
    for f in range(len(D.ranks)):
        if f == N.whole[node, FEATURE]:
            continue
        n, low, high, _ = gather(D, S, s, e, f)
        k, left, right = 0, 0.0, 0.0
        for t in range(n):
            i = np.int64(S.keys[0, t] & PLACE)
            if side[i] < 2:
                S.keys[0, k] = S.keys[0, t]
                k += 1
                left, right = left + side[i] * S.weight[s + i], right + (1 - side[i]) * S.weight[s + i]
        if k == 0 or low == high:
            continue
        agreed, flip, cut, threshold = -np.inf, False, 0, 0.0
        if D.columns[f, CATEGORICAL]:
            S.share[0, : D.columns[f, LEVELS]] = 0.0
            S.share[1, : D.columns[f, LEVELS]] = 0.0
            for t in range(k):
                level, i = np.int64(S.keys[0, t] >> RANK), np.int64(S.keys[0, t] & PLACE)
                if side[i]:
                    S.share[0, level] += S.weight[s + i]
                else:
                    S.share[1, level] += S.weight[s + i]
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
                a, b = a + side[i] * S.weight[s + i], b + (1 - side[i]) * S.weight[s + i]
                this, following = np.int64(keys[t] >> RANK), np.int64(keys[t + 1] >> RANK)
                if this == following:
                    continue
                straight, turned = a + right - b, b + left - a
                if max(straight, turned) > agreed * (1 + 1e-12):
                    agreed, flip, cut = max(straight, turned), turned > straight, this
                    threshold = middle(values[this], values[following])
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
            N.s_whole[node, place, SET] = keep_set(D, S, N, f, N.whole[node, MISSING_LEFT], S.side[0])


@inner
def by_surrogate(D, R, N, node, row):
    """Whether a row without the node's value goes left, as the first surrogate says that it has the value of."""
    for place in range(R.n_surrogates):
        f = N.s_whole[node, place, FEATURE]
        if f < 0:
            break
        r = np.int64(D.ranks[f, row])
        if r == D.columns[f, LEVELS]:
            continue
        if N.s_whole[node, place, SET] >= 0:
            return in_set(N.sets, N.s_whole[node, place, SET], r) == 1
        return (r <= N.s_whole[node, place, CUT]) != N.s_whole[node, place, FLIP]
    return N.whole[node, MISSING_LEFT]
