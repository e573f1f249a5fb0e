"""`TreeDisplay`: a decision tree, its questions at the branches and what nodes predict."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["TreeDisplay"]


class TreeDisplay(Display, figsize=(9.0, 5.0)):
    """A fitted decision tree: leaves side by side, a split over the middle of its children.

    Parameters
    ----------
    teller : object
        The words of a tree and its nodes; made by `from_estimator`.
    max_depth : int, default=4
        Splits below the root that are drawn.

    Attributes
    ----------
    nodes_ : dict of int to text
        What was written at each node.
    ax_, figure_ : matplotlib axes and figure

    Examples
    --------
    >>> from tacit.plot import TreeDisplay
    >>> display = TreeDisplay.from_estimator(fitted)  # doctest: +SKIP
    """

    def __init__(self, teller: Any, max_depth: int = 4) -> None:
        self.teller, self.max_depth = teller, max_depth

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_depth: int = 4, ax: Axes | None = None) -> Self:
        """Draw a fitted tree.

        Parameters
        ----------
        estimator : DecisionTreeClassifier or DecisionTreeRegressor
            Fitted.
        max_depth : int, default=4
            Splits below the root that are drawn.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        TreeDisplay
        """
        return cls(estimator._teller(), max_depth).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from ..tree.drawing import places

        tree, at = self.teller.tree, places(self.teller, self.max_depth)
        self.nodes_ = {}
        for node, (x, depth) in at.items():
            for child, left in ((int(tree.left[node]), True), (int(tree.right[node]), False)):
                if child > 0 and child in at:
                    below, level = at[child]
                    ax.plot([x, below], [-depth, -level], color=MUTED, linewidth=0.8, zorder=1)
                    told = self.teller.condition(node, left, 3)
                    ax.text(
                        0.5 * (x + below), -0.5 * (depth + level), told, ha="center", va="center", fontsize="x-small",
                        color=MUTED,
                    )  # fmt: skip
        shades = colours(max(int(tree.n_classes.max()), 1))
        for node, (x, depth) in at.items():
            best = int(np.argmax(tree.value[node, 0]))
            self.nodes_[node] = ax.text(
                x, -depth, f"{self.teller.prediction(node, 3)}\n{int(tree.n_rows[node]):,}", ha="center", va="center",
                fontsize="small", bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": shades[best]},
            )  # fmt: skip
        ax.set_xlim(-0.6, max(x for x, _ in at.values()) + 0.6)
        ax.set_ylim(-max(depth for _, depth in at.values()) - 0.4, 0.4)
        ax.set_axis_off()
        hidden = " of which the upper ones are drawn" if tree.max_depth > self.max_depth else ""
        self._title(f"{tree.n_leaves:,} leaves of {int(tree.n_rows[0]):,} rows{hidden}", ax)
