"""`AllocationAnswers`: what a fitted model of topics says of documents, and how well it predicts them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...base import EMEstimator
from ...kernels import backend, host, kernel, lazy
from ...source import Block, Source
from ..documents import sparse_rows
from ..topic_model import TopicModel
from .model import CollapsedModel, TopicParams, VariationalModel, bound_of, perplexity_of
from .priors import PriorRule

__all__ = ["AllocationAnswers", "word_count"]

BURN, DRAWS = 50, 400
LARGEST_SEED = 2**32
compiled = lazy("topics")


class AllocationAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TopicModel, EMEstimator):
    """Base of `LatentDirichletAllocation`: all that follows from what it learned."""

    max_doc_update_iter: int
    mean_change_tol: float
    total_samples: float
    n_batch_iter_: int
    _n_words: float = 0.0

    def _bound_model(self, quick: bool = False) -> VariationalModel:
        """The model whose bound is told, whatever the topics were learned by."""
        alpha = PriorRule("doc_topic_prior", 1.0, self.n_components, self.n_components, False)
        n_updates = 5 if quick else int(self.max_doc_update_iter)
        return VariationalModel(self.n_components, alpha, alpha, None, n_updates, self.mean_change_tol)

    def transform(self, X: Any, *, normalize: bool = True, return_std: bool = False) -> Any:
        """Topics of documents.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_words), path, Arrow data, Dask collection or source
            Counts of words. A document without words has the prior's proportions.
        normalize : bool, default=True
            Whether proportions θ are given, rows that sum to 1; otherwise α plus the counts of words by topic.
        return_std : bool, default=False
            Whether to give also the standard deviations of θ given the document's words and the topics; see `interval`.

        Returns
        -------
        ndarray of shape (n_documents, n_components), or two of them
        """
        params, model, source = self._params(), self._model(), self._open(X)
        topics = np.concatenate([part[0] for part in source.map(partial(model.documents, params))])
        found = (topics / topics.sum(axis=1, keepdims=True) if normalize else topics).astype(source.dtype, copy=False)
        return (found, self._draws(source, params, 0.9, None)[0]) if return_std else found

    def fit_transform(self, X: Any, y: Any = None, *, normalize: bool = True) -> np.ndarray:
        """Learn topics and return those of the documents.

        Parameters
        ----------
        X, y, normalize
            As in `fit` and `transform`.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
        """
        return self.fit(X, y).transform(X, normalize=normalize)  # type: ignore[attr-defined]

    def interval(self, X: Any, level: float = 0.9, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Intervals of θ that hold it with a probability, given the document's words, the topics and the prior α.

        They come from draws of the posterior by collapsed Gibbs sampling of every document, which is exact but for the number of
        draws where topics are known; that topics were learned is not part of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_words) or source
        level : float, default=0.9
            The probability.
        random_state : int, RandomState instance or None
            Seed of the draws; default the estimator's.

        Returns
        -------
        lower, upper : ndarrays of shape (n_documents, n_components)
        """
        if not isinstance(level, float) or not 0.0 < level < 1.0:
            raise ValueError(f"level={level!r} is not a number between 0 and 1.")
        params = self._params()
        _, lower, upper = self._draws(self._open(X), params, level, random_state)
        return lower, upper

    def _draws(self, source: Source, params: TopicParams, level: float, random_state: Any) -> np.ndarray:
        """Standard deviations, lower and upper limits (3, documents, topics)."""
        seed = int(self._rng(random_state).integers(LARGEST_SEED))
        return np.concatenate(list(source.map(partial(_block_draws, params, level, seed))), axis=1)

    def assign(self, X: Any, *, probabilities: bool = False) -> Any:
        """The topic of every word of documents.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_words) or source
            Counts of words.
        probabilities : bool, default=False
            Whether to give the probabilities of all topics instead.

        Returns
        -------
        list of ndarray
            Of each document the most probable topic of each of its words, in the order of the columns that are not 0; or
            probabilities (words, n_components).
        """
        params, model = self._params(), self._model()
        found: list[np.ndarray] = []
        for part, ends in self._open(X).map(partial(_assigned, model, params)):
            part = part if probabilities else part.argmax(axis=1)
            found += np.split(part, ends)
        return found

    # How well documents are predicted

    def lower_bound(self, X: Any) -> float:
        """The evidence lower bound of documents: log p(X) is at least this, whatever the topics were learned by.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_words) or source

        Returns
        -------
        float
        """
        return bound_of(self._params(), self._bound_model(), self._open(X))

    def score(self, X: Any, y: Any = None) -> float:
        """The evidence lower bound of documents, as scikit-learn's ``score``; see `completion_perplexity` for held-out words.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        float
        """
        return self.lower_bound(X)

    def perplexity(self, X: Any, sub_sampling: bool = False) -> float:
        """exp(−bound / words), as scikit-learn's ``perplexity``.

        It holds the bound's slack and the topics' own part, so that it is no perplexity of held-out words and does not compare
        numbers of topics: `completion_perplexity` does.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_words) or source
        sub_sampling : bool, default=False
            Whether X stands for `total_samples` documents.

        Returns
        -------
        float
        """
        check_is_fitted(self, "components_")
        source, params, model = self._open(X), self._params(), self._bound_model()
        own = model.log_prior(params)
        ratio = float(self.total_samples) / source.n_rows if sub_sampling else 1.0
        words = ratio * float(source.sum(word_count))
        return perplexity_of(ratio * (bound_of(params, model, source) - own) + own, words)

    def completion_perplexity(self, X: Any, random_state: Any = 0) -> float:
        """Perplexity of half of every document's words, predicted from the other half; see `completion`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_words) or source
            Documents that were not learned from.
        random_state : int, RandomState instance or None, default=0
            How documents are halved.

        Returns
        -------
        float
        """
        return self.completion(X, seed=int(self._rng(random_state).integers(LARGEST_SEED))).perplexity


def word_count(block: Block) -> float:
    """Weighted count of all words of a block."""
    rows = sparse_rows(block.X)
    return float((np.repeat(host(block.weight), np.diff(rows.indptr)) * rows.data).sum())


def _block_draws(params: TopicParams, level: float, seed: int, block: Block) -> np.ndarray:
    rows = sparse_rows(block.X)
    # Seeds by the number of the document, so that neither blocks nor threads matter.
    seeds = np.array([np.random.SeedSequence([seed, block.first + d]).generate_state(1)[0] for d in range(len(rows))])
    along = params.share, params.topic_prior, seeds.astype(np.int64), BURN, DRAWS, 0.5 - level / 2, 0.5 + level / 2
    return compiled.document_draws(rows, {}, *along)


def _assigned(model: Any, params: TopicParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the topics of a block's pairs, and where documents end among them."""
    topics, _ = model.documents(params, block)
    rows = sparse_rows(block.X)
    if isinstance(model, CollapsedModel):
        theta, table = topics, params.share
    else:
        from scipy.special import psi

        theta, table = np.exp(psi(topics) - psi(topics.sum(axis=1, keepdims=True))), params.expected
    found = kernel("topic_assignments", backend(rows))(rows, {}, theta, table)
    return found, rows.indptr[1:-1]
