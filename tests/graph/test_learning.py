"""Parameters from tables: counting, EM with missing cells and hidden variables, against other models and dropping rows."""

import numpy as np
import pytest

import tacit
from tacit.families import Categorical
from tacit.graph import BeliefNetwork
from tacit.graph.model import NetworkModel
from tacit.graph.nodes import Nodes
from tacit.mixture import Mixture
from tacit.sequence import HiddenMarkovModel
from tacit.source import ArraySource, Block
from tacit.testing import check_model

from .networks import random_network

pd = pytest.importorskip("pandas")


def frame(network, n, seed=0, missing=0.0):
    rows = pd.DataFrame(network.sample(n, random_state=seed), columns=list(network.nodes_.names))
    return rows.mask(np.random.default_rng(seed).random(rows.shape) < missing)


def divergence(network, learned):
    """Mean over variables of KL from the true tables to learned ones, by the probability of the states of the parents."""
    total = 0.0
    for v in network.nodes_.names:
        family = [network.nodes_.names[j] for j in network.nodes_.family(network.nodes_.at(v))]
        p, q = network.table(v).values, learned.table(v).aligned(family).values
        weight = network.query(family).values
        total += float((weight * np.log(np.maximum(p, 1e-12) / np.maximum(q, 1e-12))).sum())
    return total / len(network.nodes_.names)


def learner(network, **settings):
    nodes = network.nodes_
    return BeliefNetwork(nodes.edges, states={v: list(s) for v, s in zip(nodes.names, nodes.states)}, **settings)


def test_complete_rows_are_counted():
    network = random_network(1)
    rows = frame(network, 500)
    learned = learner(network, prior=0.0).fit(rows)
    assert learned.fit_.reason.code == "closed_form"
    v = network.nodes_.names[network.nodes_.order[-1]]
    parents = [network.nodes_.names[p] for p in learned.nodes_.parents[learned.nodes_.at(v)]]
    table = learned.table(v)
    for at in np.ndindex(table.shape[:-1]):
        case = dict(zip(parents, [learned.states_of(p)[k] for p, k in zip(parents, at)]))
        own = rows[np.logical_and.reduce([rows[p] == s for p, s in case.items()])] if case else rows
        if len(own):
            shares = [(own[v] == s).mean() for s in learned.states_of(v)]
            np.testing.assert_allclose(table.values[at], shares, atol=1e-12)
    assert learned.lower_bound_ == pytest.approx(learned.score(rows), abs=1e-9)
    # EM comes to the same, and says so of the likelihood.
    model = learned._model()
    cells = learned._validate(rows, reset=False)
    stats = model.e_step(learned.params_, Block.of(cells))
    assert stats.loglik == pytest.approx(500 * learned.lower_bound_, rel=1e-10)
    np.testing.assert_allclose(model.m_step(stats, learned.params_).theta, learned.params_.theta, atol=1e-12)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
def test_em_is_nearer_to_the_truth_than_dropping_rows(share):
    near, far = [], []
    for seed in range(3):
        network = random_network(seed + 20, n=5)
        rows = frame(network, 2000, seed, share)
        learned = learner(network, prior=0.1).fit(rows)
        near.append(divergence(network, learned))
        far.append(divergence(network, learner(network, prior=0.1).fit(rows.dropna())))
        steps = np.diff(learned.lower_bounds_)
        assert (steps > -1e-10).all()
    assert np.mean(near) < np.mean(far)


def test_the_model_has_the_properties_of_every_model():
    network = random_network(2, n=4)
    rows = network._mixed.draw_rows(network.params_, 120, np.random.default_rng(0))
    check_model(NetworkModel(network.nodes_, 4, np.full(network.params_.theta.size, 0.5)), rows)


def test_a_row_of_weight_two_is_two_rows_and_blocks_do_not_matter():
    network = random_network(3, n=4)
    rows = frame(network, 60, missing=0.3)
    weight = np.random.default_rng(0).integers(1, 4, 60)
    one = learner(network, tol=0, max_iter=5).fit(rows, sample_weight=weight)
    two = learner(network, tol=0, max_iter=5).fit(rows.loc[rows.index.repeat(weight)])
    np.testing.assert_allclose(one.params_.theta, two.params_.theta, atol=1e-10)
    model, cells = one._model(), one._validate(rows, reset=False)
    whole = ArraySource(cells).sum(lambda block: model.e_step(one.params_, block))
    parts = ArraySource(cells, block_rows=7).sum(lambda block: model.e_step(one.params_, block))
    np.testing.assert_allclose(parts.counts, whole.counts, rtol=1e-12)


