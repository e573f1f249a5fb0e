"""Numbers that others published, and agreement with SciPy and statsmodels."""

import numpy as np
import pytest
from scipy import stats

from tacit.assess import (
    adjust,
    anova,
    binomial_test,
    chi_square_test,
    fisher_test,
    friedman,
    kruskal,
    ks_test,
    likelihood_ratio,
    mann_whitney,
    mcnemar,
    mean_interval,
    nemenyi,
    permutation_test,
    proportion_interval,
    sign_test,
    t_test,
    variance_interval,
    variance_test,
    wilcoxon,
    z_test,
)
from tacit.linear_model import LinearRegression, LogisticRegression, Ridge

SLEEP = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0], [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
PLANTS = (
    [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
    [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
    [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
)
BASES = np.reshape([
    5.40, 5.50, 5.55, 5.85, 5.70, 5.75, 5.20, 5.60, 5.50, 5.55, 5.50, 5.40, 5.90, 5.85, 5.70, 5.45, 5.55, 5.60, 5.40, 5.40, 5.35,
    5.45, 5.50, 5.35, 5.25, 5.15, 5.00, 5.85, 5.80, 5.70, 5.25, 5.20, 5.10, 5.65, 5.55, 5.45, 5.60, 5.35, 5.45, 5.05, 5.00, 4.95,
    5.50, 5.50, 5.40, 5.45, 5.55, 5.50, 5.55, 5.55, 5.35, 5.45, 5.50, 5.55, 5.50, 5.45, 5.25, 5.65, 5.60, 5.40, 5.70, 5.65, 5.55,
    6.30, 6.30, 6.25], (22, 3))  # fmt: skip
PERMEABILITY = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46], [1.15, 0.88, 0.90, 0.74, 1.21]
DEPRESSION = (
    [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
    [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
)
EFFICIENCY = [2.9, 3.0, 2.5, 2.6, 3.2], [3.8, 2.7, 4.0, 2.4], [2.8, 3.4, 3.7, 2.2, 2.0]


def test_fifteen_of_forty():
    found = binomial_test(15, 40, 0.5, alternative="less")
    assert found.p_value == pytest.approx(0.0769, abs=5e-5)
    assert str(found.critical_region) == "{0, …, 14}"
    exact = sum(stats.binom.pmf(k, 40, 0.3) for k in range(15))
    assert found.power(0.3) == pytest.approx(exact, abs=1e-12)
    drawn = np.random.default_rng(0).binomial(40, 0.3, 200_000) <= 14
    assert drawn.mean() == pytest.approx(found.power(0.3), abs=0.004)
    assert found.type_ii_error(0.3) == pytest.approx(1 - exact, abs=1e-12)
    assert found.type_i_error == pytest.approx(stats.binom.cdf(14, 40, 0.5), abs=1e-12)


def test_r_documentation():
    """Examples of R's help pages, to the digits that they print."""
    welch = t_test(*SLEEP)
    assert (welch.statistic, welch.df[0], welch.p_value) == pytest.approx((-1.8608, 17.776, 0.07939), rel=1e-4)
    assert welch.interval == pytest.approx((-3.3654832, 0.2054832), abs=1e-7)
    pairs = t_test(*SLEEP, pairs=True)
    assert (pairs.statistic, pairs.p_value) == pytest.approx((-4.0621, 0.002833), rel=2e-4)
    assert pairs.interval == pytest.approx((-2.4598858, -0.7001142), abs=1e-7)
    plants = anova(*PLANTS)
    assert (plants.statistic, plants.p_value) == pytest.approx((4.846, 0.01591), rel=2e-4)
    assert (found := wilcoxon(*DEPRESSION, alternative="greater")).p_value == pytest.approx(0.01953, abs=5e-6)
    assert found.statistic == 40
    assert (found := mann_whitney(*PERMEABILITY, alternative="greater")).p_value == pytest.approx(0.1272, abs=5e-5)
    assert found.statistic == 35
    found = kruskal(*EFFICIENCY, method="asymptotic")
    assert (found.statistic, found.p_value) == pytest.approx((0.77143, 0.68), rel=1e-4)
    found = friedman(BASES)
    assert (found.statistic, found.p_value) == pytest.approx((11.143, 0.003805), rel=2e-4)
    found = chi_square_test([[762, 327, 468], [484, 239, 477]])
    assert (found.statistic, found.p_value) == pytest.approx((30.07, 2.954e-07), rel=2e-4)
    mendel = binomial_test(682, 925, 0.75)
    assert mendel.p_value == pytest.approx(0.3825, abs=5e-5)
    assert mendel.effect_interval == pytest.approx((0.7076683, 0.7654066), abs=1e-7)
    tea = fisher_test([[3, 1], [1, 3]], alternative="greater")
    assert (tea.p_value, tea.effect) == pytest.approx((0.2429, 6.408309), rel=3e-4)
    twins = fisher_test([[2, 15], [10, 3]])
    assert (twins.p_value, twins.effect) == pytest.approx((0.0005367, 0.04693661), rel=1e-4)
    assert twins.effect_interval == pytest.approx((0.003325764, 0.363182271), rel=3e-3)  # R's root finding stops there


def test_power_that_others_published():
    """power.t.test of R, and examples of G*Power's manual."""
    rng = np.random.default_rng(0)
    two = t_test(rng.normal(size=20), rng.normal(size=20), equal_variances=True)
    assert two.power(1.0) == pytest.approx(0.8689528, abs=5e-7)  # R leaves the other tail out
    assert two.sample_size(0.9, 1.0) == 2 * 23
    assert two.sample_size(0.8, 0.5) == 128
    assert two.sample_size(0.95, 0.5) == 210
    assert anova(*rng.normal(size=(10, 5))).sample_size(0.95, 0.25) == 390


def test_critical_differences_of_mean_ranks():
    """Demšar (2006): table 5, and 1.25 for four learners on fourteen data sets."""
    scores = np.random.default_rng(0).normal(size=(14, 4))
    assert nemenyi(scores).critical_difference == pytest.approx(1.25, abs=0.005)
    for k, q in zip(range(2, 11), (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)):
        unit = np.sqrt(k * (k + 1) / 60)
        assert nemenyi(np.random.default_rng(k).normal(size=(10, k))).critical_difference / unit == pytest.approx(
            q, abs=1e-3
        )


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_agreement_with_scipy(side, rng):
    x, y, z = rng.normal(size=17), rng.normal(0.6, 1.7, size=23), rng.gamma(2.0, size=20)
    coarse, rough = np.round(x), np.round(y)
    same = [
        (t_test(x, y, alternative=side), stats.ttest_ind(x, y, equal_var=False, alternative=side)),
        (t_test(x, y, equal_variances=True, alternative=side), stats.ttest_ind(x, y, alternative=side)),
        (t_test(x, mean=0.3, alternative=side), stats.ttest_1samp(x, 0.3, alternative=side)),
        (t_test(x, y[:17], pairs=True, alternative=side), stats.ttest_rel(x, y[:17], alternative=side)),
        (mann_whitney(x, y, alternative=side), stats.mannwhitneyu(x, y, alternative=side, method="exact")),
        (mann_whitney(coarse, rough, alternative=side, method="asymptotic"),
         stats.mannwhitneyu(coarse, rough, alternative=side, method="asymptotic")),
        (anova(x, y, z), stats.f_oneway(x, y, z)),
        (anova(x, y, z, equal_variances=False), stats.f_oneway(x, y, z, equal_var=False)),
        (kruskal(x, y, rough), stats.kruskal(x, y, rough)),
        (friedman(np.round(BASES, 1)), stats.friedmanchisquare(*np.round(BASES, 1).T)),
        (ks_test(x, y), stats.ks_2samp(x, y, method="exact")),
        (ks_test(rough, y), stats.ks_2samp(rough, y, method="exact")),
        (ks_test(x, "norm"), stats.kstest(x, "norm")),
        (chi_square_test([18, 25, 30]), stats.chisquare([18, 25, 30])),
    ]  # fmt: skip
    for ours, theirs in same:
        assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-8), ours.name
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-8), ours.name
    pairs = [
        (wilcoxon(y, alternative=side), stats.wilcoxon(y, alternative=side, method="exact")),
        (wilcoxon(rough, alternative=side, method="asymptotic"),
         stats.wilcoxon(rough[rough != 0], alternative=side, method="asymptotic", correction=True)),
        (sign_test(y, alternative=side), stats.binomtest(int((y > 0).sum()), len(y), alternative=side)),
        (binomial_test(11, 31, 0.4, alternative=side), stats.binomtest(11, 31, 0.4, alternative=side)),
        (fisher_test([[7, 4], [5, 12]], alternative=side), stats.fisher_exact([[7, 4], [5, 12]], alternative=side)),
    ]  # fmt: skip
    for ours, theirs in pairs:
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-8), ours.name
    few = rng.normal(size=6), rng.normal(0.5, size=5)
    theirs = stats.permutation_test(few, lambda a, b: a.mean() - b.mean(), alternative=side)
    assert permutation_test(*few, alternative=side).p_value == pytest.approx(theirs.pvalue, rel=1e-8)
    assert mcnemar([[10, 4], [11, 7]]).p_value == pytest.approx(stats.binomtest(4, 15).pvalue, rel=1e-8)


def test_exact_ranks_with_ties_are_permutations(rng):
    """Given the ties, exact p-values are those of all permutations, which SciPy counts one by one."""
    x, y = rng.integers(0, 4, 7).astype(float), rng.integers(1, 5, 6).astype(float)

    def total(a, b):
        return stats.rankdata(np.concatenate([a, b]))[: len(a)].sum()

    for side in ("less", "greater", "two-sided"):
        theirs = stats.permutation_test((x, y), total, alternative=side, vectorized=False)
        assert mann_whitney(x, y, alternative=side).p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    d = np.array([1.0, 1.0, -1.0, 2.0, 3.0, -3.0, 3.0, 5.0])

    def signed(a):
        return stats.rankdata(np.abs(a))[a > 0].sum()

    theirs = stats.permutation_test((d,), signed, permutation_type="samples", vectorized=False, alternative="greater")
    assert wilcoxon(d, alternative="greater").p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_agreement_with_statsmodels(rng):
    power = pytest.importorskip("statsmodels.stats.power")
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    x, y, z = rng.normal(size=15), rng.normal(size=30), rng.normal(size=20)
    two = t_test(x, y, equal_variances=True)
    ours, theirs = two.power(0.7), power.TTestIndPower().power(0.7, 15, 0.05, ratio=2)
    assert ours == pytest.approx(theirs, abs=1e-8)
    assert t_test(x).power(0.4) == pytest.approx(power.TTestPower().power(0.4, 15, 0.05), abs=1e-8)
    assert t_test(x).sample_size(0.8, 0.4) == np.ceil(power.TTestPower().solve_power(0.4, power=0.8, alpha=0.05))
    equal = anova(x[:15], y[:15], z[:15])
    assert equal.power(0.3) == pytest.approx(power.FTestAnovaPower().power(0.3, 45, 0.05, k_groups=3), abs=1e-8)
    fit = chi_square_test([30, 30, 40])
    assert fit.power(0.3) == pytest.approx(power.GofChisquarePower().power(0.3, 100, 0.05, n_bins=3), abs=1e-8)
    assert z_test(x, y, sd=1).power(0.6) == pytest.approx(
        power.NormalIndPower().power(0.6, 15, 0.05, ratio=2), abs=1e-8
    )
    for k, n in ((0, 12), (3, 40), (40, 40)):
        for method, name in (("wilson", "wilson"), ("clopper-pearson", "beta")):
            found = proportion_interval(k, n, method=method)
            np.testing.assert_allclose(
                (found.low, found.high), proportion.proportion_confint(k, n, method=name), atol=1e-8
            )
    p = rng.random(20) ** 3
    np.testing.assert_allclose(adjust(p), multitest.multipletests(p, method="holm")[1], rtol=1e-10)
    np.testing.assert_allclose(adjust(p, "bh"), multitest.multipletests(p, method="fdr_bh")[1], rtol=1e-10)


def test_effect_intervals_invert_the_noncentral_law(rng):
    """The ends are effects whose one-sided tests have the data at half the level."""
    x, y = rng.normal(size=18), rng.normal(0.8, size=22)
    found = t_test(x, y, equal_variances=True)
    low, high = found.effect_interval
    factor = found.effect / found.statistic
    for end, tail in ((low, "sf"), (high, "cdf")):
        assert getattr(stats.nct(38, end / factor), tail)(found.statistic) == pytest.approx(0.025, abs=1e-7)
    plants = anova(*PLANTS)
    low, high = plants.effect_interval
    assert stats.ncf(2, 27, 30 * low**2).sf(plants.statistic) == pytest.approx(0.025, abs=1e-6)
    assert stats.ncf(2, 27, 30 * high**2).cdf(plants.statistic) == pytest.approx(0.025, abs=1e-6)
    ratio = variance_test(x, y)
    low, high = ratio.effect_interval
    assert variance_test(x, y, ratio=low).p_value == pytest.approx(0.05, abs=1e-9)
    assert variance_test(x, y, ratio=high).p_value == pytest.approx(0.05, abs=1e-9)


def test_intervals_of_one_sample(rng):
    x = rng.normal(3, 2, 25)
    found = mean_interval(x, level=0.9)
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.9, 24, x.mean(), stats.sem(x)))
    spread = variance_interval(x)
    assert stats.chi2(24).sf(24 * x.var(ddof=1) / spread.low) == pytest.approx(0.025)
    assert stats.chi2(24).cdf(24 * x.var(ddof=1) / spread.high) == pytest.approx(0.025)


