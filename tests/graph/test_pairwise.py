"""Pairwise networks: energies, cuts against enumeration and rivals, moves, passes, pictures, bad input."""

import itertools
import re

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from tacit.graph import PairwiseEnergy, compare_denoising, denoise, minimise_energy
from tacit.graph.pairwise.arcs import Arcs
from tacit.graph.pairwise.energy import distances

METHODS = ("icm", "mean_field", "gibbs", "max_product")


def grid(rng, shape=(3, 3), n_labels=2, weight=0.7, **settings):
    return PairwiseEnergy(rng.normal(size=(*shape, n_labels)), weight=weight, **settings)


def best_of_all(energy):
    labellings = itertools.product(range(energy.n_labels), repeat=len(energy.unary))
    return min(energy(np.array(labels)) for labels in labellings)


def blob(n=60, seed=0, flip=0.1):
    """A picture of two discs, and the same with flipped pixels."""
    a, b = np.mgrid[:n, :n] / n
    truth = ((a - 0.4) ** 2 + (b - 0.4) ** 2 < 0.07) | ((a - 0.75) ** 2 + (b - 0.7) ** 2 < 0.03)
    return truth, truth ^ (np.random.default_rng(seed).random(truth.shape) < flip)


# Energies


@pytest.mark.parametrize("connectivity", [4, 8])
def test_energy_is_the_sum_over_nodes_and_neighbours(connectivity):
    rng = np.random.default_rng(0)
    energy = grid(rng, (3, 4), 3, 0.7, connectivity=connectivity, distance="linear")
    x, expected = rng.integers(3, size=(3, 4)), 0.0
    for (r, c), label in np.ndenumerate(x):
        expected += energy.unary.reshape(3, 4, 3)[r, c, label]
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))[: connectivity // 2]:
            if r + down < 3 and 0 <= c + right < 4:
                scale = 1.0 if 0 in (down, right) else np.sqrt(0.5)
                expected += 0.7 * scale * abs(int(label) - int(x[r + down, c + right]))
    assert energy(x) == pytest.approx(expected)
    graph = PairwiseEnergy(energy.unary, energy.arcs.edges, energy.weight, energy.distance)
    assert graph(x.ravel()) == pytest.approx(expected)


def test_arcs_of_a_graph_are_pairs_of_sisters():
    arcs = Arcs.of(5, [(0, 3), (4, 1), (1, 0)])
    first, heads, sisters, edge = arcs.rows
    tails = np.repeat(np.arange(5), np.diff(first))
    np.testing.assert_array_equal(heads[sisters], tails)
    np.testing.assert_array_equal(sisters[sisters], np.arange(6))
    np.testing.assert_array_equal(edge[sisters], edge)
    joined = {frozenset(pair) for pair in zip(tails.tolist(), heads.tolist())}
    assert joined == {frozenset((0, 3)), frozenset((1, 4)), frozenset((0, 1))}


def test_distances():
    assert distances("potts", 3).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert distances("quadratic", 3, 3.0)[0].tolist() == [0, 1, 3]


# Cuts


@pytest.mark.parametrize("connectivity", [4, 8])
def test_a_graph_cut_has_the_least_energy_of_all(connectivity):
    rng = np.random.default_rng(1)
    for trial in range(60):
        shape = tuple(rng.integers(1, 4, 2))
        distance = "potts" if trial % 2 else [[0.3, 1.0], [1.0, -0.4]]
        energy = grid(rng, shape, 2, rng.uniform(0, 2), connectivity=connectivity, distance=distance)
        found = energy.minimise("graph_cut")
        assert found.energy == pytest.approx(best_of_all(energy), abs=1e-9)
        assert found.exact
        graph = PairwiseEnergy(energy.unary, energy.arcs.edges, energy.weight, energy.distance).minimise()
        assert graph.energy == pytest.approx(found.energy, abs=1e-9)
        np.testing.assert_array_equal(graph.labels, found.labels.ravel())  # the same of several least cuts
        for method in METHODS:
            assert energy.minimise(method, random_state=0).energy >= found.energy - 1e-9


@pytest.mark.parametrize("shape", [(20, 30), (1, 50), (40, 1)])
def test_flows_are_those_of_scipy(shape):
    rng = np.random.default_rng(2)
    for arcs in (Arcs.grid(shape, 4), Arcs.of(50, np.argwhere(np.triu(rng.random((50, 50)) < 0.2, 1)))):
        n = arcs.n
        terminal = rng.integers(-9, 10, n)
        there, back = rng.integers(0, 6, (2, len(arcs.edges)))
        a, b = arcs.edges.T
        nodes = np.arange(n)
        rows = np.concatenate([a, b, np.full(n, n), nodes])
        columns = np.concatenate([b, a, nodes, np.full(n, n + 1)])
        capacity = np.concatenate([there, back, np.maximum(terminal, 0), np.maximum(-terminal, 0)])
        matrix = csr_array((capacity.astype(np.int32), (rows, columns)), shape=(n + 2, n + 2))
        flow, sink = arcs.cut(terminal.astype(float), there.astype(float), back.astype(float))
        assert flow == maximum_flow(matrix, n, n + 1).flow_value
        cut = there[~sink[a] & sink[b]].sum() + back[sink[a] & ~sink[b]].sum()
        assert flow == cut + np.maximum(terminal, 0)[sink].sum() + np.maximum(-terminal, 0)[~sink].sum()


@pytest.mark.parametrize("flip", [0.1, 0.3])
def test_cuts_of_pictures_are_those_of_pymaxflow(flip):
    maxflow = pytest.importorskip("maxflow", reason="PyMaxflow is not installed")
    _, noisy = blob(150, flip=flip)
    found = denoise(noisy, "graph_cut", flip=flip)
    wrong = np.log((1 - flip) / flip)
    graph = maxflow.Graph[float]()
    nodes = graph.add_grid_nodes(noisy.shape)
    graph.add_grid_edges(nodes, 1.0)
    graph.add_grid_tedges(nodes, np.where(noisy, wrong, 0.0), np.where(noisy, 0.0, wrong))
    assert found.energy == pytest.approx(graph.maxflow(), rel=1e-10)


def test_repelling_neighbours_are_told():
    unary = np.zeros((3, 2))
    with pytest.raises(
        ValueError, match=r"the edge \(1, 2\) does not attract: like labels cost 2 more than unlike ones"
    ):
        PairwiseEnergy(unary, [(0, 1), (1, 2)], [1.0, -2.0]).minimise("graph_cut")
    assert PairwiseEnergy(unary, [(0, 1), (1, 2)], [1.0, -2.0]).minimise().method == "max_product"
    with pytest.raises(
        ValueError, match="a graph cut chooses between 2 labels, but there are 3; use method='expansion'"
    ):
        PairwiseEnergy(np.zeros((3, 3)), [(0, 1)]).minimise("graph_cut")
    energy = grid(np.random.default_rng(0), (4, 4), 4, 2.0, distance="quadratic")
    with pytest.raises(
        ValueError,
        match=r"an expansion of label 1 is no cut: the distance of 0 and 3 exceeds what they cost beside 1; use method='swap'",
    ):
        energy.minimise("expansion")


# Moves of more labels


@pytest.mark.parametrize(
    ("distance", "expected"), [("potts", "expansion"), ("linear", "expansion"), ("quadratic", "swap")]
)
def test_moves_end_where_no_move_is_better(distance, expected):
    rng = np.random.default_rng(3)
    ratios = []
    for _ in range(20):
        energy = grid(rng, (2, 3), 3, 0.8, distance=distance)
        found, best = energy.minimise(), best_of_all(energy)
        assert found.method == expected
        assert found.reason.code == "no_move"
        assert found.energy >= best - 1e-9
        ratios.append(found.energy - best)
        x = found.labels
        for alpha in range(3):  # moves of all nodes, one by one
            for take in itertools.product((False, True), repeat=6):
                moved = np.where(np.reshape(take, (2, 3)), alpha, x)
                if expected == "expansion" or len({*x[np.reshape(take, (2, 3))].tolist()}) == 1:
                    assert energy(moved) >= found.energy - 1e-9
    assert np.mean(np.array(ratios) < 1e-9) > 0.7


def test_moves_beat_passes_on_grey_pictures():
    a, b = np.mgrid[:40, :40] // 10
    truth = ((a + 2 * b) % 5).astype(float)
    noisy = truth + np.random.default_rng(0).normal(0, 0.8, truth.shape)
    settings = {"levels": np.arange(5.0), "noise": 0.8, "coupling": 1.0, "distance": "potts"}
    found = {method: denoise(noisy, method, **settings) for method in ("expansion", "swap", "icm")}
    assert max(found[name].energy for name in ("expansion", "swap")) < found["icm"].energy
    nearest = np.clip(noisy.round(), 0, 4)
    assert np.abs(found["expansion"].image - truth).mean() < 0.5 * np.abs(nearest - truth).mean()


# Passes


def test_mean_field_and_gibbs_shares_are_near_the_marginals():
    rng = np.random.default_rng(4)
    energy = grid(rng, (2, 3), 2, 0.3)
    states = np.array(list(itertools.product(range(2), repeat=6)))
    p = np.exp(-np.array([energy(x) for x in states]))
    marginal = (p / p.sum()) @ states
    drawn = energy.minimise("gibbs", max_iter=20_000, random_state=0)
    np.testing.assert_allclose(drawn.shares[:, :, 1].ravel(), marginal, atol=0.02)
    np.testing.assert_allclose(energy.minimise("mean_field").shares[:, :, 1].ravel(), marginal, atol=0.05)
    again = energy.minimise("gibbs", max_iter=20, random_state=3), energy.minimise("gibbs", max_iter=20, random_state=3)
    np.testing.assert_array_equal(again[0].shares, again[1].shares)


def test_max_product_is_exact_on_trees():
    rng = np.random.default_rng(5)
    for _ in range(20):
        edges = [(int(rng.integers(j)), j) for j in range(1, 7)]
        energy = PairwiseEnergy(rng.normal(size=(7, 3)), edges, rng.normal(size=6))
        found = energy.minimise("max_product", damping=0.0)
        assert found.energy == pytest.approx(best_of_all(energy), abs=1e-9)
        assert found.reason.code == "tol"


def test_conditional_modes_are_modes():
    rng = np.random.default_rng(6)
    energy = grid(rng, (5, 5), 3, 0.5)
    found = energy.minimise("icm", start=rng.integers(3, size=(5, 5)))
    assert found.reason.code == "mode"
    for place in np.ndindex(5, 5):
        for label in range(3):
            other = found.labels.copy()
            other[place] = label
            assert energy(other) >= found.energy - 1e-12


def test_what_does_not_settle_is_told():
    square = PairwiseEnergy([[0.0, 1e-3]] * 3, [(0, 1), (1, 2), (0, 2)], -3.0)
    found = square.minimise("max_product", max_iter=1, tol=0.0)
    assert found.reason.code == "max_iter"
    assert "max_iter=1 passes did not settle" in found.reason


# Pictures


@pytest.mark.parametrize("connectivity", [4, 8])
def test_the_graph_cut_has_the_least_energy_of_all_methods(connectivity):
    truth, noisy = blob()
    table = compare_denoising(noisy, truth, connectivity=connectivity, random_state=0)
    assert table["method"] == ["none", "icm", "mean_field", "gibbs", "max_product", "graph_cut"]
    energy, error = dict(zip(table["method"], table["energy"])), dict(zip(table["method"], table["error"]))
    assert all(energy["graph_cut"] <= energy[name] + 1e-9 for name in energy if name not in ("none", "graph_cut"))
    assert error["graph_cut"] < 0.02 < 0.08 < error["none"]
    assert all(error[name] < error["none"] for name in error if name != "none")


def test_missing_pixels_are_filled_in():
    truth, noisy = blob(flip=0.05)
    gone = np.random.default_rng(1).random(truth.shape) < 0.3
    found = denoise(np.where(gone, np.nan, noisy.astype(float)), flip=0.05)
    assert (found.image[gone] != truth[gone]).mean() < 0.03
    masked = denoise(np.ma.MaskedArray(noisy, gone), flip=0.05)
    np.testing.assert_array_equal(masked.image, found.image.astype(bool))
    assert masked.image.dtype == bool
    grey = denoise(np.where(gone, np.nan, 10.0 * noisy), levels=[0.0, 10.0], noise=4.0, distance="potts")
    assert (grey.image != 10.0 * truth).mean() < 0.04


def test_pictures_keep_their_values():
    noisy = blob()[1]
    grey = np.where(noisy, np.uint8(200), np.uint8(10))
    found = denoise(grey).image
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found == 200, denoise(noisy).image)
    assert denoise(np.full((3, 4), 7)).image.tolist() == [[7] * 4] * 3


