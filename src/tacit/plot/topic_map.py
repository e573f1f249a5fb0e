"""`TopicMapDisplay`: topics whose words are alike lie close together."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import Axes, colours

__all__ = ["TopicMapDisplay"]


class TopicMapDisplay(Display, figsize=(6.4, 5.2)):
    """A circle for each topic, as large as its share, on the plane that keeps Jensen–Shannon distances best.

    Parameters
    ----------
    places : array of shape (n_topics, 2)
    shares : array of shape (n_topics,)
    words : list of list of str
        The first words of each topic, to name it.
    kept : float
        Share of the squared distances that the plane keeps.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    circles_ : artist
    names_ : list of artists

    Examples
    --------
    >>> from tacit.plot import TopicMapDisplay
    >>> display = TopicMapDisplay.from_estimator(fitted)  # doctest: +SKIP
    """

    def __init__(self, places: Any, shares: Any, words: Any, kept: float) -> None:
        self.places, self.shares = np.asarray(places, dtype=float), np.asarray(shares, dtype=float)
        self.words, self.kept = list(words), float(kept)

    @classmethod
    def from_estimator(cls, estimator: Any, *, n: int = 2, ax: Axes | None = None) -> Self:
        """Draw the topics of a fitted model.

        Parameters
        ----------
        estimator : TopicModel
            Fitted.
        n : int, default=2
            Words that name a topic.
        ax : matplotlib axes, optional

        Returns
        -------
        TopicMapDisplay
        """
        from ..topics.distances import topic_map

        places, kept = topic_map(estimator.distances())
        return cls(places, estimator.topic_share_, estimator.top_words(n, "relevance"), kept).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from .labels import spread_labels

        size = 3000.0 * self.shares / max(float(self.shares.max(initial=0.0)), 1e-300)
        shades = colours(len(self.shares))
        self.circles_ = ax.scatter(
            self.places[:, 0], self.places[:, 1], s=np.maximum(size, 30.0), c=shades, alpha=0.35, edgecolors=shades
        )
        ax.set(xticks=[], yticks=[])
        ax.margins(0.25)
        names = [f"{k}: {', '.join(words)}" for k, words in enumerate(self.words, 1)]
        self.names_ = spread_labels(ax, self.places, names)
        self._title(f"distances of topics; the plane keeps {100 * self.kept:.0f} % of their squares")
