"""Mixtures of experts: p(y | x) = Σ_k g_k(z) p(y | z, k), z = [1, (x − origin) / scale], y being the targets of a row.

E-step: r_ik ∝ g_k(z_i) p(y_i | z_i, k)        M-step: a Newton step of the gate towards r, and each expert from its share of rows
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Arrays, record
from ..engine import Model
from ..families import responsibilities
from ..source import Block, OneBlock, Source
from .expert_families import Experts
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
    def of(cls, source: Source, *, scaled: bool = True) -> Frame:
        """The frame in which rows and, if `scaled`, targets of a source have mean 0 and variance 1."""
        total = source.sum(lambda block: block.weight.sum())
        mean = source.sum(lambda block: block.weight @ np.hstack(_counted(block))) / total
        d = source.n_features
        about = mean[:d], mean[d:]
        variance = source.sum(lambda block: block.weight @ (np.hstack(_counted(block, *about)) - mean) ** 2) / total
        # What rounding leaves of a constant column is no spread.
        scale = np.sqrt(np.where(variance > (1e-12 * np.abs(mean)) ** 2, variance, 1.0))
        middle, spread = (mean[d:], scale[d:]) if scaled else (np.zeros(1), np.ones(1))
        frame = cls(mean[:d], scale[:d], middle, spread, np.zeros((d + 1, d + 1)))
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

    Parameters
    ----------
    gate, experts
        See `tacit.mixture.gate` and `tacit.mixture.expert_families`.
    n_components : int
        Number of experts.
    frame : Frame, optional
        Of all rows.
    gate_columns, expert_columns : ndarray of int, optional
        The entries of z that gate and experts see, of which 0 is the constant; by default all.
    draws : bool
        What a unit of several rows is: if False, rows that share their expert, p = Σ_k g_k Π_i p_ik with the gate at the first;
        if True, draws of the features of one row, p = mean_i Σ_k g_ik p_ik.
    """

    extrapolates = True

    def __init__(
        self, gate: SoftmaxGate, experts: Experts, n_components: int, frame: Frame | None = None,
        *, gate_columns: Any = None, expert_columns: Any = None, draws: bool = False,
    ):  # fmt: skip
        self.gate, self.n_components, self.frame, self.draws = gate, n_components, frame, draws
        self.experts: Any = experts
        self.columns = gate_columns, expert_columns
        self.one_start = n_components == 1

    # Columns

    def _seen(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What gate and experts see of z, or of a matrix that is applied to it."""
        of_gate, of_experts = (Z if columns is None else Z[..., columns] for columns in self.columns)
        return of_gate, of_experts

    def widen(self, params: ExpertsParams) -> ExpertsParams:
        """The same parameters with coefficients of 0 for what gate and experts do not see."""
        q = len(params.frame.origin) + 1
        gate, coef = (
            _wide(part, columns, q) for part, columns in zip((params.gate, params.experts.coef), self.columns)
        )
        return ExpertsParams(gate, replace(params.experts, coef=coef), params.frame)

    def narrow(self, params: ExpertsParams) -> ExpertsParams:
        """The same parameters with the coefficients that there are."""
        coef = self._seen(params.experts.coef)[1]
        return ExpertsParams(self._seen(params.gate)[0], replace(params.experts, coef=coef), params.frame)

    # Starts

    def init(self, sample: Block, rng: np.random.Generator) -> ExpertsParams:
        """A random start from a sample of rows: k-means in a random view of x and y, or the nearest of random lines."""
        frame = self.frame or Frame.of(OneBlock(sample), scaled=self.experts.scaled)
        Z, Y = frame.split(sample.X, sample.targets)
        (Zg, Ze), (reach_gate, reach_experts) = self._seen(Z), self._seen(frame.reach)
        if self.one_start:
            resp = np.ones((len(Z), 1))
        elif self.experts.lines and rng.random() < 0.5:
            resp = self._random_lines(Ze, self.experts.view(Y), sample, rng)
        else:
            view = _view(Z[:, 1:], self.experts.view(Y), sample.weight, rng)
            resp = seed_responsibilities(view, sample, self.n_components, rng, "kmeans")
        counts = resp = resp * sample.weight[:, None]
        if sample.units is not None:
            lengths = np.diff(sample.units)[:, None]
            counts = np.add.reduceat(resp, sample.units[:-1]) / lengths
            resp = sample.of_rows(counts / lengths if self.draws else counts)
            Zg, counts = (Zg, resp) if self.draws else (Zg[sample.units[:-1]], counts)
        gate = self.gate.start(Zg, counts, reach_gate)
        return ExpertsParams(gate, self.experts.start(Ze, Y, resp, reach_experts), frame)

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

    def _joint(self, params: ExpertsParams, X: np.ndarray, Y: np.ndarray, block: Block) -> Joint:
        """Log probabilities of experts and targets of each unit, and what they were made of."""
        Z, Y = params.frame.split(X, Y)
        Zg, Ze = self._seen(Z)
        Y = self.experts.rows(Y, block)
        log_prob, units = self.experts.log_prob(params.experts, Ze, Y), block.units
        if units is not None and not self.draws:
            Zg = Zg[units[:-1]]
        gate = self.gate.log_prob(params.gate, Zg)
        if units is None:
            return Joint(Zg, Ze, Y, gate + log_prob, None)
        if not self.draws:
            return Joint(Zg, Ze, Y, gate + np.add.reduceat(log_prob, units[:-1]), None)
        each = gate + log_prob
        top = np.maximum.reduceat(each, units[:-1])
        total = top + np.log(np.add.reduceat(np.exp(each - block.of_rows(top)), units[:-1]))
        return Joint(Zg, Ze, Y, total - np.log(np.diff(units))[:, None], np.exp(each - block.of_rows(total)))

    def e_step(self, params: ExpertsParams, block: Block) -> ExpertsStats:
        rows = _counted(block, params.frame.origin, params.frame.target_origin)
        joint, first = self._joint(params, *rows, block), block.offsets[:-1]
        weight = block.weight if block.units is None else block.weight[first]
        labels = block.labels if block.units is None else block.labels[first]
        resp, _, loglik = responsibilities(joint.log_prob, np.zeros(self.n_components), weight, labels)
        of_rows = block.of_rows(resp) if joint.share is None else block.of_rows(resp) * joint.share
        return ExpertsStats(
            loglik - float((weight * self._log_units(params, block)).sum()),
            float(weight.sum()),
            self.gate.stats(params.gate, joint.Zg, resp if len(joint.Zg) == len(resp) else of_rows),
            self.experts.stats(params.experts, joint.Ze, joint.Y, of_rows),
        )

    def _log_units(self, params: ExpertsParams, block: Block) -> Any:
        """Log of what the frame's units multiply the density of each unit by."""
        one = float(np.log(params.frame.target_scale).sum())
        return one if block.units is None or self.draws else one * np.diff(block.units)

    def m_step(self, stats: ExpertsStats, params: ExpertsParams) -> ExpertsParams:
        reach_gate, reach_experts = self._seen(params.frame.reach)
        gate = self.gate.m_step(stats.gate, params.gate, reach_gate)
        return ExpertsParams(gate, self.experts.m_step(stats.experts, params.experts, reach_experts), params.frame)

    def log_prior(self, params: ExpertsParams) -> float:
        return self.gate.log_prior(params.gate) + self.experts.log_prior(params.experts)

    def free(self, params: ExpertsParams) -> np.ndarray:
        return np.concatenate([self.gate.free(params.gate), self.experts.free(params.experts)])

    def bound(self, vector: np.ndarray, params: ExpertsParams) -> ExpertsParams:
        gate, experts = np.split(vector, [len(self.gate.free(params.gate))])
        bounded = self.gate.bound(gate, params.gate), self.experts.bound(experts, params.experts)
        return ExpertsParams(*bounded, params.frame)

    def posterior(self, params: ExpertsParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the experts of each unit, (units, experts), and the log density of its targets given the features."""
        log_joint = self._joint(params, block.X, block.targets, block).log_prob
        one, unknown = np.ones(block.n_units), np.full(block.n_units, -1)
        resp, evidence, _ = responsibilities(log_joint, np.zeros(self.n_components), one, unknown)
        return resp, evidence - self._log_units(params, block)

    def permute(self, params: ExpertsParams, order: np.ndarray) -> ExpertsParams:
        return ExpertsParams(params.gate[order], self.experts.permute(params.experts, order), params.frame)

    def n_parameters(self, params: ExpertsParams) -> int:
        return self.gate.n_parameters(params.gate) + self.experts.n_parameters(params.experts)


class Joint(NamedTuple):
    """What gate and experts see, targets, log p(k, y) of each unit, and the shares of draws in their unit, if it has any."""

    Zg: np.ndarray
    Ze: np.ndarray
    Y: Any
    log_prob: np.ndarray
    share: np.ndarray | None


def _wide(coef: np.ndarray, columns: Any, q: int) -> np.ndarray:
    """Coefficients of some of q columns, with 0 for the others."""
    if columns is None:
        return coef
    out = np.zeros((*coef.shape[:-1], q))
    out[..., columns] = coef
    return out


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
