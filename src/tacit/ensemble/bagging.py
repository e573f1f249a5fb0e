"""`BaggingClassifier`, `BaggingRegressor`: the mean of what any estimator learns from rows, and columns, drawn with replacement.

f(x) = Σ_b f_b(x) / B
"""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar

import numpy as np
from sklearn import ensemble
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names, _check_n_features, _num_samples, check_is_fitted

from ..base.rows import Saved
from ..base.supervised import coded_classes
from ..base.targets import refuse_text
from ..checks import check_weight
from ..declared import SQUARES, Flag, Listed, Names, Numbers, Part, Spec, Whole
from ..frames import CONTAINERS, check_names, package
from ..tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["BaggingClassifier", "BaggingRegressor"]


def _is_frame(X: Any) -> bool:
    return package(X) in CONTAINERS and hasattr(X, "columns")


def _cells_of(frame: Any) -> np.ndarray:
    """The numbers of a table's cells, row by row: what scikit-learn draws rows and columns of in its stead."""
    n, d = frame.shape
    return np.arange(n * d).reshape(n, d)


class _OfCells:
    """An estimator that is given numbers of cells, and takes the rows and columns of a table that they tell of."""

    def __init__(self, estimator: Any, frame: Any):
        self.estimator, self.frame = estimator, frame

    def _rows(self, cells: np.ndarray) -> Any:
        d = self.frame.shape[1]
        rows = cells[:, 0] // d
        columns = list(dict.fromkeys((cells[0] % d).tolist())) if len(cells) else []  # each once, however often drawn
        if package(self.frame) == "pandas":
            return self.frame.iloc[rows, columns]
        if package(self.frame) == "polars":
            return self.frame[:, columns][rows]
        return self.frame.select(columns).take(rows)

    def fit(self, cells: np.ndarray, y: Any, **settings: Any) -> Any:
        self.estimator.fit(self._rows(cells), y, **settings)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("estimator", "frame"):  # not there yet while it is read from a pickle
            raise AttributeError(name)
        found = getattr(self.estimator, name)
        if name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            return lambda cells, **settings: found(self._rows(cells), **settings)
        return found


class _Bagging(Saved):
    """What both have beside scikit-learn's: tables stay tables, so that columns keep their types; files; the error out of bag."""

    _saved: ClassVar[dict[str, Spec]] = Saved._saved | {
        "estimators_": Listed(Part(Saved), size="b"),
        "estimators_features_": Listed(Numbers("m", low=0, below="d", kind="i"), size="b"),
        "oob_score_": Numbers(needed=False, high=SQUARES),
        "_seeds": Numbers("b", low=0, kind="i"),
        "_n_samples": Whole(1, size="n"),
        "_max_samples": Whole(1),
        "_max_features": Whole(1),
        "_sample_weight": Numbers("n", low=0, high=SQUARES, optional=True),
        "_framed": Flag(),
    }

    def _check_settings(self) -> None:
        model: Any = self
        model._validate_params()

    def _check_savable(self) -> None:
        for each in getattr(self, "estimators_", ()):
            if not isinstance(each, Saved):
                raise TypeError(
                    f"a model file cannot hold the {type(each).__name__} of {type(each).__module__.partition('.')[0]} that "
                    f"{type(self).__name__} was fitted of; use an estimator of tacit, or joblib.dump."
                )

    def _check_loaded(self) -> None:
        model: Any = self
        model._validate_estimator(model._get_estimator())

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit the estimators.

        Parameters
        ----------
        X : {array-like, sparse matrix, table} of shape (n_samples, n_features)
            Rows. Of a data frame or Arrow table, estimators are given tables.
        y : array-like of shape (n_samples,)
            What is to be predicted.
        sample_weight : array-like of shape (n_samples,), optional
            By what rows are drawn.
        **fit_params
            As in scikit-learn.

        Returns
        -------
        self
        """
        model: Any = self
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        model._check_y(y)
        model._framed = _is_frame(X)
        learn = super().fit  # type: ignore[misc]
        if not model._framed:
            weight = None if sample_weight is None else check_weight(sample_weight, _num_samples(X))
            return learn(X, y, weight, **fit_params)
        check_names(getattr(X, "column_names", X.columns))
        weight = check_weight(sample_weight, X.shape[0])
        model._frame = X
        try:
            learn(_cells_of(X), y, weight, **fit_params)
        finally:
            del model._frame
        model.estimators_ = [each.estimator if isinstance(each, _OfCells) else each for each in model.estimators_]
        _check_feature_names(self, X, reset=True)
        return self

    def _make_estimator(self, append: bool = True, random_state: Any = None) -> Any:
        made = super()._make_estimator(append=append, random_state=random_state)  # type: ignore[misc]
        frame = self.__dict__.get("_frame")
        return made if frame is None else _OfCells(made, frame)

    def _told(self, method: str, X: Any, params: dict) -> Any:
        """What scikit-learn's method says; of a table, by estimators that are given its rows."""
        check_is_fitted(self)
        if not (_is_frame(X) and self.__dict__.get("_framed")):
            return getattr(super(), method)(X, **params)
        check_names(getattr(X, "column_names", X.columns))
        _check_feature_names(self, X, reset=False)
        _check_n_features(self, X, reset=False)
        bound: Any = copy(self)
        bound.__dict__.pop("feature_names_in_", None)
        bound.estimators_ = [_OfCells(estimator, X) for estimator in bound.estimators_]
        return getattr(bound, method)(_cells_of(X), **params)

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """What the estimators predict together, (n_samples,)."""
        return self._told("predict", X, params)

    def oob_curve(self, X: Any, y: Any) -> np.ndarray:
        """The error of rows out of bag by the first estimators: the share of errors, or the mean squared error.

        Parameters
        ----------
        X, y
            The rows of `fit`, in their order.

        Returns
        -------
        ndarray of shape (n_estimators,)
            NaN where no row is out of a bag yet.
        """
        check_is_fitted(self)
        model: Any = self
        framed, y = _is_frame(X) and model._framed, np.asarray(y)
        cells = _cells_of(X) if framed else np.asarray(X)
        total: Any = None
        count, curve = np.zeros(len(cells)), []
        for estimator, rows, columns in zip(model.estimators_, model.estimators_samples_, model.estimators_features_):
            out = np.setdiff1d(np.arange(len(cells)), rows)
            teller = _OfCells(estimator, X) if framed else estimator
            told = model._told_by(teller, cells[out][:, columns]) if len(out) else None
            if told is not None:
                total = np.zeros((len(cells), *told.shape[1:])) if total is None else total
                total[out] += told
                count[out] += 1
            seen = count > 0
            curve.append(model._error(total[seen], count[seen], y[seen]) if seen.any() else np.nan)
        return np.array(curve)


