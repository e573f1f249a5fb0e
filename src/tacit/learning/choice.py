"""`choose_predictor`: which column is predicted, from which others, in which rows, and by which model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..checks import check_positive
from ..notes import Note, NoteError, Option
from ..schema import level_text
from ..survey.column import ColumnInfo
from .estimator import FEWEST, TableClassifier, TablePredictor, TableRegressor

__all__ = ["LearnChoice", "choose_predictor", "set_target"]

BUDGET = 60.0
EXACT = 0.9999
"""Correlation, of values or of ranks, from which a column is said to tell the target itself."""
FEW_A_CLASS = 20
"""Rows for each class from which ranges that do not overlap are no chance."""


@dataclass(frozen=True, eq=False)
class LearnChoice:
    """A model that predicts a column of a table, and how it was chosen; made by `choose_predictor`.

    Attributes
    ----------
    model : TableRegressor or TableClassifier
        Fitted; its ``trial_`` has how all models predicted held-out rows.
    table : DataTable
        The table with the columns that the model takes.
    target : ColumnInfo
        The column that is predicted.
    cells, y : arrays
        Encoded cells of all rows; targets, or numbers of classes, NaN where missing.
    level : float
        Probability of intervals.
    budget : float or None
    notes : tuple of Note
    """

    model: TablePredictor
    table: Any = field(repr=False)
    target: ColumnInfo
    cells: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    level: float = 0.9
    budget: float | None = None
    notes: tuple = ()

    @property
    def known(self) -> np.ndarray:
        """Numbers of the rows whose target is known."""
        return np.flatnonzero(~np.isnan(self.y))

    def study(self, *, seed: int = 0) -> Any:
        """What was learned, as `tacit.study.learn.LearnFindings`."""
        from ..study.learn import study_learned

        return study_learned(self, seed=seed)


def choose_predictor(
    table: Any, target: str, *, models: str | Iterable[str] = "auto", n_splits: int = 5, level: float = 0.9, seed: int = 0,
    budget: float | None = BUDGET, on_try: Callable[[str], Any] | None = None, **reading: Any,
) -> LearnChoice:  # fmt: skip
    """Choose and learn a model that predicts a column of a table from the others: what ``tacit learn`` does.

    Parameters
    ----------
    table : DataFrame, Arrow table, path or tacit.tables.DataTable
        Columns of any kind, which are surveyed; missing cells are taken as they are.
    target : str
        The column to predict: numbers, or levels, which are classes. Rows that lack it are not learned from.
    models : "auto", str or iterable of str
        Models to compare, as in `TableRegressor` and `TableClassifier`.
    n_splits : int, default=5
        Folds of the cross-validation.
    level : float, default=0.9
        Probability of intervals.
    seed : int
    budget : float or None, default=60
        Seconds for the comparison, after which no further model is tried; None sets no limit.
    on_try : callable, optional
        Told what is tried.
    **reading
        How to read the table, as in `tacit.tables.open_table`.

    Returns
    -------
    LearnChoice

    Examples
    --------
    >>> from tacit.datasets import penguins_path
    >>> from tacit.learning import choose_predictor
    >>> found = choose_predictor(penguins_path(), "species", models=["discriminant", "densities"])
    >>> found.model.method_, len(found.known)
    ('discriminant', 344)
    """
    from ..tables.opening import as_table

    if budget is not None:
        check_positive("budget", budget)
    if not hasattr(table, "reader"):
        table = as_table(table, **reading)
    table, info = set_target(table, target)
    y = replace(table, order=(target,), columns=tuple(info if c.name == target else c for c in table.columns)).cells[
        :, 0
    ]
    known = ~np.isnan(y)
    kind: Any = TableClassifier if info.levels else TableRegressor
    _check_rows(table, info, y[known])
    names = models if isinstance(models, str) else list(models)
    model = kind(models=names, n_splits=n_splits, budget=budget, random_state=seed, callback=on_try)
    model._check_settings()
    model.schema_, model.n_features_in_ = table.schema, len(table.used)
    targets = y[known]
    if info.levels:
        codes, targets = np.unique(targets.astype(int), return_inverse=True)
        model.classes_ = np.array([level_text(info.levels[code]) for code in codes], dtype=object)
        y = y.copy()
        y[known] = targets
    model._learn_cells(table.cells[known], targets.astype(float), len(model.classes_) if info.levels else 0)
    model.set_params(callback=None)
    return LearnChoice(model, table, info, table.cells, y, level, budget, tuple(_telling(table, info, y)))


def set_target(table: Any, target: str) -> tuple[Any, ColumnInfo]:
    """The table without the target among the columns that models use, and the target's column.

    Parameters
    ----------
    table : tacit.tables.DataTable
    target : str
    """
    names = [column.name for column in table.columns]
    if target not in names:
        from ..tables.reader import meant

        raise NoteError(
            "no_column", "{place} has no column {name!r}, which {option} names; {hint}", place=table.reader.place, name=target,
            option=Option("target"), hint=meant(target, names),
        )  # fmt: skip
    info = next(column for column in table.columns if column.name == target)
    if not info.used or info.cycle:
        reason = "goes around in a cycle" if info.used else info.left_out
        raise NoteError(
            "target", "column {name!r} cannot be predicted: it {reason}; say what it is, such as {option}, or name another.",
            name=target, reason=reason if info.used else f"is left out ({reason})", option=Option("roles", (target, "number")),
        )  # fmt: skip
    columns = tuple(
        replace(column, left_out="is what is predicted", notes=()) if column.name == target else column
        for column in table.columns
    )
    rest = replace(table, columns=columns, order=tuple(name for name in table.order if name != target))
    if not rest.used:
        reasons = ", ".join(f"{column.name} ({column.left_out})" for column in columns[:10])
        raise NoteError(
            "no_columns", "{place} has no column to predict {name!r} from: {reasons}; say what a column is, such as {option}.",
            place=table.reader.place, name=target, reasons=reasons, option=Option("roles", (columns[0].name, "number")),
        )  # fmt: skip
    return rest, info


def _check_rows(table: Any, info: ColumnInfo, y: np.ndarray) -> None:
    """Refuse targets that nothing can be learned from."""
    if len(y) < FEWEST:
        raise NoteError(
            "few", "{name!r} is known in {n} rows of {place}; at least {least} are needed to compare models.", name=info.name,
            n=len(y), place=table.reader.place, least=FEWEST,
        )  # fmt: skip
    if len(np.unique(y)) < 2:
        raise NoteError(
            "one_value", "all known cells of {name!r} are the same, so that there is nothing to predict; name another column "
            "with {option}.", name=info.name, option=Option("target"),
        )  # fmt: skip


def _telling(table: Any, info: ColumnInfo, y: np.ndarray) -> list[Note]:
    """Columns that tell the target itself, which may not be known when it is to be predicted."""
    found = []
    for j, column in enumerate(table.used):
        both = ~np.isnan(y) & ~np.isnan(table.cells[:, j])
        if both.sum() < FEWEST or column.cycle:
            continue
        if _tells(table.cells[both, j], y[both], bool(column.levels), bool(info.levels)):
            text = "{column!r} tells {target!r} exactly; leave it out with {option} unless it is known before {target!r} is"
            found.append(
                Note("exact", text, column=column.name, target=info.name, option=Option("ignore", column.name))
            )
    return found


def _tells(x: np.ndarray, t: np.ndarray, levels: bool, classes: bool) -> bool:
    """Whether a column tells a target: numbers that rise or fall with it, levels or ranges with one class each."""
    if x.min() == x.max() or t.min() == t.max():
        return False
    if not classes:
        return not levels and any(abs(np.corrcoef(a, b)[0, 1]) > EXACT for a, b in ((x, t), (rankdata(x), rankdata(t))))
    if levels:
        return len(np.unique(x)) < 0.5 * len(x) and len(np.unique(np.column_stack([x, t]), axis=0)) == len(np.unique(x))
    ends = np.array([[x[t == code].min(), x[t == code].max()] for code in np.unique(t)])
    ends = ends[ends[:, 0].argsort()]
    return bool((ends[1:, 0] > ends[:-1, 1]).all()) and len(t) >= FEW_A_CLASS * len(ends)
