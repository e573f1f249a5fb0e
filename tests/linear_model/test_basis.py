"""Basis expansions: functions, names, missing cells, bad input."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

from tacit.linear_model import BasisExpansion, BayesianLinearRegression

KINDS = ("polynomial", "rbf", "arctan", "heaviside", "spline")


def test_polynomials_are_the_rivals():
    X = np.random.default_rng(0).normal(size=(20, 3))
    ours, theirs = BasisExpansion(degree=3).fit(X), PolynomialFeatures(3, include_bias=False).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


def test_splines_are_the_rivals():
    X = np.random.default_rng(0).normal(size=(50, 2))
    ours = BasisExpansion("spline", n_centers=5).fit(X)
    theirs = SplineTransformer(5, knots=ours.centers_.T, extrapolation="linear", include_bias=False).fit(X)
    beyond = np.vstack([X, X * 3])
    for column in range(2):  # theirs leaves out the last function, ours the first: both span the same curves
        one = np.column_stack([np.ones(100), ours.transform(beyond)[:, column * 6 : column * 6 + 6]])
        other = np.column_stack([np.ones(100), theirs.transform(beyond)[:, column * 6 : column * 6 + 6]])
        fitted = one @ np.linalg.lstsq(one[:50], other[:50], rcond=None)[0]
        np.testing.assert_allclose(fitted[:50], other[:50], atol=1e-8)


def test_steps_and_bumps():
    X = np.array([[0.0], [1.0], [2.0]])
    np.testing.assert_array_equal(
        BasisExpansion("heaviside", centers=[0.5, 1.5]).fit_transform(X), [[0, 0], [1, 0], [1, 1]]
    )
    bumps = BasisExpansion("rbf", centers=[[0.0], [2.0]], width=1.0).fit(X)
    expected = np.exp(-0.5 * (X - [0.0, 2.0]) ** 2 / X.var())
    np.testing.assert_allclose(bumps.transform(X), expected)
    assert list(bumps.get_feature_names_out(["t"])) == ["rbf(t=0)", "rbf(t=2)"]
    smooth = BasisExpansion("arctan", centers=[1.0], width=0.5).fit(X)
    np.testing.assert_allclose(smooth.transform(X)[:, 0], np.arctan((X[:, 0] - 1.0) / (0.5 * X.std())))
    assert BasisExpansion("rbf", centers="grid", n_centers=3).fit(np.hstack([X, X])).centers_.shape == (9, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_cells_stay_missing_and_are_integrated_out(kind):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(300, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=300)
    X[::7, 1] = np.nan
    basis = BasisExpansion(kind, n_centers=8)
    functions = basis.fit_transform(X)
    assert functions.shape[1] == len(basis.get_feature_names_out()) == len(set(basis.get_feature_names_out()))
    assert (np.isnan(functions).any(axis=1) == np.isnan(X).any(axis=1)).all()
    if kind in ("arctan", "spline"):
        model = make_pipeline(BasisExpansion(kind, n_centers=8), BayesianLinearRegression()).fit(X, y)
        assert model.score(X, y) > 0.8


def test_bad_input():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for settings, message in (
        ({"kind": "wavelet"}, "kind='wavelet' is unknown; use one of 'polynomial'"),
        ({"degree": 0}, "degree=0 is not a whole number of at least 1"),
        ({"kind": "rbf", "n_centers": 21}, "n_centers=21 exceeds the 20 distinct rows of X; use at most 20"),
        ({"kind": "rbf", "centers": [1.0]}, r"centers has shape \(1,\); for kind='rbf' of 2 columns give"),
        ({"kind": "spline", "centers": "kmeans"}, "centers='kmeans' is for kind='rbf', not 'spline'"),
        ({"kind": "rbf", "centers": "grid", "n_centers": 200}, "has 40000 bumps, more than 20000"),
        ({"width": -1.0}, "width=-1.0 is not a number above 0"),
        ({"degree": 300}, "makes 45450 terms, more than 20000"),
    ):
        with pytest.raises(ValueError, match=message):
            BasisExpansion(**settings).fit(X)
