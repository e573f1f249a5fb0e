"""Columns that go around a cycle, such as hours, months and bearings, independent given the class.

    log p(x | k) = Σ_j κ_kj cos(θ_j − μ_kj) − log A(κ_kj, μ_kj),    θ_j = 2π x_j / period_j

This is von Mises's distribution, exponential with T(x) = (cos θ, sin θ). A is the mean of exp(κ cos(θ − μ)) over the cycle, times
its period: over its steps where cells are whole numbers, so that p are probabilities of the steps, and over as fine a grid as
makes it exact to rounding elsewhere.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, declare
from ..engine.coordinates import Real, Record
from ..kernels import backend, host, kernel, lazy
from ..source.block import Block
from .family import Family, occupied, recalled
from .laws import LevelLaw
from .linear import CellStats, LinearFamily

__all__ = ["VonMises"]

compiled = lazy("cyclic")
FINE = 360
"""Points of the grid where cells are not whole; sums over it are exact to rounding up to the largest concentration."""
LARGEST = 2000.0
"""Largest concentration κ, whose spread is 1.3 degrees."""


@record
class VonMisesParams(Arrays):
    """κ cos μ and κ sin μ, each (classes, d)."""

    cos: np.ndarray
    sin: np.ndarray
    _saved = declare(cos=Numbers("K d", high=1.01 * LARGEST), sin=Numbers("K d", high=1.01 * LARGEST))


class VonMises(LinearFamily):
    """Columns that go around a cycle: 23 is next to 0 on a clock of 24 hours.

    Parameters
    ----------
    period : float or sequence of float
        Length of the cycle of every column, or of each.
    origin : float or sequence of float
        Least value of the cycle, from which means and drawn cells are told: 1 for months.
    steps : int or sequence of int
        In how many steps cells go around, where they are whole numbers; 0 where they are not.
    smoothing : float
        Rows' worth, spread evenly over the cycle, added to every class, so that no place is impossible.

    Notes
    -----
    `mean` is the mean direction, and `variance` that of the way from it, the shorter way around. A missing cell is filled with
    its mean direction, and its interval is an arc about that: one from 22 to 3 goes through midnight.

    References
    ----------
    K. V. Mardia and P. E. Jupp, *Directional Statistics*, Wiley, 2000.

    Examples
    --------
    >>> from tacit.families import VonMises
    >>> VonMises(24, steps=24).fit([22, 23, 0, 1, 2]).mean.round(6) + 0.0
    array([0.])
    """

    functions = ("cos", "sin")
    flat = 0.0
    _params_type = VonMisesParams
    _saved: ClassVar = {
        "period": Numbers("a", above=0), "origin": Numbers("b"), "steps": Numbers("c", low=0, high=1e5, kind="i"),
        "smoothing": Numbers(low=0),
    }  # fmt: skip

    def __init__(self, period: Any, *, origin: Any = 0.0, steps: Any = 0, smoothing: float = 0.0) -> None:
        self.period, self.origin = (np.atleast_1d(np.asarray(value, np.float64)) for value in (period, origin))
        self.steps, self.smoothing = np.atleast_1d(np.asarray(steps, dtype=np.int64)), smoothing
        if not (self.period > 0).all():
            raise ValueError(f"period={period} must be positive.")
        if not smoothing >= 0:
            raise ValueError(f"smoothing={smoothing!r} must be at least 0.")

    @property
    def support(self) -> str:
        return f"VonMises({self.period.tolist()})"

    def check(self, X: np.ndarray) -> None:
        for name in ("period", "origin", "steps"):
            if getattr(self, name).size not in (1, X.shape[1]):
                raise ValueError(f"{name} names {getattr(self, name).size} columns, but X has {X.shape[1]}.")

    def check_params(self, params: Any, n_classes: int, n_columns: int) -> None:
        super().check_params(params, n_classes, n_columns)
        self.check(np.empty((0, n_columns)))

    def _cycles(self, d: int) -> list[tuple[float, float, np.ndarray]]:
        """Of every column its period, its least value, and the points of its grid from 0 on."""
        each = (np.broadcast_to(value, d).tolist() for value in (self.period, self.origin, self.steps))
        return [(period, origin, period * np.arange(n or FINE) / (n or FINE)) for period, origin, n in zip(*each)]

    def features(self, block: Block) -> Any:
        turn = np.broadcast_to(2.0 * np.pi / self.period, block.X.shape[1])
        make = kernel("features", backend(block.X))
        return recalled(block, ("turns", *turn.tolist()), lambda: make(block.X, self.functions, turn))

    # The grid

    def _log_shares(self, params: VonMisesParams) -> tuple[list[np.ndarray], np.ndarray]:
        """Log probabilities of the points of every column's grid, (classes, points) each, and log A, (classes, d)."""
        log_share, log_a = [], np.empty(params.cos.shape)
        for j, (period, _, points) in enumerate(self._cycles(params.cos.shape[1])):
            logits = np.column_stack([params.cos[:, j], params.sin[:, j]]) @ _circle(len(points)).T
            top = logits.max(axis=1)
            total = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
            log_share.append(logits - total[:, None])
            log_a[:, j] = total - np.log(len(points)) + np.log(period)
        return log_share, log_a

    def shares(self, params: VonMisesParams) -> list[np.ndarray]:
        """Probabilities of the points of every column's grid, (classes, points) each."""
        return [np.exp(log_share) for log_share in self._log_shares(params)[0]]

    def form(self, params: VonMisesParams) -> tuple:
        log_a = self._log_shares(params)[1]
        return np.hstack([params.cos, params.sin]), np.hstack([-log_a, np.zeros(log_a.shape)])

    def expected(self, params: VonMisesParams) -> np.ndarray:
        cycles = zip(self._cycles(params.cos.shape[1]), self.shares(params))
        return np.stack([share @ _circle(len(points)) for (period, _, points), share in cycles], axis=2).reshape(
            len(params.cos), -1
        )

    # Learning

    def m_step(self, stats: CellStats, params: VonMisesParams) -> VonMisesParams:
        (count, _), (cos, sin) = (np.split(part, 2, axis=1) for part in (stats.count, stats.total))
        alive = occupied(count)
        size = np.where(alive, count, 1.0) + self.smoothing
        mean = np.stack([cos / size, sin / size], axis=2)
        before = np.stack([params.cos, params.sin], axis=2)
        found = before.copy()
        for j, (_, _, points) in enumerate(self._cycles(count.shape[1])):
            eta = before[:, j].copy()
            compiled.likeliest(mean[:, j].copy(), _circle(len(points)), LARGEST, eta)
            found[:, j] = eta
        found = np.where(alive[:, :, None], found, before)
        return VonMisesParams(found[:, :, 0], found[:, :, 1])

    def start(self, block: Block, resp: Any) -> VonMisesParams:
        return 0.9 * super().start(block, resp)

    def log_prior(self, params: VonMisesParams) -> float:
        return -self.smoothing * float(self._log_shares(params)[1].sum()) if self.smoothing else 0.0

    def coordinates(self, params: VonMisesParams) -> Record:
        return Record(params, cos=Real(params.cos, proper=False), sin=Real(params.sin, proper=False))

    def score(self, stats: Any, params: VonMisesParams) -> Any:
        return Family.score(self, stats, params)  # cells were turned about

    def free(self, params: VonMisesParams) -> np.ndarray:
        return np.concatenate([params.cos.ravel(), params.sin.ravel()])

    def bound(self, vector: np.ndarray, params: VonMisesParams) -> VonMisesParams:
        cos, sin = _within(vector.reshape(2, *params.cos.shape).transpose(1, 2, 0)).transpose(2, 0, 1)
        return VonMisesParams(cos, sin)

    # What it says

    def parameters(self, params: VonMisesParams) -> dict[str, np.ndarray]:
        return {"direction": self.mean(params), "concentration": np.hypot(params.cos, params.sin)}

    def known(self, **values: Any) -> Any:
        """Parameters of one class from its direction, in the units of the columns, and concentration."""
        if set(values) != {"direction", "concentration"}:
            raise TypeError(f"VonMises.of takes direction, concentration, but got {', '.join(values) or 'nothing'}.")
        turn = 2.0 * np.pi * np.atleast_1d(np.asarray(values["direction"], np.float64)) / self.period
        kappa, turn = np.broadcast_arrays(np.atleast_1d(np.asarray(values["concentration"], np.float64)), turn)
        params = VonMisesParams((kappa * np.cos(turn))[None], (kappa * np.sin(turn))[None])
        self.check_params(params, 1, kappa.size)
        return params

    def mean(self, params: VonMisesParams) -> np.ndarray:
        """The direction around which each class lies, within the cycle."""
        cycles, turn = self._cycles(params.cos.shape[1]), np.arctan2(params.sin, params.cos) / (2.0 * np.pi)
        return np.column_stack(
            [placed(period * turn[:, j], origin, period) for j, (period, origin, _) in enumerate(cycles)]
        )

    def variance(self, params: VonMisesParams) -> np.ndarray:
        mean, cycles = self.mean(params), self._cycles(params.cos.shape[1])
        each = enumerate(zip(self.shares(params), cycles))
        found = [
            (share * _way(points, mean[:, j, None], period) ** 2).sum(axis=1)
            for j, (share, (period, _, points)) in each
        ]
        return np.column_stack(found)

    def possible(self, cells: np.ndarray) -> np.ndarray:
        out = cells.copy()
        for j, (period, origin, _) in enumerate(self._cycles(cells.shape[1])):
            if np.broadcast_to(self.steps, cells.shape[1])[j]:
                out[:, j] = placed(np.round(cells[:, j]), origin, period)
        return out

    def sample(self, params: VonMisesParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.empty((len(classes), params.cos.shape[1]))
        whole = np.broadcast_to(self.steps, out.shape[1]) > 0
        for j, (share, (period, origin, points)) in enumerate(zip(self.shares(params), self._cycles(out.shape[1]))):
            place = (rng.random((len(classes), 1)) > np.cumsum(share, axis=1)[classes, :-1]).sum(axis=1)
            between = 0.0 if whole[j] else (rng.random(len(classes)) - 0.5) * period / len(points)
            out[:, j] = placed(points[place] + between, origin, period)
        return out

    def law(self, params: VonMisesParams, block: Block) -> LevelLaw:
        return CyclicLaw(self.shares(params), block.missing_cells[1], self._cycles(block.X.shape[1]))

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        """Places on circles of unit spread; a missing cell lies in the middle."""
        return np.nan_to_num(host(self.features(block))) * np.sqrt(2.0)


class CyclicLaw(LevelLaw):
    """Places on cycles: their expectation is the mean direction, and quantiles are taken the shorter ways from it.

    Parameters
    ----------
    shares : list of (K, points) arrays
        Probabilities of the points of every column's grid.
    columns : (m,) int array
        The column of each cell.
    cycles : list of (period, origin, points)
    """

    def __init__(self, shares: Sequence[np.ndarray], columns: np.ndarray, cycles: list) -> None:
        super().__init__(shares, columns)
        self.cycles = cycles

    @classmethod
    def pooled(cls, laws: Sequence[Any]) -> Any:
        return cls([np.vstack(each) for each in zip(*(law.shares for law in laws))], laws[0].columns, laws[0].cycles)

    def with_uniform(self) -> Any:
        even = [np.vstack([share, np.full(share.shape[1], 1.0 / share.shape[1])]) for share in self.shares]
        return CyclicLaw(even, self.columns, self.cycles)

    def _each(self, weight: np.ndarray, answer: Any) -> np.ndarray:
        """What `answer` makes of the cells of every column: probabilities of its points, their ways from the mean, the mean."""
        out = np.empty(len(weight))
        for j in np.unique(self.columns):
            period, origin, points = self.cycles[j]
            share = self.levels(j, weight)
            x, y = (share @ _circle(len(points))).T
            mean = np.arctan2(y, x) * period / (2.0 * np.pi)
            out[self.columns == j] = answer(share, _way(points, mean[:, None], period), mean, origin, period)
        return out

    def mean(self, weight: np.ndarray) -> np.ndarray:
        return self._each(weight, lambda share, way, mean, origin, period: placed(mean, origin, period))

    def std(self, weight: np.ndarray) -> np.ndarray:
        return self._each(weight, lambda share, way, mean, origin, period: np.sqrt((share * way**2).sum(axis=1)))

    def quantile(self, q: float, weight: np.ndarray) -> np.ndarray:
        def answer(share: np.ndarray, way: np.ndarray, mean: np.ndarray, origin: float, period: float) -> np.ndarray:
            order = np.argsort(way, axis=1)
            reached = np.cumsum(np.take_along_axis(share, order, axis=1), axis=1) >= q * (1.0 - 1e-12)
            place = np.where(reached.any(axis=1), reached.argmax(axis=1), share.shape[1] - 1)
            return placed(mean + np.take_along_axis(way, order, axis=1)[np.arange(len(share)), place], origin, period)

        return self._each(weight, answer)

    def probability(self, weight: np.ndarray) -> np.ndarray:
        return np.full(len(weight), np.nan)


def placed(x: Any, origin: float, period: float) -> np.ndarray:
    """Numbers as those of the cycle from `origin` on that they stand for; those a rounding error below its end are its start."""
    turned = np.mod(np.asarray(x) - origin, period)
    return origin + np.where(turned > period * (1.0 - 1e-12), 0.0, turned)


@lru_cache
def _circle(n: int) -> np.ndarray:
    """Cosines and sines of n points that divide a cycle evenly."""
    turn = 2.0 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(turn), np.sin(turn)])


def _way(points: np.ndarray, mean: np.ndarray, period: float) -> np.ndarray:
    """From a mean to points, the shorter way around."""
    return np.mod(points - mean + 0.5 * period, period) - 0.5 * period


def _within(eta: np.ndarray) -> np.ndarray:
    """κ (cos μ, sin μ), along the last axis, with κ at most the largest."""
    kappa = np.sqrt((eta**2).sum(axis=-1, keepdims=True))
    return eta * np.minimum(1.0, LARGEST / np.maximum(kappa, 1.0))
