"""`FactorModel`: ratings by biases and factors of users and items.

    r_ui = μ + b_u + c_i + u_u·v_i + noise,    noise ~ N(0, σ² / τ_u),    τ_u ~ Gamma(ν/2, ν/2)
    x_u = (b_u, u_u) ~ N(Wᵀf_u, P⁻¹),    y_i = (c_i, v_i) likewise

Users are the units, and remember q(x_u); items are parameters. A pass solves for all users given the items, adds up what the
noise and the users' prior are learned from, and then, in `mend`, solves for all items given the users. Every step raises one
objective: the evidence lower bound where both sides are uncertain, the log-likelihood with users integrated out where items are
points, and the penalised log-likelihood where all are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammaln, polygamma, psi

from ...arrays import Arrays, record
from ...engine import Model
from ...kernels import lazy
from ...source import Block
from .priors import SidePrior, Users, Vectors, packed
from .responses import GaussianResponse
from .source import RatedRows, RatingSource

__all__ = ["FactorModel", "FactorParams", "FactorStats"]

compiled, gradients, on_device = lazy("factorization"), lazy("gradients"), lazy("torch_factorization")
LEAST_NOISE = 1e-6
NONE = 1e12  # precision of what is held at 0
FREEDOM, MOST_FREEDOM = 30.0, 1e4


@record
class FactorParams(Arrays):
    """Parameters: μ, σ², ν, what the response needs besides, the items, the sum of their log determinants, and both priors."""

    centre: float
    noise: float
    freedom: float
    response: np.ndarray
    vectors: Vectors
    log_det: float
    user_prior: SidePrior
    item_prior: SidePrior


@record
class FactorStats(Arrays):
    """Sums over users: the objective, the ratings' weight, Σ E τ e², Σ E (log τ − τ), Σ E x xᵀ, Σ f E xᵀ, the response's own."""

    loglik: float
    weight: float
    error: float
    uneven: float
    second: np.ndarray
    cross: np.ndarray
    response: np.ndarray


class FactorModel(Model):
    """Factorisation as a model of users.

    Parameters
    ----------
    n_components : int
        K.
    learns : bool
        Whether vectors have covariances, so that priors and the noise can be learned; otherwise they are points.
    user_features, item_features : (n, 1 + p) and (d, 1 + p)
        f, a column of ones first.
    response : GaussianResponse or the like
        What a rating tells of μ + x·y.
    uneven : bool
        Whether users differ in how consistent they are; otherwise τ = 1.
    precision : (float, float)
        Prior precision of biases and of factors, in units of 1 / σ² where it is not learned.
    kind : dtype
        Precision of sums over ratings.
    n_steps : int
        Conjugate gradients per half sweep, where vectors are points; 0 solves for them.
    given : (float, SidePrior, SidePrior), optional
        σ² and priors, where they are known.
    biases : bool
        Whether there are any; otherwise they are held at 0.
    device : str, optional
        Where sweeps run, if not on this machine's cores.
    """

    remembers = True

    def __init__(
        self, n_components: int, *, learns: bool = True, user_features: Any, item_features: Any,
        response: Any = None, uneven: bool = True, precision: tuple[float, float] = (5.0, 10.0),
        kind: Any = np.float64, n_steps: int = 0, given: Any = None, biases: bool = True, device: str | None = None,
    ):  # fmt: skip
        self.n_components, self.learns = n_components, learns
        self.features = user_features, item_features
        self.grams = tuple(np.asarray(f.T @ f) for f in self.features)
        self.response = GaussianResponse() if response is None else response
        self.uneven, self.precision, self.kind = uneven and self.response.uneven, precision, kind
        self.n_steps, self.given, self.biases, self.device = n_steps, given, biases, device

    @property
    def size(self) -> int:
        """Length of the vectors: a bias and the factors."""
        return 1 + self.n_components

    # Starting

    def init(self, sample: Block, rng: np.random.Generator) -> FactorParams:
        """Random factors; biases of 0."""
        rows: Any = sample.X
        d, K = rows.shape[1], self.n_components
        centre, noise, own = self.response.start()
        mean = np.zeros((d, self.size))
        mean[:, 1:] = rng.standard_normal((d, K)) * np.sqrt(0.1 / max(K, 1))
        spread = self.isotropic(d, self.learns)
        bias, factor = (np.array(self.precision) / noise).tolist() if self.learns else self.precision
        bias = bias if self.biases else NONE
        priors = [SidePrior.start(np.diag([bias] + [factor] * K), f.shape[1] - 1) for f in self.features]
        if self.given is not None:
            noise, *priors = self.given
        log_det = d * self.size * np.log(self._first) if self.learns else 0.0
        return FactorParams(centre, noise, FREEDOM, own, Vectors(mean, spread), log_det, *priors)

    @property
    def _first(self) -> float:
        """Variance that vectors start with."""
        return 0.1 / self.size

    def isotropic(self, n: int, uncertain: bool) -> np.ndarray:
        """Packed covariances of equal variances, or none."""
        return np.tile(packed(self._first * np.eye(self.size)), (n, 1))[:, : None if uncertain else 0].astype(self.kind)

    def memory(self, block: Block) -> Users:
        n = len(block)
        return Users(np.zeros((n, self.size)), self.isotropic(n, self.learns), np.ones((n, 1)))

    # Learning

    def e_step(self, params: FactorParams, block: Block) -> FactorStats:
        users: Any = self.memory(block) if block.memory is None else block.memory
        features = self.features[0][block.first : block.first + len(block)]
        rows: Any = block.X
        before = users.mean.copy() if self.response.moves else users.mean
        told = self.solve(params, rows, users, params.vectors, params.user_prior, features, users.steady[:, 0])
        prior = params.user_prior
        centred = prior.centre(features)
        value = 0.5 * len(block) * np.linalg.slogdet(prior.precision)[1]
        value -= 0.5 * (told[:, 2].sum() + np.vdot(centred @ prior.precision, centred))
        if self.learns:
            value += 0.5 * (told[:, 1].sum() + len(block) * self.size)
        wrong = told[:, 0] + users.steady[:, 0] * self.response.further(params, rows)
        error, uneven, steadied = self._steady(params, rows, users, wrong)
        fitted, sums = self.response.told(params, rows, before, users.mean, params.vectors.mean, error)
        cross = np.asarray(features.T @ users.mean)
        return FactorStats(value + fitted + steadied, rows.total, error, uneven, users.moments()[0], cross, sums)

    def _steady(
        self, params: FactorParams, rows: RatedRows, users: Users, error: np.ndarray
    ) -> tuple[float, float, float]:
        """Let users be as consistent as their errors say; Σ E τ e², Σ E (log τ − τ), and what τ adds to the bound."""
        tau = users.steady[:, 0]
        if not self.uneven:
            return float(error.sum()), 0.0, 0.0
        error, n = error / tau, rows.totals()
        shape, rate = (params.freedom + n) / 2, (params.freedom + error / params.noise) / 2
        tau[:] = shape / rate
        log_tau, half = psi(shape) - np.log(rate), params.freedom / 2
        value = half * np.log(half) - gammaln(half) + (half - 1) * log_tau - half * tau  # E log p(τ)
        value += gammaln(shape) + shape - np.log(rate) - (shape - 1) * psi(shape)  # entropy
        return float(tau @ error), float((log_tau - tau).sum()), float(value.sum() + (n / 2) @ log_tau)

    def solve(
        self, params: FactorParams, rows: RatedRows, own: Vectors, others: Vectors, prior: SidePrior, features: Any,
        steady: np.ndarray, by_row: bool = True,
    ) -> np.ndarray:  # fmt: skip
        """Solve for the vectors of the rows, in place; what the kernel tells of each.

        `steady` is τ of the rows, or where not `by_row` of the columns.
        """
        along = prior.precision, prior.shift(features), params.noise
        if self.device is not None:
            given = partial(self.response.on_device, params, rows, own.mean, others.mean)
            other, own_side = (others.extended, others.covariances), (self.response.dense, own.mean, own.covariances)
            tau = steady if self.uneven else None
            return on_device.half_sweep(rows, given, tau, by_row, *other, *along, *own_side, self.device)
        target = self.response.targets(params, rows, own.mean, others.mean).astype(self.kind, copy=False)
        weight = self.response.weights(rows, self.kind)
        if self.uneven:
            each = np.repeat(steady, np.diff(rows.indptr)) if by_row else steady[rows.indices]
            weight = weight * each.astype(self.kind)
        cells = rows, weight, target
        if self.n_steps and own.certain:
            base: Any = np.zeros((0, 0))
            metric = params.noise * prior.precision
            if self.response.dense:
                base = others.gram
                metric = metric + np.delete(np.delete(base, 1, axis=0), 1, axis=1)
            points = others.points(metric)
            return gradients.half_sweep_by_gradients(*cells, *points, *along, base, self.n_steps, own.mean)
        base = others.base if self.response.dense else np.zeros(0)
        return compiled.half_sweep(*cells, others.extended, others.table, *along, base, own.mean, own.covariances)

    def m_step(self, stats: FactorStats, params: FactorParams) -> FactorParams:
        noise, response = self.response.updated(params, stats)
        n = self.features[0].shape[0]
        freedom = best_freedom(params.freedom, stats.uneven / n) if self.uneven and self.learns else params.freedom
        prior = params.user_prior.updated(stats.second, stats.cross, self.grams[0], n, self.learns, self.biases)
        return replace(params, noise=max(noise, LEAST_NOISE), freedom=freedom, response=response, user_prior=prior)

    def mend(self, source: Any, stats: FactorStats, params: FactorParams, image: FactorParams) -> FactorParams:
        """Items given users; what users remember is all that is needed of them."""
        return self.with_items(source, image, source.recall())

    def with_items(self, source: RatingSource, params: FactorParams, users: Any) -> FactorParams:
        """Parameters with the items solved for."""
        items = params.vectors.map(np.copy)

        def part(first: int, rows: RatedRows) -> tuple[float, Any]:
            own = items.map(lambda array: array[first : first + len(rows)])
            features, steady = self.features[1][first : first + len(rows)], users.steady[:, 0]
            told = self.solve(params, rows, own, users, params.item_prior, features, steady, by_row=False)
            return float(told[:, 1].sum()), self.response.moved(params, rows, own.mean, users.mean, steady)

        found, moved = zip(*source.over_items(part))
        log_det, response = float(sum(found)), self.response.gathered(params, list(moved))
        cross = np.asarray(self.features[1].T @ items.mean)
        n, second = len(items.mean), items.moments()[0]
        prior = params.item_prior.updated(second, cross, self.grams[1], n, self.learns, self.biases)
        return replace(params, vectors=items, log_det=log_det, item_prior=prior, response=response)

    def log_prior(self, params: FactorParams) -> float:
        """What items and the links to features add to the objective."""
        items, prior = params.vectors, params.item_prior
        own = items.moments()[1]
        wrong = items.mean - prior.centre(self.features[1])
        around = wrong.T @ wrong + own
        value = 0.5 * (len(wrong) * np.linalg.slogdet(prior.precision)[1] - (prior.precision * around).sum())
        if self.learns:
            value += 0.5 * (params.log_det + len(wrong) * self.size)
        links = prior.value(self.grams[1]) + params.user_prior.value(self.grams[0])
        return float(value + links + self.response.value(params))

    def posterior(self, params: FactorParams, block: Block) -> tuple[Any, Any]:
        """Vectors of users, solved from scratch, and what each adds to the squared error."""
        users = self.memory(block)
        features = self.features[0][block.first : block.first + len(block)]
        rows: Any = block.X
        told = self.solve(params, rows, users, params.vectors, params.user_prior, features, users.steady[:, 0])
        return users.mean, told[:, 0]

    def n_parameters(self, params: FactorParams) -> int:
        return params.vectors.mean.size


def best_freedom(start: float, mean: float) -> float:
    """ν that maximises E log Gamma(τ | ν/2, ν/2), given the mean of E (log τ − τ), by Newton steps in log ν."""
    half = start / 2
    for _ in range(50):
        slope = np.log(half) + 1.0 - psi(half) + mean
        step = slope / (half * (1.0 / half - polygamma(1, half)))
        half = float(np.clip(half * np.exp(-np.clip(step, -1.0, 1.0)), 0.5, MOST_FREEDOM / 2))
        if abs(step) < 1e-8:
            break
    return 2 * half
