"""Mean field of discrete networks: the bound is below the evidence, never falls, and is tight where the posterior factorises."""

import numpy as np
import pandas as pd
import pytest

from tacit.graph import BeliefNetwork, FactorGraph, IsingModel, MarkovNetwork, PairwiseEnergy, Potential
from tacit.variational import mean_field


def random_graph(rng, n=5, spread=1.0, zeros=False):
    """A loopy graph of factors of two and three variables of two to four states, all of them connected."""
    cards = rng.integers(2, 5, n)
    scopes = [(i, (i + 1) % n) for i in range(n)] + [tuple(rng.choice(n, 3, replace=False)) for _ in range(2)]
    factors = []
    for scope in scopes:
        values = np.exp(spread * rng.normal(size=cards[list(scope)]))
        if zeros:
            values[rng.random(values.shape) < 0.15] = 0.0
        factors.append(Potential(list(scope), values, {i: tuple(range(cards[i])) for i in scope}))
    return FactorGraph(factors), cards


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_the_bound_never_falls_and_is_below_the_evidence(seed, damping):
    rng = np.random.default_rng(seed)
    graph, _ = random_graph(rng, zeros=seed % 3 == 0)
    given = {2: 1} if seed % 2 else {}
    found = mean_field(graph, given, damping=damping, random_state=seed)
    assert (np.diff(found.bounds) >= -1e-9 * np.abs(found.bounds[1:])).all()
    assert found.bound <= found.log_evidence + 1e-9
    # The bound is what its shares say, by enumeration.
    total = 0.0
    for states in np.ndindex(*(len(q) for q in found.shares)):
        share = np.prod([q[s] for q, s in zip(found.shares, states)])
        if share > 1e-12:
            total += share * (graph.log_value(dict(zip(found.variables, states))) - np.log(share))
    assert total == pytest.approx(found.bound, abs=1e-6)


def test_it_is_exact_where_variables_are_independent_and_where_evidence_makes_them_so():
    rng = np.random.default_rng(0)
    alone = FactorGraph([Potential([i], rng.exponential(size=3)) for i in range(4)])
    found = mean_field(alone)
    assert found.gap == pytest.approx(0.0, abs=1e-9)
    star = MarkovNetwork([Potential(["hub", i], rng.exponential(size=(2, 3))) for i in range(4)])
    assert mean_field(star).gap > 1e-3
    found = mean_field(star, {"hub": 1})
    assert found.gap == pytest.approx(0.0, abs=1e-8)
    exact = star.sum_product({"hub": 1}).marginals
    for v in range(4):
        np.testing.assert_allclose(found.marginals[v].values, exact[v].values, atol=1e-6)


def test_no_shares_near_the_best_have_a_higher_bound():
    graph, _ = random_graph(np.random.default_rng(3))
    found, rng = mean_field(graph, n_init=20, random_state=0), np.random.default_rng(1)
    for _ in range(50):
        moved = [q * np.exp(0.05 * rng.normal(size=len(q))) for q in found.shares]
        assert found.sweeps.bound([q / q.sum() for q in moved]) <= found.bound + 1e-9
    assert found.bound >= mean_field(graph, n_init=1).bound - 1e-12


def test_energies_and_their_tables_agree():
    rng = np.random.default_rng(0)
    energy = PairwiseEnergy(rng.normal(size=(3, 3, 2)), weight=0.3)
    found = mean_field(energy, {4: 1}, random_state=0)
    plain = mean_field(FactorGraph(found.sweeps.tables()), {4: 1}, random_state=0)
    assert found.bound == pytest.approx(plain.bound, abs=1e-6)
    assert found.bound <= found.log_evidence + 1e-9
    assert found.shares[4].tolist() == pytest.approx([0.0, 1.0])
    damped = mean_field(energy, {4: 1}, damping=0.3, random_state=0)
    assert damped.bound == pytest.approx(found.bound, abs=1e-6)
    shares = energy.minimise("mean_field").shares
    np.testing.assert_allclose(np.array(mean_field(energy, n_init=1, tol=0).shares).reshape(3, 3, 2), shares, atol=1e-3)


def test_a_belief_network_and_an_ising_model_are_taken_as_they_are_fitted():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    table = pd.DataFrame({"a": a, "b": a ^ (rng.random(200) < 0.3), "c": a ^ (rng.random(200) < 0.2)}).astype(str)
    network = BeliefNetwork([("a", "b"), ("a", "c")]).fit(table)
    found = mean_field(network, {"b": "1", "c": "1"})
    assert found.gap == pytest.approx(0.0, abs=1e-8)  # one variable is left
    assert found.most_probable()["a"] == "1"
    assert mean_field(network, {"a": "1"}).gap == pytest.approx(0.0, abs=1e-8)
    with pytest.raises(ValueError, match="given tells of 'd', which is no variable"):
        mean_field(network, {"d": "1"})
    X = 2.0 * table.astype(int).to_numpy() - 1.0
    found = mean_field(IsingModel().fit(X), random_state=0)
    assert 0 < found.gap < 0.5


def test_faults_are_told():
    with pytest.raises(
        TypeError, match=r"network=BeliefNetwork\(\) has no tables; fit it, or make it by BeliefNetwork"
    ):
        mean_field(BeliefNetwork())
    with pytest.raises(TypeError, match=r"given=\[1\] is not a dictionary of variables and their states"):
        mean_field(BeliefNetwork(), [1])
    with pytest.raises(TypeError, match=r"mean_field takes a BeliefNetwork, .* but got list"):
        mean_field([1])
    graph = FactorGraph([Potential("ab", [[1, 0], [0, 1]])])
    with pytest.raises(ValueError, match=r"no state of positive probability was found that goes with given=.*withdraw"):
        mean_field(graph, {"a": 0, "b": 1})
    with pytest.raises(ValueError, match="damping"):
        mean_field(graph, damping=1.5)
    assert mean_field(graph, {"a": 0}).bound == pytest.approx(0.0, abs=1e-9)
