"""Rows of counts that share a total, such as the words of a document: x | k ~ Multinomial(n, p_k), n = Σ_j x_j known.

    log p(x | k) = log n! − Σ_j log x_j! + Σ_j x_j log p_kj        p_kj = Σ_i r_ik x_ij / Σ_i r_ik n_i

Where cells M of a row are missing its total is not known; the row then tells how its observed counts share theirs, n_O, and the
missing ones are expected at n_O p_kj / p_kO, p_kO = Σ_{j observed} p_kj.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from ..declared import Whole
from ..kernels import backend, host, kernel, rows_on_host
from ..source.block import Block
from .counts import check_counts
from .distribution import Distribution
from .family import Family, draw_classes, recalled
from .laws import Law, ScipyLaw
from .linear import CellStats, LevelFamily, LinearFamily, ProbabilityParams

__all__ = ["Multinomial"]


class Multinomial(LevelFamily, LinearFamily):
    """Rows of counts, given their totals; takes sparse rows.

    Parameters
    ----------
    n_trials : int, default=100
        The total of rows that are drawn, and that `mean` and `variance` are for; totals of rows learned from are their own.
    floor : float
        Smallest share of a column.
    prior : DirichletPrior, optional
        Prior of the shares; the M-step then gives the posterior mode.

    Examples
    --------
    >>> from tacit.families import Multinomial
    >>> Multinomial().fit([[1, 2, 1], [0, 3, 1]]).parameters
    {'probability': array([0.125, 0.625, 0.25 ])}
    """

    complete_posterior, whole, _evened, _params_type = True, True, np.sqrt, ProbabilityParams
    _saved = LevelFamily._saved | {"n_trials": Whole(1)}

    def __init__(self, n_trials: int = 100, *, floor: float = 1e-10, prior: Any = None) -> None:
        if isinstance(n_trials, bool) or n_trials != int(n_trials) or n_trials < 1:
            raise ValueError(f"n_trials={n_trials!r} must be a whole number of at least 1.")
        self.n_trials, self.floor, self.prior = int(n_trials), floor, self.accepted(prior)

    @property
    def support(self) -> str:
        return f"Multinomial({self.n_trials})"

    def check(self, X: Any) -> None:
        check_counts("Multinomial", X)

    def levels(self, n_columns: int) -> tuple[int, ...]:
        return (n_columns,)

    # Learning

    def start(self, block: Block, resp: np.ndarray) -> ProbabilityParams:
        pooled, learned = self.first_steps(block, resp)
        # A class that starts without a word could never gain it.
        return self.normalised(0.9 * learned.probability + 0.1 * pooled.probability, pooled)

    def form(self, params: ProbabilityParams) -> tuple[np.ndarray, np.ndarray]:
        return params.log_probability, np.zeros(params.probability.shape)

    def base(self, block: Block) -> np.ndarray:

        def make() -> np.ndarray:
            return gammaln(self._totals(block) + 1.0) - host(kernel("log_factorial", backend(block.X))(block.X))

        base = recalled(block, "log_multinomial", make)
        return base if backend(block.X) != "torch" else block.weight.new_tensor(base)

    def _totals(self, block: Block) -> Any:
        """The sum of the observed counts of each row."""
        X = rows_on_host(block.X)
        return X @ np.ones(X.shape[1]) if backend(X) == "sparse" else np.nansum(X, axis=1, dtype=np.float64)

    def _shares(self, params: ProbabilityParams, block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Observed cells as a mask, totals, and what is observed of each class's shares, (rows, classes)."""
        seen = (~np.isnan(host(block.X))).astype(np.float64)
        return seen, self._totals(block), np.maximum(seen @ params.probability.T, np.finfo(float).tiny)

    def log_prob(self, params: ProbabilityParams, block: Block) -> Any:
        scores = super().log_prob(params, block)
        if block.patterns.is_complete:
            return scores
        _, total, share = self._shares(params, block)
        less = xlogy(total[:, None], share)
        return scores - (less if backend(scores) == "cpu" else scores.new_tensor(less))

    def stats(self, params: Any, block: Block, resp: Any) -> CellStats:
        found = super().stats(params, block, resp)
        if block.patterns.is_complete:
            return found
        seen, total, share = self._shares(params, block)
        expected = params.probability * ((host(resp) * total[:, None] / share).T @ (1.0 - seen))
        return CellStats(found.count, found.total + expected)

    def e_step(self, params: Any, log_weight: np.ndarray, block: Block) -> tuple:
        # The one pass does not know what is expected of missing counts.
        step = super().e_step if block.patterns.is_complete else partial(Family.e_step, self)
        return step(params, log_weight, block)

    def predictive(self, prior: Any) -> Distribution:
        """The shares expected of a single count: that of several is Dirichlet-multinomial."""
        return Distribution(Multinomial(1), ProbabilityParams(self.spread(prior, 1).mean[None]))

    # What the classes are

    def mean(self, params: ProbabilityParams) -> np.ndarray:
        return self.n_trials * params.probability

    def variance(self, params: ProbabilityParams) -> np.ndarray:
        return self.n_trials * params.probability * (1.0 - params.probability)

    def kl(self, params: ProbabilityParams, other: ProbabilityParams) -> np.ndarray:
        return self.n_trials * (params.probability * np.log(params.probability / other.probability)).sum(axis=1)

    def entropy(self, params: ProbabilityParams) -> np.ndarray:
        """Log n! and cell by cell: each count is binomial by itself."""
        from scipy.stats import binom

        n, p = self.n_trials, params.probability
        counts = np.arange(n + 1.0)
        expected = [[binom.pmf(counts, n, each) @ gammaln(counts + 1.0) for each in row] for row in p]
        return -(gammaln(n + 1.0) - np.sum(expected, axis=1) + n * xlogy(p, p).sum(axis=1))

    def sample(self, params: ProbabilityParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.multinomial(self.n_trials, params.probability[classes]).astype(float)

    def law(self, params: Any, block: Block) -> Law:
        """Given the class, missing counts are negative binomial about n_O p_j / p_O."""
        (rows, columns), (total, share) = block.missing_cells, self._observed(params, block)
        odds = params.probability[:, columns].T / share[rows]
        size = total[rows][:, None] * np.ones_like(odds)
        return ScipyLaw(size * odds, size * odds * (1.0 + odds), "nbinom", n=size, p=1.0 / (1.0 + odds))

    def _observed(self, params: ProbabilityParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Totals and shares that missing counts are told from; a row without any observed count is one of `n_trials`."""
        seen, total, share = self._shares(params, block)
        empty = seen.sum(axis=1) == 0
        return np.where(empty, self.n_trials, np.maximum(total, 1e-12)), np.where(empty[:, None], 1.0, share)

    def draw(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        X = host(block.X).astype(np.float64)
        total, share = self._observed(params, block)
        out = np.repeat(X[None], n_draws, axis=0)
        for t, classes in enumerate(draw_classes(host(resp), n_draws, rng)):
            odds = params.probability[classes] / share[np.arange(len(X)), classes][:, None]
            rate = rng.gamma(total[:, None] * np.ones_like(odds)) * odds
            out[t] = np.where(np.isnan(X), rng.poisson(rate), X)
        return out

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        """Roots of shares, whose distance is Hellinger's."""
        root = 1.0 / np.sqrt(np.maximum(self._totals(block), 1.0))
        if backend(block.X) == "cpu":
            return np.sqrt(np.nan_to_num(block.X).astype(np.float64)) * root[:, None]
        return super().embed(block, rng) * root[:, None]

    def n_parameters(self, params: ProbabilityParams) -> int:
        k, d = params.probability.shape
        return k * (d - 1)
