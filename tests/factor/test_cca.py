"""CCA: published numbers, scikit-learn's converged solution, both routes, ridges, tests, and bad input."""

import warnings

import numpy as np
import pytest
from sklearn.cross_decomposition import CCA as Nipals
from sklearn.datasets import load_linnerud

import tacit
from tacit.factor import CCA

ATTRIBUTES = [
    "x_weights_",
    "y_weights_",
    "x_loadings_",
    "y_loadings_",
    "x_rotations_",
    "y_rotations_",
    "coef_",
    "intercept_",
]


def two_views(n=400, p=5, q=4, k=3, seed=0):
    """Views linked by k variables of falling strength, in units of their own."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, k)) * np.linspace(2.0, 0.5, k)
    X = z @ rng.normal(size=(k, p)) + rng.normal(size=(n, p))
    y = z @ rng.normal(size=(k, q)) + rng.normal(size=(n, q))
    return 3.0 + X * np.geomspace(0.1, 10.0, p), y - 7.0


@pytest.fixture(scope="module")
def club():
    return load_linnerud(return_X_y=True)


def test_published_correlations_and_tests(club):
    """SAS/STAT's example of the CANCORR procedure, on the same twenty men of a fitness club."""
    model = CCA(3).fit(*club)
    np.testing.assert_allclose(model.canonical_correlations_, [0.795608, 0.200556, 0.072570], atol=5e-7)
    table = model.test("rao")
    np.testing.assert_allclose(table["wilks"], [0.35039053, 0.95472266, 0.99473355], atol=5e-9)
    np.testing.assert_allclose(table["f"], [2.05, 0.18, 0.08], atol=5e-3)
    np.testing.assert_allclose(table["df_error"], [34.223, 30.0, 16.0], atol=5e-4)
    np.testing.assert_allclose(table["p_value"], [0.0635, 0.9491, 0.7748], atol=5e-5)
    chi = model.test()
    np.testing.assert_allclose(chi["chi_square"], -15.5 * np.log(table["wilks"]), rtol=1e-12)
    assert chi["df"] == [9, 4, 1]


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("one_column", [True, False])
def test_everything_is_what_nipals_converges_to(scale, one_column):
    X, y = two_views()
    y, k = (y[:, 0], 1) if one_column else (y, 4)
    ours = CCA(k, scale=scale).fit(X, y)
    theirs = Nipals(k, scale=scale, tol=1e-20, max_iter=20_000).fit(X, y)
    for name in ATTRIBUTES:
        found, expected = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max(), err_msg=name)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)
    for found, expected in zip(ours.transform(X, y), theirs.transform(X, y)):
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-7)


def test_scores_have_the_canonical_correlations():
    X, y = two_views()
    model = CCA(4).fit(X, y)
    a, b = model.transform(X, y)
    np.testing.assert_allclose(np.corrcoef(a.T, b.T)[:4, 4:], np.diag(model.canonical_correlations_), atol=1e-12)
    np.testing.assert_allclose(np.corrcoef(a.T), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(a, b)[1], y, atol=1e-9)
    assert (np.diff(model.canonical_correlations_) < 0).all()
    np.testing.assert_array_equal(CCA(2).fit(X, y).all_canonical_correlations_, model.canonical_correlations_)


