"""Mini-batch k-means: near the clusters of all rows, from few of them at a time."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import MiniBatchKMeans as Rival
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import tacit
from tacit.cluster import KMeans, MiniBatchKMeans


def blobs(n=4000, d=6, k=5, seed=0):
    return make_blobs(n, d, centers=k, random_state=seed)


def incomplete(X, share=0.2):
    return np.where(np.random.default_rng(0).random(X.shape) < share, np.nan, X)


def test_near_the_loss_of_all_rows_and_no_worse_than_scikit_learn():
    X, _ = blobs(4000, 10, 12)
    best = KMeans(12, random_state=0, n_init=5).fit(X).inertia_
    ours, theirs = (
        np.mean([kind(12, n_init=3, random_state=seed).fit(X).inertia_ for seed in range(3)])
        for kind in (MiniBatchKMeans, Rival)
    )
    assert best <= ours < 1.05 * best
    assert ours < 1.05 * theirs


def test_a_centre_is_the_mean_of_all_rows_it_ever_got():
    X, _ = blobs(300)
    fitted = MiniBatchKMeans(3, init=X[:3], n_init=1, reassignment_ratio=0.0)
    center, counts = X[:3].copy(), np.zeros(3)
    for batch in np.split(X, 6):
        nearest = ((batch[:, None] - center) ** 2).sum(axis=2).argmin(axis=1)
        for k in range(3):
            mine = batch[nearest == k]
            center[k] = (counts[k] * center[k] + mine.sum(axis=0)) / max(counts[k] + len(mine), 1)
            counts[k] += len(mine)
        fitted.partial_fit(batch)
        np.testing.assert_allclose(fitted.cluster_centers_, center, rtol=1e-12)
    assert fitted.n_steps_ == 6
    assert fitted.fit_.reason == "6 batches were seen"


def test_every_row_is_drawn_before_any_is_drawn_again():
    X = np.arange(100.0)[:, None]
    fitted = MiniBatchKMeans(1, batch_size=20, max_iter=3, max_no_improvement=None, random_state=0).fit(X)
    assert fitted.n_steps_ == 15
    assert fitted.n_iter_ == 3
    np.testing.assert_allclose(fitted.cluster_centers_, [[49.5]], rtol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_missing_cells_and_weights(share):
    X, y = blobs()
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(X))
    weight[::3] = 0.0
    X[::3] += 1e3  # where no one looks
    fitted = MiniBatchKMeans(5, n_init=5, random_state=0).fit(incomplete(X, share), sample_weight=weight)
    assert adjusted_rand_score(y[weight > 0], fitted.labels_[weight > 0]) > (0.85 if share else 0.99)
    assert np.abs(fitted.cluster_centers_).max() < 20


@pytest.mark.parametrize("reassignment_ratio", [0.0, 0.05])
def test_sparse_rows_give_the_clusters_of_the_array(reassignment_ratio):
    X, _ = blobs()
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    dense, sparse = (
        MiniBatchKMeans(8, batch_size=100, max_iter=3, random_state=0, reassignment_ratio=reassignment_ratio).fit(rows)
        for rows in (X, sp.csr_matrix(X))
    )
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_allclose(dense.cluster_centers_, sparse.cluster_centers_, atol=1e-10)
    assert dense.n_steps_ == sparse.n_steps_
    np.testing.assert_array_equal(dense.predict(sp.csr_array(X)), sparse.predict(X))


def test_rarely_used_centres_are_moved():
    X, y = blobs(2000, 2, 4)
    start = np.vstack([X[y == 0].mean(axis=0), X.mean(axis=0), [99.0, 0.0], [0.0, 99.0]])
    stuck, moved = (
        MiniBatchKMeans(4, init=start, batch_size=100, reassignment_ratio=ratio, random_state=0).fit(X)
        for ratio in (0.0, 0.01)
    )
    assert moved.inertia_ < 0.5 * stuck.inertia_


def test_batches_of_a_stream_are_its_blocks(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, y = blobs()
    path = tmp_path / "rows.parquet"
    parquet.write_table(
        pa.table({f"x{j}": column for j, column in enumerate(incomplete(X, 0.05).T)}), path, row_group_size=500
    )
    fitted = MiniBatchKMeans(5, n_init=5, random_state=0, max_iter=20).fit(path)
    assert adjusted_rand_score(y, fitted.labels_) > 0.95
    assert 1 <= fitted.n_iter_ <= 20


def test_why_it_stopped():
    X, _ = blobs()
    fitted = MiniBatchKMeans(5, random_state=0).fit(X)
    assert fitted.converged_
    assert fitted.fit_.reason == "the loss did not improve for 10 batches"
    still = MiniBatchKMeans(5, random_state=0, tol=1e-3, max_no_improvement=None).fit(X)
    assert still.fit_.reason.startswith("the centres moved by ")
    ended = MiniBatchKMeans(5, random_state=0, max_iter=1, max_no_improvement=None).fit(X)
    assert not ended.converged_
    assert ended.fit_.reason == "max_iter=1 passes were made"
    assert len(ended.fit_.trace) == ended.n_steps_ == 3


def test_the_user_may_stop_it():
    X, _ = blobs()

    class Impatient(MiniBatchKMeans):
        def _tend(self, *arguments):
            if arguments[2].steps == 2:
                raise KeyboardInterrupt
            return super()._tend(*arguments)

    with pytest.warns(UserWarning, match="interrupted by the user after 2 batches; what was learned so far is kept"):
        fitted = Impatient(5, random_state=0).fit(X)
    assert fitted.n_steps_ == 2
    assert len(fitted.labels_) == len(X)


def test_without_labels():
    X, _ = blobs()
    fitted = MiniBatchKMeans(5, compute_labels=False, random_state=0).fit(X)
    assert not hasattr(fitted, "labels_")
    whole = MiniBatchKMeans(5, random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.cluster_centers_, whole.cluster_centers_)
    assert fitted.inertia_ == pytest.approx(whole.inertia_, rel=0.1)
    np.testing.assert_array_equal(
        MiniBatchKMeans(5, compute_labels=False, random_state=0).fit_predict(X), whole.labels_
    )


def test_threads_do_not_matter_and_seeds_do():
    X, _ = blobs(40_000, 4, 8)
    one, two, other = (
        MiniBatchKMeans(8, n_jobs=n_jobs, random_state=seed, init="random").fit(X)
        for n_jobs, seed in ((1, 0), (2, 0), (2, 1))
    )
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    assert (one.cluster_centers_ != other.cluster_centers_).any()


def test_a_fit_goes_on_batch_by_batch_after_pickling_and_loading(tmp_path):
    X, _ = blobs()
    fitted = MiniBatchKMeans(5, random_state=0).fit(X[:2000])
    tacit.save(fitted, tmp_path / "model.tacit")
    copies = pickle.loads(pickle.dumps(fitted)), tacit.load(tmp_path / "model.tacit")
    fitted.partial_fit(X[2000:])
    for copy in copies:
        copy.partial_fit(X[2000:])
        np.testing.assert_allclose(copy.cluster_centers_, fitted.cluster_centers_, rtol=1e-12)
        assert copy.n_steps_ == fitted.n_steps_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "batch_size=0 is not a whole number of at least 1"),
        ({"batch_size": 2.5}, "batch_size=2.5 is not a whole number"),
        ({"reassignment_ratio": -1.0}, "reassignment_ratio=-1.0 is not a number of at least 0"),
        ({"max_no_improvement": -1}, "max_no_improvement=-1 is not a whole number of at least 0"),
        ({"init_size": 0}, "init_size=0 is not a whole number of at least 1"),
        ({"n_clusters": 301}, "n_samples=300 should be >= n_clusters=301; use at most 300"),
        ({"init": "best"}, "init='best' is unknown; use one of"),
        ({"n_init": 0}, "n_init=0 is not a whole number of at least 1"),
    ],
)
def test_bad_settings(settings, message):
    X, _ = blobs(300)
    with pytest.raises(ValueError, match=message):
        MiniBatchKMeans(**settings).fit(X)


def test_a_small_sample_to_start_from_is_enlarged():
    X, _ = blobs(300)
    with pytest.warns(RuntimeWarning, match="init_size=3 should be larger than n_clusters=5. Setting it to 15"):
        assert MiniBatchKMeans(5, init_size=3).fit(X)._init_size == 15


def test_progress_in_lines(capsys):
    X, _ = blobs(300)
    MiniBatchKMeans(5, random_state=0, verbose=1, batch_size=50).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Init 1/1 has the inertia ")
    assert lines[1].startswith("Minibatch step 1: mean batch inertia: ")
    assert lines[-1] == "Converged (lack of improvement in inertia)"
    fitted = KMeans(5, random_state=0, verbose=1).fit(X, sample_weight=np.full(300, 2.0))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Initialization complete"
    assert lines[1].startswith("Iteration 0, inertia ")
    assert lines[-1] == f"Converged at iteration {fitted.n_iter_ - 1}: strict convergence."
    assert float(lines[-2].split()[-1].rstrip(".")) == pytest.approx(fitted.inertia_, rel=1e-6)
