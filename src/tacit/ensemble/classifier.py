"""`RandomForestClassifier`, `ExtraTreesClassifier`: p(k | x) = Σ_b p_b(k | x) / B over trees."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from ..base.settings import KW_ONLY, settings
from ..checks import as_numpy, check_number
from ..declared import Numbers, Spec
from ..frames import is_missing
from ..tree.classifier import (
    CLASSES,
    CRITERIA,
    DecisionTreeClassifier,
    ExtraTreeClassifier,
    check_class_weight,
    named,
    open_classes,
    probabilities,
    share_of_rows,
)  # fmt: skip
from ..tree.growth import Targets
from .forest import ForestEstimator

__all__ = ["ExtraTreesClassifier", "RandomForestClassifier"]


@settings
class RandomForestClassifier(ClassifierMixin, ForestEstimator):
    """Classification by trees on rows drawn with replacement, each split among columns that are drawn.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : {"gini", "entropy", "log_loss", "misclassification", "gain_ratio"}, default="gini"
        As in :class:`tacit.tree.DecisionTreeClassifier`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, max_leaf_nodes, \
    min_impurity_decrease, ccp_alpha, monotonic_cst, categorical_features
        As in :class:`tacit.tree.DecisionTreeClassifier`; max_features="sqrt" by default.
    bootstrap : bool, default=True
        Whether each tree is grown on rows drawn with replacement.
    oob_score : bool or callable, default=False
        Whether rows out of bag are predicted, with the share of right ones or a score of truth and prediction.
    n_jobs : int, optional
        Threads; None is all cores. The forest is the same for any number of them.
    random_state : int, RandomState instance or None
        Seeds what is drawn.
    verbose : int, default=0
        Taken for scikit-learn's sake.
    warm_start : bool, default=False
        Whether `fit` adds trees to those that there are.
    max_samples : int or float, optional
        Rows that are drawn for a tree; default as many as there are.
    class_weight : dict, list of dict, "balanced" or "balanced_subsample", optional
        Weights of classes; by the rows in the bag of each tree with the last.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
    n_classes_ : int, or ndarray of int
    trees_ : list of Tree
    estimators_ : list of DecisionTreeClassifier
        The same as estimators.
    feature_importances_ : ndarray of shape (n_features,)
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Probabilities of rows by the trees that did not see them; 0 where all did.
    oob_score_ : float
    oob_curve_ : ndarray of shape (n_estimators,)
        Share of errors out of bag of the first trees.
    seeds_ : ndarray of int, (n_estimators,)
        What the rows and columns of each tree were drawn by.
    n_drawn_, n_outputs_ : int
    levels_ : list of list
        Levels of the columns of categories.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Breiman (2001), Random forests.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RandomForestClassifier(oob_score=True, random_state=0).fit(X, y).oob_score_ > 0.93
    True
    """

    n_estimators: int = 100
    _: KW_ONLY
    criterion: str = "gini"
    max_features: Any = "sqrt"
    class_weight: Any = None

    _saved: ClassVar[dict[str, Spec]] = ForestEstimator._saved | CLASSES | {
        "oob_decision_function_": Numbers(lambda self: "n c" if self.n_outputs_ == 1 else "n c o", needed=False),
    }  # fmt: skip
    _criteria = CRITERIA

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _check_settings(self) -> None:
        super()._check_settings()
        check_class_weight(self, ("balanced_subsample",))

    def _tree_class(self) -> Any:
        return DecisionTreeClassifier

    def _targets(self, y: Any, n_rows: int) -> tuple[Targets, np.ndarray]:
        codes = open_classes(self, y, n_rows)
        self._n_rows = n_rows
        n_classes = np.array([self.n_classes_]) if self.n_outputs_ == 1 else self.n_classes_
        by_bag = isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"
        given = ("balanced" if not self.bootstrap else None) if by_bag else self.class_weight
        return Targets.classes(codes, n_classes, self.criterion), share_of_rows(self, given, codes)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, n_more: int | None = None
    ) -> Self:
        """Add trees that are grown on one more batch of rows; the trees there are stay.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like, optional
            All classes, in the first call, where the first batch may not hold all; later batches may only hold known ones.
        n_more : int, optional
            How many trees; default `n_estimators`.

        Returns
        -------
        self
        """
        self._check_settings()
        n_more = self.n_estimators if n_more is None else n_more
        check_number("n_more", n_more, numbers.Integral, 1)
        classes = None if classes is None else np.unique(classes)
        return self._add_trees(X, y, sample_weight, n_more, hasattr(self, "trees_"), classes)

    def _among(self, known: Any, y: Any) -> Any:
        columns: Any = np.asarray(y).reshape(len(y), -1).T if np.ndim(y) else []
        gone = [
            row for row, each in enumerate(np.asarray(as_numpy(y)).tolist()) if np.ndim(each) == 0 and is_missing(each)
        ]
        if gone:
            raise ValueError(f"y has no label in row {gone[0]}, but a missing value such as NaN; drop unlabelled rows.")
        for classes, column in zip(known if isinstance(known, list) else [known], columns):
            if (new := np.setdiff1d(column, classes)).size:
                told = ", ".join(map(str, classes))
                raise ValueError(
                    f"y holds the class {new.tolist()[0]!r}, but those that are known are {told}; name all classes in the "
                    "first partial_fit, as classes=[…], or fit again on all rows."
                )
        return y

    def _renumbered(self, targets: Targets, share: np.ndarray, known: Any, n_rows: int) -> tuple[Targets, np.ndarray]:
        found = self.classes_ if isinstance(self.classes_, list) else [self.classes_]
        all_known = known if isinstance(known, list) else [known]
        codes = self._codes(targets)
        codes = np.stack([np.searchsorted(a, b)[c] for a, b, c in zip(all_known, found, codes.T)], axis=1)
        self.classes_, sizes = known, np.array([len(classes) for classes in all_known])
        self.n_classes_ = int(sizes[0]) if self.n_outputs_ == 1 else sizes
        return Targets.classes(codes, sizes, self.criterion), share

    def _bag_share(self, targets: Targets, counts: np.ndarray) -> np.ndarray | float:
        if not (isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample" and self.bootstrap):
            return 1.0
        codes, share = (targets.codes if len(targets.codes) else targets.y.astype(np.int64)), np.ones(len(counts))
        for code in codes:
            found = np.bincount(code, weights=counts)
            there = found > 0
            by_class = np.where(there, counts.sum() / (there.sum() * np.where(there, found, 1.0)), 0.0)
            share *= by_class[code]
        return share

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of classes, (n_samples, n_classes); a list of such where there are several outputs."""
        return probabilities(self, self._mean_value(X))

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            found = self.predict_proba(X)
            return np.log(found) if self.n_outputs_ == 1 else [np.log(each) for each in found]

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each row, the first of them where several are."""
        return named(self, self._mean_value(X))

    def _codes(self, targets: Targets) -> np.ndarray:
        return (targets.codes if len(targets.codes) else targets.y).T.astype(np.int64)

    def _score_out_of_bag(self, X: np.ndarray, targets: Targets, weight: np.ndarray) -> None:
        codes = self._codes(targets)
        shape = len(X), self.n_outputs_, -1

        def error(total: np.ndarray, count: np.ndarray) -> float:
            seen = count > 0
            wrong = total.reshape(shape).argmax(axis=2)[seen] != codes[seen]
            return float(wrong.mean()) if seen.any() else np.nan

        total, count, self.oob_curve_ = self._sums_out_of_bag(X, error)
        with np.errstate(invalid="ignore"):
            shares = total.reshape(shape) / np.maximum(count, 1)[:, None, None]
        if self.n_outputs_ == 1:
            self.oob_decision_function_ = shares[:, 0]
        else:
            self.oob_decision_function_ = shares.transpose(0, 2, 1)
        if callable(self.oob_score):
            told = named(self, codes[:, :, None] == np.arange(shares.shape[2]))
            self.oob_score_ = self.oob_score(told, named(self, shares))
        else:
            self.oob_score_ = float((shares.argmax(axis=2) == codes).all(axis=1).mean())

    def _truth(self, y: Any, n_rows: int) -> np.ndarray:
        columns = np.asarray(y).reshape(n_rows, -1).T
        known = self.classes_ if self.n_outputs_ > 1 else [self.classes_]
        return np.stack([np.searchsorted(classes, column) for classes, column in zip(known, columns)], axis=1)

    def _errors(self, value: np.ndarray, told: np.ndarray) -> float:
        return float((value.argmax(axis=2) != told).mean())


@settings
class ExtraTreesClassifier(RandomForestClassifier):
    """Classification by trees whose thresholds are drawn: the best of one drawn threshold for each column drawn.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : {"gini", "entropy", "log_loss", "misclassification", "gain_ratio"}, default="gini"
        As in :class:`tacit.tree.DecisionTreeClassifier`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, max_leaf_nodes, \
    min_impurity_decrease, ccp_alpha, monotonic_cst, categorical_features
        As in :class:`tacit.tree.DecisionTreeClassifier`; max_features="sqrt" by default.
    bootstrap : bool, default=False
        Whether each tree is grown on rows drawn with replacement.
    oob_score : bool or callable, default=False
        Whether rows out of bag are predicted, with the share of right ones or a score of truth and prediction.
    n_jobs : int, optional
        Threads; None is all cores. The forest is the same for any number of them.
    random_state : int, RandomState instance or None
        Seeds what is drawn.
    verbose : int, default=0
        Taken for scikit-learn's sake.
    warm_start : bool, default=False
        Whether `fit` adds trees to those that there are.
    max_samples : int or float, optional
        Rows that are drawn for a tree; default as many as there are.
    class_weight : dict, list of dict, "balanced" or "balanced_subsample", optional
        Weights of classes; by the rows in the bag of each tree with the last.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
    n_classes_ : int, or ndarray of int
    trees_ : list of Tree
    estimators_ : list of DecisionTreeClassifier
        The same as estimators.
    feature_importances_ : ndarray of shape (n_features,)
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Probabilities of rows by the trees that did not see them; 0 where all did.
    oob_score_ : float
    oob_curve_ : ndarray of shape (n_estimators,)
        Share of errors out of bag of the first trees.
    seeds_ : ndarray of int, (n_estimators,)
        What the rows and columns of each tree were drawn by.
    n_drawn_, n_outputs_ : int
    levels_ : list of list
        Levels of the columns of categories.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    n_estimators: int = 100
    _: KW_ONLY
    bootstrap: bool = False
    splitter = "random"

    def _tree_class(self) -> Any:
        return ExtraTreeClassifier
