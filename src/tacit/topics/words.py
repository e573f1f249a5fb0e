"""Which words tell a topic from others.

probability β_k(w);    lift β_k(w) / p(w);    relevance λ log β_k(w) + (1 − λ) log(β_k(w) / p(w))

References
----------
Sievert and Shirley (2014), LDAvis: a method for visualizing and interpreting topics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import check_choice, check_number

__all__ = ["ORDERS", "ranked_words", "topic_diversity", "word_scores"]

ORDERS = ("probability", "relevance", "lift")


def word_scores(
    topic_word: np.ndarray, word_share: np.ndarray, by: str = "probability", relevance: float = 0.6
) -> np.ndarray:
    """What words are ranked by, (K, V); −∞ for those that a topic never has."""
    check_choice("by", by, ORDERS)
    check_number("relevance", relevance, (int, float), 0, 1)
    weight = {"probability": 1.0, "lift": 0.0, "relevance": float(relevance)}[by]
    with np.errstate(divide="ignore", invalid="ignore"):
        log_word = np.log(topic_word)
        found = log_word - (1.0 - weight) * np.log(word_share)
    return np.where((topic_word > 0) & (word_share > 0), found, -np.inf)


def ranked_words(scores: np.ndarray, n: int) -> np.ndarray:
    """Numbers of the n words with the largest scores in each topic, (K, n), the first in order where scores are equal."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :n]


def topic_diversity(topics: Any, n: int = 25) -> float:
    """The share of different words among the top words of all topics.

    1 where no two topics share any, near 0 where all are the same.

    Parameters
    ----------
    topics : list of list of str
        Words of each topic, the most important first.
    n : int, default=25
        How many of each count.

    Returns
    -------
    float

    References
    ----------
    Dieng, Ruiz and Blei (2020), Topic modeling in embedding spaces.

    Examples
    --------
    >>> from tacit.topics import topic_diversity
    >>> topic_diversity([["sun", "moon"], ["moon", "sea"]])
    0.75
    """
    kept = [list(words)[:n] for words in topics]
    total = sum(map(len, kept))
    if not total:
        raise ValueError("there are no words; give the top words of at least one topic.")
    return len({word for words in kept for word in words}) / total
