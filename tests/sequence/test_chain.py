"""Hidden Markov models on the engine: properties for every family and structure, and answers by enumeration of all paths."""

from decimal import Decimal, localcontext
from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.linalg import expm

from tacit.engine import fit
from tacit.families import Bernoulli, Categorical, DiagonalGaussian, FullGaussian, Poisson
from tacit.kernels import chain
from tacit.mixture import MixtureModel
from tacit.sequence.durations import AnyDuration, AtLeast, NegativeBinomialDuration
from tacit.sequence.model import ChainModel
from tacit.sequence.shared import Shared
from tacit.sequence.stationary import Stationary, stationary
from tacit.sequence.structure import ChainParams, Structure
from tacit.sequence.timed import Timed, _integrals, exponentials
from tacit.source import ArraySource, Block
from tacit.testing import check_model

from ..zoo import FAMILIES, category_rows, count_rows, gaussian_rows, some, with_missing

LEFT_RIGHT = np.triu(np.ones((3, 3), bool))
UNIT = np.repeat(np.arange(9), [40, 1, 25, 60, 14, 2, 38, 30, 30])

STRUCTURES = {
    "priors": Structure(3, start_prior=1.5, move_prior=1.0 + 4.0 * np.eye(3)),
    "left to right": Structure(3, allowed=LEFT_RIGHT, starts=[True, False, False]),
    "stationary": Stationary(3, move_prior=1.2),
    "at least": AtLeast(3, [1, 2, 4]),
    "negative binomial": NegativeBinomialDuration(3, 2),
    "any duration": AnyDuration(3, 4),
    "fixed moves": Structure(3, move=np.full((3, 3), 1 / 3), fixed=("move",)),
}


def sequences(rows):
    """Rows in an order that makes classes last, with a step that is missing altogether."""
    X = with_missing(rows, 0.1)
    X = X[np.argsort(np.nan_to_num(X[:, 0]) + np.random.default_rng(0).normal(0, 2.0, len(X)), kind="stable")]
    X[45] = np.nan
    return X


@pytest.mark.parametrize("name", some(FAMILIES, ["full", "student", "product", "categorical", "negative binomial"]))
def test_every_family_along_sequences(name):
    family, rows = FAMILIES[name]
    check_model(ChainModel(family, Structure(3)), sequences(rows()), unit=UNIT, max_iter=12)


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure(name):
    check_model(ChainModel(DiagonalGaussian(), STRUCTURES[name]), sequences(gaussian_rows()), unit=UNIT, max_iter=20)


@pytest.mark.parametrize("name", ["priors", "stationary"])
def test_weights_and_labels(name):
    rng = np.random.default_rng(3)
    labels = np.where(rng.random(240) < 0.2, rng.integers(3, size=240), -1)
    weight = rng.uniform(0.2, 3.0, UNIT.max() + 1)[UNIT]
    model = ChainModel(FullGaussian(), STRUCTURES[name])
    check_model(model, sequences(gaussian_rows()), unit=UNIT, weight=weight, labels=labels, max_iter=12)


def test_irregular_times():
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.choice([0.5, 1.0, 2.5], 240))[:, None]
    model = ChainModel(DiagonalGaussian(), Timed(3))
    check_model(model, sequences(gaussian_rows()), unit=UNIT, targets=times, max_iter=12)


def test_states_that_share_what_they_look_like():
    model = ChainModel(Shared(DiagonalGaussian(), [0, 1, 0]), Structure(3))
    check_model(model, sequences(gaussian_rows()), unit=UNIT, max_iter=12)


# Against the sum over all paths


def enumerated(start, move, joint):
    """Every path of states of one sequence, and its probability together with the steps; `joint` are log densities (T, K)."""
    n_steps, n_states = joint.shape
    paths = np.array(list(product(range(n_states), repeat=n_steps)))
    log_p = np.log(start)[paths[:, 0]] + joint[np.arange(n_steps), paths].sum(axis=1)
    for t in range(1, n_steps):
        log_p += np.log(move[t][paths[:, t - 1], paths[:, t]])
    return paths, np.exp(log_p)


