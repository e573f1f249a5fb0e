"""The number of factors: chosen by BIC or parallel analysis, counted in parameters, and none at all."""

import numpy as np
import pytest

from tacit.factor import FactorAnalysis
from tacit.factor.principal.rank import Spectrum, parallel

from .test_fa import rows, with_missing


@pytest.mark.parametrize("holes", [0.0, 0.1])
@pytest.mark.parametrize("method", ["bic", "parallel", "parallel_factors"])
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
        ("parallel_factors", r"no eigenvalue exceeds .* \(the largest is 0\.\d+, where .* to 0\.\d+\): no factor"),
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


def test_parallel_analysis_of_common_factors_is_that_of_simulated_rows():
    def eigenvalues(X):
        R = np.corrcoef(X.T)
        for j in range(len(R)):
            rest = np.delete(np.arange(len(R)), j)
            explained = np.column_stack([np.ones(len(X)), X[:, rest]])
            left = X[:, j] - explained @ np.linalg.lstsq(explained, X[:, j])[0]
            R[j, j] = 1.0 - left.var() / X[:, j].var()  # squared multiple correlation
        return np.linalg.eigvalsh(R)[::-1]

    X, rng = rows(n=60), np.random.default_rng(1)
    choice = FactorAnalysis("parallel_factors", method="minres").fit(X).rank_choice_
    np.testing.assert_allclose(choice.values, eigenvalues(X), atol=1e-10)
    assert choice.rank == 2
    simulated = [eigenvalues(rng.normal(size=X.shape)) for _ in range(2000)]
    many = parallel(Spectrum.of_correlation(np.corrcoef(X.T), 60, reduced=True), n_simulations=4000, random_state=0)
    np.testing.assert_allclose(many.threshold, np.quantile(simulated, 0.95, axis=0), atol=0.02)


def test_parallel_analysis_of_common_factors_needs_more_rows_than_columns():
    with pytest.raises(ValueError, match=r"the 8 columns are collinear or not fewer than the 7 rows; use 'parallel'"):
        FactorAnalysis("parallel_factors").fit(rows(n=7))
