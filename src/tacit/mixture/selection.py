"""Which model? Fit every combination of settings and rank them.

    BIC = −2 log L + p log n        AIC = −2 log L + 2 p        ICL = BIC − 2 Σ_i log max_k r_ik

with p free parameters and n the total weight of the rows; lower is better. Cross-validation scores rows that were left out
by their log density; higher is better.
"""

import itertools
import numbers
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..assess.splits import deal
from ..checks import check_choice, check_number, check_positive
from ..families import GAUSSIANS
from ..notes import Note
from ..source import Source
from ..source.fold import FoldSource
from ..table import Table
from .estimator import check_mixture, opened
from .hunt import Clock, Hunt
from .sweep import Outcome, Sweep, row_of, totals

__all__ = ["Selection", "distinct_structures", "select"]

CRITERIA = ("bic", "aic", "icl", "cv")
MOST_COMPONENTS, ROWS_PER_COMPONENT = 30, 5
FEWEST_ROWS, MANY_ROWS = 2.5, 30
"""Of so many rows or more, a component of fewer than three is not chosen where the number of components is left open."""


class Selection:
    """Fits of one estimator under many settings, ranked; made by `select`.

    Attributes
    ----------
    table : tacit.table.Table
        One row per combination of settings, best first: the settings, ``log_likelihood``, ``n_parameters``, ``bic``, ``aic``,
        ``icl``, ``cv`` (log density per row left out, None unless asked for), ``converged``, ``n_iter``, ``seconds`` and
        ``failed``, the reason why a fit failed or None.
    best : estimator
        The fitted model of the first row.
    best_settings : dict
        Its settings.
    models : dict
        All fitted models, by the tuple of their settings' values in the order of the table's columns.
    settings : tuple of str
        Names of the settings that were tried.
    criterion : str
        What the table is ranked by.
    reached : str
        What ended the search before the criterion did: "budget" of time, "cap" of the number of components, or "".
    seconds : float
        How long it took.
    """

    def __init__(
        self, table: Table, models: dict[tuple, Any], settings: tuple[str, ...], criterion: str, reached: str = "",
        seconds: float = 0.0,
    ):  # fmt: skip
        self.table, self.models, self.settings, self.criterion = table, models, settings, criterion
        self.reached, self.seconds = reached, seconds
        self.best_settings = {name: table[0][name] for name in settings}
        self.best = models[_key(self.best_settings.values())]

    def by_size(self) -> dict[int, Any]:
        """The best fitted model of every number of components, in their order."""
        found: dict[int, Any] = {}
        for row in self.table:
            model = self.models.get(_key(row[name] for name in self.settings))
            if model is not None:
                found.setdefault(row["n_components"], model)
        return dict(sorted(found.items()))

    def plot(self, ax: Any = None) -> Any:
        """Draw the criterion against the number of components; returns a :class:`tacit.plot.SelectionDisplay`."""
        from ..plot import SelectionDisplay

        return SelectionDisplay.from_selection(self, ax=ax)

    def __repr__(self) -> str:
        shown = self.table[:10]
        more = f"\n… and {len(self.table) - 10} more rows in .table" if len(self.table) > 10 else ""
        sizes = {row["n_components"] for row in self.table if "n_components" in row}
        edge = len(sizes) > 1 and self.best_settings.get("n_components") == max(sizes)
        note = f"\nthe best n_components={max(sizes)} is the largest tried; try more" if edge else ""
        return f"{shown}{more}{note}"


