"""Graph theory against networkx, and against going over all graphs of four variables."""

from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest

from tacit.graph import (
    BeliefNetwork,
    ancestors,
    ancestral,
    cpdag,
    d_separated,
    descendants,
    equivalent,
    immoralities,
    markov_blanket,
    moral,
    separated,
    skeleton,
    topological_order,
)
from tacit.graph.dag import as_nodes
from tacit.graph.nodes import Nodes

from .networks import posterior, random_network

networkx = pytest.importorskip("networkx", reason="networkx is not installed")

ALARM = [("burglar", "alarm"), ("earthquake", "alarm"), ("earthquake", "radio")]


def random_dag(rng, n=7, edge=0.35):
    order = rng.permutation(n)
    return [(int(order[i]), int(order[j])) for i in range(n) for j in range(i + 1, n) if rng.random() < edge]


@pytest.mark.parametrize("seed", range(8))
def test_d_separation_equals_networkx(seed):
    rng = np.random.default_rng(seed)
    edges = random_dag(rng)
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(7))
    graph.add_edges_from(edges)
    for _ in range(100):
        a, b, *given = rng.permutation(7)[: rng.integers(2, 6)].tolist()
        assert d_separated(graph, a, b, given) == networkx.is_d_separator(graph, {a}, {b}, set(given))
        assert ancestors(graph, a) == networkx.ancestors(graph, a)
        assert descendants(graph, a) == networkx.descendants(graph, a)
    moralised = {frozenset(edge) for edge in networkx.moral_graph(graph).edges}
    assert moral(graph) == moralised
    order = topological_order(graph)
    assert all(order.index(a) < order.index(b) for a, b in edges)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_separated_is_independent(seed):
    network = random_network(seed, n=5)
    names = network.nodes_.names
    for a, b in combinations(names, 2):
        for given in ([], [v for v in names if v not in (a, b)][:1], [v for v in names if v not in (a, b)][:2]):
            if network.d_separated(a, b, given):
                table = posterior(network, [a, b, *given])
                table = table.reshape(*table.shape[:2], -1)
                outer = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
                np.testing.assert_allclose(table * table.sum(axis=(0, 1)), outer, atol=1e-13)


def all_dags(n):
    pairs = list(combinations(range(n), 2))
    for ways in product((0, 1, 2), repeat=len(pairs)):
        edges = [(a, b) if way == 1 else (b, a) for (a, b), way in zip(pairs, ways) if way]
        try:
            yield Nodes.of_edges(edges, range(n), {v: (0, 1) for v in range(n)})
        except ValueError:
            continue


def independences(nodes):
    found = set()
    for a, b in combinations(range(4), 2):
        rest = [v for v in range(4) if v not in (a, b)]
        for size in range(3):
            for given in combinations(rest, size):
                if d_separated(nodes, a, b, given):
                    found.add((a, b, given))
    return frozenset(found)


def test_equivalence_and_classes_over_all_graphs_of_four_variables():
    classes = {}
    for nodes in all_dags(4):
        classes.setdefault(independences(nodes), []).append(nodes)
    assert sum(map(len, classes.values())) == 543  # Robinson's number of labelled graphs
    assert len(classes) == 185
    first = [members[0] for members in classes.values()]
    for members in classes.values():
        assert all(equivalent(members[0], other) for other in members)
        directed, undirected = cpdag(members[0])
        edges = [set(member.edges) for member in members]
        assert directed == set.intersection(*edges)
        assert undirected == skeleton(members[0]) - {frozenset(edge) for edge in directed}
    assert not any(equivalent(a, b) for a, b in combinations(first[:40], 2))


def test_a_small_graph_by_hand():
    assert immoralities(ALARM) == {(frozenset({"burglar", "earthquake"}), "alarm")}
    assert markov_blanket(ALARM, "burglar") == {"alarm", "earthquake"}
    assert ancestral(ALARM, "radio") == {("earthquake", "radio")}
    assert skeleton(ALARM) == {frozenset(edge) for edge in ALARM}
    assert frozenset({"burglar", "earthquake"}) in moral(ALARM)
    assert equivalent([("a", "b"), ("b", "c")], {"a": ["b"], "b": ["c"], "c": []})
    assert not equivalent([("a", "b"), ("c", "b")], [("a", "b"), ("b", "c")])


def test_separation_in_markov_networks():
    chain = [("a", "b"), ("b", "c"), ("c", "d")]
    assert separated(chain, "a", "d", "b")
    assert not separated(chain, "a", "d")
    assert separated(networkx.Graph(chain), ["a"], ["c", "d"], ["b"])
    assert separated(chain, "a", "z")


def test_networkx_in_and_out():
    network = random_network(1)
    graph = network.to_networkx()
    assert list(graph.nodes) == list(network.nodes_.names)
    assert set(graph.edges) == set(network.nodes_.edges)
    assert equivalent(graph, network)
    rows = np.array([["u", "s"], ["v", "t"], ["u", "t"]], dtype=object)
    learned = BeliefNetwork(networkx.DiGraph([(0, 1)])).fit(rows)
    assert learned.nodes_.edges == [(0, 1)]


def test_every_order_of_names_gives_the_same_answer():
    for names in permutations(["burglar", "earthquake", "alarm", "radio"]):
        nodes = Nodes.of_edges(ALARM, names, dict.fromkeys(names, (0, 1)))
        assert d_separated(nodes, "burglar", "radio")
        assert not d_separated(nodes, "burglar", "radio", ["alarm"])


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda: d_separated(ALARM, "burglar", "radoi"), r"'radoi' is no variable of the network; did you mean 'radio'\?"),
     (lambda: d_separated(ALARM, "burglar", "burglar"), r"'burglar' is named in more than one of a, b and given"),
     (lambda: as_nodes(networkx.Graph([("a", "b")])), r"a networkx Graph was given, but a DiGraph is needed"),
     (lambda: as_nodes([("a", "b"), ("b", "c"), ("c", "a")]), r"the edges form the cycle"),
     (lambda: as_nodes([("a", "b", "c")]), r"the edge \('a', 'b', 'c'\) is no pair of parent and child"),
     (lambda: as_nodes([]), r"the network has no variable")],
)  # fmt: skip
def test_bad_graphs_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_cycle_is_told_along_its_edges():
    with pytest.raises(ValueError, match="form the cycle") as told:
        as_nodes([("x", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "y")])
    ring = str(told.value).partition("the cycle ")[2].partition(";")[0].split(" → ")
    edges = {("a", "b"), ("b", "c"), ("c", "a")}
    assert set(pairwise(ring)) == edges
