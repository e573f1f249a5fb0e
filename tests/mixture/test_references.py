"""Published maxima, to the digits printed."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from tacit.mixture import GaussianMixture

TIGHT = {"tol": 1e-12, "max_iter": 20_000}
MISSVALS = "missing/missvals.csv", ["x1", "x2", "x3", "x4", "x5"]
AIR = "missing/airquality.csv", ["Ozone", "Solar.R", "Wind", "Temp"]
CORRECTED = ["glufast", "glutest", "instest"]


def fitted(X, k=1, kind="full", **settings):
    return GaussianMixture(k, covariance_type=kind, random_state=0, **{**TIGHT, **settings}).fit(X)


def loglik(mixture, X):
    return mixture.score(X) * len(X)


def near(value, digits):
    """Equal to a printed number, to half a unit of its last digit."""
    return pytest.approx(value, abs=0.5000001 * 10.0**-digits, rel=0)


@pytest.fixture
def faithful(table):
    return table("faithful/faithful.csv").to_numpy(float)


@pytest.fixture
def diabetes(table):
    return table("mclust/diabetes_full.csv")[CORRECTED].to_numpy(float)


def test_faithful_two_full(faithful):
    mixture = fitted(faithful, 2)
    assert loglik(mixture, faithful) == near(-1130.2640, 4)
    assert mixture.bic(faithful) == near(2322.1917, 4)
    order = mixture.means_[:, 0].argsort()
    assert mixture.weights_[order[0]] == near(0.355873, 6)
    assert mixture.means_[order[0]].tolist() == [near(2.036388, 6), near(54.478516, 6)]
    assert mixture.means_[order[1]].tolist() == [near(4.289662, 6), near(79.968115, 6)]


def test_faithful_three_tied(faithful):
    mixture = fitted(faithful, 3, "tied")
    assert loglik(mixture, faithful) == near(-1126.3159, 4)
    assert mixture.bic(faithful) == near(2314.2957, 4)


def test_iris_three_full():
    X = load_iris().data
    mixture = fitted(X, 3)
    assert loglik(mixture, X) == near(-180.1855, 4)
    assert mixture.bic(X) == near(580.8389, 4)


@pytest.mark.parametrize(("k", "kind", "value", "bic"), [
    (2, "VEV", (-215.72597, 5), (561.72846, 5)), (3, "VEV", (-186.0733, 4), (562.5507, 4)),
    (3, "VVV", (-180.1855, 4), (580.8389, 4)),
])  # fmt: skip
def test_iris_structures(k, kind, value, bic):
    X = load_iris().data
    mixture = fitted(X, k, kind)
    assert loglik(mixture, X) == near(*value)
    assert mixture.bic(X) == near(*bic)
    if k == 2:
        assert np.sort(np.bincount(mixture.predict(X))).tolist() == [50, 100]


def test_faithful_three_of_one_volume_shape_and_orientation(faithful):
    assert loglik(fitted(faithful, 3, "EEE"), faithful) == near(-1126.3159, 4)


def test_diabetes_three_full(diabetes):
    mixture = fitted(diabetes, 3)
    deviance = -2 * loglik(mixture, diabetes)
    assert -deviance / 2 == near(-2295.0935, 4)
    assert mixture.bic(diabetes) == near(4734.5122, 4)
    assert (mixture.bic(diabetes) - deviance) / np.log(len(diabetes)) == pytest.approx(29)
    assert np.sort(np.bincount(mixture.predict(diabetes))).tolist() == [28, 35, 82]


def test_missvals(table):
    X = table(MISSVALS[0])[MISSVALS[1]].to_numpy(float)
    mixture = fitted(X, tol=1e-14)
    assert mixture.means_[0].tolist() == [near(v, 4) for v in (6.6552, 49.9653, 11.7692, 27.0471, 95.4231)]
    variances = [near(v, 4) for v in (21.8256, 238.0124, 37.8698, 294.1830, 208.9049)]
    assert np.diag(mixture.covariances_[0]).tolist() == variances
    assert loglik(mixture, X) == near(-132.92525, 5)
    assert loglik(GaussianMixture().fit(X), X) == near(-132.925, 3)


def test_apple(table):
    X = table("missing/apple.csv").to_numpy(float)
    mixture = fitted(X, tol=1e-14)
    assert mixture.means_[0].tolist() == [near(14.7222, 4), near(49.3333, 4)]
    # Monotone holes have a closed form: it gives 114.694955 for the last variance, printed as 114.6949.
    covariance = [near(89.5340, 4), near(-90.6967, 4), near(114.69495, 4)]
    assert mixture.covariances_[0][np.triu_indices(2)].tolist() == covariance
    assert loglik(mixture, X) == near(-101.78563, 5)


def test_airquality(table):
    X = table(AIR[0])[AIR[1]].to_numpy(float)
    mixture = fitted(X)
    assert loglik(mixture, X) == near(-2326.6974, 4)
    assert mixture.means_[0].tolist() == [near(v, 4) for v in (41.8712, 184.8468, 9.9575, 77.8824)]


@pytest.mark.parametrize(("tilt", "rho", "variance"), [(0.1, 0.5, 8 / 3), (-0.1, -0.5, 8 / 3), (0.0, 0.0, 5 / 2)])
def test_murray_has_two_maxima_and_a_saddle(tilt, rho, variance):
    corners, edges = [[1, 1], [1, -1], [-1, 1], [-1, -1]], [[2, np.nan], [-2, np.nan], [np.nan, 2], [np.nan, -2]]
    X = np.array(corners + edges + edges, dtype=float)
    start = np.linalg.inv([[1.0, tilt], [tilt, 1.0]])
    mixture = fitted(X, weights_init=[1.0], means_init=[[0.0, 0.0]], precisions_init=[start], tol=1e-15)
    expected = variance * np.array([[1.0, rho], [rho, 1.0]])
    np.testing.assert_allclose(mixture.covariances_[0], expected, atol=1e-6)
    np.testing.assert_allclose(mixture.means_[0], 0.0, atol=1e-12)


def test_faithful_is_solved_from_any_seed(faithful):
    found = [GaussianMixture(2, random_state=seed).fit(faithful).score(faithful) * 272 for seed in range(20)]
    assert found == [near(-1130.26, 2)] * 20


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data"])
def test_faithful_is_solved_from_any_kind_of_start(faithful, init):
    found = [GaussianMixture(2, random_state=s, init_params=init).fit(faithful).score(faithful) for s in range(5)]
    assert [272 * value for value in found] == [near(-1130.26, 2)] * 5


def test_diabetes_is_solved_from_any_seed(diabetes):
    found = [GaussianMixture(3, tol=1e-8, max_iter=5000, random_state=s).fit(diabetes) for s in range(10)]
    assert [loglik(mixture, diabetes) for mixture in found] == [near(-2295.0935, 3)] * 10
