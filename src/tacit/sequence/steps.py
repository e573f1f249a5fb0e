"""`Steps`: rows as the steps of sequences: which rows belong together, in which order, and when they were."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import as_numpy
from ..frames import columns_of, is_missing, is_table, package, without
from .clock import Clock, check_gaps, irregular
from .keys import codes_of, when_of

__all__ = ["Steps", "check_lengths", "per_sequence"]


@dataclass(frozen=True)
class Steps:
    """Rows in memory as steps of sequences.

    Attributes
    ----------
    rows : array or table
        The rows as they were given, without the columns that name the sequence and the time.
    offsets : (sequences + 1,) int array
        Where sequences begin among the steps.
    at : (steps,) int array or None
        The row of each step, −1 of a step for which there is none; None where steps are rows, one after the other.
    time : (steps,) float array or None
        When steps are: numbers, or days since 1970.
    names : list or None
        Names of the sequences.
    clock : Clock or None
        How times go on.
    """

    rows: Any
    offsets: np.ndarray
    at: np.ndarray | None = None
    time: np.ndarray | None = None
    names: list | None = None
    clock: Clock | None = None

    @classmethod
    def of(
        cls, X: Any, lengths: Any = None, sequence: Any = None, time: Any = None, *, gaps: str = "missing",
        continuous: bool = False, clock: Clock | None = None,
    ) -> Steps:  # fmt: skip
        """The steps of an array with `lengths`, of a list of arrays, or of a table whose columns name sequence and time.

        Parameters
        ----------
        X : array-like, list of arrays or tables, or table
            Rows.
        lengths : array-like of int, optional
            How many rows each sequence has, one after the other; default all are one sequence.
        sequence, time : str, optional
            Columns of a table that name the sequence of a row, whose rows need not lie together, and tell its time.
        gaps : {"missing", "ignore"}
            Whether steps that times leave out are steps without observations, or there are none.
        continuous : bool
            Whether times may be any.
        clock : Clock, optional
            How times went on at fit.
        """
        if isinstance(X, Steps):
            return X
        if (parts := _parts(X)) is not None:
            if lengths is not None:
                raise ValueError("X is a list of sequences, whose lengths are its own; leave lengths out.")
            X, lengths = _joined(parts), [len(part) for part in parts]
        if not hasattr(X, "shape") and not hasattr(X, "__len__"):
            X = np.asarray(X)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if sequence is None and time is None:
            return cls(X, check_lengths(lengths, n_rows))
        if lengths is not None:
            raise ValueError(f"lengths and the column {sequence or time!r} both say where sequences begin; give one.")
        given = {name: _column(X, name) for name in (sequence, time) if name is not None}
        rows = without(X, {str(name) for name in given})
        return cls.from_cells(rows, n_rows, given, sequence, time, gaps=gaps, continuous=continuous, clock=clock)

    @classmethod
    def from_cells(
        cls, rows: Any, n_rows: int, given: dict, sequence: Any = None, time: Any = None, *, gaps: str = "missing",
        continuous: bool = False, clock: Clock | None = None,
    ) -> Steps:  # fmt: skip
        """The steps of rows of which the cells of `sequence` and `time` are `given`: columns of a table, or lists."""
        code, names = codes_of(given[sequence], sequence) if sequence is not None else (np.zeros(n_rows, int), None)
        when, dated = when_of(given[time], time) if time is not None else (None, False)
        order = np.argsort(code, kind="stable") if when is None else np.lexsort((when, code))
        code = code[order]
        offsets = np.append(np.flatnonzero(np.diff(code, prepend=-1)), n_rows)
        if when is None or time is None:
            return cls(rows, offsets, _unless_same(order), None, names)
        when = when[order]
        _check_times(when, offsets, names, str(time), dated)
        if continuous or gaps == "ignore":
            return cls(rows, offsets, _unless_same(order), when, names, Clock("day" if dated else "", 1.0, dated))
        return _on_grid(cls(rows, offsets, order, when, names, clock), str(time), dated)

    @classmethod
    def of_table(cls, table: Any, sequence: Any = None, time: Any = None, **how: Any) -> Steps:
        """The steps of a table that is open, `tacit.tables.DataTable`; `how` is as in `from_cells`."""
        from ..survey.typed import read_numbers

        columns = {column.name: column for column in table.columns}
        given: dict[Any, list] = {name: [] for name in (sequence, time) if name is not None}
        for name in given:
            if name not in columns:
                raise ValueError(f"the table has no column {name!r}; it has {', '.join(list(columns)[:20])}.")
        for batch in table.reader.batches() if given else ():
            for name, cells in given.items():
                read, reading = batch[name], columns[name].reading
                if name == time and ("comma" in reading or "amount" in reading):
                    read = read_numbers(name, reading, read)
                cells += [None if is_missing(cell) else cell for cell in read.originals()]
        if not given:
            return cls(table, np.array([0, table.n_rows]))
        return cls.from_cells(table, table.n_rows, given, sequence, time, **how)

    @property
    def n_steps(self) -> int:
        """How many steps there are."""
        return int(self.offsets[-1])

    @property
    def n_rows(self) -> int:
        """How many rows were given."""
        return self.n_steps if self.at is None else int((self.at >= 0).sum())

    @property
    def unit(self) -> np.ndarray:
        """The number of the sequence of each step."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def spread(self, values: Any, none: Any = np.nan) -> Any:
        """Values of rows as those of steps; `none` of a step without a row."""
        if values is None or self.at is None:
            return values
        found = np.asarray(values)[np.maximum(self.at, 0)]
        found[self.at < 0] = none
        return found

    def collected(self, values: np.ndarray, axis: int = 0) -> np.ndarray:
        """Values of steps as those of the rows they were given as."""
        if self.at is None:
            return values
        real = np.flatnonzero(self.at >= 0)
        place = np.empty(len(real), dtype=np.intp)
        place[self.at[real]] = real
        return np.take(values, place, axis=axis)


