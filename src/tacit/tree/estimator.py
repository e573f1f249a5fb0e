"""`TreeEstimator`: what decision trees of numbers and of classes share.

f(x) = value of the leaf of x; a split at a node minimises W_left I(left) + W_right I(right).
"""

from __future__ import annotations

import math
import numbers
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import _check_monotonic_cst, check_is_fitted

from ..assess.splits import number_folds
from ..base.rows import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..base.supervised import Supervised
from ..checks import check_choice, check_number, check_weight
from ..declared import Label, Listed, Numbers, Part, Spec, Whole
from ..source.threads import n_cores
from .drawing import drawn
from .grown import Tree
from .growth import Ranked, Rules, Targets, grow
from .pruning import Collapse, Complexity, pruned
from .reading import one_row, open_rows
from .text import Teller

__all__ = ["TreeEstimator", "check_growth", "features_drawn", "rules_of"]


def check_growth(model: Any, criteria: tuple[str, ...]) -> None:
    """Raise ValueError where a setting of growth is not of its kind."""
    check_choice("criterion", model.criterion, criteria)
    check_choice("missing", getattr(model, "missing", "direction"), ("direction", "surrogate"))
    if model.max_depth is not None:
        check_number("max_depth", model.max_depth, numbers.Integral, 0)
    if model.max_leaf_nodes is not None:
        check_number("max_leaf_nodes", model.max_leaf_nodes, numbers.Integral, 2)
    for name, least in (("min_samples_split", 2), ("min_samples_leaf", 1)):
        value = getattr(model, name)
        whole = isinstance(value, numbers.Integral)
        kind: Any = numbers.Integral if whole else numbers.Real
        check_number(name, value, kind, least if whole else 0, math.inf if whole else 1.0)
        if not whole and (value == 0 or (name == "min_samples_leaf" and value >= 1)):
            raise ValueError(
                f"{name}={value!r} must be a whole number of at least {least}, or a share between 0 and 1."
            )
    check_number("min_weight_fraction_leaf", model.min_weight_fraction_leaf, numbers.Real, 0, 0.5)
    check_number("min_impurity_decrease", model.min_impurity_decrease, numbers.Real, 0)
    check_number("ccp_alpha", model.ccp_alpha, numbers.Real, 0)
    if isinstance(model.max_features, str):
        check_choice("max_features", model.max_features, ("sqrt", "log2"))
    elif model.max_features is not None:
        whole = isinstance(model.max_features, numbers.Integral)
        check_number("max_features", model.max_features, numbers.Real, 1 if whole else 0, math.inf if whole else 1.0)
        if model.max_features == 0:
            raise ValueError("max_features=0.0 must be above 0, at most 1.0, or a whole number of columns.")


def features_drawn(asked: Any, d: int) -> int:
    """How many columns are drawn for each split."""
    if asked is None:
        return d
    if isinstance(asked, str):
        return max(1, int(math.sqrt(d) if asked == "sqrt" else math.log2(d)))
    return min(int(asked), d) if isinstance(asked, numbers.Integral) else max(1, int(asked * d))


def _rows_told(value: Any, n_rows: int) -> int:
    """A number of rows that is told as such, or as a share."""
    return int(value) if isinstance(value, numbers.Integral) else math.ceil(value * n_rows)


def rules_of(model: Any, n_rows: int, weight: float, monotone: np.ndarray | None) -> Rules:
    """The rules of growth of an estimator's settings, for rows of a total weight."""
    leaf = _rows_told(model.min_samples_leaf, n_rows)
    split = max(2, _rows_told(model.min_samples_split, n_rows))
    return Rules(
        model.criterion, model.max_depth, model.max_leaf_nodes, max(split, 2 * leaf), leaf,
        model.min_weight_fraction_leaf * weight, model.min_impurity_decrease,
        features_drawn(model.max_features, model.n_features_in_), model.splitter == "random", monotone,
        model.max_surrogates if getattr(model, "missing", "direction") == "surrogate" else 0,
    )  # fmt: skip


