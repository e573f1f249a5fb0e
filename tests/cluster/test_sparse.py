"""Sparse rows: the same clusters as those of the array, at the cost of the cells that are stored."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans as Rival
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import euclidean_distances

import tacit
from tacit.cluster import KMeans, MiniBatchKMeans, k_means, kmeans_plusplus
from tacit.kernels import kernel
from tacit.mixture import GaussianMixture
from tacit.source import ArraySource, SparseRows, SparseSource, as_source


def texts(n=600, d=80, n_groups=6, seed=0, dtype=np.float64):
    """Rows of a few words each, mostly of their group; the first ones are empty."""
    rng = np.random.default_rng(seed)
    words = rng.integers(d, size=(n_groups, 12))
    group = rng.integers(n_groups, size=n)
    X = np.zeros((n, d))
    for i in range(3, n):
        X[i, rng.choice(words[group[i]], 5)] += rng.uniform(0.5, 2.0, 5)
        X[i, rng.integers(d, size=2)] -= 0.3
    return X.astype(dtype)


def same(one, other, rtol=1e-10):
    np.testing.assert_array_equal(one.labels_, other.labels_)
    scale = np.abs(other.cluster_centers_).max()
    np.testing.assert_allclose(one.cluster_centers_, other.cluster_centers_, rtol=0, atol=rtol * scale)
    assert one.inertia_ == pytest.approx(other.inertia_, rel=rtol)
    assert one.n_iter_ == other.n_iter_


@pytest.mark.parametrize("init", ["k-means++", "random", "k-means||"])
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_array])
def test_sparse_rows_give_the_clusters_of_the_array(container, init):
    X, weight = texts(), np.random.default_rng(1).uniform(0.0, 2.0, 600)
    settings = {"n_clusters": 6, "init": init, "n_init": 2, "random_state": 3}
    same(KMeans(**settings).fit(container(X), sample_weight=weight), KMeans(**settings).fit(X, sample_weight=weight))


@pytest.mark.parametrize("n_clusters", [1, 2, 63, 64, 65, 130])
def test_any_number_of_clusters(n_clusters):
    X = texts()
    start = X[:n_clusters] + 0.01 * np.random.default_rng(0).normal(size=(n_clusters, X.shape[1]))
    same(KMeans(n_clusters, init=start).fit(sp.csr_array(X)), KMeans(n_clusters, init=start).fit(X))


@pytest.mark.parametrize("algorithm", ["lloyd", "hamerly", "yinyang", "elkan"])
def test_the_algorithm_does_not_matter(algorithm):
    X = sp.csr_array(texts())
    same(KMeans(5, algorithm=algorithm, random_state=0).fit(X), KMeans(5, random_state=0).fit(X), 1e-14)


def test_single_precision_is_kept_and_close():
    X = texts(dtype=np.float32)
    sparse, double = (KMeans(6, random_state=0).fit(rows) for rows in (sp.csr_array(X), X.astype(np.float64)))
    assert sparse.cluster_centers_.dtype == sparse.transform(sp.csr_array(X)).dtype == np.float32
    same(sparse, double, 1e-5)


@pytest.mark.parametrize("offset", [1e3, 1e5])
@pytest.mark.parametrize("share", [0.3, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_large_mean_costs_no_digits_and_blames_nobody(dtype, share, offset):
    """The warning of a falling objective is an error here."""
    rng = np.random.default_rng(0)
    X = 1.5 * rng.normal(size=(5, 20))[rng.integers(5, size=2000)] + rng.normal(size=(2000, 20))
    X[:, :-1] += offset
    X[:, -1] *= rng.random(2000) < 0.3  # cells that are not stored
    X[:, 0] *= rng.random(2000) < share  # where they are large, one column sets clusters apart more than all others
    X = X.astype(dtype)
    start = X[:5].astype(np.float64)
    sparse, array = (KMeans(5, init=start, n_init=1).fit(rows) for rows in (sp.csr_array(X), X.astype(np.float64)))
    same(sparse, array, 1e-6 if dtype == np.float32 else 1e-9)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), sparse.labels_)


def test_what_was_learned_from_either_is_used_on_either():
    X = texts()
    S = sp.csr_array(X)
    for fitted in (KMeans(6, random_state=0).fit(X), KMeans(6, random_state=0).fit(S)):
        np.testing.assert_array_equal(fitted.predict(S), fitted.predict(X))
        np.testing.assert_array_equal(fitted.predict(S), fitted.labels_)
        np.testing.assert_allclose(fitted.transform(S), fitted.transform(X), atol=1e-7)
        assert fitted.score(S) == pytest.approx(fitted.score(X), rel=1e-12)
        assert fitted.score(S) == pytest.approx(-fitted.inertia_, rel=1e-12)


def test_the_same_loss_as_scikit_learn():
    X = sp.csr_matrix(texts(1500, 300, 10))
    start = X[100:110].toarray()
    ours, theirs = (kind(10, init=start, n_init=1, tol=0.0).fit(X) for kind in (KMeans, Rival))
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-12)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    assert ours.n_iter_ == theirs.n_iter_


def test_weight_two_is_a_row_twice():
    X, twice = texts(), np.arange(600) < 200
    start = X[300:305]
    weighted = KMeans(5, init=start).fit(sp.csr_array(X), sample_weight=1.0 + twice)
    repeated = KMeans(5, init=start).fit(sp.csr_array(np.vstack([X, X[twice]])))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-12)
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-12)


def test_threads_and_the_number_of_blocks_do_not_matter():
    X = sp.csr_array(texts(3000, 60, 8))
    start = X[10:18].toarray()
    one, two = (KMeans(8, init=start, n_jobs=n).fit(SparseSource(X, n_blocks=7, n_jobs=n)) for n in (1, 2))
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    same(KMeans(8, init=start).fit(X), one)


def test_disorder_and_cells_stored_twice_or_as_zero_are_the_same_rows():
    rng, X = np.random.default_rng(0), texts(200, 30, 4)
    row, column = np.nonzero(X)
    order = rng.permutation(len(row))
    parts = X[row, column][order]
    row, column = (np.concatenate([place[order], place[order], [5, 7]]).astype(np.int64) for place in (row, column))
    cells = np.concatenate([0.25 * parts, 0.75 * parts, [0.0, 0.0]])
    starts = np.append(0, np.cumsum(np.bincount(row, minlength=200)))
    by_row = np.argsort(row, kind="stable")
    S = sp.csr_array((cells[by_row], column[by_row], starts), shape=X.shape)
    assert S.indices.dtype == np.int64
    assert not S.has_canonical_format
    before = S.indices.copy(), S.data.copy()
    same(KMeans(4, random_state=0).fit(S), KMeans(4, random_state=0).fit(X))
    np.testing.assert_array_equal(S.indices, before[0])
    np.testing.assert_array_equal(S.data, before[1])


def test_centres_without_rows_move_to_rows_that_fit_badly():
    X = texts()
    start = np.vstack([X[10:13], np.full((3, X.shape[1]), 50.0)])
    same(KMeans(6, init=start).fit(sp.csr_array(X)), KMeans(6, init=start).fit(X))
    assert len(np.unique(KMeans(6, init=start).fit(sp.csr_array(X)).labels_)) == 6


def test_a_matrix_of_zeros():
    with pytest.warns(UserWarning, match=r"distinct clusters \(1\) found smaller than n_clusters \(2\)"):
        fitted = KMeans(2, random_state=0).fit(sp.csr_array((20, 5)))
    assert fitted.inertia_ == 0.0
    assert not fitted.cluster_centers_.any()


def test_batches_may_be_sparse_or_not_and_a_saved_model_goes_on(tmp_path):
    X = texts()
    parts = [X[:200], sp.csr_array(X[200:400]), X[400:]]
    mixed, dense = KMeans(6, random_state=0), KMeans(6, random_state=0)
    for part in parts[:2]:
        mixed.partial_fit(part)
        dense.partial_fit(part.toarray() if sp.issparse(part) else part)
    sparse = KMeans(6, random_state=0).partial_fit(sp.csr_array(X[:200])).partial_fit(parts[1])
    for k, fitted in enumerate((mixed, sparse)):
        tacit.save(fitted, tmp_path / f"{k}.tacit")
        again = tacit.load(tmp_path / f"{k}.tacit").partial_fit(parts[2])
        np.testing.assert_allclose(again.cluster_centers_, fitted.partial_fit(parts[2]).cluster_centers_, atol=1e-12)
    dense.partial_fit(parts[2])
    np.testing.assert_allclose(mixed.cluster_centers_, dense.cluster_centers_, atol=1e-12)


def test_a_fit_that_was_stopped_goes_on_from_its_checkpoint(tmp_path):
    X, path = sp.csr_array(texts(2000, 60, 9)), tmp_path / "state"

    def stop(progress):
        if progress.step == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted by the user after 2 steps"):
        KMeans(9, random_state=0, callback=stop).fit(X, checkpoint=path, checkpoint_every=0.0)
    same(KMeans(9, random_state=0).fit(X, checkpoint=path), KMeans(9, random_state=0).fit(X))


def test_a_start_that_is_a_function_gets_the_matrix():
    X = sp.csr_array(texts())
    fitted = KMeans(4, init=lambda rows, k, random_state: rows[:k], n_init=1, max_iter=1).fit(X)
    same(fitted, KMeans(4, init=X[:4].toarray(), max_iter=1).fit(X))
    with pytest.raises(
        TypeError, match=r"init=<function .* is a function, which a model file cannot hold; use a named init"
    ):
        tacit.save(fitted, "nowhere.tacit")


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random"])
def test_wide_rows_are_not_made_dense(init):
    n, d, k = 3000, 100_000, 5
    X = sp.random_array((n, d), density=3e-4, rng=np.random.default_rng(0), format="csr")
    KMeans(k, init=init, random_state=0, max_iter=3).fit(X[:50])
    tracemalloc.start()
    KMeans(k, init=init, random_state=0, max_iter=3).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * 8 * k * d < 0.06 * 8 * n * d


@pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans])
def test_bad_sparse_input(kind):
    X = sp.csr_array(texts(50, 10, 3))
    bad = X.copy()
    bad.data[4] = np.nan
    row, column = np.searchsorted(X.indptr, 4, side="right") - 1, X.indices[4]
    with pytest.raises(
        ValueError, match=f"X is sparse and holds NaN in row {row}, column {column}; .*give a dense array"
    ):
        kind(2).fit(bad)
    bad.data[4] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        kind(2).fit(bad)
    fitted = kind(2, random_state=0).fit(X)
    for method in (fitted.predict, fitted.transform, fitted.score):
        with pytest.raises(ValueError, match=r"X has 9 features, but .* is expecting 10 features"):
            method(X[:, :9])
    with pytest.raises(ValueError, match=r"Expected 2D input, got input with shape \(5,\)"):
        kind(2).fit(sp.coo_array(np.ones(5)))
    with pytest.raises(ValueError, match="n_samples=50 should be >= n_clusters=51; use at most 50"):
        kind(51).fit(X)
    with pytest.raises(ValueError, match=r"sample_weight has shape \(49,\), but X has 50 rows"):
        kind(2).fit(X, sample_weight=np.ones(49))


def test_an_offset_that_costs_the_digits_of_distances_is_told():
    X = np.random.default_rng(0).normal(size=(100, 3))
    X[:, 0] += 1e9
    with pytest.warns(UserWarning, match="its mean is 6e.08 times as long as its rows are spread"):
        KMeans(2, random_state=0).fit(sp.csr_array(X))


def test_other_models_take_no_sparse_rows():
    X = sp.csr_array(texts(50, 10, 3))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        GaussianMixture(2).fit(X)
    with pytest.raises(TypeError, match="GaussianMixture takes no sparse rows; give it the rows as an ordinary array"):
        GaussianMixture(2).fit(SparseSource(X))
    with pytest.raises(ValueError, match="absent='nothing' is unknown; use one of 'zero', 'missing'"):
        SparseSource(X, absent="nothing")


def test_a_sparse_source_is_a_source():
    X, rng = texts(300, 40, 4), np.random.default_rng(0)
    source, expected = as_source(sp.csc_array(X), np.arange(300.0)), ArraySource(X, np.arange(300.0))
    assert isinstance(source, SparseSource)
    np.testing.assert_array_equal(source.eligible(), expected.eligible())
    rows = np.array([3, 17, 250])
    np.testing.assert_array_equal(source.take(rows).X.toarray(), X[rows])
    np.testing.assert_array_equal(source.take(rows).weight, rows)
    np.testing.assert_array_equal(source.take(rows).X[1].toarray(), X[[17]])
    blocks = list(SparseSource(sp.csr_array(X), n_blocks=5))
    assert len(blocks) == 5
    np.testing.assert_array_equal(np.vstack([block.X.matrix.toarray() for block in blocks]), X)
    rows = SparseRows.of(sp.csr_array(np.round(X[rng.integers(300, size=500)])))
    np.testing.assert_array_equal(kernel("row_order", "sparse")(rows), np.lexsort(rows.toarray().T))
    unknown = SparseRows.of(rows.matrix, absent="missing").toarray()
    np.testing.assert_array_equal(np.nan_to_num(unknown), rows.toarray())
    assert np.isnan(unknown).sum() == unknown.size - len(rows.data)


# The functions


def test_the_function_returns_what_the_estimator_learned():
    X = sp.csr_array(texts())
    fitted = KMeans(5, random_state=2).fit(X)
    centers, labels, inertia, n_iter = k_means(X, 5, random_state=2, return_n_iter=True)
    np.testing.assert_array_equal(centers, fitted.cluster_centers_)
    np.testing.assert_array_equal(labels, fitted.labels_)
    assert (inertia, n_iter) == (fitted.inertia_, fitted.n_iter_)
    assert len(k_means(X, 5, random_state=2)) == 3


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_seeds_heed_weights_and_lie_apart(container):
    X, _ = make_blobs(200, 5, centers=10, random_state=0)
    weight = np.random.default_rng(0).uniform(size=200)
    weight[::2] = 0.0
    centers, rows = kmeans_plusplus(container(X), 10, sample_weight=weight, random_state=0)
    np.testing.assert_array_equal(X[rows], centers)
    assert (rows % 2 == 1).all()
    assert euclidean_distances(centers, X[::2]).min() > 0
    other = kmeans_plusplus(container(X), 10, random_state=0)[1]
    assert set(rows) != set(other)
    losses = [
        [euclidean_distances(X, kmeans_plusplus(X, 10, random_state=s, n_local_trials=t)[0]).min(axis=1).sum() for s in range(20)]
        for t in (1, 10)
    ]  # fmt: skip
    assert np.mean(losses[1]) < np.mean(losses[0])


def test_seeds_of_rows_with_missing_cells():
    X = texts(100, 6, 3)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    centers, rows = kmeans_plusplus(X, 4, random_state=0)
    assert np.isfinite(centers).all()
    seen = ~np.isnan(X[rows])
    np.testing.assert_array_equal(centers[seen], X[rows][seen])


def test_bad_arguments_of_the_functions():
    X = texts(30, 6, 3)
    with pytest.raises(ValueError, match="n_samples=30 should be >= n_clusters=31; use at most 30"):
        kmeans_plusplus(X, 31)
    with pytest.raises(ValueError, match="n_clusters=0 is not a whole number of at least 1"):
        kmeans_plusplus(X, 0)
    with pytest.raises(ValueError, match="n_local_trials=0 is not a whole number of at least 1"):
        kmeans_plusplus(X, 2, n_local_trials=0)
    with pytest.raises(ValueError, match=r"The length of x_squared_norms \(2,\) should be equal to .* n_samples 30"):
        kmeans_plusplus(X, 2, x_squared_norms=np.ones(2))
    with pytest.raises(ValueError, match="algorithm='full' is unknown"):
        k_means(X, 2, algorithm="full")
