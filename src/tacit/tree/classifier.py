"""`DecisionTreeClassifier`: p(k | x) = share of class k among the rows of the leaf of x."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array

from ..base.settings import KW_ONLY, settings
from ..base.supervised import coded_classes
from ..checks import as_numpy
from ..declared import Either, Listed, Names, Numbers, Spec, Whole
from .estimator import TreeEstimator
from .grown import Tree
from .growth import Targets

__all__ = ["CRITERIA", "DecisionTreeClassifier", "ExtraTreeClassifier", "check_class_weight", "open_classes"]

CRITERIA = ("gini", "entropy", "log_loss", "misclassification", "gain_ratio")


def open_classes(model: Any, y: Any, n_rows: int) -> np.ndarray:
    """The classes of rows as numbers, (rows, outputs); sets `classes_`, `n_classes_` and `n_outputs_` of the model."""
    if hasattr(y, "tocsr"):
        raise TypeError("Sparse multilabel-indicator for y is not supported; give y.toarray().")
    y = as_numpy(y)
    y = np.asarray(y) if not hasattr(y, "ndim") else y
    if y.ndim == 2 and y.shape[1] > 1:
        y = check_array(y, dtype=None, input_name="y")
        check_classification_targets(y)
        told = [np.unique(column, return_inverse=True) for column in y.T]
        model.classes_ = [classes for classes, _ in told]
        model.n_classes_ = np.array([len(classes) for classes in model.classes_])
        codes = np.stack([column for _, column in told], axis=1)
    else:
        model.classes_, codes = coded_classes(model, y)
        model.n_classes_, codes = len(model.classes_), codes[:, None]
    model.n_outputs_ = codes.shape[1]
    if len(codes) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y {len(codes)}; give one class "
            "per row. Number of labels does not match number of samples."
        )
    return codes


def check_class_weight(model: Any, others: tuple[str, ...] = ()) -> None:
    """Raise where `class_weight` is neither None, "balanced", weights by class, nor a list of such by output."""
    told = model.class_weight
    if isinstance(told, str) and told not in ("balanced", *others):
        known = ", ".join(map(repr, ("balanced", *others)))
        raise ValueError(f"class_weight={told!r} is unknown; use {known}, weights by class, or None.")
    if told is not None and not isinstance(told, (str, dict, list)):
        raise ValueError(f"class_weight={told!r} must be weights by class, a list of such, or 'balanced'.")


def share_of_rows(model: Any, class_weight: Any, codes: np.ndarray) -> np.ndarray:
    """By what weights of classes multiply the weight of each row."""
    if class_weight is None:
        return np.ones(len(codes))
    if model.n_outputs_ == 1:
        return compute_sample_weight(class_weight, model.classes_[codes[:, 0]])
    y = np.stack([classes[column] for classes, column in zip(model.classes_, codes.T)], axis=1)
    return compute_sample_weight(class_weight, y)


def named(model: Any, value: np.ndarray) -> np.ndarray:
    """The names of the likeliest classes, of values (rows, outputs, classes)."""
    best = value.argmax(axis=2)
    if model.n_outputs_ == 1:
        return model.classes_.take(best[:, 0])
    return np.stack([classes.take(best[:, o]) for o, classes in enumerate(model.classes_)], axis=1)


def probabilities(model: Any, value: np.ndarray) -> Any:
    """Values (rows, outputs, classes) as probabilities, a list of them where there are several outputs."""
    if model.n_outputs_ == 1:
        return value[:, 0, : len(model.classes_)]
    return [value[:, o, : len(classes)] for o, classes in enumerate(model.classes_)]


CLASSES: dict[str, Spec] = {
    "classes_": Either(Names("K", labels=True), Listed(Names("", labels=True))),
    "n_classes_": Either(Whole(1), Numbers("o", low=1, kind="i")),
}


@settings
class DecisionTreeClassifier(ClassifierMixin, TreeEstimator):
    """Classification by a tree of questions; takes categories and missing cells as they are.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification", "gain_ratio"}, default="gini"
        The impurity. Of gain ratios only those count whose gain is at least the average one (C4.5).
    splitter : {"best", "random"}, default="best"
        Whether the best threshold is taken, or a drawn one for each column.
    max_depth : int, optional
        Most splits above a leaf; 0 is a single leaf.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Fewest rows of a node that is split, and of a leaf; a float is a share of the rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the weight that a leaf has.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns that are drawn for each split; None is all of them, of which the first wins ties.
    random_state : int, RandomState instance or None
        Seeds what is drawn.
    max_leaf_nodes : int, optional
        Most leaves; nodes that gain most are then split first.
    min_impurity_decrease : float, default=0.0
        Least decrease of the impurity by a split, as a share of all rows.
    class_weight : dict, list of dict or "balanced", optional
        Weights of classes.
    ccp_alpha : float, default=0.0
        The smallest tree is kept that is best by impurity plus this for each leaf; `prune` chooses it.
    monotonic_cst : array-like of int, optional
        For each column 1 where the prediction may not fall with it, −1 where it may not rise, of the second of two classes.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that are split by sets of levels: those of a data frame whose type is category, text or truth value, or columns by
        number, name or mask.
    missing : {"direction", "surrogate"}, default="direction"
        Whether missing cells go to the side that lowers the impurity most, or as other columns say that agree best with the
        split.
    max_surrogates : int, default=5
        Most surrogate splits of a node.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
    n_classes_ : int, or ndarray of int
    tree_ : Tree
        The nodes; its arrays have scikit-learn's names as well.
    feature_importances_ : ndarray of shape (n_features,)
        Decrease of the impurity by the splits on each column.
    cp_table_ : Complexity
        What `prune` found, as rpart prints it.
    ccp_alpha_ : float
        The complexity that `prune` chose.
    levels_ : list of list
        Levels of the columns of categories.
    max_features_, n_outputs_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees.
    Quinlan (1993), C4.5: Programs for Machine Learning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(DecisionTreeClassifier(max_leaf_nodes=3).fit(X, y).rules())
    all rows [150 rows]
    |   petal length (cm) ≤ 2.45: 0 (1) [50 rows]
    |   petal length (cm) > 2.45 [100 rows]
    |   |   petal width (cm) ≤ 1.75: 1 (0.907) [54 rows]
    |   |   petal width (cm) > 1.75: 2 (0.978) [46 rows]
    """

    _: KW_ONLY
    criterion: str = "gini"
    class_weight: Any = None

    _saved: ClassVar[dict[str, Spec]] = TreeEstimator._saved | CLASSES
    _criteria = CRITERIA

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _check_settings(self) -> None:
        super()._check_settings()
        check_class_weight(self)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        told = [self.n_classes_] if self.n_outputs_ == 1 else list(self.n_classes_)
        named = [len(self.classes_)] if self.n_outputs_ == 1 else [len(classes) for classes in self.classes_]
        if told != named or self.tree_.n_classes.tolist() != named:
            raise ValueError(f"'tree_' is of {self.tree_.n_classes.tolist()} classes, and 'classes_' names {named}")

    def _targets(self, y: Any, n_rows: int) -> tuple[Targets, np.ndarray]:
        codes = open_classes(self, y, n_rows)
        n_classes = np.array([self.n_classes_]) if self.n_outputs_ == 1 else self.n_classes_
        return Targets.classes(codes, n_classes, self.criterion), share_of_rows(self, self.class_weight, codes)

    def predict(self, X: Any, check_input: bool = True) -> np.ndarray:
        """The likeliest class of each row, the first of them where several are."""
        X = self._rows(X)
        return named(self, self.tree_.value[self.tree_.apply(X)])

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Shares of the classes in each row's leaf, (n_samples, n_classes); a list of such where there are several outputs."""
        X = self._rows(X)
        return probabilities(self, self.tree_.value[self.tree_.apply(X)])

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            found = self.predict_proba(X)
            return np.log(found) if self.n_outputs_ == 1 else [np.log(each) for each in found]

    def _risk(self, tree: Tree) -> np.ndarray:
        return tree.weight * (1.0 - tree.value.max(axis=2)).mean(axis=1)

    def _loss(self, tree: Tree, nodes: np.ndarray, targets: Targets, rows: np.ndarray) -> np.ndarray:
        codes = targets.codes if len(targets.codes) else targets.y
        best = tree.value.argmax(axis=2)[nodes]
        return (best != codes[:, rows].T).mean(axis=1)


@settings
class ExtraTreeClassifier(DecisionTreeClassifier):
    """A decision tree with thresholds that are drawn: what `ExtraTreesClassifier` is made of.

    Parameters
    ----------
    criterion, splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, random_state, \
    max_leaf_nodes, min_impurity_decrease, class_weight, ccp_alpha, monotonic_cst, categorical_features, missing, max_surrogates
        As in :class:`DecisionTreeClassifier`, with splitter="random" and max_features="sqrt".

    Attributes
    ----------
    classes_, n_classes_, tree_, feature_importances_, cp_table_, ccp_alpha_, levels_, max_features_, n_outputs_, \
    n_features_in_, feature_names_in_
        As in :class:`DecisionTreeClassifier`.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.tree import ExtraTreeClassifier
    >>> ExtraTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True)).score(*load_iris(return_X_y=True))
    1.0
    """

    _: KW_ONLY
    splitter: str = "random"
    max_features: Any = "sqrt"
