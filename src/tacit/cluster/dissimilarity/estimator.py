"""`DissimilarityEstimator`: clusters by dissimilarities of rows; how rows, tables and matrices of them are read."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features, validate_data

from ...base import RowsEstimator
from ...checks import as_rows, check_choice, check_rows
from ...declared import Mapped, Part, Text
from ...notes import NoteError
from ...schema import Schema
from .blocks import Dissimilarity
from .function import Function
from .gower import is_ordered, learn_schema, needs_schema
from .metrics import LEARNED, METRICS, learn_parameters, make, takes_nan

__all__ = ["DissimilarityEstimator"]

SLOW_ROWS = 1000  # beyond which calling Python for every pair is worth a word


class DissimilarityEstimator(RowsEstimator):
    """Base of estimators with the setting `metric`, and `metric_params` where they have it."""

    metric: Any
    metric_params: Any = None
    schema_: Any
    metric_params_: dict
    metric_note_: str

    _saved = RowsEstimator._saved | {
        "metric_params_": Mapped(lambda self: LEARNED.get(self.metric)),
        "metric_note_": Text(),
        "schema_": Part(Schema, optional=True),
    }
    _needs: tuple[str, ...] = ("metric",)
    _largest = np.inf  # only some metrics take squares
    _unknown = "error"  # or "missing": what levels are that were not there at fit

    def _check_loaded(self) -> None:
        if self.schema_ is not None and len(self.schema_.columns) != self.n_features_in_:
            raise ValueError(f"it names {len(self.schema_.columns)} columns, not {self.n_features_in_}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self._is("precomputed")
        tags.input_tags.string = tags.input_tags.categorical = self._is("gower")
        return tags

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return takes_nan(self.metric)

    @property
    def _missing_remedy(self) -> str:  # type: ignore[override]
        return (
            f"which metric={self.metric!r} cannot handle; use metric='gower' or metric='nan_euclidean', or fill the cells with "
            "tacit.impute.GaussianImputer"
        )

    @property
    def _text_remedy(self) -> str:
        remedy = "metric='gower' takes tables with text"
        if callable(self.metric):
            remedy = "for other rows compute the matrix and use metric='precomputed'"
        return f"metric={self.metric!r} is given numbers; {remedy}"

    def _is(self, metric: str) -> bool:
        return isinstance(self.metric, str) and self.metric == metric

    def _check_metric(self) -> None:
        if not callable(self.metric):
            check_choice("metric", self.metric, METRICS)
        if self.metric_params is not None and not isinstance(self.metric_params, dict):
            raise ValueError(f"metric_params={self.metric_params!r} is not a dictionary of names and values.")

    def _validate(self, X: Any, *, reset: bool) -> np.ndarray:
        return _read_rows(self, X, reset=reset)

    def _read_fit(self, X: Any) -> np.ndarray:
        """Rows as numbers, or the matrix; learns names and columns."""
        if not self._is("precomputed"):
            return self._validate(X, reset=True)
        if self.metric_params:
            raise ValueError(f"metric_params={self.metric_params!r} do not fit metric='precomputed', which takes none.")
        self.schema_ = None
        return _read_matrix(self, X)

    def _learn_metric(self, X: np.ndarray, weight: np.ndarray) -> Dissimilarity:
        """The dissimilarity, with what it learns from the rows that count."""
        kept = X if weight.all() else X[weight > 0]
        known: tuple = (self._known_names(),)
        if self.schema_ is not None:
            columns = self.schema_.columns
            known = self.schema_.names, np.array([each.kind == "category" and not is_ordered(each) for each in columns])
        self.metric_params_ = learn_parameters(self.metric, self.metric_params, kept, weight[weight > 0], *known)
        metric, self.metric_note_ = make(self.metric, self.metric_params_, kept), ""
        if isinstance(metric, Function):
            metric.check(X)
            self.metric_note_ = metric.note
            if not metric.threads and len(X) > SLOW_ROWS:
                warnings.warn(f"metric={metric.label} is {metric.note}; this may be slow.", UserWarning, stacklevel=4)
        return metric


def _read_rows(estimator: DissimilarityEstimator, X: Any, *, reset: bool) -> np.ndarray:
    """Rows as floats; the columns of a table are learned at fit and coded as then from there on."""
    known = not reset and estimator.schema_ is not None
    if estimator._is("gower") and (known or needs_schema(X, estimator.metric_params)):
        return _read_table(estimator, X, reset=reset)
    X = check_rows(estimator, X, reset=reset)
    if reset:
        estimator.schema_ = None
    return X.astype(np.float64, copy=False) if estimator._is("gower") else X


def _read_table(estimator: DissimilarityEstimator, X: Any, *, reset: bool) -> np.ndarray:
    X = as_rows(estimator, X)
    given = np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X
    if hasattr(given, "columns") and not hasattr(given, "column_names"):
        _check_feature_names(estimator, given, reset=reset)
    if reset:
        estimator.schema_ = learn_schema(given, estimator.metric_params)
        estimator.n_features_in_ = len(estimator.schema_.columns)
    elif hasattr(given, "shape"):
        _check_n_features(estimator, given, reset=False)
    try:
        return estimator.schema_.encode(given)
    except NoteError as error:
        if error.note.code != "unknown_levels" or estimator._unknown == "error":
            raise
        told = error.note.values
        warnings.warn(
            f"column {told['name']!r} holds {told['found']}, which {told['were']} not there at fit (known: {told['known']}); "
            "cells with levels that were not there at fit are taken as missing.",
            UserWarning,
            stacklevel=6,
        )
        return estimator.schema_.encode(given, unknown="missing")


def _read_matrix(estimator: DissimilarityEstimator, X: Any) -> np.ndarray:
    """A square matrix of numbers, not copied where it is one already."""
    X = validate_data(
        estimator, X, reset=True, dtype=[np.float64, np.float32, np.int64, np.int32], ensure_all_finite=False,
        ensure_min_samples=estimator._min_rows,
    )  # fmt: skip
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"metric='precomputed' takes a square matrix, but X has shape {X.shape}; for rows use another metric."
        )
    return np.asarray(X)
