"""`shap_values`: exact Shapley values of trees and of sums of trees, by the shares of rows that took each way in training.

    f(x) = base + Σ_j φ_j(x)

φ_j is what column j adds, on average over all orders in which columns become known; where a column is not known, both ways of a
split are taken with the shares of training rows. See `tacit.kernels.shap`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from ..kernels import lazy
from ..source.threads import over_ranges, thread_count
from .grown import Tree

__all__ = ["Explanation", "shap_values"]

compiled = lazy("shap")
FEW = 2000
"""Rows times trees up to which one thread works."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each column adds to what is predicted of rows.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features) or (n_rows, n_features, n_outputs)
        φ: values and `base` sum to what is predicted.
    base : float or ndarray of shape (n_outputs,)
        What is predicted where nothing is known: the mean over the rows that were learned from.
    X : ndarray of shape (n_rows, n_features)
        The rows; levels are numbers.
    columns : list of str
        Names of the columns.
    levels : list of lists
        Levels of each column by their numbers, empty of columns of numbers; no lists where there are no levels.
    """

    values: np.ndarray
    base: Any
    X: np.ndarray
    columns: list[str]
    levels: list = field(default_factory=list)

    @property
    def total(self) -> np.ndarray:
        """What is predicted of the rows, as the values sum to."""
        return self.values.sum(axis=1) + self.base

    @property
    def importances(self) -> np.ndarray:
        """Mean |φ| of each column, (features,) or (features, outputs)."""
        return np.abs(self.values).mean(axis=0)

    def rules(self, row: int, most: int = 5, output: int = 0) -> list[tuple[str, Any, float]]:
        """The columns that add most for one row: their names, cells and values, the largest first.

        Cells of categories are their levels, None where these are missing or were not there at fit.
        """
        if not -len(self.X) <= row < len(self.X):
            raise IndexError(
                f"row={row} is none of the {len(self.X)} rows that are explained; use 0 to {len(self.X) - 1}."
            )
        told = self.values[row] if self.values.ndim == 2 else self.values[row, :, output]
        order = np.argsort(-np.abs(told), kind="stable")[:most]
        return [(self.columns[j], self._cell(row, j), float(told[j])) for j in order]

    def _cell(self, row: int, column: int) -> Any:
        cell, levels = float(self.X[row, column]), self.levels[column] if self.levels else []
        if not levels:
            return cell
        return levels[int(cell)] if cell < len(levels) else None


def shap_values(model: Any, X: Any, *, n_jobs: int | None = None) -> Explanation:
    """Explain what a tree, or a sum of trees, predicts.

    Parameters
    ----------
    model : estimator or Tree
        A fitted estimator of `tacit.tree` or `tacit.ensemble`. Boosting is explained in the units of its sum: logarithms of odds,
        or of means with a Poisson or gamma loss. Of classifiers that average shares, these are explained.
    X : array-like of shape (n_samples, n_features)
        Rows.
    n_jobs : int, optional
        Threads; None is all cores.

    Returns
    -------
    Explanation

    References
    ----------
    Lundberg, Erion, Chen et al. (2020), From local explanations to global understanding with explainable AI for trees. Nature
    Machine Intelligence 2.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.ensemble import GradientBoostingRegressor
    >>> from tacit.tree import shap_values
    >>> X = np.arange(100.0).reshape(50, 2)
    >>> model = GradientBoostingRegressor(max_features=0.5, random_state=0).fit(X, X[:, 0])
    >>> told = shap_values(model, X[:3])
    >>> bool(np.allclose(told.total, model.predict(X[:3])))
    True
    """
    if not isinstance(model, Tree):
        check_is_fitted(model)
    if hasattr(model, "estimators_features_"):
        return _mean_of_members(model, X, n_jobs)
    levels: list = []
    if isinstance(model, Tree):
        cells, terms, base = np.asarray(X, dtype=np.float64), [(model, model.flat)], np.zeros(model.flat.shape[1])
        columns = [f"x{j}" for j in range(model.n_features)]
    else:
        if hasattr(model, "_explained"):
            cells, terms, base = model._explained(X)
        else:
            trees = [model.tree_] if hasattr(model, "tree_") else getattr(model, "trees_", [])
            if not trees or not isinstance(trees[0], Tree):
                raise TypeError(
                    f"a {type(model).__name__} is no tree of tacit, nor a sum of them; give an estimator of "
                    "tacit.tree or tacit.ensemble."
                )
            cells, terms, base = model._rows(X), mean_terms(trees), np.zeros(trees[0].flat.shape[1])
        columns, levels = model._column_names(), _levels_of(model)
    if any(tree.surrogate_feature.shape[1] for tree, _ in terms) and np.isnan(cells).any():
        raise ValueError(
            "surrogate splits stand in for other columns; grow the tree without them to explain rows with missing cells."
        )
    values = np.zeros((*cells.shape, len(base)))
    for tree, told in terms:
        base = base + expectation(tree, told)
        add_shapley(tree, told, cells, values, n_jobs)
    if len(base) == 1:
        return Explanation(values[:, :, 0], float(base[0]), cells, columns, levels)
    return Explanation(values, base, cells, columns, levels)


def _levels_of(model: Any) -> list:
    """Levels of each column, empty of numbers."""
    known = getattr(model, "levels_", None)
    if known is None and hasattr(model, "estimators_"):  # the same of all
        known = getattr(model.estimators_[0], "levels_", None)
    lists = getattr(known, "values", known) or []
    return [list(each.tolist() if isinstance(each, np.ndarray) else each) for each in lists]


def _mean_of_members(model: Any, X: Any, n_jobs: int | None) -> Explanation:
    """The mean of bagged trees, each of which may be of some of the columns."""
    members = model.estimators_
    if not all(isinstance(getattr(each, "tree_", None), Tree) and not each.levels_ for each in members):
        raise TypeError(
            f"a {type(model).__name__} of {type(members[0]).__name__} is explained only where they are trees of tacit and "
            "columns hold numbers; use tacit.tree, or a forest for categories."
        )
    X = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
    n_outputs = len(getattr(model, "classes_", members[0].tree_.flat[0]))
    values, base = np.zeros((*X.shape, n_outputs)), np.zeros(n_outputs)
    for member, columns in zip(members, model.estimators_features_):
        own = shap_values(member.tree_, X[:, columns], n_jobs=n_jobs)
        # Members know classes by their numbers, and only those that were drawn.
        outputs = np.asarray(member.classes_, dtype=int) if hasattr(model, "classes_") else np.arange(n_outputs)
        part = np.zeros((len(X), len(columns), n_outputs))
        part[:, :, outputs] = own.values.reshape(*own.values.shape[:2], -1)
        for place, column in enumerate(columns):  # one may be there twice
            values[:, column] += part[:, place] / len(members)
        base[outputs] += np.ravel(own.base) / len(members)
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])]
    if n_outputs == 1:
        return Explanation(values[:, :, 0], float(base[0]), X, names)
    return Explanation(values, base, X, names)


def expectation(tree: Tree, value: np.ndarray) -> np.ndarray:
    """The mean value (nodes, K) over the rows that a tree was grown on."""
    weight = tree.weight[tree.is_leaf]
    return weight @ value[tree.is_leaf] / weight.sum()


def add_shapley(tree: Tree, value: np.ndarray, X: np.ndarray, out: np.ndarray, n_jobs: int | None = None) -> None:
    """Add the Shapley values of a tree of values (nodes, K) to `out`, (rows, columns, K)."""
    leaves = np.flatnonzero(tree.is_leaf)
    if len(leaves) == 1:
        return
    starts = np.concatenate([[0], np.cumsum(tree.depth[leaves])])
    n = int(starts[-1])
    nodes, sides, slots, columns = (np.empty(n, np.int64) for _ in range(4))
    zeros, n_slots = np.empty(n), np.empty(len(leaves), np.int64)
    compiled.leaf_paths(
        tree.feature, tree.parent, tree.left, tree.weight, leaves, starts, nodes, sides, slots, columns, zeros, n_slots
    )
    told = np.ascontiguousarray(value[leaves])
    points, shares = legendre((int(n_slots.max()) + 1) // 2)

    def add(start: int, stop: int) -> None:
        compiled.shapley(
            tree.feature, tree.threshold, tree.missing_left, tree.category, tree.sets, starts, nodes, sides, slots, columns,
            zeros, n_slots, told, points, shares, X[start:stop], out[start:stop],
        )  # fmt: skip

    over_ranges(add, len(X), 1 if len(X) * len(leaves) <= FEW else thread_count(n_jobs))


@cache
def legendre(most: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on (0, 1) of the rules with up to so many points, a row each."""
    points, shares = np.zeros((most, most)), np.zeros((most, most))
    for n in range(1, most + 1):
        x, w = np.polynomial.legendre.leggauss(n)
        points[n - 1, :n], shares[n - 1, :n] = 0.5 * (x + 1.0), 0.5 * w
    return points, shares


def mean_terms(trees: Sequence[Tree]) -> list[tuple[Tree, np.ndarray]]:
    """Trees whose values are averaged, as terms of a sum.

    Parameters
    ----------
    trees : sequence of Tree
    """
    return [(tree, tree.flat / len(trees)) for tree in trees]
