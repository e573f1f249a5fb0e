"""KMedoids: what it finds, on any rows, with weights, from any start, on samples, and for several numbers of clusters."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris

import tacit
from tacit.cluster import KMedoids
from tacit.cluster.medoids import kmedoids, samples
from tacit.cluster.medoids.partition import Pairs, Partition
from tacit.cluster.medoids.starts import STARTS, build
from tacit.kernels import medoids as kernels

from ..zoo import gaussian_rows

METHODS = ("fasterpam", "pam", "fastpam1", "alternate")


@pytest.fixture(scope="module")
def X():
    return gaussian_rows(n=300, n_classes=5)


def distances(X):
    D = cdist(X, X)
    return (D + D.T) / 2


def loss_of(D, medoids, weight=1.0):
    return float((weight * D[list(medoids)].min(axis=0)).sum())


def test_iris_has_the_published_medoids():
    model = KMedoids(3).fit(load_iris().data)
    assert sorted(model.medoid_indices_ + 1) == [8, 79, 113]
    assert model.inertia_ == pytest.approx(98.13115, abs=5e-6)
    assert model.converged_
    np.testing.assert_array_equal(model.cluster_centers_, load_iris().data[model.medoid_indices_])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("init", STARTS)
def test_every_method_from_every_start(X, method, init):
    model = KMedoids(5, method=method, init=init, random_state=1).fit(X)
    D = cdist(X, X[model.medoid_indices_])
    np.testing.assert_array_equal(model.labels_, D.argmin(axis=1))
    assert model.inertia_ == pytest.approx(D.min(axis=1).sum(), rel=1e-12)
    assert model.losses_[-1] == pytest.approx(model.inertia_, rel=1e-12)
    assert (np.diff(model.losses_) <= 1e-9).all()
    assert model.converged_
    assert model.n_iter_ == len(model.losses_) - 1
    two = np.sort(D, axis=1)[:, :2]
    assert model.medoid_silhouette_ == pytest.approx((1 - two[:, 0] / two[:, 1]).mean())


@pytest.mark.parametrize("method", ["fasterpam", "pam"])
def test_no_exchange_is_left(X, method):
    X = X[:60]
    model, D = KMedoids(4, method=method, init="random", random_state=3).fit(X), distances(X)
    for place in range(4):
        for row in range(len(X)):
            others = [*np.delete(model.medoid_indices_, place), row]
            assert loss_of(D, others) >= model.inertia_ - 1e-9


def test_the_kernel_knows_what_every_exchange_changes(X):
    rng = np.random.default_rng(0)
    D, weight = distances(X[:40]), rng.uniform(0.5, 2.0, 40)
    part = Partition(Pairs.of(D, weight), [3, 17, 25])
    for candidate in range(40):
        place, change = kernels.change_of(
            D[candidate], weight, part.near, part.d1, part.d2, part.removal, np.empty(41, np.int32), np.empty(3)
        )
        changes = [loss_of(D, [*np.delete(part.medoids, m), candidate], weight) - part.loss for m in range(3)]
        assert change == pytest.approx(min(changes), abs=1e-9)
        assert changes[place] == pytest.approx(min(changes), abs=1e-9)
    for candidate, place in ((30, 1), (3 + 1, 0), (39, 2), (8, 1)):
        part.exchange(candidate, place)
        fresh = Partition(Pairs.of(D, weight), part.medoids)
        np.testing.assert_array_equal(part.d1, fresh.d1)
        np.testing.assert_array_equal(part.d2, fresh.d2)
        assert part.loss == fresh.loss


def test_build_is_the_greedy_choice(X):
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    D = distances(X)
    chosen = []
    for _ in range(6):
        losses = [loss_of(D, [*chosen, c], weight) if weight[c] and c not in chosen else np.inf for c in range(len(X))]
        chosen.append(int(np.argmin(losses)))
    assert build(Pairs.of(D, weight, threads=2), 6).tolist() == chosen
    assert build(Pairs.of(D, weight), 6, given=chosen[:3]).tolist() == chosen


@pytest.mark.parametrize("options", [{}, {"method": "pam"}, {"init": "k-medoids++"}, {"init": "lab"}, {"sampling": 60}])
def test_weight_two_is_a_row_twice_and_order_does_not_matter(X, options):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(X))
    order = rng.permutation(len(X))
    repeated = np.repeat(X[order], weight[order], axis=0)
    a = KMedoids(5, random_state=0, **options).fit(X, sample_weight=weight)
    b = KMedoids(5, random_state=0, **options).fit(repeated)
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    assert a.inertia_ == pytest.approx(b.inertia_, rel=1e-12)
    assert a.medoid_silhouette_ == pytest.approx(b.medoid_silhouette_, rel=1e-12)
    assert (weight[a.medoid_indices_] > 0).all()
    np.testing.assert_array_equal(a.labels_, a.predict(X))  # rows of weight 0 too


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_a_given_matrix(X, method):
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    D = distances(X)
    start = np.flatnonzero(weight)[:4]
    model = KMedoids(4, metric="precomputed", method=method, init=start).fit(D, sample_weight=weight)
    assert (weight[model.medoid_indices_] > 0).all()
    assert model.inertia_ == pytest.approx(loss_of(D, model.medoid_indices_, weight))
    rows = np.repeat(np.arange(len(X)), weight.astype(int))
    twice = KMedoids(4, metric="precomputed", method=method, init=np.searchsorted(rows, start)).fit(
        D[np.ix_(rows, rows)]
    )
    assert twice.inertia_ == pytest.approx(model.inertia_)


def test_threads_change_nothing():
    X = gaussian_rows(n=1200, n_classes=6)
    for options in ({}, {"method": "pam"}, {"init": "random"}, {"metric": "precomputed"}, {"sampling": 300}):
        rows = distances(X) if "metric" in options else X
        one, two = (KMedoids(6, random_state=0, n_jobs=n, **options).fit(rows) for n in (1, 3))
        np.testing.assert_array_equal(one.medoid_indices_, two.medoid_indices_)
        np.testing.assert_array_equal(one.losses_, two.losses_)


def test_one_cluster_is_the_most_central_row(X):
    model = KMedoids(1).fit(X)
    totals = distances(X).sum(axis=1)
    assert model.inertia_ == pytest.approx(totals.min())
    assert model.medoid_indices_.tolist() == [totals.argmin()]
    assert np.isnan(model.medoid_silhouette_)


def test_as_many_clusters_as_rows(X):
    model = KMedoids(20).fit(X[:20])
    assert model.inertia_ == 0
    assert sorted(model.medoid_indices_) == list(range(20))


def test_outliers_do_not_pull_medoids(X):
    without = KMedoids(5).fit(X)
    far = np.vstack([X, [[1e6] * X.shape[1]]])
    for k in (5, 6):
        model = KMedoids(k, init="random", random_state=0).fit(far)
        assert len(X) in model.medoid_indices_  # alone in its cluster, or the loss would be a million
        assert np.sum(model.labels_ == model.labels_[-1]) == 1
    assert model.inertia_ == pytest.approx(without.inertia_, rel=0.02)


def test_predict_transform_and_score(X):
    model = KMedoids(5).fit(X[:200])
    new = X[200:]
    D = cdist(new, model.cluster_centers_)
    np.testing.assert_allclose(model.transform(new), D)
    np.testing.assert_array_equal(model.predict(new), D.argmin(axis=1))
    weight = np.arange(len(new), dtype=float)
    assert model.score(new) == pytest.approx(-D.min(axis=1).sum())
    assert model.score(new, sample_weight=weight) == pytest.approx(-(weight @ D.min(axis=1)))
    assert model.get_feature_names_out().tolist() == [f"kmedoids{k}" for k in range(5)]


def test_prediction_from_given_dissimilarities(X):
    D = distances(X)
    model = KMedoids(4, metric="precomputed").fit(D[:200, :200].copy())
    assert model.cluster_centers_ is None
    to_rows = D[200:, :200]
    to_medoids = to_rows[:, model.medoid_indices_]
    np.testing.assert_array_equal(model.predict(to_rows), to_medoids.argmin(axis=1))
    np.testing.assert_array_equal(model.predict(to_medoids), to_medoids.argmin(axis=1))
    np.testing.assert_array_equal(model.transform(to_rows), to_medoids)
    with pytest.raises(AttributeError, match="precomputed matrix has no rows"):
        _ = model.medoids_


def test_a_given_matrix_may_be_read_only_mapped_whole_numbers_or_of_any_layout(X, tmp_path):
    D = distances(X)
    expected = KMedoids(4, metric="precomputed").fit(D)
    np.save(tmp_path / "D.npy", D)
    sealed = D.copy()
    sealed.flags.writeable = False
    for given in (sealed, np.load(tmp_path / "D.npy", mmap_mode="r"), np.asfortranarray(D)):
        model = KMedoids(4, metric="precomputed").fit(given)
        assert model.inertia_ == expected.inertia_
        np.testing.assert_array_equal(model.medoid_indices_, expected.medoid_indices_)
    wide = np.zeros((300, 600), dtype=np.int32)
    wide[:, ::2] = np.round(100 * D)
    assert KMedoids(4, metric="precomputed").fit(wide[:, ::2]).inertia_ == pytest.approx(
        100 * expected.inertia_, rel=1e-3
    )


@pytest.fixture
def seen(monkeypatch):
    """The matrices that are searched."""
    found, search = [], kmedoids.search
    monkeypatch.setattr(
        kmedoids, "search", lambda pairs, *rest, **settings: found.append(pairs.D) or search(pairs, *rest, **settings)
    )
    return found


def test_a_given_matrix_is_not_copied(X, seen):
    D = distances(X)
    KMedoids(4, metric="precomputed").fit(D)
    assert len(seen) == 1
    assert np.shares_memory(seen[0], D)


def test_float32_rows_have_a_float32_matrix(X, seen):
    model = KMedoids(5).fit(X.astype(np.float32))
    assert seen[0].dtype == np.float32
    assert model.inertia_ == pytest.approx(KMedoids(5).fit(X).inertia_, rel=1e-5)


def test_number_of_clusters_by_silhouette():
    rng = np.random.default_rng(0)
    X = np.repeat(10 * np.eye(4), 40, axis=0) + rng.normal(size=(160, 4))
    model = KMedoids("auto").fit(X)
    assert model.n_clusters_ == len(model.medoid_indices_) == 4
    table = model.silhouettes_
    assert table["n_clusters"] == list(range(2, 11))
    assert (np.diff(table["loss"]) < 0).all()
    assert max(table["medoid_silhouette"]) == model.medoid_silhouette_
    assert table["loss"][2] == model.inertia_
    for row in table:  # no worse than a fit of its own
        assert row["loss"] <= KMedoids(row["n_clusters"]).fit(X).inertia_ + 1e-9
    some = KMedoids([6, 4, 4]).fit(X)
    assert some.silhouettes_["n_clusters"] == [4, 6]
    assert some.n_clusters_ == 4
    assert KMedoids(range(2, 6), sampling=80, random_state=0).fit(X).n_clusters_ == 4


def test_silhouette_equals_that_of_the_rows_on_medoids():
    X = np.repeat([[0.0], [1.0], [5.0]], 3, axis=0)
    assert KMedoids(3).fit(X).medoid_silhouette_ == 1.0


def test_large_data_are_sampled_without_a_large_matrix(seen, monkeypatch):
    rng = np.random.default_rng(0)
    centres = 20 * rng.normal(size=(6, 3))
    X = centres[rng.integers(6, size=50_000)] + rng.normal(size=(50_000, 3))
    monkeypatch.setattr(samples, "SAMPLE_ROWS", 800)
    model = KMedoids(6, random_state=0, n_samplings=3).fit(X)
    assert model.sample_size_ == 800
    assert len(seen) == 3
    assert max(map(len, seen)) <= 800 + 6
    D = cdist(X, X[model.medoid_indices_])
    assert model.inertia_ == pytest.approx(D.min(axis=1).sum())
    assert model.inertia_ < 1.03 * cdist(X, centres).min(axis=1).sum()


def test_more_samples_never_hurt(X):
    losses = [KMedoids(5, sampling=40, n_samplings=n, random_state=0).fit(X).inertia_ for n in (1, 3, 6)]
    assert losses[0] >= losses[1] >= losses[2] >= KMedoids(5).fit(X).inertia_ - 1e-9


def test_samples_of_a_given_matrix_and_of_skewed_weights(X):
    D = distances(X)
    model = KMedoids(4, metric="precomputed", sampling=50, random_state=0).fit(D)
    assert model.sample_size_ == 50
    assert model.inertia_ == pytest.approx(loss_of(D, model.medoid_indices_))
    weight = np.full(len(X), 1e-9)
    weight[0] = 1.0  # every draw is this row
    skewed = KMedoids(4, sampling=20, random_state=0).fit(X, sample_weight=weight)
    assert len(set(skewed.medoid_indices_)) == 4
    start = KMedoids(4, sampling=50, init=[1, 2, 3, 4], random_state=0).fit(X)
    assert start.inertia_ <= loss_of(D, [1, 2, 3, 4])


def test_given_start(X):
    same = KMedoids(3, init=[5, 6, 7], max_iter=0).fit(X)
    assert set(same.medoid_indices_) == {5, 6, 7}
    doubled = np.vstack([X, X])
    model = KMedoids(3, init=[5, 305, 7], max_iter=0).fit(doubled)  # two of the rows are equal
    assert len({tuple(row) for row in model.cluster_centers_}) == 3


def test_loss_is_printed(X, capsys):
    KMedoids(3, verbose=1).fit(X)
    assert "3 medoids, iteration 1: loss" in capsys.readouterr().out


def test_saved_with_its_table_and_clone(X, tmp_path):
    model = KMedoids(range(2, 5), metric="seuclidean").fit(X)
    tacit.save(model, tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert str(again.silhouettes_) == str(model.silhouettes_)
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    np.testing.assert_array_equal(again.metric_params_["V"], model.metric_params_["V"])
    assert clone(model).n_clusters == range(2, 5)
    with pytest.raises(
        TypeError, match="is a function, which a model file cannot hold; use a named metric, or pickle the model"
    ):
        tacit.save(KMedoids(2, metric=chebyshev).fit(X[:20]), tmp_path / "f.tacit")


def chebyshev(x, y):
    return np.abs(x - y).max()


@pytest.mark.parametrize(
    "settings", [{}, {"method": "pam"}, {"method": "alternate"}, {"init": "random"}, {"sampling": 30}], ids=str
)
def test_only_candidates_become_medoids(settings):
    X = np.random.default_rng(0).normal(size=(120, 2))
    allowed = np.arange(0, 120, 7)
    model = KMedoids(3, medoid_candidates=allowed, random_state=0, **settings).fit(X)
    assert set(model.medoid_indices_) <= set(allowed)
    if settings == {}:
        D, medoids = cdist(X, X), model.medoid_indices_
        assert model.inertia_ == pytest.approx(D[medoids].min(axis=0).sum())
        for candidate, place in product(allowed, range(3)):  # no exchange is better
            other = np.where(np.arange(3) == place, candidate, medoids)
            assert D[other].min(axis=0).sum() >= model.inertia_ - 1e-9
        mask = np.isin(np.arange(120), allowed)
        np.testing.assert_array_equal(KMedoids(3, medoid_candidates=mask).fit(X).medoid_indices_, model.medoid_indices_)
        given = KMedoids(3, metric="precomputed", medoid_candidates=allowed).fit(D)
        assert given.inertia_ == pytest.approx(model.inertia_)
    twins = KMedoids(2, medoid_candidates=[3, 1]).fit(np.array([[0.0], [5.0], [5.0], [0.0]]))
    assert sorted(twins.medoid_indices_) == [1, 3]  # equal rows are one, but the candidate is named


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"medoid_candidates": [1, 99]}, "are not rows of X; give numbers of rows from 0 to 9, or a mask of 10"),
        ({"medoid_candidates": [0.5]}, "are not rows of X"),
        (
            {"medoid_candidates": [4]},
            "medoid_candidates hold 1 distinct rows of positive weight, fewer than n_clusters=2",
        ),
        ({"medoid_candidates": [4, 5], "init": [4, 6]}, "init holds row 6, which is not among medoid_candidates"),
    ],
)
def test_candidates_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(2, **settings).fit(np.arange(10.0)[:, None])


def test_rows_without_a_column_in_common_with_a_medoid_are_told():
    X = np.vstack([np.c_[np.r_[0:5, 20:25], np.full((10, 1), np.nan)], [[np.nan, 3.0], [np.nan, 4.0]]])
    with pytest.warns(
        UserWarning, match=r"the clusters of 2 rows are unknown \(uncovered_: 10, 11\): no column is observed"
    ):
        model = KMedoids(2, metric="nan_euclidean", medoid_candidates=range(10)).fit(X)
    assert model.uncovered_.tolist() == [10, 11]
    assert model.shared_columns_.tolist() == [1] * 10 + [0, 0]
    table = model.coverage()
    assert (sum(table["unknown"]), sum(table["rows"])) == (2, 12)
    whole = KMedoids(2).fit(X[:10, :1])
    assert whole.shared_columns_ is None
    assert whole.coverage()["shared"] == [1.0, 1.0]
