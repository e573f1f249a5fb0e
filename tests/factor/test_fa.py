"""FactorAnalysis: published numbers, scikit-learn's results, properties, missing cells."""

import warnings

import numpy as np
import pytest
from scipy.stats import ncx2
from sklearn.datasets import load_wine
from sklearn.decomposition import FactorAnalysis as Theirs
from sklearn.exceptions import ConvergenceWarning

import tacit
from tacit.factor import FactorAnalysis, HeywoodWarning
from tacit.factor.analysis.estimator import _matched
from tacit.source import ArraySource

from .test_rotation import ABILITY

CARS = slice("Retail", "Width")  # the eleven measurements


def rows(n=400, d=8, k=2, seed=0):
    rng = np.random.default_rng(seed)
    noise = np.sqrt(rng.uniform(0.5, 1.5, d))
    return rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) + noise * rng.normal(size=(n, d)) + rng.normal(size=d)


def with_missing(X, share=0.15, seed=1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


@pytest.fixture
def cars(table):
    return table("cars04/cars04_387.csv").loc[:, CARS].astype(float)


# Published numbers: Shalizi, Advanced Data Analysis from an Elementary Point of View, by R's factanal


def test_one_factor_of_the_cars(cars):
    # Where Retail and Dealer are at the floor the likelihood is higher still: R's factanal does not go there.
    with pytest.warns(
        HeywoodWarning, match=r"higher by 47.78 where the uniqueness of Retail, Dealer is at the floor of 0.005"
    ):
        fitted = FactorAnalysis(1, scale=True).fit(cars)
    assert fitted.test_.statistic == pytest.approx(4077.32, abs=0.005)
    assert fitted.test_.dof == fitted.dof_ == 44
    assert fitted.test_.p_value < 1e-300
    assert fitted.loglike_[-1] == pytest.approx(-4422.235, abs=5e-4)
    assert fitted.score_samples(cars).sum() == pytest.approx(-4422.235, abs=5e-4)
    assert not fitted.heywood_.any()


def test_two_factors_of_the_cars_warn_by_name(cars):
    with pytest.warns(HeywoodWarning, match=r"the uniqueness of Retail, Dealer is at the floor of 0.005, where"):
        fitted = FactorAnalysis(2, scale=True).fit(cars)
    assert fitted.test_.statistic == pytest.approx(1664.45, abs=0.005)
    assert fitted.test_.dof == 34
    assert fitted.loglike_[-1] == pytest.approx(-3197.752, abs=5e-4)
    assert np.flatnonzero(fitted.heywood_).tolist() == [0, 1]
    np.testing.assert_allclose(fitted.uniqueness_[:2], 0.005)
    assert str(fitted.test_).startswith("chi² = 1664.45 on 34 degrees of freedom")


# scikit-learn


@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_is_scikit_learns_at_a_tight_tolerance(seed):
    X = rows(seed=seed)
    ours = FactorAnalysis(2).fit(X)
    theirs = Theirs(2, tol=1e-10, max_iter=20_000, svd_method="lapack").fit(X)
    assert not ours.heywood_.any()
    assert ours.loglike_[-1] >= theirs.loglike_[-1] - 1e-8
    assert ours.loglike_[-1] == pytest.approx(theirs.loglike_[-1], abs=1e-5)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-4)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-3)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-4)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), atol=1e-4)
    assert ours.score(X) == pytest.approx(theirs.score(X))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_the_likelihood_of_fewer_rows_than_columns_is_no_lower_than_scikit_learns():
    X = rows(n=25, d=40, k=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = FactorAnalysis(3).fit(X), Theirs(3, tol=1e-8, max_iter=10_000).fit(X)
    assert ours.test_ is None
    if (theirs.noise_variance_ > 0.005 * X.var(axis=0)).all():
        assert ours.loglike_[-1] >= theirs.loglike_[-1] - 1e-6
    assert np.isfinite(ours.transform(X)).all()


# Properties


def test_the_likelihood_never_falls_and_is_that_of_the_rows():
    X = rows()
    for data in (X, with_missing(X)):
        fitted = FactorAnalysis(2, tol=1e-8).fit(data)
        assert np.all(np.diff(fitted.loglike_) > -1e-9)
        assert fitted.loglike_[-1] == pytest.approx(fitted.score_samples(data).sum(), abs=1e-5)
        assert fitted.trace_.objectives == fitted.loglike_


@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_weight_two_is_a_row_twice_and_blocks_do_not_matter(holes):
    X = with_missing(rows(n=120), holes)
    weight = np.random.default_rng(0).integers(0, 3, 120).astype(float)
    settings = {"rotation": "varimax"}
    weighted = FactorAnalysis(2, **settings).fit(X, sample_weight=weight)
    repeated = FactorAnalysis(2, **settings).fit(X.repeat(weight.astype(int), axis=0))
    cut = FactorAnalysis(2, **settings).fit(ArraySource(X, weight, block_rows=17))
    for other in (repeated, cut):
        np.testing.assert_allclose(weighted.components_, other.components_, atol=1e-9)
        np.testing.assert_allclose(weighted.noise_variance_, other.noise_variance_, atol=1e-9)
        assert weighted.loglike_[-1] == pytest.approx(other.loglike_[-1], rel=1e-12)
    if not holes:
        assert weighted.test_.statistic == pytest.approx(repeated.test_.statistic)


@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_units_do_not_matter(holes):
    X, unit = with_missing(rows(), holes), 10.0 ** np.arange(-4, 4)
    plain = FactorAnalysis(2, tol=1e-8).fit(X)
    for other, Z in ((FactorAnalysis(2, tol=1e-8), X * unit), (FactorAnalysis(2, tol=1e-8, scale=True), X * unit)):
        other.fit(Z)
        np.testing.assert_allclose(other.uniqueness_, plain.uniqueness_, rtol=1e-6)
        np.testing.assert_allclose(other.transform(Z), plain.transform(X), atol=1e-6)
    assert (np.abs(other.components_) < 1.0).all()
    np.testing.assert_allclose(other.noise_variance_, other.uniqueness_ * np.diagonal(other.get_covariance()))
    np.testing.assert_allclose(np.diagonal(other.get_covariance()), 1.0, atol=0.05)
    np.testing.assert_allclose(other.get_covariance() @ other.get_precision(), np.eye(8), atol=1e-10)
    filled = plain.impute(X) * unit
    np.testing.assert_allclose(other.impute(X * unit), filled, rtol=1e-6)
    np.testing.assert_allclose(other.inverse_transform(other.transform(Z)), other.reconstruct(Z), rtol=1e-9)


@pytest.mark.parametrize("rotation", [None, "oblimin"])
@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_uniqueness_and_communality_are_all_there_is(holes, rotation):
    X = with_missing(rows(), holes)
    fitted = FactorAnalysis(2, rotation=rotation).fit(X)
    communality = (fitted.components_ * fitted.structure_).sum(axis=0) / np.diagonal(fitted.get_covariance())
    np.testing.assert_allclose(fitted.uniqueness_ + communality, 1.0, atol=1e-12)


def test_a_known_truth_is_recovered():
    rng = np.random.default_rng(0)
    loadings, noise = rng.normal(size=(2, 6)), rng.uniform(0.3, 1.0, 6)
    X = rng.normal(size=(40_000, 2)) @ loadings + np.sqrt(noise) * rng.normal(size=(40_000, 6)) + 3.0
    for data in (X, with_missing(X, 0.2)):
        fitted = FactorAnalysis(2).fit(data)
        np.testing.assert_allclose(fitted.noise_variance_, noise, atol=0.04)
        np.testing.assert_allclose(fitted.components_.T @ fitted.components_, loadings.T @ loadings, atol=0.08)
        np.testing.assert_allclose(fitted.mean_, 3.0, atol=0.05)


def test_the_test_of_fit_has_its_level_and_power():
    sizes = [FactorAnalysis(2).fit(rows(n=300, seed=seed)).test_.p_value for seed in range(100, 160)]
    assert np.mean(np.array(sizes) < 0.05) < 0.15
    assert abs(np.mean(sizes) - 0.5) < 0.15
    assert FactorAnalysis(1).fit(rows()).test_.p_value < 1e-6


# Rotations and scores


@pytest.mark.parametrize("rotation", ["varimax", "quartimax", "promax", "oblimin"])
@pytest.mark.parametrize("scale", [False, True])
def test_rotations_leave_the_distribution(rotation, scale):
    X = with_missing(rows(), 0.1)
    plain = FactorAnalysis(2, scale=scale).fit(X)
    turned = FactorAnalysis(2, scale=scale, rotation=rotation, rotation_params={"normalize": True}).fit(X)
    np.testing.assert_allclose(turned.get_covariance(), plain.get_covariance(), atol=1e-10)
    np.testing.assert_allclose(turned.score_samples(X), plain.score_samples(X), atol=1e-9)
    np.testing.assert_allclose(turned.impute(X), plain.impute(X), atol=1e-9)
    np.testing.assert_allclose(turned.components_.T, plain.components_.T @ turned.rotation_, atol=1e-10)
    np.testing.assert_allclose(turned.structure_, turned.factor_correlation_ @ turned.components_, atol=1e-12)
    # f* = M⁻¹ f, and so its expectation and covariance.
    inverse = np.linalg.inv(turned.rotation_)
    (here, spread), (there, before) = turned.transform(X, return_cov=True), plain.transform(X, return_cov=True)
    np.testing.assert_allclose(here, there @ inverse.T, atol=1e-9)
    np.testing.assert_allclose(spread, inverse @ before @ inverse.T, atol=1e-9)
    np.testing.assert_allclose(turned.inverse_transform(here), plain.inverse_transform(there), atol=1e-9)


def test_the_seed_is_that_of_oblimin_unless_it_has_its_own():
    X, few = rows(k=3), {"max_iter": 1, "n_starts": 100}  # too few steps for starts to meet

    def components(seed, **options):
        return (
            FactorAnalysis(3, rotation="oblimin", random_state=seed, rotation_params=few | options).fit(X).components_
        )

    np.testing.assert_array_equal(components(5), components(0, random_state=5))
    assert np.abs(components(5) - components(0)).max() > 1e-3


def test_columns_are_divided_by_deviations_with_divisor_n():
    X = with_missing(rows())
    np.testing.assert_allclose(FactorAnalysis(2, scale=True).fit(X).scale_, np.nanstd(X, axis=0))
    np.testing.assert_array_equal(FactorAnalysis(2).fit(X).scale_, 1.0)


@pytest.mark.parametrize("rotation", [None, "promax"])
def test_scores_are_those_of_the_formulas(rotation):
    X = rows()
    fitted = FactorAnalysis(2, rotation=rotation).fit(X)
    loadings, phi = fitted.components_.T, fitted.factor_correlation_
    centred = X - fitted.mean_
    weighted = loadings.T / fitted.noise_variance_
    inner = weighted @ loadings
    regression, std = fitted.scores(X, return_std=True)
    expected = centred @ np.linalg.solve(fitted.get_covariance(), loadings @ phi)
    np.testing.assert_allclose(regression, expected, atol=1e-10)
    np.testing.assert_array_equal(regression, fitted.transform(X))
    np.testing.assert_allclose(
        std**2, np.diagonal(np.linalg.inv(np.linalg.inv(phi) + inner))[None] + 0 * std, atol=1e-12
    )
    bartlett, std = fitted.scores(X, "bartlett", return_std=True)
    np.testing.assert_allclose(bartlett, centred @ np.linalg.solve(inner, weighted).T, atol=1e-9)
    np.testing.assert_allclose(std**2, np.diagonal(np.linalg.inv(inner))[None] + 0 * std, atol=1e-12)


def test_scores_of_rows_with_holes_are_those_of_their_observed_cells():
    X = rows()
    fitted = FactorAnalysis(2, rotation="oblimin").fit(X)
    holes = X[:6].copy()
    holes[:3, [1, 4, 5]] = np.nan
    holes[3, 1:] = np.nan
    holes[4] = np.nan
    seen = [0, 2, 3, 6, 7]
    loadings, noise = fitted.components_.T[seen], fitted.noise_variance_[seen]
    inner = (loadings.T / noise) @ loadings
    scores, covariance = fitted.transform(holes, return_cov=True)
    spread = np.linalg.inv(np.linalg.inv(fitted.factor_correlation_) + inner)
    centred = (holes - fitted.mean_)[:3][:, seen]
    np.testing.assert_allclose(covariance[:3], spread[None] + 0 * covariance[:3], atol=1e-12)
    np.testing.assert_allclose(scores[:3], centred / noise @ loadings @ spread, atol=1e-10)
    np.testing.assert_allclose(scores[4], 0.0, atol=1e-12)
    np.testing.assert_allclose(covariance[4], fitted.factor_correlation_, atol=1e-12)
    bartlett, std = fitted.scores(holes, "bartlett", return_std=True)
    np.testing.assert_allclose(bartlett[:3], centred / noise @ loadings @ np.linalg.inv(inner), atol=1e-9)
    assert np.isnan(bartlett[3:5]).all()
    assert np.isinf(std[3:5]).all()
    assert np.isfinite(bartlett[5]).all()


def test_bartletts_scores_are_unbiased_and_errors_are_right():
    rng = np.random.default_rng(0)
    loadings, noise = rng.normal(size=(2, 10)), rng.uniform(0.3, 1.0, 10)
    factors = rng.normal(size=(5000, 2))
    X = factors @ loadings + np.sqrt(noise) * rng.normal(size=(5000, 10))
    fitted = FactorAnalysis(2).fit(X)
    turn = np.linalg.lstsq(factors, fitted.scores(X, "bartlett"), rcond=None)[0]
    np.testing.assert_allclose(turn @ turn.T, np.eye(2), atol=0.05)
    for method in ("regression", "bartlett"):
        scores, std = fitted.scores(X, method, return_std=True)
        np.testing.assert_allclose((scores - factors @ turn).std(axis=0), std[0], rtol=0.05)


# Missing cells


def test_em_reaches_the_maximum_of_complete_rows():
    X = rows()
    complete = FactorAnalysis(2).fit(X)
    # A row without any cell says nothing, but sends the fit through EM.
    fitted = FactorAnalysis(2, tol=1e-10).fit(np.vstack([X, np.full(8, np.nan)]))
    assert fitted.test_ is None
    assert fitted.loglike_[-1] == pytest.approx(complete.loglike_[-1], abs=1e-5)
    np.testing.assert_allclose(fitted.noise_variance_, complete.noise_variance_, rtol=1e-4)
    np.testing.assert_allclose(fitted.get_covariance(), complete.get_covariance(), rtol=1e-3, atol=1e-3)


def test_missing_cells_are_filled_better_than_by_means():
    X = rows(n=1000, d=10, k=2)
    holes = with_missing(X, 0.2)
    missing = np.isnan(holes)
    fitted = FactorAnalysis(2).fit(holes)
    filled, std = fitted.impute(holes, return_std=True)
    mean = np.broadcast_to(np.nanmean(holes, axis=0), X.shape)
    assert np.std((filled - X)[missing]) < 0.8 * np.std((mean - X)[missing])
    assert np.mean(np.abs(filled - X)[missing] < 1.645 * std[missing]) == pytest.approx(0.9, abs=0.03)
    draws = fitted.draw_missing(holes, 200, random_state=0)
    np.testing.assert_array_equal(draws[0][~missing], X[~missing])
    np.testing.assert_allclose(draws.mean(axis=0)[missing], filled[missing], atol=0.6)
    assert draws[:, missing].std(axis=0).mean() == pytest.approx(std[missing].mean(), rel=0.03)


def test_the_floor_holds_with_missing_cells():
    X = rows(n=200)
    X = with_missing(np.column_stack([X, X[:, 0] + 1e-4 * X[:, 1]]), 0.05)
    with pytest.warns(HeywoodWarning, match=r"the uniqueness of column 0, column 8 is at the floor of 0.01"):
        fitted = FactorAnalysis(2, uniqueness_floor=0.01).fit(X)
    assert fitted.uniqueness_.min() == pytest.approx(0.01)


# Any table


def test_tables_keep_their_names_and_precision(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = rows().astype(np.float32)
    frame = pandas.DataFrame(X, columns=list("abcdefgh"))
    fitted = FactorAnalysis(2).set_output(transform="pandas").fit(frame)
    assert fitted.transform(frame).columns.tolist() == ["factoranalysis0", "factoranalysis1"]
    plain = FactorAnalysis(2).fit(X)
    assert plain.transform(X).dtype == plain.components_.dtype == plain.score_samples(X).dtype == np.float32
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    streamed = FactorAnalysis(2).fit(path)
    np.testing.assert_allclose(streamed.components_, plain.components_, rtol=1e-4, atol=1e-5)
    streamed.transform(path, out=tmp_path / "scores.parquet")
    written = pandas.read_parquet(tmp_path / "scores.parquet")
    np.testing.assert_allclose(written.to_numpy(), plain.transform(X), atol=1e-4)


def test_tensors_give_the_same():
    torch = pytest.importorskip("torch")
    X = with_missing(rows())
    ours = FactorAnalysis(2).fit(X)
    theirs = FactorAnalysis(2).fit(torch.as_tensor(X))
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-6)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(torch.as_tensor(X)), atol=1e-6)


