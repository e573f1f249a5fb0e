"""Some columns given others: against direct formulas, least squares, numerical integrals and draws."""

import re

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm
from sklearn.linear_model import LinearRegression

from tacit.mixture import BayesianGaussianMixture, GaussianMixture

from ..zoo import gaussian_rows, with_missing

KINDS = ["full", "tied", "diag", "spherical"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def mixture():
    return GaussianMixture(3, parameter_draws=0, random_state=0).fit(gaussian_rows())


def direct(log_weight, components, x, target):
    """Weights, means and covariances of the targets given the observed cells of a row."""
    seen = np.flatnonzero(~np.isnan(x))
    scores, means, covariances = log_weight.copy(), [], []
    for k, (mean, covariance) in enumerate(zip(components.mean, components.dense)):
        if len(seen):
            scores[k] += multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).logpdf(x[seen])
        gain = covariance[np.ix_(target, seen)] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
        means.append(mean[target] + gain @ (x[seen] - mean[seen]))
        covariances.append(covariance[np.ix_(target, target)] - gain @ covariance[np.ix_(seen, target)])
    return np.exp(scores - logsumexp(scores)), np.array(means), np.array(covariances)


@pytest.mark.parametrize("Mixture", [GaussianMixture, BayesianGaussianMixture])
@pytest.mark.parametrize("kind", KINDS)
def test_every_row_follows_the_formulas(kind, Mixture):
    X, target = with_missing(gaussian_rows(), 0.3), [3, 1]
    X[5] = np.nan
    mixture = Mixture(3, covariance_type=kind, parameter_draws=0, random_state=0).fit(X)
    found = mixture.condition(X, target=target)
    params, y = mixture.fit_.params, gaussian_rows(seed=3)[:, target]
    density = found.log_density(y)
    for i, x in enumerate(X):
        known = np.where([True, False, True, False], x, np.nan)
        weight, mean, covariance = direct(params.log_weight, params.components, known, target)
        np.testing.assert_allclose(found.weights[i], weight, atol=1e-9)
        np.testing.assert_allclose(found.means[i], mean, rtol=1e-8)
        np.testing.assert_allclose(found.covariances[i], covariance, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found.mean[i], weight @ mean, rtol=1e-8)
        apart = mean - weight @ mean
        total = np.einsum("k,kij->ij", weight, covariance) + (weight * apart.T) @ apart
        np.testing.assert_allclose(found.covariance[i], total, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(found.std[i], np.sqrt(np.diag(total)), rtol=1e-7)
        parts = [multivariate_normal(m, c).logpdf(y[i]) for m, c in zip(mean, covariance)]
        assert density[i] == pytest.approx(logsumexp(parts, b=np.maximum(weight, 1e-300)), abs=1e-7)


def test_one_gaussian_is_least_squares():
    X = gaussian_rows(n_classes=1)
    mixture = GaussianMixture(reg_covar=1e-12).fit(X)
    for target, given in ((3, [0, 1, 2]), ([1, 2], [0, 3]), ([0], [2])):
        line = LinearRegression().fit(X[:, given], X[:, target])
        mean, found = mixture.predict_given(X[:, given], given=given, target=target, return_distribution=True)
        np.testing.assert_allclose(mean, line.predict(X[:, given]), rtol=1e-9, atol=1e-9)
        assert mean.shape == X[:, target].shape
        residual = (X[:, target] - mean).reshape(len(X), -1)
        np.testing.assert_allclose(found.covariance[0], residual.T @ residual / len(X), rtol=1e-8, atol=1e-10)


def test_expectations_are_those_of_imputation(mixture):
    X = gaussian_rows(seed=5)
    asked = X.copy()
    asked[:, 2] = np.nan
    np.testing.assert_allclose(mixture.predict_given(X, target=2), mixture.impute(asked)[:, 2], rtol=1e-9)


def test_all_columns_or_the_given_ones(mixture):
    X = gaussian_rows(seed=5)
    expected = mixture.predict_given(X, given=[3, 0], target=[1])
    np.testing.assert_array_equal(mixture.predict_given(X[:, [3, 0]], given=[3, 0], target=[1]), expected)
    np.testing.assert_array_equal(mixture.predict_given(X, given=[3, 0]).shape, (len(X), 2))
    # A column that is neither given nor asked for is integrated out, like a missing cell.
    X[:, 2] = np.nan
    np.testing.assert_allclose(mixture.predict_given(X, target=[1]), expected, rtol=1e-9)


def test_columns_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(gaussian_rows(), columns=list("abcd"))
    mixture = GaussianMixture(3, random_state=0).fit(frame)
    expected = mixture.predict_given(frame.to_numpy(), given=[0, 3], target=1)
    np.testing.assert_array_equal(mixture.predict_given(frame, given=["a", "d"], target="b"), expected)
    np.testing.assert_array_equal(mixture.predict_given(frame[["d", "c", "a"]], given=["a", "d"], target="b"), expected)
    with pytest.raises(ValueError, match="X has no column 'd', which is given; it has a, b, c"):
        mixture.predict_given(frame[["a", "b", "c"]], given=["a", "d"], target="b")
    with pytest.raises(ValueError, match="target holds 'e', which is no column; there are 0 to 3, named a, b, c, d"):
        mixture.predict_given(frame, target="e")
    with pytest.raises(ValueError, match="column 'b' is both given and target"):
        mixture.predict_given(frame, given=["a", "b"], target=["b"])


def test_quantiles_invert_the_distribution_function(mixture):
    found = mixture.condition(with_missing(gaussian_rows(), 0.4), target=[1, 3])
    p = np.array([1e-9, 0.001, 0.25, 0.5, 0.975, 1 - 1e-9])
    quantiles = found.quantile(p)
    assert quantiles.shape == (6, 240, 2)
    for level, y in zip(p, quantiles):
        np.testing.assert_allclose(found.cdf(y), level, rtol=1e-6, atol=1e-12)
    assert (np.diff(quantiles, axis=0) > 0).all()
    np.testing.assert_array_equal(found.quantile(0.25), quantiles[2])


def test_quantiles_of_well_separated_components():
    rows = np.random.default_rng(0).normal(size=(200, 2)) * 0.01 + np.repeat([[0.0, -1e3], [0.0, 1e3]], 100, axis=0)
    found = GaussianMixture(2, random_state=0).fit(rows).condition([[0.0]], target=[1])
    for p in (0.1, 0.4999, 0.5001, 0.9):
        assert found.cdf(found.quantile(p))[0, 0] == pytest.approx(p, abs=1e-9)


def test_one_component_has_normal_quantiles():
    X = gaussian_rows(n_classes=1)
    found = GaussianMixture().fit(X).condition(X, target=[0])
    low, high = found.interval(0.9)
    np.testing.assert_allclose(low, found.mean + norm.ppf(0.05) * found.std, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(high, found.mean + norm.ppf(0.95) * found.std, rtol=1e-9, atol=1e-9)


def test_draws_have_the_quantiles_and_the_covariance(mixture):
    found, n = mixture.condition(gaussian_rows()[:8], target=[0, 2]), 20_000
    draws = found.sample(n, random_state=0)
    assert draws.shape == (n, 8, 2)
    for p in (0.1, 0.5, 0.9):
        below = (draws <= found.quantile(p)).mean(axis=0)
        np.testing.assert_allclose(below, p, atol=5 * np.sqrt(p * (1 - p) / n))
    centred = draws - found.mean
    np.testing.assert_array_less(np.abs(centred.mean(axis=0)), 5 * found.std / np.sqrt(n))
    spread = np.einsum("sni,snj->nij", centred, centred) / n
    scale = found.std[:, :, None] * found.std[:, None, :]
    np.testing.assert_array_less(np.abs(spread - found.covariance), 5 * np.sqrt(10 / n) * scale)
    np.testing.assert_array_equal(found.sample(2, random_state=3), found.sample(2, random_state=3))


def test_density_integrates_missing_targets_out(mixture):
    X = gaussian_rows()
    both, one = mixture.condition(X, given=[0], target=[1, 2]), mixture.condition(X, given=[0], target=[2])
    y = X[:, [1, 2]].copy()
    y[::2, 0] = np.nan
    np.testing.assert_allclose(both.log_density(y)[::2], one.log_density(X[:, 2])[::2], rtol=1e-9)
    y[:] = np.nan
    np.testing.assert_allclose(both.log_density(y), 0.0, atol=1e-12)
    # p(y | x) p(x) = p(x, y)
    joint = mixture.score_samples(np.column_stack([X[:, :3], np.full(len(X), np.nan)]))
    alone = mixture.score_samples(np.column_stack([X[:, :1], np.full((len(X), 3), np.nan)]))
    np.testing.assert_allclose(both.log_density(X[:, [1, 2]]) + alone, joint, rtol=1e-8)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "neither given nor target names a column"),
        ({"target": 4}, "target holds 4, which is no column; there are 0 to 3, without names."),
        ({"given": [-1]}, "given holds -1, which is no column; there are 0 to 3"),
        ({"target": ["x"]}, "target holds 'x', which is no column"),
        ({"target": [True]}, "target holds True, which is no column"),
        ({"target": [1.0]}, "target holds 1.0, which is no column"),
        ({"target": []}, "target names no column; give at least one."),
        ({"given": [0, 0]}, "given=[0, 0] names a column twice"),
        ({"given": [0, 2], "target": [2]}, "column 2 is both given and target"),
        ({"given": [0, 1, 2, 3]}, "every column is given, so that none is left to predict"),
    ],
)
def test_bad_columns_are_named(mixture, columns, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        mixture.predict_given(gaussian_rows(), **columns)


def test_bad_rows_levels_and_targets_are_named(mixture):
    X = gaussian_rows()
    with pytest.raises(ValueError, match="X has 3 columns; give it the 2 given ones, or all 4"):
        mixture.predict_given(X[:, :3], given=[0, 1])
    with pytest.raises(ValueError, match="this method takes rows in memory"):
        mixture.condition("rows.parquet", target=1)
    found = mixture.condition(X, target=[1, 2])
    with pytest.raises(ValueError, match="p holds 1; quantiles are defined"):
        found.quantile([0.5, 1.0])
    with pytest.raises(ValueError, match=r"level=95 is not a probability"):
        found.interval(95)
    with pytest.raises(ValueError, match=r"y has shape \(240, 3\), but the targets of the rows have shape \(240, 2\)"):
        found.log_density(X[:, :3])
    with pytest.raises(ValueError, match="n_draws=0 is not a whole number of at least 1"):
        found.sample(0)
