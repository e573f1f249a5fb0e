"""A KD-tree: rows cut at the median of their widest column until few are left, and the boxes that hold them.

Nodes are numbered as in a heap: 2 i + 1 and 2 i + 2 are the halves of i. Rows lie in the order of the leaves.
"""

import numpy as np

from .jit import jit
from .nearest import _longer, push, sums_to

__all__ = ["build_tree", "nearest_in_tree", "within_tree"]

ROUNDING = 1e-12
"""Share by which a box may be nearer than it is computed to be."""


@jit
def _select(X, column, order, low, high, middle):
    """Order numbers of rows from low to high − 1 such that the one at `middle` is where it is when sorted by a column."""
    high -= 1
    while low < high:
        a, b, c = X[order[low], column], X[order[(low + high) // 2], column], X[order[high], column]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while X[order[i], column] < pivot:
                i += 1
            while X[order[j], column] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@jit
def build_tree(X, n_levels, order, start, stop, low, high):
    """Cut the rows of X (n, d).

    Parameters
    ----------
    n_levels : int
        Levels of nodes, of which the last are leaves.
    order : (n,)
        0, 1, …; becomes the numbers of rows in the order of leaves.
    start, stop : (nodes,)
        Filled with the places of a node's rows in `order`.
    low, high : (nodes, d)
        Filled with the boxes.
    """
    n_nodes, d = low.shape
    start[0], stop[0] = 0, len(X)
    for node in range(n_nodes):
        low[node], high[node] = np.inf, -np.inf
        for r in range(start[node], stop[node]):
            for j in range(d):
                low[node, j] = min(low[node, j], X[order[r], j])
                high[node, j] = max(high[node, j], X[order[r], j])
        if 2 * node + 2 >= n_nodes:
            continue
        column = np.argmax(high[node] - low[node])
        middle = (start[node] + stop[node]) // 2
        _select(X, column, order, start[node], stop[node], middle)
        start[2 * node + 1], stop[2 * node + 1] = start[node], middle
        start[2 * node + 2], stop[2 * node + 2] = middle, stop[node]


@jit
def _apart(x, low, high, p):
    """The least sum of powers of a point and one in a box."""
    total = 0.0
    for j in range(len(x)):
        gap = max(low[j] - x[j], x[j] - high[j], 0.0)
        if p == 2.0:
            total += gap * gap
        elif p == 1.0:
            total += gap
        elif p == np.inf:
            total = max(total, gap)
        else:
            total += gap**p
    return total * (1.0 - ROUNDING)


@jit
def _largest(start, stop):
    """Rows in the largest leaf; leaves are the last half of the nodes."""
    most = 0
    for node in range(len(start) // 2, len(start)):
        most = max(most, stop[node] - start[node])
    return most


@jit
def nearest_in_tree(Q, columns, p, own, order, start, stop, low, high, values, numbers):
    """Show the heaps of queries the rows that may be near; returns how many distances were computed.

    `columns` (d, n) holds the rows in the order of leaves, by column; the rest is as in `build_tree` and `nearest_of_points`.
    """
    n_nodes, count, sums = len(start), 0, np.empty(_largest(start, stop))
    stack, apart = np.empty(128, np.int64), np.empty(128)
    for i in range(len(Q)):
        stack[0], apart[0], top = 0, _apart(Q[i], low[0], high[0], p), 1
        while top > 0:
            top -= 1
            node = stack[top]
            if apart[top] > values[i, 0]:
                continue
            if 2 * node + 2 < n_nodes:
                near, far = 2 * node + 1, 2 * node + 2
                to_near, to_far = _apart(Q[i], low[near], high[near], p), _apart(Q[i], low[far], high[far], p)
                if to_far < to_near:
                    near, far, to_near, to_far = far, near, to_far, to_near
                stack[top], apart[top] = far, to_far
                stack[top + 1], apart[top + 1] = near, to_near
                top += 2
                continue
            first, last = start[node], stop[node]
            sums_to(Q[i], columns, first, last, p, sums)
            count += last - first
            worst = values[i, 0]
            for r in range(last - first):
                if sums[r] <= worst and order[first + r] != own[i]:
                    push(sums[r], order[first + r], values[i], numbers[i])
                    worst = values[i, 0]
    return count


@jit
def within_tree(Q, columns, p, own, limit, order, start, stop, low, high):
    """As `within_points` of `nearest`, numbers in the order of leaves; and how many distances were computed."""
    n_nodes, computed, at, sums = len(start), 0, 0, np.empty(_largest(start, stop))
    stack = np.empty(128, np.int64)
    count = np.zeros(len(Q), np.int64)
    numbers, values = np.empty(64, np.int64), np.empty(64)
    for i in range(len(Q)):
        stack[0], top = 0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            if _apart(Q[i], low[node], high[node], p) > limit[i]:
                continue
            if 2 * node + 2 < n_nodes:
                stack[top], stack[top + 1] = 2 * node + 2, 2 * node + 1
                top += 2
                continue
            first, last = start[node], stop[node]
            sums_to(Q[i], columns, first, last, p, sums)
            computed += last - first
            for r in range(last - first):
                if sums[r] <= limit[i] and order[first + r] != own[i]:
                    if at == len(numbers):
                        numbers, values = _longer(numbers, 64), _longer(values, 64)
                    numbers[at], values[at] = order[first + r], sums[r]
                    at += 1
                    count[i] += 1
    return count, numbers[:at].copy(), values[:at].copy(), computed
