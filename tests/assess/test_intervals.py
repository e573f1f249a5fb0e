"""Intervals: coverage from 20 rows up on skewed and discrete data, and what likelihood intervals are by definition."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from tacit.assess import (
    chi_square_test,
    delta_interval,
    friedman,
    kruskal,
    mann_whitney,
    mean_interval,
    median_interval,
    profile_interval,
    proportion_interval,
    t_test,
    variance_interval,
    wilcoxon,
)
from tacit.families import DiagonalGaussian, Gamma, Poisson
from tacit.mixture import GaussianMixture, standard_errors

LEAST = 3.7
"""Standard errors of a share of samples."""


def covered(make, true, n, seed=0):
    rng = np.random.default_rng(seed)
    inside = 0
    for _ in range(n):
        low, high = make(rng)
        inside += low <= true <= high
    return inside / n


def ends(found):
    return found.low, found.high


CASES = {  # an interval of a sample of 20, the true value, and how far below its level it may be
    "mean of normal": (lambda rng: ends(mean_interval(rng.normal(3, 2, 20))), 3.0, 0.0),
    "mean of exponential": (lambda rng: ends(mean_interval(rng.exponential(size=20))), 1.0, 0.05),
    "variance of normal": (lambda rng: ends(variance_interval(rng.normal(3, 2, 20))), 4.0, 0.0),
    "median of exponential": (lambda rng: ends(median_interval(rng.exponential(size=20))), math.log(2), 0.0),
    "median of Poisson": (lambda rng: ends(median_interval(rng.poisson(3.4, 20))), 3.0, 0.0),
    "share by Wilson": (lambda rng: ends(proportion_interval(int(rng.binomial(20, 0.1)), 20)), 0.1, 0.01),
    "share, exact": (lambda rng: ends(proportion_interval(int(rng.binomial(20, 0.1)), 20, method="clopper-pearson")), 0.1, 0.0),
    "share, likelihood": (lambda rng: ends(proportion_interval(int(rng.binomial(20, 0.3)), 20, method="likelihood")), 0.3, 0.02),
    "d of two samples": (lambda rng: t_test(rng.normal(0.8, 1, 20), rng.normal(size=25), equal_variances=True).effect_interval,
                         0.8, 0.0),
    "d of Welch": (lambda rng: t_test(rng.normal(0.8 * math.sqrt(2.5), 2, 20), rng.normal(size=25)).effect_interval, 0.8, 0.02),
    "shift of exponential": (lambda rng: mann_whitney(1 + rng.exponential(size=20), rng.exponential(size=22)).interval, 1.0, 0.0),
    "P of normal": (lambda rng: mann_whitney(rng.normal(1, 1, 20), rng.normal(size=20)).effect_interval,
                    stats.norm.cdf(1 / math.sqrt(2)), 0.015),
    "P of Poisson": (lambda rng: mann_whitney(rng.poisson(4, 20), rng.poisson(2, 20)).effect_interval, 0.8008, 0.015),
    "center": (lambda rng: wilcoxon(rng.normal(1, 1, 20)).interval, 1.0, 0.0),
    "share of positive ranks": (lambda rng: wilcoxon(rng.normal(0.5, 1, 20)).effect_interval,
                                stats.norm.cdf(math.sqrt(0.5)), 0.02),
    "w of a table": (lambda rng: chi_square_test(rng.multinomial(60, [0.35, 0.15, 0.15, 0.35]).reshape(2, 2)).effect_interval,
                     0.4, 0.02),
    "epsilon squared": (lambda rng: kruskal(rng.normal(size=20), rng.normal(size=20), rng.normal(size=20)).effect_interval,
                        0.0, 0.0),
    "W of blocks": (lambda rng: friedman(rng.normal(size=(20, 4))).effect_interval, 0.0, 0.0),
    "mean of Poisson by likelihood": (lambda rng: _poisson(rng.poisson(1.5, 20)), 1.5, 0.01),
}  # fmt: skip


def _poisson(counts):
    return ends(profile_interval(Poisson().fit(counts), counts, of=lambda found: found.mean[0]))


@pytest.mark.parametrize("name", CASES)
def test_coverage(name):
    make, true, below = CASES[name]
    n = 150
    assert covered(make, true, n) >= 0.95 - below - LEAST * math.sqrt(0.95 * 0.05 / n)


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_coverage_of_many_samples(name):
    make, true, below = CASES[name]
    n = 2000
    assert covered(make, true, n, seed=1) >= 0.95 - below - LEAST * math.sqrt(0.95 * 0.05 / n)


def test_exact_coverage_of_shares():
    """Over all counts: Clopper and Pearson never below the level, Wilson near it on average, Wald far below near 0."""
    n, counts = 40, np.arange(41)
    told = {}
    for method in ("clopper-pearson", "wilson", "wald"):
        found = [proportion_interval(int(k), n, method=method) for k in counts]
        low, high = np.array([ends(each) for each in found]).T
        shares = np.linspace(0.02, 0.98, 97)
        told[method] = np.array([stats.binom.pmf(counts, n, p)[(low <= p) & (p <= high)].sum() for p in shares])
    assert told["clopper-pearson"].min() >= 0.95 - 1e-9
    assert told["wilson"].mean() == pytest.approx(0.95, abs=0.01)
    assert told["wilson"].min() > 0.83
    assert told["wald"].min() < 0.6


def test_likelihood_intervals_are_where_the_likelihood_has_fallen(rng):
    counts = rng.poisson(1.8, 30)
    total, n, fall = counts.sum(), len(counts), stats.chi2.ppf(0.95, 1) / 2

    def loglik(mean):
        return total * math.log(mean) - n * mean

    best = total / n
    exact = [brentq(lambda m: loglik(best) - loglik(m) - fall, *side) for side in ((1e-3, best), (best, 9))]
    assert _poisson(counts) == pytest.approx(exact, abs=1e-4)
    found = proportion_interval(4, 30, method="likelihood")
    for p in ends(found):
        assert stats.binom.logpmf(4, 30, 4 / 30) - stats.binom.logpmf(4, 30, p) == pytest.approx(fall, abs=1e-6)
    assert proportion_interval(0, 30, method="likelihood").low == 0
    assert proportion_interval(30, 30, method="likelihood").high == 1


def test_profiles_leave_other_parameters_free(rng):
    """The normal mean's profile has a closed form; that of a gamma's mean is a maximum over its shape."""
    x = rng.normal(2, 3, size=40)
    found = profile_interval(DiagonalGaussian().fit(x), x, of=lambda d: d.mean[0])
    reach = math.sqrt(x.var() * math.expm1(stats.chi2.ppf(0.95, 1) / 40))
    assert ends(found) == pytest.approx((x.mean() - reach, x.mean() + reach), abs=1e-3)
    g = rng.gamma(2.0, 3.0, size=50)
    fitted = Gamma().fit(g)
    found = profile_interval(fitted, g, of=lambda d: d.mean[0])
    best = fitted.log_prob(g).sum()
    for end in ends(found):
        shapes = np.linspace(0.5, 8, 4000)
        profile = np.max([stats.gamma.logpdf(g, a, scale=end / a).sum() for a in shapes])
        assert best - profile == pytest.approx(stats.chi2.ppf(0.95, 1) / 2, abs=2e-3)


def test_profile_of_a_mixture_is_near_walds_where_rows_are_many(rng):
    x = np.concatenate([rng.normal(0, 1, (400, 1)), rng.normal(6, 1, (300, 1))])
    fitted = GaussianMixture(2, random_state=0, tol=1e-9).fit(x)
    found = profile_interval(fitted, x, of=lambda m: m.means_.max())
    wald = standard_errors(fitted, x, method="information")
    k = int(np.argmax(fitted.means_[:, 0]))
    assert found.estimate == fitted.means_.max()
    assert ends(found) == pytest.approx((wald.lower["means_"][k, 0], wald.upper["means_"][k, 0]), abs=0.01)


def test_delta_is_the_first_order(rng):
    covariance = np.array([[0.04, 0.01], [0.01, 0.09]])
    found = delta_interval(lambda v: v[0] / v[1], [2.0, 4.0], covariance)
    slope = np.array([1 / 4, -2 / 16])
    assert found.high - found.estimate == pytest.approx(1.959964 * math.sqrt(slope @ covariance @ slope), rel=1e-6)
    with pytest.raises(ValueError, match="covariance has 1 entries, but 2 estimates need 4"):
        delta_interval(lambda v: v[0], [1, 2], 0.1)
