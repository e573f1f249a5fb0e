"""StudentTMixture: known truths, direct optimisation, outliers, missing cells, the Gaussian limit, settings."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import logsumexp

from tacit.base.classes import log_tail
from tacit.mixture import GaussianMixture, StudentTMixture

from ..zoo import gaussian_rows, heavy_rows, with_missing

TIGHT = {"tol": 1e-10, "max_iter": 5000, "random_state": 0}
SCALE = np.array([[2.0, 0.6], [0.6, 1.0]])


def student_rows(n=4000, df=4.0, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, 2)) @ np.linalg.cholesky(SCALE).T
    return np.array([1.0, -2.0]) + noise / np.sqrt(rng.chisquare(df, size=(n, 1)) / df)


def direct(mixture, X):
    """Log densities from SciPy's t distribution of the observed cells."""
    out = np.zeros((len(X), mixture.n_components))
    for i, seen in enumerate(~np.isnan(X)):
        for k in range(mixture.n_components):
            if seen.any():
                scale = mixture.scales_[k][np.ix_(seen, seen)]
                out[i, k] = stats.multivariate_t.logpdf(X[i, seen], mixture.means_[k, seen], scale, mixture.df_[k])
    return out + np.log(mixture.weights_)


def test_location_scale_and_degrees_of_freedom_are_recovered():
    mixture = StudentTMixture(**TIGHT).fit(student_rows(20_000))
    np.testing.assert_allclose(mixture.means_[0], [1.0, -2.0], atol=0.05)
    np.testing.assert_allclose(mixture.scales_[0], SCALE, atol=0.1)
    assert mixture.df_[0] == pytest.approx(4.0, rel=0.1)
    np.testing.assert_allclose(mixture.covariances_[0], mixture.scales_[0] * mixture.df_ / (mixture.df_ - 2.0))


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_one_component_is_the_maximum_that_direct_optimisation_finds(holes):
    X = with_missing(student_rows(150), holes)
    mixture = StudentTMixture(**{**TIGHT, "tol": 1e-13}).fit(X)

    def deviance(vector):
        mean, (a, b, c), log_df = vector[:2], vector[2:5], vector[5]
        lower = np.array([[np.exp(a), 0.0], [b, np.exp(c)]])
        other = StudentTMixture(**TIGHT)
        other.n_components, other.weights_, other.means_ = 1, np.ones(1), mean[None]
        other.scales_, other.df_ = (lower @ lower.T)[None], np.exp([log_df])
        return -direct(other, X).sum()

    found = minimize(deviance, [0.5, -1.5, 0.0, 0.0, 0.0, 1.0], method="BFGS")
    assert mixture.score(X) * len(X) == pytest.approx(-found.fun, abs=1e-5)
    assert mixture.df_[0] == pytest.approx(np.exp(found.x[5]), rel=1e-2)


@pytest.mark.parametrize("kind", ["full", "diag", "VEV"])
def test_densities_are_scipys_marginals(kind):
    X = with_missing(heavy_rows(), 0.3)
    X[7] = np.nan
    mixture = StudentTMixture(3, covariance_type=kind, random_state=0).fit(X)
    joint = direct(mixture, X)
    np.testing.assert_allclose(mixture.score_samples(X), logsumexp(joint, axis=1), rtol=1e-9, atol=1e-10)
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(mixture.predict_proba(X), expected, rtol=1e-7, atol=1e-10)


def two_groups_with_outliers(seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(400, 2)), rng.uniform(-60, 60, (30, 2))])
    X[200:400, 0] += 8.0
    return X, np.repeat([0, 1, -1], [200, 200, 30])


def test_outliers_do_not_pull_components_away():
    X, _ = two_groups_with_outliers()
    truth = np.array([[0.0, 0.0], [8.0, 0.0]])

    def error(estimator):
        means = estimator(2, random_state=0, n_init=3, max_iter=1000).fit(X).means_
        return np.abs(means[means[:, 0].argsort()] - truth).max()

    assert error(StudentTMixture) < 0.4
    assert error(GaussianMixture) > 1.0


