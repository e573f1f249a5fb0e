"""Yes/no, repeated yes/no and categorical columns, independent given the class.

    Bernoulli:    log p(x | k) = Σ_j x_j log p_kj + (1 − x_j) log(1 − p_kj)
    Binomial:     log p(x | k) = Σ_j log C(n_j, x_j) + x_j log p_kj + (n_j − x_j) log(1 − p_kj)
    Categorical:  log p(x | k) = Σ_j log p_kj(x_j)

A missing cell drops out of the sum, which is what integrating it out comes to.
"""

from functools import cached_property

import numpy as np
from scipy.special import gammaln, rel_entr, xlogy

from ..arrays import Arrays, record
from ..kernels import backend, kernel
from ..kernels.layout import level_columns
from .counts import check_counts
from .distribution import Distribution
from .family import OnePassFamily
from .laws import LevelLaw
from .linear import CellStats, ProbabilityFamily, ProbabilityParams, ratio
from .sums import expected_over_counts

__all__ = ["Bernoulli", "Binomial", "Categorical"]


class Bernoulli(ProbabilityFamily):
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

    def check(self, X):
        bad = X[~np.isnan(X) & (X != 0) & (X != 1)]
        if bad.size:
            raise ValueError(f"Bernoulli columns hold 0, 1 or NaN, but X holds {bad.flat[0]:g}; recode the column.")

    def start(self, block, resp):
        params = ProbabilityParams(np.full((resp.shape[1], block.X.shape[1]), 0.5))
        params = self.m_step(self.stats(params, block, resp * block.weight[:, None]), params)
        # Hard starts put probabilities at 0 and 1, from which EM cannot move.
        return self.at(0.9 * params.probability + 0.05)

    def form(self, params):
        one, zero = np.log(params.probability), np.log1p(-params.probability)
        return one - zero, zero

    def evidence(self, stats, params):
        return stats.total, stats.count - stats.total

    def mean(self, params):
        return params.probability

    def variance(self, params):
        return params.probability * (1.0 - params.probability)

    def sample(self, params, classes, rng):
        return (rng.random((len(classes), params.probability.shape[1])) < params.probability[classes]).astype(float)

    def scipy(self, params):
        return "bernoulli", {"p": params.probability}

    def predictive(self, prior):
        from .predictive import Predictive

        return Predictive("bernoulli", p=prior.a / (prior.a + prior.b))


