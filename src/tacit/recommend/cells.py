"""Cells of a column as numbers, as moments and as ids, whatever library or file the column is from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from ..frames import is_missing
from ..notes import NoteError, Option
from ..survey.cells import Missing
from ..survey.numerals import NUMBER_READINGS

__all__ = ["names_of", "numbers", "seconds", "whole"]


def whole(column: Any) -> Any:
    """A column of Arrow in one piece; others as they are."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


def names_of(column: Any, written: bool, missing: Missing) -> Any:
    """Ids as `tacit.recommend.ids.Ids` takes them; in a text file, space about them is no part of them."""
    column = whole(column)
    if not written or isinstance(column, np.ndarray):
        return column
    texts = missing.of_texts(
        column if _is_text(column.type) or types.is_dictionary(column.type) else column.cast(pa.string())
    )
    gone = texts.gone[texts.places]
    return pa.DictionaryArray.from_arrays(pa.array(texts.places, mask=gone if gone.any() else None), texts.texts)


def numbers(column: Any, name: Any, missing: Missing) -> np.ndarray:
    """Cells as float64, NaN where missing.

    Raises
    ------
    ValueError
        Where a cell is no number, with the cell.
    """
    column = whole(column)
    if isinstance(column, np.ndarray):
        return _of_objects(column.tolist(), name, missing)
    kind = column.type
    if types.is_dictionary(kind):
        values = np.append(numbers(column.dictionary, name, missing), np.nan)
        places = compute.fill_null(column.indices.cast(pa.int64()), -1)
        return values[places.to_numpy(zero_copy_only=False)]
    if _is_text(kind):
        return _of_texts(column, name, missing)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    elif types.is_boolean(kind):
        values = column.cast(pa.uint8()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    else:
        raise _no_number(name, column.drop_null()[0].as_py() if len(column) > column.null_count else None)
    for number in missing.numbers:
        values = np.where(values == number, np.nan, values)
    return values


def _is_text(kind: pa.DataType) -> bool:
    return "string" in str(kind)  # string, large_string or string_view


def _of_texts(column: Any, name: Any, missing: Missing) -> np.ndarray:
    """Numbers that texts write, with a decimal point or comma."""
    texts = _known_texts(column, missing)
    try:
        return numbers(texts.cast(pa.float64()), name, missing)
    except pa.ArrowInvalid:
        pass
    encoded = texts.dictionary_encode()
    levels = encoded.dictionary.to_pylist()
    for reading in ("number", "comma"):
        found = NUMBER_READINGS[reading](levels)
        if found is not None:
            return numbers(pa.DictionaryArray.from_arrays(encoded.indices, pa.array(found)), name, missing)
    raise _no_number(name, next(text for text in levels if NUMBER_READINGS["comma"]([text]) is None))


def _known_texts(column: Any, missing: Missing) -> Any:
    """Texts without space about them; null where they stand for missing."""
    texts = compute.utf8_trim_whitespace(column.cast(pa.string()))
    gone = compute.or_kleene(compute.is_null(texts), compute.is_in(texts, value_set=missing.texts))
    return compute.if_else(gone, pa.scalar(None, pa.string()), texts)


def _of_objects(cells: list, name: Any, missing: Missing) -> np.ndarray:
    if all(is_missing(cell) or isinstance(cell, (str, int, float, np.number)) for cell in cells):
        return _of_texts(
            pa.array([None if is_missing(cell) else str(cell) for cell in cells], pa.string()), name, missing
        )
    raise _no_number(name, next(cell for cell in cells if not isinstance(cell, (str, int, float, np.number))))


def _no_number(name: Any, cell: Any) -> NoteError:
    text = "column {name!r} holds {cell!r}, which is no number; replace it by one, or leave the cell empty."
    return NoteError("no_number", text, name=name, cell=cell)


def seconds(column: Any, name: Any, missing: Missing) -> np.ndarray:
    """Times as float64: dates in seconds since 1970, numbers as they are; NaN where missing.

    Raises
    ------
    ValueError
        Where a cell is neither a date nor a number.
    """
    column = whole(column)
    if isinstance(column, pa.Array) and types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if isinstance(column, pa.Array) and _is_text(column.type):
        dated = _dates(column, missing)
        column = column if dated is None else dated
    if isinstance(column, pa.Array) and (types.is_timestamp(column.type) or types.is_date(column.type)):
        column = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        return numbers(column, name, missing) / 1e6
    try:
        return numbers(column, name, missing)
    except NoteError as error:
        cell = error.note.values["cell"]
        text = (
            "column {name!r} holds {cell!r}, neither a number nor a date such as 2024-05-31; leave it out by {option}."
        )
        raise NoteError("no_time", text, name=name, cell=cell, option=Option("time", False)) from None


def _dates(column: Any, missing: Missing) -> Any:
    """Texts as moments; None where one of them is none."""
    texts = _known_texts(column, missing)
    try:
        return texts.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None