def test_outlier_scores_rank_and_find_them():
    X, classes = two_groups_with_outliers()
    mixture = StudentTMixture(2, random_state=0, n_init=3, max_iter=1000).fit(X)
    score = mixture.outlier_scores(X)
    far = (classes < 0) & (np.abs(X).max(axis=1) > 20)
    assert score[far].min() > score[classes >= 0].max()
    assert mixture.outliers(X, 0.999)[far].all()
    assert mixture.outliers(X, 0.999)[classes >= 0].mean() < 0.03
    np.testing.assert_array_equal(mixture.outliers(X, 0.9), score > -np.log(0.1))
    assert mixture.outlier_scores([[np.nan, np.nan]])[0] == 0.0


@pytest.mark.parametrize("df", [1, 2, 5, 60])
def test_tails_are_known_however_far_out(df):
    square = np.array([0.0, 0.1, 5.0, 200.0, 1000.0])
    np.testing.assert_allclose(log_tail(square, df), stats.chi2.logsf(square, df), rtol=1e-9, atol=1e-12)
    far = log_tail(np.geomspace(1300.0, 1e12, 50), df)
    assert np.isfinite(far).all()
    assert (np.diff(far) < 0).all()
    # At the seam the slope of the logarithm is −½ + (½ df − 1) / x.
    seam = np.linspace(1300.0, 1700.0, 401)
    np.testing.assert_allclose(np.diff(log_tail(seam, df)), -0.5 + (0.5 * df - 1) / (seam[:-1] + 0.5), atol=1e-3)


def test_the_score_is_the_tail_of_the_core():
    X = student_rows(300)
    mixture = StudentTMixture(**TIGHT).fit(X)
    z = X - mixture.means_[0]
    square = np.einsum("ni,ij,nj->n", z, np.linalg.inv(mixture.scales_[0]), z)
    np.testing.assert_allclose(mixture.outlier_scores(X), -stats.chi2.logsf(square, 2), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_a_light_tail_is_a_gaussian_mixture(holes):
    X = with_missing(gaussian_rows(), holes)
    settings = {"random_state": 0, "tol": 1e-8, "max_iter": 1000, "parameter_draws": 0}
    light, gaussian = StudentTMixture(3, df=1e7, **settings).fit(X), GaussianMixture(3, **settings).fit(X)
    assert light.score(X) == pytest.approx(gaussian.score(X), abs=1e-5)
    np.testing.assert_allclose(light.scales_, light.covariances_, rtol=1e-6)
    np.testing.assert_allclose(light.impute(X), gaussian.impute(X), rtol=1e-2, atol=1e-2)


def test_degrees_of_freedom_that_run_away_stop_at_the_bound_with_a_warning():
    # Rows on a circle have lighter tails than any Gaussian.
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    with pytest.warns(UserWarning, match=r"component 0 reached max_df=50 degrees of freedom: it has no heavier tails"):
        mixture = StudentTMixture(max_df=50.0, **TIGHT).fit(X)
    assert mixture.df_[0] == pytest.approx(50.0)
    assert np.isfinite(mixture.score(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StudentTMixture(df=50.0, **TIGHT).fit(X)


def test_tails_without_a_variance_are_said_to_have_none():
    mixture = StudentTMixture(df=1.5).fit(student_rows(200))
    assert np.isinf(mixture.covariances_).all()
    assert np.isfinite(mixture.scales_).all()
    assert mixture.df_.tolist() == [1.5]


def test_labels_weights_and_more_rows():
    X = heavy_rows()
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(len(X)) < 0.3, rng.integers(2, size=len(X)), -1)
    weight = rng.integers(1, 4, len(X))
    one = StudentTMixture(2, **TIGHT).fit(X, labels, weight)
    two = StudentTMixture(2, **TIGHT).fit(np.repeat(X, weight, axis=0), np.repeat(labels, weight))
    assert one.lower_bound_ == pytest.approx(two.lower_bound_, rel=1e-6)
    batches = StudentTMixture(2, random_state=0)
    for part in np.split(X, 4):
        batches.partial_fit(part)
    assert batches.n_iter_ == 4
    assert np.isfinite(batches.score(X))


def test_one_column_is_the_univariate_t():
    X = stats.t(5.0).rvs(size=(3000, 1), random_state=0) * 2.0 + 1.0
    mixture = StudentTMixture(**TIGHT).fit(X)
    df, location, scale = stats.t.fit(X[:, 0])
    assert mixture.score(X) * 3000 >= stats.t(df, location, scale).logpdf(X[:, 0]).sum() - 1e-3
    assert mixture.df_[0] == pytest.approx(df, rel=0.02)


def test_cells_are_filled_and_drawn():
    X = heavy_rows()
    holes = with_missing(X, 0.2)
    mixture = StudentTMixture(3, random_state=0).fit(holes)
    filled, std = mixture.impute(holes, return_std=True)
    seen = ~np.isnan(holes)
    np.testing.assert_array_equal(filled[seen], X[seen])
    assert (std[seen] == 0).all()
    assert (std[~seen] > 0).all()
    draws = mixture.draw_missing(holes, 3, random_state=0)
    assert draws.shape == (3, *X.shape)
    assert (draws[:, ~seen].std(axis=0) > 0).all()


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("df", "banana", "df='banana' is unknown; use one of 'free', 'shared'"),
        ("df", 0.01, "df=0.01 is not a number of at least 0.1"),
        ("df_init", 5e6, "df_init=5000000.0 is not a number of at least 0.1 and at most 1e"),
        ("max_df", 0.5, "max_df=0.5 is not a number of at least 1"),
        ("covariance_type", "banana", "covariance_type='banana' is unknown"),
    ],
)
def test_settings_that_make_no_sense_are_named(setting, value, message):
    with pytest.raises(ValueError, match=message):
        StudentTMixture(**{setting: value}).fit(heavy_rows())


