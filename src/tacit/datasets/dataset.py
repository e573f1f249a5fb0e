"""`Dataset`: rows, what their columns are called, what is known about them, and where they come from."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Dataset"]


@dataclass(frozen=True)
class Dataset:
    """A set of data; what every loader and generator gives.

    Attributes
    ----------
    name : str
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        The rows: floats, NaN where missing; where a column is no number, Python objects, None where missing.
    columns : list of str
        Names of the columns.
    target : ndarray of shape (n_rows,) or None
        What a model may be compared with, where there is such a thing: species, digits, ratings, true groups.
    description : str
        What it is, where it comes from, its licence.
    more : dict
        What else belongs to it: names of targets, folds, the vocabulary, the truth behind generated rows.

    Examples
    --------
    >>> from tacit.datasets import load
    >>> penguins = load("penguins")
    >>> penguins.X.shape, penguins.columns[2], str(penguins.target[0])
    ((344, 7), 'bill_depth_mm', 'Adelie')
    """

    name: str
    X: Any
    columns: list
    target: Any = None
    description: str = ""
    more: dict = field(default_factory=dict)

    def __repr__(self) -> str:
        rows, columns = self.X.shape[:2]
        target = "" if self.target is None else ", with a target"
        return f"Dataset {self.name}: {rows} rows, {columns} columns{target}"

    def table(self) -> dict[str, np.ndarray]:
        """The columns by name, the target last where there is one: what `pandas.DataFrame` or a writer takes."""
        X = self.X.reshape(len(self.X), -1) if isinstance(self.X, np.ndarray) else self.X.toarray()
        columns = {str(name): X[:, j] for j, name in enumerate(self.columns)}
        if self.target is None:
            return columns
        target, names = self.target, self.more.get("target_names")
        if names and target.dtype.kind in "iu":
            target = np.array(names, dtype=object)[target]
        return columns | {self.more.get("target_column", "target"): target}

    def write_csv(self, path: Any) -> None:
        """Write the table, empty where a cell is missing."""
        from ..tables.csvwriter import CsvWriter

        with closing(CsvWriter(path)) as writer:
            writer.write(self.table())
