"""`find_groups`: the mixture that describes a table best, chosen on a sample of its rows where they are many."""

from __future__ import annotations

import numbers
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.calibration import GROSS
from ..checks import check_choice, check_number, check_positive
from ..families import GAUSSIANS, STRUCTURES
from ..notes import NoteError, Option
from ..source import ArraySource, Source
from ..words import joined
from .generic import Mixture
from .selection import distinct_structures, most_components, select
from .verdict import RESAMPLES, Verdict, judge

if TYPE_CHECKING:
    from ..schema import Column
    from ..tables import DataTable

__all__ = ["Grouping", "default_groups", "default_structures", "find_groups"]

CHOICE_ROWS = 10_000
"""Rows that models are compared on; the best is then learned from all."""
MOST_GROUPS, ROWS_PER_GROUP = 9, 5
FEWEST_ROWS, ROWS_PER_COLUMN = 100, 10
"""Rows that models may be compared on at least."""
SMOOTHING = 0.5
"""Rows' worth added to every level in every group, so that a level that a group has not shown is not impossible there."""
WIDE, WIDER = 50, 300
MOST_SEED = 2**32 - 1
FEWEST_VALUES, MOST_GROSS = 20, 10
"""Different values that a column with gross errors has at least, and errors at most."""
MOST_NUMBERS = 2_000_000
"""Parameters of models with other numbers of groups that a model's file holds."""
BUDGET, NO_LIMIT, SEARCH = 60.0, 1e9, 0.75
"""Seconds for choosing a model; the part of them that the search may take, the rest being for resamples."""
SCORES = ("bic", "aic", "icl", "cv", "log_likelihood")
KEPT = ("n_components", "covariance_type", *SCORES, "n_parameters", "converged", "failed")


@dataclass(frozen=True)
class Grouping:
    """What was chosen.

    Attributes
    ----------
    model : Mixture
        Fitted to all rows; its components are in the order of the groups, the largest first.
    table : tacit.tables.DataTable
        The table, with what is known of its columns.
    selection : list of dict
        Models tried, best first, as `tacit.study.Findings.selection` has them.
    by_size : dict of int to Mixture
        The best model of every number of groups tried, in their order, fitted to the rows that models were compared on; that of
        the chosen number is `model`.
    aside : list of dict
        Cells with gross errors, as `gross_cells` finds them, whose rows were not learned from.
    search : dict
        What the verdict needs of the search: its rows and seed, the seconds left, and what ended it.
    missingness : list of Missingness or None
        Why cells are missing, as `tacit.study.diagnose_missing` found it; None where it was not asked.
    verdict : Verdict
        Whether the groups are clear, overlap or cut a continuum, made when it is first asked for.
    """

    model: Mixture
    table: Any = field(repr=False)
    selection: list[dict] = field(repr=False)
    by_size: dict[int, Mixture] = field(repr=False, default_factory=dict)
    aside: list[dict] = field(repr=False, default_factory=list)
    search: dict = field(repr=False, default_factory=dict)
    missingness: list | None = field(repr=False, default=None)

    @cached_property
    def verdict(self) -> Verdict:
        """What the groups are worth."""
        search = dict(self.search)
        rows, seed, seconds = (search.pop(name, None) for name in ("rows", "seed", "seconds"))
        search["resamples"] = search.pop("check", RESAMPLES)
        deadline = None if seconds is None else time.monotonic() + seconds
        return judge(self.model, rows or self.table.source(), seed=seed or 0, deadline=deadline, **search)

    def at(self, n_groups: int) -> Grouping:
        """The best grouping with another number of groups among those tried."""
        if n_groups not in self.by_size:
            raise ValueError(f"n_groups={n_groups!r} was not tried; tried were {', '.join(map(str, self.by_size))}.")
        rows = sorted(self.selection, key=lambda row: row["n_components"] != n_groups)
        return replace(self, model=self.by_size[n_groups], selection=rows)

    def keep_others(self) -> None:
        """Give the model the best ones with other numbers of groups as ``others_``, which its file then holds.

        Of very many parameters, those nearest to the chosen number are kept.
        """
        kept, left, chosen = [], MOST_NUMBERS, self.model.n_components
        for size in sorted(set(self.by_size) - {chosen}, key=lambda size: abs(size - chosen)):
            other = copy(self.by_size[size]).set_params(parameter_draws=0)
            left -= len(other._params().to_vector())
            kept += [other] if left >= 0 else []
        self.model.others_ = sorted(kept, key=lambda other: other.n_components)

    def study(self, seed: int = 0, scorer: Any = None) -> Any:
        """What the groups say of the table, as `tacit.study.Findings`, other numbers of groups included.

        A `tacit.study.scores.Scorer` of the model learns the scores of all rows, for others to use.
        """
        from ..study.groups import study_groups

        return study_groups(
            self.model, self.table, selection=self.selection, seed=seed, verdict=self.verdict, others=self.by_size,
            scorer=scorer, aside=self.aside, missingness=self.missingness if seed == self.search.get("seed") else None,
        )  # fmt: skip


