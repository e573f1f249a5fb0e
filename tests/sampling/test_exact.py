"""Transition probabilities of the compiled chains, computed exactly on small spaces: detailed balance and invariance
to rounding.
"""

import itertools

import numpy as np
import pytest

from tacit.graph import BeliefNetwork, PairwiseEnergy
from tacit.kernels import gibbs, walk
from tacit.sampling.ising import _Ising
from tacit.sampling.network import _Network
from tacit.sampling.topics import _Topics

from .exact import in_python, outcomes


def matrix(states, step):
    """The transition matrix of step(state, rng), which returns the next state."""
    number = {state: i for i, state in enumerate(states)}
    found = np.zeros((len(states), len(states)))
    for state, i in number.items():
        for after, probability in outcomes(lambda rng, state=state: step(state, rng)).items():
            found[i, number[after]] += probability
    return found


def check_balance(p, K):
    flow = p[:, None] * K
    np.testing.assert_allclose(K.sum(axis=1), 1.0, atol=1e-13)
    np.testing.assert_allclose(flow, flow.T, atol=1e-15)


def check_invariance(p, K):
    np.testing.assert_allclose(K.sum(axis=1), 1.0, atol=1e-13)
    np.testing.assert_allclose(p @ K, p, atol=1e-14)


def test_metropolis_with_hastings_correction_is_in_detailed_balance():
    rng = np.random.default_rng(0)
    n = 5
    log_p, q = rng.normal(size=n), rng.dirichlet(np.ones(n), size=n)
    log_p[3] = -np.inf  # a state of probability 0 is never entered

    def propose(x, rng):
        i = int(x[0])
        u, j = rng.random(), 0
        while j < n - 1 and u >= q[i, j]:
            u, j = u - q[i, j], j + 1
        return np.array([float(j)]), np.log(q[j, i]) - np.log(q[i, j])

    def step(i, rng):
        x, numbers, out = np.array([float(i)]), np.array([log_p[i], 0.0, 0.0, 0.0]), np.empty((1, 1))
        steps = in_python(walk.proposed_steps)
        steps(lambda x: log_p[int(x[0])], propose, x, numbers, 1, rng, out, np.empty(1), np.empty(1))
        assert numbers[0] == log_p[int(x[0])]
        return int(x[0])

    alive = [0, 1, 2, 4]
    K = matrix(range(n), lambda i, rng: step(i, rng) if i in alive else i)
    p = np.exp(log_p) / np.exp(log_p).sum()
    check_balance(p, K)
    assert K[alive, 3].max() == 0.0
    assert np.linalg.matrix_power(K[np.ix_(alive, alive)], 500)[0] == pytest.approx(p[alive], abs=1e-10)


def test_independent_proposals_are_in_detailed_balance():
    rng = np.random.default_rng(1)
    n = 6
    log_p, q = rng.normal(size=n), rng.dirichlet(np.ones(n))
    weight = log_p - np.log(q)
    run = in_python(walk.independent_steps)

    def step(i, j, rng):
        x, numbers = np.array([float(i)]), np.array([log_p[i], 0.0, 0.0, 0.0, weight[i]])
        out = np.empty((1, 1)), np.empty(1), np.empty(1)
        run(np.array([[float(j)]]), log_p[[j]], weight[[j]], numbers, x, rng, *out)
        assert (numbers[0], numbers[4]) == (log_p[int(x[0])], weight[int(x[0])])
        return int(x[0])

    K = sum(q[j] * matrix(range(n), lambda i, rng, j=j: step(i, j, rng)) for j in range(n))
    check_balance(np.exp(log_p) / np.exp(log_p).sum(), K)


