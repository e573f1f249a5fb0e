"""Exponential families over independent columns: log p(x | k) = Σ_j T(x_j)·η_kj − A(η_kj) + c(x_j).

T holds one or more functions of the cell; a missing cell drops out of the sum, which is what integrating it out comes to.
Divergence and entropy follow from E[T] alone:

    KL(p ‖ q) = Σ_j (η_p − η_q)·E_p[T] − A(η_p) + A(η_q),    H(p) = Σ_j A(η_p) − η_p·E_p[T] − E_p[c]
"""

from dataclasses import fields, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, declare
from ..engine.coordinates import Positive, Probability, Record, Simplex
from ..kernels import backend, kernel
from ..kernels.layout import level_columns
from ..source.block import Block
from .family import OnePassFamily, Pass, occupied, recalled

__all__ = [
    "CellStats", "LevelFamily", "LinearFamily", "ProbabilityFamily", "ProbabilityParams", "RateFamily", "RateParams",
    "expected_over_counts", "ratio",
]  # fmt: skip


CHUNK = 1 << 16  # counts summed over at once
columns_of = lru_cache(level_columns)  # asked for at every step


def ratio(total: np.ndarray, count: np.ndarray, fallback: Any) -> np.ndarray:
    """Total / count, and the fallback where nothing was observed."""
    alive = occupied(count)
    return np.where(alive, total / np.where(alive, count, 1.0), fallback)


def expected_over_counts(name: str, shape: Any, other: Any = None, tail: float = 1e-14) -> np.ndarray:
    """Σ_j E[log p(x_j)] under each class, by summing over the counts between two tails.

    Parameters
    ----------
    name : str
        The distribution of a cell in `scipy.stats`.
    shape : dict of ndarray of shape (classes, d)
        Its parameters.
    other : dict of ndarray of shape (classes, d), optional
        Parameters of the distribution whose log probabilities are taken; by default the same.
    tail : float
        Probability left out at either end.

    Returns
    -------
    ndarray of shape (classes,)
    """
    from scipy import stats  # takes a while to load

    law = getattr(stats, name)
    numbers = np.stack(np.broadcast_arrays(*shape.values()), axis=-1)
    others = numbers if other is None else np.stack(np.broadcast_arrays(*other.values()), axis=-1)
    out = np.zeros(numbers.shape[:-1])
    for cell in np.ndindex(out.shape):
        p = law(*numbers[cell])
        low, high = max(p.ppf(tail), 0.0), min(p.isf(tail) + 1.0, p.support()[1])
        for first in np.arange(low, high + 1.0, CHUNK):
            x = np.arange(first, min(first + CHUNK, high + 1.0))
            out[cell] += p.pmf(x) @ law.logpmf(x, *others[cell])
    return out.sum(axis=1)


@record
class CellStats(Arrays):
    """Σ r and Σ r T(x) over observed cells, each (classes, columns of T)."""

    count: np.ndarray
    total: np.ndarray
    _summed = declare(count=Numbers("K p", low=0))


