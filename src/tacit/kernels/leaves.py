"""Which leaf a row falls into, and sums of what leaves say, over one tree or many that are laid out end to end.

A step is 16 bytes, so that one line of the cache tells all that a node asks. The children of a node stand side by side, and
a leaf leads to itself: rows go down together in lanes, without a branch, and the memory they wait for overlaps.
"""

import numpy as np

from .jit import jit

__all__ = [
    "CATEGORICAL",
    "LANES",
    "MISSING_LEFT",
    "STEP",
    "add_values",
    "along",
    "find_leaves",
    "lay_out",
    "own_leaves",
]

STEP = np.dtype([("threshold", np.float64), ("feature", np.int32), ("left", np.int32)])
LANES = 12
MISSING_LEFT, CATEGORICAL = 1, 2


@jit
def lay_out(feature, threshold, left, right, missing_left, category, first, sets_first, steps, flags, place):
    """Write the nodes of one tree into steps[first:] with siblings side by side; `place` tells where each node went."""
    stack = np.empty(len(feature), np.int32)
    stack[0], depth, free = 0, 1, first + 1
    place[0] = first
    while depth:
        depth -= 1
        node = stack[depth]
        at = place[node]
        if feature[node] < 0:
            steps[at].threshold, steps[at].feature, steps[at].left, flags[at] = np.inf, 0, at, MISSING_LEFT
            continue
        steps[at].threshold, steps[at].feature, steps[at].left = threshold[node], feature[node], free
        flags[at] = MISSING_LEFT if missing_left[node] else 0
        if category[node] >= 0:
            flags[at] |= CATEGORICAL
            steps[at].threshold = np.float64(sets_first + category[node])
        place[left[node]], place[right[node]] = free, free + 1
        free += 2
        stack[depth], stack[depth + 1] = right[node], left[node]
        depth += 2


@jit
def _goes_right(x, threshold, flag, sets):
    """0 or 1: where a cell leads that may be missing or a level; levels that the set does not tell of are missing."""
    missing = 0 if flag & MISSING_LEFT else 1
    if x != x:
        return missing
    if flag & CATEGORICAL:
        at = int(threshold)
        n_levels = sets[at]
        if x < 0 or x >= n_levels:
            return missing
        level = int(x)
        return 0 if (sets[at + 1 + (level >> 5)] >> np.uint32(level & 31)) & np.uint32(1) else 1
    return 1 if x > threshold else 0


@jit
def _down(steps, flags, sets, root, x):
    """The leaf of one row, anything being possible."""
    at = root
    while steps[at].left != at:
        at = steps[at].left + _goes_right(x[steps[at].feature], steps[at].threshold, flags[at], sets)
    return at


@jit
def _step(steps, at, x):
    step = steps[at]
    return np.uint64(step.left + (x[np.uint64(step.feature)] > step.threshold))


@jit
def _lanes(steps, root, X, lane):
    """The leaves of LANES rows whose cells are all numbers, each in a variable of its own, which stays in a register."""
    x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 = (
        X[0], X[1], X[2], X[3], X[4], X[5], X[6], X[7], X[8], X[9], X[10], X[11],
    )  # fmt: skip
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = a8 = a9 = a10 = a11 = np.uint64(root)
    moved = True
    while moved:
        b0 = _step(steps, a0, x0)
        b1 = _step(steps, a1, x1)
        b2 = _step(steps, a2, x2)
        b3 = _step(steps, a3, x3)
        b4 = _step(steps, a4, x4)
        b5 = _step(steps, a5, x5)
        b6 = _step(steps, a6, x6)
        b7 = _step(steps, a7, x7)
        b8 = _step(steps, a8, x8)
        b9 = _step(steps, a9, x9)
        b10 = _step(steps, a10, x10)
        b11 = _step(steps, a11, x11)
        a0 = _step(steps, b0, x0)
        a1 = _step(steps, b1, x1)
        a2 = _step(steps, b2, x2)
        a3 = _step(steps, b3, x3)
        a4 = _step(steps, b4, x4)
        a5 = _step(steps, b5, x5)
        a6 = _step(steps, b6, x6)
        a7 = _step(steps, b7, x7)
        a8 = _step(steps, b8, x8)
        a9 = _step(steps, b9, x9)
        a10 = _step(steps, b10, x10)
        a11 = _step(steps, b11, x11)
        moved = (a0 ^ b0) | (a1 ^ b1) | (a2 ^ b2) | (a3 ^ b3) | (a4 ^ b4) | (a5 ^ b5) != 0
        moved |= (a6 ^ b6) | (a7 ^ b7) | (a8 ^ b8) | (a9 ^ b9) | (a10 ^ b10) | (a11 ^ b11) != 0
    lane[0], lane[1], lane[2], lane[3], lane[4], lane[5] = a0, a1, a2, a3, a4, a5
    lane[6], lane[7], lane[8], lane[9], lane[10], lane[11] = a6, a7, a8, a9, a10, a11


