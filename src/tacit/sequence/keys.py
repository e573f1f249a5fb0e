"""Columns that name the sequence of a row and tell its time, as numbers, whatever library holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..frames import as_numbers, as_objects, is_missing, package
from ..survey.dates import times_of

__all__ = ["codes_of", "when_of"]

DAY = 86400.0 * 1e6  # in microseconds


def codes_of(column: Any, name: Any) -> tuple[np.ndarray, list]:
    """Numbers of the sequences of rows, in the order they first occur, and their names."""
    library, found = package(column), None
    if library == "pandas":
        import pandas as pd

        codes, names = pd.factorize(column)
        found = codes.astype(np.int64), np.asarray(names, dtype=object).tolist()
    elif library == "pyarrow":
        found = _encoded(column)
    elif library == "polars" and not column.dtype.is_nested():
        found = _whole_numbers(column.to_numpy()) if column.dtype.is_integer() and not column.null_count() else None
        found = found or _encoded(column.to_arrow())
    elif isinstance(column, np.ndarray) and column.dtype.kind in "iub":
        found = _whole_numbers(column)
    codes, names = found or _counted(column)
    if len(codes) and codes.min() < 0:
        raise ValueError(f"row {int(np.argmin(codes))} has no {name!r}; name the sequence of every row.")
    return codes, names


def _encoded(column: Any) -> tuple[np.ndarray, list]:
    """As Arrow encodes a column, which is in the order of the first occurrences."""
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    encoded = column.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int64), encoded.dictionary.to_pylist()


def _whole_numbers(values: np.ndarray) -> tuple[np.ndarray, list]:
    """Of whole numbers, equal ones of which mostly lie together: only where they change are they looked up."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])) if len(values) else np.zeros(0, np.int64)
    names, first, inverse = np.unique(values[starts], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return np.repeat(rank[inverse], np.diff(np.append(starts, len(values)))), names[order].tolist()


def _counted(column: Any) -> tuple[np.ndarray, list]:
    known: dict = {}
    cells = column if isinstance(column, list) else as_objects(column)
    codes = [-1 if is_missing(cell) else known.setdefault(cell, len(known)) for cell in cells]
    return np.array(codes, dtype=np.int64), list(known)


def when_of(column: Any, name: Any) -> tuple[np.ndarray, bool]:
    """Times of rows as numbers, or days since 1970, and whether they are dates."""
    dates = _dates(column)
    if dates is not None:
        found, missing = dates.astype("datetime64[us]").astype(np.int64) / DAY, np.isnat(dates)
    else:
        numeric = None if isinstance(column, list) else as_numbers(column)
        if numeric is None:
            cells = [None if is_missing(cell) else cell for cell in as_objects(column)]
            _check_all_there(np.array([cell is None for cell in cells], bool), name)
            read = times_of(cells, str(name))
            if read.dtype.kind == "M":
                return read.astype("datetime64[s]").astype(np.int64) / 86400.0, True
            found = read
        else:
            found = numeric[0]
        missing = np.isnan(found)
    _check_all_there(missing, name)
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise ValueError(f"row {bad[0]} has the time {found[bad[0]]}; times must be finite.")
    return found, dates is not None


def _check_all_there(missing: np.ndarray, name: Any) -> None:
    if missing.any():
        raise ValueError(f"row {int(np.argmax(missing))} has no {name!r}; every row needs a time.")


def _dates(column: Any) -> np.ndarray | None:
    """A column of dates as such, in universal time; None where it is none."""
    library = package(column)
    if library == "pandas":
        from pandas.api import types

        is_date = types.is_datetime64_any_dtype(column) and not hasattr(column.dtype, "pyarrow_dtype")
        return column.to_numpy(dtype="datetime64[us]") if is_date else None
    if library == "polars":
        import polars as pl

        return column.cast(pl.Datetime("us")).to_numpy() if column.dtype in (pl.Date, pl.Datetime) else None
    if library == "pyarrow":
        import pyarrow as pa

        if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
            return column.cast(pa.timestamp("us"), safe=False).to_numpy(zero_copy_only=False).astype("datetime64[us]")
    return column if isinstance(column, np.ndarray) and column.dtype.kind == "M" else None
