"""`NearestNeighbors`: the k rows nearest to a query, or all within a radius: N(q) = {i : d(q, x_i) ≤ d(q, x_(k))}."""

from typing import Any, Self

from ..base.settings import settings
from .queries import KNeighbors, RadiusNeighbors

__all__ = ["NearestNeighbors"]


@settings
class NearestNeighbors(KNeighbors, RadiusNeighbors):
    """Search for neighbours.

    Takes the place of :class:`sklearn.neighbors.NearestNeighbors`. Every algorithm finds the same rows: of equally near ones
    those that come first. For costly metrics that keep the triangle inequality there are searches that compute few distances.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows :meth:`kneighbors` finds.
    radius : float, default=1.0
        Up to which distance :meth:`radius_neighbors` does.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "orchard", "aesa", "laesa"}, default="auto"
        All pairs in blocks; a KD-tree; Orchard's algorithm and AESA, which keep the distances between all rows; linear AESA,
        which keeps those to a few buoys. ``"ball_tree"`` is the KD-tree where rows are points, and else linear AESA. ``"auto"``
        measures on a sample which is quicker: all pairs, the tree, or linear AESA.
    leaf_size : int, default=30
        Most rows in a leaf of a tree.
    metric : str or callable, default="minkowski"
        A name that :class:`tacit.cluster.KMedoids` knows, as ``"gower"`` for tables of numbers and categories with missing cells,
        ``"nan_euclidean"`` or ``"precomputed"``; ``"edit"`` for texts; or a function of two rows, which is compiled where it is
        called often.
    p : float, default=2
        The power of Minkowski's distance.
    metric_params : dict, optional
        Further arguments of the metric.
    n_buoys : int or "auto", default="auto"
        Buoys of linear AESA; ``"auto"`` is 0.7 √n.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.

    Attributes
    ----------
    effective_metric_ : str or callable
        The metric by its usual name.
    effective_metric_params_ : dict
        Its arguments, with those learned from the rows.
    n_samples_fit_ : int
        Number of rows.
    n_distances_ : int
        Distances computed for the last queries.
    n_distances_fit_ : int
        Distances computed by the fit.
    metric_params_ : dict
        As in :class:`tacit.cluster.KMedoids`.
    schema_ : Schema or None
        Columns of a table compared by Gower's dissimilarity.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    D. Barber, *Bayesian Reasoning and Machine Learning*, Cambridge (2012), chapter 14.
    M. T. Orchard, *A fast nearest-neighbor search algorithm*, ICASSP (1991).
    E. Vidal, *An algorithm for finding nearest neighbours in (approximately) constant average time*, Pattern Recognition Letters
    4 (1986).
    L. Micó, J. Oncina and E. Vidal, *A new version of the nearest-neighbour approximating and eliminating search algorithm
    (AESA) with linear preprocessing time and memory requirements*, Pattern Recognition Letters 15 (1994).

    Examples
    --------
    >>> from tacit.neighbors import NearestNeighbors
    >>> words = ["mixture", "mixtures", "fixture", "cluster", "custard", "latent", "patent"]
    >>> model = NearestNeighbors(n_neighbors=2, metric="edit", algorithm="aesa").fit(words)
    >>> model.kneighbors(["misture", "potent"])
    (array([[1., 2.],
           [1., 2.]]), array([[0, 1],
           [6, 5]]))
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the rows, and prepare the search.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows; also a table for Gower's dissimilarity, a list of texts for the edit distance, or a fitted tree of scikit-learn.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_settings()
        return self._fit(X)
