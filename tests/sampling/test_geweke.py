"""Geweke's joint test: drawing data given parameters and parameters given data in turn must give what drawing both
forward gives.
"""

import arviz
import numpy as np
import pytest

from tacit.families import NormalInverseWishart
from tacit.graph import BeliefNetwork
from tacit.sampling.mixture import _Mixture
from tacit.sampling.network import _Network
from tacit.sampling.probit import _Probit
from tacit.sampling.topics import _dirichlet, _Topics

LIMIT = 4.0
"""Of a z-score: of some fifty, one exceeds it by chance once in 300 runs, and seeds are fixed."""


def check_joint(forward, chain):
    """z-scores of the means of statistics (n, s): independent ones, and those of a chain."""
    forward, chain = np.array(forward, float), np.array(chain, float)
    ess = np.array([arviz.ess(column, method="mean") for column in chain.T])
    error = np.sqrt(forward.var(axis=0) / len(forward) + chain.var(axis=0) / ess)
    z = (forward.mean(axis=0) - chain.mean(axis=0)) / error
    assert ess.min() > 100
    assert np.abs(z).max() < LIMIT, z
    return z


def probit(n, rng, wrong=False):
    X = np.random.default_rng(0).normal(size=(6, 2))
    sampler = _Probit(X, np.ones(6, bool), 1.0 if not wrong else 1.5, False, 1)

    def told(beta, y):
        return [*beta, *beta**2, beta[0] * beta[1], y.mean(), beta @ X.T @ y]

    def data(beta):
        return X @ beta + rng.standard_normal(6) > 0

    forward = []
    for _ in range(n):
        beta = rng.normal(size=2)
        forward.append(told(beta, data(beta)))
    beta, chain = rng.normal(size=2), []
    for _ in range(4 * n):
        y = data(beta)
        sampler.sign = np.where(y, 1.0, -1.0)
        beta = sampler.step(beta, rng)
        chain.append(told(beta, y))
    return forward, chain


def test_probit_regression():
    check_joint(*probit(4000, np.random.default_rng(1)))


def test_the_joint_test_finds_a_wrong_prior():
    with pytest.raises(AssertionError):
        check_joint(*probit(4000, np.random.default_rng(1), wrong=True))


@pytest.mark.parametrize("missing", [pytest.param(False, marks=pytest.mark.full), True])
def test_gaussian_mixtures(missing):
    rng, n, k, d = np.random.default_rng(2), 700, 2, 2
    prior = NormalInverseWishart([0.5, -0.5], 1.5, 7.0, np.array([[2.0, 0.5], [0.5, 1.0]]))
    hidden = np.zeros((5, d), bool)
    if missing:
        hidden[0, 0] = hidden[3, 1] = hidden[4, 0] = hidden[1] = True

    def rows(weights, means, covariances, labels=None):
        labels = rng.choice(k, 5, p=weights) if labels is None else labels
        X = np.stack([rng.multivariate_normal(means[z], covariances[z]) for z in labels])
        return labels, X

    def told(weights, means, covariances, labels, X):
        seen = X[~hidden]
        values = [weights[0], weights[0] ** 2, *means.ravel(), *(means**2).ravel(), *np.log(np.linalg.det(covariances))]
        return [
            *values,
            *covariances[:, 0, 1],
            (labels == 0).mean(),
            seen.mean(),
            (np.abs(seen)).mean(),
            means[0] @ X[2],
        ]

    forward = []
    for _ in range(n):
        drawn = prior.sample(k, rng)
        parameters = rng.dirichlet(np.full(k, 0.7)), drawn.mean, drawn.covariance
        forward.append(told(*parameters, *rows(*parameters)))
    labels, X = rows(*parameters)
    sampler, chain = _Mixture(np.where(hidden, np.nan, X), k, prior, 0.7, 1, False), []
    state = {"labels": labels, "filled": X.copy()}
    for _ in range(3 * n):
        # Data given parameters and labels, which the next labels are drawn for.
        X = rows(*parameters, state["labels"])[1]
        sampler.X = np.where(hidden, np.nan, X)
        state["filled"] = X.copy()
        sampler.allot(state, parameters, rng)
        parameters = sampler.parameters(state, rng)
        chain.append(told(*parameters, state["labels"], state["filled"]))
    check_joint(forward, chain)


def test_topics():
    from scipy.sparse import csr_matrix

    rng, n, lengths, n_words = np.random.default_rng(3), 3000, [4, 6, 3], 4
    documents = np.repeat(np.arange(3), lengths)
    sampler = _Topics(csr_matrix(np.ones((3, n_words))), np.array([0.6, 1.2]), 0.5, 1, ())
    sampler.documents = documents.astype(np.int32)

    def words_of(topics, phi):
        return np.array([rng.choice(n_words, p=phi[z]) for z in topics], np.int32)

    def told(words, topics):
        sampler.words = words
        by_document, by_word, _ = sampler.tallies(topics)
        values = [topics.mean(), (topics == 0).sum() ** 2, by_word[0, 0], by_word[2, 1] ** 2, by_document[1, 0] ** 2]
        return [*values, (by_word**2).sum(), (by_document**2).sum(), sampler._log_joint(*sampler.tallies(topics))]

    forward = []
    for _ in range(n):
        theta, phi = rng.dirichlet(sampler.alpha, 3), rng.dirichlet(np.full(n_words, 0.5), 2)
        topics = np.array([rng.choice(2, p=theta[d]) for d in documents], np.int32)
        forward.append(told(words_of(topics, phi), topics))
    chain = []
    for _ in range(4 * n):
        # φ is drawn given topics and words, as the sampler draws what it keeps, and words anew given it.
        phi = _dirichlet(0.5 + sampler.tallies(topics)[1].T, rng)
        sampler.words = words_of(topics, phi)
        state = {"topics": topics}
        sampler.run(state, 1, rng)
        topics = state["topics"]
        chain.append(told(sampler.words, topics))
    check_joint(forward, chain)


def test_belief_networks():
    rng, n = np.random.default_rng(4), 4000
    network = BeliefNetwork.from_tables({
        "a": [0.3, 0.7], "b": (["a"], [[0.8, 0.2], [0.3, 0.7]]), "c": (["a", "b"], rng.dirichlet(np.ones(3), (2, 2))),
        "d": (["c"], rng.dirichlet(np.ones(2), 3)),
    })  # fmt: skip
    nodes = network.nodes_
    at = [nodes.at(name) for name in "abcd"]
    theta = np.concatenate([np.ravel(network._table(i)) for i in range(4)])
    a, b, c, d = (network.table(name).values for name in "abcd")

    def told(x):
        return [*x, x[2] ** 2, x[0] * x[1], x[1] * x[3], x[0] * x[3], x[2] * x[3]]

    forward = []
    for _ in range(n):
        i = rng.choice(2, p=a)
        j = rng.choice(2, p=b[i])
        k = rng.choice(3, p=c[i, j])
        forward.append(told([i, j, k, rng.choice(2, p=d[k])]))
    codes = np.full(4, -1)
    codes[at[3]] = 0
    sampler, state, chain = _Network(nodes, theta, codes, 1), {"states": np.zeros(4, np.int64)}, []
    for _ in range(5 * n):
        sampler.run(state, 1, rng)
        state["states"][at[3]] = rng.choice(2, p=d[state["states"][at[2]]])
        chain.append(told(state["states"][at].tolist()))
    check_joint(forward, chain)
