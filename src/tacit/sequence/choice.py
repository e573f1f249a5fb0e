"""`find_regimes`: which columns tell sequences and time, in which steps time goes on, and how many states there are, by BIC."""

from __future__ import annotations

import time as clock_time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..checks import check_positive
from ..mixture.finding import _by_column, _told
from ..mixture.selection import select
from ..notes import Note, NoteError, Option
from ..source import Source
from ..survey.dates import DATE_READINGS
from ..survey.describe import IGNORED
from .clock import UNITS, unit_named
from .hidden import HiddenMarkovModel
from .steps import Steps
from .trial import Trial, try_ahead, try_hidden

__all__ = ["RegimeChoice", "find_regimes", "find_time", "set_aside"]

MOST_STATES, STEPS_PER_STATE = 6, 5
WIDE = 12
"""Measurements beyond which covariances take too many steps to learn: columns are then independent given the state."""
BUDGET, NO_LIMIT = 60.0, 1e9
SMOOTHING = 0.5
TIMES = ("time", "date", "datetime", "timestamp", "t", "when", "step", *UNITS)
"""Names of columns of numbers that tell the time, in small letters and the singular."""


@dataclass(frozen=True, eq=False)
class RegimeChoice:
    """A hidden Markov model of a table, and how it was chosen; made by `find_regimes`.

    Attributes
    ----------
    model : HiddenMarkovModel
        States in the order of their shares of the steps, the largest first.
    table : tacit.tables.DataTable
        Without the columns of sequence and time among those that models use.
    selection : list of dict
        Models tried, best first: `n_components`, `covariance_type`, `bic`, `failed` and others.
    ahead, hidden : Trial or None
        How well steps and cells were predicted that were left out.
    reached : str
        "budget" where time ran out before all models were tried.
    budget : float or None
    notes : tuple of Note
        What was found out about sequences and times.
    asked : bool
        Whether the numbers of states to try were given.
    source : Source or None
        The steps of the table as the model opens them, where they are open.
    level : float
        What intervals promise.
    """

    model: HiddenMarkovModel
    table: Any = field(repr=False)
    selection: list[dict] = field(repr=False)
    ahead: Trial | None = None
    hidden: Trial | None = None
    reached: str = ""
    budget: float | None = None
    notes: tuple = ()
    level: float = 0.9
    asked: bool = False
    source: Any = field(repr=False, default=None)

    def study(self, *, n_ahead: int = 0, seed: int = 0) -> Any:
        """What the regimes say of the table, as `tacit.study.segment.RegimeFindings`."""
        from ..study.segment import study_regimes

        return study_regimes(self, n_ahead=n_ahead, seed=seed)