def test_a_level_is_a_share():
    mixture = StudentTMixture().fit(heavy_rows())
    with pytest.raises(ValueError, match=r"level=1\.5 is not a number of at least 0 and at most 1"):
        mixture.outliers(heavy_rows(), 1.5)


def test_columns_are_predicted_but_not_conditioned(rng):
    x = rng.standard_t(5, size=400)
    mixture = StudentTMixture(1, random_state=0).fit(np.column_stack([x, 2 * x + 0.1 * rng.standard_t(5, size=400)]))
    np.testing.assert_allclose(mixture.predict_given([[1.0], [-3.0]], target=1), [2.0, -6.0], atol=0.1)
    with pytest.raises(NotImplementedError, match="use predict_given for means"):
        mixture.condition([[1.0]], target=1)


def test_classes_in_another_order_keep_their_degrees_of_freedom(rng):
    X = np.vstack([rng.standard_t(2, size=(300, 2)), rng.normal(size=(300, 2)) + 20])
    mixture = StudentTMixture(2, max_df=100, random_state=0).fit(X)
    model, params = mixture._model(), mixture._params()
    turned = model.permute(params, np.array([1, 0]))
    np.testing.assert_array_equal(turned.components.df, params.components.df[::-1])


def test_row_weights_are_those_of_the_e_step(rng):
    X = with_missing(heavy_rows())
    X[0] = np.nan
    mixture = StudentTMixture(1, df=4.0).fit(X)
    weight = mixture.row_weights(X)
    assert weight[0] == pytest.approx(1.0)
    for i in (1, 2, 3):
        seen = ~np.isnan(X[i])
        z = X[i, seen] - mixture.means_[0, seen]
        square = z @ np.linalg.solve(mixture.scales_[0][np.ix_(seen, seen)], z)
        assert weight[i] == pytest.approx((4.0 + seen.sum()) / (4.0 + square), rel=1e-8)
    order = np.argsort(mixture.outlier_scores(X[1:]))
    complete = ~np.isnan(X[1:]).any(axis=1)[order]
    assert (np.diff(weight[1:][order][complete]) <= 1e-9).all()