def test_a_hidden_root_makes_a_mixture():
    rng = np.random.default_rng(0)
    X = (rng.random((300, 5)) < np.where(rng.random((300, 1)) < 0.4, 0.8, 0.25)).astype(int) + rng.integers(
        0, 2, (300, 5)
    )
    X = X.astype(float)
    X[rng.random(X.shape) < 0.15] = np.nan
    mixture = Mixture(2, family=Categorical((3,) * 5), random_state=0, tol=1e-9, max_iter=3).fit(X)
    names = [f"x{j}" for j in range(5)]
    tables = {"k": mixture.weights_} | {name: (["k"], _levels(mixture, j)) for j, name in enumerate(names)}
    network = BeliefNetwork.from_tables(tables)
    codes = pd.DataFrame(X, columns=names)
    np.testing.assert_allclose(network.score_samples(codes), mixture.score_samples(X), rtol=0, atol=1e-10)
    np.testing.assert_allclose(network.predict_proba(codes, "k"), mixture.predict_proba(X), rtol=0, atol=1e-10)
    # One step of EM from there is the same step.
    model = NetworkModel(Nodes((*names, "k"), ((0, 1, 2),) * 5 + ((0, 1),), ((5,),) * 5 + ((),)), 5)
    theta = np.concatenate([*(_levels(mixture, j).ravel() for j in range(5)), mixture.weights_])
    params = model.mixed.joined(theta, [], [])
    stats = model.e_step(params, Block.of(X))
    own = mixture._model()
    theirs = own.e_step(mixture._params(), Block.of(X))
    assert stats.loglik == pytest.approx(theirs.loglik, abs=1e-9)
    after = own.m_step(theirs, mixture._params())
    np.testing.assert_allclose(model.m_step(stats, params).theta[-2:], after.weight, atol=1e-10)


def _levels(mixture, j):
    """Probabilities (components, levels) of a column of a mixture or a chain."""
    told = mixture.describe()[mixture.schema_.names[j]]["probability"]
    return np.array(list(told.values())).T


def test_an_unrolled_chain_is_a_hidden_markov_model():
    rng = np.random.default_rng(1)
    hidden = HiddenMarkovModel(3, family=Categorical(4), random_state=0, max_iter=2, tol=0).fit(
        rng.integers(0, 4, (200, 1)).astype(float)
    )
    steps = 8
    emission = _levels(hidden, 0)
    tables, move = {"z0": hidden.startprob_}, hidden.transmat_
    for t in range(steps):
        if t:
            tables[f"z{t}"] = ([f"z{t - 1}"], move)
        tables[f"x{t}"] = ([f"z{t}"], emission)
    network = BeliefNetwork.from_tables(tables)
    series = rng.integers(0, 4, steps).astype(float)
    series[3] = np.nan
    row = pd.DataFrame([{f"x{t}": series[t] for t in range(steps)}])
    assert network.score_samples(row)[0] == pytest.approx(steps * hidden.score(series[:, None]), abs=1e-10)
    smoothed = hidden.predict_proba(series[:, None])
    for t in range(steps):
        np.testing.assert_allclose(network.predict_proba(row, f"z{t}")[0], smoothed[t], atol=1e-10)


def test_hidden_variables_are_learned_from_several_starts():
    rng = np.random.default_rng(0)
    k = rng.random(1500) < 0.4
    X = pd.DataFrame({f"x{j}": np.where(rng.random(1500) < np.where(k, 0.85, 0.2), "yes", "no") for j in range(4)})
    network = BeliefNetwork([("k", name) for name in X], hidden={"k": 2}, random_state=0, tol=1e-8, max_iter=2000).fit(
        X
    )
    assert network.fit_.n_runs >= 5
    share = np.sort(network.query("k").values)
    np.testing.assert_allclose(share, [0.4, 0.6], atol=0.07)
    assert "k" not in network.sample(2).columns
    assert (np.diff(network.lower_bounds_) > -1e-10).all()


@pytest.mark.parametrize("how", [{"prior": 1.0}, {"equivalent_sample_size": 12.0}])
def test_priors_are_pseudo_counts(how):
    rows = pd.DataFrame({"a": ["u", "v", "u", "u"], "b": ["s", "s", "t", "s"]})
    learned = BeliefNetwork([("a", "b")], **how).fit(rows)
    cells = 1.0 if "prior" in how else 3.0
    root = 1.0 if "prior" in how else 6.0
    np.testing.assert_allclose(learned.table("a").values, (np.array([3.0, 1.0]) + root) / (4 + 2 * root))
    np.testing.assert_allclose(learned.table("b").values[0], (np.array([2.0, 1.0]) + cells) / (3 + 2 * cells))


