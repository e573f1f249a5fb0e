"""Tables that factor analysis cannot or can barely learn from, and settings that are wrong."""

import numpy as np
import pytest

from tacit.factor import FactorAnalysis, HeywoodWarning

from .test_fa import rows, with_missing


def finite(fitted, X):
    arrays = (
        fitted.components_,
        fitted.noise_variance_,
        fitted.transform(X),
        fitted.score_samples(X),
        fitted.get_precision(),
    )
    return all(np.isfinite(array).all() for array in arrays)


@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_constant_columns_are_named_and_have_no_loadings(holes):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(with_missing(rows(), holes), columns=list("abcdefgh"))
    X["c"] = 1e6
    with pytest.warns(UserWarning, match="constant columns have no loadings: c; drop them"):
        fitted = FactorAnalysis(2).fit(X)
    assert not fitted.components_[:, 2].any()
    assert not fitted.heywood_[2]
    assert fitted.uniqueness_[2] == 0.005
    assert fitted.dof_ == 8  # of the seven columns that vary
    assert finite(fitted, X)


def test_a_table_of_constants_is_refused():
    with pytest.raises(ValueError, match="every column of X is constant; there is nothing to analyse"):
        FactorAnalysis(1).fit(np.ones((10, 3)))


def test_fewer_rows_than_columns():
    X = rows(n=6, d=20)
    with pytest.warns(HeywoodWarning):
        fitted = FactorAnalysis(4).fit(X)
    assert fitted.test_ is None
    assert finite(fitted, X)
    assert fitted.loglike_[-1] == pytest.approx(fitted.score_samples(X).sum())


@pytest.mark.parametrize("k", [1, 2, 3])
def test_rank_deficiency(k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 6))
    with pytest.warns(HeywoodWarning):
        fitted = FactorAnalysis(k).fit(X)
    assert fitted.test_ is None
    assert finite(fitted, X)


def test_repeated_columns_are_named():
    X = rows()
    with pytest.warns(HeywoodWarning, match="the uniqueness of column 3, column 8 is at the floor"):
        fitted = FactorAnalysis(2).fit(np.column_stack([X, X[:, 3]]))
    assert fitted.converged_


@pytest.mark.parametrize("floor", [1e-9, 1e-6])
def test_a_low_floor_is_reached(floor):
    X = rows()
    with pytest.warns(HeywoodWarning, match=f"at the floor of {floor:g}"):
        fitted = FactorAnalysis(2, uniqueness_floor=floor).fit(np.column_stack([X, X[:, 3]]))
    assert fitted.converged_
    assert fitted.uniqueness_.min() >= floor * (1.0 - 1e-9)


@pytest.mark.parametrize(("k", "dof"), [(5, -2), (8, -8), (None, -8)])
def test_more_factors_than_a_covariance_tells_apart(k, dof):
    X = rows()
    with pytest.warns(
        UserWarning, match=rf"factors are more than the covariance of 8 columns .* {dof} degrees .* at most 4"
    ):
        fitted = FactorAnalysis(k).fit(X)
    assert fitted.test_ is None
    assert fitted.dof_ == dof
    # The covariance is then matched exactly.
    np.testing.assert_allclose(fitted.get_covariance(), np.cov(X.T, ddof=0), atol=1e-6)
    assert fitted.n_parameters == 8 + 36


def test_one_factor_of_two_columns_is_told_in_the_singular():
    with pytest.warns(UserWarning, match=r"^1 factor is more than the covariance of 2 columns can tell apart"):
        FactorAnalysis(1).fit(rows()[:, :2])
    with pytest.warns(UserWarning, match=r"^1 factor is more than the covariance of 1 column can tell apart"):
        FactorAnalysis(1).fit(rows()[:, :1])


def test_more_factors_than_columns_are_refused():
    with pytest.raises(ValueError, match="n_components=9 exceeds the 8 columns of X; use at most 8"):
        FactorAnalysis(9).fit(rows())


@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_no_factor_at_all(holes):
    X = with_missing(rows(), holes)
    fitted = FactorAnalysis(0, rotation="varimax").fit(X)
    assert fitted.transform(X).shape == (400, 0)
    np.testing.assert_allclose(fitted.noise_variance_, np.nanvar(X, axis=0), rtol=1e-8)
    assert fitted.components_.shape == (0, 8)


