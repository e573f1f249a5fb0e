"""FactorAnalysis by minimum residual and principal axis."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

from tacit.factor import FactorAnalysis, HeywoodWarning
from tacit.factor.analysis.maximum import any_gaussian
from tacit.source import ArraySource

from .test_fa import rows, with_missing
from .test_rotation import ABILITY

LEAST_SQUARES = ["minres", "principal_axis"]


def residual(R, fitted):
    """Sum of squared residual correlations of pairs of columns."""
    left = R - fitted.components_.T @ fitted.components_
    return (np.tril(left, -1) ** 2).sum()


# factor_analyzer 0.5.1, FactorAnalyzer(n_factors, rotation=None, method="minres"), stops at a gradient of 1e-5.


@pytest.mark.parametrize("method", LEAST_SQUARES)
def test_wine_by_least_squares_is_that_of_factor_analyzer(method):
    fitted = FactorAnalysis(3, scale=True, method=method).fit(load_wine().data)
    theirs = [
        0.35768,
        0.69453,
        0.3735,
        0.25021,
        0.80038,
        0.24891,
        0.08273,
        0.64137,
        0.60088,
        0.29826,
        0.48854,
        0.2553,
        0.32023,
    ]
    np.testing.assert_allclose(fitted.uniqueness_, theirs, atol=5e-5)
    R = np.corrcoef(load_wine().data.T)
    assert residual(R, fitted) == pytest.approx(0.192405580898, abs=1e-10)
    likeliest = FactorAnalysis(3, scale=True).fit(load_wine().data)
    assert residual(R, likeliest) > 0.22
    assert fitted.test_.statistic > likeliest.test_.statistic  # χ² is least where the likelihood is greatest
    assert fitted.converged_


@pytest.mark.parametrize("method", LEAST_SQUARES)
def test_unrotated_factors_of_the_marks_are_those_of_factor_analyzer(method, table):
    X = table("marks/marks.csv").to_numpy(float)
    one = FactorAnalysis(1, scale=True, method=method).fit(X)
    np.testing.assert_allclose(one.components_, [[0.61375, 0.68621, 0.91493, 0.76083, 0.71059]], atol=2e-5)
    two = FactorAnalysis(2, scale=True, method=method).fit(X)
    theirs = [[0.64276, 0.70818, 0.8966, 0.77103, 0.71798], [0.34244, 0.28683, -0.08719, -0.23505, -0.22818]]
    np.testing.assert_allclose(np.abs(two.components_), np.abs(theirs), atol=5e-5)
    np.testing.assert_allclose(
        two.get_covariance() - np.diag(two.noise_variance_), np.transpose(theirs) @ theirs, atol=5e-5
    )


@pytest.mark.parametrize("method", LEAST_SQUARES)
def test_a_matrix_says_what_its_rows_say_in_any_unit(method):
    X = rows() * 10.0 ** np.arange(-4, 4)
    of_rows = FactorAnalysis(2, scale=True, method=method).fit(X)
    of_matrix = FactorAnalysis(2, scale=True, method=method).fit_covariance(np.cov(X.T, ddof=0), 400)
    own_units = FactorAnalysis(2, method=method).fit(X)
    np.testing.assert_allclose(of_matrix.components_, of_rows.components_, atol=1e-8)
    np.testing.assert_allclose(own_units.components_ / X.std(axis=0), of_rows.components_, atol=1e-8)
    assert of_matrix.test_.statistic == pytest.approx(of_rows.test_.statistic)
    assert of_rows.loglike_[-1] == pytest.approx(of_rows.score_samples(X).sum())
    np.testing.assert_allclose((of_rows.components_**2).sum(axis=0) + of_rows.noise_variance_, 1.0, atol=2e-6)


@pytest.mark.parametrize("method", LEAST_SQUARES)
def test_missing_cells_go_through_the_likeliest_covariance(method):
    X = with_missing(rows())
    fitted = FactorAnalysis(2, scale=True, method=method).fit(X)
    gaussian = any_gaussian(ArraySource(X))
    of_matrix = FactorAnalysis(2, scale=True, method=method).fit_covariance(gaussian.covariances_[0], 400)
    np.testing.assert_allclose(fitted.uniqueness_, of_matrix.uniqueness_, atol=1e-10)
    np.testing.assert_allclose(fitted.mean_, gaussian.means_[0])
    np.testing.assert_allclose(fitted.column_correlations(), of_matrix.column_correlations(), atol=1e-8)
    assert fitted.loglike_ == [pytest.approx(fitted.score_samples(X).sum())]
    likeliest = FactorAnalysis(2, scale=True, tol=1e-6).fit(X)
    assert likeliest.loglike_[-1] - 5.0 < fitted.loglike_[0] < likeliest.loglike_[-1]
    assert fitted.test_ is None
    assert fitted.adequacy(X).fit.p_value > 0.01
    assert np.isfinite(fitted.impute(X)).all()


def test_constant_columns_and_missing_cells_have_no_loadings():
    X = np.column_stack([with_missing(rows()), np.full(400, 7.0)])
    with pytest.warns(UserWarning, match="constant columns have no loadings: column 8"):
        fitted = FactorAnalysis(2, method="minres").fit(X)
    assert not fitted.components_[:, 8].any()
    np.testing.assert_allclose(
        fitted.uniqueness_[:8], FactorAnalysis(2, method="minres").fit(X[:, :8]).uniqueness_, atol=1e-4
    )


def test_a_covariance_that_few_rows_leave_singular_is_told():
    with pytest.warns(
        UserWarning, match="covariance of the rows with missing cells is singular.*method='ml' instead of 'minres'"
    ):
        FactorAnalysis(1, method="minres").fit(with_missing(rows(n=7, seed=2), 0.1))


def test_a_heywood_case_of_least_squares_is_told():
    R = np.array(
        [[1.0, 0.8, 0.8], [0.8, 1.0, 0.4], [0.8, 0.4, 1.0]]
    )  # one factor would explain 1.6 of the first column
    for method in LEAST_SQUARES:
        with pytest.warns(
            HeywoodWarning, match=r"uniqueness of column 0 is at the floor of 0.005, where the fit tells"
        ):
            fitted = FactorAnalysis(1, scale=True, method=method).fit_covariance(R, 50)
        assert fitted.heywood_.tolist() == [True, False, False]


def test_few_steps_of_principal_axis_warn_and_a_wrong_method_is_refused():
    with pytest.warns(UserWarning, match="did not converge: max_iter=2 steps were taken"):
        FactorAnalysis(2, method="principal_axis", max_iter=2).fit(rows())
    with pytest.raises(ValueError, match=r"method='pa'.*principal_axis"):
        FactorAnalysis(2, method="pa").fit(rows())


@pytest.mark.parametrize("k", [0, 1, 3, 6])
def test_any_number_of_factors_can_be_asked_for(k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = FactorAnalysis(k, scale=True, method="minres").fit_covariance(ABILITY, 112)
    assert fitted.components_.shape == (k, 6)
    if k >= 3:  # as many numbers as correlations
        R = ABILITY / np.sqrt(np.outer(ABILITY.diagonal(), ABILITY.diagonal()))
        np.testing.assert_allclose(fitted.get_covariance(), R, atol=0.03)
