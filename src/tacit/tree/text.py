"""`Teller`: what the nodes of a tree say, in words: for rules, paths and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..words import count, joined, number
from .grown import Tree, levels_of

__all__ = ["Teller"]

MOST_LEVELS = 6
"""Levels of a set that are named; of more, how many there are is told."""


class Teller:
    """The words of a tree.

    Parameters
    ----------
    tree : Tree
    names : sequence of str
        Of the columns.
    levels : list of list
        Levels of the columns of categories; empty where there is none.
    classes : ndarray or None
        Names of the classes, of one output.
    """

    def __init__(self, tree: Tree, names: Sequence[str], levels: list, classes: Any = None) -> None:
        self.tree, self.names, self.levels, self.classes = tree, [str(name) for name in names], levels, classes

    def column(self, node: int) -> str:
        """The name of the column that a node asks for."""
        return self.names[self.tree.feature[node]]

    def condition(self, node: int, left: bool, digits: int = 4) -> str:
        """What holds of the rows that go left, or right: "age ≤ 40", "colour is red or blue", "age is missing"."""
        tree, name = self.tree, self.column(node)
        if tree.category[node] >= 0:
            known = self.levels[tree.feature[node]]
            chosen = set(levels_of(tree.sets, tree.category[node]).tolist())
            told = [known[level] for level in range(len(known)) if (level in chosen) == left]
            if len(told) > MOST_LEVELS:
                return f"{name} is one of {count(len(told), 'level')}"
            return f"{name} is {joined(told, 'or')}" if told else f"{name} is missing"
        if np.isinf(tree.threshold[node]):
            return f"{name} is known" if left else f"{name} is missing"
        return f"{name} {'≤' if left else '>'} {number(float(tree.threshold[node]), digits)}"

    def prediction(self, node: int, digits: int = 4) -> str:
        """What a node predicts."""
        value = self.tree.value[node]
        if self.tree.n_classes.max() == 1:
            return joined([number(float(each), digits) for each in value[:, 0]])
        if self.classes is None:
            return joined([f"class {int(np.argmax(each))}" for each in value])
        best = int(np.argmax(value[0]))
        return f"{self.classes[best]} ({number(float(value[0, best]), 3)})"

    def rules(self, max_depth: int = 10, digits: int = 4) -> str:
        """Nested rules, a line a node."""
        lines: list[str] = []
        waiting = [(0, 0, "all rows")]
        while waiting:
            node, depth, told = waiting.pop()
            rows = count(int(self.tree.n_rows[node]), "row")
            if self.tree.feature[node] < 0 or depth >= max_depth:
                more = "" if self.tree.feature[node] < 0 else ", split further"
                lines.append(f"{'|   ' * depth}{told}: {self.prediction(node, digits)} [{rows}{more}]")
                continue
            lines.append(f"{'|   ' * depth}{told} [{rows}]")
            for child, left in ((self.tree.right[node], False), (self.tree.left[node], True)):
                waiting.append((int(child), depth + 1, self.condition(node, left, digits)))
        return "\n".join(lines)

    def path(self, nodes: np.ndarray, row: np.ndarray, digits: int = 4) -> str:
        """The way of a row: what it was asked and what it said, and what follows."""
        lines = [f"All {count(int(self.tree.n_rows[0]), 'row')}: {self.prediction(0, digits)}."]
        for node, child in zip(nodes[:-1].tolist(), nodes[1:].tolist()):
            left = child == self.tree.left[node]
            cell = row[self.tree.feature[node]]
            known = self.levels[self.tree.feature[node]] if self.levels else []
            told = f"{self.condition(node, left, digits)}"
            if np.isnan(cell):
                told = f"{self.column(node)} is missing, which goes with {told}"
            elif known and cell >= len(known):
                told = f"{self.column(node)} is a level that was not learned from, which goes with {told}"
            elif not known:
                told += f" (it is {number(float(cell), digits)})"
            lines.append(f"{told}: {self.prediction(child, digits)}.")
        return "\n".join(lines)
