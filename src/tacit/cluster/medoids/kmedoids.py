"""k-medoids: k rows m_1 … m_k of the data that are least far from all rows.

    loss = Σ_i w_i min_k d(x_i, m_k)

for any dissimilarity d. The search exchanges medoids for other rows while that lowers the loss, on one matrix of dissimilarities,
or on samples of rows where that matrix would be too large.
"""

import numbers
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_n_jobs, check_number, check_weight
from ...declared import SQUARES, Flag, Numbers, Part, Whole
from ...source.threads import thread_count
from ...table import Table
from ...words import count
from ..dissimilarity.estimator import DissimilarityEstimator
from ..dissimilarity.metrics import make
from .input import candidate_rows, count_list, initial_rows, read_query
from .partition import medoid_silhouette
from .samples import MedoidFit, auto_size, fit_medoids
from .search import METHODS, search
from .space import MatrixSpace, RowSpace, Space
from .starts import STARTS

__all__ = ["KMedoids"]

N_NAMED = 5  # rows named in a warning


@settings
class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, DissimilarityEstimator):
    """k-medoids clustering with any dissimilarity.

    A cluster is the rows nearest to a medoid, which is a row of the data: an outlier does not pull it away, and rows may be
    anything between which a dissimilarity is known.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=8
        Number of clusters. Of several, the one with the largest medoid silhouette is kept; ``"auto"`` tries 2 to 10.
    metric : str or callable, default="euclidean"
        Name of a dissimilarity of SciPy or scikit-learn. ``"nan_euclidean"`` takes missing cells, and ``"gower"`` tables of
        numbers, dates and categories with missing cells; no row with more of them than the median row becomes a medoid,
        unless `medoid_candidates` says otherwise.
        ``"precomputed"`` takes a symmetric matrix, which is never copied. A function of two rows is compiled by numba where
        possible, and called from Python where not.
    metric_params : dict, optional
        Further arguments of the dissimilarity. For ``"gower"``: `categorical`, columns that are categories although they hold
        numbers; `ordered`, numbers of which only the order counts (ordered categorical types are known); `asymmetric`, columns
        of two levels in which only the second tells that rows are alike; and `weights`, one per column.
    method : {"fasterpam", "pam", "alternate"}, default="fasterpam"
        Take every exchange that helps as it comes, the best of all exchanges at a time (also ``"fastpam1"``), or
        alternate between assigning rows and centring medoids, which is fast and finds worse medoids.
    init : {"build", "lab", "k-medoids++", "heuristic", "random"} or array of int, default="build"
        Where to start: greedily, greedily on small samples, at rows drawn by their distance to those drawn before, at the most
        central rows, at rows drawn by weight, or at the rows with these numbers.
    max_iter : int, default=300
        Sweeps over all rows (exchanges, for ``"pam"``).
    sampling : "auto", int or None, default="auto"
        Rows in a sample that is clustered instead of all; the medoids that are best for all rows are kept. None never
        samples; ``"auto"`` does where a matrix of all pairs would exceed 1 GB and has not been given.
    n_samplings : int, default=5
        Samples; each holds the best medoids so far.
    medoid_candidates : array of int or of bool, optional
        Rows that may become medoids, by number or as a mask; default all, but see `metric`.
    random_state : int, RandomState or None, default=None
        Seed of samples and random starts.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    verbose : int, default=0
        Print the loss after every iteration.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_clusters,)
        Rows of X that are medoids.
    cluster_centers_ : ndarray of shape (n_clusters, n_features) or None
        These rows (as numbers, where X is a table: see `medoids_`); None for a precomputed matrix.
    labels_ : ndarray of shape (n_samples,)
        Nearest medoid of each row.
    inertia_ : float
        The loss.
    medoid_silhouette_ : float
        Weighted mean of 1 − d1 / d2 with the distances to the nearest and the second nearest medoid: 1 where rows lie on
        medoids, 0 where they lie between two; NaN for one cluster.
    n_clusters_ : int
        Number of clusters.
    silhouettes_ : Table
        Loss and medoid silhouette of every number of clusters that was tried.
    losses_ : ndarray
        Loss at the start and after every iteration; of the winning sample, where samples were taken.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether nothing was left to improve.
    metric_params_ : dict
        Arguments of the dissimilarity, with those that were learned from the rows.
    metric_note_ : str
        Whether a function was compiled, and if not, why; empty for other metrics.
    sample_size_ : int or None
        Rows in a sample, where samples were taken.
    shared_columns_ : ndarray of shape (n_samples,) or None
        How many columns are observed both in a row and in its medoid; None where no cell is missing.
    uncovered_ : ndarray of int
        Rows that share no observed column with any medoid: their distances are unknown, and so is their cluster.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    E. Schubert and P. J. Rousseeuw, *Fast and eager k-medoids clustering: O(k) runtime improvement of the PAM, CLARA, and
    CLARANS algorithms*, Information Systems 101 (2021).
    L. Kaufman and P. J. Rousseeuw, *Finding groups in data*, Wiley (1990).
    L. Lenssen and E. Schubert, *Medoid silhouette clustering with automatic cluster number selection*, Information Systems
    120 (2024).
    J. C. Gower, *A general coefficient of similarity and some of its properties*, Biometrics 27 (1971).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.cluster import KMedoids
    >>> model = KMedoids(3).fit(load_iris().data)
    >>> sorted(model.medoid_indices_.tolist()), round(model.inertia_, 5)
    ([7, 78, 112], 98.13115)
    """

    n_clusters: int = 8
    _: KW_ONLY
    metric: Any = "euclidean"
    metric_params: Any = None
    method: str = "fasterpam"
    init: Any = "build"
    max_iter: int = 300
    sampling: Any = "auto"
    n_samplings: int = 5
    medoid_candidates: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    _saved = DissimilarityEstimator._saved | {
        "n_clusters_": Whole(1, size="K"),
        "labels_": Numbers("n", low=0, below="K", kind="i"),
        "medoid_indices_": Numbers("K", low=0, below="n", kind="i"),
        "cluster_centers_": Numbers("K d", beside=(np.nan,), optional=True),
        "inertia_": Numbers(low=0, high=SQUARES),
        "medoid_silhouette_": Numbers(low=-1, high=1, beside=(np.nan,)),
        "silhouettes_": Part(Table),
        "losses_": Numbers("m", low=0, high=SQUARES),
        "n_iter_": Whole(0),
        "converged_": Flag(),
        "sample_size_": Whole(1, optional=True),
        "shared_columns_": Numbers("n", low=0, kind="i", optional=True, needed=False),
        "uncovered_": Numbers("u", low=0, below="n", kind="i", needed=False),
        "_n_features_out": Whole(1, size="K"),
    }
    _min_rows = 1

    def _check_loaded(self) -> None:
        if (self.cluster_centers_ is None) != self._is("precomputed"):
            raise ValueError(f"'cluster_centers_' do not go with metric={self.metric!r}")
        super()._check_loaded()

    def _check_settings(self) -> None:
        self._check_metric()
        check_choice("method", self.method, METHODS)
        if isinstance(self.init, (str, type(None))):
            check_choice("init", self.init, STARTS)
        if isinstance(self.sampling, str) or self.sampling is None:
            check_choice("sampling", self.sampling, ("auto", None))
        else:
            check_number("sampling", self.sampling, numbers.Integral, 2)
        check_number("max_iter", self.max_iter, numbers.Integral, 0)
        check_number("n_samplings", self.n_samplings, numbers.Integral, 1)
        check_n_jobs(self.n_jobs)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find medoids.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), table, or (n_samples, n_samples) if precomputed
            Rows, or dissimilarities between them.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 is a row given twice, weight 0 a row that is only labelled.

        Returns
        -------
        self
        """
        self._check_settings()
        X = self._read_fit(X)
        counts = count_list(self.n_clusters, len(X))
        weight = check_weight(sample_weight, len(X))
        weight = np.ones(len(X)) if weight is None else weight
        if counts[-1] > np.count_nonzero(weight):
            raise ValueError(
                f"n_clusters={counts[-1]} exceeds the {np.count_nonzero(weight)} rows of positive weight; use at most that many."
            )
        space = self._space(X, weight)
        if self.medoid_candidates is not None:
            candidate_rows(self.medoid_candidates, space, counts[-1])
        if counts[-1] > space.n_distinct:
            warnings.warn(
                f"n_clusters={counts[-1]} exceeds the {space.n_distinct} distinct rows of X; some medoids are equal and have no "
                "rows of their own.", ConvergenceWarning, stacklevel=2,
            )  # fmt: skip
        self.sample_size_ = auto_size(self.sampling, space, counts[-1])
        rng = self._rng()
        find = partial(search, method=self.method, max_iter=self.max_iter, rng=rng, report=self._report)
        init = initial_rows(self.init, space, counts, self.medoid_candidates is not None)
        fits = fit_medoids(space, counts, init, find, self.sample_size_, self.n_samplings, rng)
        self._publish(X, space, counts, fits)
        return self

    def _space(self, X: np.ndarray, weight: np.ndarray) -> Space:
        threads = thread_count(self.n_jobs)
        self.metric_note_, self.metric_params_ = "", {}
        if self._is("precomputed"):
            return MatrixSpace(X, weight, threads)
        return RowSpace(X, weight, self._learn_metric(X, weight), threads)

    def _report(self, *line: float) -> None:
        if self.verbose:
            print("{} medoids, iteration {}: loss {:.6g}".format(*line))

    def _publish(self, X: np.ndarray, space: Space, counts: list[int], fits: list[MedoidFit]) -> None:
        """Set what was learned: everything of the best number of clusters, and the table of all."""
        scores = [  # where all rows are equal, all distances are 0
            0.0 if len(fit.medoids) < min(k, 2) else medoid_silhouette(fit.d1, fit.d2, space.weight)
            for k, fit in zip(counts, fits)
        ]
        self.silhouettes_ = Table(
            {"n_clusters": k, "loss": fit.loss, "medoid_silhouette": score}
            for k, fit, score in zip(counts, fits, scores)
        )
        best = int(np.argmax(scores)) if len(counts) > 1 else 0
        if 0 < best == len(counts) - 1:
            warnings.warn(
                f"the medoid silhouette still rises at n_clusters={counts[-1]}, the largest tried: there may be no clear "
                "groups; try more clusters, or look at silhouettes_ and tacit.cluster.k_curve.",
                UserWarning,
                stacklevel=3,
            )
        fit, self.n_clusters_ = fits[best], counts[best]
        self.medoid_silhouette_, self.inertia_ = scores[best], fit.loss
        self.losses_, self.n_iter_, self.converged_ = np.array(fit.losses), len(fit.losses) - 1, fit.converged
        medoids = space.rows[fit.medoids]
        others = np.setdiff1d(np.flatnonzero(space.place >= 0), medoids)  # rows equal to medoids, if there are too few
        self.medoid_indices_ = np.append(medoids, others[: self.n_clusters_ - len(medoids)])
        self.cluster_centers_: Any = None if self._is("precomputed") else X[self.medoid_indices_]
        self.labels_ = space.whole(fit.near, X, self.cluster_centers_)
        self._n_features_out = self.n_clusters_
        self._cover(X)
        if self.max_iter > 0 and not fit.converged:
            warnings.warn(
                f"the search for medoids did not converge within max_iter={self.max_iter} iterations; increase max_iter.",
                ConvergenceWarning, stacklevel=3,
            )  # fmt: skip

    def _cover(self, X: np.ndarray) -> None:
        """Tell which rows share no column with any medoid."""
        self.shared_columns_, self.uncovered_ = None, np.empty(0, dtype=np.int64)
        if self._is("precomputed") or not np.isnan(X).any():
            return
        seen = (~np.isnan(X)).astype(np.float64)
        seen[:, np.asarray(self.metric_params_.get("weights", np.ones(X.shape[1]))) == 0] = 0.0
        shared = (seen @ seen[self.medoid_indices_].T).astype(np.int64)
        self.shared_columns_ = shared[np.arange(len(X)), self.labels_]
        self.uncovered_ = np.flatnonzero(shared.max(axis=1) == 0)
        if len(self.uncovered_):
            named = ", ".join(map(str, self.uncovered_[:N_NAMED])) + " …" * (len(self.uncovered_) > N_NAMED)
            warnings.warn(
                f"the clusters of {count(len(self.uncovered_), 'row')} are unknown (uncovered_: {named}): no column is observed "
                "both there and in a medoid; leave them out, or choose medoid_candidates among rows with more cells.",
                UserWarning,
                stacklevel=4,
            )

    def coverage(self) -> Table:
        """How much is known of the rows of each cluster: rows, the mean share of columns that they have in common with their
        medoid, and how many rows share none with it.
        """
        check_is_fitted(self)
        if self.shared_columns_ is None:
            shared = np.full(len(self.labels_), 1.0)
        else:
            shared = self.shared_columns_ / self.n_features_in_
        owned = [shared[self.labels_ == k] for k in range(self.n_clusters_)]
        return Table(
            {
                "cluster": k,
                "rows": len(own),
                "shared": float(own.mean()) if len(own) else None,
                "unknown": int((own == 0).sum()),
            }
            for k, own in enumerate(owned)
        )

    @property
    def medoids_(self) -> Any:
        """The medoids as rows of the kind that X was: a table where it was one (`metric` "gower"), else an array.

        Dates are days since 1970.
        """
        check_is_fitted(self)
        if self._is("precomputed"):
            raise AttributeError(
                "a precomputed matrix has no rows; use medoid_indices_ on the data that it was computed from."
            )
        return self.cluster_centers_ if self.schema_ is None else self.schema_.decode(self.cluster_centers_)

    def _distances(self, X: Any, reduce: Callable = np.asarray) -> list[np.ndarray]:
        """reduce(distances to medoids) over blocks of rows."""
        check_is_fitted(self)
        if self._is("precomputed"):
            return [reduce(read_query(self, X))]
        X = self._validate(X, reset=False)
        metric = make(self.metric, self.metric_params_, self.cluster_centers_)
        return metric.table(X, self.cluster_centers_, np.arange(len(X)), thread_count(self.n_jobs), reduce)

    def transform(self, X: Any) -> np.ndarray:
        """Distances to the medoids.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or table
            Rows; for a precomputed metric their dissimilarities to the rows seen at fit, or to the medoids alone.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        return np.concatenate(self._distances(X))

    def predict(self, X: Any) -> np.ndarray:
        """The nearest medoid of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or table
            Rows, as in `transform`.

        Returns
        -------
        ndarray of int of shape (n_samples,)
        """
        return np.concatenate(self._distances(X, lambda block: np.argmin(block, axis=1)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the loss of rows.

        Parameters
        ----------
        X
            As in `transform`.
        y, sample_weight
            As in `fit`.

        Returns
        -------
        float
        """
        nearest = np.concatenate(self._distances(X, lambda block: np.min(block, axis=1)))
        weight = check_weight(sample_weight, len(nearest))
        return -float(nearest.sum(dtype=np.float64) if weight is None else weight @ nearest)
