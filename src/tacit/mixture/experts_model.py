"""Mixtures of experts: p(y | x) = Σ_k g_k(z) p(y | z, k), z = [1, (x − origin) / scale], y being the targets of a row.

E-step: r_ik ∝ g_k(z_i) p(y_i | z_i, k)        M-step: a Newton step of the gate towards r, and each expert from its share of rows
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Arrays, record
from ..engine import Model
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
    def of(cls, source, *, classes=False):
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

    def _reach(self, source, total):
        """R = ρ Lᵀ, where L Lᵀ is the second moment of z and ρ the largest ‖L⁻¹ z‖, by the Cauchy–Schwarz inequality."""

        def features(block):
            return self.split(*_counted(block, self.origin, self.target_origin))[0]

        second = source.sum(lambda block: grams(features(block), block.weight[:, None])[0]) / total
        root = np.linalg.cholesky(second + 1e-10 * np.eye(len(second)))
        longest = max(
            source.map(lambda block: (solve_triangular(root, features(block).T, lower=True) ** 2).sum(0).max())
        )
        return np.sqrt(longest) * root.T

    def split(self, X, Y):
        """Rows and targets as Z and Y in this frame."""
        Z = np.empty((len(X), len(self.origin) + 1))
        Z[:, 0] = 1.0
        np.divide(X - self.origin, self.scale, out=Z[:, 1:])
        return Z, (Y - self.target_origin) / self.target_scale

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


class ExpertsModel(Model):
    """A mixture of experts for rows with targets.

    Parameters
    ----------
    gate : SoftmaxGate
        Who is responsible where.
    experts : LinearExperts or LogisticExperts
        What y is given x and the expert.
    n_components : int
        Number of experts.
    frame : Frame, optional
        The frame of all rows; by default that of the sample from which a fit starts, which must then hold every row.
    """

    extrapolates = True

    def __init__(self, gate, experts, n_components, frame=None):
        self.gate, self.experts, self.n_components, self.frame = gate, experts, n_components, frame

    @property
    def one_start(self):
        """Whether every start is the same."""
        return self.n_components == 1

    # Starts

    def init(self, sample, rng):
        """A random start from a sample of rows: k-means in a random view of x and y, or the nearest of random lines."""
        n_classes = self.experts.n_classes
        frame = self.frame or Frame.of(OneBlock(sample), classes=n_classes > 0)
        Z, Y = frame.split(sample.X, sample.targets)
        if self.one_start:
            resp = np.ones((len(Z), 1))
        elif not n_classes and rng.random() < 0.5:
            resp = self._random_lines(Z, Y, sample, rng)
        else:
            view = _View(Z[:, 1:], np.eye(n_classes)[Y[:, 0].astype(int)] if n_classes else Y)
            resp = seed_responsibilities(view, sample, self.n_components, rng, "kmeans")
        resp = resp * sample.weight[:, None]
        gate = self.gate.start(Z, resp, frame.reach)
        return ExpertsParams(gate, self.experts.start(Z, Y, resp, frame.reach), frame)

    def _random_lines(self, Z, Y, sample, rng):
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

    def _joint(self, params, X, Y):
        Z, Y = params.frame.split(X, Y)
        return Z, Y, self.gate.log_prob(params.gate, Z) + self.experts.log_prob(params.experts, Z, Y)

    def e_step(self, params, block):
        """Statistics of a block at the posterior of its experts."""
        Z, Y, log_joint = self._joint(params, *_counted(block, params.frame.origin, params.frame.target_origin))
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
        log_joint = self._joint(params, block.X, block.targets)[2]
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


def _counted(block, origin=0.0, target_origin=0.0):
    """The rows of a block and their targets, those of weight 0 replaced, because what they hold must not matter."""
    counts = block.weight[:, None] > 0
    if counts.all():
        return block.X, block.targets
    return np.where(counts, block.X, origin), np.where(counts, block.targets, target_origin)
