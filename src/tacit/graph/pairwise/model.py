"""Pairs of binary units: log p(x) = Σ_i b_i x_i + Σ_{i<j} W_ij x_i x_j − log Z.

The likelihood needs Z, a sum over all states. The pseudo-likelihood Σ_i log p(x_i | rest) does not: it is one logistic regression
per unit, which share their weights.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from ...arrays import Arrays, record
from ...engine import Model, Slope
from ...source.block import Block
from .states import expected

__all__ = ["PairModel", "PairParams"]


@record
class PairParams(Arrays):
    """Fields b and couplings W of units that have one of two values.

    Attributes
    ----------
    field : (d,) array
    coupling : (d, d) array
        Symmetric, 0 on the diagonal.
    values : (2,) array
        Of a unit.
    """

    field: np.ndarray
    coupling: np.ndarray
    values: np.ndarray

    def score(self, X: np.ndarray) -> np.ndarray:
        """Log probabilities up to log Z, (rows,)."""
        return X @ self.field + 0.5 * np.einsum("ij,ij->i", X @ self.coupling, X)

    def drive(self, X: np.ndarray) -> np.ndarray:
        """Log odds of the higher value of each unit given the others, (rows, d)."""
        return (self.values[1] - self.values[0]) * (self.field + X @ self.coupling)

    def pseudo(self, X: np.ndarray) -> np.ndarray:
        """Log pseudo-likelihood of rows, (rows,)."""
        return log_expit(np.where(self.values[1] == X, 1.0, -1.0) * self.drive(X)).sum(axis=1)

    @cached_property
    def sums(self) -> tuple[float, tuple[np.ndarray, ...]]:
        """Log Z, and the means and second moments of the units."""

        def moments(states: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, ...]:
            return p @ states, (states * p[:, None]).T @ states

        return expected(len(self.field), tuple(self.values), self.score, moments)


class PairModel(Model):
    """Learns fields and couplings by the gradient.

    Parameters
    ----------
    values : pair of float
        Of a unit.
    linked : (d, d) array of bool
        Which pairs have couplings.
    exact : bool
        Whether it is the likelihood that is maximised, or the pseudo-likelihood.
    alpha : float
        Precision of the parameters' Gaussian prior.
    """

    one_start = True

    def __init__(self, values: tuple[float, float], linked: np.ndarray, exact: bool, alpha: float):
        self.values, self.exact, self.alpha = np.array(values, dtype=float), exact, alpha
        self.edges = np.nonzero(np.triu(linked | linked.T, 1))

    def init(self, sample: Block, rng: np.random.Generator) -> PairParams:
        """Units that know nothing of each other."""
        d = sample.X.shape[1]
        return PairParams(np.zeros(d), np.zeros((d, d)), self.values)

    def free(self, params: PairParams) -> np.ndarray:
        """Fields, then the couplings of linked pairs."""
        return np.concatenate([params.field, params.coupling[self.edges]])

    def bound(self, vector: np.ndarray, params: PairParams) -> PairParams:
        """Parameters of such a vector."""
        d = len(params.field)
        coupling = np.zeros((d, d))
        coupling[self.edges] = vector[d:]
        return PairParams(vector[:d].copy(), coupling + coupling.T, params.values)

    def slope(self, params: PairParams, block: Block, order: int = 1) -> Slope:
        """What rows add to the log-likelihood, or to the pseudo-likelihood."""
        X, weight = block.X, block.weight
        total = float(weight.sum())
        if self.exact:
            log_z, (mean, second) = params.sums
            field = weight @ X - total * mean
            pairs = (X * weight[:, None]).T @ X - total * second
            value = float(weight @ params.score(X)) - total * log_z
        else:
            rest = weight[:, None] * (self.values[1] - self.values[0])
            rest = rest * ((self.values[1] == X) - expit(params.drive(X)))
            field, pairs = rest.sum(axis=0), rest.T @ X
            pairs = pairs + pairs.T
            value = float(weight @ params.pseudo(X))
        return Slope(value, total, np.concatenate([field, pairs[self.edges]]), np.zeros((0, 0)))

    def log_prior(self, params: PairParams) -> float:
        """Of a Gaussian about 0."""
        return -0.5 * self.alpha * float((self.free(params) ** 2).sum())

    def prior_slope(self, params: PairParams) -> tuple[Any, Any]:
        """Its gradient."""
        return -self.alpha * self.free(params), 0.0

    def ascent(self, params: PairParams, X: np.ndarray, n_steps: int, rng: np.random.Generator) -> np.ndarray:
        """The gradient of contrastive divergence: moments of rows less those after some steps of Gibbs sampling."""
        after = X.copy()
        for _ in range(n_steps):
            gibbs(params, after, rng)
        pairs = (X.T @ X - after.T @ after)[self.edges]
        return np.concatenate([X.sum(axis=0) - after.sum(axis=0), pairs]) / len(X)


def gibbs(params: PairParams, X: np.ndarray, rng: np.random.Generator) -> None:
    """Draw every unit of rows given the others, in place.

    Parameters
    ----------
    params : PairParams
    X : (rows, d) array
    rng : numpy.random.Generator
    """
    low, high = params.values
    for i, chance in enumerate(rng.random(X.shape[::-1])):
        odds = (high - low) * (params.field[i] + X @ params.coupling[:, i])
        X[:, i] = np.where(chance < expit(odds), high, low)