def test_nested_regressions(rng):
    """A column more: −2 log λ of least squares in closed form, that of logistic regression as statsmodels has it."""
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 0.3, 0.0] + rng.normal(size=80)
    small, large = LinearRegression().fit(X[:, :1], y), LinearRegression().fit(X, y)
    found = likelihood_ratio(small, large, (X[:, :1], X), y)
    squares = [((y - model.predict(part)) ** 2).sum() for model, part in ((small, X[:, :1]), (large, X))]
    assert found.statistic == pytest.approx(80 * np.log(squares[0] / squares[1]), rel=1e-9)
    assert found.df == (2.0,)
    assert found.p_value == pytest.approx(stats.chi2(2).sf(found.statistic), rel=1e-9)
    with pytest.raises(ValueError, match="Ridge is not fitted by maximum likelihood; use LinearRegression"):
        likelihood_ratio(Ridge().fit(X[:, :1], y), large, (X[:, :1], X), y)
    models = pytest.importorskip("statsmodels.api")
    z = (y + rng.logistic(size=80) > 0).astype(int)
    plain = [LogisticRegression(C=np.inf, tol=1e-10).fit(part, z) for part in (X[:, :1], X)]
    found = likelihood_ratio(*plain, (X[:, :1], X), z)
    theirs = [models.Logit(z, models.add_constant(part)).fit(disp=0).llf for part in (X[:, :1], X)]
    assert found.statistic == pytest.approx(2 * (theirs[1] - theirs[0]), abs=1e-6)
    assert found.df == (2.0,)
