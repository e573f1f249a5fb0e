"""Queries against sums over all assignments: marginals, explanations, soft evidence, interventions, draws, and bad input."""

import numpy as np
import pytest

from tacit.graph import BeliefNetwork, Potential, noisy_or

from .networks import joint, posterior, random_network

ALARM = {
    "burglar": [0.99, 0.01], "earthquake": [0.999999, 0.000001], "radio": (["earthquake"], [[1.0, 0.0], [0.0, 1.0]]),
    "alarm": (["burglar", "earthquake"], [[[0.9999, 0.0001], [0.01, 0.99]], [[0.01, 0.99], [0.0001, 0.9999]]]),
}  # fmt: skip
STATES = {v: ["no", "yes"] for v in ALARM}


def drawn_evidence(network, rng, n=2):
    row = network.sample(1, random_state=int(rng.integers(1000)))[0]
    return {network.nodes_.names[j]: row[j] for j in rng.choice(len(row), n, replace=False)}


@pytest.mark.parametrize("seed", range(12))
def test_marginals_of_one_and_of_several_variables(seed):
    network, rng = random_network(seed), np.random.default_rng(seed)
    given = drawn_evidence(network, rng)
    total = posterior(network, [], given).sum()
    assert np.exp(network.log_probability(given)) == pytest.approx(total, rel=1e-12)
    for variables in (["a"], ["b", "f"], ["e", "a", "c"], list("abcdef")):
        expected = posterior(network, variables, given) / total
        np.testing.assert_allclose(network.query(variables, given).values, expected, atol=1e-13)
    for v, found in network.marginals(given).items():
        np.testing.assert_allclose(found.values, posterior(network, [v], given) / total, atol=1e-13)


@pytest.mark.parametrize("seed", range(12))
def test_explanations_of_all_and_of_some_variables(seed):
    network, rng = random_network(seed), np.random.default_rng(seed)
    given = drawn_evidence(network, rng, 1)
    best = max((p for case, p in joint(network) if all(case[v] == s for v, s in given.items())))
    found = network.most_probable(given)
    assert np.exp(found.log_probability) == pytest.approx(best, rel=1e-12)
    assert np.exp(network.log_probability(found.states | given)) == pytest.approx(best, rel=1e-12)
    some = [v for v in "bdf" if v not in given]
    table = posterior(network, some, given)
    part = network.most_probable(given, some)
    assert np.exp(part.log_probability) == pytest.approx(table.max(), rel=1e-12)
    assert table[tuple(network.states_of(v).index(part.states[v]) for v in some)] == pytest.approx(
        table.max(), rel=1e-12
    )