def select(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    n_components: int | Iterable[int] | str = range(1, 10),
    covariance_type: str | Iterable[str] | None = None,
    criterion: str = "bic",
    sample_weight: Any = None,
    unit: Any = None,
    lengths: Any = None,
    cv: int = 5,
    n_jobs: int | None = None,
    callback: Callable[[dict], Any] | None = None,
    budget: float | None = None,
    **grid: Any,
) -> Selection:
    """Fit an estimator under every combination of settings and rank the fits.

    Rows are opened once. Fits share their starts: for each number of components, random assignments are made once, and each
    structure also starts from what the others found, from the fit with one component less with each component cut in two, and
    on few rows from that with one more. The estimator's `n_init` multiplies the number of random starts.

    Parameters
    ----------
    estimator : EMEstimator
        Its other settings hold for all fits. Not changed.
    X, y, sample_weight, unit
        As in the estimator's `fit`: arrays, tables, paths, Arrow data, Dask collections or sources; `unit` for experts only.
    n_components : int, iterable of int, or "auto", default=range(1, 10)
        Numbers of components. ``"auto"`` goes on from one while the criterion improves, cheap structures first, and searches the
        leading models anew from more starts; at most as many as leave five rows to each, and 30. Models with a component of one
        or two rows are ranked after the others.
    lengths : array-like of int, optional
        How many rows each sequence has, for hidden Markov models whose X is an array.
    covariance_type : str, iterable of str, or "all", optional
        Structures; "all" tries every distinct one there is. Default: that of the estimator.
    criterion : {"bic", "aic", "icl", "cv"}, default="bic"
        What to rank by.
    cv : int, default=5
        Folds, for ``criterion="cv"``.
    n_jobs : int, optional
        Threads; default that of the estimator.
    callback : callable, optional
        Called with each row of the table, a dictionary, as soon as it is there.
    budget : float, optional
        Seconds after which the best so far is returned, and ``reached`` says so; models are then fitted as for ``"auto"``.
    **grid
        Values to try of any other setting of the estimator.

    Returns
    -------
    Selection

    References
    ----------
    Fraley and Raftery (2002), Model-based clustering, discriminant analysis, and density estimation.
    Biernacki, Celeux and Govaert (2000), Assessing a mixture model for clustering with the integrated completed likelihood.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.mixture import GaussianMixture, select
    >>> found = select(GaussianMixture(random_state=0), load_iris().data, covariance_type=["full", "tied"])
    >>> found.best_settings
    {'n_components': 2, 'covariance_type': 'full'}
    """
    check_mixture("select", estimator, experts=True)
    check_choice("criterion", criterion, CRITERIA)
    check_number("cv", cv, numbers.Integral, 2)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback={callback!r} cannot be called; give a function of one row.")
    if budget is not None:
        check_positive("budget", budget)
    open_end = isinstance(n_components, str) and n_components == "auto"
    values = _values(estimator, 1 if open_end else n_components, covariance_type, grid)
    settings = [dict(zip(values, combination)) for combination in itertools.product(*values.values())]
    base = clone(estimator).set_params(**({} if n_jobs is None else {"n_jobs": n_jobs}))
    largest = clone(base).set_params(n_components=max(values["n_components"]))
    X = _sequences(largest, X, lengths)
    source = opened(largest, X, y, sample_weight, unit, reset=True)

    tell = None if callback is None else lambda outcome: callback(row_of(outcome, source))
    started, make = time.monotonic(), partial(Sweep, base)  # type: Any, Any
    if open_end or budget is not None:
        by = "bic" if criterion == "cv" else criterion
        make = partial(Hunt, base, by=by, clock=Clock(budget))
    fewest = FEWEST_ROWS if open_end and source.n_rows >= MANY_ROWS else 0.0
    ends: dict = {"most": most_components(source.n_rows), "fewest": fewest} if open_end else {}
    sweep = make(settings, source, tell, **ends)
    outcomes = sweep.run()
    rows = [row_of(outcome, source, fewest) for outcome in outcomes]
    if criterion == "cv":
        _cross_validate(make, base, [outcome.settings for outcome in outcomes], source, cv, rows)
    order = sorted(range(len(rows)), key=lambda i: _rank(rows[i], criterion))
    models = {_key(each.settings.values()): each.estimator for each in outcomes if each.estimator is not None}
    if not models:
        raise ValueError(f"none of the {len(rows)} fits succeeded; the first failed because: {rows[0]['failed']}")
    for model in models.values() if y is None else ():
        if hasattr(model, "_order_by_weight"):  # the order of starts, which searches leave behind, means nothing
            model._order_by_weight()
    seconds = time.monotonic() - started
    return Selection(Table([rows[i] for i in order]), models, tuple(values), criterion, sweep.reached, seconds)


# What to try


