"""`Levels`: columns of categories as numbers: the place of a level among those seen at fit; others are missing."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np

from ..declared import Numbers, Spec, declare, savable
from ..frames import columns_of, is_missing, read_columns, with_columns

__all__ = ["Levels", "categorical_columns"]


def categorical_columns(asked: Any, X: Any) -> np.ndarray | None:
    """Which columns hold categories; None where none does.

    Parameters
    ----------
    asked : {"from_dtype", None} or array-like
        What was set: types tell, or a mask, numbers or names of columns.
    X : table or array
    """
    names = [name for name, _ in columns_of(X)] if hasattr(X, "columns") else None
    if asked is None:
        return None
    if isinstance(asked, str):
        if asked != "from_dtype":
            raise ValueError(
                f"categorical_features={asked!r} is unknown; use 'from_dtype', None, or a list of columns or truth values."
            )
        if names is None:
            return None
        mask = np.array([_declared(column) for _, column in columns_of(X)], dtype=bool)
        return mask if mask.any() else None
    asked = np.asarray(asked)
    if asked.size == 0 or np.ndim(X) != 2:
        return None
    n_columns = np.shape(X)[1]
    if asked.dtype.kind not in "biUO" or not all(
        isinstance(each, (bool, numbers.Integral, str)) for each in asked.tolist()
    ):
        kinds = (
            ", ".join(sorted({type(each).__name__ for each in asked.tolist()}))
            if asked.dtype == object
            else asked.dtype.name
        )
        raise ValueError(f"categorical_features must be an array-like of bool, int or str, got: {kinds}.")
    if asked.dtype.kind == "b":
        if asked.shape != (n_columns,):
            raise ValueError(
                f"categorical_features set as a boolean mask must have shape (n_features,), got: {asked.shape}"
            )
        return asked.copy() if asked.any() else None
    mask = np.zeros(n_columns, bool)
    for each in asked.tolist():
        mask[_place(each, names, n_columns)] = True
    return mask


def _place(column: Any, names: list | None, n_columns: int) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                "categorical_features should be passed as an array of integers or as a boolean mask when the model is fitted on "
                "data without feature names."
            )
        if column not in names:
            raise ValueError(
                f"categorical_features has an item value {column!r} which is not a valid feature name of the training data. "
                f"Observed feature names: {names}"
            )
        return names.index(column)
    if not 0 <= column < n_columns:
        raise ValueError(
            f"categorical_features set as integer indices must be in [0, n_features - 1], but {column} is not; there are "
            f"{n_columns} columns."
        )
    return int(column)


def _declared(column: Any) -> bool:
    """Whether the type of a column says that it holds categories."""
    return str(column.dtype).startswith(("category", "Categorical", "Enum"))


class LevelLists(Spec):
    """A list of levels of each column: numbers or texts that rise."""

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        if not isinstance(value, list) or not all(isinstance(each, np.ndarray) and each.ndim == 1 for each in value):
            raise ValueError(f"{name!r} is no list of levels")
        for each in value:
            if each.dtype.kind not in "fO" or list(each) != sorted(set(each.tolist())):
                raise ValueError(f"{name!r} holds levels that are not in order")


@savable
class Levels:
    """The levels of columns of categories.

    Parameters
    ----------
    values : list of arrays
        Of each column its levels in their order, numbers or texts; those of columns of numbers are empty.
    mask : (d,) array of bool
        Which columns hold categories.
    """

    _saved = declare(values=LevelLists(), mask=Numbers("d", kind="b"))

    def __init__(self, values: list, mask: np.ndarray):
        self.values = [each.astype(str) if each.dtype == object else each for each in values]
        self.mask = mask

    @classmethod
    def of(cls, X: Any, mask: np.ndarray, most: int) -> Self:
        """Those of a table's columns."""
        values = [np.empty(0)] * len(mask)
        for j in np.flatnonzero(mask):
            name, cells, missing = _cells(X, int(j))
            values[j] = np.unique(cells[~missing])
            if len(values[j]) > most:
                told = f"at index {j}" if isinstance(name, int) else repr(name)
                raise ValueError(
                    f"Categorical feature {told} is expected to have a cardinality <= {most} but actually has a cardinality of "
                    f"{len(values[j])}; join its rare levels, leave it out, or use a forest, which takes any number."
                )
        return cls(values, mask)

    @property
    def n_levels(self) -> np.ndarray:
        """Levels of each column, 0 of numbers; a column of categories that are all missing has one."""
        return np.array([max(len(v), 1) if is_set else 0 for v, is_set in zip(self.values, self.mask)], dtype=np.int64)

    def numbered(self, X: Any) -> Any:
        """The table with levels as their numbers."""
        found = {}
        for j in np.flatnonzero(self.mask):
            name, cells, missing = _cells(X, int(j))
            found[name] = self.codes(int(j), cells, missing)
        if hasattr(X, "columns"):
            return with_columns(X, found)
        X = np.asarray(X)
        made = np.empty(X.shape, np.float64)
        for column in range(X.shape[1]):
            made[:, column] = found[column] if column in found else X[:, column]
        return made

    def codes(self, j: int, cells: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """The numbers of a column's levels, NaN for missing ones and those that were not seen."""
        codes, values = np.full(len(cells), np.nan), self.values[j]
        if len(values):
            known = cells[~missing].astype(values.dtype)
            at = np.minimum(np.searchsorted(values, known), len(values) - 1)
            codes[~missing] = np.where(values[at] == known, at, np.nan)
        return codes


def _cells(X: Any, j: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Name, cells and which of them are missing, of a column: numbers, or texts."""
    if hasattr(X, "columns"):
        name, column = columns_of(X)[j]
        cells = read_columns(with_only(X, name))[name]
        return name, cells.values if cells.numeric else _texts(cells.values, cells.missing), cells.missing
    column = np.asarray(X)[:, j]
    if column.dtype.kind in "fiub":
        column = column.astype(np.float64)
        return j, column, np.isnan(column)
    missing = np.array([is_missing(cell) for cell in column.tolist()], dtype=bool)
    try:
        return j, np.where(missing, np.nan, column).astype(np.float64), missing
    except (TypeError, ValueError):
        return j, _texts(column, missing), missing


def _texts(cells: np.ndarray, missing: np.ndarray) -> np.ndarray:
    return np.array(["" if gone else str(cell) for cell, gone in zip(cells.tolist(), missing)], dtype=str)


def with_only(X: Any, name: Any) -> Any:
    """A data frame of one of its columns."""
    return X.select([name]) if type(X).__module__.startswith("polars") else X[[name]]
