"""`Widening`: how much wider intervals of filled cells must be than the model says, told by cells of rows held out.

    r_i = Φ⁻¹(F(x_i)),    an interval of probability p reaches from Φ(−s t) to Φ(s t),    t the quantile (1 + p)/2 of a Student t

F is the distribution that the model gives a hidden cell, s² the mean of r², and the degrees of freedom are the number of cells
that told it, at most three for a row: few cells leave s uncertain, which widens intervals too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from ...declared import Numbers, Whole, declare, savable
from ...families.laws import JoinedLaw, Law, QuantileLaw

__all__ = ["Widening", "normal_scores", "widened"]

LEAST, MOST = 1.0, 4.0
FAR = 5.0


@savable
@dataclass(frozen=True, eq=False)
class Widening:
    """How intervals are widened.

    Attributes
    ----------
    factor : float
        s.
    n_cells : int
        Hidden cells that told it; 0 where there were none, and nothing is widened.
    """

    factor: float = 1.0
    n_cells: int = 0
    _saved = declare(factor=Numbers(low=LEAST, high=MOST), n_cells=Whole(0))

    def level(self, level: float) -> float:
        """The probability to ask the model for, so that intervals hold `level` of the cells."""
        if not self.n_cells:
            return level
        reach = self.factor * stdtrit(float(max(self.n_cells, 3)), 0.5 * (1.0 + level))
        return float(2.0 * ndtr(reach) - 1.0)


def normal_scores(law: Law, weight: np.ndarray, x: np.ndarray) -> np.ndarray:
    """R of cells, NaN of those that are no numbers."""
    if isinstance(law, JoinedLaw):
        out = np.full(len(x), np.nan)
        for places, part in law.parts:
            out[places] = normal_scores(part, weight[places], x[places])
        return out
    if not isinstance(law, QuantileLaw):
        return np.full(len(x), np.nan)
    rows = slice(None)
    F = (weight * law.cdf(x, rows)).sum(axis=1)
    if law.discrete:  # half of the cell's own probability
        F = 0.5 * (F + (weight * law.cdf(x - 1.0, rows)).sum(axis=1))
    return np.clip(ndtri(np.clip(F, 0.0, 1.0)), -FAR, FAR)


def widened(scores: np.ndarray, n_rows: int) -> Widening:
    """What scores of hidden cells in so many rows ask for."""
    scores = scores[~np.isnan(scores)]
    if not len(scores):
        return Widening()
    # Nine tenths of them by rank, and all by their squares: the larger of the two.
    rank = min(int(np.ceil(0.9 * (len(scores) + 1))), len(scores)) - 1
    by_rank = np.sort(np.abs(scores))[rank] / ndtri(0.95)
    by_square = np.sqrt(np.mean(np.minimum(np.abs(scores), 3.0) ** 2))
    # Cells of a row err together.
    told = min(len(scores), 3 * n_rows)
    return Widening(float(np.clip(max(by_rank, by_square), LEAST, MOST)), int(told))