def small_world(structure, family=None, rows=None, seed=0):
    rng = np.random.default_rng(seed)
    X = with_missing(gaussian_rows(40) if rows is None else rows)
    block = Block.of(X[:6], units=np.array([0, 6]), targets=np.array([[0.0, 1.0, 3.0, 3.5, 4.0, 9.0]]).T)
    model = ChainModel(family or DiagonalGaussian(), structure)
    whole = Block.of(X, units=np.array([0, 40]), targets=np.arange(40.0)[:, None])
    params = model.init(whole, rng)
    return model, params, block


@pytest.mark.parametrize("structure", [Structure(3), Timed(3), Stationary(3)], ids=lambda each: type(each).__name__)
def test_answers_are_those_of_all_paths(structure):
    model, params, block = small_world(structure)
    chain = structure.chain(params, block)
    move = chain.move[chain.which] if chain.which.size else np.repeat(chain.move, 6, axis=0)
    joint = model.family.log_prob(params.components, block)
    paths, p = enumerated(chain.start, move, joint)
    resp, evidence = model.posterior(params, block)
    np.testing.assert_allclose(evidence, np.log(p.sum()), rtol=1e-12)
    smoothed = np.array([[p[paths[:, t] == k].sum() for k in range(3)] for t in range(6)]) / p.sum()
    np.testing.assert_allclose(resp, smoothed, atol=1e-12)
    pairs = model.pairs(params, block)
    for t in range(1, 6):
        both = [[p[(paths[:, t - 1] == i) & (paths[:, t] == j)].sum() for j in range(3)] for i in range(3)]
        np.testing.assert_allclose(pairs[t], np.array(both) / p.sum(), atol=1e-12)
    share, predictive, _ = model.filtered(params, block)
    for t in range(1, 7):
        begin, some_p = enumerated(chain.start, move, joint[:t])
        now = [some_p[begin[:, -1] == k].sum() for k in range(3)]
        np.testing.assert_allclose(share[:, t - 1], np.array(now) / sum(now), atol=1e-12)
        np.testing.assert_allclose(predictive[:t].sum(), np.log(some_p.sum()), rtol=1e-12)
    path, score = model.decoded(params, block)
    np.testing.assert_array_equal(path, paths[np.argmax(p)])
    np.testing.assert_allclose(score, np.log(p.max()), rtol=1e-12)
    drawn = model.draw_paths(params, block, 4000, np.random.default_rng(0))
    shares = np.array([(drawn == k).mean(axis=0) for k in range(3)]).T
    assert np.abs(shares - smoothed).max() < 5 * 0.5 / np.sqrt(4000)
    switched = (drawn[:, 2] != drawn[:, 3]).mean()
    assert abs(switched - 1 + np.trace(pairs[3])) < 5 * 0.5 / np.sqrt(4000)


@pytest.mark.parametrize("structure", [AtLeast(2, [2, 3]), NegativeBinomialDuration(2, 2), AnyDuration(2, 3)],
                         ids=lambda each: type(each).__name__)  # fmt: skip
def test_stays_are_as_long_as_they_may_be(structure):
    model, params, _ = small_world(structure)
    states = model.walk(params, 20_000, np.random.default_rng(0))
    ends = np.flatnonzero(np.diff(states))
    lengths, of = np.diff(ends)[:-1], states[ends[1:-1]]
    for state in range(2):
        seen = lengths[of == state]
        if isinstance(structure, AnyDuration):
            expected = params.dwell[state]
            found = np.bincount(seen, minlength=4)[1:] / len(seen)
            np.testing.assert_allclose(found, expected, atol=0.03)
        else:
            least = structure.lengths[state]
            assert seen.min() == least
            leave = 1.0 - params.move[state, state]
            mean = least / leave if isinstance(structure, NegativeBinomialDuration) else least - 1 + 1 / leave
            np.testing.assert_allclose(seen.mean(), mean, rtol=0.1)


