"""How well topics predict words that were not seen: document completion.

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
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from ..kernels import host
from ..source import Block
from .documents import halves

__all__ = ["Completion", "completion"]

SMOOTH = 1e-3
"""Weight of a uniform distribution among probabilities: a word that a topic never had must not make the figure infinite."""


@dataclass(frozen=True)
class Completion:
    """How well halves of documents predict the others; made by `completion`.

    Attributes
    ----------
    perplexity : float
        As if so many words were equally likely at every place.
    baseline : float
        The same of a unigram model.
    n_words : float
        Hidden words that it was measured on, by the weights of their documents.
    n_documents : int
        Documents with any.
    """

    perplexity: float
    baseline: float
    n_words: float
    n_documents: int


def completion(model: Any, X: Any, *, seed: int = 0) -> Completion:
    """How well a fitted model of topics predicts half of the words of documents from the other half.

    Parameters
    ----------
    model : TopicModel
        Fitted, best on other documents.
    X : Corpus, texts, counts of shape (n_documents, n_words), or a source of them
        Documents with fewer than two words do not count.
    seed : int, default=0
        Seeds the halves.

    Returns
    -------
    Completion
    """
    check_is_fitted(model)
    parts = [_of_block(model, seed, block) for block in model._open(X)]
    log_model, log_unigram, n_words, n_documents = (sum(each) for each in zip(*parts))
    if not n_words:
        raise ValueError("no document has two words; give longer ones.")
    return Completion(
        float(np.exp(-log_model / n_words)), float(np.exp(-log_unigram / n_words)), float(n_words), int(n_documents)
    )


def _of_block(model: Any, seed: int, block: Block) -> tuple[float, float, float, int]:
    """Log probabilities of the hidden words of a block under the topics and under their shares; words and documents."""
    seen, hidden = (half.X.matrix for half in halves(seed, block))
    enough = np.flatnonzero(np.diff(hidden.indptr) > 0)
    if not len(enough):
        return 0.0, 0.0, 0.0, 0
    theta, hidden = model.transform(csr_matrix(seen[enough])), hidden[enough].tocoo()
    mass = host(block.weight)[enough][hidden.row] * hidden.data
    share, log_model, log_unigram = np.asarray(model.word_share_), 0.0, 0.0
    for part in np.array_split(np.arange(hidden.nnz), max(hidden.nnz // 100_000, 1)):
        row, word = hidden.row[part], hidden.col[part]
        expected = np.einsum("nk,kn->n", theta[row], model.topic_word_[:, word])
        log_model += float(mass[part] @ np.log((1 - SMOOTH) * expected + SMOOTH / len(share)))
        log_unigram += float(mass[part] @ np.log((1 - SMOOTH) * share[word] + SMOOTH / len(share)))
    return log_model, log_unigram, float(mass.sum()), len(enough)
