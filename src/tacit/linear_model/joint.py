"""Missing features of a linear model, integrated out under one Gaussian of features and targets.

x ~ N(μ, Σ),   y | x ~ N(b + Wx, diag σ²),   q(w_t) = N(m_t, S_t):    the E-step sees the Gaussian of (x, y) with

    A⁻¹ = Σ⁻¹ + Σ_t S_t/σ_t²,    Cov x = A,   Cov(x, y) = A Mᵀ,   Cov y = M A Mᵀ + diag σ²

which is ∝ exp E_q log p(x, y | W): uncertain coefficients count as further precision of x. Without uncertainty (maximum
likelihood, MAP) it is the joint distribution itself. The engine's objective is the evidence lower bound, exact where no cell is
missing.

References
----------
Little and Rubin (2002), Statistical Analysis with Missing Data, chapter 11.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from ..arrays import Arrays, record
from ..declared import SQUARES, Numbers, declare
from ..engine import fit
from ..engine.model import Model
from ..factor.moments import Moments
from ..families.dense import DenseStats, FullGaussian, FullParams, drawn_covariance
from ..kernels import host
from ..notes import Note
from ..source import Block, Source
from ..source.block import Patterns
from ..source.threads import one_blas_thread
from .design import Design, of_moments, of_rows
from .known import Known
from .spread import Features, Spread

__all__ = [
    "EXACT", "Joints", "LinearGaussian", "draw_joints", "drawn_around", "few", "joints_around", "learn_joint", "noise_levels",
    "predicted",
]  # fmt: skip

FLOOR = 1e-9
NOTHING = 1e-6  # share of the target's variance below which EM ends: the likelihood may have no maximum
EXACT = "exact_fit"
SAMPLE_ROWS = 5000
FEW = 40  # rows per column below which parameters are drawn where cells are missing
N_DRAWS, FIRST, APART = 40, 20, 3


@record
class Joints(Arrays):
    """Parameters of features and targets, several that are as good as each other or one estimate."""

    mean: np.ndarray
    covariance: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    noise: np.ndarray
    _saved = declare(
        mean=Numbers("D d"), covariance=Numbers("D d d", form="scatter", high=SQUARES), coef=Numbers("D m d", high=SQUARES),
        intercept=Numbers("D m", high=SQUARES), noise=Numbers("D m", low=0, high=SQUARES),
    )  # fmt: skip

    def __len__(self) -> int:
        return len(self.mean)


@record
class JointParams(Arrays):
    """The Gaussian that rows are expected under, with what the objective adds to its likelihood per row and at all."""

    components: FullParams
    per_row: float
    penalty: float
    start: np.ndarray  # hyperparameters to go on from
    noise: np.ndarray  # share of the targets' variances that is noise


@record
class JointStats(Arrays):
    """Log-likelihood, weight, and moments of features and targets."""

    loglik: float
    weight: float
    moments: DenseStats


class LinearGaussian(Model):
    """Features and targets of a linear model, learned by EM.

    Parameters
    ----------
    estimator : LinearModel
        Which learns coefficients from a `Design`.
    n_features : int
        Columns before the targets.
    """

    one_start = True

    def __init__(self, estimator: Any, n_features: int) -> None:
        self.estimator, self.d = estimator, n_features
        self.family = FullGaussian(floor=FLOOR)
        self.monotone = estimator._monotone

    def init(self, sample: Block, rng: np.random.Generator) -> JointParams:
        block = sample.joined
        start = self.family.start(block, np.ones((len(block), 1)))
        filled = Block.of(self.family.fill(block), block.weight)
        stats = self.family.stats(start, filled, np.asarray(filled.weight)[:, None])
        return self._made(stats, start, np.zeros(0))

    def e_step(self, params: JointParams, block: Block) -> JointStats:
        loglik, _, stats = self.family.e_step(params.components, np.zeros(1), block.joined)
        weight = float(host(block.weight).sum())
        return JointStats(loglik + weight * params.per_row, weight, stats)

    def m_step(self, stats: JointStats, params: JointParams) -> JointParams:
        return self._made(stats.moments, params.components, params.start)

    def log_prior(self, params: JointParams) -> float:
        return params.penalty

    def posterior(self, params: JointParams, block: Block) -> tuple[Any, Any]:
        scores = self.family.log_prob(params.components, block.joined)
        return np.ones((len(block), 1)), host(scores)[:, 0] + params.per_row

    def settled(self, trace: Any, params: JointParams, image: JointParams, tol: float) -> Note | None:
        if (image.noise < NOTHING).any():
            return Note(
                EXACT, "rows with missing values are fitted exactly, so that the noise variance fell to nothing"
            )
        return super().settled(trace, params, image, tol)

    def design(self, stats: DenseStats, at: FullParams, n_rows: int = 0) -> Design:
        """What expected moments say."""
        weight = float(stats.count[0])
        shift = stats.first[0] / weight
        covariance = stats.second[0] / weight - np.outer(shift, shift)
        covariance = 0.5 * (covariance + covariance.T)
        d = self.d
        covariance[:d, :d] = self.family.clip(covariance[None, :d, :d], at.scale[:d])[0]
        found = Moments(weight, 0.0, at.origin + shift, covariance)
        return of_moments(found, (n_rows or int(np.ceil(weight)), d), self.estimator.fit_intercept)

    def _made(self, stats: DenseStats, at: FullParams, start: np.ndarray) -> JointParams:
        design = self.design(stats, at)
        found = self.estimator._learn(design, start if start.size else None, exact=False)
        features = self._features(design)
        noise = np.maximum(found.noise, FLOOR * at.scale[self.d :])
        mean, inner, per_row = design.center, features, 0.0
        if found.covariance is not None and found.covariance.any():
            extra = np.einsum("tij,t->ij", found.covariance, 1.0 / noise)
            system = np.eye(self.d) + features @ extra
            inner = np.linalg.solve(system, features)
            inner = 0.5 * (inner + inner.T)
            per_row = -0.5 * np.linalg.slogdet(system)[1]
            if not self.estimator.fit_intercept:  # the coefficients' uncertainty grows from 0, not from the mean
                moved = mean - inner @ (extra @ mean)
                per_row -= 0.5 * mean @ extra @ moved
                mean = moved
        intercept = design.y_mean - found.coef @ design.x_mean
        components = _joined(mean, inner, found.coef, intercept, noise, at)
        begin = np.zeros(0) if found.start is None else found.start
        return JointParams(components, per_row, found.objective, begin, noise / at.scale[self.d :])

    def _features(self, design: Design) -> np.ndarray:
        covariance = design.gram / design.weight
        return covariance if self.estimator.fit_intercept else covariance - np.outer(design.center, design.center)


def _joined(
    mean: np.ndarray, inner: np.ndarray, coef: np.ndarray, intercept: np.ndarray, noise: np.ndarray, at: FullParams
) -> FullParams:
    """The Gaussian of features and targets side by side."""
    across = inner @ coef.T
    covariance = np.block([[inner, across], [across.T, coef @ across + np.diag(noise)]])
    both = np.concatenate([mean, intercept + coef @ mean])
    return FullParams(both[None], covariance[None], at.origin, at.scale)


def few(weight: float, n_features: int) -> bool:
    """Whether rows are so few that what is not known of the features' distribution tells in predictions."""
    return weight < FEW * (n_features + 1)


