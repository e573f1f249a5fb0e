"""`Results`: tables of what a model says of every row of a table, written in one pass over its batches.

Filled cells are written in the way the table writes its own; every other cell is as it was read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from ..base.classes import outlier_threshold
from ..base.missing import Imputed, draw_cells
from ..frames import Batch
from ..impute.trial import filled_cells, lowest_of
from ..schema import labels_of
from ..source import Block
from ..survey.dates import DATE_READINGS
from ..survey.numerals import numbers_of
from ..tables import DataTable
from .fills import emptied
from .scores import SURE, Coder, Scorer, Scores

__all__ = ["GroupResults", "Results", "id_name"]

KEYS = ("row", "group", "probability", "other", "other_probability", "reason", "outlier", "farther_out", "column", "value",
        "low", "high")  # fmt: skip
"""Names that results have beside those of ids."""
CELLS = ("column", "value", "low", "high", "probability")
"""What the file of cells tells of each, beside its row."""


def id_name(name: str) -> str:
    """The name of a column of ids among results."""
    taken = name in KEYS or name.startswith(("probability_", "axis_", "factor_", "se_"))
    return f"{name} (id)" if taken else name


@dataclass(frozen=True)
class Part:
    """A batch of rows as they were read, and the cells that the model uses as numbers; `start` is its first row, from 0."""

    results: Results
    start: int
    read: Batch
    cells: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """The cells of the columns that the table has."""
        return self.results.of_table(self.cells)

    @cached_property
    def missing(self) -> np.ndarray:
        """Which of them are missing in the table itself, to be filled; a level that the model does not know is not.

        Nor is a date of which the model knows the season or the day of the week: neither is a date.
        """
        used = self.results.table.used
        dated = [bool(column.cycle) and column.reading in DATE_READINGS for column in used]
        gone = [self.read[column.name].missing & (not skip) for column, skip in zip(used, dated)]
        return np.isnan(self.known) & np.column_stack(gone)

    @cached_property
    def found(self) -> Imputed:
        """All cells of the model's columns with missing ones filled in."""
        return self.results.fill(self)

    @cached_property
    def imputed(self) -> Imputed:
        """The same of the columns that the table has."""
        return Imputed(*(self.results.of_table(answer) for answer in self.found))

    @property
    def rows(self) -> dict:
        """The columns that say which row it is."""
        own = self.results
        ids = {id_name(name): own.as_read(self.read[name]) for name in own.table.ids}
        return ids | {"row": np.arange(self.start, self.start + len(self.cells)) + 1}


