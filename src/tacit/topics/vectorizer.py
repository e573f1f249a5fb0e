"""`TextVectorizer`: texts as counts of words, X_dw = how often document d has word w."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import check_number
from .phrases import LEAST_NPMI, find_phrases, join_phrases
from .stopwords import LANGUAGES, recognised, stop_words_of, told_by
from .tokens import Reading, Stream

__all__ = ["TextVectorizer"]

EVERYWHERE = 0.5
"""Share of documents from which a word is a stop word, whatever it means."""
FREQUENT, TELLING = 0.1, 0.022
"""Share of documents from which a word is a stop word if it tells less than this of the other words beside it."""
MOST_BESIDE = 2000
FEW = 10


@settings
class TextVectorizer(TransformerMixin, BaseEstimator):
    """Count the words of texts.

    Takes the place of scikit-learn's ``CountVectorizer`` before topics. Words are found in all languages that are written with
    spaces; stop words are found by where they occur and, in English, German, French, Spanish, Italian, Portuguese and Dutch, by a
    list of function words; rare words are left out in proportion to the number of texts.

    Parameters
    ----------
    lowercase : bool, default=True
        Whether case does not matter.
    numbers : bool, default=False
        Whether numbers are words; those with letters (b2b, 4th) always are.
    stop_words : {"auto", "english", "german", "french", "spanish", "italian", "portuguese", "dutch"}, list of str or None, \
