"""`k_means` and `kmeans_plusplus`: k-means, and its starts, as functions."""

import numbers
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from ..checks import check_number, check_weight
from ..source import as_source
from .estimator import check_enough
from .kmeans import KMeans
from .seeds import seed_rows

__all__ = ["k_means", "kmeans_plusplus"]


def k_means(
    X: Any, n_clusters: int, *, sample_weight: Any = None, init: Any = "k-means++", n_init: int | str = "auto",
    max_iter: int = 300, verbose: bool = False, tol: float = 1e-4, random_state: Any = None, copy_x: bool = True,
    algorithm: str = "auto", return_n_iter: bool = False,
) -> tuple:  # fmt: skip
    """Cluster rows around centres; see `KMeans`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows; NaN is missing.
    n_clusters, init, n_init, max_iter, verbose, tol, random_state, copy_x, algorithm
        Settings of `KMeans`.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.
    return_n_iter : bool, default=False
        Whether to return the number of passes too.

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features)
        The centres.
    labels : ndarray of shape (n_samples,)
        The cluster of each row.
    inertia : float
        Weighted sum of squared distances of rows to their centres.
    n_iter : int
        Passes of the best start; only if `return_n_iter`.

    Examples
    --------
    >>> from tacit.cluster import k_means
    >>> centers, labels, inertia = k_means([[1.0], [2.0], [8.0], [9.0]], 2, random_state=0)
    >>> inertia
    1.0
    """
    fitted = KMeans(
        n_clusters, init=init, n_init=n_init, max_iter=max_iter, verbose=verbose, tol=tol, random_state=random_state,
        copy_x=copy_x, algorithm=algorithm,
    ).fit(X, sample_weight=sample_weight)  # fmt: skip
    found = fitted.cluster_centers_, fitted.labels_, fitted.inertia_
    return (*found, fitted.n_iter_) if return_n_iter else found


def kmeans_plusplus(
    X: Any, n_clusters: int, *, sample_weight: Any = None, x_squared_norms: Any = None, random_state: Any = None,
    n_local_trials: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Choose rows far apart to start k-means at: each is the best of a few drawn in proportion to squared distance.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows to choose from; NaN is missing, and is replaced by the mean of its column.
    n_clusters : int
        How many rows to choose.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; a row of weight 0 is never chosen.
    x_squared_norms : array-like of shape (n_samples,), optional
        Ignored, for compatibility: squared lengths are taken about the mean.
    random_state : int, RandomState instance or None, default=None
        Seed.
    n_local_trials : int, optional
        Rows that are drawn for each choice; default 2 + log(n_clusters).

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features)
        The rows.
    indices : ndarray of shape (n_clusters,)
        Their numbers.

    References
    ----------
    Arthur and Vassilvitskii (2007), k-means++.

    Examples
    --------
    >>> from tacit.cluster import kmeans_plusplus
    >>> centers, indices = kmeans_plusplus([[1.0], [2.0], [8.0], [9.0]], 2, random_state=0)
    >>> bool(abs(centers[0] - centers[1]) > 5)
    True
    """
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    n_rows = X.shape[0]
    check_number("n_clusters", n_clusters, numbers.Integral, 1)
    check_number("n_local_trials", n_local_trials, numbers.Integral, 1, also=(None,))
    check_enough(n_rows, n_clusters)
    if x_squared_norms is not None and np.shape(x_squared_norms) != (n_rows,):
        raise ValueError(
            f"The length of x_squared_norms {np.shape(x_squared_norms)} should be equal to the length of n_samples {n_rows}."
        )
    source = as_source(X, check_weight(sample_weight, n_rows))
    eligible = source.eligible()
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    centers, rows = seed_rows(source.take(eligible), n_clusters, rng, n_candidates=n_local_trials)
    return centers.astype(X.dtype), eligible[rows]
