"""`NetworkTables`: how networks take tables, and give tables back: discrete columns as codes, continuous ones as numbers."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features

from ..base import EMEstimator
from ..checks import check_choice, check_columns, check_number, check_range
from ..declared import Part
from ..frames import Batch, Cells, is_table, read_columns
from ..schema import UNKNOWN, Column, ColumnLearner, Schema, container_of
from ..source import ArraySource, Source, is_streamed
from .levels import cut_column, cut_table
from .nodes import Nodes, closest

__all__ = ["NetworkTables", "schema_of_nodes"]

FEW_NUMBERS = 20
"""A column of whole numbers with at most so many different ones is discrete."""


def schema_of_nodes(nodes: Nodes, container: str = "numpy") -> Schema:
    """The schema of a table with a column for each variable."""
    columns = [
        Column(v, "category" if states else "continuous", states, "given")
        for v, states in zip(nodes.names, nodes.states)
    ]
    return Schema(tuple(columns), container)


class NetworkTables(EMEstimator):
    """Base of estimators of networks: rows are tables of named columns, or arrays.

    A subclass has the settings `structure`, `states`, `continuous`, `levels` and `unknown`.
    """

    _saved = EMEstimator._saved | {"schema_": Part(Schema)}
    _reads_tables = True
    structure: Any
    states: Any
    continuous: Any
    levels: Any
    unknown: str
    schema_: Schema

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _check_reading(self) -> None:
        check_choice("unknown", self.unknown, UNKNOWN)
        if not isinstance(self.states, (dict, type(None))):
            raise ValueError(f"states={self.states!r} is not a dictionary of columns and their states.")
        check_number("levels", self.levels, numbers.Integral, 2, also=(None, "auto"))

    # Rows

    def _validate(self, X: Any, *, reset: bool) -> np.ndarray:
        return self._cells(self._opened(X, reset=reset))

    def _opened(self, X: Any, *, reset: bool) -> Batch:
        """The columns of a table or of an array; at fit, what they are is learned."""
        if not is_table(X):
            X = super()._validate(X, reset=reset)
        elif isinstance(X, (list, tuple)):
            X = np.array(X, dtype=object)
        if reset and hasattr(X, "columns") and not hasattr(X, "column_names"):
            _check_feature_names(self, X, reset=True)
        if reset or isinstance(X, np.ndarray):
            _check_n_features(self, X, reset=reset)
        columns = Batch(read_columns(X))
        if reset:
            self.schema_ = self._learn_schema(columns, container_of(X))
            self.n_features_in_ = len(self.schema_.columns)
        if columns.n_rows < (2 if reset else 1):
            shape = columns.n_rows, len(columns)
            raise ValueError(f"Found array with {shape[0]} sample(s) (shape={shape}) while a minimum "
                             f"of {2 if reset else 1} is required.")  # fmt: skip
        return columns

    def _cells(self, columns: Batch) -> np.ndarray:
        """Codes and numbers of rows, NaN where missing and in columns that the table lacks."""
        ordered = len(columns) == len(self.schema_.columns) and list(columns) == list(range(len(columns)))
        cells = self.schema_.encode(columns, [] if ordered else self._absent(columns), self.unknown)
        check_range(cells, told=self._told)
        return cells

    def _absent(self, columns: Batch) -> list:
        """Columns of the network that a table lacks, which are taken as missing; columns that the network lacks are refused."""
        known = set(self.schema_.names)
        strange = [name for name in columns if name not in known]
        if strange:
            raise ValueError(
                f"the table has the column {strange[0]!r}, which the network has not; {closest(strange[0], known)}"
            )
        return [name for name in self.schema_.names if name not in columns]

    def _learn_schema(self, columns: Batch, container: str) -> Schema:
        """What the columns are: states as given, else those that occur."""
        told = dict(self.states or {})
        strange = [name for name in told if name not in columns and name not in self._hidden_names()]
        if strange:
            raise ValueError(f"states tells of {strange[0]!r}, which is no column; {closest(strange[0], columns)}")
        asked = self._asked_continuous(list(columns))
        kinds = {name: self._kind(name, cells, asked) for name, cells in columns.items() if name not in told}
        for name, kind in kinds.items():
            if columns[name].missing.all():
                raise ValueError(
                    f"column {name!r} has no observed value; drop it, or declare it as hidden with its states."
                )
            if kind == "continuous" and not columns[name].numeric:
                raise ValueError(f"column {name!r} is to be continuous but holds text; leave it out of continuous.")
        made = [
            Column(name, "category", tuple(told[name]), "given", type=cells.type, declared=cells.levels or ())
            if name in told
            else cut_column(name, cells, self._n_levels, type=cells.type)
            if kinds[name] == "continuous" and asked is None and self._cuts
            else learned_column(name, cells, kinds[name])
            for name, cells in columns.items()
        ]
        return Schema(tuple(made), container)

    @property
    def _cuts(self) -> bool:
        """Whether columns of numbers are cut into levels: as asked, and where a structure is searched for."""
        return self.levels is not None or isinstance(self.structure, str)

    @property
    def _n_levels(self) -> int | None:
        return None if self.levels == "auto" else self.levels

    def _hidden_names(self) -> list:
        return []

    def _asked_continuous(self, names: list) -> set | None:
        """Names of the columns that are asked to be continuous; None where their cells decide."""
        if isinstance(self.continuous, str) and self.continuous == "auto":
            return None
        if self.continuous is None:
            return set()
        return (
            {names[j] for j in check_columns("continuous", self.continuous, len(names), names)}
            if len(self.continuous)
            else set()
        )

    @staticmethod
    def _kind(name: Any, cells: Cells, asked: set | None) -> str:
        if asked is not None:
            return "continuous" if name in asked else "category"
        if not cells.numeric:
            return "category"
        seen = np.unique(cells.values[~cells.missing])
        few = len(seen) <= FEW_NUMBERS and (seen == np.round(seen)).all()
        return "category" if few else "continuous"

    def _in_memory(self, X: Any, weight: Any = None, labels: Any = None, targets: Any = None) -> Source:
        source = super()._in_memory(X, weight, labels, targets)
        source.schema = self.schema_
        return source

    def _open(
        self, X: Any, weight: Any = None, labels: Any = None, targets: Any = None, *, reset: bool = False
    ) -> Source:
        if is_table(X):
            return self._in_memory(self._validate(X, reset=reset), weight, labels, targets)
        if type(X).__name__ == "DataTable" and (self._cuts or not reset):
            X = self._of_table(X, reset)
        if is_streamed(X) and not isinstance(X, Source):
            raise ValueError(
                f"{type(self).__name__} takes a table in memory; read the rows first, for example with pandas."
            )
        source = super()._open(X, weight, labels, targets, reset=reset)
        if reset and source.schema is None:
            raise ValueError("X has no schema of its columns; give a table in memory.")
        if reset:
            self.schema_ = source.schema
        return source

    def _of_table(self, table: Any, reset: bool) -> Source:
        """The rows of a `DataTable`, whose survey says what columns are."""
        if not reset:
            table = table.like(self._columns_told(), self.unknown)
        schema = cut_table(table, self._n_levels) if reset else self.schema_
        parts = [schema.encode(batch, (), self.unknown) for _, batch in table.scan(table.used)]
        source = ArraySource(np.concatenate(parts), n_jobs=self.n_jobs)
        source.schema, source.columns = schema, schema.names
        return source

    def _columns_told(self) -> list[dict]:
        return [column.told() for column in self.schema_.columns]

    def _check_columns(self, X: np.ndarray) -> None:
        """Columns without any value are refused when kinds are learned, where they can be named."""


def learned_column(name: Any, cells: Cells, kind: str) -> Column:
    """What a column is whose kind is known: its levels are those that occur."""
    if kind == "category" and cells.numeric:  # a million codes are sorted much faster than they are counted one by one
        levels = np.unique(cells.values[~cells.missing])
        whole = bool((levels == np.round(levels)).all())
        told = tuple(int(level) if whole else float(level) for level in levels)
        return Column(name, "category", told, "as asked", whole=whole, type=cells.type)
    learner = ColumnLearner(name, False, kind)
    learner.add(cells)
    return learner.column()
