"""Similarity graphs and Laplacians against direct sums."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph
from sklearn.utils import check_random_state

from tacit.cluster import SpectralClustering
from tacit.cluster.spectral import eigenvectors, graphs
from tacit.cluster.spectral.eigenvectors import lowest_eigenvectors
from tacit.cluster.spectral.laplacian import Laplacian, components_of, cuts, degrees_of
from tacit.cluster.spectral.similarity import Similarity

RNG = np.random.default_rng(0)


def graph_of(X, affinity, **settings):
    return Similarity.learned(SpectralClustering(affinity=affinity, **settings), X).graph(X)


def knn(X, n_neighbors):
    return graph_of(X, "nearest_neighbors", n_neighbors=n_neighbors)


@pytest.mark.parametrize("n_columns", [2, 12])  # by tree and by all distances
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_graphs_of_neighbours_are_scikit_learns(n_columns, kind):
    X = np.random.default_rng(1).normal(size=(80, n_columns))
    chosen = kneighbors_graph(X, 5, include_self=True).toarray()
    np.testing.assert_array_equal(knn(kind(X), 5).toarray(), 0.5 * (chosen + chosen.T))
    np.testing.assert_array_equal(
        graph_of(kind(X), "mutual_nearest_neighbors", n_neighbors=5).toarray(), chosen * chosen.T
    )
    radius = 0.5 * n_columns**0.5
    within = radius_neighbors_graph(X, radius, include_self=True).toarray()
    np.testing.assert_array_equal(graph_of(kind(X), "epsilon", epsilon=radius).toarray(), within)


def test_gaussian_weights():
    X = RNG.normal(size=(30, 3))
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    widths = RNG.uniform(1, 2, size=30)
    np.testing.assert_allclose(graph_of(X, "rbf", gamma=0.7), np.exp(-0.7 * distances**2))
    local = np.exp(-(distances**2) / np.outer(widths, widths))
    np.testing.assert_allclose(graphs.gaussian_weight(distances, None, widths, widths), local)
    links = sparse.csr_matrix(np.where(distances < 1.5, distances, 0))
    expected = np.where(links.toarray() > 0, local, 0)
    np.testing.assert_allclose(graphs.gaussian_weight(links, None, widths, widths).toarray(), expected)


def test_nearest_of_given_distances():
    X = RNG.normal(size=(40, 3))
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    chosen = kneighbors_graph(X, 6, include_self=True).toarray()
    stored = kneighbors_graph(X, 9, mode="distance", include_self=True)
    for given in (distances, stored):
        np.testing.assert_array_equal(graphs.ones(graphs.links_of_distances(given, 6)).toarray(), chosen)
    with pytest.raises(ValueError, match="row 0 of X has only 9 stored distances"):
        graphs.links_of_distances(stored, 10)
    with pytest.raises(ValueError, match="n_neighbors=41 exceeds the 40 columns"):
        graphs.links_of_distances(distances, 41)


def test_a_radius_that_joins_everything_is_refused(monkeypatch):
    monkeypatch.setattr(graphs, "MOST_EDGES", 1000)
    with pytest.raises(ValueError, match=r"epsilon=50 joins 10,000 pairs of rows, 100 for each row; use a smaller"):
        graph_of(RNG.normal(size=(100, 2)), "epsilon", epsilon=50.0)


def random_graph(n, share, seed, dense):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(size=(n, n)) * (rng.random((n, n)) < share), 1)
    weights += weights.T + np.diag(rng.uniform(size=n))  # a diagonal that must not count
    return weights if dense else sparse.csr_matrix(weights)


@pytest.mark.parametrize("dense", [True, False])
def test_cuts_are_the_direct_sums(dense):
    graph = random_graph(12, 0.6, 0, dense)
    weights = graph if dense else graph.toarray()
    labels = np.random.default_rng(3).integers(3, size=12)
    ratio_cut = n_cut = 0.0
    for k in range(3):
        inside = labels == k
        cut = sum(weights[i, j] for i in range(12) for j in range(12) if inside[i] and not inside[j])
        volume = sum(weights[i, j] for i in range(12) for j in range(12) if inside[i] and i != j)
        ratio_cut, n_cut = ratio_cut + cut / inside.sum(), n_cut + cut / volume
    np.testing.assert_allclose(cuts(graph, labels), (ratio_cut, n_cut))
    np.testing.assert_allclose(degrees_of(graph), weights.sum(axis=1) - np.diag(weights))


@pytest.mark.parametrize("dense", [True, False])
def test_components_are_numbered_by_size(dense):
    blocks = [np.ones((2, 2)), np.ones((5, 5)), np.zeros((1, 1)), np.ones((3, 3))]
    graph = sparse.block_diag(blocks, format="coo")
    zeros = (np.zeros(2), (np.array([0, 9]), np.array([9, 0])))  # a stored zero is no edge
    rows, columns = (np.concatenate(pair) for pair in zip((graph.row, graph.col), zeros[1]))
    graph = sparse.csr_array((np.concatenate([graph.data, zeros[0]]), (rows, columns)), shape=graph.shape)
    assert graph.nnz == 41
    n_components, component = components_of(graph.toarray() if dense else graph)
    assert n_components == 4
    np.testing.assert_array_equal(component, [2, 2, 0, 0, 0, 0, 0, 3, 1, 1, 1])


def laplacian_of(graph, kind):
    return Laplacian(graph, degrees_of(graph), components_of(graph)[1], kind)


@pytest.mark.parametrize("kind", ["symmetric", "unnormalised"])
@pytest.mark.parametrize("method", ["_dense", "_lanczos", "_factored", "_lobpcg"])
def test_every_solver_finds_the_eigenvectors(method, kind, monkeypatch):
    X = np.random.default_rng(5).random((300, 2))
    graph = knn(X, 8)
    laplacian = laplacian_of(graph, kind)
    dense = np.diag(degrees_of(graph)) - graph.toarray() + np.diag(graph.diagonal())
    if kind == "symmetric":
        root = np.diag(degrees_of(graph) ** -0.5)
        dense = root @ dense @ root
    np.testing.assert_allclose(laplacian.matrix.toarray(), dense, atol=1e-12)
    monkeypatch.setattr(eigenvectors, "_methods", lambda *_: [getattr(eigenvectors, method)])
    values, vectors = lowest_eigenvectors(laplacian, 6, random_state=check_random_state(0))
    np.testing.assert_allclose(values, eigh(dense)[0][:6], atol=1e-8)
    np.testing.assert_allclose(dense @ vectors, vectors * values, atol=1e-5)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-5)


@pytest.mark.parametrize("method", ["_lanczos", "_factored"])
def test_multiple_eigenvalues_are_all_found(method, monkeypatch):
    """A square grid has many eigenvalues twice, of which one starting vector sees one."""
    side = 24
    path = sparse.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    grid = sparse.csr_array(sparse.kron(path, sparse.eye_array(side)) + sparse.kron(sparse.eye_array(side), path))
    laplacian = laplacian_of(grid, "unnormalised")
    monkeypatch.setattr(eigenvectors, "_methods", lambda *_: [getattr(eigenvectors, method)])
    values, vectors = lowest_eigenvectors(laplacian, 9, random_state=check_random_state(0))
    line = 2 - 2 * np.cos(np.pi * np.arange(side) / side)
    np.testing.assert_allclose(values, np.sort(np.add.outer(line, line).ravel())[:9], atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(9), atol=1e-6)


def test_null_space_is_exact_and_the_smallest_components_share_a_vector():
    graph = sparse.block_diag([np.ones((s, s)) for s in (6, 5, 4, 3)], format="csr")
    laplacian = laplacian_of(graph, "random_walk")
    values, vectors = lowest_eigenvectors(laplacian, 3, random_state=check_random_state(0))
    assert not values.any()
    np.testing.assert_allclose(laplacian.matrix @ vectors, 0, atol=1e-14)
    np.testing.assert_array_equal(np.unique(vectors.argmax(axis=1), return_counts=True)[1], [6, 5, 7])


def test_long_graphs_are_factored_and_broad_ones_are_not():
    rng = np.random.default_rng(0)
    plane, space = rng.random((3000, 2)), rng.random((3000, 8))
    methods = [eigenvectors._methods(laplacian_of(knn(X, 10), "symmetric"), 3, 1, None)[0] for X in (plane, space)]
    assert methods == [eigenvectors._factored, eigenvectors._lanczos]


def test_a_failed_solver_is_followed_by_another(monkeypatch):
    laplacian = laplacian_of(knn(np.random.default_rng(5).random((500, 2)), 8), "symmetric")

    def fails(*_):
        raise RuntimeError("Factor is exactly singular")

    def lies(laplacian, null, n_more, tol, random_state):
        return np.zeros(n_more), np.eye(laplacian.n)[:, :n_more]

    monkeypatch.setattr(eigenvectors, "_factored", fails)
    monkeypatch.setattr(eigenvectors, "_lanczos", lies)
    values, _ = lowest_eigenvectors(laplacian, 4, random_state=check_random_state(0))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(laplacian.matrix.toarray())[:4], atol=1e-8)
    monkeypatch.setattr(eigenvectors, "_methods", lambda *_: [lies])
    with pytest.warns(UserWarning, match=r"have a residual of 1\.\de\+00; the clusters may be wrong"):
        lowest_eigenvectors(laplacian, 4, random_state=check_random_state(0))
    monkeypatch.setattr(eigenvectors, "_methods", lambda *_: [fails])
    with pytest.raises(ValueError, match="no solver found 3 eigenvectors of the graph's Laplacian, which has 500"):
        lowest_eigenvectors(laplacian, 4, random_state=check_random_state(0))


def test_a_rule_is_the_same_for_new_rows():
    """Similarities of fitted rows taken as new ones are those of the graph, before it is made symmetric."""

    class Settings:
        affinity, gamma, n_neighbors, epsilon, edge_weights = "nearest_neighbors", "local", 7, None, "gaussian"
        degree, coef0, kernel_params, n_jobs = 3, 1, None, None

    X = RNG.normal(size=(60, 2))
    rule = Similarity.learned(Settings, X)
    links = rule.between(X.copy(), X).toarray()
    np.testing.assert_allclose(rule.graph(X).toarray(), 0.5 * (links + links.T))
