"""How well the top words of a topic go together, judged by where they occur together.

u_mass(w_1 … w_N) = mean over i > j of log((D(w_i, w_j) + s) / D(w_j)),    D the number of documents with both, or with one
npmi = mean over pairs of log(p(a, b) / p(a) p(b)) / −log p(a, b)
c_v = mean over words w of cos(v_w, Σ_u v_u),    v_w the npmi of w with every top word, over windows of 110 words

References
----------
Mimno et al. (2011), Optimizing semantic coherence in topic models. Röder, Both and Hinneburg (2015), Exploring the space of
topic coherence measures.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..checks import check_choice, check_number
from .corpus import Corpus, counts_of, vectorizer_of
from .tokens import Stream

__all__ = ["MEASURES", "coherence"]

MEASURES = ("u_mass", "npmi", "c_v")
WINDOW = 110
TINY = 1e-12


def coherence(
    topics: Any,
    X: Any,
    measure: str = "npmi",
    *,
    words: Any = None,
    window: int | str | None = "auto",
    smoothing: float = 1.0,
) -> np.ndarray:
    """The coherence of topics, one number for each.

    Parameters
    ----------
    topics : list of list of str
        The top words of each topic, the most important first; or of columns of the counts.
    X : Corpus, or counts of shape (n_documents, n_words)
        Documents to judge by: those learned from, or better a large reference.
    measure : {"u_mass", "npmi", "c_v"}, default="npmi"
        "u_mass" is at most about 0, "npmi" from −1 to 1, "c_v" from 0 to 1; more is better.
    words : list of str, optional
        What columns of counts are called, where `topics` are words and X is no corpus.
    window : int, None or "auto", default="auto"
        Words of a text among which two occur together; None is the whole document. "auto" is 110 for "c_v" where the corpus has
        its texts, and else None: without texts, c_v falls back to documents.
    smoothing : float, default=1.0
        What "u_mass" adds to the number of documents with both words.

    Returns
    -------
    ndarray of shape (n_topics,)

    Examples
    --------
    >>> from tacit.topics import Corpus, coherence
    >>> corpus = Corpus.from_texts(["sun moon", "sun moon star", "fish sea", "sea fish sun"], min_df=1, max_df=1.0)
    >>> coherence([["sun", "moon"], ["sun", "sea"]], corpus, "npmi").round(2).tolist()
    [0.42, -0.29]
    """
    check_choice("measure", measure, MEASURES)
    numbered = _columns(topics, X, words)
    columns, places = np.unique(np.concatenate(numbered), return_inverse=True)
    if window == "auto":
        window = WINDOW if measure == "c_v" and isinstance(X, Corpus) and X.texts and X.reading else None
    check_number("window", window, (int, np.integer), 1, also=(None,))
    if window is None or measure == "u_mass":
        together, total = _documents(counts_of(X), columns)
    else:
        together, total = _windows(X, columns, int(window))
    ends = np.cumsum([0, *map(len, numbered)])
    found = [_measured(together[np.ix_(own, own)], total, measure, smoothing)
             for own in (places[a:b] for a, b in itertools.pairwise(ends))]  # fmt: skip
    return np.array(found)


def _columns(topics: Any, X: Any, words: Any) -> list[np.ndarray]:
    """Top words as columns of the counts."""
    known = list(X.words) if isinstance(X, Corpus) else None if words is None else [str(word) for word in words]
    place = {word: column for column, word in enumerate(known or [])}
    found = []
    for topic in topics:
        members = list(topic)
        strange = [word for word in members if isinstance(word, str) and word not in place]
        if strange:
            raise ValueError(f"the word {strange[0]!r} is no column of X; give words of the corpus, or set words.")
        if len(members) < 2:
            raise ValueError(f"a topic of {len(members)} word(s) has no coherence; give at least 2.")
        found.append(np.array([place[word] if isinstance(word, str) else int(word) for word in members]))
    if not found:
        raise ValueError("there are no topics; give the top words of at least one.")
    return found


def _documents(counts: Any, columns: np.ndarray) -> tuple[np.ndarray, int]:
    """In how many documents words occur together, and how many there are."""
    from scipy.sparse import csc_matrix

    own = csc_matrix(counts)[:, columns]
    own.data = (own.data > 0).astype(np.float64)
    return (own.T @ own).toarray(), counts.shape[0]


def _windows(X: Any, columns: np.ndarray, window: int) -> tuple[np.ndarray, int]:
    """In how many windows of so many words they occur together, and how many there are; a shorter text is one window."""
    if not isinstance(X, Corpus) or X.texts is None or X.reading is None:
        raise ValueError("windows need texts; give a Corpus.from_texts, or window=None to judge by documents.")
    stream: Stream = vectorizer_of(X.reading, X.words).streamed(X.texts)
    number = np.full(len(X.words) + 1, -1)
    number[columns] = np.arange(len(columns))
    ids, together, total = number[stream.ids], np.zeros((len(columns), len(columns))), 0
    for start, end in zip(stream.ends, stream.ends[1:]):
        n_windows = max(int(end - start) - window + 1, 1)
        total += n_windows
        own = ids[start:end]
        place = np.flatnonzero(own >= 0)
        if not len(place):
            continue
        kinds, which = np.unique(own[place], return_inverse=True)
        # A word is in the windows that begin from window − 1 places before it to its own place.
        edges = np.zeros((len(kinds), n_windows + 1))
        np.add.at(edges, (which, np.maximum(place - window + 1, 0)), 1.0)
        np.add.at(edges, (which, np.minimum(place, n_windows - 1) + 1), -1.0)
        inside = (np.cumsum(edges[:, :-1], axis=1) > 0).astype(np.float64)
        together[np.ix_(kinds, kinds)] += inside @ inside.T
    return together, total


def _measured(together: np.ndarray, total: int, measure: str, smoothing: float) -> float:
    """The coherence of one topic from counts of its words, alone (the diagonal) and in pairs."""
    n, alone = len(together), np.diag(together)
    if measure == "u_mass":
        later, earlier = np.tril_indices(n, -1)
        there = np.maximum(alone[earlier], TINY)
        return float(np.log((together[later, earlier] + smoothing) / there).mean())
    npmi = _npmi(together / total, alone / total)
    if measure == "npmi":
        return float(npmi[np.tril_indices(n, -1)].mean())
    whole = npmi.sum(axis=0)
    lengths = np.linalg.norm(npmi, axis=1) * np.linalg.norm(whole)
    return float((npmi @ whole / np.maximum(lengths, TINY)).mean())


def _npmi(both: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """Normalised pointwise mutual information of all pairs; −1 where two words never meet."""
    both = both + TINY
    chance = np.maximum(np.outer(alone, alone), TINY**2)
    return np.log(both / chance) / np.maximum(-np.log(both), TINY)