default="auto"
        Words to leave out beside those found by `max_df`. ``"auto"`` leaves out the function words of the language whose list
        has the largest share of all running words, where that is at least a fifth and three different words of it occur; a
        language leaves out its own; a list leaves out its words beside those of ``"auto"``; None leaves out none.
    max_df : float, int or "auto", default="auto"
        Leave out words in more than this share (a float) or number (an int) of the documents. ``"auto"`` leaves out words in more
        than half of them, and those in more than a tenth beside which all other words are as frequent as anywhere:
        words that tell nothing about what a text is about. Below 10 documents only words in all of them are left out.
    min_df : float, int or "auto", default="auto"
        Leave out words in fewer documents than this share or number; ``"auto"`` is √n / 20 of n documents, at least 2 (1 below 10
        documents).
    max_features : int, optional
        Keep at most so many words, those that occur most.
    phrases : bool or float, default=False
        Whether two words that stand together more often than chance has it ("new york") are a word of their own. A number is the
        least normalised pointwise mutual information of a phrase; ``True`` is 0.5.
    vocabulary : iterable of str, optional
        The words, in the order of the columns; then nothing is learned. Those with a space are phrases.

    Attributes
    ----------
    words_ : list of str
        The words, in the order of the columns.
    vocabulary_ : dict of str to int
        The column of each word.
    language_ : str or None
        The language whose function words were left out.
    stop_words_ : list of str
        Words that were left out because they are in too many documents, function words, or asked to be.

    See Also
    --------
    tacit.topics.Corpus : Texts, their counts, titles and times in one record.

    Examples
    --------
    >>> from tacit.topics import TextVectorizer
    >>> vectorizer = TextVectorizer(min_df=1)
    >>> vectorizer.fit_transform(["This is the sun's light.", "Light of the moon", "The moon's water"]).toarray().astype(int)
    array([[1, 0, 1, 0],
           [1, 1, 0, 0],
           [0, 1, 0, 1]])
    >>> vectorizer.words_, vectorizer.stop_words_, vectorizer.language_
    (['light', 'moon', 'sun', 'water'], ['is', 'of', 'the', 'this'], 'english')
    """

    _: KW_ONLY
    lowercase: bool = True
    numbers: bool = False
    stop_words: str | Iterable[str] | None = "auto"
    max_df: float | int | str = "auto"
    min_df: float | int | str = "auto"
    max_features: int | None = None
    phrases: bool | float = False
    vocabulary: Iterable[str] | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        tags.requires_fit = self.vocabulary is None
        return tags

    @property
    def reading(self) -> Reading:
        """How texts become words."""
        asked = self.stop_words
        language = asked if isinstance(asked, str) and asked != "auto" else getattr(self, "language_", None)
        further = () if asked is None or isinstance(asked, str) else tuple(map(str, asked))
        return Reading(bool(self.lowercase), bool(self.numbers), language, further)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each word."""
        return {word: column for column, word in enumerate(self._known_words())}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the words.

        Parameters
        ----------
        X : iterable of str
            Texts, one for each document.
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **ignored: Any) -> Any:
        """Learn the words and count them.

        Parameters
        ----------
        X, y
            As in `fit`.
        **ignored
            For compatibility.

        Returns
        -------
        CSR matrix of shape (n_documents, n_words)
        """
        self._check()
        if self.vocabulary is not None:
            self._keep(given_words(self.vocabulary))
            return self.transform(X)
        stream = self.reading.stream(X)
        n_documents = len(stream.ends) - 1
        if not n_documents:
            raise ValueError("there are no texts; give at least one document.")
        counts = stream.counts(len(stream.words))
        chosen, stopped = self._choose(counts, np.array(stream.words, dtype=object))
        if not chosen.any():
            self._refuse(stream, n_documents)
        numbers = np.where(chosen, np.cumsum(chosen) - 1, -1)
        words = [word for word, kept in zip(stream.words, chosen) if kept]
        self.stop_words_ = sorted(word for word, gone in zip(stream.words, stopped) if gone)
        if self.phrases:
            counts, words = self._joined(stream.renumbered(numbers, words), words)
        else:
            counts = counts[:, np.flatnonzero(chosen)]
        order = sorted(range(len(words)), key=words.__getitem__)
        self._keep([words[column] for column in order])
        counts = counts[:, order]
        counts.sort_indices()
        return counts

    def transform(self, X: Any) -> Any:
        """Count the known words of texts.

        Parameters
        ----------
        X : iterable of str
            Texts, one for each document.

        Returns
        -------
        CSR matrix of shape (n_documents, n_words)
        """
        return self.streamed(X).counts(len(self._known_words()))

    def streamed(self, X: Any) -> Stream:
        """The known words of texts in their order, as columns of the counts, phrases joined; −1 stands for every other word.

        Parameters
        ----------
        X : iterable of str
            Texts, one for each document.

        Returns
        -------
        Stream
        """
        words = self._known_words()
        columns = {word: column for column, word in enumerate(words)}
        parts = [(column, word.split(" ")) for column, word in enumerate(words) if " " in word]
        # A part of a phrase may be no word by itself; it is known all the same.
        single = list(dict.fromkeys([*words, *(part for _, pair in parts for part in pair)]))
        number = {word: place for place, word in enumerate(single) if " " not in word}
        stream = self.reading.stream(X, lambda word: number.get(word, -1))
        pairs = np.array([[number[part] for part in pair] for _, pair in parts], dtype=np.int64).reshape(-1, 2)
        joined = join_phrases(stream, pairs, len(single))
        final = [columns.get(word, -1) for word in single] + [column for column, _ in parts]
        return joined.renumbered(np.array(final), words)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The words, as scikit-learn asks for them.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        return np.array(self._known_words(), dtype=object)

    def _known_words(self) -> list[str]:
        if self.vocabulary is not None and not hasattr(self, "words_"):
            self._keep(given_words(self.vocabulary))
        check_is_fitted(self, "words_")
        return self.words_

    def _keep(self, words: list[str]) -> None:
        self.words_ = words
        if not hasattr(self, "stop_words_"):
            self.stop_words_ = []
        if not hasattr(self, "language_"):
            self.language_: str | None = None

    # Which words

    def _choose(self, counts: Any, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which words are kept, and which were left out because they are everywhere or were not wanted."""
        present = np.bincount(counts.indices, minlength=len(words))
        stopped = self._everywhere(counts, present) | self._unwanted(counts, words)
        kept = ~stopped & (present >= self._least(counts.shape[0]))
        if self.max_features is not None and kept.sum() > self.max_features:
            total = np.where(kept, np.asarray(counts.sum(axis=0)).ravel(), -1.0)
            most = np.argsort(-total, kind="stable")[: self.max_features]
            kept = np.isin(np.arange(len(words)), most)
        return kept, stopped

    def _unwanted(self, counts: Any, words: np.ndarray) -> np.ndarray:
        """Which words are function words of the language, or were asked to be left out."""
        asked = self.stop_words
        further = () if asked is None or isinstance(asked, str) else tuple(map(str, asked))
        if isinstance(asked, str) and asked != "auto":
            self.language_ = asked
        else:
            totals = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
            self.language_ = None if asked is None else recognised(words, totals)
        function: frozenset[str] = stop_words_of(self.language_) if self.language_ else frozenset()
        own = set(map(str.lower, further)) if self.lowercase else set(further)
        return np.array([word in own or word.lower() in function for word in words], dtype=bool)

    def _everywhere(self, counts: Any, present: np.ndarray) -> np.ndarray:
        n_documents = counts.shape[0]
        if self.max_df != "auto":
            most = self.max_df if isinstance(self.max_df, numbers.Integral) else float(self.max_df) * n_documents
            return present > most
        if n_documents < FEW:  # what is in half of a few documents may still be what they are about
            return (present == n_documents) & (n_documents > 2)
        found = present > EVERYWHERE * n_documents
        frequent = np.flatnonzero((present > FREQUENT * n_documents) & ~found)
        found[frequent] = told_by(counts, frequent, np.argsort(-present, kind="stable")[:MOST_BESIDE]) < TELLING
        return found

    def _least(self, n_documents: int) -> float:
        if self.min_df == "auto":
            return 1 if n_documents < FEW else max(2, round(math.sqrt(n_documents) / 20))
        return self.min_df if isinstance(self.min_df, numbers.Integral) else float(self.min_df) * n_documents

    def _joined(self, stream: Stream, words: list[str]) -> tuple[Any, list[str]]:
        """Counts and words with phrases; a word that hardly occurs outside phrases is left out."""
        least = LEAST_NPMI if self.phrases is True else float(self.phrases)
        pairs = find_phrases(stream, len(words), least)
        words = words + [f"{words[a]} {words[b]}" for a, b in pairs]
        counts = join_phrases(stream, pairs, len(words) - len(pairs)).counts(len(words))
        present = np.bincount(counts.indices, minlength=len(words))
        kept = np.flatnonzero(present >= min(self._least(counts.shape[0]), 2))
        return counts[:, kept], [words[column] for column in kept]

    def _refuse(self, stream: Stream, n_documents: int) -> None:
        if not stream.words:
            raise ValueError(
                f"no word was found in {n_documents} document(s): words have at least two letters; give texts in a language "
                "written with spaces between words."
            )
        raise ValueError(
            f"none of the {len(stream.words)} words of {n_documents} document(s) is left: each is in too few documents "
            f"(min_df={self.min_df!r}), in too many (max_df={self.max_df!r}) or among stop_words; give more texts, or "
            f"set min_df=1, max_df=1.0 and stop_words=None."
        )

    def _check(self) -> None:
        for name in ("max_df", "min_df"):
            value = getattr(self, name)
            kind, most = (numbers.Real, 1.0) if isinstance(value, float) else (numbers.Integral, math.inf)
            check_number(name, value, kind, 0, most, also=("auto",))
        check_number("max_features", self.max_features, numbers.Integral, 1, also=(None,))
        if not isinstance(self.phrases, bool):
            check_number("phrases", self.phrases, numbers.Real, -1, 1)
        if isinstance(self.stop_words, str) and self.stop_words not in ("auto", *LANGUAGES):
            raise ValueError(
                f"stop_words={self.stop_words!r} is no language with a list; give one of auto, {', '.join(LANGUAGES)}, a list of "
                "words, or None."
            )


def given_words(words: Any) -> list[str]:
    """A vocabulary as a list of words, each once."""
    if isinstance(words, dict):
        words = sorted(words, key=words.__getitem__)
    if isinstance(words, str):
        raise ValueError(f"vocabulary={words!r} is one text; give a list of words.")
    found = [str(word) for word in words]
    if not found:
        raise ValueError("vocabulary is empty; give at least one word.")
    if len(set(found)) < len(found):
        seen: set[str] = set()
        twice = next(word for word in found if word in seen or seen.add(word))  # type: ignore[func-returns-value]
        raise ValueError(f"vocabulary holds {twice!r} twice; give each word once.")
    return found
