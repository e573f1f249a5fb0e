"""`TransitionGraphDisplay`: how states follow each other, and how long they last."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["TransitionGraphDisplay"]

LEAST = 0.02


class TransitionGraphDisplay(Display, figsize=(5.6, 4.6)):
    """States as circles, moves out of them as arrows: the more probable, the wider.

    Parameters
    ----------
    moves : array of shape (n_components, n_components)
        Probabilities that a state, when it is left, is followed by another; the diagonal is not drawn.
    shares : array of shape (n_components,)
        Shares of the steps, which sizes of circles show.
    stays : list of str
        How long states last, in words.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    nodes_ : list of artists
        Circles by state.
    arrows_ : dict of artists
        By pairs of states.

    Examples
    --------
    >>> from tacit.plot import TransitionGraphDisplay
    >>> display = TransitionGraphDisplay.from_estimator(fitted)  # doctest: +SKIP
    """

    def __init__(self, moves: Any, shares: Any, stays: Any) -> None:
        self.moves, self.shares, self.stays = (
            np.asarray(moves, dtype=float),
            np.asarray(shares, dtype=float),
            list(stays),
        )

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the moves of a fitted model.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        ax : matplotlib axes, optional

        Returns
        -------
        TransitionGraphDisplay
        """
        from ..study.segment import lasting, leaving

        return cls(
            leaving(estimator), estimator.weights_, [lasting(estimator, stay) for stay in estimator.stays()]
        ).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.patches import Circle, FancyArrowPatch

        k = len(self.shares)
        angle = np.pi / 2 - 2.0 * np.pi * np.arange(k) / k
        at = np.column_stack([np.cos(angle), np.sin(angle)]) if k > 1 else np.zeros((1, 2))
        radius = 0.14 + 0.16 * np.sqrt(self.shares)
        shades = colours(k)
        self.nodes_ = [
            ax.add_patch(Circle(at[n], radius[n], facecolor=shades[n], alpha=0.35, edgecolor=shades[n]))
            for n in range(k)
        ]
        self.arrows_: dict = {}
        for i, j in zip(*np.nonzero(self.moves >= LEAST)):
            if i == j:
                continue
            way = at[j] - at[i]
            length = np.linalg.norm(way)
            start, end = at[i] + way / length * radius[i], at[j] - way / length * radius[j]
            arrow = FancyArrowPatch(
                start, end, connectionstyle="arc3,rad=0.22", arrowstyle="-|>", mutation_scale=14, color=shades[i], shrinkA=2,
                shrinkB=2, linewidth=0.8 + 4.0 * self.moves[i, j],
            )  # fmt: skip
            self.arrows_[int(i), int(j)] = ax.add_patch(arrow)
            aside = np.array([way[1], -way[0]]) * 0.2
            place = at[i] + 0.42 * way + aside
            ax.text(
                place[0], place[1], f"{self.moves[i, j]:.0%}", ha="center", va="center", fontsize="small", color=MUTED
            )
        for n, stay in enumerate(self.stays):
            ax.text(at[n][0], at[n][1], str(n), ha="center", va="center", fontweight="bold")
            place = at[n] * (1.0 + radius[n] + 0.12) if k > 1 else np.array([0.0, -radius[n] - 0.1])
            side = "center" if abs(at[n, 0]) < 0.3 else "left" if at[n, 0] > 0 else "right"
            ax.text(place[0], place[1], f"lasts {stay}", ha=side, va="center", fontsize="small")
        ax.set(xlim=(-2.1, 2.1), ylim=(-1.6, 1.6), aspect="equal")
        ax.axis("off")
