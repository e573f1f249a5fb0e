"""Tables as rows of numbers for trees: categories as the numbers of their levels, missing cells as NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_feature_names, _check_n_features

from ..checks import check_columns, check_rows
from ..frames import as_numbers, as_objects, check_names, columns_of, is_missing, is_table

__all__ = ["open_rows"]


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
    asked = getattr(model, "categorical_features", None)
    by_dtype = isinstance(asked, str) and asked == "from_dtype"
    if by_dtype and is_table(X):
        X = np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X
        if hasattr(X, "columns"):
            check_names(X.columns)
        if not reset and not model.levels_:
            return _numbers(model, X, reset)
        columns = columns_of(X)
        numeric = [as_numbers(column) for _, column in columns]
        if reset and all(found is not None for found in numeric):
            model.levels_ = []
            return _numbers(model, X, reset)
        _check_feature_names(model, X, reset=reset)
        _check_n_features(model, X, reset=reset)
        return _coded(model, columns, numeric, reset)
    X = _numbers(model, X, reset)
    if reset:
        model.levels_ = []
        chosen = [] if asked is None or by_dtype else _chosen(model, asked)
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


def _chosen(model: Any, asked: Any) -> list[int]:
    """Numbers of the columns that are said to be categories."""
    d, told = model.n_features_in_, np.asarray(asked)
    if told.dtype == bool:
        if told.shape != (d,):
            raise ValueError(f"categorical_features is a mask of shape {told.shape}, but X has {d} columns.")
        return np.flatnonzero(told).tolist()
    names = getattr(model, "feature_names_in_", None)
    return check_columns("categorical_features", asked, d, names).tolist() if len(told) else []


def _ordered(column: np.ndarray) -> list:
    """Levels of a column, in their order."""
    found = {cell for cell in column.tolist() if not is_missing(cell)}
    return sorted(found, key=lambda cell: (isinstance(cell, str), cell)) or [0.0]


def _codes(cells: list, levels: list) -> np.ndarray:
    """Numbers of cells' levels."""
    number = {level: float(code) for code, level in enumerate(levels)}
    return np.array([np.nan if is_missing(cell) else number.get(cell, float(len(levels))) for cell in cells])


def _coded(model: Any, columns: list, numeric: list, reset: bool) -> np.ndarray:
    """A table of numbers and categories."""
    cells: list[Any] = [
        None if found is not None else as_objects(column) for found, (_, column) in zip(numeric, columns)
    ]
    if reset:
        model.levels_ = [[] if told is None else _ordered(np.array(told, dtype=object)) for told in cells]
    made = np.empty((len(columns[0][1]), len(columns)))
    for j, levels in enumerate(model.levels_):
        if levels:
            told = cells[j] if cells[j] is not None else as_objects(columns[j][1])
            made[:, j] = _codes(told, levels)
        elif numeric[j] is None:
            raise ValueError(f"column {columns[j][0]!r} holds {cells[j][0]!r}, but it was one of numbers at fit.")
        else:
            made[:, j] = numeric[j][0]
    if np.isinf(made).any():
        raise ValueError("Input X contains infinity; replace it, or set the cell to NaN if it is missing.")
    return made
