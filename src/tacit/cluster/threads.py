"""Ranges of rows on threads: what a range writes belongs to it alone, so results do not depend on the number of threads."""

from ..source.base import _pool, n_cores

__all__ = ["n_threads", "spread"]


def n_threads(n_jobs):
    """Threads that a setting asks for; None and −1 are all cores."""
    return n_cores() if n_jobs in (None, -1) else n_jobs


def spread(function, starts, threads):
    """function(start) for every start, results in order."""
    if threads == 1 or len(starts) == 1:
        return [function(start) for start in starts]
    waiting = [_pool(threads).submit(function, start) for start in starts]
    try:
        return [future.result() for future in waiting]
    finally:
        for future in waiting:
            future.cancel()
