"""`TopicModel`: what every model of topics tells, p(word | document) = Σ_k θ_dk β_k(word)."""

from __future__ import annotations

import numpy as np

__all__ = ["TopicModel"]


class TopicModel:
    """Base of models of topics, beside the class that learns them.

    A subclass publishes the attributes below at fit, and its ``transform`` gives the proportions θ (documents, topics) of
    documents, rows that sum to 1.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        β, the probabilities of words in each topic; rows sum to 1.
    topic_share_ : ndarray of shape (n_topics,)
        Share of all words of the documents learned from that belong to each topic.
    word_share_ : ndarray of shape (n_words,)
        Share of each word among all words of the documents learned from.
    """

    topic_word_: np.ndarray
    topic_share_: np.ndarray
    word_share_: np.ndarray
