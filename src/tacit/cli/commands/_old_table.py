"""Read and write CSV tables; decide which columns are numbers."""

import csv
import math
import os
from dataclasses import dataclass

import numpy as np

from ...archive import replacing

__all__ = ["Table", "read_table", "write_csv"]

MISSING = {"", "na", "n/a", "nan", "null", "none", "?", ".", "-"}
MAX_LEVELS = 10


@dataclass(frozen=True)
class Table:
    """A CSV file: header, rows of text, and the columns that hold numbers.

    Attributes
    ----------
    header : list of str
    rows : list of list of str
    numbers : dict of str to ndarray
        Numeric columns, NaN where missing.
    left_out : dict of str to str
        The other columns, and why each was left out.
    """

    header: list
    rows: list
    numbers: dict
    left_out: dict


def _number(text):
    """The number a cell holds, NaN if it is missing, None if it is text."""
    text = text.strip()
    if text.lower() in MISSING:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _why_not(values):
    """Why a numeric column does not measure anything, or None."""
    seen = values[~np.isnan(values)]
    if not len(seen):
        return "no value in any row"
    levels = np.unique(seen)
    whole = (levels == np.floor(levels)).all()
    if len(levels) == 1:
        return "the same value in every row"
    if whole and len(levels) == len(values) and (np.diff(values) == 1).all():
        return "a row number"
    if whole and len(levels) <= MAX_LEVELS < len(seen):
        return f"only {len(levels)} distinct whole numbers, more a code than a measurement"
    return None


def read_table(path, columns=None):
    """Read a CSV file.

    Parameters
    ----------
    path : str
        The file; the first line names the columns.
    columns : list of str, optional
        Numeric columns to use; default all that look like measurements.
    """
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder; give a CSV file.")
    if not os.path.exists(path):
        raise ValueError(f"there is no file {path}.")
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            sample = file.read(65536)
            file.seek(0)
            delimiter = max(",;\t", key=sample.split("\n", 1)[0].count)
            lines = [row for row in csv.reader(file, delimiter=delimiter) if row]
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); convert it first."
        ) from None
    except csv.Error as error:
        raise ValueError(f"{path} is not a CSV file: {error}.") from None
    if len(lines) < 2:
        raise ValueError(f"{path} has {len(lines)} lines; a header and at least one row are needed.")
    header, rows = [name.strip() for name in lines[0]], lines[1:]
    repeated = {name for name in header if header.count(name) > 1}
    if repeated:
        raise ValueError(f"{path} names the column {min(repeated)!r} more than once; rename one.")
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise ValueError(f"{path}, row {number}: {len(row)} cells under {len(header)} column names.")
    return _typed(path, header, rows, columns)


def _typed(path, header, rows, columns):
    unknown = [name for name in columns or [] if name not in header]
    if unknown:
        raise ValueError(f"{path} has no column {unknown[0]!r}; it has {', '.join(header)}.")
    numbers, left_out = {}, {}
    for j, name in enumerate(header):
        if columns and name not in columns:
            left_out[name] = "not asked for"
            continue
        cells = [_number(row[j]) for row in rows]
        text = next((row[j] for row, cell in zip(rows, cells) if cell is None), None)
        if text is not None:
            if columns:
                raise ValueError(f"column {name!r} holds {text!r}, which is not a number.")
            found = sum(cell is not None for cell in cells)
            mostly = f": {text!r} among {found} numbers" if found > len(cells) / 2 else ""
            left_out[name] = f"text{mostly}"
            continue
        values = np.array(cells)
        reason = _why_not(values)
        if reason and not (columns and len(np.unique(values[~np.isnan(values)])) > 1):
            left_out[name] = reason
        else:
            numbers[name] = values
    if not numbers:
        reasons = ", ".join(f"{name} ({reason})" for name, reason in left_out.items())
        raise ValueError(f"{path} has no column of measurements: {reasons}.")
    return Table(header, rows, numbers, left_out)


def write_csv(path, header, rows):
    """Write a CSV file whole or not at all."""
    with replacing(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
