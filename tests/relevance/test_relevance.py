"""Relevance vectors: published numbers, the marginal likelihood by hand, coverage, weights and bad input."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

import tacit
from tacit.linear_model.averaging import averaged
from tacit.relevance import RelevanceVectorClassifier, RelevanceVectorRegressor

DATA = os.environ.get("TACIT_DATA")
POINTS = np.linspace(-10, 10, 100)[:, None]
SINC = np.sinc(POINTS[:, 0] / np.pi)


def spline(x, y):
    m = min(x[0], y[0])
    return 1 + x[0] * y[0] + x[0] * y[0] * m - (x[0] + y[0]) / 2 * m**2 + m**3 / 3


@pytest.mark.parametrize("method", ["fast", pytest.param("fixed_point", marks=pytest.mark.full)])
def test_sinc_with_uniform_noise(method):
    """7.5 ± 1.1 vectors and a root mean square error of .038 ± .008 over 20 draws; intervals cover new targets."""
    vectors, error, inside = [], [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model = RelevanceVectorRegressor(spline, fit_intercept=False, method=method)
        mean, deviation = model.fit(POINTS, SINC + rng.uniform(-0.2, 0.2, 100)).predict(POINTS, return_std=True)
        vectors.append(len(model.relevance_))
        error.append(np.sqrt(np.mean((mean - SINC) ** 2)))
        inside.append(np.mean(np.abs(SINC + rng.uniform(-0.2, 0.2, 100) - mean) < 1.96 * deviation))
    assert 6.4 <= np.mean(vectors) <= 8.6
    assert 0.030 <= np.mean(error) <= 0.046
    assert 0.93 <= np.mean(inside) <= 0.99


@pytest.mark.parametrize("method", ["fast", "fixed_point"])
def test_sinc_without_noise(method):
    """9 vectors; rounding decides over one of them, since splines at neighbouring points are nearly the same function."""
    model = RelevanceVectorRegressor(spline, fit_intercept=False, noise_variance=1e-4, method=method).fit(POINTS, SINC)
    assert abs(len(model.relevance_) - 9) <= 1
    assert np.sqrt(np.mean((model.predict(POINTS) - SINC) ** 2)) < 0.005


@pytest.mark.skipif(DATA is None, reason="TACIT_DATA does not say where Ripley's data are")
def test_ripley():
    train, test = (
        np.loadtxt(Path(DATA, "ripley", f"synth_{part}.csv"), delimiter=",", skiprows=1) for part in ("tr", "te")
    )
    for gamma in (2.0, 4.0):
        model = RelevanceVectorClassifier(gamma=gamma).fit(train[:, :2], train[:, 2].astype(int))
        assert len(model.relevance_) <= 5
        assert 1.0 - model.score(test[:, :2], test[:, 2].astype(int)) <= 0.099


@pytest.mark.parametrize("noise", [None, 0.04])
def test_evidence_is_that_of_a_gaussian_and_never_falls(noise):
    rng = np.random.default_rng(1)
    t = SINC + rng.normal(0, 0.2, 100)
    model = RelevanceVectorRegressor(gamma=0.1, noise_variance=noise).fit(POINTS, t)
    assert (np.diff(model.log_marginal_likelihoods_) > -1e-9).all()
    values = np.column_stack([rbf_kernel(POINTS, model.relevance_vectors_, 0.1), np.ones(100)])[:, model.places_[:, 1]]
    covariance = model.noise_variance_ * np.eye(100) + values / model.alpha_ @ values.T
    expected = multivariate_normal(np.zeros(100), covariance).logpdf(t)
    np.testing.assert_allclose(model.log_marginal_likelihood_, expected, rtol=1e-9)
    # The mean and standard deviation are those of the Gaussian process with this covariance.
    new = rng.uniform(-10, 10, (20, 1))
    there = np.column_stack([rbf_kernel(new, model.relevance_vectors_, 0.1), np.ones(20)])[:, model.places_[:, 1]]
    cross = there / model.alpha_ @ values.T
    mean, deviation = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, cross @ np.linalg.solve(covariance, t), atol=1e-8)
    inner = (there**2 / model.alpha_).sum(axis=1) - np.einsum("ij,ji->i", cross, np.linalg.solve(covariance, cross.T))
    np.testing.assert_allclose(deviation**2, inner + model.noise_variance_, atol=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_several_classes_jointly(load):
    X, y = load(return_X_y=True)
    X = scale(X)
    model = RelevanceVectorClassifier().fit(X[::2], y[::2])
    assert (np.diff(model.log_marginal_likelihoods_) > 0).sum() >= model.n_iter_ - 2
    assert len(model.relevance_) <= 8
    assert model.score(X[1::2], y[1::2]) > 0.92
    chance = model.predict_proba(X)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    far = model.predict_proba(np.full((1, X.shape[1]), 50.0))  # away from all vectors only the constants are left
    assert far.max() < 0.99
    two = RelevanceVectorClassifier().fit(X[y < 2], np.array(["a", "b"])[y[y < 2]])
    assert two.predict(X[y < 2][:1]) == "a"
    assert two.coef_.shape == (1, len(two.relevance_))


def test_a_row_of_weight_two_is_a_row_given_twice():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    t = np.sin(2 * X[:, 0]) + rng.normal(0, 0.1, 60)
    for model, y in ((RelevanceVectorRegressor(gamma=0.5), t), (RelevanceVectorClassifier(gamma=0.5), t > 0)):
        weighed = model.fit(X, y, weight).predict(X)
        evidence = model.log_marginal_likelihood_
        repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).predict(X)
        np.testing.assert_allclose(weighed, repeated, atol=1e-6)
        np.testing.assert_allclose(evidence, model.log_marginal_likelihood_, atol=1e-6)


def test_kernels_by_name_by_function_and_given():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    t = X[:, 0] ** 2 + rng.normal(0, 0.1, 60)

    def rbf(x, y, gamma):
        return np.exp(-gamma * ((x - y) ** 2).sum())

    named = RelevanceVectorRegressor(gamma=0.7).fit(X, t)
    written = RelevanceVectorRegressor(rbf, kernel_params={"gamma": 0.7}).fit(X, t)
    given = RelevanceVectorRegressor("precomputed").fit(rbf_kernel(X, X, 0.7), t)
    new = rng.normal(size=(5, 2))
    np.testing.assert_allclose(written.predict(new), named.predict(new), atol=1e-4)
    np.testing.assert_allclose(given.predict(rbf_kernel(new, X, 0.7)), named.predict(new), atol=1e-4)
    assert RelevanceVectorRegressor("polynomial", degree=2, gamma=1.0).fit(X, t).score(X, t) > 0.95
    with pytest.raises(ValueError, match=r"a precomputed kernel must be square, but X has shape \(60, 2\)"):
        RelevanceVectorRegressor("precomputed").fit(X, t)


@pytest.mark.parametrize("n", [20, 50])
def test_chances_are_calibrated(n):
    """Of rows for which a chance is told, about that share is of the class, also where few rows taught it."""
    rng = np.random.default_rng(0)
    told, came = [], []
    for _ in range(25):
        X = rng.normal(size=(n + 200, 1))
        y = rng.random(n + 200) < 1 / (1 + np.exp(-2.5 * np.sin(2 * X[:, 0])))
        if 1 < y[:n].sum() < n - 1:
            told.append(RelevanceVectorClassifier(gamma=1.0).fit(X[:n], y[:n]).predict_proba(X[n:])[:, 1])
            came.append(y[n:])
    told, came = np.concatenate(told), np.concatenate(came)
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        part = (told >= low) & (told < high)
        assert abs(told[part].mean() - came[part].mean()) < 0.08


def _averages(mean, covariance, rng):
    """By draws."""
    draws = np.stack([rng.multivariate_normal(m, c, 20000) for m, c in zip(mean, covariance)])
    return softmax(draws, axis=2).mean(axis=1)


def test_averaged_chances():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 4, 4))
    mean, covariance = 2.0 * rng.normal(size=(6, 4)), root @ root.transpose(0, 2, 1)
    expected = _averages(mean, covariance, rng)
    apart = np.abs(averaged(mean, covariance) - expected)
    assert apart.max() < 0.1
    assert apart.mean() < 0.03  # of scores that are uncertain by 2
    np.testing.assert_allclose(averaged(mean, 0.1 * covariance), _averages(mean, 0.1 * covariance, rng), atol=0.04)
    np.testing.assert_allclose(averaged(mean, 0.0 * covariance), np.exp(mean) / np.exp(mean).sum(axis=1, keepdims=True))
    two = averaged(np.array([[1.5]]), np.array([[[2.0]]]))
    pair = averaged(np.array([[0.0, 1.5]]), np.array([[[0.5, 0.0], [0.0, 1.5]]]))
    np.testing.assert_allclose(two, pair)
    assert averaged(np.array([[800.0, -800.0, 0.0]]), np.zeros((1, 3, 3)))[0, 0] == 1.0


BAD = {
    "kernel='spline' is unknown": {"kernel": "spline"},
    "gamma=-1 is not a number of at least 0": {"gamma": -1},
    "gamma=0 is not a finite number above 0": {"gamma": 0},
    "method='slow' is unknown; use one of 'fast', 'fixed_point'": {"method": "slow"},
    "noise_variance=-1 is not a number": {"noise_variance": -1},
    "max_iter=0 is not a whole number": {"max_iter": 0},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_settings(message):
    with pytest.raises(ValueError, match=message):
        RelevanceVectorRegressor(**BAD[message]).fit(POINTS, SINC)


def test_bad_rows():
    hole = POINTS.copy()
    hole[4] = np.nan
    with pytest.raises(
        ValueError, match=r"NaN \(row 4, column 0\), and the kernels .* take no missing values.*Imputer"
    ):
        RelevanceVectorRegressor().fit(hole, SINC)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        RelevanceVectorRegressor().fit(POINTS, np.where(np.arange(100) == 3, np.nan, SINC))
    with pytest.raises(ValueError, match="y holds one class, 'a'; RelevanceVectorClassifier needs at least two"):
        RelevanceVectorClassifier().fit(POINTS, np.full(100, "a"))
    with pytest.raises(ValueError, match="the kernel is nan between row 0 and vector 0; it must be a finite number"):
        RelevanceVectorRegressor(lambda x, y: np.log(-1.0 - x[0] ** 2)).fit(POINTS, SINC)
    constant = RelevanceVectorRegressor().fit(POINTS, np.full(100, 3.0))
    np.testing.assert_allclose(constant.predict(POINTS), 3.0, atol=1e-3)
    one = RelevanceVectorRegressor().fit([[1.0]], [2.0])
    assert np.isfinite(one.predict([[1.0]], return_std=True)).all()


def test_columns_of_other_units_are_told():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 5000.0, 1.0]
    with pytest.warns(
        UserWarning, match=r"column 1 varies [\d.e+]+ times as much.*make_pipeline\(StandardScaler\(\), Rel"
    ):
        RelevanceVectorRegressor().fit(X, X[:, 0])


def test_intervals_of_few_rows(tmp_path):
    """Standard deviations that take vectors for known, of 20 rows, promise far too much; intervals do not."""
    told, inside = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(320, 3))
        y = np.sin(X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=320)
        model = RelevanceVectorRegressor().fit(X[:20], y[:20])
        low, high = model.predict_interval(X[20:])
        inside.append(np.mean((low < y[20:]) & (y[20:] < high)))
        mean, deviation = model.predict(X[20:], return_std=True)
        told.append(np.mean(np.abs(mean - y[20:]) < 1.96 * deviation))
    assert np.mean(told) < 0.8
    assert 0.92 <= np.mean(inside) <= 0.985
    tacit.save(model, tmp_path / "rows.tacit")
    np.testing.assert_array_equal(tacit.load(tmp_path / "rows.tacit").predict_interval(X[20:]), (low, high))
    K = rbf_kernel(X, X[:20], gamma=model.gamma_)
    given = RelevanceVectorRegressor("precomputed").fit(K[:20], y[:20]).predict_interval(K[20:])
    np.testing.assert_allclose(given[1] - given[0], high - low, rtol=0.3)
    with pytest.raises(ValueError, match=r"rows of total weight 2 are too few to leave any out; give 3 or more"):
        RelevanceVectorRegressor().fit(X[:2], y[:2]).predict_interval(X)
