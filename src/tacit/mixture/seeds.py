"""Where mixtures start: soft assignments of a sample of rows to classes."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..kernels import backend, host, kernel
from ..source import Block

__all__ = ["INITS", "assign", "draw", "seed_responsibilities", "spread_seeds"]

ORDER = "order of rows"
INITS = ("kmeans", "k-means++", "random", "random_from_data")


def seed_responsibilities(
    Z: np.ndarray, sample: Block, n_classes: int, rng: np.random.Generator, method: str
) -> np.ndarray:
    """Assign the rows of a sample to classes around random seeds, by their places Z, in which distance is meaningful.

    ``kmeans`` and ``k-means++`` choose seeds far apart, in proportion to squared distance, and the former refines them by a few
    rounds of k-means; ``random_from_data`` takes random distinct rows and ``random`` random points of the data's spread. Rows
    join the nearest seed. Labelled rows join their label, and a class that has labels is seeded at their mean.

    Draws are made along the cumulated weight of the sorted rows, so that neither the order of the rows nor writing a row
    twice instead of giving it weight 2 changes the outcome.
    """
    seeds, fixed = _labelled_seeds(Z, sample, n_classes)
    if method == "random":
        weight = sample.weight / sample.weight.sum()
        mean = weight @ Z
        spread = np.sqrt(weight @ (Z - mean) ** 2)
        points = mean + spread * np.clip(rng.standard_normal((n_classes, Z.shape[1])), -1.5, 1.5)
        seeds[~fixed] = points[~fixed]
    else:
        _, n_placed = spread_seeds(Z, sample, seeds, fixed, rng, uniform=method == "random_from_data")
        if n_placed < n_classes:
            warnings.warn(
                f"n_components={n_classes} exceeds the {n_placed} distinct rows; the surplus components repeat others.",
                UserWarning,
                stacklevel=2,
            )
    nearest = assign(Z, seeds, sample.labels)
    for _ in range(5 if method == "kmeans" else 0):
        resp = np.eye(n_classes)[nearest] * sample.weight[:, None]
        counts = resp.sum(axis=0)
        occupied = counts > 0
        seeds[occupied] = (resp.T @ Z)[occupied] / counts[occupied, None]
        nearest = assign(Z, seeds, sample.labels)
    return np.eye(n_classes)[nearest]


def _labelled_seeds(Z: np.ndarray, sample: Block, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Means of the labelled rows of each class, and which classes have any."""
    seeds, fixed = np.zeros((n_classes, Z.shape[1])), np.zeros(n_classes, bool)
    for k in np.unique(sample.labels[sample.labels >= 0]):
        rows = sample.labels == k
        seeds[k], fixed[k] = np.average(Z[rows], axis=0, weights=sample.weight[rows]), True
    return seeds, fixed


def _squared_distances(Z: Any, seeds: np.ndarray, square: np.ndarray | None = None) -> np.ndarray:
    square = (Z**2).sum(axis=1) if square is None else square
    apart = square[:, None] - 2 * (Z @ seeds.T) + (seeds**2).sum(axis=1)
    return np.maximum(apart, 0.0, out=apart)


def assign(Z: np.ndarray, seeds: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Nearest seed of each row; a labelled row keeps its label."""
    return np.where(labels >= 0, labels, _squared_distances(Z, seeds).argmin(axis=1))


def draw(chance: np.ndarray, order: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
    """Rows drawn in proportion to chance, by the inverse of its cumulated sum over the sorted rows."""
    cumulated = np.cumsum(chance[order])
    at = np.searchsorted(cumulated, rng.random(size) * cumulated[-1], side="right")
    return order[np.minimum(at, len(order) - 1)]


def spread_seeds(
    Z: Any,
    sample: Block,
    seeds: np.ndarray,
    fixed: np.ndarray,
    rng: np.random.Generator,
    *,
    uniform: bool,
    n_candidates: int = 3,
    between: Callable | None = None,
) -> tuple[np.ndarray, int]:
    """Each seed is the best of a few rows drawn in proportion to weight times squared distance from the others.

    If `uniform`, all rows that are not yet a seed have equal chances, and the first drawn is taken. ``between(Z, points)``
    gives other distances (rows, points) to take instead of squared ones. Fills `seeds`; returns the rows they are (−1 where they
    were fixed before) and how many distinct ones there are: surplus seeds repeat others.
    """
    if ORDER not in sample.local:  # starts share their sample
        X = sample.joined.X
        sample.local[ORDER] = kernel("row_order", backend(X))(X)
    order = sample.local[ORDER]
    between = between or partial(_squared_distances, square=kernel("square_lengths", backend(Z))(Z))
    weight = sample.weight
    nearest = between(Z, seeds[fixed]).min(axis=1) if fixed.any() else np.full(len(Z), np.inf)
    least = 1e-12 * max(between(Z, np.zeros((1, Z.shape[1]))).max(), np.finfo(float).tiny)
    rows, n_placed = np.full(len(seeds), -1), int(fixed.sum())
    for k in np.flatnonzero(~fixed):
        apart = nearest > least
        if not (weight * apart).any():
            rows[k] = draw(weight, order, rng, 1)[0]
            seeds[k] = host(Z[rows[k]])
            continue
        chance = weight * (apart if uniform or not n_placed else nearest * apart)
        candidates = draw(chance, order, rng, 1 if uniform else n_candidates)
        distance = between(Z, host(Z[candidates]))
        distance = np.minimum(distance, nearest[:, None], out=distance)
        best = (weight @ distance).argmin()
        rows[k] = candidates[best]
        seeds[k], nearest = host(Z[rows[k]]), distance[:, best]
        n_placed += 1
    return rows, n_placed
