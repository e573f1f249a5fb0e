"""EM with a Newton step of the softmax gate, and Newton steps of uniquenesses, against `engine.climb` on the same objectives."""

from functools import partial

import numpy as np

from tacit.arrays import Arrays, record
from tacit.engine import Constraint, Model, Slope, climb, fit, short_runs
from tacit.factor.analysis.uniqueness import Point, first_guess, learn_uniqueness
from tacit.mixture.expert_families import LinearExperts
from tacit.mixture.experts_model import ExpertsModel, Frame
from tacit.mixture.gate import SoftmaxGate
from tacit.source import ArraySource

from .factor_analysis import make as factor_rows
from .harness import Job

ALPHA, TOL, FLOOR = 1.0, 1e-8, 0.005


@record
class Values(Arrays):
    """Log uniquenesses."""

    values: np.ndarray


class Experts(ExpertsModel):
    """Linear experts with a softmax gate; by Fisher's identity the gradient is that of the expected log-likelihood."""

    def slope(self, params, block, order=1):
        stats = self.e_step(params, block)
        coef, variance, part = params.experts.coef, params.experts.variance, stats.experts
        pull = (part.cross - coef @ part.gram) / variance[:, :, None]
        explained = ((2 * part.cross - coef @ part.gram) * coef).sum(axis=2)
        widen = 0.5 * ((part.square - explained) / variance - part.count[:, None])
        gradient = np.concatenate([stats.gate.gradient.ravel(), pull.ravel(), widen.ravel()])
        return Slope(stats.loglik, stats.weight, gradient, np.zeros((0, 0)))

    def prior_slope(self, params):
        slope = np.zeros(len(self.free(params)))
        slope[: params.gate.size] = -ALPHA * params.gate.ravel()
        return slope, np.zeros((0, 0))


class Uniquenesses(Model):
    """−f(θ) of a correlation matrix, whose rows are the only block."""

    def __init__(self, n_factors):
        self.n_factors = n_factors

    def free(self, params):
        return params.values

    def bound(self, vector, params):
        return Values(vector)

    def slope(self, params, block, order=1):
        point = Point(block.X, params.values, self.n_factors)
        curvature = -point.curvature if order > 1 else np.zeros((0, 0))
        return Slope(-point.value, 1.0, -point.slope, curvature)


def _lines(n, d, k):
    """A start, from rows whose line depends on where they are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    which = (X @ rng.normal(size=(d, k)) * 2.0 + rng.gumbel(size=(n, k))).argmax(axis=1)
    y = (X * rng.normal(size=(k, d))[which]).sum(axis=1) + 3.0 * rng.normal(size=k)[which] + 0.3 * rng.normal(size=n)
    source = ArraySource(X, targets=y[:, None])
    model = Experts(SoftmaxGate(ALPHA), LinearExperts(1e-6), k, Frame.of(source))
    sample = source.sample(n, rng)
    return model, source, short_runs(model, sample, partial(model.init, sample, rng), n_steps=20)


def _experts_em(data):
    return fit(*data, max_iter=5000, tol=1e-10, criterion="aitken", accelerate="auto").trace


def _experts_climb(data):
    return climb(*data, method="lbfgs", tol=1e-7, max_iter=5000).trace


def _same_maximum(ours, theirs):
    a, b = (trace.objectives[-1] / trace.weight for trace in (ours, theirs))
    assert abs(a - b) < 1e-6, f"objectives per row {a} and {b}"
    return f"objectives per row differ by {abs(a - b):.0e}, {ours.passes} and {theirs.passes} passes"


def _correlation(n, d, k):
    return np.corrcoef(factor_rows(n, d, k).T)


def _unique_steps(k, correlation):
    return np.log(learn_uniqueness(correlation, k, first_guess(correlation, k), floor=FLOOR).values)


def _unique_climb(k, method, correlation):
    d = len(correlation)
    above = Constraint(lambda params: params.values - np.log(FLOOR), lambda params: np.eye(d), equal=False)
    start, source = Values(np.log(first_guess(correlation, k))), ArraySource(correlation, block_rows=d)
    model = Uniquenesses(k)
    return climb(model, source, start, method=method, tol=TOL, max_iter=1000, constraints=[above]).params.values


def _equal(ours, theirs):
    off = float(np.abs(ours - theirs).max())
    assert off < 1e-5, f"maxima differ by {off}"
    return f"maxima differ by {off:.0e}"


def _experts_job(n, d, k):
    return Job(
        name=f"softmax gate of experts n={n:,} d={d} K={k}", rival="climb, lbfgs", make=partial(_lines, n, d, k),
        ours=_experts_em, theirs=_experts_climb, equal=_same_maximum,
    )  # fmt: skip


def _unique_job(d, k, method):
    return Job(
        name=f"uniquenesses d={d} k={k}", rival=f"climb, {method}", make=partial(_correlation, 2000, d, k),
        ours=partial(_unique_steps, k), theirs=partial(_unique_climb, k, method), equal=_equal,
    )  # fmt: skip


JOBS = [
    *(_experts_job(n, d, k) for n, d, k in ((300, 2, 2), (300, 4, 3), (30_000, 4, 3))),
    *(_unique_job(d, k, method) for d, k in ((10, 2), (100, 5)) for method in ("newton", "lbfgs")),
]
