"""Biases of items that drift: η gains d_it in period t, d_it ~ N(0, s²), q(d_it) = N(m_it, v_it).

Periods hold about equally many ratings. s² is learned; a period in which an item has no rating tells nothing of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import lazy
from .responses import GaussianResponse

__all__ = ["DriftingResponse", "edges_of", "periods_of"]

compiled = lazy("factorization")
SAMPLE = 1_000_000


def edges_of(time: np.ndarray, n_periods: int) -> np.ndarray:
    """Times (n_periods − 1,) between periods of about equally many ratings."""
    step = max(len(time) // SAMPLE, 1)
    return np.quantile(_numbers(time[::step]), np.arange(1, n_periods) / n_periods)


def periods_of(time: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The period of each time."""
    return np.searchsorted(edges, _numbers(time), side="right").astype(np.int16)


def _numbers(time: np.ndarray) -> np.ndarray:
    return time.astype("datetime64[s]").astype(float) if time.dtype.kind == "M" else np.asarray(time, dtype=float)


class DriftingResponse(GaussianResponse):
    """Measurements with noise, of items whose biases drift; parameters are s², m and v, end to end.

    Parameters
    ----------
    mean, variance, learns
        As in `GaussianResponse`.
    shape : (int, int)
        Items and periods.
    """

    def __init__(self, mean: float, variance: float, learns: bool, shape: tuple[int, int]):
        super().__init__(mean, variance, learns)
        self.shape = shape

    def start(self) -> tuple[float, float, np.ndarray]:
        mean, noise, _ = super().start()
        first = 0.02 * self.variance
        n = self.shape[0] * self.shape[1]
        return mean, noise, np.concatenate([[first], np.zeros(n), np.full(n, first)])

    def parts(self, params: Any) -> tuple[float, np.ndarray, np.ndarray]:
        """s², m (items, periods) and v (items, periods)."""
        m, v = params.response[1:].reshape(2, *self.shape)
        return float(params.response[0]), m, v

    def _item(self, rows: Any) -> np.ndarray:
        """The item of every cell."""
        return rows.first + np.repeat(np.arange(len(rows)), np.diff(rows.indptr)) if rows.by_item else rows.indices

    def targets(self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray) -> np.ndarray:
        return super().targets(params, rows, own, others) - self.parts(params)[1][self._item(rows), rows.period]

    def on_device(
        self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray, data: Any, weight: Any
    ) -> tuple[Any, Any]:
        return weight, data.new_tensor(self.targets(params, rows, own, others))

    def further(self, params: Any, rows: Any) -> np.ndarray | float:
        """Σ w v of each row, which squared errors are larger by."""
        around = self.weights(rows, np.float64) * self.parts(params)[2][self._item(rows), rows.period]
        return np.bincount(np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), around, len(rows))

    def moved(self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray, steady: np.ndarray) -> tuple | None:
        """M and v of the items of rows, given users whose consistency is told."""
        eta = compiled.cell_sums(rows.indptr, rows.indices, own, others)
        weight = self.weights(rows, np.float64) * steady[rows.indices] / params.noise
        place = np.repeat(np.arange(len(rows)), np.diff(rows.indptr)) * self.shape[1] + rows.period
        n = len(rows) * self.shape[1]
        precision = np.bincount(place, weight, n) + 1.0 / self.parts(params)[0]
        mean = np.bincount(place, weight * (rows.data - params.centre - eta), n) / precision
        return mean.reshape(-1, self.shape[1]), 1.0 / precision.reshape(-1, self.shape[1])

    def gathered(self, params: Any, parts: list) -> np.ndarray:
        """Parameters from what blocks of items were moved to."""
        mean, around = (np.concatenate(each) for each in zip(*parts))
        variance = float((mean**2 + around).mean()) if self.learns else float(params.response[0])
        return np.concatenate([[variance], mean.ravel(), around.ravel()])

    def value(self, params: Any) -> float:
        """What the drift adds to the bound."""
        variance, mean, around = self.parts(params)
        return float(0.5 * (np.log(around / variance) - (mean**2 + around) / variance + 1.0).sum())
