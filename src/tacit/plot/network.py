"""`NetworkDisplay`: a belief network, with what is believed of every variable in its node."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["NetworkDisplay", "layered"]

SWEEPS = 12
WIDTH, ROW = 1.6, 0.2  # of a node, and the height of a line in it


class NetworkDisplay(Display):
    """Variables as boxes below their parents, with bars for the probabilities of their states.

    Parameters
    ----------
    parents : dict of name to list of names
        The graph.
    marginals : dict of name to dict
        Probabilities of states, or a mean and a standard deviation (`mean`, `std`) of a continuous variable.
    given : dict, optional
        Variables that were observed, which are drawn in colour.
    most : int, default=6
        States of a variable that are drawn, the most probable first where there are more.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    boxes_ : dict of artists
        By variable.
    arrows_ : dict of artists
        By (parent, child).

    Examples
    --------
    >>> from tacit.plot import NetworkDisplay
    >>> display = NetworkDisplay.from_estimator(network, given={"smoke": "yes"})  # doctest: +SKIP
    """

    def __init__(self, parents: Mapping, marginals: Mapping, given: Mapping | None = None, *, most: int = 6) -> None:
        self.parents = {name: list(above) for name, above in parents.items()}
        self.marginals, self.given, self.most = dict(marginals), dict(given or {}), most

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, given: Mapping | None = None, most: int = 6, ax: Axes | None = None
    ) -> Self:
        """Draw a network and the marginals of its variables.

        Parameters
        ----------
        estimator : BeliefNetwork
            Fitted, or made from tables or a file.
        given : dict of name to state, optional
            What is observed.
        most : int, default=6
            States of a variable that are drawn.
        ax : matplotlib axes, optional

        Returns
        -------
        NetworkDisplay
        """
        graph, found = estimator.to_networkx(), estimator.marginals(given)
        told = {}
        for name in graph.nodes:
            belief = found.get(name)
            if hasattr(belief, "mean"):
                told[name] = {"mean": float(belief.mean), "std": float(belief.std)}
            elif belief is not None:
                told[name] = dict(zip(estimator.states_of(name), np.asarray(belief.values, dtype=float)))
        return cls({name: list(graph.predecessors(name)) for name in graph.nodes}, told, given, most=most).plot(ax)

    def _lines(self, name: Any) -> list[tuple[str, float]]:
        """Lines of a node: texts, and the lengths of their bars from 0 to 1; NaN of those without."""
        told = self.marginals.get(name)
        if name in self.given or told is None:
            return [(f"= {self.given[name]}", np.nan)] if name in self.given else []
        if set(told) == {"mean", "std"}:
            return [(f"{told['mean']:.3g} ± {told['std']:.2g}", np.nan)]
        states = list(told.items())
        if len(states) > self.most:
            states = sorted(states, key=lambda each: -each[1])[: self.most]
        return [(f"{state}  {share:.0%}", share) for state, share in states]

    def _place(self, ax: Axes | None) -> None:
        at = list(layered(self.parents).values())
        wide = max((x for x, _ in at), default=0.0) - min((x for x, _ in at), default=0.0) + 1.0
        deep = 1 + max((level for _, level in at), default=0)
        self._figsize = max(4.0, 2.0 * wide), max(2.5, 1.4 * deep)
        super()._place(ax)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.patches import FancyArrowPatch, Rectangle

        at, lines = layered(self.parents), {name: self._lines(name) for name in self.parents}
        depth = max((level for _, level in at.values()), default=0) + 1
        tall = [
            max([len(lines[name]) for name in at if at[name][1] == level], default=0) + 1.4 for level in range(depth)
        ]
        top = -np.cumsum([0.0, *(ROW * each + 0.7 for each in tall)])
        place = {name: (1.25 * WIDTH * x, top[level]) for name, (x, level) in at.items()}
        shade, known = colours(2)
        self.boxes_: dict[Any, Any] = {}
        self.arrows_: dict[Any, Any] = {}
        for name, (x, y) in place.items():
            height = ROW * (len(lines[name]) + 1.4)
            edge = known if name in self.given else MUTED
            self.boxes_[name] = ax.add_patch(
                Rectangle((x, y - height), WIDTH, height, facecolor="white", edgecolor=edge, zorder=2)
            )
            ax.text(x + 0.5 * WIDTH, y - 0.7 * ROW, str(name), ha="center", va="center", fontweight="bold", zorder=4)
            for n, (text, share) in enumerate(lines[name]):
                middle = y - ROW * (n + 1.8)
                if np.isfinite(share):
                    bar = Rectangle(
                        (x, middle - 0.4 * ROW), WIDTH * share, 0.8 * ROW, facecolor=shade, alpha=0.35, zorder=3
                    )
                    ax.add_patch(bar)
                ax.text(x + 0.06, middle, text, va="center", fontsize="small", zorder=4)
        for child, above in self.parents.items():
            for parent in above:
                (x0, _), (x1, y1), box = place[parent], place[child], self.boxes_[parent]
                arrow = FancyArrowPatch(
                    (x0 + 0.5 * WIDTH, box.get_y()), (x1 + 0.5 * WIDTH, y1), arrowstyle="-|>", mutation_scale=10,
                    color=MUTED, linewidth=0.9, zorder=1,
                )  # fmt: skip
                self.arrows_[parent, child] = ax.add_patch(arrow)
        ends = [x for x, _ in place.values()] or [0.0]
        ax.set(xlim=(min(ends) - 0.2, max(ends) + WIDTH + 0.2), ylim=(top[-1] + 0.5, 0.2))
        ax.axis("off")


def layered(parents: Mapping) -> dict:
    """Places (x, level) of variables: below all parents, and near them and the children.

    Parameters
    ----------
    parents : dict of name to list of names
        A directed graph without cycles.

    Returns
    -------
    dict of name to (float, int)
    """
    level: dict = {}
    while len(level) < len(parents):
        for name, above in parents.items():
            if name not in level and all(each in level for each in above):
                level[name] = 1 + max((level[each] for each in above), default=-1)
    rows: list[list] = [
        [name for name in parents if level[name] == n] for n in range(max(level.values(), default=-1) + 1)
    ]
    near = {name: list(above) for name, above in parents.items()}
    for name, above in parents.items():
        for each in above:
            near[each].append(name)
    x = {name: n - 0.5 * (len(row) - 1) for row in rows for n, name in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            row.sort(key=lambda name: np.mean([x[each] for each in near[name]]) if near[name] else x[name])
            wished = [float(np.mean([x[each] for each in near[name]])) if near[name] else x[name] for name in row]
            x.update(zip(row, _apart(wished)))
    return {name: (x[name], level[name]) for name in parents}


def _apart(wished: list[float]) -> np.ndarray:
    """Sorted places near those that are wished, none nearer than 1 to the next."""
    low, high = np.array(wished), np.array(wished)
    for n in range(1, len(low)):
        low[n], high[-1 - n] = max(low[n], low[n - 1] + 1.0), min(high[-1 - n], high[-n] - 1.0)
    return 0.5 * (low + high)
