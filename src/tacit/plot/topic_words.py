"""`TopicWordsDisplay`: the words of topics as bars."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours, pyplot

__all__ = ["TopicWordsDisplay"]

ACROSS = 4


class TopicWordsDisplay(Display):
    """A panel for each topic: bars of its words, within how often each is in all documents.

    Parameters
    ----------
    words : list of list of str
        Words of each topic, the most important first.
    probabilities, overall : list of array
        p(word | topic) times the topic's share, and the word's share of all words; the first is a part of the second.
    shares : array of shape (n_topics,)
    numbers : list of int, optional
        What topics are called; default from 1.

    Attributes
    ----------
    axes_ : array of matplotlib axes
        A panel for each topic.
    figure_ : matplotlib figure
    bars_ : list of artists
        The bars of each topic.

    Examples
    --------
    >>> from tacit.plot import TopicWordsDisplay
    >>> display = TopicWordsDisplay.from_estimator(fitted, n=8)  # doctest: +SKIP
    """

    def __init__(self, words: Any, probabilities: Any, overall: Any, shares: Any, numbers: Any = None) -> None:
        self.words, self.probabilities, self.overall = list(words), list(probabilities), list(overall)
        self.shares = np.asarray(shares, dtype=float)
        self.numbers = list(range(1, len(self.words) + 1)) if numbers is None else list(numbers)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n: int = 10, by: str = "relevance", relevance: float = 0.6, topics: Any = None
    ) -> Self:
        """Draw the words of a fitted model of topics.

        Parameters
        ----------
        estimator : TopicModel
            Fitted.
        n, by, relevance
            As in `tacit.topics.TopicModel.top_words`.
        topics : list of int, optional
            Which, by number from 0; default all.

        Returns
        -------
        TopicWordsDisplay
        """
        told = estimator.top_words(n, by, relevance)
        place = {word: column for column, word in enumerate(estimator._words())}
        which = range(len(told)) if topics is None else [int(k) for k in topics]
        columns = {k: [place[word] for word in told[k]] for k in which}
        return cls(
            [told[k] for k in which], [estimator.topic_word_[k, columns[k]] * estimator.topic_share_[k] for k in which],
            [estimator.word_share_[columns[k]] for k in which], estimator.topic_share_[list(which)], [k + 1 for k in which],
        ).plot()  # fmt: skip

    def _place(self, ax: Axes | None) -> None:
        """Panels of a figure of their own, or within the place of the axes given."""
        k = len(self.words)
        across = min(k, ACROSS)
        shape = -(-k // across), across
        longest = max(map(len, self.words))
        if ax is None:
            self.figure_ = pyplot().figure(
                figsize=(2.9 * across, shape[0] * (0.7 + 0.2 * longest)), layout="constrained"
            )
            panels = self.figure_.subplots(*shape, squeeze=False)
        else:
            self.figure_ = ax.figure
            ax.set_axis_off()
            spec: Any = ax.get_subplotspec()
            grid = spec.subgridspec(*shape, wspace=0.9, hspace=0.5)
            panels = np.array([[self.figure_.add_subplot(grid[i, j]) for j in range(across)] for i in range(shape[0])])
        for spare in panels.ravel()[k:]:
            spare.set_axis_off()
        self.axes_ = panels.ravel()[:k]
        self.ax_ = self.axes_[0]

    def _draw(self, ax: Axes) -> None:
        self.bars_ = []
        shades = colours(len(self.words))
        for k, panel in enumerate(self.axes_):
            height = np.arange(len(self.words[k]))[::-1]
            panel.barh(height, self.overall[k], color="#dddddd")
            self.bars_.append(panel.barh(height, self.probabilities[k], color=shades[k]))
            panel.set_yticks(height, self.words[k], fontsize="small")
            panel.set_xticks([])
            panel.tick_params(length=0)
            panel.spines[["top", "right", "bottom"]].set_visible(False)
            panel.set_title(f"topic {self.numbers[k]}, {100 * self.shares[k]:.0f} %", fontsize="small", color=MUTED)
