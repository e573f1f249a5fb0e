"""Exponential families over independent columns: log p(x | k) = Σ_j T(x_j)·η_kj − A(η_kj) + c(x_j).

T holds one or more functions of the cell; a missing cell drops out of the sum, which is what integrating it out comes to.
Divergence and entropy follow from E[T] alone:

    KL(p ‖ q) = Σ_j (η_p − η_q)·E_p[T] − A(η_p) + A(η_q),    H(p) = Σ_j A(η_p) − η_p·E_p[T] − E_p[c]
"""

import numpy as np

from ..arrays import Arrays, record
from ..kernels import backend, kernel
from .family import OnePassFamily, occupied

__all__ = ["CellStats", "LinearFamily", "ProbabilityFamily", "ProbabilityParams", "RateFamily", "RateParams", "ratio"]


def ratio(total, count, fallback):
    """Total / count, and the fallback where nothing was observed."""
    alive = occupied(count)
    return np.where(alive, total / np.where(alive, count, 1.0), fallback)


@record
class CellStats(Arrays):
    """Σ r and Σ r T(x) over observed cells, each (classes, columns of T)."""

    count: np.ndarray
    total: np.ndarray


class LinearFamily(OnePassFamily):
    """Columns whose log density is linear in T(x): log p(x | k) = T(x)·a_k + s·b_k + c(x), s = 1 on observed cells.

    Attributes
    ----------
    functions : tuple of str
        The functions of a cell that T puts side by side, of ``x``, ``log`` and ``log1m``.
    """

    functions: tuple = ("x",)

    def form(self, params):
        """A and b, each (classes, columns of T)."""
        raise NotImplementedError

    def expected(self, params):
        """E[T(x)] under each class, (classes, columns of T)."""
        return self.mean(params)

    def base(self, block):
        """c(x) of each row; empty where it is 0."""
        return np.empty(0)

    def features(self, block):
        """T(x), (rows, columns of T)."""
        if self.functions == ("x",):
            return block.X
        if self.functions not in block.local:
            block.local[self.functions] = kernel("features", backend(block.X))(block.X, self.functions)
        return block.local[self.functions]

    def one_pass(self, params, block, mode, log_weight, out):
        slope, offset = self.form(params)
        count, s0, s1 = np.zeros(len(slope)), np.zeros(slope.shape), np.zeros(slope.shape)
        loglik = kernel("linear", backend(block.X))(
            self.features(block), slope, offset, self.base(block),
            mode, log_weight, block.weight, block.labels, out, count, s0, s1,
        )  # fmt: skip
        return loglik, count, CellStats(s0, s1)

    def first_steps(self, block, resp, flat):
        """Parameters learned from all rows, alike in all classes, and those of each class; `flat` are any to begin at."""
        resp = resp * block.weight[:, None]
        everything = np.repeat(resp.sum(axis=1, keepdims=True), resp.shape[1], axis=1)
        pooled = self.m_step(self.stats(flat, block, everything), flat)
        return pooled, self.m_step(self.stats(pooled, block, resp), pooled)

    def learned(self, numerator, denominator, stats, fallback):
        """Their quotient; the fallback where no cell was observed and no prior speaks."""
        alive = denominator > 0
        if self.prior is None:
            alive &= occupied(stats.count)
        return np.where(alive, numerator / np.where(alive, denominator, 1.0), fallback)

    def kl(self, params, other):
        (slope, offset), (slope_other, offset_other) = self.form(params), self.form(other)
        return ((slope - slope_other) * self.expected(params) + offset - offset_other).sum(axis=1)

    def entropy(self, params):
        """By the formula above; a family with a c(x) of its own adds it up instead."""
        slope, offset = self.form(params)
        return -(slope * self.expected(params) + offset).sum(axis=1)


@record
class ProbabilityParams(Arrays):
    """A probability per class and column, (classes, d)."""

    probability: np.ndarray


class ProbabilityFamily(LinearFamily):
    """Columns that count successes and failures of chance p, whose conjugate prior is Beta(a, b).

    p = (successes + a − 1) / (successes + failures + a + b − 2), the mode of the posterior; without a prior a = b = 1.

    Parameters
    ----------
    floor : float
        Probabilities stay within [floor, 1 − floor].
    prior : BetaPrior, optional
        Prior of every probability; the M-step then gives the posterior mode.
    """

    conjugate = "BetaPrior"

    def __init__(self, floor=1e-10, prior=None):
        self.floor, self.prior = floor, self.accepted(prior)

    def evidence(self, stats, params):
        """Successes and failures in each class and column."""
        raise NotImplementedError

    def value(self, params):
        return (params.probability,)

    def at(self, value):
        """Parameters within the bounds."""
        return ProbabilityParams(np.clip(value, self.floor, 1 - self.floor))

    def start(self, block, resp):
        flat = ProbabilityParams(np.full((resp.shape[1], block.X.shape[1]), 0.5))
        pooled, learned = self.first_steps(block, resp, flat)
        # A class that starts without any success could never gain one.
        return self.at(0.9 * learned.probability + 0.1 * pooled.probability)

    def m_step(self, stats, params):
        (a, b), (successes, failures) = self.pseudo, self.evidence(stats, params)
        return self.at(self.learned(successes + a, successes + failures + (a + b), stats, params.probability))

    def free(self, params):
        """Angles: probabilities near 0 and 1 stay there, where log odds would run away."""
        return np.arcsin(np.sqrt(params.probability)).ravel()

    def bound(self, vector, params):
        return self.at(np.sin(np.clip(vector, 0.0, np.pi / 2)).reshape(params.probability.shape) ** 2)

    def n_parameters(self, params):
        return params.probability.size


@record
class RateParams(Arrays):
    """A rate per class and column, (classes, d)."""

    rate: np.ndarray


class RateFamily(LinearFamily):
    """Columns that count events over an exposure, whose conjugate prior is Gamma(shape, rate).

    λ = (events + shape − 1) / (exposure + rate), the mode of the posterior; without a prior shape = 1 and rate = 0.

    Parameters
    ----------
    floor : float
        Smallest rate.
    prior : GammaPrior, optional
        Prior of every rate; the M-step then gives the posterior mode.
    """

    conjugate = "GammaPrior"

    def __init__(self, floor=1e-10, prior=None):
        self.floor, self.prior = floor, self.accepted(prior)

    def evidence(self, stats, params):
        """Events and exposure in each class and column."""
        raise NotImplementedError

    def value(self, params):
        return (params.rate,)

    def at(self, value):
        """Parameters within the bounds."""
        return RateParams(np.clip(value, self.floor, 1.0 / self.floor))

    def start(self, block, resp):
        flat = RateParams(np.ones((resp.shape[1], block.X.shape[1])))
        pooled, learned = self.first_steps(block, resp, flat)
        # A class that starts without any event could never gain one.
        return self.at(0.9 * learned.rate + 0.1 * pooled.rate)

    def m_step(self, stats, params):
        (shape, rate), (events, exposure) = self.pseudo, self.evidence(stats, params)
        events, exposure = events + shape, exposure + rate
        # Events without exposure would have an infinite rate; the bound is what `at` allows.
        return self.at(self.learned(events, np.maximum(exposure, self.floor * events), stats, params.rate))

    def free(self, params):
        """Log rates."""
        return np.log(params.rate).ravel()

    def bound(self, vector, params):
        return self.at(np.exp(np.clip(vector, -700.0, 700.0)).reshape(params.rate.shape))

    def n_parameters(self, params):
        return params.rate.size