@jit
def find_leaves(steps, flags, sets, roots, X, plain, out):
    """out[row, tree]: the step at which a row ends in each tree; `plain` where neither cells are missing nor columns levels."""
    n = len(X)
    lane = np.empty(LANES, np.int64)
    for tree in range(len(roots)):
        whole = n - n % LANES if plain else 0
        for start in range(0, whole, LANES):
            _lanes(steps, roots[tree], X[start : start + LANES], lane)
            for t in range(LANES):
                out[start + t, tree] = lane[t]
        for row in range(whole, n):
            out[row, tree] = _down(steps, flags, sets, roots[tree], X[row])


@jit
def add_values(steps, flags, sets, roots, X, plain, value, out):
    """out[row] += value[leaf of the row], tree after tree, so that sums do not depend on how rows are cut."""
    n, width = out.shape
    lane = np.empty(LANES, np.int64)
    for tree in range(len(roots)):
        whole = n - n % LANES if plain else 0
        for start in range(0, whole, LANES):
            _lanes(steps, roots[tree], X[start : start + LANES], lane)
            for t in range(LANES):
                for k in range(width):
                    out[start + t, k] += value[lane[t], k]
        for row in range(whole, n):
            at = _down(steps, flags, sets, roots[tree], X[row])
            for k in range(width):
                out[row, k] += value[at, k]


@jit
def _asked(x, threshold, category, missing_left, sets):
    """0 or 1: where a cell leads that is asked for by threshold, or by a set where there is one."""
    flag = (MISSING_LEFT if missing_left else 0) | (CATEGORICAL if category >= 0 else 0)
    return _goes_right(x, np.float64(category) if category >= 0 else threshold, flag, sets)


@jit
def _told(x, category, sets):
    """Whether a cell says anything: it is not missing, nor a level that was not there to be learned from."""
    return x == x and (category < 0 or 0 <= x < sets[category])


@jit
def own_leaves(
    feature, threshold, left, right, missing_left, category, sets, s_feature, s_threshold, s_flip, s_category, X, out
):
    """out[row]: the leaf of each row in one tree that is not laid out, by surrogates where it has some."""
    for row in range(len(X)):
        at, x = 0, X[row]
        while feature[at] >= 0:
            cell = x[feature[at]]
            goes_right = _asked(cell, threshold[at], category[at], missing_left[at], sets)
            if s_feature.shape[1] and not _told(cell, category[at], sets):
                for place in range(s_feature.shape[1]):
                    f = s_feature[at, place]
                    if f >= 0 and _told(x[f], s_category[at, place], sets):
                        goes_right = _asked(x[f], s_threshold[at, place], s_category[at, place], False, sets)
                        goes_right = 1 - goes_right if s_flip[at, place] else goes_right
                        break
            at = right[at] if goes_right else left[at]
        out[row] = at


@jit
def along(feature, parent, leaf, start, nodes):
    """The nodes from the root to each row's leaf, in the order of their numbers, as the rows of a CSR matrix."""
    for row in range(len(leaf)):
        at, place = leaf[row], start[row + 1]
        while at >= 0:
            place -= 1
            nodes[place] = at
            at = parent[at]


@jit
def spread_weights(first, rows, share, tree_leaves, out_of_bag, out):
    """out[query, row] += the weight of a row in the query's leaf, summed over trees, whose number is returned for each query.

    `tree_leaves` (queries, trees) are steps of a forest, `rows[first[step] : first[step + 1]]` the rows of a leaf with `share` of
    its weight; trees count for a query where `out_of_bag` says so.
    """
    used = np.zeros(len(out))
    for query in range(len(out)):
        for tree in range(tree_leaves.shape[1]):
            if not out_of_bag[query, tree]:
                continue
            used[query] += 1
            step = tree_leaves[query, tree]
            for at in range(first[step], first[step + 1]):
                out[query, rows[at]] += share[at]
    return used
