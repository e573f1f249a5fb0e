"""`Corpus`: documents as counts of words, X_dw, with the words and, where they are known, texts, titles and times."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .tokens import Reading, checked_texts
from .vectorizer import TextVectorizer, given_words

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Corpus", "counts_of"]


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents as counts of words.

    Every model of topics takes a corpus where it takes counts, and keeps its words. Make one by `from_texts`, `from_lines`,
    `from_table` or `from_counts`.

    Parameters
    ----------
    counts : CSR matrix of shape (n_documents, n_words)
        How often each document has each word.
    words : list of str
        The words, one for each column.
    texts : list of str, optional
        The texts themselves, for coherence over windows and for reading typical documents.
    titles : list of str, optional
        What documents are called.
    times : array of shape (n_documents,), optional
        When each document was: datetime64, or numbers such as years.
    reading : tacit.topics.tokens.Reading, optional
        How texts became words, by which a model reads new texts.
    name : str
        What the corpus is called.

    Examples
    --------
    >>> from tacit.topics import Corpus
    >>> corpus = Corpus.from_texts(["Cats chase mice.", "Mice eat cheese.", "Dogs chase cats."])
    >>> corpus.words
    ['cats', 'chase', 'cheese', 'dogs', 'eat', 'mice']
    >>> corpus.counts.shape, len(corpus)
    ((3, 6), 3)
    """

    counts: csr_matrix
    words: list[str]
    texts: list[str] | None = None
    titles: list[str] | None = None
    times: np.ndarray | None = None
    reading: Reading | None = None
    name: str = "corpus"

    def __post_init__(self) -> None:
        n_documents, n_words = self.counts.shape
        if len(self.words) != n_words:
            raise ValueError(f"{len(self.words)} words are given for counts of {n_words}; give one for each column.")
        for what in ("texts", "titles", "times"):
            given = getattr(self, what)
            if given is not None and len(given) != n_documents:
                raise ValueError(f"{len(given)} {what} are given for {n_documents} documents; give one for each.")

    def __len__(self) -> int:
        return self.counts.shape[0]

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}: {len(self):,} documents, {len(self.words):,} words)"

    @property
    def n_empty(self) -> int:
        """How many documents have none of the words."""
        return int((np.diff(self.counts.indptr) == 0).sum())

    @property
    def vectorizer(self) -> Any:
        """What counts the same words of other texts; None where it is not known how texts became words."""
        return None if self.reading is None else vectorizer_of(self.reading, self.words)

    def take(self, rows: Any) -> Corpus:
        """Some of the documents.

        Parameters
        ----------
        rows : array of int or bool

        Returns
        -------
        Corpus
        """
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        texts, titles = (None if part is None else [part[row] for row in rows] for part in (self.texts, self.titles))
        times = None if self.times is None else self.times[rows]
        return Corpus(self.counts[rows], self.words, texts, titles, times, self.reading, self.name)

    # Where corpora come from

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], *, titles: Sequence[str] | None = None, times: Any = None, vectorizer: Any = None,
        name: str = "corpus", **settings: Any,
    ) -> Corpus:  # fmt: skip
        """A corpus of texts.

        Parameters
        ----------
        texts : iterable of str
            One for each document; None and NaN are documents without words. A document may also be a list of its words, which are
            taken as they are.
        titles : list of str, optional
        times : array-like, optional
            Dates, texts such as 2024-01-31, or numbers such as years.
        vectorizer : TextVectorizer, or a vectoriser of scikit-learn, optional
            What counts words: a fitted one keeps its words, others learn them. Default a new TextVectorizer.
        name : str
        **settings
            Of the TextVectorizer, where none is given.

        Returns
        -------
        Corpus
        """
        texts = list(checked_texts(texts))
        if not texts:
            raise ValueError("there are no texts; give at least one document.")
        if vectorizer is not None and settings:
            raise ValueError(f"{next(iter(settings))} is a setting of the vectorizer that is given; set it there.")
        vectorizer = TextVectorizer(**settings) if vectorizer is None else vectorizer
        counts, words = _counted(vectorizer, texts)
        reading = vectorizer.reading if isinstance(vectorizer, TextVectorizer) else None
        written = [text if isinstance(text, str) else " ".join(text) for text in texts]
        return cls(counts, words, written, _listed(titles), times_of(times), reading, name)

    @classmethod
    def from_lines(cls, path: str | os.PathLike, *, encoding: str = "utf-8", **settings: Any) -> Corpus:
        """A corpus of a file with one document per line, plain or compressed (gz, bz2, xz, zst).

        Parameters
        ----------
        path : str or path-like
        encoding : str
        **settings
            As in `from_texts`. A line without words is a document without words.

        Returns
        -------
        Corpus
        """
        name = os.path.basename(os.fspath(path)).partition(".")[0] or "corpus"
        return cls.from_texts(read_lines(os.fspath(path), encoding), **{"name": name, **settings})

    @classmethod
    def from_table(
        cls, table: Any, text: str, *, title: str | None = None, time: str | None = None, vectorizer: Any = None,
        reading: dict | None = None, **settings: Any,
    ) -> Corpus:  # fmt: skip
        """A corpus of a column of texts.

        Parameters
        ----------
        table : path, data frame, dictionary of columns or DataTable
            Whatever `tacit.tables.open_table` opens.
        text : str
            The column of texts; a missing cell is a document without words.
        title, time : str, optional
            Columns of titles and of dates or numbers.
        vectorizer, **settings
            As in `from_texts`.
        reading : dict, optional
            How the table is read, as in `tacit.tables.open_table`.

        Returns
        -------
        Corpus
        """
        from .columns import text_columns

        texts, titles, times, name = text_columns(table, text, title, time, reading or {})
        return cls.from_texts(texts, titles=titles, times=times, vectorizer=vectorizer, name=name, **settings)

    @classmethod
    def from_counts(cls, counts: Any, words: Iterable[str], **more: Any) -> Corpus:
        """A corpus of counts that are there already, such as those of scikit-learn's ``CountVectorizer``.

        Parameters
        ----------
        counts : sparse matrix or array of shape (n_documents, n_words)
        words : iterable of str
            One for each column.
        **more
            `texts`, `titles`, `times` and `name`.

        Returns
        -------
        Corpus
        """
        from scipy.sparse import csr_matrix

        made = csr_matrix(counts, dtype=np.float64)
        if made.data.size and not np.isfinite(made.data).all():
            raise ValueError("counts hold what is no finite number; give how often each document has each word.")
        if made.data.size and made.data.min() < 0:
            raise ValueError(f"counts hold {made.data.min():g}; give how often each document has each word.")
        more = {**more, "times": times_of(more.get("times")), "titles": _listed(more.get("titles"))}
        return cls(made, given_words(words), **more)


