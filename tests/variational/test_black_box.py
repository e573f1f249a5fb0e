"""The Gaussian near a posterior: its bound is below the evidence, which conjugate models know, and near it."""

import numpy as np
import pytest

from tacit.families import (
    Bernoulli,
    BetaPrior,
    Categorical,
    DirichletPrior,
    FullGaussian,
    GammaPrior,
    NormalInverseWishart,
    Poisson,
)
from tacit.mixture import GaussianMixture, Mixture
from tacit.variational import variational_posterior

RNG = np.random.default_rng(0)
WISHART = NormalInverseWishart([0.0, 0.0], 0.1, 5.0, np.eye(2) * 3.0)
CASES = {
    "gaussian": (FullGaussian(), WISHART, RNG.normal(5.0, 2.0, size=(30, 2))),
    "bernoulli": (Bernoulli(), BetaPrior(2.0, 3.0), RNG.integers(0, 2, (25, 3)).astype(float)),
    "poisson": (Poisson(), GammaPrior(2.0, 0.5), RNG.poisson(3.0, (25, 2)).astype(float)),
    "categorical": (Categorical([3]), DirichletPrior(1.0), RNG.integers(0, 3, (25, 1)).astype(float)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_bound_is_below_the_evidence_and_near_it(name):
    family, prior, X = CASES[name]
    evidence = family.log_marginal(X, prior)
    fitted = Mixture(1, family=family.with_prior(prior), random_state=0).fit(X)
    found = {kind: variational_posterior(fitted, X, kind=kind, random_state=0) for kind in ("full_rank", "mean_field")}
    for each in found.values():
        assert each.bound < evidence + 4 * each.bound_error
        assert each.log_evidence == pytest.approx(evidence, abs=0.15)
        assert each.efficiency > 0.5
        assert not any(note.code == "khat" for note in each.notes)
    assert found["full_rank"].bound == pytest.approx(evidence, abs=0.3)
    assert found["mean_field"].bound < found["full_rank"].bound + 3 * found["full_rank"].bound_error


def test_means_and_deviations_are_those_of_the_posterior():
    _, prior, X = CASES["gaussian"]
    found = variational_posterior(GaussianMixture(component_prior=prior).fit(X), X, n_draws=4000, random_state=0)
    posterior = FullGaussian().posterior(X, prior)
    told, sd = found.interval("means_"), np.sqrt(posterior.variance.mean)
    np.testing.assert_allclose(told.mean[0], posterior.expectation.mean, atol=0.1 * sd.min())
    np.testing.assert_allclose(told.sd[0], sd, rtol=0.1)
    assert len(found) == 4000
    assert found.summary("means_")["r_hat"].max() < 1.02  # draws are independent


def test_mixtures_keep_the_order_of_their_classes_and_a_poor_fit_is_told():
    x = np.random.default_rng(1).normal(size=(12, 1))
    fitted = GaussianMixture(2, component_prior="default", random_state=0).fit(x)
    found = variational_posterior(fitted, x, kind="mean_field", random_state=0)
    assert any(note.code == "khat" for note in found.notes) == (found.khat > 0.7 and found.efficiency < 0.5)
    apart = np.concatenate([x, x + 20.0])
    fitted = GaussianMixture(2, component_prior="default", random_state=0).fit(apart)
    found = variational_posterior(fitted, apart, random_state=0)
    assert found.n_switched == 0
    assert (np.sign(np.diff(found.draws("means_")[:, :, 0])) == np.sign(np.diff(fitted.means_[:, 0]))).all()


def test_faults_are_told():
    X = CASES["gaussian"][2]
    with pytest.raises(ValueError, match="GaussianMixture has no prior on 5 of its 5 parameters"):
        variational_posterior(GaussianMixture().fit(X), X)
    with pytest.raises(ValueError, match="kind"):
        variational_posterior(GaussianMixture(component_prior=WISHART).fit(X), X, kind="full")
    with pytest.raises(TypeError, match=r"sample_posterior takes estimators .* but got int"):
        variational_posterior(3, X)


def test_faults_of_a_logistic_regression_are_told():
    from tacit.linear_model import LogisticRegression

    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.array(["a", "b"])[(X[:, 0] > 0).astype(int)]
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="n_draws=5 is not a whole number of at least 10"):
        variational_posterior(model, X, y, n_draws=5)
    with pytest.raises(ValueError, match=r"y holds the classes \['c'\], but the fit saw \['a', 'b'\]"):
        variational_posterior(model, X, ["c"] * 30)
    found = variational_posterior(model, X, y, n_draws=20, random_state=0)
    assert repr(found) == "VariationalPosterior(LogisticRegression, 4 chains of 5 draws)"
    with pytest.raises(TypeError, match=r"LogisticRegression tells of targets and draws no rows; use interval\("):
        found.predictive(3)
