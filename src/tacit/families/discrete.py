"""Yes/no and categorical columns, independent given the class.

    Bernoulli:    log p(x | k) = Σ_j x_j log p_kj + (1 − x_j) log(1 − p_kj)
    Categorical:  log p(x | k) = Σ_j log p_kj(x_j)

A missing cell drops out of the sum, which is what integrating it out comes to.
"""

from functools import cached_property

import numpy as np

from ..arrays import Arrays, record
from ..kernels import backend, host, kernel
from ..kernels.layout import level_columns
from .base import OnePassFamily, occupied

__all__ = ["Bernoulli", "Categorical"]


def _ratio(total, count, fallback):
    """Total / count, and the fallback where nothing was observed."""
    alive = occupied(count)
    return np.where(alive, total / np.where(alive, count, 1.0), fallback)


@record
class CellStats(Arrays):
    """Σ r and Σ r x over observed cells, each (classes, d)."""

    count: np.ndarray
    total: np.ndarray


@record
class BernoulliParams(Arrays):
    """Probability of a 1, (classes, d)."""

    probability: np.ndarray

    @cached_property
    def logs(self):
        """Log probabilities of 1 and of 0."""
        return np.log(self.probability), np.log1p(-self.probability)


class LinearFamily(OnePassFamily):
    """Columns whose log density is linear in the cell: log p(x | k) = x·a_k + s·b_k + c(x), s = 1 on observed cells."""

    def form(self, params):
        """A and b, each (classes, d)."""
        raise NotImplementedError

    def base(self, block):
        """c(x) of each row; empty where it is 0."""
        return np.empty(0)

    def one_pass(self, params, block, mode, log_weight, out):
        slope, offset = self.form(params)
        count, s0, s1 = np.zeros(len(slope)), np.zeros(slope.shape), np.zeros(slope.shape)
        loglik = kernel("linear", backend(block.X))(
            block.X, slope, offset, self.base(block), mode, log_weight, block.weight, block.labels, out, count, s0, s1
        )
        return loglik, count, CellStats(s0, s1)


class Bernoulli(LinearFamily):
    """Columns of 0 and 1.

    Parameters
    ----------
    floor : float
        Probabilities stay within [floor, 1 − floor].
    """

    def __init__(self, floor=1e-10):
        self.floor = floor

    def check(self, X):
        bad = X[~np.isnan(X) & (X != 0) & (X != 1)]
        if bad.size:
            raise ValueError(f"Bernoulli columns hold 0, 1 or NaN, but X holds {bad.flat[0]:g}; recode the column.")

    def start(self, block, resp):
        shape = resp.shape[1], block.X.shape[1]
        params = BernoulliParams(np.full(shape, 0.5))
        params = self.m_step(self.stats(params, block, resp * block.weight[:, None]), params)
        # Hard starts put probabilities at 0 and 1, from which EM cannot move.
        return BernoulliParams(0.9 * params.probability + 0.05)

    def form(self, params):
        one, zero = params.logs
        return one - zero, zero

    def m_step(self, stats, params):
        probability = _ratio(stats.total, stats.count, params.probability)
        return BernoulliParams(np.clip(probability, self.floor, 1 - self.floor))

    def sample(self, params, classes, rng):
        return (rng.random((len(classes), params.probability.shape[1])) < params.probability[classes]).astype(float)

    def free(self, params):
        """Angles: probabilities near 0 and 1 stay there, where log odds would run away."""
        return np.arcsin(np.sqrt(params.probability)).ravel()

    def bound(self, vector, params):
        probability = np.sin(np.clip(vector, 0.0, np.pi / 2)).reshape(params.probability.shape) ** 2
        return BernoulliParams(np.clip(probability, self.floor, 1 - self.floor))

    def n_parameters(self, params):
        return params.probability.size


@record
class CategoricalParams(Arrays):
    """Probabilities of all levels of all columns side by side, (classes, Σ levels)."""

    probability: np.ndarray

    @cached_property
    def log_probability(self):
        return np.log(self.probability)


