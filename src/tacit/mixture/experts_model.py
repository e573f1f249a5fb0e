"""Mixtures of experts: p(y | x) = Σ_k g_k(z) p(y | z, k), z = [1, (x − origin) / scale], rows being [x, y].

E-step: r_ik ∝ g_k(z_i) p(y_i | z_i, k)        M-step: a Newton step of the gate towards r, and each expert from its share of rows
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Arrays, record
from ..families import responsibilities
from ..source import OneBlock
from .gate import grams
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
    def identity(cls, n_features, n_targets):
        """The user's own units."""
        zero, one = np.zeros(n_features), np.ones(n_features)
        reach = np.full((n_features + 1, n_features + 1), np.inf)
        return cls(zero, one, np.zeros(n_targets), np.ones(n_targets), reach)

    @classmethod
    def of(cls, source, n_targets, *, classes=False):
        """The frame in which the rows of a source have mean 0 and variance 1; numbers of classes stay as they are."""
        total = source.sum(lambda block: block.weight.sum())
        mean = source.sum(lambda block: block.weight @ _counted(block)) / total
        variance = source.sum(lambda block: block.weight @ (_counted(block, mean) - mean) ** 2) / total
        # What rounding leaves of a constant column is no spread.
        scale = np.sqrt(np.where(variance > (1e-12 * np.abs(mean)) ** 2, variance, 1.0))
        d = len(mean) - n_targets
        if classes:
            mean[d:], scale[d:] = 0.0, 1.0
        frame = cls(mean[:d], scale[:d], mean[d:], scale[d:], np.zeros((d + 1, d + 1)))
        return replace(frame, reach=frame._reach(source, total))

    def _reach(self, source, total):
        """R = ρ Lᵀ, where L Lᵀ is the second moment of z and ρ the largest ‖L⁻¹ z‖, by the Cauchy–Schwarz inequality."""

        def features(block):
            return self.split(_counted(block, _middle(self)))[0]

        second = source.sum(lambda block: grams(features(block), block.weight[:, None])[0]) / total
        root = np.linalg.cholesky(second + 1e-10 * np.eye(len(second)))
        longest = max(
            source.map(lambda block: (solve_triangular(root, features(block).T, lower=True) ** 2).sum(0).max())
        )
        return np.sqrt(longest) * root.T

    def split(self, rows):
        """Rows [x, y] as Z and Y in this frame."""
        d = len(self.origin)
        Z = np.empty((len(rows), d + 1))
        Z[:, 0] = 1.0
        np.divide(rows[:, :d] - self.origin, self.scale, out=Z[:, 1:])
        return Z, (rows[:, d:] - self.target_origin) / self.target_scale

    def outward(self, params):
        """Parameters of this frame in the user's units."""

        def outward(coef):
            slope = coef[..., 1:] / self.scale
            return np.concatenate([coef[..., :1] - slope @ self.origin[:, None], slope], axis=-1)

        coef = outward(params.experts.coef) * self.target_scale[:, None]
        coef[..., 0] += self.target_origin
        frame = Frame.identity(len(self.origin), len(self.target_origin))
        return ExpertsParams(outward(params.gate), params.experts.rescaled(coef, self.target_scale), frame)

    def inward(self, params):
        """Parameters in the user's units in this frame."""

        def inward(coef):
            slope = coef[..., 1:]
            return np.concatenate([coef[..., :1] + slope @ self.origin[:, None], slope * self.scale], axis=-1)

        coef = inward(params.experts.coef)
        coef[..., 0] -= self.target_origin
        coef /= self.target_scale[:, None]
        return ExpertsParams(inward(params.gate), params.experts.rescaled(coef, 1.0 / self.target_scale), self)


@record
class ExpertsParams(Arrays):
    """Coefficients of the gate (experts, q), the experts' parameters, and the frame they are in."""

    gate: np.ndarray
    experts: Arrays
    frame: Frame


@record
class ExpertsStats(Arrays):
    """Log-likelihood, total weight, and what gate and experts learn from."""

    loglik: float
    weight: float
    gate: Arrays
    experts: Arrays


