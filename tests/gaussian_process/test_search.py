"""A sample of rows comes before all of them and leads to the same hyperparameters, also at bounds and with noise of groups."""

import numpy as np
import pytest

from tacit.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor, search
from tacit.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel


def smooth(n):
    """Rows of three columns, two of which matter, and targets with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)


def both(monkeypatch, fit):
    """What is learned at once, and by way of a sample, with how often all rows were asked."""
    whole = fit()
    monkeypatch.setattr(search, "MANY", 200)
    monkeypatch.setattr(search, "LEAST", 120)
    return whole, fit()


@pytest.mark.parametrize("kernel", [
    ConstantKernel() * RBF() + WhiteKernel(),
    ConstantKernel() * RBF(np.ones(3)) + WhiteKernel(noise_level_bounds=(0.2, 1.0)),
])  # fmt: skip
@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.filterwarnings("ignore:The optimal value found for dimension")
def test_regression(monkeypatch, kernel, groups):
    X, y = smooth(400)
    groups = np.repeat([0, 1], 200) if groups else None
    whole, sampled = both(monkeypatch, lambda: GaussianProcessRegressor(kernel).fit(X, y, noise_groups=groups))
    tol = 1e-5 * abs(whole.log_marginal_likelihood_value_)
    assert sampled.log_marginal_likelihood_value_ >= whole.log_marginal_likelihood_value_ - tol
    np.testing.assert_allclose(sampled.predict(X[:20]), whole.predict(X[:20]), atol=0.02)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification(monkeypatch, n_classes):
    X, y = smooth(300)
    y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    make = GaussianProcessClassifier(1.0 * RBF(), multi_class="softmax" if n_classes > 2 else "one_vs_rest")
    whole, sampled = both(monkeypatch, lambda: make.fit(X, y).log_marginal_likelihood_value_)
    assert sampled >= whole - 1e-5 * abs(whole)


def test_a_sample_that_leads_nowhere_is_left(monkeypatch):
    """The last word has the search over all rows."""
    starts = []

    def objective(theta, eval_gradient=True):
        starts.append(theta.copy())
        return float(theta @ theta), 2 * theta

    def fewer(theta, eval_gradient=True):
        return np.inf, np.zeros(2)

    bounds = np.array([[-9.0, 9.0]] * 2)
    best, value = search.best_of(objective, np.ones(2), bounds, "fmin_l_bfgs_b", 0, None, (fewer, 3.0))
    assert value == pytest.approx(0.0, abs=1e-8)
    np.testing.assert_array_equal(starts[0], np.ones(2))
    np.testing.assert_allclose(best, 0.0, atol=1e-4)
