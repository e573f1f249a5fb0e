"""Regressions of users' ratings on features of items: posteriors of their weights, and what they leave."""

import numpy as np

from .jit import jit, jit_sums

__all__ = ["leftovers", "weights"]


@jit_sums
def _dot(a, b):
    """Σ a b."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@jit
def weights(cells, weight, offsets, features, item, prior, precision, noise, mean, covariance):
    """Write the posterior means (units, q) and covariances (units, q, q) of the weights of users.

    Parameters
    ----------
    cells : (n, 2)
        Number of the item, and rating; NaN is missing.
    weight : (n,)
    offsets : (units + 1,)
        Where the ratings of each user begin.
    features : (d, q)
    item : (d,)
        Biases of items.
    prior : (units, q)
        Prior means.
    precision : (q, q)
        Inverse prior covariance.
    noise : float
        Variance of ratings.
    mean, covariance
        Filled.

    Returns
    -------
    loglik : (units,)
        Log density of the ratings of each user with weights integrated out, but for half the log determinant of the precision.
    """
    q, loglik = features.shape[1], np.zeros(len(prior))
    whole, pull = np.empty((q, q)), np.empty(q)
    for u in range(len(prior)):
        whole[:] = precision
        pull[:] = 0.0
        for p in range(offsets[u], offsets[u + 1]):
            if np.isnan(cells[p, 0]) or np.isnan(cells[p, 1]) or weight[p] == 0.0:
                continue
            j, scale = int(cells[p, 0]), weight[p] / noise
            left = cells[p, 1] - item[j] - _dot(features[j], prior[u])
            loglik[u] -= 0.5 * (weight[p] * np.log(2.0 * np.pi * noise) + scale * left * left)
            for a in range(q):
                x = scale * features[j, a]
                pull[a] += x * left
                if x != 0.0:
                    for b in range(a + 1):
                        whole[a, b] += x * features[j, b]
        for a in range(q):
            for b in range(a):
                whole[b, a] = whole[a, b]
        root = np.linalg.cholesky(whole)
        for a in range(q):
            loglik[u] -= np.log(root[a, a])
        covariance[u] = np.linalg.inv(whole)
        for a in range(q):
            move = _dot(covariance[u, a], pull)
            mean[u, a] = prior[u, a] + move
            loglik[u] += 0.5 * move * pull[a]
    return loglik


@jit
def leftovers(cells, weight, offsets, features, mean, covariance, total, count):
    """Add to each item what its ratings exceed the users' regressions by, and their weight; return the sum of squares."""
    square, q = 0.0, features.shape[1]
    for u in range(len(mean)):
        for p in range(offsets[u], offsets[u + 1]):
            if np.isnan(cells[p, 0]) or np.isnan(cells[p, 1]) or weight[p] == 0.0:
                continue
            j = int(cells[p, 0])
            left, doubt = cells[p, 1] - _dot(features[j], mean[u]), 0.0
            for a in range(q):
                if features[j, a] != 0.0:
                    doubt += features[j, a] * _dot(features[j], covariance[u, a])
            square += weight[p] * (left * left + doubt)
            total[j] += weight[p] * left
            count[j] += weight[p]
    return square
