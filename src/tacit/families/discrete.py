"""Yes/no, repeated yes/no and categorical columns, independent given the class.

    Bernoulli:    log p(x | k) = Σ_j x_j log p_kj + (1 − x_j) log(1 − p_kj)
    Binomial:     log p(x | k) = Σ_j log C(n_j, x_j) + x_j log p_kj + (n_j − x_j) log(1 − p_kj)
    Categorical:  log p(x | k) = Σ_j log p_kj(x_j)

A missing cell drops out of the sum, which is what integrating it out comes to.
"""

from typing import Any

import numpy as np
from scipy.special import rel_entr, xlogy

from ..declared import Listed, Numbers, Whole
from ..kernels import backend, kernel
from ..kernels.layout import level_columns
from ..source.block import Block
from .counts import check_counts
from .distribution import Distribution
from .family import Pass, recalled, refuse
from .laws import Law, LevelLaw
from .linear import CellStats, LevelFamily, ProbabilityFamily, ProbabilityParams
from .predictive import Predictive

__all__ = ["Bernoulli", "Binomial", "Categorical"]

MOST_LEVELS = 1_000_000
"""Of a column in a model file; prior and probabilities are as long."""


class TrialFamily(ProbabilityFamily):
    """Columns of successes among a number of trials, by default one."""

    n_trials: Any = 1.0

    def form(self, params: ProbabilityParams) -> tuple:
        one, zero = params.log_probability, np.log1p(-params.probability)
        return one - zero, self.n_trials * zero

    def evidence(self, stats: CellStats, params: ProbabilityParams) -> tuple:
        return stats.total, self.n_trials * stats.count - stats.total

    def mean(self, params: ProbabilityParams) -> np.ndarray:
        return self.n_trials * params.probability

    def variance(self, params: ProbabilityParams) -> np.ndarray:
        return self.n_trials * params.probability * (1.0 - params.probability)