def monotone_of(model: Any, n_outputs: int, n_classes: int) -> np.ndarray | None:
    """Monotone constraints of the columns, checked."""
    if model.monotonic_cst is None:
        return None
    if n_outputs > 1:
        raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
    if n_classes > 2:
        raise ValueError("Monotonicity constraints are not supported with multiclass classification")
    told, d = model.monotonic_cst, model.n_features_in_
    told = np.asarray(_check_monotonic_cst(model, told) if isinstance(told, dict) else told)
    if told.shape != (d,):
        raise ValueError(f"monotonic_cst has shape {told.shape[0]} but the input data X has {d} features.")
    if not np.isin(told, (-1, 0, 1)).all():
        raise ValueError(f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {np.unique(told)}")
    for j in np.flatnonzero(told):
        if model.levels_ and model.levels_[j]:
            raise ValueError(f"monotonic_cst[{j}]={told[j]}, but column {j} is one of categories, which have no order.")
    return told.astype(np.int8)


class Grown(Supervised):
    """What trees and forests publish; not among the settings."""

    levels_: list
    trees_: list[Tree]
    classes_: Any
    n_classes_: Any
    n_outputs_: int
    max_features_: int
    tree_: Tree


@settings
class TreeEstimator(Grown):
    """Base of decision trees; made by its subclasses, which describe the settings."""

    _: KW_ONLY
    criterion: str = "squared_error"
    splitter: str = "best"
    max_depth: int | None = None
    min_samples_split: Any = 2
    min_samples_leaf: Any = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = None
    random_state: Any = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    ccp_alpha: float = 0.0
    monotonic_cst: Any = None
    categorical_features: Any = "from_dtype"
    missing: str = "direction"
    max_surrogates: int = 5

    _saved: ClassVar[dict[str, Spec]] = RowsEstimator._saved | {
        "tree_": Part(Tree),
        "levels_": Listed(Listed(Label())),
        "n_outputs_": Whole(1),
        "max_features_": Whole(1),
        "cp_table_": Part(Complexity, needed=False),
        "ccp_alpha_": Numbers(low=0, needed=False),
    }
    _criteria: ClassVar[tuple[str, ...]] = ()
    _takes_sparse = True
    _min_rows = 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_learned"}

    def __deepcopy__(self, memo: dict) -> Self:
        # Rows of fit are kept out of pickles, but a copy in memory shares them, so that it can be pruned.
        memo[id(self)] = made = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            made.__dict__[name] = value if name == "_learned" else deepcopy(value, memo)
        return made

    def _check_settings(self) -> None:
        check_growth(self, self._criteria)
        check_choice("splitter", self.splitter, ("best", "random"))
        check_number("max_surrogates", self.max_surrogates, numbers.Integral, 0)

    def _check_loaded(self) -> None:
        if self.tree_.n_features != self.n_features_in_ or self.tree_.n_outputs != self.n_outputs_:
            raise ValueError(
                f"'tree_' is of {self.tree_.n_features} columns and {self.tree_.n_outputs} outputs, not of "
                f"{self.n_features_in_} and {self.n_outputs_}"
            )
        if self.levels_ and len(self.levels_) != self.n_features_in_:
            raise ValueError(f"'levels_' tells of {len(self.levels_)} columns, not of {self.n_features_in_}")

    def _targets(self, y: Any, n_rows: int) -> tuple[Targets, np.ndarray]:
        """What is to be predicted, and by what the weight of each row is multiplied."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : {array-like, sparse matrix, table} of shape (n_samples, n_features)
            Rows; NaN is missing. Columns of categories or texts of a data frame are split as categories.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            What is to be predicted.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 is a row given twice.
        check_input : bool, default=True
            Taken for scikit-learn's sake; input is always checked.

        Returns
        -------
        self
        """
        self._check_settings()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X = open_rows(self, X, reset=True)
        targets, share = self._targets(y, len(X))
        weight = check_weight(sample_weight, len(X))
        weight = share if weight is None else weight * share
        self.__dict__.pop("cp_table_", None)
        self.__dict__.pop("ccp_alpha_", None)
        self.max_features_ = features_drawn(self.max_features, X.shape[1])
        self._learned = X, targets, weight
        ranked = Ranked.of(X, [len(levels) for levels in self.levels_] or None, n_cores())
        self.tree_ = self._grown(ranked, targets, weight)
        if self.ccp_alpha > 0:
            self.tree_ = self._pruned_at(self.tree_, self.ccp_alpha)
        return self

    def _grown(self, ranked: Ranked, targets: Targets, weight: np.ndarray) -> Tree:
        n_rows, total = len(weight), float(weight.sum())
        monotone = monotone_of(self, self.n_outputs_, int(targets.n_classes.max()))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return grow(ranked, targets, weight, rules_of(self, n_rows, total, monotone), seed)

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return open_rows(self, X, reset=False)

    # What a tree says of itself

    @property
    def feature_importances_(self) -> np.ndarray:
        """By how much splits on each column lowered the impurity, as shares that sum to 1."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def get_depth(self) -> int:
        """Splits above the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """How many leaves there are."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def apply(self, X: Any, check_input: bool = True) -> np.ndarray:
        """The number of the leaf of each row."""
        X = self._rows(X)
        return self.tree_.apply(X)

    def decision_path(self, X: Any, check_input: bool = True) -> Any:
        """The nodes that each row goes through, a sparse matrix (n_samples, n_nodes)."""
        X = self._rows(X)
        return self.tree_.decision_path(X)

    def _teller(self) -> Teller:
        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        X = self._learned[0] if hasattr(self, "_learned") else None
        return Teller(self.tree_, self._column_names(), self.levels_, classes if self.n_outputs_ == 1 else None, X)

    def rules(self, max_depth: int = 10, digits: int = 4) -> str:
        """The tree as nested rules, a line a node.

        Parameters
        ----------
        max_depth : int, default=10
            Splits below the root that are printed.
        digits : int, default=4
            Digits of numbers that count.
        """
        return self._teller().rules(max_depth, digits)

    def explain(self, row: Any, digits: int = 4) -> str:
        """Why a row is predicted as it is: the path to its leaf in words.

        Parameters
        ----------
        row : array-like of shape (n_features,), Series, or a table of one row
            The row; the cells of a Series are taken by their names.
        digits : int, default=4
            Digits of numbers that count.
        """
        X = self._rows(one_row(self, row))
        if len(X) != 1:
            raise ValueError(f"explain takes one row, but {len(X)} were given.")
        nodes = self.tree_.decision_path(X).indices
        return self._teller().path(nodes, X[0], digits)

    def to_svg(self, max_depth: int = 5, digits: int = 4) -> str:
        """The tree as a picture: SVG that needs no other library.

        Parameters
        ----------
        max_depth : int, default=5
            Splits below the root that are drawn.
        digits : int, default=4
            Digits of numbers that count.
        """
        return drawn(self._teller(), max_depth, digits)

    # Pruning

    def _pruned_at(self, tree: Tree, alpha: float) -> Tree:
        """The smallest tree that is best by impurity for α."""
        risk = tree.impurity * tree.weight / tree.weight[0]
        return pruned(tree, Collapse.of(tree, risk).leaves_at(tree, alpha * (1 + 1e-12)))

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The values of ``ccp_alpha`` at which the tree changes, and the impurity of its leaves from each on.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        Bunch
            ``ccp_alphas`` and ``impurities``.
        """
        tree = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight).tree_
        found = Collapse.of(tree, tree.impurity * tree.weight / tree.weight[0])
        return Bunch(ccp_alphas=found.alphas, impurities=found.risks)

    def _risk(self, tree: Tree) -> np.ndarray:
        """Σ weight × loss of the rows of each node."""
        raise NotImplementedError

    def _loss(self, tree: Tree, nodes: np.ndarray, targets: Targets, rows: np.ndarray) -> np.ndarray:
        """The loss of rows at nodes."""
        raise NotImplementedError

    def prune(self, cv: Any = 10, rule: str = "1se") -> Self:
        """Prune the fitted tree to the size that cross-validation chooses (Breiman and others; rpart).

        The risk is squared error, or the share of errors; the table of complexity is kept in ``cp_table_``, which prints as
        rpart's.

        Parameters
        ----------
        cv : int or array-like of shape (n_samples,), default=10
            Folds, drawn by ``random_state``, or the number of each row's fold.
        rule : {"1se", "min"}, default="1se"
            The smallest tree whose error is within one standard error of the least, or the least.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        check_choice("rule", rule, ("1se", "min"))
        if not hasattr(self, "_learned"):
            raise ValueError("prune needs the rows of fit, which are not kept in files and pickles; fit again.")
        X, targets, weight = self._learned
        fold = number_folds(cv, len(X), check_random_state(self.random_state))
        tree = self.tree_
        whole = Collapse.of(tree, self._risk(tree))
        root = self._risk(tree)[0]
        if tree.node_count == 1 or not root > 0:
            self.cp_table_ = Complexity(np.zeros(1), np.zeros(1, np.int64), np.ones(1), np.ones(1), np.zeros(1), 0)
            return self
        # Between two α the same tree is best; each interval is stood for by its geometric mean.
        betas = np.sqrt(whole.alphas * np.append(whole.alphas[1:], np.inf))
        betas[0] = 0.0 if whole.alphas[0] == 0 and len(betas) == 1 else betas[0]
        losses = np.zeros((len(X), len(betas)))
        levels = [len(known) for known in self.levels_] or None
        for k in np.unique(fold):
            out = fold == k
            if not (weight[~out] > 0).any():
                continue
            learned = self._grown(Ranked.of(X, levels, 1), targets, np.where(out, 0.0, weight))
            collapse = Collapse.of(learned, self._risk(learned))
            scale = weight.sum() / weight[~out].sum()  # α is per weight of all rows
            leaf = learned.apply(X[out])
            rows = np.flatnonzero(out)
            for place, beta in enumerate(betas):
                top = _highest(learned, collapse.at * scale <= beta)
                losses[rows, place] = self._loss(learned, top[leaf], targets, rows)
        weighted = losses * weight[:, None]
        n = np.count_nonzero(weight)
        error = weighted.sum(axis=0)
        spread = np.sqrt(np.maximum((weighted**2).sum(axis=0) - error**2 / n, 0.0))
        back = slice(None, None, -1)
        table = Complexity(
            (whole.alphas / root)[back], whole.n_leaves[back] - 1, (whole.risks / root)[back], (error / root)[back],
            (spread / root)[back], 0,
        )  # fmt: skip
        chosen = table.choose(rule)
        values = dict(table.items()) | {"chosen": chosen}
        self.cp_table_ = Complexity(**values)
        self.ccp_alpha_ = float(whole.alphas[back][chosen] / tree.weight[0])
        self.tree_ = pruned(tree, whole.leaves_at(tree, whole.alphas[back][chosen] * (1 + 1e-12)))
        return self


def _highest(tree: Tree, closed: np.ndarray) -> np.ndarray:
    """The node at which the way to each node ends where nodes of a mask are leaves."""
    top = np.arange(tree.node_count)
    for node in range(1, tree.node_count):
        above = tree.parent[node]
        top[node] = top[above] if top[above] != above or closed[above] else node
    return top
