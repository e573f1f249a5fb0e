"""BayesianGaussianMixture: against exact evidence, scikit-learn, direct formulas and itself."""

import re
import warnings

import numpy as np
import pytest
from scipy.special import betaln, logsumexp, multigammaln
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture as SklearnMixture

import tacit
from tacit.mixture import BayesianGaussianMixture, GaussianMixture

from ..zoo import gaussian_rows, some, with_missing

KINDS = ["full", "tied", "diag", "spherical"]
PRIORS = ["dirichlet_process", "dirichlet_distribution"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def clusters(n=600, seed=0):
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n)
    return rng.normal(size=(n, 2)) + np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 7.0]])[classes], classes


# The bound


@pytest.mark.parametrize("prior", PRIORS)
def test_one_component_reaches_the_exact_evidence(prior):
    X = gaussian_rows()
    (n, d), degrees, gamma = X.shape, 6.0, 0.7
    mixture = BayesianGaussianMixture(
        weight_concentration_prior_type=prior, weight_concentration_prior=gamma, mean_precision_prior=0.3,
        mean_prior=np.ones(d), degrees_of_freedom_prior=degrees, covariance_prior=2.0 * np.eye(d), tol=1e-9,
    ).fit(X)  # fmt: skip
    scatter = 2.0 * np.eye(d) + n * np.cov(X.T, bias=True)
    scatter += 0.3 * n / (0.3 + n) * np.outer(X.mean(axis=0) - 1, X.mean(axis=0) - 1)
    evidence = multigammaln((degrees + n) / 2, d) - multigammaln(degrees / 2, d) - 0.5 * n * d * np.log(np.pi)
    evidence += 0.5 * degrees * d * np.log(2.0) - 0.5 * (degrees + n) * np.linalg.slogdet(scatter)[1]
    evidence += 0.5 * d * np.log(0.3 / (0.3 + n))
    if prior == "dirichlet_process":  # all rows took the first stick
        evidence += betaln(1 + n, gamma) - betaln(1, gamma)
    assert mixture.lower_bound_ == pytest.approx(evidence, rel=1e-12)
    np.testing.assert_allclose(mixture.covariances_[0], scatter / (degrees + n), rtol=1e-10)


@pytest.mark.parametrize("holes", some([0.0, 0.3], [0.3]))
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_never_falls(kind, prior, holes):
    X = with_missing(gaussian_rows(), holes) if holes else gaussian_rows()
    rng = np.random.default_rng(4)
    weight, labels = rng.uniform(0.3, 2.0, len(X)), np.where(rng.random(len(X)) < 0.1, rng.integers(6, size=len(X)), -1)
    for accelerate in (None, "anderson"):
        for n_components in (2, 6):
            mixture = BayesianGaussianMixture(
                n_components, covariance_type=kind, weight_concentration_prior_type=prior, tol=0.0, max_iter=40,
                init_params="random", accelerate=accelerate, random_state=0,
            )  # fmt: skip
            for rows in ({}, {"sample_weight": weight, "y": np.minimum(labels, n_components - 1)}):
                gains = np.diff(mixture.fit(X, **rows).lower_bounds_)
                assert gains.min() >= -1e-11 * abs(mixture.lower_bound_)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_stays_below_the_evidence_of_what_is_observed(kind):
    # With one column, the evidence of the observed cells is that of the rows that have one.
    x = gaussian_rows(60, 1, 1)
    settings = {"covariance_type": kind, "mean_prior": [0.0], "tol": 1e-10, "max_iter": 500}
    settings["covariance_prior"] = {"full": [[1.0]], "tied": [[1.0]], "diag": [1.0], "spherical": 1.0}[kind]
    gone = np.where(np.arange(60)[:, None] % 3 == 0, np.nan, x)
    bound = BayesianGaussianMixture(weight_concentration_prior=1e-9, **settings).fit(gone).lower_bound_
    exact = (
        BayesianGaussianMixture(weight_concentration_prior=1e-9, **settings).fit(x[np.arange(60) % 3 != 0]).lower_bound_
    )
    assert exact - 2.0 < bound <= exact + 1e-9


