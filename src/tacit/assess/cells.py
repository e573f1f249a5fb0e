"""Cells that are hidden, filled and compared with what they were: which to hide, and how well they are filled.

error(j) = mean of (x̂ − x)² / s_j² over hidden cells of column j, s_j² its variance; 1 is no better than the column's mean
"""

from __future__ import annotations

import numbers
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..checks import as_numpy, check_number
from ..frames import is_missing, package
from ..table import Table
from .scoring import check_level

__all__ = [
    "FEWEST", "MOST", "SHARE", "HiddenCells", "hidden_cells", "hidden_cells_of", "hide_alike", "hide_any",
    "hide_evenly",
]  # fmt: skip

SHARE = 0.1
MOST = 2000
FEWEST = 20
"""Observed cells of a column, and hidden cells in all, below which `hide_alike` hides nothing."""
ALIKE = 8
"""Rows among which the one most like another is looked for."""


# Which cells


def hide_evenly(seen: np.ndarray, rng: np.random.Generator, share: float = SHARE) -> np.ndarray:
    """Which observed cells to hide: a share of each column with at least 4, of rows that keep one."""
    key = np.where(seen, rng.random(seen.shape), np.inf)
    order = key.argsort(axis=0).argsort(axis=0)
    hidden = order < np.where(seen.sum(axis=0) < 4, 0.0, np.ceil(share * seen.sum(axis=0)))
    hidden[(seen & ~hidden).sum(axis=1) == 0] = False
    return hidden