def check_lengths(lengths: Any, n_rows: int) -> np.ndarray:
    """Offsets of sequences of these lengths, which must add up to the rows there are."""
    if lengths is None:
        return np.array([0, n_rows])
    found = np.atleast_1d(np.asarray(lengths))
    if found.ndim != 1 or not (
        found.dtype.kind in "iu" or (found.dtype.kind == "f" and (found == np.floor(found)).all())
    ):
        raise ValueError(f"lengths={lengths!r} must be whole numbers, one for each sequence.")
    if len(found) and found.min() < 1:
        raise ValueError(
            f"lengths holds {found.min()} at place {int(found.argmin())}; every sequence has a step at least."
        )
    if found.sum() != n_rows:
        raise ValueError(
            f"lengths add up to {int(found.sum())}, but X has {n_rows} rows; they must add up to the number of rows."
        )
    return np.append(0, np.cumsum(found.astype(np.int64)))


def per_sequence(values: Any, steps: Steps, name: str) -> np.ndarray | None:
    """Values given for each sequence, or for each row where those of a sequence are the same, as values of steps."""
    if values is None:
        return None
    values = np.asarray(as_numpy(values), dtype=np.float64)
    n_rows, n_sequences = steps.n_rows, len(steps.offsets) - 1
    if values.shape == (n_sequences,):
        return np.repeat(values, np.diff(steps.offsets))
    if values.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {values.shape}; give one number for each of the {n_sequences} sequences or of the {n_rows} rows."
        )
    found = steps.spread(values)
    found = np.where(
        np.isnan(found), found[np.maximum.accumulate(np.where(np.isnan(found), 0, np.arange(len(found))))], found
    )
    first = np.repeat(found[steps.offsets[:-1]], np.diff(steps.offsets))
    if (found != first).any():
        place = int(np.argmax(found != first))
        raise ValueError(
            f"{name} holds {first[place]:g} and {found[place]:g} in one sequence; a sequence has one weight for all its rows."
        )
    return found


