"""`TopicTimeDisplay`: how much documents of each time are about each topic."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import Axes, colours

__all__ = ["TopicTimeDisplay"]

MOST_TICKS = 8


class TopicTimeDisplay(Display, figsize=(7.2, 4.0)):
    """A line for each topic: its mean proportion in the documents of each period.

    Parameters
    ----------
    labels : list of str
        The periods.
    shares : array of shape (n_periods, n_topics)
        Mean proportions; NaN where a period has no document.
    names : list of str
        What topics are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : list of artists

    Examples
    --------
    >>> from tacit.plot import TopicTimeDisplay
    >>> display = TopicTimeDisplay.from_estimator(fitted, corpus)  # doctest: +SKIP
    """

    def __init__(self, labels: Any, shares: Any, names: Any) -> None:
        self.labels, self.shares, self.names = list(labels), np.asarray(shares, dtype=float), list(names)

    @classmethod
    def from_estimator(cls, estimator: Any, corpus: Any, *, n: int = 3, ax: Axes | None = None) -> Self:
        """Draw the topics of a corpus whose documents have times.

        Parameters
        ----------
        estimator : TopicModel
            Fitted.
        corpus : Corpus
        n : int, default=3
            Words that name a topic.
        ax : matplotlib axes, optional

        Returns
        -------
        TopicTimeDisplay
        """
        from ..study.topics import topic_span

        span = topic_span(corpus, estimator.transform(corpus))
        if span is None:
            raise ValueError("documents have no two times; give a corpus with times.")
        names = [f"{k}: {', '.join(words)}" for k, words in enumerate(estimator.top_words(n, "relevance"), 1)]
        return cls(span.labels, span.shares, names).plot(ax)

    def _draw(self, ax: Axes) -> None:
        at = np.arange(len(self.labels))
        self.lines_ = [
            ax.plot(at, column, color=shade, label=name)[0]
            for column, shade, name in zip(self.shares.T, colours(self.shares.shape[1]), self.names)
        ]
        step = -(-len(at) // MOST_TICKS)
        ax.set_xticks(at[::step], self.labels[::step])
        ax.set(ylabel="mean share of a document", ylim=(0, None))
        ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5), title="topic")