@pytest.mark.parametrize(
    ("settings", "rows", "message"),
    [({"structure": "hill"}, None,
      r"structure='hill' is unknown; use one of 'hill-climbing', 'chow-liu', 'pc', or a list of edges"),
     ({"structure": 3}, None, r"structure=3 is neither a list of edges nor a method"),
     ({"structure": [("a", "z")]}, None, r"the edge \('a', 'z'\) names 'z', which is no variable"),
     ({"structure": [("a", "b"), ("a", "b")]}, None, r"the edge \('a', 'b'\) is given twice"),
     ({"structure": [("a", "b"), ("b", "a")]}, None, r"form the cycle"),
     ({"structure": [], "prior": -1}, None, r"prior=-1 is not a number of at least 0"),
     ({"structure": [], "equivalent_sample_size": "x"}, None, r"equivalent_sample_size='x' is not a number of at least 0"),
     ({"structure": [], "hidden": {"a": 2}}, None, r"hidden names 'a', which is a column of the table"),
     ({"structure": "pc", "hidden": {"h": 2}}, None,
      r"structure='pc' finds edges between columns only, but hidden names variables"),
     ({"structure": [], "required": [("a", "b")]}, None, r"required=\[\('a', 'b'\)\] is for the search of a structure"),
     ({"structure": [], "states": {"q": [1]}}, None, r"states tells of 'q', which is no column"),
     ({"structure": [], "states": {"a": ["u"]}}, None, r"column 'a' holds 'v', which was not there at fit"),
     ({"structure": []}, {"a": [None, None], "b": ["u", "v"]},
      r"column 'a' has no observed value; drop it, or declare it as hidden"),
     ({"structure": []}, {"a": [0.5, 0.5], "b": ["u", "v"]}, r"the continuous column 'a' is 0.5 in every row"),
     ({"structure": [("a", "b")]}, {"a": [0.5, 0.7], "b": ["u", "v"]},
      r"the discrete variable 'b' has the continuous parent 'a'"),
     ({"structure": [], "continuous": ["a"]}, None, r"column 'a' is to be continuous but holds text"),
     ({"structure": "chow-liu", "continuous": ["a"]}, {"a": [0.5, 0.7], "b": ["u", "v"]},
      r"structure='chow-liu' takes discrete columns, but 'a' is to be continuous")],
)  # fmt: skip
def test_bad_settings_are_refused(settings, rows, message):
    table = pd.DataFrame(rows or {"a": ["u", "v", "u"], "b": ["s", "t", "t"]})
    with pytest.raises(ValueError, match=message):
        BeliefNetwork(**settings).fit(table)


def test_a_column_of_one_state_is_learned():
    network = BeliefNetwork([("a", "b")]).fit(pd.DataFrame({"a": ["u", "u"], "b": ["s", "t"]}))
    assert network.query("b", {"a": "u"}).values.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("seed", range(3))
def test_new_rows_are_possible_by_default(seed):
    network = random_network(seed + 40, n=8, edge=0.4, most=4)
    states = {v: list(network.states_of(v)) for v in network.nodes_.names}
    few, new = frame(network, 30, seed), frame(network, 1000, seed + 1)
    learned = BeliefNetwork(network.nodes_.edges, states=states).fit(few)
    counted = BeliefNetwork(network.nodes_.edges, states=states, prior=0.0).fit(few)
    assert np.isneginf(counted.score_samples(new)).any()
    assert np.isfinite(learned.score_samples(new)).all()
    assert set(learned.predict(new, "a")) <= set(states["a"])


def test_impossible_rows_are_named():
    network = BeliefNetwork([("a", "b")], prior=0.0).fit(pd.DataFrame({"a": ["u", "v"], "b": ["s", "t"]}))
    odd = pd.DataFrame(
        {
            "a": ["u", "u"],
            "b": ["s", "t"],
        }
    )
    assert network.score_samples(odd)[1] == -np.inf
    longer = BeliefNetwork.from_tables({"a": [1.0, 0.0], "b": (["a"], [[1, 0], [0, 1]]), "c": [0.5, 0.5]})
    with pytest.raises(ValueError, match="row 1 of X is impossible under the network"):
        longer.predict(pd.DataFrame({"a": [0, 1], "b": [0, 0]}), "c")


def test_saved_networks_answer_the_same(tmp_path):
    network = random_network(4)
    learned = learner(network, prior=0.5).fit(frame(network, 200, missing=0.2))
    for each in (network, learned):
        tacit.save(each, tmp_path / "model.tacit")
        again = tacit.load(tmp_path / "model.tacit")
        assert again.nodes_ == each.nodes_
        np.testing.assert_array_equal(again.query(["a", "c"]).values, each.query(["a", "c"]).values)
