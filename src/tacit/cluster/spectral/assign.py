"""From eigenvectors to labels: the partition matrix nearest to the embedding, up to a rotation."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, qr, svd
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from ..kmeans import KMeans

__all__ = ["assign", "cluster_qr", "discretize"]

ASSIGNMENTS = ("kmeans", "discretize", "cluster_qr")


def assign(
    embedding: np.ndarray, n_clusters: int, how: str, cut: Callable[[np.ndarray], float], *, n_init: int, random_state: Any,
    verbose: int,
) -> np.ndarray:  # fmt: skip
    """Labels of the rows of an embedding by one of the three ways; all but k-means take one column per cluster.

    cut(labels) is what a partition of the graph shall make small.
    """
    if how == "cluster_qr":
        return cluster_qr(embedding[:, :n_clusters])
    if how == "discretize":
        return discretize(embedding[:, :n_clusters], random_state=random_state)
    # A power of 2 changes no digit; where rows have hardly any edges, entries are too large to be squared.
    embedding = embedding * np.exp2(-np.round(np.log2(np.abs(embedding).max())))
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=random_state, verbose=verbose).fit(embedding)
    # Squares stand for the cut, and are not it: of where k-means is content and where it rests, the smaller cut is kept.
    rested = KMeans(n_clusters, init=kmeans.cluster_centers_, tol=0.0).fit(embedding)
    return min(kmeans.labels_, rested.labels_, key=cut)


def cluster_qr(vectors: Any) -> np.ndarray:
    """Labels from eigenvectors by a pivoted QR decomposition: no start, no iteration.

    The pivots are rows that lie in directions as different as possible, one for each cluster; the rotation nearest to them
    turns every row towards the axis of its cluster.

    Parameters
    ----------
    vectors : array-like of shape (n_samples, n_clusters)
        Eigenvectors in columns.

    Returns
    -------
    labels : ndarray of shape (n_samples,)

    References
    ----------
    Damle, Minden and Ying (2019), Simple, direct and efficient multi-way spectral clustering. Information and Inference 8.
    """
    vectors = np.asarray(vectors)
    n_clusters = vectors.shape[1]
    # R alone would do, but the pivots come from the same LAPACK call.
    _, pivots = qr(vectors.T, pivoting=True, mode="r")
    left, _, right = svd(vectors[pivots[:n_clusters]].T)
    return np.abs(vectors @ (left @ right)).argmax(axis=1)


def discretize(
    vectors: Any, *, copy: bool = True, max_svd_restarts: int = 30, n_iter_max: int = 20, random_state: Any = None
) -> np.ndarray:
    """Labels from eigenvectors: the partition matrix and the rotation that bring the two nearest.

    Rows are put on the unit sphere. In turn, each row takes the axis nearest to it, and the rotation between axes and
    eigenvectors is the best for these labels.

    Parameters
    ----------
    vectors : array-like of shape (n_samples, n_clusters)
        Eigenvectors in columns.
    copy : bool, default=True
        For scikit-learn's callers; `vectors` is never written to.
    max_svd_restarts : int, default=30
        New starts after a singular value decomposition that did not converge.
    n_iter_max : int, default=20
        Steps of each start.
    random_state : int, RandomState or None
        Draws the row that the first axis points to.

    Returns
    -------
    labels : ndarray of shape (n_samples,)

    References
    ----------
    Yu and Shi (2003), Multiclass spectral clustering. ICCV.
    """
    random_state = check_random_state(random_state)
    rows = np.asarray(vectors, dtype=np.float64)
    rows = normalize(rows, axis=0)  # columns of equal length
    rows = normalize(-rows * np.where(rows[0] < 0, -1.0, 1.0))
    for _ in range(max_svd_restarts):
        try:
            return _rotate(rows, _orthogonal_rows(rows, random_state), n_iter_max)
        except LinAlgError:
            warnings.warn("a singular value decomposition did not converge; starting again.", stacklevel=2)
    raise LinAlgError(f"SVD did not converge from {max_svd_restarts} starts; are the vectors finite?")


def _orthogonal_rows(rows: np.ndarray, random_state: np.random.RandomState) -> np.ndarray:
    """Rows, one drawn and the others each as orthogonal as possible to those before, as the columns of a rotation."""
    n_rows, n_clusters = rows.shape
    rotation = np.zeros((n_clusters, n_clusters))
    rotation[:, 0] = rows[random_state.randint(n_rows)]
    overlap = np.zeros(n_rows)
    for j in range(1, n_clusters):
        overlap += np.abs(rows @ rotation[:, j - 1])
        rotation[:, j] = rows[overlap.argmin()]
    return rotation


def _rotate(rows: np.ndarray, rotation: np.ndarray, n_iter_max: int) -> np.ndarray:
    """Labels and rotation in turn, until the fit of the two no longer improves."""
    n_rows, n_clusters = rows.shape
    last = -np.inf
    for _ in range(n_iter_max + 1):
        labels = (rows @ rotation).argmax(axis=1)
        sums = np.array([np.bincount(labels, weights=column, minlength=n_clusters) for column in rows.T])
        left, singular, right = np.linalg.svd(sums)
        if singular.sum() - last <= np.finfo(np.float64).eps * n_rows:
            break
        last, rotation = singular.sum(), left @ right
    return labels
