"""Cells of any origin as the survey takes them: float64 or text, with one rule of what is missing."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from ..frames import Cells, as_numbers, is_missing
from .dates import date_text
from .numerals import canonical, numbers_of

__all__ = ["CODES", "MARKS", "MISSING", "Missing", "Texts", "arrow_of", "cells_of_arrow", "has_names"]

PLAIN = ("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null")
MARKS = ("?", ".", "-")
MISSING = (*PLAIN, *MARKS)
"""Texts that stand for a missing cell, whatever their case; "none" is an answer more often than a missing value. Marks may be
levels as well (of a test that is + or -), so columns of text say where they were taken as missing."""
EXACT = 2.0**53
CODES = r"^(?:0\d+|\d{16,})$"
"""Whole numbers that are names: 007, or with more digits than double precision keeps."""


class Texts(Cells):
    """Cells of text, without blanks around them: the different texts, and for every cell the place of its own among them.

    Parameters
    ----------
    texts : pa.StringArray
        The different texts; some may occur no longer.
    places : (n,) int array
    gone : (len(texts),) bool array
        Which of the texts stand for a missing cell.
    given : object
        As in `Cells`.
    """

    numeric = False
    texts: pa.StringArray
    places: np.ndarray
    gone: np.ndarray

    def __init__(self, texts: pa.StringArray, places: np.ndarray, gone: np.ndarray, given: Any = None):
        self.__dict__.update(texts=texts, places=places, gone=gone, given=given, levels=None, whole=False)

    @cached_property
    def missing(self) -> np.ndarray:  # type: ignore[override]
        """Which cells are missing."""
        return self.gone[self.places]

    @cached_property
    def values(self) -> np.ndarray:  # type: ignore[override]
        """The texts; what stands there where missing."""
        return np.array([*self.texts.to_pylist(), None], dtype=object)[self.places]

    def written(self) -> Any:
        return self.texts.take(pa.array(self.places)) if self.given is None else super().written()

    @cached_property
    def _times(self) -> np.ndarray:
        return np.bincount(self.places, minlength=len(self.texts))

    @cached_property
    def _occurring(self) -> np.ndarray:
        """Places of the different texts that occur and are not missing."""
        return np.flatnonzero((self._times > 0) & ~self.gone)

    @cached_property
    def known(self) -> Any:
        """The different texts that occur and are not missing, as an Arrow array."""
        return self.texts.take(pa.array(self._occurring))

    @property
    def times(self) -> np.ndarray:
        """How often each of them occurs."""
        return self._times[self._occurring]

    @property
    def marks(self) -> dict[str, int]:
        """How often each text stands for a missing cell."""
        found = np.flatnonzero((self._times > 0) & self.gone)
        return dict(zip(self.texts.take(pa.array(found)).to_pylist(), self._times[found].tolist()))

    @property
    def counts(self) -> dict[str, int]:
        """How often the different texts occur that are not missing."""
        return dict(zip(self.known.to_pylist(), self.times.tolist()))

    def spread(self, values: Any, missing: Any = np.nan) -> np.ndarray:
        """An array with the value of its text in every cell, from one for each of `known`."""
        values = np.asarray(values)
        every = np.full(len(self.texts), missing, dtype=values.dtype)
        every[self._occurring] = values
        return every[self.places]

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The numbers of the texts in `known`, None if one of them is no number."""
        try:
            values = self.known.cast(pa.float64()).to_numpy(zero_copy_only=False)
            return values if np.isfinite(values).all() else None
        except pa.ArrowInvalid:  # some are written as only Python reads them, or are no numbers
            return self.read(numbers_of)

    @cached_property
    def days(self) -> np.ndarray | None:
        """Days since 1970 of the texts in `known` where all are written as 2024-01-31, None otherwise."""
        try:
            return self.known.cast(pa.date32()).cast(pa.int32()).to_numpy(zero_copy_only=False).astype(np.float64)
        except pa.ArrowInvalid:
            return None

    def read(self, parser: Any) -> np.ndarray | None:
        """Numbers that a parser of texts makes of those in `known`; None where it cannot."""
        texts = self.known.slice(0, 1).to_pylist()
        return None if parser(texts) is None else parser(self.known.to_pylist())

    @property
    def styles(self) -> tuple[bool, bool, bool]:
        """Whether numbers have decimal points, leading zeros (007), or more digits than double precision keeps."""
        codes = self.known.filter(compute.match_substring_regex(self.known, CODES))
        zeros = compute.any(compute.starts_with(codes, "0")).as_py()
        long = (compute.max(compute.utf8_length(codes)).as_py() or 0) > 15
        return bool(compute.any(compute.match_substring(self.known, ".")).as_py()), bool(zeros), long

    def take(self, rows: np.ndarray) -> Texts:
        return Texts(self.texts, self.places[rows], self.gone, self._given(rows))


