"""`KNNImputer`: missing cells from the nearest rows that have them.

x̂_j = Σ_i w_i x_ij / Σ_i w_i over the k nearest rows i with x_ij observed, or the level with the largest Σ w_i
"""

from __future__ import annotations

import inspect
import numbers
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_n_jobs, check_number
from ..cluster.dissimilarity.blocks import Dissimilarity
from ..cluster.dissimilarity.estimator import DissimilarityEstimator
from ..cluster.dissimilarity.gower import is_ordered
from ..cluster.dissimilarity.metrics import LEARNED, make
from ..declared import Mapped, Numbers
from ..frames import is_table, with_columns
from ..kernels import lazy
from ..neighbors.metrics import Spoken
from ..neighbors.search import heaps
from ..neighbors.votes import check_weights, weights_of
from ..source.threads import slices, thread_count
from .columns import Completing

__all__ = ["KNNImputer"]

kernels = lazy("nearest")

METRICS = ("nan_euclidean", "gower")


@settings
class KNNImputer(Completing, DissimilarityEstimator):
    """Impute missing cells from the nearest rows that have them.

    Takes the place of :class:`sklearn.impute.KNNImputer`. Of equally near rows those that come first give; a cell whose row
    shares no observed column with any row that has it gets the mean of its column, or its most frequent level.

    Parameters
    ----------
    missing_values : number or NaN, default=NaN
        What marks a missing cell in arrays; tables of mixed columns have their own.
    n_neighbors : int, default=5
        How many rows give.
    weights : {"uniform", "distance"} or callable, default="uniform"
        What a row counts: the same for all, 1 / distance, or what a function of an array of distances gives.
    metric : {"nan_euclidean", "gower"} or callable, default="nan_euclidean"
        ``"gower"`` also takes tables with categories, of which the most frequent level is filled in; a function is given two
        rows, and ``missing_values=nan`` where it takes that.
    metric_params : dict, optional
        Arguments of Gower's dissimilarity, as in :class:`tacit.cluster.KMedoids`, or of the function.
    copy : bool, default=True
        Ignored: X is never written into.
    add_indicator : bool, default=False
        Append one column per column with missing cells that says where they were.
    keep_empty_features : bool, default=False
        Keep columns without any observed value, filled with 0; otherwise they are dropped.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.

    Attributes
    ----------
    observed_ : ndarray of shape (n_features_in_,)
        Which columns had any observed value.
    indicator_ : sklearn.impute.MissingIndicator
        None unless `add_indicator`.
    schema_ : Schema or None
        Columns of a table.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    O. Troyanskaya et al., *Missing value estimation methods for DNA microarrays*, Bioinformatics 17 (2001).
    J. C. Gower, *A general coefficient of similarity and some of its properties*, Biometrics 27 (1971).

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.impute import KNNImputer
    >>> KNNImputer(n_neighbors=2).fit_transform([[1, 2, np.nan], [3, 4, 3], [np.nan, 6, 5], [8, 8, 7]])
    array([[1. , 2. , 4. ],
           [3. , 4. , 3. ],
           [5.5, 6. , 5. ],
           [8. , 8. , 7. ]])
    """

    _: KW_ONLY
    missing_values: Any = np.nan
    n_neighbors: int = 5
    weights: Any = "uniform"
    metric: Any = "nan_euclidean"
    metric_params: Any = None
    copy: bool = True
    add_indicator: bool = False
    keep_empty_features: bool = False
    n_jobs: int | None = None

    _saved = DissimilarityEstimator._saved | Completing._completes | {
        "_fit_X": Numbers("n d", beside=(np.nan,)),
        "metric_params_": Mapped(lambda self: LEARNED["gower"] if self.metric == "gower" else None),
    }  # fmt: skip
    _needs = ("metric", "weights")
    _min_rows = 1
    _unknown = "missing"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._is("gower"):
            tags.transformer_tags.preserves_dtype = ["float64"]
        tags.input_tags.allow_nan = self.missing_values != self.missing_values
        return tags

    def _check_settings(self) -> None:
        if not callable(self.metric):
            check_choice("metric", self.metric, METRICS)
        check_number("n_neighbors", self.n_neighbors, numbers.Integral, 1)
        check_weights(self.weights)
        check_n_jobs(self.n_jobs)
        self._check_marker()

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._check_indicator(self.n_features_in_)

    def _validate(self, X: Any, *, reset: bool) -> np.ndarray:
        cells = super()._validate(X, reset=reset)
        return cells if self.schema_ is not None else self._marked(cells)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or table
            Rows with missing cells.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_settings()
        self._fit_X = X = self._validate(X, reset=True)
        self._learn_columns(X)
        self.metric_params_, self.metric_note_ = dict(self.metric_params or {}), ""
        if self._is("gower"):
            # Columns without any value are never compared; what is learned of them does not count.
            self._learn_metric(np.where(self.observed_, X, 0.0), np.ones(len(X)))
        return self

    def _distances(self) -> Dissimilarity:
        """The metric, NaN between rows that share no observed column."""
        if self._is("gower"):
            return make("gower", self.metric_params_ | {"unknown": np.nan}, self._fit_X)
        if not callable(self.metric):
            return make("nan_euclidean", {"unknown": np.nan}, self._fit_X)
        takes = inspect.signature(self.metric).parameters
        more = {"missing_values": np.nan} if "missing_values" in takes else {}
        return Spoken(self.metric, more | self.metric_params_, self._fit_X)

    def transform(self, X: Any) -> Any:
        """Fill missing cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or table
            Rows with missing cells.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out), or a table of the kind of X where that is one and ``metric="gower"``
        """
        check_is_fitted(self)
        cells = self._validate(X, reset=False)
        filled = self._filled(cells)
        if self.schema_ is None or not is_table(X):
            return self._completed(filled[:, self.observed_], cells)
        made = self.schema_.decode(filled, X)
        if self.indicator_ is None:
            return made
        names = self.get_feature_names_out()[len(self.schema_.names) :]
        return with_columns(made, dict(zip(names, self.indicator_.transform(cells).T)))

    def _filled(self, cells: np.ndarray) -> np.ndarray:
        """Rows without missing cells, but those of columns that were never observed."""
        gone = np.isnan(cells) & self.observed_
        rows, out = np.flatnonzero(gone.any(axis=1)), cells.copy()
        if not len(rows):
            return out
        metric, plain = self._distances(), self._plain()
        if isinstance(metric, Spoken):
            metric.prepare(len(rows) * len(self._fit_X))

        def fill(here: slice) -> None:
            mine = rows[here]
            row, column = np.nonzero(gone[mine])
            values, numbers = heaps(len(row), self.n_neighbors)
            kernels.nearest_donors(metric.between(cells[mine], self._fit_X), row, column, self._fit_X, values, numbers)
            kernels.sort_heaps(values, numbers)
            out[mine[row], column] = self._given(values, numbers, column, plain)

        metric.all_of(fill, slices(len(rows), len(self._fit_X)), thread_count(self.n_jobs))
        return out

    def _given(self, values: np.ndarray, numbers: np.ndarray, column: np.ndarray, plain: np.ndarray) -> np.ndarray:
        """What donors give for cells, of which each has at most k."""
        there = numbers < len(self._fit_X)
        known = there.any(axis=1)
        weight = np.where(there, weights_of(np.where(there, values, np.nan), self.weights), 0.0)
        given = self._fit_X[np.where(there, numbers, 0), column[:, None]]
        with np.errstate(invalid="ignore"):
            means = np.where(there, weight * given, 0.0).sum(axis=1) / weight.sum(axis=1)
        voted = self._categories()[column]
        if voted.any():
            same = given[voted][:, :, None] == given[voted][:, None]
            votes = (same * weight[voted][:, None]).sum(axis=2)
            # Of levels with equal votes that of the nearest row.
            best = np.argmax(votes, axis=1)
            means[voted] = given[voted][np.arange(len(best)), best]
        return np.where(known, means, plain[column])

    def _categories(self) -> np.ndarray:
        """Which columns hold levels."""
        if not self._is("gower"):
            return np.zeros(self.n_features_in_, dtype=bool)
        ordered = np.array([is_ordered(each) for each in self.schema_.columns]) if self.schema_ is not None else False
        return np.isnan(self.metric_params_["ranges"]) | ordered

    def _plain(self) -> np.ndarray:
        """The mean of every column, or its most frequent level, where it has one."""
        plain = np.full(self.n_features_in_, np.nan)
        for j in np.flatnonzero(self.observed_):
            seen = self._fit_X[~np.isnan(self._fit_X[:, j]), j]
            plain[j] = seen.mean()
            if self._categories()[j]:
                levels, count = np.unique(seen, return_counts=True)
                plain[j] = levels[np.argmax(count)]
        return plain
