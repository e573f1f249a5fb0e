"""Stepwise EM: batches lead to where all rows at once would, and where they drift, the parameters follow."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import tacit
from tacit.engine import Online, fit, online_pass, online_step
from tacit.families import GAUSSIANS, DiagonalGaussian
from tacit.mixture import GaussianMixture, MixtureModel
from tacit.source import ArraySource
from tacit.testing import close

from ..zoo import LEARNERS, PARAMETRISATIONS, gaussian_rows, some, with_missing

KINDS = list(GAUSSIANS)


def clusters(n=6000, seed=0, apart=6.0):
    """Two clusters of unequal size, in random order, with their classes."""
    rng = np.random.default_rng(seed)
    classes = (rng.random(n) < 0.3).astype(int)
    spread = np.array([[1.0, 0.5, 1.5], [0.7, 1.2, 0.6]])[classes]
    return apart * classes[:, None] * np.array([1.0, -1.0, 0.5]) + spread * rng.normal(size=(n, 3)), classes


def in_order(mixture):
    """Weights, means and variances, components sorted by their first mean."""
    order = np.argsort(mixture.means_[:, 0])
    dense = mixture._params().components.dense[order]
    return mixture.weights_[order], mixture.means_[order], np.diagonal(dense, axis1=1, axis2=2)


def learned(batches, **settings):
    mixture = GaussianMixture(2, **{"random_state": 0, **settings})
    for batch in batches:
        mixture.partial_fit(*(batch if isinstance(batch, tuple) else (batch,)))
    return mixture


@pytest.mark.parametrize("holes", some([False, True], [True]))
@pytest.mark.parametrize("kind", KINDS)
def test_batches_approach_the_fit_to_all_rows(kind, holes):
    X = clusters()[0]
    X = with_missing(X) if holes else X
    whole = GaussianMixture(2, covariance_type=kind, random_state=0, tol=1e-8, max_iter=1000).fit(X)
    few = learned([X[:200]], covariance_type=kind)
    many = learned(np.split(X, 30), covariance_type=kind)
    for found, early, expected, scale in zip(in_order(many), in_order(few), in_order(whole), (1.0, 6.0, 1.0)):
        np.testing.assert_allclose(found, expected, atol=0.04 * scale, rtol=0.04)
        assert np.abs(found - expected).max() < np.abs(early - expected).max()
    assert many.n_iter_ == 30
    assert many.fit_.reason == "30 batches were seen"
    assert many.score(X) == pytest.approx(whole.score(X), abs=0.01)


# What k-medians sums up is about a grid that moves with every step, so that steps cannot be averaged.
@pytest.mark.parametrize(
    "name", some([name for name in LEARNERS if name != "k-medians"], [*PARAMETRISATIONS, "k-means", "soft k-means"])
)
def test_every_model_learns_by_steps(name):
    model, make = LEARNERS[name]
    source = ArraySource(with_missing(make(2000) if name != "one full" else make()), block_rows=100, n_jobs=1)
    rng = np.random.default_rng(0)
    start = model.init(source.sample(200, rng), rng)
    passes = fit(model, source, start, max_iter=300, tol=1e-9).trace.per_weight
    state = online_pass(model, source, start)
    assert state.steps == source.n_blocks
    # What units remember begins anew with every fit, so that those who remember are compared after as many passes.
    n_passes = 10 if model.remembers else 1
    found = fit(model, source, state.params, max_iter=n_passes, tol=0.0).trace.per_weight
    assert found[-1] > passes[len(found) - 1]
    if model.remembers:
        found = fit(model, source, state.params, max_iter=len(passes), tol=0.0).trace.per_weight
    assert found[-1] > passes[-1] - 0.05 * (1 + abs(passes[-1]))


def test_one_step_is_one_step_of_em():
    model = MixtureModel(DiagonalGaussian(), 3)
    source = ArraySource(gaussian_rows())
    rng = np.random.default_rng(0)
    start = model.init(source.sample(240, rng), rng)
    first = online_step(model, source, Online(start))
    plain = fit(model, source, start, max_iter=1)
    close(first.params, plain.params, 1e-12)
    assert first.score == plain.trace.per_weight[0]
    assert first.steps == 1
    # Statistics are per unit of weight, so the same batch again is the second step of EM, blended.
    second = online_step(model, source, first, least=1.0)
    close(second.params, fit(model, source, start, max_iter=2, tol=0.0).params, 1e-12)
    assert second.stats.weight == pytest.approx(1.0)


def test_steps_shrink_as_stated():
    model = MixtureModel(DiagonalGaussian(), 1)
    batches = [ArraySource(np.full((5, 1), x) + np.linspace(-0.1, 0.1, 5)[:, None]) for x in (0.0, 1.0, 5.0)]
    rng = np.random.default_rng(0)
    start = model.init(batches[0].sample(5, rng), rng)
    for decay in (0.6, 1.0):
        state, mean = Online(start), 0.0
        for t, (batch, x) in enumerate(zip(batches, (0.0, 1.0, 5.0))):
            state = online_step(model, batch, state, decay=decay)
            size = 1.0 if t == 0 else (t + 2.0) ** -decay
            mean = (1 - size) * mean + size * x
            assert state.params.components.mean[0, 0] == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_labels_and_holes_are_taken(kind):
    X, y = clusters(2000)
    rng = np.random.default_rng(1)
    labels = np.where(rng.random(len(X)) < 0.5, y, -1)
    incomplete = with_missing(X, 0.3)
    incomplete[:5] = np.nan
    batches = [(incomplete[i::10], labels[i::10], rng.uniform(0.5, 2.0, 200)) for i in range(10)]
    mixture = learned(batches, covariance_type=kind)
    # Labels say which component is which.
    np.testing.assert_allclose(mixture.means_, [X[y == k].mean(axis=0) for k in (0, 1)], atol=0.3)
    np.testing.assert_allclose(mixture.weights_, [0.7, 0.3], atol=0.06)


def test_weight_two_is_the_row_twice():
    X = clusters(600)[0]
    once = learned([(part, None, np.full(100, 2.0)) for part in np.split(X, 6)])
    twice = learned([np.repeat(part, 2, axis=0) for part in np.split(X, 6)])
    np.testing.assert_allclose(once.means_, twice.means_, rtol=1e-9)
    np.testing.assert_allclose(once.covariances_, twice.covariances_, rtol=1e-9)


def test_batches_may_come_from_files(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X = clusters(600)[0]
    paths = []
    for i, part in enumerate(np.split(X, 3)):
        paths.append(tmp_path / f"{i}.parquet")
        pq.write_table(pa.table({"a": part[:, 0], "b": part[:, 1], "c": part[:, 2]}), paths[-1])
    found, expected = learned(paths), learned(np.split(X, 3))
    np.testing.assert_allclose(found.means_, expected.means_, rtol=1e-10)
    assert found.feature_names_in_.tolist() == ["a", "b", "c"]


# Drift


def test_a_least_step_follows_a_moving_cluster():
    rng = np.random.default_rng(0)
    model = MixtureModel(DiagonalGaussian(), 2)
    where = np.linspace(0.0, 8.0, 120)
    batches = []
    for x in where:
        centres = np.repeat([[-10.0, 0.0], [x, 0.0]], 50, axis=0)
        batches.append(ArraySource(centres + rng.normal(size=(100, 2)), n_jobs=1))
    first = batches[0].sample(100, rng)
    start = model.init(first, rng)
    lag = {}
    for least in (0.0, 0.1):
        state = Online(start)
        for batch in batches:
            state = online_step(model, batch, state, least=least)
        lag[least] = where[-1] - state.params.components.mean[:, 0].max()
    # A constant step of 0.1 trails by about nine batches; shrinking steps by many more.
    assert lag[0.1] < 1.0
    assert lag[0.0] > 1.3 * lag[0.1]


# A quick way into a fit


def test_an_online_start_leads_to_the_same_maximum_in_no_more_passes():
    X = clusters(40_000, apart=1.7)[0]
    passes, bounds = {}, {}
    for online in (False, True):
        mixture = GaussianMixture(2, covariance_type="diag", random_state=0, tol=1e-7, max_iter=1000, n_jobs=1)
        mixture.fit(ArraySource(X, block_rows=1000, n_jobs=1), online=online)
        assert mixture.converged_
        passes[online], bounds[online] = mixture.fit_.trace.passes + online, mixture.lower_bound_
    assert bounds[True] == pytest.approx(bounds[False], abs=1e-5)
    assert passes[True] <= passes[False]


def test_blocks_without_weight_are_passed_over():
    model = MixtureModel(DiagonalGaussian(), 2)
    X = clusters(300)[0]
    weight = np.repeat([1.0, 0.0, 1.0], 100)
    rng = np.random.default_rng(0)
    source = ArraySource(X, weight, block_rows=100, n_jobs=1)
    start = model.init(source.sample(300, rng), rng)
    some = online_pass(model, source, start)
    less = online_pass(model, ArraySource(X[weight > 0], block_rows=100, n_jobs=1), start)
    assert some.steps == 2
    close(some.params, less.params, 1e-12)


# Life cycle of an estimator


def test_partial_fit_after_load_continues_from_the_loaded_parameters(tmp_path):
    X = clusters(1000)[0]
    fitted = GaussianMixture(2, random_state=0, tol=1e-6).fit(X)
    tacit.save(fitted, tmp_path / "m.tacit")
    loaded = tacit.load(tmp_path / "m.tacit")
    more = clusters(1000, seed=5)[0]
    loaded.partial_fit(more)
    fitted.partial_fit(more)
    np.testing.assert_allclose(loaded.means_, fitted.means_, rtol=1e-10)
    np.testing.assert_allclose(loaded.covariances_, fitted.covariances_, rtol=1e-10)
    assert loaded.lower_bound_ == pytest.approx(tacit.load(tmp_path / "m.tacit").score(more), rel=1e-10)


def test_an_online_fit_goes_on_after_load_as_if_it_had_not_stopped(tmp_path):
    parts = np.split(clusters(1200)[0], 6)
    straight = learned(parts)
    tacit.save(learned(parts[:5]), tmp_path / "m.tacit")
    resumed = tacit.load(tmp_path / "m.tacit").partial_fit(parts[5])
    np.testing.assert_allclose(resumed.means_, straight.means_, rtol=1e-8)
    assert resumed.n_iter_ == straight.n_iter_ == 6


def test_a_small_batch_does_not_wipe_out_what_fit_learned():
    X, y = clusters(2000)
    mixture = GaussianMixture(2, random_state=0, tol=1e-6).fit(X)
    before = in_order(mixture)
    mixture.partial_fit(X[y == 1][:20])
    assert mixture.weights_.min() > 0.05
    np.testing.assert_allclose(in_order(mixture)[1], before[1], atol=1.0)


def test_fit_begins_anew_and_later_batches_build_on_it():
    parts = np.split(clusters(1200)[0], 6)
    elsewhere = clusters(1000, seed=3)[0] + 100.0
    again = learned(parts).fit(elsewhere)
    fresh = GaussianMixture(2, random_state=0).fit(elsewhere)
    np.testing.assert_array_equal(again.means_, fresh.means_)
    again.partial_fit(elsewhere[:200])
    fresh.partial_fit(elsewhere[:200])
    np.testing.assert_allclose(again.means_, fresh.means_, rtol=1e-12)


def test_clone_knows_nothing_of_earlier_batches():
    parts = np.split(clusters(1200)[0], 6)
    old = learned(parts)
    new = clone(old)
    with pytest.raises(NotFittedError):
        new.predict(parts[0])
    np.testing.assert_array_equal(new.partial_fit(parts[0]).means_, learned(parts[:1]).means_)
    assert new.n_iter_ == 1


def test_the_same_batches_give_the_same_parameters():
    parts = np.split(clusters(1200)[0], 6)
    a, b = (learned(parts, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(a.means_, b.means_)


def test_results_can_be_had_between_batches():
    X, y = clusters(1200)
    mixture = learned(np.split(X, 6))
    agreement = (mixture.predict(X) == y).mean()
    assert max(agreement, 1 - agreement) > 0.99
    assert np.isfinite(mixture.bic(X))
    assert mixture.lower_bound_ == pytest.approx(learned(np.split(X, 6)[:5]).score(X[1000:]), abs=1e-10)


# Bad input


def test_a_first_batch_that_is_too_small_is_an_error():
    expected = "the first batch has n_samples = 3 rows, fewer than n_components = 4; begin with a larger one"
    mixture = GaussianMixture(4)
    with pytest.raises(ValueError, match=expected):
        mixture.partial_fit(clusters(3)[0])
    mixture.partial_fit(clusters(300)[0])
    mixture.partial_fit(clusters(2)[0])
    assert np.isfinite(mixture.means_).all()


def test_another_number_of_columns_is_an_error():
    mixture = learned([clusters(300)[0]])
    means = mixture.means_.copy()
    with pytest.raises(ValueError, match="X has 2 features, but GaussianMixture is expecting 3 features as input"):
        mixture.partial_fit(np.zeros((10, 2)))
    np.testing.assert_array_equal(mixture.means_, means)
    mixture.partial_fit(clusters(300)[0])
    assert mixture.n_iter_ == 2


def test_a_failed_first_batch_leaves_the_estimator_unfitted():
    mixture = GaussianMixture(2)
    with pytest.raises(ValueError, match="infinity"):
        mixture.partial_fit(np.array([[1.0], [np.inf], [2.0]]))
    with pytest.raises(NotFittedError):
        mixture.predict([[1.0]])
    mixture.partial_fit(clusters(300)[0])
    assert mixture.n_features_in_ == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sample_weight": np.zeros(50)}, "sample_weight is zero for every row"),
        ({"sample_weight": np.full(50, -2.0)}, "sample_weight holds -2; weights must be finite and not negative"),
        ({"y": np.r_[-1, np.full(49, 7)]}, "y holds 7, which is no class; known classes are 0 to 1"),
    ],
)
def test_bad_weights_and_labels_are_errors(arguments, message):
    X = clusters(50)[0]
    for mixture in (GaussianMixture(2), learned([clusters(300)[0]])):
        with pytest.raises(ValueError, match=message):
            mixture.partial_fit(X, **arguments)


def test_a_column_that_is_empty_in_a_later_batch_is_taken():
    mixture = learned([clusters(300)[0]])
    batch = clusters(100, seed=2)[0]
    batch[:, 1] = np.nan
    before = mixture.means_.copy()
    mixture.partial_fit(batch)
    assert np.abs(mixture.means_ - before).max() < 2.0


def test_no_steps_after_an_online_pass_keep_what_it_learned():
    X = clusters(3000)[0]
    source = ArraySource(X, block_rows=200, n_jobs=1)
    mixture = GaussianMixture(2, random_state=0, max_iter=1, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        mixture.fit(source, online=True)
    expected = GaussianMixture(2, random_state=0, tol=1e-6).fit(X)
    np.testing.assert_allclose(in_order(mixture)[1], in_order(expected)[1], atol=0.1)