@pytest.mark.parametrize("seed", range(6))
def test_likelihood_evidence_multiplies(seed):
    network = random_network(seed)
    rng = np.random.default_rng(seed)
    weight = {v: rng.random(len(network.states_of(v))) + 0.1 for v in "ad"}

    def of(case):
        return np.prod([w[network.states_of(v).index(case[v])] for v, w in weight.items()])

    expected = posterior(network, ["b", "c"], weight=of)
    found = network.query(["b", "c"], likelihood={v: list(w) for v, w in weight.items()})
    np.testing.assert_allclose(found.values, expected / expected.sum(), atol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_jeffreys_rule(seed):
    network = random_network(seed)
    rng = np.random.default_rng(seed)
    believed = network.query("a").values * (rng.random(len(network.states_of("a"))) + 0.1)
    believed /= believed.sum()
    expected = sum(q * network.query("d", {"a": s}).values for q, s in zip(believed, network.states_of("a")) if q > 0)
    np.testing.assert_allclose(network.query("d", belief={"a": believed}).values, expected, atol=1e-12)
    both = {v: 0.3 / len(network.states_of(v)) + 0.7 * network.query(v).values for v in "ae"}
    both = {v: np.where(network.query(v).values > 0, q, 0) for v, q in both.items()}
    both = {v: q / q.sum() for v, q in both.items()}
    for v, q in both.items():
        np.testing.assert_allclose(network.query(v, belief=both).values, q, atol=1e-9)


def test_the_burglar_and_the_alarm():
    network = BeliefNetwork.from_tables(ALARM, STATES)
    assert network.query("burglar", {"alarm": "yes"}).values[1] == pytest.approx(0.99, abs=1e-3)
    assert network.query("burglar", {"alarm": "yes", "radio": "yes"}).values[1] == pytest.approx(0.01, abs=1e-3)
    # One is 70 % sure to have heard the alarm: by Jeffrey's rule, the mean over both cases.
    soft = network.query("burglar", belief={"alarm": {"yes": 0.7, "no": 0.3}}).values[1]
    hard = [network.query("burglar", {"alarm": s}).values[1] for s in ("no", "yes")]
    assert soft == pytest.approx(0.3 * hard[0] + 0.7 * hard[1], abs=1e-12)


def test_wet_grass():
    network = BeliefNetwork.from_tables({
        "rain": [0.8, 0.2], "sprinkler": [0.9, 0.1], "jack": (["rain"], [[0.8, 0.2], [0, 1]]),
        "tracey": (["rain", "sprinkler"], [[[1, 0], [0.1, 0.9]], [[0, 1], [0, 1]]]),
    }, {v: ("no", "yes") for v in ("rain", "sprinkler", "jack", "tracey")})  # fmt: skip
    assert network.query("sprinkler", {"tracey": "yes"}).values[1] == pytest.approx(0.3382, abs=5e-5)
    assert network.query("sprinkler", {"tracey": "yes", "jack": "yes"}).values[1] == pytest.approx(0.1604, abs=5e-5)


@pytest.mark.parametrize("seed", range(6))
def test_an_intervention_cuts_edges_and_leaves_the_past(seed):
    network = random_network(seed)
    v = network.nodes_.names[network.nodes_.order[-1]]
    state = network.states_of(v)[-1]
    after = network.do({v: state})
    assert after.query(v).values.tolist()[-1] == 1.0
    for other in set("abcdef") - {v}:
        np.testing.assert_allclose(after.query(other).values, network.query(other).values, atol=1e-13)
    root = network.nodes_.names[network.nodes_.order[0]]
    s = max(network.states_of(root), key=lambda s: network.query(root).values[network.states_of(root).index(s)])
    for other in set("abcdef") - {root}:  # of a root, seeing and doing are the same
        np.testing.assert_allclose(
            network.do({root: s}).query(other).values, network.query(other, {root: s}).values, atol=1e-13
        )


@pytest.mark.parametrize("given", [{}, "drawn"])
def test_draws_have_the_probabilities_of_the_posterior(given):
    network = random_network(5)
    given = drawn_evidence(network, np.random.default_rng(0), 1) if given else {}
    rows, n = network.sample(20_000, given, random_state=1), 20_000
    names = network.nodes_.names
    for v, s in given.items():
        assert set(rows[:, names.index(v)]) == {s}
    expected = posterior(network, ["a", "d"], given)
    expected /= expected.sum()
    found = np.zeros_like(expected)
    for row in rows:
        found[
            network.states_of("a").index(row[names.index("a")]), network.states_of("d").index(row[names.index("d")])
        ] += 1 / n
    assert np.abs(found - expected).max() < 4 * np.sqrt(0.25 / n)


def test_noisy_or_is_one_minus_the_product_of_what_does_not_cause():
    table = noisy_or([0.9, 0.5, 0.2], leak=0.1)
    assert table[1, 0, 1, 0] == pytest.approx(0.9 * 0.1 * 0.8)
    np.testing.assert_allclose(table.sum(axis=-1), 1.0)
    network = BeliefNetwork.from_tables({"a": [0.5, 0.5], "b": [0.3, 0.7], "x": (["a", "b"], noisy_or([0.8, 0.4]))})
    assert network.query("x", {"a": 0, "b": 1}).values[1] == pytest.approx(0.4)


def test_variables_may_be_disconnected_and_have_one_state():
    network = BeliefNetwork.from_tables({"a": [1.0], "b": [0.2, 0.8], "c": (["a"], [[0.5, 0.5]])})
    assert network.query(["a", "b"]).values.tolist() == [[0.2, 0.8]]
    assert network.query("c", {"b": 1, "a": 0}).values.tolist() == [0.5, 0.5]
    assert network.log_probability({"a": 0}) == 0.0


def alarm():
    return BeliefNetwork.from_tables(ALARM, STATES)


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda: BeliefNetwork.from_tables({"a": (["b"], np.full((2, 2), 0.5)), "b": (["a"], np.full((2, 2), 0.5))}),
      r"the edges form the cycle (a → b → a|b → a → b); remove one of them"),
     (lambda: BeliefNetwork.from_tables({k: ([(k + 1) % 500], [[1.0]]) for k in range(500)}),
      r"the edges form the cycle 0 → \d+ → [→ \d]* … → 0; remove one of them"),
     (lambda: BeliefNetwork.from_tables({"a": [0.5, 0.6]}), r"the table of 'a' sums to 1.1; it must sum to 1"),
     (lambda: BeliefNetwork.from_tables({"a": [0.5, 0.5], "b": (["a"], [[1, 0], [0.5, 0.4]])}),
      r"the table of 'b' sums to 0.9 where a = 1; it must sum to 1"),
     (lambda: BeliefNetwork.from_tables({"a": [1.5, -0.5]}), r"the table of 'a' holds -0.5; probabilities must be from 0 to 1"),
     (lambda: BeliefNetwork.from_tables({"a": (["z"], [[1, 0]])}),
      r"the edge \('z', 'a'\) names 'z', which is no variable; there are a"),
     (lambda: BeliefNetwork.from_tables({"a": [1], "b": (["a", "a"], [[[1]]])}), r"the edge \('a', 'b'\) is given twice"),
     (lambda: BeliefNetwork.from_tables({"a": [0.5, 0.5], "b": (["a"], [0.5, 0.5])}),
      r"the table of 'b' has shape \(2,\), but a × b have \(2, 2\) states"),
     (lambda: BeliefNetwork.from_tables({}), r"the network has no variable"),
     (lambda: BeliefNetwork.from_tables([1]), r"tables is a list, not a dictionary"),
     (lambda: BeliefNetwork.from_tables({"a": "x"}), r"the table of 'a' is no array of numbers"),
     (lambda: BeliefNetwork.from_tables({"a": [1.0]}, {"b": [0]}), r"states tells of 'b', which has no table; there are a"),
     (lambda: BeliefNetwork.from_tables({"a": Potential("ab", [[1.0]])}), r"the table of 'a' is over a, b; 'a' must be the last"),
     (lambda: alarm().query("burgler"), r"'burgler' is no variable of the network; did you mean 'burglar'\?"),
     (lambda: alarm().query("burglar", {"alarm": "loud"}), r"'loud' is no state of 'alarm'; its states are 'no', 'yes'"),
     (lambda: alarm().query("burglar", {"bell": "yes"}), r"'bell' is no variable of the network"),
     (lambda: alarm().query([]), r"variables=\[\] must name at least one variable"),
     (lambda: alarm().query(["alarm", "alarm"]),
      r"variables=\['alarm', 'alarm'\] must name at least one variable, and each once"),
     (lambda: alarm().query("burglar", {"radio": "yes", "earthquake": "no", "alarm": "yes"}),
      r"the evidence is impossible: earthquake = no, radio = yes has probability 0"),
     (lambda: alarm().most_probable({"radio": "yes", "earthquake": "no"}), r"earthquake = no, radio = yes has probability 0"),
     (lambda: alarm().sample(1, {"radio": "yes", "earthquake": "no"}), r"earthquake = no, radio = yes has probability 0"),
     (lambda: alarm().query("alarm", likelihood={"alarm": [1, 2, 3]}),
      r"likelihood of 'alarm' has shape \(3,\), but there are 2 states"),
     (lambda: alarm().query("alarm", likelihood={"alarm": [0, 0]}), r"likelihood of 'alarm' is \[0.0, 0.0\]"),
     (lambda: alarm().query("alarm", belief={"alarm": [0.5, 0.6]}), r"belief of 'alarm' sums to 1.1; it must sum to 1"),
     (lambda: alarm().query("alarm", {"radio": "yes"}, belief={"earthquake": [1, 0]}),
      r"belief in 'earthquake' = 'no' is 1, but it is impossible here"),
     (lambda: alarm().query("alarm", {"alarm": "yes"}, likelihood={"alarm": [1, 2]}),
      r"likelihood tells of 'alarm', which is told of elsewhere"),
     (lambda: alarm().query("alarm", ["alarm"]), r"given=\['alarm'\] is not a dictionary"),
     (lambda: noisy_or([1.5]), r"noisy_or was given the probability 1.5; it must be from 0 to 1"),
     (lambda: noisy_or([0.5] * 30), r"a noisy_or of 30 parents has 2.15e\+09 cells; use at most 24 parents")],
)  # fmt: skip
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_an_unfitted_network_says_so():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="not fitted yet"):
        BeliefNetwork([]).query("a")
