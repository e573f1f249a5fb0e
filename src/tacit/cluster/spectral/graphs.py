"""Similarity graphs: rows that are alike are joined, w_ij = w_ji ≥ 0.

ε-neighbourhood     w_ij = 1 where ‖x_i − x_j‖ ≤ ε
k nearest, either   w_ij = ½ [j is among the k nearest of i] + ½ [i is among those of j]
k nearest, mutual   w_ij = [j is among the k nearest of i] · [i is among those of j]
Gaussian            w_ij = exp(−γ ‖x_i − x_j‖²), or exp(−‖x_i − x_j‖² / σ_i σ_j) with a bandwidth of each row's own

All but the last are sparse, and may have Gaussian weights on their edges instead of ones.
"""

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from ...source.threads import n_cores

__all__ = [
    "epsilon", "gaussian", "gaussian_weight", "knn", "links_nearest", "links_of_distances", "links_within", "mutual",
    "nearest",
]  # fmt: skip

TREE_COLUMNS = 10
"""Up to so many columns a tree finds neighbours faster than all distances do, at 10,000 to 100,000 rows."""

MOST_EDGES = 400_000_000
"""A sparse graph beyond this takes more than 5 GB."""


def _uses_tree(fitted):
    return not sparse.issparse(fitted) and fitted.shape[1] <= TREE_COLUMNS


def _threads(n_jobs):
    return n_cores() if n_jobs in (None, -1) else n_jobs


def nearest(fitted, rows, n_neighbors, n_jobs=None):
    """Distances and numbers of the nearest fitted rows of each row, nearest first.

    Parameters
    ----------
    fitted : array or CSR of shape (n_fitted, n_features)
        Rows to choose from.
    rows : array or CSR of shape (n_rows, n_features)
        Rows whose neighbours are sought; a row that is itself fitted is its own neighbour.
    n_neighbors : int
        How many.
    n_jobs : int, optional
        Threads of the tree; None is all cores.

    Returns
    -------
    distances, numbers : ndarray of shape (n_rows, n_neighbors)
    """
    if n_neighbors > fitted.shape[0]:
        raise ValueError(
            f"n_neighbors={n_neighbors} exceeds the {fitted.shape[0]} rows of X; use at most {fitted.shape[0]}."
        )
    if _uses_tree(fitted):
        ranks = np.arange(1, n_neighbors + 1)  # a list of ranks keeps the second axis even for one neighbour
        return cKDTree(fitted).query(rows, ranks, workers=_threads(n_jobs))
    return NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(fitted).kneighbors(rows)


def links_nearest(fitted, rows, n_neighbors, n_jobs=None):
    """Distances to the nearest fitted rows, as CSR of shape (n_rows, n_fitted) in which zeros are stored."""
    distances, numbers = nearest(fitted, rows, n_neighbors, n_jobs)
    pointer = np.arange(0, numbers.size + 1, n_neighbors)
    return _csr(distances.ravel(), numbers.ravel(), pointer, (rows.shape[0], fitted.shape[0]))


def links_within(fitted, rows, radius):
    """Distances to the fitted rows within a radius, as CSR of shape (n_rows, n_fitted) in which zeros are stored."""
    if not _uses_tree(fitted):
        finder = NearestNeighbors(radius=radius, algorithm="brute").fit(fitted)
        return sparse.csr_matrix(finder.radius_neighbors_graph(rows, mode="distance"))
    tree, other = cKDTree(fitted), cKDTree(rows)
    n_links = other.count_neighbors(tree, radius)
    if n_links > MOST_EDGES:
        raise ValueError(
            f"epsilon={radius:g} joins {n_links:,} pairs of rows, {n_links // rows.shape[0]:,} for each row; "
            "use a smaller epsilon, or affinity='nearest_neighbors'."
        )
    found = other.sparse_distance_matrix(tree, radius, output_type="ndarray")
    order = np.argsort(found["i"], kind="stable")
    pointer = np.concatenate([[0], np.cumsum(np.bincount(found["i"], minlength=rows.shape[0]))])
    return _csr(found["v"][order], found["j"][order], pointer, (rows.shape[0], fitted.shape[0]))


