"""How well topics foretell words that were not seen: document completion.

perplexity = exp(− Σ_d Σ_{w in the second half of d} log Σ_k θ_dk β_k(w) / number of such words)

with θ_d learned from the other half of the document's words alone. That of a unigram model, in which every document has the
words of all, is the figure to beat.

References
----------
Wallach et al. (2009), Evaluation methods for topic models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .corpus import Corpus, counts_of

__all__ = ["Completion", "completion", "halves"]

SMOOTH = 1e-3
"""Weight of a uniform distribution among probabilities: a word that a topic never had must not make the figure infinite."""


@dataclass(frozen=True)
class Completion:
    """How well halves of documents foretell the others; made by `completion`.

    Attributes
    ----------
    perplexity : float
        As if so many words were equally likely at every place.
    baseline : float
        The same of a unigram model.
    n_words, n_documents : int
        What it was measured on.
    """

    perplexity: float
    baseline: float
    n_words: int
    n_documents: int


def halves(counts: Any, seed: int = 0) -> tuple[Any, Any]:
    """The words of every document in two halves, drawn at random, as CSR matrices of counts."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(seed)
    counts = csr_matrix(counts, dtype=np.float64)
    whole = np.floor(counts.data).astype(np.int64)
    entry = np.repeat(np.arange(len(whole)), whole)
    row = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), whole)
    order = np.lexsort((rng.random(len(entry)), row))
    place = np.arange(len(entry)) - np.searchsorted(row, row)  # rows are in order already
    first = np.bincount(entry[order][place % 2 == 0], minlength=len(whole)).astype(np.float64)
    return _with(counts, first), _with(counts, whole - first)


def _with(counts: Any, values: np.ndarray) -> Any:
    """Counts with other values in the same cells, those of 0 not stored."""
    made = counts.copy()  # eliminating zeros moves the indices in place
    made.data = values.astype(np.float64)
    made.eliminate_zeros()
    return made


def completion(model: Any, X: Any, *, seed: int = 0) -> Completion:
    """How well a fitted model of topics foretells half of the words of documents from the other half.

    Parameters
    ----------
    model : TopicModel
        Fitted, best on other documents.
    X : Corpus, or counts of shape (n_documents, n_words)
        Documents with fewer than two words do not count.
    seed : int, default=0
        Seeds the halves.

    Returns
    -------
    Completion
    """
    counts = counts_of(X)
    if isinstance(X, Corpus):
        model._check_words(X)
    seen, hidden = halves(counts, seed)
    enough = np.flatnonzero(np.asarray(hidden.sum(axis=1)).ravel() > 0)
    if not len(enough):
        raise ValueError("no document has two words; give longer ones.")
    seen, hidden = seen[enough], hidden[enough].tocoo()
    theta = model.transform(seen)
    share, n_words = np.asarray(model.word_share_), counts.shape[1]
    total, log_model, log_unigram = hidden.data.sum(), 0.0, 0.0
    for part in np.array_split(np.arange(hidden.nnz), max(hidden.nnz // 100_000, 1)):
        row, word, count = hidden.row[part], hidden.col[part], hidden.data[part]
        expected = np.einsum("nk,kn->n", theta[row], model.topic_word_[:, word])
        log_model += float(count @ np.log((1 - SMOOTH) * expected + SMOOTH / n_words))
        log_unigram += float(count @ np.log((1 - SMOOTH) * share[word] + SMOOTH / n_words))
    return Completion(float(np.exp(-log_model / total)), float(np.exp(-log_unigram / total)), int(total), len(enough))