def test_a_column_without_a_value_is_refused():
    X = rows()
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match="column 3 has no observed value; drop it before fitting"):
        FactorAnalysis(2).fit(X)


def test_a_column_with_one_value_and_columns_never_seen_together():
    X = rows()
    X[:200, 0] = X[200:, 1] = np.nan
    assert finite(FactorAnalysis(2).fit(X), X)
    X[1:, 2] = np.nan
    with pytest.warns(UserWarning, match="constant columns have no loadings: column 2"):
        assert finite(FactorAnalysis(2).fit(X), X)


def test_a_row_without_a_value():
    X = rows()
    X[5] = np.nan
    fitted = FactorAnalysis(2).fit(X)
    assert finite(fitted, X)
    np.testing.assert_allclose(fitted.transform(X)[5], 0.0, atol=1e-12)
    np.testing.assert_allclose(fitted.impute(X)[5], fitted.mean_)
    assert fitted.score_samples(X)[5] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_extreme_units(factor):
    X = rows()
    plain, fitted = FactorAnalysis(2).fit(X), FactorAnalysis(2).fit(X * factor)
    np.testing.assert_allclose(fitted.uniqueness_, plain.uniqueness_)
    np.testing.assert_allclose(fitted.transform(X * factor), plain.transform(X), atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": "most"}, "n_components='most' is unknown; use one of 'bic', 'parallel'"),
        ({"n_components": -1}, "n_components=-1 is not a whole number of at least 0"),
        ({"n_components": 1.5}, "n_components=1.5 is not a whole number of at least 0"),
        ({"tol": -1.0}, "tol=-1.0 is not a number of at least 0"),
        ({"max_iter": 0}, "max_iter=0 is not a whole number of at least 1"),
        ({"n_init": 0}, "n_init=0 is not a whole number of at least 1"),
        ({"svd_method": "arpack"}, "svd_method='arpack' is unknown; use one of 'lapack', 'randomized'"),
        ({"iterated_power": -1}, "iterated_power=-1 is not a whole number of at least 0"),
        (
            {"rotation": "equamax"},
            "rotation='equamax' is unknown; use one of 'varimax', 'quartimax', 'promax', 'oblimin'",
        ),
        ({"rotation_params": "kaiser"}, "rotation_params='kaiser' must be a dictionary"),
        (
            {"rotation": "promax", "rotation_params": {"gamma": 1}},
            "promax has no option 'gamma'; there are power, normalize",
        ),
        ({"scale": "yes"}, "scale='yes' must be True or False"),
        ({"uniqueness_floor": 0.0}, "uniqueness_floor=0.0 must be a share of the variance, from 1e-09 to below 1"),
        ({"uniqueness_floor": 1}, "uniqueness_floor=1 must be a share of the variance"),
        (
            {"noise_variance_init": np.ones(3)},
            r"noise_variance_init has shape \(3,\), but X has 8 columns; give one each",
        ),
        ({"noise_variance_init": np.zeros(8)}, "noise_variance_init holds 0; noise variances must be above 0"),
        ({"accelerate": "warp"}, "accelerate='warp' is unknown"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        FactorAnalysis(**{"n_components": 2, **settings}).fit(rows(n=30))


def test_bad_calls_are_named():
    X = rows(n=50)
    fitted = FactorAnalysis(2).fit(X)
    with pytest.raises(ValueError, match="method='thurstone' is unknown; use one of 'regression', 'bartlett'"):
        fitted.scores(X, "thurstone")
    with pytest.raises(ValueError, match="Z has 3 columns, but there are 2 scores per row"):
        fitted.inverse_transform(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="return_cov=True gives arrays, so it does not go with out"):
        fitted.transform(X, return_cov=True, out="scores.parquet")
    with pytest.raises(ValueError, match="X has 5 features, but FactorAnalysis is expecting 8 features"):
        fitted.transform(X[:, :5])


def test_a_start_given_is_the_only_one():
    X = rows()
    given = FactorAnalysis(2, noise_variance_init=np.full(8, 0.5)).fit(X)
    np.testing.assert_allclose(given.noise_variance_, FactorAnalysis(2, n_init=3).fit(X).noise_variance_, rtol=1e-8)