def has_names(values: np.ndarray, whole: bool) -> bool:
    """Whether numbers are rather names, all of whose digits count: whole, and beyond those that double precision tells apart."""
    return whole and bool((np.abs(values) > EXACT).any())


class Missing:
    """What stands for a missing cell, and cells made by that rule.

    Parameters
    ----------
    texts : iterable of str
        Texts that stand for missing beside the usual ones; those that are numbers do so in columns of numbers as well.
    """

    def __init__(self, texts: Iterable[str] = ()):
        texts = [str(text).strip() for text in texts]
        self.asked = bool(texts)
        # All spellings, so that a cell is looked up without changing its case first.
        self.texts = pa.array(sorted({spelling for text in (*MISSING, *texts) for spelling in _spellings(text)}))
        self.numbers = sorted({number for number in map(_number, texts) if number is not None})

    def of_texts(self, texts: Any, given: Any = None) -> Texts:
        """Cells of text, from Python or from Arrow, dictionary-encoded or not."""
        column = texts if isinstance(texts, pa.Array) else _strings(list(texts))
        column = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        places = compute.fill_null(column.indices, len(column.dictionary)).to_numpy(zero_copy_only=False)
        found = pa.concat_arrays(
            [column.dictionary.cast(pa.string()), pa.array([""] if column.null_count else [], pa.string())]
        )
        trimmed = compute.utf8_trim_whitespace(compute.fill_null(found, ""))
        if not trimmed.equals(found):  # some may be equal now
            again = trimmed.dictionary_encode()
            trimmed, places = again.dictionary, again.indices.to_numpy()[places]
        return Texts(trimmed, places, compute.is_in(trimmed, self.texts).to_numpy(zero_copy_only=False), given)

    def of_numbers(self, values: Any, whole: bool = False, given: Any = None) -> Cells:
        """Cells of numbers; NaN is missing."""
        values = np.asarray(values, dtype=np.float64)
        missing = np.isnan(values)
        for number in self.numbers:
            missing |= values == number
        if self.numbers:
            values = np.where(missing, np.nan, values)
        return Cells(values, missing, whole=whole, given=given)

    def of_objects(self, cells: Iterable[Any], given: Any = None) -> Cells:
        """Cells of Python objects: numbers if all are, else text."""
        cells = [None if is_missing(cell) else cell for cell in cells]
        kinds = {type(cell) for cell in cells} - {type(None)}
        given = cells if given is None else given
        if kinds and all(issubclass(kind, (int, float, Decimal, np.number)) and kind is not bool for kind in kinds):
            whole = all(issubclass(kind, (int, np.integer)) for kind in kinds)
            values = np.array([np.nan if cell is None else float(cell) for cell in cells])
            if not has_names(values, whole):
                return self.of_numbers(values, whole, given)
        return self.of_texts([_text(cell) for cell in cells], given=None if kinds <= {str} else given)


def _strings(texts: list) -> Any:
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:  # halves of letters, which no file holds
        return pa.array([text.encode("utf-8", "replace").decode() for text in texts], pa.string())


def _spellings(text: str) -> set[str]:
    """A text in every mix of upper and lower case; only the usual ones if it is long."""
    if len(text) > 10:
        return {text, text.lower(), text.upper(), text.title(), text.capitalize()}
    return {"".join(letters) for letters in product(*({letter.lower(), letter.upper()} for letter in text))}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, (str, float, np.floating)):
        return canonical(cell)
    if isinstance(cell, (datetime.date, datetime.time, datetime.timedelta)):
        return date_text(cell)
    return str(cell)


def arrow_of(cells: list) -> pa.Array:
    """Python objects as a column of Arrow: of their type or, where they are of several, of text."""
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        return _strings([None if cell is None else _text(cell) for cell in cells])


def cells_of_arrow(column: pa.Array, missing: Missing) -> Cells:
    """An Arrow column as cells."""
    types = pa.types
    column = column.storage if isinstance(column, pa.ExtensionArray) else column
    kind = column.type
    found = as_numbers(column)
    if found is not None and not has_names(*found):
        return missing.of_numbers(*found, given=column)
    if types.is_dictionary(kind):
        return cells_of_arrow(column.dictionary_decode(), missing)
    if types.is_string(kind) or types.is_large_string(kind):
        return missing.of_texts(column, given=column)
    if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return missing.of_texts(
            [None if value is None else str(value)[:200] for value in column.to_pylist()], given=column
        )
    if types.is_timestamp(kind) and kind.unit == "ns":
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    encoded = column.dictionary_encode()  # every different date is written once
    texts = _strings([_text(value) for value in encoded.dictionary.to_pylist()])
    return missing.of_texts(pa.DictionaryArray.from_arrays(encoded.indices, texts), given=column)
