"""Networks for tests: random ones, those of published files, and the plain definition of what they say."""

import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tacit.graph import BeliefNetwork

NAMES = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "alarm", "insurance", "win95pts", "hepar2", "hailfinder",
         "andes", "pigs")  # fmt: skip
LARGE = ("water", "munin1")


def published(name):
    """A network of the collection, where there is one at hand."""
    folder = os.environ.get("TACIT_DATA")
    path = Path(folder or ".") / "bif" / f"{name}.bif"
    if folder is None or not path.exists():
        pytest.skip("TACIT_DATA does not name the folder of published data sets")
    return BeliefNetwork.read(path)


def random_network(seed=0, n=6, edge=0.5, most=3):
    """A network of n variables a, b, … with random edges and tables, some of whose cells are 0."""
    rng = np.random.default_rng(seed)
    names = "abcdefghij"[:n]
    cards = rng.integers(1 if seed % 3 == 0 else 2, most + 1, n)
    tables = {}
    for i in rng.permutation(n):
        parents = [v for v in tables if rng.random() < edge][:3]
        shape = [cards[names.index(v)] for v in parents]
        table = rng.dirichlet(np.ones(cards[i]), size=shape)
        if cards[i] > 1 and rng.random() < 0.4:
            table[..., 0] = 0.0
            table /= table.sum(axis=-1, keepdims=True)
        tables[names[i]] = (parents, table)
    states = {v: [f"{v}{k}" for k in range(c)] for v, c in zip(names, cards)}
    return BeliefNetwork.from_tables(tables, states)


def joint(network):
    """Every assignment with its probability, by multiplying the tables."""
    nodes = network.nodes_
    tables = [network.table(v) for v in nodes.names]
    found = []
    for states in product(*nodes.states):
        case = dict(zip(nodes.names, states))
        p = 1.0
        for table in tables:
            p *= float(table.reduce(case).values)
        found.append((case, p))
    return found


def posterior(network, variables, given=(), weight=lambda case: 1.0):
    """The joint posterior of variables by going over all assignments, not normalised."""
    states = [network.states_of(v) for v in variables]
    out = np.zeros([len(s) for s in states])
    for case, p in joint(network):
        if all(case[v] == s for v, s in dict(given).items()):
            out[tuple(s.index(case[v]) for v, s in zip(variables, states))] += p * weight(case)
    return out


def pyagrum_of(network):
    """The same network in pyAgrum, from the same tables (its readers of files keep single precision)."""
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
    nodes, other = network.nodes_, gum.BayesNet()
    for v, states in zip(nodes.names, nodes.states):
        other.add(gum.LabelizedVariable(str(v), "", [str(s) for s in states]))
    for i, v in enumerate(nodes.names):
        for p in nodes.parents[i]:
            other.addArc(str(nodes.names[p]), str(v))
    for v in nodes.names:
        table = network.table(v).values
        n = table.ndim - 1
        other.cpt(str(v))[:] = np.ascontiguousarray(table.transpose([*range(n)[::-1], n]))
    return gum, other
