"""How trees are grown: columns as ranks or cells, the rules of growth, and `grow`, which makes a `Tree` of both.

At a node of weight W and impurity I the split is taken that lowers most their product: max W I − W_left I_left − W_right I_right.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels import lazy
from ..source.threads import all_of
from .grown import Tree

__all__ = ["CRITERIA", "Ranked", "Rules", "Targets", "grow"]

compiled = lazy("growth")
CRITERIA = {
    "squared_error": 0, "friedman_mse": 0, "gini": 1, "entropy": 2, "log_loss": 2, "misclassification": 3, "gain_ratio": 4,
    "poisson": 5, "absolute_error": 6,
}  # fmt: skip
"""Numbers of the criteria, as `kernels.splits` has them."""
UNLIMITED = np.iinfo(np.int32).max
FEW_CELLS = 1 << 16
"""Cells up to which columns are ranked on one thread."""


@dataclass(frozen=True)
class Ranked:
    """Columns as ranks among their values, made once for all trees of a forest; cells where thresholds are drawn.

    Parameters
    ----------
    ranks : ndarray of shape (columns, rows)
        The place of each cell among the values of its column; of a missing one, the number of values. No rows where only cells
        are needed.
    values : ndarray
        The values of all columns, ascending, one column after the other.
    first : ndarray of int64, (columns + 1,)
        Where each column's values begin.
    categorical : ndarray of bool, (columns,)
        Columns whose values are levels 0, 1, …
    cells : ndarray of shape (columns, rows)
        The cells themselves; empty where every cut is tried.
    rows : ndarray of shape (rows, columns)
        The cells again, row by row.
    """

    ranks: np.ndarray
    values: np.ndarray
    first: np.ndarray
    categorical: np.ndarray
    cells: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, levels: Any = None, threads: int = 1, rules: Rules | None = None) -> Ranked:
        """Rows as trees of those rules need them; `levels` tells how many levels each column has, 0 of numbers."""
        n, d = X.shape
        cells = rows = np.empty((0, 0))
        if rules is not None and rules.random:
            rows = np.ascontiguousarray(X, dtype=np.float64)
            cells = np.ascontiguousarray(rows.T)
            if not rules.surrogates:  # no cell is compared with those of other nodes: values need no order
                n_levels = np.zeros(d, np.int64) if levels is None else np.asarray(levels)
                first = np.concatenate([[0], np.cumsum(n_levels)]).astype(np.int64)
                return cls(np.empty((d, 0), np.int32), np.empty(0), first, n_levels > 0, cells, rows)
        if levels is None and n * d <= FEW_CELLS:
            return cls._of_few(X, cells, rows)
        levels = np.zeros(d, np.int64) if levels is None else np.asarray(levels)
        found = all_of(lambda j: _rank(X[:, j], int(levels[j])), range(d), threads if n * d > FEW_CELLS else 1)
        first = np.concatenate([[0], np.cumsum([len(values) for _, values in found])]).astype(np.int64)
        ranks = np.empty((d, n), np.int32)  # of one type always: growth takes half a minute to compile for another
        for j, (rank, _) in enumerate(found):
            ranks[j] = rank
        return cls(ranks, np.concatenate([values for _, values in found]), first, levels > 0, cells, rows)

    @classmethod
    def _of_few(cls, X: np.ndarray, cells: np.ndarray, rows: np.ndarray) -> Ranked:
        """All columns at once: few cells cost less than the calls that a column takes."""
        order = np.argsort(X, axis=0)
        ordered = np.take_along_axis(X, order, axis=0)
        seen = ordered == ordered
        new = seen.copy()
        new[1:] &= ordered[1:] != ordered[:-1]
        counts = new.sum(axis=0)
        ranks = np.empty(X.shape, np.int32)
        np.put_along_axis(ranks, order, np.where(seen, np.cumsum(new, axis=0) - 1, counts).astype(ranks.dtype), axis=0)
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        values = ordered.T[new.T].astype(np.float64)
        return cls(np.ascontiguousarray(ranks.T), values, first, np.zeros(X.shape[1], bool), cells, rows)

    @cached_property
    def by_row(self) -> np.ndarray:
        """The ranks again, row by row: what small nodes read."""
        return np.ascontiguousarray(self.ranks.T)

    @cached_property
    def gaps(self) -> np.ndarray:
        """Which columns of cells have missing ones."""
        return np.isnan(self.cells).any(axis=1) if len(self.cells) else np.zeros(len(self.ranks), bool)

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        return len(self.ranks)


def _rank(column: np.ndarray, n_levels: int) -> tuple[np.ndarray, np.ndarray]:
    """The ranks of a column's cells, and its values."""
    if n_levels:
        return np.where(np.isnan(column), n_levels, column).astype(np.int64), np.arange(n_levels, dtype=np.float64)
    order = np.argsort(column)
    ordered = column[order]
    n = len(column)
    if ordered[-1] != ordered[-1]:  # missing cells come last
        n -= int(np.isnan(column).sum())
    ranks = np.empty(len(column), np.int64)
    new = np.empty(n, bool)
    new[:1], new[1:] = True, ordered[1:n] != ordered[: n - 1] if n else True
    ranks[order[:n]] = np.cumsum(new) - 1
    values = ordered[:n][new].astype(np.float64)
    ranks[order[n:]] = len(values)
    return ranks, values


