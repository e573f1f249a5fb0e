"""The rank that fills cells best: some observed cells are hidden, filled by fits of rank 0, 1, 2 …, and compared with the truth.

error(k) = mean of (x̂ − x)² / s² over hidden cells, s² the variance of the cell's column; 1 is no better than the column's mean

Ranks further and further apart are tried, then those about the best. A fit starts from that of the rank below and the axes of
what it left unexplained, so that all of them together cost little more than one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...assess.cells import hide_evenly
from ...engine import SingularError, fit
from ...families.factor import FactorGaussian, FactorParams, leading_axes
from ...families.gaussian import location_and_scale
from ...kernels import host
from ...mixture.model import MixtureModel, MixtureParams
from ...source import ArraySource, Block, Source
from ...source.threads import one_blas_thread
from .rank import RankChoice

__all__ = ["by_hidden_cells", "search_ranks"]

MOST_ROWS = 5000
SHARE = 0.1  # of the observed cells, in each trial
CELLS = 2000  # hidden in all trials together, where as many are observed
MOST_TRIALS = 3
STEPS, TOL = 20, 1e-3  # of EM: errors settle long before axes do
GROWTH = 1.4  # of ranks that are tried at first
HOPELESS = 1.25  # times the least error, at which greater ranks are not tried: they only follow noise
AS_GOOD = 1.005  # times the least error, within which the least rank is taken


class Trial:
    """Rows with some cells hidden, and the fits of all ranks tried."""

    def __init__(self, block: Block, family: Callable[[int], FactorGaussian], rng: np.random.Generator):
        self.truth, self.family = host(block.X).astype(np.float64), family
        self.hidden = hide_evenly(~np.isnan(self.truth), rng)
        X = np.where(self.hidden, np.nan, self.truth)
        self.block = Block.of(X, host(block.weight))
        self.source = ArraySource(X, self.block.weight, n_jobs=1)
        self.mean, self.scale = location_and_scale(self.block)
        self.fits: dict[int, FactorParams] = {}

    def squares(self, rank: int) -> np.ndarray:
        """Squared errors of the hidden cells filled by a fit of this rank, in units of the columns' variances."""
        filled = np.broadcast_to(self.mean, self.truth.shape) if rank == 0 else self._filled(rank)
        return ((filled - self.truth) ** 2 / self.scale)[self.hidden]

    def _filled(self, rank: int) -> np.ndarray:
        family = self.family(rank)
        model, start = MixtureModel(family, 1), MixtureParams(np.ones(1), self._start(family, rank))
        found = fit(model, self.source, start, max_iter=STEPS, tol=TOL, accelerate="anderson")
        if found.interrupted:
            raise KeyboardInterrupt
        self.fits[rank] = found.params.components
        return family.filled(found.params.components, self.block, np.ones((len(self.block), 1)))

    def _start(self, family: FactorGaussian, rank: int) -> FactorParams:
        """The fit of the rank below, with the leading axes of what it leaves of the observed cells."""
        below = max((tried for tried in self.fits if tried < rank), default=0)
        if not below:
            return family.start(self.block, np.ones((len(self.block), 1)))
        last, weight = self.fits[below], self.block.weight / self.block.weight.sum()
        unit = np.sqrt(family.units(last.scale))
        score = self.family(below).scores(last, self.block)[0][0]
        left = (self.block.X - last.mean[0] - score @ last.loading[0].T) / unit
        value, axes = leading_axes(np.where(np.isnan(left), 0.0, left) * np.sqrt(weight)[:, None], rank - below)
        loading = np.zeros((len(unit), rank))
        loading[:, :below], loading[:, below : below + len(value)] = (
            last.loading[0],
            axes * np.sqrt(value) * unit[:, None],
        )
        return family.floored(last.mean, loading[None], last.noise, last.origin, last.scale)


def search_ranks(error: Callable[[int], float], most: int) -> tuple[int, np.ndarray, np.ndarray]:
    """The least rank that is about as good as the best, the ranks tried, and their errors."""
    errors: dict[int, float] = {}

    def known(rank: int) -> float:
        if rank not in errors:
            errors[rank] = error(rank)
        return errors[rank]

    rank = 0
    while known(rank) <= HOPELESS * min(errors.values()) and rank < most:
        rank = min(max(rank + 1, round(GROWTH * rank)), most)
    while True:
        best, tried = min(errors, key=known), sorted(errors)
        at = tried.index(best)
        between = [(best + other) // 2 for other in tried[max(at - 1, 0) : at + 2] if abs(other - best) > 1]
        if not between:
            break
        for rank in between:
            known(rank)
    values = np.array([errors[rank] for rank in tried])
    return tried[int(np.argmax(values <= AS_GOOD * values.min()))], np.array(tried), values


def by_hidden_cells(
    source: Source, family: Callable[[int], FactorGaussian], most: int, rng: np.random.Generator
) -> tuple[RankChoice, Any]:
    """The rank, up to `most`, of the least error of hidden cells, and parameters of that rank to start from.

    `family` makes the family of a rank.
    """
    block = source.sample(MOST_ROWS, rng)
    n_hidden = SHARE * float((~np.isnan(host(block.X))).sum())
    trials = [Trial(block, family, rng) for _ in range(int(np.clip(np.ceil(CELLS / n_hidden), 1, MOST_TRIALS)))]

    def error(rank: int) -> float:
        try:
            return float(np.concatenate([trial.squares(rank) for trial in trials]).mean())
        except SingularError:
            return np.inf

    with one_blas_thread():
        best, tried, values = search_ranks(error, most)
    start = trials[0].fits.get(max(best, 1))
    choice = RankChoice(best, "cells", tried, values)
    return choice, None if start is None else MixtureParams(np.ones(1), start)