class Results:
    """Writes tables of results of a fitted model, for a table with its columns.

    Filled counts are whole numbers. Other filled numbers of columns that hold whole ones only are rounded in the table; the list
    of cells keeps them as they are. Where results are `typed`, numbers of a text are written as numbers; `level` is that of the
    intervals.
    """

    def __init__(self, model: Any, table: DataTable, *, level: float = 0.9, typed: bool = False):
        self.model, self.table, self.level, self.typed = model, table, level, typed and table.reader.is_text
        self.dated = np.array([not column.levels and column.reading in DATE_READINGS for column in table.used])
        self.whole = np.array([column.whole and not column.levels for column in table.used])
        self.levels: list[dict] = [{} for _ in table.used]
        self.columns: list[int] = list(range(len(table.used)))
        self.encode: Callable = table.schema.encode
        self.outputs: list[tuple[Any, Callable[[Part], dict]]] = []
        self.n_rows = 0

    def of_table(self, cells: np.ndarray) -> np.ndarray:
        """Those of the model's columns that the table has."""
        return cells if self.columns == list(range(cells.shape[1])) else cells[:, self.columns]

    def fill(self, part: Part) -> Imputed:
        """The cells of a part with missing ones filled in."""
        return filled_cells(self.model, self.table, part.cells, self.level)

    def add(self, writer: Any, make: Callable[[Part], dict]) -> None:
        """Write what a method of this, or any function of a `Part`, makes of every batch."""
        self.outputs.append((writer, make))

    def write(self) -> None:
        """Go through the table."""
        for read, batch in self.table.scan(self.table.used):
            part = Part(self, self.n_rows, read, self.encode(batch))
            self._note(part)
            for writer, make in self.outputs:
                if made := make(part):
                    writer.write(made)
            self.n_rows += len(part.cells)

    def _note(self, part: Part) -> None:
        """Take note of what is told of the rows."""

    # What is written

    def filled(self, part: Part) -> dict:
        """The table as it was read, with missing cells of the model's columns filled in."""
        return self._completed(part, part.imputed.filled)

    def drawn(self, seed: int, number: int) -> Callable[[Part], dict]:
        """The same with missing cells drawn at random; what it makes depends on the seed and the number of the draw alone."""

        def make(part: Part) -> dict:
            rng = np.random.default_rng([seed, number, part.start])
            return self._completed(
                part, draw_cells(self.model, Block.of(part.cells), 1, rng, lowest_of(self.model, self.table))[0]
            )

        return make

    def cells(self, part: Part) -> dict:
        """The missing cells: ids, row, column, value, low, high, probability; a cell that is left empty has no value."""
        rows, places = np.nonzero(part.missing)
        if not len(rows):  # the first part names the columns, so that a table without missing cells has a header
            return {} if part.start else {name: [] for name in (*part.rows, *CELLS)}
        names = np.array(self.table.schema.names, dtype=object)
        ids = {name: _taken(values, rows) for name, values in part.rows.items() if name != "row"}
        told = ids | {"row": rows + part.start + 1, "column": names[places]}
        values = np.empty(len(rows), dtype=object)
        for j, (info, coded) in enumerate(zip(self.table.used, self.table.schema.columns)):
            here = places == j
            chosen = part.imputed.filled[rows[here], j]
            values[here] = labels_of(coded, chosen) if info.levels else self._texts(chosen, self.dated[j])
        told["value"] = values
        for name in ("low", "high"):
            told[name] = self._ends(getattr(part.imputed, name)[rows, places], places)
            if self.dated.any():  # dates and numbers in one column are text
                told[name] = [self._texts(np.array([value]), self.dated[j])[0] for value, j in zip(told[name], places)]
        return told | {"probability": part.imputed.probability[rows, places]}

    def _ends(self, values: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Ends of intervals: those of ordered levels as their numbers, and none where levels are no numbers."""
        for j, column in enumerate(self.table.used):
            if column.levels:
                here = (places == j) & ~np.isnan(values)
                levels = numbers_of(list(column.levels))
                values[here] = np.nan if levels is None else levels[values[here].astype(int)]
        return values

    def said(self, part: Part) -> dict:
        """What the model says of each row."""
        return part.rows | {
            name if name not in part.rows else f"{name} (new)": column
            for name, column in self.model._results(part.cells).items()
        }

    # Cells in the way the table writes its own

    def as_read(self, cells: Any) -> Any:
        """Cells as the table holds them: text as it stands, other types as they are."""
        return cells.written()

    def _completed(self, part: Part, filled: np.ndarray) -> dict:
        columns = {name: self.as_read(cells) for name, cells in part.read.items()}
        for j, info in enumerate(self.table.used):
            gone, known = part.missing[:, j] & ~np.isnan(filled[:, j]), part.known[:, j]
            if self.typed and not info.levels:
                columns[info.name] = self._numbers(j, np.where(gone, filled[:, j], known))
                continue
            if info.levels:
                self._learn_levels(j, columns[info.name], known)
            if gone.any():
                columns[info.name] = _replaced(columns[info.name], gone, self._values(j, filled[gone, j]))
        return columns

    def _numbers(self, j: int, values: np.ndarray) -> list:
        """A column of a text as numbers or dates, None where missing."""
        known = np.nan_to_num(values)
        made = _dates(values) if self.dated[j] else np.round(known).astype(int) if self.whole[j] else known
        return [None if gone else value for value, gone in zip(np.asarray(made, object).tolist(), np.isnan(values))]

    def _learn_levels(self, j: int, column: Any, codes: np.ndarray) -> None:
        """How the table itself writes the levels of a category, as far as it was read."""
        if len(self.levels[j]) < len(self.table.used[j].levels):
            codes, first = np.unique(codes, return_index=True)
            for code, row in zip(codes[~np.isnan(codes)].astype(int).tolist(), first):
                cell = column[int(row)]
                self.levels[j].setdefault(code, cell.as_py() if isinstance(cell, pa.Scalar) else cell)

    def _values(self, j: int, values: np.ndarray) -> list:
        """Filled cells of a column."""
        info, coded, is_text = self.table.used[j], self.table.schema.columns[j], self.table.reader.is_text
        if info.levels:
            labels = labels_of(coded, values)
            return [self.levels[j].get(int(code), label) for code, label in zip(values, labels)]
        if not is_text:
            return self._numbers(j, values)
        whole = self.dated[j] or self.whole[j]
        texts = list(map(str, self._numbers(j, values))) if whole else _formatted(values)
        return [text.replace(".", ",") for text in texts] if info.reading.startswith("comma") else texts

    def _texts(self, values: np.ndarray, dated: bool) -> list[str | None]:
        """Numbers as texts of ten digits, or dates; None where there is none."""
        texts = list(map(str, _dates(values))) if dated else _formatted(values, 10)
        texts = (
            texts if dated or self.table.decimal == "." else [text.replace(".", self.table.decimal) for text in texts]
        )
        return [None if gone else text for gone, text in zip(np.isnan(values).tolist(), texts)]


class GroupResults(Results):
    """Results of a mixture, which tell the group of every row; what the table lacks of the model's columns is missing.

    Outliers are judged among `n_rows` rows; a `scorer` that knows the table's rows already saves scoring them again.

    Attributes
    ----------
    counts, weights : (K,) arrays
        Rows of each group, and its weight in the mixture.
    n_uncertain, n_outliers, n_missing, n_filled : int
        How many there were; filled or to be filled are cells that are missing in the table itself, not those it lacks or
        that hold a level unknown to the model.
    n_empty : dict of str to int
        Missing cells that are left empty, by column.
    why_empty : dict of str to dict
        The same by reason; see `tacit.study.fills.emptied`.
    """

    def __init__(
        self, model: Any, table: DataTable, *, n_rows: int, level: float = 0.9, typed: bool = False,
        scorer: Scorer | None = None,
    ):  # fmt: skip
        super().__init__(model, table, level=level, typed=typed)
        self.coder, self.scorer = Coder(model.schema_, table), scorer or Scorer(model)
        self.encode, self.columns, self.threshold = self.coder.encode, self.coder.columns, outlier_threshold(n_rows)
        self.weights = np.asarray(model.weights_)[self.scorer.order]
        self.counts = np.zeros(len(self.weights), dtype=int)
        self.n_uncertain = self.n_outliers = self.n_missing = self.n_filled = 0
        self.n_empty: dict[str, int] = {}
        self.why_empty: dict[str, dict[str, int]] = {}
        self.scores: Scores

    def _note(self, part: Part) -> None:
        self.scores = scores = self.scorer.rows(part.cells, part.start)
        self.outlier = self.scorer.unusual(scores, self.threshold)
        self.counts += np.bincount(scores.group - 1, minlength=len(self.counts))
        self.n_uncertain += int((scores.sure < SURE).sum())
        self.n_outliers += int(self.outlier.sum())
        self.n_missing += int(np.isnan(part.cells).sum())
        self.n_filled += int(part.missing.sum())
        if not part.missing.any():
            return
        for reason, mask in emptied(self.model, part.cells, part.found.filled).items():
            empty = part.missing & mask[:, self.columns]
            self.n_filled -= int(empty.sum())
            for column, n in zip(self.table.used, empty.sum(axis=0).tolist()):
                if n:
                    self.n_empty[column.name] = self.n_empty.get(column.name, 0) + n
                    told = self.why_empty.setdefault(reason, {})
                    told[column.name] = told.get(column.name, 0) + n

    def groups(self, part: Part) -> dict:
        """The group of each row, probabilities, and whether the row is an outlier."""
        columns = part.rows | {"group": self.scores.group}
        for number, column in enumerate(self.scores.memberships.T, 1):
            columns[f"probability_{number}"] = column.round(6) + 0.0
        if self.scores.outlier is not None:
            said = compute.if_else(pa.array(self.outlier), "yes", "no")
            columns |= {"outlier": said, "farther_out": self.scores.outlier}
        return columns


def _dates(days: Any) -> list:
    """Days since 1970 as dates; what is no day is the first."""
    return np.round(np.nan_to_num(days)).astype("datetime64[D]").tolist()


def _formatted(values: np.ndarray, digits: int | None = None) -> list[str]:
    """Numbers as texts, of six digits or, from a million on, ten, unless `digits` says how many."""
    if not len(values):
        return []
    # One template for all of them: formatting one at a time takes several times as long.
    most = (
        np.where(np.abs(values) < 1e6, "%.6g", "%.10g").tolist() if digits is None else [f"%.{digits}g"] * len(values)
    )
    return ("\n".join(most) % tuple(values.tolist())).split("\n")


def _taken(values: Any, rows: np.ndarray) -> Any:
    """Some entries of a column."""
    return values.take(pa.array(rows)) if isinstance(values, pa.Array) else _objects(values)[rows]


def _objects(values: Any) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = values.to_pylist() if isinstance(values, pa.Array) else values
    return out


def _replaced(column: Any, where: np.ndarray, values: list) -> Any:
    """A column with other cells where a mask says so."""
    if isinstance(column, pa.Array):
        return compute.replace_with_mask(column, pa.array(where), pa.array(values, column.type))
    out = _objects(column)
    out[where] = values
    return out
