"""`Bins`: columns cut into at most 255 bins, so that a cell is one byte; missing cells have a bin of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..kernels import lazy
from ..source import Source
from ..source.threads import all_of, over_ranges, thread_count

__all__ = ["Bins", "Cells"]

compiled = lazy("boosting")
SAMPLE = 200_000
"""Rows by which columns are cut."""
FEW = 1 << 16
"""Cells that one thread reads."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells as bins, in two orders: 2 bytes a cell.

    Attributes
    ----------
    codes : (n, w) array of uint8
        Row by row, w a multiple of 8.
    columns : (d, n) array of uint8
    """

    codes: np.ndarray
    columns: np.ndarray

    @classmethod
    def empty(cls, n_rows: int, n_columns: int) -> Self:
        """Room for so many."""
        return cls(np.zeros((n_rows, 8 * -(-n_columns // 8)), np.uint8), np.empty((n_columns, n_rows), np.uint8))

    def rows(self, rows: np.ndarray) -> Cells:
        """Those of some rows."""
        return Cells(self.codes[rows], np.ascontiguousarray(self.columns[:, rows]))


@dataclass(frozen=True, eq=False)
class Bins:
    """How columns are cut.

    Attributes
    ----------
    cuts : list of (c,) arrays
        A cell is in the bin whose number is how many cuts are below it.
    n_levels : (d,) array of int
        Levels of columns that have them, each of which is a bin; 0 of numbers.
    """

    cuts: list[np.ndarray]
    n_levels: np.ndarray

    @classmethod
    def of(
        cls, X: np.ndarray, weight: np.ndarray | None, max_bins: int, n_levels: np.ndarray, n_jobs: int | None
    ) -> Self:
        """As the cells of some rows have it."""

        def cut(j: int) -> np.ndarray:
            return np.empty(0) if n_levels[j] else quantiles(X[:, j], weight, max_bins)

        threads = 1 if X.size <= FEW else thread_count(n_jobs)
        return cls(all_of(cut, range(X.shape[1]), threads), n_levels)

    @cached_property
    def n_bins(self) -> np.ndarray:
        """Bins of each column, without that of missing cells."""
        return np.array([n or len(cuts) + 1 for n, cuts in zip(self.n_levels, self.cuts)], np.int32)

    @property
    def missing(self) -> int:
        """The bin of missing cells in every column: the last."""
        return int(self.n_bins.max())

    @cached_property
    def _laid_out(self) -> tuple[np.ndarray, np.ndarray]:
        starts = np.concatenate([[0], np.cumsum([len(each) for each in self.cuts])])
        return np.concatenate([*self.cuts, np.empty(0)]), starts

    def cells(self, rows: np.ndarray | Source, n_jobs: int | None) -> Cells:
        """Rows as bins: an array, or a source, which is read block by block."""
        n, d = (rows.n_rows, rows.n_features) if isinstance(rows, Source) else rows.shape
        made = Cells.empty(n, d)
        if not isinstance(rows, Source):
            over_ranges(
                lambda a, b: self._enter(rows[a:b], made, a, b), n, 1 if rows.size <= FEW else thread_count(n_jobs)
            )
            return made
        at = 0
        for block in rows:
            self._enter(block.X, made, at, at + len(block))
            at += len(block)
        return made

    def _enter(self, X: Any, made: Cells, start: int, stop: int) -> None:
        compiled.bin_cells(
            X, *self._laid_out, self.n_levels, self.missing, made.codes[start:stop], made.columns[:, start:stop]
        )


def quantiles(x: np.ndarray, weight: np.ndarray | None, max_bins: int) -> np.ndarray:
    """Cuts between all values of a column, or at equal shares of its weight where there are more than bins."""
    seen = ~np.isnan(x)
    x, weight = (x, weight) if seen.all() else (x[seen], None if weight is None else weight[seen])
    if weight is None:
        x = np.sort(x).astype(np.float64)
        first = np.concatenate([[True], x[1:] != x[:-1]]) if len(x) else np.empty(0, bool)
        values, below = x[first], np.append(np.flatnonzero(first), len(x))[1:].astype(float)
    else:
        order = np.argsort(x, kind="stable")
        x, below = x[order].astype(np.float64), np.cumsum(weight[order])
        last = np.concatenate([x[1:] != x[:-1], [True]]) if len(x) else np.empty(0, bool)
        values, below = x[last], below[last]
    if len(values) <= max_bins:
        with np.errstate(invalid="ignore", over="ignore"):
            cuts = 0.5 * values[:-1] + 0.5 * values[1:]
        cuts = np.where(np.isnan(cuts), 0.0, cuts)  # between −∞ and ∞
    else:
        shares = below[-1] * np.arange(1, max_bins) / max_bins
        at = np.searchsorted(below, shares * (1 - 1e-12))
        even = np.abs(below[at] - shares) <= 1e-12 * shares
        cuts = np.where(even, 0.5 * (values[at] + values[np.minimum(at + 1, len(values) - 1)]), values[at])
        cuts = np.unique(cuts[cuts < values[-1]])
    # A cut at infinity would leave nothing above it, and one that is rounded to the value above would move that below.
    return np.minimum(np.minimum(cuts, np.finfo(float).max), np.nextafter(np.inf, 0))
