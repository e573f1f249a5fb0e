"""Which model? Fit every combination of settings and rank them.

    BIC = −2 log L + p log n        AIC = −2 log L + 2 p        ICL = BIC − 2 Σ_i log max_k r_ik

with p free parameters and n the total weight of the rows; lower is better. Cross-validation scores rows that were left out
by their log density; higher is better.
"""

import itertools
import numbers
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..checks import check_choice, check_number
from ..engine import Model
from ..families import GAUSSIANS
from ..kernels import host
from ..notes import Note
from ..source import Block, Source
from ..source.fold import FoldSource, assign_folds
from ..table import Table
from .estimator import check_mixture, opened
from .sweep import Outcome, Sweep

__all__ = ["Selection", "distinct_structures", "select"]

CRITERIA = ("bic", "aic", "icl", "cv")
COLLAPSED = Note(
    "collapsed",
    "a class collapsed onto the covariance floor, where the likelihood has no maximum; ranked after the others",
)


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
    """

    def __init__(self, table: Table, models: dict[tuple, Any], settings: tuple[str, ...], criterion: str):
        self.table, self.models, self.settings, self.criterion = table, models, settings, criterion
        self.best_settings = {name: table[0][name] for name in settings}
        self.best = models[_key(self.best_settings.values())]

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
    n_components: int | Iterable[int] = range(1, 10),
    covariance_type: str | Iterable[str] | None = None,
    criterion: str = "bic",
    sample_weight: Any = None,
    unit: Any = None,
    cv: int = 5,
    n_jobs: int | None = None,
    callback: Callable[[dict], Any] | None = None,
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
    n_components : int or iterable of int, default=range(1, 10)
        Numbers of components.
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
    values = _values(estimator, n_components, covariance_type, grid)
    settings = [dict(zip(values, combination)) for combination in itertools.product(*values.values())]
    base = clone(estimator).set_params(**({} if n_jobs is None else {"n_jobs": n_jobs}))
    largest = clone(base).set_params(n_components=max(values["n_components"]))
    source = opened(largest, X, y, sample_weight, unit, reset=True)

    tell = None if callback is None else lambda outcome: callback(_row(outcome, source))
    outcomes = Sweep(base, settings, source, tell).run()
    rows = [_row(outcome, source) for outcome in outcomes]
    if criterion == "cv":
        _cross_validate(base, settings, source, cv, rows)
    order = sorted(range(len(rows)), key=lambda i: _rank(rows[i], criterion))
    models = {_key(each.settings.values()): each.estimator for each in outcomes if each.estimator is not None}
    if not models:
        raise ValueError(f"none of the {len(rows)} fits succeeded; the first failed because: {rows[0]['failed']}")
    return Selection(Table([rows[i] for i in order]), models, tuple(values), criterion)


# What to try


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


def _totals(model: Model, params: Any, block: Block) -> np.ndarray:
    """Σ w log p(x), Σ w and Σ w log max_k r_k over the rows of a block."""
    resp, log_density = model.posterior(params, block)
    weight, best = host(block.unit_weight), np.log(np.maximum(resp.max(axis=1), np.finfo(float).tiny))
    return np.array([weight @ log_density, weight.sum(), weight @ best])


def _row(outcome: Outcome, source: Source) -> dict[str, Any]:
    """One row of the table, from one pass over the source."""
    names = ("log_likelihood", "n_parameters", "bic", "aic", "icl", "cv", "converged", "n_iter")
    row = outcome.settings | dict.fromkeys(names) | {"seconds": outcome.seconds, "failed": outcome.failed}
    fitted = outcome.estimator
    if fitted is None:
        return row
    (model, params), p = fitted._resumed(source), fitted._n_parameters()
    loglik, weight, log_best = source.sum(partial(_totals, model, params)).tolist()
    bic = -2.0 * loglik + p * float(np.log(weight))
    row |= {
        "log_likelihood": loglik, "n_parameters": p, "bic": bic, "aic": -2.0 * loglik + 2 * p, "icl": bic - 2.0 * log_best,
        "converged": bool(fitted.converged_), "n_iter": fitted.n_iter_,
    }  # fmt: skip
    if model.collapsed(fitted.fit_.params):
        row["failed"] = COLLAPSED
    return row


def _rank(row: dict[str, Any], criterion: str) -> tuple[int, float, int]:
    """Sort key: fits without fault, then collapsed ones, then none; the simpler of two equals first."""
    value = row[criterion]
    if value is None or not np.isfinite(value):
        return 2, 0.0, 0
    return int(row["failed"] is not None), -value if criterion == "cv" else value, row["n_parameters"]


def _cross_validate(
    estimator: Any, settings: list[dict[str, Any]], source: Source, n_folds: int, rows: list[dict[str, Any]]
) -> None:
    """Enter into the rows how well rows left out are predicted, by fits that never saw them."""
    if n_folds > source.n_units:
        raise ValueError(f"cv={n_folds} exceeds the {source.n_units} rows of X; use at most {source.n_units}.")
    fold = assign_folds(source.n_units, n_folds, estimator._rng())
    totals = np.zeros((len(rows), 3))
    for number in range(n_folds):
        rest, left_out = FoldSource(source, fold != number), FoldSource(source, fold == number)
        for row, total, outcome in zip(rows, totals, Sweep(estimator, settings, rest).run()):
            fitted = outcome.estimator
            if fitted is None:
                row["failed"] = row["failed"] or f"fold {number + 1}: {outcome.failed}"
                total[:] = np.nan
            elif not np.isnan(total[0]):
                total += left_out.sum(partial(_totals, *fitted._resumed(left_out)))
    for row, (loglik, weight, _) in zip(rows, totals.tolist()):
        row["cv"] = None if np.isnan(weight) else loglik / weight
