"""What an expert says of y given z = [1, x]: a line with noise, or the odds of classes; `expert_glm` has further laws.

Linear:    p(y | z, k) = Π_j N(y_j | β_kj·z, σ_kj²)        Logistic:  p(y = c | z, k) = softmax_c(B_k z)
"""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy.special import log_softmax

from ..arrays import Arrays, record
from ..families.family import occupied
from ..source import Block
from .gate import SoftmaxGate, SoftmaxStats, grams

__all__ = ["Experts", "LinearExperts", "LinearParams", "LogisticExperts", "LogisticParams", "scores"]


@record
class LinearParams(Arrays):
    """Coefficients (experts, targets, q) and noise variances (experts, targets)."""

    coef: np.ndarray
    variance: np.ndarray

    def rescaled(self, coef: np.ndarray, factor: np.ndarray) -> Self:
        """The same experts with targets in another unit, whose coefficients are known."""
        return type(self)(coef, self.variance * factor**2)


@record
class LinearStats(Arrays):
    """Σ r, Σ r z zᵀ, Σ r y zᵀ and Σ r y²."""

    count: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    square: np.ndarray


@record
class LogisticParams(Arrays):
    """Coefficients (experts, classes, q)."""

    coef: np.ndarray

    def rescaled(self, coef: np.ndarray, factor: np.ndarray) -> Self:
        """The same experts with other coefficients; classes have no unit."""
        return type(self)(coef)


class Experts:
    """What a mixture of experts asks of its experts: the methods of `LinearExperts`, and these, with their defaults."""

    scaled = False  # whether targets are brought to mean 0 and variance 1
    lines = False  # whether lines through a few rows are worth trying as starts

    def rows(self, Y: np.ndarray, block: Block) -> Any:
        """Targets of a block as `log_prob` and `stats` take them."""
        return Y

    def permute(self, params: Any, order: np.ndarray) -> Any:
        """The same experts in another order."""
        return params.map(lambda value: value[order])

    def log_prior(self, params: Any) -> float:
        """Log density of the parameters under their prior; by default there is none."""
        return 0.0


