"""Posteriors of fitted estimators: exact ones where known, calibration by simulation, labels, predictions, and faults."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from tacit.cluster import KMeans
from tacit.factor import FactorAnalysis, ProbabilisticPCA
from tacit.families import (
    Bernoulli,
    BetaPrior,
    FullGaussian,
    GammaPrior,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    VonMises,
    default_prior,
)
from tacit.graph import BeliefNetwork
from tacit.linear_model import LogisticRegression
from tacit.mixture import BayesianGaussianMixture, GaussianMixture, Mixture
from tacit.sampling import sample_posterior
from tacit.sequence import HiddenMarkovModel

RNG = np.random.default_rng(0)
QUICK = {"n_draws": 250, "n_warmup": 150, "n_chains": 2, "random_state": 0}


def near(draws, mean, sd, tol=0.15):
    """Draws have a known mean and deviation, within a tolerance in deviations."""
    np.testing.assert_allclose((draws.mean(axis=0) - mean) / sd, 0.0, atol=tol)
    np.testing.assert_allclose(draws.std(axis=0) / sd, 1.0, atol=tol)


def test_a_gaussian_with_a_conjugate_prior_has_the_posterior_that_is_known():
    prior = NormalInverseWishart([1.0, 0.0], 0.5, 6.0, [[3.0, 1.0], [1.0, 2.0]])
    X = RNG.multivariate_normal([5.0, 1.0], [[2.0, -1.0], [-1.0, 1.0]], size=30)
    posterior = FullGaussian().posterior(X, prior)
    found = sample_posterior(
        GaussianMixture(component_prior=prior).fit(X), X, n_draws=500, n_warmup=150, n_chains=2, random_state=0
    )
    near(found.draws("means_")[:, 0], posterior.expectation.mean, np.sqrt(posterior.variance.mean))
    near(found.draws("covariances_")[:, 0], posterior.expectation.covariance, np.sqrt(posterior.variance.covariance))
    interval = found.interval(lambda m: m.means_[0, 0] - m.means_[0, 1], level=0.9)
    assert interval.low < 4.0 < interval.high
    assert found.summary("means_")["r_hat"].max() < 1.03
    assert found.to_arviz().posterior["means_"].shape == (2, 500, 1, 2)
    # Rows to come are those of the Student t that is their exact distribution.
    rows = found.predictive(1000, random_state=0)[:, 0]
    exact = posterior.predictive()
    np.testing.assert_allclose(rows.mean(axis=0), exact.mean, atol=0.2)
    assert (
        0.85
        < rows.std()
        / np.sqrt(np.mean(np.diag(posterior.expectation.covariance)) + posterior.expectation.mean.std() ** 2)
        < 1.25
    )


def test_counts_and_chances_have_the_posteriors_that_are_known():
    counts, bits = RNG.poisson(3.0, (20, 1)).astype(float), RNG.integers(0, 2, (20, 1)).astype(float)
    for family, prior, X, name in (
        (Poisson, GammaPrior(2.0, 0.5), counts, "rate of 0"), (Bernoulli, BetaPrior(2.0, 3.0), bits, "probability of 0"),
    ):  # fmt: skip
        posterior = family().posterior(X, prior)
        found = sample_posterior(Mixture(1, family=family(prior=prior)).fit(X), X, **QUICK | {"n_draws": 600})
        assert name in found.chains.draws
        near(found.draws(name), posterior.mean, np.sqrt(posterior.variance))


def test_a_random_walk_and_no_u_turns_draw_from_the_same_posterior():
    X = RNG.poisson(3.0, (20, 1)).astype(float)
    fitted = Mixture(1, family=Poisson(prior=GammaPrior(2.0, 0.5))).fit(X)
    found = sample_posterior(fitted, X, sampler="metropolis", n_draws=4000, n_warmup=1000, n_chains=2, random_state=0)
    posterior = Poisson().posterior(X, GammaPrior(2.0, 0.5))
    near(found.draws("rate of 0"), posterior.mean, np.sqrt(posterior.variance))
    assert any(note.code == "random_walk" for note in found.notes)


def ranks_of(model, seed):
    """Ranks of true quantities among draws, for a parameter drawn from the prior and rows drawn given it."""
    rng = np.random.default_rng(seed)
    fitted, data, truth, quantity = model(rng)
    found = sample_posterior(fitted, *data, n_draws=126, n_warmup=80, n_chains=1, random_state=seed)
    draws = found.draws(quantity)[1::2]
    return (draws < truth).sum(axis=0)  # 0 to 63


def gaussian(rng):
    prior = NormalInverseGamma(1.0, 0.5, 3.0, 2.0)
    variance = 2.0 / rng.gamma(3.0)
    mean = rng.normal(1.0, np.sqrt(variance / 0.5))
    X = rng.normal(mean, np.sqrt(variance), size=(20, 1))
    X[:3] = np.nan if rng.random() < 0.5 else X[:3]
    fitted = GaussianMixture(component_prior=prior, covariance_type="diag").fit(X)
    return fitted, (X,), [mean, variance], lambda m: [m.means_[0, 0], m.covariances_[0, 0]]


def logistic(rng):
    coef, X = rng.normal(size=2), rng.normal(size=(25, 2))
    y = (rng.random(25) < 1.0 / (1.0 + np.exp(-X @ coef))).astype(int)
    y[:2] = 0, 1 if len(set(y)) < 2 else y[1]
    return LogisticRegression(fit_intercept=False).fit(X, y), (X, y), coef, "coef_"


def counts(rng):
    """Two Poisson classes, told by what does not depend on their order."""
    rate, share = rng.gamma(3.0, 2.0, size=2), rng.beta(2.0, 2.0)
    X = rng.poisson(rate[(rng.random(30) > share).astype(int)])[:, None].astype(float)
    fitted = Mixture(2, family=Poisson(prior=GammaPrior(3.0, 0.5)), weight_prior=2.0, random_state=0).fit(X)

    def told(weight, rate):
        return [rate.min(), rate.max(), weight @ rate]

    return (
        fitted,
        (X,),
        told(np.array([share, 1 - share]), rate),
        lambda m: told(m.weights_, m.params_.components.parts[0].rate[:, 0]),
    )


def check_calibration(model, n):
    ranks = np.array([ranks_of(model, seed).ravel() for seed in range(n)])
    for column in ranks.T:
        told = chisquare(np.bincount(column * 8 // 64, minlength=8))
        assert told.pvalue > 1e-3, (model.__name__, np.bincount(column * 8 // 64, minlength=8))
    return ranks


def test_ranks_are_uniform_so_that_intervals_hold_at_twenty_rows():
    ranks = check_calibration(gaussian, 60)
    inside = ((ranks >= 3) & (ranks <= 60)).mean()  # central intervals of 58/64 of the draws
    assert 0.84 < inside < 0.97


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [gaussian, logistic, counts])
def test_ranks_are_uniform(model):
    ranks = check_calibration(model, 300)
    assert ((ranks >= 3) & (ranks <= 60)).mean() == pytest.approx(58 / 64, abs=0.025)


@pytest.mark.filterwarnings("ignore")
def test_classes_are_numbered_as_in_the_fit():
    # Two classes that hardly differ: chains pass from one order to the other.
    X = np.random.default_rng(2).normal(np.repeat([0.0, 1.5], 10)[:, None], 1.0)
    fitted = GaussianMixture(2, component_prior="default", covariance_type="tied", random_state=0).fit(X)
    found = sample_posterior(fitted, X, **QUICK)
    assert found.n_switched > 0
    assert any(note.code == "switched" for note in found.notes)
    low = int(np.argmin(fitted.means_[:, 0]))
    means = found.draws("means_")[:, :, 0]
    assert means[:, low].mean() < means[:, 1 - low].mean()
    assert (means[:, low] < means[:, 1 - low]).mean() > 0.9
    parts = [m.predict_proba(X)[:, 0].mean() for m in found.each(5)]
    assert len(parts) == 5


MODELS = {
    "hidden Markov model": lambda X: HiddenMarkovModel(
        2, family=FullGaussian(prior=default_prior(X, 2)), transition_prior=2.0, random_state=0
    ),
    "noise": lambda X: GaussianMixture(2, component_prior="default", noise=True, random_state=0),
    "spherical": lambda X: GaussianMixture(2, component_prior="default", covariance_type="spherical", random_state=0),
    "table": lambda X: Mixture(2, family=FullGaussian(prior=default_prior(X, 2)), random_state=0),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_every_model_with_a_prior_is_drawn_about_its_fit(name):
    rng = np.random.default_rng(0)
    X = rng.normal(np.repeat([[0.0, 0.0], [6.0, 3.0]], 25, axis=0), 1.0)
    X[rng.random(X.shape) < 0.1] = np.nan
    fitted = MODELS[name](X).fit(X)
    found = sample_posterior(fitted, X, n_draws=100, n_warmup=60, n_chains=2, random_state=0)
    inside = []
    for name, value in found.chains.draws.items():
        flat = value.reshape(200, *value.shape[2:])
        low, high = np.quantile(flat, [0.0005, 0.9995], axis=0)
        fit = getattr(fitted, name, None)
        inside += [] if fit is None else ((fit >= low - 1e-9) & (fit <= high + 1e-9)).ravel().tolist()
    assert np.mean(inside) > 0.7  # modes of chances may be 0 or 1, where no draw is
    assert found.predictive(4, 3, random_state=0).shape == (4, 3, 2)
    assert np.isfinite(found.chains.statistics["lp"]).all()


def test_models_without_a_prior_take_the_weak_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) @ rng.normal(size=(1, 4)) + 0.5 * rng.normal(size=(60, 4))
    for fitted in (ProbabilisticPCA(1).fit(X), FactorAnalysis(1).fit(X)):
        with pytest.raises(ValueError, match=r"has no prior on .* of its .* parameters, so that it has no posterior"):
            sample_posterior(fitted, X)
        found = sample_posterior(fitted, X, prior="weak", **QUICK | {"n_draws": 120})
        assert found.notes[0].code == "weak_prior"
        noise = found.interval(lambda m: m.noise_variance_)
        assert ((noise.low < fitted.noise_variance_) & (fitted.noise_variance_ < noise.high)).all()
        # Axes have no sign of their own; they are turned to those of the fit.
        axes = found.draws("components_")[:, 0]
        assert (axes @ fitted.components_[0] > 0).all()


def test_gradients_by_differences_where_statistics_do_not_give_them():
    X = np.random.default_rng(0).normal(12.0, 3.0, size=(80, 1))
    found = sample_posterior(
        Mixture(1, family=VonMises(24)).fit(X), X, prior="weak", n_draws=80, n_warmup=80, n_chains=1, random_state=0
    )
    assert any(note.code == "differences" for note in found.notes)
    assert abs(found.draws("direction of 0").mean() - 12.0) < 1.0


def test_a_logistic_regression_and_a_belief_network():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.where(X @ [1.0, -2.0] + rng.logistic(size=150) > 0, "yes", "no")
    fitted = LogisticRegression(C=10.0).fit(X, y)
    found = sample_posterior(fitted, X, y, **QUICK)
    rows = np.column_stack([X, np.ones(150)])
    curvature = (rows.T * fitted.predict_proba(X).prod(axis=1)) @ rows + np.diag([0.1, 0.1, 0.0])
    spread = np.sqrt(np.diag(np.linalg.inv(curvature)))[:2]
    np.testing.assert_allclose(found.draws("coef_")[:, 0].std(axis=0), spread, rtol=0.15)
    chance = found.interval(lambda m: m.predict_proba([[0.3, 0.1]])[:, 1])
    assert 0 < chance.low[0] < chance.mean[0] < chance.high[0] < 1
    with pytest.raises(ValueError, match="y holds the classes"):
        sample_posterior(fitted, X, np.where(y == "yes", "ja", "no"))

    a = rng.integers(0, 2, 60)
    table = pd.DataFrame({"a": a, "b": a ^ (rng.random(60) < 0.25)}).astype(str)
    network = BeliefNetwork([("a", "b")], prior=1.0).fit(table)
    found = sample_posterior(network, table, **QUICK)
    draws = found.draws("P(b | a)")
    counts = pd.crosstab(table["a"], table["b"]).to_numpy() + 2.0  # Dirichlet(1 + 1)
    total = counts.sum(axis=1, keepdims=True)
    mean = counts / total
    near(draws, mean, np.sqrt(mean * (1 - mean) / (total + 1)), 0.2)


def test_weights_count_as_rows():
    X = np.random.default_rng(0).poisson(3.0, (10, 1)).astype(float)
    fitted = Mixture(1, family=Poisson(prior=GammaPrior(2.0, 0.5))).fit(X)
    found = sample_posterior(fitted, X, sample_weight=np.full(10, 4.0), **QUICK | {"n_draws": 400})
    posterior = Poisson().posterior(np.tile(X, (4, 1)), GammaPrior(2.0, 0.5))
    near(found.draws("rate of 0"), posterior.mean, np.sqrt(posterior.variance), 0.2)


def test_the_same_seed_gives_the_same_draws():
    X = np.random.default_rng(0).poisson(3.0, (10, 1)).astype(float)
    fitted = Mixture(1, family=Poisson(prior=GammaPrior(2.0, 0.5))).fit(X)
    how = {"n_draws": 30, "n_warmup": 30, "n_chains": 2, "random_state": 3}
    one, other = (sample_posterior(fitted, X, **how).draws("rate of 0") for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert (
        fitted.params_.components.parts[0].rate
        == Mixture(1, family=Poisson(prior=GammaPrior(2.0, 0.5))).fit(X).params_.components.parts[0].rate
    ).all()


PRIOR = NormalInverseWishart([0.0], 1.0, 3.0, [[1.0]])
X1 = np.random.default_rng(0).normal(size=(30, 1))
X2 = np.hstack([X1, X1**2])


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: sample_posterior(GaussianMixture(2), X1), ValueError, "not fitted"),
        (lambda: sample_posterior(GaussianMixture().fit(X1), X1), ValueError,
         r"GaussianMixture has no prior on 2 of its 2 parameters, .*fit it with component_prior='default', or use prior='weak'"),
        (lambda: sample_posterior(GaussianMixture(component_prior=PRIOR).fit(X1), X1, n_draws=0), ValueError, "n_draws"),
        (lambda: sample_posterior(GaussianMixture(component_prior=PRIOR).fit(X1), X1, prior="strong"), ValueError, "prior"),
        (lambda: sample_posterior(KMeans(2).fit(X1), X1), TypeError, "posterior of KMeans cannot be sampled"),
        (lambda: sample_posterior(BayesianGaussianMixture(2).fit(X1), X1), TypeError, "are the posterior already"),
        (lambda: sample_posterior(GaussianMixture(2, covariance_type="VEV").fit(X2), X2), TypeError,
         "structure VEV have no coordinates"),
        (lambda: sample_posterior(GaussianMixture(component_prior=PRIOR).fit(X1), np.hstack([X1, X1])), ValueError, "2 features"),
        (lambda: sample_posterior(GaussianMixture(component_prior=PRIOR).fit(X1), X1, n_draws=9, n_warmup=9).interval("means"),
         ValueError, "quantity='means' is unknown"),
        (lambda: sample_posterior(object(), X1), TypeError, "takes estimators that are learned by likelihood"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_faults_are_told(call, error, told):
    with pytest.raises(error, match=told):
        call()


@pytest.mark.filterwarnings("ignore")
def test_a_collapsed_component_is_refused():
    X = np.concatenate([X1, np.full((6, 1), 9.0)])
    fitted = GaussianMixture(2, random_state=0).fit(X)
    assert fitted._model().collapsed(fitted._params())
    with pytest.raises(ValueError, match=r"component .* collapsed onto a few rows.*component_prior='default'"):
        sample_posterior(fitted, X, prior="weak")


def test_rows_without_any_cell_leave_the_prior():
    prior = NormalInverseGamma(1.0, 2.0, 4.0, 3.0)
    fitted = GaussianMixture(component_prior=prior, covariance_type="diag").fit(X1)
    found = sample_posterior(fitted, np.full((5, 1), np.nan), n_draws=600, n_warmup=200, n_chains=2, random_state=0)
    variance = prior.expectation.variance / 2.0
    near(found.draws("means_")[:, 0], prior.mean, np.sqrt(variance), 0.25)
