"""How many clusters a graph has, from its lowest eigenvalues and eigenvectors.

    score(k) = (μ_{k+1} − μ_k) / (μ_{k+1} + s) − 2 r_k,    μ = −log(1 − λ),    r_k = Σ_{j ≤ k} ‖u_j − Πu_j‖² / (k − c)

A gap counts relative to where it ends: along a curved cluster eigenvalues grow like squares, and so do their gaps. μ is the rate
at which a random walk forgets, which grows evenly where λ nears 1. A gap alone does not tell clusters: every line has one after
2, and a round cloud one after its dimensions. But eigenvectors are constant on clusters, and waves on lines and clouds: r_k is
the part of those beyond the c connected components that no partition explains, Π the projection on the best partition found.
"""

from typing import Any

import numpy as np

from ..kmeans import KMeans
from .assign import cluster_qr

__all__ = ["gap_scores", "relative_gaps"]

# Chosen on clouds, lines, rings and rectangles, which are one cluster, and on tables whose clusters are known.
LEAST = 0.3, 0.4
"""The score of one connected component, and of several: what another number must exceed."""
SOFT = 0.08  # s as a share of the mean rate: any gap is large relative to almost nothing
NEAR_ONE = 0.05  # beyond 1 − this, eigenvalues are noise, and logarithms would magnify it


def relative_gaps(values: np.ndarray) -> np.ndarray:
    """Gaps after each but the last of rising values, relative to where they end."""
    ends = values[1:] + SOFT * np.mean(values)
    return np.diff(values) / np.where(ends > 0, ends, 1.0)


def gap_scores(values: np.ndarray, vectors: np.ndarray, root: np.ndarray, n_parts: int, normalised: bool) -> np.ndarray:
    """Scores of 1, 2, … clusters, one less than there are eigenvalues; NaN for fewer than there are connected components.

    `root` are the square roots of degrees, or ones: what the first eigenvector of a connected graph is proportional to.
    """
    rates = -np.log(np.maximum(1.0 - values, NEAR_ONE)) if normalised else values
    scores = np.full(len(values) - 1, np.nan)
    scores[n_parts:] = relative_gaps(rates)[n_parts:]
    scores[n_parts - 1 : n_parts] = least = LEAST[n_parts > 1]
    for k in range(n_parts + 1, len(values)):
        if scores[k - 1] > least:
            scores[k - 1] -= 2.0 * _unexplained(vectors[:, :k], root) / (k - n_parts)
    return scores


def _unexplained(vectors: np.ndarray, root: np.ndarray) -> float:
    """Σ_j ‖u_j − Πu_j‖² over the columns, Π on the vectors that are multiples of `root` in every cluster."""
    k = vectors.shape[1]
    places = vectors / root[:, None]
    places /= np.abs(places).max()
    first = cluster_qr(vectors)
    init = _sums(places, first, k) / np.maximum(np.bincount(first, minlength=k), 1)[:, None]
    labels: Any = KMeans(k, init=init, max_iter=20).fit(places).labels_
    volume = np.bincount(labels, root**2, minlength=k)
    explained = (_sums(vectors * root[:, None], labels, k) ** 2).sum(axis=1)
    return k - float(np.divide(explained, volume, out=np.zeros(k), where=volume > 0).sum())


def _sums(rows: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    return np.stack([np.bincount(labels, column, minlength=k) for column in rows.T], axis=1)