@pytest.mark.parametrize("scale", [True, False])
def test_all_routes_agree(monkeypatch, scale):
    X, y = two_views(6000)
    at_once = CCA(4, scale=scale).fit(X, y)
    monkeypatch.setattr("tacit.factor.canonical.cca.BLOCK", 100)
    by_blocks = CCA(4, scale=scale).fit(X, y)
    monkeypatch.setattr("tacit.factor.canonical.cca.MANY", 10**9)
    by_rows = CCA(4, scale=scale).fit(X, y)
    assert [model.route_ for model in (at_once, by_blocks, by_rows)] == ["covariance", "covariance", "rows"]
    for model in (at_once, by_blocks):
        for name in (*ATTRIBUTES, "canonical_correlations_"):
            found, expected = getattr(model, name), getattr(by_rows, name)
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("n", [6000, 12_000])
def test_covariances_are_left_for_rows_where_digits_would_be_lost(n):
    X, y = two_views(n)
    near = np.column_stack([X, X[:, 0] + 1e-6 * np.random.default_rng(1).normal(size=n)])
    exact, plain = CCA(4).fit(near, y), CCA(4).fit(X, y)
    assert (exact.route_, plain.route_) == ("rows", "covariance")
    np.testing.assert_allclose(exact.canonical_correlations_, plain.canonical_correlations_, atol=1e-3)
    assert CCA(4, ridge=1e-3).fit(near, y).route_ == "covariance"  # a ridge makes room for them
    far = CCA(4).fit(X + 1e6, y)
    assert far.route_ == "covariance"
    np.testing.assert_allclose(far.canonical_correlations_, plain.canonical_correlations_, atol=1e-9)


def test_ridge_is_the_regularised_eigenproblem():
    X, y = two_views(60)
    model = CCA(3, ridge=(0.3, 0.1)).fit(X, y)
    S = np.corrcoef(X.T, y.T)
    A, B = S[:5, :5] + 0.3 * np.eye(5), S[5:, 5:] + 0.1 * np.eye(4)
    squares = np.linalg.eigvals(np.linalg.solve(A, S[:5, 5:]) @ np.linalg.solve(B, S[5:, :5])).real
    np.testing.assert_allclose(model.canonical_correlations_, np.sqrt(np.sort(squares)[::-1][:3]), rtol=1e-10)
    # Loadings and rotations stay each other's inverse, and a small ridge is none.
    np.testing.assert_allclose(model.x_loadings_.T @ model.x_rotations_, np.eye(3), atol=1e-12)
    for name in ATTRIBUTES:
        tiny, none = (getattr(CCA(3, ridge=ridge).fit(X, y), name) for ridge in (1e-12, 0.0))
        np.testing.assert_allclose(tiny, none, atol=1e-8 * np.abs(none).max())


