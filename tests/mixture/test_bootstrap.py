"""The bootstrap of the likelihood ratio: it rejects what is false, keeps its level, and stops where mclust stops."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from tacit.mixture import GaussianMixture, bootstrap_lrt
from tacit.mixture.bootstrap import simulated
from tacit.source import ArraySource

from ..zoo import gaussian_rows, with_missing

TIED = GaussianMixture(covariance_type="tied")


def two_groups(rng, gap=6.0, n=60):
    return np.concatenate([rng.normal(0, 1, (n, 1)), rng.normal(gap, 1, (n, 1))])


def test_two_groups_are_not_one(rng):
    found = bootstrap_lrt(TIED, two_groups(rng), 1, n_bootstrap=39, random_state=0)
    assert found.p_value == 1 / 40
    assert found.replicates.shape == (39,)
    assert found.statistic > 5 * found.replicates.max()
    assert (found.replicates >= 0).all()


def test_the_statistic_is_twice_the_gain(rng):
    X = two_groups(rng)
    tight = {"covariance_type": "tied", "tol": 1e-10, "max_iter": 5000, "random_state": 0}
    one, two = (GaussianMixture(k, **tight).fit(X).score(X) * len(X) for k in (1, 2))
    found = bootstrap_lrt(TIED, X, 1, n_bootstrap=1, random_state=0)
    assert found.statistic == pytest.approx(2 * (two - one), abs=1e-3)


def test_sequence_stops_at_the_truth(rng):
    found = bootstrap_lrt(TIED, two_groups(rng), max_components=4, n_bootstrap=19, random_state=0)
    assert found.n_components == 2
    assert found.table["components"] == [1, 2]
    assert found.p_value[0] == 0.05
    assert found.p_value[1] > 0.05
    assert found.replicates.shape == (2, 19)
    assert "2 components at the level 0.05" in repr(found)


def test_sequence_that_ends_rejecting_says_one_more(rng):
    found = bootstrap_lrt(TIED, two_groups(rng), max_components=1, n_bootstrap=19, random_state=0)
    assert found.n_components == 2


@pytest.mark.full
def test_faithful_full_covariances_stop_at_two_or_three(table):
    X = table("faithful/faithful.csv").to_numpy(float)[:, -2:]
    found = bootstrap_lrt(GaussianMixture(), X, max_components=2, n_bootstrap=19, random_state=0)
    # −2 log λ of one against two: 2 (1289.7967 − 1130.2640).
    assert found.statistic[0] == pytest.approx(319.065, abs=2e-3)
    assert found.statistic[1] == pytest.approx(31.65, abs=5e-3)


@pytest.mark.full
def test_level_is_kept_under_the_hypothesis():
    """One group: p-values are uniform on the tenths; 0.1 is about three standard errors of a share of 200."""
    p_values = []
    for seed in range(200):
        X = np.random.default_rng(seed).normal(size=(50, 1))
        p_values.append(bootstrap_lrt(TIED, X, 1, n_bootstrap=9, random_state=seed).p_value)
    for level in (0.2, 0.5, 0.8):
        assert np.mean(np.array(p_values) <= level + 1e-9) == pytest.approx(level, abs=0.1)


def test_same_seed_same_replicates(rng):
    X = two_groups(rng, gap=3.0)
    first, again, other = (bootstrap_lrt(TIED, X, 1, n_bootstrap=4, random_state=seed).replicates for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_default_is_the_components_of_the_estimator(rng):
    told = []
    found = bootstrap_lrt(
        GaussianMixture(2, covariance_type="tied"), two_groups(rng), n_bootstrap=2, random_state=0,
        callback=lambda done, wanted: told.append((done, wanted)),
    )  # fmt: skip
    assert found.n_components == 2
    assert told == [(1, 2), (2, 2)]


def testsimulated_rows_have_the_holes_of_the_data(rng):
    X = with_missing(gaussian_rows())
    fitted = GaussianMixture(3, random_state=0).fit(X)
    drawn = simulated(fitted, ArraySource(X), rng).X
    np.testing.assert_array_equal(np.isnan(drawn), np.isnan(X))
    # Rows are drawn class by class; shuffled, the first half has rows of every class.
    assert (np.bincount(fitted.predict(drawn[:120]), minlength=3) > 0).all()


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"estimator": PCA()}, TypeError, "bootstrap_lrt takes a mixture, such as .*, but got PCA"),
        ({"n_bootstrap": 0}, ValueError, "n_bootstrap=0 is not a whole number of at least 1"),
        ({"n_components": 0}, ValueError, "n_components=0 is not a whole number of at least 1"),
        ({"level": 2.0}, ValueError, "level=2.0 is not a number of at least 0 and at most 1"),
        ({"n_components": 3, "max_components": 2}, ValueError, "max_components=2 is not a whole number of at least 3"),
        ({"X": "rows.parquet"}, ValueError, "takes rows in memory"),
        ({"n_components": 11}, ValueError, "the fit with 11 components failed: .*n_samples = 10"),
    ],
)
def test_bad_input(change, kind, message):
    arguments = {"estimator": GaussianMixture(), "X": gaussian_rows(n=10), "n_bootstrap": 2, **change}
    with pytest.raises(kind, match=message):
        bootstrap_lrt(**arguments)
