"""`Schema`: how the columns of a table become numbers, and how numbers become such a table again.

A column is *continuous*, a *count*, a *category*, *ordinal* or *cyclic*. Categories and ordinal columns are coded 0 … L − 1 in
the order of their levels; a missing cell is NaN.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from .declared import Flag, Label, Listed, Numbers, Part, Text, Whole, declare, savable
from .frames import CONTAINERS, Cells, assemble, holds_dates, package, read_columns
from .notes import NoteError, Option
from .survey import CODED, ROLES, Asked, ColumnInfo, Tally, describe
from .survey.dates import DATE_READINGS, dates_like
from .survey.places import pair_places
from .survey.roles import MANY_LEVELS
from .survey.typed import read_numbers

__all__ = ["UNKNOWN", "Column", "ColumnLearner", "Schema", "encode_column", "is_pattern", "roles_by_name"]

UNKNOWN = ("error", "missing")
"""What may be done about levels that a column did not have when it was learned: refuse them, or take them as missing."""
FEWEST = 20
"""Observed values, none negative, from which a column is taken never to be."""
KINDS = ("continuous", "count", "category", "ordinal", "cyclic", "binary")
LAWS = ("", "poisson", "negative_binomial", "place")
TYPES = ("", "bool", "whole", "category", "ordered", *DATE_READINGS)


@savable
@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
        As the table names it.
    kind : {"continuous", "count", "category", "ordinal", "cyclic"}
        What it was taken for.
    levels : tuple
        Of a category or an ordinal column, in the order of their codes.
    reason : str
        Why it was taken so, with the scores of what else it might have been.
    low, high : float or None
        Least and greatest of its numbers.
    whole : bool
        Whether they are all whole.
    n_observed : int
        How many cells were observed.
    type : {"", "bool", "whole", "category", "ordered", "date", "date month first"}
        The type of the column in the table it was learned from, where tables that are made of it must have that type; of
        dates that are taken as numbers of days, how their texts are read.
    declared : tuple
        The levels of a categorical type, in its order; `levels` are those that occur.
    law : {"", "poisson", "negative_binomial", "place"}
        Of a count, the family that describes it best; "place" of a latitude or a longitude.
    cycle : tuple of float
        Of a cyclic column its least value and its period.
    cuts, points : tuple of float
        Of numbers that a model takes as levels: the least number of every level but the first, ascending, and quantiles of the
        numbers in each level, as many of each, one level after the other. `levels` are then what the levels are called.
    """

    name: object
    kind: str
    levels: tuple = ()
    reason: str = field(default="", compare=False)
    low: float | None = field(default=None, compare=False)
    high: float | None = field(default=None, compare=False)
    whole: bool = field(default=False, compare=False)
    n_observed: int = field(default=0, compare=False)
    type: str = field(default="", compare=False)
    declared: tuple = field(default=(), compare=False)
    law: str = field(default="", compare=False)
    cycle: tuple = ()
    cuts: tuple = ()
    points: tuple = field(default=(), compare=False)
    _saved = declare(
        name=Label(), kind=Text(KINDS), levels=Listed(Label(), kind=tuple), reason=Text(),
        low=Numbers(optional=True), high=Numbers(optional=True), whole=Flag(), n_observed=Whole(0),
        type=Text(TYPES), declared=Listed(Label(), kind=tuple), law=Text(LAWS, needed=False),
        cycle=Listed(Numbers(), kind=tuple, needed=False), cuts=Listed(Numbers(), kind=tuple, needed=False),
        points=Listed(Numbers(), kind=tuple, needed=False),
    )  # fmt: skip

    def __post_init__(self) -> None:
        if self.coded and not self.levels:
            raise ValueError(f"column {self.name!r} is {self.kind} but has no levels; it has at least one.")
        if self.kind == "cyclic" and (len(self.cycle) != 2 or not self.cycle[1] > 0):
            raise ValueError(
                f"column {self.name!r} is cyclic but {self.cycle} is no least value and period of a cycle."
            )
        if not self.cuts:
            return
        n, rises = len(self.levels), all(a < b for a, b in zip(self.cuts, self.cuts[1:]))
        if self.coded or not rises or n != len(self.cuts) + 1 or not self.points or len(self.points) % n:
            raise ValueError(f"column {self.name!r} is cut at {self.cuts}, which does not go with its {n} levels.")

    @classmethod
    def of(cls, info: ColumnInfo) -> Column:
        """The column that a survey found."""
        seen = info.n_rows - info.n_missing
        dated = info.reading if info.reading in DATE_READINGS and not info.levels else ""
        told = info.levels, str(info.reason), info.low, info.high, info.whole, seen, dated
        return cls(info.name, "continuous" if info.scores else ROLES[info.role], *told, law=info.law, cycle=info.cycle)

    @property
    def coded(self) -> bool:
        """Whether its cells are levels."""
        return self.kind in CODED

    def told(self) -> dict:
        """The column as `ColumnInfo.saved` tells it."""
        reading = "text" if self.coded else self.type if self.type in DATE_READINGS else "number"
        role = {"continuous": "measurement"}.get(self.kind, self.kind)
        levels = () if self.cuts else self.levels
        told = {"name": str(self.name), "role": role, "reading": reading, "levels": [*map(level_text, levels)]}
        return told | ({"cycle": list(self.cycle)} if self.cycle else {})

    def level_of(self, values: np.ndarray) -> np.ndarray:
        """Codes of the levels of numbers, of a column that is cut; NaN where missing."""
        return np.where(np.isnan(values), np.nan, np.searchsorted(self.cuts, values, side="right"))

    @property
    def steps(self) -> int:
        """In how many steps a cyclic column of whole numbers goes around; 0 where its cells may lie between."""
        return int(self.cycle[1]) if self.cycle and self.whole and self.cycle[1] % 1 == 0 and not self.dated else 0

    @property
    def dated(self) -> bool:
        """Whether its numbers are days of dates."""
        return self.type in DATE_READINGS

    @property
    def least(self) -> float:
        """The least value that a cell may have: 0 of a measurement of which none of many is negative, else none."""
        positive = self.kind == "continuous" and self.low is not None and self.low >= 0
        return 0.0 if positive and self.n_observed >= FEWEST else -np.inf


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
    _saved = declare(columns=Listed(Part(Column), kind=tuple), container=Text((*CONTAINERS, "numpy")))

    @classmethod
    def of(cls, X: Any, kinds: dict | None = None) -> Schema:
        """Learn the columns of a table.

        Parameters
        ----------
        X : DataFrame, Arrow table or 2-D array
            The table.
        kinds : dict of name to kind, optional
            Kinds that are known; the others are read off the types and the cells.
        """
        return cls._learned([read_columns(X)], kinds, container_of(X))

    @classmethod
    def scan(cls, batches: Iterable, kinds: dict | None = None) -> Schema:
        """Learn the columns of a table that is read in parts, of which only what tells the kinds is kept."""
        return cls._learned(map(read_columns, batches), kinds, "pyarrow")

    @classmethod
    def _learned(cls, batches: Iterable[dict[Any, Cells]], kinds: dict | None, container: str) -> Schema:
        learners: dict[Any, ColumnLearner] = {}
        for batch in batches:
            for position, (name, cells) in enumerate(batch.items()):
                if name not in learners:
                    learners[name] = ColumnLearner(name, position == 0 and len(batch) > 1, (kinds or {}).get(name))
                learners[name].add(cells)
        return cls(pair_places(tuple(learner.column() for learner in learners.values())), container)

    @property
    def names(self) -> list:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @property
    def levels(self) -> dict[Any, tuple]:
        """Levels of categories and ordinal columns, by name."""
        return {column.name: column.levels for column in self.columns if column.coded}

    def encode(self, X: Any, absent: Iterable = (), unknown: str = "error") -> np.ndarray:
        """The cells of a table as float64, categories as codes, NaN where missing and in columns named `absent`.

        Levels that were not there when the columns were learned are refused or, where `unknown` is "missing", missing.
        """
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
            out[:, j] = encode_column(column, given[column.name], unknown)
        return out

    def decode(self, values: np.ndarray, like: Any = None) -> Any:
        """A table of the kind of `like`, or that this schema was made from; columns that `like` holds in full are its own.

        Columns have the types that they have in `like` or, where it lacks them, had when the schema was made.
        """
        given = read_columns(like) if like is not None else {}
        columns: dict[Any, np.ndarray | None] = {}
        for column, codes in zip(self.columns, values.T):
            cells = given.get(column.name)
            if column.dated and column.cycle:  # a season is no date
                codes = np.full(len(codes), np.nan)
            if cells is not None and not cells.missing.any():
                columns[column.name] = None
            else:
                made = labels_of(column, codes, cells)
                if cells is not None and cells.numeric and (column.coded or column.cuts):
                    # Also a level that is unknown, and a number of a level, stays what it is.
                    made = np.where(cells.missing, made, cells.values)
                elif cells is not None and not cells.numeric:
                    made = dates_like(cells.values[~cells.missing], codes) if column.type in DATE_READINGS else made
                    made[~cells.missing] = cells.values[~cells.missing]
                columns[column.name] = made
        types = {column.name: (column.type, column.declared) for column in self.columns}
        return assemble(columns, self.container if like is None else container_of(like), like, types)


