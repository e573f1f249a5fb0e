"""Parameters that few rows leave uncertain: draws against posteriors in closed form, and intervals that cover."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine

import tacit
from tacit.base.augmentation import draw_parameters
from tacit.families import (
    Bernoulli,
    BetaPrior,
    Categorical,
    DiagonalGaussian,
    FullGaussian,
    GammaPrior,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    Product,
    StudentT,
    TiedGaussian,
)
from tacit.impute import GaussianImputer
from tacit.mixture import BayesianGaussianMixture, GaussianMixture, Mixture, MixtureModel, StudentTMixture
from tacit.source import Block

from ..zoo import some

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:component")


def drawn(family, X, n_draws=4000):
    """Draws of the parameters of one class, given complete rows."""
    model, block = MixtureModel(family, 1), Block.of(np.asarray(X, dtype=float))
    start = model.init(block, np.random.default_rng(0))
    return [each.components for each in draw_parameters(model, start, block, n_draws, np.random.default_rng(1))]


def same_moments(values, mean, std):
    """Draws have the moments of a distribution, within four standard errors of the mean, and as close as draws can be told."""
    values, n = np.asarray(values), len(values)
    np.testing.assert_array_less(np.abs(values.mean(axis=0) - mean), 4 * std / np.sqrt(n))
    np.testing.assert_allclose(values.std(axis=0), std, rtol=0.1 if n >= 4000 else 0.15)


def test_draws_under_a_prior_are_its_posterior():
    X = np.random.default_rng(0).normal(size=(12, 2)) @ [[1.0, 0.5], [0.0, 2.0]]
    prior = NormalInverseWishart([0.5, 0.0], 2.0, 8.0, np.eye(2))
    after, found = FullGaussian().posterior(X, prior), drawn(FullGaussian(prior=prior), X)
    same_moments([p.mean[0] for p in found], after.mean, np.sqrt(after.variance.mean))
    expected = after.expectation.covariance
    same_moments([p.covariance[0, 0, 1] for p in found], expected[0, 1], np.sqrt(after.variance.covariance[0, 1]))
    prior = NormalInverseGamma(0.5, 2.0, 3.0, 1.0)
    after, found = DiagonalGaussian().posterior(X, prior), drawn(DiagonalGaussian(prior=prior), X)
    same_moments([p.mean[0] for p in found], after.mean, np.sqrt(after.variance.mean))
    same_moments([p.variance[0] for p in found], after.expectation.variance, np.sqrt(after.variance.variance))
    counts = [[3], [1], [0], [2]]
    after, found = Poisson().posterior(counts, GammaPrior(2, 1)), drawn(Poisson(prior=GammaPrior(2, 1)), counts)
    same_moments([p.rate[0] for p in found], after.mean, np.sqrt(after.variance))
    answers = [[1], [1], [0], [1]]
    after, found = Bernoulli().posterior(answers, BetaPrior(2, 2)), drawn(Bernoulli(prior=BetaPrior(2, 2)), answers)
    same_moments([p.probability[0] for p in found], after.mean, np.sqrt(after.variance))


def test_draws_without_a_prior_are_those_of_a_weak_one():
    levels = [[0], [1], [1], [1]]
    found = np.array([p.probability[0] for p in drawn(Categorical([2]), levels)])
    beta = stats.beta(1.5, 3.5)
    same_moments(found[:, 0], beta.mean(), beta.std())
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    X = np.random.default_rng(0).normal(size=(2000, 3)) @ np.random.default_rng(1).normal(size=(3, 3))
    # With many rows all that is left is the sampling distribution of the mean and the covariance.
    for family in (FullGaussian(), TiedGaussian(), StudentT(df=1e6)):
        found = drawn(family, X, 500)
        covariance = np.cov(X.T)
        same_moments([p.mean[0] for p in found], X.mean(axis=0), np.sqrt(np.diag(covariance) / 2000))
        wishart = np.sqrt((covariance**2 + np.outer(*[np.diag(covariance)] * 2)) / 2000)
        same_moments([p.dense[0] for p in found], covariance, wishart)


@pytest.mark.parametrize("n", [20, 40])
@pytest.mark.parametrize(
    "model",
    some(
        models := {
            "full": GaussianMixture(1), "tied": GaussianMixture(2, covariance_type="tied"),
            "VEV": GaussianMixture(2, covariance_type="VEV"), "student": StudentTMixture(1), "mixture": Mixture(1),
            "bayes": BayesianGaussianMixture(3),
        },
        ["full", "bayes"],
    ),
)  # fmt: skip
def test_intervals_of_few_rows_cover(model, n):
    inside = {0.5: [], 0.9: []}
    for number, table in enumerate((load_wine().data, load_diabetes().data)):
        for seed in range(4):
            rng = np.random.default_rng([number, seed])
            rows = table[rng.permutation(len(table))[:n]]
            hidden = rng.random(rows.shape) < 0.25
            fitted = clone(models[model]).set_params(random_state=0).fit(np.where(hidden, np.nan, rows))
            for level, found in inside.items():
                told = fitted.impute(np.where(hidden, np.nan, rows), interval=level)
                found.append(((rows >= told.low) & (rows <= told.high))[hidden].mean())
    for level, found in inside.items():
        assert np.mean(found) == pytest.approx(level, abs=0.06), (level, found)


def test_draws_go_where_the_model_goes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    first = GaussianMixture(2, random_state=0).fit(X)
    filled, low, high, _ = first.impute(X, interval=0.9)
    assert len(first.draws_) == 20
    tacit.save(GaussianMixture(2, random_state=0).fit(X), tmp_path / "m.tacit")
    unused = pickle.dumps(GaussianMixture(2, random_state=0).fit(X))
    assert X[~np.isnan(X)][:8].tobytes() not in unused  # what was learned, not the rows
    for other in (GaussianMixture(2, random_state=0).fit(X), tacit.load(tmp_path / "m.tacit"), pickle.loads(unused)):
        for ours, theirs in zip((filled, low, high), other.impute(X, interval=0.9)):
            np.testing.assert_array_equal(ours, theirs)
    first.fit(np.random.default_rng(1).normal(size=(400, 3)))
    assert first.draws_ == []
    assert GaussianMixture(2, parameter_draws=0).fit(X).draws_ == []
    assert len(GaussianMixture(1, parameter_draws=3).fit(np.nan_to_num(X)).draws_) == 3


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("weights", ["dirichlet_process", "dirichlet_distribution"])
def test_draws_of_a_bayesian_mixture(kind, weights, tmp_path):
    """Draws given many rows are about what is believed, draws under a strong prior about the prior; both are kept in files."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) + np.repeat([[0.0], [12.0]], 200, axis=0)
    settings = dict(covariance_type=kind, weight_concentration_prior_type=weights, random_state=0, parameter_draws=100)
    mixture = BayesianGaussianMixture(2, **settings).fit(X)
    np.testing.assert_allclose(np.mean([p.weight for p in mixture.draws_], axis=0), mixture.weights_, atol=0.01)
    for got in (np.array([p.components.mean for p in mixture.draws_]),):
        np.testing.assert_allclose(got.mean(axis=0), mixture.means_, atol=0.1)
        np.testing.assert_allclose(got.std(axis=0), 1 / np.sqrt(200), rtol=0.3)
    one = {"full": np.eye(2), "tied": np.eye(2), "diag": np.ones(2), "spherical": 1.0}[kind]
    strong = BayesianGaussianMixture(2, degrees_of_freedom_prior=1e5, covariance_prior=4e5 * one, **settings).fit(X)
    variance = np.array([p.components.dense[:, [0, 1], [0, 1]] for p in strong.draws_])
    np.testing.assert_allclose(variance.mean(axis=0), 4.0, rtol=0.05)
    tacit.save(mixture, tmp_path / "m.tacit")
    X[::5, 0] = np.nan
    np.testing.assert_array_equal(tacit.load(tmp_path / "m.tacit").impute(X), mixture.impute(X))