class ExpertsModel:
    """A mixture of experts for rows [x, y].

    Parameters
    ----------
    gate : SoftmaxGate
        Who is responsible where.
    experts : LinearExperts or LogisticExperts
        What y is given x and the expert.
    n_components : int
        Number of experts.
    n_targets : int
        Columns of y, the last ones of a row.
    frame : Frame, optional
        The frame of all rows; by default that of the sample from which a fit starts, which must then hold every row.
    """

    def __init__(self, gate, experts, n_components, n_targets=1, frame=None):
        self.gate, self.experts, self.n_components = gate, experts, n_components
        self.n_targets, self.frame = n_targets, frame

    @property
    def one_start(self):
        """Whether every start is the same."""
        return self.n_components == 1

    @property
    def n_classes(self):
        """Classes of the target, 0 where it is a quantity."""
        return getattr(self.experts, "n_classes", 0)

    # Starts

    def init(self, sample, rng):
        """A random start from a sample of rows: k-means in a random view of x and y, or the nearest of random lines."""
        frame = self.frame or Frame.of(OneBlock(sample), self.n_targets, classes=self.n_classes > 0)
        Z, Y = frame.split(sample.X)
        if self.one_start:
            resp = np.ones((len(Z), 1))
        elif not self.n_classes and rng.random() < 0.5:
            resp = self._random_lines(Z, Y, sample, rng)
        else:
            view = _View(Z[:, 1:], np.eye(self.n_classes)[Y[:, 0].astype(int)] if self.n_classes else Y)
            resp = seed_responsibilities(view, sample, self.n_components, rng, "kmeans")
        resp = resp * sample.weight[:, None]
        gate = self.gate.start(Z, resp, frame.reach)
        return ExpertsParams(gate, self.experts.start(Z, Y, resp, frame.reach), frame)

    def _random_lines(self, Z, Y, sample, rng):
        """Rows assigned to the nearest of lines through a few random rows each."""
        order = np.lexsort(sample.X.T)
        distance = np.empty((len(Z), self.n_components))
        for k in range(self.n_components):
            rows = draw(sample.weight, order, rng, Z.shape[1] + 1)
            line = np.linalg.lstsq(Z[rows], Y[rows], rcond=1e-6)[0]
            distance[:, k] = ((Y - Z @ line) ** 2).sum(axis=1)
        nearest = np.where(sample.labels >= 0, sample.labels, distance.argmin(axis=1))
        return np.eye(self.n_components)[nearest]

    # EM

    def _joint(self, params, rows):
        Z, Y = params.frame.split(rows)
        return Z, Y, self.gate.log_prob(params.gate, Z) + self.experts.log_prob(params.experts, Z, Y)

    def e_step(self, params, block):
        """Statistics of a block at the posterior of its experts."""
        Z, Y, log_joint = self._joint(params, _counted(block, _middle(params.frame)))
        resp, _, loglik = responsibilities(log_joint, np.zeros(self.n_components), block.weight, block.labels)
        weight = float(block.weight.sum())
        return ExpertsStats(
            loglik - weight * float(np.log(params.frame.target_scale).sum()),
            weight,
            self.gate.stats(params.gate, Z, resp),
            self.experts.stats(params.experts, Z, Y, resp),
        )

    def m_step(self, stats, params):
        """A better gate and better experts."""
        reach = params.frame.reach
        gate = self.gate.m_step(stats.gate, params.gate, reach)
        return ExpertsParams(gate, self.experts.m_step(stats.experts, params.experts, reach), params.frame)

    def log_prior(self, params):
        """Log density of the parameters under their prior, up to a constant."""
        return self.gate.log_prior(params.gate) + self.experts.log_prior(params.experts)

    def free(self, params):
        """Parameters as a vector without constraints."""
        return np.concatenate([self.gate.free(params.gate), self.experts.free(params.experts)])

    def bound(self, vector, params):
        """The parameters that `free` made into a vector, valid for any vector."""
        gate, experts = np.split(vector, [len(self.gate.free(params.gate))])
        bounded = self.gate.bound(gate, params.gate), self.experts.bound(experts, params.experts)
        return ExpertsParams(*bounded, params.frame)

    def posterior(self, params, block):
        """Probabilities of the experts of each row, (rows, experts), and the log density of y given x."""
        log_joint = self._joint(params, block.X)[2]
        n_rows = len(block)
        unknown = np.full(n_rows, -1)
        resp, evidence, _ = responsibilities(log_joint, np.zeros(self.n_components), np.ones(n_rows), unknown)
        return resp, evidence - np.log(params.frame.target_scale).sum()

    def n_parameters(self, params):
        """Free parameters."""
        return self.gate.n_parameters(params.gate) + self.experts.n_parameters(params.experts)


class _View:
    """Rows as k-means is to see them: features, targets and what a line leaves of these, each of random importance."""

    def __init__(self, X, Y):
        self.X, self.Y = X, Y

    def embed(self, sample, rng):
        share = sample.weight[:, None] / sample.weight.sum()
        Z = np.column_stack([np.ones(len(self.X)), self.X])
        left = self.Y - Z @ np.linalg.lstsq(np.sqrt(share) * Z, np.sqrt(share) * self.Y, rcond=1e-10)[0]
        left = left / max(float(np.sqrt((share * left**2).sum())), 1e-12)
        importance = rng.choice([0.0, 1.0, 3.0], size=3) + 0.1 * rng.random(3)
        parts = self.X / np.sqrt(self.X.shape[1]), self.Y, left
        return np.column_stack([factor * part for factor, part in zip(importance, parts)])


def _middle(frame):
    """A row at the centre of a frame."""
    return np.append(frame.origin, frame.target_origin)


def _counted(block, filler=0.0):
    """The rows of a block, those of weight 0 replaced, because what they hold must not matter."""
    counts = block.weight > 0
    return block.X if counts.all() else np.where(counts[:, None], block.X, filler)