# What it reduces to


def test_equal_rows_of_the_transition_matrix_make_a_mixture():
    X, weight = with_missing(gaussian_rows()), np.array([0.2, 0.5, 0.3])
    mixture = MixtureModel(FullGaussian(), 3)
    source = ArraySource(X)
    params = mixture.init(source.sample(240, np.random.default_rng(0)), np.random.default_rng(0))
    params = type(params)(weight, params.components)
    chain = ChainModel(FullGaussian(), Structure(3))
    same = ChainParams(weight, np.tile(weight, (3, 1)), np.zeros((3, 0)), params.components)
    block = Block.of(X, units=np.array([0, 100, 240]))
    resp, evidence = mixture.posterior(params, Block.of(X))
    found, together = chain.posterior(same, block)
    np.testing.assert_allclose(found, resp, atol=1e-10)
    np.testing.assert_allclose(together.sum(), evidence.sum(), rtol=1e-12)


def test_all_states_known_is_counting():
    rng = np.random.default_rng(0)
    labels, X = rng.integers(3, size=240), count_rows()
    model = ChainModel(Poisson(), Structure(3))
    source = ArraySource(X, labels=labels, unit=UNIT)
    start = model.init(source.sample(240, rng), rng)
    found = fit(model, source, start, max_iter=1, tol=0.0).params
    first = np.flatnonzero(np.diff(UNIT, prepend=-1))
    np.testing.assert_allclose(found.start, np.bincount(labels[first], minlength=3) / len(first), atol=1e-12)
    later = np.setdiff1d(np.arange(240), first)
    counts = np.zeros((3, 3))
    np.add.at(counts, (labels[later - 1], labels[later]), 1.0)
    np.testing.assert_allclose(found.move, counts / counts.sum(axis=1, keepdims=True), atol=1e-12)
    means = [X[labels == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(model.family.mean(found.components), means, rtol=1e-12)


def test_a_long_sequence_in_parts_is_the_same(monkeypatch):
    model, params, _ = small_world(Structure(3))
    X = with_missing(gaussian_rows(900))
    labels = np.where(np.random.default_rng(0).random(900) < 0.05, 1, -1)
    block = Block.of(X, np.full(900, 2.0), labels, units=np.array([0, 900]))
    whole, resp = model.e_step(params, block), model.posterior(params, block)[0]
    monkeypatch.setattr("tacit.sequence.model.LONG", 100)
    monkeypatch.setattr("tacit.sequence.model.PART", 300)
    parts = model.e_step(params, Block.of(X, np.full(900, 2.0), labels, units=np.array([0, 900])))
    for name, value in whole.to_dict().items():
        np.testing.assert_allclose(parts.to_dict()[name], value, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.posterior(params, block)[0], resp, atol=1e-11)


def test_the_log_likelihood_to_fifty_digits():
    """Against the forward algorithm in decimals, with a step so far from all states that its densities underflow."""
    model, params, _ = small_world(Structure(3))
    X = with_missing(gaussian_rows(300))
    X[150] = 500.0
    joint = model.family.log_prob(params.components, Block.of(X))
    with localcontext() as context:
        context.prec = 50
        b = [[Decimal(float(x)).exp() for x in row] for row in joint]
        move = [[Decimal(float(x)) for x in row] for row in params.move]
        share = [Decimal(float(p)) * x for p, x in zip(params.start, b[0])]
        for row in b[1:]:
            share = [sum(share[i] * move[i][j] for i in range(3)) * row[j] for j in range(3)]
        exact = float(sum(share).ln())
    assert min(float(x) for x in b[150]) == 0.0
    block = Block.of(X, units=np.array([0, 300]))
    np.testing.assert_allclose(model.posterior(params, block)[1], exact, rtol=1e-13)
    np.testing.assert_allclose(model.evidence(params, block), exact, rtol=1e-13)
    np.testing.assert_allclose(model.filtered(params, block)[1].sum(), exact, rtol=1e-13)


@pytest.mark.parametrize("n_states", [1, 3, 7, 50])
def test_lanes_are_what_logarithms_say(n_states):
    # Short sequences of densities far apart, chains that must not go back, labels that cannot be, and chains that hardly move.
    rng, n, nothing = np.random.default_rng(3), 6000, np.zeros(0, int)
    short = np.concatenate([[0], np.sort(rng.choice(np.arange(1, n), 149, replace=False)), [n]])
    weight = np.repeat(rng.choice([0.0, 1.0, 2.5], 150), np.diff(short))
    labels = np.where(rng.random(n) < 0.03, rng.integers(n_states, size=n), -1)
    start, move = rng.dirichlet(np.ones(n_states)), rng.dirichlet(np.ones(n_states), n_states)
    onward = np.triu(move) / np.triu(move).sum(axis=1, keepdims=True)
    sticky = (1 - 1e-9) * np.eye(n_states) + 1e-9 / n_states
    first, two, unknown = np.eye(n_states)[0], np.array([0, 3000, n]), np.full(n, -1)
    for spread, offsets, w, known, pi, A in [
        (300.0, short, weight, labels, start, move), (3.0, short, weight, unknown, first, onward),
        (300.0, short, weight, unknown, first, onward), (3.0, short, weight, labels, first, onward),
        (0.1, two, np.ones(n), unknown, start, sticky / sticky.sum(axis=1, keepdims=True)),
    ]:  # fmt: skip
        base = spread * rng.normal(size=(n_states, n))
        resp, moves, evidence = base.copy(), np.zeros((1, n_states, n_states)), np.empty(len(offsets) - 1)
        expected, expected_moves, expected_evidence = base.copy(), np.zeros_like(moves), np.empty_like(evidence)
        assert chain.lanes_of(pi, A[None], nothing, n, len(evidence)) > 0
        chain.smooth(resp, offsets, w, known, pi, A[None], nothing, np.zeros(n_states), moves, evidence)
        chain.settle_labels(expected, known)
        for u, (a, z) in enumerate(pairwise(offsets)):
            part = np.ascontiguousarray(expected[:, a:z])
            at = np.zeros(z - a, int)
            expected_evidence[u] = chain.smooth_logs(part, pi, A[None], at, w[a], expected_moves)
            expected[:, a:z] = part
        np.testing.assert_allclose(evidence, expected_evidence, rtol=1e-11)
        np.testing.assert_allclose(resp, expected, atol=1e-11)
        np.testing.assert_allclose(moves, expected_moves, rtol=1e-10, atol=1e-9)


@pytest.mark.full
def test_ten_million_steps():
    """Where all rows of the transition matrix are equal, steps are independent: the sum over steps is known."""
    rng, weight = np.random.default_rng(0), np.array([0.3, 0.7])
    X = rng.normal(size=(10_000_000, 1))
    model = ChainModel(DiagonalGaussian(), Structure(2))
    components = model.family.start(Block.of(X[:1000]), np.eye(2)[(X[:1000, 0] > 0).astype(int)])
    params = ChainParams(weight, np.tile(weight, (2, 1)), np.zeros((2, 0)), components)
    block = Block.of(X, units=np.array([0, len(X)]))
    expected = np.logaddexp(*(np.log(weight) + model.family.log_prob(components, block)).T).sum()
    np.testing.assert_allclose(model.evidence(params, block), expected, rtol=1e-11)
    share = model.e_step(params, block).counts / len(X)
    assert np.abs(share.sum() - 1.0) < 1e-10


# The umbrella world, with a chain that is known (Russell and Norvig)


def test_two_days_of_umbrellas():
    model = ChainModel(Bernoulli(), Structure(2))
    family = Bernoulli()
    block = Block.of(np.ones((2, 1)), units=np.array([0, 2]))
    params = family.start(Block.of(np.array([[1.0], [0.0]])), np.eye(2))
    umbrella = type(params)(np.array([[0.9], [0.2]]))
    world = ChainParams(np.array([0.5, 0.5]), np.array([[0.7, 0.3], [0.3, 0.7]]), np.zeros((2, 0)), umbrella)
    resp, _ = model.posterior(world, block)
    np.testing.assert_allclose(resp[0, 0], 0.883357, atol=1e-6)
    share, _, _ = model.filtered(world, block)
    np.testing.assert_allclose(share[0], [0.818182, 0.883357], atol=1e-6)


# Continuous time


@pytest.mark.parametrize("generator", [
    np.array([[-0.5, 0.3, 0.2], [0.1, -0.4, 0.3], [0.6, 0.2, -0.8]]),
    np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.0, 0.0, 0.0]]),  # eigenvectors that are none: exponentials one by one
])  # fmt: skip
def test_exponentials_and_integrals_of_a_generator(generator):
    lengths, rng = np.array([0.0, 0.7, 3.0]), np.random.default_rng(0)
    for found, length in zip(exponentials(generator, lengths), lengths):
        np.testing.assert_allclose(found, expm(generator * length), atol=1e-10)
    share = rng.random((3, 3, 3))
    expected = sum(
        quad_vec(lambda s, d=d, w=w: expm(generator * s).T @ w @ expm(generator * (d - s)).T, 0.0, d)[0]
        for d, w in zip(lengths, share)
    )
    np.testing.assert_allclose(_integrals(generator, lengths, share), expected, rtol=1e-7)