def _sequences(estimator: Any, X: Any, lengths: Any) -> Any:
    """X as the sequences that an estimator of such takes it for."""
    if hasattr(estimator, "_steps"):
        return estimator._steps(X, lengths)
    if lengths is not None:
        raise ValueError(f"{type(estimator).__name__} takes no lengths; its rows are no steps of sequences.")
    return X


def most_components(n_rows: int) -> int:
    """Most components worth trying for so many rows: of few, two with two each or those with five on average."""
    return max(min(2, n_rows // 2), min(MOST_COMPONENTS, n_rows // ROWS_PER_COMPONENT), 1)


def _values(estimator: Any, n_components: Any, covariance_type: Any, grid: dict[str, Any]) -> dict[str, list]:
    """The values to try of each setting, checked."""
    asked = {"n_components": n_components, "covariance_type": covariance_type} | grid
    if covariance_type is None:
        del asked["covariance_type"]
    elif isinstance(covariance_type, str) and covariance_type == "all":
        asked["covariance_type"] = distinct_structures(GAUSSIANS)
    values = {name: _listed(name, value) for name, value in asked.items()}
    for value in values["n_components"]:
        check_number("n_components", value, numbers.Integral, 1)
    known = estimator.get_params(deep=False)
    unknown = [name for name in values if name not in known]
    if unknown:
        raise ValueError(
            f"{type(estimator).__name__} has no setting {unknown[0]!r}; its settings are {', '.join(sorted(known))}."
        )
    return values


def _listed(name: str, value: Any) -> list:
    """One value or several, as a list."""
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        return [value]
    value = list(value)
    if not value:
        raise ValueError(f"{name} is empty; give at least one value to try.")
    return value


def distinct_structures(names: Iterable[str]) -> list[str]:
    """Names of covariance structures without those that name a structure once more."""
    first: dict[Any, str] = {}
    for name in names:
        first.setdefault(GAUSSIANS[name], name)
    return list(first.values())


def _key(values: Iterable[Any]) -> tuple:
    """A key that tells settings apart; what cannot be one goes by its text."""
    return tuple(value if value.__hash__ else repr(value) for value in values)


# What came out


def _rank(row: dict[str, Any], criterion: str) -> tuple[int, float, int]:
    """Sort key: fits without fault, then collapsed ones, then none; the simpler of two equals first."""
    value = row[criterion]
    if value is None or not np.isfinite(value):
        return 2, 0.0, 0
    return int(row["failed"] is not None), -value if criterion == "cv" else value, row["n_parameters"]


def _fold(make: Callable, settings: list[dict[str, Any]], rest: Source) -> list[Outcome]:
    """Outcomes of the settings, in their order, learned from the rows of other folds."""
    found = {repr(outcome.settings): outcome for outcome in make(settings, rest).run()}
    missing = Note("budget", "the budget of time ran out before this fit")
    return [found.get(repr(each)) or Outcome(each, failed=missing) for each in settings]


def _cross_validate(
    make: Callable,
    estimator: Any,
    settings: list[dict[str, Any]],
    source: Source,
    n_folds: int,
    rows: list[dict[str, Any]],
) -> None:
    """Enter into the rows how well rows left out are predicted, by fits that never saw them."""
    if n_folds > source.n_units:
        raise ValueError(f"cv={n_folds} exceeds the {source.n_units} rows of X; use at most {source.n_units}.")
    fold = deal(source.n_units, n_folds, estimator._rng())
    sums = np.zeros((len(rows), 3))
    for number in range(n_folds):
        rest, left_out = FoldSource(source, fold != number), FoldSource(source, fold == number)
        for row, total, outcome in zip(rows, sums, _fold(make, settings, rest)):
            fitted = outcome.estimator
            if fitted is None:
                row["failed"] = row["failed"] or f"fold {number + 1}: {outcome.failed}"
                total[:] = np.nan
            elif not np.isnan(total[0]):
                total += left_out.sum(partial(totals, *fitted._resumed(left_out)))
    for row, (loglik, weight, _) in zip(rows, sums.tolist()):
        row["cv"] = None if np.isnan(weight) else loglik / weight