class LinearFamily(OnePassFamily):
    """Columns whose log density is linear in T(x): log p(x | k) = T(x)·a_k + s·b_k + c(x), s = 1 on observed cells.

    Attributes
    ----------
    functions : tuple of str
        The functions of a cell that T puts side by side, of ``x``, ``log`` and ``log1m``.
    counted : bool
        Whether cells are counts with a c(x) that is not 0.
    _params_type : type
        Its parameters, arrays (classes, d).
    flat : float
        A value of all parameters to begin at.
    """

    functions: tuple = ("x",)
    counted = False
    _params_type: Any
    flat = 1.0

    def form(self, params: Any) -> tuple:
        """A and b, each (classes, columns of T)."""
        raise NotImplementedError

    def expected(self, params: Any) -> np.ndarray:
        """E[T(x)] under each class, (classes, columns of T)."""
        return self.mean(params)

    def base(self, block: Block) -> Any:
        """c(x) of each row; empty where it is 0."""
        return np.empty(0)

    def features(self, block: Block) -> Any:
        """T(x), (rows, columns of T)."""
        if self.functions == ("x",):
            return block.X
        make = kernel("features", backend(block.X))
        return recalled(block, self.functions, lambda: make(block.X, self.functions))

    def one_pass(self, params: Any, block: Block, mode: int, log_weight: np.ndarray, out: Any) -> Pass:
        slope, offset = self.form(params)
        count, s0, s1 = np.zeros(len(slope)), np.zeros(slope.shape), np.zeros(slope.shape)
        loglik = kernel("linear", backend(block.X))(
            self.features(block), slope, offset, self.base(block),
            mode, log_weight, block.weight, block.labels, out, count, s0, s1,
        )  # fmt: skip
        return loglik, count, CellStats(s0, s1)

    def start(self, block: Block, resp: Any) -> Any:
        return self.first_steps(block, resp)[1]

    def first_steps(self, block: Block, resp: Any) -> tuple[Any, Any]:
        """Parameters learned from all rows, alike in all classes, and those of each class."""
        shape = resp.shape[1], block.X.shape[1]
        flat = self._params_type(*(np.full(shape, self.flat) for _ in fields(self._params_type)))
        resp = resp * block.weight[:, None]
        everything = np.repeat(resp.sum(axis=1, keepdims=True), resp.shape[1], axis=1)
        pooled = self.m_step(self.stats(flat, block, everything), flat)
        return pooled, self.m_step(self.stats(pooled, block, resp), pooled)

    def learned(self, numerator: Any, denominator: np.ndarray, stats: Any, fallback: Any) -> np.ndarray:
        """Their quotient; the fallback where no cell was observed and no prior speaks."""
        alive = denominator > 0
        if self.prior is None:
            alive &= occupied(stats.count)
        return np.where(alive, numerator / np.where(alive, denominator, 1.0), fallback)

    def kl(self, params: Any, other: Any) -> np.ndarray:
        (slope, offset), (slope_other, offset_other) = self.form(params), self.form(other)
        return ((slope - slope_other) * self.expected(params) + offset - offset_other).sum(axis=1)

    def entropy(self, params: Any) -> np.ndarray:
        """By the formula above; where counts have a c(x) of their own, by summing over them."""
        if self.counted:
            return -expected_over_counts(*self.scipy(params))
        slope, offset = self.form(params)
        return -(slope * self.expected(params) + offset).sum(axis=1)

    def coordinates(self, params: Any) -> Record:
        """Logs: parameters are positive."""
        proper = self.prior is not None
        return Record(params, **{name: Positive(array, proper=proper) for name, array in params.items()})

    def score(self, stats: CellStats, params: Any) -> dict[str, np.ndarray]:
        """From A and b, of which a number changes those of its own column only: all columns are moved at once."""
        found = {}
        for name, value in params.items():
            step = 1e-5 * np.minimum(np.abs(value), np.maximum(np.abs(1.0 - value), 1e-12))
            above, below = (self.form(replace(params, **{name: value + sign * step})) for sign in (1.0, -1.0))
            rise = (above[0] - below[0]) * stats.total + (above[1] - below[1]) * stats.count
            found[name] = rise.reshape(len(value), -1, value.shape[1]).sum(axis=1) / (2.0 * step)
        return found

    def n_parameters(self, params: Any) -> int:
        return sum(array.size for _, array in params.items())


class QuotientFamily(LinearFamily):
    """Columns with one parameter each, which is a quotient of what was counted, and has a conjugate prior.

    Parameters
    ----------
    floor : float
        Smallest value of the parameter.
    prior : Prior, optional
        Prior of every parameter; the M-step then gives the posterior mode.
    """

    def __init__(self, *, floor: float = 1e-10, prior: Any = None) -> None:
        self.floor, self.prior = floor, self.accepted(prior)

    @property
    def most(self) -> float:
        """Largest value of the parameter."""
        return 1.0 / self.floor

    def value(self, params: Any) -> tuple:
        return tuple(array for _, array in params.items())

    def at(self, value: np.ndarray) -> Any:
        """Parameters within the bounds."""
        return self._params_type(np.clip(value, self.floor, self.most))

    def start(self, block: Block, resp: Any) -> Any:
        (pooled,), (learned,) = (self.value(params) for params in self.first_steps(block, resp))
        # A class that starts without any success or event could never gain one.
        return self.at(0.9 * learned + 0.1 * pooled)


