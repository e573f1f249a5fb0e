"""Input that no test can do with: fault, value and remedy."""

import re

import numpy as np
import pytest

from tacit.assess import (
    adjust,
    anova,
    binomial_test,
    bootstrap,
    chi_square_test,
    compare_groups,
    corrected_resampled_t,
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
    variance_test,
    wilcoxon,
    z_test,
)
from tacit.cluster import KMeans
from tacit.mixture import GaussianMixture

NAN = [1.0, np.nan, 3.0, 4.0]
FAULTS = [
    (lambda: t_test([1, 2, 3], alpha=0), "alpha=0 is not between 0 and 1; use 0.05, for instance."),
    (lambda: kruskal([1, 2], [3, 4], alpha=1.5), "alpha=1.5 is not between 0 and 1; use 0.05, for instance."),
    (lambda: mean_interval([1, 2], level=95), "level=95 is not between 0 and 1; use 0.95, for instance."),
    (lambda: t_test([]), "x has no values; give at least 2."),
    (lambda: t_test([3.0]), "x has 1 known value; give at least 2."),
    (lambda: mann_whitney([1, 2], []), "y has no values; give at least 1."),
    (lambda: anova([1, 2], []), "sample 2 has no values; give at least 1."),
    (lambda: t_test([2, 2, 2]), "all 3 values of x are 2; a test of means needs values that differ."),
    (lambda: t_test([2, 2], [3, 3]), "all values of x are 2 and all of y 3; a test of means needs values that differ."),
    (lambda: anova([1, 1], [2, 2]), "all values within each sample are equal; analysis of variance needs values that differ."),
    (lambda: variance_test([1, 1], [1, 2]), "all 2 values of x are 1; a test of means needs values that differ."),
    (lambda: t_test(NAN), "x holds 1 missing value among 4, the first at 1; leave them out with missing='drop'."),
    (lambda: wilcoxon(NAN, [1, 2, 3, 5]), "1 row of 4 holds a missing value, the first at 1; leave them out with "
                                          "missing='drop'."),
    (lambda: friedman([[1, 2], [np.nan, 2], [1, 2]]),
     "1 row of 3 holds a missing score, the first at 1; leave them out with missing='drop'."),
    (lambda: bootstrap("mean", NAN), "1 row of the data holds a missing value; leave them out with missing='drop'."),
    (lambda: t_test(NAN, missing="omit"), "missing='omit' is unknown; use one of 'raise', 'drop'."),
    (lambda: t_test([1, np.inf, 2]), "x holds inf; replace what is not finite."),
    (lambda: t_test(["a", "b"]), "x holds what is no number; give numbers, NaN where they are missing."),
    (lambda: t_test([[1, 2], [3, 4]]), "x has shape (2, 2); give one value per row."),
    (lambda: t_test([1, 2, 3], [1, 2], pairs=True), "x has 3 values and y 2; rows of both must belong together."),
    (lambda: t_test([1, 2], alternative="larger"), "alternative='larger' is unknown; use one of 'two-sided', 'less', 'greater'."),
    (lambda: wilcoxon([0, 0, 0]), "all 3 values are 0, the center to test; none lies on either side."),
    (lambda: sign_test([5, 5], median=5), "all 2 values are 5, the median to test; none lies on either side."),
    (lambda: z_test([1, 2], sd=0), "sd=0 is not above 0; give the known standard deviation."),
    (lambda: binomial_test(5, 4), "successes=5 exceeds n=4; give how many of how many."),
    (lambda: binomial_test(2.5, 4), "successes=2.5 is not a whole number of at least 0."),
    (lambda: binomial_test(1, 4, 1.0), "p=1.0 is not between 0 and 1; give the probability under the null hypothesis."),
    (lambda: proportion_interval(-1, 4), "successes=-1 is not a whole number of at least 0."),
    (lambda: chi_square_test([3, -1]), "observed holds -1, which is no count; give whole numbers of at least 0."),
    (lambda: chi_square_test([[1, 2], [0, 0]]), "observed has 1 row and 2 columns that are not all 0; give at least two "
                                                "of each."),
    (lambda: chi_square_test([0, 0]), "observed counts nothing; give at least one observation."),
    (lambda: fisher_test([[1, 0], [2, 0]]), "a row or column of [[1, 0], [2, 0]] counts nothing; there is nothing to compare."),
    (lambda: mcnemar([[4, 0], [0, 3]]), "no row of 7 has answers that differ; there is nothing to test."),
    (lambda: ks_test([1, 2], "binom"), "y='binom' is no continuous distribution of scipy.stats; use 'norm', for instance."),
    (lambda: corrected_resampled_t([1, 2], 0, 3), "n_train=0 is not above 0; give the rows of a split."),
    (lambda: adjust([0.1, 1.2]), "p_values holds 1.2, which is no probability; leave out tests without one."),
    (lambda: adjust([0.1], "bonferroni"), "method='bonferroni' is unknown; use one of 'holm', 'bh'."),
    (lambda: nemenyi([[1, 2], [3, 4]], ["a"]), "names has 1 entries, but scores have 2 columns; name each."),
    (lambda: permutation_test([1, 2]), "1 sample is given; kind='samples' needs at least two."),
    (lambda: bootstrap("mode", [1, 2]), "statistic='mode' is unknown; use one of 'mean', 'variance', 'sd', 'skewness', "
                                        "'kurtosis', "
     "'median', a quantile such as 0.9, or a function."),
    (lambda: bootstrap("mean", [1.0]), "there is 1 row to draw from; give at least 2."),
    (lambda: bootstrap(1.5, [1, 2]), "statistic=1.5 is no quantile between 0 and 1; use 0.5 for the median."),
    (lambda: bootstrap("mean", [1, 2], resample="parametric"),
     "resample='parametric' is for estimators; use 'cases' or 'blocks' for a statistic."),
    (lambda: bootstrap("mean", [1, 2, 3], resample="blocks", block_length=9),
     "block_length=9 is not between 1 and half of the 3 rows; use 1."),
    (lambda: bootstrap("mean", [1, 2], clusters=[1, 1]),
     "clusters has one label only; at least two clusters are needed, and many for good intervals."),
    (lambda: bootstrap("mean", [1, 2], checkpoint="x"),
     "a checkpoint needs the same samples again, but random_state=None; give a whole number."),
    (lambda: t_test([1, 2, 3]).sample_size(1.0, 0.5), "power=1.0 is no probability between 0 and 1; use 0.8, for instance."),
    (lambda: t_test([1, 2, 3]).sample_size(0.8, 0.0), "alternative=0 is the null hypothesis, which no number of rows "
                                                      "rejects; name another."),
    (lambda: binomial_test(3, 9).power(1.2), "alternative=1.2 is no effect of this test; it lies between 0 and 1."),
    (lambda: compare_groups({"g": ["a"] * 4, "x": [1, 2, 3, 4]}, "g"),
     "column 'g' has 1 value; at least two groups are needed to compare."),
    (lambda: compare_groups({"g": ["a", "a", "b"], "x": [1.5, 2, 3]}, "g"),
     "group 'b' of column 'g' has 1 row; at least 2 are needed. Name the groups to compare, such as g=a."),
    (lambda: compare_groups({"g": ["a", "b"] * 2, "x": [1, 2, 3, 4]}, "h"), "has no column 'h' to tell the groups by; it "
                                                                            "has g, x."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), FAULTS)
