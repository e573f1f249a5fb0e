"""Medoids of all rows, or of samples of them: each sample is clustered, and the medoids best for all rows are kept (CLARA)."""

from dataclasses import dataclass

import numpy as np

from .medoid_partition import Pairs
from .medoid_search import search

__all__ = ["MedoidFit", "auto_size", "fit_medoids"]

MATRIX_BYTES = 1 << 30
SAMPLE_ROWS = 4000
ROWS_PER_MEDOID = 20


@dataclass(frozen=True)
class MedoidFit:
    """Medoids and what they are worth to all rows: nearest one, distance, distance to the second, loss, and the search."""

    medoids: np.ndarray
    near: np.ndarray
    d1: np.ndarray
    d2: np.ndarray
    loss: float
    losses: tuple
    n_iter: int
    converged: bool


def auto_size(sampling, space, k):
    """Rows of a sample, or None where all rows are used."""
    if sampling is None or sampling == "auto":
        given = hasattr(space, "D")
        if sampling is None or given or space.n_rows**2 * space.itemsize <= MATRIX_BYTES:
            return None
        sampling = max(SAMPLE_ROWS, ROWS_PER_MEDOID * k)
    if sampling >= space.n_rows:
        return None
    if sampling < 2 * k:
        raise ValueError(f"sampling={sampling} rows are too few for n_clusters={k}; use at least {2 * k}.")
    return int(sampling)


def draw(weight, size, rng, held):
    """Rows of a sample with their weights: evenly spaced along the cumulated weight, and those that it must hold."""
    # The order is drawn anew, or evenly spaced rows would be the same neighbours in every sample.
    order = rng.permutation(np.flatnonzero(weight))
    steps = np.cumsum(weight[order])
    at = (np.arange(size) + rng.random()) * (steps[-1] / size)
    drawn = order[np.minimum(np.searchsorted(steps, at, side="right"), len(order) - 1)]
    rows, count = np.unique(np.append(drawn, held).astype(np.int64), return_counts=True)
    rest = np.setdiff1d(order, rows)[
        : max(0, min(size, len(order)) - len(rows))
    ]  # where few rows have most of the weight
    rows, count = np.append(rows, rest), np.append(count, weight[rest] * (size / steps[-1]))
    by_row = np.argsort(rows)
    return rows[by_row], count[by_row]


def fit_medoids(space, counts, init, method, max_iter, size, n_samplings, rng, report):
    """The best medoids of a space for every number of medoids in `counts`.

    Returns
    -------
    list of MedoidFit
    """
    counts = [min(k, space.n_rows) for k in counts]
    best: list = [None] * len(counts)
    for _ in range(1 if size is None else n_samplings):
        rows, weight = None, space.weight
        if size is not None:
            held = [fit.medoids for fit in best if fit is not None]
            held += [] if isinstance(init, str) else [init]
            rows, weight = draw(space.weight, size, rng, np.concatenate([*held, np.empty(0, int)]))
        start = init if isinstance(init, str) or rows is None else np.searchsorted(rows, init)
        candidate = space.candidate if rows is None else space.candidate[rows]
        if candidate.sum() < counts[-1]:
            candidate = None
        pairs = Pairs.of(space.matrix(rows), weight, candidate, space.threads)
        found = search(pairs, counts, start, method, max_iter, rng, report)
        del pairs  # before the next matrix is made
        for at, one in enumerate(found):
            medoids = one.medoids if rows is None else rows[one.medoids]
            near, d1, d2 = space.nearest(medoids)
            loss = float(space.weight @ d1)
            if best[at] is None or loss < best[at].loss:
                best[at] = MedoidFit(medoids, near, d1, d2, loss, one.losses, one.n_iter, one.converged)
    return best