@record
class ProbabilityParams(Arrays):
    """Probabilities of each class: of a column's success, (classes, d), or of all levels side by side, (classes, Σ levels)."""

    probability: np.ndarray
    _saved = declare(probability=Numbers("K p", low=0, high=1))

    @cached_property
    def log_probability(self) -> np.ndarray:
        # A level that cannot be is as good as impossible, not an infinity.
        return np.log(np.maximum(self.probability, np.finfo(float).tiny))


class ProbabilityFamily(QuotientFamily):
    """Columns that count successes and failures of chance p, whose conjugate prior is Beta(a, b).

    p = (successes + a − 1) / (successes + failures + a + b − 2), the mode of the posterior; without a prior a = b = 1.
    """

    conjugate = "BetaPrior"
    _params_type, flat = ProbabilityParams, 0.5

    def check_params(self, params: Any, n_classes: int, n_columns: int) -> None:
        super().check_params(params, n_classes, n_columns)
        Numbers("K d", low=self.floor, high=self.most).check("probability", params.probability, {}, self)

    def sizes(self, n_columns: int) -> dict[str, int]:
        return {"p": n_columns}

    @property
    def most(self) -> float:
        return 1.0 - self.floor

    def m_step(self, stats: CellStats, params: ProbabilityParams) -> ProbabilityParams:
        (a, b), (successes, failures) = self.pseudo, self.evidence(stats, params)
        return self.at(self.learned(successes + a, successes + failures + (a + b), stats, params.probability))

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> Any:
        prior = (0.5, 0.5) if self.prior is None else (self.prior.a, self.prior.b)
        evidence = self.evidence(self.stats(params, block, resp), params)
        successes, failures = (rng.standard_gamma(seen + more) for seen, more in zip(evidence, prior))
        return self.at(successes / np.maximum(successes + failures, np.finfo(float).tiny))

    def coordinates(self, params: ProbabilityParams) -> Record:
        """Log odds; without a prior it is the flat one."""
        return Record(params, probability=Probability(params.probability))

    def prior_score(self, params: ProbabilityParams) -> Any:
        (a, b), p = self.pseudo, params.probability
        return {"probability": a / p - b / (1.0 - p)}

    def free(self, params: ProbabilityParams) -> np.ndarray:
        """Angles: probabilities near 0 and 1 stay there, where log odds would run away."""
        return np.arcsin(np.sqrt(params.probability)).ravel()

    def bound(self, vector: np.ndarray, params: ProbabilityParams) -> ProbabilityParams:
        return self.at(np.sin(np.clip(vector, 0.0, np.pi / 2)).reshape(params.probability.shape) ** 2)


@record
class RateParams(Arrays):
    """A rate per class and column, (classes, d)."""

    rate: np.ndarray
    _saved = declare(rate=Numbers("K d", above=0))


class RateFamily(QuotientFamily):
    """Columns that count events over an exposure, whose conjugate prior is Gamma(shape, rate).

    λ = (events + shape − 1) / (exposure + rate), the mode of the posterior; without a prior shape = 1 and rate = 0.
    """

    conjugate = "GammaPrior"
    _params_type = RateParams

    def m_step(self, stats: CellStats, params: RateParams) -> RateParams:
        (shape, rate), (events, exposure) = self.pseudo, self.evidence(stats, params)
        events, exposure = events + shape, exposure + rate
        # Events without exposure would have an infinite rate; the bound is what `at` allows.
        return self.at(self.learned(events, np.maximum(exposure, self.floor * events), stats, params.rate))

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> Any:
        events, exposure = self.evidence(self.stats(params, block, resp), params)
        # Without a prior, half an event at the rate of all classes.
        weak = 0.5, 0.5 * exposure.sum(axis=0) / np.maximum(events.sum(axis=0), 0.5)
        shape, rate = weak if self.prior is None else (self.prior.shape, self.prior.rate)
        return self.at(rng.standard_gamma(events + shape) / np.maximum(exposure + rate, np.finfo(float).tiny))

    def prior_score(self, params: RateParams) -> Any:
        shape, rate = self.pseudo
        return {"rate": shape / params.rate - rate}

    def free(self, params: RateParams) -> np.ndarray:
        """Log rates."""
        return np.log(params.rate).ravel()

    def bound(self, vector: np.ndarray, params: RateParams) -> RateParams:
        return self.at(np.exp(np.clip(vector, -700.0, 700.0)).reshape(params.rate.shape))


