"""Ising models and Boltzmann machines: likelihoods by enumeration, learning, draws, files, bad input."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import tacit
from tacit.graph import BoltzmannMachine, IsingModel
from tacit.graph.pairwise.hidden import HiddenModel, HiddenParams
from tacit.graph.pairwise.model import PairModel, PairParams
from tacit.source import Block


def states(d, low=-1.0):
    return np.array(list(itertools.product((low, 1.0), repeat=d)))


def truth(d=4, seed=0, low=-1.0, scale=0.5):
    """Fields and couplings, and the probabilities of all states."""
    rng = np.random.default_rng(seed)
    field, coupling = scale * rng.normal(size=d), scale * np.triu(rng.normal(size=(d, d)), 1)
    X = states(d, low)
    score = X @ field + np.einsum("ij,jk,ik->i", X, coupling, X)
    p = np.exp(score)
    return field, coupling + coupling.T, p / p.sum()


def rows_of(p, n, low=-1.0, seed=0):
    X = states(int(np.log2(len(p))), low)
    return X[np.random.default_rng(seed).choice(len(X), n, p=p)]


# Likelihoods


@pytest.mark.parametrize(("kind", "low"), [(IsingModel, -1.0), (BoltzmannMachine, 0.0)])
def test_probabilities_of_all_states_sum_to_one(kind, low):
    _, _, p = truth(low=low)
    model = kind().fit(rows_of(p, 300, low))
    assert np.exp(model.score_samples(states(4, low))).sum() == pytest.approx(1.0)
    X = states(4, low)
    field, coupling = model.field_, model.coupling_
    expected = [x @ field + 0.5 * x @ coupling @ x - model.log_partition_ for x in X]
    np.testing.assert_allclose(model.score_samples(X), expected)
    pseudo = model.pseudo_score_samples(X[:3])
    joint = model.score_samples(X)
    for row, value in zip(X[:3], pseudo):
        total = 0.0
        for i in range(4):
            same = (np.delete(X, i, axis=1) == np.delete(row, i)).all(axis=1)
            total += joint[(row == X).all(axis=1)][0] - np.logaddexp.reduce(joint[same])
        assert value == pytest.approx(total)


def test_hidden_units_are_summed_out():
    machine = BoltzmannMachine(2, random_state=0).fit(rows_of(truth(low=0.0)[2], 200, 0.0))
    X, H = states(4, 0.0), states(2, 0.0)
    joint = X @ machine.field_ + (H @ machine.hidden_field_)[:, None] + H @ machine.hidden_weights_.T @ X.T
    log_z = np.logaddexp.reduce(joint.ravel())
    assert machine.log_partition_ == pytest.approx(log_z)
    np.testing.assert_allclose(machine.score_samples(X), np.logaddexp.reduce(joint, axis=0) - log_z)
    behind = np.exp(joint - np.logaddexp.reduce(joint, axis=0)).T @ H
    np.testing.assert_allclose(machine.transform(X), behind)
    wide = HiddenParams(
        machine.hidden_field_, machine.field_, machine.hidden_weights_.T
    )  # more hidden than visible units
    assert wide.sums[0] == pytest.approx(log_z)


@pytest.mark.parametrize("exact", [True, False])
def test_slopes_of_pairs_are_derivatives(exact):
    rng = np.random.default_rng(0)
    block = Block.of(rng.choice([-1.0, 1.0], (30, 4)), rng.uniform(0.5, 2.0, 30))
    model = PairModel((-1.0, 1.0), rng.random((4, 4)) < 0.7, exact, 1.0)
    check_slope(model, block, rng)


@pytest.mark.parametrize("n_hidden", [2, 5])
def test_slopes_of_hidden_units_are_derivatives(n_hidden):
    rng = np.random.default_rng(0)
    check_slope(HiddenModel(n_hidden, 0.5), Block.of(rng.choice([0.0, 1.0], (30, 4))), rng)


def check_slope(model, block, rng):
    start = model.init(block, rng)
    theta = rng.normal(size=len(model.free(start)))

    def value(x):
        params = model.bound(x, start)
        return model.slope(params, block).loglik + model.log_prior(params)

    def slope(x):
        params = model.bound(x, start)
        return model.slope(params, block).gradient + model.prior_slope(params)[0]

    assert check_grad(value, slope, theta) < 1e-4 * np.abs(slope(theta)).max()


# Learning


def test_the_likelihood_is_met_by_moments():
    """At the maximum the model's means and correlations are those of the rows."""
    X = rows_of(truth()[2], 400)
    model = IsingModel(alpha=0.0, learning="exact", tol=1e-9).fit(X)
    every = states(4)
    p = np.exp(model.score_samples(every))
    np.testing.assert_allclose(p @ every, X.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose((every * p[:, None]).T @ every, X.T @ X / len(X), atol=1e-6)


@pytest.mark.parametrize(("kind", "low"), [(IsingModel, -1.0), (BoltzmannMachine, 0.0)])
@pytest.mark.parametrize(("learning", "within"), [("exact", 0.12), ("pseudo", 0.12), ("contrastive", 0.3)])
def test_truths_are_recovered(kind, low, learning, within):
    field, coupling, p = truth(low=low)
    model = kind(learning=learning, n_epochs=10, random_state=0).fit(rows_of(p, 20_000, low))
    np.testing.assert_allclose(model.field_, field, atol=within)
    np.testing.assert_allclose(model.coupling_, coupling, atol=within)


def test_both_kinds_are_the_same_family():
    """With 0 and 1 for −1 and 1 the likelihood is the same where nothing holds parameters back."""
    X = rows_of(truth()[2], 500)
    ising = IsingModel(alpha=0.0, tol=1e-9).fit(X)
    machine = BoltzmannMachine(alpha=0.0, tol=1e-9).fit((X + 1) / 2)
    np.testing.assert_allclose(machine.coupling_, 4.0 * ising.coupling_, atol=1e-4)
    np.testing.assert_allclose(machine.score_samples((X + 1) / 2), ising.score_samples(X), atol=1e-6)


def test_hidden_units_learn_what_pairs_cannot():
    """Parity of three units has no pairwise correlations."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(2, size=(2, 400))
    X = np.column_stack([a, b, a ^ b]).astype(float)
    pairs = BoltzmannMachine().fit(X).score(X)
    best = BoltzmannMachine(4, alpha=0.01, tol=1e-3, random_state=0).fit(X).score(X)
    assert pairs == pytest.approx(3 * np.log(0.5), abs=0.02)
    assert best > 2 * np.log(0.5) - 0.1


def test_contrastive_divergence_learns_hidden_units():
    rng = np.random.default_rng(0)
    X = np.repeat([[1.0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 100, axis=0)
    X = np.where(rng.random(X.shape) < 0.05, 1 - X, X)
    machine = BoltzmannMachine(2, learning="contrastive", n_steps=2, n_epochs=100, random_state=0).fit(X)
    exact = BoltzmannMachine(2, tol=1e-3, random_state=0).fit(X)
    assert machine.score(X) > 0.9 * exact.score(X) + 0.1 * 6 * np.log(0.5)
    assert (machine.n_iter_, machine.converged_) == (100, True)


def test_only_edges_have_couplings():
    X = rows_of(truth()[2], 300)
    model = IsingModel(edges=[(0, 1), (3, 2)]).fit(X)
    assert {tuple(e) for e in np.argwhere(np.triu(model.coupling_))} == {(0, 1), (2, 3)}
    table = pd.DataFrame(X, columns=list("abcd"))
    np.testing.assert_array_equal(IsingModel(edges=[("a", "b"), ("d", "c")]).fit(table).coupling_, model.coupling_)


def test_weight_two_is_the_row_twice():
    X = rows_of(truth()[2], 60)
    weight = np.random.default_rng(1).integers(0, 3, 60)
    for learning in ("exact", "pseudo"):
        one = IsingModel(learning=learning, tol=1e-8).fit(X, sample_weight=weight)
        other = IsingModel(learning=learning, tol=1e-8).fit(np.repeat(X, weight, axis=0))
        np.testing.assert_allclose(one.coupling_, other.coupling_, atol=1e-5)


def test_results_do_not_depend_on_threads():
    X = rows_of(truth()[2], 300)
    whole, parts = (IsingModel(learning="pseudo", n_jobs=jobs).fit(X).coupling_ for jobs in (1, 2))
    np.testing.assert_array_equal(whole, parts)


def test_fits_that_end_early_are_told():
    X = rows_of(truth()[2], 300)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 steps were taken; increase it, or tol or alpha"):
        assert not IsingModel(max_iter=2).fit(X).converged_


def test_constant_and_equal_columns_stay_finite():
    X = rows_of(truth()[2], 100)
    X = np.column_stack([X, np.ones(100), X[:, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for learning in ("exact", "pseudo"):
            model = IsingModel(learning=learning).fit(X)
            assert np.abs(model.coupling_).max() < 5
            assert model.field_[4] > 1


# Draws, the most probable state


@pytest.mark.parametrize("n_passes", [None, 60])
def test_draws_have_the_moments_of_the_model(n_passes):
    _, _, p = truth(scale=0.3)
    model = IsingModel(random_state=0).fit(rows_of(p, 1000))
    every = states(4)
    probabilities = np.exp(model.score_samples(every))
    drawn = model.sample(20_000) if n_passes is None else model._drawn(20_000, n_passes, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(axis=0), probabilities @ every, atol=0.03)
    np.testing.assert_allclose(drawn.T @ drawn / 20_000, (every * probabilities[:, None]).T @ every, atol=0.03)
    np.testing.assert_array_equal(model.sample(5, random_state=1), model.sample(5, random_state=1))


def test_hidden_machines_draw_what_they_learned():
    X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
    machine = BoltzmannMachine(2, alpha=0.1, random_state=0).fit(X)
    for drawn in (machine.sample(2000), machine._drawn(2000, 200, np.random.default_rng(0))):
        assert np.corrcoef(drawn.T)[0, 1] > 0.7
        assert np.corrcoef(drawn.T)[0, 2] < -0.7


def test_the_most_probable_state():
    for seed in range(5):
        _, _, p = truth(seed=seed)
        model = IsingModel().fit(rows_of(p, 300, seed=seed))
        found, every = model.most_probable(), states(4)
        assert found.exact
        np.testing.assert_array_equal(found.labels, every[model.score_samples(every).argmax()])
    model.coupling_ = np.abs(model.coupling_)
    assert model.most_probable().method == "graph_cut"
    np.testing.assert_array_equal(model.most_probable().labels, every[model.score_samples(every).argmax()])
    machine = BoltzmannMachine().fit(rows_of(truth(low=0.0)[2], 300, 0.0))
    assert set(np.unique(machine.most_probable().labels)) <= {0, 1}


def test_many_units_are_learned_and_told_what_cannot_be_summed():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 30)) < 0.5, -1.0, 1.0)
    X[:, 1] = np.where(rng.random(200) < 0.1, -X[:, 0], X[:, 0])
    model = IsingModel(random_state=0).fit(X)
    assert model.coupling_[0, 1] > 0.7
    assert model.sample(3, n_passes=5).shape == (3, 30)
    assert model.most_probable().labels.shape == (30,)
    with pytest.raises(
        ValueError, match=r"log Z sums over 2 \*\* 30 states, more than 2 \*\* 20; use pseudo_score_samples"
    ):
        model.score_samples(X)
    with pytest.raises(ValueError, match=r"learning='exact' sums over 2 \*\* 30 states, .* use learning='pseudo'"):
        IsingModel(learning="exact").fit(X)


# Files and bad input


@pytest.mark.parametrize("model", [IsingModel(), BoltzmannMachine(), BoltzmannMachine(2, random_state=0)], ids=repr)
def test_models_are_saved_and_loaded(model, tmp_path):
    low = -1.0 if type(model) is IsingModel else 0.0
    X = rows_of(truth(low=low)[2], 100, low)
    model = clone(model).fit(X)
    tacit.save(model, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    assert again.get_params() == model.get_params()


def test_files_with_lopsided_couplings_are_refused(tmp_path):
    model = IsingModel().fit(rows_of(truth()[2], 100))
    model.coupling_ = np.triu(model.coupling_)
    tacit.save(model, tmp_path / "model.tacit")
    with pytest.raises(ValueError, match="its couplings are not symmetric with 0 on the diagonal"):
        tacit.load(tmp_path / "model.tacit")


GOOD = np.array([[1.0, -1.0], [-1.0, -1.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (IsingModel(), [[1.0, 0.0], [1.0, 1.0]], "column 1 holds 0; units of IsingModel are -1 or 1."),
        (BoltzmannMachine(), GOOD, "column 1 holds -1; units of BoltzmannMachine are 0 or 1."),
        (IsingModel(), [[1.0, np.nan], [1.0, 1.0]], "Input X contains NaN (row 0, column 1), which IsingModel does not take"),
        (IsingModel(edges=[(0, 5)]), GOOD, "edges holds (0, 5), which is no edge"),
        (IsingModel(learning="mcmc"), GOOD, "learning='mcmc' is unknown; use one of 'auto', 'exact', 'pseudo', 'contrastive'."),
        (IsingModel(alpha=-1), GOOD, "alpha=-1 is not a number of at least 0."),
        (IsingModel(n_epochs=0), GOOD, "n_epochs=0 is not a whole number of at least 1."),
        (BoltzmannMachine(-1), GOOD, "n_hidden=-1 is not a whole number of at least 0."),
        (BoltzmannMachine(2, edges=[(0, 1)]), GOOD, "edges=[(0, 1)] are of visible units, which n_hidden=2 leaves without"),
        (BoltzmannMachine(2, learning="pseudo"), GOOD, "learning='pseudo' takes no hidden units; use learning='contrastive'."),
    ],
)  # fmt: skip
def test_bad_input_is_told(model, X, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(X)


def test_what_hidden_units_rule_out_is_told():
    X = (GOOD + 1) / 2
    machine = BoltzmannMachine(1, random_state=0).fit(X)
    with pytest.raises(ValueError, match="the pseudo-likelihood is not defined with n_hidden=1 hidden units"):
        machine.pseudo_score_samples(X)
    with pytest.raises(ValueError, match="an energy of pairs of visible units is not defined with n_hidden=1"):
        machine.most_probable()
    with pytest.raises(ValueError, match="n_hidden=0, so there are no hidden units; set n_hidden to have some"):
        BoltzmannMachine().fit(X).transform(X)
    with pytest.raises(ValueError, match=r"learning='exact' sums over 2 \*\* 25 states"):
        BoltzmannMachine(25, learning="exact").fit(np.zeros((2, 30)))


def test_params_of_pairs_are_records():
    params = PairParams(np.zeros(2), np.zeros((2, 2)), np.array([-1.0, 1.0]))
    assert params.sums[0] == pytest.approx(2 * np.log(2))
