"""`cluster_stability`: whether clusters are found again in other rows of the same kind.

adjusted Rand index between the clusters of all rows and those of a resample, over the rows in both; for each cluster the largest
Jaccard coefficient |A ∩ B| / |A ∪ B| with a cluster of the resample, averaged (Hennig: above 0.75 it is stable, below 0.5 it
dissolves)
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, confusion_matrix

from ..checks import check_number
from ..table import Table
from .data import Data, learned

__all__ = ["Stability", "agreement", "cluster_stability", "halves"]

STABLE = 0.75
"""Jaccard coefficient above which a cluster is taken for stable (Hennig 2007)."""


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How stable clusters are; made by `cluster_stability`.

    Attributes
    ----------
    rand : ndarray of shape (n_resamples,)
        Adjusted Rand index of each resample; 1 is the same clusters.
    matched : ndarray of shape (n_resamples,)
        Share of rows that keep their cluster, clusters being matched one to one.
    jaccard : ndarray of shape (n_resamples, n_clusters)
        Of each cluster with the one most like it.
    labels : ndarray
        Clusters of all rows.
    """

    rand: np.ndarray
    matched: np.ndarray
    jaccard: np.ndarray
    labels: np.ndarray

    @property
    def table(self) -> Table:
        """A row for each cluster."""
        names, sizes = np.unique(self.labels[self.labels >= 0], return_counts=True)
        return Table(
            {"cluster": int(name), "rows": int(size), "jaccard": float(mean), "stable": bool(mean > STABLE)}
            for name, size, mean in zip(names, sizes, np.nanmean(self.jaccard, axis=0))
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"Stability over {len(self.rand)} resamples: adjusted Rand {np.nanmean(self.rand):.3f}, "
            f"{np.nanmean(self.matched):.1%} of rows keep their cluster\n{self.table}"
        )


def cluster_stability(
    model: Any, X: Any, *, n_resamples: int = 20, share: float = 0.5, lengths: Any = None, sample_weight: Any = None,
    random_state: int = 0,
) -> Stability:  # fmt: skip
    """Learn clusters from parts of the rows, and see whether they are those of all rows.

    Parameters
    ----------
    model : estimator
        With `predict`, or `fit_predict` or ``labels_``; cloned.
    X : array-like, frame or sparse matrix
        Rows.
    n_resamples : int, default=20
        Parts drawn.
    share : float, default=0.5
        Of the rows, without replacement, in each.
    lengths, sample_weight
        As in `cross_validate`.
    random_state : int, default=0
        Draws the parts.

    Returns
    -------
    Stability

    References
    ----------
    Hennig (2007), Cluster-wise assessment of cluster stability, Computational Statistics and Data Analysis 52.
    Lange, Roth, Braun and Buhmann (2004), Stability-based validation of clustering solutions, Neural Computation 16.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.assess import cluster_stability
    >>> from tacit.cluster import KMeans
    >>> X = np.random.default_rng(0).normal(size=(90, 2)) + 9 * np.repeat(np.eye(3, 2), 30, axis=0)
    >>> bool(cluster_stability(KMeans(3, random_state=0), X).rand.mean() > 0.99)
    True
    """
    check_number("n_resamples", n_resamples, numbers.Integral, 1)
    check_number("share", share, numbers.Real, 1e-9, 1.0)
    data = Data.of(X, None, sample_weight, lengths, model=model)
    size = round(share * data.n_units)
    if size < 2:
        raise ValueError(f"share={share:g} of {data.n_units} {data.what} is {size}; learn clusters from more.")
    rng = np.random.default_rng(random_state)
    whole = _labels(model, data)
    names = np.unique(whole[whole >= 0])
    rand, matched = np.empty(n_resamples), np.empty(n_resamples)
    jaccard = np.empty((n_resamples, len(names)))
    for k in range(n_resamples):
        units = np.sort(rng.permutation(data.n_units)[:size])
        found = _labels(model, data.take(units))
        before = whole[data.rows(units)]
        rand[k], matched[k] = agreement(before, found)
        for j, name in enumerate(names):
            here = before == name
            each = [(here & (found == other)).sum() / (here | (found == other)).sum() for other in np.unique(found)]
            jaccard[k, j] = max(each) if here.any() else np.nan
    return Stability(rand, matched, jaccard, whole)


def agreement(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The adjusted Rand index of two clusterings of the same rows, and the share that agrees once clusters are matched."""
    counts = confusion_matrix(*(np.unique(each, return_inverse=True)[1] for each in (first, second)))
    rows, columns = linear_sum_assignment(-counts)
    return float(adjusted_rand_score(first, second)), float(counts[rows, columns].sum() / len(first))


def halves(
    labels: list[np.ndarray],
    fit: Callable[[np.ndarray, int], np.ndarray],
    n: int,
    n_resamples: int,
    tried: list[int],
    rng: Any,
) -> np.ndarray:
    """Adjusted Rand indices, (resamples, models), of random halves with all n rows; NaN where not tried."""
    found = np.full((n_resamples, len(labels)), np.nan)
    for one in found:
        rows = rng.permutation(n)[: n // 2]
        for i in tried:
            one[i] = adjusted_rand_score(labels[i][rows], fit(rows, i))
    return found


def _labels(model: Any, data: Data) -> np.ndarray:
    """The cluster of each row, by a model learned from these rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not hasattr(model, "predict") and hasattr(model, "fit_predict"):
            return np.asarray(clone(model).fit_predict(data.X))
        fitted = learned(model, data)
    if hasattr(fitted, "labels_") and len(fitted.labels_) == data.n_rows:
        return np.asarray(fitted.labels_)
    if hasattr(fitted, "predict"):
        return np.asarray(fitted.predict(data.X, **data.beside))
    raise ValueError(f"{type(model).__name__} makes no clusters: it has neither predict, fit_predict nor labels_.")
