"""Where centres start: rows far apart, drawn in proportion to what they add to the loss, Σ_j |x_j − c_j|^power."""

from dataclasses import replace
from functools import partial

import numpy as np

from ..kernels import backend, host, kernel
from ..mixture.seeds import spread_seeds

__all__ = ["column_means", "filled", "oversampled", "plus_plus", "random_rows", "sample_rows", "seed_rows"]

ROUNDS = 5


def sample_rows(n_clusters):
    """Rows to draw starts from."""
    return max(10_000, 25 * n_clusters)


def column_means(sample):
    """Weighted means of the observed cells of each column."""
    d = sample.X.shape[1]
    weight, total, square = np.zeros((3, d))
    kernel("column_sums", backend(sample.X))(sample.X, sample.weight, np.zeros(d, sample.dtype), weight, total, square)
    return total / np.where(weight > 0, weight, 1.0)


def filled(sample):
    """The rows as an array with column means in missing cells: starts need whole rows."""
    return _filled(host(sample.X), column_means(sample))


def _filled(X, means):
    return np.where(np.isnan(X), means, X).astype(np.float64)


def plus_plus(sample, n_clusters, rng, *, n_candidates=None, power=2):
    """Greedy k-means++: each centre is the best of a few rows drawn in proportion to weight times distance to the power.

    Returns centres (K, d); the candidates are 2 + log K unless their number is given.
    """
    return seed_rows(sample, n_clusters, rng, n_candidates or 2 + int(np.log(n_clusters)), power=power)[0]


def random_rows(sample, n_clusters, rng, *, power=2):
    """Random rows, each with chances in proportion to its weight."""
    return seed_rows(sample, n_clusters, rng, 1, uniform=True, power=power)[0]


def seed_rows(sample, n_clusters, rng, n_candidates, *, uniform=False, power=2):
    """Rows to start at (K, d), far apart unless `uniform`, and their numbers."""
    X, means = sample.X, column_means(sample)
    center, fixed = np.zeros((n_clusters, len(means))), np.zeros(n_clusters, bool)
    rows, _ = spread_seeds(
        kernel("about_means", backend(X))(X, means), sample, center, fixed, rng, uniform=uniform,
        n_candidates=n_candidates, between=None if power == 2 else partial(_distances, power),
    )  # fmt: skip
    return _filled(host(X[rows]), means), rows


def _distances(power, X, center):
    out = np.empty((len(X), len(center)))
    kernel("distances", backend(X))(X, center, power, out)
    return out


def oversampled(source, n_clusters, rng, *, power=2):
    """k-means‖: a few passes, each of which draws about as many rows as there are centres, then k-means++ among them.

    Unlike `plus_plus` it reads every row, in a number of passes that does not grow with the number of centres.
    """
    new = rng.choice(source.eligible(), 1)
    chosen = np.empty(0, np.int64)
    nearest, member = np.full(source.n_rows, np.inf, np.float32), np.zeros(source.n_rows, np.int64)
    weight = np.concatenate(list(source.map(_weights)))
    for round_ in range(ROUNDS + 1):
        if len(new):
            found = list(source.map(partial(_nearest_seed, power, filled(source.take(new)))))
            apart, place = (np.concatenate(part) for part in zip(*found))
            closer = apart < nearest
            nearest[closer], member[closer] = apart[closer], len(chosen) + place[closer]
            chosen = np.append(chosen, new)
        chance = weight * nearest
        if round_ == ROUNDS or not chance.any():
            break
        new = np.flatnonzero(rng.random(len(chance)) * chance.sum() < n_clusters * chance)
    counts, order = np.bincount(member, weight, minlength=len(chosen)), np.argsort(chosen, kind="stable")
    return plus_plus(replace(source.take(chosen[order]), weight=counts[order]), n_clusters, rng, power=power)


def _weights(block):
    return np.asarray(host(block.weight), dtype=np.float64)


def _nearest_seed(power, seeds, block):
    """Distance of every row to the nearest seed, and which one it is."""
    apart = _distances(power, block.X, seeds)
    return apart.min(axis=1).astype(np.float32), apart.argmin(axis=1)
