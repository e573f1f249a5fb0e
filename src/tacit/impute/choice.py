"""Which model fills the missing cells of a table: groups of rows, or a few axes behind its numbers.

A mixture takes columns of every kind; its number of groups and the structure of its measurements are chosen by BIC. Axes
(`ProbabilisticPCA`) take numbers only. Between the two, cells that were hidden on purpose decide, and they calibrate what is
chosen.
"""

from __future__ import annotations

import numbers
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..base.calibration import Absence, Calibration
from ..checks import check_choice, check_number
from ..engine import Until
from ..factor import ProbabilisticPCA
from ..mixture import find_groups
from ..mixture.finding import asked_groups, default_groups
from ..notes import Claim, NoteError, Option
from ..study.missingness import diagnose_missing
from ..study.phrases import shape_words
from ..tables import DataTable
from ..tables.opening import as_table
from ..words import joined
from .mixed import MOST_GROUPS
from .trial import ROUNDS, SURE, absences, calibrate, hidden_rounds, plain_calibration, sampled, trial_cells

__all__ = ["METHODS", "SAMPLE_ROWS", "Choice", "choose_imputer", "only"]

METHODS = ("auto", "mixture", "factors")
STRUCTURES = ["full", "tied", "diag"]
SAMPLE_ROWS = 20_000
"""Rows that models are compared on; the best is then learned from all."""
NUMBERS = ("measurement", "count")
BUDGET = 60.0
"""Seconds after which no further model is tried."""


@dataclass(frozen=True)
class Choice:
    """A model that fills a table.

    Attributes
    ----------
    model : fitted Mixture or ProbabilisticPCA
    table : DataTable
        The table, with the columns left out that the model does not take.
    method : {"mixture", "factors"}
    why : str
        What it is and how it was chosen, as a phrase.
    selection : list of dict
        Models tried, best first, as `Findings.selection` has them.
    said : str
        Why this method, as a sentence; empty where it was asked for.
    missingness : list of Missingness
        Why cells are missing, as `tacit.study.diagnose_missing` found it.
    """

    model: Any
    table: DataTable = field(repr=False)
    method: str
    why: str
    selection: list[dict] = field(repr=False)
    said: str = field(default="", repr=False)
    missingness: list = field(default_factory=list, repr=False)

    def study(self, seed: int = 0, level: float = 0.9) -> Any:
        """What the fills say of the table, as `tacit.study.Findings`."""
        from ..study.imputation import study_fill

        return study_fill(
            self.model, self.table, selection=self.selection, seed=seed, level=level, why=self.why, said=self.said,
            missingness=self.missingness,
        )  # fmt: skip


def only(table: DataTable, roles: Sequence[str], reason: str) -> DataTable:
    """The table with all columns left out that are in none of these roles."""
    columns = tuple(
        column if column.role in roles or not column.used else replace(column, left_out=reason)
        for column in table.columns
    )
    return replace(table, columns=columns)


