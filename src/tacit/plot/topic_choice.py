"""`TopicChoiceDisplay`: held-out perplexity against the number of topics."""

from typing import Any

import numpy as np

from .display import Display
from .style import MARKERS, Axes, colours, ring

__all__ = ["TopicChoiceDisplay"]


class TopicChoiceDisplay(Display, figsize=(6.4, 4.0)):
    """Perplexity by document completion, with its standard error, against the number of topics; the best is marked.

    Parameters
    ----------
    choice : TopicChoice
        What `tacit.topics.choose_topics` found.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    curve_, best_ : artists
        The line, and the mark of the least perplexity.

    Examples
    --------
    >>> from tacit.plot import TopicChoiceDisplay
    >>> TopicChoiceDisplay(choose_topics(LatentDirichletAllocation(), X, [5, 10, 20])).plot()  # doctest: +SKIP
    """

    def __init__(self, choice: Any) -> None:
        table = choice.table
        order = np.argsort(table["n_topics"])
        columns = (np.asarray(table[name], dtype=float)[order] for name in ("n_topics", "perplexity", "error"))
        self.n_topics, self.perplexity, self.error = columns
        self.best_n_topics = choice.best

    def _draw(self, ax: Axes) -> None:
        look = {"color": colours(1)[0], "marker": MARKERS[0], "markersize": 5}
        self.curve_ = ax.errorbar(self.n_topics, self.perplexity, self.error, capsize=3, **look)
        height = float(self.perplexity[self.n_topics == self.best_n_topics][0])
        self.best_ = ring(ax, self.best_n_topics, height)
        ax.set(xlabel="number of topics", ylabel="perplexity of held-out halves")
        if len(self.n_topics) <= 20:
            ax.set_xticks(self.n_topics)
        self._title(f"least perplexity {height:.4g}: {self.best_n_topics} topics")
