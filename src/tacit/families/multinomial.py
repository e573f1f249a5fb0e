"""Rows of counts that share a total, such as the words of a document: x | k ~ Multinomial(n, p_k), n = Σ_j x_j known.

    log p(x | k) = log n! − Σ_j log x_j! + Σ_j x_j log p_kj        p_kj = Σ_i r_ik x_ij / Σ_i r_ik n_i

Where cells M of a row are missing its total is not known; the row then tells how its observed counts share theirs, n_O, and the
missing ones are expected at n_O p_kj / p_kO, p_kO = Σ_{j observed} p_kj.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from ..arrays import Arrays, record
from ..kernels import backend, host, kernel, rows_on_host
from ..source.block import Block
from .counts import check_counts
from .distribution import Distribution
from .family import draw_classes, occupied, responsibilities
from .laws import Law, ScipyLaw
from .linear import CellStats, LinearFamily

__all__ = ["Multinomial", "MultinomialParams"]


@record
class MultinomialParams(Arrays):
    """Shares of the columns in each class, (classes, d)."""

    probability: np.ndarray


class Multinomial(LinearFamily):
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

    conjugate = "DirichletPrior"
    complete_posterior = True

    def __init__(self, n_trials: int = 100, floor: float = 1e-10, prior: Any = None):
        if isinstance(n_trials, bool) or n_trials != int(n_trials) or n_trials < 1:
            raise ValueError(f"n_trials={n_trials!r} must be a whole number of at least 1.")
        self.n_trials, self.floor, self.prior = int(n_trials), floor, self.accepted(prior)

    @property
    def support(self) -> str:
        return f"Multinomial({self.n_trials})"

    def check(self, X: Any) -> None:
        check_counts("Multinomial", X)

    def spread(self, prior: Any, n_columns: int) -> Any:
        return prior.over_levels((n_columns,))

    # Learning

    def start(self, block: Block, resp: np.ndarray) -> MultinomialParams:
        d = block.X.shape[1]
        flat = MultinomialParams(np.full((resp.shape[1], d), 1.0 / d))
        pooled, learned = self.first_steps(block, resp, flat)
        # A class that starts without a word could never gain it.
        return self._normalised(0.9 * learned.probability + 0.1 * pooled.probability, flat)

    def form(self, params: MultinomialParams) -> tuple[np.ndarray, np.ndarray]:
        return np.log(params.probability), np.zeros(params.probability.shape)

    def base(self, block: Block) -> np.ndarray:
        if "log_multinomial" not in block.local:
            values = host(kernel("log_factorial", backend(block.X))(block.X))
            block.local["log_multinomial"] = gammaln(self._totals(block) + 1.0) - values
        base = block.local["log_multinomial"]
        return base if backend(block.X) != "torch" else block.weight.new_tensor(base)

    def _totals(self, block: Block) -> np.ndarray:
        """The sum of the observed counts of each row."""
        X = rows_on_host(block.X)
        return X @ np.ones(X.shape[1]) if backend(X) == "sparse" else np.nansum(X, axis=1, dtype=np.float64)

    def _shares(self, params: MultinomialParams, block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Observed cells as a mask, totals, and what is observed of each class's shares, (rows, classes)."""
        seen = (~np.isnan(host(block.X))).astype(np.float64)
        return seen, self._totals(block), np.maximum(seen @ params.probability.T, np.finfo(float).tiny)

    def log_prob(self, params: MultinomialParams, block: Block) -> Any:
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
        if block.patterns.is_complete:
            return super().e_step(params, log_weight, block)
        resp, _, loglik = responsibilities(self.log_prob(params, block), log_weight, block.weight, block.labels)
        return loglik, host(resp.sum(axis=0)), self.stats(params, block, resp)

    def m_step(self, stats: CellStats, params: Any) -> MultinomialParams:
        pseudo = 0.0 if self.prior is None else self.spread(self.prior, stats.total.shape[1]).pseudo
        return self._normalised(stats.total + pseudo, params)

    def _normalised(self, total: np.ndarray, params: Any) -> MultinomialParams:
        """Shares in proportion to totals, none below the floor."""
        size = total.sum(axis=1, keepdims=True)
        share = np.where(occupied(size), total / np.where(size > 0, size, 1.0), params.probability)
        low = share < self.floor
        rest = np.where(low, 0.0, share)
        rest *= (1.0 - self.floor * low.sum(axis=1, keepdims=True)) / rest.sum(axis=1, keepdims=True)
        return MultinomialParams(np.where(low, self.floor, rest))

    # Its conjugate prior

    def evidence(self, stats: CellStats, params: Any) -> tuple:
        return (stats.total,)

    def value(self, params: MultinomialParams) -> tuple:
        return (params.probability,)

    def at(self, value: np.ndarray) -> MultinomialParams:
        return MultinomialParams(value)

    def predictive(self, prior: Any) -> Distribution:
        """The shares expected of a single count: that of several is Dirichlet-multinomial."""
        return Distribution(Multinomial(1), MultinomialParams(self.spread(prior, 1).mean[None]))

    # What the classes are

    def mean(self, params: MultinomialParams) -> np.ndarray:
        return self.n_trials * params.probability

    def variance(self, params: MultinomialParams) -> np.ndarray:
        return self.n_trials * params.probability * (1.0 - params.probability)

    def kl(self, params: MultinomialParams, other: MultinomialParams) -> np.ndarray:
        return self.n_trials * (params.probability * np.log(params.probability / other.probability)).sum(axis=1)

    def entropy(self, params: MultinomialParams) -> np.ndarray:
        """Log n! and cell by cell: each count is binomial by itself."""
        from scipy.stats import binom

        n, p = self.n_trials, params.probability
        counts = np.arange(n + 1.0)
        expected = [[binom.pmf(counts, n, each) @ gammaln(counts + 1.0) for each in row] for row in p]
        return -(gammaln(n + 1.0) - np.sum(expected, axis=1) + n * xlogy(p, p).sum(axis=1))

    def sample(self, params: MultinomialParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.multinomial(self.n_trials, params.probability[classes]).astype(float)

    def law(self, params: Any, block: Block) -> Law:
        """Given the class, missing counts are negative binomial about n_O p_j / p_O."""
        (rows, columns), (_, total, share) = block.missing_cells, self._shares(params, block)
        odds = params.probability[:, columns].T / share[rows]
        size = np.maximum(total, 1e-12)[rows][:, None] * np.ones_like(odds)
        return ScipyLaw(size * odds, size * odds * (1.0 + odds), "nbinom", n=size, p=1.0 / (1.0 + odds))

    def draw(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        X = host(block.X).astype(np.float64)
        _, total, share = self._shares(params, block)
        out = np.repeat(X[None], n_draws, axis=0)
        for t, classes in enumerate(draw_classes(host(resp), n_draws, rng)):
            odds = params.probability[classes] / share[np.arange(len(X)), classes][:, None]
            rate = rng.gamma(np.maximum(total, 1e-12)[:, None] * np.ones_like(odds)) * odds
            out[t] = np.where(np.isnan(X), rng.poisson(rate), X)
        return out

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        """Roots of shares, whose distance is Hellinger's."""
        root = 1.0 / np.sqrt(np.maximum(self._totals(block), 1.0))
        if backend(block.X) == "cpu":
            return np.sqrt(np.nan_to_num(block.X).astype(np.float64)) * root[:, None]
        return super().embed(block.transformed(np.sqrt), rng) * root[:, None]

    def free(self, params: MultinomialParams) -> np.ndarray:
        """Square roots: shares near zero stay near zero, where logarithms would run away."""
        return np.sqrt(params.probability).ravel()

    def bound(self, vector: np.ndarray, params: MultinomialParams) -> MultinomialParams:
        return self._normalised(np.maximum(vector.reshape(params.probability.shape), 0.0) ** 2, params)

    def n_parameters(self, params: MultinomialParams) -> int:
        k, d = params.probability.shape
        return k * (d - 1)
