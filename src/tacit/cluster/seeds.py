"""Where centres start: rows far apart, drawn in proportion to what they add to the loss, Σ_j |x_j − c_j|^power."""

from functools import partial

import numpy as np

from ..kernels import backend, kernel
from ..mixture.seeds import spread_seeds
from ..source import Block

__all__ = ["column_means", "oversampled", "plus_plus", "random_rows", "sample_rows"]

ROUNDS = 5


def sample_rows(n_clusters):
    """Rows to draw starts from."""
    return max(10_000, 25 * n_clusters)


def column_means(sample):
    """Weighted means of the observed cells of each column."""
    seen = ~np.isnan(sample.X)
    weight = sample.weight @ seen
    return sample.weight @ np.where(seen, sample.X, 0.0).astype(np.float64) / np.where(weight > 0, weight, 1.0)


def filled(sample):
    """The rows with column means in missing cells: starts need whole rows."""
    return np.where(np.isnan(sample.X), column_means(sample), sample.X).astype(np.float64)


def plus_plus(sample, n_clusters, rng, *, n_candidates=None, power=2):
    """Greedy k-means++: each centre is the best of a few rows drawn in proportion to weight times distance to the power.

    Returns centres (K, d); the candidates are 2 + log K unless their number is given.
    """
    return _spread(sample, n_clusters, rng, n_candidates or 2 + int(np.log(n_clusters)), power=power)[0]


def random_rows(sample, n_clusters, rng, *, power=2):
    """Random rows, each with chances in proportion to its weight."""
    return _spread(sample, n_clusters, rng, 1, uniform=True, power=power)[0]


def _spread(sample, n_clusters, rng, n_candidates, *, uniform=False, power=2):
    Z = filled(sample)
    center, fixed = np.zeros((n_clusters, Z.shape[1])), np.zeros(n_clusters, bool)
    rows, _ = spread_seeds(
        Z - Z.mean(axis=0), sample, center, fixed, rng, uniform=uniform, n_candidates=n_candidates,
        between=None if power == 2 else partial(_distances, power),
    )  # fmt: skip
    return Z[rows], rows


def _distances(power, X, center):
    out = np.empty((len(X), len(center)))
    kernel("distances", backend(X))(X, center, power, out)
    return out


def oversampled(source, n_clusters, rng, *, power=2):
    """k-means‖: a few passes, each of which draws about as many rows as there are centres, then k-means++ among them.

    Unlike `plus_plus` it reads every row, in a number of passes that does not grow with the number of centres.
    """
    first = source.sample(1, rng)
    chosen, new = filled(first), filled(first)
    nearest = np.full(source.n_rows, np.inf, np.float32)
    weight = np.concatenate(list(source.map(_weights)))
    for _ in range(ROUNDS):
        apart = np.concatenate(list(source.map(partial(_nearest, power, new))))
        nearest = np.minimum(nearest, apart)
        chance = weight * nearest
        if not chance.any():
            break
        drawn = np.flatnonzero(rng.random(len(chance)) * chance.sum() < n_clusters * chance)
        if not len(drawn):
            continue
        new = filled(source.take(drawn))
        chosen = np.vstack([chosen, new])
    counts = source.sum(partial(_memberships, power, chosen))
    return plus_plus(Block.of(chosen, counts), n_clusters, rng, power=power)


def _weights(block):
    return np.asarray(block.weight if backend(block.X) == "cpu" else block.weight.cpu(), dtype=np.float64)


def _nearest(power, center, block):
    return _distances(power, block.X, center).min(axis=1).astype(np.float32)


def _memberships(power, center, block):
    return np.bincount(_distances(power, block.X, center).argmin(axis=1), _weights(block), minlength=len(center))
