"""Mean and covariance of rows in one pass, from any source: all that linear models need to know of complete rows.

m = Σ w x / Σ w,    S = Σ w (x − m)(x − m)ᵀ / Σ w
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..arrays import Arrays, record
from ..kernels import backend, host, kernel
from ..source import Block, Source

__all__ = ["CellMoments", "Moments", "cell_moments", "moments"]

ORIGIN_ROWS = 1000  # enough for a mean that differs from the rows' by a fraction of their spread


@record
class MomentSums(Arrays):
    """Sums over complete rows about an origin, and the weight of the rows that are not complete."""

    weight: float
    incomplete: float
    first: np.ndarray
    second: np.ndarray


@dataclass(frozen=True)
class Moments:
    """Weight, mean and covariance (divisor: the weight) of the complete rows.

    Attributes
    ----------
    weight : float
        Total weight of the complete rows.
    incomplete : float
        Total weight of rows with missing cells, which count for nothing here.
    mean : (d,)
    covariance : (d, d)
    """

    weight: float
    incomplete: float
    mean: np.ndarray
    covariance: np.ndarray


def moments(source: Source) -> Moments:
    """The `Moments` of a source of rows.

    Parameters
    ----------
    source : Source
        Rows, with their targets as further columns; those with missing cells are counted, not summed.
    """
    origin = _near_mean(source)
    sums = source.sum(partial(_sums, origin))
    shift = sums.first / sums.weight if sums.weight else sums.first
    covariance = sums.second / (sums.weight or 1.0) - np.outer(shift, shift)
    return Moments(sums.weight, sums.incomplete, origin + shift, covariance)


def _near_mean(source: Source) -> np.ndarray:
    """A point near the mean, in the rows' precision: raw second moments lose nine digits at an offset of 1e6.

    It is 0 where no column is off by more than its spread: that costs a bit of the digits and saves a copy of the rows.
    """
    sample = host(source.sample(ORIGIN_ROWS, np.random.default_rng(0)).joined.X)
    mean = sample.mean(axis=0, dtype=np.float64)
    # A square of the mean that is at most the variance is at most half the mean of squares.
    if (2.0 * mean**2 <= np.einsum("ij,ij->j", sample, sample, dtype=np.float64) / len(sample)).all():
        return np.zeros_like(mean)
    if np.isfinite(mean).all():
        return mean.astype(source.dtype).astype(np.float64)
    sample = np.where(np.isnan(sample).all(axis=0), 0.0, sample)
    origin = np.nanmean(sample, axis=0, dtype=np.float64)
    if (np.abs(origin) <= np.nanstd(sample, axis=0, dtype=np.float64)).all():
        return np.zeros_like(origin)
    return origin.astype(source.dtype).astype(np.float64)


def _sums(origin: np.ndarray, block: Block) -> MomentSums:
    block = block.joined
    rows = block.patterns.complete
    weight = host(block.weight)
    first, second = kernel("scatter", backend(block.X))(block.X, rows, origin, block.weight)
    total = float(weight[rows].sum())
    return MomentSums(total, float(weight.sum()) - total, first, second)


@record
class CellSums(Arrays):
    """Weight of rows, and of their pairs of cells; weight, sums and squares about an origin of each column's observed cells."""

    rows: float
    pairs: float
    weight: np.ndarray
    first: np.ndarray
    second: np.ndarray


@dataclass(frozen=True)
class CellMoments:
    """Weight, mean and variance of the observed cells of each column."""

    rows: float  # total weight of the rows
    pairs: float  # weight of the rows that observe both of two columns, on average over all pairs of columns
    weight: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


def cell_moments(source: Source) -> CellMoments:
    """The `CellMoments` of a source of rows."""
    origin = _near_mean(source)
    sums = source.sum(partial(_cell_sums, origin))
    weight = np.where(sums.weight > 0, sums.weight, 1.0)
    shift = sums.first / weight
    variance, d = np.maximum(sums.second / weight - shift**2, 0.0), len(weight)
    pairs = sums.pairs / (d * (d - 1)) if d > 1 else sums.rows
    return CellMoments(sums.rows, pairs, sums.weight, origin + shift, variance)


def _cell_sums(origin: np.ndarray, block: Block) -> CellSums:
    x, weight = host(block.X) - origin, host(block.weight)
    seen = ~np.isnan(x)
    x = np.where(seen, x, 0.0)
    cells = seen.sum(axis=1)
    pairs = float(weight @ (cells * (cells - 1)))
    return CellSums(float(weight.sum()), pairs, weight @ seen, weight @ x, weight @ x**2)
