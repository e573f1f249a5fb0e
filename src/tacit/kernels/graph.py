"""Breadth-first search of a sparse graph: how many vertices lie 0, 1, 2 … edges from a vertex."""

import numpy as np

from .jit import jit

__all__ = ["breadth_first"]


@jit
def breadth_first(pointer, neighbours, start):
    """Sizes of the levels around `start`, and a vertex of the last one."""
    n = len(pointer) - 1
    seen = np.zeros(n, np.bool_)
    queue = np.empty(n, np.int64)
    sizes = np.empty(n, np.int64)
    queue[0], seen[start] = start, True
    first, last, n_levels = 0, 1, 0
    while first < last:
        sizes[n_levels] = last - first
        n_levels += 1
        end = last
        for place in range(first, end):
            vertex = queue[place]
            for edge in range(pointer[vertex], pointer[vertex + 1]):
                other = neighbours[edge]
                if not seen[other]:
                    seen[other] = True
                    queue[last] = other
                    last += 1
        first = end
    return sizes[:n_levels].copy(), queue[last - 1]
