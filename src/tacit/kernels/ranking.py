"""The best items of many users, without those that they have seen."""

import numpy as np

from .jit import jit

__all__ = ["top"]


@jit
def top(scores, users, indptr, seen, items, best):
    """Write the best items of each row of scores, the highest first, equal ones by number.

    Parameters
    ----------
    scores : (B, n_items) float32
        Changed: seen items become −∞.
    users : (B,)
        Numbers of the users; −1 has seen nothing.
    indptr, seen
        Items that users have seen, by user.
    items, best : (B, n)
        Filled with numbers of items and their scores.
    """
    n = items.shape[1]
    for b in range(len(users)):
        row = scores[b]
        if users[b] >= 0:
            for p in range(indptr[users[b]], indptr[users[b] + 1]):
                row[seen[p]] = -np.inf
        best[b, :] = -np.inf
        items[b, :] = 0
        least = np.float32(-np.inf)
        for j in range(len(row)):
            value = row[j]
            if value > least:
                at = n - 1
                while at > 0 and best[b, at - 1] < value:
                    best[b, at], items[b, at] = best[b, at - 1], items[b, at - 1]
                    at -= 1
                best[b, at], items[b, at] = value, j
                least = best[b, n - 1]
