"""Phrases: two words that stand side by side more often than chance has it, by normalised pointwise mutual information.

npmi(a, b) = log(p(ab) / (p(a) p(b))) / −log p(ab),    from −1 (never together) over 0 (independent) to 1 (always together)

References
----------
Bouma (2009), Normalized (pointwise) mutual information in collocation extraction.
"""

from __future__ import annotations

import numpy as np

from .tokens import Stream

__all__ = ["find_phrases", "join_phrases"]

LEAST_NPMI = 0.5
LEAST_COUNT = 5


def find_phrases(
    stream: Stream, n_words: int, least_npmi: float = LEAST_NPMI, least_count: int = LEAST_COUNT
) -> np.ndarray:
    """Pairs of words (m, 2) that are phrases; those that are most surely phrases come first."""
    pairs, counts = np.unique(_pairs(stream, n_words), return_counts=True)
    frequent = (counts >= least_count) & (pairs >= 0)
    pairs, counts = pairs[frequent], counts[frequent]
    if not len(pairs):
        return np.empty((0, 2), dtype=np.int64)
    found = np.column_stack([pairs // n_words, pairs % n_words])
    known = stream.ids[stream.ids >= 0]
    share = np.bincount(known, minlength=n_words) / len(known)
    together = counts / len(known)
    npmi = np.log(together / (share[found[:, 0]] * share[found[:, 1]])) / -np.log(together)
    order = np.argsort(-npmi, kind="stable")
    return found[order[npmi[order] >= least_npmi]]


def join_phrases(stream: Stream, phrases: np.ndarray, n_words: int) -> Stream:
    """The words with phrases joined, from left to right: a phrase has the number `n_words` + its place in the list."""
    if not len(phrases) or len(stream.ids) < 2:
        return stream
    keys = phrases[:, 0].astype(np.int64) * n_words + phrases[:, 1]
    order = np.argsort(keys)
    pairs = _pairs(stream, n_words)
    place = np.minimum(np.searchsorted(keys[order], pairs), len(keys) - 1)
    is_phrase = keys[order][place] == pairs
    begins = _every_other(is_phrase)
    ids = stream.ids.copy()
    ids[:-1][begins] = n_words + order[place[begins]]
    return Stream(ids, stream.ends, stream.words).without(np.concatenate([[False], begins]))


def _pairs(stream: Stream, n_words: int) -> np.ndarray:
    """The pair of words that begins at each place but the last, as one number; −1 where there is none."""
    ids, texts = stream.ids.astype(np.int64), stream.texts
    sound = (ids[:-1] >= 0) & (ids[1:] >= 0) & (texts[:-1] == texts[1:])
    return np.where(sound, ids[:-1] * n_words + ids[1:], -1)


def _every_other(flags: np.ndarray) -> np.ndarray:
    """The first, third, … of every run of flags: phrases must not overlap."""
    begins = flags & ~np.concatenate([[False], flags[:-1]])
    first = np.maximum.accumulate(np.where(begins, np.arange(len(flags)), 0))
    return flags & ((np.arange(len(flags)) - first) % 2 == 0)
