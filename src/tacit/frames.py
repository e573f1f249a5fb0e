"""Tables of every kind, read column by column and made again: pandas, polars, Arrow, or an array of objects."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

__all__ = [
    "Batch", "Cells", "as_given", "as_numbers", "as_objects", "assemble", "columns_of", "is_missing", "is_table", "package",
    "read_columns",
]  # fmt: skip


def package(X: Any) -> str:
    """Name of the library a table comes from."""
    return type(X).__module__.partition(".")[0]


def is_table(X: Any) -> bool:
    """Whether X has named columns, or cells that are not all numbers."""
    if isinstance(X, Batch) or _is_frame(X):
        return True
    if package(X) == "pyarrow":
        return hasattr(X, "column_names")
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple)):
        X = np.array(X, dtype=object) if len({len(row) for row in X}) == 1 else np.empty(0)
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return False
    return X.dtype.kind in "OUS" and any(isinstance(cell, str) for cell in X.flat)


def _is_frame(X: Any) -> bool:
    # Asked by name: the columns of a polars LazyFrame are found only by running its query.
    return package(X) in ("pandas", "polars") and type(X).__name__ == "DataFrame"


@dataclass(frozen=True)
class Cells:
    """One column as it was given: the cells, which of them are missing, and what its type says.

    `values` are float64 for numbers, Python objects for categories; `levels` are those the type declares, `whole` says that the
    type holds whole numbers only. `given` are the cells before they were turned into `values`, where that lost their type: a
    column of Arrow, a list, or other `Cells`.
    """

    values: np.ndarray
    missing: np.ndarray
    levels: tuple | None = None
    whole: bool = False
    given: Any = None

    @property
    def numeric(self) -> bool:
        """Whether the cells are numbers."""
        return self.values.dtype == np.float64

    @property
    def objects(self) -> np.ndarray:
        """The cells as Python objects, None where missing."""
        cells = self.values.astype(object)
        cells[self.missing] = None
        return cells

    def take(self, rows: np.ndarray) -> Cells:
        """The cells of the rows with these numbers."""
        return Cells(self.values[rows], self.missing[rows], self.levels, self.whole, self._given(rows))

    def _given(self, rows: np.ndarray) -> list | None:
        given = None if self.given is None else [self.given[row] for row in rows.tolist()]
        return given and [cell.as_py() if hasattr(cell, "as_py") else cell for cell in given]

    def originals(self) -> list:
        """The cells as the table holds them, in a list, None where missing: what a table with imputed values is written from."""
        cells = self.values if self.given is None else self.given
        if isinstance(cells, Cells):
            return cells.originals()
        cells = cells.to_pylist() if hasattr(cells, "to_pylist") else list(cells)
        if self.given is None and self.whole:
            cells = [cell if gone else int(cell) for cell, gone in zip(cells, self.missing)]
        return [None if gone else cell for cell, gone in zip(cells, self.missing.tolist())]


class Batch(dict):
    """Some rows of a table: its columns by name, as `Cells`."""

    @property
    def n_rows(self) -> int:
        """How many rows these are."""
        return len(next(iter(self.values())).missing)


def is_missing(cell: Any) -> bool:
    """Whether a Python object stands for a missing value."""
    # pandas.NA cannot be asked whether it equals itself.
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)


# Columns as their library has them


def without(X: Any, names: Collection[str]) -> Any:
    """A data frame or Arrow table without the columns of these names, where it has them."""
    if not names or package(X) not in ("pandas", "polars", "pyarrow"):
        return X
    kept = [name for name, _ in columns_of(X) if str(name) not in names]
    return X.select(kept) if package(X) == "pyarrow" else X[kept]


def columns_of(X: Any) -> list[tuple[Any, Any]]:
    """Names and columns of a table, each column as its library has it; those of an array are numbered from 0."""
    library, kind = package(X), type(X).__name__
    if library in ("pandas", "polars", "pyarrow") and kind not in ("DataFrame", "LazyFrame", "Table", "RecordBatch"):
        raise ValueError(
            f"a {library} {kind} is not a table; give a {'Table' if library == 'pyarrow' else 'DataFrame'}."
        )
    if library == "pandas":
        return [(name, X.iloc[:, position]) for position, name in enumerate(X.columns)]
    if library == "polars":
        X = X.collect() if kind == "LazyFrame" else X
        return [(column.name, column) for column in X.get_columns()]
    if library == "pyarrow":
        return list(zip(X.column_names, X.columns))
    if isinstance(X, dict):
        return [(name, each if isinstance(each, (list, tuple)) else np.asarray(each)) for name, each in X.items()]
    X = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead; give a table with rows and columns.")
    return list(enumerate(X.T))


def as_numbers(column: Any) -> tuple[np.ndarray, bool] | None:
    """Cells as float64, NaN where missing, and whether their type holds whole numbers only; None if its type is no number."""
    library = package(column)
    if library == "pandas":
        from pandas.api import types

        if types.is_numeric_dtype(column) and not (types.is_bool_dtype(column) or types.is_complex_dtype(column)):
            return column.to_numpy(dtype=np.float64, na_value=np.nan), types.is_integer_dtype(column)
    elif library == "polars":
        import polars as pl

        if column.dtype.is_numeric():
            return column.cast(pl.Float64).to_numpy(), column.dtype.is_integer()
    elif library == "pyarrow":
        from pyarrow import float64, types

        kind = column.type
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            return column.cast(float64(), safe=False).to_numpy(zero_copy_only=False), types.is_integer(kind)
    elif isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column.astype(np.float64, copy=False), column.dtype.kind in "iu"
    return None


def as_objects(column: Any) -> list:
    """Cells as Python objects."""
    library = package(column)
    if library == "pandas":
        return column.astype(object).tolist()
    if library == "pyarrow":
        return column.to_pylist()
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _levels_of(column: Any) -> Sequence | None:
    """The levels that the type of a column declares."""
    if package(column) == "pandas" and hasattr(column, "cat"):
        return column.cat.categories.tolist()
    if package(column) == "polars" and str(column.dtype).startswith("Enum"):
        return column.dtype.categories.to_list()
    return None


def _unusable(column: Any) -> Any:
    """The type of a column that holds dates, durations or lists; None where it is another."""
    library, odd = package(column), False
    kind: Any = column.type if library == "pyarrow" else getattr(column, "dtype", None)
    if library == "pandas":
        odd = kind.kind in "mM"
    elif library == "polars":
        odd = kind.is_temporal() or kind.is_nested()
    elif library == "pyarrow":
        from pyarrow import types

        odd = types.is_temporal(kind) or types.is_nested(kind)
    return kind if odd else None


# Tables read and made


def read_columns(X: Any) -> dict[Any, Cells]:
    """The columns of a table by name, as `Cells`."""
    if isinstance(X, Batch):
        return X
    columns: dict[Any, Cells] = {}
    for name, column in columns_of(X):
        if name in columns:
            raise ValueError(f"the table names the column {name!r} more than once; rename one.")
        columns[name] = _cells(name, column)
    if not columns:
        raise ValueError("the table has no columns; at least one is needed.")
    return columns


def _cells(name: Any, column: Any) -> Cells:
    kind = _unusable(column)
    if kind is not None:
        raise ValueError(
            f"column {name!r} holds {kind}, which is neither a number nor a category; turn it into numbers (days since a date, "
            "say) or leave it out."
        )
    found = as_numbers(column)
    cells = _objects(as_objects(column), _levels_of(column)) if found is None else _numbers(*found)
    if cells.numeric and np.isinf(cells.values).any():
        raise ValueError(f"column {name!r} contains infinity; replace it, or leave the cell empty if it is missing.")
    return cells


def _numbers(values: np.ndarray, whole: bool = False) -> Cells:
    return Cells(values, np.isnan(values), whole=whole)


def _objects(cells: Sequence, levels: Iterable | None) -> Cells:
    """Cells that are not typed as numbers: numbers if all are, else categories."""
    values = np.fromiter(cells, dtype=object, count=len(cells))
    missing = np.array([is_missing(cell) for cell in cells], dtype=bool)
    seen = values[~missing]
    if levels is None and len(seen) and all(isinstance(cell, (bool, np.bool_)) for cell in seen):
        levels = (False, True)
    if levels is None and all(isinstance(cell, numbers.Real) for cell in seen):
        return _numbers(np.where(missing, np.nan, values).astype(np.float64))
    return Cells(values, missing, None if levels is None else tuple(levels))


def as_given(values: np.ndarray, X: Any) -> Any:
    """An array (rows, columns) as a table of the kind of X, with its names and index; itself where X is no table."""
    return assemble(dict(zip(X.columns, values.T)), package(X), X) if _is_frame(X) else values


def assemble(columns: dict[Any, np.ndarray | None], container: str, like: Any) -> Any:
    """A table of that kind; a column that is None is taken from `like`."""
    if container in ("pandas", "polars", "pyarrow"):
        library, made = import_module(container), {}
        for name, values in columns.items():
            if values is None:
                made[name] = like[name]
            else:
                made[name] = _as_series(values, like, name) if container == "pandas" else values.tolist()
        if container == "pandas":
            return library.DataFrame(made, index=getattr(like, "index", None))
        return library.DataFrame(made) if container == "polars" else library.table(made)
    kept = np.asarray(like, dtype=object)
    out = [kept[:, j] if values is None else values for j, values in enumerate(columns.values())]
    kind = np.float64 if all(np.asarray(column).dtype == np.float64 for column in out) else object
    return np.column_stack([np.asarray(column, dtype=kind) for column in out])


def _as_series(values: np.ndarray, like: Any, name: Any) -> Any:
    """A pandas column; a category stays one."""
    import pandas as pd

    series = pd.Series(values, index=getattr(like, "index", None), name=name)
    if like is not None and isinstance(like[name].dtype, pd.CategoricalDtype):
        return series.astype(like[name].dtype)
    return series
