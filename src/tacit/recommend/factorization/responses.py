"""What a rating tells of η = μ + b + c + u·v: a measurement with noise, a level of a scale, or an event.

    Gaussian:  r = η + noise
    ordinal:   r is the level between whose thresholds g = η + ε lies, ε ~ N(0, 1); q(g) is a truncated Gaussian
    implicit:  an event of strength r says that η is 1 with the weight 1 + α r; all other cells say that it is 0 with the weight 1

All three are weighted least squares of targets, which the ordinal one makes anew from where the vectors are.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from ...kernels import lazy

__all__ = ["GaussianResponse", "ImplicitResponse", "OrdinalResponse", "level_chances"]

compiled = lazy("factorization")
TINY = 1e-300


class GaussianResponse:
    """r = η + noise, noise ~ N(0, σ² / weight).

    Parameters
    ----------
    mean, variance : float
        Those of all ratings.
    learns : bool
        Whether σ² is learned; otherwise it is 1, and errors are charged as they are.
    """

    uneven = True
    """Whether users may differ in how consistent they are."""
    dense = False
    """Whether cells that are not stored count too, as 0 with the weight 1."""
    moves = False
    """Whether targets depend on where the vectors are."""

    def __init__(self, mean: float = 0.0, variance: float = 1.0, learns: bool = True):
        self.mean, self.variance, self.learns = mean, variance, learns

    def start(self) -> tuple[float, float, np.ndarray]:
        """μ, σ² and further parameters to start from."""
        return self.mean, max(0.7 * self.variance, 1e-6) if self.learns else 1.0, np.zeros(0)

    def as_points(self) -> GaussianResponse:
        """The same with σ² as it is."""
        same = copy(self)
        same.learns = False
        return same

    def targets(self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray) -> np.ndarray:
        """What cells tell of b + c + u·v."""
        return rows.data - rows.data.dtype.type(params.centre)

    def weights(self, rows: Any, kind: Any) -> np.ndarray:
        """Weights of the cells."""
        return rows.weight if len(rows.weight) else np.ones(len(rows.data), kind)

    def on_device(
        self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray, data: Any, weight: Any
    ) -> tuple[Any, Any]:
        """Weights and targets of cells whose ratings and weights lie on a device."""
        return weight, data - params.centre

    def told(
        self, params: Any, rows: Any, before: np.ndarray, own: np.ndarray, others: np.ndarray, error: float
    ) -> tuple[float, np.ndarray]:
        """Expected log-likelihood of the cells, and sums to learn parameters from; `before` are the rows' former vectors."""
        return -0.5 * (rows.total * np.log(2 * np.pi * params.noise) + error / params.noise), np.zeros(0)

    def further(self, params: Any, rows: Any) -> np.ndarray | float:
        """What squared errors of each row are larger by, for what is uncertain besides the vectors."""
        return 0.0

    def moved(self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray, steady: np.ndarray) -> tuple | None:
        """What parameters of the items of rows become, given users; None where there are none."""
        return None

    def gathered(self, params: Any, parts: list) -> np.ndarray:
        """Parameters, from what blocks of items were moved to."""
        return params.response

    def value(self, params: Any) -> float:
        """What further parameters add to the objective."""
        return 0.0

    def updated(self, params: Any, stats: Any) -> tuple[float, np.ndarray]:
        """σ² and further parameters, given sums."""
        return stats.error / max(stats.weight, TINY) if self.learns else params.noise, params.response


class ImplicitResponse(GaussianResponse):
    """Events, weighted by confidence 1 + α r; what was not seen is 0 with the weight 1.

    Parameters
    ----------
    alpha : float
        α.
    variance : float
        Mean weighted square of all cells.
    learns : bool
        As in `GaussianResponse`: the noise of zeros and ones is far below 1, and priors that are learned beside a noise that is
        too large end at no factors at all.
    """

    uneven, dense = False, True

    def __init__(self, alpha: float, variance: float = 1.0, learns: bool = False):
        super().__init__(0.0, variance, learns)
        self.alpha = alpha

    def targets(self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray) -> np.ndarray:
        # Of the weight 1 + α r of an event, 1 is in the base already: α r times this is all of it.
        return 1.0 + 1.0 / (self.alpha * rows.data)

    def on_device(
        self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray, data: Any, weight: Any
    ) -> tuple[Any, Any]:
        return self.alpha * data * weight, 1.0 + 1.0 / (self.alpha * data)

    def weights(self, rows: Any, kind: Any) -> np.ndarray:
        return (self.alpha * rows.data).astype(kind, copy=False) * super().weights(rows, kind)

    def further(self, params: Any, rows: Any) -> np.ndarray | float:
        # Two squares, about 0 and about the target, are one about 1 and this.
        weight, target = self.weights(rows, np.float64), self.targets(params, rows, *(np.empty(0),) * 2)
        left = weight * target**2 / (1.0 + weight)
        return -np.bincount(np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), left, len(rows))

    def told(
        self, params: Any, rows: Any, before: np.ndarray, own: np.ndarray, others: np.ndarray, error: float
    ) -> tuple[float, np.ndarray]:
        n_cells = float(len(rows)) * rows.shape[1]
        return -0.5 * (n_cells * np.log(2 * np.pi * params.noise) + error / params.noise), np.array([n_cells])

    def updated(self, params: Any, stats: Any) -> tuple[float, np.ndarray]:
        return stats.error / stats.response[0] if self.learns else params.noise, params.response


