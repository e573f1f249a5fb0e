"""`Table`: results in columns, which print as text and become a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from numbers import Integral, Real
from typing import Any

import numpy as np

from .declared import Listed, Mapped, Text, declare, savable

__all__ = ["Table", "html"]

WIDEST = 72


@savable
class Table:
    """Columns of equal length, with names.

    ``table["name"]`` is a column as a list, ``table[0]`` a row as a dictionary; iteration goes over rows.

    Parameters
    ----------
    rows : list of dict
        Rows with the same keys.
    title : str, optional
        A line to print above.

    Examples
    --------
    >>> from tacit.table import Table
    >>> print(Table([{"model": "tied", "bic": 2314.29573}, {"model": "full", "bic": None}]))
    model      bic
    tied   2314.30
    full         -
    """

    _saved = declare(rows=Listed(Mapped()), title=Text(optional=True))

    def __init__(self, rows: Iterable[dict], title: str | None = None):
        self.rows, self.title = list(rows), title
        self.columns = list(self.rows[0]) if self.rows else []

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict]:
        return iter(self.rows)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.columns:
                raise KeyError(f"{key!r} is no column; there are {', '.join(self.columns)}.")
            return [row[key] for row in self.rows]
        return Table(self.rows[key], self.title) if isinstance(key, slice) else self.rows[key]

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas; install it with: pip install pandas") from error
        return pandas.DataFrame(self.rows, columns=self.columns)

    to_frame = to_pandas

    def _shown(self) -> list[str]:
        """The columns that hold anything."""
        return [name for name in self.columns if any(row[name] is not None for row in self.rows)]

    def __str__(self) -> str:
        columns = []
        for name in self._shown():
            texts = [name, *_texts(self[name])]
            align = str.rjust if all(map(_is_number, self[name])) else str.ljust
            columns.append([align(text, max(map(len, texts))) for text in texts])
        lines = ["  ".join(row).rstrip() for row in zip(*columns)]
        return "\n".join(lines if self.title is None else [self.title, *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = self._shown()
        head = "".join(f"<th>{html(name)}</th>" for name in shown)
        body = zip(*(_texts(self[name], widest=None) for name in shown))
        rows = "\n".join("<tr>" + "".join(f"<td>{html(text)}</td>" for text in texts) + "</tr>" for texts in body)
        title = f"<caption>{html(self.title)}</caption>" if self.title is not None else ""
        return f"<table>{title}\n<tr>{head}</tr>\n{rows}\n</table>"


def html(text: object) -> str:
    """Text as it is safe to show in a page.

    Parameters
    ----------
    text : object
        Shown as `str` writes it.
    """
    return escape(str(text))


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, (bool, np.bool_)))


def _texts(values: list, widest: int | None = WIDEST) -> list[str]:
    """Values of a column as text: numbers with as many decimals as their size asks for, the same in all rows."""
    numbers = [abs(float(v)) for v in values if _is_number(v) and v is not None and np.isfinite(v)]
    largest = max(numbers, default=0.0)
    decimals = 2 if largest >= 100 else 4
    return [_text(value, decimals, widest) for value in values]


def _text(value: Any, decimals: int, widest: int | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{float(value):.{decimals}f}"
    text = " ".join(str(value).split())
    return text if widest is None or len(text) <= widest else text[: widest - 1] + "…"
