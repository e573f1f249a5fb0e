"""Similarity graphs: rows that are alike are joined, w_ij = w_ji ≥ 0.

ε-neighbourhood     w_ij = 1 where ‖x_i − x_j‖ ≤ ε
k nearest, either   w_ij = ½ [j is among the k nearest of i] + ½ [i is among those of j]
k nearest, mutual   w_ij = [j is among the k nearest of i] · [i is among those of j]
Gaussian            w_ij = exp(−γ ‖x_i − x_j‖²), or exp(−‖x_i − x_j‖² / σ_i σ_j) with a bandwidth of each row's own

All but the last are sparse, and may have Gaussian weights on their edges instead of ones.
"""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from ...source.threads import thread_count

__all__ = [
    "all_distances", "both", "either", "gaussian_weight", "links_nearest", "links_of_distances", "links_within", "nearest", "ones"
]  # fmt: skip

TREE_COLUMNS = 10
"""Up to so many columns a tree finds neighbours faster than all distances do, at 10,000 to 100,000 rows."""

MOST_EDGES = 400_000_000
"""A sparse graph beyond this takes more than 5 GB."""


def _uses_tree(fitted: Any) -> bool:
    return not sparse.issparse(fitted) and fitted.shape[1] <= TREE_COLUMNS


def about_mean(fitted: Any, rows: Any) -> tuple[Any, Any]:
    """Fitted rows and rows, dense ones about the mean of the fitted: ‖x‖² + ‖y‖² − 2 x·y would cancel far from the origin."""
    if sparse.issparse(fitted):
        return fitted, rows
    mean = fitted.mean(axis=0)
    moved = fitted - mean
    return moved, moved if rows is fitted else rows - mean


def _rounds(fitted: Any, rows: Any, finest: float) -> bool:
    """Whether ‖x‖² + ‖y‖² − 2 x·y loses the digits of squared distances of size `finest`, as it does between far groups."""
    if sparse.issparse(fitted) or sparse.issparse(rows):
        return False
    longest = max(float(np.einsum("ij,ij->i", X, X).max(initial=0.0)) for X in (fitted, rows))
    return longest * 1.5e-8 > finest


def all_distances(fitted: Any, rows: Any, finest: float) -> np.ndarray:
    """Distances of rows (first axis) to fitted rows, exact as far as squares of size `finest` count."""
    same = rows is fitted
    fitted, rows = about_mean(fitted, rows)
    if _rounds(fitted, rows, finest):
        return cdist(rows, fitted)
    return euclidean_distances(rows, None if same else fitted)  # a row is at distance 0 of itself


def nearest(fitted: Any, rows: Any, n_neighbors: int, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Distances and numbers (n_rows, n_neighbors) of the nearest fitted rows of each row, itself among them, nearest first."""
    if n_neighbors > fitted.shape[0]:
        raise ValueError(
            f"n_neighbors={n_neighbors} exceeds the {fitted.shape[0]} rows of X; use at most {fitted.shape[0]}."
        )
    if not _uses_tree(fitted):
        fitted, rows = about_mean(fitted, rows)
        found = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(fitted).kneighbors(rows)
        if not _rounds(fitted, rows, float(np.median(found[0][:, -1])) ** 2):
            return found
    ranks = np.arange(1, n_neighbors + 1)  # a list of ranks keeps the second axis even for one neighbour
    return cKDTree(fitted).query(rows, ranks, workers=thread_count(n_jobs))


def links_nearest(fitted: Any, rows: Any, n_neighbors: int, n_jobs: int | None = None) -> sparse.csr_matrix:
    """Distances to the nearest fitted rows, as CSR of shape (n_rows, n_fitted) in which zeros are stored."""
    distances, numbers = nearest(fitted, rows, n_neighbors, n_jobs)
    pointer = np.arange(0, numbers.size + 1, n_neighbors)
    return _csr(distances.ravel(), numbers.ravel(), pointer, (rows.shape[0], fitted.shape[0]))


def links_within(fitted: Any, rows: Any, radius: float) -> sparse.csr_matrix:
    """Distances to the fitted rows within a radius, as CSR of shape (n_rows, n_fitted) in which zeros are stored."""
    if not _uses_tree(fitted):
        fitted, rows = about_mean(fitted, rows)
        if not _rounds(fitted, rows, radius**2):
            finder = NearestNeighbors(radius=radius, algorithm="brute").fit(fitted)
            return sparse.csr_matrix(finder.radius_neighbors_graph(rows, mode="distance"))
    tree, other = cKDTree(fitted), cKDTree(rows)
    n_links = other.count_neighbors(tree, radius)
    if n_links > MOST_EDGES:
        raise ValueError(
            f"epsilon={radius:g} joins {n_links:,} pairs of rows, {n_links // rows.shape[0]:,} for each row; "
            "use a smaller epsilon, or affinity='nearest_neighbors'."
        )
    return other.sparse_distance_matrix(tree, radius, output_type="coo_matrix").tocsr()


def links_of_distances(distances: Any, n_neighbors: int) -> sparse.csr_matrix:
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


def _csr(data: np.ndarray, indices: np.ndarray, pointer: np.ndarray, shape: tuple[int, int]) -> sparse.csr_matrix:
    # Small integers: SuperLU and ARPACK's products take no others, and they halve the memory.
    kind = np.int32 if len(data) < 2**31 else np.int64
    return sparse.csr_matrix((data, indices.astype(kind), pointer.astype(kind)), shape=shape)


def gaussian_weight(distances: Any, gamma: Any, row_widths: np.ndarray | None = None, column_widths: Any = None) -> Any:
    """exp(−γ d²), or exp(−d² / σ_i σ_j) where widths are given, of an array of distances or of the stored ones of CSR."""
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


def ones(distances: sparse.csr_matrix) -> sparse.csr_matrix:
    """Every stored distance as similarity 1."""
    links = distances.copy()
    links.data = np.ones_like(links.data)
    return links


def either(links: sparse.csr_matrix) -> sparse.csr_matrix:
    """½ (A + Aᵀ): an edge where either row chose the other."""
    return (0.5 * (links + links.T)).tocsr()


def both(links: sparse.csr_matrix) -> sparse.csr_matrix:
    """min(A, Aᵀ): an edge where each row chose the other."""
    return links.minimum(links.T).tocsr()
