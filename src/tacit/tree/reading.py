"""Tables as rows of numbers for trees: categories as the numbers of their levels, missing cells as NaN."""

from __future__ import annotations

import numbers
from datetime import date, timedelta
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_feature_names, _check_n_features

from ..checks import check_columns, check_rows
from ..frames import (
    UNUSABLE,
    _dtype_of,
    _levels_of,
    _unusable,
    as_numbers,
    as_objects,
    check_names,
    columns_of,
    holds_dates,
    is_missing,
    is_table,
)

__all__ = ["one_row", "open_rows"]

NO_LEVELS = (*UNUSABLE, date, timedelta, np.datetime64, np.timedelta64)
"""Types of cells that are neither numbers nor levels."""


def open_rows(model: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Rows as floats, row by row; at fit, `levels_` of the model are set: lists of levels by column, empty of numbers.

    Levels that were not there at fit get the number after the last one, and go where missing cells go.

    Parameters
    ----------
    model : RowsEstimator
        With `categorical_features`: None, "from_dtype", or columns by number, name or mask.
    X : array-like, sparse matrix or table
        Rows.
    reset : bool
        Whether the columns are learned.
    """
    if type(X).__name__ == "Series":
        raise ValueError(
            f"Expected 2D array, got 1D array instead: X is a Series of {len(X)} values. Pass one row as frame.iloc[[i]] or "
            "row.to_frame().T, one column as column.to_frame()."
        )
    asked = getattr(model, "categorical_features", None)
    by_dtype = isinstance(asked, str) and asked == "from_dtype"
    if asked is not None and is_table(X):
        X = np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X
        if hasattr(X, "columns"):
            check_names(getattr(X, "column_names", X.columns))
        if by_dtype and not reset and not model.levels_:
            return _numbers(model, X, reset)
        columns = columns_of(X)
        typed = (reset or not by_dtype) and all(as_numbers(column) is not None for _, column in columns)
        if by_dtype and reset and typed:
            model.levels_ = []
            return _numbers(model, X, reset)
        if by_dtype or not typed:
            names = [name for name, _ in columns] if hasattr(X, "columns") else None
            chosen = [] if by_dtype or not reset else _chosen(asked, len(columns), names)
            _check_feature_names(model, X, reset=reset)
            _check_n_features(model, X, reset=reset)
            return _coded(model, columns, reset, None if by_dtype else chosen)
    X = _numbers(model, X, reset)
    if reset:
        model.levels_ = []
        names = getattr(model, "feature_names_in_", None)
        chosen = [] if asked is None or by_dtype else _chosen(asked, X.shape[1], names)
        if len(chosen):
            model.levels_ = [_ordered(X[:, j]) if j in chosen else [] for j in range(X.shape[1])]
    if model.levels_:
        X = np.array(X)
        for j, levels in enumerate(model.levels_):
            if levels:
                X[:, j] = _codes(X[:, j].tolist(), levels)
    return X


def _numbers(model: Any, X: Any, reset: bool) -> np.ndarray:
    if sparse.issparse(X) and model._takes_sparse:
        X = check_rows(model, X, reset=reset, accept_sparse="csr").toarray()
        return np.ascontiguousarray(X)
    return check_rows(model, X, reset=reset, order="C")


def _chosen(asked: Any, d: int, names: Any) -> list[int]:
    """Numbers of the columns that are said to be categories."""
    told = np.asarray(asked)
    if told.dtype == bool:
        if told.shape != (d,):
            raise ValueError(f"categorical_features is a mask of shape {told.shape}, but X has {d} columns.")
        return np.flatnonzero(told).tolist()
    asked = [asked] if told.ndim == 0 else list(asked)
    return check_columns("categorical_features", asked, d, names).tolist() if len(asked) else []


def _ordered(column: np.ndarray) -> list:
    """Levels of a column, in their order."""
    found = {cell for cell in column.tolist() if not is_missing(cell)}
    return sorted(found, key=lambda cell: (isinstance(cell, str), cell)) or [0.0]


def _codes(cells: list, levels: list) -> np.ndarray:
    """Numbers of cells' levels."""
    number = {level: float(code) for code, level in enumerate(levels)}
    return np.array([np.nan if is_missing(cell) else number.get(cell, float(len(levels))) for cell in cells])


def _is_number(cell: Any) -> bool:
    return isinstance(cell, numbers.Real) and not isinstance(cell, (bool, np.bool_))


def _read(name: Any, column: Any) -> tuple[np.ndarray | None, list]:
    """Cells as floats where the type or each of them is a number, None where not; and as objects, empty where typed."""
    found = as_numbers(column)
    if found is not None:
        return found[0], []
    cells = as_objects(column)
    if any(_unusable(column)):
        raise holds_dates(name, _dtype_of(column))
    if odd := {type(cell).__name__ for cell in cells if isinstance(cell, NO_LEVELS) and not is_missing(cell)}:
        raise holds_dates(name, min(odd))
    if _levels_of(column)[1] is not None:
        return None, cells
    gone = [is_missing(cell) for cell in cells]
    if not all(empty or _is_number(cell) for empty, cell in zip(gone, cells)):
        return None, cells
    return np.array([np.nan if empty else float(cell) for empty, cell in zip(gone, cells)]), cells


def _coded(model: Any, columns: list, reset: bool, chosen: list[int] | None) -> np.ndarray:
    """A table of numbers and categories; `chosen` are the columns of categories, None where the cells tell."""
    known = [] if reset else model.levels_  # what is known to be levels needs no look at its cells
    read = [
        (None, as_objects(column)) if known and known[j] else _read(name, column)
        for j, (name, column) in enumerate(columns)
    ]

    def cells(j: int) -> list:
        return read[j][1] or as_objects(columns[j][1])

    if reset:
        is_level = [told is None if chosen is None else j in chosen for j, (told, _) in enumerate(read)]
        model.levels_ = [_ordered(np.array(cells(j), dtype=object)) if is_level[j] else [] for j in range(len(read))]
    made = np.empty((len(columns[0][1]), len(columns)))
    for j, levels in enumerate(model.levels_ or [[]] * len(columns)):
        values = read[j][0]
        if levels:
            made[:, j] = _codes(cells(j), levels)
        elif values is None:
            odd = next((cell for cell in read[j][1] if not is_missing(cell) and not _is_number(cell)), read[j][1][0])
            why = "but it was one of numbers at fit"
            if reset:
                why = "but is not among categorical_features; name it there, or use categorical_features='from_dtype'"
            raise ValueError(f"column {columns[j][0]!r} holds {odd!r}, {why}.")
        else:
            made[:, j] = values
    if np.isinf(made).any():
        raise ValueError("Input X contains infinity; replace it, or set the cell to NaN if it is missing.")
    return made


def one_row(model: Any, row: Any) -> Any:
    """A row as a table: a Series by its names, which may be in any order, or a table of one row as it is."""
    if type(row).__name__ == "Series" and hasattr(row, "to_frame") and hasattr(row, "index"):
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            return [row.tolist()]
        absent = [name for name in names if name not in row.index]
        if absent:
            raise ValueError(f"the row has no {absent[0]!r}; its names must hold those of fit: {', '.join(names)}.")
        return row.loc[list(names)].to_frame().T
    return row if np.ndim(row) == 2 else [list(row)]