def is_pattern(name: Any) -> bool:
    """Whether a name stands for several columns: ``A*``, ``Q?``, ``[ab]_score``, or names with commas between.

    Parameters
    ----------
    name : object
        As a user gives it.
    """
    return isinstance(name, str) and any(mark in name for mark in "*?[,")


def roles_by_name(asked: dict[str, str], names: Sequence[str]) -> dict[str, str]:
    """Roles of the columns of a table from those asked for, whose names may be patterns.

    A name as it stands goes before patterns, and a later pattern before earlier ones.

    Parameters
    ----------
    asked : dict of name or pattern to role
    names : sequence of str
        The columns of the table.

    Examples
    --------
    >>> from tacit.schema import roles_by_name
    >>> roles_by_name({"A*": "ordinal", "A2": "count", "b,c": "id"}, ["A1", "A2", "b", "c"])
    {'A1': 'ordinal', 'A2': 'count', 'b': 'id', 'c': 'id'}
    """
    found: dict[str, str] = {}
    for name, role in asked.items():
        if name in names or not is_pattern(name):
            continue
        parts = [part.strip() for part in name.split(",") if part.strip()]
        for part in parts:
            matching = [each for each in names if each == part or fnmatchcase(each, part)]
            if not matching:
                raise ValueError(f"no column matches {part!r}, which is asked for as {role}; there are {_few(names)}.")
            found |= dict.fromkeys(matching, role)
    return found | {name: role for name, role in asked.items() if name in names or not is_pattern(name)}