def learn_joint(estimator: Any, source: Source) -> tuple:
    """Learn a linear model from rows with missing features: the `Fit`, a design, the estimate and the features' distribution."""
    model = LinearGaussian(estimator, source.n_features)
    sample = source.sample(SAMPLE_ROWS, np.random.default_rng(0))
    start = model.init(sample, np.random.default_rng(0))
    found = fit(model, source, start, max_iter=500, tol=1e-7)
    stats, params = found.stats, found.params
    design = model.design(stats.moments, params.components, source.n_rows)
    estimate = estimator._learn(design, params.start if params.start.size else None)
    features = Features(np.array(design.weight), design.center, model._features(design))
    if estimate.spread is not None and not few(source.n_rows, source.n_features):
        estimate = _with_observed_spread(model, estimate, design, source, params)
    return found, design, estimate, features


def _with_observed_spread(
    model: LinearGaussian, estimate: Any, design: Design, source: Source, params: JointParams
) -> Any:
    """The estimate with the spread that observed cells leave, from the outer products of the rows' scores."""
    noise, coef, d = np.maximum(estimate.noise, 1e-300), estimate.coef, model.d
    outer = source.sum(partial(_score_products, model, estimate, design, params))
    roots = []
    penalty = np.broadcast_to(estimate.penalty, coef.shape)
    for t in range(len(coef)):
        kept = np.flatnonzero(np.isfinite(penalty[t]))
        information = outer[t][np.ix_(kept, kept)] / noise[t] + np.diag(penalty[t, kept])
        value, axes = np.linalg.eigh(information)
        root = np.zeros((d, d))
        root[kept, : len(kept)] = axes / np.sqrt(np.maximum(value, 1e-12 * value[-1]))
        roots.append(root)
    spread = Spread(np.zeros(len(coef)), np.array(roots), np.ones(d))
    return replace(estimate, spread=spread)


