"""`ConformalClassifier`: sets of classes that hold the true one as often as they promise, around any classifier.

    C(x) = {k : Σ_{s_i < s(x, k)} w_i < level (Σ w_i + w(x))}

with s = 1 − p_k (the smallest sets on average, LAC), or the probability of all classes likelier than k and a random part of its
own (adaptive, APS: larger sets where more is unsure). Split sets hold the class with a probability of at least `level`.

References
----------
Sadinle, Lei and Wasserman (2019), Least ambiguous set-valued classifiers with bounded error levels, JASA 114.
Romano, Sesia and Candès (2020), Classification with valid and adaptive coverage, NeurIPS 33.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..base.supervised import coded_classes
from ..checks import check_choice
from .conformal import Conformal
from .data import Data
from .exchangeable import Grouping, fewest, warn_of_few
from .scoring import check_level

__all__ = ["ConformalClassifier"]


@settings
class ConformalClassifier(ClassifierMixin, Conformal):
    """Sets of classes of any classifier, whose coverage does not rest on its probabilities being right.

    Parameters
    ----------
    estimator : estimator, optional
        Any classifier with `predict_proba`; default `tacit.linear_model.LogisticRegression`.
    method : {"cv+", "split", "jackknife+", "prefit"}, default="cv+"
    level : float, default=0.9
    cv : int or splitter, default=10
    calibration : float, default=0.5
        As of `ConformalRegressor`.
    kind : {"lac", "aps"}, default="lac"
        The smallest sets, or those that are larger where more is unsure.
    allow_empty : bool, default=False
        Whether a set may be empty; if not, it holds the likeliest class at least.
    by : callable, int, str or "class", optional
        Groups that are calibrated each by itself; "class" holds the level within each class.
    weight : callable, optional
        As of `ConformalRegressor`.
    random_state : int or None, default=0
        Draws the rows, and the random parts of "aps".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimator_, estimators_, scores_, fold_, groups_, weights_
        As of `ConformalRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.assess import ConformalClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ConformalClassifier(random_state=0).fit(X[::2], y[::2])
    >>> held = model.predict_set(X[1::2])[range(75), y[1::2]]
    >>> bool(held.mean() > 0.85)
    True
    """

    estimator: Any = None
    _: KW_ONLY
    method: str = "cv+"
    level: float = 0.9
    cv: Any = 10
    calibration: float = 0.5
    kind: str = "lac"
    allow_empty: bool = False
    by: Any = None
    weight: Callable | None = None
    random_state: Any = 0

    def _default(self) -> Any:
        from ..linear_model import LogisticRegression

        return LogisticRegression()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn the estimator, and how improbable it finds the classes of rows that it has not seen.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            For the estimator.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together.

        Returns
        -------
        self
        """
        check_choice("kind", self.kind, ("lac", "aps"))
        self._rng = np.random.default_rng(
            self.random_state if isinstance(self.random_state, (int, np.integer)) else None
        )
        self._calibrated(X, y, sample_weight, groups)
        del self._rng
        return self

    def _target(self, y: Any) -> Any:
        self.classes_ = coded_classes(self, y)[0]
        if len(self.classes_) < 2:
            told = f"1 class, {self.classes_[0]!r}" if len(self.classes_) else "no row, 0 sample(s)"
            raise ValueError(f"y has {told}; sets need at least two classes.")
        if self.method == "prefit":
            self.classes_ = np.asarray(self.estimator.classes_)
        return np.asarray(y)

    def _folds_by(self, data: Data) -> Any:
        return data.y

    def _probabilities(self, model: Any, X: Any) -> np.ndarray:
        """A column for each class; 0 of those that a model has not seen."""
        if not hasattr(model, "predict_proba"):
            raise ValueError(
                f"{type(model).__name__} tells no probabilities (predict_proba); sets follow from these: calibrate it first, for "
                "example with sklearn.calibration.CalibratedClassifierCV."
            )
        told = np.asarray(model.predict_proba(X), dtype=float)
        found = np.zeros((len(told), len(self.classes_)))
        found[:, np.searchsorted(self.classes_, model.classes_)] = told
        return found

    def _strange(self, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """S of every class."""
        if self.kind == "lac":
            return 1.0 - p
        order = np.argsort(-p, axis=1, kind="stable")
        upto = np.cumsum(np.take_along_axis(p, order, axis=1), axis=1)
        found = np.empty_like(p)
        np.put_along_axis(found, order, upto, axis=1)
        return found - rng.random((len(p), 1)) * p

    def _scores(self, model: Any, part: Data) -> np.ndarray:
        code = np.searchsorted(self.classes_, np.asarray(part.y))
        return self._strange(self._probabilities(model, part.X), self._rng)[np.arange(len(code)), code]

    def _calibration_groups(self, data: Data) -> np.ndarray:
        return np.asarray(data.y) if _by_class(self.by) else super()._calibration_groups(data)

    def predict(self, X: Any) -> np.ndarray:
        """The class that the estimator predicts."""
        check_is_fitted(self, "scores_")
        return self.estimator_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the estimator."""
        check_is_fitted(self, "scores_")
        return self._probabilities(self.estimator_, X)

    def predict_set(self, X: Any, level: float | None = None) -> np.ndarray:
        """Which classes are in the set of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        level : float, optional
            Probability with which the class is in its set; default that of the settings.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            All classes where there are too few calibration rows for the level, which is told by a warning.
        """
        check_is_fitted(self, "scores_")
        level = check_level(self.level if level is None else level)
        rng = np.random.default_rng(self.random_state if isinstance(self.random_state, (int, np.integer)) else None)
        told = [self._probabilities(model, X) for model in self.estimators_]
        strange = np.array([self._strange(p, np.random.default_rng(rng.integers(2**31))) for p in told])
        own, K = self._weights(X), len(self.classes_)
        group = None if _by_class(self.by) else Grouping(self.by)(X)
        found = np.ones(strange.shape[1:], dtype=bool)
        names = self.classes_ if group is None else np.unique(group)
        for j, name in enumerate(names):
            among = np.flatnonzero(self.groups_ == name)
            rows, classes = (np.arange(len(own)), [j]) if group is None else (np.flatnonzero(group == name), range(K))
            if len(among) < fewest(level) and self.weight is None:
                warn_of_few(len(among), level, "sets hold every class", None if self.by is None else name)
                continue
            limit = level * (self.weights_[among].sum() + own[rows])
            for k in classes:
                below = np.zeros(len(rows))
                for number, s in enumerate(strange):
                    mine = among[self.fold_[among] == number]
                    order = np.argsort(self.scores_[mine], kind="stable")
                    total = np.append(0.0, np.cumsum(self.weights_[mine][order]))
                    below += total[np.searchsorted(self.scores_[mine][order], s[rows, k], side="left")]
                found[rows, k] = below < limit - 1e-9
        if not self.allow_empty:
            best = np.mean(told, axis=0).argmax(axis=1)
            found[np.arange(len(best)), best] |= ~found.any(axis=1)
        return found


def _by_class(by: Any) -> bool:
    return isinstance(by, str) and by == "class"