def container_of(X: Any) -> str:
    """The kind of table that X is, as schemas name it."""
    return package(X) if package(X) in CONTAINERS else "numpy"


def level_text(level: Any) -> str:
    """A level as tables write it."""
    if isinstance(level, (bool, np.bool_)) or not isinstance(level, (int, float, np.number)):
        return str(level)
    return f"{level:.15g}"


def labels_of(column: Column, codes: np.ndarray, like: Cells | None = None) -> np.ndarray:
    """Numbers of a column as they are; codes of a category as its levels, None where NaN, written as in `like`."""
    if not column.coded:
        return codes
    seen = [] if like is None else dict.fromkeys(like.values[~like.missing].tolist())
    written = {level_text(value): value for value in seen}
    labels = np.array([*(written.get(level_text(level), level) for level in column.levels), None], dtype=object)
    if like is not None and like.numeric and all(map(_is_number, column.levels)):
        labels = labels.astype(np.float64)
    return labels[np.where(np.isnan(codes), len(column.levels), codes).astype(int)]


# Learning and coding a column


class ColumnLearner:
    """Learns what a column is while its cells go by: its role by the survey, its levels as they are.

    Parameters
    ----------
    name : object
    leads : bool
        Whether it is the first of several columns.
    kind : str, optional
        What it is to be taken for.
    """

    def __init__(self, name: Any, leads: bool = False, kind: str | None = None):
        if kind is not None and kind not in KINDS:
            raise ValueError(f"column {name!r} is said to be {kind!r}; use one of {', '.join(map(repr, KINDS))}.")
        self.name, self.kind, self.tally = name, kind, Tally(str(name), leads)
        self.numeric, self.n_rows, self.type, self.dates = True, 0, "", ""
        self.declared: tuple | None = None
        self.levels: dict = {}

    def add(self, cells: Cells) -> None:
        """Take cells in."""
        self.n_rows += len(cells.missing)
        # Parts of a table may declare different levels.
        known = self.declared or ()
        self.declared = (*known, *(each for each in cells.levels or () if each not in known)) or None
        self.type = self.type or cells.type
        self.dates = self.dates or cells.dates
        seen = cells.values[~cells.missing]
        self.numeric = self.numeric and cells.numeric
        self.tally.add(cells)
        if len(seen) and (not cells.numeric or self.kind in CODED or self.tally.distinct.n <= MANY_LEVELS):
            self.levels |= dict.fromkeys(seen.tolist())

    def column(self) -> Column:
        """The column as it is now known."""
        tally, name = self.tally, self.name
        if not self.n_rows:
            raise ValueError("Found array with 0 sample(s): the table has no rows.")
        if self.dates:
            raise holds_dates(name, self.dates)
        if not tally.n_seen and not self.levels:
            raise ValueError(f"column {name!r} has no observed value; drop it before fitting.")
        info = describe(tally, Asked({tally.name: "cyclic"} if self.kind == "cyclic" else {}))
        kind = self.kind
        if kind == "binary":  # numbers are 0 and 1 already
            kind = "continuous" if self.numeric else "category"
        kind = kind or (self._declared_kind() if self.declared else self._kind(info))
        reason = info.reason if self.kind is None else "as asked"
        if kind not in CODED:
            if not self.numeric:
                raise ValueError(
                    f"column {name!r} is to be {kind} but holds {next(iter(self.levels))!r}, which is not a number."
                )
            known = info.low, info.high, info.whole, tally.n_seen, self.type
            law, cycle = info.law if kind == "count" else "", info.cycle if kind == "cyclic" else ()
            return Column(name, kind, (), reason, *known, law=law, cycle=cycle)
        declared = self.declared or ()
        levels = tuple(level for level in declared if level in self.levels) or _sorted_levels(self.levels, self.numeric)
        reason = "levels in the order of their type" if self.kind is None and kind == "ordinal" and declared else reason
        return Column(name, kind, levels, reason, n_observed=tally.n_seen, type=self.type, declared=declared)

    def _declared_kind(self) -> str:
        """The kind of a column whose type has levels."""
        found = sum(level in self.levels for level in self.declared or ())
        return "ordinal" if self.type == "ordered" and found > 2 else "category"

    def _kind(self, info: ColumnInfo) -> str:
        """The kind of a column that nobody asked for, by its role."""
        found = ROLES[info.role]
        if found is not None and found not in CODED and not self.numeric:  # numbers that are written as text
            if len(self.levels) <= MANY_LEVELS:
                return "category"
            raise ValueError(
                f"column {self.name!r} holds numbers as text, such as {next(iter(self.levels))!r}; turn it into numbers (by "
                f"pandas.to_numeric, say), or say by_column={{{self.name!r}: 'categorical'}} if they are levels."
            )
        if found is not None:
            return found
        if self.numeric:
            if info.role in ("id", "date", "code"):
                looks = {"id": "an id", "date": "a date", "code": "codes"}[info.role]
                told = f"column {self.name!r} is taken as a measurement, but looks like {looks} ({info.reason})"
                warnings.warn(f"{told}; leave it out if it is.", UserWarning, stacklevel=6)
            return "continuous"
        if info.role == "constant":
            return "category"
        if info.role == "date":
            text = "column {name!r} holds dates; turn it into numbers (days since a date, say) or leave it out."
            raise NoteError("dates", text, name=self.name)
        raise NoteError(
            "identifier", "column {name!r} has {levels} levels in {cells} cells, as a name or an identifier has; leave it out, "
            "or say {option} if you mean it.", name=self.name, levels=len(self.levels), cells=self.tally.n_seen,
            option=Option("by_column", {self.name: "categorical"}),
        )  # fmt: skip


