"""`Teller`: what the nodes of a tree say, in words: for rules, paths and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..words import count, joined, number
from .grown import Tree, levels_of

__all__ = ["Teller"]

MOST_DIGITS = 17
"""Digits that tell any two floats apart."""
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
    X : ndarray, optional
        Rows of fit, if they are still there: thresholds have digits enough to lie between their values.
    """

    def __init__(
        self, tree: Tree, names: Sequence[str], levels: list, classes: Any = None, X: np.ndarray | None = None
    ) -> None:
        self.tree, self.names, self.levels, self.classes = tree, [str(name) for name in names], levels, classes
        self.X = X
        self._ordered: dict[int, np.ndarray] = {}

    def _between(self, node: int) -> tuple[float, float]:
        """Between which values a printed threshold must lie: those beside it, of the rows or else of other thresholds."""
        column, at = int(self.tree.feature[node]), float(self.tree.threshold[node])
        if column not in self._ordered:
            here = (self.tree.feature == column) & np.isfinite(self.tree.threshold)
            values = self.tree.threshold[here] if self.X is None else self.X[:, column]
            self._ordered[column] = np.unique(values[~np.isnan(values)].astype(np.float64))
        values = self._ordered[column]
        if self.X is None:
            below, above = values[values < at], values[values > at]
            low = 0.5 * (below[-1] + at) if len(below) else -np.inf
            return low, 0.5 * (above[0] + at) if len(above) else np.inf
        below, above = values[values <= at], values[values > at]
        return below[-1] if len(below) else -np.inf, above[0] if len(above) else np.inf

    def digits(self, node: int, least: int) -> int:
        """How many digits tell the two sides of a node apart."""
        at, (low, high) = float(self.tree.threshold[node]), self._between(node)
        if self.X is None:  # decimals as they were measured
            least = next((k for k in range(least, 10) if abs(float(f"{at:.{k}g}") - at) <= 1e-12 * abs(at)), least)
        return next((k for k in range(least, MOST_DIGITS) if low <= float(f"{at:.{k}g}") < high), MOST_DIGITS)

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
        return f"{name} {'≤' if left else '>'} {number(float(tree.threshold[node]), self.digits(node, digits))}"

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
            enough = _apart(cell, self.tree.threshold[node], self.digits(node, digits)) if not known else digits
            told = f"{self.condition(node, left, enough)}"
            if np.isnan(cell):
                told = f"{self.column(node)} is missing, which goes with {told}"
            elif known and cell >= len(known):
                told = f"{self.column(node)} is a level that was not learned from, which goes with {told}"
            elif not known:
                told += f" (it is {number(float(cell), enough)})"
            lines.append(f"{told}: {self.prediction(child, digits)}.")
        return "\n".join(lines)


def _apart(cell: float, threshold: float, least: int) -> int:
    """Digits by which a cell and a threshold are seen to differ, on the right side."""
    if np.isnan(cell) or np.isinf(threshold) or cell == threshold:
        return least
    told = (k for k in range(least, MOST_DIGITS) if _sign(cell, threshold, k) == np.sign(cell - threshold))
    return next(told, MOST_DIGITS)


def _sign(a: float, b: float, digits: int) -> float:
    return np.sign(float(f"{a:.{digits}g}") - float(f"{b:.{digits}g}"))
