"""Objectives with gradients: every method finds the maximum, whatever the blocks; runs are resumed, interrupted and told."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from tacit.arrays import Arrays, record
from tacit.engine import Checkpoint, Constraint, Model, SingularError, Slope, climb, fit_best
from tacit.source import ArraySource, as_source

METHODS = ["newton", "bfgs", "lbfgs", "cg", "gradient"]


@record
class Coefficients(Arrays):
    value: np.ndarray


class Logistic(Model):
    """log p(y | x) = −log(1 + exp(−y β·x)), β ~ N(0, 1/α)."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def free(self, params):
        return params.value

    def bound(self, vector, params):
        return Coefficients(vector)

    def slope(self, params, block, order=1):
        sign = 2.0 * block.targets[:, 0] - 1.0
        score = sign * (block.X @ params.value)
        wrong = block.weight * expit(-score)
        spread = wrong * expit(score)
        curvature = -(block.X * spread[:, None]).T @ block.X if order > 1 else np.zeros((0, 0))
        gradient = (wrong * sign) @ block.X
        return Slope(float(-block.weight @ np.logaddexp(0.0, -score)), float(block.weight.sum()), gradient, curvature)

    def log_prior(self, params):
        return -0.5 * self.alpha * float(params.value @ params.value)

    def prior_slope(self, params):
        return -self.alpha * params.value, -self.alpha * np.eye(len(params.value))


def rows(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 3.0, 0.5, 1.0][:d]
    y = (rng.random(n) < expit(X @ [1.0, -0.7, 0.3, 0.0][:d])).astype(float)
    return X, y[:, None]


def learned(method="newton", source=None, start=None, **settings):
    X, y = rows()
    source = source or ArraySource(X, targets=y, block_rows=50)
    return climb(Logistic(), source, start or Coefficients(np.zeros(4)), method=method, **{"tol": 1e-9, **settings})


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_maximum_and_never_falls(method):
    X, y = rows()
    rival = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X, y[:, 0])
    found = learned(method, max_iter=2000)
    np.testing.assert_allclose(found.params.value, rival.coef_[0], rtol=1e-5, atol=1e-6)
    assert found.converged
    assert found.reason.code in ("gradient", "no_better")
    assert np.diff(found.trace.objectives).min() >= -1e-10 * abs(found.trace.objectives[-1])


def test_newton_needs_a_handful_of_passes():
    found = learned("newton", tol=1e-7)
    assert found.reason == "the gradient fell below tol=1e-07"
    assert found.trace.passes <= 10
    assert len(found.trace) <= 10


def test_blocks_threads_weights_and_sources_do_not_matter():
    X, y = rows()
    base = learned()
    for settings in ({"block_rows": 7, "n_jobs": 1}, {"block_rows": 7, "n_jobs": 3}, {"block_rows": 300}):
        other = learned(source=ArraySource(X, targets=y, **settings))
        np.testing.assert_allclose(other.params.value, base.params.value, rtol=1e-9)
    twice = ArraySource(np.vstack([X, X]), targets=np.vstack([y, y]))
    double = ArraySource(X, np.full(len(X), 2.0), targets=y)
    np.testing.assert_allclose(learned(source=twice).params.value, learned(source=double).params.value, rtol=1e-9)
    dask_array = pytest.importorskip("dask.array")
    cluster = as_source(dask_array.from_array(X, chunks=(90, -1)), targets=y)
    np.testing.assert_allclose(learned(source=cluster).params.value, base.params.value, rtol=1e-9)


def test_steps_that_run_out_are_told():
    found = learned("lbfgs", max_iter=2)
    assert (found.reason, found.reason.code, found.converged) == ("max_iter=2 steps were taken", "max_iter", False)


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_run_goes_on_to_the_last_bit(method, tmp_path):
    X, y = rows()
    source, start = ArraySource(X, targets=y), Coefficients(np.zeros(4))
    settings = {"by": climb, "method": method, "tol": 1e-7, "max_iter": 300}

    def run(callback=None):
        kept = Checkpoint(tmp_path / "state", start, every=0.0)
        return fit_best(Logistic(), source, [lambda: start], checkpoint=kept, callback=callback, **settings)

    def die(progress):
        if progress.step == 4:
            raise RuntimeError("killed")

    expected = climb(Logistic(), source, start, **{k: v for k, v in settings.items() if k != "by"})
    with pytest.raises(RuntimeError, match="killed"):
        run(die)
    steps = []
    found = run(lambda progress: steps.append(progress.step))
    assert found.trace.objectives == expected.trace.objectives
    assert found.trace.passes == expected.trace.passes
    np.testing.assert_array_equal(found.params.value, expected.params.value)
    assert min(steps) >= 4  # what was done before is not done again, nor told again
    assert not (tmp_path / "state").exists()


