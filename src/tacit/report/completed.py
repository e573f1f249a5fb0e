"""Tables written with their holes filled in: every other cell as it was read."""

import numpy as np

from ..schema import labels_of
from ..source import Block
from .filling import Filler

__all__ = ["Completion", "draw_cells", "whole_columns"]


def whole_columns(table):
    """Which of the columns that models use hold whole numbers only, (d,) bool; categories do not."""
    whole = np.array([not column.levels for column in table.used])
    for cells in table.encoded():
        whole &= (np.isnan(cells) | (cells == np.floor(cells))).all(axis=0)
    return whole


def draw_cells(model, cells, rng):
    """The rows with missing cells drawn from their law given the observed ones."""
    holed = np.isnan(cells).any(axis=1)
    out = cells.copy()
    if holed.any():
        rule, params, block = model._model(), model._params(), Block.of(cells[holed])
        out[holed] = rule.family.draw(params.components, block, rule.posterior(params, block)[0], 1, rng)[0]
    return out


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
    """

    def __init__(self, model, table, level=0.9):
        self.model, self.table, self.fill = model, table, Filler(model, table, level)
        self.whole = whole_columns(table)

    def batches(self):
        """Yield for every batch its first row's number from 0, its cells as read, and the cells that the model uses."""
        start = 0
        for read, cells in zip(self.table.reader.batches(), self.table.encoded()):
            yield start, read, cells
            start += len(cells)

    def draw(self, cells, rng):
        """The rows with missing cells drawn at random."""
        return self.fill.bounded(draw_cells(self.model, cells, rng), cells)

    def rows(self, read, cells, filled):
        """Columns of a batch as they were read, holes in the model's columns filled in."""
        columns = {name: part.values for name, part in read.items()}
        for j, (info, coded) in enumerate(zip(self.table.used, self.table.schema.columns)):
            gone = np.isnan(cells[:, j])
            if not gone.any():
                continue
            values = filled[gone, j]
            values = labels_of(coded, values) if info.levels else np.round(values) if self.whole[j] else values
            columns[info.name] = _filled(columns[info.name], gone, values, info)
        return columns

    def cells(self, start, read, cells, found):
        """The filled cells of a batch as columns: ids, row, column, value, low, high, probability."""
        filled, low, high, sure = found
        rows, places = np.nonzero(np.isnan(cells))
        names = np.array(self.table.schema.names, dtype=object)
        told = {name: read[name].values[rows] for name in self.table.ids}
        told |= {"row": (rows + start + 1), "column": names[places]}
        values = np.empty(len(rows), dtype=object)
        for j, (info, coded) in enumerate(zip(self.table.used, self.table.schema.columns)):
            here = places == j
            chosen = filled[rows[here], j]
            values[here] = labels_of(coded, chosen) if info.levels else [f"{value:.10g}" for value in chosen]
        told["value"] = values
        return told | {name: part[rows, places] for name, part in (("low", low), ("high", high), ("probability", sure))}


def _filled(column, gone, values, info):
    """A column as it was read with its holes filled, in the way its other cells are written."""
    if column.dtype == np.float64:
        out = column.copy()
        out[gone] = np.asarray(values, dtype=np.float64)
        return out
    out = np.array(column, dtype=object)
    if info.levels:
        out[gone] = values
    else:
        comma = info.reading == "comma"
        texts = [f"{value:.6g}" if abs(value) < 1e6 else f"{value:.10g}" for value in values]
        out[gone] = [text.replace(".", ",") for text in texts] if comma else texts
    return out
