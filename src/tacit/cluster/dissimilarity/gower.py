"""Tables for Gower's dissimilarity: which columns are categories, how wide the others range, what each counts.

    d(x, y) = Σ_j w_j δ_j gap_j / Σ_j w_j δ_j,    gap_j = |x_j − y_j| / range_j  or  1[x_j ≠ y_j]

with δ_j = 1 where the cell is observed in both rows. Two rows without such a cell are as far apart as two rows drawn at random
are in the mean.
"""

from typing import Any

import numpy as np

from ...checks import check_columns
from ...frames import read_columns
from ...notes import NoteError
from ...schema import Schema

__all__ = ["gower_parameters", "learn_schema"]

SETTINGS = ("categorical", "weights")


def learn_schema(X: Any, parameters: dict | None) -> Schema:
    """The columns of a table; those under `categorical` are categories whatever they hold."""
    names = list(read_columns(X))
    kinds = {names[j]: "category" for j in _categorical(parameters, len(names), names)}
    try:
        return Schema.of(X, kinds)
    except NoteError as error:
        if error.note.code != "identifier":
            raise
        remedy = f"metric_params={{'categorical': [{error.note.values['name']!r}]}}"
        raise ValueError(error.note.worded(lambda _: remedy)) from None


def _categorical(parameters: dict | None, n_columns: int, names: list | None) -> np.ndarray:
    columns = (parameters or {}).get("categorical")
    if columns is None or not np.size(columns):
        return np.empty(0, dtype=int)
    return check_columns("metric_params['categorical']", columns, n_columns, names)


def gower_parameters(
    parameters: dict | None, X: np.ndarray, weight: np.ndarray, names: list | None = None, categories: Any = False
) -> dict:
    """Ranges of the columns of encoded rows, NaN for categories; weights of the columns; the mean dissimilarity of two rows.

    Columns under `categorical` are categories besides those that `categories` tells.
    """
    unknown = set(parameters or {}) - set(SETTINGS)
    if unknown:
        raise ValueError(
            f"metric_params holds {min(unknown)!r}, which metric='gower' does not know; it takes 'categorical' and 'weights'."
        )
    categories = categories | np.isin(np.arange(X.shape[1]), _categorical(parameters, X.shape[1], names))
    empty = np.isnan(X).all(axis=0)
    if empty.any():
        raise ValueError(f"column {int(np.argmax(empty))} has no observed value; drop it before fitting.")
    ranges = np.where(categories, np.nan, np.nanmax(X, axis=0) - np.nanmin(X, axis=0))
    columns = _column_weights(parameters, X.shape[1], names)
    gaps = [_mean_gap(column, weight, width) for column, width in zip(X.T, ranges)]
    return {"ranges": ranges, "weights": columns, "unknown": float(np.average(gaps, weights=columns))}


def _mean_gap(column: np.ndarray, weight: np.ndarray, width: float) -> float:
    """The mean gap of two cells of a column drawn at random."""
    seen = ~np.isnan(column)
    values, codes = np.unique(column[seen], return_inverse=True)
    share = np.bincount(codes, weight[seen]) / weight[seen].sum()
    if np.isnan(width):
        return 1.0 - float(share @ share)
    below = np.cumsum(share)[:-1]
    return float(2.0 * (below * (1.0 - below)) @ np.diff(values) / width) if width > 0 else 0.0


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
