"""`DocumentTopicsDisplay`: the proportions of documents as a strip."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import Axes

__all__ = ["DocumentTopicsDisplay"]

MOST_NAMES = 40


class DocumentTopicsDisplay(Display, figsize=(7.2, 3.6)):
    """A heat map of topics against documents, which are in the order of their main topic and how much they are about it.

    Parameters
    ----------
    proportions : array of shape (n_documents, n_topics)
    names : list of str
        What topics are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    image_ : artist
    order_ : ndarray of shape (n_documents,)
        Documents from left to right.

    Examples
    --------
    >>> from tacit.plot import DocumentTopicsDisplay
    >>> display = DocumentTopicsDisplay.from_estimator(fitted, corpus)  # doctest: +SKIP
    """

    def __init__(self, proportions: Any, names: Any) -> None:
        self.proportions, self.names = np.asarray(proportions, dtype=float), list(names)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, n: int = 3, ax: Axes | None = None) -> Self:
        """Draw the proportions of documents.

        Parameters
        ----------
        estimator : TopicModel
            Fitted.
        X : Corpus, texts, or counts of shape (n_documents, n_words)
        n : int, default=3
            Words that name a topic.
        ax : matplotlib axes, optional

        Returns
        -------
        DocumentTopicsDisplay
        """
        names = [f"{k}: {', '.join(words)}" for k, words in enumerate(estimator.top_words(n, "relevance"), 1)]
        return cls(estimator.transform(X), names).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.order_ = np.lexsort((-self.proportions.max(axis=1), self.proportions.argmax(axis=1)))
        look: dict = {"aspect": "auto", "cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest"}
        self.image_ = ax.imshow(self.proportions[self.order_].T, **look)
        if len(self.names) <= MOST_NAMES:
            ax.set_yticks(range(len(self.names)), self.names, fontsize="small")
        ax.set(xlabel="documents, by their main topic", xticks=[])
        ax.tick_params(length=0)
        self.figure_.colorbar(self.image_, ax=ax, label="share of the document")
