"""`CsvWriter`: columns written as CSV, part by part."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..survey.dates import date_text

__all__ = ["CsvWriter"]


class CsvWriter:
    """Columns written as CSV, part by part; None and NaN become empty cells.

    Cells of lists are somebody's own and are written so that they read back the same; numbers of arrays are results, and have ten
    digits; texts are written as they are.
    """

    def __init__(self, path: Any, separator: str = ",", decimal: str = "."):
        self.file = open(path, "w", newline="", encoding="utf-8")  # noqa: SIM115
        self.writer = csv.writer(self.file, delimiter=separator, lineterminator="\n")
        self.decimal = decimal
        self.names: list[str] | None = None

    def write(self, columns: dict[str, Any]) -> None:
        """Append rows."""
        if self.names is None:
            self.names = list(columns)
            self.writer.writerow(self.names)
        elif self.names != list(columns):
            raise ValueError(f"rows with the columns {', '.join(columns)} cannot follow {', '.join(self.names)}.")
        self.writer.writerows(zip(*(_texts(values, self.decimal) for values in columns.values())))

    def close(self) -> None:
        """Write what is left."""
        self.file.close()


def _texts(values: np.ndarray | Sequence, decimal: str) -> list:
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        texts = ["" if value != value else f"{value:.10g}" for value in values.tolist()]
        return texts if decimal == "." else [text.replace(".", decimal) for text in texts]
    return [_text(value, decimal) for value in (values.tolist() if isinstance(values, np.ndarray) else values)]


def _text(value: Any, decimal: str) -> Any:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return float.__repr__(value).removesuffix(".0").replace(".", decimal)
    return date_text(value) if isinstance(value, (datetime.date, datetime.time)) else value
