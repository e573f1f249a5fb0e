"""Tables of every kind, read column by column and made again: pandas, polars, Arrow, or an array of objects."""

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Batch", "Cells", "as_given", "assemble", "is_missing", "is_table", "package", "read_columns"]


def package(X):
    """Name of the library a table comes from."""
    return type(X).__module__.partition(".")[0]


def is_table(X):
    """Whether X has named columns, or cells that are not all numbers."""
    if isinstance(X, Batch):
        return True
    if package(X) == "pyarrow":
        return hasattr(X, "column_names")
    if package(X) in ("pandas", "polars"):
        return hasattr(X, "columns")
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple)):
        X = np.array(X, dtype=object) if len({len(row) for row in X}) == 1 else np.empty(0)
    return isinstance(X, np.ndarray) and X.ndim == 2 and any(isinstance(cell, str) for cell in _text_cells(X))


def _text_cells(X):
    if X.dtype.kind in "US":
        return X.flat
    return X.flat if X.dtype == object else ()


@dataclass(frozen=True)
class Cells:
    """One column as it was given: the cells, which of them are missing, and what its type says.

    `values` are float64 for numbers, Python objects for categories; `levels` are those the type declares, `whole` says that the
    type holds whole numbers only. `given` are the cells before they were turned into `values`, where that lost their type.
    """

    values: np.ndarray
    missing: np.ndarray
    levels: tuple | None = None
    whole: bool = False
    given: Any = None

    @property
    def numeric(self):
        """Whether the cells are numbers."""
        return self.values.dtype == np.float64

    def take(self, rows):
        """The cells of the rows with these numbers."""
        return Cells(self.values[rows], self.missing[rows], self.levels, self.whole, self._given(rows))

    def _given(self, rows):
        given = None if self.given is None else [self.given[row] for row in rows.tolist()]
        return given and [cell.as_py() if hasattr(cell, "as_py") else cell for cell in given]

    def originals(self):
        """The cells as the table holds them, in a list, None where missing: what a table with imputed values is written from."""
        cells = self.values if self.given is None else self.given
        cells = cells.to_pylist() if hasattr(cells, "to_pylist") else list(cells)
        if self.given is None and self.whole:
            cells = [cell if gone else int(cell) for cell, gone in zip(cells, self.missing)]
        return [None if gone else cell for cell, gone in zip(cells, self.missing.tolist())]


class Batch(dict):
    """Some rows of a table: its columns by name, as `Cells`."""

    @property
    def n_rows(self):
        """How many rows these are."""
        return len(next(iter(self.values())).missing)


def read_columns(X):
    """The columns of a table by name, as `Cells`."""
    if isinstance(X, Batch):
        return X
    reader = {"pandas": _from_pandas, "polars": _from_polars, "pyarrow": _from_arrow}.get(package(X), _from_array)
    columns = reader(X)
    if not columns:
        raise ValueError("the table has no columns; at least one is needed.")
    for name, cells in columns.items():
        if cells.numeric and np.isinf(cells.values).any():
            raise ValueError(
                f"column {name!r} contains infinity; replace it, or leave the cell empty if it is missing."
            )
    return columns


def _numbers(values, whole=False):
    values = np.asarray(values, dtype=np.float64)
    return Cells(values, np.isnan(values), whole=whole)


def _objects(values, levels=None):
    """Cells that are not typed as numbers: numbers if all are, else categories."""
    values = np.asarray(values, dtype=object)
    missing = np.array([is_missing(cell) for cell in values], dtype=bool)
    seen = values[~missing]
    if levels is None and len(seen) and all(isinstance(cell, (bool, np.bool_)) for cell in seen):
        levels = (False, True)
    if levels is None and all(isinstance(cell, numbers.Real) for cell in seen):
        return _numbers(np.where(missing, np.nan, values).astype(np.float64))
    return Cells(values, missing, None if levels is None else tuple(levels))


def is_missing(cell):
    """Whether a Python object stands for a missing value."""
    # pandas.NA cannot be asked whether it equals itself.
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)