def _sorted_levels(found: Iterable, numeric: bool) -> tuple:
    levels = set(found)
    if numeric and all(level == int(level) for level in levels):
        levels = {int(level) for level in levels}
    try:
        return tuple(sorted(levels))
    except TypeError:  # of several types
        return tuple(sorted(levels, key=lambda level: (type(level).__name__, str(level))))


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


def encode_column(column: Column, cells: Cells, unknown: str = "error") -> np.ndarray:
    """Cells of a column as numbers, categories as codes, NaN where missing.

    Parameters
    ----------
    column : Column
    cells : Cells
    unknown : {"error", "missing"}
        What to do about levels that the column does not have: refuse them, or take them as missing.
    """
    if not column.coded and cells.numeric:
        return column.level_of(cells.values) if column.cuts else cells.values
    if column.type in DATE_READINGS:
        return read_numbers(column.name, column.type, cells).values
    if cells.dates:
        raise holds_dates(column.name, cells.dates)
    if column.coded and cells.numeric and all(map(_is_number, column.levels)):
        return _codes_of_numbers(column, cells, unknown)
    out, seen = np.full(len(cells.values), np.nan), cells.values[~cells.missing].tolist()
    if not column.coded:
        if seen:
            first = next((value for value in seen if not _is_number(value)), seen[0])
            raise ValueError(
                f"column {column.name!r} holds {first!r}, but it held numbers at fit; write a number, or leave the cell empty."
            )
        return out
    codes = {level: code for code, level in enumerate(column.levels)}
    found = np.array([codes.get(value, np.nan) for value in seen], dtype=np.float64)
    if np.isnan(found).any():  # a file has texts where a frame has numbers
        texts = {level_text(level): code for level, code in codes.items()}
        found = np.array([texts.get(level_text(value), np.nan) for value in seen], dtype=np.float64)
    if unknown == "error" and np.isnan(found).any():
        strange = [value for value, code in zip(seen, found) if code != code]
        raise unknown_levels(column.name, strange, column.levels)
    out[~cells.missing] = found
    return out


