"""Tables of every kind, read column by column and made again: pandas, polars, Arrow, or an array of objects."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from .notes import NoteError

__all__ = [
    "CONTAINERS", "Batch", "Cells", "aligned", "as_given", "as_numbers", "as_objects", "assemble", "beside", "check_names",
    "check_types", "columns_of", "holds_dates", "is_missing", "is_numeral", "is_table", "package", "read_columns", "without",
]  # fmt: skip


UNUSABLE = (list, dict, set, np.ndarray, complex, np.complexfloating)
"""Types of cells that are neither numbers nor names."""


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
    column of Arrow, a list, other `Cells` or a tuple of them. `ordered` says of a categorical type whether its levels have an
    order, None of other types; `dates` is the type of a column of dates, as its library names it.
    """

    values: np.ndarray
    missing: np.ndarray
    levels: tuple | None = None
    whole: bool = False
    given: Any = None
    ordered: bool | None = None
    dates: str = ""

    @property
    def type(self) -> str:
        """The type of the column, as every library has it: "category", "ordered", "bool", "whole", or empty for others."""
        if self.ordered is not None:
            return "ordered" if self.ordered else "category"
        return "whole" if self.whole else "bool" if self.levels is not None else ""

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

    def _given(self, rows: np.ndarray) -> Any:
        if hasattr(self.given, "take"):
            return self.given.take(rows)
        return None if self.given is None else [self.given[row] for row in rows.tolist()]

    def written(self) -> Any:
        """The cells as the table itself writes them, in an Arrow array or a list; texts of a file stay also where missing."""
        if hasattr(self.given, "written"):
            return self.given.written()
        return self.originals()

    def originals(self) -> list:
        """The cells as the table holds them, in a list, None where missing: what a table with imputed values is written from."""
        cells = self.values if self.given is None else self.given
        if isinstance(cells, Cells):
            return cells.originals()
        if isinstance(cells, tuple):
            return [cell for part in cells for cell in part.originals()]
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


