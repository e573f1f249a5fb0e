"""`FrameReader`: a table that is in memory already."""

import numpy as np

from ..frames import Batch, package
from ..survey.cells import cells_of_arrow
from .reader import Reader, checked_names

__all__ = ["FrameReader"]


class FrameReader(Reader):
    """Read a pandas or polars DataFrame, an Arrow table, a dictionary of columns or a 2-D array.

    Parameters
    ----------
    X : table
        Columns of an array are called column_1, column_2, ….
    missing : iterable of str
        Texts that stand for missing beside the usual ones.
    """

    name, place, folder = "table", "the table", "."

    def __init__(self, X, missing=()):
        super().__init__(missing)
        self.kind = package(X)
        if self.kind == "pyarrow" and not hasattr(X, "column_names"):
            raise ValueError(f"a pyarrow {type(X).__name__} is no table; give a pyarrow.Table.")
        names, self.columns = _columns(X, self.kind)
        if not self.columns:
            raise ValueError("the table has no columns; at least one is needed.")
        lengths = {len(column) for column in self.columns}
        if len(lengths) > 1:
            raise ValueError(f"the columns of the table have {min(lengths)} to {max(lengths)} rows; all need as many.")
        self.names, self.positions = checked_names(names, self.place, self.notes)
        self.notes.clear()
        if self.kind == "pyarrow":
            from .arrow import odd_columns

            self.odd = odd_columns(self.names, [column.type for column in self.columns])

    def read(self):
        for start in range(0, len(self.columns[0]), self.batch_rows):
            stop = start + self.batch_rows
            yield Batch((name, self._cells(column, start, stop)) for name, column in zip(self.names, self.columns))

    def _cells(self, column, start, stop):
        if self.kind == "pyarrow":
            part = column.slice(start, stop - start)
            part = part.combine_chunks() if hasattr(part, "combine_chunks") else part
            return cells_of_arrow(part, self.missing)
        if self.kind == "pandas":
            return self._of_pandas(column.iloc[start:stop])
        if self.kind == "polars":
            part = column.slice(start, stop - start)
            return self.missing.of_objects(part.to_list())
        part = column[start:stop]
        if isinstance(part, np.ndarray) and part.dtype.kind in "iuf":
            return self.missing.of_numbers(part, part.dtype.kind in "iu")
        return self.missing.of_objects(part.tolist() if isinstance(part, np.ndarray) else list(part))

    def _of_pandas(self, part):
        from pandas.api import types

        if types.is_numeric_dtype(part) and not types.is_bool_dtype(part) and not types.is_complex_dtype(part):
            values = part.to_numpy(dtype=np.float64, na_value=np.nan)
            if not types.is_integer_dtype(part) or (np.abs(np.nan_to_num(values)) <= 2.0**53).all():
                return self.missing.of_numbers(values, types.is_integer_dtype(part))
        return self.missing.of_objects(part.astype(object).tolist())


def _columns(X, kind):
    """Names and columns of a table."""
    if kind == "pandas":
        return list(X.columns), [X.iloc[:, position] for position in range(X.shape[1])]
    if kind == "polars":
        X = X.collect() if hasattr(X, "collect") else X
        return list(X.columns), X.get_columns()
    if kind == "pyarrow":
        return X.column_names, [X.column(position) for position in range(X.num_columns)]
    if isinstance(X, dict):
        return list(X), [column if isinstance(column, (list, tuple)) else np.asarray(column) for column in X.values()]
    X = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)
    if X.ndim != 2:
        raise ValueError(f"an array of {X.ndim} dimensions is no table; give one with rows and columns.")
    return [f"column_{position + 1}" for position in range(X.shape[1])], list(X.T)
