"""How many parts: observed cells are hidden and filled by factorisations of rank 0, 1, 2 …

error(k) = Σ d_β(x, x̂_k) / Σ d_β(x, x̂_0) over hidden cells, where x̂_0 is the mean of the column
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ...assess.cells import hide_evenly
from ...engine import fit
from ...factor.principal.hidden import search_ranks
from ...factor.principal.rank import RankChoice
from ...kernels import host, lazy
from ...source import ArraySource, Block, Source
from .model import Factors, PartsModel

__all__ = ["by_hidden_cells"]

MOST_ROWS = 2000
CELLS, MOST_TRIALS = 2000, 5  # hidden in all trials together, where as many are observed
STEPS, TOL = 100, 1e-3
compiled = lazy("nonnegative")


class Trial:
    """Rows with some cells hidden."""

    def __init__(self, block: Block, estimator: Any, rng: np.random.Generator):
        self.truth, self.estimator, self.rng = host(block.X).astype(np.float64), estimator, rng
        self.hidden = hide_evenly(~np.isnan(self.truth), rng)
        self.block = Block.of(np.where(self.hidden, np.nan, self.truth), host(block.weight))
        self.columns = np.ones(self.truth.shape[1])
        self.first = self._loss(np.broadcast_to(np.nanmean(self.block.X, axis=0), self.truth.shape))

    def _loss(self, filled: np.ndarray) -> float:
        cells = np.where(self.hidden, self.truth, np.nan)
        weight, beta = np.ones(len(cells)), self.estimator._beta
        return float(compiled._loss(cells, np.ascontiguousarray(filled), weight, self.columns, beta))

    def error(self, rank: int) -> float:
        """Loss of the hidden cells filled by so many parts, as a share of that of the columns' means."""
        if rank == 0:
            return 1.0
        model = self._model(rank)
        source = ArraySource(self.block.X, self.block.weight, n_jobs=1)
        found = fit(model, source, model.init(self.block, np.random.default_rng(0)), max_iter=STEPS, tol=TOL)
        if found.interrupted:
            raise KeyboardInterrupt
        memory: Any = source.recall()
        params: Factors = found.params
        return self._loss(memory.scores @ params.components) / max(self.first, 1e-300)

    def _model(self, rank: int) -> PartsModel:
        estimator, level = self.estimator, np.sqrt(np.nanmean(self.block.X) / rank)
        solver = "hals" if estimator._beta == 2.0 and estimator.solver != "mu" else "mu"
        init = "nndsvda" if rank <= min(self.truth.shape) else "random"
        return PartsModel(rank, estimator._beta, solver, init=init, level=float(level))


def by_hidden_cells(source: Source, estimator: Any) -> RankChoice:
    """The number of parts of the least error of hidden cells, with the curve; `estimator` says the loss and the seed."""
    if source.n_features < 2:
        raise ValueError(
            "n_components='cells' fills cells by the others of their row, but X has 1 column; give a number."
        )
    seed = estimator.random_state
    rng = np.random.default_rng(int(seed) if isinstance(seed, numbers.Integral) else 0)
    block = source.sample(MOST_ROWS, rng)
    n_hidden = 0.1 * float((~np.isnan(host(block.X))).sum())
    trials = [Trial(block, estimator, rng) for _ in range(int(np.clip(np.ceil(CELLS / n_hidden), 1, MOST_TRIALS)))]
    best, tried, values = search_ranks(
        lambda rank: float(np.mean([trial.error(rank) for trial in trials])), min(len(block), source.n_features) - 1
    )
    return RankChoice(best, "cells", tried, values)
