"""`TableRows`: how estimators read tables of any columns, and give tables back."""

import numbers
from typing import Any

import numpy as np

from ..base import RowsEstimator
from ..checks import check_range, check_table
from ..declared import Listed, Part, Text
from ..families import Bernoulli, Product
from ..frames import is_table, read_columns, without
from ..kernels import backend, host
from ..schema import Schema, labels_of
from ..source import ParquetSource, Source
from ..source.parquet import is_arrow
from .columns import check_columns, kinds_of, plain_schema

__all__ = ["TableRows"]


class TableRows(RowsEstimator):
    """Base of estimators whose rows are those of a table: pandas, polars, Arrow, Parquet files, or arrays of objects.

    At fit the columns are learned (``schema_``), and with them the families that describe them (``family_``, which a subclass
    makes by ``_product(schema)``); from then on cells are numbers. A subclass has the settings `by_column` and `unknown`.
    """

    _saved = RowsEstimator._saved | {
        "schema_": Part(Schema),
        "family_": Part(Product),
        "left_out_": Listed(Text(), kind=tuple),
    }
    _reads_tables = True
    family: Any = "auto"
    left_out_: tuple[str, ...] = ()  # columns of the table that are not described

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _open(
        self, X: Any, weight: Any = None, labels: Any = None, targets: Any = None, *, reset: bool = False
    ) -> Source:
        if (
            backend(X) == "torch"
        ):  # cells are checked and coded as those of an array are, and go back to where they were
            from ..source.torch import TorchSource

            found: Any = self._open(host(X), weight, labels, targets, reset=reset)
            return TorchSource.of(found, X.device)
        if is_table(X):
            return self._in_memory(self._validate(X, reset=reset), weight, labels, targets)
        source = super()._open(X, weight, labels, targets, reset=reset)
        if reset and source.schema is None:
            source.schema = plain_schema(source.n_features, source.columns)
        if reset:
            self._settle(source.schema)
        if reset and isinstance(source, ParquetSource):
            for block in source:
                check_columns(self.family_, block.X, self.schema_)
        return source

    def _in_memory(self, X: Any, weight: Any = None, labels: Any = None, targets: Any = None) -> Source:
        source = super()._in_memory(X, weight, labels, targets)
        source.schema = self.schema_
        return source

    def _stream(self, X: Any, weight: Any, labels: Any, *, reset: bool, **more: Any) -> Source:
        if not is_arrow(X):
            return super()._stream(X, weight, labels, reset=reset, **more)
        columns, levels = (None, "learn") if reset else (self.schema_.names, self.schema_.levels)
        source = ParquetSource(
            X, columns, weight=weight, labels=labels, levels=levels, unknown=self.unknown, n_jobs=self.n_jobs, **more
        )
        if reset:
            source.schema = Schema.scan(source.record_batches(), self._kinds(source))
            source.levels = source.schema.levels
        return source

    def _validate(self, X: Any, *, reset: bool) -> Any:
        if hasattr(X, "tocsr"):
            return self._validate_sparse(super()._validate(X, reset=reset), reset)
        if not is_table(X):
            X = super()._validate(X, reset=reset)
            given = X
        else:
            given = check_table(self, X if isinstance(X, (list, tuple)) else without(X, self.left_out_), reset=reset)
        if reset:
            self._settle(Schema.of(given, self._kinds(given)))
        cells = self.schema_.encode(given, unknown=self.unknown) if is_table(X) or self._coded() else X
        if len(cells) < (2 if reset else 1):
            raise ValueError(f"Found array with {len(cells)} sample(s) (shape={cells.shape}) while a minimum of "
                             f"{2 if reset else 1} is required.")  # fmt: skip
        check_columns(self.family_, cells, self.schema_)
        if reset:
            check_range(cells, told=self._told)
        return cells

    def _validate_sparse(self, X: Any, reset: bool) -> Any:
        """Sparse rows: one family describes all columns, cells that are not stored being 0."""
        if reset:
            self._settle(plain_schema(X.shape[1], self._known_names()))
        check_columns(self.family_, X, self.schema_)
        return X

    def _kinds(self, X: Any) -> dict[Any, str | None]:
        """Kinds of columns that are settled by the families asked for."""
        kinds, every = kinds_of(self.family, self.by_column)
        if every is None:
            return kinds
        if hasattr(X, "column_names"):
            names = X.column_names
        else:
            names = X.columns if hasattr(X, "columns") else range(X.shape[1])
        return dict.fromkeys(names, every) | kinds

    def _coded(self) -> bool:
        """Whether any column is a category, whose cells must be turned into codes."""
        return bool(self.schema_.levels)

    def _settle(self, schema: Schema) -> None:
        """Keep the columns and the families that describe them."""
        self.schema_, self.left_out_ = schema, ()
        self.family_ = self._product(schema)
        self.n_features_in_ = len(schema.columns)

    def _product(self, schema: Schema) -> Product:
        """The families that describe the columns of a schema."""
        raise NotImplementedError(f"{type(self).__name__} does not define _product.")

    def _as_given(self, cells: np.ndarray, X: Any) -> Any:
        if is_table(X) or (self._coded() and isinstance(X, (np.ndarray, list))):
            return self.schema_.decode(cells, without(X, self.left_out_))
        return self.schema_.decode(cells) if self._coded() else cells

    def _unknown_cells(self, X: Any) -> np.ndarray | None:
        """Which cells of a table hold a level that the model does not know and takes as missing; None where none can."""
        in_memory = is_table(X) or isinstance(X, (np.ndarray, list, tuple))
        if self.unknown != "missing" or not self._coded() or not in_memory:
            return None
        X = np.array(X, dtype=object) if isinstance(X, (list, tuple)) else without(X, self.left_out_)
        given = list(read_columns(X).values())
        seen = ~np.column_stack([cells.missing for cells in given])
        return seen & np.isnan(self.schema_.encode(X, unknown=self.unknown))

    def _names(self) -> list:
        return self.schema_.names

    def _columns_told(self) -> list[dict]:
        return [column.told() for column in self.schema_.columns]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if len(self.schema_.columns) != self.n_features_in_:
            raise ValueError(f"it names {len(self.schema_.columns)} columns, not {self.n_features_in_}")
        levels = {j: len(column.levels) for j, column in enumerate(self.schema_.columns) if column.levels}
        for part, columns in self.family_.parts:
            for j, n in zip(
                columns, getattr(part, "n_levels", [2 if isinstance(part, Bernoulli) else 0] * len(columns))
            ):
                if levels.get(j, n) > n or (levels.get(j, n) < n and n > 2):
                    raise ValueError(f"column {j} has {levels[j]} levels, but {n} in its family")

    # Missing cells

    def _lowest(self) -> np.ndarray:
        return np.array([column.least for column in self.schema_.columns])

    def _answered(self, found: np.ndarray, X: Any, none: float) -> np.ndarray:
        for j, column in enumerate(self.schema_.columns if found.shape[1] == 4 else ()):
            if column.kind == "ordinal":  # intervals of levels
                ends, known = found[:, 1:3, j], ~np.isnan(found[:, 1:3, j])
                if all(isinstance(level, numbers.Real) for level in column.levels):
                    ends[known] = np.array(column.levels, dtype=np.float64)[ends[known].astype(int)]
        kept = self._unknown_cells(X)
        if kept is not None:
            found.swapaxes(1, 2)[kept, 1:] = none
        return found

    def _labelled(self, cells: np.ndarray) -> dict[str, np.ndarray]:
        return {str(column.name): labels_of(column, codes) for column, codes in zip(self.schema_.columns, cells.T)}