class LinearExperts(Experts):
    """Linear regressions with their own noise, of a variance of at least `floor`, relative to that of the target."""

    scaled = lines = True

    def __init__(self, floor: float, equal: bool = False):
        self.floor, self.equal = floor, equal

    def view(self, Y: np.ndarray) -> np.ndarray:
        """Targets as quantities that depend on the features linearly, to look for starts in."""
        return Y

    def log_prob(self, params: LinearParams, Z: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Log density of the targets under each expert, (rows, experts)."""
        residual = Y[:, None] - scores(Z, params.coef)
        return -0.5 * (np.log(2 * np.pi * params.variance) + residual**2 / params.variance).sum(axis=2)

    def start(self, Z: np.ndarray, Y: np.ndarray, resp: np.ndarray, reach: np.ndarray) -> LinearParams:
        """Least squares in every class of soft assignments, all with the noise that this leaves."""
        count, (q, m) = resp.sum(axis=0), (Z.shape[1], Y.shape[1])
        together = self.stats(None, Z, Y, resp.sum(axis=1, keepdims=True))
        one = self.m_step(together, LinearParams(np.zeros((1, m, q)), np.ones((1, m))), reach)
        # Directions in which a class has no spread keep the common slope.
        parts = self.m_step(
            self.stats(None, Z, Y, resp), one.map(lambda value: np.repeat(value, len(count), axis=0)), reach
        )
        return LinearParams(parts.coef, np.tile(count @ parts.variance / count.sum(), (len(count), 1)))

    def stats(self, params: LinearParams | None, Z: np.ndarray, Y: np.ndarray, resp: np.ndarray) -> LinearStats:
        """What a block adds."""
        weighted = resp.T[:, :, None] * Y
        return LinearStats(resp.sum(axis=0), grams(Z, resp), np.swapaxes(weighted, 1, 2) @ Z, resp.T @ Y**2)

    def m_step(self, stats: LinearStats, params: LinearParams, reach: np.ndarray) -> LinearParams:
        """Weighted least squares, as a step from the present coefficients."""
        coef = np.empty_like(params.coef)
        for k, (gram, cross, old) in enumerate(zip(stats.gram, stats.cross, params.coef)):
            # A step, not a solution: what an expert's rows cannot tell keeps its value, and the objective never falls.
            coef[k] = old + np.linalg.lstsq(gram, (cross - old @ gram).T, rcond=1e-13)[0].T
        explained = ((2 * stats.cross - coef @ stats.gram) * coef).sum(axis=2)
        alive = occupied(stats.count)
        count = np.where(alive, stats.count, 1.0)[:, None]
        left = stats.square - explained
        if self.equal:
            left, count = left[alive].sum(axis=0), count[alive].sum(axis=0)
        variance = np.broadcast_to(np.maximum(left / count, self.floor), params.variance.shape)
        keep = alive[:, None] | self.equal
        return LinearParams(
            np.where(alive[:, None, None], coef, params.coef), np.where(keep, variance, params.variance)
        )

    def free(self, params: LinearParams) -> np.ndarray:
        """Coefficients and log variances as a vector; of a common variance, one."""
        return LinearParams(params.coef, np.log(params.variance[: self._n_variances(params)])).to_vector()

    def _n_variances(self, params: LinearParams) -> int:
        """How many experts have a variance of their own."""
        return 1 if self.equal else len(params.variance)

    def bound(self, vector: np.ndarray, params: LinearParams) -> LinearParams:
        """Parameters from any vector."""
        found = LinearParams(params.coef, params.variance[: self._n_variances(params)]).from_vector(vector)
        variance = np.maximum(np.exp(np.clip(found.variance, -700.0, 700.0)), self.floor)
        own = variance if len(variance) == len(params.variance) else np.broadcast_to(variance, params.variance.shape)
        return LinearParams(found.coef, own)

    def n_parameters(self, params: LinearParams) -> int:
        """Free parameters."""
        return params.coef.size + self._n_variances(params) * params.variance.shape[1]


class LogisticExperts(Experts):
    """Softmax regressions, with a Gaussian prior of precision `alpha`; the one target is the number of the class.

    Its methods are those of `LinearExperts`.
    """

    def __init__(self, n_classes: int, alpha: float):
        self.n_classes, self.each = n_classes, SoftmaxGate(alpha)

    def view(self, Y: np.ndarray) -> np.ndarray:
        return np.eye(self.n_classes)[Y[:, 0].astype(int)]

    def log_prob(self, params: LogisticParams, Z: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Log probability of the observed class under each expert, (rows, experts)."""
        every = log_softmax(scores(Z, params.coef), axis=2)
        return every[np.arange(len(Z)), :, Y[:, 0].astype(np.intp)]

    def _counts(self, Y: np.ndarray, resp: np.ndarray) -> Iterator[np.ndarray]:
        """What each expert has seen of the classes, (rows, classes)."""
        observed = np.eye(self.n_classes)[Y[:, 0].astype(np.intp)]
        return (r[:, None] * observed for r in resp.T)

    def start(self, Z: np.ndarray, Y: np.ndarray, resp: np.ndarray, reach: np.ndarray) -> LogisticParams:
        """Coefficients near the best for soft assignments, times weights, of a sample of rows."""
        return LogisticParams(np.stack([self.each.start(Z, counts, reach) for counts in self._counts(Y, resp)]))

    def stats(self, params: LogisticParams, Z: np.ndarray, Y: np.ndarray, resp: np.ndarray) -> SoftmaxStats:
        parts = [self.each.stats(coef, Z, counts) for coef, counts in zip(params.coef, self._counts(Y, resp))]
        return SoftmaxStats(np.stack([p.gradient for p in parts]), np.stack([p.curvature for p in parts]))

    def m_step(self, stats: SoftmaxStats, params: LogisticParams, reach: np.ndarray) -> LogisticParams:
        """One safe Newton step for every expert."""
        rows = zip(params.coef, stats.gradient, stats.curvature)
        return LogisticParams(np.stack([self.each.m_step(SoftmaxStats(*part), coef, reach) for coef, *part in rows]))

    def log_prior(self, params: LogisticParams) -> float:
        return self.each.log_prior(params.coef)

    def free(self, params: LogisticParams) -> np.ndarray:
        return params.to_vector()

    def bound(self, vector: np.ndarray, params: LogisticParams) -> LogisticParams:
        return params.from_vector(vector)

    def n_parameters(self, params: LogisticParams) -> int:
        return sum(map(self.each.n_parameters, params.coef))


def scores(Z: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """coef_kc · z_n for every row, expert and output, (rows, experts, outputs), as one matrix product."""
    return (Z @ coef.reshape(-1, Z.shape[1]).T).reshape(len(Z), *coef.shape[:2])
