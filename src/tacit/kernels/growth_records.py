"""The records of the growth of a tree (what it learns from, rules, space and nodes), and what all of growth does with them."""

# mypy: disable-error-code="attr-defined,call-arg,misc"
from collections import namedtuple

import numpy as np

from .jit import inner
from .splits import ABSOLUTE

__all__ = [
    "CATEGORICAL",
    "CATEGORY",
    "CUT",
    "DEPTH",
    "FEATURE",
    "FIRST",
    "FLIP",
    "GAIN",
    "GAPS",
    "IMPURITY",
    "LEFT",
    "LEVELS",
    "LOWER",
    "MISSING_LEFT",
    "MONOTONE",
    "PLACE",
    "RIGHT",
    "ROWS",
    "SET",
    "SETTINGS",
    "SPARSE",
    "START",
    "STOP",
    "SUM_ALL",
    "SUM_LEFT",
    "SUM_MISSING",
    "SUM_OBSERVED",
    "THRESHOLD",
    "UPPER",
    "WEIGHT",
    "Data",
    "Nodes",
    "Rules",
    "Space",
    "draw",
    "draw_column",
    "in_set",
    "is_left", "is_sparse",
    "keep_set",
    "without_value",
]  # fmt: skip

SETTINGS = (
    "criterion", "width", "max_depth", "min_split", "min_leaf", "max_leaf_nodes", "max_features", "random", "n_surrogates",
)  # fmt: skip

FEATURE, CUT, LEFT, RIGHT, MISSING_LEFT, CATEGORY, ROWS, START, STOP, DEPTH = range(10)  # columns of Nodes.whole
THRESHOLD, IMPURITY, GAIN, WEIGHT, LOWER, UPPER = range(6)  # of Nodes.real
FLIP = 2  # of Nodes.s_whole, beside FEATURE and CUT, before a set's place
SET = 3
FIRST, LEVELS, CATEGORICAL, MONOTONE, GAPS = range(5)  # of Data.columns
SUM_LEFT, SUM_ALL, SUM_MISSING, SUM_OBSERVED = range(4)  # of Space.sums
PLACE = np.uint64(0xFFFFFFFF)
SPARSE = 16  # a cell in so many is looked at where rows are looked up one by one

# What is learned from: ranks (columns, rows), a rank equal to the number of values standing for a missing cell, or the cells
# themselves, by column and by row, where thresholds are drawn. Few arrays, since compilers take long over many.
Data = namedtuple("Data", ["ranks", "by_row", "cells", "rows", "values", "columns", "y", "codes", "weight"])
Rules = namedtuple("Rules", [*SETTINGS, "scalar", "min_weight", "min_decrease"])
Space = namedtuple("Space", [
    "order", "y", "codes", "weight", "moment", "keys", "cells", "counts", "sums", "side", "share", "places", "visit", "state",
])  # fmt: skip
Nodes = namedtuple("Nodes", ["whole", "real", "value", "sets", "count", "s_whole", "s_threshold"])


@inner
def draw(state):
    """The next number of a sequence that a seed begins (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inner
def draw_column(R, S, drawn):
    """Bring one of the columns that were not looked at to its place among those that were."""
    if R.max_features < len(S.visit) or R.random:
        j = drawn + np.int64(draw(S.state) * (len(S.visit) - drawn))
        S.visit[drawn], S.visit[j] = S.visit[j], S.visit[drawn]
    return S.visit[drawn]


@inner
def is_sparse(D, s, e):
    """Whether the rows of a node are so far apart that all columns of a row are had for what one cell costs by column."""
    return (e - s) * SPARSE < max(D.ranks.shape[1], len(D.rows))


@inner
def without_value(R, S, s, n_gone):
    """Sums over the rows without a value, and over the others in `observed`; their weight."""
    S.sums[SUM_MISSING, :] = 0.0
    w = second = 0.0
    for t in range(n_gone):
        i = s + np.int64(S.keys[2, t])
        w += S.weight[i]
        second += S.moment[i]
        if R.scalar or R.criterion == ABSOLUTE:
            continue
        if R.width:
            for o in range(len(S.codes)):
                S.sums[SUM_MISSING, o * R.width + S.codes[o, i]] += S.weight[i]
        else:
            for o in range(len(S.y)):
                S.sums[SUM_MISSING, o] += S.weight[i] * S.y[o, i]
    for k in range(S.sums.shape[1]):
        S.sums[SUM_OBSERVED, k] = S.sums[SUM_ALL, k] - S.sums[SUM_MISSING, k]
    return w, second


@inner
def keep_set(D, S, N, f, missing_left, side):
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
def in_set(sets, start, level):
    return (sets[start + 1 + (level >> 5)] >> np.uint32(level & 31)) & np.uint32(1)


@inner
def is_left(D, N, node, row):
    """1 and 0: left and right; 2 where the row has no value of the node's column."""
    f, levels = N.whole[node, FEATURE], N.whole[node, CATEGORY]
    if len(D.cells):
        x = D.cells[f, row]
        if x != x:
            return 2
        if levels < 0:
            return 1 if x <= N.real[node, THRESHOLD] else 0
        return 1 if in_set(N.sets, levels, np.int64(x)) else 0
    r = np.int64(D.ranks[f, row])
    if r == D.columns[f, LEVELS]:
        return 2
    if levels < 0:
        return 1 if r <= N.whole[node, CUT] else 0
    return 1 if in_set(N.sets, levels, r) else 0