def links_of_distances(distances, n_neighbors):
    """The `n_neighbors` least of each row of given distances (dense, or the stored ones of CSR), as CSR."""
    if not sparse.issparse(distances):
        if n_neighbors > distances.shape[1]:
            raise ValueError(f"n_neighbors={n_neighbors} exceeds the {distances.shape[1]} columns of X; use fewer.")
        numbers = np.argpartition(distances, n_neighbors - 1, axis=1)[:, :n_neighbors]
        data = np.take_along_axis(distances, numbers, axis=1)
        return _csr(data.ravel(), numbers.ravel(), np.arange(0, data.size + 1, n_neighbors), distances.shape)
    stored = np.diff(distances.indptr)
    if stored.min() < n_neighbors:
        raise ValueError(
            f"n_neighbors={n_neighbors}, but row {stored.argmin()} of X has only {stored.min()} stored distances; "
            "give more neighbours, or use a smaller n_neighbors."
        )
    rows = np.repeat(np.arange(distances.shape[0]), stored)
    order = np.lexsort((distances.data, rows))
    chosen = order[(distances.indptr[:-1, None] + np.arange(n_neighbors)).ravel()]
    pointer = np.arange(0, chosen.size + 1, n_neighbors)
    return _csr(distances.data[chosen], distances.indices[chosen], pointer, distances.shape)


def _csr(data, indices, pointer, shape):
    # Small integers: SuperLU and ARPACK's products take no others, and they halve the memory.
    kind = np.int32 if len(data) < 2**31 else np.int64
    return sparse.csr_matrix((data, indices.astype(kind), pointer.astype(kind)), shape=shape)


def gaussian_weight(distances, gamma, row_widths=None, column_widths=None):
    """Gaussian similarity for an array of distances, or for the stored ones of CSR.

    Parameters
    ----------
    distances : ndarray or CSR
        Distances between rows and columns.
    gamma : float
        w = exp(−γ d²); not used where widths are given.
    row_widths, column_widths : ndarray, optional
        σ: w = exp(−d² / σ_i σ_j).

    Returns
    -------
    ndarray or CSR
        Of the kind of `distances`.
    """
    if sparse.issparse(distances):
        weight = distances.copy()
        if row_widths is not None:
            rows = np.repeat(row_widths, np.diff(distances.indptr))
            weight.data = np.exp(-(distances.data**2) / (rows * column_widths[distances.indices]))
        else:
            weight.data = np.exp(-gamma * distances.data**2)
        return weight
    weight = np.square(distances)
    weight *= -gamma if row_widths is None else -1 / row_widths[:, None]
    if row_widths is not None:
        weight /= column_widths
    return np.exp(weight, out=weight)


def ones(distances):
    """Every stored distance as similarity 1."""
    links = distances.copy()
    links.data = np.ones_like(links.data)
    return links


def either(links):
    """½ (A + Aᵀ): an edge where either row chose the other."""
    return (0.5 * (links + links.T)).tocsr()


def both(links):
    """min(A, Aᵀ): an edge where each row chose the other."""
    return links.minimum(links.T).tocsr()


def knn(X, n_neighbors=10, *, n_jobs=None):
    """The graph of nearest neighbours in either direction; edges weigh ½, mutual ones 1.

    Each row counts among its own neighbours, as in scikit-learn. So do the other functions: the diagonal of a graph
    means nothing to spectral clustering.

    Parameters
    ----------
    X : array or CSR of shape (n_samples, n_features)
        Rows.
    n_neighbors : int, default=10
        Neighbours of each row, with itself.
    n_jobs : int, optional
        Threads; None is all cores.

    Returns
    -------
    CSR of shape (n_samples, n_samples)

    Examples
    --------
    >>> from tacit.cluster.spectral.graphs import knn
    >>> import numpy as np
    >>> knn(np.array([[0.0], [1.0], [3.0]]), 2).toarray()
    array([[1. , 1. , 0. ],
           [1. , 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    return either(ones(links_nearest(X, X, n_neighbors, n_jobs)))


def mutual(X, n_neighbors=10, *, n_jobs=None):
    """The graph of rows that are among each other's nearest; parameters as in `knn`."""
    return both(ones(links_nearest(X, X, n_neighbors, n_jobs)))


def epsilon(X, radius):
    """The graph of rows within a radius of each other.

    Parameters
    ----------
    X : array or CSR of shape (n_samples, n_features)
        Rows.
    radius : float
        ε.

    Returns
    -------
    CSR of shape (n_samples, n_samples)
    """
    return ones(links_within(X, X, radius))


def gaussian(X, gamma=1.0, widths=None):
    """The fully connected graph with Gaussian weights, a dense array.

    Parameters
    ----------
    X : array or CSR of shape (n_samples, n_features)
        Rows.
    gamma : float, default=1.0
        γ.
    widths : ndarray of shape (n_samples,), optional
        σ of each row, in place of γ.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
    """
    return gaussian_weight(euclidean_distances(X), gamma, widths, widths)
