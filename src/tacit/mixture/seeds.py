"""Where mixtures start: soft assignments of a sample of rows to classes."""

import warnings

import numpy as np

__all__ = ["INITS", "assign", "seed_responsibilities"]

INITS = ("kmeans", "k-means++", "random", "random_from_data")


def seed_responsibilities(family, sample, n_classes, rng, method):
    """Assign the rows of a sample to classes around random seeds.

    ``kmeans`` and ``k-means++`` choose seeds far apart, in proportion to squared distance, and the former refines them by a few
    rounds of k-means; ``random_from_data`` takes random rows and ``random`` random points of the data's spread. Rows join
    the nearest seed. Labelled rows join their label, and a class that has labels is seeded at their mean.
    """
    Z = family.embed(sample, rng)
    seeds, fixed = _labelled_seeds(Z, sample, n_classes)
    if method in ("random", "random_from_data"):
        rows = rng.choice(len(Z), n_classes, replace=len(Z) < n_classes, p=sample.weight / sample.weight.sum())
        points = Z[rows] if method == "random_from_data" else _random_points(Z, n_classes, rng)
        seeds[~fixed] = points[~fixed]
    else:
        _spread_seeds(Z, sample.weight, seeds, fixed, rng)
    nearest = assign(Z, seeds, sample.labels)
    for _ in range(5 if method == "kmeans" else 0):
        counts = np.bincount(nearest, sample.weight, n_classes)
        occupied = counts > 0
        resp = np.zeros((len(Z), n_classes))
        resp[np.arange(len(Z)), nearest] = sample.weight
        seeds[occupied] = (resp.T @ Z)[occupied] / counts[occupied, None]
        nearest = assign(Z, seeds, sample.labels)
    resp = np.zeros((len(Z), n_classes))
    resp[np.arange(len(Z)), nearest] = 1.0
    return resp


def _labelled_seeds(Z, sample, n_classes):
    """Means of the labelled rows of each class, and which classes have any."""
    seeds, fixed = np.zeros((n_classes, Z.shape[1])), np.zeros(n_classes, bool)
    for k in np.unique(sample.labels[sample.labels >= 0]):
        seeds[k], fixed[k] = Z[sample.labels == k].mean(axis=0), True
    return seeds, fixed


def _random_points(Z, n_classes, rng):
    return Z.mean(axis=0) + Z.std(axis=0) * np.clip(rng.standard_normal((n_classes, Z.shape[1])), -1.5, 1.5)


def _squared_distances(Z, seeds):
    return np.maximum((Z**2).sum(axis=1)[:, None] - 2 * Z @ seeds.T + (seeds**2).sum(axis=1), 0.0)


def assign(Z, seeds, labels):
    """Nearest seed of each row; a labelled row keeps its label."""
    return np.where(labels >= 0, labels, _squared_distances(Z, seeds).argmin(axis=1))


def _spread_seeds(Z, weight, seeds, fixed, rng, n_candidates=3):
    """k-means++: each seed is the best of a few rows drawn in proportion to weight times squared distance."""
    nearest = _squared_distances(Z, seeds[fixed]).min(axis=1) if fixed.any() else np.ones(len(Z))
    n_placed = fixed.sum()
    for k in np.flatnonzero(~fixed):
        chance = weight * nearest
        if n_placed and chance.sum() <= 1e-12 * weight.sum():
            warnings.warn(
                f"n_components={len(fixed)} exceeds the {n_placed} distinct rows; the surplus components repeat others.",
                UserWarning,
                stacklevel=2,
            )
            chance = weight
        candidates = rng.choice(len(Z), n_candidates, p=chance / chance.sum())
        distance = _squared_distances(Z, Z[candidates])
        if n_placed:
            distance = np.minimum(distance, nearest[:, None])
        best = (weight @ distance).argmin()
        seeds[k], nearest = Z[candidates[best]], distance[:, best]
        n_placed += 1
