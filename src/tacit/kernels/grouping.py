"""Pairs in order of one number and of another within, by counting twice."""

import numpy as np

from .jit import jit

__all__ = ["grouped"]


@jit
def _begin(key, n_keys):
    """Where each key begins, once in order."""
    indptr = np.zeros(n_keys + 1, np.int64)
    for p in range(len(key)):
        indptr[key[p] + 1] += 1
    for k in range(n_keys):
        indptr[k + 1] += indptr[k]
    return indptr


@jit
def grouped(own, other, values, n_own, n_other):
    """Pairs in order of `own`, within that of `other`, within that as given.

    Numbers and values travel along from the first count to the second, so that both read in order and only writes are scattered.

    Parameters
    ----------
    own, other : (n,) int32
        Numbers, from 0 to before `n_own` and `n_other`.
    values : (n,) float32
        What belongs to the pairs.

    Returns
    -------
    order : (n,) int64
        Places of the pairs.
    indptr : (n_own + 1,) int64
        Where each `own` begins.
    others, data : (n,)
        `other` and `values` in that order.
    twice : bool
        Whether a pair occurs more than once.
    """
    n = len(own)
    first, indptr = _begin(other, n_other), _begin(own, n_own)
    at = first[:-1].copy()
    owns, places, carried = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, values.dtype)
    for p in range(n):
        q = at[other[p]]
        owns[q], places[q], carried[q] = own[p], p, values[p]
        at[other[p]] = q + 1
    at = indptr[:-1].copy()
    order, others, data = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, values.dtype)
    twice = False
    for k in range(n_other):
        for p in range(first[k], first[k + 1]):
            q = at[owns[p]]
            order[q], others[q], data[q] = places[p], k, carried[p]
            twice |= q > indptr[owns[p]] and others[q - 1] == k
            at[owns[p]] = q + 1
    return order, indptr, others, data, twice
