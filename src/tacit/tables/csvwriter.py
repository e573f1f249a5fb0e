"""`CsvWriter`: columns written as CSV, part by part."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from ..survey.dates import date_text

__all__ = ["CsvWriter"]

DIGITS = 10
EXACT = 22
"""Powers of ten up to this are exact in double precision."""


class CsvWriter:
    """Columns written as CSV, part by part; None and NaN become empty cells.

    Cells of lists are somebody's own and are written so that they read back the same; numbers of arrays are results, and have ten
    digits; texts are written as they are.
    """

    def __init__(self, path: Any, separator: str = ",", decimal: str = "."):
        self.file = open(path, "wb")  # noqa: SIM115
        self.separator, self.decimal = separator, decimal
        self.names: list[str] | None = None

    def write(self, columns: dict[str, Any]) -> None:
        """Append rows."""
        if self.names is None:
            self.names = list(columns)
            self._write([pa.array([name], pa.string()) for name in self.names])
        elif self.names != list(columns):
            raise ValueError(f"rows with the columns {', '.join(columns)} cannot follow {', '.join(self.names)}.")
        plain = [self.decimal != self.separator and _is_numeric(values) for values in columns.values()]
        self._write([_texts(values, self.decimal) for values in columns.values()], plain)

    def _write(self, columns: list[pa.Array], plain: Sequence[bool] = ()) -> None:
        """Append texts; those of columns that are `plain` hold no mark that asks for quotes."""
        alone = len(columns) == 1
        *quoted, last = (
            column if known and not alone else self._quoted(column, alone)
            for column, known in zip(columns, plain or [False] * len(columns))
        )
        ended = compute.binary_join_element_wise(last, "\n", "", null_handling="replace")
        lines = compute.binary_join_element_wise(*quoted, ended, self.separator, null_handling="replace")
        self.file.write(b"" if not len(lines) else lines.buffers()[2])

    def _quoted(self, column: pa.Array, alone: bool) -> pa.Array:
        """Texts as cells; an empty one that stands alone would be a blank line."""
        column = compute.fill_null(column, "") if alone else column
        letters = (column.buffers()[2] or pa.py_buffer(b"")).to_pybytes()
        if not alone and not any(mark.encode() in letters for mark in (self.separator, '"', "\r", "\n")):
            return column  # as nearly all are, which looking at every cell would take long to find
        odd = compute.match_substring_regex(column, f'[{re.escape(self.separator)}"\r\n]' + "|^$" * alone)
        if not compute.any(odd).as_py():
            return column
        marked = compute.binary_join_element_wise('"', compute.replace_substring(column, '"', '""'), '"', "")
        return compute.if_else(odd, marked, column)

    def close(self) -> None:
        """Write what is left."""
        self.file.close()


def _is_numeric(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind in "fiu"


def _texts(values: pa.Array | np.ndarray | Sequence, decimal: str) -> pa.Array:
    """A column as texts, null where missing."""
    if isinstance(values, pa.Array):
        return values
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        texts = pa.array(_rounded(values) if values.dtype.kind == "f" else values, from_pandas=True).cast(pa.string())
        return texts if decimal == "." else compute.replace_substring(texts, ".", decimal)
    if isinstance(values, np.ndarray) and values.dtype.kind == "U":
        return pa.array(values, pa.string())
    cells = values.tolist() if isinstance(values, np.ndarray) else values
    try:
        return pa.array(cells, pa.string())
    except (pa.ArrowTypeError, pa.ArrowInvalid, UnicodeEncodeError):  # not all are texts
        texts = [_text(value, decimal) for value in cells]
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:  # halves of letters
        return pa.array([text and text.encode("utf-8", "replace").decode() for text in texts], pa.string())


def _rounded(values: np.ndarray) -> np.ndarray:
    """Numbers of ten digits, as the doubles nearest to them."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(np.abs(values)))
        power = 10.0 ** np.abs(places)
        found = np.where(places > 0, np.rint(values * power) / power, np.rint(values / power) * power)
    return np.where(np.abs(places) <= EXACT, found, values)


def _text(value: Any, decimal: str) -> str | None:
    if value is None or value != value:
        return None
    if isinstance(value, float):
        return float.__repr__(value).removesuffix(".0").replace(".", decimal)
    return date_text(value) if isinstance(value, (datetime.date, datetime.time)) else str(value)
