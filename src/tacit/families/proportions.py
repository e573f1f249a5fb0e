"""Proportions: columns between 0 and 1, and rows that are compositions of a whole.

    Beta:       log p(x | k) = Σ_j (a_kj − 1) log x_j + (b_kj − 1) log(1 − x_j) − log B(a_kj, b_kj)
    Dirichlet:  log p(x | k) = log Γ(Σ_l α_kl) − Σ_l log Γ(α_kl) + Σ_l (α_kl − 1) log x_l,    Σ_l x_l = 1

Of a composition with missing parts M the rest m = 1 − Σ_observed x is known, and (x_observed, m) is Dirichlet with the α of
the missing parts added up; the missing parts share m like a Dirichlet of their own, E[log x_l] = log m + ψ(α_l) − ψ(α_M).
"""

from typing import Any

import numpy as np
from scipy.special import betaln, digamma, gammaln

from ..arrays import Arrays, record
from ..declared import Numbers, declare
from ..kernels import flipped, host
from ..source.block import Block
from .family import Family, draw_classes, occupied, recalled, refuse
from .laws import Law, ScipyLaw
from .linear import CellStats, LinearFamily
from .roots import concentrations

__all__ = ["Beta", "Dirichlet"]


@record
class BetaParams(Arrays):
    """Exponents, each (classes, d)."""

    a: np.ndarray
    b: np.ndarray
    _saved = declare(a=Numbers("K d", above=0), b=Numbers("K d", above=0))


