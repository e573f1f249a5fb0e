"""How `KMedoids` reads its input: queries, numbers of clusters, candidates and starts."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array

from ...checks import check_number

if TYPE_CHECKING:
    from .kmedoids import KMedoids
    from .space import Space

__all__ = ["candidate_rows", "count_list", "initial_rows", "read_query"]

AUTO = range(2, 11)


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


def candidate_rows(candidates: Any, space: Space, k: int) -> None:
    """Let only the rows with these numbers, or of this mask, be medoids of a space."""
    n = len(space.place)
    rows = np.asarray(candidates)
    rows = np.flatnonzero(rows) if rows.dtype.kind == "b" and rows.shape == (n,) else rows
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not len(rows) or rows.min() < 0 or rows.max() >= n:
        raise ValueError(
            f"medoid_candidates={candidates!r} are not rows of X; give numbers of rows from 0 to {n - 1}, or a mask of {n}."
        )
    rows = np.unique(rows)[::-1]  # of equal rows, the first is named
    rows = rows[space.place[rows] >= 0]
    space.candidate = np.zeros(len(space.weight), bool)
    space.candidate[space.place[rows]] = space.weight[space.place[rows]] > 0
    if space.candidate.sum() < k:
        raise ValueError(
            f"medoid_candidates hold {space.candidate.sum()} distinct rows of positive weight, fewer than n_clusters={k}; give "
            f"at least {k}."
        )
    space.rows = space.rows.copy()
    space.rows[space.place[rows]] = rows


def initial_rows(init: Any, space: Space, counts: list[int], only_candidates: bool = False) -> str | np.ndarray:
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
    if only_candidates and not space.candidate[places].all():
        row = rows[~space.candidate[places]][0]
        raise ValueError(f"init holds row {row}, which is not among medoid_candidates; start from candidates.")
    return np.array(list(dict.fromkeys(places.tolist())))  # equal rows are one row of the space
