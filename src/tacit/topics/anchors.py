"""`AnchorTopics`: topics of which each has a word that no other has.

Q_ij = p(word i, word j of one document) = Σ_kl β_k(i) R_kl β_l(j);    Q̄_i = Q_i / Σ_j Q_ij = Σ_k p(k | i) Q̄_{s_k}

with s_k the anchor word of topic k, β_k(s_k) > 0 for that topic alone: rows of Q̄ lie in the convex hull of those of anchors.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..base import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_number, check_positive
from ..declared import Numbers, Whole
from ..kernels import lazy
from .cooccurrence import Cooccurrence
from .hull import find_anchors, hull_anchors
from .recovery import recover
from .topic_model import TopicModel

__all__ = ["AnchorTopics"]

compiled = lazy("proportions")
METHODS, RECOVERIES = ("greedy", "lp"), ("l2", "kl")
MOST_LP = 500


@settings
class AnchorTopics(TopicModel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowsEstimator):
    """Topics found through anchor words, in one pass over the documents and without a random start.

    Where every topic has a word of its own and documents are many, the topics are found exactly; otherwise they are near, and
    found within seconds, since the work after one pass depends on the number of words alone.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    method : {"greedy", "lp"}, default="greedy"
        How anchors are found: each the word farthest from the span of those before it, once more looked for with all
        others known; or those words farthest from the convex hull of all others, each by a linear program, for up to 500 words.
    recovery : {"l2", "kl"}, default="l2"
        How words are told as mixtures of anchors: least squares, or least Kullback–Leibler divergence, which takes
        longer and weighs rare words better.
    min_documents : int, float or "auto", default="auto"
        A word in fewer documents than this number (or share, a float) is no anchor: co-occurrences of rare words are
        noise. "auto" is 5 % of the documents, at least 3, or fewer where not even four words for each topic are that frequent.
    doc_topic_prior : float, default=0.1
        Pseudo-count of each topic where proportions of documents are estimated.
    tol : float, default=1e-6
        Steps end when proportions, or mixtures of a word, move by less.
    max_iter : int, default=1000
        Most such steps.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_components,)
        The anchor words, as columns.
    anchor_words_ : list of str
        The same as words, where they are known.
    topic_word_ : ndarray of shape (n_components, n_words)
        β, the probabilities of words in each topic.
    components_ : ndarray of shape (n_components, n_words)
        The same, by scikit-learn's name.
    topic_share_, word_share_ : ndarray
        Shares of topics, and of words, among all words.
    topic_correlation_ : ndarray of shape (n_components, n_components)
        R, the probability that two words of a document are of topics k and l.
    n_iter_ : int
        Passes over the documents: 1.
    n_features_in_, feature_names_in_
        As in scikit-learn; the names are the words.

    References
    ----------
    Arora et al. (2013), A practical algorithm for topic modeling with provable guarantees. Arora, Ge and Moitra (2012), Learning
    topic models: going beyond SVD.

    Examples
    --------
    >>> from tacit.topics import AnchorTopics
    >>> texts = ["sun moon sun moon star"] * 9 + ["fish sea fish sea ship"] * 9 + ["oak elm oak elm fir"] * 9
    >>> topics = AnchorTopics(3).fit(texts)
    >>> sorted(sorted(words) for words in topics.top_words(3))
    [['elm', 'fir', 'oak'], ['fish', 'sea', 'ship'], ['moon', 'star', 'sun']]
    """

    n_components: int = 10
    _: KW_ONLY
    method: str = "greedy"
    recovery: str = "l2"
    min_documents: int | float | str = "auto"
    doc_topic_prior: float = 0.1
    tol: float = 1e-6
    max_iter: int = 1000

    _takes_missing = False
    _takes_sparse = True
    _min_rows = 1
    _saved = RowsEstimator._saved | {
        "anchors_": Numbers("k", low=0, below="d", kind="i"),
        "topic_word_": Numbers("k d", low=0, high=1, total=1.0),
        "topic_share_": Numbers("k", low=0, high=1, total=1.0),
        "word_share_": Numbers("d", low=0, high=1, total=1.0),
        "topic_correlation_": Numbers("k k", high=2),
        "n_iter_": Whole(1),
    }  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    @property
    def components_(self) -> np.ndarray:
        """The topics, by scikit-learn's name."""
        return self.topic_word_

    @property
    def anchor_words_(self) -> list[str]:
        """The anchor words."""
        words = self._words()
        return [words[column] for column in self.anchors_]

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)

    def _check_settings(self) -> None:
        check_number("n_components", self.n_components, (int, np.integer), 1)
        check_choice("method", self.method, METHODS)
        check_choice("recovery", self.recovery, RECOVERIES)
        kind, most = (float, 1.0) if isinstance(self.min_documents, float) else ((int, np.integer), np.inf)
        check_number("min_documents", self.min_documents, kind, 0, most, also=("auto",))
        check_number("doc_topic_prior", self.doc_topic_prior, (int, float), 0)
        check_positive("tol", self.tol)
        check_number("max_iter", self.max_iter, (int, np.integer), 1)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find anchors and topics.

        Parameters
        ----------
        X : Corpus, texts, or counts of shape (n_documents, n_words)
            Documents with fewer than two words tell nothing and do not count.
        y : ignored

        Returns
        -------
        self
        """
        self._check_settings()
        counts = self._counts(X, reset=True)
        return self._find(Cooccurrence.of_counts(counts))

    def fit_cooccurrence(self, Q: Any, words: Any = None) -> Self:
        """Find anchors and topics from probabilities of pairs of words, such as exact ones.

        Parameters
        ----------
        Q : array of shape (n_words, n_words)
            The probability that two words of a document are i and j: symmetric, not negative.
        words : list of str, optional
            The words.

        Returns
        -------
        self
        """
        self._check_settings()
        found = Cooccurrence.of_matrix(Q)
        self.n_features_in_ = found.n_words
        self.__dict__.pop("feature_names_in_", None)
        if words is not None:
            self.feature_names_in_ = np.array(self._named(words, found.n_words), dtype=object)
        return self._find(found)

    def transform(self, X: Any) -> np.ndarray:
        """Proportions of the topics in documents: the most probable ones.

        Parameters
        ----------
        X : Corpus, texts, or counts of shape (n_documents, n_words)
            A document without known words has the shares of the topics among all words.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
        """
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        theta = np.full((counts.shape[0], len(self.topic_word_)), 1.0 / len(self.topic_word_))
        prior = np.full(theta.shape[1], float(self.doc_topic_prior))
        told = counts.indptr.astype(np.int64), counts.indices.astype(np.int64), counts.data.astype(np.float64)
        word_topic = np.ascontiguousarray(self.topic_word_.T)
        compiled.proportions(*told, word_topic, prior, float(self.tol), int(self.max_iter), theta)
        known = np.asarray(counts @ self.topic_word_.sum(axis=0)).ravel() > 0
        theta[~known] = self.topic_share_
        return theta

    def _counts(self, X: Any, *, reset: bool) -> Any:
        """X as sparse counts, none below 0."""
        from scipy.sparse import csr_matrix

        counts = csr_matrix(self._validate(X, reset=reset))
        counts.sum_duplicates()
        if counts.nnz and counts.data.min() < 0:
            raise ValueError(
                f"Negative values in data passed to AnchorTopics: X holds {counts.data.min():g}; give how often each "
                f"document has "
                "each word."
            )
        return counts

    @staticmethod
    def _named(words: Any, n_words: int) -> list[str]:
        if len(words) != n_words:
            raise ValueError(f"{len(words)} words are given for {n_words} columns; give one for each.")
        return [str(word) for word in words]

    def _find(self, pairs: Cooccurrence) -> Self:
        """Anchors, then topics."""
        allowed = pairs.frequent(self.min_documents, self.n_components)
        if self.n_components > len(allowed):
            raise ValueError(
                f"n_components={self.n_components} exceeds the {len(allowed)} words that may be anchors; use at most "
                f"{len(allowed)}, or lower min_documents={self.min_documents!r}."
            )
        if self.method == "lp" and len(allowed) > MOST_LP:
            raise ValueError(
                f"method='lp' is for up to {MOST_LP} words, and {len(allowed)} may be anchors; use method='greedy', or raise "
                "min_documents."
            )
        find = find_anchors if self.method == "greedy" else hull_anchors
        anchors = find(pairs, allowed, self.n_components)
        mixed = recover(pairs, anchors, self.recovery, self.tol, self.max_iter)
        self.word_share_, self.n_iter_ = pairs.share, 1
        joint = mixed * pairs.share[:, None]  # p(word, topic)
        weight = joint.sum(axis=0)
        # The largest topic comes first.
        order = np.argsort(-weight, kind="stable")
        self.anchors_, self.topic_share_ = anchors[order], weight[order] / weight.sum()
        self.topic_word_ = (joint[:, order] / np.maximum(weight[order], 1e-300)).T
        chance = self.topic_word_[np.arange(len(order)), self.anchors_]
        self.topic_correlation_ = pairs.block(self.anchors_) / np.maximum(np.outer(chance, chance), 1e-300)
        return self
