"""Where centres start: rows far apart, drawn in proportion to what they add to the loss, Σ_j |x_j − c_j|^power."""

from dataclasses import replace
from functools import partial

import numpy as np

from ..arrays import Arrays, record
from ..kernels import backend, host, kernel
from ..mixture.seeds import spread_seeds
from ..source import Block, Source

__all__ = ["ColumnSums", "column_means", "column_sums", "filled", "oversampled", "seed_rows"]

ROUNDS = 5


@record
class ColumnSums(Arrays):
    """Per column, the weight of its observed cells, their sum and their sum of squares about a point."""

    weight: np.ndarray
    total: np.ndarray
    square: np.ndarray


def column_sums(origin: np.ndarray, block: Block) -> ColumnSums:
    """Sums over the rows of a block, about an origin."""
    sums = ColumnSums(*np.zeros((3, len(origin))))
    kernel("column_sums", backend(block.X))(
        block.X, block.weight, origin.astype(block.dtype), sums.weight, sums.total, sums.square
    )
    return sums


def column_means(sample: Block) -> np.ndarray:
    """Weighted means of the observed cells of each column."""
    sums = column_sums(np.zeros(sample.X.shape[1]), sample)
    return sums.total / np.where(sums.weight > 0, sums.weight, 1.0)


def filled(sample: Block) -> np.ndarray:
    """The rows as an array with column means in missing cells: starts need whole rows."""
    return _filled(host(sample.X), column_means(sample))


def _filled(X: np.ndarray, means: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(X), means, X).astype(np.float64)


def seed_rows(
    sample: Block, n_clusters: int, rng: np.random.Generator, *, n_candidates: int | None = None, uniform: bool = False,
    power: int = 2,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Rows to start at (K, d), and their numbers.

    By greedy k-means++ each is the best of a few (2 + log K unless their number is given), drawn in proportion to weight times
    distance to the power; if `uniform`, all are drawn in proportion to weight alone.
    """
    X, means = sample.X, column_means(sample)
    center, fixed = np.zeros((n_clusters, len(means))), np.zeros(n_clusters, bool)
    rows, _ = spread_seeds(
        kernel("about_means", backend(X))(X, means), sample, center, fixed, rng, uniform=uniform,
        n_candidates=n_candidates or 2 + int(np.log(n_clusters)), between=None if power == 2 else partial(_distances, power),
    )  # fmt: skip
    return _filled(host(X[rows]), means), rows


def _distances(power: int, X: np.ndarray, center: np.ndarray) -> np.ndarray:
    out = np.empty((len(X), len(center)))
    kernel("distances", backend(X))(X, center, power, out)
    return out


def oversampled(source: Source, n_clusters: int, rng: np.random.Generator, *, power: int = 2) -> np.ndarray:
    """k-means‖: a few passes, each of which draws about as many rows as there are centres, then k-means++ among them.

    Unlike `seed_rows` it reads every row, in a number of passes that does not grow with the number of centres.
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
    return seed_rows(replace(source.take(chosen[order]), weight=counts[order]), n_clusters, rng, power=power)[0]


def _weights(block: Block) -> np.ndarray:
    return np.asarray(host(block.weight), dtype=np.float64)


def _nearest_seed(power: int, seeds: np.ndarray, block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Distance of every row to the nearest seed, and which one it is."""
    apart = _distances(power, block.X, seeds)
    return apart.min(axis=1).astype(np.float32), apart.argmin(axis=1)
