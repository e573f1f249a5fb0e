"""Hard clusters in L1: minimise Σ_i w_i s_i Σ_{j observed} |x_ij − c_kj| over centres c and memberships k.

E-step: k = argmin_k Σ_j |x_ij − c_kj|        M-step: c_kj = weighted median of its cells

A median is no sum over rows, but what tells where it lies is. Per centre and column the loss is convex, with corners at the
cells. Every centre and column has a grid of points, the centre among them; the weight of the cells between neighbouring points,
and their sum, tell the loss at all of them and between which two the median lies. The M-step moves to the better of these two, so
that the loss never increases, and draws the next grid between and around them. After a few passes a single value is left.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, declare
from ..engine import Trace
from ..kernels import backend, host, integers, kernel
from ..notes import Note
from ..source import Block
from .model import UNCHANGED, CenterModel

__all__ = ["KMediansModel", "MedianStats", "Medians"]

INNER = np.arange(1, 10) / 10.0  # points between those that the median lies between, as shares of the way
OUTER = np.arange(1, 10) / 9.0  # points on either side of them, as powers of the way to the farthest cells
N_POINTS = 2 + len(INNER) + 3 + 2 * len(OUTER)
EXACT = 1e-10  # a median is found where no more than this share of the spread is left of the way
ROUNDING = 1e-12  # weights that should add up to one half may differ by this share


@record
class Medians(Arrays):
    """Centres (K, d), their grids (d, K, points), and the centres (K, d) that rows join, which differ once these hold still."""

    center: np.ndarray
    grid: np.ndarray
    guide: np.ndarray
    _saved = declare(center=Numbers("K d"), grid=Numbers("d K p"), guide=Numbers("K d"))


@record
class MedianStats(Arrays):
    """Minus the loss, total weight, weight of each cluster, and per bin of every grid the weight and sum of its cells."""

    loglik: float
    weight: float
    counts: np.ndarray
    bins: np.ndarray
    _summed = declare(weight=Numbers(low=0), counts=Numbers("K", low=0))


class Bracket:
    """What the bins say of the median of every column and centre.

    Parameters
    ----------
    grid : (d, K, B)
        Points in order.
    bins : (d, K, B + 1, 2)
        Weight of the cells between points, and their sum about the lower one, or the first.

    Attributes
    ----------
    low, high : (d, K)
        What the lower median lies between.
    best : (d, K)
        The one of these two with the smaller loss; where cells lie beyond the grid on one side, its last point there.
    mean : (d, K)
        Mean of the cells in between.
    deviation, spread : (d, K)
        Mean distance of cells to `best`, and about the distance between their quartiles.
    """

    def __init__(self, grid: np.ndarray, bins: np.ndarray):
        self.weight, self.sums = bins[..., 0], bins[..., 1]
        self.cumulated = np.cumsum(self.weight, axis=-1)
        self.cells = self.cumulated[..., -1]
        half = np.where(self.cells > 0, 0.5 * self.cells * (1.0 - ROUNDING), 1.0)
        # Half of the weight lies beyond the median: it is no farther than their sum over that half.
        first, last = grid[..., :1], grid[..., -1:]
        slack = (1.0 + 1e-9) / half[..., None]
        self.points = np.concatenate(
            [first + self.sums[..., :1] * slack, grid, last + self.sums[..., -1:] * slack], axis=-1
        )
        place = self._place(half)
        self.low, self.high = _at(self.points, place), _at(self.points, place + 1)
        self.width = self.high - self.low
        self.best, self.mean = self._choose(place)
        lower = np.concatenate([first, grid], axis=-1)
        terms = self.sums + self.weight * (lower - self.best[..., None])
        self.deviation = np.abs(terms).sum(axis=-1) / np.where(self.cells > 0, self.cells, 1.0)
        self.spread = self._quantile(0.75) - self._quantile(0.25)

    def _place(self, rank: np.ndarray) -> np.ndarray:
        return np.argmax(self.cumulated >= rank[..., None], axis=-1)

    def _choose(self, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weight, total, through = (_at(values, place) for values in (self.weight, self.sums, self.cumulated))
        # The loss at `high` less that at `low`: cells below add, cells above take away, those in between do both.
        rise = (2.0 * through - self.cells) * self.width - 2.0 * total
        first, last = place == 0, place == self.weight.shape[-1] - 1
        best = np.where(first | ((rise < 0) & ~last), self.high, self.low)
        lower = np.where(first, self.high, self.low)
        return best, np.clip(lower + total / np.where(weight > 0, weight, 1.0), self.low, self.high)

    def _quantile(self, share: float) -> np.ndarray:
        """About where a share of the weight lies below, taking cells to be spread evenly between points."""
        rank = share * self.cells
        place = self._place(rank)
        weight, through = _at(self.weight, place), _at(self.cumulated, place)
        low, high = _at(self.points, place), _at(self.points, place + 1)
        return high - (through - rank) / np.where(weight > 0, weight, 1.0) * (high - low)

    @property
    def unit(self) -> np.ndarray:
        """The distance below which points are one."""
        least = np.maximum(1e-14 * self.deviation, 4.0 * np.spacing(np.abs(self.best)))
        return np.maximum(EXACT * np.minimum(self.deviation, self.spread), least)

    @property
    def found(self) -> np.ndarray:
        """Whether the median is known; where there are no cells there is none to find."""
        return (self.width <= self.unit) | (self.cells <= 0)

    def next_grid(self) -> np.ndarray:
        """Points between and around `low` and `high`, and close to the mean, which is the median once one value is left."""
        low, high, mean, unit = (values[..., None] for values in (self.low, self.high, self.mean, self.unit))
        width = np.maximum(high - low, unit)
        near = np.clip(mean + unit * np.array([-0.5, 0.0, 0.5]), low, high)
        reach = np.maximum(4.0 * self.deviation[..., None], 2.0 * width)
        away = width * (reach / width) ** OUTER
        points = [low, high, low + (high - low) * INNER, near, low - away, high + away]
        return np.sort(np.concatenate(points, axis=-1), axis=-1)


def _at(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    return np.take_along_axis(values, place[..., None], axis=-1)[..., 0]


class KMediansModel(CenterModel):
    """K-medians, as the engine learns it.

    Parameters
    ----------
    n_clusters : int
        Number of centres.
    tol : float
        Once centres move by no more than this share of the spread of their cells, on average, and are known as closely, rows
        stay where they are until the medians are exact.
    """

    power = 1

    def __init__(self, n_clusters: int, tol: float = 0.0):
        super().__init__(n_clusters)
        self.tol = tol

    def at(self, center: np.ndarray, origin: Any = None) -> Medians:
        """Parameters at given centres; the grid is yet to be found."""
        return Medians(center, np.repeat(center.T[..., None], N_POINTS, axis=-1), center)

    def e_step(self, params: Medians, block: Block) -> MedianStats:
        """Weights and sums of the cells of each cluster between the points of its grid."""
        counts, bins = np.zeros(self.n_clusters), np.zeros((*params.center.T.shape, N_POINTS + 1, 2))
        _, loss = self._pass(params, params.guide, params.grid, block, counts, bins)
        return MedianStats(-loss, float(block.weight.sum()), counts, bins)

    def assign(self, params: Medians, block: Block) -> tuple[np.ndarray, float]:
        nowhere = np.empty((*params.center.T.shape, 0))
        counts, bins = np.zeros(self.n_clusters), np.zeros((*nowhere.shape[:2], 1, 2))
        return self._pass(params, params.center, nowhere, block, counts, bins)

    def _pass(
        self, params: Medians, guide: np.ndarray, grid: np.ndarray, block: Block, counts: np.ndarray, bins: np.ndarray
    ) -> tuple[np.ndarray, float]:
        labels = integers(len(block), 0, block.X)
        loss = kernel("medians", backend(block.X))(
            block.X, block.weight, guide.astype(block.dtype), params.center, grid, labels, counts, bins
        )
        return host(labels), loss

    def m_step(self, stats: MedianStats, params: Medians) -> Medians:
        """The best points known, and finer grids where they are not yet the medians."""
        bracket = Bracket(params.grid, stats.bins)
        found = bracket.found
        # So close to each other, points are one: the mean of the cells there is exact where they are equal.
        center = np.where(found, bracket.mean, bracket.best)
        center = np.where(bracket.cells > 0, center, params.center.T)
        grid = np.where(found[..., None], params.grid, bracket.next_grid())
        way = np.abs(center - params.center.T) + np.where(found, 0.0, bracket.width)
        relative = np.divide(way, bracket.spread, where=bracket.spread > 0, out=np.where(way > 0, np.inf, 0.0))
        center = np.ascontiguousarray(center.T)
        return Medians(center, grid, params.guide if relative.mean() <= self.tol else center)

    def reseated(
        self, stats: MedianStats, params: Medians, image: Medians, empty: np.ndarray, taken: Sequence[tuple]
    ) -> Medians:
        """The image with centres at the rows `taken`; the medians they leave follow at the next step."""
        center, grid = image.center.copy(), image.grid.copy()
        for j, (_, x, *_) in zip(empty, taken):
            center[j], grid[:, j] = x, x[:, None]
        return Medians(center, grid, center)

    def settled(self, trace: Trace, params: Medians, image: Medians, tol: float) -> Note | None:
        """Whether all medians are exact, and rows stayed where they were."""
        if not (np.array_equal(image.grid, params.grid) and np.array_equal(image.guide, params.guide)):
            return None
        if np.array_equal(image.center, image.guide):
            return UNCHANGED
        return Note(
            "moved_share", "the centres moved by less than tol={tol:g} of the spread of their rows", tol=self.tol
        )
