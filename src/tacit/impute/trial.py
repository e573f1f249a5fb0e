"""How good are the filled cells? Hide some that are known, fill them, and compare.

error = √ mean((ŷ − y)² / s²), s the standard deviation of the cell's column: 0 is perfect, 1 no better than the column's mean
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ..base.missing import Imputed, impute_cells
from ..schema import Column
from ..source import ArraySource, Source

if TYPE_CHECKING:
    from ..tables import DataTable

__all__ = ["FEWEST", "SHARE", "check_finished", "filled_cells", "hide", "judge", "lowest_of", "sampled", "try_fills"]

SHARE = 0.1
MOST = 2000
FEWEST = 20
"""Observed cells of a column, and hidden cells in all, below which nothing is hidden or said."""
REFIT_ROWS = 20_000
"""Rows beyond which a few cells more or less do not change a model."""


def lowest_of(model: Any, table: DataTable) -> np.ndarray | None:
    """The least values that cells of a table may have; None where the model knows them itself."""
    return None if model._reads_tables else np.array([Column.of(column).least for column in table.used])


def filled_cells(model: Any, table: DataTable, cells: np.ndarray, level: float) -> Imputed:
    """Cells of a table, as the model codes them, with the missing ones filled in: counts by whole numbers."""
    filled, *rest = impute_cells(model, cells, level, lowest_of(model, table))
    return Imputed(model._model().family.possible(filled), *rest)


def sampled(source: Source, n_rows: int, seed: int) -> Source:
    """At most so many rows of a source, as a source; itself where it has no more."""
    if source.n_rows <= n_rows:
        return source
    rows = np.sort(np.random.default_rng(seed).choice(source.n_rows, n_rows, replace=False))
    return source.subset(rows).described_as(source)


def hide(cells: np.ndarray, share: float = SHARE, most: int = MOST, seed: int = 0) -> np.ndarray:
    """Which observed cells to hide, in columns that have missing values: a mask of the shape of `cells`.

    All False where too few are observed.
    """
    seen = ~np.isnan(cells)
    if not seen.all():
        seen[:, seen.all(axis=0)] = False
    seen[:, seen.sum(axis=0) < FEWEST] = False
    seen[(~np.isnan(cells)).sum(axis=1) < 2] = False  # nothing would be left of the row to go by
    rows, columns = np.nonzero(seen)
    n_hidden = int(min(np.ceil(share * len(rows)), most))
    mask = np.zeros(cells.shape, dtype=bool)
    if n_hidden >= FEWEST:
        chosen = np.random.default_rng(seed).choice(len(rows), n_hidden, replace=False)
        mask[rows[chosen], columns[chosen]] = True
    return mask


def judge(model: Any, table: DataTable, cells: np.ndarray, hidden: np.ndarray, level: float = 0.9) -> dict:
    """Compare what a fitted model fills in with the true cells of a table, those that are hidden, at a level of intervals.

    Returns
    -------
    dict
        ``numbers`` and ``categories`` (how many were hidden), ``error`` and ``covered`` of numbers, ``right`` and ``usual``
        (how often the most frequent level would have been right) of categories, None where there are none; ``columns``,
        the same for each column.
    """
    rows = np.flatnonzero(hidden.any(axis=1))
    hidden, truth = hidden[rows], cells[rows]
    filled, low, high, _ = filled_cells(model, table, np.where(hidden, np.nan, truth), level)
    listed, squares, within, right, usual = [], [], [], [], []
    for j, column in enumerate(table.used):
        here = hidden[:, j] & ~np.isnan(filled[:, j])  # some may be left empty
        if not here.any():
            continue
        true, told = truth[here, j], {"column": column.name, "cells": int(here.sum())}
        if column.levels:
            right.append(filled[here, j] == true)
            usual.append(true == _most_frequent(cells[:, j]))
            told |= {"right": float(right[-1].mean()), "usual": float(usual[-1].mean())}
        else:
            middle = filled[here, j]
            true, least, most = (column.unrolled(x, middle) for x in (true, low[here, j], high[here, j]))
            spread = np.nanstd(cells[:, j]) or 1.0
            squares.append(((middle - true) / spread) ** 2)
            within.append((least <= true) & (true <= most))
            told |= {"error": float(np.sqrt(squares[-1].mean())), "covered": float(within[-1].mean())}
        listed.append(told)
    return {
        "numbers": sum(map(len, squares)), "categories": sum(map(len, right)), "level": level,
        "error": float(np.sqrt(np.concatenate(squares).mean())) if squares else None,
        "covered": _mean(within), "right": _mean(right), "usual": _mean(usual), "columns": listed,
    }  # fmt: skip


def _mean(parts: list[np.ndarray]) -> float | None:
    return float(np.concatenate(parts).mean()) if parts else None


def _most_frequent(codes: np.ndarray) -> int:
    return int(np.bincount(codes[~np.isnan(codes)].astype(int)).argmax())


def try_fills(model: Any, table: DataTable, *, level: float = 0.9, seed: int = 0) -> dict | None:
    """Hide a few cells of a table, fill them, compare.

    Up to `REFIT_ROWS` rows the model is learned once more without the hidden cells; beyond, they do not matter to it.

    Parameters
    ----------
    model : fitted Mixture, ProbabilisticPCA or FactorAnalysis
        Whose columns are those that the table uses.
    table : tacit.tables.DataTable
    level : float
        Of the intervals.
    seed : int
        Seeds which cells are hidden.

    Returns
    -------
    dict or None
        As `judge` gives it, and ``refit``; None where too few cells are observed.
    """
    cells = np.concatenate([block.X for block in sampled(table.source(), REFIT_ROWS, seed)])
    hidden = hide(cells, seed=seed)
    if not hidden.any():
        return None
    refit = table.n_rows <= REFIT_ROWS
    if refit:
        model = _relearned(model, np.where(hidden, np.nan, cells), table)
    return judge(model, table, cells, hidden, level) | {"refit": refit}


def _relearned(model: Any, cells: np.ndarray, table: DataTable) -> Any:
    rank = getattr(model, "n_components_", None)
    again = clone(model).set_params(**({} if rank is None else {"n_components": rank}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again.fit(ArraySource(cells).described_as(table.source()))
    return check_finished(again)


def check_finished(model: Any) -> Any:
    """The model; what interrupted its fit interrupts more than that."""
    if model.fit_.interrupted:
        raise KeyboardInterrupt
    return model