class Categorical(OnePassFamily):
    """Columns of codes 0 … L − 1.

    Parameters
    ----------
    n_levels : sequence of int
        Number of levels of each column.
    floor : float
        Smallest probability of a level.
    """

    def __init__(self, n_levels, floor=1e-10):
        self.n_levels = tuple(int(n) for n in n_levels)
        self.floor = floor
        if floor * max(self.n_levels) > 1:
            raise ValueError(
                f"floor={floor} is too large for {max(self.n_levels)} levels; use at most {1 / max(self.n_levels):g}."
            )

    def _columns(self):
        return enumerate(level_columns(self.n_levels))

    def check(self, X):
        if X.shape[1] != len(self.n_levels):
            raise ValueError(f"n_levels names {len(self.n_levels)} columns, but X has {X.shape[1]}.")
        for j, n in enumerate(self.n_levels):
            x = X[~np.isnan(X[:, j]), j]
            bad = x[(x < 0) | (x >= n) | (x != np.floor(x))]
            if bad.size:
                raise ValueError(f"column {j} holds {bad[0]:g}, but its codes run from 0 to {n - 1}.")

    def _coded(self, block):
        """For each column: its slice of levels, the rows where it is observed and their codes."""
        for j, levels in self._columns():
            rows = np.flatnonzero(~np.isnan(block.X[:, j]))
            yield levels, rows, block.X[rows, j].astype(np.int64)

    def start(self, block, resp):
        uniform = np.concatenate([np.full(n, 1.0 / n) for n in self.n_levels])
        params = CategoricalParams(np.repeat(uniform[None], resp.shape[1], axis=0))
        learned = self.m_step(self.stats(params, block, resp * block.weight[:, None]), params)
        return CategoricalParams(0.9 * learned.probability + 0.1 * params.probability)

    def one_pass(self, params, block, mode, log_weight, out):
        count, total = np.zeros(len(params.probability)), np.zeros(params.probability.shape)
        loglik = kernel("levels", backend(block.X))(
            block.X, self.n_levels, params.log_probability,
            mode, log_weight, block.weight, block.labels, out, count, total,
        )  # fmt: skip
        return loglik, count, CellStats(total, total)

    def m_step(self, stats, params):
        probability = np.empty_like(stats.total)
        for _, levels in self._columns():
            count = stats.total[:, levels].sum(axis=1, keepdims=True)
            probability[:, levels] = self._floored(_ratio(stats.total[:, levels], count, params.probability[:, levels]))
        return CategoricalParams(probability)

    def _floored(self, p):
        """The likeliest probabilities with none below the floor: raise the small ones, share the rest in proportion."""
        low = p < self.floor
        while True:
            rest = np.where(low, 0.0, p)
            rest *= (1.0 - self.floor * low.sum(axis=1, keepdims=True)) / rest.sum(axis=1, keepdims=True)
            pushed = ~low & (rest < self.floor)  # by making room for the others
            if not pushed.any():
                return np.where(low, self.floor, rest)
            low |= pushed

    def sample(self, params, classes, rng):
        X = np.empty((len(classes), len(self.n_levels)))
        for j, levels in self._columns():
            cumulated = np.cumsum(params.probability[classes, levels], axis=1)
            X[:, j] = (rng.random((len(classes), 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
        return X

    def level_probabilities(self, params, resp):
        """For each column, the probability of every level given class probabilities (rows, classes)."""
        return [resp @ params.probability[:, levels] for _, levels in self._columns()]

    def expect(self, params, block, resp):
        """The rows with missing cells at their most probable level, and the probability that another is true."""
        filled, wrong = host(block.X).astype(np.float64), np.zeros(block.X.shape)
        for j, probability in enumerate(self.level_probabilities(params, host(resp))):
            missing = np.isnan(filled[:, j])
            wrong[missing, j] = 1.0 - probability[missing].max(axis=1)
            filled[missing, j] = probability[missing].argmax(axis=1)
        return filled, wrong

    def embed(self, block, rng):
        """One column per level."""
        out = np.zeros((len(block), sum(self.n_levels)))
        for levels, rows, codes in self._coded(block):
            frequency = np.bincount(codes, block.weight[rows], levels.stop - levels.start)
            out[:, levels] = frequency / max(frequency.sum(), np.finfo(float).tiny)
            out[rows, levels] = 0.0
            out[rows, levels.start + codes] = 1.0
        return out

    def free(self, params):
        """Square roots: levels near zero stay near zero, where logarithms would run away."""
        return np.sqrt(params.probability).ravel()

    def bound(self, vector, params):
        probability = np.maximum(vector.reshape(params.probability.shape), 0.0) ** 2
        for _, levels in self._columns():
            total = probability[:, levels].sum(axis=1, keepdims=True)
            probability[:, levels] = self._floored(_ratio(probability[:, levels], total, params.probability[:, levels]))
        return CategoricalParams(probability)

    def n_parameters(self, params):
        return len(params.probability) * sum(n - 1 for n in self.n_levels)
