"""`RowWriter`: what a mixture says of every row of a table, written batch by batch."""

import numpy as np

from ..report.completed import Completion, holes_of, ids_as_read
from ..report.observed import knowledge_of
from ..report.scoring import SURE, Coder, Scorer, outlier_threshold

__all__ = ["FILES", "RowWriter"]

FILES = {
    "groups": "the group of each row, with probabilities",
    "filled": "the table with its missing cells filled in",
    "cells": "each filled cell with its interval or probability",
}
"""Tables that are written, and what they hold."""


class RowWriter:
    """Writes the groups, the filled table and the filled cells of a table in one pass.

    Parameters
    ----------
    model : Mixture
    table : DataTable
    n_rows : int
        Number of rows that outliers are judged among.
    typed : bool
        Whether results have types, as Parquet has.

    Attributes
    ----------
    counts : (K,) array
        Rows of each group.
    n_rows, n_uncertain, n_outliers, n_missing, n_filled : int
        How many there were; filled or to be filled are cells that are missing in the table itself, not those it lacks or
        that hold a level unknown to the model.
    n_empty : dict of str to int
        Missing cells that no group can say anything of, by column.
    """

    def __init__(self, model, table, *, n_rows, typed=False):
        self.typed = typed
        self.model, self.table, self.threshold = model, table, outlier_threshold(n_rows)
        self.coder, self.scorer = Coder(model.schema_, table), Scorer(model)
        self.writers = {}
        self.counts = np.zeros(len(self.scorer.order), dtype=int)
        self.n_rows = self.n_uncertain = self.n_outliers = self.n_missing = self.n_filled = 0
        self.n_empty, self.known = {}, knowledge_of(model)
        # Positions, among the model's columns, of those that the table uses.
        where = {str(name): j for j, name in enumerate(model.schema_.names)}
        self.columns = [where[column.name] for column in table.used]

    def add(self, name, writer):
        """Write one of `FILES` by this writer."""
        self.writers[name] = writer

    def write_all(self):
        """Go through the table."""
        completion = None
        if {"filled", "cells"} & set(self.writers):
            completion = Completion(self.model, self.table, typed=self.typed, columns=self.columns)
        for read, batch in self.table.scan():
            cells = self.coder.encode(batch)
            scores = self.scorer(cells)
            outlier = np.zeros(len(cells), bool) if scores.outlier is None else scores.outlier < self.threshold
            if "groups" in self.writers:
                self.writers["groups"].write(self._groups(read, scores, outlier))
            if completion:
                self._write_filled(completion, read, cells)
            self.counts += np.bincount(scores.group - 1, minlength=len(self.counts))
            self.n_rows += len(cells)
            self.n_uncertain += int((scores.sure < SURE).sum())
            self.n_outliers += int(outlier.sum())
            self.n_missing += int(np.isnan(cells).sum())
            self._count(holes_of(self.table, read, cells[:, self.columns]), cells, scores)

    def _count(self, holes, cells, scores):
        """Cells that are filled, and those left empty."""
        empty = np.zeros(holes.shape, bool)
        if self.known is not None:
            resp = scores.memberships[:, np.argsort(self.scorer.order)]
            empty = holes & self.known.empty(cells, resp)[:, self.columns]
        self.n_filled += int((holes & ~empty).sum())
        for column, n in zip(self.table.used, empty.sum(axis=0).tolist()):
            if n:
                self.n_empty[column.name] = self.n_empty.get(column.name, 0) + n

    def _groups(self, read, scores, outlier):
        columns = ids_as_read(self.table, read)
        columns |= {"row": np.arange(self.n_rows + 1, self.n_rows + len(scores.group) + 1), "group": scores.group}
        for number, column in enumerate(scores.memberships.T, 1):
            columns[f"probability_{number}"] = column.round(6) + 0.0
        if scores.outlier is not None:
            columns |= {"outlier": np.where(outlier, "yes", "no"), "farther_out": scores.outlier}
        return columns

    def _write_filled(self, completion, read, cells):
        own, found = cells[:, self.columns], completion.fill(cells)
        if "filled" in self.writers:
            self.writers["filled"].write(completion.rows(read, own, found[0]))
        if "cells" in self.writers:
            self.writers["cells"].write(completion.cells(self.n_rows, read, own, found))
