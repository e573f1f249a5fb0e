"""`Perceptron`: the same weights in both forms, its mistake bound, averages, streams, and bad input."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from tacit.linear_model import Perceptron


def separable(n=200, gap=0.3, seed=0):
    """Rows apart from a line through the origin by at least a gap, and their sides."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4 * n, 3))
    way = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])
    X = X[np.abs(X @ way) > gap][:n]
    return X, X @ way > 0, gap


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_mistakes_keep_to_their_bound(shuffle, seed):
    X, y, gap = separable(seed=seed)
    model = Perceptron(shuffle=shuffle, fit_intercept=False, tol=None).fit(X, y)
    assert model.score(X, y) == 1.0
    longest = (X**2).sum(axis=1).max()
    assert model.mistakes_[0] <= longest / gap**2  # which the true line tells
    assert model.mistakes_[0] <= model.mistake_bound_[0] < np.inf
    assert model.mistake_bound_[0] >= longest / np.abs(X @ np.array([1.0, -2.0, 0.5]) / np.sqrt(5.25)).min() ** 2 * 0.2
    overlapping = Perceptron(max_iter=20, tol=None).fit(X, np.random.default_rng(0).random(len(X)) < 0.5)
    assert np.isinf(overlapping.mistake_bound_).all()


@pytest.mark.parametrize("average", [True, False])
def test_both_forms_are_the_same(average):
    X, y = load_iris(return_X_y=True)
    settings = {"average": average, "max_iter": 5, "tol": None}
    primal = Perceptron(**settings).fit(X, y)
    dual = Perceptron(kernel="linear", **settings).fit(X, y)
    np.testing.assert_allclose(dual.decision_function(X), primal.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(dual.coef_ @ dual.support_vectors_, primal.coef_, atol=1e-8)
    np.testing.assert_array_equal(dual.mistakes_, primal.mistakes_)
    np.testing.assert_allclose(Perceptron(**settings).fit(csr_array(X), y).coef_, primal.coef_)


def test_kernels_and_averages():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    ring = (X**2).sum(axis=1) > 1.2
    assert Perceptron(kernel="rbf", gamma=1.0, tol=None, max_iter=300).fit(X, ring).score(X, ring) == 1.0

    def square(x, y):
        return (1.0 + x[0] * y[0] + x[1] * y[1]) ** 2

    written = Perceptron(kernel=square, max_iter=50).fit(X, ring)
    named = Perceptron(kernel="poly", gamma=1.0, degree=2, max_iter=50).fit(X, ring)
    np.testing.assert_allclose(written.decision_function(X), named.decision_function(X), rtol=1e-6)
    noisy = X[:, 0] + rng.normal(size=150) > 0
    scores = [
        Perceptron(average=each, max_iter=30, tol=None).fit(X, noisy).score(X, X[:, 0] > 0) for each in (True, False)
    ]
    assert scores[0] > 0.9
    assert scores[0] >= scores[1]


def test_streams_and_held_out_rows():
    X, y, _ = separable()
    whole = Perceptron(shuffle=False, max_iter=1, tol=None).fit(X, y)
    parts = Perceptron(shuffle=False)
    for part in (slice(0, 80), slice(80, 200)):
        parts.partial_fit(X[part], y[part], classes=[False, True])
    np.testing.assert_allclose(parts.coef_, whole.coef_)
    assert parts.mistakes_[0] == whole.mistakes_[0]
    assert parts.t_ == 201
    assert Perceptron(early_stopping=True).fit(X, y).score(X, y) > 0.95
    again = Perceptron(warm_start=True, tol=None, fit_intercept=False).fit(X, y)
    coef = again.coef_
    np.testing.assert_array_equal(again.fit(X, y).coef_, coef)  # which makes no mistake any more


BAD = {
    "penalty='l0' is unknown": {"penalty": "l0"},
    "a perceptron with a kernel has neither penalty nor warm_start": {"kernel": "rbf", "penalty": "l2"},
    "average=True and penalty='l1' do not go together": {"average": True, "penalty": "l1"},
    "kernel='spline' is unknown": {"kernel": "spline"},
    "eta0=0 is not a number": {"eta0": 0},
    "tol=-1 is not a number": {"tol": -1},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_settings(message):
    X, y, _ = separable()
    with pytest.raises(ValueError, match=message):
        Perceptron(**BAD[message]).fit(X, y)


def test_bad_rows():
    X, y, _ = separable()
    with pytest.raises(ValueError, match="y holds one class"):
        Perceptron().fit(X, np.ones(200))
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        Perceptron().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y holds 7, which is none of the classes"):
        Perceptron().partial_fit(X, np.where(y, 7, 1), classes=[0, 1])
    hole = X.copy()
    hole[0, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN \(row 0, column 2\), and Perceptron takes no missing values"):
        Perceptron().fit(hole, y)
