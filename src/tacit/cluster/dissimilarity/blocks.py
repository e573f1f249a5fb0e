"""Blocks of a matrix of dissimilarities: all pairs of rows, or rows against centres, checked as they are made."""

import numpy as np

from ...source.threads import all_of

__all__ = ["check_block", "square", "table"]

TILE = 256


def check_block(metric, block, names, others, of="row"):
    """Raise where a block holds a value that is no dissimilarity; `names` and `others` are numbers of rows."""
    if not block.size or (block.min() >= 0 and block.max() < np.inf):
        return
    i, j = np.argwhere(~((block >= 0) & (block < np.inf)))[0]
    value, pair = block[i, j], f"row {names[i]} and {of} {others[j]}"
    remedy = metric.undefined
    if value < 0:
        remedy = "a dissimilarity must not be negative; subtract a similarity from its largest value"
    raise ValueError(f"metric={metric.label} gives {value:g} between {pair}: {remedy}.")


def square(metric, X, names, threads):
    """The matrix of all pairs of rows, every pair computed once, in the precision of X."""
    n = len(X)
    D = np.empty((n, n), dtype=np.float32 if X.dtype == np.float32 else np.float64)

    def fill(tile):
        a, b = slice(tile[0], tile[0] + TILE), slice(tile[1], tile[1] + TILE)
        block = metric.within(X[a]) if a == b else metric.between(X[a], X[b])
        check_block(metric, block, names[a], names[b])
        D[a, b] = block
        D[b, a] = block.T

    tiles = [(i, j) for i in range(0, n, TILE) for j in range(0, i + TILE, TILE)]
    all_of(fill, tiles, threads if metric.threads else 1)
    np.fill_diagonal(D, 0.0)
    return D


def table(metric, X, centers, names, threads, reduce=np.asarray):
    """reduce(d(x, centre) for some rows x and all centres) over blocks of rows, in order."""
    step = max(64, (1 << 18) // max(len(centers), 1))
    places = np.arange(len(centers))

    def distances(start):
        block = metric.between(X[start : start + step], centers)
        check_block(metric, block, names[start : start + step], places, "medoid")
        return reduce(block)

    return all_of(distances, range(0, len(X), step), threads if metric.threads else 1)
