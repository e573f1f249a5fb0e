"""How well does a model of sequences predict what it has not seen? Its next steps, and cells hidden in between.

ahead    learned from the first steps of every sequence, each later step is predicted given all steps before it
hidden   some known cells are taken out, the model is learned anew, and they are filled in given all others

error = √ mean((x̂ − x)² / s²), s the standard deviation of the cell's column
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..assess.cells import hide_any
from ..source import ArraySource
from .forecast import _before

__all__ = ["Trial", "try_ahead", "try_hidden"]

LEFT, MOST = 0.2, 2000
"""Share of the steps at the end of every sequence, or of the known cells, that are left out; and how many at most."""
FEWEST, FEWEST_STEPS = 10, 20
"""Cells left out, and steps to learn from, below which nothing is tried."""


@dataclass(frozen=True)
class Trial:
    """Cells that were left out, and how well they were predicted.

    Attributes
    ----------
    n : int
        Cells of numbers.
    level, covered : float
        What intervals promise, and the share of the cells that they held.
    error, mean_error, last_error : float
        Of the model, of the column's mean, and of the last value before the cell; in standard deviations of the column.
    n_levels : int
        Cells of categories.
    right, usual : float
        Shares of these whose most probable level was the true one, and that have the column's most frequent level.
    """

    n: int
    level: float
    covered: float
    error: float
    mean_error: float
    last_error: float
    n_levels: int = 0
    right: float = np.nan
    usual: float = np.nan


def try_ahead(model: Any, source: Any, level: float = 0.9, seed: int = 0) -> Trial | None:
    """Predict the last steps of sequences one by one; None where they are too few.

    Parameters
    ----------
    model : HiddenMarkovModel
        Its settings are those of the fit.
    source : ArraySource
        The steps in memory, as the model opens them.
    level : float
        What intervals promise.
    seed : int
    """
    offsets = source.offsets
    lengths = np.diff(offsets)
    late = np.minimum(np.ceil(LEFT * lengths), lengths - 1).astype(int)
    if late.sum() > MOST:
        late = np.minimum(late, np.maximum(late * MOST // late.sum(), 1))
    ends = np.repeat(offsets[1:], lengths)
    is_late = np.arange(source.n_rows) >= ends - np.repeat(late, lengths)
    if (~is_late).sum() < FEWEST_STEPS or (~np.isnan(source.X[is_late])).sum() < FEWEST:
        return None
    fitted = _learned(model, _part(source, ~is_late), seed)
    if fitted is None:
        return None
    block = source.take(np.arange(source.n_units))
    rows = np.flatnonzero(is_late)[:MOST]
    inner = fitted._model()
    states = [_before(inner, params, block)[rows] for params in fitted._uncertain()]
    law, weight = fitted._laws(inner, states, len(rows))
    return _judged(fitted, source.X, ~is_late, rows, law, weight, level, _last(source.X, offsets)[rows])


def try_hidden(model: Any, source: Any, level: float = 0.9, seed: int = 0) -> Trial | None:
    """Hide known cells, and fill them; None where no cell is missing or known ones are too few. As `try_ahead`."""
    rng, known = np.random.default_rng(seed), ~np.isnan(source.X)
    n = min(int(0.5 * LEFT * known.sum()), MOST)
    if known.all() or n < FEWEST or known.sum() < FEWEST_STEPS:
        return None
    hidden = hide_any(known, n, rng)
    X = np.where(hidden, np.nan, source.X)
    if np.isnan(X).all(axis=0).any():
        return None
    thinned = _part(source, np.ones(len(X), bool), X)
    fitted = _learned(model, thinned, seed)
    if fitted is None:
        return None
    block, inner = thinned.take(np.arange(thinned.n_units)), fitted._model()
    rows = np.flatnonzero(hidden.any(axis=1))
    states = [inner.posterior(params, block)[0][rows] for params in fitted._uncertain()]
    law, weight = fitted._laws(inner, states, len(rows))
    truth = np.where(hidden, source.X, np.nan)
    return _judged(fitted, truth, None, rows, law, weight, level, _last(X, source.offsets)[rows], X)


def _part(source: Any, chosen: np.ndarray, X: np.ndarray | None = None) -> ArraySource:
    """Some steps of a source, or all with other cells."""
    unit = np.repeat(np.arange(source.n_units), np.diff(source.offsets))[chosen]
    targets = None if source.targets is None else source.targets[chosen]
    cells = (source.X if X is None else X)[chosen]
    weight = None if source.weight is None else source.weight[chosen]
    part = ArraySource(cells, weight, targets=targets, unit=unit, n_jobs=source.n_jobs)
    part.schema, part.columns = source.schema, source.columns
    return part


def _learned(model: Any, part: Any, seed: int) -> Any:
    """The model learned from a part of the steps; None where that cannot be."""
    fitted = clone(model).set_params(random_state=seed, callback=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return fitted.fit(part)
        except ValueError:  # a column without any value in the part, or a singular fit
            return None


def _last(X: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The last value of every column before each step of its sequence; NaN where there is none."""
    begins = np.repeat(offsets[:-1], np.diff(offsets))[:, None]
    at = np.where(np.isnan(X), -1, np.arange(len(X))[:, None])
    before = np.vstack([np.full((1, X.shape[1]), -1), np.maximum.accumulate(at, axis=0)[:-1]])
    found = np.take_along_axis(X, np.maximum(before, 0), axis=0)
    return np.where(before >= begins, found, np.nan)


def _judged(
    fitted: Any, X: np.ndarray, early: np.ndarray | None, rows: np.ndarray, law: Any, weight: np.ndarray, level: float,
    last: np.ndarray, learned: np.ndarray | None = None,
) -> Trial | None:  # fmt: skip
    """Compare the predictions of all cells of some steps with those that are known of X."""
    shape = len(rows), X.shape[1]
    truth, known = X[rows], X[early] if early is not None else learned
    assert known is not None
    coded = np.array([bool(column.levels) for column in fitted.schema_.columns])
    mean, low, high = (
        value.reshape(shape)
        for value in (
            law.mean(weight),
            law.quantile(0.5 * (1 - level), weight),
            law.quantile(0.5 * (1 + level), weight),
        )
    )
    numbers, levels = ~np.isnan(truth) & ~coded, ~np.isnan(truth) & coded
    n, n_levels = int(numbers.sum()), int(levels.sum())
    if n + n_levels < FEWEST:
        return None
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        usual, spread = np.nanmean(known, axis=0), np.nanstd(X, axis=0)
    spread = np.where(spread > 0, spread, 1.0)

    def error(predicted: np.ndarray) -> float:
        gap = ((np.broadcast_to(predicted, shape) - truth) / spread)[numbers]
        return float(np.sqrt(np.nanmean(gap**2))) if n and not np.isnan(gap).all() else float("nan")

    inside = ((truth >= low) & (truth <= high))[numbers]
    most = np.array([_mode(column) if is_coded else np.nan for column, is_coded in zip(known.T, coded)])
    return Trial(
        n, level, float(inside.mean()) if n else float("nan"), error(mean), error(usual), error(last), n_levels,
        float((mean == truth)[levels].mean()) if n_levels else float("nan"),
        float((np.broadcast_to(most, shape) == truth)[levels].mean()) if n_levels else float("nan"),
    )  # fmt: skip


def _mode(column: np.ndarray) -> float:
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    return float(values[counts.argmax()]) if len(values) else float("nan")
