"""`JunctionTree`: properties of its tree, marginals, evidence added and withdrawn, and trees that are too large."""

import numpy as np
import pytest

from tacit.graph import BeliefNetwork, JunctionTree, Potential

from .networks import published, random_network

HEURISTICS = ("best", "min-fill", "min-weight", "weighted-fill")


def random_tables(seed, n=8):
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, n)
    scopes = [sorted(rng.choice(n, size, replace=False).tolist()) for size in (1, 2, 2, 2, 3, 3, 2)]
    return [Potential(s, rng.random(cards[s]) + 0.01) for s in scopes]


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize("seed", range(4))
def test_the_tree_is_a_junction_tree(heuristic, seed):
    tables = random_tables(seed)
    tree = JunctionTree(tables, heuristic=heuristic, random_state=seed)
    cliques = [set(clique) for clique in tree.cliques]
    assert all(any(set(table.variables) <= clique for clique in cliques) for table in tables)
    assert not any(a < b for a in cliques for b in cliques)
    for v in {v for clique in cliques for v in clique}:  # running intersection: those that have v hang together
        tops = [
            c
            for c, clique in enumerate(cliques)
            if v in clique and (tree.parents[c] < 0 or v not in cliques[tree.parents[c]])
        ]
        assert len(tops) == 1
    for c, (separator, parent) in enumerate(zip(tree.separators, tree.parents)):
        assert set(separator) == (cliques[c] & cliques[parent] if parent >= 0 else set())
    # A spanning forest of maximal weight, by Kruskal's algorithm.
    links = sorted(((len(a & b), i, j) for i, a in enumerate(cliques) for j, b in enumerate(cliques[:i])), reverse=True)
    home, weight = list(range(len(cliques))), 0
    for size, i, j in links:
        if size and home[i] != home[j]:
            weight += size
            home = [home[j] if h == home[i] else h for h in home]
    assert sum(map(len, tree.separators)) == weight