def test_ridge_finds_what_more_columns_than_rows_share():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 1))
    X, y = (3.0 * z @ rng.normal(size=(1, d)) + rng.normal(size=(400, d)) * 3.0 for d in (100, 80))
    train, rest = slice(0, 60), slice(60, None)
    with pytest.warns(
        UserWarning, match=r"60 rows are too few for views of rank 59 and 59: 59 correlations are 1 .* ridge=0.1"
    ):
        bare = CCA(1).fit(X[train], y[train])
    assert bare.canonical_correlations_[0] == pytest.approx(1.0, abs=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = CCA(1, ridge=1.0).fit(X[train], y[train])
    a, b = held.transform(X[rest], y[rest])
    assert np.corrcoef(a[:, 0], b[:, 0])[0, 1] > 0.8
    with pytest.raises(ValueError, match=r"60 rows are too few to test views of rank 59 and 59"):
        bare.test()
    with pytest.raises(ValueError, match=r"ridge=1.0 shrinks correlations"):
        held.test()


def test_tests_have_their_size_and_power():
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(300):
        X, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
        y[:, 0] += 2.0 * X[:, 0]
        p_values.append(CCA(1).fit(X, y).test()["p_value"])
    first, second = np.transpose(p_values)
    assert first.max() < 1e-3
    assert 0.02 < (second < 0.05).mean() < 0.09


def test_constant_columns_and_rank_deficiency():
    X, y = two_views()
    plain = CCA(3).fit(X, y)
    wide = np.column_stack([X, np.full(len(X), 0.1), X[:, 0] - 2.0 * X[:, 1]])
    model = CCA(3).fit(wide, y)
    assert model.ranks_ == (5, 4)
    np.testing.assert_allclose(model.canonical_correlations_, plain.canonical_correlations_, rtol=1e-10)
    np.testing.assert_array_equal(model.x_rotations_[5], 0.0)
    np.testing.assert_allclose(np.abs(model.transform(wide).T @ plain.transform(X)).argmax(axis=1), range(3))
    assert model.test()["df"] == CCA(3).fit(X, y).test()["df"]


def test_more_pairs_than_ranks_are_zero_with_a_warning():
    X, y = two_views()
    flat = np.column_stack([y[:, 0], 2.0 * y[:, 0], y[:, 1]])
    with pytest.warns(
        UserWarning, match=r"X varies in 5 dimensions and y in 2, so that there are 2 .* n_components=3 are zero"
    ):
        model = CCA(3).fit(X, flat)
    assert model.canonical_correlations_[2] == 0.0
    np.testing.assert_array_equal(model.transform(X)[:, 2], 0.0)
    np.testing.assert_allclose(model.coef_, CCA(2).fit(X, flat).coef_, rtol=1e-10)


def test_float32_stays_and_files_hold_all(tmp_path):
    X, y = two_views(5000)
    model = CCA(2).fit(X.astype(np.float32), y.astype(np.float32))
    assert {part.dtype for part in model.transform(X.astype(np.float32), y.astype(np.float32))} == {
        np.dtype(np.float32)
    }
    np.testing.assert_allclose(model.canonical_correlations_, CCA(2).fit(X, y).canonical_correlations_, atol=1e-6)
    tacit.save(model, tmp_path / "cca.tacit")
    again = tacit.load(tmp_path / "cca.tacit")
    for found, expected in zip(again.transform(X, y), model.transform(X, y)):
        np.testing.assert_array_equal(found, expected)
    assert str(again.test()) == str(model.test())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, r"n_components=0 is not a whole number of at least 1"),
        ({"n_components": 5}, r"`n_components` upper bound is 4. Got 5 instead. Reduce `n_components`"),
        ({"max_iter": 0}, r"max_iter=0 is not a whole number of at least 1"),
        ({"tol": -1.0}, r"tol=-1.0 is not a number of at least 0"),
        ({"scale": "yes"}, r"scale='yes' must be True or False"),
        ({"copy": None}, r"copy=None must be True or False"),
        ({"ridge": -0.1}, r"ridge=-0.1 is not a number of at least 0"),
        ({"ridge": (0.1, 0.2, 0.3)}, r"ridge=\(0.1, 0.2, 0.3\) is neither a number nor a pair"),
        ({"ridge": "auto"}, r"ridge='auto' is neither a number nor a pair"),
        ({"ridge": (0.1, float("nan"))}, r"ridge=nan is not a number of at least 0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        CCA(**settings).fit(*two_views())


def test_bad_rows():
    X, y = two_views(30)
    with pytest.raises(ValueError, match=r"X has 30 rows, but y has 29: .* ProbabilisticCCA"):
        CCA().fit(X, y[1:])
    holes = X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(
        ValueError, match=r"X contains NaN in 1 cells, the first in row 3 and column 1; tacit.factor.Probab"
    ):
        CCA().fit(holes, y)
    with pytest.raises(ValueError, match=r"y contains NaN in 30 cells"):
        CCA(1).fit(X, np.full(30, np.nan))
    with pytest.raises(ValueError, match=r"every column of y is constant"):
        CCA().fit(X, np.full((30, 2), 0.3))
    with pytest.raises(ValueError, match=r"every column of X is constant"):
        CCA().fit(np.ones((30, 2)), y)
    with pytest.raises(ValueError, match=r"CCA requires y to be passed, but the target y is None"):
        CCA().fit(X, None)
    with pytest.raises(TypeError, match=r"X is read in a stream, but CCA takes two views in memory"):
        CCA().fit("rows.parquet", y)
    model = CCA().fit(X, y)
    with pytest.raises(ValueError, match=r"y has 3 columns, but CCA was fitted to a second view of 4"):
        model.transform(X, y[:, :3])
    with pytest.raises(ValueError, match=r"X contains NaN"):
        model.predict(holes)
    with pytest.raises(ValueError, match=r"X has 3 columns, but there are 2 scores per row"):
        model.inverse_transform(X[:, :3])
    with pytest.raises(ValueError, match=r"method='wilks' is unknown"):
        model.test("wilks")
