"""Conjugate learning: textbook posteriors, predictive densities as integrals over the posterior, evidence, and modes."""

import numpy as np
import pytest
from scipy import stats

from tacit.engine import fit
from tacit.families import (
    GAUSSIANS,
    Bernoulli,
    Beta,
    BetaPrior,
    Binomial,
    Categorical,
    DiagonalGaussian,
    DirichletPrior,
    Exponential,
    FullGaussian,
    Gamma,
    GammaPrior,
    Geometric,
    LogNormal,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    SphericalGaussian,
    StudentT,
    TiedGaussian,
    default_prior,
)
from tacit.mixture import MixtureModel
from tacit.source import ArraySource, Block

from ..zoo import COLUMNS, STRUCTURED, WITH_PRIORS, gaussian_rows, with_missing
from ..zoo import WISHART as WISHART4

NAN = np.nan
WISHART = NormalInverseWishart([0.5, -0.5], 0.7, 5.0, [[2.0, 0.3], [0.3, 1.0]])
COLUMN = NormalInverseGamma(0.0, 1.0, 1.0, 1.0)
ROWS = np.array([[1.0, 0.0], [2.0, 1.5], [0.5, 0.7]])

CASES = {
    "bernoulli": (Bernoulli(), BetaPrior(2.0, 3.0), [1, 1, 0, 1]),
    "binomial": (Binomial(5), BetaPrior(2.0, 3.0), [4, 1, 3]),
    "geometric": (Geometric(), BetaPrior(6.0, 2.0), [0, 2, 1]),
    "negative binomial": (NegativeBinomial(2.0), BetaPrior(6.0, 2.0), [0, 4, 1]),
    "poisson": (Poisson(), GammaPrior(3.0, 2.0), [2, 0, 5]),
    "exponential": (Exponential(), GammaPrior(6.0, 2.0), [0.5, 2.0, 1.2]),
    "categorical": (Categorical([3]), DirichletPrior([1.5, 2.0, 3.0]), [0, 2, 2, 1]),
    "normal": (Normal(), NormalInverseGamma(0.5, 0.8, 3.0, 2.0), [1.0, -0.3, 2.2]),
    "multivariate normal": (MultivariateNormal(), WISHART, ROWS),
}


def parameters_at(family, posterior, n):
    """Draws of the posterior, as the parameters of n classes."""
    drawn = posterior.sample(n, 0)
    return family.at(*(drawn if isinstance(drawn, tuple) else (drawn,)))


def test_textbook_posteriors():
    assert Bernoulli().posterior([1, 1, 0, 1], BetaPrior(1, 1)).parameters == {"a": 4.0, "b": 2.0}
    assert Binomial(10).posterior([7], BetaPrior(2, 2)).parameters == {"a": 9.0, "b": 5.0}
    assert Geometric().posterior([0, 2, 1], BetaPrior(1, 1)).parameters == {"a": 4.0, "b": 4.0}
    assert NegativeBinomial(3).posterior([4, 1], BetaPrior(1, 1)).parameters == {"a": 7.0, "b": 6.0}
    assert Poisson().posterior([3, 1, 2], GammaPrior(2, 1)).parameters == {"shape": 8.0, "rate": 4.0}
    assert Exponential().posterior([1.0, 2.5], GammaPrior(2, 1)).parameters == {"shape": 4.0, "rate": 4.5}
    counts = Categorical([3]).posterior([0, 2, 2], DirichletPrior(1.0))
    np.testing.assert_array_equal(counts.parameters["alpha"], [2.0, 1.0, 3.0])


def test_a_normal_posterior_is_the_textbooks():
    """Murphy (2007), equations 85 to 89."""
    x, (m, k, a, b) = np.array([1.0, -0.3, 2.2]), (0.5, 0.8, 3.0, 2.0)
    posterior = Normal().posterior(x, NormalInverseGamma(m, k, a, b))
    assert posterior.kappa == pytest.approx(k + 3)
    assert posterior.mean == pytest.approx((k * m + x.sum()) / (k + 3))
    assert posterior.shape == pytest.approx(a + 1.5)
    expected = b + 0.5 * ((x - x.mean()) ** 2).sum() + k * 3 * (x.mean() - m) ** 2 / (2 * (k + 3))
    assert posterior.scale == pytest.approx(expected)


