"""Which model fills the holes of a table: groups of rows, or a few axes behind its measurements.

A mixture takes columns of every kind; its number of groups and the structure of its measurements are chosen by BIC. Axes
(`ProbabilisticPCA`) take measurements only. Between the two, cells that were hidden on purpose decide.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from ..factor import ProbabilisticPCA
from ..mixture import Mixture, select
from ..source import ArraySource
from ..tables import DataTable
from .trial import hide, judge

__all__ = ["METHODS", "SAMPLE_ROWS", "Choice", "choose_filler", "only"]

METHODS = ("mixture", "factors", "auto")
GROUPS = range(1, 7)
STRUCTURES = ("full", "tied", "diag")
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

    model: object
    table: DataTable
    method: str
    why: str
    selection: list
    said: str = ""


def only(table, roles, reason):
    """The table with all columns left out that are in none of these roles."""
    columns = tuple(
        column if column.role in roles or not column.used else replace(column, left_out=reason)
        for column in table.columns
    )
    return DataTable(table.reader, columns, table.n_rows)


def choose_filler(table, method="mixture", *, groups=GROUPS, seed=0, callback=None, told=None):
    """Choose and learn the model that fills a table.

    Parameters
    ----------
    table : DataTable
    method : {"mixture", "factors", "auto"}
    groups : iterable of int
        Numbers of groups to try.
    seed : int
        Seeds everything random.
    callback : callable, optional
        Called with a `tacit.engine.Progress` after every step of the last fit.
    told : callable, optional
        Called with a row of the selection when a model was tried.

    Returns
    -------
    Choice
    """
    if method not in METHODS:
        raise ValueError(f"method={method!r} is unknown; use one of {', '.join(METHODS)}.")
    if not table.used:
        raise ValueError("no column can be filled: all are ids, dates, texts, constant or empty.")
    if table.n_rows < 2:
        raise ValueError(f"the table has {table.n_rows} row(s); at least 2 are needed.")
    said = ""
    if method == "auto":
        method, said = _better(table, groups, seed)
    if method == "factors":
        table = only(table, ("measurement",), "axes take measurements only")
        if len(table.used) < 2:
            raise ValueError(
                f"axes need at least 2 columns of measurements, and the table has {len(table.used)}; use --method mixture."
            )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make = _factors if method == "factors" else _mixture
        choice = make(table, table.source(), groups, seed, callback, told)
    return replace(choice, said=said)


def _sampled(source, n_rows, seed):
    """At most so many rows of a source, as a source; itself where it has no more."""
    if source.n_rows <= n_rows:
        return source
    rows = np.sort(np.random.default_rng(seed).choice(source.n_rows, n_rows, replace=False))
    return source.subset(rows).described_as(source)


def _mixture(table, source, groups, seed, callback, told):
    measured = sum(column.role == "measurement" for column in table.used)
    structures = {"covariance_type": STRUCTURES} if measured > 1 else {}
    sample = _sampled(source, SAMPLE_ROWS, seed)
    groups = [k for k in groups if k <= sample.n_rows]
    if not groups:
        raise ValueError(f"more groups were asked for than the table has rows ({table.n_rows}); ask for fewer.")
    plain = Mixture(tol=1e-5, max_iter=500, random_state=seed)
    found = select(plain, sample, n_components=groups, callback=told, **structures)
    rows = [_listed(row) for row in found.table]
    if any(str(row["failed"]).startswith("interrupted") for row in rows) or found.best.fit_.interrupted:
        raise KeyboardInterrupt
    model = found.best
    if sample is not source:
        model = clone(model).set_params(callback=callback).fit(source)
        _check_finished(model)
        model.set_params(callback=None)
    how = f"chosen by BIC among {len(rows)} models" if len(rows) > 1 else "as asked for"
    where = f" of {sample.n_rows} rows" if sample is not source and len(rows) > 1 else ""
    return Choice(model, table, "mixture", f"{_phrase(model)}, {how}{where}", rows)


def _listed(row):
    """A model tried, in the words of `Findings.selection`."""
    bic = row["bic"] if row["bic"] is not None and np.isfinite(row["bic"]) else None
    return {
        "n_components": row["n_components"], "covariance_type": row.get("covariance_type", "full"), "bic": bic,
        "failed": row["failed"],
    }  # fmt: skip


def _phrase(model):
    k = model.n_components
    return f"a mixture of {k} groups ({model.covariance_type})" if k > 1 else f"one group ({model.covariance_type})"


def _factors(table, source, groups, seed, callback, told):
    sample = _sampled(source, SAMPLE_ROWS, seed)
    model = ProbabilisticPCA("bic", scale=True, random_state=seed, callback=callback).fit(sample)
    _check_finished(model)
    if sample is not source:
        model = clone(model).set_params(n_components=model.n_components_).fit(source)
        _check_finished(model)
    model.set_params(callback=None)
    k = model.n_components_
    axes = f"{k} axes" if k > 1 else "one axis"
    return Choice(model, table, "factors", f"{axes} behind {len(table.used)} measurements, chosen by BIC", [])


def _check_finished(model):
    if model.fit_.interrupted:
        raise KeyboardInterrupt


def _better(table, groups, seed):
    """The method whose fills of hidden measurements err less, and a sentence that says so."""
    numbers = only(table, ("measurement",), "axes take measurements only")
    others = [column.name for column in table.used if column.role != "measurement" and column.n_missing]
    if others:
        return "mixture", f"Groups were taken because axes do not fill {others[0]}, which is no measurement."
    if len(numbers.used) < 2:
        return "mixture", "Groups were taken because axes need at least two columns of measurements."
    rows = np.concatenate([block.X for block in _sampled(table.source(), TRIAL_ROWS, seed)])
    measured = [table.schema.names.index(name) for name in numbers.schema.names]
    mask = hide(rows[:, measured], seed=seed + 1)
    hidden = np.zeros(rows.shape, dtype=bool)
    hidden[:, measured] = mask
    errors = {
        "groups": _error(table, _mixture, rows, hidden, groups, seed),
        "axes": _error(numbers, _factors, rows[:, measured], mask, groups, seed),
    }
    if None in errors.values():
        return "mixture", "Groups were taken because too few cells are observed to compare them with axes."
    best, other = sorted(errors, key=lambda name: errors[name])
    return {"groups": "mixture", "axes": "factors"}[best], (
        f"Of {int(mask.sum())} measurements hidden on purpose, {best} missed by {errors[best]:.2f} of the columns' spread and "
        f"{other} by {errors[other]:.2f}, so {best} were taken."
    )


def _error(table, make, cells, hidden, groups, seed):
    """Error of fills relative to the columns' spread, by a model that never saw the hidden cells; None where there is none."""
    source = ArraySource(np.where(hidden, np.nan, cells))
    source.schema, source.columns = table.schema, table.schema.names
    if not hidden.any():
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return judge(make(table, source, groups, seed, None, None).model, table, cells, hidden)["error"]
    except ValueError:  # no model could be learned without the hidden cells
        return None
