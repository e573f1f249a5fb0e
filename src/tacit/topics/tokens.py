"""`Reading`: how texts become words, in languages that are written with spaces between words.

A word is a run of letters, marks and digits, with apostrophes and hyphens inside it: don't, co-operative, b2b,
naïve. What is written
in several ways is one word: case (by default), typographic apostrophes and hyphens, composed and decomposed letters,
the possessive 's and the elided articles of French and Italian (l'eau, dell'arte).
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..declared import Flag, Listed, Text, declare, savable

__all__ = ["Reading", "Stream", "checked_texts", "is_tokens"]

ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\w+")
JOINERS = {
    "'": "'",
    "’": "'",
    "ʼ": "'",
    "＇": "'",
    "-": "-",
    "‐": "-",
    "‑": "-",
    "\u00ad": None,
    "\u200c": "\u200c",
    "\u200d": "\u200d",
}
ELIDED = re.compile(r"\A(?:[cdjlmnst]|qu|dell|nell|dall|sull|all|un|quest)'(?=.{3})")


class _Letters(dict):
    """What becomes of every letter, for `str.translate`: what is no part of a word is a blank."""

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        # Vowel signs and tone marks are part of words: without them those of Indic scripts would fall apart.
        inside = letter.isalnum() or unicodedata.category(letter) in ("Mn", "Mc")
        self[code] = found = letter if inside else JOINERS.get(letter, " ")
        return found


LETTERS = _Letters()


@savable
@dataclass(frozen=True)
class Reading:
    """How texts become words.

    Parameters
    ----------
    lowercase : bool
        Whether case does not matter.
    numbers : bool
        Whether numbers are words, 3.14 being two; those with letters (b2b, 4th) always are.
    language : str, optional
        The language whose function words were left out; None where none were.
    stop_words : tuple of str
        Further words that were asked to be left out.
    """

    lowercase: bool = True
    numbers: bool = False
    language: str | None = None
    stop_words: tuple[str, ...] = ()

    _saved = declare(
        lowercase=Flag(), numbers=Flag(), language=Text(optional=True, needed=False),
        stop_words=Listed(Text(), tuple, needed=False),
    )  # fmt: skip

    def tokens(self, text: str) -> list[str]:
        """The words of a text as they are written, in order; `word` says which word each is."""
        if "://" in text or "@" in text or "www." in text:
            text = ADDRESS.sub(" ", text)
        if self.lowercase:
            text = text.lower()
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        if "--" in text:  # a dash
            text = text.replace("--", " ")
        return text.translate(LETTERS).split()

    def word(self, token: str) -> str | None:
        """The word that a token stands for; None where it is none: a number, or a single letter of an alphabet with cases."""
        token = token.strip("'-")
        if token.endswith(("'s", "'S")):
            token = token[:-2]
        if "'" in token:
            token = ELIDED.sub("", token, count=1) if self.lowercase else token
        if not self.numbers and not any(map(str.isalpha, token)):
            return None
        if not token or (len(token) == 1 and not token.isdigit() and unicodedata.category(token) != "Lo"):
            return None
        return token

    def words(self, text: str) -> list[str]:
        """The words of a text, in order."""
        return [word for word in map(self.word, self.tokens(text)) if word is not None]

    def stream(self, texts: Iterable[str], number: Callable[[str], int] | None = None) -> Stream:
        """All words of texts as numbers: those that `number` gives, −1 for none; by default words are numbered as they come.

        A document that is a list of words has these words, as they are.
        """
        kinds = _Kinds(self, number)
        ids, ends, look = array("i"), array("q", [0]), kinds.__getitem__
        for text in checked_texts(texts):
            ids.extend(map(look, self.tokens(text)) if isinstance(text, str) else map(kinds.number, text))
            ends.append(len(ids))
        return Stream(np.frombuffer(ids, dtype=np.int32).copy(), np.array(ends), list(kinds.known))


class _Kinds(dict):
    """The number of every token met so far; each kind of token is looked at once."""

    def __init__(self, reading: Reading, number: Callable[[str], int] | None):
        self.reading, self.number = reading, number or self._next
        self.known: dict[str, int] = {}

    def _next(self, word: str) -> int:
        return self.known.setdefault(word, len(self.known))

    def __missing__(self, token: str) -> int:
        word = self.reading.word(token)
        self[token] = number = -1 if word is None else self.number(word)
        return number


@dataclass(frozen=True)
class Stream:
    """The words of texts as numbers, one text after the other.

    Attributes
    ----------
    ids : (n,) int32 array
        −1 for what is no word.
    ends : (texts + 1,) array
        Where texts begin and end among them.
    words : list of str
        The words, by number; empty where they were numbered from outside.
    """

    ids: np.ndarray
    ends: np.ndarray
    words: list[str]

    @property
    def texts(self) -> np.ndarray:
        """The number of the text that each word is of."""
        return np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))

    def without(self, gone: np.ndarray) -> Stream:
        """The same without some places."""
        kept = np.concatenate([[0], np.cumsum(~gone)])
        return Stream(self.ids[~gone], kept[self.ends], self.words)

    def renumbered(self, numbers: np.ndarray, words: list[str]) -> Stream:
        """The same with other numbers: `numbers` has that of every old one, −1 for none."""
        return Stream(np.append(numbers, -1).astype(np.int32)[self.ids], self.ends, words)

    def counts(self, n_words: int) -> Any:
        """How often each text (row) has each word (column), as a CSR matrix."""
        from scipy.sparse import csr_matrix

        known = self.without(self.ids < 0)
        shape = (len(self.ends) - 1, n_words)
        made = csr_matrix((np.ones(len(known.ids)), known.ids, known.ends), shape=shape)
        made.sum_duplicates()
        return made


def checked_texts(texts: Iterable[Any]) -> Iterable[Any]:
    """Texts, or lists of words, of which the first that is neither is refused; what is missing is ''."""
    if isinstance(texts, (str, bytes)) or not hasattr(texts, "__iter__"):
        told = f"one text ({texts[:40]!r})" if isinstance(texts, (str, bytes)) else f"a {type(texts).__name__}"
        raise ValueError(f"texts is {told}; give a list of texts, one for each document.")
    names = list(texts) if isinstance(texts, Mapping) else getattr(texts, "columns", None)
    if names is not None:
        told, first = ", ".join(map(str, list(names)[:8])), next(iter(names), "text")
        raise ValueError(f"texts is a table with the columns {told}; give one column, such as table[{first!r}].")
    if getattr(texts, "ndim", 1) != 1:
        raise ValueError(f"texts is an array of shape {texts.shape}; give one column of texts.")  # type: ignore[attr-defined]
    return _each(texts)


def is_tokens(document: Any) -> bool:
    """Whether a document is given as a list of its words."""
    return isinstance(document, (list, tuple)) and bool(document) and all(isinstance(word, str) for word in document)


def _each(texts: Iterable[Any]) -> Iterable[Any]:
    for place, text in enumerate(texts):
        if isinstance(text, str) or is_tokens(text):
            yield text
        elif _is_missing(text):
            yield ""
        else:
            remedy = "decode it" if isinstance(text, bytes) else "give '' for a document without words"
            raise ValueError(f"document {place} is {text!r}, of type {type(text).__name__}, and no text; {remedy}.")


def _is_missing(text: Any) -> bool:
    """Whether it stands for no text: None, NaN, pandas.NA, or a list without words."""
    nan = isinstance(text, float) and text != text
    return (
        text is None
        or nan
        or type(text).__name__ in ("NAType", "NaTType")
        or (isinstance(text, (list, tuple)) and not text)
    )
