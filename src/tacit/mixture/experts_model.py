"""Mixtures of experts: p(y | x) = Σ_k g_k(z) p(y | z, k), z = [1, (x − origin) / scale], y being the targets of a row.

E-step: r_ik ∝ g_k(z_i) p(y_i | z_i, k)        M-step: a Newton step of the gate towards r, and each expert from its share of rows
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Arrays, record
from ..engine import Model
from ..families import responsibilities
from ..source import Block, OneBlock, Source
from .expert_families import LinearExperts, LogisticExperts
from .gate import SoftmaxGate, grams
from .seeds import draw, seed_responsibilities

__all__ = ["ExpertsModel", "ExpertsParams", "ExpertsStats", "Frame"]


@record
class Frame(Arrays):
    """Origin and scale of features and targets, fixed during a fit, and R with |z·h| ≤ ‖R h‖ for every row and any h."""

    origin: np.ndarray
    scale: np.ndarray
    target_origin: np.ndarray
    target_scale: np.ndarray
    reach: np.ndarray

    @classmethod
    def identity(cls, n_features: int, n_targets: int) -> Frame:
        """The user's own units."""
        zero, one = np.zeros(n_features), np.ones(n_features)
        reach = np.full((n_features + 1, n_features + 1), np.inf)
        return cls(zero, one, np.zeros(n_targets), np.ones(n_targets), reach)

    @classmethod
    def of(cls, source: Source, *, classes: bool = False) -> Frame:
        """The frame in which rows and targets of a source have mean 0 and variance 1; numbers of classes stay as they are."""
        total = source.sum(lambda block: block.weight.sum())
        mean = source.sum(lambda block: block.weight @ np.hstack(_counted(block))) / total
        d = source.n_features
        middle = mean[:d], mean[d:]
        variance = source.sum(lambda block: block.weight @ (np.hstack(_counted(block, *middle)) - mean) ** 2) / total
        # What rounding leaves of a constant column is no spread.
        scale = np.sqrt(np.where(variance > (1e-12 * np.abs(mean)) ** 2, variance, 1.0))
        if classes:
            mean[d:], scale[d:] = 0.0, 1.0
        frame = cls(mean[:d], scale[:d], mean[d:], scale[d:], np.zeros((d + 1, d + 1)))
        return replace(frame, reach=frame._reach(source, total))

    def _reach(self, source: Source, total: float) -> np.ndarray:
        """R = ρ Lᵀ, where L Lᵀ is the second moment of z and ρ the largest ‖L⁻¹ z‖, by the Cauchy–Schwarz inequality."""

        def features(block: Block) -> np.ndarray:
            return self.split(*_counted(block, self.origin, self.target_origin))[0]

        second = source.sum(lambda block: grams(features(block), block.weight[:, None])[0]) / total
        root = np.linalg.cholesky(second + 1e-10 * np.eye(len(second)))
        longest = max(
            source.map(lambda block: (solve_triangular(root, features(block).T, lower=True) ** 2).sum(0).max())
        )
        return np.sqrt(longest) * root.T

    def split(self, X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and targets as Z and Y in this frame."""
        Z = np.empty((len(X), len(self.origin) + 1))
        Z[:, 0] = 1.0
        np.divide(X - self.origin, self.scale, out=Z[:, 1:])
        return Z, (Y - self.target_origin) / self.target_scale

    def outward(self, params: ExpertsParams) -> ExpertsParams:
        """Parameters of this frame in the user's units."""

        def outward(coef: np.ndarray) -> np.ndarray:
            slope = coef[..., 1:] / self.scale
            return np.concatenate([coef[..., :1] - slope @ self.origin[:, None], slope], axis=-1)

        coef = outward(params.experts.coef) * self.target_scale[:, None]
        coef[..., 0] += self.target_origin
        frame = Frame.identity(len(self.origin), len(self.target_origin))
        return ExpertsParams(outward(params.gate), params.experts.rescaled(coef, self.target_scale), frame)

    def inward(self, params: ExpertsParams) -> ExpertsParams:
        """Parameters in the user's units in this frame."""
        scale, target_scale = 1.0 / self.scale, 1.0 / self.target_scale
        back = Frame(-self.origin * scale, scale, -self.target_origin * target_scale, target_scale, self.reach)
        return replace(back.outward(params), frame=self)


@record
class ExpertsParams(Arrays):
    """Coefficients of the gate (experts, q), the experts' parameters, and the frame they are in."""

    gate: np.ndarray
    experts: Any
    frame: Frame


@record
class ExpertsStats(Arrays):
    """Log-likelihood, total weight, and what gate and experts learn from."""

    loglik: float
    weight: float
    gate: Any
    experts: Arrays


class ExpertsModel(Model):
    """A mixture of experts for rows with targets.

    Without a `frame`, that of all rows is taken from the sample from which a fit starts, which must then hold every row.
    """

    extrapolates = True

    def __init__(
        self, gate: SoftmaxGate, experts: LinearExperts | LogisticExperts, n_components: int, frame: Frame | None = None
    ):
        self.gate, self.n_components, self.frame = gate, n_components, frame
        self.experts: Any = experts
        self.one_start = n_components == 1

    # Starts

    def init(self, sample: Block, rng: np.random.Generator) -> ExpertsParams:
        """A random start from a sample of rows: k-means in a random view of x and y, or the nearest of random lines."""
        n_classes = self.experts.n_classes
        frame = self.frame or Frame.of(OneBlock(sample), classes=n_classes > 0)
        Z, Y = frame.split(sample.X, sample.targets)
        if self.one_start:
            resp = np.ones((len(Z), 1))
        elif not n_classes and rng.random() < 0.5:
            resp = self._random_lines(Z, Y, sample, rng)
        else:
            targets = np.eye(n_classes)[Y[:, 0].astype(int)] if n_classes else Y
            view = _view(Z[:, 1:], targets, sample.weight, rng)
            resp = seed_responsibilities(view, sample, self.n_components, rng, "kmeans")
        resp = resp * sample.weight[:, None]
        gate = self.gate.start(Z, resp, frame.reach)
        return ExpertsParams(gate, self.experts.start(Z, Y, resp, frame.reach), frame)

    def _random_lines(self, Z: np.ndarray, Y: np.ndarray, sample: Block, rng: np.random.Generator) -> np.ndarray:
        """Rows assigned to the nearest of lines through a few random rows each."""
        order = np.lexsort(sample.joined.X.T)
        distance = np.empty((len(Z), self.n_components))
        for k in range(self.n_components):
            rows = draw(sample.weight, order, rng, Z.shape[1] + 1)
            line = np.linalg.lstsq(Z[rows], Y[rows], rcond=1e-6)[0]
            distance[:, k] = ((Y - Z @ line) ** 2).sum(axis=1)
        nearest = np.where(sample.labels >= 0, sample.labels, distance.argmin(axis=1))
        return np.eye(self.n_components)[nearest]

    # EM

    def _joint(self, params: ExpertsParams, X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        Z, Y = params.frame.split(X, Y)
        return Z, Y, self.gate.log_prob(params.gate, Z) + self.experts.log_prob(params.experts, Z, Y)

    def e_step(self, params: ExpertsParams, block: Block) -> ExpertsStats:
        Z, Y, log_joint = self._joint(params, *_counted(block, params.frame.origin, params.frame.target_origin))
        resp, _, loglik = responsibilities(log_joint, np.zeros(self.n_components), block.weight, block.labels)
        weight = float(block.weight.sum())
        return ExpertsStats(
            loglik - weight * float(np.log(params.frame.target_scale).sum()),
            weight,
            self.gate.stats(params.gate, Z, resp),
            self.experts.stats(params.experts, Z, Y, resp),
        )

    def m_step(self, stats: ExpertsStats, params: ExpertsParams) -> ExpertsParams:
        reach = params.frame.reach
        gate = self.gate.m_step(stats.gate, params.gate, reach)
        return ExpertsParams(gate, self.experts.m_step(stats.experts, params.experts, reach), params.frame)

    def log_prior(self, params: ExpertsParams) -> float:
        return self.gate.log_prior(params.gate) + self.experts.log_prior(params.experts)

    def free(self, params: ExpertsParams) -> np.ndarray:
        return np.concatenate([self.gate.free(params.gate), self.experts.free(params.experts)])

    def bound(self, vector: np.ndarray, params: ExpertsParams) -> ExpertsParams:
        gate, experts = np.split(vector, [len(self.gate.free(params.gate))])
        bounded = self.gate.bound(gate, params.gate), self.experts.bound(experts, params.experts)
        return ExpertsParams(*bounded, params.frame)

    def posterior(self, params: ExpertsParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the experts of each row, (rows, experts), and the log density of y given x."""
        log_joint = self._joint(params, block.X, block.targets)[2]
        one, unknown = np.ones(len(block)), np.full(len(block), -1)
        resp, evidence, _ = responsibilities(log_joint, np.zeros(self.n_components), one, unknown)
        return resp, evidence - np.log(params.frame.target_scale).sum()

    def n_parameters(self, params: ExpertsParams) -> int:
        return self.gate.n_parameters(params.gate) + self.experts.n_parameters(params.experts)


def _view(X: np.ndarray, Y: np.ndarray, weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows as k-means is to see them: features, targets and what a line leaves of these, each of random importance."""
    share = weight[:, None] / weight.sum()
    Z = np.column_stack([np.ones(len(X)), X])
    left = Y - Z @ np.linalg.lstsq(np.sqrt(share) * Z, np.sqrt(share) * Y, rcond=1e-10)[0]
    left = left / max(float(np.sqrt((share * left**2).sum())), 1e-12)
    importance = rng.choice([0.0, 1.0, 3.0], size=3) + 0.1 * rng.random(3)
    return np.column_stack([factor * part for factor, part in zip(importance, (X / np.sqrt(X.shape[1]), Y, left))])


def _counted(block: Block, origin: Any = 0.0, target_origin: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a block and their targets, those of weight 0 replaced, because what they hold must not matter."""
    counts = block.weight[:, None] > 0
    if counts.all():
        return block.X, block.targets
    return np.where(counts, block.X, origin), np.where(counts, block.targets, target_origin)