@pytest.mark.parametrize(
    ("image", "settings", "message"),
    [
        (np.zeros(3), {}, "image has shape (3,) and type float64; give numbers (height, width)"),
        (np.zeros((2, 2, 3)), {}, "image has shape (2, 2, 3)"),
        ([[np.inf, 0.0]], {}, "image holds infinity; set pixels that are missing to NaN."),
        ([[np.nan, np.nan]], {}, "all of the 2 pixels are missing; give one at least."),
        ([[0, 1, 2]], {}, "image holds 3 values, more than black and white; give levels"),
        ([[0, 1]], {"flip": 0.5}, "flip=0.5 is not between 0 and 0.5."),
        ([[0, 1]], {"method": "magic"}, "method='magic' is unknown; use one of 'auto', 'graph_cut'"),
        ([[0, 1]], {"connectivity": 6}, "connectivity=6 is unknown; use 4 or 8."),
        ([[0, 1]], {"levels": 1}, "levels=1 is neither a number from 2 to 256 nor that many increasing values."),
        ([[0, 1]], {"levels": [1, 0]}, "levels=[1, 0] is neither a number"),
        ([[0, 1]], {"levels": 3, "noise": 0}, "noise=0 is not a number above 0."),
        ([[0, 1]], {"levels": 3, "distance": "cubic"}, "distance='cubic' is unknown; use one of 'potts', 'linear'"),
        ([[0, 1]], {"max_iter": 0}, "max_iter=0 is not a whole number of at least 1."),
        ([[0, 1]], {"coupling": np.nan}, "weight has shape (); give a finite number"),
    ],
)  # fmt: skip
def test_bad_pictures_are_told(image, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        denoise(image, **settings)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((3, 2)),), "unary has shape (3, 2); give (nodes, labels) with edges, or (height, width, labels) without."),
        (([[np.inf, 0.0]], []), "unary holds inf; costs must be finite."),
        ((np.zeros((3, 2)), [(0, 3)]), "edges holds [0, 3], which joins no two different nodes from 0 to 2."),
        ((np.zeros((3, 2)), [(1, 1)]), "edges holds [1, 1], which joins no two different nodes"),
        ((np.zeros((3, 2)), [(0, 1), (1, 0)]), "edges holds [0, 1] more than once; give each once and add up weights."),
        ((np.zeros((3, 2)), [(0.5, 1)]), "edges has shape (1, 2) and type float64; give pairs of numbers of nodes."),
        ((np.zeros((3, 2)), [(0, 1)], [1.0, 2.0]), "weight has shape (2,); give a finite number, or 1 of them, one per edge."),
        ((np.zeros((3, 2)), [(0, 1)], 1.0, [[0, 1], [2, 0]]), "distance has shape (2, 2); give a finite symmetric matrix"),
    ],
)  # fmt: skip
def test_bad_energies_are_told(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        PairwiseEnergy(*arguments)


def test_bad_labels_are_told():
    energy = PairwiseEnergy(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match=re.escape("labels has shape (3,) and type int64; give whole numbers (2, 2).")):
        energy([0, 1, 0])
    with pytest.raises(ValueError, match=re.escape("labels holds 2; use 0 to 1.")):
        minimise_energy(energy, start=[[0, 2], [0, 0]])
    with pytest.raises(ValueError, match=r"truth has shape \(2,\), but the noisy picture \(2, 2\)"):
        compare_denoising(np.eye(2), np.zeros(2))