def vectorizer_of(reading: Reading, words: Iterable[str]) -> TextVectorizer:
    """What counts given words of texts."""
    stop_words = list(reading.stop_words) or reading.language
    made = TextVectorizer(
        lowercase=reading.lowercase, numbers=reading.numbers, stop_words=stop_words, vocabulary=list(words)
    )
    made.language_ = reading.language
    return made


def counts_of(X: Any) -> Any:
    """The counts of a corpus; anything else as it is.

    Parameters
    ----------
    X : Corpus or anything
    """
    return X.counts if isinstance(X, Corpus) else X


def part_of(X: Any, rows: np.ndarray) -> Any:
    """Some documents of a corpus or of counts."""
    return X.take(rows) if isinstance(X, Corpus) else X[rows]


def times_of(times: Any) -> np.ndarray | None:
    """Times as an array of datetime64 or of numbers."""
    if times is None:
        return None
    found = np.asarray(times)
    if found.dtype.kind in "OU":
        try:
            found = np.array(
                [np.datetime64("NaT") if each is None else each for each in found.tolist()], "datetime64[s]"
            )
        except (TypeError, ValueError) as error:
            raise ValueError(f"times cannot be read ({error}); give dates such as 2024-01-31, or numbers.") from None
    if found.dtype.kind not in "Mfiu" or found.ndim != 1:
        raise ValueError(f"times are of type {found.dtype}; give one date or number for each document.")
    return found if found.dtype.kind == "M" else found.astype(np.float64)


def read_lines(path: str, encoding: str = "utf-8") -> list[str]:
    """The lines of a text file, which must be text."""
    from ..tables.textfile import CORRUPT, open_lines

    if not os.path.isfile(path):
        what = "is a folder" if os.path.isdir(path) else "does not exist"
        raise ValueError(f"{path} {what}; give a file with one document per line.")
    try:
        with open_lines(path, encoding) as file:
            lines = file.read().removeprefix("\ufeff").split("\n")
    except (UnicodeDecodeError, LookupError) as error:
        raise ValueError(
            f"{path} is no text in {encoding} ({error}); say which encoding it has (--encoding, or encoding= in Python)."
        ) from None
    except CORRUPT as error:
        raise ValueError(f"{path} is damaged: {error}.") from None
    if any("\0" in line for line in lines):
        raise ValueError(
            f"{path} is no text: it holds bytes that are 0; give a file with one document per line, or say which "
            "encoding it has (--encoding, or encoding= in Python)."
        )
    lines = [line.rstrip("\r") for line in lines]
    lines = lines[:-1] if lines and not lines[-1] else lines
    if not any(map(str.strip, lines)):
        raise ValueError(f"{path} is empty; give a file with one document per line.")
    return lines


def _counted(vectorizer: Any, texts: list[str]) -> tuple[Any, list[str]]:
    """Counts and words; a vectoriser that is not fitted learns from the texts."""
    from scipy.sparse import csr_matrix
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(vectorizer, "get_feature_names_out"):
        raise TypeError(
            f"a {type(vectorizer).__name__} does not know its words; use tacit.topics.TextVectorizer or scikit-learn's "
            "CountVectorizer."
        )
    known = "words_" if isinstance(vectorizer, TextVectorizer) else "vocabulary_"
    try:
        check_is_fitted(vectorizer, known)
        counts = vectorizer.transform(texts)
    except NotFittedError:
        counts = vectorizer.fit_transform(texts)
    return csr_matrix(counts, dtype=np.float64), [str(word) for word in vectorizer.get_feature_names_out()]


def _listed(titles: Any) -> list[str] | None:
    return None if titles is None else ["" if title is None else str(title) for title in titles]
