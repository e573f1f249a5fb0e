"""`Tree`: a tree that was grown, node by node, as arrays; `Forest`: many of them laid out end to end, to be asked quickly.

A row goes left where x ≤ threshold, or where its level is in the node's set; a missing cell goes where the node says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import SQUARES, Numbers, Whole
from ..kernels import lazy
from ..source.threads import over_ranges, thread_count

__all__ = ["LEAF", "Forest", "Tree", "bitset", "levels_of"]

compiled = lazy("leaves")
LEAF = -2
"""The feature of leaves; asked for as ``feature < 0``."""
FEW = 20_000
"""Rows times trees up to which one thread answers."""


KINDS = {
    "feature": np.int32, "left": np.int32, "right": np.int32, "missing_left": np.bool_, "category": np.int32, "sets": np.uint32,
    "n_rows": np.int64, "n_classes": np.int64, "surrogate_feature": np.int32, "surrogate_flip": np.bool_,
    "surrogate_category": np.int32,
}  # fmt: skip
"""Types of the arrays that hold no float64."""


@record
class Tree(Arrays):
    """A tree: node 0 is the root, and children have larger numbers than their parent.

    Parameters
    ----------
    feature : ndarray of int32, (nodes,)
        The column that a node asks for; −2 at leaves.
    threshold : ndarray of float64, (nodes,)
        Rows with x ≤ threshold go left; −2 at leaves.
    left, right : ndarray of int32, (nodes,)
        Children; −1 at leaves.
    missing_left : ndarray of bool, (nodes,)
        Whether rows whose cell is missing, or a level that the set does not tell of, go left.
    category : ndarray of int32, (nodes,)
        Where a node's set of levels begins in `sets`; −1 where it asks by threshold.
    sets : ndarray of uint32
        Of each set, the number of levels and then their bits, 32 a word; 1 goes left. See `bitset`.
    value : ndarray of float64, (nodes, outputs, classes)
        Means, or the shares of classes.
    impurity, gain : ndarray of float64, (nodes,)
        The impurity of a node, and by how much its split lowers weight × impurity; 0 at leaves.
    n_rows : ndarray of int64, (nodes,)
        Rows of the node.
    weight : ndarray of float64, (nodes,)
        Their weight.
    n_classes : ndarray of int64, (outputs,)
        Classes of each output; 1 of numbers.
    n_features : int
        Columns of rows.
    surrogate_feature, surrogate_threshold, surrogate_flip, surrogate_category : ndarray of shape (nodes, surrogates)
        What is asked for in turn where the node's own cell is missing: as the first four, `flip` where rows above the threshold
        go left; −2 where there is none. Trees that learn a direction have none.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    category: np.ndarray
    sets: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray
    n_rows: np.ndarray
    weight: np.ndarray
    n_classes: np.ndarray
    n_features: int
    surrogate_feature: np.ndarray
    surrogate_threshold: np.ndarray
    surrogate_flip: np.ndarray
    surrogate_category: np.ndarray

    _saved = {  # noqa: RUF012
        "feature": Numbers("m", low=LEAF, kind="i"), "threshold": Numbers("m", high=np.finfo(float).max, beside=(np.inf,)),
        "left": Numbers("m", low=-1, kind="i"),
        "right": Numbers("m", low=-1, kind="i"), "missing_left": Numbers("m", kind="b"),
        "category": Numbers("m", low=-1, kind="i"), "sets": Numbers("w", low=0, kind="i"), "value": Numbers("m o c"),
        "impurity": Numbers("m", high=SQUARES), "gain": Numbers("m", high=SQUARES), "n_rows": Numbers("m", low=0, kind="i"),
        "weight": Numbers("m", low=0, high=SQUARES), "n_classes": Numbers("o", low=1, kind="i"), "n_features": Whole(1),
        "surrogate_feature": Numbers("m s", low=LEAF, kind="i"), "surrogate_threshold": Numbers("m s"),
        "surrogate_flip": Numbers("m s", kind="b"), "surrogate_category": Numbers("m s", low=-1, kind="i"),
    }  # fmt: skip

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():  # files hold all numbers as float64
            value = getattr(self, name)
            if value.dtype != kind:
                with np.errstate(invalid="ignore"):
                    object.__setattr__(self, name, value.astype(kind))
        object.__setattr__(self, "n_features", int(self.n_features))

    @classmethod
    def of(cls, feature: Any, threshold: Any, left: Any, right: Any, value: Any, n_features: int, **more: Any) -> Tree:
        """A tree of its splits and values, (nodes,) or (nodes, outputs, classes); what else is not given is empty."""
        n, value = len(feature), np.asarray(value, dtype=np.float64)
        value = value.reshape(n, 1, -1) if value.ndim < 3 else value
        given = {
            "missing_left": np.ones(n, bool), "category": np.full(n, -1, np.int32), "sets": np.empty(0, np.uint32),
            "impurity": np.zeros(n), "gain": np.zeros(n), "n_rows": np.zeros(n, np.int64), "weight": np.zeros(n),
            "n_classes": np.full(value.shape[1], value.shape[2]),
            "surrogate_feature": np.empty((n, 0), np.int32), "surrogate_threshold": np.empty((n, 0)),
            "surrogate_flip": np.empty((n, 0), bool), "surrogate_category": np.empty((n, 0), np.int32),
        } | more  # fmt: skip
        splits = np.asarray(feature, np.int32), np.asarray(threshold, np.float64)
        children = np.asarray(left, np.int32), np.asarray(right, np.int32)
        return cls(*splits, *children, value=value, n_features=int(n_features), **given)

    def check(self, sizes: dict[str, int]) -> None:
        """Raise ValueError unless every row would end in a leaf and read only what is there."""
        super().check(dict(sizes))
        n, inner, node = len(self.feature), self.feature >= 0, np.arange(len(self.feature))
        children = np.stack([self.left, self.right], axis=1)
        if not n or (self.feature >= self.n_features).any():
            raise ValueError(f"a tree asks for column {self.feature.max(initial=-1)}, but there are {self.n_features}")
        if (
            (children[inner] <= node[inner, None]).any()
            or (children[inner] >= n).any()
            or (children[~inner] != -1).any()
        ):
            raise ValueError("a tree has a node whose children are no later nodes")
        if not (np.sort(children[inner], axis=None) == node[1:]).all():
            raise ValueError("a tree has a node that is not the child of exactly one other")
        if self.value.shape[1:] != (len(self.n_classes), self.n_classes.max()):
            raise ValueError(f"a tree has values of shape {self.value.shape[1:]}, which its n_classes do not tell")
        if (self.surrogate_feature >= self.n_features).any():
            raise ValueError(f"a tree asks for column {self.surrogate_feature.max()}, but there are {self.n_features}")
        for start in np.concatenate([self.category, self.surrogate_category.ravel()]):
            if start >= 0 and (start >= len(self.sets) or start + 1 + -(-int(self.sets[start]) // 32) > len(self.sets)):
                raise ValueError(f"a tree has a set of levels at {start}, beyond the end of all")

    # What scikit-learn calls its arrays

    @property
    def children_left(self) -> np.ndarray:
        """`left`."""
        return self.left

    @property
    def children_right(self) -> np.ndarray:
        """`right`."""
        return self.right

    @property
    def n_node_samples(self) -> np.ndarray:
        """`n_rows`."""
        return self.n_rows

    @property
    def weighted_n_node_samples(self) -> np.ndarray:
        """`weight`."""
        return self.weight

    @property
    def missing_go_to_left(self) -> np.ndarray:
        """`missing_left`, as numbers."""
        return self.missing_left.astype(np.uint8)

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.feature)

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return self.value.shape[1]

    @property
    def max_n_classes(self) -> int:
        """The most classes of an output."""
        return self.value.shape[2]

    # What follows from them

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """Which nodes are leaves."""
        return self.feature < 0

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(self.is_leaf.sum())

    @cached_property
    def parent(self) -> np.ndarray:
        """The parent of each node, −1 of the root."""
        found = np.full(self.node_count, -1, np.int32)
        inner = np.flatnonzero(~self.is_leaf)
        found[self.left[inner]] = found[self.right[inner]] = inner
        return found

    @cached_property
    def depth(self) -> np.ndarray:
        """Splits above each node."""
        found = np.zeros(self.node_count, np.int64)
        level = np.array([0])
        while len(level := level[~self.is_leaf[level]]):
            below = np.concatenate([self.left[level], self.right[level]])
            found[below] = found[level[0]] + 1
            level = below
        return found

    @property
    def max_depth(self) -> int:
        """Splits above the deepest leaf."""
        return int(self.depth.max())

    @cached_property
    def flat(self) -> np.ndarray:
        """Values as (nodes, outputs × classes)."""
        return np.ascontiguousarray(self.value.reshape(self.node_count, -1))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The leaf of each row.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Rows of float32 or float64; levels are numbers, NaN is missing.
        """
        X = X.toarray() if hasattr(X, "toarray") else X
        out = np.empty(len(X), np.int64)
        compiled.own_leaves(
            self.feature, self.threshold, self.left, self.right, self.missing_left, self.category, self.sets,
            self.surrogate_feature, self.surrogate_threshold, self.surrogate_flip, self.surrogate_category, X, out,
        )  # fmt: skip
        return out

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The value of each row's leaf, (rows, outputs, classes) or, of one output, (rows, classes)."""
        value = self.value[self.apply(X)]
        return value[:, 0] if self.n_outputs == 1 else value

    def decision_path(self, X: np.ndarray) -> Any:
        """The nodes that each row goes through, (rows, nodes), sparse."""
        from scipy.sparse import csr_matrix

        leaf = self.apply(X)
        start = np.concatenate([[0], np.cumsum(self.depth[leaf] + 1)])
        nodes = np.empty(start[-1], np.int64)
        compiled.along(self.feature, self.parent, leaf, start, nodes)
        return csr_matrix((np.ones(len(nodes), np.int64), nodes, start), shape=(len(leaf), self.node_count))

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """By how much the splits on each column lowered the impurity, as shares of the whole where `normalize`."""
        inner = ~self.is_leaf
        found = np.bincount(self.feature[inner], weights=self.gain[inner], minlength=self.n_features) / self.weight[0]
        total = found.sum()
        return found / total if normalize and total > 0 else found


@record
class Forest(Arrays):
    """Trees laid out end to end: what `find_leaves` and `add_values` go through; made by `of`, not saved."""

    steps: np.ndarray  # of kernels.leaves.STEP
    flags: np.ndarray
    sets: np.ndarray
    roots: np.ndarray
    value: np.ndarray  # (steps, columns)
    node: np.ndarray  # the number that each step has in its own tree

    @classmethod
    def of(cls, trees: Sequence[Tree], values: Sequence[np.ndarray] | None = None) -> Forest:
        """Trees with their values, or with others of shape (nodes, columns)."""
        values = [tree.flat for tree in trees] if values is None else values
        first = np.concatenate([[0], np.cumsum([tree.node_count for tree in trees])]).astype(np.int64)
        steps, flags = np.empty(first[-1], compiled.STEP), np.empty(first[-1], np.uint8)
        node, value = np.empty(first[-1], np.int32), np.empty((first[-1], values[0].shape[1]))
        set_start = 0
        for start, tree, told in zip(first, trees, values):
            place = np.empty(tree.node_count, np.int64)
            compiled.lay_out(
                tree.feature, tree.threshold, tree.left, tree.right, tree.missing_left, tree.category, start, set_start, steps,
                flags, place,
            )  # fmt: skip
            node[place], value[place] = np.arange(tree.node_count), told
            set_start += len(tree.sets)
        sets = np.concatenate([tree.sets for tree in trees])
        return cls(steps, flags, sets, first[:-1].copy(), value, node)

    def _plain(self, X: np.ndarray) -> bool:
        """Whether neither cells are missing nor columns levels."""
        return not len(self.sets) and not np.isnan(X.sum())

    def _over_rows(self, function: Any, n_rows: int, n_jobs: int | None) -> None:
        threads = 1 if n_rows * len(self.roots) <= FEW else thread_count(n_jobs)
        over_ranges(function, n_rows, threads)  # all rows of a thread tree after tree, which then stays in its cache

    def leaves(self, X: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """The step at which each row ends in each tree, (rows, trees); `node` tells the leaf's number in its tree."""
        out, plain = np.empty((len(X), len(self.roots)), np.int32), self._plain(X)

        def find(start: int, stop: int) -> None:
            compiled.find_leaves(self.steps, self.flags, self.sets, self.roots, X[start:stop], plain, out[start:stop])

        self._over_rows(find, len(X), n_jobs)
        return out

    def total(self, X: np.ndarray, n_jobs: int | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """The sum of the trees' values for each row, (rows, columns), added to `out` where that is given."""
        total = np.zeros((len(X), self.value.shape[1])) if out is None else out
        plain = self._plain(X)

        def add(start: int, stop: int) -> None:
            compiled.add_values(
                self.steps, self.flags, self.sets, self.roots, X[start:stop], plain, self.value, total[start:stop]
            )

        self._over_rows(add, len(X), n_jobs)
        return total


def bitset(levels: Any, n_levels: int) -> np.ndarray:
    """The words that tell a set of levels: how many there are, and 32 bits a word."""
    words = np.zeros(1 + -(-n_levels // 32), np.uint32)
    words[0] = n_levels
    for level in levels:
        words[1 + level // 32] |= np.uint32(1 << (level % 32))
    return words


def levels_of(sets: np.ndarray, start: int) -> np.ndarray:
    """The levels of the set that begins at `start`."""
    n_levels = int(sets[start])
    bits = np.unpackbits(sets[start + 1 : start + 1 + -(-n_levels // 32)].view(np.uint8), bitorder="little")
    return np.flatnonzero(bits[:n_levels])