@pytest.mark.parametrize("seed", range(6))
def test_a_bayesian_mixture_of_few_rows_with_missing_cells(seed):
    rng = np.random.default_rng(seed)
    X = load_wine().data[rng.permutation(178)[:40]]
    X[rng.random(X.shape) < 0.3] = np.nan
    assert np.isfinite(BayesianGaussianMixture(3, random_state=seed).fit(X).impute(X)).all()


def test_every_answer_takes_the_draws():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 3)) @ rng.normal(size=(3, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    sure, unsure = (GaussianMixture(1, parameter_draws=n, random_state=0).fit(X) for n in (0, 40))
    mean, covariance = unsure.conditional(X)
    filled, std = unsure.impute(X, return_std=True)
    np.testing.assert_allclose(mean, filled, rtol=1e-8)
    np.testing.assert_allclose(np.diagonal(covariance, axis1=1, axis2=2), std**2, rtol=1e-6, atol=1e-12)
    given = unsure.condition(X, target=[2])
    assert given.std.mean() > 1.05 * sure.condition(X, target=[2]).std.mean()
    np.testing.assert_allclose(given.cdf(given.quantile(0.3)), 0.3)
    many = unsure.draw_missing(X, n_draws=4000, random_state=0)
    np.testing.assert_array_less(np.abs(many.mean(axis=0) - filled), 6 * std / np.sqrt(4000) + 0.05 * std + 1e-9)
    np.testing.assert_allclose(many.std(axis=0)[np.isnan(X)], std[np.isnan(X)], rtol=0.2)
    imputer = GaussianImputer(sample_posterior=True, random_state=0).fit(X)
    assert np.isfinite(imputer.transform(X)).all()


def test_tables_of_all_kinds():
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=40)
    X = np.column_stack([
        rng.normal(4.0 * group), rng.normal(4.0 * group), rng.poisson(1.0 + 5.0 * group), rng.random(40) < 0.2 + 0.6 * group,
        (group + (rng.random(40) < 0.2)) % 3, rng.gamma(2.0 + group),
    ])  # fmt: skip
    X[rng.random(X.shape) < 0.15] = np.nan
    kinds = {0: "full", 1: "full", 2: "poisson", 3: "bernoulli", 4: Categorical([3]), 5: "gamma"}
    mixture = Mixture(2, by_column=kinds, random_state=0).fit(X)
    assert isinstance(mixture.family_, Product)
    assert len(mixture.draws_) == 20
    filled, low, high, probability = mixture.impute(X, interval=0.9)
    cells = np.isnan(X)
    numbers = cells & (np.arange(6) != 4)
    assert (low[numbers] <= high[numbers]).all()
    assert ((probability[cells & ~numbers] > 0) & (probability[cells & ~numbers] < 1)).all()
    np.testing.assert_array_equal(filled[~cells], X[~cells])


@pytest.mark.parametrize("size", [0.0, 1e-160])
def test_columns_without_spread_take_no_part(size):
    rng = np.random.default_rng(0)
    X = np.column_stack([size * rng.normal(size=30), rng.normal(size=30)])
    X[::5, 0] = np.nan
    np.testing.assert_allclose(GaussianMixture(1, random_state=0).fit(X).impute(X)[::5, 0], 0.0, atol=5 * size)


@pytest.mark.parametrize("value", [-1, 2.5, "many"])
def test_settings(value):
    with pytest.raises((ValueError, TypeError), match="parameter_draws"):
        GaussianMixture(parameter_draws=value).fit(np.arange(8.0).reshape(4, 2))
