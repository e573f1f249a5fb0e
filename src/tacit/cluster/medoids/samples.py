"""Medoids of all rows, or of samples of them: each sample is clustered, and the medoids best for all rows are kept (CLARA)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .partition import Pairs
from .search import Found
from .space import MatrixSpace, Space

__all__ = ["MedoidFit", "auto_size", "fit_medoids"]

MATRIX_BYTES = 1 << 30
SAMPLE_ROWS = 4000
ROWS_PER_MEDOID = 20


@dataclass(frozen=True)
class MedoidFit(Found):
    """Medoids and what they are worth to all rows: the nearest one, its distance, that of the second, and the loss."""

    near: np.ndarray
    d1: np.ndarray
    d2: np.ndarray
    loss: float


def auto_size(sampling: int | str | None, space: Space, k: int) -> int | None:
    """Rows of a sample, or None where all rows are used."""
    if sampling == "auto":
        fits = isinstance(space, MatrixSpace) or space.n_rows**2 * space.itemsize <= MATRIX_BYTES
        sampling = None if fits else max(SAMPLE_ROWS, ROWS_PER_MEDOID * k)
    if sampling is None or int(sampling) >= space.n_rows:
        return None
    sampling = int(sampling)
    if sampling < 2 * k:
        raise ValueError(f"sampling={sampling} rows are too few for n_clusters={k}; use at least {2 * k}.")
    return sampling


def draw(weight: np.ndarray, size: int, rng: np.random.Generator, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a sample with their weights: evenly spaced along the cumulated weight, and those that it must hold."""
    # The order is drawn anew, or evenly spaced rows would be the same neighbours in every sample.
    order = rng.permutation(np.flatnonzero(weight))
    steps = np.cumsum(weight[order])
    at = (np.arange(size) + rng.random()) * (steps[-1] / size)
    drawn = order[np.minimum(np.searchsorted(steps, at, side="right"), len(order) - 1)]
    rows, count = np.unique(np.append(drawn, held).astype(np.int64), return_counts=True)
    # Where few rows have most of the weight, fewer are drawn than asked for.
    rest = np.setdiff1d(order, rows)[: max(0, min(size, len(order)) - len(rows))]
    rows, count = np.append(rows, rest), np.append(count, weight[rest] * (size / steps[-1]))
    by_row = np.argsort(rows)
    return rows[by_row], count[by_row]


def fit_medoids(
    space: Space, counts: list[int], init: str | np.ndarray, search: Callable[..., list[Found]], size: int | None,
    n_samplings: int, rng: np.random.Generator,
) -> list[MedoidFit]:  # fmt: skip
    """The best medoids of a space for every number of medoids in `counts`, as search(pairs, counts, start) finds them."""
    counts = [min(k, space.n_rows) for k in counts]
    best: list = [None] * len(counts)
    for _ in range(1 if size is None else n_samplings):
        rows, weight, start, candidate = np.arange(space.n_rows), space.weight, init, space.candidate
        if size is not None:
            held = [fit.medoids for fit in best if fit is not None] + ([] if isinstance(init, str) else [init])
            few = np.flatnonzero(space.candidate)
            if len(few) < space.n_rows // 2:  # of which a sample would hold hardly any
                held.append(rng.choice(few, min(len(few), size // 2), replace=False))
            rows, weight = draw(space.weight, size, rng, np.concatenate([*held, np.empty(0, int)]))
            start, candidate = init if isinstance(init, str) else np.searchsorted(rows, init), candidate[rows]
        enough = candidate.sum() >= counts[-1]
        matrix = space.matrix(None if size is None else rows)
        pairs = Pairs.of(matrix, weight, candidate if enough else None, space.threads)
        found = search(pairs, counts, start)
        del pairs, matrix  # before the next matrix is made
        for at, one in enumerate(found):
            near, d1, d2 = space.nearest(rows[one.medoids])
            loss = float(space.weight @ d1)
            if best[at] is None or loss < best[at].loss:
                best[at] = MedoidFit(rows[one.medoids], one.losses, one.converged, near, d1, d2, loss)
    return best
