"""SpectralClustering: what it finds, what it reports, what it says of new rows, and what it refuses."""

import pickle
import re
import sys
import types
import warnings

import numpy as np
import pytest
import sklearn.cluster
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

import tacit
from tacit.cluster import SpectralClustering, cluster_qr, discretize
from tacit.cluster.spectral.laplacian import cuts

MOONS, HALVES = make_moons(500, noise=0.06, random_state=0)
BLOBS, CENTRES = make_blobs(300, 3, centers=4, cluster_std=1.0, random_state=3)
KNN = {"affinity": "nearest_neighbors", "random_state": 0}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small problems: threads that wait for each other take longer than the work."""
    with threadpool_limits(1):
        yield


def quiet(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X)


GRAPHS = [
    {"affinity": "nearest_neighbors"},
    {"affinity": "nearest_neighbors", "edge_weights": "gaussian", "gamma": "local"},
    {"affinity": "mutual_nearest_neighbors", "n_neighbors": 15},
    {"affinity": "epsilon", "epsilon": 0.18},
    {"affinity": "epsilon"},
    {"affinity": "rbf", "gamma": 40.0},
    {"affinity": "rbf", "gamma": "local", "n_neighbors": 8},
    {"affinity": "laplacian", "gamma": 20.0},
]


@pytest.mark.parametrize("laplacian", ["random_walk", "symmetric", "unnormalised"])
@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_moons_are_told_apart_and_new_rows_placed(graph, laplacian):
    model = quiet(SpectralClustering(2, laplacian=laplacian, random_state=0, **graph), MOONS)
    assert adjusted_rand_score(HALVES, model.labels_) > 0.95
    assert np.mean(model.predict(MOONS) == model.labels_) > 0.98
    new, halves = make_moons(200, noise=0.06, random_state=9)
    assert adjusted_rand_score(halves, model.predict(new)) > 0.9
    np.testing.assert_allclose(cuts(model.affinity_matrix_, model.labels_), (model.ratio_cut_, model.n_cut_))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("settings", [KNN, {"gamma": 0.1}, {"affinity": "poly", "coef0": 50}], ids=str)
def test_clusters_are_scikit_learns(settings, seed):
    X = make_circles(700, noise=0.07, factor=0.5, random_state=seed)[0] if "affinity" in settings else BLOBS
    X = np.abs(X) if settings.get("affinity") == "poly" else X
    settings = {**settings, "random_state": seed}
    ours = quiet(SpectralClustering(4, **settings), X)
    theirs = quiet(sklearn.cluster.SpectralClustering(4, **settings), X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) > 0.999
    assert ours.n_cut_ <= cuts(ours.affinity_matrix_, theirs.labels_)[1] * (1 + 1e-9)
    gap = ours.affinity_matrix_ - theirs.affinity_matrix_
    assert abs(gap).max() < 1e-12


def test_embedding_spans_scikit_learns():
    theirs = sklearn.manifold.spectral_embedding(
        rbf_kernel(BLOBS, gamma=0.1), n_components=4, drop_first=False, random_state=0
    )
    ours = SpectralClustering(4, gamma=0.1, random_state=0).fit(BLOBS)
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(theirs), atol=1e-8)


@pytest.mark.parametrize("assign_labels", ["kmeans", "discretize", "cluster_qr"])
@pytest.mark.parametrize("solver", [None, "arpack", "lobpcg"])
def test_solvers_and_assignments_agree(solver, assign_labels):
    model = SpectralClustering(4, eigen_solver=solver, assign_labels=assign_labels, gamma=0.1, random_state=0)
    labels = model.fit_predict(BLOBS)
    assert adjusted_rand_score(CENTRES, labels) > 0.98
    assert np.mean(model.predict(BLOBS) == labels) > 0.98


def test_assignments_are_scikit_learns():
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 4)))[0]
    np.testing.assert_array_equal(cluster_qr(vectors), sklearn.cluster._spectral.cluster_qr(vectors))
    theirs = sklearn.cluster._spectral.discretize(vectors, random_state=1)
    np.testing.assert_array_equal(discretize(vectors, random_state=1), theirs)


def test_relaxations_bound_the_cuts():
    """No partition cuts less than the sum of the lowest eigenvalues."""
    walk, plain = (
        SpectralClustering(4, gamma=0.1, laplacian=laplacian, random_state=0).fit(BLOBS)
        for laplacian in ("random_walk", "unnormalised")
    )
    assert 0 < walk.eigenvalues_.sum() <= walk.n_cut_
    assert 0 < plain.eigenvalues_.sum() <= plain.ratio_cut_
    for model in (walk, plain):
        assert np.all(np.diff(model.eigenvalues_) >= 0)
        assert model.eigenvalues_[0] == 0


def test_a_random_walk_stays_at_its_stationary_distribution():
    model = SpectralClustering(2, gamma=1.0, random_state=0).fit(BLOBS[:50])
    weights = model.affinity_matrix_ - np.diag(np.diag(model.affinity_matrix_))
    walk = weights / weights.sum(axis=1, keepdims=True)
    share = model.stationary_distribution_
    np.testing.assert_allclose(share @ walk, share, atol=1e-15)
    assert share.sum() == pytest.approx(1)


@pytest.mark.parametrize("settings", [{"gamma": 0.5}, {"affinity": "nearest_neighbors", "n_neighbors": 60}], ids=str)
def test_number_of_clusters_from_the_eigengap(settings):
    model = quiet(SpectralClustering("auto", random_state=0, **settings), BLOBS)
    assert model.n_clusters_ == 4
    assert model.eigenvalues_.shape == (11,)
    assert model.eigengap_ == np.diff(model.eigenvalues_).max() == np.diff(model.eigenvalues_)[3]
    assert model.embedding_.shape == (300, 4)
    assert adjusted_rand_score(CENTRES, model.labels_) > 0.98


def test_one_cloud_is_one_cluster():
    cloud = np.random.default_rng(0).normal(size=(200, 2))
    model = SpectralClustering("auto", gamma=0.2, random_state=0).fit(cloud)
    assert model.n_clusters_ == 1
    assert not model.labels_.any()


@pytest.mark.parametrize(("make", "noise"), [(make_moons, 0.05), (make_circles, 0.03)])
def test_eigengap_of_curved_clusters(make, noise):
    """Eigenvalues of a curve grow like squares, so that the largest difference lies far out; relative to its end it does not."""
    X = make(600, noise=noise, random_state=0, **({"factor": 0.5} if make is make_circles else {}))[0]
    model = quiet(SpectralClustering("auto", affinity="nearest_neighbors", random_state=0), X)
    assert model.n_clusters_ == 2
    assert np.diff(model.eigenvalues_).argmax() + 1 > 2


@pytest.mark.parametrize("settings", [{"affinity": "nearest_neighbors"}, {"gamma": "local"}], ids=str)
def test_clusters_of_connected_graphs_are_told_from_shapes_of_one_piece(settings):
    """A line, a ring, a rectangle and a long cloud have gaps too; but what lies before them are waves, not clusters."""
    rng = np.random.default_rng(5)
    angle = rng.uniform(0, 2 * np.pi, 300)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.normal(size=(300, 2))
    shapes = [
        ring,
        rng.uniform(size=(400, 2)) * [2, 1],
        rng.normal(size=(400, 3)) * [4, 1, 1],
        np.linspace(0, 1, 200)[:, None],
    ]
    for rows in shapes:
        assert quiet(SpectralClustering("auto", random_state=0, **settings), rows).n_clusters_ == 1
    for centres, spread, expected in (
        ([[0, 0], [4, 0], [0, 4]], 1.0, 3),
        ([[0, 0], [5, 0], [0, 5], [5, 5], [9, 9]], 0.9, 5),
    ):
        rows, truth = make_blobs(100 * len(centres), centers=centres, cluster_std=spread, random_state=0)
        model = quiet(SpectralClustering("auto", random_state=0, **settings), rows)
        n_parts = model.n_connected_components_
        assert n_parts < expected  # where the gap after the components would be the largest
        assert model.n_clusters_ == expected == 1 + np.nanargmax(model.gap_scores_)
        assert model.gap_scores_[n_parts - 1] == (0.3 if n_parts == 1 else 0.4)
        assert adjusted_rand_score(truth, model.labels_) > 0.85


def test_eigengap_of_more_components_than_allowed():
    X = np.repeat(np.arange(6.0) * 100, 10)[:, None] + np.random.default_rng(0).normal(size=(60, 1))
    model = SpectralClustering("auto", max_clusters=4, affinity="nearest_neighbors", n_neighbors=9, random_state=0)
    with pytest.warns(UserWarning, match="6 connected components"):
        model.fit(X)
    assert model.n_clusters_ == 4
    assert len(np.unique(model.labels_)) == 4
    assert model.n_cut_ == 0


# Graphs in pieces


def islands(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(1000 * i, 1, size=(size, 2)) for i, size in enumerate(sizes)])


def test_components_are_clusters():
    X = islands([40, 30, 20])
    with pytest.warns(
        UserWarning, match=r"not fully connected: 3 connected components of 40, 30, 20 rows\. To join"
    ) as seen:
        model = SpectralClustering(3, **KNN).fit(X)
    assert "use a larger n_neighbors than 10" in str(seen[0].message)
    assert model.n_connected_components_ == 3
    np.testing.assert_array_equal(model.connected_components_, np.repeat([0, 1, 2], [40, 30, 20]))
    assert adjusted_rand_score(model.connected_components_, model.labels_) == 1
    assert model.n_cut_ == model.ratio_cut_ == 0
    assert not model.eigenvalues_.any()


def test_components_are_cut_further():
    X = np.vstack([islands([40, 30]), islands([30]) + 8])
    model = quiet(SpectralClustering(3, **KNN, n_neighbors=15), X)
    assert adjusted_rand_score(np.repeat([0, 1, 2], [40, 30, 30]), model.labels_) == 1


def test_more_components_than_clusters_share_the_last():
    X = islands([12, 40, 15, 30, 11])
    with pytest.warns(UserWarning, match="with n_clusters=3 the smallest components share a cluster"):
        model = SpectralClustering(3, **KNN).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1, 0, 2, 0], [12, 40, 15, 30, 11]), model.labels_) == 1
    assert np.array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("laplacian", ["random_walk", "symmetric", "unnormalised"])
def test_isolated_rows_follow_the_nearest(laplacian):
    X = np.vstack([islands([40, 30]), [[-20.0, 0.0], [1020.0, 1000.0]]])
    model = SpectralClustering(2, affinity="epsilon", epsilon=4.0, laplacian=laplacian, random_state=0)
    message = r"and 2 isolated rows without any edge \(70, 71\)\. To join them, use a larger epsilon than 4 \(from 1"
    with pytest.warns(UserWarning, match=message):
        model.fit(X)
    assert model.n_isolated_ == 2
    assert model.n_connected_components_ == 4
    np.testing.assert_array_equal(model.labels_[70:], model.labels_[[0, 69]])
    np.testing.assert_array_equal(model.predict([[-500.0, 0.0], [5000.0, 5000.0]]), model.labels_[[0, 69]])
    assert not model.stationary_distribution_[70:].any()
    assert np.isfinite(model.embedding_).all()


def test_isolated_rows_of_a_given_graph():
    weights = np.zeros((7, 7))
    weights[:4, :4] = weights[4:6, 4:6] = 1
    model = quiet(SpectralClustering(2, affinity="precomputed", random_state=0), weights)
    assert model.labels_[6] == model.labels_[0] != model.labels_[4]
    with pytest.warns(UserWarning, match="rows of X without any similarity are put in the largest cluster"):
        labels = model.predict([[0.0] * 7, [0, 0, 0, 0, 0, 1, 0]])
    np.testing.assert_array_equal(labels, model.labels_[[0, 4]])


def test_hardly_similar_rows_keep_their_digits():
    """Degrees of 1e-30 beside a diagonal of 1."""
    X = np.array([[0.0], [8.3], [0.2], [8.5]])
    model = SpectralClustering(2, gamma=1.0, random_state=0).fit(np.hstack([X, np.zeros((4, 1))]) * [10.0, 1.0] / 3)
    assert model.degrees_.max() < 1
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], [True, False, True, False])


def test_far_rows_do_not_overflow():
    """A row of degree 1e-298 beside a diagonal of 1 is as good as isolated."""
    X = np.concatenate([np.zeros(3), np.full(3, 26.2)])[:, None] + 0.01 * np.arange(6)[:, None]
    X = np.vstack([X, [[13.1 + 26.2]]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = quiet(SpectralClustering(2, gamma=4.0, random_state=0), X)
    assert model.n_isolated_ == 1
    assert model.labels_[6] == model.labels_[5]
    assert np.isfinite(model.eigenvalues_).all()


@pytest.mark.parametrize(
    "graph",
    [
        {"affinity": "rbf", "gamma": 0.1},
        {"affinity": "rbf", "gamma": "local"},
        {"affinity": "nearest_neighbors", "edge_weights": "gaussian", "gamma": "scale"},
        {"affinity": "epsilon"},
    ],
    ids=str,
)
def test_an_offset_of_all_rows_changes_nothing(graph):
    X = np.round(64 * make_blobs(150, 12, centers=3, cluster_std=2.0, random_state=0)[0]) / 64  # exact far away too
    offset = 2.0**27 * (1 + np.arange(12) % 3)
    near, far = (quiet(SpectralClustering(3, random_state=0, **graph), X + by) for by in (0.0, offset))
    np.testing.assert_allclose((near.affinity_matrix_ - far.affinity_matrix_).max(), 0.0, atol=1e-12)
    np.testing.assert_array_equal(near.labels_, far.labels_)
    np.testing.assert_array_equal(near.predict(X + 0.25), far.predict(X + (offset + 0.25)))


@pytest.mark.parametrize(
    "graph", [{"gamma": 0.1}, {"affinity": "nearest_neighbors", "edge_weights": "gaussian", "gamma": 0.1}], ids=str
)
@pytest.mark.parametrize("d", [3, 14])
def test_similarities_within_groups_that_are_far_apart(graph, d):
    """No mean lies near all rows, so that expanding ‖x − y‖² would cancel within each group."""
    X = np.round(64 * np.random.default_rng(0).normal(size=(120, d))) / 64
    model = quiet(
        SpectralClustering(2, random_state=0, **graph), X + np.where(np.arange(120) < 60, -1, 1)[:, None] * 2.0**27
    )
    found = model.affinity_matrix_ if graph == {"gamma": 0.1} else model.affinity_matrix_.toarray()
    apart = cdist(X, X)
    expected = np.exp(-0.1 * apart**2)
    expected[:60, 60:] = expected[60:, :60] = 0.0
    if "affinity" in graph:
        reach = [
            np.sort(apart[i, own])[9] for i, own in enumerate(np.repeat([[range(60)], [range(60, 120)]], 60, 0)[:, 0])
        ]
        links = expected * (apart <= np.array(reach)[:, None])
        expected = (links + links.T) / 2
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_radius_that_joins_nothing():
    with pytest.raises(
        ValueError, match=r"no two of the 20 rows are joined by an edge; use a larger epsilon than 0\.5 \(from 1 on"
    ):
        SpectralClustering(2, affinity="epsilon", epsilon=0.5).fit(np.arange(20.0)[:, None])


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "mutual_nearest_neighbors", "epsilon"])
@pytest.mark.parametrize("gamma", [1.0, "scale"])
def test_identical_rows(affinity, gamma):
    model = quiet(SpectralClustering(2, affinity=affinity, gamma=gamma, epsilon=1.0, random_state=0), np.ones((30, 2)))
    assert set(model.labels_) <= {0, 1}
    assert np.isfinite(model.n_cut_)
    assert model.predict(np.ones((3, 2))).shape == (3,)


def test_rows_that_are_hardly_like_any_other():
    X = np.random.default_rng(0).normal(size=(80, 20))
    model = quiet(SpectralClustering(3, gamma=10.0, random_state=0), X)
    assert 0 < model.degrees_.min() < 1e-130
    assert set(model.labels_) == {0, 1, 2}


def test_more_clusters_than_rows_with_an_edge():
    X = np.vstack([islands([6]), 1e6 * np.arange(1, 5)[:, None] * np.ones(2)])
    with pytest.raises(
        ValueError, match="n_clusters=8, but only 6 of the 10 rows have an edge; use at most 6, or use a"
    ):
        SpectralClustering(8, affinity="epsilon", epsilon=10.0).fit(X)


@pytest.mark.parametrize("assign_labels", ["discretize", "cluster_qr"])
def test_more_eigenvectors_than_clusters(assign_labels):
    model = SpectralClustering(3, n_components=6, gamma=0.1, assign_labels=assign_labels, random_state=0).fit(BLOBS)
    assert model.embedding_.shape == (300, 6)
    assert set(model.labels_) == {0, 1, 2}
    assert set(model.predict(BLOBS)) == {0, 1, 2}


# Given similarities


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.coo_array])
def test_precomputed_similarities(kind):
    weights = rbf_kernel(BLOBS, gamma=0.1)
    ours = SpectralClustering(4, affinity="precomputed", random_state=0).fit(kind(weights))
    plain = SpectralClustering(4, gamma=0.1, random_state=0).fit(BLOBS)
    assert adjusted_rand_score(ours.labels_, plain.labels_) == 1
    np.testing.assert_array_equal(ours.predict(kind(rbf_kernel(BLOBS[:20], BLOBS, gamma=0.1))), ours.labels_[:20])
    assert ours.n_cut_ == pytest.approx(plain.n_cut_)


def test_precomputed_neighbours():
    model = SpectralClustering(2, affinity="precomputed_nearest_neighbors", n_neighbors=10, random_state=0)
    distances = np.linalg.norm(MOONS[:, None] - MOONS, axis=2)
    quiet(model, distances)
    plain = quiet(SpectralClustering(2, affinity="nearest_neighbors", random_state=0), MOONS)
    assert adjusted_rand_score(model.labels_, plain.labels_) == 1
    assert np.mean(model.predict(distances[:50]) == model.labels_[:50]) > 0.98


def test_functions_and_sparse_rows():
    def overlap(a, b, scale=1.0):
        return scale * np.minimum(a, b).sum()

    X = np.abs(BLOBS)
    model = SpectralClustering(2, affinity=overlap, kernel_params={"scale": 2.0}, random_state=0).fit(X[:60])
    assert model.affinity_matrix_[0, 1] == pytest.approx(overlap(X[0], X[1], 2.0))
    assert model.predict(X[60:70]).shape == (10,)
    with pytest.raises(
        TypeError, match=r"affinity=.* is a function, which a model file cannot hold; use a named affinity"
    ):
        tacit.save(model, "never-written.tacit")
    for settings in (KNN, {"gamma": 0.1, "random_state": 0}):
        dense, thin = (
            quiet(SpectralClustering(4, **settings), kind(BLOBS)) for kind in (np.asarray, sparse.csr_matrix)
        )
        assert adjusted_rand_score(dense.labels_, thin.labels_) > 0.98
        assert np.mean(thin.predict(sparse.csr_matrix(BLOBS)) == thin.labels_) > 0.98


def test_asymmetric_similarities():
    weights = rbf_kernel(BLOBS, gamma=0.1)
    weights[0, 1] += 0.25
    with pytest.warns(UserWarning, match=r"not symmetric \(entries differ by up to 0\.25\); it is averaged"):
        model = SpectralClustering(4, affinity="precomputed", random_state=0).fit(weights)
    np.testing.assert_array_equal(model.affinity_matrix_, model.affinity_matrix_.T)
    with pytest.raises(ValueError, match=r"similarity must not depend on the order: return the mean of both"):
        SpectralClustering(2, affinity=lambda a, b: abs(a[0]) + 1.0).fit(BLOBS)


@pytest.mark.parametrize("name", ["model", "sparse"])
def test_saved_models_predict_the_same(name, tmp_path):
    X = sparse.csr_matrix(BLOBS) if name == "sparse" else BLOBS
    model = quiet(SpectralClustering(4, **KNN, n_neighbors=40), X)
    path = tmp_path / "model.tacit"
    tacit.save(model, path)
    for again in (tacit.load(path), pickle.loads(pickle.dumps(model))):
        assert abs(again.affinity_matrix_ - model.affinity_matrix_).max() == 0
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.n_cut_ == model.n_cut_


def test_results_repeat_and_do_not_depend_on_threads_or_order_of_blocks(monkeypatch):
    one, two = (quiet(SpectralClustering(4, **KNN, n_jobs=n), BLOBS) for n in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    whole = one.predict(BLOBS)
    monkeypatch.setattr(tacit.cluster.spectral.estimator, "BLOCK_ENTRIES", 300 * 7)
    np.testing.assert_array_equal(one.predict(BLOBS), whole)


# Refused


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 is not a whole number of at least 1"),
        ({"n_clusters": 301}, "n_clusters=301 exceeds the 300 rows of X; use at most 300"),
        ({"n_clusters": "many"}, "n_clusters='many' is not a whole number"),
        ({"n_jobs": 0}, "n_jobs=0 is not a whole number of at least 1"),
        ({"affinity": "nearest_neighbors", "n_neighbors": 1}, "no two of the 300 rows are joined by an edge"),
        ({"n_components": 400}, "n_components=400 exceeds the 300 rows of X"),
        ({"affinity": "near"}, "affinity='near' is unknown"),
        (
            {"laplacian": "normed"},
            "laplacian='normed' is unknown; use one of 'random_walk', 'symmetric', 'unnormalised'",
        ),
        ({"eigen_solver": "qr"}, "eigen_solver='qr' is unknown"),
        ({"eigen_solver": "amg"}, "eigen_solver='amg' needs pyamg, which is not installed"),
        ({"gamma": -1.0}, "gamma=-1.0 is not a number of at least 0"),
        ({"gamma": "auto"}, "gamma='auto' is unknown; use one of 'scale', 'local'"),
        ({"gamma": "local", "affinity": "cosine"}, "gamma='local' needs affinity='rbf' or edge_weights='gaussian'"),
        ({"epsilon": 0.0}, "epsilon=0.0 is not a number above 0"),
        ({"eigen_tol": -1}, "eigen_tol=-1 is not a number of at least 0"),
        ({"affinity": "nearest_neighbors", "n_neighbors": 301}, "n_neighbors=301 exceeds the 300 rows of X"),
        ({"affinity": "additive_chi2"}, "X contains negative values"),
        ({"affinity": "linear"}, r"a similarity is -\d+\.\d+; similarities must not be negative"),
        ({"affinity": "precomputed"}, r"must be square, but X has shape \(300, 3\)"),
        ({"affinity": lambda a, b: np.nan}, "a similarity is nan; similarities must be finite"),
    ],
)
def test_bad_settings(settings, message, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyamg", None)
    X = np.abs(BLOBS) if settings.get("affinity") == "precomputed" else BLOBS
    with pytest.raises(ValueError, match=message):
        SpectralClustering(**{"n_clusters": 3, **settings}).fit(X)


def test_missing_cells():
    X = BLOBS.copy()
    X[3, 1] = np.nan
    model = SpectralClustering(4, **KNN)
    with pytest.raises(ValueError, match=re.escape("impute them first with tacit.impute.GaussianImputer")):
        model.fit(X)
    with pytest.raises(ValueError, match="X contains NaN"):
        quiet(model, BLOBS).predict(X)


def test_a_square_table_is_suspicious():
    with pytest.warns(UserWarning, match="X is square, and is taken as rows of features"):
        SpectralClustering(2, random_state=0).fit(np.random.default_rng(0).normal(size=(9, 9)))


def test_multigrid_is_used_where_it_is_installed(monkeypatch):
    class Levels:
        def __init__(self, matrix):
            self.inverse = np.linalg.inv(matrix.toarray())

        def aspreconditioner(self):
            return self.inverse

    monkeypatch.setitem(sys.modules, "pyamg", types.SimpleNamespace(smoothed_aggregation_solver=Levels))
    models = [SpectralClustering(3, **KNN, n_neighbors=40, eigen_solver=name).fit(MOONS) for name in ("amg", None)]
    assert adjusted_rand_score(*(model.labels_ for model in models)) == 1
    np.testing.assert_allclose(*(model.eigenvalues_ for model in models), atol=1e-9)
