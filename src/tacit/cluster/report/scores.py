"""Scores of a partition by scatter, with row weights: Calinski and Harabasz's ratio, Davies and Bouldin's index."""

import numpy as np
from scipy.spatial.distance import cdist

from .labelled import Clusters

__all__ = ["calinski_harabasz", "davies_bouldin"]


def _means(X: np.ndarray, clusters: Clusters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    totals = clusters.sums()
    origin = np.average(X, axis=0, weights=clusters.weight)
    sums = np.column_stack([clusters.sums(column) for column in (X - origin).T])
    return origin, origin + sums / totals[:, None], totals


def calinski_harabasz(X: np.ndarray, clusters: Clusters) -> float | None:
    """Scatter between clusters over scatter within, per degree of freedom; None where it is not defined. Higher is better."""
    origin, means, totals = _means(X, clusters)
    within = float(clusters.weight @ ((X - means[clusters.codes]) ** 2).sum(axis=1))
    between = float(totals @ ((means - origin) ** 2).sum(axis=1))
    n_clusters, freedom = len(totals), totals.sum() - len(totals)
    if n_clusters < 2 or freedom <= 0 or within <= 1e-20 * max(between, np.finfo(float).tiny):
        return None
    return float(between / within * freedom / (n_clusters - 1))


def davies_bouldin(X: np.ndarray, clusters: Clusters, block: int = 512) -> float | None:
    """Mean over clusters of the worst (spread_k + spread_l) / distance_kl; None where it is not defined. Lower is better."""
    _, means, _ = _means(X, clusters)
    if len(means) < 2:
        return None
    spread = clusters.means(np.sqrt(((X - means[clusters.codes]) ** 2).sum(axis=1)))
    worst = []
    for start in range(0, len(means), block):
        here = slice(start, start + block)
        apart = cdist(means[here], means)
        apart[np.arange(len(apart)), start + np.arange(len(apart))] = np.inf
        if not apart.all():
            return None  # two clusters with one centre
        worst.append(((spread[here, None] + spread) / apart).max(axis=1))
    return float(np.concatenate(worst).mean())
