"""Pairs in order of one number and of another within, by counting."""

import numpy as np

from .jit import jit

__all__ = ["grouped", "repeated"]


@jit
def _counted(key, n_keys, order):
    """A stable order of places by key, starting from an order; where keys begin."""
    indptr = np.zeros(n_keys + 1, np.int64)
    for p in range(len(key)):
        indptr[key[p] + 1] += 1
    for k in range(n_keys):
        indptr[k + 1] += indptr[k]
    at, found = indptr[:-1].copy(), np.empty(len(key), np.int64)
    for p in range(len(key)):
        place = order[p]
        found[at[key[place]]] = place
        at[key[place]] += 1
    return found, indptr


@jit
def repeated(own, other, order):
    """Whether two places that follow each other in an order hold the same pair."""
    for p in range(1, len(order)):
        here, before = order[p], order[p - 1]
        if own[here] == own[before] and other[here] == other[before]:
            return True
    return False


def grouped(own, other, n_own, n_other):
    """Places (n,) of pairs in order of `own`, within that of `other`, within that as given, and where each `own` begins."""
    order, _ = _counted(other, n_other, np.arange(len(own)))
    return _counted(own, n_own, order)