class Beta(LinearFamily):
    """Columns of proportions strictly between 0 and 1.

    Parameters
    ----------
    floor : float
        a + b stays below 1/floor, which bounds the variance of a column of one value from below.

    References
    ----------
    T. P. Minka, "Estimating a Dirichlet distribution", 2000.

    Examples
    --------
    >>> from tacit.families import Beta
    >>> Beta().fit([0.2, 0.5, 0.6, 0.9]).mean.round(3)
    array([0.555])
    """

    functions = ("log", "log1m")
    _params_type = BetaParams

    def __init__(self, *, floor: float = 1e-6) -> None:
        self.floor = floor

    def check(self, X: np.ndarray) -> None:
        bad = X[(X <= 0) | (X >= 1)]
        refuse(bad, "Beta columns lie strictly between 0 and 1, but X holds {:g}; move it inside.")

    def form(self, params: BetaParams) -> tuple:
        slope = np.concatenate([params.a - 1.0, params.b - 1.0], axis=1)
        return slope, np.concatenate([-betaln(params.a, params.b), np.zeros(params.b.shape)], axis=1)

    def expected(self, params: BetaParams) -> np.ndarray:
        total = digamma(params.a + params.b)
        return np.concatenate([digamma(params.a) - total, digamma(params.b) - total], axis=1)

    def m_step(self, stats: CellStats, params: BetaParams) -> BetaParams:
        count, total = (np.stack(np.split(part, 2, axis=1), axis=-1) for part in (stats.count, stats.total))
        alive = occupied(count[..., 0])
        old = np.stack([params.a, params.b], axis=-1)
        # An unseen column is given the equation that its own parameters solve.
        mean = np.where(alive[..., None], total / np.where(count > 0, count, 1.0), -1.0)
        alpha = concentrations(mean, 1.0 / self.floor, old.sum(axis=-1))
        alpha = np.where(alive[..., None], alpha, old)
        return BetaParams(alpha[..., 0], alpha[..., 1])

    def mean(self, params: BetaParams) -> np.ndarray:
        return params.a / (params.a + params.b)

    def variance(self, params: BetaParams) -> np.ndarray:
        mean = self.mean(params)
        return mean * (1.0 - mean) / (params.a + params.b + 1.0)

    def sample(self, params: BetaParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        X = rng.beta(params.a[classes], params.b[classes])
        return np.clip(X, np.finfo(float).tiny, 1.0 - np.finfo(float).epsneg)

    def scipy(self, params: BetaParams) -> tuple[str, dict[str, Any]]:
        return "beta", {"a": params.a, "b": params.b}

    def free(self, params: BetaParams) -> np.ndarray:
        """Log odds of the mean, and log of a + b."""
        return np.concatenate([np.log(params.a / params.b).ravel(), np.log(params.a + params.b).ravel()])

    def bound(self, vector: np.ndarray, params: BetaParams) -> BetaParams:
        odds, total = (part.reshape(params.a.shape) for part in np.split(np.clip(vector, -40.0, 40.0), 2))
        total = np.minimum(np.exp(total), 1.0 / self.floor)
        return BetaParams(total / (1.0 + np.exp(-odds)), total / (1.0 + np.exp(odds)))


@record
class DirichletParams(Arrays):
    """Concentrations, (classes, parts)."""

    alpha: np.ndarray
    _saved = declare(alpha=Numbers("K d", above=0))


class Dirichlet(Family):
    """Rows of positive parts that sum to 1. Tensors are computed on as arrays.

    Missing parts are integrated out exactly; of a row with one missing part nothing is missing.

    Parameters
    ----------
    floor : float
        Σ α stays below 1/floor, which bounds the variance of rows that are all alike from below.

    References
    ----------
    T. P. Minka, "Estimating a Dirichlet distribution", 2000.

    Examples
    --------
    >>> from tacit.families import Dirichlet
    >>> Dirichlet().fit([[0.2, 0.3, 0.5], [0.3, 0.3, 0.4], [0.1, 0.2, 0.7]]).mean.round(2)
    array([0.2 , 0.28, 0.53])
    """

    _evened, _params_type = np.sqrt, DirichletParams

    def __init__(self, *, floor: float = 1e-6) -> None:
        self.floor = floor

    def check(self, X: np.ndarray) -> None:
        bad = X[(X <= 0) | (X >= 1)]
        refuse(bad, "parts of a composition lie strictly between 0 and 1, but X holds {:g}.")
        total, complete = np.nansum(X, axis=1), ~np.isnan(X).any(axis=1)
        wrong = np.flatnonzero(complete & (np.abs(total - 1.0) > 1e-5))
        if len(wrong):
            raise ValueError(f"row {wrong[0]} sums to {total[wrong[0]]:g}, not to 1; divide each row by its sum.")
        wrong = np.flatnonzero(~complete & (total >= 1.0))
        if len(wrong):
            raise ValueError(f"row {wrong[0]} sums to {total[wrong[0]]:g} and leaves nothing for its missing parts.")

    def start(self, block: Block, resp: Any) -> DirichletParams:
        params = DirichletParams(np.ones((resp.shape[1], block.X.shape[1])))
        return self.m_step(self.stats(params, block, resp * block.weight[:, None]), params)

    def _groups(self, block: Block) -> list[tuple]:
        """For each pattern: its rows, its missing parts, and (log parts, log rest) with 0 where there is none."""

        def make() -> Any:
            X, patterns = host(block.X).astype(np.float64), block.patterns
            groups = []
            for rows, missing in zip(np.split(patterns.rows, patterns.starts[1:-1]), patterns.missing):
                parts, some = np.where(missing, 1.0, X[rows]), missing.any() and not missing.all()
                rest = 1.0 - parts[:, ~missing].sum(axis=1) if some else np.ones(len(rows))
                groups.append((rows, missing, np.log(parts), np.log(rest)))
            return groups

        return recalled(block, "log_parts", make)

    def log_prob(self, params: DirichletParams, block: Block) -> Any:
        scores = np.empty((len(block), len(params.alpha)))
        for rows, missing, log_parts, log_rest in self._groups(block):
            alpha, together = params.alpha[:, ~missing], params.alpha[:, missing].sum(axis=1)
            constant = gammaln(params.alpha.sum(axis=1)) - gammaln(alpha).sum(axis=1)
            scores[rows] = log_parts[:, ~missing] @ (alpha - 1.0).T + constant
            if missing.any():
                scores[rows] += log_rest[:, None] * (together - 1.0) - gammaln(together)
        return flipped(scores, block.X).T

    def stats(self, params: DirichletParams, block: Block, resp: Any) -> Any:
        resp, total = host(resp), np.zeros(params.alpha.shape)
        for rows, missing, log_parts, log_rest in self._groups(block):
            total += resp[rows].T @ log_parts
            if missing.any():
                alpha = params.alpha[:, missing]
                share = digamma(alpha) - digamma(alpha.sum(axis=1, keepdims=True))
                total[:, missing] += (resp[rows].T @ log_rest)[:, None] + resp[rows].sum(axis=0)[:, None] * share
        return CellStats(np.repeat(resp.sum(axis=0)[:, None], params.alpha.shape[1], axis=1), total)

    def m_step(self, stats: CellStats, params: DirichletParams) -> DirichletParams:
        alive = occupied(stats.count[:, 0])[:, None]
        mean = np.where(alive, stats.total / np.where(alive, stats.count, 1.0), -1.0)
        alpha = concentrations(mean, 1.0 / self.floor, params.alpha.sum(axis=1))
        return DirichletParams(np.where(alive, alpha, params.alpha))

    def mean(self, params: DirichletParams) -> np.ndarray:
        return params.alpha / params.alpha.sum(axis=1, keepdims=True)

    def variance(self, params: DirichletParams) -> np.ndarray:
        mean = self.mean(params)
        return mean * (1.0 - mean) / (params.alpha.sum(axis=1, keepdims=True) + 1.0)

    def _log_normaliser(self, params: DirichletParams) -> np.ndarray:
        return gammaln(params.alpha).sum(axis=1) - gammaln(params.alpha.sum(axis=1))

    def _expected_log(self, params: DirichletParams) -> np.ndarray:
        return digamma(params.alpha) - digamma(params.alpha.sum(axis=1, keepdims=True))

    def entropy(self, params: DirichletParams) -> np.ndarray:
        return self._log_normaliser(params) - ((params.alpha - 1.0) * self._expected_log(params)).sum(axis=1)

    def kl(self, params: DirichletParams, other: DirichletParams) -> np.ndarray:
        apart = ((params.alpha - other.alpha) * self._expected_log(params)).sum(axis=1)
        return apart - self._log_normaliser(params) + self._log_normaliser(other)

    def sample(self, params: DirichletParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        parts = np.maximum(rng.standard_gamma(params.alpha[classes]), np.finfo(float).tiny)
        return parts / parts.sum(axis=1, keepdims=True)

    def _left(self, params: DirichletParams, block: Block) -> tuple[Any, np.ndarray]:
        """What the observed parts of each row leave (rows,), and Σ α of its missing parts (rows, classes)."""
        missing = np.isnan(host(block.X))
        return 1.0 - np.nansum(host(block.X), axis=1, dtype=np.float64), missing @ params.alpha.T

    def law(self, params: DirichletParams, block: Block) -> Law:
        """Missing parts share what the observed ones leave, as a Dirichlet of their own: each is a beta."""
        (rows, columns), (rest, together) = block.missing_cells, self._left(params, block)
        alpha, whole, scale = params.alpha[:, columns].T, together[rows], rest[rows, None]
        mean = alpha / whole
        variance = scale**2 * mean * (1.0 - mean) / (whole + 1.0)
        others = np.maximum(whole - alpha, np.finfo(float).tiny)  # a part that is missing alone is what is left
        return ScipyLaw(scale * mean, variance, "beta", a=alpha, b=others, scale=scale * np.ones_like(alpha))

    def draw(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        X, rest = host(block.X).astype(np.float64), self._left(params, block)[0]
        parts = rng.standard_gamma(params.alpha[draw_classes(host(resp), n_draws, rng)])
        parts = np.where(np.isnan(X), np.maximum(parts, np.finfo(float).tiny), 0.0)
        total = np.maximum(parts.sum(axis=2, keepdims=True), np.finfo(float).tiny)
        return np.where(np.isnan(X), rest[:, None] * parts / total, X)

    def free(self, params: DirichletParams) -> np.ndarray:
        """Log concentrations."""
        return np.log(params.alpha).ravel()

    def bound(self, vector: np.ndarray, params: DirichletParams) -> DirichletParams:
        alpha = np.exp(np.clip(vector, -40.0, 40.0)).reshape(params.alpha.shape)
        return DirichletParams(alpha * np.minimum(1.0, 1.0 / (self.floor * alpha.sum(axis=1, keepdims=True))))

    def n_parameters(self, params: DirichletParams) -> int:
        return params.alpha.size