@dataclass(frozen=True)
class Targets:
    """What is to be predicted: numbers, or classes with how many each output has; made by `numbers` or `classes`.

    The Gini index of two classes is twice the squared error of an indicator, and is grown as that.

    Parameters
    ----------
    y : ndarray of shape (outputs, rows)
        Numbers; empty where classes are predicted.
    codes : ndarray of int32, (outputs, rows)
        Classes as numbers; empty where numbers are predicted.
    n_classes : ndarray of int, (outputs,)
        Classes of each output; 1 of numbers.
    origin : ndarray of shape (outputs,)
        What was subtracted from y.
    """

    y: np.ndarray
    codes: np.ndarray
    n_classes: np.ndarray
    origin: np.ndarray

    @classmethod
    def numbers(cls, y: np.ndarray, criterion: str = "squared_error") -> Targets:
        """Numbers (rows, outputs)."""
        y = np.ascontiguousarray(y.T, dtype=np.float64)
        # Sums of several outputs are taken about their means, so that nothing cancels.
        origin = y.mean(axis=1) if CRITERIA[criterion] == 0 and len(y) > 1 else np.zeros(len(y))
        return cls(y - origin[:, None], np.empty((0, 0), np.int32), np.ones(len(y), np.int64), origin)

    @classmethod
    def classes(cls, codes: np.ndarray, n_classes: np.ndarray, criterion: str) -> Targets:
        """Classes (rows, outputs)."""
        if criterion == "gini" and codes.shape[1] == 1 and n_classes[0] == 2:
            return cls(np.ascontiguousarray(codes.T, np.float64), np.empty((0, 0), np.int32), n_classes, np.zeros(1))
        return cls(np.empty((0, 0)), np.ascontiguousarray(codes.T, np.int32), n_classes, np.zeros(0))

    @property
    def as_indicator(self) -> bool:
        """Whether two classes are grown as numbers 0 and 1."""
        return len(self.codes) == 0 and self.n_classes[0] == 2


@dataclass(frozen=True)
class Rules:
    """When nodes are split, and by what.

    Parameters
    ----------
    criterion : str
        A name of `CRITERIA`.
    max_depth, max_leaf_nodes : int, optional
        None is no limit.
    min_split, min_leaf : int
        Rows of a node that is split, and of a leaf.
    min_weight, min_decrease : float
        Weight of a leaf; least decrease of the impurity, as a share of the weight of all rows.
    max_features : int, optional
        Columns drawn for each split; None is all of them, in their order.
    random : bool
        Whether thresholds are drawn.
    monotone : ndarray of int8, optional
        1 where the prediction may not fall with a column, −1 where it may not rise.
    surrogates : int
        How many surrogate splits a node keeps; 0 learns a direction for missing cells.
    """

    criterion: str
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_split: int = 2
    min_leaf: int = 1
    min_weight: float = 0.0
    min_decrease: float = 0.0
    max_features: int | None = None
    random: bool = False
    monotone: np.ndarray | None = None
    surrogates: int = 0


def grow(ranked: Ranked, targets: Targets, weight: np.ndarray, rules: Rules, seed: int = 0) -> Tree:
    """A tree from rows whose weight is above 0.

    Parameters
    ----------
    ranked : Ranked
        The columns.
    targets : Targets
        What is to be predicted.
    weight : ndarray of shape (rows,)
        Weights; 2 is a row given twice.
    rules : Rules
        When nodes are split, and by what.
    seed : int
        What columns and thresholds are drawn by.
    """
    if rules.random and not len(ranked.cells):
        raise ValueError("thresholds are drawn between cells, which are not there; use Ranked.of(X, rules=rules).")
    d, indicator = ranked.n_features, targets.as_indicator
    scale = 2.0 if indicator else 1.0
    width = 0 if indicator or not len(targets.codes) else int(targets.n_classes.max())
    criterion = 0 if indicator else CRITERIA[rules.criterion]
    whole = np.array([
        criterion, width, UNLIMITED if rules.max_depth is None else min(rules.max_depth, UNLIMITED),
        min(rules.min_split, UNLIMITED), min(rules.min_leaf, UNLIMITED), min(rules.max_leaf_nodes or -1, UNLIMITED),
        d if rules.max_features is None else rules.max_features, rules.random, rules.surrogates,
    ], np.int64)  # fmt: skip
    real = np.array([rules.min_weight, rules.min_decrease / scale])
    columns = np.zeros((d, 5), np.int64)
    columns[:, 0], columns[:, 1], columns[:, 2] = ranked.first[:-1], np.diff(ranked.first), ranked.categorical
    if rules.monotone is not None:
        columns[:, 3] = rules.monotone
    columns[:, 4] = ranked.gaps
    rows = np.flatnonzero(weight > 0).astype(np.int32)
    nodes, numbers, value, sets, surrogates, surrogate_threshold = compiled.grow(
        ranked.ranks,
        ranked.by_row,
        ranked.cells,
        ranked.rows,
        ranked.values,
        columns,
        targets.y,
        targets.codes,
        weight,
        rows,
        whole,
        real,
        np.uint64(seed),
    )
    feature, _, left, right, missing_left, category, n_rows = np.ascontiguousarray(nodes[:, :7].T)
    threshold, impurity, gain, w = np.ascontiguousarray(numbers[:, :4].T)
    if indicator:
        value = np.concatenate([1.0 - value, value], axis=1)[:, None, :]
    elif width:
        value = value.reshape(len(feature), -1, width)
    else:
        value = (value + targets.origin)[:, :, None]
    small = np.int32
    return Tree(
        feature.astype(small), threshold, left.astype(small), right.astype(small), missing_left != 0, category.astype(small),
        sets, value, scale * impurity, scale * gain, n_rows, w, targets.n_classes, d, surrogates[:, :, 0].astype(small),
        surrogate_threshold, surrogates[:, :, 2] != 0, surrogates[:, :, 3].astype(small),
    )  # fmt: skip
