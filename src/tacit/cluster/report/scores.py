"""Scores of a partition by scatter, with row weights: Calinski and Harabasz's ratio, Davies and Bouldin's index."""

import numpy as np
from scipy.spatial.distance import cdist

from .labelled import Clusters

__all__ = ["scatter_scores"]

BLOCK = 512


def scatter_scores(X: np.ndarray, clusters: Clusters) -> tuple[float | None, float | None]:
    """Calinski and Harabasz's ratio and Davies and Bouldin's index; None where one is not defined."""
    totals = clusters.sums()
    origin = np.average(X, axis=0, weights=clusters.weight)
    means = origin + np.column_stack([clusters.means(column) for column in (X - origin).T])
    apart = ((X - means[clusters.codes]) ** 2).sum(axis=1)
    between = float(totals @ ((means - origin) ** 2).sum(axis=1))
    return _ratio(between, float(clusters.weight @ apart), totals), _index(means, clusters.means(np.sqrt(apart)))


def _ratio(between: float, within: float, totals: np.ndarray) -> float | None:
    """Scatter between clusters over scatter within, per degree of freedom. Higher is better."""
    freedom = totals.sum() - len(totals)
    if freedom <= 0 or within <= 1e-20 * max(between, np.finfo(float).tiny):
        return None
    return float(between / within * freedom / (len(totals) - 1))


def _index(means: np.ndarray, spread: np.ndarray) -> float | None:
    """Mean over clusters of the worst (spread_k + spread_l) / distance_kl. Lower is better."""
    worst = []
    for start in range(0, len(means), BLOCK):
        here = slice(start, start + BLOCK)
        apart = cdist(means[here], means)
        apart[np.arange(len(apart)), start + np.arange(len(apart))] = np.inf
        if not apart.all():
            return None  # two clusters with one centre
        worst.append(((spread[here, None] + spread) / apart).max(axis=1))
    return float(np.concatenate(worst).mean())
