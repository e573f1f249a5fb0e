"""`NMFTopics`: counts of words as Poisson numbers, x_dv ~ Poisson(n_d Σ_k θ_dk β_kv), learned by KL divergence.

W H = (W Λ) (Λ⁻¹ H) with Λ the sums of the rows of H: Λ⁻¹ H are the topics β, and rows of W Λ, divided by their sums, θ.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...base.settings import KW_ONLY, settings
from ...declared import Numbers
from ...kernels import host, rows_on_host
from ...source import Block, Source
from ..topic_model import TopicModel
from .nmf import NMF

__all__ = ["NMFTopics"]


@settings
class NMFTopics(TopicModel, NMF):
    """Topics by non-negative factorisation of counts of words.

    The factorisation by Kullback–Leibler divergence is maximum likelihood of Poisson counts, and the same model as probabilistic
    latent semantic analysis: no prior smooths topics or proportions, which may be exactly 0.

    Parameters
    ----------
    n_components : int or "cells", default=10
        Number of topics; "cells" is the number that foretells hidden counts best, of a sample of documents.
    init, tol, max_iter, random_state, alpha_W, alpha_H, l1_ratio, verbose, shuffle, n_init, column_weight
        As in :class:`NMF`.
    n_jobs, device, callback
        As in :class:`NMF`.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        Probabilities of words in each topic; rows sum to 1.
    topic_share_ : ndarray of shape (n_topics,)
        Share of all words that belong to each topic.
    word_share_ : ndarray of shape (n_words,)
        Share of each word among all words.
    components_, n_components_, reconstruction_err_, n_iter_, fit_, n_features_in_, feature_names_in_
        As in :class:`NMF`.

    References
    ----------
    Ding, Li and Peng (2008), On the equivalence between non-negative matrix factorization and probabilistic latent semantic
    indexing.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.topics import NMFTopics
    >>> counts = np.array([[4, 2, 0, 0], [2, 1, 0, 0], [0, 0, 3, 3], [2, 1, 1, 1]])
    >>> topics = NMFTopics(2, max_iter=500).fit(counts)
    >>> topics.transform(counts).round(2)[3].tolist()
    [0.6, 0.4]
    """

    n_components: Any = 10
    _: KW_ONLY
    solver: ClassVar[str] = "mu"  # type: ignore[misc]
    beta_loss: ClassVar[str] = "kullback-leibler"  # type: ignore[misc]

    _saved = NMF._saved | {
        "topic_word_": Numbers("K d", low=0, high=1),
        "topic_share_": Numbers("K", low=0, high=1),
        "word_share_": Numbers("d", low=0, high=1),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    def _learn_parts(self, source: Source, *given: Any) -> np.ndarray:
        # Proportions are those of `transform`: steps of a fit leave them a little behind the topics.
        scores = super()._learn_parts(source, *given)
        total = self.components_.astype(np.float64).sum(axis=1)
        alive = np.where(total > 0, total, 1.0)[:, None]
        self.topic_word_ = np.where(total[:, None] > 0, self.components_ / alive, 1.0 / self.components_.shape[1])
        weight, words = zip(*source.map(_words))
        amount = np.concatenate(weight) @ (scores * total)
        self.topic_share_ = amount / amount.sum()
        self.word_share_ = np.sum(words, axis=0) / np.sum(words)
        return scores

    def _shares(self, scores: np.ndarray) -> np.ndarray:
        """Proportions of topics from scores; of a document without words, those of all documents."""
        found = scores * self.components_.astype(np.float64).sum(axis=1)
        total = found.sum(axis=1, keepdims=True)
        return np.where(total > 0, found / np.where(total > 0, total, 1.0), self.topic_share_)

    def fit_transform(
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, sample_weight: Any = None, **kept: Any
    ) -> np.ndarray:
        """Learn the topics and return their proportions in every document; see :meth:`NMF.fit_transform`."""
        super().fit_transform(X, y, W, H, sample_weight, **kept)
        return self.transform(X)

    def transform(self, X: Any, out: Any = None) -> Any:
        """Proportions of topics in documents, rows that sum to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_words), path, Arrow data, Dask collection or source
            Counts of words.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
        """
        check_is_fitted(self)
        return self._apply(
            X, lambda block: self._shares(host(self._solve(block))), out, list(self.get_feature_names_out())
        )


def _words(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the documents of a block, and weighted counts of words."""
    X, weight = rows_on_host(block.X), host(block.weight)
    return weight, weight @ (X.matrix if hasattr(X, "indptr") else np.nan_to_num(X))
