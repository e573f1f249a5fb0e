"""Sweeps of Gibbs samplers: every variable is drawn given all others, in their order."""

import math

import numpy as np
from numba import types

from .jit import jit, jit_as
from .pairwise import gibbs_sweep

__all__ = [
    "SWEEP", "binary_sweeps", "gibbs_steps", "label_sweeps", "network_sweeps", "state_energy", "tabled_sweeps",
    "topic_sweeps",
]  # fmt: skip

SWEEP = types.void(types.float64[::1], types.npy_rng)


@jit_as(types.void(types.FunctionType(SWEEP), types.float64[::1], types.int64, types.npy_rng, types.float64[:, ::1]))
def gibbs_steps(sweep, x, n_thin, rng, draws):
    """Sweeps by a function that changes x.

    Parameters
    ----------
    sweep : function
        Of x and the generator.
    x : (d,)
    n_thin : int
        Sweeps per draw.
    rng : numpy.random.Generator
    draws : (n, d)
        Out.
    """
    for i in range(len(draws)):
        for _ in range(n_thin):
            sweep(x, rng)
        draws[i] = x


@jit
def binary_sweeps(first, heads, weight, base, n_sweeps, rng, labels):
    """Sweeps over a network of two labels, of which the second costs base[p] + Σ weight · label of the neighbours more.

    Parameters
    ----------
    first, heads, weight : (n + 1,), (arcs,), (arcs,)
        As in `kernels.pairwise`.
    base : (n,)
    n_sweeps : int
    rng : numpy.random.Generator
    labels : (n,) int8
        Are changed.
    """
    for _ in range(n_sweeps):
        for p in range(len(labels)):
            cost = base[p]
            for a in range(first[p], first[p + 1]):
                cost += weight[a] * labels[heads[a]]
            labels[p] = rng.random() * (1.0 + math.exp(cost)) < 1.0


@jit
def tabled_sweeps(first, heads, beside, kind, table, n_sweeps, rng, labels):
    """As `binary_sweeps` where all arcs of a node have one weight, so that the number of its neighbours of label 1 is
    all that counts.

    Parameters
    ----------
    first, heads : (n + 1,) uint64, (arcs,) uint32
        Arcs but those to the node before; without a sign, since numba looks at that of every index.
    beside : (n,) int8
        Whether the node before is a neighbour.
    kind : (n,) uint32
        Which row of the table is a node's.
    table : (kinds, most neighbours + 2)
        Probabilities of label 1.
    n_sweeps, rng, labels
        As in `binary_sweeps`.
    """
    one = np.uint64(1)
    for _ in range(n_sweeps):
        last = np.int8(0)
        for p in range(len(labels)):
            k = np.uint64(0)
            for a in range(first[p], first[p + one]):
                k += np.uint64(labels[heads[a]])
            u, row = rng.random(), kind[p]
            # Both answers are there before the node before has its label, so that nothing waits for it, and nothing branches.
            low, high = np.int8(u < table[row, k]), np.int8(u < table[row, k + one])
            last = low ^ ((low ^ high) & (last & beside[p]))
            labels[p] = last


@jit
def state_energy(first, heads, weight, unary, distance, labels):
    """The energy of a state; each edge is two arcs."""
    total = 0.0
    for p in range(len(labels)):
        total += unary[p, labels[p]]
        for a in range(first[p], first[p + 1]):
            total += 0.5 * weight[a] * distance[labels[p], labels[heads[a]]]
    return total


@jit
def label_sweeps(first, heads, weight, unary, distance, n_sweeps, rng, labels):
    """Sweeps over a network of any number of labels; see `kernels.pairwise.gibbs_sweep`."""
    for _ in range(n_sweeps):
        gibbs_sweep(first, heads, weight, unary, distance, 1.0, rng.random(len(labels)), labels)


@jit
def network_sweeps(
    theta, offsets, cards, family_first, family, strides, touched_first, touched, own, free, n_thin, rng, states, draws
):
    """Sweeps over a belief network: p(x_i | rest) ∝ Π over the tables that x_i is in.

    Parameters
    ----------
    theta : (cells,)
        All tables, one after the other.
    offsets, cards : (n + 1,), (n,)
        Where tables begin, and numbers of states.
    family_first, family, strides : (n + 1,), (entries,), (entries,)
        The variables of each table, and how far apart their states are in it.
    touched_first, touched, own : (n + 1,), (entries,), (entries,)
        The tables that each variable is in, and how far apart its states are in them.
    free : (m,)
        Variables that are not observed.
    n_thin : int
        Sweeps per draw.
    rng : numpy.random.Generator
    states : (n,) int64
        Are changed.
    draws : (draws, n) int32
        Out.
    """
    chance = np.empty(cards.max())
    for r in range(len(draws) * n_thin):
        for i in free:
            chance[: cards[i]] = 1.0
            for t in range(touched_first[i], touched_first[i + 1]):
                j = touched[t]
                cell = offsets[j] - states[i] * own[t]
                for f in range(family_first[j], family_first[j + 1]):
                    cell += states[family[f]] * strides[f]
                for v in range(cards[i]):
                    chance[v] *= theta[cell + v * own[t]]
            states[i] = _drawn(chance, cards[i], rng)
        if (r + 1) % n_thin == 0:
            draws[r // n_thin] = states


@jit
def _drawn(chance, n, rng):
    """A number below n with these chances, which need not add up to 1."""
    total = 0.0
    for v in range(n):
        total += chance[v]
    rest, v = rng.random() * total, 0
    while v < n - 1 and rest >= chance[v]:
        rest -= chance[v]
        v += 1
    return v


@jit
def topic_sweeps(words, documents, alpha, beta, n_sweeps, rng, topics, by_document, by_word, totals):
    """Sweeps over the topics of words, proportions and topics being integrated out: p(z = k | rest) ∝ (n_dk +
    α_k)(n_kw + β)/(n_k + V β).

    Parameters
    ----------
    words, documents : (n,) int32
        Of every occurrence of a word.
    alpha : (topics,)
    beta : float
    n_sweeps : int
    rng : numpy.random.Generator
    topics : (n,) int32
        Are changed, as are the counts.
    by_document, by_word, totals : (documents, topics), (words, topics), (topics,)
    """
    n_topics, prior = len(alpha), beta * len(by_word)
    chance = np.empty(n_topics)
    for _ in range(n_sweeps):
        for t in range(len(words)):
            w, d, k = words[t], documents[t], topics[t]
            by_document[d, k] -= 1.0
            by_word[w, k] -= 1.0
            totals[k] -= 1.0
            for j in range(n_topics):
                chance[j] = (by_document[d, j] + alpha[j]) * (by_word[w, j] + beta) / (totals[j] + prior)
            k = _drawn(chance, n_topics, rng)
            topics[t] = k
            by_document[d, k] += 1.0
            by_word[w, k] += 1.0
            totals[k] += 1.0
