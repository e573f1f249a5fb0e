"""Breadth-first search of a sparse graph."""

import numpy as np

from .jit import jit

__all__ = ["breadth_first"]


@jit
def breadth_first(pointer, neighbours, start):
    """Vertices in the order of their distance from `start`, in edges, and the distance of the last."""
    n = len(pointer) - 1
    seen = np.zeros(n, np.bool_)
    queue = np.empty(n, np.int64)
    queue[0], seen[start] = start, True
    first, last, n_levels = 0, 1, 0
    while first < last:
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
    return queue[:last].copy(), n_levels - 1