class Bernoulli(TrialFamily):
    """Columns of 0 and 1.

    Parameters
    ----------
    floor : float
        Probabilities stay within [floor, 1 − floor].
    prior : BetaPrior, optional
        Prior of every probability; the M-step then gives the posterior mode.

    Examples
    --------
    >>> from tacit.families import Bernoulli, BetaPrior
    >>> Bernoulli().fit([1, 0, 1, 1]).mean
    array([0.75])
    >>> Bernoulli().posterior([1, 0, 1, 1], BetaPrior(1, 1))
    BetaPrior(a=[4.], b=[2.])
    """

    whole = True

    def check(self, X: np.ndarray) -> None:
        bad = X[~np.isnan(X) & (X != 0) & (X != 1)]
        refuse(bad, "Bernoulli columns hold 0, 1 or NaN, but X holds {:g}; recode the column.")

    def start(self, block: Block, resp: Any) -> ProbabilityParams:
        params = ProbabilityParams(np.full((resp.shape[1], block.X.shape[1]), 0.5))
        params = self.m_step(self.stats(params, block, resp * block.weight[:, None]), params)
        # Hard starts put probabilities at 0 and 1, from which EM cannot move.
        return self.at(0.9 * params.probability + 0.05)

    def sample(self, params: ProbabilityParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return (rng.random((len(classes), params.probability.shape[1])) < params.probability[classes]).astype(float)

    def scipy(self, params: ProbabilityParams) -> tuple[str, dict[str, Any]]:
        return "bernoulli", {"p": params.probability}

    def predictive(self, prior: Any) -> Any:
        return Predictive("bernoulli", p=prior.a / (prior.a + prior.b))


class Binomial(TrialFamily):
    """Columns of successes among a known number of trials.

    Parameters
    ----------
    n_trials : int or sequence of int
        Trials of every column, or of each.
    floor : float
        Probabilities stay within [floor, 1 − floor].
    prior : BetaPrior, optional
        Prior of every probability; the M-step then gives the posterior mode.

    Examples
    --------
    >>> from tacit.families import Binomial
    >>> Binomial(10).fit([3, 5, 4]).parameters
    {'probability': array([0.4])}
    """

    counted = whole = True
    _saved = TrialFamily._saved | {"n_trials": Numbers("a", low=1)}

    def __init__(self, n_trials: Any, *, floor: float = 1e-10, prior: Any = None) -> None:
        super().__init__(floor=floor, prior=prior)
        self.n_trials = np.atleast_1d(np.asarray(n_trials, dtype=np.float64))
        if not ((self.n_trials >= 1) & (self.n_trials == np.floor(self.n_trials))).all():
            raise ValueError(f"n_trials={n_trials} must be whole numbers from 1.")

    @property
    def support(self) -> str:
        return f"Binomial({self.n_trials.tolist()})"

    def check(self, X: np.ndarray) -> None:
        check_counts("Binomial", X)
        if self.n_trials.size not in (1, X.shape[1]):
            raise ValueError(f"n_trials names {self.n_trials.size} columns, but X has {X.shape[1]}.")
        column, trials = np.argwhere(self.n_trials < X), np.broadcast_to(self.n_trials, X.shape[1:])
        if len(column):
            i, j = column[0]
            raise ValueError(f"column {j} holds {X[i, j]:g}, which exceeds its {trials[j]:g} trials.")

    def base(self, block: Block) -> Any:
        key, log_choose = ("log_choose", *self.n_trials.tolist()), kernel("log_choose", backend(block.X))
        return recalled(block, key, lambda: log_choose(block.X, self.n_trials))

    def sample(self, params: ProbabilityParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.binomial(self.n_trials.astype(int), params.probability[classes]).astype(float)

    def scipy(self, params: ProbabilityParams) -> tuple[str, dict[str, Any]]:
        return "binom", {"n": self.n_trials, "p": params.probability}

    def predictive(self, prior: Any) -> Any:
        return Predictive("betabinom", n=np.broadcast_to(self.n_trials, prior.a.shape), a=prior.a, b=prior.b)


class Categorical(LevelFamily):
    """Columns of codes 0 … L − 1.

    Parameters
    ----------
    n_levels : int or sequence of int
        Number of levels of each column.
    floor : float
        Smallest probability of a level.
    prior : DirichletPrior, optional
        Prior of every column's probabilities; the M-step then gives the posterior mode.

    Notes
    -----
    Codes are names, not quantities: `mean` and `variance` are those of the indicator of each level, (classes, Σ levels).

    Examples
    --------
    >>> from tacit.families import Categorical
    >>> Categorical([3]).fit([0, 2, 2, 1]).parameters
    {'probability': array([0.25, 0.25, 0.5 ])}
    """

    _params_type = ProbabilityParams
    _saved = LevelFamily._saved | {"n_levels": Listed(Whole(1, MOST_LEVELS), kind=tuple)}

    def __init__(self, n_levels: Any, *, floor: float = 1e-10, prior: Any = None) -> None:
        self.n_levels = tuple(int(n) for n in np.atleast_1d(n_levels))
        self.floor, self.prior = floor, self.accepted(prior)
        if floor * max(self.n_levels) > 1:
            raise ValueError(
                f"floor={floor} is too large for {max(self.n_levels)} levels; use at most {1 / max(self.n_levels):g}."
            )

    @classmethod
    def of(cls, **values: Any) -> Distribution:
        """As `Family.of`; a single column without `n_levels` has as many levels as probabilities."""
        return super().of(**({"n_levels": [np.size(values.get("probability", 0))]} | values))

    @property
    def support(self) -> str:
        return f"Categorical({list(self.n_levels)})"

    def accepted(self, prior: Any) -> Any:
        """The prior over the levels of these columns."""
        prior = super().accepted(prior)
        return None if prior is None else self.spread(prior, len(self.n_levels))

    def levels(self, n_columns: int) -> tuple[int, ...]:
        return self.n_levels

    def check(self, X: np.ndarray) -> None:
        if X.shape[1] != len(self.n_levels):
            raise ValueError(f"n_levels names {len(self.n_levels)} columns, but X has {X.shape[1]}.")
        for j, n in enumerate(self.n_levels):
            x = X[~np.isnan(X[:, j]), j]
            bad = x[(x < 0) | (x >= n) | (x != np.floor(x))]
            if bad.size:
                raise ValueError(f"column {j} holds {bad[0]:g}, but its codes run from 0 to {n - 1}.")

    def start(self, block: Block, resp: Any) -> ProbabilityParams:
        uniform = np.concatenate([np.full(n, 1.0 / n) for n in self.n_levels])
        params = ProbabilityParams(np.repeat(uniform[None], resp.shape[1], axis=0))
        learned = self.m_step(self.stats(params, block, resp * block.weight[:, None]), params)
        return ProbabilityParams(0.9 * learned.probability + 0.1 * params.probability)

    def one_pass(self, params: ProbabilityParams, block: Block, mode: int, log_weight: np.ndarray, out: Any) -> Pass:
        count, total = np.zeros(len(params.probability)), np.zeros(params.probability.shape)
        loglik = kernel("levels", backend(block.X))(
            block.X, self.n_levels, params.log_probability,
            mode, log_weight, block.weight, block.labels, out, count, total,
        )  # fmt: skip
        return loglik, count, CellStats(total, total)

    def predictive(self, prior: Any) -> Any:
        return Distribution(self, ProbabilityParams(self.spread(prior, len(self.n_levels)).mean[None]))

    def n_columns(self, params: ProbabilityParams) -> int:
        return len(self.n_levels)

    def mean(self, params: ProbabilityParams) -> np.ndarray:
        return params.probability

    def variance(self, params: ProbabilityParams) -> np.ndarray:
        return params.probability * (1.0 - params.probability)

    def entropy(self, params: ProbabilityParams) -> np.ndarray:
        return -xlogy(params.probability, params.probability).sum(axis=1)

    def kl(self, params: ProbabilityParams, other: ProbabilityParams) -> np.ndarray:
        return rel_entr(params.probability, other.probability).sum(axis=1)

    def sample(self, params: ProbabilityParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        X = np.empty((len(classes), len(self.n_levels)))
        for j, levels in enumerate(level_columns(self.n_levels)):
            cumulated = np.cumsum(params.probability[classes, levels], axis=1)
            X[:, j] = (rng.random((len(classes), 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
        return X

    def shares(self, params: ProbabilityParams) -> list[np.ndarray]:
        """For each column, the probability of every level in every class, (classes, levels)."""
        return [params.probability[:, levels] for levels in level_columns(self.n_levels)]

    def law(self, params: ProbabilityParams, block: Block) -> Law:
        return LevelLaw(self.shares(params), block.missing_cells[1])

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        """One column per level."""
        out = np.zeros((len(block), sum(self.n_levels)))
        for j, levels in enumerate(level_columns(self.n_levels)):
            rows = np.flatnonzero(~np.isnan(block.X[:, j]))
            codes = block.X[rows, j].astype(np.int64)
            frequency = np.bincount(codes, block.weight[rows], levels.stop - levels.start)
            out[:, levels] = frequency / max(frequency.sum(), np.finfo(float).tiny)
            out[rows, levels] = 0.0
            out[rows, levels.start + codes] = 1.0
        return out

    def n_parameters(self, params: ProbabilityParams) -> int:
        return len(params.probability) * sum(n - 1 for n in self.n_levels)
