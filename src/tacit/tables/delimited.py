"""`DelimitedReader`: CSV, TSV and their kin, by the standard library; every cell is text."""

import csv
import os
from itertools import islice

import numpy as np

from ..frames import Batch, Cells
from .reader import BATCH_ROWS, Reader

__all__ = ["MISSING", "DelimitedReader"]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", ".", "-"})
"""Texts that stand for a missing cell, whatever their case."""


class DelimitedReader(Reader):
    """Read a text file with a delimiter.

    Parameters
    ----------
    path : str
        The file; its first line names the columns.
    separator : str, optional
        What stands between cells; default whichever of comma, semicolon, tab and bar the first line holds most.
    encoding : str, optional
        Default UTF-8, with or without a mark.
    missing : iterable of str
        Texts that stand for missing beside the usual ones.
    """

    is_text = True

    def __init__(self, path, *, separator=None, encoding=None, missing=()):
        self.path, self.encoding = path, encoding or "utf-8-sig"
        self.missing = MISSING | {text.strip().lower() for text in missing}
        self.place, self.folder = path, os.path.dirname(os.path.abspath(path))
        self.name = os.path.splitext(os.path.basename(path))[0]
        with open(path, newline="", encoding=self.encoding) as file:
            first = file.readline()
            self.separator = separator or max(",;\t|", key=first.count)
            file.seek(0)
            self.names = [name.strip() for name in next(csv.reader(file, delimiter=self.separator), [])]

    def batches(self):
        with open(self.path, newline="", encoding=self.encoding) as file:
            lines = csv.reader(file, delimiter=self.separator)
            next(lines)
            while rows := [row for row in islice(lines, BATCH_ROWS) if row]:
                yield Batch(zip(self.names, map(self._cells, zip(*rows))))

    def _cells(self, texts):
        values = np.array([text.strip() for text in texts], dtype=object)
        return Cells(values, np.array([text.lower() in self.missing for text in values]))