class OrdinalResponse(GaussianResponse):
    """Levels of a scale: a cumulative probit model, whose thresholds are learned.

    Parameters
    ----------
    levels : (L,)
        The ratings there are, in order.
    share : (L,)
        How often each occurs.
    """

    uneven, moves = False, True

    def __init__(self, levels: np.ndarray, share: np.ndarray):
        super().__init__(learns=True)
        self.levels, self.share = levels.astype(np.float32), share

    def start(self) -> tuple[float, float, np.ndarray]:
        below = np.cumsum(self.share)[:-1] / self.share.sum()
        return 0.0, 1.0, 1.3 * ndtri(np.clip(below, 1e-6, 1 - 1e-6))

    def _limits(self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, ...]:
        """Numbers of the cells' levels, η, and where the thresholds about a level are, less η."""
        level = np.searchsorted(self.levels, rows.data)
        eta = compiled.cell_sums(rows.indptr, rows.indices, own, others)
        cuts = np.concatenate([[-np.inf], params.response, [np.inf]])
        return level, eta, cuts[level] - eta, cuts[level + 1] - eta

    def targets(self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray) -> np.ndarray:
        _, eta, low, high = self._limits(params, rows, own, others)
        mass, left, right = _between(low, high)
        return eta + (left - right) / mass

    def told(
        self, params: Any, rows: Any, before: np.ndarray, own: np.ndarray, others: np.ndarray, error: float
    ) -> tuple[float, np.ndarray]:
        target = self.targets(params, rows, before, others)
        level, eta, low, high = self._limits(params, rows, own, others)
        weight = self.weights(rows, np.float64)
        mass, left, right = _between(low, high)
        left, right = weight * left / mass, weight * right / mass
        value = weight @ np.log(mass) - 0.5 * (error - weight @ (target - eta) ** 2)
        return float(value), self._slopes(level, weight, low, high, left, right)

    def on_device(
        self, params: Any, rows: Any, own: np.ndarray, others: np.ndarray, data: Any, weight: Any
    ) -> tuple[Any, Any]:
        return weight, data.new_tensor(self.targets(params, rows, own, others))

    def _slopes(self, level: np.ndarray, weight: np.ndarray, low: Any, high: Any, left: Any, right: Any) -> np.ndarray:
        """Gradient and curvature of the log-likelihood in the thresholds, end to end."""
        n, per = len(self.levels), 1.0 / np.maximum(weight, TINY)
        up, down = (np.bincount(level, each, n) for each in (right, left))
        low, high = (np.where(np.isfinite(each), each, 0.0) for each in (low, high))
        bent = [np.bincount(level, each, n) for each in (
            -high * right - right**2 * per, low * left - left**2 * per, left * right * per
        )]  # fmt: skip
        curvature = np.diag(bent[0][:-1] + bent[1][1:])
        inner = bent[2][1:-1]
        places = np.arange(len(inner))
        curvature[places, places + 1] = curvature[places + 1, places] = inner
        return np.concatenate([up[:-1] - down[1:], curvature.ravel()])

    def updated(self, params: Any, stats: Any) -> tuple[float, np.ndarray]:
        n = len(self.levels) - 1
        slope, curvature = stats.response[:n], stats.response[n:].reshape(n, n)
        step = np.linalg.solve(curvature - 1e-9 * np.eye(n), -slope)
        cuts = params.response
        while n > 1 and (np.diff(cuts + step) < 0.5 * np.diff(cuts)).any():
            step /= 2.0
        return 1.0, cuts + step


def _between(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probability that a standard Gaussian lies between limits, and its densities at both; in the tail that is nearer."""
    flip = low > 0
    near, far = np.where(flip, -high, low), np.where(flip, -low, high)
    top, bottom = log_ndtr(far), log_ndtr(near)
    mass = np.maximum(np.exp(top) - np.exp(bottom), TINY)
    return mass, _density(low), _density(high)


def _density(x: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * np.square(x)) / np.sqrt(2 * np.pi)


def level_chances(cuts: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Probabilities (n, levels) of levels for η of these means and variances."""
    below = ndtr((cuts - mean[:, None]) / np.sqrt(1.0 + variance)[:, None])
    edges = np.zeros((len(mean), 1))
    return np.diff(np.hstack([edges, below, edges + 1.0]), axis=1)