def find_regimes(
    table: Any, *, sequence: str | None = None, time: str | None = None, states: Iterable[int] | None = None,
    duration: Any = None, families: Mapping[str | None, str] | None = None, level: float = 0.9, seed: int = 0,
    budget: float | None = BUDGET, check: bool = True, on_try: Callable[[str], Any] | None = None, **reading: Any,
) -> RegimeChoice:  # fmt: skip
    """Choose a hidden Markov model of the sequences of a table: what ``tacit segment`` does.

    Parameters
    ----------
    table : DataFrame, Arrow table, path or tacit.tables.DataTable
        A row for each step; columns of any kind, which are surveyed.
    sequence, time : str, optional
        Columns that name the sequence of a row, and tell when it was. By default all rows are one sequence, and the time is the
        column of dates where there is one. Where times lie on no grid, time is continuous.
    states : int or iterable of int, optional
        Numbers of states to try; default 1 to 6, with five steps to each at least.
    duration : optional
        How long states last, as in `HiddenMarkovModel`.
    families : dict, optional
        Families of columns of numbers, as in `tacit.mixture.find_groups`.
    level : float, default=0.9
        Probability of intervals, which the checks judge.
    seed : int
    budget : float, optional
        Seconds for the choice, after which the best so far is taken; None sets no limit.
    check : bool
        Whether steps and cells are left out to see how well they are predicted.
    on_try : callable, optional
        Told what is tried.
    **reading
        How to read the table, as in `tacit.tables.open_table`.

    Returns
    -------
    RegimeChoice

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sequence import find_regimes
    >>> x = np.concatenate([np.random.default_rng(0).normal(m, 1, 40) for m in (0, 9, 0)])
    >>> found = find_regimes({"t": np.arange(120), "x": x}, time="t", states=range(1, 4))
    >>> found.model.n_components, found.model.stays().round()
    (2, array([79., 40.]))
    """
    from ..tables.opening import as_table

    if budget is not None:
        check_positive("budget", budget)
    if not hasattr(table, "reader"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # columns of time are told apart below
            table = as_table(table, **reading)
    asked = time
    time, notes = find_time(table, time, sequence)
    table = set_aside(table, sequence, time)
    try:
        steps, irregular = _steps(table, sequence, time)
    except ValueError as fault:
        if time == asked:
            raise
        text = (
            "{name!r} is taken as the time of a row, but {fault} If it is no time, say what is by {time}, or leave it out by "
            "{ignore}."
        )
        raise NoteError(
            "no_times", text, name=time, fault=str(fault), time=Option("time"), ignore=Option("ignore", time)
        ) from None
    if irregular is not None:
        notes.append(irregular)
        if duration is not None:
            text = "{option} counts steps, and times lie on no regular grid; leave it out."
            raise NoteError("duration", text, option=Option("duration"))
    if sequence is not None and len(steps.offsets) - 1 == steps.n_steps:
        text = "every sequence that {name!r} names has one row, and regimes are stretches of rows; name another with {option}."
        raise NoteError("singles", text, name=sequence, option=Option("sequence"))
    model = HiddenMarkovModel(
        sequence=sequence, time=time, continuous_time=irregular is not None, duration=duration, smoothing=SMOOTHING, tol=1e-5,
        max_iter=500, accelerate="squarem" if irregular is not None else "auto", random_state=seed,
        by_column=_by_column(table, families or {}),
    )  # fmt: skip
    sizes = _sizes(states, steps.n_rows)
    source = model._open(steps, reset=True)
    found = _selected(model, source, sizes, table, budget, on_try)
    chosen: HiddenMarkovModel = found.best
    chosen.set_params(callback=None)._order_by_weight()
    chosen.left_out_ = tuple(column.name for column in table.columns if not column.used)
    trials: list[Trial | None] = [None, None]
    if check:
        deadline = None if budget is None else clock_time.monotonic() + max(0.5 * budget, budget - found.seconds)
        for place, (what, attempt) in enumerate((("later steps", try_ahead), ("hidden cells", try_hidden))):
            if deadline is None or clock_time.monotonic() < deadline:
                on_try(f"predicting {what}") if on_try else None
                trials[place] = attempt(chosen, source, level, seed)
    selection = [_told(row) | {"criterion": "bic"} for row in found.table]
    ahead, hidden = trials
    return RegimeChoice(
        chosen, table, selection, ahead, hidden, found.reached, budget, tuple(notes), level, states is not None, source
    )


def _sizes(states: Any, n_rows: int) -> list[int]:
    """Numbers of states to try."""
    if states is None:
        return list(range(1, max(min(MOST_STATES, n_rows // STEPS_PER_STATE), 1) + 1))
    asked = [states] if isinstance(states, (int, np.integer)) else list(states)
    possible = [int(size) for size in asked if 1 <= size <= n_rows]
    if not possible:
        raise NoteError(
            "states", "{option} is none of 1 to {n}, the number of rows; ask for fewer states.",
            option=Option("states", ", ".join(map(str, asked)) or None), n=n_rows,
        )  # fmt: skip
    return possible


def _selected(model: Any, source: Source, sizes: list[int], table: Any, budget: float | None, on_try: Any) -> Any:
    """The models tried, ranked by BIC."""
    n_measured = sum(column.role == "measurement" for column in table.used)
    shapes = ["full"] if n_measured < 2 else ["diag"] if n_measured > WIDE else ["diag", "full"]
    tell = None if on_try is None else lambda row: on_try(f"tried {row['n_components']} regimes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select(
            model, source, n_components=sizes, covariance_type=shapes, callback=tell,
            budget=NO_LIMIT if budget is None else 0.6 * budget,
        )  # fmt: skip
    if any(getattr(row["failed"], "code", "") == "interrupted" for row in found.table):
        raise KeyboardInterrupt
    return found


# Sequences and times


def find_time(table: Any, time: str | None, sequence: str | None) -> tuple[str | None, list[Note]]:
    """The column that tells the time, where one is named or obvious, and what is to be said of it.

    Parameters
    ----------
    table : tacit.tables.DataTable
    time, sequence : str or None
        As they were asked for.
    """
    names = [column.name for column in table.columns]
    for option, name in (("sequence", sequence), ("time", time)):
        if name is not None and name not in names:
            from ..tables.reader import meant

            raise NoteError(
                "no_column", "{place} has no column {name!r}, which {option} names; {hint}", place=table.reader.place,
                name=name, option=Option(option), hint=meant(name, names),
            )  # fmt: skip
    if time is not None:
        return time, []
    columns = [column for column in table.columns if column.name != sequence and column.left_out != IGNORED]
    dates = [column.name for column in columns if column.reading in DATE_READINGS]
    if not dates:
        dates = [
            column.name for column in columns
            if column.name.strip().lower().removesuffix("s") in TIMES and column.low is not None and not column.n_missing
        ]  # fmt: skip
    if len(dates) > 1:
        raise NoteError(
            "times", "{dates} may both tell the time of a row; say which does with {option}.",
            dates=" and ".join(map(repr, dates[:2])), option=Option("time"),
        )  # fmt: skip
    if dates:
        return dates[0], [Note("time", "{name!r} is taken as the time of a row", name=dates[0])]
    text = "no column tells the time: rows are taken as steps in the order of the table; name one with {option}"
    return None, [Note("no_time", text, option=Option("time"))]


def set_aside(table: Any, sequence: str | None, time: str | None) -> Any:
    """The table without the columns of sequence and time among those that models use."""
    told = {sequence: "names the sequence of a row", time: "tells the time of a row"}
    columns = tuple(
        replace(column, left_out=told[column.name], notes=()) if column.name in told else column
        for column in table.columns
    )
    found = replace(table, columns=columns, order=tuple(name for name in table.order if name not in told))
    if not found.used:
        reasons = ", ".join(f"{column.name} ({column.left_out})" for column in columns[:10])
        raise NoteError(
            "no_columns", "{place} has no column to find regimes by: {reasons}; say what a column is, such as {option}.",
            place=table.reader.place, reasons=reasons, option=Option("roles", (columns[0].name, "number")),
        )  # fmt: skip
    return found


def _steps(table: Any, sequence: str | None, time: str | None) -> tuple[Steps, Note | None]:
    """The steps of a table and, where its times lie on no grid, a note that time is continuous."""
    loose = Steps.of_table(table, sequence, time, continuous=True)
    if time is None or loose.time is None:
        return loose, None
    try:
        return Steps.of_table(table, sequence, time), None
    except ValueError:  # what else may be wrong was told above
        inside = np.setdiff1d(np.arange(1, len(loose.time)), loose.offsets)
        gaps = loose.time[inside] - loose.time[inside - 1]
        text = (
            "times lie on no regular grid (from {low:.4g} to {high:.4g} {unit} apart): rates of change are learned in continuous "
            "time"
        )
        dated = loose.clock is not None and loose.clock.dated
        unit = "days" if dated else unit_named(time) or "units of time"
        return loose, Note("irregular", text, low=float(gaps.min()), high=float(gaps.max()), unit=unit)
