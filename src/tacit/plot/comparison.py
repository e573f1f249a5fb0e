"""`ComparisonDisplay`: models against the best of them, with intervals of what they differ by."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["ComparisonDisplay"]


class ComparisonDisplay(Display, figsize=(6.4, 3.2)):
    """Differences from the best model with their intervals on one data set; mean ranks and what joins them on several.

    Parameters
    ----------
    comparison : tacit.assess.ModelComparison

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    names : list of str
        From the best down.
    points_ : list of artists

    Examples
    --------
    >>> from tacit.plot import ComparisonDisplay
    >>> display = ComparisonDisplay.from_estimators(models, X, y)  # doctest: +SKIP
    """

    def __init__(self, comparison: Any) -> None:
        self.comparison = comparison
        ranks = comparison.ranks.mean(axis=0)
        known = [name for name in comparison.names if any(name in trials for trials in comparison.trials.values())]
        self.names = sorted(known, key=lambda name: ranks[comparison.names.index(name)])

    @classmethod
    def from_estimators(cls, models: Any, X: Any, y: Any = None, *, ax: Axes | None = None, **how: Any) -> Self:
        """Compare models on rows held out, and draw what they differ by.

        Parameters
        ----------
        models : list or dict of name to estimator
        X, y : array-like
        ax : matplotlib axes, optional
        **how
            As `tacit.assess.compare` takes it.

        Returns
        -------
        ComparisonDisplay
        """
        from ..assess import compare

        return cls(compare(models, X, y, **how)).plot(ax)

    def _draw(self, ax: Axes) -> None:
        place = np.arange(len(self.names))[::-1]
        ax.set_yticks(place, self.names)
        ax.set_ylim(-0.7, len(self.names) - 0.3)
        if len(self.comparison.trials) > 1:
            return self._ranked(ax, place)
        found, best = self.comparison, self.names[0]
        clear, open_ = colours(2)
        self.points_ = [ax.plot([0], [place[0]], marker="D", color="black", linestyle="none")[0]]
        for name, y in list(zip(self.names, place))[1:]:
            gap = found.difference(name, best)
            shade = clear if gap.p_value <= 1 - found.level else open_
            ends = [v if np.isfinite(v) else gap.value for v in (gap.low, gap.high)]
            ax.plot(ends, [y, y], color=shade, linewidth=2)
            self.points_ += ax.plot([gap.value], [y], marker="o", color=shade, linestyle="none")
        ax.axvline(0, color=MUTED, linewidth=1, linestyle="--")
        ax.set(xlabel=f"{found.measure.words}: difference from {best}")
        self._title(f"{found.level:.0%} intervals; blue: told apart from the best", ax)

    def _ranked(self, ax: Axes, place: np.ndarray) -> None:
        found = self.comparison.nemenyi
        ranks = dict(zip(found.names, found.mean_ranks))
        self.points_ = ax.plot([ranks[name] for name in self.names], place, "o", color=colours(1)[0])
        for alike in found.alike:
            if len(alike) > 1:
                ends = [place[self.names.index(name)] for name in (alike[0], alike[-1])]
                across = max(ranks[name] for name in alike) + 0.08
                ax.plot([across, across], ends, color=MUTED, linewidth=3, solid_capstyle="round")
        ax.set(xlabel="mean rank")
        self._title(f"lines join models that {found.n_blocks} data sets do not tell apart", ax)
