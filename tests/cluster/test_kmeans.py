"""KMeans: bounds that change nothing, missing cells, starts, empty clusters, sources, batches and bad input."""

from functools import partial

import numpy as np
import pytest
from sklearn.cluster import KMeans as Rival
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import nan_euclidean_distances

from tacit.cluster import KMeans, KMeansModel
from tacit.cluster.kmeans import ALGORITHMS
from tacit.cluster.seeds import oversampled
from tacit.engine import fit
from tacit.kernels.means import STATE
from tacit.source import ArraySource
from tacit.testing import check_model

from ..zoo import gaussian_rows, some, with_missing


def blobs(n=3000, d=6, k=12, spread=1.0, seed=0, dtype=np.float64):
    return make_blobs(n, d, centers=k, cluster_std=spread, random_state=seed)[0].astype(dtype)


def brute_force(X, center):
    """Nearest centres by scaled distances over observed cells, and the loss."""
    apart = nan_euclidean_distances(X, center) ** 2
    return apart.argmin(axis=1), apart.min(axis=1).sum()


@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_model(algorithm, holes):
    check_model(KMeansModel(4, algorithm), with_missing(gaussian_rows(), holes))


def test_model_with_weights():
    X = with_missing(gaussian_rows(), 0.1)
    check_model(KMeansModel(3), X, weight=np.random.default_rng(3).uniform(0.2, 3.0, len(X)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sizes", some([(5, 1.0), (5, 8.0), (250, 1.0), (250, 8.0)], [(5, 1.0), (250, 8.0)]))
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_bounds_hold_at_every_pass_and_change_no_label(algorithm, sizes, dtype):
    k, spread = sizes
    """Groups of a hundred need 200 centres and more; the spread decides how many bounds overlap."""
    X = blobs(4000, 5, 20, spread, dtype=dtype)
    source, model = ArraySource(X, block_rows=1500), KMeansModel(k, algorithm)
    params = model.init(source.sample(len(X), np.random.default_rng(0)), np.random.default_rng(0))
    for _ in range(8):
        stats = source.sum(partial(model.e_step, params))
        labels = np.concatenate([model.assign(params, block)[0] for block in source])
        apart = np.sqrt(((X.astype(float)[:, None] - params.center) ** 2).sum(axis=2))
        np.testing.assert_allclose(
            apart[np.arange(len(X)), labels], apart.min(axis=1), rtol=1e-6 if dtype == np.float64 else 1e-4
        )
        np.testing.assert_allclose(
            -stats.loglik, (apart.min(axis=1) ** 2).sum(), rtol=1e-9 if dtype == np.float64 else 1e-4
        )
        start = 0
        for block in source:
            memory, part = block.local[STATE], apart[start : start + len(block)][:, block.local[STATE].order]
            start += len(block)
            if memory.bounded:
                own = np.arange(len(block)), memory.labels
                assert (memory.upper >= part[own] * (1 - 1e-5)).all()
                part[own] = np.inf
                least = np.minimum.reduceat(part, memory.starts[:-1], axis=1)
                assert (memory.lower <= least * (1 + 1e-5)).all()
        params = model.mend(source, stats, params, model.m_step(stats, params))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_same_answer_as_scikit_learn_from_the_same_start(algorithm):
    X = blobs()
    start = X[np.random.default_rng(0).choice(len(X), 12, replace=False)]
    ours = KMeans(12, init=start, algorithm=algorithm, tol=0).fit(X)
    theirs = Rival(12, init=start, n_init=1, tol=0).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-12)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.fit_.reason == "no row changed its cluster"


def test_bounds_save_distances():
    """On clear clusters most rows need no distance after a few passes, and on noise the bounds rest."""
    X = blobs(20_000, 8, 16)
    source, model = ArraySource(X), KMeansModel(16)
    start = model.init(source.sample(5000, np.random.default_rng(0)), np.random.default_rng(0))
    fit(model, source, start, max_iter=30, tol=0.0)
    for block in source:
        assert block.local[STATE].totals[1] < 0.2 * len(block)
    X = np.random.default_rng(0).normal(size=(4000, 30))
    source, model = ArraySource(X), KMeansModel(100)
    params = model.init(source.sample(4000, np.random.default_rng(0)), np.random.default_rng(0))
    resting = []
    for _ in range(6):
        stats = source.sum(partial(model.e_step, params))
        resting += [not block.local[STATE].bounded for block in source]
        params = model.m_step(stats, params)
    assert any(resting)


def test_far_from_the_origin_nothing_is_lost():
    X = blobs(2000, 4, 6)
    start = X[:6]
    near, far = KMeans(6, init=start, tol=0).fit(X), KMeans(6, init=start + 1e7, tol=0).fit(X + 1e7)
    np.testing.assert_array_equal(near.labels_, far.labels_)
    np.testing.assert_allclose(far.inertia_, near.inertia_, rtol=1e-7)


def test_tight_clusters_far_apart_keep_their_digits():
    """The loss is a millionth of a millionth of the scatter, and must not drown in it."""
    X = np.vstack([center + 1e-3 * np.random.default_rng(0).normal(size=(500, 3)) for center in ([0.0] * 3, [1e6] * 3)])
    kmeans = KMeans(4, random_state=0, tol=0).fit(X)
    exact = ((X - kmeans.cluster_centers_[kmeans.labels_]) ** 2).sum()
    np.testing.assert_allclose(kmeans.inertia_, exact, rtol=1e-3)
    assert (np.diff(kmeans.trace_.objectives) >= -1e-6 * exact).all()


# Missing cells


def test_missing_cells_by_brute_force():
    X = with_missing(blobs(800, 5, 4), 0.25)
    kmeans = KMeans(4, random_state=0, tol=0).fit(X)
    labels, loss = brute_force(X, kmeans.cluster_centers_)
    np.testing.assert_array_equal(kmeans.labels_, labels)
    np.testing.assert_array_equal(kmeans.predict(X), labels)
    np.testing.assert_allclose(kmeans.inertia_, loss, rtol=1e-9)
    np.testing.assert_allclose(-kmeans.score(X), loss, rtol=1e-9)
    np.testing.assert_allclose(kmeans.transform(X), nan_euclidean_distances(X, kmeans.cluster_centers_), rtol=1e-9)
    scale = X.shape[1] / (~np.isnan(X)).sum(axis=1)
    for k in range(4):
        member = labels == k
        seen = ~np.isnan(X[member])
        share = seen * scale[member, None]
        mean = (share * np.nan_to_num(X[member])).sum(axis=0) / share.sum(axis=0)
        np.testing.assert_allclose(kmeans.cluster_centers_[k], mean, rtol=1e-9)


def test_clusters_survive_holes():
    X, truth = make_blobs(1500, 8, centers=5, random_state=1)
    incomplete = with_missing(X, 0.3)
    assert adjusted_rand_score(truth, KMeans(5, random_state=0, n_init=5).fit_predict(incomplete)) > 0.95


def test_a_row_without_cells_joins_some_cluster():
    X = np.vstack([blobs(50, 3, 2), np.full((1, 3), np.nan)])
    kmeans = KMeans(2, random_state=0).fit(X)
    assert 0 <= kmeans.labels_[-1] < 2
    assert np.isfinite(kmeans.inertia_)


def test_a_cell_no_row_of_a_cluster_shows_stays_where_it_is():
    X = np.array([[0.0, np.nan], [0.1, np.nan], [5.0, 5.0], [5.1, 5.2]])
    kmeans = KMeans(2, init=[[0.0, 3.0], [5.0, 5.0]]).fit(X)
    np.testing.assert_allclose(kmeans.cluster_centers_, [[0.05, 3.0], [5.05, 5.1]])


# Starts and empty clusters


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random"])
def test_every_start_finds_clear_clusters(init):
    X, truth = make_blobs(2000, 4, centers=6, cluster_std=0.3, random_state=2)
    kmeans = KMeans(6, init=init, n_init=5, random_state=0).fit(with_missing(X, 0.05))
    assert adjusted_rand_score(truth, kmeans.labels_) > 0.98


def test_starts_over_all_rows_are_as_good_as_greedy_ones():
    X = blobs(5000, 4, 40, 0.5)
    losses = {
        init: [KMeans(40, init=init, random_state=s, max_iter=1).fit(X).inertia_ for s in range(3)]
        for init in ("k-means++", "k-means||", "random")
    }
    assert np.mean(losses["k-means||"]) < 0.5 * np.mean(losses["random"])
    assert np.mean(losses["k-means||"]) < 2.0 * np.mean(losses["k-means++"])


def test_starts_over_all_rows_do_not_depend_on_blocks():
    X = blobs(1000, 3, 5)
    found = [oversampled(ArraySource(X, block_rows=rows), 5, np.random.default_rng(0)) for rows in (100, 333)]
    np.testing.assert_allclose(*found)


def test_rows_of_no_weight_are_no_starts():
    X = blobs(200, 3, 3)
    X[0] = 1e6
    weight = np.ones(200)
    weight[0] = 0.0
    for init in ("k-means++", "k-means||", "random"):
        centers = KMeans(3, init=init, random_state=0).fit(X, sample_weight=weight).cluster_centers_
        assert np.abs(centers).max() < 100.0


def test_empty_clusters_move_to_the_rows_that_fit_worst():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [20.0]])
    kmeans = KMeans(3, init=[[0.1], [100.0], [200.0]]).fit(X)
    np.testing.assert_allclose(np.sort(kmeans.cluster_centers_.ravel()), [0.1, 10.0, 20.0])
    assert (np.diff(kmeans.trace_.objectives) >= 0).all()