# Against scikit-learn


# The bound before the other's parameters were put in has nothing to do with the one after.
FOREIGN = pytest.mark.filterwarnings("ignore:the objective of VariationalMixture fell:RuntimeWarning")


@FOREIGN
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_those_of_sklearn(kind, prior):
    X = gaussian_rows()
    settings = {
        "n_components": 5, "covariance_type": kind, "weight_concentration_prior_type": prior, "tol": 0.0,
        "reg_covar": 1e-14, "warm_start": True, "random_state": 0, "weight_concentration_prior": 0.3,
        "mean_precision_prior": 0.7,
    }  # fmt: skip
    theirs = SklearnMixture(max_iter=1, **settings).fit(X)
    ours = BayesianGaussianMixture(max_iter=1, accelerate=None, **settings).fit(X)
    names = ["weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "mean_precision_"]
    names += ["weight_concentration_", "degrees_of_freedom_", "mean_prior_", "covariance_prior_"]
    for name in names:
        setattr(ours, name, getattr(theirs, name))
    ours.set_params(max_iter=7).fit(X)
    theirs.set_params(max_iter=7).fit(X)
    for name in names:
        found, expected = getattr(ours, name), getattr(theirs, name)
        assert np.shape(found) == np.shape(expected), name
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9, err_msg=name)
    for method in ("score_samples", "predict_proba", "predict"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-7, atol=1e-9)


def continued(theirs, X, **settings):
    """Ours, gone on from where scikit-learn's stopped."""
    ours = BayesianGaussianMixture(max_iter=1, warm_start=True, **settings).fit(X)
    for name in (
        "weights_",
        "means_",
        "covariances_",
        "mean_precision_",
        "weight_concentration_",
        "degrees_of_freedom_",
    ):
        setattr(ours, name, getattr(theirs, name))
    return ours.fit(X)


@FOREIGN
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_differ_from_those_of_sklearn_by_a_constant(kind, prior):
    scatter = {"full": np.eye(4), "tied": np.eye(4), "diag": np.ones(4), "spherical": 1.0}[kind]
    settings = {
        "n_components": 3, "covariance_type": kind, "weight_concentration_prior_type": prior, "reg_covar": 1e-14,
        "mean_prior": np.zeros(4), "covariance_prior": scatter,
    }  # fmt: skip
    bounds = []
    for X in (gaussian_rows(seed=0), gaussian_rows(seed=1)):
        theirs = SklearnMixture(max_iter=600, tol=1e-7, random_state=0, **settings).fit(X)
        bounds.append((continued(theirs, X, **settings).lower_bound_, float(np.squeeze(theirs.lower_bound_))))
    (ours, theirs), (more, most) = bounds
    assert abs(theirs - most) > 10.0
    assert ours - theirs == pytest.approx(more - most, abs=1e-4)


@pytest.mark.parametrize("prior", PRIORS)
def test_bounds_are_higher_than_those_of_sklearn(prior):
    X, _ = clusters(700)
    settings = {"n_components": 10, "weight_concentration_prior_type": prior, "random_state": 0}
    ours, theirs = BayesianGaussianMixture(**settings).fit(X), SklearnMixture(**settings).fit(X)
    assert ours.lower_bound_ > continued(theirs, X, **settings).lower_bound_ - 1e-3


# What is learned


@pytest.mark.parametrize("holes", [0.0, 0.15], ids=["complete", "holes"])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", KINDS)
def test_surplus_components_vanish(kind, prior, holes):
    rows, classes = clusters()
    X = with_missing(rows, holes) if holes else rows
    mixture = BayesianGaussianMixture(
        10, covariance_type=kind, weight_concentration_prior_type=prior, random_state=0
    ).fit(X)  # fmt: skip
    weight = np.sort(mixture.weights_)
    np.testing.assert_allclose(weight[-3:], np.sort(np.bincount(classes)) / len(X), atol=0.03)
    assert weight[:-3].max() < 0.01
    assert adjusted_rand_score(classes, mixture.predict(rows)) > 0.95
    assert mixture.converged_