def test_a_file_keeps_everything(tmp_path):
    X = rows()
    fitted = FactorAnalysis("bic", rotation="promax", rotation_params={"power": 3}, scale=True).fit(X)
    tacit.save(fitted, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.test_.statistic == fitted.test_.statistic
    assert again.test_.dof == fitted.test_.dof
    assert again.rank_choice_.rank == 2
    assert again.get_params() == fitted.get_params()
    assert again.loglike_ == fitted.loglike_
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(again.structure_, fitted.structure_)


def test_few_steps_warn():
    with pytest.warns(ConvergenceWarning, match="FactorAnalysis did not converge: max_iter=1 steps were taken"):
        FactorAnalysis(2, max_iter=1).fit(rows())


# Adequacy, errors, scores that keep correlations, and matrices


def test_a_covariance_matrix_gives_what_factanal_prints():
    """``factanal(factors = k, covmat = ability.cov)`` of R, of 112 rows."""
    for k, statistic, p_value, uniqueness in (
        (1, 75.18, 1.46e-12, [0.535, 0.853, 0.748, 0.910, 0.232, 0.280]),
        (2, 6.11, 0.191, [0.455, 0.589, 0.218, 0.769, 0.052, 0.334]),
    ):
        fitted = FactorAnalysis(k, scale=True).fit_covariance(ABILITY, 112)
        assert fitted.test_.statistic == pytest.approx(statistic, abs=0.005)
        assert fitted.test_.p_value == pytest.approx(p_value, rel=5e-3)
        np.testing.assert_allclose(fitted.uniqueness_, uniqueness, atol=5.1e-4)


@pytest.mark.parametrize(
    ("matrix", "n", "message"),
    [
        ([[1.0, 0.5], [0.1, 1.0]], 50, r"shape \(2, 2\) is not symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], 50, r"not positive: the least eigenvalue of its correlations is -1;"),
        (np.eye(3), 1, r"n_samples=1 .*at least 2"),
    ],
)
def test_what_is_no_covariance_is_refused(matrix, n, message):
    with pytest.raises(ValueError, match=message):
        FactorAnalysis(1).fit_covariance(matrix, n)


def test_adequacy_of_complete_rows():
    X = load_wine().data
    fitted = FactorAnalysis(3, scale=True).fit(X)
    found = fitted.adequacy(X)
    # Those of factor_analyzer 0.5.1: calculate_kmo and calculate_bartlett_sphericity.
    assert found.kmo == pytest.approx(0.7786821, abs=1e-6)
    assert found.sphericity.statistic == pytest.approx(1317.1808, abs=1e-3)
    assert found.fit.statistic == pytest.approx(fitted.test_.statistic, rel=1e-6)
    low, high = found.rmsea_interval
    size = 42 * 177
    assert ncx2.cdf(found.fit.statistic, 42, low**2 * size) == pytest.approx(0.95)
    assert ncx2.cdf(found.fit.statistic, 42, high**2 * size) == pytest.approx(0.05)
    assert low < found.rmsea < high
    assert 0.8 < found.tli < found.cfi < 1.0


@pytest.mark.filterwarnings("ignore::tacit.factor.HeywoodWarning")
def test_full_information_test_tells_right_from_wrong_numbers_of_factors():
    X = rows(n=400, d=8, k=2)
    one_lost = X.copy()
    one_lost[0, 0] = np.nan
    fitted = FactorAnalysis(2).fit(one_lost)
    complete = FactorAnalysis(2).fit(X)
    uncorrected = complete.test_.statistic * 400 / (400 - 1 - 21 / 6 - 4 / 3)
    assert fitted.adequacy(one_lost).fit.statistic == pytest.approx(uncorrected, rel=0.05)
    found = []
    for seed in range(12):
        lost = with_missing(rows(n=250, d=6, k=1, seed=seed), 0.15, seed)
        found.append(FactorAnalysis(1, tol=1e-3).fit(lost).adequacy(lost))
    assert 6.0 < np.mean([each.fit.statistic for each in found]) < 12.5  # of 9 degrees of freedom
    assert np.mean([each.rmsea for each in found]) < 0.04
    wrong = with_missing(X, 0.15, 1)
    assert FactorAnalysis(1).fit(wrong).adequacy(wrong).fit.p_value < 1e-6


@pytest.mark.filterwarnings("ignore::tacit.factor.HeywoodWarning")
def test_bootstrap_errors_are_the_spread_of_estimates_of_new_rows():
    fitted = FactorAnalysis(2, rotation="varimax").fit(rows(n=200, d=6, k=2, seed=0))
    errors = fitted.standard_errors(rows(n=200, d=6, k=2, seed=0), n_bootstrap=60, random_state=0)
    assert errors.components.shape == (2, 6)
    loading, noise = np.asarray(fitted.components_).T, np.asarray(fitted.noise_variance_)
    rng, again = np.random.default_rng(1), []
    for _ in range(60):
        X = rng.normal(size=(200, 2)) @ loading.T + rng.normal(size=(200, 6)) * np.sqrt(noise)
        again.append(_matched(FactorAnalysis(2, rotation="varimax").fit(X), fitted.components_))
    spread = [np.std(part, axis=0) for part in zip(*again)]
    np.testing.assert_allclose(errors.components, spread[0], rtol=0.6)
    np.testing.assert_allclose(errors.uniqueness, spread[1], rtol=0.6)


def test_scores_of_ten_berge_correlate_as_the_factors_do():
    X = load_wine().data
    fitted = FactorAnalysis(3, scale=True, rotation="promax").fit(X)
    scores, errors = fitted.scores(X, "tenberge", return_std=True)
    # Exactly of the model's covariance, which the columns have but for what the factors leave.
    np.testing.assert_allclose(np.corrcoef(scores.T), fitted.factor_correlation_, atol=0.02)
    assert (errors > fitted.scores(X, return_std=True)[1] - 1e-12).all()
    lost = np.full((1, 13), np.nan)
    lost[0, 0] = X[0, 0]
    assert np.isnan(fitted.scores(lost, "tenberge")).all()