class Binomial(ProbabilityFamily):
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

    def __init__(self, n_trials, floor=1e-10, prior=None):
        super().__init__(floor, prior)
        self.n_trials = np.atleast_1d(np.asarray(n_trials, dtype=np.float64))
        if not ((self.n_trials >= 1) & (self.n_trials == np.floor(self.n_trials))).all():
            raise ValueError(f"n_trials={n_trials} must be whole numbers from 1.")

    @property
    def support(self):
        return f"Binomial({self.n_trials.tolist()})"

    def check(self, X):
        check_counts("Binomial", X)
        if self.n_trials.size not in (1, X.shape[1]):
            raise ValueError(f"n_trials names {self.n_trials.size} columns, but X has {X.shape[1]}.")
        column, trials = np.argwhere(self.n_trials < X), np.broadcast_to(self.n_trials, X.shape[1:])
        if len(column):
            i, j = column[0]
            raise ValueError(f"column {j} holds {X[i, j]:g}, which exceeds its {trials[j]:g} trials.")

    def form(self, params):
        one, zero = np.log(params.probability), np.log1p(-params.probability)
        return one - zero, self.n_trials * zero

    def base(self, block):
        key = "log_choose", *self.n_trials.tolist()
        if key not in block.local:
            block.local[key] = kernel("log_choose", backend(block.X))(block.X, self.n_trials)
        return block.local[key]

    def entropy(self, params):
        """By summing over counts; see `expected_over_counts`."""
        from scipy.stats import binom

        trials = np.broadcast_to(self.n_trials, params.probability.shape)
        return -expected_over_counts(binom.logpmf, binom, trials, params.probability)

    def evidence(self, stats, params):
        return stats.total, self.n_trials * stats.count - stats.total

    def mean(self, params):
        return self.n_trials * params.probability

    def variance(self, params):
        return self.n_trials * params.probability * (1.0 - params.probability)

    def sample(self, params, classes, rng):
        return rng.binomial(self.n_trials.astype(int), params.probability[classes]).astype(float)

    def scipy(self, params):
        return "binom", {"n": self.n_trials, "p": params.probability}

    def predictive(self, prior):
        from .predictive import Predictive

        return Predictive("betabinom", n=np.broadcast_to(self.n_trials, prior.a.shape), a=prior.a, b=prior.b)


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

    conjugate = "DirichletPrior"

    def __init__(self, n_levels, floor=1e-10, prior=None):
        self.n_levels = tuple(int(n) for n in np.atleast_1d(n_levels))
        self.floor, self.prior = floor, self.accepted(prior)
        if floor * max(self.n_levels) > 1:
            raise ValueError(
                f"floor={floor} is too large for {max(self.n_levels)} levels; use at most {1 / max(self.n_levels):g}."
            )

    @property
    def support(self):
        return f"Categorical({list(self.n_levels)})"

    @cached_property
    def _slices(self):
        return level_columns(self.n_levels)

    def _columns(self):
        return enumerate(self._slices)

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
        total = stats.total
        if self.prior is not None:
            total = total + self.spread(self.prior, len(self.n_levels)).pseudo
        return self._normalised(total, params)

    def log_prior(self, params):
        """As `Family.log_prior`, without the laws of single columns: it is taken at every step."""
        if self.prior is None:
            return 0.0
        alpha = self.spread(self.prior, len(self.n_levels)).alpha
        return float(len(params.probability) * self._log_unit(alpha) + (params.log_probability @ (alpha - 1.0)).sum())

    def _log_unit(self, alpha):
        """Log of the Dirichlet priors' normalisers; small tables take it thousands of times."""
        known = getattr(self, "_known_unit", None)
        if known is None or known[0] is not alpha:
            unit = sum(gammaln(alpha[levels].sum()) for _, levels in self._columns()) - gammaln(alpha).sum()
            self._known_unit = known = alpha, unit
        return known[1]

    def _normalised(self, total, params):
        """Probabilities in proportion to totals, column by column."""
        probability = np.empty_like(total)
        for _, levels in self._columns():
            count = total[:, levels].sum(axis=1, keepdims=True)
            probability[:, levels] = self._floored(ratio(total[:, levels], count, params.probability[:, levels]))
        return CategoricalParams(probability)

    def spread(self, prior, n_columns):
        known = getattr(self, "_known_spread", None)
        if known is None or known[0] is not prior:
            self._known_spread = known = prior, prior.over_levels(self.n_levels)
        return known[1]

    def evidence(self, stats, params):
        return (stats.total,)

    def value(self, params):
        return (params.probability,)

    def at(self, value):
        return CategoricalParams(value)

    def predictive(self, prior):
        return Distribution(self, CategoricalParams(self.spread(prior, len(self.n_levels)).mean[None]))

    def n_columns(self, params):
        return len(self.n_levels)

    def mean(self, params):
        return params.probability

    def variance(self, params):
        return params.probability * (1.0 - params.probability)

    def entropy(self, params):
        return -xlogy(params.probability, params.probability).sum(axis=1)

    def kl(self, params, other):
        return rel_entr(params.probability, other.probability).sum(axis=1)

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

    def shares(self, params):
        """For each column, the probability of every level in every class, (classes, levels)."""
        return [params.probability[:, levels] for _, levels in self._columns()]

    def law(self, params, block):
        return LevelLaw(self.shares(params), block.missing_cells[1])

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
        return self._normalised(probability, params)

    def n_parameters(self, params):
        return len(params.probability) * sum(n - 1 for n in self.n_levels)
