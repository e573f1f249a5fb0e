"""Maximum likelihood of every family: against SciPy's own fits, closed forms and a direct search; bad rows and odd columns."""

import numpy as np
import pytest
from scipy import optimize, stats

from tacit.families import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    Geometric,
    LogNormal,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    Poisson,
)
from tacit.source import Block

from ..zoo import FAMILIES, composition_rows, overdispersed_rows, positive_rows, proportion_rows, with_missing

NAN = np.nan


def test_closed_forms():
    x = np.array([0.0, 1.0, 2.0, 5.0])
    assert Poisson().fit(x).parameters["rate"] == pytest.approx(2.0)
    assert Geometric().fit(x).parameters["probability"] == pytest.approx(1.0 / 3.0)
    assert Binomial(8).fit(x).parameters["probability"] == pytest.approx(0.25)
    assert Exponential().fit(x).parameters["rate"] == pytest.approx(0.5)
    assert Bernoulli().fit(x > 0).mean == pytest.approx(0.75)
    assert NegativeBinomial(3.0).fit(x).mean == pytest.approx(2.0)
    np.testing.assert_allclose(Categorical([6]).fit(x).mean, [0.25, 0.25, 0.25, 0, 0, 0.25], atol=1e-9)


def test_gamma_fit_is_scipys(rng):
    x = rng.gamma(3.0, 2.0, 500)
    shape, _, scale = stats.gamma.fit(x, floc=0)
    found = Gamma().fit(x).parameters
    assert found["shape"] == pytest.approx(shape, rel=1e-6)
    assert found["rate"] == pytest.approx(1.0 / scale, rel=1e-6)


def test_beta_fit_is_scipys(rng):
    x = rng.beta(2.0, 5.0, 500)
    a, b, _, _ = stats.beta.fit(x, floc=0, fscale=1)
    found = Beta().fit(x).parameters
    assert (found["a"], found["b"]) == (pytest.approx(a, rel=1e-5), pytest.approx(b, rel=1e-5))


def test_log_normal_fit_is_scipys(rng):
    x = rng.lognormal(1.0, 0.5, 500)
    deviation, _, scale = stats.lognorm.fit(x, floc=0)
    found = LogNormal().fit(x)
    assert found.parameters["mean"] == pytest.approx(np.log(scale), rel=1e-6)
    assert found.variance == pytest.approx(stats.lognorm(deviation, scale=scale).var(), rel=1e-5)


