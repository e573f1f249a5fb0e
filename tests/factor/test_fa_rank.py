"""The number of factors: chosen by BIC or parallel analysis, counted in parameters, and none at all."""

import numpy as np
import pytest

from tacit.factor import FactorAnalysis

from .test_fa import rows, with_missing


@pytest.mark.parametrize("holes", [0.0, 0.1])
@pytest.mark.parametrize("method", ["bic", "parallel"])
def test_the_number_of_factors_is_found(method, holes):
    rng = np.random.default_rng(0)
    loadings = np.kron(np.eye(3), np.ones((1, 4)))
    X = with_missing(rng.normal(size=(600, 3)) @ loadings + 0.7 * rng.normal(size=(600, 12)), holes)
    fitted = FactorAnalysis(method).fit(X)
    assert fitted.n_components_ == fitted.rank_choice_.rank == 3
    assert fitted.components_.shape == (3, 12)
    assert fitted.rank_choice_.method == method


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_the_bic_that_chose_is_that_of_the_model(scale, holes):
    X = with_missing(rows() * 10.0 ** np.arange(-4, 4), holes)
    fitted = FactorAnalysis("bic", scale=scale, tol=1e-6).fit(X)
    assert fitted.rank_choice_.ranks.tolist() == [0, 1, 2, 3, 4]
    assert fitted.n_components_ == 2
    assert fitted.rank_choice_.values[2] == pytest.approx(fitted.bic(X), abs=1e-4)
    none = FactorAnalysis(0, scale=scale, tol=1e-6).fit(X)
    assert fitted.rank_choice_.values[0] == pytest.approx(none.bic(X), abs=1e-4)


def test_constant_columns_do_not_count_against_factors():
    X = np.column_stack([rows(), np.ones((400, 3))])
    with pytest.warns(UserWarning, match="constant columns have no loadings: column 8, column 9, column 10"):
        fitted = FactorAnalysis("bic").fit(X)
    plain = FactorAnalysis("bic").fit(rows())
    assert fitted.rank_choice_.values[fitted.n_components_] == pytest.approx(fitted.bic(X))
    np.testing.assert_allclose(np.diff(fitted.rank_choice_.values), np.diff(plain.rank_choice_.values))


@pytest.mark.parametrize("holes", [0.0, 0.1])
@pytest.mark.parametrize(
    ("method", "message"),
    [
        (
            "bic",
            r"BIC is lowest without any factor \(\d+(\.\d+)? against \d+(\.\d+)? with one\): no factor is supported",
        ),
        ("parallel", r"no eigenvalue exceeds .* \(the largest is 1\.\d+, where .* to 1\.\d+\): no factor is supported"),
    ],
)
def test_independent_columns_have_no_factor(method, message, holes):
    X = with_missing(np.random.default_rng(3).normal(size=(300, 8)), holes)
    with pytest.warns(UserWarning, match=message):
        fitted = FactorAnalysis(method).fit(X)
    assert fitted.rank_choice_.rank == 0
    assert fitted.n_components_ == 1
    assert fitted.components_.shape == (1, 8)


def test_information_criteria_count_parameters():
    X = rows()
    fitted = FactorAnalysis(2).fit(X)
    assert fitted.n_parameters == 8 + 8 + 16 - 1
    assert fitted.aic(X) == pytest.approx(-2.0 * fitted.loglike_[-1] + 2 * 31)
    assert fitted.bic(X) == pytest.approx(-2.0 * fitted.loglike_[-1] + 31 * np.log(400))
