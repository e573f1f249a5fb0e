"""Which model fills the missing cells of a table: groups of rows, or a few axes behind its measurements.

A mixture takes columns of every kind; its number of groups and the structure of its measurements are chosen by BIC. Axes
(`ProbabilisticPCA`) take measurements only. Between the two, cells that were hidden on purpose decide.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..checks import check_choice
from ..factor import ProbabilisticPCA
from ..mixture import Mixture, find_groups, select
from ..mixture.finding import SMOOTHING, asked_groups, default_groups
from ..notes import NoteError, Option
from ..source import ArraySource, Source
from ..study.phrases import shape_words
from ..tables import DataTable
from ..tables.opening import as_table
from .mixed import MOST_GROUPS
from .trial import check_finished, hide, judge, sampled

__all__ = ["METHODS", "SAMPLE_ROWS", "Choice", "choose_imputer", "only"]

METHODS = ("mixture", "factors", "auto")
STRUCTURES = ["full", "tied", "diag"]
SAMPLE_ROWS = 20_000
"""Rows that models are compared on; the best is then learned from all."""
TRIAL_ROWS = 5000


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
    """

    model: Any
    table: DataTable = field(repr=False)
    method: str
    why: str
    selection: list[dict] = field(repr=False)
    said: str = field(default="", repr=False)


def only(table: DataTable, roles: Sequence[str], reason: str) -> DataTable:
    """The table with all columns left out that are in none of these roles."""
    columns = tuple(
        column if column.role in roles or not column.used else replace(column, left_out=reason)
        for column in table.columns
    )
    return replace(table, columns=columns)


def choose_imputer(
    table: Any, method: str = "mixture", *, groups: Iterable[int] | None = None, seed: int = 0,
    watch: Callable | None = None, **reading: Any,
) -> Choice:  # fmt: skip
    """Choose and learn the model that fills a table.

    Parameters
    ----------
    table : DataFrame, Arrow table, array, path or tacit.tables.DataTable
        Columns of any kind, as in `tacit.mixture.find_groups`.
    method : {"mixture", "factors", "auto"}
        Groups of rows, axes behind measurements, or whichever fills hidden cells better.
    groups : int or iterable of int, optional
        Numbers of groups to try; default 1 to 6, or fewer where rows are few.
    seed : int
        Seeds everything random.
    watch : callable, optional
        Is told how the work goes on, as in `tacit.mixture.find_groups`.
    **reading
        How to read the table, as in `tacit.tables.open_table`.

    Returns
    -------
    Choice
    """
    check_choice("method", method, METHODS)
    table = as_table(table, **reading)
    groups = default_groups(table.n_rows, MOST_GROUPS) if groups is None else asked_groups(groups)
    said = ""
    if method == "auto":
        method, said = _better(table, groups, seed)
    choice = (_factors if method == "factors" else _mixture)(table, groups, seed, watch)
    return replace(choice, said=said)


def _mixture(table: DataTable, groups: Iterable[int], seed: int, watch: Callable | None) -> Choice:
    found = find_groups(table, groups=groups, covariance=STRUCTURES, seed=seed, watch=watch)
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


def _factors(table: DataTable, groups: Iterable[int], seed: int, watch: Callable | None) -> Choice:
    table = only(table, ("measurement",), "axes take measurements only")
    if len(table.used) < 2:
        text = "axes need at least 2 columns of measurements, and the table has {n}; use {option}."
        raise NoteError("too_few_columns", text, n=len(table.used), option=Option("method", "mixture"))
    source = table.source()
    sample = sampled(source, SAMPLE_ROWS, seed)
    seen = watch([1], 1) if watch else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = ProbabilisticPCA("auto", scale=True, random_state=seed, callback=seen and seen.step)
        model = check_finished(start.fit(sample))
        if sample is not source:
            model = check_finished(clone(model).set_params(n_components=model.n_components_).fit(source))
    model.set_params(callback=None)
    k = model.n_components_
    axes = f"{k} axes" if k > 1 else "one axis"
    return Choice(
        model, table, "factors", f"{axes} behind {len(table.used)} measurements, as many as fill hidden cells best", []
    )


# Groups or axes?


def _better(table: DataTable, groups: Iterable[int], seed: int) -> tuple[str, str]:
    """The method whose fills of hidden measurements err less, and a sentence that says so."""
    numbers = only(table, ("measurement",), "axes take measurements only")
    others = [column.name for column in table.used if column.role != "measurement" and column.n_missing]
    if others:
        return "mixture", f"Groups were taken because axes do not fill {others[0]}, which is no measurement."
    if len(numbers.used) < 2:
        return "mixture", "Groups were taken because axes need at least two columns of measurements."
    rows = np.concatenate([block.X for block in sampled(table.source(), TRIAL_ROWS, seed)])
    measured = [table.schema.names.index(name) for name in numbers.schema.names]
    mask = hide(rows[:, measured], seed=seed + 1)
    hidden = np.zeros(rows.shape, dtype=bool)
    hidden[:, measured] = mask
    plain = Mixture(smoothing=SMOOTHING, tol=1e-5, max_iter=500, random_state=seed)
    groups = [k for k in groups if k <= len(rows)]

    def best_mixture(source: Source) -> Any:
        return select(plain, source, n_components=groups, covariance_type=STRUCTURES).best

    axes = ProbabilisticPCA("auto", scale=True, random_state=seed)
    errors = {
        "groups": _error(table, best_mixture, rows, hidden),
        "axes": _error(numbers, axes.fit, rows[:, measured], mask),
    }
    known = {name: error for name, error in errors.items() if error is not None}
    if len(known) < 2:
        return "mixture", "Groups were taken because too few cells are observed to compare them with axes."
    best, other = sorted(known, key=lambda name: known[name])
    return {"groups": "mixture", "axes": "factors"}[best], (
        f"Of {int(mask.sum())} measurements hidden on purpose, {best} missed by {known[best]:.2f} of the columns' spread and "
        f"{other} by {known[other]:.2f}, so {best} were taken."
    )


def _error(table: DataTable, learn: Callable, cells: np.ndarray, hidden: np.ndarray) -> float | None:
    """Error of fills relative to the columns' spread, by a model that never saw the hidden cells; None where there is none."""
    if not hidden.any():
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = learn(ArraySource(np.where(hidden, np.nan, cells)).described_as(table.source()))
    except ValueError:  # nothing could be learned without the hidden cells
        return None
    return judge(check_finished(model), table, cells, hidden)["error"]