def choose_imputer(
    table: Any, method: str = "auto", *, groups: Iterable[int] | None = None, seed: int = 0, level: float = 0.9,
    sure: float = SURE, budget: float | None = BUDGET, check: int = ROUNDS, families: Mapping[str | None, str] | None = None,
    watch: Callable | None = None, **reading: Any,
) -> Choice:  # fmt: skip
    """Choose and learn the model that fills a table, and calibrate its fills by cells hidden on purpose.

    Cells that are not applicable, as `tacit.study.diagnose_missing` finds them, are not filled, and neither are levels of
    categories that are less than `sure`. Intervals of the model hold as many hidden cells as they should (see
    `tacit.impute.calibrate`).

    Parameters
    ----------
    table : DataFrame, Arrow table, array, path or tacit.tables.DataTable
        Columns of any kind, as in `tacit.mixture.find_groups`.
    method : {"auto", "mixture", "factors"}
        Groups of rows, axes behind numbers, or whichever fills hidden cells better; groups are then also tried with counts
        taken as measurements, which are correlated inside a group.
    groups : int or iterable of int, optional
        Numbers of groups to try; default 1 to 6, or fewer where rows are few.
    seed : int
        Seeds everything random.
    level : float
        Of the intervals that are judged.
    sure : float
        Probability from which a level is filled.
    budget : float, optional
        Seconds after which no further model, and no further round of hiding cells, is begun; None for no limit.
    check : int
        Rounds of hiding cells at most.
    families : dict, optional
        What numbers are like inside a group, as in `tacit.mixture.find_groups`; axes are then not tried.
    watch : callable, optional
        Is told how the work goes on, as in `tacit.mixture.find_groups`.
    **reading
        How to read the table, as in `tacit.tables.open_table`.

    Returns
    -------
    Choice
    """
    check_choice("method", method, METHODS)
    budget = np.inf if budget is None else budget
    check_number("budget", budget, numbers.Real, 0)
    check_number("sure", sure, numbers.Real, 0, 1)
    started, table = time.monotonic(), as_table(table, **reading)
    groups = list(default_groups(table.n_rows, MOST_GROUPS) if groups is None else asked_groups(groups))
    found = diagnose_missing(table, seed=seed)
    rules = absences(table, found)
    if families:
        if method == "factors":
            raise NoteError(
                "method", "{option} describes groups, and axes have none; leave it out.", option=Option("families")
            )
        method = "mixture"
    ways = _ways(table, rules) if method == "auto" else [(method, table)]
    start = plain_calibration(table, cells := trial_cells(table, seed), (), absent=rules)
    tried: list = []
    rounds = hidden_rounds(table, cells, start, seed, found, check)
    ways = ways if rounds else ways[-1:]  # without hidden cells there is nothing to choose by
    for way, own in ways:
        left = budget - (time.monotonic() - started)
        if tried and left <= 0:
            break
        own = _without_ruled(own, rules) if way == "factors" else own
        share = left / (len(ways) - len(tried) + 1)
        choice = (
            _factors(own, seed, watch, started + budget)
            if way == "factors"
            else _mixture(own, groups, seed, watch, share, families)
        )
        kept = [table.schema.names.index(name) for name in choice.table.schema.names]
        calibrate(
            choice.model, choice.table, level=level, seed=seed, sure=sure, missingness=found, masks=[mask[:, kept] for mask
            in rounds], budget=(budget - (time.monotonic() - started)) / (len(ways) - len(tried)),
        )  # fmt: skip
        tried.append((_loss(choice.model.calibration_), len(tried), choice))
    _, _, best = min(tried)
    return replace(best, said=_said(tried, ways, budget) if method == "auto" else "", missingness=found)


def _without_ruled(table: DataTable, rules: Sequence[Absence]) -> DataTable:
    """The table without columns of which only a column that axes do not take tells whether they apply."""
    ruled = {table.used[rule.column].name for rule in rules if table.used[rule.by].role not in NUMBERS}
    reason = "not applicable where a column says so that axes do not take"
    columns = tuple(replace(column, left_out=reason) if column.name in ruled else column for column in table.columns)
    return replace(table, columns=columns)


def _ways(table: DataTable, rules: Sequence[Absence]) -> list[tuple[str, DataTable]]:
    """Methods that fill all columns with missing cells, the cheapest first, each with its table."""
    numeric = [column for column in table.used if column.role in NUMBERS]
    counts = any(column.role == "count" for column in numeric)
    ways: list[tuple[str, DataTable]] = [("mixture", table)]
    if counts and len(numeric) > 1:
        ways.insert(0, ("mixture", _measured(table)))
    told = all(table.used[rule.by].role in NUMBERS for rule in rules)
    if told and len(numeric) > 1 and all(column.role in NUMBERS for column in table.used if column.n_missing):
        ways.insert(0, ("factors", table))
    return ways


def _measured(table: DataTable) -> DataTable:
    """The table with counts taken as measurements."""
    columns = tuple(
        replace(column, role="measurement", law="") if column.used and column.role == "count" else column
        for column in table.columns
    )
    return replace(table, columns=columns)


