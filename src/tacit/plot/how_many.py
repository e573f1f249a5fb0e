"""`HowManyDisplay`: several criteria against the number of clusters, and what each answers."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MARKERS, Axes, colours

__all__ = ["HowManyDisplay"]

LESS = ("bic",)


class HowManyDisplay(Display, figsize=(6.4, 4.0)):
    """Scores of several criteria, each from its worst (0) to its best (1); what each answers is ringed.

    Parameters
    ----------
    n_clusters : list of int
    scores : dict of list of float
        By criterion; None or NaN where one is not defined. Of "bic" less is better, of the others more.
    answers : dict of int or None
        By criterion.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : dict of artists
        By criterion.
    rings_ : dict of artists
        By criterion; none for those without an answer.

    Examples
    --------
    >>> from tacit.plot import HowManyDisplay
    >>> display = HowManyDisplay.from_record(how_many(X))  # doctest: +SKIP
    """

    def __init__(self, n_clusters: Any, scores: dict[str, Any], answers: dict[str, int | None]) -> None:
        self.n_clusters, self.answers = np.asarray(n_clusters), answers
        self.scores = {name: np.array(values, dtype=float) for name, values in scores.items()}

    @classmethod
    def from_record(cls, found: Any, *, ax: Axes | None = None) -> Self:
        """Draw what :func:`tacit.cluster.how_many` found."""
        scores = {name: found.table[name] for name in found.answers}
        return cls(found.table["n_clusters"], scores, found.answers).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.lines_: dict = {}
        self.rings_: dict = {}
        for i, (name, colour) in enumerate(zip(self.scores, colours(len(self.scores)))):
            values, answer = self.scores[name] * (-1.0 if name in LESS else 1.0), self.answers[name]
            if np.isnan(values).all():
                continue
            low, high = np.nanmin(values), np.nanmax(values)
            heights = (values - low) / (high - low) if high > low else np.where(np.isnan(values), np.nan, 0.5)
            label = f"{name}: {'no answer' if answer is None else answer}"
            look = {"color": colour, "marker": MARKERS[i % len(MARKERS)], "markersize": 5, "label": label}
            (self.lines_[name],) = ax.plot(self.n_clusters, heights, **look)
            at = np.flatnonzero(self.n_clusters == answer)
            if len(at) and not np.isnan(heights[at[0]]):
                self.rings_[name] = ax.scatter(
                    [self.n_clusters[at[0]]],
                    [heights[at[0]]],
                    s=170,
                    facecolors="none",
                    edgecolors=[colour],
                    linewidths=1.8,
                    zorder=5,
                )
        ax.set(xlabel="number of clusters", ylabel="score, from worst to best")
        if len(self.n_clusters) <= 20:
            ax.set_xticks(self.n_clusters)
        ax.margins(y=0.1)
        ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5), title="criterion: answer")
