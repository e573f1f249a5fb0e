"""Uniquenesses from correlations: derivatives, optimality, floors."""

import numpy as np
import pytest

from tacit.factor.analysis.correlation import Correlation, degrees_of_freedom, ledermann_bound
from tacit.factor.analysis.least_squares import LeastSquares
from tacit.factor.analysis.uniqueness import EXACT_COST, Point, best_uniqueness, first_guess, learn_uniqueness


def correlation(d=9, k=2, n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) + rng.normal(size=(n, d))
    return np.corrcoef(X.T)


def discrepancy(R, loadings, uniqueness):
    covariance = loadings @ loadings.T + np.diag(uniqueness)
    return np.linalg.slogdet(covariance)[1] + np.trace(np.linalg.solve(covariance, R))


@pytest.mark.parametrize("k", [0, 1, 3])
def test_value_slope_and_curvature_are_those_of_the_discrepancy(k):
    R, theta = correlation(), np.log(np.random.default_rng(1).uniform(0.2, 0.9, 9))
    point = Point(R, theta, k)
    assert point.value == pytest.approx(discrepancy(R, point.loadings, np.exp(theta)), abs=1e-10)
    steps = 1e-5 * np.eye(9)
    slope = [(Point(R, theta + h, k).value - Point(R, theta - h, k).value) / 2e-5 for h in steps]
    np.testing.assert_allclose(point.slope, slope, atol=1e-8)
    curvature = [(Point(R, theta + h, k).slope - Point(R, theta - h, k).slope) / 2e-5 for h in steps]
    np.testing.assert_allclose(point.curvature, curvature, atol=1e-7)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_value_slope_and_curvature_are_those_of_squared_residuals(k):
    R, theta = correlation(), np.log(np.random.default_rng(1).uniform(0.2, 0.9, 9))
    point = LeastSquares(R, theta, k)
    residual = R - point.loadings @ point.loadings.T - np.diag(np.exp(theta))
    assert point.value == pytest.approx(0.5 * (residual**2).sum(), abs=1e-12)
    assert point.misfit == pytest.approx(discrepancy(R, point.loadings, np.exp(theta)), abs=1e-10)
    steps = 1e-5 * np.eye(9)
    slope = [(LeastSquares(R, theta + h, k).value - LeastSquares(R, theta - h, k).value) / 2e-5 for h in steps]
    np.testing.assert_allclose(point.slope, slope, atol=1e-8)
    curvature = [(LeastSquares(R, theta + h, k).slope - LeastSquares(R, theta - h, k).slope) / 2e-5 for h in steps]
    np.testing.assert_allclose(point.curvature, curvature, atol=1e-7)


def test_the_cheap_curvature_is_that_of_a_model_that_fits(monkeypatch):
    rng = np.random.default_rng(0)
    loadings, uniqueness = rng.normal(size=(9, 2)), rng.uniform(0.5, 1.0, 9)
    covariance = loadings @ loadings.T + np.diag(uniqueness)
    exact = Point(covariance, np.log(uniqueness), 2).curvature
    monkeypatch.setattr("tacit.factor.analysis.uniqueness.EXACT_COST", 0.0)
    np.testing.assert_allclose(Point(covariance, np.log(uniqueness), 2).curvature, exact, atol=1e-10)
    assert EXACT_COST > 0.0


@pytest.mark.parametrize("cost", [0.0, 1e10])
@pytest.mark.parametrize("seed", range(3))
def test_no_direction_improves_the_maximum_and_the_trace_never_rises(cost, seed, monkeypatch):
    monkeypatch.setattr("tacit.factor.analysis.uniqueness.EXACT_COST", cost)
    R = correlation(seed=seed)
    found = learn_uniqueness(R, 2, first_guess(R, 2))
    assert found.converged
    assert np.all(np.diff(found.trace) < 0.0)
    point = Point(R, np.log(found.values), 2)
    assert np.abs(point.slope[~found.at_floor]).max() < (1e-10 if cost else 1e-6)
    assert (point.slope[found.at_floor] > 0.0).all()
    # At a maximum inside, columns have the variances they have.
    inside = ~found.at_floor
    np.testing.assert_allclose(((found.loadings**2).sum(axis=1) + found.values)[inside], 1.0, atol=1e-6)


def test_a_known_truth_is_found_exactly():
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(10, 3))
    loadings *= np.sqrt(rng.uniform(0.3, 0.9, 10) / (loadings**2).sum(axis=1))[:, None]
    uniqueness = 1.0 - (loadings**2).sum(axis=1)
    R = loadings @ loadings.T + np.diag(uniqueness)
    found = best_uniqueness(R, 3, rng)
    np.testing.assert_allclose(found.values, uniqueness, atol=1e-8)
    np.testing.assert_allclose(found.loadings @ found.loadings.T, loadings @ loadings.T, atol=1e-8)


def test_a_maximum_inside_is_preferred_to_one_at_the_floor():
    # The first start leads to the floor here, where the likelihood is higher.
    R = np.array(
        [[1.0, 0.999, 0.5, 0.4, 0.5], [0.999, 1.0, 0.5, 0.4, 0.5], [0.5, 0.5, 1.0, 0.8, 0.8], [0.4, 0.4, 0.8, 1.0, 0.8],
         [0.5, 0.5, 0.8, 0.8, 1.0]]
    )  # fmt: skip
    first = learn_uniqueness(R, 1, first_guess(R, 1))
    best = best_uniqueness(R, 1, np.random.default_rng(0))
    assert first.at_floor.any()
    assert not best.at_floor.any()
    assert best.value > first.value


def test_equal_eigenvalues_are_no_trouble():
    for R in (np.eye(4), np.full((4, 4), 0.5) + 0.5 * np.eye(4)):
        found = best_uniqueness(R, 2, np.random.default_rng(0))
        assert np.isfinite(found.value)
        assert found.converged


def test_constant_columns_stand_apart():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(50, 3)), np.full(50, 1e6)])
    found = Correlation.of(50.0, X.mean(axis=0), np.cov(X.T, ddof=0))
    assert found.varies.tolist() == [True, True, True, False]
    assert found.matrix.shape == (3, 3)
    assert found.deviation[3] == 1.0
    assert found.discrepancy(found.loglik(2.5, 0.005), 0.005) == pytest.approx(2.5)


def test_collinear_columns_have_no_determinant():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    assert Correlation.of(50.0, X.mean(axis=0), np.cov(X.T, ddof=0)).log_det == -np.inf


def test_the_ledermann_bound():
    # Lawley and Maxwell's table: (d, greatest k).
    assert [ledermann_bound(d) for d in (1, 2, 3, 4, 5, 6, 8, 10, 15)] == [0, 0, 1, 1, 2, 3, 4, 6, 10]
    assert degrees_of_freedom(11, 1) == 44
    assert degrees_of_freedom(11, 2) == 34