def test_normal_names_are_those_of_gaussians(rng):
    X = rng.normal(size=(50, 2)) @ [[1.0, 0.5], [0.0, 2.0]]
    rows, columns = MultivariateNormal().fit(X), Normal().fit(X)
    np.testing.assert_allclose(rows.parameters["covariance"], np.cov(X.T, ddof=0), rtol=1e-9)
    np.testing.assert_allclose(columns.variance, X.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(columns.mean, X.mean(axis=0), rtol=1e-9)


def searched(log_likelihood, start):
    """The maximum over positive numbers, by a general optimiser."""
    found = optimize.minimize(lambda t: -log_likelihood(np.exp(t)), np.log(start), method="Nelder-Mead", tol=1e-12)
    return np.exp(found.x)


def test_negative_binomial_size_is_the_likeliest():
    x = overdispersed_rows()[:, 0]
    mean, size = searched(lambda p: stats.nbinom.logpmf(x, p[1], p[1] / (p[0] + p[1])).sum(), [5.0, 1.0])
    found = NegativeBinomial().fit(x).parameters
    assert found["mean"] == pytest.approx(mean, rel=1e-5)
    assert found["size"] == pytest.approx(size, rel=1e-4)


def test_dirichlet_concentrations_are_the_likeliest():
    X = composition_rows(n=80, d=3)
    expected = searched(lambda alpha: stats.dirichlet.logpdf(X.T, alpha).sum(), np.ones(3))
    np.testing.assert_allclose(Dirichlet().fit(X).parameters["alpha"], expected, rtol=1e-5)


def test_a_part_that_the_others_determine_is_not_missing():
    X = composition_rows(n=60)
    incomplete = X.copy()
    incomplete[np.arange(60), np.arange(60) % 4] = NAN
    expected = Dirichlet().fit(X).parameters["alpha"]
    np.testing.assert_allclose(Dirichlet().fit(incomplete).parameters["alpha"], expected, rtol=1e-6)


def test_missing_parts_are_integrated_out():
    """EM's fixed point is the maximum of the observed parts' likelihood."""
    X, family = with_missing(composition_rows(n=60), 0.4), Dirichlet()
    found = family.fit(X)
    block, best = Block.of(X), found.log_prob(X).sum()
    assert (np.isnan(X).sum(axis=1) > 1).any()
    for change in 1.0 + 0.02 * np.vstack([np.eye(4), -np.eye(4)]):
        other = type(found.params)(found.params.alpha * change)
        assert family.log_prob(other, block).sum() < best


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_fit_is_a_maximum_and_weight_two_is_a_row_given_twice(name, weighted):
    family, rows = FAMILIES[name]
    X = with_missing(rows(60))
    X = X[~np.isnan(X).all(axis=1)]
    weight = np.ones(len(X))
    if weighted:
        weight[::3] = 2.0
        X, again = np.vstack([X, X[::3]]), X
        found, same = family.fit(again, weight), family.fit(X)
        np.testing.assert_allclose(found.log_prob(X).sum(), same.log_prob(X).sum(), rtol=1e-9)
        return
    found = family.fit(X)
    vector, block = family.free(found.params), Block.of(X)
    best, rng = family.log_prob(found.params, block).sum(), np.random.default_rng(0)
    for _ in range(10):
        near = family.bound(vector + 0.02 * rng.normal(size=vector.shape), found.params)
        assert family.log_prob(near, block).sum() <= best + 1e-7 * abs(best)


@pytest.mark.parametrize(
    ("family", "value", "variance"),
    [
        (Gamma(), 3.0, 9e-6),
        (LogNormal(), 3.0, None),
        (Beta(), 0.3, 0.21e-6),
        (NegativeBinomial(), 4.0, 4.0),
        (Poisson(), 0.0, 0.0),
        (NegativeBinomial(), 0.0, 0.0),
        (Geometric(), 0.0, 0.0),
        (Exponential(), 0.0, 0.0),
        (Binomial(5), 5.0, 0.0),
        (Bernoulli(), 1.0, 0.0),
        (Normal(), 2.0, None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_column_of_one_value_is_learned(family, value, variance):
    found = family.fit(np.full(20, value))
    assert found.mean == pytest.approx(value, abs=1e-5)
    assert np.isfinite(found.log_prob(np.full(3, value))).all()
    if variance is not None:
        assert found.variance == pytest.approx(variance, rel=0.05, abs=1e-9)


def test_rows_that_are_all_alike_have_the_largest_concentration():
    X = np.tile([0.2, 0.3, 0.5], (10, 1))
    found = Dirichlet(floor=1e-3).fit(X)
    assert found.parameters["alpha"].sum() == pytest.approx(1e3, rel=1e-9)
    best = found.log_prob(X).sum()
    for change in ([1, -1, 0], [0, 1, -1], [1, 0, -1]):
        for step in (0.5, -0.5):
            other = type(found.params)(found.params.alpha + step * np.array(change))
            assert Dirichlet().log_prob(other, Block.of(X)).sum() < best


def test_counts_no_more_varied_than_poisson_give_poisson(rng):
    x = rng.binomial(20, 0.5, 400)
    found = NegativeBinomial().fit(x)
    poisson = Poisson().fit(x)
    np.testing.assert_allclose(found.log_prob(x), poisson.log_prob(x), atol=2e-3)
    assert found.parameters["size"] <= 1e6


def test_huge_counts_do_not_overflow():
    found = NegativeBinomial().fit([1e9, 2e9, 5e9, 3e9])
    assert found.mean == pytest.approx(2.75e9)
    assert np.isfinite(found.log_prob([1e9, 1e10])).all()


@pytest.mark.parametrize(
    ("family", "X", "message"),
    [
        (Geometric(), [[0, -2]], r"Geometric columns hold whole numbers from 0, but X holds -2\."),
        (NegativeBinomial(), [[0, 1.5]], r"NegativeBinomial columns hold whole numbers from 0, but X holds 1\.5\."),
        (NegativeBinomial([1, 2, 3]), [[0, 1]], r"size names 3 columns, but X has 2\."),
        (Binomial(4), [[0, NAN], [1, 5]], r"column 1 holds 5, which exceeds its 4 trials\."),
        (Binomial([4, 9]), [[5, 5]], r"column 0 holds 5, which exceeds its 4 trials\."),
        (Binomial([4, 9]), [[1]], r"n_trials names 2 columns, but X has 1\."),
        (Binomial(4), [[0, -1]], r"Binomial columns hold whole numbers from 0, but X holds -1\."),
        (Exponential(), [[0, -0.5]], r"Exponential columns are not negative, but X holds -0\.5\."),
        (Gamma(), [[1, 0]], r"Gamma columns are positive, but X holds 0\."),
        (LogNormal(), [[1, -3]], r"LogNormal columns are positive, but X holds -3\."),
        (Beta(), [[0.5, 1.0]], r"Beta columns lie strictly between 0 and 1, but X holds 1; move it inside\."),
        (Beta(), [[0.5, -0.2]], r"but X holds -0\.2; move it inside\."),
        (Dirichlet(), [[0.5, 0.6]], r"row 0 sums to 1\.1, not to 1; divide each row by its sum\."),
        (Dirichlet(), [[0.5, 0.5], [1.0, 0.0]], r"strictly between 0 and 1, but X holds 1\."),
        (Dirichlet(), [[0.6, 0.7, NAN]], r"row 0 sums to 1\.3 and leaves nothing for its missing parts\."),
    ],
)  # fmt: skip
def test_rows_a_family_does_not_describe_are_refused_with_their_value(family, X, message):
    with pytest.raises(ValueError, match=message):
        family.fit(np.array(X, dtype=float))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Binomial(0), r"n_trials=0 must be whole numbers from 1\."),
        (lambda: Binomial([3, 2.5]), r"n_trials=\[3, 2\.5\] must be whole numbers from 1\."),
        (lambda: NegativeBinomial(-1.0), r"size=-1\.0 must be positive\."),
        (lambda: Poisson().fit([1, 2], [1.0]), r"sample_weight has shape \(1,\), but x has 2 rows\."),
        (lambda: Poisson().fit([1, 2], [1.0, -1.0]), r"sample_weight must not be negative"),
        (lambda: Poisson().fit(np.ones((2, 2, 2))), r"x has 3 dimensions; give rows of columns"),
        (lambda: Poisson().fit([1, 2]).log_prob([[1, 2]]), r"x has 2 columns, but the distribution has 1\."),
    ],
)
def test_settings_that_cannot_be_are_refused_with_their_value(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_start_of_positive_rows_is_near_the_end():
    X = positive_rows(60)
    family, block = Gamma(), Block.of(X)
    start = family.start(block, np.ones((60, 1)))
    np.testing.assert_allclose(start.shape[0], family.fit(X).parameters["shape"], rtol=1e-9)


def test_proportions_with_holes_learn_from_what_is_there():
    X = with_missing(proportion_rows(80))
    whole = Beta().fit(X).parameters
    for j in range(X.shape[1]):
        column = X[~np.isnan(X[:, j]), j]
        assert whole["a"][j] == pytest.approx(Beta().fit(column).parameters["a"][0], rel=1e-8)