def test_a_multivariate_posterior_in_one_column_is_the_normals():
    x = np.array([[1.0], [-0.3], [2.2]])
    wide = MultivariateNormal().posterior(x, NormalInverseWishart([0.5], 0.8, 6.0, [[4.0]]))
    column = Normal().posterior(x, NormalInverseGamma(0.5, 0.8, 3.0, 2.0))
    assert wide.mean == pytest.approx(column.mean)
    assert wide.dof == pytest.approx(2 * column.shape[0])
    assert wide.scale[0, 0] == pytest.approx(2 * column.scale[0])
    y = np.array([0.0, 3.0])
    np.testing.assert_allclose(wide.predictive().log_prob(y), column.predictive().log_prob(y), rtol=1e-10)
    np.testing.assert_allclose(wide.log_prob([[1.0]], [[[2.0]]]), column.log_prob([[1.0]], [[2.0]]), rtol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_a_posterior_knows_its_family_and_its_rows_one_by_one(name):
    family, prior, x = CASES[name]
    once = family.posterior(x, prior)
    step = prior
    for row in x:
        step = family.posterior(np.atleast_2d(row), step)
    assert type(once) is type(prior)
    assert once.likelihood is family
    for field, value in once.parameters.items():
        np.testing.assert_allclose(step.parameters[field], value, rtol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_the_predictive_is_the_likelihood_averaged_over_the_posterior(name):
    family, prior, x = CASES[name]
    posterior = family.posterior(x, prior)
    density = np.exp(
        family.log_prob(parameters_at(family, posterior, 200_000), Block.of(np.array(x, float).reshape(len(x), -1)))
    )
    error = 5.0 * density.std(axis=1) / np.sqrt(density.shape[1])
    assert (np.abs(np.exp(posterior.predictive().log_prob(x)) - density.mean(axis=1)) <= error).all()


@pytest.mark.parametrize("name", CASES)
def test_predictive_moments_are_those_of_its_samples(name):
    family, prior, x = CASES[name]
    predictive = family.posterior(x, prior).predictive()
    X = predictive.sample(100_000, 1)
    if name == "categorical":
        X = (np.arange(3) == X).astype(float)
    squares = (X - predictive.mean) ** 2
    assert (np.abs(X.mean(axis=0) - predictive.mean) <= 5.0 * np.sqrt(predictive.variance / len(X))).all()
    assert (np.abs(squares.mean(axis=0) - predictive.variance) <= 8.0 * squares.std(axis=0) / np.sqrt(len(X))).all()


@pytest.mark.parametrize("name", CASES)
def test_evidence_is_the_chain_of_predictions(name):
    """The log of p(x₁ … x_n) is Σ_i log p(x_i | x₁ … x_{i−1})."""
    family, prior, x = CASES[name]
    posterior, total = prior, 0.0
    for row in x:
        row = np.atleast_2d(np.asarray(row, float))
        total += family.predictive(posterior).log_prob(row)[0]
        posterior = family.posterior(row, posterior)
    assert family.log_marginal(x, prior) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_map_is_the_mode_of_the_posterior_and_maximises(name):
    family, prior, x = CASES[name]
    posterior = family.posterior(x, prior)
    found = family.map(x, prior)
    mode = posterior.mode if isinstance(posterior.mode, tuple) else (posterior.mode,)
    for value, expected in zip(family.value(found.params), mode):
        np.testing.assert_allclose(value[0], expected, rtol=1e-6)
    best = posterior.log_prob(*(value[None] for value in mode))[0]
    drawn = posterior.sample(1000, 3)
    assert (posterior.log_prob(*(drawn if isinstance(drawn, tuple) else (drawn,))) <= best + 1e-9).all()


@pytest.mark.parametrize("name", CASES)
def test_priors_have_the_moments_of_their_samples(name):
    _, prior, _ = CASES[name]
    drawn = prior.sample(200_000, 5)
    if not isinstance(drawn, tuple):
        np.testing.assert_allclose(drawn.mean(axis=0), prior.mean, rtol=0.02)
        np.testing.assert_allclose(drawn.var(axis=0), prior.variance, rtol=0.05)
        return
    for values, expected in zip(drawn, prior.expectation):
        np.testing.assert_allclose(values.mean(axis=0), expected, rtol=0.1, atol=0.02)


def test_variances_of_gaussian_priors(rng):
    prior = NormalInverseGamma([0.5, 1.0], 0.8, 6.0, [2.0, 3.0])
    for values, expected in zip(prior.sample(400_000, 0), prior.variance):
        np.testing.assert_allclose(values.var(axis=0), expected, rtol=0.05)
    wide = NormalInverseWishart([0.5, 1.0], 0.8, 12.0, [[2.0, 0.5], [0.5, 3.0]])
    for values, expected in zip(wide.sample(400_000, 0), wide.variance):
        np.testing.assert_allclose(values.var(axis=0), expected, rtol=0.05)
    heavy = NormalInverseGamma(0.0, 1.0, 1.0, 1.0)
    assert np.isinf([heavy.expectation.variance, heavy.variance.mean, heavy.variance.variance]).all()
    assert np.isinf(NormalInverseWishart([0, 0], 1, 3, np.eye(2)).expectation.covariance).all()


def test_densities_of_gaussian_priors_are_scipys(rng):
    mean, root = rng.normal(size=2), rng.normal(size=(2, 2))
    covariance = root @ root.T + np.eye(2)
    expected = stats.invwishart.logpdf(covariance, WISHART.dof, WISHART.scale)
    expected += stats.multivariate_normal.logpdf(mean, WISHART.mean, covariance / WISHART.kappa)
    assert WISHART.log_prob(mean, covariance)[0] == pytest.approx(expected, rel=1e-10)
    prior = NormalInverseGamma([0.0, 1.0], [1.0, 2.0], [3.0, 2.0], [2.0, 1.0])
    variance = np.array([0.7, 1.9])
    expected = stats.invgamma.logpdf(variance, prior.shape, scale=prior.scale)
    expected += stats.norm.logpdf(mean, prior.mean, np.sqrt(variance / prior.kappa))
    assert prior.log_prob(mean, variance)[0] == pytest.approx(expected.sum(), rel=1e-10)


def test_priors_are_distributions_with_entropy_and_divergence():
    p, q = BetaPrior(2.0, 3.0), BetaPrior(1.0, 1.0)
    assert p.entropy() == pytest.approx(stats.beta(2, 3).entropy())
    assert p.kl(q) == pytest.approx(-p.entropy())  # from the uniform distribution
    assert p.log_prob(0.3)[0] == pytest.approx(stats.beta(2, 3).logpdf(0.3))
    gamma = GammaPrior(2.0, 3.0)
    assert gamma.entropy() == pytest.approx(stats.gamma(2, scale=1 / 3).entropy())
    assert gamma.kl(gamma) == pytest.approx(0.0, abs=1e-12)
    alpha = [1.0, 2.0, 3.0, 1.5, 2.5]
    columns = DirichletPrior(alpha, [3, 2])
    expected = stats.dirichlet(alpha[:3]).entropy() + stats.dirichlet(alpha[3:]).entropy()
    assert columns.entropy() == pytest.approx(expected)
    assert columns.kl(DirichletPrior(1.0, [3, 2])) == pytest.approx(-expected + -gammaln_of_levels([3, 2]))
    assert (DirichletPrior(2.0, [3, 2]).mode == DirichletPrior(2.0, [3, 2]).mean).all()


def gammaln_of_levels(n_levels):
    """Minus the log density of flat Dirichlets, which is that of their volume."""
    return sum(np.log(float(np.prod(np.arange(1, n)))) for n in n_levels)


def test_missing_cells_drop_out_of_posteriors():
    X = np.array([[1, NAN], [0, 1], [1, 1], [NAN, 0]])
    posterior = Bernoulli().posterior(X, BetaPrior([1.0, 2.0], 1.0))
    np.testing.assert_array_equal(posterior.a, [3.0, 4.0])
    np.testing.assert_array_equal(posterior.b, [2.0, 2.0])
    columns = Normal().posterior([[1.0, NAN], [3.0, 5.0]], NormalInverseGamma(0, 1, 1, 1))
    np.testing.assert_array_equal(columns.kappa, [3.0, 2.0])
    levels = Categorical([2, 3]).posterior([[0, NAN], [1, 2], [1, 2]], DirichletPrior(1.0))
    np.testing.assert_array_equal(levels.alpha, [2, 3, 1, 1, 3])
    assert np.isfinite(Bernoulli().log_marginal(X, BetaPrior(1, 1)))
    t = MultivariateNormal().posterior(ROWS, WISHART).predictive()
    shape, dof = t.law.shape, t.dof
    expected = stats.t.logpdf(1.0, dof, t.mean[0], np.sqrt(shape[0, 0]))
    assert t.log_prob([[1.0, NAN]])[0] == pytest.approx(expected)
    assert t.log_prob([[NAN, NAN]])[0] == 0.0


def test_weights_count_rows():
    a = Poisson().posterior([1, 4], GammaPrior(1, 1), sample_weight=[2.0, 1.0])
    b = Poisson().posterior([1, 1, 4], GammaPrior(1, 1))
    assert a.parameters == b.parameters
    assert Poisson().map([1, 4], GammaPrior(1, 1), [2.0, 1.0]).mean == pytest.approx(b.mode[0])


@pytest.mark.parametrize("name", WITH_PRIORS)
def test_an_empty_class_goes_to_the_mode_of_the_prior(name):
    family, rows = WITH_PRIORS[name]
    X = rows(60)
    block, resp = Block.of(X), np.repeat([[0.4, 0.6, 0.0]], 60, axis=0)
    start = family.start(block, np.full((60, 3), 1 / 3))
    after = family.m_step(family.stats(start, block, resp), start)
    prior = family.spread(family.prior, X.shape[1])
    if name in ("tied", *STRUCTURED):  # covariances share a part with classes that have rows
        np.testing.assert_allclose(after.mean[2], prior.mean, atol=1e-9)
        return
    mode = prior.mode if isinstance(prior.mode, tuple) else (prior.mode,)
    if name == "spherical":
        mode = prior.mean, np.full(4, 2.0 * 3.0 / (4 + 2.0 * 2.5 + 2.0))
    for value, expected in zip(family.value(after), mode):
        np.testing.assert_allclose(value[2], expected, rtol=1e-9)


@pytest.mark.parametrize("name", WITH_PRIORS)
def test_a_strong_prior_wins_and_none_is_maximum_likelihood(name):
    family, rows = WITH_PRIORS[name]
    X = rows(60)
    best = family.with_prior(None).fit(X)
    most_probable = family.fit(X)
    gain = best.log_prob(X).sum() - most_probable.log_prob(X).sum()
    assert gain > 0
    assert family.log_prior(most_probable.params) > family.log_prior(best.params)
    assert family.with_prior(None).log_prior(best.params) == 0.0


def test_modes_of_shared_covariances_maximise():
    """Against a search around the M-step's answer, with the prior and missing cells."""
    X, rng = with_missing(gaussian_rows(80), 0.1), np.random.default_rng(0)
    for name in ("full", "tied", "diag", "spherical", *STRUCTURED):
        prior = COLUMNS if name[2] == "I" else WISHART4
        model = MixtureModel(WITH_PRIORS[name][0] if name in WITH_PRIORS else GAUSSIANS[name](prior=prior), 2)
        source = ArraySource(X)
        found = fit(model, source, model.init(Block.of(X), np.random.default_rng(1)), max_iter=2000, tol=1e-12).params

        def objective(params, model=model, block=Block.of(X)):
            return model.posterior(params, block)[1].sum() + model.log_prior(params)

        vector, best = model.free(found), objective(found)
        for _ in range(30):
            near = model.bound(vector + 0.01 * rng.normal(size=vector.shape), found)
            assert objective(near) <= best + 1e-6, name


def test_a_prior_keeps_collapsing_classes_alive():
    X = np.repeat(gaussian_rows(6, 2, 3), 3, axis=0)
    prior = default_prior(X, 3)
    model = MixtureModel(FullGaussian(floor=0.0, prior=prior), 3)
    learned = fit(model, ArraySource(X), model.init(Block.of(X), np.random.default_rng(0)), max_iter=200).params
    assert np.isfinite(learned.components.covariance).all()
    assert np.linalg.eigvalsh(learned.components.covariance).min() > 0


def test_the_default_prior_has_mclusts_numbers(rng):
    X = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3)) + 5.0
    prior = default_prior(X, 4)
    np.testing.assert_allclose(prior.mean, X.mean(axis=0))
    np.testing.assert_allclose(prior.scale, np.cov(X.T) / 4 ** (2 / 3), rtol=1e-6)
    assert (prior.kappa, prior.dof) == (0.01, 5.0)
    columns = default_prior(X, 4, "spherical")
    assert columns.shape[0] == 2.5
    assert columns.scale[0] == pytest.approx(0.5 * np.trace(np.cov(X.T)) / 3 / 4 ** (2 / 3), rel=1e-6)
    incomplete = default_prior(with_missing(X, 0.1), 4)
    assert np.isfinite(incomplete.scale).all()
    with pytest.raises(ValueError, match=r"covariance_type='round' is unknown; use full, tied, diag or spherical\."):
        default_prior(X, 2, "round")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BetaPrior(0.0, 1.0), ValueError, r"a=0 must be greater than 0\."),
        (lambda: GammaPrior(1.0, [1.0, -2.0]), ValueError, r"rate=-2 must be greater than 0\."),
        (lambda: DirichletPrior([1.0, 0.0]), ValueError, r"alpha=0 must be greater than 0\."),
        (lambda: NormalInverseGamma(0, -1, 1, 1), ValueError, r"kappa=-1 must be greater than 0\."),
        (lambda: NormalInverseWishart([0, 0], 1, 1, np.eye(2)), ValueError, r"dof=1 must be greater than 1"),
        (lambda: NormalInverseWishart([0, 0], 1, 3, np.eye(3)), ValueError, r"scale has shape \(3, 3\), but mean has 2"),
        (lambda: NormalInverseWishart([0, 0], 1, 3, -np.eye(2)), ValueError, r"scale must be a positive definite matrix\."),
        (lambda: Bernoulli(prior=GammaPrior(1, 1)), TypeError, r"Bernoulli takes a BetaPrior, but prior is a GammaPrior\."),
        (lambda: Poisson().posterior([1], BetaPrior(1, 1)), TypeError, r"Poisson takes a GammaPrior, but prior is a BetaPrior\."),
        (lambda: Gamma().map([1.0], GammaPrior(1, 1)), TypeError, r"Gamma has no conjugate prior, but prior is a GammaPrior\."),
        (lambda: Beta().posterior([0.5], BetaPrior(1, 1)), TypeError, r"Beta has no conjugate prior"),
        (lambda: StudentT(df=3.0).map(ROWS, WISHART), TypeError, r"StudentT has no conjugate prior, but prior is a Norm"),
        (lambda: StudentT().posterior(ROWS, WISHART), TypeError, r"StudentT has no conjugate prior, but prior is a Norm"),
        (lambda: GAUSSIANS["VEV"]().map(ROWS, COLUMN), TypeError, r"takes a NormalInverseWishart, but prior is a Norm"),
        (lambda: GAUSSIANS["EVI"]().map(ROWS, WISHART), TypeError, r"takes a NormalInverseGamma, but prior is a NormalInverseW"),
        (lambda: GAUSSIANS["VEV"]().posterior(ROWS, WISHART), NotImplementedError, r"no conjugate one per class; use map"),
        (lambda: Bernoulli(prior=BetaPrior(0.5, 0.5)), ValueError, r"a BetaPrior with 0\.5 has an unbounded density and no mode"),
        (lambda: Poisson(prior=GammaPrior(0.5, 1)), ValueError, r"a GammaPrior of shape 0\.5 has an unbounded density"),
        (lambda: Categorical([2], prior=DirichletPrior(0.1)), ValueError, r"a DirichletPrior with alpha 0\.1 has an unbounded"),
        (lambda: NegativeBinomial(prior=BetaPrior(1, 1)), ValueError, r"only where size is known; give size\."),
        (lambda: NegativeBinomial().map([1, 2], BetaPrior(1, 1)), ValueError, r"only where size is known; give size\."),
        (lambda: NegativeBinomial().posterior([1, 2], BetaPrior(1, 1)), ValueError, r"only where size is known; give size\."),
        (lambda: Bernoulli().posterior([[1, 0]], BetaPrior([1, 1, 1], 1)), ValueError, r"a has 3 entries, but there are 2 col"),
        (lambda: Categorical([2, 2]).posterior([[1, 0]], DirichletPrior([1, 1, 1])), ValueError, r"3 entries, but there are 4"),
        (lambda: FullGaussian().posterior(ROWS[:, :1], WISHART), ValueError, r"mean has 2 entries, but there are 1"),
        (lambda: BetaPrior(1, 1).predictive(), ValueError, r"this BetaPrior belongs to no family; use family\.posterior"),
        (lambda: FullGaussian().posterior([[1.0, NAN], [1.0, 2.0]], WISHART), ValueError, r"complete rows only; drop the oth"),
        (lambda: SphericalGaussian().posterior(ROWS, COLUMN), NotImplementedError, r"use map for its mode\."),
        (lambda: TiedGaussian().posterior(ROWS, WISHART), NotImplementedError, r"use map for its mode\."),
        (lambda: SphericalGaussian().map(ROWS, NormalInverseGamma(0, 1, 1, [1, 2])), ValueError, r"one shape and one scale"),
        (lambda: LogNormal().posterior([1.0, 2.0], COLUMN).predictive(), NotImplementedError, r"take logarithms and use Normal"),
        (lambda: DirichletPrior([1, 1]).kl(DirichletPrior([1, 1, 1])), ValueError, r"levels \(2,\) and \(3,\) differ\."),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_the_evidence_of_logarithms_is_that_of_the_normal_less_the_jacobian():
    x, prior = np.array([1.0, 2.0, 5.0]), NormalInverseGamma(0, 1, 2, 1)
    expected = DiagonalGaussian().log_marginal(np.log(x), prior) - np.log(x).sum()
    assert LogNormal().log_marginal(x, prior) == pytest.approx(expected, rel=1e-9)
