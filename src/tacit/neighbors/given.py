"""Neighbours by distances that are given: a matrix, the stored cells of a sparse one, and distances between sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_distances
from sklearn.neighbors import sort_graph_by_row_values
from sklearn.utils.validation import check_array

from .brute import BruteValues
from .metrics import Metric
from .search import Found, Search

__all__ = ["GivenGraph", "GivenValues", "SparseMetric", "read_distances"]


def read_distances(X: Any) -> Any:
    """A matrix of distances, of which sparse ones hold neighbours only; those of a row are sorted."""
    if not sparse.issparse(X):
        return check_array(X, ensure_non_negative=True, input_name="X", dtype=[np.float64, np.float32])
    if X.format not in ("csr", "csc", "coo", "lil"):
        raise TypeError(
            f"Sparse matrix in {X.format!r} format is not supported due to its handling of explicit zeros; use csr."
        )
    X = check_array(
        X, accept_sparse="csr", ensure_non_negative=True, input_name="precomputed distance matrix", dtype=[np.float64, np.float32]
    )  # fmt: skip
    return sort_graph_by_row_values(X, copy=True, warn_when_not_sorted=True)


class GivenValues(BruteValues):
    """Queries are rows of distances to all rows."""

    def _values(self, Q: Any, part: slice) -> np.ndarray:
        return Q[:, part]


class GivenGraph(Search):
    """Queries are sparse rows of distances, of which only those stored are neighbours; sorted by distance."""

    def nearest(self, Q: Any, k: int, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # A row is stored among its own neighbours, as scikit-learn's graphs have it.
        itself = bool(len(own) and own[0] >= 0)
        stored, asked = np.diff(Q.indptr), k + itself
        if stored.min() < asked:
            raise ValueError(
                f"{asked} neighbors per samples are required, but some samples have only {stored.min()} neighbors in precomputed "
                "graph "
                "matrix; decrease n_neighbors or recompute the graph with more neighbors."
            )
        place = Q.indptr[:-1, None] + np.arange(asked)
        values, numbers = Q.data[place], Q.indices[place].astype(np.int64)
        order = np.lexsort((numbers, values))
        values, numbers = np.take_along_axis(values, order, 1), np.take_along_axis(numbers, order, 1)
        if itself:
            others = numbers != own[:, None]
            others[others.all(axis=1), -1] = False
            values, numbers = values[others].reshape(-1, k), numbers[others].reshape(-1, k)
        return values, numbers

    def within(self, Q: Any, radius: np.ndarray, own: np.ndarray) -> Found:
        owner = np.repeat(np.arange(Q.shape[0]), np.diff(Q.indptr))
        near = (Q.data <= radius[owner]) & (Q.indices != own[owner])
        order = np.lexsort((Q.indices[near], owner[near]))
        count = np.bincount(owner[near], minlength=Q.shape[0])
        return count, Q.indices[near][order].astype(np.int64), Q.data[near][order]


class SparseMetric(Metric):
    """A dissimilarity of scikit-learn between sparse rows."""

    undefined = "a dissimilarity must be a finite number"
    threads = False

    def __init__(self, metric: Any, parameters: dict):
        self.label, self._of = repr(metric), (metric, parameters)

    def between(self, A: Any, B: Any) -> np.ndarray:
        metric, parameters = self._of
        return np.asarray(pairwise_distances(A, B, metric=metric, n_jobs=1, **parameters), dtype=np.float64)
