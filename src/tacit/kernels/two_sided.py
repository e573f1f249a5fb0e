"""Types of users and of items behind ratings: one pass over the ratings of some users."""

import numpy as np

from .jit import jit, jit_sums

__all__ = ["memberships"]


@jit
def memberships(cells, weight, offsets, user, item, table, prior, item_counts, table_counts):
    """One update of the memberships of users, and what the items' and the table's are updated from.

    Parameters
    ----------
    cells : (n, 2)
        Number of the item and of the level of each rating; NaN is missing.
    weight : (n,)
    offsets : (units + 1,)
        Where the ratings of each user begin.
    user : (units, K)
        P(type | user); changed.
    item : (d, L)
        P(type | item).
    table : (levels, K, L)
        P(level | types).
    prior : float
        Ratings that each type of a user is given beforehand.
    item_counts : (d, L) or (0, L)
        Expected ratings by type of item are added; none where it is empty.
    table_counts : (levels, K, L)
        Expected ratings by level and types are added.

    Returns
    -------
    loglik : (units,)
        Log probability of the ratings of each user, and of the memberships that they had, under the prior.
    """
    n_user, n_levels, learns = user.shape[1], len(table), len(item_counts) > 0
    loglik, counts = np.zeros(len(user)), np.empty(n_user)
    # Given a user, the chances of a level by type of item are one table: a rating costs as much as there are types of items.
    mine, votes = np.empty((n_levels, item.shape[1])), np.empty((n_levels, item.shape[1]))
    for u in range(len(user)):
        _mix(user[u], table, mine)
        votes[:] = 0.0
        for p in range(offsets[u], offsets[u + 1]):
            if np.isnan(cells[p, 0]) or np.isnan(cells[p, 1]) or weight[p] == 0.0:
                continue
            j, level = int(cells[p, 0]), int(cells[p, 1])
            whole = max(_dot(item[j], mine[level]), 1e-300)
            loglik[u] += weight[p] * np.log(whole)
            scale = weight[p] / whole
            for l in range(item.shape[1]):
                votes[level, l] += scale * item[j, l]
            if learns:
                for l in range(item.shape[1]):
                    item_counts[j, l] += scale * item[j, l] * mine[level, l]
        loglik[u] += _share(user[u], table, votes, prior, counts, table_counts)
        whole = counts.sum()
        if whole > 0.0:
            user[u] = counts / whole
    return loglik


@jit_sums
def _dot(a, b):
    """Σ a b."""
    total = 0.0
    for l in range(len(a)):
        total += a[l] * b[l]
    return total


@jit
def _mix(user, table, mine):
    """Write Σ_k user_k table_k."""
    mine[:] = 0.0
    for level in range(len(table)):
        for k in range(len(user)):
            for l in range(table.shape[2]):
                mine[level, l] += user[k] * table[level, k, l]


@jit
def _share(user, table, votes, prior, counts, table_counts):
    """Write a user's counts by type, the prior's among them, add those of the table, and return the log prior."""
    log_prior = 0.0
    for k in range(len(user)):
        counts[k] = prior
        if prior > 0.0:
            log_prior += prior * np.log(user[k])
        for level in range(len(table)):
            counts[k] += user[k] * _dot(table[level, k], votes[level])
            if len(table_counts) > 0:
                for l in range(table.shape[2]):
                    table_counts[level, k, l] += user[k] * table[level, k, l] * votes[level, l]
    return log_prior
