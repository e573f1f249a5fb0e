"""Factor graphs and Markov networks: messages against enumeration on trees and with loops, solutions, evidence, separation."""

import itertools
import re

import networkx as nx
import numpy as np
import pytest

from tacit.graph import FactorGraph, MarkovNetwork, Potential
from tacit.graph.messages import Messages, pass_messages


def random_tree(rng, n=6, zeros=0.0):
    """Factors of one to three variables without loops; the variables are named by letters."""
    cards, factors, at = rng.integers(2, 4, n), [], 1
    while at < n:
        scope = [int(rng.integers(at)), *range(at, min(at + int(rng.integers(1, 3)), n))]
        at = scope[-1] + 1
        factors.append(scope)
    factors += [[int(rng.integers(n))], [int(rng.integers(n))]]
    return [table(rng, rng.permutation(scope).tolist(), cards, zeros) for scope in factors]


def table(rng, scope, cards, zeros=0.0):
    values = rng.gamma(0.5, size=[cards[v] for v in scope]) + 1e-3
    return Potential([chr(97 + v) for v in scope], np.where(rng.random(values.shape) < zeros, 0.0, values))


def loop(rng, n=4, strength=1.0, n_states=2):
    pairs = [(i, (i + 1) % n) for i in range(n)]
    fields = [Potential([v], np.exp(0.5 * rng.normal(size=n_states))) for v in range(n)]
    return [*fields, *(Potential(pair, np.exp(strength * rng.normal(size=(n_states, n_states)))) for pair in pairs)]


def brute(factors, given=None):
    """The product of all factors as one table, at the evidence."""
    return Potential.product(factors).reduce(given or {})


# Sum-product


@pytest.mark.parametrize("evidence", [False, True])
def test_marginals_on_trees_are_those_of_the_product(evidence):
    rng = np.random.default_rng(0)
    for _ in range(15):
        factors = random_tree(rng)
        graph = FactorGraph(factors)
        assert graph.is_tree
        given = {"b": 1, "e": 0} if evidence else {}
        joint, found = brute(factors, given), graph.sum_product(given)
        assert found.exact
        assert found.log_partition == pytest.approx(np.log(joint.total), rel=1e-12)
        for v in graph.variables:
            expected = np.eye(len(graph.states[v]))[given[v]] if v in given else joint.marginal([v]).normalised().values
            np.testing.assert_allclose(found.marginals[v].values, expected, atol=1e-13)
        for factor, belief in zip(factors, found.factors):
            free = [v for v in factor.variables if v not in given]
            np.testing.assert_allclose(
                belief.reduce(given).aligned(free).values, joint.marginal(free).normalised().values
            )


def test_zeros_are_no_trouble():
    rng = np.random.default_rng(1)
    tried = 0
    while tried < 15:
        factors = random_tree(rng, zeros=0.4)
        joint = brute(factors)
        if not joint.total:
            continue
        tried += 1
        found = FactorGraph(factors).sum_product()
        assert found.log_partition == pytest.approx(np.log(joint.total), rel=1e-10)
        best = FactorGraph(factors).most_probable()
        assert best.log_value == pytest.approx(np.log(joint.values.max()), rel=1e-12)


def test_long_chains_do_not_vanish():
    chain = FactorGraph([Potential([i, i + 1], [[1e-30, 3e-30], [2e-30, 1e-30]]) for i in range(300)])
    found = chain.sum_product()
    power = np.linalg.matrix_power(np.array([[1.0, 3.0], [2.0, 1.0]]) / 3, 300)
    assert found.log_partition == pytest.approx(np.log(power.sum()) + 300 * np.log(3e-30), rel=1e-12)
    np.testing.assert_allclose(found.marginals[0].values, power.sum(axis=1) / power.sum(), rtol=1e-10)
    np.testing.assert_allclose(chain.query(0).values, power.sum(axis=1) / power.sum(), rtol=1e-10)


@pytest.mark.parametrize("schedule", ["residual", "sweep"])
def test_loopy_marginals_are_near_and_told(schedule):
    rng = np.random.default_rng(2)
    for _ in range(10):
        factors = loop(rng, 5, 0.4)
        found = FactorGraph(factors).sum_product(schedule=schedule)
        joint = brute(factors)
        assert not found.exact
        assert found.reason.code == "converged"
        assert "with loops the result is approximate" in found.reason
        for v in range(5):
            np.testing.assert_allclose(found.marginals[v].values, joint.marginal([v]).normalised().values, atol=0.03)
        assert found.log_partition == pytest.approx(np.log(joint.total), abs=0.05)


def test_both_schedules_rest_at_the_same_messages_and_residuals_send_fewer():
    rng = np.random.default_rng(3)
    pairs = [(r * 5 + c, r * 5 + c + 1) for r in range(5) for c in range(4)]
    pairs += [(r * 5 + c, r * 5 + c + 5) for r in range(4) for c in range(5)]
    factors = [Potential([v], rng.gamma(1.0, size=2) + 0.1) for v in range(25)]
    factors += [Potential(pair, np.exp(0.6 * rng.normal(size=(2, 2)))) for pair in pairs]
    graph = FactorGraph(factors)
    one, other = (graph.sum_product(schedule=schedule, damping=0.0) for schedule in ("residual", "sweep"))
    for v in graph.variables:
        np.testing.assert_allclose(one.marginals[v].values, other.marginals[v].values, atol=1e-6)
    assert one.reason.values["n_sent"] < other.reason.values["n_sent"]


