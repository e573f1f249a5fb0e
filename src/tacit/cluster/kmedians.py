"""`KMedians`: rows join the centre that is nearest in L1, and centres are the medians of their rows."""

from ..base.settings import settings
from .estimator import CenterEstimator
from .medians import KMediansModel

__all__ = ["KMedians"]


@settings
class KMedians(CenterEstimator):
    """K-medians clustering of rows that may have missing cells.

    Minimises the sum of absolute differences between the cells of rows and of their centres, instead of squares: a cell that is
    far off pulls no harder than any other. Where half of the weight of a column lies on either side of a gap, the centre is the
    lower end of it.

    A row with missing cells is as far from a centre as its observed cells say, times the number of columns over theirs. A centre
    is the weighted median of the observed cells of its rows, weighted by the same factor, so that the loss never increases.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {"k-means++", "k-means||", "random"}, array of shape (n_clusters, n_features) or callable, default="k-means++"
        Where centres start: rows far apart in L1 (greedily, among a sample of rows), rows far apart by a few passes over all
        rows, random rows, these points, or ``init(X, n_clusters, random_state)``.
    tol : float, default=1e-4
        Once centres move by no more than this share of the spread of their rows (the distance between quartiles, averaged over
        centres and columns), rows stay in their clusters and only the medians are made exact. With 0, the fit ends when
        no row changes its cluster.
    n_init, max_iter, verbose, random_state, n_jobs, device, callback
        As in `KMeans`.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    inertia_ : float
        Weighted sum of L1 distances of rows to their centres.
    n_iter_ : int
        Passes of the best start.
    fit_ : Fit
        What was learned, with the loss after every pass (negated, in ``fit_.trace``) and the reason why it stopped.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Bradley, Mangasarian and Street (1996), Clustering via concave minimization. Arthur and Vassilvitskii (2007), k-means++.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.cluster import KMedians
    >>> X = np.array([[1.0, 2.0], [1.0, np.nan], [2.0, 0.0], [9.0, 2.0], [np.nan, 2.0], [9.0, 8.0]])
    >>> sorted(KMedians(2, random_state=0).fit(X).cluster_centers_.tolist())
    [[1.0, 0.0], [9.0, 2.0]]
    """

    _power = 1

    def _model(self) -> KMediansModel:
        return KMediansModel(self.n_clusters, self.tol)
