"""Laplacians of a graph with weights w_ij, degrees d_i = Σ_j w_ij, and what a partition cuts.

unnormalised  L = D − W               its lowest eigenvectors relax RatioCut = Σ_k cut(C_k) / |C_k|
symmetric     L = I − D^−½ W D^−½     relax NCut = Σ_k cut(C_k) / vol(C_k)
random walk   L = I − D⁻¹ W           eigenvectors are D^−½ times the symmetric ones; eigenvalues are the same

with vol(C) = Σ_{i∈C} d_i and cut(C) = Σ_{i∈C, j∉C} w_ij. Weights w_ii cancel in W and D and are left out of both.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

__all__ = ["LAPLACIANS", "Laplacian", "components_of", "cuts", "degrees_of", "without_diagonal"]

LAPLACIANS = ("random_walk", "symmetric", "unnormalised")


def without_diagonal(affinity: Any) -> Any:
    """A sparse graph without loops and stored zeros; a dense one as it is, its diagonal to be passed over."""
    if not sparse.issparse(affinity) or not (affinity.diagonal().any() or (affinity.data == 0).any()):
        return affinity
    edges = affinity.tocoo()
    kept = (edges.row != edges.col) & (edges.data != 0)
    return sparse.csr_array((edges.data[kept], (edges.row[kept], edges.col[kept])), shape=affinity.shape)


def degrees_of(affinity: Any) -> np.ndarray:
    """Σ_{j≠i} w_ij of each vertex."""
    if sparse.issparse(affinity):
        return np.asarray(without_diagonal(affinity).sum(axis=1), dtype=np.float64).ravel()
    degrees = np.empty(len(affinity))
    # Not the difference of sum and diagonal: rows that are hardly like any other would lose all digits.
    for start in range(0, len(affinity), 256):
        strip = affinity[start : start + 256].copy()
        strip[np.arange(len(strip)), start + np.arange(len(strip))] = 0.0
        degrees[start : start + 256] = strip.sum(axis=1)
    return degrees


def components_of(affinity: Any) -> tuple[int, np.ndarray]:
    """The number of connected components, and the component of each vertex, the largest being 0."""
    if sparse.issparse(affinity):
        n_components, component = connected_components(without_diagonal(affinity), directed=False)
    else:
        n_components, component = _dense_components(affinity)
    sizes = np.bincount(component, minlength=n_components)
    rank = np.empty(n_components, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(n_components)
    return n_components, rank[component]


def _dense_components(affinity: np.ndarray) -> tuple[int, np.ndarray]:
    """As SciPy's `connected_components`, which would make a sparse copy thrice the size of the matrix."""
    n = len(affinity)
    component, n_components = np.full(n, -1), 0
    for start in range(n):
        if component[start] >= 0:
            continue
        component[start], waiting = n_components, [start]
        while waiting:
            new = np.flatnonzero((affinity[waiting.pop()] > 0) & (component < 0))
            component[new] = n_components
            waiting += new.tolist()
            if (component >= 0).all():
                return n_components + 1, component
        n_components += 1
    return n_components, component


def cuts(affinity: Any, labels: np.ndarray, degrees: np.ndarray | None = None) -> tuple[float, float]:
    """RatioCut and NCut of a partition; a cluster without weight (isolated vertices only) cuts nothing and adds 0."""
    degrees = degrees_of(affinity) if degrees is None else degrees
    n_clusters = int(labels.max()) + 1
    if sparse.issparse(affinity):
        rows = np.repeat(labels, np.diff(affinity.indptr))
        leaving = np.where(rows != labels[affinity.indices], affinity.data, 0.0)
        cut = np.bincount(rows, weights=leaving, minlength=n_clusters)
    else:
        member = labels[:, None] == np.arange(n_clusters)
        towards = affinity @ member.astype(affinity.dtype)  # weight from each vertex to each cluster
        cut = np.where(member, 0.0, towards).sum(axis=0)
    size, volume = np.bincount(labels), np.bincount(labels, weights=degrees)
    per_size = np.divide(cut, size, out=np.zeros(n_clusters), where=size > 0)
    per_volume = np.divide(cut, volume, out=np.zeros(n_clusters), where=volume > 0)
    return float(per_size.sum()), float(per_volume.sum())


class Laplacian:
    """The Laplacian of a graph without isolated vertices, as a symmetric matrix.

    The random-walk Laplacian is represented by the symmetric one, of which it is a similarity transform. Degrees are all above
    zero, and the largest connected component is numbered 0. No eigenvalue is larger than `bound`.
    """

    def __init__(self, affinity: Any, degrees: np.ndarray, component: np.ndarray, kind: str):
        self.affinity, self.degrees, self.component, self.kind = without_diagonal(affinity), degrees, component, kind
        self.n = affinity.shape[0]
        self.normalised = kind != "unnormalised"
        self.bound = 2.0 if self.normalised else 2.0 * float(degrees.max())
        self.scale = 1 / np.sqrt(degrees) if self.normalised else np.ones(self.n)
        self.diagonal = np.ones(self.n) if self.normalised else degrees

    @cached_property
    def matrix(self) -> Any:
        """The matrix, CSR or dense as the graph is."""
        if sparse.issparse(self.affinity):
            edges = self.affinity.copy()
            edges.data *= np.repeat(-self.scale, np.diff(edges.indptr)) * self.scale[edges.indices]
            return (sparse.diags_array(self.diagonal) + edges).tocsr()
        matrix = self.affinity.copy()
        matrix.flat[:: self.n + 1] = 0.0  # it may overflow where a row is hardly like any other
        matrix *= -self.scale[:, None]
        matrix *= self.scale
        matrix.flat[:: self.n + 1] = self.diagonal
        return matrix

    def null_vectors(self, most: int) -> np.ndarray:
        """Orthonormal vectors of eigenvalue 0, one per connected component: exact, whatever the graph.

        Where there are more components than `most`, the smallest share the last vector.
        """
        group = np.minimum(self.component, most - 1)
        vectors = np.zeros((self.n, group.max() + 1))
        vectors[np.arange(self.n), group] = np.sqrt(self.degrees) if self.normalised else 1.0
        return vectors / np.linalg.norm(vectors, axis=0)

    def reach(self) -> tuple[np.ndarray, int]:
        """Vertices of the largest component by their distance from one of them, and the number of edges across it."""
        start = int((self.component == 0).argmax())
        order = breadth_first_order(self.affinity, start, return_predecessors=False)
        back, before = breadth_first_order(self.affinity, order[-1])
        vertex, n_edges = back[-1], 0
        while vertex != back[0]:
            vertex, n_edges = before[vertex], n_edges + 1
        return order, n_edges