def _score_products(
    model: LinearGaussian, estimate: Any, design: Design, params: JointParams, block: Block
) -> np.ndarray:
    """Σ w s sᵀ for every target, s = E[(y − b − wᵀx)(x − x̄) | observed cells] in units of the noise variance."""
    joined, d = block.joined, model.d
    rows, cov = model.family.complete(params.components, joined, np.ones((len(block), 1)), return_cov=True)
    centred, targets = rows[:, :d] - design.x_mean, rows[:, d:] - design.y_mean
    weight = host(block.weight)
    found = []
    for t, coef in enumerate(estimate.coef):
        score = (targets[:, t] - centred @ coef)[:, None] * centred - cov[:, :d, :d] @ coef
        found.append((score * weight[:, None]).T @ score)
    return np.array(found)


def draw_joints(estimator: Any, source: Source, params: JointParams) -> Joints:
    """Draws of the parameters of features and targets given rows with missing cells, by data augmentation."""
    rng, d = np.random.default_rng(0), source.n_features
    block = source.sample(source.n_rows, rng).joined
    weight = np.asarray(block.weight)
    family, components = FullGaussian(floor=FLOOR), params.components
    # From far off: where the noise is nothing, what is drawn fits exactly and leads away from there slowly.
    coef, noise = estimator._coef.astype(np.float64), 0.5 * components.scale[d:]
    intercept = np.broadcast_to(np.atleast_1d(estimator.intercept_), len(coef)).astype(np.float64)
    features = FullParams(
        components.mean[:, :d], components.covariance[:, :d, :d], components.origin[:d], components.scale[:d]
    )
    priors = None if estimator._prior is None else [estimator._prior() for _ in coef]
    draws = []
    with one_blas_thread():
        for sweep in range(FIRST + APART * N_DRAWS):
            # From the features' Gaussian and a regression: what the next cells are drawn from.
            both = _joined(
                features.mean[0], features.covariance[0], coef, intercept,
                np.maximum(noise, FLOOR * components.scale[d:]), components,
            )  # fmt: skip
            filled = family.draw(both, block, np.ones((len(block), 1)), 1, rng)[0]
            rows = Block.of(np.ascontiguousarray(filled[:, :d]), weight)
            features = family.redraw(features, rows, weight[:, None], rng)
            coef, intercept, noise = _redrawn(estimator, priors, filled[:, :d], filled[:, d:], weight, rng)
            if sweep >= FIRST and (sweep - FIRST) % APART == 0:
                draws.append((features.mean[0], features.covariance[0], coef, intercept, noise))
    return Joints(*(np.array(part) for part in zip(*draws)))


def _redrawn(
    estimator: Any, priors: Any, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, rng: np.random.Generator
) -> tuple:
    """Coefficients, intercepts and noise variances given complete rows."""
    total, about = weight.sum(), float(estimator.fit_intercept)
    x_mean, y_mean = about * (weight @ X) / total, about * (weight @ Y) / total
    if priors is None:
        penalty = np.broadcast_to(estimator.penalty_, (Y.shape[1], X.shape[1]))
        found = [_penalised(X - x_mean, y, a, weight, about, rng) for y, a in zip((Y - y_mean).T, penalty)]
    else:
        known = Known.of(of_rows(X, Y, weight, estimator.fit_intercept), estimator.fit_intercept)
        known = known.along_axes()  # type: ignore[union-attr]
        found = [prior.draw(known, t, rng) for t, prior in enumerate(priors)]
        found = [(w / known.scale, noise) for w, noise in found]
    coef, noise = (np.array(part) for part in zip(*found))
    level = about * np.sqrt(noise / total) * rng.standard_normal(len(noise))
    return coef, y_mean - coef @ x_mean + level, noise


