"""Tables for Gower's dissimilarity: which columns are categories, how wide the others range, what each counts.

    d(x, y) = Σ_j w_j δ_j gap_j / Σ_j w_j δ_j,    gap_j = |x_j − y_j| / range_j  or  1[x_j ≠ y_j]

with δ_j = 1 where the cell is observed in both rows, but 0 where both lack what an asymmetric column tells: that neither of two
patients has a rare symptom does not make them alike. Ordered categories, and numbers of which only the order counts, enter by
their ranks, dates by their days. Two rows without a cell observed in both are as far apart as two rows drawn at random are in the
mean; rows that lack the same things and share nothing else are at distance 0.
"""

from typing import Any

import numpy as np

from ...checks import check_columns
from ...frames import Batch, is_table, read_columns
from ...notes import NoteError
from ...schema import Column, Schema, container_of

__all__ = ["gower_parameters", "is_ordered", "learn_schema", "needs_schema"]

SETTINGS = ("categorical", "ordered", "asymmetric", "weights")


def needs_schema(X: Any, parameters: dict | None) -> bool:
    """Whether rows are coded column by column: those of tables, and numbers of which some columns are ranks."""
    return is_table(X) or np.size((parameters or {}).get("ordered", ())) > 0


def learn_schema(X: Any, parameters: dict | None) -> Schema:
    """The columns of a table: dates are numbers of days; those that the parameters name are what they say, whatever they hold."""
    given = read_columns(X)
    names = list(given)
    kinds = {} if is_table(X) else dict.fromkeys(names, "continuous")
    for setting in ("categorical", "ordered", "asymmetric"):
        kinds |= {names[j]: "category" for j in _columns(parameters, setting, len(names), names)}
    dates = {name: Column(name, "continuous", (), "dates", type="date") for name in given if given[name].dates}
    try:
        rest = Schema._learned(
            [Batch({name: given[name] for name in names if name not in dates})], kinds, container_of(X)
        )
    except NoteError as error:
        if error.note.code != "identifier":
            raise
        remedy = f"metric_params={{'categorical': [{error.note.values['name']!r}]}}"
        raise ValueError(error.note.worded(lambda _: remedy)) from None
    known = {column.name: column for column in rest.columns} | dates
    _check_orders(known, [names[j] for j in _columns(parameters, "ordered", len(names), names)])
    return Schema(tuple(known[name] for name in names), rest.container)


def is_ordered(column: Column) -> bool:
    """Whether the levels of a column have an order."""
    return column.kind == "ordinal" or (column.kind == "category" and column.type == "ordered")


def _check_orders(columns: dict[Any, Column], ordered: list) -> None:
    for name in ordered:
        column = columns[name]
        if (
            column.kind == "category"
            and not is_ordered(column)
            and any(isinstance(level, str) for level in column.levels)
        ):
            levels = ", ".join(map(repr, column.levels[:4]))
            raise ValueError(
                f"column {name!r} is said to be ordered, but nothing tells the order of its levels ({levels}); give it an "
                "ordered categorical type, or numbers."
            )


def _columns(parameters: dict | None, setting: str, n_columns: int, names: list | None) -> np.ndarray:
    columns = (parameters or {}).get(setting)
    if columns is None or not np.size(columns):
        return np.empty(0, dtype=int)
    return check_columns(f"metric_params[{setting!r}]", columns, n_columns, names)


def gower_parameters(
    parameters: dict | None, X: np.ndarray, weight: np.ndarray, names: list | None = None, categories: Any = False
) -> dict:
    """Ranges of the columns of encoded rows, NaN for categories; which are asymmetric; weights; the mean dissimilarity.

    Columns under `categorical` are categories besides those that `categories` tells, and those under `ordered` are none.
    """
    unknown = set(parameters or {}) - set(SETTINGS)
    if unknown:
        raise ValueError(
            f"metric_params holds {min(unknown)!r}, which metric='gower' does not know; it takes 'categorical', 'ordered', "
            "'asymmetric' and 'weights'."
        )
    named = {
        setting: np.isin(np.arange(X.shape[1]), _columns(parameters, setting, X.shape[1], names))
        for setting in SETTINGS[:3]
    }
    asymmetric = named["asymmetric"]
    categories = (categories | named["categorical"] | asymmetric) & ~named["ordered"]
    empty = np.isnan(X).all(axis=0)
    if empty.any():
        raise ValueError(f"column {int(np.argmax(empty))} has no observed value; drop it before fitting.")
    for j in np.flatnonzero(asymmetric):
        values = np.unique(X[~np.isnan(X[:, j]), j])
        if len(values) != 2 or not np.isin(values, (0.0, 1.0)).all():
            name = j if names is None else repr(names[j])
            raise ValueError(
                f"column {name} is said to be asymmetric, but holds {len(values)} values or numbers other than 0 and 1; an "
                "asymmetric column has two levels, of which the second is what counts."
            )
    ranges = np.where(categories, np.nan, np.nanmax(X, axis=0) - np.nanmin(X, axis=0))
    columns = _column_weights(parameters, X.shape[1], names)
    gaps, counted = np.array([_mean_gap(*each) for each in zip(X.T, [weight] * X.shape[1], ranges, asymmetric)]).T
    mean = float(columns @ gaps / max(columns @ counted, np.finfo(float).tiny))
    return {"ranges": ranges, "asymmetric": asymmetric, "weights": columns, "unknown": mean}


def _mean_gap(column: np.ndarray, weight: np.ndarray, width: float, asymmetric: bool) -> tuple[float, float]:
    """The mean gap of two cells of a column drawn at random, and how often the gap counts."""
    seen = ~np.isnan(column)
    values, codes = np.unique(column[seen], return_inverse=True)
    share = np.bincount(codes, weight[seen]) / weight[seen].sum()
    if np.isnan(width):
        return 1.0 - float(share @ share), 1.0 - float(share[0]) ** 2 if asymmetric else 1.0
    below = np.cumsum(share)[:-1]
    return float(2.0 * (below * (1.0 - below)) @ np.diff(values) / width) if width > 0 else 0.0, 1.0


def _column_weights(parameters: dict | None, n_columns: int, names: list | None) -> np.ndarray:
    weights = (parameters or {}).get("weights")
    if weights is None:
        return np.ones(n_columns)
    if isinstance(weights, dict):  # by column; those not named weigh 1
        given, weights = weights, np.ones(n_columns)
        if given:
            weights[check_columns("metric_params['weights']", list(given), n_columns, names)] = list(given.values())
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_columns,) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            f"metric_params['weights']={weights.tolist()} are invalid weights of {n_columns} columns; give one number each, "
            "none negative and not all zero."
        )
    return weights
