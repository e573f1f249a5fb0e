"""Shapley values of a tree: what each column adds to the value that a row reaches.

Along the path to a leaf of value v the row agrees with what column i is asked for (o_i = 1) or not (o_i = 0), and a share z_i of
the rows that come by would. Over all orders in which columns may become known,

    φ_i = Σ_leaves v (o_i − z_i) ∫₀¹ Π_{j ≠ i} (o_j t + z_j (1 − t)) dt

which Gauss and Legendre's nodes integrate without error, all terms being of one sign.
"""

import numpy as np

from .jit import jit
from .leaves import CATEGORICAL, MISSING_LEFT, _goes_right

__all__ = ["leaf_paths", "shapley"]


@jit
def leaf_paths(feature, parent, left, weight, leaves, starts, nodes, sides, slots, columns, zeros, n_slots):
    """What is asked on the way to each leaf, from the leaf up: nodes, sides, and places of columns among those asked.

    Column k of leaf i is columns[starts[i] + k], of n_slots[i], and zeros has the share of rows that go the leaf's way.
    """
    for i in range(len(leaves)):
        at, place, first = leaves[i], starts[i], starts[i]
        n_slots[i] = 0
        while parent[at] >= 0:
            above = parent[at]
            k = 0
            while k < n_slots[i] and columns[first + k] != feature[above]:
                k += 1
            if k == n_slots[i]:
                columns[first + k], zeros[first + k] = feature[above], 1.0
                n_slots[i] += 1
            zeros[first + k] *= weight[at] / weight[above] if weight[above] > 0 else 0.5
            nodes[place], sides[place], slots[place] = above, 0 if left[above] == at else 1, k
            place += 1
            at = above


@jit
def shapley(
    feature, threshold, missing_left, category, sets, starts, nodes, sides, slots, columns, zeros, n_slots, value, points, shares,
    X, out,
):  # fmt: skip
    """Add what each column adds to the value of a tree.

    Parameters
    ----------
    feature, threshold, missing_left, category, sets : arrays
        Of a `Tree`.
    starts, nodes, sides, slots, columns, zeros, n_slots : arrays
        Made by `leaf_paths`.
    value : (leaves, K) array
    points, shares : (q, q) arrays
        Nodes and weights of the rule with k + 1 points on (0, 1) in row k.
    X : (n, d) array
    out : (n, d, K) array
        Added to.
    """
    side = np.empty(len(feature), np.int64)
    longest = 1
    for i in range(len(n_slots)):
        longest = max(longest, n_slots[i])
    ones, factors, sums = np.empty(longest), np.empty(longest), np.empty(longest)
    for r in range(len(X)):
        for at in range(len(feature)):
            if feature[at] >= 0:
                by_set = category[at] >= 0
                flag = (MISSING_LEFT if missing_left[at] else 0) | (CATEGORICAL if by_set else 0)
                told = np.float64(category[at]) if by_set else threshold[at]
                side[at] = _goes_right(X[r, feature[at]], told, flag, sets)
        for i in range(len(n_slots)):
            n, first = n_slots[i], starts[i]
            ones[:n], sums[:n] = 1.0, 0.0
            for k in range(starts[i], starts[i + 1]):
                if side[nodes[k]] != sides[k]:
                    ones[slots[k]] = 0.0
            rule = (n + 1) // 2 - 1
            for q in range(rule + 1):
                t = points[rule, q]
                whole, holes = shares[rule, q], 0
                for k in range(n):
                    factors[k] = ones[k] * t + zeros[first + k] * (1.0 - t)
                    if factors[k] > 0.0:
                        whole *= factors[k]
                    else:
                        holes += 1
                for k in range(n):
                    if holes == 0:
                        sums[k] += whole / factors[k]
                    elif holes == 1 and factors[k] == 0.0:
                        sums[k] += whole
            for k in range(n):
                effect = (ones[k] - zeros[first + k]) * sums[k]
                for c in range(out.shape[2]):
                    out[r, columns[first + k], c] += effect * value[i, c]