def hide_any(seen: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Which n of the observed cells to hide, whatever their rows and columns."""
    hidden = np.zeros(seen.size, dtype=bool)
    hidden[rng.choice(np.flatnonzero(seen.ravel()), n, replace=False)] = True
    return hidden.reshape(seen.shape)


def hide_alike(
    cells: np.ndarray, share: float = SHARE, most: int = MOST, seed: int = 0, *, absent: np.ndarray | None = None,
    related: np.ndarray | None = None, coded: np.ndarray | None = None, spared: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Which observed cells to hide, in columns that have missing values: a mask of the shape of `cells`.

    Cells go together as they are missing together: a row loses the cells that another has lost, one like it in the columns
    that are `related` to the missing cells of a column, (d, d) bool, where there are any. Cells that do not apply, `absent`,
    are no example of that, and cells that are `spared` are not hidden. `coded` columns are alike where they are equal, others
    where they are near. All False where too few are observed.
    """
    gone, rng = np.isnan(cells), np.random.default_rng(seed)
    lost = gone if absent is None else gone & ~absent
    seen = ~gone
    if lost.any():
        seen[:, ~lost.any(axis=0)] = False
    seen[:, seen.sum(axis=0) < FEWEST] = False
    seen[(~gone).sum(axis=1) < 2] = False  # nothing would be left of the row to go by
    n_hidden = int(min(np.ceil(share * seen.sum()), most))
    seen &= True if spared is None else ~spared
    mask = np.zeros(cells.shape, dtype=bool)
    if n_hidden < FEWEST:
        return mask
    if lost.any():
        donors, rows = _matches(cells, lost, n_hidden, related, coded, rng)
        mask[rows] = lost[donors] & seen[rows]
    mask[(mask | gone).all(axis=1)] = False
    _thin(mask, n_hidden, rng)
    # A column that is seldom missing is tried too, and so are tables without any missing cell.
    few = np.flatnonzero(seen.any(axis=0) & (mask.sum(axis=0) < np.minimum(share * seen.sum(axis=0), FEWEST) / 2))
    for j in few:
        free = np.flatnonzero(seen[:, j] & ((~gone & ~mask).sum(axis=1) > 1))
        mask[rng.permutation(free)[: max(int(share * seen[:, j].sum()) // 2, 1)], j] = True
    left = np.argwhere(seen & ~mask & ((~gone & ~mask).sum(axis=1) > 1)[:, None])
    more = left[rng.permutation(len(left))[: max(n_hidden - mask.sum(), 0)]]
    mask[more[:, 0], more[:, 1]] = True
    mask[(mask | gone).all(axis=1)] = False
    _thin(mask, n_hidden, rng)
    return mask


def _matches(
    cells: np.ndarray, lost: np.ndarray, n: int, related: Any, coded: Any, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows that lost cells, and as many rows that are like them in what is related to that, with about n cells to hide."""
    given = np.flatnonzero(lost.any(axis=1))
    n_rows = int(min(np.ceil(1.2 * n / lost[given].sum(axis=1).mean()), len(cells) // 2))
    donors = rng.choice(given, n_rows)
    if related is None or not related.any():
        return donors, rng.permutation(len(cells))[:n_rows]
    among = rng.permutation(len(cells))[: n_rows * min(len(cells) // n_rows, ALIKE)].reshape(n_rows, -1)
    spread = np.nanstd(cells, axis=0)
    apart = np.abs(cells[donors, None] - cells[among]) / np.where(spread > 0, spread, 1.0)
    if coded is not None:
        apart[..., coded] = apart[..., coded] > 0
    known = ~np.isnan(apart) & ((lost[donors] @ related) & ~lost[donors])[:, None]
    distance = np.where(known, apart, 0.0).sum(axis=2) / np.maximum(known.sum(axis=2), 1)
    return donors, among[np.arange(n_rows), distance.argmin(axis=1)]


def _thin(mask: np.ndarray, n: int, rng: np.random.Generator) -> None:
    """Leave at most n cells hidden."""
    places = np.argwhere(mask)
    if len(places) > n:
        drop = places[rng.permutation(len(places))[n:]]
        mask[drop[:, 0], drop[:, 1]] = False


# How well they are filled


class Filled(NamedTuple):
    """What hidden cells of rows came to: means over a row's hidden cells, NaN where it has none.

    `error` are squared errors in variances of the columns, or whether levels are wrong; `naive` are those of the mean or the most
    frequent level; `covered` whether numbers are inside intervals.
    """

    error: np.ndarray
    naive: np.ndarray
    covered: np.ndarray
    cells: tuple[np.ndarray, ...]


def hidden_cells_of(
    model: Any,
    X: Any,
    share: float = SHARE,
    *,
    level: float | None = None,
    seed: int = 0,
    mask: np.ndarray | None = None,
) -> Filled:
    """Hide known cells of rows, fill them by a fitted model, and compare.

    Parameters
    ----------
    model : estimator
        Fitted; with `impute`, or a transformer that fills missing cells.
    X : array-like or DataFrame of shape (n_samples, n_features)
    share : float
        Of the known cells that are hidden.
    level : float, optional
        Probability of intervals that are judged too, by models that tell any.
    seed : int
    mask : array of bool, optional
        Which cells to hide, instead.
    """
    truth = cells_of(X)
    hidden = hide_evenly(~_gone(truth), np.random.default_rng(seed), share) if mask is None else mask
    filled, low, high = _filled(model, _without(X, hidden), level)
    parts = np.full((3, *hidden.shape), np.nan)
    for j in np.flatnonzero(hidden.any(axis=0)):
        here = hidden[:, j]
        known = truth[~_gone(truth)[:, j], j]
        try:
            y, told, whole = truth[here, j].astype(float), filled[here, j].astype(float), known.astype(float)
        except ValueError:  # levels
            levels, counts = np.unique(known.astype(str), return_counts=True)
            parts[0, here, j] = filled[here, j].astype(str) != truth[here, j].astype(str)
            parts[1, here, j] = truth[here, j].astype(str) != levels[counts.argmax()]
            continue
        variance = whole.var() or 1.0
        parts[0, here, j], parts[1, here, j] = (y - told) ** 2 / variance, (y - whole.mean()) ** 2 / variance
        if low is not None and high is not None:
            inside = (low[here, j] <= y) & (y <= high[here, j])
            parts[2, here, j] = np.where(np.isnan(low[here, j]), np.nan, inside)
    rows, columns = np.nonzero(hidden)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of rows without hidden cells
        error, naive, covered = np.nanmean(parts, axis=2)
    return Filled(error, naive, covered, (rows, columns, *parts[:, rows, columns]))


def cells_of(X: Any) -> np.ndarray:
    """Cells of rows: floats, or objects where some are no numbers."""
    cells = np.asarray(as_numpy(X))
    if cells.ndim != 2:
        raise ValueError(f"X has shape {cells.shape}; cells are hidden in a table of rows and columns.")
    if cells.dtype.kind in "biuf":
        return cells.astype(float)
    return cells.astype(object)


def _gone(cells: np.ndarray) -> np.ndarray:
    if cells.dtype.kind == "f":
        return np.isnan(cells)
    return np.array([[is_missing(cell) for cell in row] for row in cells.tolist()])


def _without(X: Any, hidden: np.ndarray) -> Any:
    """The rows with some cells missing, as they were given."""
    if package(X) == "pandas":
        return X.mask(hidden)
    cells = cells_of(X).copy()
    cells[hidden] = np.nan if cells.dtype.kind == "f" else None
    return cells


def _filled(model: Any, X: Any, level: float | None) -> tuple[np.ndarray, Any, Any]:
    """Cells that a model fills in, and ends of their intervals where it tells any."""
    if level is not None and hasattr(model, "impute"):
        try:
            found = model.impute(X, interval=level)
        except TypeError:
            raise ValueError(
                f"{type(model).__name__} tells no intervals of the cells it fills in; leave the level out."
            ) from None
        return cells_of(found.filled), found.low, found.high
    filled = cells_of(model.impute(X) if hasattr(model, "impute") else model.transform(X))
    if filled.shape != cells_of(X).shape:
        raise ValueError(
            f"{type(model).__name__} gives {filled.shape[1]} columns of {cells_of(X).shape[1]}; set add_indicator=False, and "
            "keep columns that are missing throughout."
        )
    return filled, None, None


@dataclass(frozen=True, eq=False, repr=False)
class HiddenCells:
    """How well hidden cells are filled; made by `hidden_cells`.

    Attributes
    ----------
    error, naive : float
        Root of the mean squared error in standard deviations of the columns, of the model and of columns' means; NaN where no
        number was hidden.
    covered : float
        Share of hidden numbers inside their intervals; NaN without any.
    level : float or None
    n : int
        Hidden cells.
    table : Table
        The same by column.
    """

    error: float
    naive: float
    covered: float
    level: float | None
    n: int
    table: Table

    def __repr__(self) -> str:
        inside = "" if np.isnan(self.covered) else f", {self.covered:.1%} inside {self.level:.0%} intervals"
        return f"HiddenCells: {self.n} cells, error {self.error:.3f} (by means {self.naive:.3f}){inside}\n{self.table}"


def hidden_cells(
    model: Any, X: Any, share: float = SHARE, *, n_rounds: int = 5, level: float | None = None, random_state: int = 0,
) -> HiddenCells:  # fmt: skip
    """Hide known cells, learn a model from what is left, fill them, and compare.

    Parameters
    ----------
    model : estimator
        With `impute`, or a transformer that fills missing cells; cloned and fitted for each round.
    X : array-like or DataFrame of shape (n_samples, n_features)
        NaN and None are missing.
    share : float, default=0.1
        Of the known cells of each column with at least 4, hidden in each round.
    n_rounds : int, default=5
        Rounds, each with cells of its own.
    level : float, optional
        Probability of intervals that are judged too, of models that tell any.
    random_state : int, default=0
        Draws the cells.

    Returns
    -------
    HiddenCells

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.assess import hidden_cells
    >>> from tacit.impute import GaussianImputer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) + 0.5 * rng.normal(size=(200, 4))
    >>> found = hidden_cells(GaussianImputer(), X)
    >>> bool(found.error < 0.6 < found.naive)
    True
    """
    check_number("n_rounds", n_rounds, numbers.Integral, 1)
    check_level(share, "share")
    if level is not None:
        check_level(level)
    if not (hasattr(model, "impute") or hasattr(model, "transform")):
        raise ValueError(f"{type(model).__name__} fills no cells: it has neither impute nor transform.")
    truth, rng, found = cells_of(X), np.random.default_rng(random_state), []
    seen = ~_gone(truth)
    for _ in range(n_rounds):
        mask = hide_evenly(seen, rng, share)
        if mask.any():
            found.append(hidden_cells_of(clone(model).fit(_without(X, mask)), X, level=level, mask=mask).cells)
    if not found:
        raise ValueError(f"no column of X has 4 known cells in rows with others: {int(seen.sum())} cells are known.")
    column, error, naive, covered = (np.concatenate([each[k] for each in found]) for k in (1, 2, 3, 4))
    names = [str(name) for name in getattr(X, "columns", range(truth.shape[1]))]
    number = np.array([_is_number(truth[seen[:, j], j]) for j in range(truth.shape[1])])
    rows = []
    for j in np.unique(column):
        here = column == j
        e, m = error[here].mean(), naive[here].mean()
        inside = None if np.isnan(covered[here]).all() else float(np.nanmean(covered[here]))
        told = (float(np.sqrt(e)), float(np.sqrt(m)), None, None) if number[j] else (None, None, 1 - e, 1 - m)
        keys = ("error", "by_mean", "right", "most_frequent")
        rows.append({"column": names[j], "cells": int(here.sum())} | dict(zip(keys, told)) | {"covered": inside})
    which = number[column]
    total = [float(np.sqrt(each[which].mean())) if which.any() else float("nan") for each in (error, naive)]
    inside = float("nan") if np.isnan(covered).all() else float(np.nanmean(covered))
    return HiddenCells(total[0], total[1], inside, level, len(column), Table(rows))


def _is_number(cells: np.ndarray) -> bool:
    try:
        cells.astype(float)
    except (TypeError, ValueError):
        return False
    return True