def test_a_record_too_large_to_keep_goes_on_from_the_last_point(tmp_path, monkeypatch):
    import tacit.engine.ascent as module

    monkeypatch.setattr(module, "MOST_RECORDED", 100)
    X, y = rows()
    source, start = ArraySource(X, targets=y), Coefficients(np.zeros(4))

    def run(callback=None):
        kept = Checkpoint(tmp_path / "state", start, every=0.0)
        return fit_best(Logistic(), source, [lambda: start], by=climb, tol=1e-9, checkpoint=kept, callback=callback)

    def die(progress):
        if progress.step == 4:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        run(die)
    found = run()
    np.testing.assert_allclose(found.params.value, learned().params.value, rtol=1e-6)
    assert np.diff(found.trace.objectives).min() >= -1e-10


def test_an_interrupted_run_keeps_what_it_has():
    def stop(progress):
        if progress.step == 3:
            raise KeyboardInterrupt

    found = learned("lbfgs", callback=stop)
    assert found.interrupted
    assert found.reason == "interrupted by the user after 3 steps"
    X, y = rows()
    value = Logistic().slope(found.params, next(iter(ArraySource(X, targets=y)))).loglik
    assert value + Logistic().log_prior(found.params) == pytest.approx(found.trace.objectives[-1])


def test_progress_tells_steps_and_gains():
    told = []
    learned("bfgs", callback=told.append)
    assert [each.step for each in told[:-1]] == list(range(1, len(told)))
    assert told[-1].done
    assert told[-1].converged
    assert all(each.gain >= 0 for each in told[1:-1])


@pytest.mark.parametrize("multipliers", [True, False], ids=["augmented Lagrangian", "penalty"])
@pytest.mark.parametrize("method", ["newton", "lbfgs", "bfgs"])
def test_constraints_are_met_at_a_stationary_point(method, multipliers):
    X, y = rows()
    total = Constraint(lambda p: np.array([p.value.sum() - 0.5]), lambda p: np.ones((1, 4)))
    positive = Constraint(lambda p: p.value[1:2], lambda p: np.eye(4)[1:2], equal=False)
    tol = 1e-6 if multipliers else 1e-4
    found = learned(method, constraints=[total, positive], multipliers=multipliers, tol=tol, max_iter=500)
    value = found.params.value
    assert value.sum() == pytest.approx(0.5, abs=2 * tol)
    assert value[1] >= -2 * tol
    slope = (
        Logistic().slope(found.params, next(iter(ArraySource(X, targets=y)))).gradient
        + Logistic().prior_slope(found.params)[0]
    )
    free = slope[[0, 2, 3]] / len(X)  # where only the sum binds, all slopes are its multiplier
    assert np.ptp(free) < 100 * tol
    assert value[1] == pytest.approx(0.0, abs=1e-3)  # without the bound it would be negative


def test_constraints_that_cannot_be_met_are_told(monkeypatch):
    import tacit.engine.ascent as module

    monkeypatch.setattr(module, "ROUNDS", 6)
    impossible = Constraint(lambda p: np.array([p.value @ p.value + 1.0]), lambda p: 2 * p.value[None])
    found = learned("lbfgs", constraints=[impossible])
    assert not found.converged
    assert found.reason.code == "infeasible"
    assert "constraints are not met: they miss by" in found.reason


def test_bad_starts_and_methods_are_named():
    with pytest.raises(
        ValueError, match="method='magic' is unknown; use one of 'newton', 'bfgs', 'lbfgs', 'cg', 'gradient'"
    ):
        learned("magic")
    with pytest.raises(SingularError, match="the objective is -inf at the start; begin elsewhere or scale the data"):
        learned(start=Coefficients(np.full(4, np.inf)))
    with pytest.raises(NotImplementedError, match="Model has no unconstrained view"):
        climb(Model(), ArraySource(np.zeros((3, 1))), Coefficients(np.zeros(1)))