def test_messages_that_do_not_settle_are_told():
    frustrated = [Potential([i, j], [[1.0, 50.0], [50.0, 1.0]]) for i, j in itertools.combinations(range(4), 2)]
    graph = FactorGraph([*frustrated, Potential([0], [1.0, 2.0])])
    found = graph.sum_product(max_iter=1, tol=0.0, damping=0.0)
    assert found.reason.code == "not_converged"
    assert re.match("messages did not settle: after 13 were sent the next would change by", found.reason)


def test_a_loop_of_pairs_by_messages_on_a_tree_of_clusters():
    """Sending in the tree's order, whatever the damping, is what the flag of exactness rests on."""
    rng = np.random.default_rng(4)
    graph = FactorGraph(random_tree(rng))
    unary = [np.zeros(len(states)) for states in graph.states.values()]
    messages = [Messages(graph._scopes, graph._logs, [each.copy() for each in unary], False) for _ in range(2)]
    pass_messages(messages[0], graph._order, 1, 0.0, 0.0, "residual")
    pass_messages(messages[1], None, 200, 1e-13, 0.3, "residual")  # as if there were loops
    for key in messages[0].sent:
        np.testing.assert_allclose(messages[1].sent[key], messages[0].sent[key], atol=1e-9)


# Queries


def test_queries_are_exact_with_loops():
    rng = np.random.default_rng(5)
    for _ in range(10):
        factors = [*loop(rng, 5, 1.5), Potential([0, 2, 4], rng.random((2, 2, 2)))]
        graph, joint = FactorGraph(factors), brute(factors)
        np.testing.assert_allclose(graph.query([3, 1]).values, joint.marginal([3, 1]).normalised().values)
        expected = joint.reduce({0: 1}).marginal([2]).normalised().values
        np.testing.assert_allclose(graph.query(2, {0: 1}).values, expected)
    both = graph.query([0, 2], {0: 1})
    np.testing.assert_allclose(both.values, [np.zeros(2), graph.query(2, {0: 1}).values])


# Solutions


def test_most_probable_states_on_trees():
    rng = np.random.default_rng(6)
    for _ in range(20):
        factors = random_tree(rng)
        graph, given = FactorGraph(factors), {"c": 1}
        joint, found = brute(factors), graph.most_probable()
        assert found.states == joint.argmax()
        assert found.exact
        assert found.log_value == pytest.approx(np.log(joint.values.max()))
        assert found.notes == []
        told = graph.most_probable(given)
        assert {v: s for v, s in told.states.items() if v != "c"} == joint.reduce(given).argmax()
        assert told.states["c"] == 1


def test_ties_are_told_and_decoded_together():
    alike, unlike = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
    graph = FactorGraph([Potential("ab", alike), Potential("bc", unlike), Potential("d", [2.0, 1.0])])
    found = graph.most_probable()
    assert found.log_value == pytest.approx(np.log(2.0))
    assert found.states["a"] == found.states["b"] != found.states["c"]
    (note,) = found.notes
    assert (note.code, note.values["variables"]) == ("ties", "a, b, c")
    assert len(graph.n_best(10)) == 4


def test_n_best_solutions_are_those_of_the_sorted_product():
    rng = np.random.default_rng(7)
    for trial in range(8):
        factors = random_tree(rng, 5, zeros=0.2 * (trial % 2))
        graph = FactorGraph(factors)
        values = np.sort([value for _, value in graph.enumerate_states()])[::-1]
        values = values[values > -np.inf]
        if not len(values):
            continue
        found = graph.n_best(12)
        np.testing.assert_allclose([each.log_value for each in found], values[:12])
        assert len({tuple(each.states.items()) for each in found}) == len(found)
        for each in found:
            assert graph.log_value(each.states) == pytest.approx(each.log_value)
    everything = graph.n_best(10_000)
    assert len(everything) == len(values)
    given = graph.n_best(3, {"a": 0})
    assert all(each.states["a"] == 0 for each in given)


def test_loopy_solutions_of_tiny_graphs():
    rng = np.random.default_rng(8)
    hits = 0
    for _ in range(20):
        factors = loop(rng, 4, 0.7)
        graph, joint = FactorGraph(factors), brute(factors)
        found = graph.most_probable()
        assert not found.exact
        assert found.log_value <= np.log(joint.values.max()) + 1e-12
        assert found.log_value == pytest.approx(graph.log_value(found.states))
        hits += found.states == joint.argmax()
    assert hits >= 18


# Evidence and bad input


