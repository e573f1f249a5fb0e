"""Tables written with their holes filled in: every other cell as it was read."""

import numpy as np

from ..schema import labels_of
from ..source import Block
from ..survey.dates import DATE_READINGS
from .filling import Filler
from .observed import knowledge_of

__all__ = ["Completion", "as_read", "draw_cells", "holes_of", "id_name", "ids_as_read"]

KEYS = ("row", "group", "probability", "other", "other_probability", "reason", "outlier", "farther_out", "column", "value",
        "low", "high")  # fmt: skip
"""Names that results have beside those of ids."""


def id_name(name):
    """The name of a column of ids among results."""
    taken = name in KEYS or name.startswith(("probability_", "axis_", "factor_", "se_"))
    return f"{name} (id)" if taken else name


def ids_as_read(table, read):
    """The columns that say which row it is, in the types they were read in, under names that no result has."""
    return {id_name(name): as_read(read[name], table.reader) for name in table.ids}


def draw_cells(model, cells, rng):
    """The rows with missing cells drawn from their law given the observed ones."""
    holed = np.isnan(cells).any(axis=1)
    out = cells.copy()
    if holed.any():
        rule, params, block = model._model(), model._params(), Block.of(cells[holed])
        resp, known, empty = rule.posterior(params, block)[0], knowledge_of(model), False
        if known is not None:
            empty = known.empty(block.X, resp)
            resp = known.shared_rows(resp, block.X, empty)
        out[holed] = np.where(empty, np.nan, rule.family.draw(params.components, block, resp, 1, rng)[0])
    return out


def holes_of(table, read, cells):
    """Which cells of a batch are missing in the table itself, (rows, d); a level that the model does not know is none."""
    return np.isnan(cells) & np.column_stack([read[column.name].missing for column in table.used])


class Completion:
    """Fills a table batch by batch.

    Filled numbers of columns that hold whole numbers only are rounded to whole ones in the table; the list of cells keeps them
    as they are.

    Parameters
    ----------
    model : fitted model
        Whose columns are those that the table uses.
    table : DataTable
    level : float
        Of the intervals.
    typed : bool
        Whether results have types, so that numbers of a text are written as numbers.
    columns : list of int, optional
        Positions of the table's columns among the model's; default all in order.
    """

    def __init__(self, model, table, level=0.9, typed=False, columns=None):
        self.model, self.table, self.fill = model, table, Filler(model, table, level, columns)
        self.typed = typed and table.reader.is_text
        self.dated = np.array([not c.levels and c.reading in DATE_READINGS for c in table.used])
        self.whole = np.array([column.whole and not column.levels for column in table.used])
        self.levels: list[dict] = [{} for _ in table.used]

    def batches(self):
        """Yield for every batch its first row's number from 0, its cells as read, and the cells that the model uses."""
        start = 0
        for read, batch in self.table.scan(self.table.used):
            yield start, read, self.table.schema.encode(batch)
            start += batch.n_rows

    def draw(self, cells, rng):
        """The rows with missing cells drawn at random."""
        return self.fill.bounded(draw_cells(self.model, cells, rng), cells)

    def rows(self, read, cells, filled):
        """Columns of a batch as they were read, holes in the model's columns filled in as far as `filled` says with what."""
        columns = {name: as_read(part, self.table.reader) for name, part in read.items()}
        holes = holes_of(self.table, read, cells) & ~np.isnan(filled)
        for j, info in enumerate(self.table.used):
            gone = holes[:, j]
            if self.typed and not info.levels:
                columns[info.name] = self._numbers(j, np.where(gone, filled[:, j], cells[:, j]))
                continue
            if info.levels:
                self._learn_levels(j, columns[info.name], cells[:, j])
            if gone.any():
                out = np.empty(len(gone), dtype=object)
                out[:] = columns[info.name]
                out[gone] = self._values(j, filled[gone, j])
                columns[info.name] = out
        return columns

    def _numbers(self, j, values):
        """A column of a text as numbers or dates, None where missing."""
        made = [
            int(value) if self.whole[j] else value
            for value in np.nan_to_num(np.round(values) if self.whole[j] else values)
        ]
        if self.dated[j]:
            made = _dates(values)
        return [None if gone else value for value, gone in zip(made, np.isnan(values))]

    def _learn_levels(self, j, column, codes):
        """How the table itself writes the levels of a category, as far as it was read."""
        known = self.levels[j]
        if len(known) < len(self.table.used[j].levels):
            codes, first = np.unique(codes, return_index=True)
            for code, row in zip(codes[~np.isnan(codes)].astype(int).tolist(), first):
                known.setdefault(code, column[row])

    def _values(self, j, values):
        """Filled cells of a column in the way the table writes its own."""
        info, coded = self.table.used[j], self.table.schema.columns[j]
        if info.levels:
            labels = labels_of(coded, values)
            return [self.levels[j].get(int(code), label) for code, label in zip(values, labels)]
        if self.dated[j]:
            days = _dates(values)
            return [str(day) for day in days] if self.table.reader.is_text else days
        if self.table.reader.is_text:
            texts = [_text(value, self.whole[j]) for value in values.tolist()]
            return [text.replace(".", ",") for text in texts] if info.reading.startswith("comma") else texts
        return [round(value) if self.whole[j] else value for value in values.tolist()]

    def _cell(self, value, dated):
        if np.isnan(value):
            return None
        return str(_dates([value])[0]) if dated else f"{value:.10g}".replace(".", self.table.decimal)

    def cells(self, start, read, cells, found):
        """The missing cells of a batch as columns: ids, row, column, value, low, high, probability; left empty, no value."""
        filled, low, high, sure = found
        rows, places = np.nonzero(holes_of(self.table, read, cells))
        names = np.array(self.table.schema.names, dtype=object)
        told = {name: _taken(values, rows) for name, values in ids_as_read(self.table, read).items()}
        told |= {"row": (rows + start + 1), "column": names[places]}
        values = np.empty(len(rows), dtype=object)
        for j, (info, coded) in enumerate(zip(self.table.used, self.table.schema.columns)):
            here = places == j
            chosen = filled[rows[here], j]
            values[here] = (
                labels_of(coded, chosen) if info.levels else [self._cell(value, self.dated[j]) for value in chosen]
            )
        told["value"] = values
        for name, part in (("low", low), ("high", high)):
            told[name] = part[rows, places]
            if self.dated.any():  # dates and numbers in one column are text
                told[name] = [self._cell(value, self.dated[j]) for value, j in zip(told[name], places)]
        return told | {"probability": sure[rows, places]}


def _dates(days):
    """Days since 1970 as dates; what is no day is the first."""
    return np.round(np.nan_to_num(days)).astype("datetime64[D]").tolist()


def _taken(values, rows):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out[rows]


def as_read(cells, reader):
    """Cells as the table holds them: text as it stands, other types as they are."""
    return cells.values if reader.is_text else cells.originals()


def _text(value, whole):
    if whole:
        return str(round(value))
    return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.10g}"