def test_faults_are_told_with_value_and_remedy(call, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        call()


def test_missing_values_are_counted_when_left_out():
    found = t_test(NAN, [1.0, 2.0, np.nan, np.nan], missing="drop")
    assert (found.dropped, found.sizes) == (3, (3, 2))
    assert "3 missing values were left out." in found.sentence
    pairs = t_test(NAN, [1.0, 2.0, 2.0, 9.0], pairs=True, missing="drop")
    assert (pairs.dropped, pairs.sizes) == (1, (3,))
    assert mean_interval(NAN, missing="drop").dropped == 1
    assert nemenyi([[1, 2], [np.nan, 2], [1, 2]], missing="drop").n_blocks == 2


def test_ties_everywhere_are_no_evidence():
    tied = [mann_whitney([1, 1, 1], [1, 1]), mann_whitney(np.ones(80), np.ones(90)), kruskal([1, 1], [1, 1, 1])]
    tied += [
        kruskal(*np.ones((3, 9))),
        friedman(np.ones((5, 3))),
        ks_test([1, 1], [1, 1, 1]),
        permutation_test([2, 2], [2, 2]),
    ]
    for found in tied:
        assert found.p_value == 1
        assert not found.rejected
        assert found.statistic not in found.critical_region


def test_one_observation_on_a_side_has_no_power_but_an_answer():
    found = mann_whitney([5.0], [1.0, 2.0, 3.0])
    assert found.p_value == 0.5
    assert str(found.critical_region) == "no value"
    assert found.power(0.99) == 0
    assert found.effect_interval[0] < 0.2


def test_more_resamples_than_memory_holds_are_refused_in_bytes():
    with pytest.raises(
        ValueError,
        match=r"n_resamples=1000000000000 takes 2\.4e\+04 GB, but this machine has .* GB of "
        "memory; use at",
    ):
        bootstrap("mean", [1.0, 2.0, 3.0], n_resamples=10**12)
    with pytest.raises(ValueError, match=r"n_resamples=1000000000000 takes"):
        permutation_test([1.0, 2.0], [3.0, 4.0], n_resamples=10**12)


def test_models_without_a_likelihood_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(TypeError, match="KMeans has no likelihood of rows with a number of parameters"):
        likelihood_ratio(KMeans(2).fit(X), KMeans(3).fit(X), X)
    small, large = GaussianMixture(1).fit(X), GaussianMixture(2).fit(X)
    with pytest.raises(ValueError, match="the null model must be the smaller"):
        likelihood_ratio(large, small, X)
