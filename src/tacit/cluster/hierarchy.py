"""`AgglomerativeClustering`: the two clusters that are least apart are merged, again and again.

single  min d(x, y)        complete  max d(x, y)        average  mean d(x, y)        ward  √(2 n_a n_b / (n_a + n_b)) ‖m_a − m_b‖

over rows x of one cluster and y of the other, m their means. Trees are made by SciPy, of any dissimilarity.
"""

import numbers
from typing import Any, Self

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_n_jobs, check_number
from ..declared import Numbers, Whole
from ..source.threads import thread_count
from .dissimilarity.estimator import DissimilarityEstimator
from .dissimilarity.matrix import check_matrix

__all__ = ["AgglomerativeClustering"]

LINKAGES = ("ward", "complete", "average", "single")
EUCLIDEAN = ("euclidean", "l2", "nan_euclidean")


@settings
class AgglomerativeClustering(ClusterMixin, DissimilarityEstimator):
    """Hierarchical clustering with any dissimilarity, of rows that may have missing cells.

    Drop-in for scikit-learn's ``AgglomerativeClustering`` without `connectivity`. The whole tree is always made.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters; None where `distance_threshold` is given.
    metric : str or callable, default="euclidean"
        Dissimilarity of rows, as in `KMedoids`: ``"nan_euclidean"`` and ``"gower"`` take missing cells, ``"gower"`` tables with
        columns of any kind, ``"precomputed"`` a symmetric matrix. ``"ward"`` needs ``"euclidean"`` or ``"nan_euclidean"``.
    memory, connectivity, compute_full_tree, compute_distances
        For scikit-learn's callers; `connectivity` must be None, and the others change nothing.
    linkage : {"ward", "complete", "average", "single"}, default="ward"
        How far apart two clusters are.
    distance_threshold : float, optional
        Clusters that are this far apart or farther are not merged; then `n_clusters` must be None.
    metric_params : dict, optional
        Further arguments of the dissimilarity, as in `KMedoids`.
    n_jobs : int, optional
        Threads of dissimilarities; default all cores. Results do not depend on it.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, numbered by the first row of each.
    children_ : ndarray of shape (n_samples - 1, 2)
        What each merge joins: rows, or n_samples + i for the i-th merge.
    distances_ : ndarray of shape (n_samples - 1,)
        How far apart they were.
    n_leaves_, n_connected_components_ : int
        Number of rows; 1.
    metric_params_ : dict
        Arguments of the dissimilarity, with those that were learned from the rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A matrix of all pairs is needed: 3.2 GB for 20,000 rows. With missing cells ward is taken of distances scaled up from the
    columns that two rows have in common, which are no distances of points: its merges are then an approximation.

    References
    ----------
    Müllner (2011), Modern hierarchical, agglomerative clustering algorithms. Kaufman and Rousseeuw (1990), Finding groups in
    data.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.cluster import AgglomerativeClustering
    >>> X = np.array([[1.0, 2.0], [1.0, np.nan], [1.0, 0.0], [9.0, 2.0], [np.nan, 4.0], [9.0, 0.0]])
    >>> AgglomerativeClustering(2, metric="nan_euclidean", linkage="average").fit(X[[0, 1, 2, 3, 5]]).labels_
    array([0, 0, 0, 1, 1])
    """

    n_clusters: Any = 2
    _: KW_ONLY
    metric: Any = "euclidean"
    memory: Any = None
    connectivity: Any = None
    compute_full_tree: Any = "auto"
    linkage: str = "ward"
    distance_threshold: Any = None
    compute_distances: bool = False
    metric_params: Any = None
    n_jobs: int | None = None

    _saved = DissimilarityEstimator._saved | {
        "n_clusters_": Whole(1, size="K"),
        "n_leaves_": Whole(2, size="n"),
        "n_connected_components_": Whole(1),
        "labels_": Numbers("n", low=0, below="K", kind="i"),
        "children_": Numbers("m 2", low=0, kind="i"),
        "distances_": Numbers("m", low=0),
    }

    def _check_loaded(self) -> None:
        super()._check_loaded()
        merges = np.arange(self.n_leaves_, 2 * self.n_leaves_ - 1)[:, None]
        if len(self.children_) != len(merges) or not (self.children_ < merges).all():
            raise ValueError(f"'children_' is no tree of {self.n_leaves_} rows")

    def _check_settings(self) -> None:
        self._check_metric()
        check_choice("linkage", self.linkage, LINKAGES)
        check_n_jobs(self.n_jobs)
        if self.connectivity is not None:
            raise ValueError(
                "connectivity is not taken; use sklearn.cluster.AgglomerativeClustering, or SpectralClustering."
            )
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                f"Exactly one of n_clusters and distance_threshold has to be set, and the other needs to be None; they are "
                f"n_clusters={self.n_clusters!r} and distance_threshold={self.distance_threshold!r}."
            )
        check_number("n_clusters", self.n_clusters, numbers.Integral, 1, also=(None,))
        check_number("distance_threshold", self.distance_threshold, numbers.Real, 0, also=(None,))
        if self.linkage == "ward" and not (isinstance(self.metric, str) and self.metric in EUCLIDEAN):
            raise ValueError(
                f"metric={self.metric!r} was provided; linkage='ward' is of means and works with 'euclidean' and 'nan_euclidean' "
                "only: use linkage='average'."
            )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Make the tree and cut it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), table, or (n_samples, n_samples) if precomputed
            Rows, or dissimilarities between them.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_settings()
        X = self._read_fit(X)
        n = len(X)
        if self.n_clusters is not None and self.n_clusters > n:
            raise ValueError(
                f"n_clusters={self.n_clusters} exceeds the {n} rows of X (n_samples={n}); use at most {n}."
            )
        self.metric_note_, self.metric_params_ = "", {}
        tree = linkage(squareform(self._matrix(X), checks=False), self.linkage)
        self.children_, self.distances_ = tree[:, :2].astype(np.int64), tree[:, 2].copy()
        self.n_leaves_, self.n_connected_components_ = n, 1
        if self.n_clusters is None:
            self.n_clusters_ = 1 + int(np.count_nonzero(self.distances_ >= self.distance_threshold))
        else:
            self.n_clusters_ = self.n_clusters
        self.labels_ = cut(self.children_, n, self.n_clusters_)
        return self

    def _matrix(self, X: np.ndarray) -> np.ndarray:
        """Dissimilarities of all pairs of rows."""
        if not self._is("precomputed"):
            return self._learn_metric(X, np.ones(len(X))).square(X, np.arange(len(X)), thread_count(self.n_jobs))
        check_matrix(X, thread_count(self.n_jobs))
        return X.astype(np.float64, copy=False)

    @property
    def linkage_matrix_(self) -> np.ndarray:
        """The tree as SciPy has it: what is joined, how far apart, and how many rows it then holds."""
        check_is_fitted(self)
        sizes = np.ones(2 * self.n_leaves_ - 1)
        for i, (a, b) in enumerate(self.children_, self.n_leaves_):
            sizes[i] = sizes[a] + sizes[b]
        return np.column_stack([self.children_, self.distances_, sizes[self.n_leaves_ :]]).astype(np.float64)


def cut(children: np.ndarray, n_rows: int, n_clusters: int) -> np.ndarray:
    """Clusters before the last n_clusters − 1 merges, numbered by their first rows."""
    top = np.arange(n_rows + len(children))
    for i in range(n_rows - n_clusters - 1, -1, -1):  # from the last merge that counts downwards
        top[children[i]] = top[n_rows + i]
    _, first, places = np.unique(top[:n_rows], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[places]
