"""How `KMedoids` reads its input: rows, tables, matrices of dissimilarities, numbers of clusters and starts."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_array, validate_data

from ...checks import as_rows, check_number, check_rows
from ...frames import is_table
from ..dissimilarity.gower import learn_schema

if TYPE_CHECKING:
    from .kmedoids import KMedoids
    from .space import Space

__all__ = ["count_list", "initial_rows", "read_matrix", "read_query", "read_rows"]

AUTO = range(2, 11)


def read_rows(estimator: KMedoids, X: Any, *, reset: bool) -> np.ndarray:
    """Rows as floats; the columns of a table are learned at fit and coded as then from there on."""
    if estimator._is("gower") and (is_table(X) or (not reset and estimator.schema_ is not None)):
        return _read_table(estimator, X, reset=reset)
    X = check_rows(estimator, X, reset=reset)
    if reset:
        estimator.schema_ = None
    return X.astype(np.float64, copy=False) if estimator._is("gower") else X


def _read_table(estimator: KMedoids, X: Any, *, reset: bool) -> np.ndarray:
    X = as_rows(estimator, X)
    given = np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X
    if hasattr(given, "columns") and not hasattr(given, "column_names"):
        _check_feature_names(estimator, given, reset=reset)
    if reset:
        estimator.schema_ = learn_schema(given, estimator.metric_params)
        estimator.n_features_in_ = len(estimator.schema_.columns)
    elif hasattr(given, "shape"):
        _check_n_features(estimator, given, reset=False)
    return estimator.schema_.encode(given)


def read_matrix(estimator: KMedoids, X: Any) -> np.ndarray:
    """A square matrix of numbers, not copied where it is one already."""
    X = validate_data(
        estimator, X, reset=True, dtype=[np.float64, np.float32, np.int64, np.int32], ensure_all_finite=False
    )
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"metric='precomputed' takes a square matrix, but X has shape {X.shape}; for rows use another metric."
        )
    return np.asarray(X)


def read_query(estimator: KMedoids, X: Any) -> np.ndarray:
    """Dissimilarities of rows to the medoids, picked from those to all rows seen at fit where these are given."""
    X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=False)
    n, k = estimator.n_features_in_, len(estimator.medoid_indices_)
    if X.shape[1] not in (n, k):
        raise ValueError(
            f"X has {X.shape[1]} features, but KMedoids is expecting {n} features as input: dissimilarities to the {n} rows "
            f"seen at fit, or to the {k} medoids."
        )
    X = X[:, estimator.medoid_indices_] if X.shape[1] == n else X
    bad = np.argwhere(~np.isfinite(X) | (X < 0))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"X holds {X[i, j]:g} between row {i} and medoid {j}; dissimilarities must be finite and not negative."
        )
    return X


def count_list(n_clusters: Any, n_rows: int) -> list[int]:
    """Numbers of clusters to try, rising."""
    if isinstance(n_clusters, str):
        if n_clusters != "auto":
            raise ValueError(f"n_clusters={n_clusters!r} is unknown; use 'auto', a number or several numbers.")
        return [k for k in AUTO if k < n_rows] or [min(2, n_rows)]
    if isinstance(n_clusters, numbers.Number) or np.ndim(n_clusters) == 0:
        check_number("n_clusters", n_clusters, numbers.Integral, 1)
        counts = [int(n_clusters)]
    else:
        for k in n_clusters:
            check_number("n_clusters", k, numbers.Integral, 2)  # one cluster has no silhouette
        counts = sorted({int(k) for k in n_clusters})
        if not counts:
            raise ValueError("n_clusters is empty; give at least one number.")
    if counts[-1] > n_rows:
        raise ValueError(
            f"n_clusters={counts[-1]} exceeds the {n_rows} rows of X (n_samples={n_rows}); use at most {n_rows}."
        )
    return counts


def initial_rows(init: Any, space: Space, counts: list[int]) -> str | np.ndarray:
    """A named start as it is; numbers of rows as places in the space, none twice."""
    if isinstance(init, str):
        return init
    rows = np.asarray(init)
    n = len(space.place)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) != counts[-1] or len(counts) > 1:
        wanted = f"{counts[-1]} numbers of rows" if len(counts) == 1 else "the name of a start, with several n_clusters"
        raise ValueError(f"init={init!r} has shape {rows.shape} and type {rows.dtype}; give {wanted}.")
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(
            f"init holds {rows.min() if rows.min() < 0 else rows.max()}, but the rows of X are 0 to {n - 1}."
        )
    if len(np.unique(rows)) < len(rows):
        values, count = np.unique(rows, return_counts=True)
        raise ValueError(f"init holds row {values[np.argmax(count)]} more than once; give each row once.")
    places = space.place[rows]
    weightless = rows[(places < 0) | (space.weight[np.maximum(places, 0)] == 0)]
    if len(weightless):
        raise ValueError(f"init holds row {weightless[0]}, whose weight is 0; start from rows that count.")
    return np.array(list(dict.fromkeys(places.tolist())))  # equal rows are one row of the space