def _parts(X: Any) -> list | None:
    """The sequences that a list holds; None where it is a table of rows."""
    if not isinstance(X, (list, tuple)) or not X:
        return None
    if all(getattr(part, "ndim", 0) == 2 or (is_table(part) and not isinstance(part, (list, tuple))) for part in X):
        return list(X)
    if all(isinstance(part, (list, tuple)) and part and isinstance(part[0], (list, tuple, np.ndarray)) for part in X):
        return [np.asarray(part) for part in X]
    if all(isinstance(part, np.ndarray) and part.ndim == 1 for part in X) and len({len(part) for part in X}) > 1:
        return [part[:, None] for part in X]
    return None


def _joined(parts: list) -> Any:
    """Sequences one after the other."""
    for number, part in enumerate(parts):
        if not len(part):
            raise ValueError(f"sequence {number} is empty; every sequence has a step at least.")
    library = package(parts[0])
    if library == "pandas":
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    if library == "polars":
        import polars as pl

        return pl.concat(parts)
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise ValueError(f"sequences have {min(widths)} to {max(widths)} columns; all must have the same.")
    return np.concatenate(parts)


def _column(X: Any, name: Any) -> Any:
    """A named column, as its library has it."""
    if not is_table(X):
        if isinstance(name, numbers.Integral) and getattr(X, "ndim", 0) == 2:
            return X[:, name]
        raise ValueError(
            f"column {name!r} is to tell of sequences, but X has no named columns; give a table, or lengths."
        )
    columns = dict(columns_of(X))
    if name not in columns:
        raise ValueError(f"the table has no column {name!r}; it has {', '.join(map(str, list(columns)[:20]))}.")
    return columns[name]


def _told(number: int, names: list | None) -> str:
    return "the sequence" if names is None else f"sequence {names[number]!r}"


def _check_times(when: np.ndarray, offsets: np.ndarray, names: list | None, time: str, dated: bool) -> None:
    """Raise where two steps of a sequence have the same time."""
    same = np.flatnonzero(np.diff(when) == 0.0)
    same = same[~np.isin(same + 1, offsets)]
    if len(same):
        number = int(np.searchsorted(offsets, same[0], side="right")) - 1
        shown = np.datetime64(int(when[same[0]] * 86400), "s") if dated else f"{when[same[0]]:g}"
        raise ValueError(
            f"{_told(number, names)} has two rows at {time} = {shown}; times of a sequence must differ: aggregate them, or name "
            "the column that tells sequences apart."
        )


def _unless_same(order: np.ndarray) -> np.ndarray | None:
    return None if (np.diff(order) == 1).all() and (not len(order) or order[0] == 0) else order


def _on_grid(steps: Steps, time: str, dated: bool) -> Steps:
    """The steps with those in between for which there is no row."""
    assert steps.time is not None
    assert steps.at is not None
    clock = steps.clock or Clock.of(steps.time, steps.offsets, dated)
    if clock is None:
        raise irregular(f"column {time!r}", steps.time)
    count = clock.count(steps.time)
    first = np.repeat(count[steps.offsets[:-1]], np.diff(steps.offsets))
    exact = count - first
    place = np.round(exact)
    if (np.abs(exact - place) > 1e-3).any():
        raise irregular(f"column {time!r}", steps.time)
    lengths = place[steps.offsets[1:] - 1].astype(np.int64) + 1
    offsets = np.append(0, np.cumsum(lengths))
    if offsets[-1] == steps.n_steps:
        return Steps(steps.rows, steps.offsets, _unless_same(steps.at), steps.time, steps.names, clock)
    check_gaps(steps.n_steps, int(offsets[-1]), f"column {time!r}")
    at, when = np.full(offsets[-1], -1), np.empty(offsets[-1])
    to = np.repeat(offsets[:-1], np.diff(steps.offsets)) + place.astype(np.int64)
    at[to] = steps.at
    starts = steps.time[steps.offsets[:-1]]
    if clock.even:
        inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        when[:] = np.repeat(starts, lengths) + clock.even * inside
    else:
        for u in np.flatnonzero(lengths > np.diff(steps.offsets)):
            when[offsets[u] + 1 : offsets[u + 1]] = clock.ahead(starts[u], lengths[u] - 1)
    when[to] = steps.time
    return Steps(steps.rows, offsets, at, when, steps.names, clock)