def _unusable(name, kind):
    return ValueError(
        f"column {name!r} holds {kind}, which is neither a number nor a category; turn it into numbers (days since a date, "
        "say) or leave it out."
    )


def _from_pandas(X):
    from pandas.api import types

    columns = {}
    for position, name in enumerate(X.columns):
        series = X.iloc[:, position]
        if name in columns:
            raise ValueError(f"the table names the column {name!r} more than once; rename one.")
        if types.is_datetime64_any_dtype(series) or types.is_timedelta64_dtype(series):
            raise _unusable(name, series.dtype)
        if hasattr(series, "cat"):
            columns[name] = _objects(series.astype(object), series.cat.categories.tolist())
        elif types.is_bool_dtype(series) or not types.is_numeric_dtype(series):
            columns[name] = _objects(series.astype(object))
        else:
            values = series.to_numpy(dtype=np.float64, na_value=np.nan)
            columns[name] = _numbers(values, types.is_integer_dtype(series))
    return columns


def _from_polars(X):
    columns = {}
    for series in X.get_columns():
        kind = series.dtype
        if kind.is_temporal() or kind.is_nested():
            raise _unusable(series.name, kind)
        if kind.is_numeric():
            values = [np.nan if cell is None else float(cell) for cell in series] if series.null_count() else series
            columns[series.name] = _numbers(values, kind.is_integer())
        else:
            declared = (
                kind.categories.to_list() if hasattr(kind, "categories") and str(kind).startswith("Enum") else None
            )
            columns[series.name] = _objects(series.to_list(), declared)
    return columns


def _from_arrow(X):
    import pyarrow as pa

    X = pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X
    columns = {}
    for name in X.column_names:
        column, kind = X.column(name), X.schema.field(name).type
        if pa.types.is_temporal(kind) or pa.types.is_nested(kind):
            raise _unusable(name, kind)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            columns[name] = _numbers(column.to_numpy(), pa.types.is_integer(kind))
        else:
            columns[name] = _objects(column.to_pylist())
    return columns


def _from_array(X):
    X = np.asarray(X, dtype=object if not hasattr(X, "dtype") else None)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead; give a table with rows and columns.")
    if X.dtype.kind in "iuf":
        return {j: _numbers(column, X.dtype.kind != "f") for j, column in enumerate(X.T)}
    return {j: _objects(column) for j, column in enumerate(X.astype(object).T)}


def as_given(values, X):
    """An array (rows, columns) as a table of the kind of X, with its names and index; itself where X is no table."""
    if not hasattr(X, "columns") or package(X) not in ("pandas", "polars"):
        return values
    return assemble(dict(zip(X.columns, values.T)), package(X), X)


def assemble(columns, container, like):
    """A table of that kind; a column that is None is taken from `like`."""
    if container == "pandas":
        import pandas as pd

        index = None if like is None or not hasattr(like, "index") else like.index
        made = {
            name: like[name] if values is None else _as_series(values, like, name, index)
            for name, values in columns.items()
        }
        return pd.DataFrame(made, index=index)
    if container == "polars":
        import polars as pl

        return pl.DataFrame(
            [
                like.get_column(name) if values is None else pl.Series(name, values.tolist())
                for name, values in columns.items()
            ]
        )
    if container == "pyarrow":
        import pyarrow as pa

        return pa.table(
            {
                name: like.column(name) if values is None else pa.array(values.tolist())
                for name, values in columns.items()
            }
        )
    kept = np.asarray(like, dtype=object)
    out = [kept[:, j] if values is None else values for j, values in enumerate(columns.values())]
    if all(np.asarray(column).dtype == np.float64 for column in out):
        return np.column_stack(out)
    return np.column_stack([np.asarray(column, dtype=object) for column in out])


def _as_series(values, like, name, index):
    """A pandas column; a category stays one."""
    import pandas as pd

    series = pd.Series(values, index=index, name=name)
    if like is not None and isinstance(like[name].dtype, pd.CategoricalDtype):
        return series.astype(like[name].dtype)
    return series