def energies():
    rng = np.random.default_rng(2)
    yield "tabled_sweeps", PairwiseEnergy(rng.normal(size=(2, 2, 2)), weight=0.7)
    edges = [(0, 1), (1, 2), (2, 3), (0, 2)]
    yield (
        "binary_sweeps",
        PairwiseEnergy(rng.normal(size=(4, 2)), edges, weight=rng.normal(size=4), distance=[[0.3, 1], [1, -0.2]]),
    )
    yield "label_sweeps", PairwiseEnergy(rng.normal(size=(3, 3)), edges[:2], weight=rng.normal(size=2))


@pytest.mark.parametrize(
    ("kernel", "energy"), list(energies()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_sweep_over_a_pairwise_network_leaves_its_distribution(kernel, energy):
    sampler = _Ising(energy, 1, True)
    assert sampler.sweeps.__name__ == kernel
    n = len(energy.unary)
    states = list(itertools.product(range(energy.n_labels), repeat=n))
    p = np.exp([-energy(np.array(state)) for state in states])
    run = in_python(sampler.sweeps)

    def step(state, rng):
        labels = np.array(state, np.int32)
        run(*sampler.tables, 1, Vectors(rng), labels)
        return tuple(labels.tolist())

    check_invariance(p / p.sum(), matrix(states, step))
    for state in states[:5]:
        x = np.array(state, np.int32)
        assert gibbs.state_energy(*energy.passes, x) == pytest.approx(energy(x), abs=1e-12)


class Vectors:
    """A generator that also gives several numbers at a time."""

    def __init__(self, rng):
        self.rng = rng

    def random(self, n=None):
        return self.rng.random() if n is None else [self.rng.random() for _ in range(n)]


NETWORK = BeliefNetwork.from_tables({
    "a": [0.2, 0.5, 0.3],
    "b": [0.6, 0.4],
    "c": (["a", "b"], np.random.default_rng(3).dirichlet(np.ones(3), size=(3, 2))),
    "d": (["c"], np.random.default_rng(4).dirichlet(np.ones(2), size=3)),
})  # fmt: skip


def test_each_variable_of_a_belief_network_is_drawn_in_detailed_balance():
    nodes = NETWORK.nodes_
    theta = np.concatenate([np.ravel(NETWORK._table(i)) for i in range(4)])
    codes = np.full(4, -1)
    codes[nodes.at("d")] = 1
    sampler = _Network(nodes, theta, codes, 1)
    cards = [3, 2, 3]
    states = [(*state, 1) for state in itertools.product(*map(range, cards))]
    names = ["a", "b", "c", "d"]
    order = [nodes.at(name) for name in names]
    a, b, c, d = (NETWORK.table(name).values for name in names)
    p = np.array([a[i] * b[j] * c[i, j, k] * d[k, l] for i, j, k, l in states])
    run = in_python(gibbs.network_sweeps)

    def step(state, rng, free):
        x, out = np.empty(4, np.int64), np.empty((1, 4), np.int32)
        x[order] = state
        run(*sampler.tables[:-1], free, 1, rng, x, out)
        return tuple(x[order].tolist())

    for i in sampler.free:
        check_balance(p / p.sum(), matrix(states, lambda s, rng, i=i: step(s, rng, [i])))
    check_invariance(p / p.sum(), matrix(states, lambda s, rng: step(s, rng, sampler.free)))


def test_a_sweep_over_topics_leaves_their_collapsed_distribution():
    from scipy.sparse import csr_matrix

    sampler = _Topics(csr_matrix([[2, 1, 0], [0, 1, 1]]), np.array([0.5, 0.8]), 0.3, 1, ())
    states = list(itertools.product(range(2), repeat=5))
    p = np.exp([sampler._log_joint(*sampler.tallies(np.array(state))) for state in states])
    run = in_python(gibbs.topic_sweeps)

    def step(state, rng):
        topics = np.array(state, np.int32)
        run(sampler.words, sampler.documents, sampler.alpha, sampler.beta, 1, rng, topics, *sampler.tallies(topics))
        return tuple(topics.tolist())

    check_invariance(p / p.sum(), matrix(states, step))
