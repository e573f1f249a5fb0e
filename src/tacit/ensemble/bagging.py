"""`BaggingClassifier`, `BaggingRegressor`: the mean of what any estimator learns from rows, and columns, drawn with replacement.

f(x) = Σ_b f_b(x) / B
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import ensemble
from sklearn.utils.validation import check_is_fitted

from ..tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["BaggingClassifier", "BaggingRegressor"]


class _Curve:
    """The error out of bag as estimators are added."""

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
        X, y = np.asarray(X), np.asarray(y)
        total: Any = None
        count, curve = np.zeros(len(X)), []
        for estimator, rows, columns in zip(model.estimators_, model.estimators_samples_, model.estimators_features_):
            out = np.setdiff1d(np.arange(len(X)), rows)
            told = model._told_by(estimator, X[out][:, columns]) if len(out) else None
            if told is not None:
                total = np.zeros((len(X), *told.shape[1:])) if total is None else total
                total[out] += told
                count[out] += 1
            seen = count > 0
            curve.append(model._error(total[seen], count[seen], y[seen]) if seen.any() else np.nan)
        return np.array(curve)


class BaggingClassifier(_Curve, ensemble.BaggingClassifier):
    """Bagging of classifiers: scikit-learn's, of tacit's decision trees where no estimator is given.

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

    def _get_estimator(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _told_by(self, estimator: Any, X: np.ndarray) -> np.ndarray:
        if hasattr(estimator, "predict_proba"):
            told = np.zeros((len(X), len(self.classes_)))
            told[:, np.asarray(estimator.classes_, dtype=int)] = estimator.predict_proba(X)
            return told
        return (estimator.predict(X)[:, None] == np.arange(len(self.classes_))).astype(np.float64)

    def _error(self, total: np.ndarray, count: np.ndarray, y: np.ndarray) -> float:
        return float((self.classes_[total.argmax(axis=1)] != y).mean())


class BaggingRegressor(_Curve, ensemble.BaggingRegressor):
    """Bagging of regressors: scikit-learn's, of tacit's decision trees where no estimator is given.

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

    def _get_estimator(self) -> Any:
        return DecisionTreeRegressor() if self.estimator is None else self.estimator

    def _told_by(self, estimator: Any, X: np.ndarray) -> np.ndarray:
        return np.asarray(estimator.predict(X))

    def _error(self, total: np.ndarray, count: np.ndarray, y: np.ndarray) -> float:
        return float(((total / count.reshape(-1, *[1] * (total.ndim - 1)) - y) ** 2).mean())
