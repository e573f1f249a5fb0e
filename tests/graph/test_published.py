"""Published networks: equal to pyAgrum on every one, with and without evidence, and the numbers of the literature."""

import numpy as np
import pytest

from .networks import LARGE, NAMES, published, pyagrum_of

SIZES = {
    "asia": (8, 8, 18),
    "alarm": (37, 46, 509),
    "hailfinder": (56, 66, 2656),
    "munin1": (186, 273, 15622),
    "pigs": (441, 592, 5618),
}


def evidence_sets(network, n, rng):
    """Observed states of a tenth of the variables, at least one, each set from a row that the network drew."""
    names = network.nodes_.names
    rows = network.sample(n, random_state=int(rng.integers(1000)))
    size = max(1, len(names) // 10)
    for row in rows:
        yield {names[j]: row[j] for j in rng.choice(len(names), size, replace=False)}


@pytest.mark.parametrize("name", [*NAMES, *(pytest.param(each, marks=pytest.mark.full) for each in LARGE)])
def test_all_marginals_equal_pyagrums(name):
    network = published(name)
    gum, other = pyagrum_of(network)
    rng = np.random.default_rng(0)
    inference = gum.LazyPropagation(other)
    inference.setNumberOfThreads(1)
    for given in [{}, *evidence_sets(network, 10, rng)]:
        inference.setEvidence({str(v): str(s) for v, s in given.items()})
        inference.makeInference()
        ours = network.marginals(given)
        for v in network.nodes_.names:
            np.testing.assert_allclose(
                ours[v].values, inference.posterior(str(v)).toarray(), rtol=0, atol=1e-10, err_msg=f"{v} {given}"
            )
        if given and name not in LARGE:
            np.testing.assert_allclose(
                np.exp(network.log_probability(given)), inference.evidenceProbability(), rtol=1e-8
            )


@pytest.mark.parametrize("name", SIZES)
def test_networks_are_of_the_published_size(name):
    network = published(name)
    n_nodes, n_edges, n_free = SIZES[name]
    assert (len(network.nodes_.names), len(network.nodes_.edges)) == (n_nodes, n_edges)
    assert network._model().n_parameters(network.params_) == n_free


def test_asia():
    asia = published("asia")
    yes = {v: round(float(p.values[0]), 7) for v, p in asia.marginals().items()}
    assert yes == {"asia": 0.01, "tub": 0.0104, "smoke": 0.5, "lung": 0.055, "bronc": 0.45, "either": 0.064828, "xray": 0.11029,
                   "dysp": 0.4359706}  # fmt: skip
    given = {"asia": "yes", "xray": "yes", "dysp": "yes"}
    assert asia.query("lung", given).values[0] == pytest.approx(0.444271, abs=5e-7)
    del given["dysp"]
    assert np.exp(asia.log_probability(given)) == pytest.approx(0.001450925, abs=5e-10)
    told = {
        "tub": 0.337716,
        "lung": 0.371487,
        "bronc": 0.491102,
        "either": 0.690628,
        "dysp": 0.681101,
        "smoke": 0.637007,
    }
    for v, p in told.items():
        assert asia.query(v, given).values[0] == pytest.approx(p, abs=5e-7)


def test_most_probable_explanations_of_alarm_are_no_less_probable_than_any_draw():
    alarm = published("alarm")
    given = {"BP": "LOW", "HRBP": "HIGH"}
    best = alarm.most_probable(given)
    whole = best.states | given
    assert alarm.log_probability(whole) == pytest.approx(best.log_probability, abs=1e-9)
    for row in alarm.sample(200, given, random_state=0):
        assert alarm.log_probability(dict(zip(alarm.nodes_.names, row))) <= best.log_probability + 1e-9
