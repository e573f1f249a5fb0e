"""`TopicModel`: what every model of topics tells, p(word | document) = Σ_k θ_dk β_k(word)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks import check_number
from ..declared import Part
from ..table import Table
from .coherence import coherence
from .completion import Completion, completion
from .corpus import Corpus, vectorizer_of
from .distances import jensen_shannon
from .tokens import Reading, checked_texts, is_tokens
from .words import ranked_words, topic_diversity, word_scores

__all__ = ["TopicModel"]

BEGINNING = 160


class TopicModel:
    """Base of models of topics, named before the class that learns them.

    A subclass publishes the attributes below at fit, and its ``transform`` gives the proportions θ (documents, topics) of
    documents, rows that sum to 1. Wherever it takes counts it takes a `Corpus` as well, whose words it keeps as
    ``feature_names_in_``; and texts, once it was fitted to a corpus of texts or to texts.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        β, the probabilities of words in each topic; rows sum to 1.
    topic_share_ : ndarray of shape (n_topics,)
        Share of all words of the documents learned from that belong to each topic.
    word_share_ : ndarray of shape (n_words,)
        Share of each word among all words of the documents learned from.
    reading_ : tacit.topics.tokens.Reading
        How texts became words, where the model was fitted to texts.
    """

    topic_word_: np.ndarray
    topic_share_: np.ndarray
    word_share_: np.ndarray
    reading_: Reading
    _study: str | None = "topics"

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        saved = getattr(cls, "_saved", None)
        if saved is not None:
            cls._saved = {**saved, "reading_": Part(Reading, needed=False)}  # type: ignore[attr-defined]

    # Corpora and texts in place of counts

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Counts of a corpus, of texts or of what else rows are, checked."""
        if isinstance(X, (str, bytes)):
            checked_texts(X)  # which tells what to give instead
        if _are_texts(X):
            X = Corpus.from_texts(X) if reset else self._counted(X)
        corpus = X if isinstance(X, Corpus) else None
        if corpus is not None and not reset:
            self._check_words(corpus)
        with warnings.catch_warnings():
            # Columns of counts have no names; that there are as many as at fit is checked all the same.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            counts = super()._validate(X if corpus is None else corpus.counts, reset=reset)  # type: ignore[misc]
        if reset:
            self.__dict__.pop("reading_", None)
            if corpus is not None:
                self.feature_names_in_ = np.array(corpus.words, dtype=object)
                if corpus.reading is not None:
                    self.reading_ = corpus.reading
        return counts

    def _counted(self, texts: Any) -> Corpus:
        return Corpus.from_texts(texts, vectorizer=self.vectorizer_)

    def _check_words(self, corpus: Corpus) -> None:
        """Refuse a corpus of other words than those at fit."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or list(names) == list(corpus.words):
            return
        strange = [word for word in corpus.words if word not in set(names)]
        told = (
            f"has {strange[0]!r}, which the model does not know"
            if strange
            else "has them in another order or lacks some"
        )
        raise ValueError(
            f"the corpus counts {len(corpus.words)} words and the model {len(names)}, and it {told}; count the words "
            f"of the model: "
            "Corpus.from_texts(texts, vectorizer=model.vectorizer_)."
        )

    @property
    def vectorizer_(self) -> Any:
        """What counts the words of the model in new texts."""
        check_is_fitted(self)
        if not hasattr(self, "reading_"):
            raise ValueError(
                "the model was fitted to counts and does not know how texts become words; give counts, or fit it to texts or to "
                "a Corpus.from_texts."
            )
        return vectorizer_of(self.reading_, self.feature_names_in_)

    def _words(self, words: Any = None) -> list[str]:
        """The words, those given before those known; their numbers where there are none."""
        check_is_fitted(self)
        n_words = self.topic_word_.shape[1]
        known = words if words is not None else getattr(self, "feature_names_in_", None)
        if known is None:
            return [f"word {column}" for column in range(n_words)]
        if len(known) != n_words:
            raise ValueError(f"{len(known)} words are given for a model of {n_words}; give one for each column.")
        return [str(word) for word in known]

    # What topics are about

    def top_words(
        self, n: int = 10, by: str = "probability", relevance: float = 0.6, words: Any = None
    ) -> list[list[str]]:
        """The words of each topic, the most important first.

        Parameters
        ----------
        n : int, default=10
            How many.
        by : {"probability", "relevance", "lift"}, default="probability"
            What makes a word important: how probable it is in the topic, how much more than elsewhere, or both.
        relevance : float, default=0.6
            Weight λ of the probability where words are ranked by relevance.
        words : list of str, optional
            What columns are called, where the model does not know.

        Returns
        -------
        list of list of str
        """
        check_number("n", n, (int, np.integer), 1)
        names = self._words(words)
        scores = word_scores(self.topic_word_, self.word_share_, by, relevance)
        found = ranked_words(scores, n)
        return [[names[word] for word in own if scores[k, word] > -np.inf] for k, own in enumerate(found)]

    def topic_table(self, n: int = 10, by: str = "relevance", relevance: float = 0.6, words: Any = None) -> Table:
        """Topics with their shares and words.

        Parameters
        ----------
        n, by, relevance, words
            As in `top_words`.

        Returns
        -------
        Table
            `topic` (from 1), `share` and `words`.
        """
        told = self.top_words(n, by, relevance, words)
        shares = zip(self.topic_share_, told)
        return Table(
            {"topic": k, "share": float(part), "words": ", ".join(own)} for k, (part, own) in enumerate(shares, 1)
        )

    def document_table(self, X: Any) -> Table:
        """Documents with the proportions of their topics.

        Parameters
        ----------
        X : Corpus, texts, or counts of shape (n_documents, n_words)

        Returns
        -------
        Table
            `document` (from 1), `title` where there are titles, `topic` (the largest, from 1; None where a document has none of
            the words) and the proportion of each.
        """
        if _are_texts(X):
            X = self._counted(X)
        theta, titles = self.transform(X), getattr(X, "titles", None)  # type: ignore[attr-defined]
        length = _lengths(X)
        rows = []
        for d, part in enumerate(theta):
            row: dict[str, Any] = {"document": d + 1}
            row |= {"title": titles[d]} if titles is not None else {}
            row |= {"topic": int(part.argmax()) + 1 if length[d] > 0 else None}
            rows.append(row | {f"topic_{k}": float(share) for k, share in enumerate(part, 1)})
        return Table(rows)

    def typical_documents(self, X: Any, n: int = 3) -> Table:
        """The documents of which each topic has the largest share; short ones count less, since they tell it less surely.

        Parameters
        ----------
        X : Corpus, texts, or counts of shape (n_documents, n_words)
        n : int, default=3
            How many of each topic.

        Returns
        -------
        Table
            `topic`, `document` (both from 1), `share` (the largest first), and `title` and the beginning of the
            `text` where they are known.
        """
        check_number("n", n, (int, np.integer), 1)
        if _are_texts(X):
            X = self._counted(X)
        theta = self.transform(X)  # type: ignore[attr-defined]
        length = _lengths(X)
        titles, texts = getattr(X, "titles", None), getattr(X, "texts", None)
        # As if each document had ten words more of no topic.
        sure = theta * (length / (length + 10.0))[:, None]
        rows = []
        for k in range(theta.shape[1]):
            chosen = np.argsort(-sure[:, k], kind="stable")[:n]
            for d in chosen[np.argsort(-theta[chosen, k], kind="stable")]:
                row: dict[str, Any] = {"topic": k + 1, "document": int(d) + 1, "share": float(theta[d, k])}
                row |= {"title": titles[d]} if titles is not None else {}
                rows.append(row | ({"text": _beginning(texts[d])} if texts is not None else {}))
        return Table(rows)

    def coherence(self, X: Any, measure: str = "npmi", n: int = 10, **settings: Any) -> np.ndarray:
        """How well the top words of each topic go together; see `tacit.topics.coherence`.

        Parameters
        ----------
        X : Corpus, or counts of shape (n_documents, n_words)
            Documents to judge by.
        measure : {"u_mass", "npmi", "c_v"}, default="npmi"
        n : int, default=10
            How many words of each topic, by probability.
        **settings
            `window` and `smoothing`.

        Returns
        -------
        ndarray of shape (n_topics,)
        """
        if isinstance(X, Corpus):
            self._check_words(X)
        check_is_fitted(self)
        return coherence(ranked_words(self.topic_word_, n), X, measure, **settings)

    def diversity(self, n: int = 25) -> float:
        """The share of different words among the top words of all topics.

        Parameters
        ----------
        n : int, default=25
            How many words of each topic, by probability.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return topic_diversity(ranked_words(self.topic_word_, n).tolist(), n)

    def completion(self, X: Any, *, seed: int = 0) -> Completion:
        """How well half of the words of documents predict the others; see `tacit.topics.completion`.

        Parameters
        ----------
        X : Corpus, or counts of shape (n_documents, n_words)
            Documents, best others than those learned from.
        seed : int, default=0
            Seeds the halves.

        Returns
        -------
        Completion
        """
        check_is_fitted(self)
        return completion(self, X, seed=seed)

    def distances(self) -> np.ndarray:
        """Distances between topics, from 0 (the same words) to 1 (no word in common): roots of Jensen–Shannon divergences.

        Returns
        -------
        ndarray of shape (n_topics, n_topics)
        """
        check_is_fitted(self)
        return jensen_shannon(self.topic_word_)


def _are_texts(X: Any) -> bool:
    """Whether rows are given as texts."""
    if isinstance(X, (str, bytes)) or np.ndim(getattr(X, "shape", (0,))) != 1 or len(getattr(X, "shape", (0,))) != 1:
        return False
    if not isinstance(X, (list, tuple)) and not hasattr(X, "tolist"):
        return False
    if getattr(X, "dtype", None) is not None and getattr(X.dtype, "kind", "O") in "biuf":
        return False
    return len(X) > 0 and (
        any(isinstance(each, str) or is_tokens(each) for each in X) or all(each is None for each in X)
    )


def _lengths(X: Any) -> np.ndarray:
    """How many counted words each document has."""
    counts = X.counts if isinstance(X, Corpus) else X
    return np.asarray((counts if hasattr(counts, "sum") else np.asarray(counts)).sum(axis=1)).ravel()


def _beginning(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= BEGINNING else text[: BEGINNING - 1].rstrip() + "…"