def _codes_of_numbers(column: Column, cells: Cells, unknown: str) -> np.ndarray:
    """`encode_column` of numbers whose levels are numbers: all cells at once."""
    levels = np.array(column.levels, dtype=np.float64)
    order = np.argsort(levels, kind="stable")
    at = np.minimum(np.searchsorted(levels[order], cells.values), len(levels) - 1)
    known = levels[order][at] == cells.values  # NaN is not
    strange = ~known & ~cells.missing
    if unknown == "error" and strange.any():
        raise unknown_levels(column.name, cells.values[strange].tolist(), column.levels)
    return np.where(known, order[at], np.nan)


def unknown_levels(name: Any, found: Iterable, levels: Sequence, place: str = "") -> NoteError:
    """That a column, of a table at a place, holds levels that it did not hold at fit."""
    some = list(dict.fromkeys(found))
    return NoteError(
        "unknown_levels", "{place}column {name!r} holds {found}, which {were} not there at fit (known: {known}); leave the cell "
        "empty or, where the model takes it, use {option} to take it as missing.",
        place=place and f"{place}: ", name=name, found=_few(some), were="was" if len(some) == 1 else "were", known=_few(levels),
        option=Option("unknown", "missing"),
    )  # fmt: skip


def _few(levels: Sequence) -> str:
    return ", ".join(map(repr, levels[:10])) + ", …" * (len(levels) > 10)
