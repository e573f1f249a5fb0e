"""`NeighborsEstimator`: rows that are kept, the metric they are compared by, and the search among them."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn import neighbors as sklearn_neighbors
from sklearn.metrics import DistanceMetric
from sklearn.utils.validation import check_is_fitted

from ..base import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_n_jobs, check_number, check_rows
from ..cluster.dissimilarity.estimator import DissimilarityEstimator
from ..cluster.dissimilarity.gower import is_ordered
from ..cluster.dissimilarity.metrics import learn_parameters
from ..declared import Numbers, Text, Whole
from ..source.threads import thread_count
from .brute import BrutePoints, BruteValues
from .choice import choose
from .elimination import ELIMINATING
from .given import GivenGraph, GivenValues, SparseMetric, read_distances
from .metrics import NAMES, Metric, Points, Spoken, canonical, make_metric
from .search import Search
from .texts import read_texts
from .tree import TreePoints

__all__ = ["ALGORITHMS", "NeighborsEstimator"]

ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree", *ELIMINATING)
SPARSE = sklearn_neighbors.VALID_METRICS_SPARSE["brute"]


@settings
class NeighborsEstimator(DissimilarityEstimator):
    """Base of all that look for neighbours among the rows of a fit."""

    _: KW_ONLY
    algorithm: str = "auto"
    leaf_size: int = 30
    metric: Any = "minkowski"
    p: float | None = 2
    metric_params: Any = None
    n_buoys: int | str = "auto"
    n_jobs: int | None = None

    _saved = RowsEstimator._saved | DissimilarityEstimator._saved | {
        "n_samples_fit_": Whole(1, size="n"),
        "_fit_X": Numbers("n w", sparse=True, beside=(np.nan,)),
        "_fit_method": Text(ALGORITHMS[1:]),
        "_table": Numbers("t n", low=0, high=1e307, optional=True),
        "_pivots": Numbers("t", low=0, below="n", kind="i", optional=True),
        "n_distances_fit_": Whole(0),
    }  # fmt: skip
    _min_rows = 1
    _unknown = "missing"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not (self._is("gower") or self._is("nan_euclidean"))
        tags.input_tags.string = tags.input_tags.string or self._is_edit
        return tags

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_search"}

    @property
    def _is_edit(self) -> bool:
        return self._is("edit") or self._is("levenshtein")

    @property
    def effective_metric_(self) -> Any:
        """The metric by its usual name."""
        check_is_fitted(self)
        return canonical(self.metric, self._given_params())[0]

    @property
    def effective_metric_params_(self) -> dict:
        """What it is given, under that name."""
        check_is_fitted(self)
        return canonical(self.metric, self._given_params() | self.metric_params_)[1]

    @property
    def n_distances_(self) -> int:
        """Distances computed for the last queries."""
        check_is_fitted(self)
        return self._searching().computed

    # Settings

    def _given_params(self) -> dict:
        given = dict(self.metric_params or {})
        if self._is("minkowski") or self._is("p"):
            given = {"p": 2 if self.p is None else self.p} | given
        return given

    def _check_metric(self) -> None:
        if not callable(self.metric) and not isinstance(self.metric, DistanceMetric):
            check_choice("metric", self.metric, NAMES)
        if self.metric_params is not None and not isinstance(self.metric_params, dict):
            raise ValueError(f"metric_params={self.metric_params!r} is not a dictionary of names and values.")

    def _check_settings(self) -> None:
        check_choice("algorithm", self.algorithm, ALGORITHMS)
        check_number("leaf_size", self.leaf_size, numbers.Integral, 1)
        if self.p is not None and not (isinstance(self.p, numbers.Real) and self.p > 0):
            raise ValueError(f"p={self.p!r} is not a number above 0.")
        if self.n_buoys != "auto":
            check_number("n_buoys", self.n_buoys, numbers.Integral, 1)
        check_n_jobs(self.n_jobs)
        self._check_metric()
        if self.metric_params is not None and "p" in self.metric_params and self.p is not None:
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
                SyntaxWarning,
                stacklevel=4,
            )

    def _check_loaded(self) -> None:
        super()._check_loaded()
        cells = self._fit_X.data if sparse.issparse(self._fit_X) else self._fit_X
        if not self._takes_missing and np.isnan(cells).any():
            raise ValueError(f"'_fit_X' has missing cells, which metric={self.metric!r} cannot handle")
        shape = self._fit_X.shape
        if shape[0] != self.n_samples_fit_ or (shape[1] != self.n_features_in_ and not self._is_edit):
            raise ValueError(f"'_fit_X' has shape {shape}, not that of the fit")
        if (self._table is None) != (self._fit_method not in ELIMINATING and not self._by_buoys()):
            raise ValueError(f"'_table' does not go with the algorithm {self._fit_method!r}")

    # Rows

    def _validate(self, X: Any, *, reset: bool) -> Any:
        if self._is_edit:
            codes = read_texts(X)
            if reset:
                self.schema_, self.n_features_in_ = None, 1
            return codes
        if self._is("precomputed"):
            return self._read_distances(X, reset)
        if isinstance(X, (sklearn_neighbors.KDTree, sklearn_neighbors.BallTree)):
            X = np.asarray(X.data)
        elif hasattr(X, "_fit_X"):  # another estimator of neighbours
            X = X._fit_X
        if sparse.issparse(X):
            if reset:
                self.schema_ = None
            X = check_rows(self, X, reset=reset)
            if X.indices.dtype != np.int32 and X.nnz < 2**31:  # scikit-learn's distances of sparse rows take no others
                X = sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
            return X
        return super()._validate(X, reset=reset)

    def _read_distances(self, X: Any, reset: bool) -> Any:
        X = read_distances(X)
        if reset:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be square. Input is a {X.shape[0]}x{X.shape[1]} matrix; give distances between all "
                    "rows of the fit."
                )
            self.schema_, self.n_features_in_ = None, X.shape[1]
        elif X.shape[1] != self.n_samples_fit_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_samples_fit_} features as input: "
                f"distances of each row to the {self.n_samples_fit_} rows of the fit."
            )
        return X

    def _fit(self, X: Any) -> Self:
        """Keep rows, learn the metric, choose the search."""
        X = self._validate(X, reset=True)
        self._fit_X: Any = X
        self.n_samples_fit_ = X.shape[0]
        self.metric_params_, self.metric_note_ = self._learned_params(X), ""
        self._table = self._pivots = None
        self.n_distances_fit_ = 0
        self._fit_method = self._method()
        if self._fit_method in ELIMINATING or self._by_buoys():
            self._keep_distances()
        self._search: Any = self._made()
        return self

    def _learned_params(self, X: Any) -> dict:
        given = self._given_params()
        named = isinstance(self.metric, str)
        if not named or sparse.issparse(X) or self._is_edit or self._is("precomputed"):
            return given
        if self._is("mahalanobis") and "V" in given and "VI" not in given:
            given["VI"] = np.linalg.inv(np.asarray(given.pop("V"), dtype=np.float64))
        known: tuple = (self._known_names(),)
        if self.schema_ is not None:
            columns = self.schema_.columns
            known = self.schema_.names, np.array([each.kind == "category" and not is_ordered(each) for each in columns])
        return learn_parameters(self.metric, given, X, np.ones(len(X)), *known)

    # The search

    def _method(self) -> str:
        """The algorithm that is taken."""
        X, asked = self._fit_X, self.algorithm
        if self._is("precomputed"):
            return "brute"
        if sparse.issparse(X):
            name = canonical(self.metric, self._given_params())[0]
            if isinstance(name, str) and name not in SPARSE:
                raise ValueError(
                    f"Metric {self.metric!r} not valid for sparse input. Use one of {', '.join(sorted(SPARSE))}, a function, or "
                    "rows "
                    "as an ordinary array."
                )
            if asked not in ("auto", "brute"):
                warnings.warn("cannot use tree with sparse input: using brute force", UserWarning, stacklevel=4)
            return "brute"
        metric = self._metric()
        if metric.p is not None and metric.p < 1:
            if asked not in ("auto", "brute"):
                raise ValueError(
                    f'algorithm="{asked}" does not support 0 < p < 1 for the Minkowski metric. To resolve this problem either '
                    "set "
                    'p >= 1 or algorithm="brute".'
                )
            warnings.warn(
                "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing the execution with "
                "`algorithm='brute'`.",
                UserWarning,
                stacklevel=4,
            )
            return "brute"
        if asked == "kd_tree" and metric.p is None:
            raise ValueError(
                f"kd_tree does not support callable metric {self.metric!r}, nor any whose rows are no points; use "
                "algorithm='brute', or "
                "'laesa' for one that keeps the triangle inequality."
            )
        return (
            choose(metric, metric.points(X), thread_count(self.n_jobs), self._n_buoys()) if asked == "auto" else asked
        )

    def _n_buoys(self) -> int:
        n = self.n_samples_fit_
        return min(n, int(np.ceil(0.7 * np.sqrt(n))) if self.n_buoys == "auto" else int(self.n_buoys))

    def _by_buoys(self) -> bool:
        """Whether a ball tree stands for linear AESA, which serves every metric alike."""
        if self._fit_method != "ball_tree" or sparse.issparse(self._fit_X):
            return False
        metric = self._metric()
        return metric.p is None and (metric.triangle is True or isinstance(metric, Spoken))

    def _metric(self) -> Metric:
        return make_metric(self.metric, self.metric_params_, self._fit_X)

    def _kind(self) -> Any:
        return ELIMINATING[self._fit_method if self._fit_method in ELIMINATING else "laesa"]

    def _keep_distances(self) -> None:
        metric, threads = self._metric(), thread_count(self.n_jobs)
        rows = metric.points(self._fit_X)
        self._table, self._pivots, self.n_distances_fit_ = self._kind().prepare(metric, rows, threads, self._n_buoys())

    def _made(self) -> Search:
        """The search, of what was learned."""
        X, threads = self._fit_X, thread_count(self.n_jobs)
        if self._is("precomputed"):
            return self._given(X)
        if sparse.issparse(X):
            name, given = canonical(self.metric, self._given_params())
            return BruteValues(SparseMetric(name, given), X, threads)
        metric = self._metric()
        rows = metric.points(X)
        if self._table is not None:
            return self._kind()(metric, rows, threads, self._table, self._pivots)
        if isinstance(metric, Points):
            if self._fit_method in ("kd_tree", "ball_tree"):
                return TreePoints(metric, rows, threads, self.leaf_size)
            return BrutePoints(metric, rows, threads)
        return BruteValues(metric, rows, threads)

    def _given(self, queries: Any) -> Search:
        """The search among distances that queries hold."""
        return (GivenGraph if sparse.issparse(queries) else GivenValues)(
            Metric(), self._fit_X, thread_count(self.n_jobs)
        )

    def _searching(self) -> Search:
        if getattr(self, "_search", None) is None:  # it was read from a file
            self._search = self._made()
        return self._search

    def _blank(self, Q: Any) -> np.ndarray:
        """Which queries have no observed cell."""
        if not self._takes_missing or not isinstance(Q, np.ndarray) or Q.dtype.kind != "f":
            return np.zeros(Q.shape[0], dtype=bool)
        return np.asarray(np.isnan(Q).all(axis=1))

    def _queries(self, X: Any) -> tuple[Any, np.ndarray, Search]:
        """Queries as the search takes them, and which row of the fit each is (−1: none)."""
        check_is_fitted(self)
        search, rows = self._searching(), self._fit_X
        own = np.arange(self.n_samples_fit_)
        if X is not None:
            rows = self._validate(X, reset=False)
            own = np.full(rows.shape[0], -1)
        if self._is("precomputed"):  # whether only stored distances are of neighbours, the queries say
            return rows, own, self._given(rows)
        if sparse.issparse(self._fit_X):
            return sparse.csr_matrix(rows), own, search
        if sparse.issparse(rows):
            if self._fit_method != "brute":
                raise ValueError(
                    f"{self._fit_method} does not work with sparse matrices. Densify the data, or set algorithm='brute'."
                )
            rows = rows.toarray()
        return search.metric.points(rows), own, search
