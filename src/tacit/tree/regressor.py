"""`DecisionTreeRegressor`: E[y | x] = mean of the rows of the leaf of x."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from ..base.settings import KW_ONLY, settings
from ..base.targets import refuse_text
from .estimator import TreeEstimator
from .grown import Tree
from .growth import Targets

__all__ = ["CRITERIA", "DecisionTreeRegressor", "ExtraTreeRegressor", "open_numbers"]

CRITERIA = ("squared_error", "friedman_mse", "absolute_error", "poisson")


def open_numbers(model: Any, y: Any, n_rows: int) -> np.ndarray:
    """Numbers to be predicted, (rows, outputs), checked for the criterion; sets `n_outputs_` of the model."""
    if hasattr(y, "tocsr"):
        raise TypeError("Sparse data was passed for y, but dense data is required; give y.toarray().")
    refuse_text(model, y)
    y = model._checked_targets(y)
    model.n_outputs_ = y.shape[1]
    if model.criterion == "poisson":
        if (y < 0).any():
            raise ValueError(
                f"Some value(s) of y are negative which is not allowed for Poisson regression; the least is {y.min():g}."
            )
        if not y.sum() > 0:
            raise ValueError("Sum of y is not positive which is necessary for Poisson regression.")
    if len(y) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y {len(y)}; give one number "
            "per row. Number of labels does not match number of samples."
        )
    return y


@settings
class DecisionTreeRegressor(RegressorMixin, TreeEstimator):
    """Regression by a tree of questions; takes categories and missing cells as they are.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        The impurity. Friedman's gain is that of squared error; with absolute error leaves predict medians.
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
    ccp_alpha : float, default=0.0
        The smallest tree is kept that is best by impurity plus this for each leaf; `prune` chooses it.
    monotonic_cst : array-like of int, optional
        For each column 1 where the prediction may not fall with it, −1 where it may not rise.
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

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tacit.tree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> DecisionTreeRegressor(min_samples_leaf=7, random_state=0).fit(X, y).prune().get_n_leaves() < 15
    True
    """

    _: KW_ONLY
    criterion: str = "squared_error"

    _criteria = CRITERIA

    def _targets(self, y: Any, n_rows: int) -> tuple[Targets, np.ndarray]:
        return Targets.numbers(open_numbers(self, y, n_rows), self.criterion), np.ones(n_rows)

    def predict(self, X: Any, check_input: bool = True) -> np.ndarray:
        """The mean, or median, of each row's leaf, (n_samples,) or (n_samples, n_outputs)."""
        X = self._rows(X)
        value = self.tree_.value[self.tree_.apply(X), :, 0]
        return value[:, 0] if self.n_outputs_ == 1 else value

    def _risk(self, tree: Tree) -> np.ndarray:
        return tree.weight * tree.impurity

    def _loss(self, tree: Tree, nodes: np.ndarray, targets: Targets, rows: np.ndarray) -> np.ndarray:
        y, found = targets.y[:, rows].T, tree.value[nodes, :, 0] - targets.origin
        if self.criterion == "absolute_error":
            return np.abs(y - found).mean(axis=1)
        if self.criterion == "poisson":
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(y > 0, y * np.log(y / np.maximum(found, 1e-12 * y.max())), 0.0)
            return (ratio - y + found).mean(axis=1)
        return ((y - found) ** 2).mean(axis=1)


@settings
class ExtraTreeRegressor(DecisionTreeRegressor):
    """A decision tree with thresholds that are drawn: what `ExtraTreesRegressor` is made of.

    Parameters
    ----------
    criterion, splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, random_state, \
    max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, categorical_features, missing, max_surrogates
        As in :class:`DecisionTreeRegressor`, with splitter="random" and max_features=1.0.

    Attributes
    ----------
    tree_, feature_importances_, cp_table_, ccp_alpha_, levels_, max_features_, n_outputs_, n_features_in_, feature_names_in_
        As in :class:`DecisionTreeRegressor`.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tacit.tree import ExtraTreeRegressor
    >>> ExtraTreeRegressor(random_state=0).fit(*load_diabetes(return_X_y=True)).score(*load_diabetes(return_X_y=True))
    1.0
    """

    _: KW_ONLY
    splitter: str = "random"
    max_features: Any = 1.0