def weather():
    states = {"rain": ("yes", "no"), "wet": ("yes", "no")}
    return FactorGraph(
        [Potential(["rain"], [0.2, 0.8], states), Potential(["rain", "wet"], [[1.0, 0.0], [0.2, 0.8]], states)]
    )


def test_impossible_evidence_is_told():
    graph = weather()
    for ask in (graph.sum_product, graph.most_probable, lambda given: graph.query("rain", given)):
        with pytest.raises(
            ValueError, match="the evidence is impossible: rain = yes, wet = no has probability 0; correct"
        ):
            ask({"rain": "yes", "wet": "no"})
    factors = [*graph.factors, Potential("z", [1.0, 1.0])]
    with pytest.raises(ValueError, match="impossible: rain = yes, wet = no has"):
        FactorGraph(factors).sum_product({"z": 1, "rain": "yes", "wet": "no"})  # z has no part in it
    nothing = FactorGraph([Potential("a", [1.0, 0.0]), Potential("a", [0.0, 1.0])])
    with pytest.raises(ValueError, match="the product of the factors is 0 for all states"):
        nothing.most_probable()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda g: g.sum_product({"snow": "yes"}), "given tells of 'snow', which is no variable; there are rain, wet."),
        (lambda g: g.sum_product({"rain": "often"}), "'often' is no state of 'rain'; its states are 'yes', 'no'."),
        (lambda g: g.query("snow"), "'snow' is no variable; there are rain, wet."),
        (lambda g: g.query(["rain", "snow"]), "'snow' is no variable"),
        (lambda g: g.log_value({"rain": "yes"}), "states does not tell 'wet'; give a state of every variable."),
        (lambda g: g.sum_product(damping=1.0), "damping=1.0 is not a number of at least 0 and at most 0.999."),
        (lambda g: g.sum_product(schedule="random"), "schedule='random' is unknown; use one of 'residual', 'sweep'."),
        (lambda g: g.sum_product(max_iter=0), "max_iter=0 is not a whole number of at least 1."),
        (lambda g: g.n_best(0), "n=0 is not a whole number of at least 1."),
        (lambda g: g.n_best(2, tol=-1), "tol=-1 is not a number of at least 0."),
    ],
)  # fmt: skip
def test_bad_questions_are_told(ask, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ask(weather())


def test_bad_factors_are_told():
    with pytest.raises(TypeError, match="a factor is a list; give tables of"):
        FactorGraph([[1.0, 2.0]])
    with pytest.raises(ValueError, match="the factors have no variable; give at least one factor of a variable"):
        FactorGraph([])
    with pytest.raises(
        ValueError, match=re.escape("the states of 'a' are [0, 1] in one factor and [0, 1, 2] in another")
    ):
        FactorGraph([Potential("a", [1, 1]), Potential("a", [1, 1, 1])])


def test_a_variable_with_one_state_and_a_graph_in_parts():
    graph = FactorGraph([Potential("a", [3.0]), Potential("ab", [[1.0, 3.0]]), Potential("c", [1.0, 1.0])])
    found = graph.sum_product()
    assert found.marginals["a"].values.tolist() == [1.0]
    np.testing.assert_allclose(found.marginals["b"].values, [0.25, 0.75])
    assert found.log_partition == pytest.approx(np.log(24.0))
    assert repr(graph) == "FactorGraph(3 factors of 3 variables, a tree)"


# Markov networks


def test_separation_is_that_of_networkx():
    rng = np.random.default_rng(9)
    graph = nx.gnp_random_graph(8, 0.25, seed=1)
    factors = [Potential([v], [1.0, 2.0]) for v in graph] + [
        Potential(edge, rng.random((2, 2))) for edge in graph.edges
    ]
    network = MarkovNetwork(factors)
    assert network.links == {frozenset(edge) for edge in graph.edges}
    for _ in range(100):
        order = rng.permutation(8).tolist()
        a, b, given = order[:2], order[2:3], order[3 : int(rng.integers(3, 8))]
        left = graph.subgraph(set(graph) - set(given))
        expected = not any(nx.has_path(left, u, v) for u in a for v in b)
        assert network.separated(a, b[0], given) == expected
    assert network.neighbours(0) == set(graph[0])


def test_separated_variables_are_independent():
    rng = np.random.default_rng(10)
    network = MarkovNetwork(loop(rng, 4, 1.0))
    assert network.separated(0, 2, [1, 3])
    joint = brute(network.factors).reduce({1: 0, 3: 1}).aligned([0, 2]).normalised().values
    np.testing.assert_allclose(joint, np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    assert not network.separated(0, 2, [1])
    joint = brute(network.factors).marginal([0, 1, 2]).reduce({1: 0}).normalised().values
    assert np.abs(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))).max() > 1e-3


def test_bad_separations_are_told():
    network = MarkovNetwork(loop(np.random.default_rng(0)))
    with pytest.raises(ValueError, match="9 is no variable; there are 0, 1, 2, 3"):
        network.separated(0, 1, 9)
    with pytest.raises(ValueError, match="1 is in two of a, b and given; name it in one"):
        network.separated(0, 1, [1])
