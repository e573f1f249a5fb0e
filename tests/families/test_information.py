"""Moments, entropy and divergence of every family: against SciPy, sums, integrals and samples; the identities between them."""

import numpy as np
import pytest
from scipy import stats

from tacit.families import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Dirichlet,
    Distribution,
    Gamma,
    LogNormal,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    Product,
    SphericalGaussian,
    StudentT,
    VonMises,
)
from tacit.families.counts import NegativeBinomialParams
from tacit.families.linear import RateParams

from ..zoo import FAMILIES, STRUCTURED
from .test_families import learned, scipys

DENSE = [name for name in STRUCTURED if FAMILIES[name][0].matrices]
JOINT = (
    "full",
    "tied",
    "principal axes",
    "factors",
    "categorical",
    "cycles",
    "ordinal",
    "dirichlet",
    "multinomial",
    "product",
    "tree of categories",
    *(name for name in FAMILIES if name.startswith("student")),
)
COLUMNS = [name for name in FAMILIES if name not in (*JOINT, *DENSE)]


@pytest.fixture(params=FAMILIES)
def pair(request):
    """A family and two classes' distributions."""
    family, params = learned(request.param, FAMILIES[request.param][1](80))
    return family, *(Distribution(family, family.permute(params, [k])) for k in (0, 1))


def draws(distribution, n=200_000):
    return distribution.sample(n, 0)


def indicators(family, X):
    return np.hstack([X[:, [j]] == np.arange(n) for j, n in enumerate(family.n_levels)])


def test_moments_are_those_of_samples(pair):
    family, p, _ = pair
    if isinstance(family, Product):
        pytest.skip("columns of several kinds have no moments in common")
    X = draws(p)
    if isinstance(family, Categorical):
        X = indicators(family, X)
    if isinstance(family, VonMises):  # ways from the mean direction, the shorter ones around
        X = p.mean + (X - p.mean + family.period / 2) % family.period - family.period / 2
    squares = (X - p.mean) ** 2
    mean, variance, cells = p.mean, p.variance, X
    if isinstance(
        family, VonMises
    ):  # whole numbers do not lie evenly about a mean direction, but places on the circle do
        turn = 2.0 * np.pi * X / family.period
        cells, mean, variance = np.hstack([np.cos(turn), np.sin(turn)]), family.expected(p.params)[0], 1.0
    assert (np.abs(cells.mean(axis=0) - mean) <= 5.0 * np.sqrt(variance / len(X)) + 1e-12).all()
    assert (np.abs(squares.mean(axis=0) - p.variance) <= 5.0 * squares.std(axis=0) / np.sqrt(len(X)) + 1e-12).all()


def test_entropy_is_the_mean_self_information(pair):
    _, p, _ = pair
    information = p.self_information(draws(p))
    assert p.entropy() == pytest.approx(information.mean(), abs=5.0 * information.std() / np.sqrt(len(information)))


def test_divergence_is_the_mean_log_ratio(pair):
    family, p, q = pair
    if isinstance(family, StudentT):
        with pytest.raises(NotImplementedError, match="average log_prob differences over samples"):
            p.kl(q)
        return
    X = draws(p)
    ratio = p.log_prob(X) - q.log_prob(X)
    assert p.kl(q) == pytest.approx(ratio.mean(), abs=5.0 * ratio.std() / np.sqrt(len(ratio)))


def test_identities(pair):
    family, p, q = pair
    if isinstance(family, StudentT):
        return  # it has no divergence
    assert p.kl(p) == pytest.approx(0.0, abs=1e-9)
    assert p.kl(q) > 0
    assert q.kl(p) > 0
    assert p.cross_entropy(q) == pytest.approx(p.entropy() + p.kl(q), rel=1e-12)
    assert p.cross_entropy(p) == pytest.approx(p.entropy(), abs=1e-9)
    X = p.sample(5, 1)
    np.testing.assert_array_equal(p.self_information(X), -p.log_prob(X))


@pytest.mark.parametrize("name", COLUMNS)
def test_moments_and_entropy_are_scipys(name):
    family, params = learned(name, FAMILIES[name][1](80))
    law, _ = scipys(family, params)
    np.testing.assert_allclose(family.mean(params), law.mean(), rtol=1e-10)
    np.testing.assert_allclose(family.variance(params), law.var(), rtol=1e-10)
    if name == "binomial":  # SciPy's entropy of one binomial at a time
        expected = [sum(stats.binom(10, p).entropy() for p in row) for row in params.probability]
    elif name.startswith("negative"):
        cells = zip(params.size.ravel(), (params.size / (params.size + params.mean)).ravel())
        expected = np.reshape([stats.nbinom(n, p).entropy() for n, p in cells], params.size.shape).sum(axis=1)
    else:
        expected = law.entropy().sum(axis=1)
    np.testing.assert_allclose(family.entropy(params), expected, rtol=1e-6)