def default_structures(n_measurements: int) -> list[str]:
    """Covariance structures worth trying for so many measurements: matrices of many columns take too many rows and too long."""
    if n_measurements < 2:
        return ["full", "tied"] if n_measurements else ["full"]
    return ["full", "tied", "diag", "spherical"][(n_measurements > WIDE) + (n_measurements > WIDER) :]


def default_groups(n_rows: int, most: int = MOST_GROUPS) -> range:
    """Numbers of groups worth trying where none are asked for: of few rows, two with two each or those with five on average."""
    return range(1, max(min(2, n_rows // 2), min(most, n_rows // ROWS_PER_GROUP), 1) + 1)


def find_groups(
    table: Any, *, groups: Iterable[int] | None = None, covariance: Any = None, criterion: str = "bic", restarts: int = 1,
    student: bool = False, families: Mapping[str | None, str] | None = None, sample: int = CHOICE_ROWS, seed: int = 0,
    budget: float | None = BUDGET, check: int = RESAMPLES,
    watch: Callable | None = None, calibrated: bool = True, **reading: Any,
) -> Grouping:  # fmt: skip
    """Choose a mixture and fit it to all rows of a table: what ``tacit fit`` does.

    Parameters
    ----------
    table : DataFrame, Arrow table, array, path or tacit.tables.DataTable
        Columns of any kind, which are surveyed; `tacit.tables.open_table` says more about them.
    groups : int or iterable of int, optional
        Numbers of groups to try; default from one on while the criterion improves, up to 30, with five rows to each.
    covariance : str or list of str, optional
        Structures to try, "all" of them or some by name; default a handful that suits the number of measurements.
    criterion : {"bic", "icl", "aic", "cv"}
        What to choose by.
    restarts : int
        How many times the usual number of random starts.
    student : bool
        Give measurements heavy tails.
    families : dict, optional
        Families of columns of numbers, by name: ``{"income": "lognormal"}``; under None, that of all other measurements.
    sample : int
        Rows to compare models on where there are more; the best is then fitted to all.
    seed : int
        Seeds everything random.
    budget : float, optional
        Seconds for choosing the model and judging it, after which the best so far is taken; None sets no limit. Cheap models come
        first. Where time does not run out, the result depends on the seed alone.
    check : int
        Resamples that the verdict on the groups rests on.
    watch : callable, optional
        Called with the sizes of the models to try and the rounds of trying; returns an object with ``row`` and ``step``, which
        are told what happens, and ``last``, which is told the steps of the final fit.
    calibrated : bool
        Whether fills of missing cells are calibrated by cells hidden on purpose, as `tacit.impute.calibrate` does it.
    **reading
        How to read the table, as in `tacit.tables.open_table`: ``roles={"year": "measurement"}``, ``missing=["?"]``.

    Returns
    -------
    Grouping

    Examples
    --------
    >>> from tacit.datasets import load_penguins
    >>> from tacit.mixture import find_groups
    >>> X, species, columns = load_penguins()
    >>> found = find_groups(dict(zip(columns, X.T)), groups=[1, 2, 3], covariance=["tied"])
    >>> found.model.n_components, found.study().groups[1].words.split(",")[0]
    (3, 'flipper_length_mm high')
    """
    from ..tables.opening import as_table

    table = as_table(table, **reading)
    measured = [column.name for column in table.used if column.role == "measurement"]
    if budget is not None:
        check_positive("budget", budget)
    sizes = _possible(table, [1] if groups is None else asked_groups(groups), seed)
    _check_sample(table, sample)
    covariance = _structures(covariance, len(measured))
    asked: dict[str | None, str] = {None: "student"} if student else {}
    asked.update(families or {})
    aside = gross_cells(table)
    whole = _without(table, [cell["row"] - 1 for cell in aside])
    rows = _rows(table, whole, sample, seed)
    sampled = rows.n_rows < whole.n_rows
    likely = sizes if groups is not None else range(1, min(6, most_components(rows.n_rows)) + 1)
    seen = (
        watch([size for size in sorted(likely) for _ in covariance], 6 if criterion == "cv" else 1) if watch else None
    )
    estimator = Mixture(
        by_column=_by_column(table, asked), smoothing=SMOOTHING, tol=1e-5,
        max_iter=1000, n_init=restarts, random_state=seed,
        # A plain function: what is cloned with an estimator would otherwise be a copy.
        callback=(lambda progress: seen.step(progress)) if seen else None,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select(
            estimator, rows, n_components="auto" if groups is None else sizes, covariance_type=covariance, criterion=criterion,
            callback=seen.row if seen else None, budget=NO_LIMIT if budget is None else SEARCH * budget,
        )  # fmt: skip
        # An interrupt that the sweep survived ends the command all the same.
        stopped, model = any(_code(row) == "interrupted" for row in found.table), found.best
        if sampled and not stopped:
            # Go on from what the sample taught, with all rows.
            last = (lambda progress: seen.last(progress)) if seen else None
            model.set_params(warm_start=True, max_iter=200, tol=1e-5, callback=last).fit(whole)
            stopped = model.fit_.interrupted
    if stopped:
        raise KeyboardInterrupt
    model.set_params(callback=None, warm_start=False)._order_by_weight()
    model.left_out_ = tuple(column.name for column in table.columns if not column.used)
    missingness = None
    if calibrated and any(column.n_missing for column in table.used):
        from ..impute.trial import calibrate
        from ..study.missingness import diagnose_missing

        missingness = diagnose_missing(table, seed=seed)
        rest = np.inf if budget is None else max(0.2 * budget, budget - found.seconds)
        calibrate(model, table, seed=seed, budget=rest, missingness=missingness)
    told = {"criterion": criterion} | ({"n_rows": rows.n_rows} if sampled else {})
    by_size = found.by_size() | {model.n_components: model}
    for other in by_size.values():
        if other is not model:
            other.set_params(callback=None)._order_by_weight()
            other.left_out_ = model.left_out_
    left = None if budget is None else max(budget - found.seconds, (1.0 - SEARCH) * budget)
    search = {
        "rows": rows,
        "seed": seed,
        "seconds": left,
        "reached": found.reached,
        "budget": budget,
        "tried": max(by_size),
        "check": check,
    }
    selection = [_told(row) | told for row in _without_twins(found.table)]
    return Grouping(model, table, selection, by_size, aside, search, missingness)


def _by_column(table: DataTable, families: Mapping[str | None, str]) -> dict | None:
    """Families of columns as `Mixture` takes them."""
    numbers_ = {column.name: column.role for column in table.used if column.role in ("measurement", "count")}
    for name in families:
        if name is not None and name not in numbers_:
            told = joined(map(repr, numbers_)) or "there are none"
            raise NoteError(
                "family", "{option} describes columns of numbers, and {name!r} is none that is used; these are {told}.",
                option=Option("families"), name=name, told=told,
            )  # fmt: skip
    rest = tuple(name for name, role in numbers_.items() if role == "measurement" and name not in families)
    found: dict = {name: family for name, family in families.items() if name is not None}
    if rest and families.get(None, "gaussian") != "gaussian":
        found |= {rest: "student"} if families[None] == "student" else dict.fromkeys(rest, families[None])
    return found or None


def _without_twins(rows: Iterable[dict]) -> list[dict]:
    """The models tried, each once: with one group, structures that differ between groups only are the same."""
    kept: list[dict] = []
    for row in rows:
        if row["n_components"] > 1 or not any(_same(row, other) for other in kept):
            kept.append(row)
    return kept


def _same(row: dict, other: dict) -> bool:
    names = ("n_components", "n_parameters", "failed")
    if any(row[name] != other[name] for name in names) or row["failed"]:
        return False
    return bool(np.isclose(row["log_likelihood"], other["log_likelihood"], rtol=1e-9, atol=0.0))


def asked_groups(groups: Any) -> list[int]:
    """Numbers of groups that the user named."""
    sizes = [groups] if isinstance(groups, numbers.Integral) else groups
    sizes = sizes if isinstance(sizes, str) or not isinstance(sizes, Iterable) else list(sizes)
    if not isinstance(sizes, list) or not sizes:
        raise ValueError(f"groups={groups!r} must be a whole number or some of them, such as range(1, 5).")
    for size in sizes:
        check_number("groups", size, numbers.Integral, 1)
    return sizes


def _possible(table: DataTable, groups: Iterable[int], seed: int) -> list[int]:
    """The numbers of groups that a table allows; raises where it allows none."""
    if not 0 <= seed <= MOST_SEED:
        text = "{option} is not a valid seed; use a whole number from 0 to {most}."
        raise NoteError("seed", text, option=Option("seed", seed), most=MOST_SEED)
    if table.n_rows < 2:
        raise ValueError(f"{table.reader.place} has {table.n_rows} row; at least 2 are needed to find groups.")
    if not table.used:
        reasons = ", ".join(f"{column.name} ({column.left_out})" for column in table.columns)
        raise NoteError(
            "no_columns", "{place} has no column to find groups by: {reasons}; say what a column is, such as {option}.",
            place=table.reader.place, reasons=reasons, option=Option("roles", (table.columns[0].name, "category")),
        )  # fmt: skip
    possible = [size for size in groups if size <= table.n_rows]
    if not possible:
        text = "{option} starts at {first}, but the table has {n} rows; use at most {n}."
        raise NoteError("groups", text, option=Option("groups"), first=min(groups), n=table.n_rows)
    return possible


def _check_sample(table: DataTable, most_rows: int) -> None:
    """Refuse to compare models on rows so few that they say nothing."""
    least = min(max(FEWEST_ROWS, ROWS_PER_COLUMN * len(table.used)), CHOICE_ROWS, table.n_rows)
    if most_rows < least:
        text = "{option} is too few rows to compare models of {d} columns on; use at least {least:,}."
        raise NoteError("sample", text, option=Option("sample", most_rows), d=len(table.used), least=least)


def _structures(asked: Any, n_measurements: int) -> list[str]:
    if asked is None:
        return default_structures(n_measurements)
    asked = STRUCTURES if asked == "all" else [asked] if isinstance(asked, str) else asked
    for name in asked:
        check_choice("covariance", name, ("all", *GAUSSIANS))
    if not n_measurements:
        return ["full"]  # says nothing where no column is a measurement
    return distinct_structures(asked)


def gross_cells(table: DataTable) -> list[dict]:
    """Numbers so far from all others of their column that they must be errors, with `row` (from 1), `column` and `value`.

    Such a number lies farther from the next than three times the range of all the rest; of few values there are none, nor of a
    table that is read anew at every pass.
    """
    if table.is_large:
        return []
    columns = table.schema.columns
    return [
        {"row": int(i) + 1, "column": str(columns[j].name), "value": float(table.cells[i, j])}
        for j, rows in gross_places(table.cells, columns).items()
        for i in rows
    ]


def gross_places(rows: np.ndarray, columns: Sequence[Column]) -> dict[int, np.ndarray]:
    """Places of such numbers among some rows: row numbers, from 0, by the column's."""
    found = {}
    for j, column in enumerate(columns):
        if column.coded or not _may_be_gross(cells := rows[:, j]):
            continue
        values = np.unique(cells[~np.isnan(cells)])
        if len(values) < FEWEST_VALUES:
            continue
        low, high = 0, len(values) - 1
        for _ in range(MOST_GROSS):
            below, above = values[low + 1] - values[low], values[high] - values[high - 1]
            if above >= below and above > GROSS * (values[high - 1] - values[low]):
                high -= 1
            elif below > GROSS * (values[high] - values[low + 1]):
                low += 1
            else:
                break
        far = np.flatnonzero((cells < values[low]) | (cells > values[high]))
        if len(far) and len(far) <= max(1, len(cells) // 100):
            found[j] = far
    return found


def _may_be_gross(cells: np.ndarray) -> bool:
    """Whether an end of a column lies far from all other values, which is seen sooner than where all of them lie."""
    low, high = np.fmin.reduce(cells), np.fmax.reduce(cells)
    near = (high - low) / (GROSS + 1.0) * (1.0 + 1e-9)  # all the rest, where an end is far from it
    with np.errstate(invalid="ignore"):
        inner = cells[(cells > low) & (cells < high)]
    return not len(inner) or not (inner.max() > low + near and inner.min() < high - near)


def _without(table: DataTable, rows: list[int]) -> Source:
    """The rows of a table but for some."""
    if not rows:
        return table.source()
    return ArraySource(np.delete(table.cells, rows, axis=0)).described_as(table.source())


def _rows(table: DataTable, whole: Source, most_rows: int, seed: int) -> Source:
    """The rows to compare models on."""
    if whole.n_rows <= most_rows:
        return whole
    if table.is_large:
        cells = table.schema.encode(table.sample(most_rows, seed)[1])
    else:
        chosen = np.random.default_rng(seed).choice(whole.n_rows, most_rows, replace=False)
        cells = whole.take(np.sort(chosen)).X
    empty = np.isnan(cells).all(axis=0)
    if empty.any():
        name = table.schema.names[int(np.argmax(empty))]
        raise NoteError(
            "unseen", "column {name!r} has no value in the {n:,} rows that models are compared on; leave it out ({ignore}), or "
            "compare on more rows ({sample}).",
            name=name, n=most_rows, ignore=Option("ignore", name), sample=Option("sample", 10 * most_rows),
        )  # fmt: skip
    return ArraySource(cells).described_as(table.source())


def _told(row: dict) -> dict:
    """A row of the selection as `Findings` has it: no value where a fit failed or collapsed, which ruins its scale."""
    told = {name: _plain(row.get(name)) for name in KEPT}
    if row["failed"]:
        told |= dict.fromkeys(SCORES)
    if _code(row) == "collapsed":
        told["failed"] = "a group collapsed: too few distinct rows for its columns"
    return told


def _code(row: dict) -> str:
    """What kind of failure a row tells of."""
    return getattr(row["failed"], "code", "")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