def test_rates_are_learned_from_irregular_times():
    rng = np.random.default_rng(0)
    generator = np.array([[-0.2, 0.2], [0.5, -0.5]])
    times = np.cumsum(rng.exponential(0.7, 6000))
    state, states = 0, []
    for gap in np.diff(times, prepend=times[0]):
        state = rng.choice(2, p=expm(generator * gap)[state])
        states.append(state)
    X = rng.normal(4.0 * np.array(states), 1.0)[:, None]
    model = ChainModel(DiagonalGaussian(), Timed(2))
    source = ArraySource(X, targets=times[:, None], unit=np.zeros(6000, int))
    found = fit(model, source, model.init(source.sample(6000, rng), rng), max_iter=200, tol=1e-9).params
    order = np.argsort(model.family.mean(found.components)[:, 0])
    np.testing.assert_allclose(found.move[np.ix_(order, order)], generator, atol=0.06)


def test_the_stationary_distribution():
    move = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]])
    share = stationary(move - np.eye(3))
    np.testing.assert_allclose(share @ move, share, atol=1e-14)
    rng = np.random.default_rng(0)
    counts, first = rng.gamma(2.0, 5.0, (3, 3)) * (move > 0), rng.gamma(2.0, 3.0, 3)
    best = Stationary(3)._best(counts, first, move)

    def value(a):
        return (counts[a > 0] * np.log(a[a > 0])).sum() + first @ np.log(stationary(a - np.eye(3)))

    assert (best > 0).tolist() == (move > 0).tolist()
    for _ in range(50):
        near = np.where(best > 0, best * np.exp(0.05 * rng.normal(size=(3, 3))), 0.0)
        assert value(near / near.sum(axis=1, keepdims=True)) < value(best)


def test_a_step_that_cannot_be_is_named():
    model = ChainModel(Categorical([2]), Structure(2, allowed=[[True, True], [False, True]], starts=[True, False]))
    X, labels = np.zeros((6, 1)), np.array([-1, 0, -1, 1, -1, 0])
    source = ArraySource(X, labels=labels, unit=np.array([7, 7, 9, 9, 9, 9]))
    start = model.init(Block.of(category_rows()[:, :1] % 2, units=np.array([0, 240])), np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"sequence 1 is impossible at its step 3: .*; allow more moves"):
        source.sum(partial(model.e_step, start))
