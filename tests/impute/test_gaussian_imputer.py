"""GaussianImputer where scikit-learn's imputers work, and better than they do."""

import numpy as np
import pytest
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from tacit.impute import GaussianImputer
from tacit.mixture import GaussianMixture

from ..zoo import gaussian_rows, with_missing


def correlated(n=400, seed=0):
    """Rows of six columns driven by two factors, whole and with a quarter of the cells missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 6)) + 0.3 * rng.normal(size=(n, 6)) + 10
    return X, with_missing(X, 0.25)


def clustered(n=600, seed=0):
    """Two groups whose columns depend on each other in opposite ways."""
    rng = np.random.default_rng(seed)
    slope = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    x = rng.normal(size=n)
    X = np.column_stack([x, slope * x + 0.2 * rng.normal(size=n), 3 * slope + rng.normal(size=n)])
    return X, with_missing(X, 0.2)


def error(imputer, X, incomplete):
    """Root mean squared error over the missing cells."""
    holes = np.isnan(incomplete)
    return np.sqrt(((imputer.fit_transform(incomplete) - X)[holes] ** 2).mean())


def names(n):
    return np.array([f"x{j}" for j in range(n)], dtype=object)


def test_fills_in_what_the_mixture_expects():
    _, incomplete = correlated()
    imputer = GaussianImputer(2, random_state=0).fit(incomplete)
    filled = imputer.transform(incomplete)
    seen = ~np.isnan(incomplete)
    np.testing.assert_array_equal(filled[seen], incomplete[seen])
    np.testing.assert_array_equal(filled, imputer.mixture_.impute(incomplete))
    same = GaussianMixture(2, tol=imputer.tol, max_iter=imputer.max_iter, random_state=0).fit(incomplete)
    np.testing.assert_array_equal(imputer.mixture_.means_, same.means_)
    assert imputer.n_iter_ == same.n_iter_


def test_settings_reach_the_mixture():
    settings = {
        "covariance_type": "tied", "tol": 1e-4, "max_iter": 7, "reg_covar": 1e-3, "random_state": 3, "n_jobs": 1,
    }  # fmt: skip
    calls = []
    imputer = GaussianImputer(2, callback=calls.append, **settings).fit(correlated()[1])
    assert {name: imputer.mixture_.get_params()[name] for name in settings} == settings
    assert len(calls) > 1


def test_new_rows_need_not_have_the_same_holes():
    X, incomplete = correlated()
    imputer = GaussianImputer().fit(X)
    assert np.isnan(incomplete).any()
    assert np.isfinite(imputer.transform(incomplete)).all()
    nothing = np.full((1, 6), np.nan)
    np.testing.assert_allclose(imputer.transform(nothing)[0], X.mean(axis=0), rtol=1e-9)
    np.testing.assert_array_equal(imputer.transform(X), X)


def test_pipeline_predicts_from_rows_with_holes():
    X, incomplete = correlated()
    y = X @ np.arange(6.0)
    scores = [make_pipeline(i, LinearRegression()).fit(incomplete, y).score(incomplete, y) for i in
              (GaussianImputer(), SimpleImputer())]  # fmt: skip
    assert scores[0] > 0.9 > scores[1]


def test_beats_the_mean_and_equals_iterated_regression_on_correlated_columns():
    X, incomplete = correlated()
    ours = error(GaussianImputer(), X, incomplete)
    assert ours < 0.6 * error(SimpleImputer(), X, incomplete)
    assert ours < 1.02 * error(IterativeImputer(max_iter=30, random_state=0), X, incomplete)


def test_two_components_beat_one_on_clusters():
    X, incomplete = clustered()
    one, two = (error(GaussianImputer(k, random_state=0), X, incomplete) for k in (1, 2))
    assert two < 0.8 * one


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_every_covariance_type_fills_every_cell(kind):
    assert np.isfinite(GaussianImputer(2, covariance_type=kind, random_state=0).fit_transform(clustered()[1])).all()


def test_weights_count_rows():
    X = with_missing(gaussian_rows(), 0.2)
    weight = np.random.default_rng(0).integers(0, 3, size=len(X))
    weighted, repeated = GaussianImputer().fit(X, sample_weight=weight), GaussianImputer().fit(X.repeat(weight, axis=0))
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-6)


def test_pandas_in_pandas_out():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(correlated()[1], columns=list("abcdef"), index=np.arange(400) + 1000)
    filled = GaussianImputer().set_output(transform="pandas").fit_transform(frame)
    assert filled.columns.tolist() == list("abcdef")
    assert filled.index.equals(frame.index)
    assert not filled.isna().to_numpy().any()
    with pytest.raises(ValueError, match="feature names should match"):
        GaussianImputer().fit(frame).transform(frame[list("bacdef")])


def test_indicator_says_where_cells_were():
    X, _ = correlated()
    X[3:9, 1] = X[5, 4] = np.nan
    imputer = GaussianImputer(add_indicator=True).fit(X)
    filled = imputer.transform(X)
    assert filled.shape == (400, 8)
    np.testing.assert_array_equal(filled[:, 6:], np.isnan(X[:, [1, 4]]))
    expected = [*names(6), "missingindicator_x1", "missingindicator_x4"]
    assert imputer.get_feature_names_out().tolist() == expected
    assert GaussianImputer().fit(X).indicator_ is None


def test_empty_columns_are_dropped_with_a_warning_or_kept_as_zeros():
    pandas = pytest.importorskip("pandas")
    _, X = correlated()
    X[:, 2] = np.nan
    with pytest.warns(UserWarning, match="columns without any observed value are dropped: x2; set keep_empty_features"):
        dropped = GaussianImputer().fit(X)
    assert dropped.transform(X).shape == (400, 5)
    assert dropped.get_feature_names_out().tolist() == ["x0", "x1", "x3", "x4", "x5"]
    assert dropped.observed_.tolist() == [True, True, False, True, True, True]
    with pytest.warns(UserWarning, match="dropped: c;"):
        GaussianImputer().fit(pandas.DataFrame(X, columns=list("abcdef")))
    kept = GaussianImputer(keep_empty_features=True).fit(X)
    filled = kept.transform(X)
    np.testing.assert_array_equal(filled[:, 2], 0.0)
    np.testing.assert_array_equal(np.delete(filled, 2, axis=1), dropped.transform(X))
    assert kept.get_feature_names_out().tolist() == list(names(6))
    later = X[:3].copy()
    later[:, 2] = 5.0
    np.testing.assert_array_equal(kept.transform(later)[:, 2], 5.0)


@pytest.mark.filterwarnings("ignore:columns without any observed value")
def test_indicator_and_empty_columns_together_keep_names_and_cells_in_step():
    _, X = correlated()
    X[:, 2] = np.nan
    for keep in (False, True):
        imputer = GaussianImputer(add_indicator=True, keep_empty_features=keep).fit(X)
        assert len(imputer.get_feature_names_out()) == imputer.transform(X).shape[1]


def test_nothing_observed_is_an_error():
    with pytest.raises(ValueError, match="X has no observed value in any column; there is nothing to learn from"):
        GaussianImputer().fit(np.full((5, 2), np.nan))


def test_another_number_may_mark_missing_cells():
    _, X = correlated()
    marked = np.where(np.isnan(X), -999.0, X)
    imputer = GaussianImputer(missing_values=-999, add_indicator=True).fit(marked)
    expected = GaussianImputer(add_indicator=True).fit_transform(X)
    np.testing.assert_array_equal(imputer.transform(marked), expected)
    whole = GaussianImputer(missing_values=-999).fit_transform(marked.round().astype(int))
    assert not (whole == -999).any()
    with pytest.raises(ValueError, match=r"X contains NaN, but missing_values=-999; use missing_values=np.nan"):
        imputer.transform(X)


def test_posterior_draws_spread_as_the_mixture_says():
    _, incomplete = correlated()
    imputer = GaussianImputer(sample_posterior=True, random_state=0).fit(incomplete)
    first = imputer.transform(incomplete)
    np.testing.assert_array_equal(first, imputer.transform(incomplete))
    assert not np.array_equal(first, imputer.set_params(random_state=1).transform(incomplete))
    holes = np.isnan(incomplete)
    np.testing.assert_array_equal(first[~holes], incomplete[~holes])
    mean, std = imputer.mixture_.impute(incomplete, return_std=True)
    z = ((first - mean) / np.where(holes, std, 1.0))[holes]
    assert abs(z.mean()) < 5 / np.sqrt(z.size)
    assert z.std() == pytest.approx(1.0, abs=5 / np.sqrt(z.size))


def test_float32_stays_and_agrees():
    _, X = correlated()
    for settings in ({}, {"add_indicator": True}, {"sample_posterior": True, "random_state": 0}):
        imputer = GaussianImputer(**settings).fit(X.astype(np.float32))
        filled = imputer.transform(X.astype(np.float32))
        assert filled.dtype == np.float32
        np.testing.assert_allclose(filled, GaussianImputer(**settings).fit_transform(X), rtol=1e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components=0 is not a whole number of at least 1"),
        ({"covariance_type": "banana"}, "covariance_type='banana' is unknown"),
        ({"tol": -1}, "tol=-1 is not a number of at least 0"),
        ({"missing_values": "NA"}, "missing_values='NA'"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        GaussianImputer(**settings).fit(correlated()[1])


def test_infinities_are_refused():
    X, incomplete = correlated()
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="contains infinity"):
        GaussianImputer().fit(X)
    with pytest.raises(ValueError, match="contains infinity"):
        GaussianImputer().fit(incomplete).transform(X)
