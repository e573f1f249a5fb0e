"""`SpectralClustering`: clusters as parts of a graph between which few edges run.

min Σ_k cut(C_k) / vol(C_k)  ≈  min_U tr(Uᵀ L U), UᵀU = I:  the lowest eigenvectors of the graph's Laplacian, rows clustered
"""

import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.metrics import pairwise_distances_argmin
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from ...base import RowsEstimator
from ...base.settings import KW_ONLY, settings
from ...declared import SQUARES, Numbers, Whole
from .assign import assign
from .checks import check_graph, check_settings, check_sizes, checked_rows, warn_if_alike
from .eigenvectors import lowest_eigenvectors
from .gap import gap_scores
from .graphs import nearest
from .laplacian import Laplacian, components_of, cuts, degrees_of, without_diagonal
from .similarity import PAIRWISE, Similarity

__all__ = ["SpectralClustering", "spectral_clustering"]

BLOCK_ENTRIES = 1 << 22
NEGLIGIBLE = 1e-150  # a degree, as a share of the largest or of 1
LEAST_SMOOTHNESS = 0.1  # columns less smooth than this are not scaled up when a new row is placed


@settings
class SpectralClustering(ClusterMixin, RowsEstimator):
    """Cluster rows by the lowest eigenvectors of a graph of their similarities.

    Works where scikit-learn's does, with the same settings and attributes. Beyond it: more graphs, three Laplacians, the number
    of clusters from the eigengap, labels of new rows, the cut found, and disconnected graphs solved exactly and reported.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. "auto": where a gap between consecutive eigenvalues is large relative to its end and the
        eigenvectors before it are constant on clusters (`gap_scores_`), up to `max_clusters`; the number of connected
        components where there is no such gap.
    eigen_solver : {None, "arpack", "lobpcg", "amg"}, default=None
        How eigenvectors are found. None and "arpack" choose between products and a sparse factor by the shape of the graph;
        None uses LAPACK for small ones. "amg" needs pyamg. Residuals are checked, and another solver runs where they are large.
    n_components : int, optional
        Number of eigenvectors; default `n_clusters`.
    random_state : int, RandomState or None
        For starting vectors and k-means.
    n_init : int, default=10
        Starts of k-means.
    gamma : float, "scale" or "local", default=1.0
        γ of the kernels. "scale": 1 / sum of the columns' variances. "local": every row has a bandwidth σ_i, its distance to
        its `n_neighbors`-th nearest row, and w = exp(−d² / σ_i σ_j); for "rbf" and Gaussian `edge_weights`.
    affinity : str or callable, default="rbf"
        The graph. "rbf": fully connected, Gaussian. "nearest_neighbors": either row is among the other's nearest.
        "mutual_nearest_neighbors": each is. "epsilon": within a radius. "precomputed": X holds similarities.
        "precomputed_nearest_neighbors": X holds distances (sparse or not), of which the `n_neighbors` least of each row
        count. Any kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels` that is not negative, or a function of two rows.
    n_neighbors : int, default=10
        Neighbours of a row, itself included.
    eigen_tol : float or "auto", default="auto"
        Largest residual of eigenvectors, in units of half the largest eigenvalue possible (1 for normalised Laplacians).
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        How rows of the embedding become clusters. The last two take one eigenvector per cluster: of a larger `n_components`
        they use the first, and a smaller one gives fewer clusters.
    degree, coef0, kernel_params
        Of kernels, as in scikit-learn.
    n_jobs : int, optional
        Threads of the search for neighbours; None is all cores.
    verbose : bool, default=False
        Print what is done.
    laplacian : {"random_walk", "symmetric", "unnormalised"}, default="random_walk"
        "random_walk": rows of D^−½ u, u the eigenvectors of I − D^−½ W D^−½, as scikit-learn does (Shi and Malik).
        "symmetric": rows of u, each scaled to length 1 (Ng, Jordan and Weiss). "unnormalised": eigenvectors of D − W; the
        first two seek a small NCut, this a small RatioCut.
    epsilon : float, optional
        Radius of affinity="epsilon"; default the median distance to the `n_neighbors`-th nearest row.
    edge_weights : {"binary", "gaussian"}, default="binary"
        What an edge weighs for "nearest_neighbors", "mutual_nearest_neighbors" and "epsilon".
    max_clusters : int, default=10
        Most clusters with n_clusters="auto".

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row.
    affinity_matrix_ : CSR matrix or ndarray of shape (n_samples, n_samples)
        The graph. Its diagonal has no influence on anything.
    n_clusters_ : int
        Number of clusters sought.
    eigenvalues_ : ndarray
        Lowest eigenvalues of the Laplacian, increasing: `n_components` of them, max_clusters + 1 with n_clusters="auto".
    eigengap_ : float or None
        With n_clusters="auto", the gap that follows the first `n_clusters_` eigenvalues.
    gap_scores_ : ndarray of shape (max_clusters,), or None
        With n_clusters="auto", the score of every number of clusters, of which the largest is taken: the relative gap that
        follows, less twice the part of the eigenvectors that no partition explains; 0.3 for one connected component and 0.4 for
        their number where there are several, NaN below it and where no eigenvalue follows.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Orthonormal eigenvectors of the symmetric or unnormalised Laplacian; 0 for isolated rows.
    embedding_ : ndarray of shape (n_samples, n_components)
        Rows that were clustered.
    embedding_centers_ : ndarray of shape (n_clusters, n_components)
        Means of the clusters in the embedding; NaN for an empty one.
    n_cut_, ratio_cut_ : float
        Σ_k cut(C_k) / vol(C_k) and Σ_k cut(C_k) / |C_k| of the clusters found.
    degrees_ : ndarray of shape (n_samples,)
        Σ_{j≠i} w_ij.
    stationary_distribution_ : ndarray of shape (n_samples,)
        Share of time that a random walk on the graph spends at each row, d_i / Σ d. In a disconnected graph a walk stays in
        its component, and its shares are these divided by their sum over the component.
    n_connected_components_ : int
        Connected components of the graph, isolated rows included.
    connected_components_ : ndarray of shape (n_samples,)
        Component of each row; 0 is the largest.
    n_isolated_ : int
        Rows without any edge, or with edges that weigh less than 1e-150 in all.
    gamma_, epsilon_ : float or None
        The γ and radius used.
    widths_ : ndarray of shape (n_samples,), or None
        Bandwidths, with gamma="local".
    X_fit_ : ndarray or CSR
        Fitted rows, for `predict`; None where X holds similarities or distances.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    A graph in several pieces has one eigenvalue 0 for each, with eigenvectors that are known exactly, and a warning says how many
    there are. With more pieces than clusters every grouping of pieces cuts nothing: the largest n_clusters − 1 are clusters, and
    the others together are the last.

    Rows without any edge belong to no part of the graph. They are left out of the eigenvectors, and take the cluster of the
    nearest row that has edges; where X holds similarities or distances, the largest cluster.

    References
    ----------
    von Luxburg (2007), A tutorial on spectral clustering. Statistics and Computing 17.
    Shi and Malik (2000), Normalized cuts and image segmentation. IEEE TPAMI 22.
    Ng, Jordan and Weiss (2002), On spectral clustering: analysis and an algorithm. NIPS 14.
    Zelnik-Manor and Perona (2004), Self-tuning spectral clustering. NIPS 17.
    Bengio et al. (2004), Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral clustering. NIPS 16.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from tacit.cluster import SpectralClustering
    >>> X, y = make_moons(400, noise=0.05, random_state=0)
    >>> model = SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=15, random_state=0).fit(X)
    >>> bool((model.labels_ == y).all() or (model.labels_ != y).all())
    True
    >>> left, right = model.predict([[-0.9, 0.4], [1.9, 0.1]])
    >>> bool(left != right)
    True
    """

    n_clusters: int = 8
    _: KW_ONLY
    eigen_solver: Any = None
    n_components: Any = None
    random_state: Any = None
    n_init: int = 10
    gamma: float = 1.0
    affinity: Any = "rbf"
    n_neighbors: int = 10
    eigen_tol: Any = "auto"
    assign_labels: str = "kmeans"
    degree: int = 3
    coef0: int = 1
    kernel_params: Any = None
    n_jobs: int | None = None
    verbose: int = False
    laplacian: str = "random_walk"
    epsilon: Any = None
    edge_weights: str = "binary"
    max_clusters: int = 10

    _saved = RowsEstimator._saved | {
        "n_clusters_": Whole(1, size="K"),
        "labels_": Numbers("n", low=0, below="K", kind="i"),
        "affinity_matrix_": Numbers("n n", low=0, sparse=True),
        "eigenvalues_": Numbers("e", low=0),
        "eigengap_": Numbers(low=0, optional=True),
        "gap_scores_": Numbers("g", beside=(np.nan,), optional=True, needed=False),
        "eigenvectors_": Numbers("n v"),
        "embedding_": Numbers("n c"),
        "embedding_centers_": Numbers("K c", beside=(np.nan,)),
        "n_cut_": Numbers(low=0),
        "ratio_cut_": Numbers(low=0),
        "degrees_": Numbers("n", low=0),
        "stationary_distribution_": Numbers("n", low=0, high=1),
        "n_connected_components_": Whole(1),
        "connected_components_": Numbers("n", low=0, kind="i"),
        "n_isolated_": Whole(0),
        "gamma_": Numbers(low=0, optional=True, high=SQUARES),
        "epsilon_": Numbers(low=0, optional=True),
        "widths_": Numbers("n", low=0, optional=True),
        "X_fit_": Numbers("n d", sparse=True, optional=True),
    }
    _needs = ("affinity",)
    _takes_missing = False
    _takes_sparse = True
    _dtypes = (np.float64,)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.affinity, str) and self.affinity in PAIRWISE
        return tags

    @property
    def _missing_remedy(self) -> str:  # type: ignore[override]
        if self.affinity in PAIRWISE:
            return "where every pair of rows needs a number"
        return (
            "and a graph of similarities needs every cell: impute them first with tacit.impute.GaussianImputer, or give "
            "similarities that you made (affinity='precomputed')"
        )

    def _check_settings(self) -> None:
        check_settings(self)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the graph of the rows and cluster them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Rows; similarities or distances where `affinity` says so.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_settings()
        X = checked_rows(self, X, reset=True)
        check_sizes(self, X.shape[0])
        rule = Similarity.learned(self, X)
        self.gamma_, self.epsilon_, self.widths_ = rule.gamma, rule.epsilon, rule.widths
        self.X_fit_ = None if self.affinity in PAIRWISE else X.copy()
        try:
            self.affinity_matrix_ = rule.graph(X)
        except MemoryError as error:
            raise MemoryError(
                f"affinity={self.affinity!r} joins all {X.shape[0]} rows to each other, and so many pairs exceed the memory; "
                f"use affinity='nearest_neighbors' ({error})."
            ) from None
        edges = without_diagonal(self.affinity_matrix_)
        self._describe_graph(edges)
        check_graph(self)
        random_state = check_random_state(self.random_state)
        joined = self.degrees_ > 0
        self._embed(edges, joined, random_state)
        if self.verbose:
            print(f"Computing label assignment using {self.assign_labels}")
        self.labels_ = np.zeros(len(joined), dtype=np.int32)
        self.labels_[joined] = assign(
            self.embedding_[joined], self.n_clusters_, self.assign_labels, partial(self._cut, edges, joined),
            n_init=self.n_init, random_state=random_state, verbose=self.verbose,
        )  # fmt: skip
        self.embedding_centers_ = self._centers(joined)
        self.labels_[~joined] = self._orphans(None if self.X_fit_ is None else self.X_fit_[~joined])
        self.ratio_cut_, self.n_cut_ = cuts(edges, self.labels_, self.degrees_)
        warn_if_alike(self, X)
        return self

    def _cut(self, edges: Any, joined: np.ndarray, labels: np.ndarray) -> float:
        """What the Laplacian stands for: RatioCut of the unnormalised one, NCut of the others."""
        whole = np.zeros(len(joined), dtype=np.int32)
        whole[joined] = labels
        return cuts(edges, whole, self.degrees_)[0 if self.laplacian == "unnormalised" else 1]

    def predict(self, X: Any) -> np.ndarray:
        """Clusters of new rows, by Nyström's extension of the eigenvectors.

        A new row is joined to fitted rows as these are to each other: to its `n_neighbors` nearest, to those within `epsilon`,
        or to all. Its place in the embedding is the mean of theirs, weighted by similarity and divided by 1 − λ for each
        eigenvalue, and its cluster is the one whose mean is nearest. A row without similarity to any fitted row takes the
        cluster of the nearest one; where X holds similarities, the largest cluster, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features) or (n_rows, n_samples)
            New rows; with a precomputed affinity, their similarities (or distances) to the fitted rows.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        X = checked_rows(self, X, reset=False)
        rule = Similarity.of(self, self.gamma_, self.widths_, self.epsilon_)
        present = np.flatnonzero(~np.isnan(self.embedding_centers_[:, 0]))
        labels = np.empty(X.shape[0], dtype=np.int32)
        for rows in gen_batches(X.shape[0], max(1, BLOCK_ENTRIES // len(self.labels_))):
            weights = rule.between(X[rows], self.X_fit_)
            # Fitted rows without edges have no place in the embedding, so that a link to them says nothing.
            degrees = np.asarray(weights @ (self.degrees_ > 0)).ravel()
            placed = self._extend(weights, degrees)
            labels[rows] = present[pairwise_distances_argmin(placed, self.embedding_centers_[present])]
            alone = np.flatnonzero(degrees == 0)
            if alone.size:
                labels[rows.start + alone] = self._orphans(None if self.X_fit_ is None else X[rows][alone], new=True)
        return labels

    def _describe_graph(self, edges: Any) -> None:
        """Degrees, components and what follows from them."""
        self.degrees_ = degrees_of(edges)
        # Their inverses would overflow, and their eigenvectors are those of isolated rows to all digits.
        self.degrees_[self.degrees_ < NEGLIGIBLE * max(1.0, self.degrees_.max())] = 0.0
        self.n_connected_components_, self.connected_components_ = components_of(edges)
        self.n_isolated_ = int((self.degrees_ == 0).sum())
        total = self.degrees_.sum()
        self.stationary_distribution_ = self.degrees_ / (total if total > 0 else 1.0)

    def _embed(self, edges: Any, joined: np.ndarray, random_state: np.random.RandomState) -> None:
        """Eigenvalues, eigenvectors and embedding, and the number of clusters where it is left open."""
        whole = bool(joined.all())
        graph = edges if whole else edges[joined][:, joined]
        component = self.connected_components_ if whole else components_of(graph)[1]
        laplacian = Laplacian(graph, self.degrees_[joined], component, self.laplacian)
        if self.n_clusters == "auto":
            n_vectors = max(self.max_clusters + 1, self.n_components or 0)
        else:
            n_vectors = self.n_clusters if self.n_components is None else self.n_components
        n_vectors = min(n_vectors, laplacian.n)
        values, vectors = lowest_eigenvectors(laplacian, n_vectors, self.eigen_solver, self.eigen_tol, random_state)
        self.n_clusters_ = self.n_clusters
        self.eigengap_: Any = None
        self.gap_scores_: Any = None
        if self.n_clusters == "auto":
            n_parts = int(laplacian.component.max()) + 1
            self._count(values, vectors, 1 / laplacian.scale, n_parts)
            vectors = vectors[:, : self.n_components or self.n_clusters_]
            if n_parts >= self.n_clusters_ == vectors.shape[1]:
                vectors = laplacian.null_vectors(self.n_clusters_)
        self.eigenvalues_ = values
        self.eigenvectors_ = np.zeros((len(joined), vectors.shape[1]))  # 0 for rows that are not joined
        self.eigenvectors_[joined] = vectors
        self.embedding_ = self._rows(self.eigenvectors_ * self._scale()[:, None])

    def _count(self, values: np.ndarray, vectors: np.ndarray, root: np.ndarray, n_parts: int) -> None:
        """Set the number of clusters to the one of the best score; at least one per component, as far as that is allowed."""
        most = min(self.max_clusters, len(values))
        self.n_clusters_, self.eigengap_, self.gap_scores_ = min(n_parts, most), 0.0, np.full(most, np.nan)
        values = values[: most + 1]
        if n_parts <= most and n_parts < len(values):
            scores = gap_scores(values, vectors[:, : len(values)], root, n_parts, self.laplacian != "unnormalised")
            self.gap_scores_[: len(scores)] = scores
            self.n_clusters_ = 1 + int(np.nanargmax(scores))
        if self.n_clusters_ < len(values):
            self.eigengap_ = float(values[self.n_clusters_] - values[self.n_clusters_ - 1])

    def _scale(self) -> np.ndarray:
        """What eigenvectors are multiplied by to be those of the random walk; 1 for the unnormalised Laplacian."""
        if self.laplacian == "unnormalised":
            return np.ones(len(self.degrees_))
        return 1 / np.sqrt(np.where(self.degrees_ > 0, self.degrees_, 1.0))

    def _rows(self, vectors: np.ndarray) -> np.ndarray:
        """Rows to be clustered; of length 1 for the symmetric Laplacian, whose own scale √d_i cancels thereby."""
        return normalize(vectors) if self.laplacian == "symmetric" else vectors

    def _extend(self, weights: Any, degrees: np.ndarray) -> np.ndarray:
        """Places of new rows in the embedding: (D − W) f = λ f or (I − D⁻¹W) f = λ f solved for one more row."""
        vectors = self.eigenvectors_ * self._scale()[:, None]
        values = self.eigenvalues_[: vectors.shape[1]]
        sums, degrees = np.asarray(weights @ vectors), np.where(degrees > 0, degrees, 1.0)[:, None]
        smooth = 1 - values / degrees if self.laplacian == "unnormalised" else np.broadcast_to(1 - values, sums.shape)
        return self._rows(sums / degrees / np.where(smooth > LEAST_SMOOTHNESS, smooth, 1.0))

    def _centers(self, joined: np.ndarray) -> np.ndarray:
        labels, embedding = self.labels_[joined], self.embedding_[joined]
        size = np.bincount(labels, minlength=self.n_clusters_).astype(np.float64)[:, None]
        size[size == 0] = np.nan
        sums = [np.bincount(labels, weights=column, minlength=self.n_clusters_) for column in embedding.T]
        return np.stack(sums, axis=1) / size

    def _orphans(self, rows: Any, *, new: bool = False) -> Any:
        """Labels of rows without an edge: that of the nearest row with one, or the largest cluster where none is nearest."""
        joined = np.flatnonzero(self.degrees_ > 0)
        if rows is None or self.X_fit_ is None:
            largest = int(np.bincount(self.labels_[joined]).argmax())
            if new:
                warnings.warn(
                    f"rows of X without any similarity are put in the largest cluster, {largest}.", stacklevel=3
                )
            return largest
        if rows.shape[0] == 0:
            return np.empty(0, dtype=np.int32)
        return self.labels_[joined[nearest(self.X_fit_[joined], rows, 1, self.n_jobs)[1][:, 0]]]


def spectral_clustering(
    affinity: Any, *, n_clusters: int = 8, n_components: int | None = None, eigen_solver: str | None = None,
    random_state: Any = None, n_init: int = 10, eigen_tol: float | str = "auto", assign_labels: str = "kmeans",
    verbose: bool = False,
) -> np.ndarray:  # fmt: skip
    """Clusters of the vertices of a given graph.

    Parameters
    ----------
    affinity : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Symmetric similarities, not negative.
    n_clusters, n_components, eigen_solver, random_state, n_init, eigen_tol, assign_labels, verbose
        As in `SpectralClustering`.

    Returns
    -------
    labels : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from tacit.cluster import spectral_clustering
    >>> path = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    >>> labels = spectral_clustering(path, n_clusters=2, random_state=0)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    model = SpectralClustering(
        n_clusters, n_components=n_components, eigen_solver=eigen_solver, random_state=random_state, n_init=n_init,
        affinity="precomputed", eigen_tol=eigen_tol, assign_labels=assign_labels, verbose=verbose,
    )  # fmt: skip
    return model.fit(affinity).labels_