def _loss(learned: Calibration) -> float:
    """Mean over hidden cells of the squared error relative to the column's variance, or of a wrong level."""
    n = learned.hidden
    if not n.sum():
        return np.inf
    return float(
        np.average(np.where(np.isnan(learned.error), 1.0 - learned.right, learned.error**2)[n > 0], weights=n[n > 0])
    )


def _said(tried: list, ways: list, budget: float) -> str:
    """Why a method was taken, as a sentence."""
    tried, names = sorted(tried), []
    for _, _, choice in tried:
        counted = any(column.role == "count" for column in choice.table.used)
        joint = (
            not counted
            and choice.method == "mixture"
            and any(column.role == "count" for _, own in ways for column in own.used)
        )
        names.append(
            "axes" if choice.method == "factors" else "groups with counts taken as measurements" if joint else "groups"
        )
    if len(ways) == 1:
        return ""
    if len(tried) == 1:
        rest = f"the {budget:g} s allowed were spent"
        sentence = f"{names[0].capitalize()} were taken because {rest} before another model could be tried."
        return Claim.of(
            "tried", sentence, "models that were tried", {"tried": 1, "models": len(ways), "budget": budget}
        )
    told = [
        f"{name} {'erred ' if not i else ''}by {np.sqrt(loss):.2f}"
        for i, ((loss, _, _), name) in enumerate(zip(tried, names))
    ]
    n = int(tried[0][2].model.calibration_.hidden.sum())
    more = "" if len(tried) == len(ways) else f"; {len(ways) - len(tried)} more models did not fit into {budget:g} s"
    levels = any(column.levels and column.n_missing for column in tried[0][2].table.used)
    unit = "of the columns' spread" + (" (a wrong level counts 1)" if levels else "")
    sentence = f"On {n} cells hidden on purpose, {joined(told)} {unit}, so {names[0]} were taken{more}."
    figures = {name: float(np.sqrt(loss)) for (loss, _, _), name in zip(tried, names)}
    return Claim.of("tried", sentence, f"{n:,} known cells, hidden and filled in again by each", figures)


def _mixture(
    table: DataTable, groups: Iterable[int], seed: int, watch: Callable | None, budget: float, families: Any
) -> Choice:
    found = find_groups(
        table,
        groups=groups,
        covariance=STRUCTURES,
        seed=seed,
        watch=watch,
        families=families,
        calibrated=False,
        budget=max(budget, 1.0) if np.isfinite(budget) else None,
    )
    model, rows = found.model, found.selection
    how = f"chosen by BIC among {len(rows)} models" if len(rows) > 1 else "as asked for"
    if len(rows) > 1 and "n_rows" in rows[0]:
        how += f" of {rows[0]['n_rows']:,} rows"
    return Choice(model, table, "mixture", f"{_phrase(model)}, {how}", rows)


def _phrase(model: Any) -> str:
    k, shape = model.n_components, shape_words(model.covariance_type)
    if k == 1:
        return "what all rows have in common (one group)"
    measured = sum(column.kind == "continuous" for column in model.schema_.columns)
    return f"a mixture of {k} groups ({shape})" if measured > 1 else f"a mixture of {k} groups"


def _factors(table: DataTable, seed: int, watch: Callable | None, deadline: float) -> Choice:
    table = only(_measured(table), NUMBERS, "axes take numbers only")
    if len(table.used) < 2:
        text = "axes need at least 2 columns of numbers, and the table has {n}; use {option}."
        raise NoteError("too_few_columns", text, n=len(table.used), option=Option("method", "mixture"))
    source = table.source()
    sample = sampled(source, SAMPLE_ROWS, seed)
    seen = watch([1], 1) if watch else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ending = Until(deadline, seen and seen.step)
        model = ending.check(ProbabilisticPCA("auto", scale=True, random_state=seed, callback=ending).fit(sample))
        if sample is not source:
            model = ending.check(clone(model).set_params(n_components=model.n_components_).fit(source))
    model.set_params(callback=None)
    k = model.n_components_
    axes = f"{k} axes" if k > 1 else "one axis"
    return Choice(
        model,
        table,
        "factors",
        f"{axes} behind {len(table.used)} columns of numbers, as many as fill hidden cells best",
        [],
    )