def _penalised(
    X: np.ndarray, y: np.ndarray, penalty: np.ndarray, weight: np.ndarray, about: float, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Coefficients and the noise variance of one target given their precisions, of rows about their mean."""
    gram = (X * weight[:, None]).T @ X
    tiny = 1e-12 * np.trace(gram) / len(gram)
    upper = cho_factor(gram + np.diag(penalty + tiny))
    w = cho_solve(upper, X.T @ (weight * y))
    freedom = np.sum(cho_solve(upper, np.eye(len(gram))) * gram)
    # σ has a flat prior: under one of log σ, rows with missing cells could all be fitted exactly.
    left = max(weight.sum() - about - freedom - 1.0, 1.0)
    noise = (weight @ (y - X @ w) ** 2) / rng.chisquare(left)
    return w + np.sqrt(noise) * solve_triangular(upper[0], rng.standard_normal(len(w))), noise


def drawn_around(at: Joints, spread: Any, dof: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draws of coefficients and noise variances given complete rows, of which the estimates are all that there is to know."""
    rng = np.random.default_rng(0)
    noise = at.noise * dof / rng.chisquare(dof, (N_DRAWS, len(dof)))
    return at.coef + np.sqrt(noise)[..., None] * spread.draw(N_DRAWS, rng), noise


def noise_levels(noise: np.ndarray, n_rows: float) -> np.ndarray:
    """Draws of how far levels of targets are from those estimated of so many rows, of the shape of noise variances."""
    return np.sqrt(noise / n_rows) * np.random.default_rng(1).standard_normal(noise.shape)


def joints_around(
    at: Joints, coef: np.ndarray, noise: np.ndarray, weight: float, n_level: float, x_offset: np.ndarray
) -> Joints:
    """Draws of all parameters given complete rows.

    Parameters
    ----------
    at : Joints
        The estimate.
    coef, noise : (draws, m, d) and (draws, m)
        Draws of coefficients and noise variances.
    weight, n_level : float
        Total weight of the rows; rows that tell of the intercept.
    x_offset : (d,)
        The point that the intercept is independent of the coefficients at.
    """
    rng, (n_draws, _, d) = np.random.default_rng(0), coef.shape
    variance = np.maximum(np.diagonal(at.covariance[0]), 1e-300)
    scatter = weight * at.covariance[0] + np.diag(variance)
    covariance = np.array([drawn_covariance(weight + d, scatter, rng) for _ in range(n_draws)])
    roots = np.linalg.cholesky(covariance)
    mean = at.mean + np.einsum("nij,nj->ni", roots, rng.standard_normal((n_draws, d))) / np.sqrt(weight)
    level = at.intercept - (coef - at.coef) @ x_offset + noise_levels(noise, n_level)
    return Joints(mean, covariance, coef, level, noise)


def predicted(joints: Joints, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Expectations (draws, n, m) of the targets of rows, variances that missing cells add, and the first draw's filled rows."""
    patterns = Patterns.of(X)
    n, (n_draws, m, _) = len(X), joints.coef.shape
    mean, variance, filled = np.empty((n_draws, n, m)), np.zeros((n_draws, n, m)), X.copy()
    for missing, first, stop in zip(patterns.missing, patterns.starts, patterns.starts[1:]):
        rows, seen, lost = patterns.rows[first:stop], np.flatnonzero(~missing), np.flatnonzero(missing)
        x = X[rows][:, seen]
        coef = joints.coef
        found = x @ coef[:, :, seen].transpose(0, 2, 1) + joints.intercept[:, None]
        if len(lost):
            across = joints.covariance[:, seen[:, None], lost]
            gain = np.linalg.solve(joints.covariance[:, seen[:, None], seen], across)
            x_lost = joints.mean[:, None, lost] + (x - joints.mean[:, None, seen]) @ gain
            rest = joints.covariance[:, lost[:, None], lost] - across.transpose(0, 2, 1) @ gain
            weights = coef[:, :, lost]
            found = found + x_lost @ weights.transpose(0, 2, 1)
            variance[:, rows] = np.maximum(np.einsum("nti,nij,ntj->nt", weights, rest, weights), 0.0)[:, None]
            filled[rows[:, None], lost] = x_lost[0]
        mean[:, rows] = found
    return mean, variance, filled