def test_empty_clusters_with_missing_cells_and_weights():
    X = with_missing(blobs(400, 4, 5, seed=3), 0.2)
    start = np.vstack([np.nanmean(X, axis=0), *(np.full((4, 4), 1e3) + np.arange(4)[:, None])])
    kmeans = KMeans(5, init=start).fit(X, sample_weight=np.random.default_rng(0).uniform(0.5, 2.0, 400))
    assert len(np.unique(kmeans.labels_)) == 5
    assert (np.diff(kmeans.trace_.objectives) >= -1e-9).all()


# Sources, weights, batches


def test_weights_are_repeated_rows():
    X = blobs(300, 3, 4)
    count = np.random.default_rng(0).integers(1, 4, size=300)
    heavy = KMeans(4, init=X[:4]).fit(X, sample_weight=count)
    many = KMeans(4, init=X[:4]).fit(np.repeat(X, count, axis=0))
    np.testing.assert_allclose(heavy.cluster_centers_, many.cluster_centers_, rtol=1e-12)
    np.testing.assert_allclose(heavy.inertia_, many.inertia_, rtol=1e-12)


def test_a_stream_gives_the_same_answer(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X = with_missing(blobs(3000, 4, 5), 0.1)
    path = tmp_path / "rows.parquet"
    pandas.DataFrame(X, columns=list("abcd")).to_parquet(path, row_group_size=700)
    for init in ("k-means++", "k-means||"):
        memory, stream = (KMeans(5, init=init, random_state=0).fit(rows) for rows in (X, str(path)))
        np.testing.assert_allclose(stream.cluster_centers_, memory.cluster_centers_, rtol=1e-9)
        np.testing.assert_array_equal(stream.labels_, memory.labels_)
    stream.predict(str(path), out=tmp_path / "clusters.parquet")
    np.testing.assert_array_equal(pandas.read_parquet(tmp_path / "clusters.parquet")["cluster"], memory.labels_)


def test_tables_keep_their_names():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(blobs(100, 2, 2), columns=["a", "b"])
    kmeans = KMeans(2, random_state=0).fit(table)
    assert list(kmeans.feature_names_in_) == ["a", "b"]
    assert list(kmeans.get_feature_names_out()) == ["kmeans0", "kmeans1"]


def test_batches_average_all_rows_a_centre_got():
    X = blobs(1200, 3, 4, 0.5)
    kmeans = KMeans(4, random_state=0)
    for batch in np.array_split(X, 6):
        kmeans.partial_fit(batch)
    assert kmeans.n_iter_ == 6
    np.testing.assert_allclose(kmeans.fit_.stats.weight, len(X))
    best = KMeans(4, random_state=0).fit(X)
    assert kmeans.score(X) > 1.05 * best.score(X)
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
        KMeans(4).partial_fit(X[:3])


def test_a_batch_may_lack_a_cluster(recwarn):
    X = np.vstack([blobs(50, 2, 1, seed=1), 100.0 + blobs(50, 2, 1, seed=1)])
    kmeans = KMeans(2, random_state=0).partial_fit(X).partial_fit(X[:50])
    assert kmeans.fit_.reason == "2 batches were seen"
    assert not [w for w in recwarn if issubclass(w.category, ConvergenceWarning)]


def test_an_interrupted_fit_goes_on(tmp_path):
    X, path = blobs(2000, 4, 10, 3.0), tmp_path / "state"
    expected = KMeans(10, random_state=0).fit(X)

    def stop(progress):
        if progress.step == 3:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted by the user after 3 steps"):
        KMeans(10, random_state=0, callback=stop).fit(X, checkpoint=path, checkpoint_every=0.0)
    again = KMeans(10, random_state=0).fit(X, checkpoint=path)
    np.testing.assert_allclose(again.cluster_centers_, expected.cluster_centers_, rtol=1e-9)
    assert again.n_iter_ == expected.n_iter_


def test_threads_do_not_matter():
    X = blobs(40_000, 8, 20, 4.0)
    one, two = (KMeans(20, random_state=0, n_jobs=n).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    assert one.inertia_ == two.inertia_


def test_iris():
    """The well-known loss of three clusters."""
    assert KMeans(3, n_init=10, random_state=0).fit(load_iris().data).inertia_ == pytest.approx(78.851441, abs=1e-5)


# Bad input


def test_more_clusters_than_distinct_points():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\) found smaller than n_clusters \(4\)"):
        kmeans = KMeans(4, random_state=0).fit(X)
    assert kmeans.inertia_ == 0.0


def test_all_points_identical():
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\)"):
        kmeans = KMeans(3, random_state=0).fit(np.ones((20, 2)))
    np.testing.assert_array_equal(kmeans.cluster_centers_, np.ones((3, 2)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 is not a whole number of at least 1"),
        ({"n_clusters": 21}, "n_samples=20 should be >= n_clusters=21; use at most 20"),
        ({"init": "farthest"}, "init='farthest' is unknown; use one of 'k-means"),
        ({"init": np.ones((3, 2))}, r"initial centers \(3, 2\) does not match the number of clusters 2"),
        ({"init": np.ones((2, 3))}, r"initial centers \(2, 3\) does not match the number of features of the data 2"),
        ({"init": [[np.nan, 0.0], [1.0, 1.0]]}, "init holds NaN or infinity"),
        ({"algorithm": "full"}, "algorithm='full' is unknown"),
        ({"n_init": 0}, "n_init=0 is not a whole number"),
        ({"tol": -1.0}, "tol=-1.0 is not a number of at least 0"),
        ({"max_iter": 0}, "max_iter=0 is not a whole number of at least 1"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        KMeans(**{"n_clusters": 2, **settings}).fit(np.arange(40.0).reshape(20, 2))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[1.0, np.inf], [0.0, 1.0], [2.0, 2.0]]), "infinity"),
        (np.array([[1.0, np.nan], [0.0, np.nan], [2.0, np.nan]]), "column 1 has no observed value"),
        (np.array([["a", "b"], ["c", "d"]]), "could not convert string to float"),
    ],
)
def test_bad_rows(X, message):
    with pytest.raises(ValueError, match=message):
        KMeans(2).fit(X)