@pytest.mark.parametrize("seed", range(6))
def test_marginals_of_any_set(seed):
    tables = random_tables(seed)
    tree, whole = JunctionTree(tables), Potential.product(tables)
    assert tree.log_partition == pytest.approx(np.log(whole.total), abs=1e-12)
    names = whole.variables
    rng = np.random.default_rng(seed)
    for size in (1, 1, 2, 3, 4):
        some = [names[j] for j in rng.choice(len(names), size, replace=False)]
        np.testing.assert_allclose(tree.marginal(some).values, whole.marginal(some).normalised().values, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_evidence_is_added_and_withdrawn(seed):
    tables = random_tables(seed)
    tree, whole, rng = JunctionTree(tables), Potential.product(tables), np.random.default_rng(seed)
    weights = {}
    for _ in range(25):
        v = whole.variables[rng.integers(len(whole.variables))]
        if v in tree.evidence and rng.random() < 0.6:
            tree.withdraw([v])
            weights.pop(v)
        elif rng.random() < 0.5:
            state = int(rng.integers(len(whole.states[v])))
            tree.observe({v: state})
            weights[v] = np.eye(len(whole.states[v]))[state]
        else:
            weights[v] = rng.random(len(whole.states[v])) + 0.1
            weights[v] /= weights[v].max()
            tree.observe({v: list(weights[v])})
        now = Potential.product([whole, *(Potential([u], w, whole.states) for u, w in weights.items())])
        assert tree.log_partition == pytest.approx(np.log(now.total), abs=1e-11)
        for u in rng.permutation(whole.variables)[:3].tolist():
            np.testing.assert_allclose(tree.marginal(u).values, now.marginal([u]).normalised().values, atol=1e-12)
    assert tree.withdraw().log_partition == pytest.approx(np.log(whole.total), abs=1e-12)


def test_new_evidence_makes_only_messages_towards_the_root():
    chain = [Potential([k, k + 1], np.random.default_rng(k).random((2, 2))) for k in range(30)]
    tree = JunctionTree(chain)
    tree.log_partition  # noqa: B018
    made = tree._messages.n_sent
    leaf = next(c for c in range(len(tree.parents)) if c not in tree.parents)
    home = tree._messages.home
    v = next(i for i in range(31) if home[i] == tree.parents.index(-1))
    tree.observe({v: 0}).log_partition  # noqa: B018
    assert tree._messages.n_sent - made == 1
    assert leaf != tree.parents.index(-1)


def test_alarm_equals_the_networks_own_answers():
    network = published("alarm")
    tree, given = JunctionTree(network), {"HR": "LOW", "BP": "HIGH"}
    tree.observe(given)
    expected = network.marginals(given)
    for v, found in tree.marginals().items():
        np.testing.assert_allclose(found.values, expected[v].values, atol=1e-12)
    pair = ["HISTORY", "VENTLUNG"]
    np.testing.assert_allclose(tree.marginal(pair).values, network.query(pair, given).values, atol=1e-12)
    assert tree.log_partition == pytest.approx(network.log_probability(given), abs=1e-11)


def grid(n):
    return [Potential([(i, j), (i + di, j + dj)], np.ones((2, 2))) for i in range(n) for j in range(n) for di, dj in ((0, 1),
    (1, 0))
            if i + di < n and j + dj < n]  # fmt: skip


def test_a_tree_that_is_too_large_is_refused_with_its_size():
    with pytest.raises(
        ValueError,
        match=r"the junction tree takes [\d.e+]+ bytes, of which [\d.e+]+ are the table of .* use an approximate",
    ):
        JunctionTree(grid(60), heuristic="min-fill")
    small = JunctionTree(grid(4))
    assert small.largest_bytes <= small.bytes <= 8 * 2**8
    with pytest.raises(
        ValueError, match=r"but at most 10 may be used; observe more variables, .* FactorGraph's loopy sum-product"
    ):
        JunctionTree(grid(4), memory=10)


def test_a_network_that_is_too_large_says_so_and_evidence_helps():
    n, tables = 40, {}
    for k in range(n):
        tables[f"a{k}"] = [0.5, 0.5]
    for i in range(n):
        for j in range(i):
            tables[f"b{i}.{j}"] = ([f"a{i}", f"a{j}"], [[[1, 0], [0.5, 0.5]], [[0.5, 0.5], [0, 1]]])
    network = BeliefNetwork.from_tables(tables)
    seen = {v: 1 for v in tables if v.startswith("b")}
    with pytest.raises(ValueError, match=r"the junction tree takes .* bytes"):
        network.query("a0", seen)
    some = {f"a{k}": 1 for k in range(1, n)}
    assert network.query("a0", seen | some).values[1] > 0.99


@pytest.mark.parametrize(
    ("make", "message", "kind"),
    [(lambda: JunctionTree([]), "the tables have no variable; give at least one table", ValueError),
     (lambda: JunctionTree([1]), "tables holds a int; give Potentials, or a BeliefNetwork", TypeError),
     (lambda: JunctionTree(grid(2), heuristic="x"), "heuristic='x' is unknown", ValueError),
     (lambda: JunctionTree([Potential("a", [1, 1]), Potential("a", [1, 1, 1])]),
      r"the states of 'a' are \[0, 1\] in one table", ValueError),
     (lambda: JunctionTree(grid(2)).withdraw([(0, 0)]), r"\(0, 0\) was not observed; there is nothing to withdraw", ValueError),
     (lambda: JunctionTree(grid(2)).observe({(0, 0): 5}), r"5 is no state of \(0, 0\); its states are 0, 1", ValueError),
     (lambda: JunctionTree(grid(2)).marginal("z"), r"'z' is no variable of the network", ValueError),
     (lambda: JunctionTree(grid(2)).marginal([]), r"variables=\[\] must name at least one variable", ValueError),
     (lambda: JunctionTree([Potential("ab", [[1, 0], [0, 1]])]).observe({"a": 0, "b": 1}).marginal("a"),
      r"the evidence \{'a': 0, 'b': 1\} is impossible", ValueError),
     (lambda: JunctionTree(BeliefNetwork.from_tables({"x": {"coefficients": 0.0, "variance": 1.0}})),
      "'x' is continuous", ValueError)],
)  # fmt: skip
def test_bad_input_is_refused(make, message, kind):
    with pytest.raises(kind, match=message):
        make()


@pytest.mark.parametrize("seed", range(3))
def test_a_network_and_its_tree_agree_where_evidence_is_impossible(seed):
    network = random_network(seed)
    tree = JunctionTree(network)
    names, rng = network.nodes_.names, np.random.default_rng(seed)
    for _ in range(20):
        given = {
            v: network.states_of(v)[rng.integers(len(network.states_of(v)))]
            for v in rng.choice(list(names), 3, replace=False).tolist()
        }
        tree.withdraw().observe(given)
        assert tree.log_partition == pytest.approx(network.log_probability(given), abs=1e-11)
