"""`RatingSource`: users as rows that the engine goes through, and items as the rows of the other half of a sweep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...source.sparse import SparseRows, SparseSource
from ...source.threads import all_of, thread_count
from ..ratings import Ratings, Side

__all__ = ["RatedRows", "RatingSource"]

SINGLE = 400_000
"""Ratings from which on sums over them are taken in single precision."""
BLOCK_CELLS, DEVICE_CELLS, MOST_BLOCKS = 1 << 15, 1 << 26, 64


@dataclass(frozen=True)
class RatedRows(SparseRows):
    """Rows of ratings, with what else is known of each.

    Attributes
    ----------
    weight : (cells,) or (0,)
        Weights, in the precision of sums; none where all are 1.
    period : (cells,) int16 or (0,)
        Periods of time, where biases drift.
    first : int
        Number of the first row among all.
    by_item : bool
        Whether rows are items.
    local : dict
        A cache, of what lies on a device.
    """

    weight: np.ndarray = field(default_factory=lambda: np.empty(0))
    period: np.ndarray = field(default_factory=lambda: np.empty(0, np.int16))
    first: int = 0
    by_item: bool = False
    local: dict = field(default_factory=dict, compare=False)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum(dtype=float)) if len(self.weight) else float(len(self.data))

    def totals(self) -> np.ndarray:
        """Sum of the weights of each row."""
        if not len(self.weight):
            return np.diff(self.indptr).astype(float)
        return np.bincount(np.repeat(np.arange(len(self)), np.diff(self.indptr)), self.weight, len(self))

    def slice(self, start: int, stop: int) -> RatedRows:
        """The rows from `start` to before `stop`."""
        a, b = self.indptr[start], self.indptr[stop]
        cells = self.data[a:b], self.indices[a:b], self.indptr[start : stop + 1] - a
        shape, along = (stop - start, self.shape[1]), (self.weight[a:b], self.period[a:b])
        return RatedRows(*cells, shape, self.absent, *along, self.first + start, self.by_item)

    def __getitem__(self, rows: Any) -> RatedRows:
        rows = np.atleast_1d(rows)
        lengths = np.diff(self.indptr)[rows]
        cells = np.repeat(self.indptr[rows], lengths) + within(lengths)
        indptr, shape = np.concatenate([[0], np.cumsum(lengths)]), (len(rows), self.shape[1])
        kept = self.data[cells], self.indices[cells], indptr, shape, self.absent
        weight, period = (each[cells] if len(each) else each for each in (self.weight, self.period))
        return RatedRows(*kept, weight, period, by_item=self.by_item)


def within(lengths: np.ndarray) -> np.ndarray:
    """0, 1, … within each of groups of these lengths, end to end."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def rated(side: Side, kind: Any, period: Any = None, by_item: bool = False) -> RatedRows:
    """The rows of a side, with weights in a precision and with periods, which are a function of times."""
    rows, weight = side.rows, side.weight
    own = np.empty(0, kind) if weight is None else weight.astype(kind)
    when = np.empty(0, np.int16) if period is None else period(side.time)
    data = rows.data.astype(kind, copy=False)
    return RatedRows(data, rows.indices, rows.indptr, rows.shape, rows.absent, own, when, by_item=by_item)


class RatingSource(SparseSource):
    """Ratings as a source of users.

    Parameters
    ----------
    ratings : Ratings
        Who rated what.
    period : callable, optional
        Periods (int16) of times, where biases drift.
    device : str, optional
        Where sweeps run, if not on this machine's cores.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.

    Attributes
    ----------
    items : list of (int, RatedRows)
        The items' ratings in blocks, whose columns are users, with the number of the first item of each.
    """

    def __init__(self, ratings: Ratings, period: Any = None, *, device: str | None = None, n_jobs: int | None = None):
        self.kind = np.float32 if len(ratings) > SINGLE else np.float64
        self.rows = rated(ratings.by_user, self.kind, period)
        columns = rated(ratings.by_item, self.kind, period, by_item=True)
        self.n_rows, self.n_features = self.rows.shape
        self.weight, self.labels = np.ones(self.n_rows), np.full(self.n_rows, -1)
        self.targets, self.n_targets, self.offsets, self.label_range, self.labelled = None, 0, None, None, False
        self.n_jobs, self.dtype = thread_count(n_jobs), np.dtype(np.float64)
        # A device takes large blocks, one after the other.
        n_blocks = int(np.clip(len(ratings) // (DEVICE_CELLS if device else BLOCK_CELLS), 1, MOST_BLOCKS))
        self.n_jobs = 1 if device else self.n_jobs
        self._cut(n_blocks)
        self.items = [(a, columns.slice(a, b)) for a, b in cuts(columns.indptr, n_blocks)]

    def over_items(self, function: Any) -> list:
        """function(number of the first item, rows) of every block of items, in order."""
        return all_of(lambda part: function(*part), self.items, self.n_jobs, serial_blas=True)


def cuts(indptr: np.ndarray, n_blocks: int) -> list[tuple[int, int]]:
    """Ranges of rows of about equally many cells."""
    ends = np.searchsorted(indptr, np.linspace(0, indptr[-1], n_blocks + 1)[1:-1])
    places = np.unique([0, *ends, len(indptr) - 1])
    return list(zip(places[:-1].tolist(), places[1:].tolist()))