def test_moments_and_entropy_of_shared_counts_are_scipys():
    family, params = learned("multinomial", FAMILIES["multinomial"][1](80))
    laws = [stats.multinomial(family.n_trials, p) for p in params.probability]
    np.testing.assert_allclose(family.mean(params), [law.n * law.p for law in laws], rtol=1e-10)
    np.testing.assert_allclose(family.variance(params), [np.diagonal(law.cov()) for law in laws], rtol=1e-10)
    np.testing.assert_allclose(family.entropy(params), [law.entropy() for law in laws], rtol=1e-8)


def test_closed_form_divergences():
    assert Poisson().fit([2]).kl(Poisson().fit([1])) == pytest.approx(2 * np.log(2) - 1)
    assert Bernoulli().fit([0, 1]).kl(Bernoulli().fit([0, 0, 0, 1])) == pytest.approx(
        0.5 * np.log(2) + 0.5 * np.log(2 / 3)
    )
    assert Bernoulli().fit([0, 1]).entropy() == pytest.approx(np.log(2))
    assert Categorical([4]).fit([0, 1, 2, 3]).entropy() == pytest.approx(np.log(4))
    assert Normal().fit([-1.0, 1.0]).entropy() == pytest.approx(0.5 * np.log(2 * np.pi * np.e))


def test_gaussians_of_different_structure_are_over_the_same_values(rng):
    X = rng.normal(size=(30, 2)) @ [[1.0, 0.8], [0.0, 1.0]]
    full, columns = MultivariateNormal().fit(X), Normal().fit(X)
    # What independence loses is the mutual information.
    correlation = np.corrcoef(X.T)[0, 1]
    assert full.kl(columns) == pytest.approx(-0.5 * np.log(1 - correlation**2), rel=1e-6)
    assert full.kl(SphericalGaussian().fit(X)) >= full.kl(columns)


def test_sums_reach_far_enough():
    p = Distribution(Poisson(), RateParams(np.array([[1e5]])))
    assert p.entropy() == pytest.approx(0.5 * np.log(2 * np.pi * np.e * 1e5), rel=1e-6)
    wide = Distribution(NegativeBinomial(), NegativeBinomialParams(np.array([[500.0]]), np.array([[0.2]])))
    x = np.arange(200_000)
    mass = np.exp(wide.log_prob(x))
    assert wide.entropy() == pytest.approx(-(mass * np.log(mass)).sum(), rel=1e-8)
    assert mass.sum() == pytest.approx(1.0, rel=1e-10)


def test_densities_integrate_to_one():
    from scipy.integrate import quad

    for p, ends in (
        (Gamma().fit([1.0, 2.0, 5.0]), (0, np.inf)),
        (LogNormal().fit([1.0, 2.0, 5.0]), (0, np.inf)),
        (Beta().fit([0.2, 0.5, 0.6]), (0, 1)),
    ):
        assert quad(lambda x, p=p: np.exp(p.log_prob(x)[0]), *ends)[0] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (Poisson().fit([1, 2]), Bernoulli().fit([0, 1])),
        (Binomial(4).fit([1, 2]), Binomial(5).fit([1, 2])),
        (Categorical([2]).fit([0, 1]), Categorical([3]).fit([0, 1])),
        (Poisson().fit([1, 2]), Poisson().fit([[1, 2]])),
    ],
)
def test_divergence_between_different_values_is_refused(p, q):
    with pytest.raises(ValueError, match=r"divergence is between distributions over the same values, but one is over"):
        p.kl(q)
    with pytest.raises(ValueError, match=r"over the same values"):
        p.cross_entropy(q)


def test_a_distribution_shows_its_parameters():
    assert repr(Poisson().fit([1, 2])) == "Poisson(rate=[1.5])"
    assert list(Gamma().fit([1.0, 2.0]).parameters) == ["shape", "rate"]
    assert list(Normal().fit([1.0, 2.0]).parameters) == ["mean", "covariance"]


def test_samples_are_repeated_by_the_same_seed():
    p = Dirichlet().fit([[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]])
    np.testing.assert_array_equal(p.sample(3, 7), p.sample(3, 7))
    assert p.sample(3, 7).shape == (3, 3)


def test_missing_cells_of_a_scored_row_drop_out():
    p = Normal().fit([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_allclose(p.log_prob([[1.0, np.nan]]), Normal().fit([1.0, 3.0]).log_prob(1.0))


@pytest.mark.parametrize(
    ("p", "x"),
    [
        (Categorical(3).fit([0, 1, 2]), [3, 10**7, -1, 1.5]),
        (Gamma().fit([1.0, 2.0]), [-1.0]),
        (LogNormal().fit([1.0, 2.0]), [-1.0, 0.0]),
        (Beta().fit([0.2, 0.4]), [-0.5, 1.5]),
        (Bernoulli().fit([0, 1]), [2, 0.5]),
        (Poisson().fit([1, 2]), [1.5, -1]),
    ],
)
def test_what_cannot_be_has_no_density(p, x):
    np.testing.assert_array_equal(p.log_prob(x), -np.inf)
    mixed = p.log_prob([*x, *p.sample(3, 0)[:, 0]])
    assert np.isfinite(mixed[len(x) :]).all()
    assert (mixed[: len(x)] == -np.inf).all()