class BaggingClassifier(_Bagging, ensemble.BaggingClassifier):
    """Bagging of classifiers: scikit-learn's, of tacit's decision trees where no estimator is given.

    Of tables, estimators are given tables: columns keep their types. `tacit.save` writes it where its estimators are tacit's own.

    Parameters
    ----------
    estimator : classifier, optional
        What is fitted; default :class:`tacit.tree.DecisionTreeClassifier`.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features, oob_score, warm_start, n_jobs, random_state, verbose
        As in `sklearn.ensemble.BaggingClassifier`.

    Attributes
    ----------
    estimators_, estimators_samples_, estimators_features_, classes_, oob_score_, oob_decision_function_
        As in `sklearn.ensemble.BaggingClassifier`.

    References
    ----------
    Breiman (1996), Bagging predictors.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.ensemble import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(BaggingClassifier(n_estimators=25, random_state=0).fit(X, y).oob_curve(X, y)[-1] < 0.08)
    True
    """

    _saved: ClassVar[dict[str, Spec]] = _Bagging._saved | {
        "classes_": Names("K", labels=True),
        "n_classes_": Whole(1, size="K"),
        "oob_decision_function_": Numbers("n K", low=0, high=1, beside=(np.nan,), needed=False),
    }

    def _get_estimator(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _check_y(self, y: Any) -> None:
        coded_classes(self, y)

    def predict_proba(self, X: Any, **params: Any) -> np.ndarray:
        """The mean of the estimators' probabilities, (n_samples, n_classes)."""
        return self._told("predict_proba", X, params)

    def predict_log_proba(self, X: Any, **params: Any) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        return self._told("predict_log_proba", X, params)

    @available_if(lambda self: hasattr(self._get_estimator(), "decision_function"))
    def decision_function(self, X: Any, **params: Any) -> np.ndarray:
        """The mean of the estimators' decision functions."""
        return self._told("decision_function", X, params)

    def _told_by(self, estimator: Any, X: np.ndarray) -> np.ndarray:
        if hasattr(estimator, "predict_proba"):
            told = np.zeros((len(X), len(self.classes_)))
            told[:, np.asarray(estimator.classes_, dtype=int)] = estimator.predict_proba(X)
            return told
        return (estimator.predict(X)[:, None] == np.arange(len(self.classes_))).astype(np.float64)

    def _error(self, total: np.ndarray, count: np.ndarray, y: np.ndarray) -> float:
        return float((self.classes_[total.argmax(axis=1)] != y).mean())


class BaggingRegressor(_Bagging, ensemble.BaggingRegressor):
    """Bagging of regressors: scikit-learn's, of tacit's decision trees where no estimator is given.

    Of tables, estimators are given tables: columns keep their types. `tacit.save` writes it where its estimators are tacit's own.

    Parameters
    ----------
    estimator : regressor, optional
        What is fitted; default :class:`tacit.tree.DecisionTreeRegressor`.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features, oob_score, warm_start, n_jobs, random_state, verbose
        As in `sklearn.ensemble.BaggingRegressor`.

    Attributes
    ----------
    estimators_, estimators_samples_, estimators_features_, oob_score_, oob_prediction_
        As in `sklearn.ensemble.BaggingRegressor`.

    References
    ----------
    Breiman (1996), Bagging predictors.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tacit.ensemble import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> curve = BaggingRegressor(n_estimators=50, random_state=0).fit(X, y).oob_curve(X, y)
    >>> bool(curve[-1] < curve[4])
    True
    """

    _saved: ClassVar[dict[str, Spec]] = _Bagging._saved | {
        "oob_prediction_": Numbers("n | n o", high=SQUARES, beside=(np.nan,), needed=False),
    }

    def _get_estimator(self) -> Any:
        return DecisionTreeRegressor() if self.estimator is None else self.estimator

    def _check_y(self, y: Any) -> None:
        refuse_text(self, y)

    def _told_by(self, estimator: Any, X: np.ndarray) -> np.ndarray:
        return np.asarray(estimator.predict(X))

    def _error(self, total: np.ndarray, count: np.ndarray, y: np.ndarray) -> float:
        return float(((total / count.reshape(-1, *[1] * (total.ndim - 1)) - y) ** 2).mean())
