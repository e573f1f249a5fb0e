"""Ranges of rows on threads, their results in order, with BLAS held to one thread inside."""

from collections import deque
from functools import reduce
from operator import add

from ...source.base import _pool, n_cores, one_blas_thread

__all__ = ["in_order", "n_threads", "ranges", "total_of"]

BLOCK_ENTRIES = 1 << 19  # of a block of kernel values: 4 MB
LEAST_ROWS = 64


def n_threads(n_jobs):
    """Threads that a setting asks for; None and −1 are all cores."""
    return n_cores() if n_jobs in (None, -1) else n_jobs


def ranges(n_rows, n_columns):
    """Slices of rows such that a block of them against `n_columns` is small; they do not depend on the machine."""
    step = max(LEAST_ROWS, BLOCK_ENTRIES // max(n_columns, 1))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def in_order(function, parts, threads):
    """Yield function(part) for every part, in order; few results wait at a time."""
    if threads == 1 or len(parts) == 1:
        yield from map(function, parts)
        return
    waiting: deque = deque()
    with one_blas_thread():
        try:
            for part in parts:
                waiting.append(_pool(threads).submit(function, part))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def total_of(function, parts, threads):
    """Σ function(part), which returns a tuple of arrays or numbers."""
    # Added in order: float sums must not depend on the number of threads.
    return reduce(lambda left, right: tuple(map(add, left, right)), in_order(function, parts, threads))
