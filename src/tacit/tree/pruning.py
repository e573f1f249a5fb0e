"""Cost-complexity pruning: the smallest tree with the least R(T) + α |leaves of T| for each α, and α by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..assess.selecting import one_standard_error
from ..declared import SQUARES, Numbers
from .grown import LEAF, Tree

__all__ = ["Collapse", "Complexity", "pruned"]


@dataclass(frozen=True)
class Collapse:
    """The α at which each node becomes a leaf of the best tree, by the risks of nodes.

    Parameters
    ----------
    at : ndarray of shape (nodes,)
        Infinite at leaves, and at splits that are never worth removing alone.
    alphas : ndarray
        Ascending, beginning with 0: where the best tree changes.
    risks : ndarray
        The risk of the best tree from each α on.
    n_leaves : ndarray
        Its leaves.
    """

    at: np.ndarray
    alphas: np.ndarray
    risks: np.ndarray
    n_leaves: np.ndarray

    @classmethod
    def of(cls, tree: Tree, risk: np.ndarray) -> Collapse:
        """The weakest links of a tree, one after the other, by a risk of nodes of which leaves' add up."""
        n, inner = tree.node_count, ~tree.is_leaf
        below, leaves = np.where(inner, 0.0, risk), np.where(inner, 0.0, 1.0)
        for node in np.flatnonzero(inner)[::-1]:  # children come later
            sides = [tree.left[node], tree.right[node]]
            below[node], leaves[node] = below[sides].sum(), leaves[sides].sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(inner, np.maximum(risk - below, 0.0) / (leaves - 1), np.inf)
        alive, at = inner.copy(), np.full(n, np.inf)
        alphas, risks, sizes, alpha = [0.0], [below[0]], [leaves[0]], 0.0
        while alive[0]:
            node = int(np.argmin(worth))
            alpha = max(alpha, worth[node])
            self_risk, self_leaves = risk[node] - below[node], leaves[node] - 1
            at[node] = alpha
            _drop(tree, node, alive, worth)
            up = tree.parent[node]
            while up >= 0:
                below[up] += self_risk
                leaves[up] -= self_leaves
                worth[up] = max(risk[up] - below[up], 0.0) / (leaves[up] - 1)
                up = tree.parent[up]
            below[node], leaves[node] = risk[node], 1.0
            if alpha <= alphas[-1] * (1 + 1e-12):
                risks[-1], sizes[-1] = below[0], leaves[0]
            else:
                alphas.append(alpha)
                risks.append(below[0])
                sizes.append(leaves[0])
        return cls(at, np.array(alphas), np.array(risks), np.array(sizes, dtype=np.int64))

    def leaves_at(self, tree: Tree, alpha: float) -> np.ndarray:
        """Which nodes are leaves, or below them, of the best tree for α."""
        closed = (self.at <= alpha) | tree.is_leaf
        for node in range(1, tree.node_count):
            closed[node] |= closed[tree.parent[node]]
        return closed


def _drop(tree: Tree, node: int, alive: np.ndarray, worth: np.ndarray) -> None:
    """Take a split and those below it out of what may be removed."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        if alive[at]:
            alive[at], worth[at] = False, np.inf
            waiting += [tree.left[at], tree.right[at]]


def pruned(tree: Tree, closed: np.ndarray) -> Tree:
    """The tree whose nodes of a mask are leaves; what lies below them is gone.

    Parameters
    ----------
    tree : Tree
        The whole tree.
    closed : ndarray of bool, (nodes,)
        Nodes that are leaves, or below one.
    """
    kept = np.ones(tree.node_count, bool)
    kept[1:] = ~closed[tree.parent[1:]]
    number = np.cumsum(kept) - 1
    leaf = closed[kept]

    def told(name: str, at_leaf: Any) -> np.ndarray:
        values = getattr(tree, name)[kept].copy()
        values[leaf] = at_leaf
        return values

    left, right = (np.where(leaf, -1, number[told(name, 0)]).astype(np.int32) for name in ("left", "right"))
    return Tree(
        told("feature", LEAF), told("threshold", float(LEAF)), left, right, told("missing_left", True), told("category", -1),
        tree.sets, tree.value[kept], tree.impurity[kept], told("gain", 0.0), tree.n_rows[kept], tree.weight[kept],
        tree.n_classes, tree.n_features, told("surrogate_feature", LEAF), told("surrogate_threshold", 0.0),
        told("surrogate_flip", False), told("surrogate_category", -1),
    )  # fmt: skip


@record
class Complexity(Arrays):
    """The table of complexity that rpart prints: a row for each best subtree, the smallest first.

    Parameters
    ----------
    cp : ndarray
        Least complexity from which on the subtree is best, as a share of the root's risk.
    n_splits : ndarray of int
    relative_error : ndarray
        Its risk as a share of the root's, on the rows it was learned from.
    cross_validated, deviation : ndarray
        The same by cross-validation, and its standard error.
    chosen : int
        The row that was taken.
    """

    cp: np.ndarray
    n_splits: np.ndarray
    relative_error: np.ndarray
    cross_validated: np.ndarray
    deviation: np.ndarray
    chosen: int

    _saved = {  # noqa: RUF012
        "cp": Numbers("t", high=SQUARES), "n_splits": Numbers("t", low=0, kind="i"), "relative_error": Numbers("t"),
        "cross_validated": Numbers("t"), "deviation": Numbers("t"), "chosen": Numbers(low=0, kind="i"),
    }  # fmt: skip

    def __str__(self) -> str:
        head = f"{'CP':>12} {'nsplit':>7} {'rel error':>10} {'xerror':>9} {'xstd':>9}"
        rows = zip(self.cp, self.n_splits, self.relative_error, self.cross_validated, self.deviation)
        lines = [f"{cp:>12.6f} {n:>7d} {rel:>10.5f} {x:>9.5f} {std:>9.5f}" for cp, n, rel, x, std in rows]
        lines[int(self.chosen)] += " *"
        return "\n".join([head, *lines])

    def choose(self, rule: str) -> int:
        """The row of a rule: "min" is the least cross-validated error, "1se" the smallest tree within one deviation of it."""
        if rule == "min":
            return int(np.argmin(self.cross_validated))
        return one_standard_error(self.cross_validated, self.deviation)
