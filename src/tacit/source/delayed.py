"""Dask collections as partitions: delayed rows and what belongs to them, each later read by one worker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["delayed_partitions", "is_dask"]

ROOTS = ("dask", "dask_expr", "distributed")


def is_dask(data: Any) -> bool:
    """Whether data is a Dask collection, or a list of delayed values or futures; Dask is not imported to find out."""
    if isinstance(data, (list, tuple)) and len(data):
        data = data[0]
    return type(data).__module__.split(".")[0] in ROOTS


def delayed_partitions(data: Any, columns: Sequence | None, along: dict[str, Any]) -> tuple[list, Any, list | None]:
    """Delayed (rows, along) of each partition, the type of the cells, and the names of the columns.

    `along` holds, by name, what belongs to the rows beside their cells: names of columns, or values in partitions like those of
    `data`; each partition has its part of them under the same names.
    """
    if isinstance(data, (list, tuple)):
        parts, dtype, columns = list(data), None, None
        along = {name: _listed(name, values, len(parts)) for name, values in along.items()}
    elif hasattr(data, "dtypes"):
        columns, dtype = _frame_columns(data, columns, along)
        parts = data.to_delayed()
        along = {
            name: [values] * len(parts) if _named(values) else _listed(name, values, len(parts))
            for name, values in along.items()
        }
    else:
        data, columns = _array(data, along.values()), None
        dtype = data.dtype if data.dtype == np.float32 else np.dtype(np.float64)
        parts = data.to_delayed().ravel().tolist()
        along = {name: _along(name, values, data) for name, values in along.items()}
    every = [{name: values[number] for name, values in along.items()} for number in range(len(parts))]
    return list(zip(parts, every)), dtype, columns


def _named(values: Any) -> bool:
    """Whether values name a column, or columns."""
    return isinstance(values, str) or (isinstance(values, list) and all(isinstance(name, str) for name in values))


def _array(X: Any, along: Iterable[Any]) -> Any:
    """A two-dimensional array of numbers with all columns in one chunk."""
    if not hasattr(X, "rechunk") or not hasattr(X, "ndim"):
        raise TypeError(f"rows cannot be read from {type(X).__name__}; give a Dask array or dataframe.")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead; reshape it to rows and columns.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"the array holds {X.dtype}, which is not a number; convert it with astype(float).")
    if X.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s); at least one column is needed.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    to_cut = any(values is not None and not is_dask(values) for values in along)
    if to_cut and np.isnan(X.chunks[0]).any():
        X = X.compute_chunk_sizes()  # an array can only be cut where the lengths of chunks are known
    return X


def _along(name: str, values: Any, X: Any) -> list:
    """Values per row, cut like the rows of X: one delayed value per partition."""
    if values is None:
        return [None] * X.numblocks[0]
    if _named(values):
        raise ValueError(f"{name}={values!r} names a column, but an array has no names; give an array.")
    if hasattr(values, "to_dask_array"):
        values = values.to_dask_array()
    if not hasattr(values, "rechunk"):
        import dask.array

        values = np.asarray(values)
        rest = (-1,) * (values.ndim - 1)
        values = dask.array.from_array(values, chunks=(X.chunks[0], *rest) if len(values) == X.shape[0] else -1)
    known = not np.isnan(values.shape[:1] + X.shape[:1]).any()
    if values.ndim != (2 if name == "targets" else 1) or (known and len(values) != len(X)):
        raise ValueError(f"{name} has shape {values.shape}, but X has {X.shape[0]} rows; give one value per row.")
    if known and values.chunks[:1] != X.chunks[:1]:
        values = values.rechunk({0: X.chunks[0]} | {axis: -1 for axis in range(1, values.ndim)})
    return _listed(name, values, X.numblocks[0])


def _listed(name: str, values: Any, n_partitions: int) -> list:
    """One delayed value per partition, from a collection with as many partitions or a list."""
    if values is None:
        return [None] * n_partitions
    if not isinstance(values, (list, tuple)):
        if not hasattr(values, "to_delayed"):
            raise ValueError(
                f"{name} is a {type(values).__name__}; for these rows give the name of a column, or a Dask series or "
                "array in the same partitions."
            )
        values = np.ravel(np.array(values.to_delayed(), dtype=object)).tolist()
    if len(values) != n_partitions:
        raise ValueError(f"{name} has {len(values)} partitions, but the rows have {n_partitions}; repartition it.")
    return list(values)


def _frame_columns(frame: Any, columns: Sequence | None, along: dict[str, Any]) -> tuple[list, np.dtype]:
    """The columns to use and the type of their cells."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if getattr(frame, "ndim", 2) != 2:
        raise ValueError("Expected 2D array, got a series instead; give a dataframe, as by to_frame().")
    kinds = dict(frame.dtypes.items())
    named = [(role, name) for role, value in along.items() if _named(value) for name in np.atleast_1d(value).tolist()]
    special = [name for _, name in named]
    for role, name in [*(("X", name) for name in columns or []), *named]:
        if name not in kinds:
            raise ValueError(f"the dataframe has no column {name!r}; it has {', '.join(map(str, kinds))}.")
        if role != "unit" and not (is_numeric_dtype(kinds[name]) or is_bool_dtype(kinds[name])):
            raise ValueError(f"column {name!r} holds {kinds[name]}, which is not a number.")
    columns = list(columns or [name for name in kinds if is_numeric_dtype(kinds[name]) and name not in special])
    if not columns:
        raise ValueError(f"the dataframe has no numeric column; it has {', '.join(map(str, kinds))}.")
    small = all(getattr(kinds[name], "numpy_dtype", kinds[name]) == np.float32 for name in columns)
    return columns, np.dtype(np.float32 if small else np.float64)