@pytest.mark.parametrize("kind", KINDS)
def test_missing_cells_follow_the_formulas(kind):
    X = with_missing(gaussian_rows(), 0.3)
    X[7] = np.nan
    mixture = BayesianGaussianMixture(4, covariance_type=kind, parameter_draws=0, random_state=0).fit(X)
    log_weight, components = mixture.fit_.params.log_weight, mixture.fit_.params.components
    for x, score, resp, filled in zip(X, mixture.score_samples(X), mixture.predict_proba(X), mixture.impute(X)):
        o, m = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
        joint, means = log_weight.copy(), []
        for k, (mean, covariance) in enumerate(zip(components.mean, components.dense)):
            if len(o):
                joint[k] += multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(x[o])
            gain = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
            means.append(mean[m] + gain @ (x[o] - mean[o]))
        assert score == pytest.approx(logsumexp(joint), abs=1e-9)
        np.testing.assert_allclose(resp, np.exp(joint - logsumexp(joint)), atol=1e-9)
        np.testing.assert_allclose(filled[m], resp @ np.array(means), rtol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_two_is_the_row_given_twice(kind):
    X = with_missing(gaussian_rows(), 0.1)
    settings = {"covariance_type": kind, "random_state": 0, "tol": 1e-7, "max_iter": 400}
    one = BayesianGaussianMixture(4, **settings).fit(X, sample_weight=np.full(len(X), 2.0))
    other = BayesianGaussianMixture(4, **settings).fit(np.vstack([X, X]))
    assert one.lower_bound_ == pytest.approx(other.lower_bound_, rel=1e-8)
    np.testing.assert_allclose(np.sort(one.weights_), np.sort(other.weights_), atol=1e-5)
    np.testing.assert_allclose(one.covariance_prior_, other.covariance_prior_, rtol=1e-9)


def test_default_priors_integrate_missing_cells_out():
    X = with_missing(gaussian_rows(), 0.2)
    n = len(X)
    mixture = BayesianGaussianMixture(random_state=0).fit(X)
    gaussian = GaussianMixture(tol=1e-10, max_iter=500).fit(X)
    np.testing.assert_allclose(mixture.mean_prior_, gaussian.means_[0], atol=1e-3)
    np.testing.assert_allclose(mixture.covariance_prior_, gaussian.covariances_[0] * n / (n - 1), rtol=1e-2, atol=1e-2)
    mixture.set_params(covariance_type="diag").fit(X)
    np.testing.assert_allclose(mixture.mean_prior_, np.nanmean(X, axis=0))
    np.testing.assert_allclose(mixture.covariance_prior_, np.nanvar(X, axis=0) * n / (n - 1))


def test_labels_do_not_enter_the_prior():
    X, classes = clusters()
    y = np.where(np.arange(len(X)) < 30, classes, -1)
    mixture = BayesianGaussianMixture(6, random_state=0).fit(X, y)
    np.testing.assert_allclose(mixture.mean_prior_, X.mean(axis=0))
    assert (mixture.predict(X) == classes).mean() > 0.98


def test_batches_weigh_against_the_prior_with_all_rows_seen():
    X, classes = clusters(3000)
    mixture = BayesianGaussianMixture(5, random_state=0)
    for batch in np.array_split(X, 10):
        mixture.partial_fit(batch)
    assert mixture.mean_precision_.sum() == pytest.approx(len(X) + 5, rel=1e-9)
    assert adjusted_rand_score(classes, mixture.predict(X)) > 0.95
    online = BayesianGaussianMixture(5, random_state=0).fit(X, online=True)
    assert online.lower_bound_ == pytest.approx(BayesianGaussianMixture(5, random_state=0).fit(X).lower_bound_, abs=0.1)


def test_a_fit_goes_on_after_saving(tmp_path):
    X, _ = clusters()
    mixture = BayesianGaussianMixture(4, random_state=0).fit(X[:300])
    tacit.save(mixture, tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    np.testing.assert_array_equal(again.mean_prior_, mixture.mean_prior_)
    for part in (mixture, again):
        part.partial_fit(X[300:])
    np.testing.assert_array_equal(again.means_, mixture.means_)
    np.testing.assert_array_equal(again.mean_precision_, mixture.mean_precision_)


def test_a_checkpoint_is_removed_and_changes_nothing(tmp_path):
    X, _ = clusters()
    plain = BayesianGaussianMixture(4, random_state=0).fit(X)
    kept = BayesianGaussianMixture(4, random_state=0).fit(X, checkpoint=tmp_path / "state", checkpoint_every=0.0)
    np.testing.assert_array_equal(kept.means_, plain.means_)
    assert not (tmp_path / "state").exists()


def test_samples_come_from_the_expected_parameters():
    X, _ = clusters()
    mixture = BayesianGaussianMixture(6, random_state=0).fit(X)
    rows, labels = mixture.sample(4000)
    np.testing.assert_allclose(np.bincount(labels, minlength=6) / 4000, mixture.weights_, atol=0.03)
    np.testing.assert_allclose(rows.mean(axis=0), mixture.weights_ @ mixture.means_, atol=0.2)


def test_float32_keeps_its_precision():
    X = clusters()[0]
    narrow = BayesianGaussianMixture(4, random_state=0).fit(X.astype(np.float32))
    wide = BayesianGaussianMixture(4, random_state=0).fit(X)
    assert narrow.means_.dtype == narrow.mean_precision_.dtype == narrow.weight_concentration_[0].dtype == np.float32
    assert narrow.lower_bound_ == pytest.approx(wide.lower_bound_, rel=1e-4)


def test_constant_columns_are_no_obstacle():
    X = np.column_stack([clusters()[0], np.full(600, 3.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        mixture = BayesianGaussianMixture(5, random_state=0).fit(X)
    assert np.isfinite(mixture.lower_bound_)
    np.testing.assert_allclose(mixture.means_[:, 2], 3.0)


# Bad input


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight_concentration_prior": 0.0}, "weight_concentration_prior=0.0 is not a number above 0."),
        ({"mean_precision_prior": -1}, "mean_precision_prior=-1 is not a number above 0."),
        ({"degrees_of_freedom_prior": "3"}, "degrees_of_freedom_prior='3' is not a number above 0."),
        ({"degrees_of_freedom_prior": 1.0}, "'degrees_of_freedom_prior' should be greater than 1, but got 1.000."),
        ({"weight_concentration_prior_type": "process"}, "weight_concentration_prior_type='process' is unknown"),
        (
            {"covariance_type": "round"},
            "covariance_type='round' is unknown; use one of 'full', 'tied', 'diag', 'spherical'",
        ),
        ({"mean_prior": [1.0]}, "The parameter 'means' should have the shape of (2,), but got (1,)"),
        ({"covariance_prior": np.eye(3)}, "'full covariance_prior' should have the shape of (2, 2), but got (3, 3)"),
        ({"covariance_prior": [[1.0, 0.5], [0.0, 1.0]]}, "covariance_prior is not symmetric"),
        ({"covariance_prior": np.diag([1.0, -2.0])}, "covariance_prior is not positive: its least eigenvalue is -2."),
        ({"covariance_type": "diag", "covariance_prior": [1.0, 0.0]}, "not positive: its least variance is 0."),
        ({"covariance_type": "spherical", "covariance_prior": -3.0}, "covariance_prior=-3.0 is not a number above 0."),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        BayesianGaussianMixture(2, **settings).fit(clusters()[0])
