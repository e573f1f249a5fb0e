"""Ready-made Gibbs samplers against exact answers, and what they refuse."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from tacit.families import MultivariateNormal, NormalInverseWishart
from tacit.graph import BeliefNetwork, IsingModel, PairwiseEnergy
from tacit.sampling import expectation, gibbs_ising, gibbs_mixture, gibbs_network, gibbs_probit, gibbs_topics


def z(f, chains, truth):
    found = expectation(f, chains)
    return np.abs((found.value - truth) / found.standard_error).max()


NETWORK = BeliefNetwork.from_tables({
    "burglary": [0.9, 0.1], "earthquake": [0.8, 0.2],
    "alarm": (["burglary", "earthquake"], [[[0.95, 0.05], [0.6, 0.4]], [[0.1, 0.9], [0.05, 0.95]]]),
    "call": (["alarm"], [[0.9, 0.1], [0.2, 0.8]]),
})  # fmt: skip


def test_marginals_of_a_belief_network_given_evidence():
    chains = gibbs_network(NETWORK, {"call": 1}, n_draws=8000, random_state=0)
    assert set(chains) == {"burglary", "earthquake", "alarm"}
    for name in chains:
        truth = NETWORK.query(name, {"call": 1}).values[1]
        assert z(lambda s, name=name: s[name], chains, truth) < 4
    assert chains.notes == ()


def test_an_ising_model_of_few_units_against_all_of_its_states():
    X = np.where(np.random.default_rng(0).random((60, 4)) < [0.3, 0.5, 0.7, 0.6], 1, -1)
    model = IsingModel(alpha=0.5).fit(X)
    energy = model.to_energy()
    states = np.array(list(itertools.product((0, 1), repeat=4)))
    p = np.exp([-energy(state) for state in states])
    p /= p.sum()
    chains = gibbs_ising(model, n_draws=5000, random_state=0)
    assert z(lambda s: s["state"].astype(float), chains, p @ states) < 4
    assert z(lambda s: s["energy"], chains, p @ [energy(state) for state in states]) < 4
    labels = gibbs_ising(PairwiseEnergy(np.zeros((3, 3)), [(0, 1), (1, 2)], weight=1.0), n_draws=4000, random_state=1)
    alike = 1 / (1 + 2 * np.exp(-1.0))
    assert z(lambda s: (s["state"][..., 0] == s["state"][..., 1]) * 1.0, labels, alike) < 4


def test_one_component_has_the_conjugate_posterior():
    X = np.random.default_rng(1).normal(size=(12, 2)) * [1.0, 3.0]
    prior = NormalInverseWishart([0.0, 1.0], 2.0, 6.0, np.eye(2))
    chains = gibbs_mixture(X, 1, prior=prior, n_draws=1500, n_warmup=10, n_chains=2, random_state=0)
    posterior = MultivariateNormal().posterior(X, prior)
    assert z(lambda s: s["means"][..., 0, :], chains, posterior.expectation.mean) < 4
    assert z(lambda s: s["covariances"][..., 0, :, :], chains, posterior.expectation.covariance) < 4
    assert chains.notes == ()


def test_probit_regression_of_one_column_against_quadrature():
    x = np.array([-1.0, 0.5, 2.0, 3.0, -0.5])
    y = np.array(["a", "b", "b", "a", "a"])

    def density(b):
        return norm.pdf(b, 0, 2) * norm.cdf(np.where(y == "b", 1, -1) * x * b).prod()

    total = quad(density, -10, 10)[0]
    mean = quad(lambda b: b * density(b), -10, 10)[0] / total
    square = quad(lambda b: b * b * density(b), -10, 10)[0] / total
    chains = gibbs_probit(x[:, None], y == "b", prior_scale=2.0, fit_intercept=False, n_draws=4000, random_state=0)
    assert z(lambda b: np.concatenate([b, b**2], axis=-1), chains, [mean, square]) < 4
    far = gibbs_probit([[1e3], [-1e3], [900.0]], [1, 0, 1], prior_scale=100.0, n_draws=50, n_warmup=50, random_state=0)
    assert np.isfinite(far["coef"]).all()


def test_topics_find_the_words_that_go_together():
    rng = np.random.default_rng(2)
    topics = np.repeat(np.eye(3), 4, axis=1) / 4
    counts = np.stack([rng.multinomial(40, topics.T @ rng.dirichlet([0.3] * 3)) for _ in range(40)])
    keep = ("topics", "proportions", "assignments")
    chains = gibbs_topics(counts, 3, keep=keep, n_draws=20, random_state=0)
    assert chains["assignments"].shape == (2, 20, counts.sum())
    np.testing.assert_allclose(chains["proportions"].sum(axis=-1), 1.0)
    shares = chains["topics"].mean(axis=1).reshape(2, 3, 3, 4).sum(axis=3)
    assert (shares.max(axis=2) > 0.95).all()
    assert [note.code for note in chains.notes] == ["exchangeable"]


CONTINUOUS = BeliefNetwork.from_tables(
    {"a": [0.5, 0.5], "x": (["a"], {"coefficients": [[0.0], [1.0]], "variance": [1.0, 1.0]})}
)
BAD = [
    (lambda: gibbs_network(NETWORK, {"siren": 1}), "'siren' is no variable of the network"),
    (lambda: gibbs_network(NETWORK, dict.fromkeys(NETWORK.nodes_.names, 0)), "given tells the state of every variable"),
    (lambda: gibbs_network(CONTINUOUS), "The variable 'x' is continuous"),
    (
        lambda: gibbs_network(
            BeliefNetwork.from_tables({"a": [1.0, 0.0], "b": (["a"], [[1.0, 0.0], [0.5, 0.5]]), "c": [0.5, 0.5]}),
            {"b": 1},
        ),
        "The evidence has probability 0 in all of 10000 draws",
    ),
    (lambda: gibbs_mixture([[1.0], [2.0]], 3), "n_components=3 exceeds the 2 rows of X; use at most 2"),
    (lambda: gibbs_mixture([[np.nan, 1.0], [np.nan, 2.0]], 1), "Column 0 of X has no known cell"),
    (
        lambda: gibbs_mixture(np.ones((5, 2)), 1, prior=NormalInverseWishart([0.0], 1, 3, np.eye(1))),
        "mean has 1 entries",
    ),
    (lambda: gibbs_mixture(np.ones((5, 2)), 1, concentration=0), "concentration=0 is not a number above 0"),
    (lambda: gibbs_mixture(np.ones((1, 2)), 1), "minimum of 2"),
    (lambda: gibbs_topics([[1.5, 0.0]], 2), "X holds 1.5; counts of words must be whole numbers"),
    (lambda: gibbs_topics([[0, 0]], 2), "X holds no word"),
    (lambda: gibbs_topics([[1, 2]], 2, keep=("words",)), "keep='words' is unknown"),
    (lambda: gibbs_topics([[1, 2]], 2, alpha=-1.0), "alpha=-1.0 is not a number above 0"),
    (lambda: gibbs_probit([[1.0], [2.0]], [1, 1]), "y holds 1 classes; probit regression takes 2"),
    (lambda: gibbs_ising(PairwiseEnergy(np.zeros((2, 2, 2))), start=[[0, 2], [0, 0]]), "labels holds 2; use 0 to 1"),
    (lambda: gibbs_ising(PairwiseEnergy(np.zeros((2, 2, 2))), n_draws=10**13), "n_draws=.* GB"),
]


@pytest.mark.parametrize(("run", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_what_does_not_fit(run, message):
    with pytest.raises(ValueError, match=message):
        run()


@pytest.mark.parametrize("run", [lambda: gibbs_network(3), lambda: gibbs_ising(np.zeros((3, 3)))])
def test_what_is_no_network(run):
    with pytest.raises(TypeError, match=r"(?s)network=.* is no"):
        run()