def is_numeral(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


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


def only(X: Any, kept: np.ndarray) -> Any:
    """The columns of a data frame, Arrow table or array where a mask says so; X itself where that is all of them."""
    if kept.all():
        return X
    if package(X) not in CONTAINERS:
        return np.ascontiguousarray(np.asarray(X)[:, kept])
    names = [name for (name, _), keep in zip(columns_of(X), kept) if keep]
    return X.select(names) if package(X) == "pyarrow" else X[names]


def with_columns(X: Any, columns: dict) -> Any:
    """A data frame, Arrow table or array with these columns in place of those of their names, or after them."""
    if package(X) == "pandas":
        X = X.copy(deep=False)
        for name, column in columns.items():
            X[name] = column
        return X
    if package(X) == "polars":
        series = import_module("polars").Series
        return X.with_columns([series(name, column) for name, column in columns.items()])
    if package(X) == "pyarrow":
        for name, column in columns.items():
            column = import_module("pyarrow").array(column) if isinstance(column, np.ndarray) else column
            if name in X.column_names:
                X = X.set_column(X.column_names.index(name), name, column)
            else:
                X = X.append_column(name, column)
        return X
    made = dict(enumerate(np.asarray(X, dtype=object).T)) | columns
    return np.column_stack([np.asarray(column, dtype=object) for column in made.values()])


def missing_cells(X: Any) -> np.ndarray:
    """Which cells of a table or array are missing, (rows, columns)."""
    if package(X) == "pandas":
        return X.isna().to_numpy()
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        return np.isnan(X)
    return np.array([list(map(is_missing, as_objects(column))) for _, column in columns_of(X)], dtype=bool).T


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


def _levels_of(column: Any) -> tuple[Sequence | None, bool | None]:
    """The levels that the type of a column declares, and whether they have an order; None of a type that is not categorical."""
    library, kind = package(column), str(getattr(column, "type", getattr(column, "dtype", "")))
    if library == "pandas" and kind == "category":
        return column.cat.categories.tolist(), bool(column.cat.ordered)
    if library == "polars" and kind.startswith("Enum"):
        return column.dtype.categories.to_list(), False  # a list of what may occur, whose order need not mean anything
    if library == "pyarrow" and kind.startswith("dictionary") and column.type.ordered:
        whole = column.combine_chunks() if hasattr(column, "chunks") else column
        return whole.dictionary.to_pylist(), True
    return None, False if kind.startswith(("Categorical", "dictionary")) else None


def _unusable(column: Any) -> tuple[bool, bool]:
    """Whether the type of a column is that of dates, and whether that of durations, times of day or lists."""
    library = package(column)
    kind: Any = column.type if library == "pyarrow" else getattr(column, "dtype", None)
    if library == "pandas":
        return kind.kind == "M", kind.kind == "m"
    if library == "polars":
        dates = str(kind).startswith("Date")
        return dates, not dates and (kind.is_temporal() or kind.is_nested())
    if library == "pyarrow":
        from pyarrow import types

        dates = types.is_date(kind) or types.is_timestamp(kind)
        return dates, not dates and (types.is_temporal(kind) or types.is_nested(kind))
    return False, False


# Tables read and made


def read_columns(X: Any) -> dict[Any, Cells]:
    """The columns of a table by name, as `Cells`."""
    if isinstance(X, Batch):
        return X
    found = columns_of(X)
    check_names(name for name, _ in found)
    columns = {name: _cells(name, column) for name, column in found}
    if not columns:
        raise ValueError("the table has no columns; at least one is needed.")
    return columns


def check_names(names: Iterable) -> None:
    """Raise where columns have the same name, naming all that do."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        listed = ", ".join(map(repr, twice))
        raise ValueError(
            f"the table names the column{'s' * (len(twice) > 1)} {listed} more than once; rename one of each."
        )


def _cells(name: Any, column: Any) -> Cells:
    dates, odd = _unusable(column)
    if odd:
        raise holds_dates(name, _dtype_of(column))
    if dates:
        return replace(_objects(as_objects(column), ()), levels=None, dates=str(_dtype_of(column)))
    found = as_numbers(column)
    cells = _objects(as_objects(column), *_levels_of(column)) if found is None else _numbers(*found)
    strange = () if cells.numeric else {type(cell) for cell in cells.values if isinstance(cell, UNUSABLE)}
    if strange:
        raise holds_dates(name, min(kind.__name__ for kind in strange))
    if cells.numeric and np.isinf(cells.values).any():
        raise ValueError(f"column {name!r} contains infinity; replace it, or leave the cell empty if it is missing.")
    return cells


def holds_dates(name: Any, type: Any) -> NoteError:
    """That a column is neither of numbers nor of categories."""
    text = "column {name!r} holds {type}, which is neither a number nor a category; turn it into numbers "
    hint = "(days since a date, say) " if "date" in str(type) or "time" in str(type) else ""
    return NoteError("dates", text + hint + "or leave it out.", name=name, type=str(type))


def check_types(X: Any) -> None:
    """Raise, naming the column, where a data frame or an array holds dates or durations, which models of numbers do not take."""
    if package(X) == "pandas" and hasattr(X, "dtypes") and hasattr(X, "columns"):
        dated = ((name, kind) for name, kind in zip(X.columns, X.dtypes) if getattr(kind, "kind", "") in "mM")
    elif package(X) == "polars" and type(X).__name__ == "DataFrame":
        dated = ((name, kind) for name, kind in X.schema.items() if kind.is_temporal() or kind.is_nested())
    else:
        kind = getattr(X, "dtype", None)
        dated = ((0, each) for each in [kind] if isinstance(each, np.dtype) and each.kind in "mM")
    for name, kind in dated:
        raise holds_dates(name, kind)


def _numbers(values: np.ndarray, whole: bool = False) -> Cells:
    return Cells(values, np.isnan(values), whole=whole)


def _objects(cells: Sequence, levels: Iterable | None, ordered: bool | None = None) -> Cells:
    """Cells that are not typed as numbers: numbers if all are, else categories."""
    values = np.fromiter(cells, dtype=object, count=len(cells))
    missing = np.array([is_missing(cell) for cell in cells], dtype=bool)
    seen = values[~missing]
    if levels is None and len(seen) and all(isinstance(cell, (bool, np.bool_)) for cell in seen):
        levels = (False, True)
    if levels is None and all(isinstance(cell, numbers.Real) for cell in seen):
        return _numbers(np.where(missing, np.nan, values).astype(np.float64))
    return Cells(values, missing, None if levels is None else tuple(levels), ordered=ordered)


def as_given(values: np.ndarray, X: Any) -> Any:
    """An array (rows, columns) as a table of the kind of X, with its names and index; itself where X is no table."""
    return assemble(dict(zip(X.columns, values.T)), package(X), X) if _is_frame(X) else values


def beside(values: np.ndarray, names: Sequence, X: Any) -> Any:
    """New columns (rows, columns) of these names as a table of the kind of X, with its index; as they are where X is none."""
    return aligned(assemble(dict(zip(names, values.T)), package(X)), X) if _is_frame(X) else values


def aligned(made: Any, X: Any) -> Any:
    """A table with the index of X, where both have one."""
    return made.set_axis(X.index) if package(X) == package(made) == "pandas" else made


def assemble(
    columns: dict[Any, np.ndarray | None],
    container: str,
    like: Any = None,
    types: dict[Any, tuple[str, tuple]] | None = None,
) -> Any:
    """A table of that kind; a column that is None is taken from `like`.

    Columns have the types that they have in `like`; those that it lacks have the `types` of `Cells`, each with its levels.
    """
    if container in CONTAINERS:
        library, had = import_module(container), dict(columns_of(like)) if package(like) == container else {}
        index = {"index": like.index} if container == "pandas" and had else {}
        made: dict[Any, Any] = {}
        for name, values in columns.items():
            column = had.get(name)
            if values is None:
                made[name] = column
                continue
            # A column without any value has no type of its own to keep.
            untyped = column is None or (len(column) > 0 and _is_empty(column))
            dtype = _dtype(container, *(types or {}).get(name, ("", ()))) if untyped else _dtype_of(column)
            made[name] = TYPED[container](values, dtype, **index)
        if container == "pandas":
            return library.DataFrame(made, **index)
        return library.DataFrame(made) if container == "polars" else library.table(made)
    kept = np.asarray(like)
    out = [np.asarray(kept[:, j] if values is None else values) for j, values in enumerate(columns.values())]
    given = like is not None and kept.dtype.kind not in "fiu"  # objects stay objects
    kind = object if given or not all(map(_all_numbers, out)) else np.float64
    return np.column_stack([column.astype(kind) for column in out])


def _all_numbers(column: np.ndarray) -> bool:
    """Whether cells are numbers, or missing."""
    if column.dtype.kind != "O":
        return column.dtype.kind in "fiu"
    return all(is_missing(cell) or (isinstance(cell, numbers.Real) and not isinstance(cell, bool)) for cell in column)


# Types of columns, as their libraries name them


def _is_empty(column: Any) -> bool:
    """Whether a column has values of no type: floating-point or none at all, and all missing."""
    if not str(_dtype_of(column)).lower().startswith(("float", "double", "object", "null")):
        return False
    cells = (cell.as_py() for cell in column) if package(column) == "pyarrow" else column
    return all(map(is_missing, cells))  # the first value answers


def _dtype_of(column: Any) -> Any:
    return column.type if package(column) == "pyarrow" else column.dtype


def _dtype(container: str, type: str, levels: tuple) -> Any:
    """The type of a library for a type of `Cells`; None leaves it to the values."""
    if not type:
        return None
    library = import_module(container)
    if type in ("category", "ordered"):
        if container == "pandas":
            return library.CategoricalDtype(levels or None, ordered=type == "ordered")
        if not all(isinstance(level, str) for level in levels):
            return None  # the other libraries have categories of texts only
        if container == "polars":
            return library.Enum(levels) if levels else library.Categorical
        return library.dictionary(library.int32(), library.string(), ordered=type == "ordered")
    if type not in ("bool", "whole"):
        return None
    if container == "pandas":
        return "int64" if type == "whole" else "bool"
    if container == "polars":
        return library.Int64 if type == "whole" else library.Boolean
    return library.int64() if type == "whole" else library.bool_()


def _whole(values: np.ndarray, whole: bool) -> np.ndarray:
    """Numbers rounded where their type holds whole ones only."""
    return np.round(values) if whole and values.dtype.kind == "f" else values


def _pandas(values: np.ndarray, dtype: Any, index: Any = None) -> Any:
    import pandas as pd

    dtype = None if dtype is None else pd.api.types.pandas_dtype(dtype)
    if isinstance(dtype, pd.CategoricalDtype) and dtype.categories is not None:  # a fill may be a level that X lacks
        new = [each for each in pd.unique(values) if not is_missing(each) and each not in dtype.categories]
        dtype = pd.CategoricalDtype([*dtype.categories, *new], dtype.ordered) if new else dtype
    values = _whole(values, dtype is not None and pd.api.types.is_integer_dtype(dtype))
    series = pd.Series(values, index=index)
    plain = dtype is None or (
        isinstance(dtype, np.dtype) and (dtype.kind == "O" or (dtype.kind in "iub" and series.hasnans))
    )
    return series if plain else series.astype(dtype)


def _polars(values: np.ndarray, dtype: Any) -> Any:
    import polars as pl

    values = _whole(values, dtype is not None and dtype.is_integer())
    series = pl.Series(values.tolist(), strict=False)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    return series if dtype is None else series.cast(dtype)


def _pyarrow(values: np.ndarray, dtype: Any) -> Any:
    import pyarrow as pa

    values = _whole(values, dtype is not None and pa.types.is_integer(dtype))
    cells = [None if is_missing(value) else value for value in values.tolist()]
    if dtype is None or pa.types.is_dictionary(dtype):
        return pa.array(cells, dtype)
    return pa.array(cells).cast(dtype, safe=False)


TYPED = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}
CONTAINERS = tuple(TYPED)
"""Libraries whose tables are made again."""