class LevelFamily(OnePassFamily):
    """Probabilities of levels, which sum to 1 column by column and whose conjugate prior is Dirichlet(α).

    p = (counts + α − 1) / Σ (counts + α − 1), the mode of the posterior; without a prior α = 1.

    Attributes
    ----------
    floor : float
        Smallest probability of a level.
    """

    conjugate = "DirichletPrior"
    floor: float

    def levels(self, n_columns: int) -> tuple[int, ...]:
        """Number of levels of each column."""
        raise NotImplementedError

    def spread(self, prior: Any, n_columns: int) -> Any:
        return prior.over_levels(self.levels(n_columns))

    def check_params(self, params: Any, n_classes: int, n_columns: int) -> None:
        if len(self.levels(n_columns)) not in (1, n_columns):
            raise ValueError(f"{len(self.levels(n_columns))} numbers of levels are not those of {n_columns} columns")
        super().check_params(params, n_classes, n_columns)
        for at in level_columns(self.levels(n_columns)):
            Numbers("K l", total=1).check("probability", params.probability[:, at], {}, self)

    def sizes(self, n_columns: int) -> dict[str, int]:
        return {"p": sum(self.levels(n_columns))}

    def evidence(self, stats: CellStats, params: ProbabilityParams) -> tuple:
        return (stats.total,)

    def value(self, params: ProbabilityParams) -> tuple:
        return (params.probability,)

    def at(self, value: np.ndarray) -> ProbabilityParams:
        return ProbabilityParams(value)

    def m_step(self, stats: CellStats, params: ProbabilityParams) -> ProbabilityParams:
        pseudo = 0.0 if self.prior is None else self.spread(self.prior, stats.total.shape[1]).pseudo
        return self.normalised(stats.total + pseudo, params)

    def log_prior(self, params: ProbabilityParams) -> float:
        if self.prior is None:
            return 0.0
        prior = self.spread(self.prior, params.probability.shape[1])
        return float(prior.log_density(params.log_probability).sum())

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> ProbabilityParams:
        total = self.stats(params, block, resp).total
        alpha = 0.5 if self.prior is None else self.spread(self.prior, total.shape[1]).alpha
        return self.normalised(np.maximum(rng.standard_gamma(total + alpha), np.finfo(float).tiny), params)

    def normalised(self, total: np.ndarray, params: ProbabilityParams) -> ProbabilityParams:
        """Probabilities in proportion to totals, column by column."""
        probability = np.empty_like(total)
        for at in columns_of(self.levels(total.shape[1])):
            count = total[:, at].sum(axis=1, keepdims=True)
            probability[:, at] = self._floored(ratio(total[:, at], count, params.probability[:, at]))
        return ProbabilityParams(probability)

    def _floored(self, p: np.ndarray) -> np.ndarray:
        """The likeliest probabilities with none below the floor: raise the small ones, share the rest in proportion."""
        low = p < self.floor
        while True:
            rest = np.where(low, 0.0, p)
            rest *= (1.0 - self.floor * low.sum(axis=1, keepdims=True)) / rest.sum(axis=1, keepdims=True)
            pushed = ~low & (rest < self.floor)  # by making room for the others
            if not pushed.any():
                return np.where(low, self.floor, rest)
            low |= pushed

    def coordinates(self, params: ProbabilityParams) -> Record:
        """Contrasts of logs; without a prior it is the flat one."""
        groups = columns_of(self.levels(params.probability.shape[1]))
        shares = Simplex(params.probability, groups, alpha=1.0 if self.prior is None else None)
        return Record(params, probability=shares)

    def score(self, stats: CellStats, params: ProbabilityParams) -> dict[str, np.ndarray]:
        return {"probability": stats.total / np.exp(params.log_probability)}

    def prior_score(self, params: ProbabilityParams) -> Any:
        if self.prior is None:
            return None
        pseudo = self.spread(self.prior, params.probability.shape[1]).pseudo
        return {"probability": pseudo / np.exp(params.log_probability)}

    def free(self, params: ProbabilityParams) -> np.ndarray:
        """Square roots: levels near zero stay near zero, where logarithms would run away."""
        return np.sqrt(params.probability).ravel()

    def bound(self, vector: np.ndarray, params: ProbabilityParams) -> ProbabilityParams:
        return self.normalised(np.maximum(vector.reshape(params.probability.shape), 0.0) ** 2, params)
