"""`Schema`: how the columns of a table become numbers, and how numbers become such a table again.

A column is *continuous*, a *count* or a *category*. Categories are coded 0 … L − 1 in the order of their levels; a
missing cell is NaN.
"""

from dataclasses import dataclass

import numpy as np

from .declared import savable
from .frames import Cells, assemble, package, read_columns

__all__ = ["Column", "Schema"]

MOST_COUNTED = 50
"""Whole numbers up to here are taken as counts; a Gaussian describes larger ones as well and may correlate with others."""
MANY_LEVELS = 20
KINDS = ("continuous", "count", "category", "binary")


@savable
@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
        As the table names it.
    kind : {"continuous", "count", "category"}
        What it was taken for.
    levels : tuple
        Of a category, in the order of their codes.
    """

    name: object
    kind: str
    levels: tuple = ()


@savable
@dataclass(frozen=True)
class Schema:
    """The columns of a table.

    Attributes
    ----------
    columns : tuple of Column
    container : {"pandas", "polars", "pyarrow", "numpy"}
        The kind of table it was made from, and that `decode` makes.
    """

    columns: tuple
    container: str = "numpy"

    @classmethod
    def of(cls, X, kinds=None):
        """Learn the columns of a table.

        Parameters
        ----------
        X : DataFrame, Arrow table or 2-D array
            The table.
        kinds : dict of name to kind, optional
            Kinds that are known; the others are read off the types and the cells.
        """
        kinds = kinds or {}
        container = package(X) if package(X) in ("pandas", "polars", "pyarrow") else "numpy"
        columns = [_learn_column(name, cells, kinds.get(name)) for name, cells in read_columns(X).items()]
        return cls(tuple(columns), container)

    @classmethod
    def scan(cls, batches, kinds=None):
        """Learn the columns of a table that is read in parts, of which only what tells the kinds is kept."""
        kinds = kinds or {}
        digests: dict = {}
        for batch in batches:
            for name, cells in read_columns(batch).items():
                digests[name] = _digest(cells, kinds.get(name), digests.get(name))
        columns = [_learn_column(name, cells, kinds.get(name)) for name, cells in digests.items()]
        return cls(tuple(columns), "pyarrow")

    @property
    def names(self):
        """Names of the columns."""
        return [column.name for column in self.columns]

    @property
    def levels(self):
        """Levels of the categories, by name."""
        return {column.name: column.levels for column in self.columns if column.kind == "category"}

    def encode(self, X, absent=()):
        """The cells of a table as float64, categories as codes, NaN where missing and in columns named `absent`."""
        given = read_columns(X)
        if len(given) == len(self.columns) and list(given) == list(range(len(given))):
            given = dict(zip(self.names, given.values()))  # an array has its columns in order
        out = np.empty((len(next(iter(given.values())).missing), len(self.columns)))
        for j, column in enumerate(self.columns):
            if column.name in absent:
                out[:, j] = np.nan
                continue
            if column.name not in given:
                raise ValueError(
                    f"the table has no column {column.name!r}, which was there at fit; it has "
                    f"{', '.join(map(str, given))}."
                )
            out[:, j] = _encode_column(column, given[column.name])
        return out

    def decode(self, values, like=None):
        """A table of the kind this schema was made from; columns that `like` holds without a hole are taken from there."""
        given = read_columns(like) if like is not None else {}
        columns = {}
        for column, codes in zip(self.columns, values.T):
            whole = column.name in given and not given[column.name].missing.any()
            columns[column.name] = None if whole else labels_of(column, codes)
        return assemble(columns, self.container, like)


def labels_of(column, codes):
    """Numbers of a column as they are; codes of a category as its levels, None where NaN."""
    if column.kind != "category":
        return codes
    labels = np.array([*column.levels, None], dtype=object)
    return labels[np.where(np.isnan(codes), len(column.levels), codes).astype(int)]


# Learning and coding a column


def _learn_column(name, cells, kind=None):
    if kind is not None and kind not in KINDS:
        raise ValueError(f"column {name!r} is said to be {kind!r}; use one of {', '.join(map(repr, KINDS))}.")
    seen = cells.values[~cells.missing]
    if not len(cells.missing):
        raise ValueError("Found array with 0 sample(s): the table has no rows.")
    if not len(seen):
        raise ValueError(f"column {name!r} has no observed value; drop it before fitting.")
    guessed = kind is None
    if kind == "binary":  # numbers are 0 and 1 already
        kind = "continuous" if cells.numeric else "category"
    if guessed:
        kind = _guess(cells, seen) if cells.numeric else "category"
    if kind != "category":
        if not cells.numeric:
            raise ValueError(f"column {name!r} is to be {kind} but holds {seen[0]!r}, which is not a number.")
        return Column(name, kind)
    levels = cells.levels or _sorted_levels(cells, seen)
    if guessed and len(levels) > max(MANY_LEVELS, len(seen) // 2):
        raise ValueError(
            f"column {name!r} has {len(levels)} levels in {len(seen)} cells, as a name or an identifier has; leave it out, "
            "or say by_column={" + repr(name) + ': "categorical"} if you mean it.'
        )
    return Column(name, "category", tuple(levels))


def _digest(cells, kind, before):
    """Cells that have the kind and the levels of all seen so far: extremes of numbers, distinct categories."""
    if before is not None:
        both = np.concatenate([before.values, cells.values]), np.concatenate([before.missing, cells.missing])
        cells = Cells(*both, cells.levels, cells.whole)
    seen = cells.values[~cells.missing]
    hole = int(cells.missing.any())
    if cells.numeric and kind != "category":
        telling = np.array([*seen[seen != np.floor(seen)][:1], seen.min(), seen.max()]) if len(seen) else seen
        return Cells(
            np.append(telling, [np.nan] * hole), np.append(np.isnan(telling), np.ones(hole, bool)), None, cells.whole
        )
    distinct = np.empty(0, dtype=cells.values.dtype)
    if len(seen):
        distinct = np.array(list(dict.fromkeys(seen.tolist())), dtype=cells.values.dtype)
    values = np.append(distinct, np.array([None] * hole, dtype=cells.values.dtype))
    return Cells(values, np.append(np.zeros(len(distinct), bool), np.ones(hole, bool)), cells.levels, cells.whole)


def _guess(cells, seen):
    """The kind of a column of numbers."""
    # A hole turns a column of whole numbers into floats in many libraries.
    counted = (seen == np.floor(seen)).all() and (cells.whole or cells.missing.any())
    if counted and set(np.unique(seen)) <= {0.0, 1.0}:
        return "category"
    return "count" if counted and seen.min() >= 0 and seen.max() <= MOST_COUNTED else "continuous"


def _sorted_levels(cells, seen):
    levels = set(seen.tolist())
    if cells.numeric and all(level == int(level) for level in levels):
        levels = {int(level) for level in levels}
    try:
        return sorted(levels)
    except TypeError:  # of several types
        return sorted(levels, key=lambda level: (type(level).__name__, str(level)))


def _encode_column(column, cells):
    if column.kind != "category":
        if cells.numeric:
            return cells.values
        text = next(cell for cell in cells.values[~cells.missing]) if (~cells.missing).any() else None
        if text is None:
            return np.full(len(cells.values), np.nan)
        raise ValueError(f"column {column.name!r} holds {text!r}, but it held numbers at fit.")
    codes = {level: code for code, level in enumerate(column.levels)}
    out = np.full(len(cells.values), np.nan)
    seen = cells.values[~cells.missing].tolist()
    found = [codes.get(value, -1) for value in seen]
    if -1 in found:
        known = ", ".join(map(repr, column.levels[:10])) + (", …" if len(column.levels) > 10 else "")
        raise ValueError(
            f"column {column.name!r} holds {seen[found.index(-1)]!r}, which was not there at fit (known: {known}); leave the "
            "cell empty to treat it as unknown."
        )
    out[~cells.missing] = found
    return out
