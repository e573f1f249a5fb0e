"""Markov chains and their mixtures: counts, probabilities, missing symbols, orders, groups of sequences, bad input."""

import itertools
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import tacit
from tacit.mixture import select
from tacit.mixture.model import MixtureModel
from tacit.sequence import MarkovChain, MarkovMixture, select_order
from tacit.sequence.contexts import Contexts
from tacit.sequence.markov_family import MarkovFamily, interpolated, sequence_source
from tacit.sequence.symbols import window

WEATHER = [["sun", "sun", "rain"], ["rain", "rain", "sun", "sun"]]
STAY = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
TURN = np.array([[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]])


def walk(move, n, rng):
    path = [int(rng.integers(len(move)))]
    while len(path) < n:
        path.append(int(rng.choice(len(move), p=move[path[-1]])))
    return path


def visits(n=150, seed=0, missing=0.0):
    """Sequences of two groups, and their groups."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(2, size=n)
    paths = [walk((STAY, TURN)[k], rng.integers(3, 15), rng) for k in groups]
    return [["abc"[s] if rng.random() >= missing else None for s in path] for path in paths], groups


def by_hand(X, order, prior=0.0, backoff=0.0):
    """Probabilities by dictionaries: p(symbol, context of the last symbols)."""
    symbols = sorted({s for x in X for s in x})
    counts = {}
    for x in X:
        padded = [None] * order + list(x)
        for t in range(order, len(padded)):
            for length in range(order + 1):
                key = tuple(padded[t - length : t])
                counts.setdefault(key, dict.fromkeys(symbols, 0.0))[padded[t]] += 1.0

    def p(symbol, context):
        seen = counts.get(context, dict.fromkeys(symbols, 0.0))
        alpha = backoff if context else 0.0
        total = sum(seen.values()) + prior * len(symbols) + alpha
        if not total:
            return p(symbol, context[1:])
        return (seen[symbol] + prior + (alpha * p(symbol, context[1:]) if alpha else 0.0)) / total

    return p


# Counting


def test_the_matrix_of_transitions_is_shares_of_counts():
    chain = MarkovChain().fit(WEATHER)
    assert chain.symbols_.tolist() == ["rain", "sun"]
    np.testing.assert_allclose(chain.transmat_, [[1 / 2, 1 / 2], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(chain.startprob_, [1 / 2, 1 / 2])
    np.testing.assert_allclose(chain.stationary(), [0.4, 0.6])
    np.testing.assert_allclose(chain.score_samples([["sun", "sun"]]), [np.log(1 / 2 * 2 / 3)])


def test_pseudo_counts_are_added_to_every_symbol():
    chain = MarkovChain(prior=1.0).fit(WEATHER)
    np.testing.assert_allclose(chain.transmat_, [[2 / 4, 2 / 4], [2 / 5, 3 / 5]])


def test_codon_like_moves_of_order_two_by_hand():
    chain = MarkovChain(2).fit([list("aabab")])
    assert {(row["context"], row["symbol"]): row["probability"] for row in chain.contexts()} == {
        (("a", "b"), "a"): 1.0, (("a", "a"), "b"): 1.0, (("b", "a"), "b"): 1.0,
        ((None, None), "a"): 1.0, ((None, "a"), "a"): 1.0,
    }  # fmt: skip


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize(("prior", "backoff"), [(0.0, 0.0), (0.5, 0.0), (0.0, 2.0), (0.1, 3.0)])
def test_probabilities_are_those_of_dictionaries(order, prior, backoff):
    X, _ = visits(12)
    p = by_hand(X, order, prior, backoff)
    chain = MarkovChain(order, prior=prior, backoff=backoff).fit(X)
    new = [list("abcacb"), list("bbb"), list("c")]
    expected = [
        sum(np.log(p(x[t], tuple(([None] * order + x)[t : t + order]))) if order else np.log(p(x[t], ())) for t in range(len(x)))
        for x in new
    ]  # fmt: skip
    np.testing.assert_allclose(chain.score_samples(new), expected, rtol=1e-12)


@pytest.mark.parametrize("order", [0, 1, 2, 4])
def test_whole_numbers_texts_and_sparse_contexts_are_counted_alike(order):
    rng = np.random.default_rng(order)
    x, lengths = rng.integers(3, size=3000) * 7 - 4, [1000, 1, 1999]
    fast = MarkovChain(order).fit(x, lengths=lengths)
    slow = MarkovChain(order).fit(x.astype(str), lengths=lengths)
    apart = MarkovChain(order).fit(x * 10**8, lengths=lengths)  # too far apart for a table
    names = [str(s) for s in fast.symbols_]
    place = [names.index(s) for s in slow.symbols_]
    assert sorted(slow.symbols_.tolist()) == sorted(names)
    assert apart.symbols_.tolist() == [s * 10**8 for s in fast.symbols_.tolist()]
    np.testing.assert_array_equal(apart.contexts_.levels[-1].counts, fast.contexts_.levels[-1].counts)
    np.testing.assert_allclose(slow.score_samples(x.astype(str)), fast.score_samples(x))
    assert len(place) == 3
    reference = {}
    for a, z in itertools.pairwise(np.append(0, np.cumsum(lengths))):
        padded = [None] * order + x[a:z].tolist()
        for t in range(order, len(padded)):
            reference[tuple(padded[t - order : t + 1])] = reference.get(tuple(padded[t - order : t + 1]), 0) + 1
    assert {(*row["context"], row["symbol"]): row["count"] for row in fast.contexts()} == reference


def test_high_orders_keep_only_contexts_that_occur():
    x = np.random.default_rng(0).integers(1000, size=5000)
    chain = MarkovChain(12, backoff=1.0).fit(x)  # 1001 ** 12 contexts
    assert [len(level.keys) for level in chain.contexts_.levels][-1] == 5000
    assert np.isfinite(chain.score_samples(x[:100])).all()
    assert chain.predict_proba([x[:50]]).sum() == pytest.approx(1.0)


def test_a_context_never_seen_gives_way_to_its_longest_part():
    X = [list("abab"), list("cb")]
    shorter = MarkovChain(1).fit(X).predict_proba([list("ab")])
    np.testing.assert_allclose(MarkovChain(2).fit(X).predict_proba([list("ccb")]), shorter)


def test_backoff_learned_by_evidence_is_its_maximum_and_predicts_better():
    rng = np.random.default_rng(3)
    X = [walk(STAY, 60, rng) for _ in range(30)]
    new = [walk(STAY, 60, rng) for _ in range(30)]
    learned = MarkovChain(3, backoff="auto").fit(X)
    assert learned.score(new) > MarkovChain(3, prior=0.5).fit(X).score(new)
    assert learned.backoff_[0] < 20 < learned.backoff_[1]  # the first symbol before tells much, those before it nothing
    table = np.zeros((4, 3))
    np.add.at(table, tuple(np.array([(a, b) for x in X for a, b in itertools.pairwise([3, *x])]).T), 1)
    from tacit.sequence.contexts import _minus_evidence

    counts, total = table[table > 0], table.sum(axis=1)
    p = np.broadcast_to(table.sum(axis=0) / table.sum(), table.shape)[table > 0]
    at = [_minus_evidence(np.log(a), counts, total, p, 0.0, 3) for a in learned.backoff_[0] * np.array([0.9, 1.0, 1.1])]
    assert at[1] < min(at[0], at[2])


# Forms of sequences


def test_lists_arrays_tables_and_shuffled_rows_are_the_same_sequences():
    chain = MarkovChain().fit(WEATHER)
    flat, lengths = [s for x in WEATHER for s in x], [3, 4]
    table = {"who": ["p"] * 3 + ["q"] * 4, "day": [1, 2, 3, 1, 2, 3, 4], "sky": flat}
    mixed = np.random.default_rng(0).permutation(7)
    shuffled = pd.DataFrame(table).iloc[mixed]
    named = MarkovChain(sequence="who", time="day")
    for found in (
        MarkovChain().fit(flat, lengths=lengths),
        MarkovChain().fit(np.array(flat)[:, None], lengths=lengths),
        MarkovChain().fit([np.array(x) for x in WEATHER]),
        MarkovChain(sequence="who", symbol="sky").fit(pd.DataFrame(table).drop(columns="day")),
        clone(named).fit(pd.DataFrame(table)),
        clone(named).fit(shuffled),
        clone(named).fit(pl.DataFrame(table)),
    ):
        assert found.symbols_.tolist() == ["rain", "sun"]
        np.testing.assert_array_equal(found.transmat_, chain.transmat_)
    assert MarkovChain().fit("abab").symbols_.tolist() == ["a", "b"]


def test_a_day_that_is_left_out_is_a_missing_symbol():
    table = pd.DataFrame({"day": [1, 2, 4, 5, 6], "sky": list("abaab")})
    gap = MarkovChain(time="day").fit(table)
    np.testing.assert_allclose(gap.transmat_, MarkovChain().fit([["a", "b", None, "a", "a", "b"]]).transmat_)
    ignored = MarkovChain(time="day", gaps="ignore").fit(table)
    np.testing.assert_allclose(ignored.transmat_, MarkovChain().fit([list("abaab")]).transmat_)


def test_weight_two_is_the_sequence_twice():
    X, _ = visits(20, missing=0.2)
    twice = MarkovChain().fit([*X, *X[:7]])
    weighted = MarkovChain().fit(X, sample_weight=[2.0] * 7 + [1.0] * 13)
    np.testing.assert_allclose(weighted.transmat_, twice.transmat_, atol=1e-6)
    whole, _ = visits(20)
    twice = MarkovChain(2).fit([*whole, *whole[:7]]).contexts_.levels[-1]
    weighted = MarkovChain(2).fit(whole, sample_weight=[2.0] * 7 + [1.0] * 13).contexts_.levels[-1]
    np.testing.assert_allclose(weighted.counts, twice.counts)


# Missing symbols


def completions(x, symbols):
    for filled in itertools.product(*([s] if s is not None else symbols for s in x)):
        yield list(filled)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_missing_symbols_are_summed_over(order):
    chain = MarkovChain(order, prior=0.3).fit(visits(20)[0])
    X = [
        ["a", None, "b", None, None, "c"],
        [None, "a"],
        ["b", "b", None],
        [None],
        ["a", None, None, None, "a", "b", "c"],
    ]
    expected = [np.logaddexp.reduce(chain.score_samples(list(completions(x, "abc")))) for x in X]
    np.testing.assert_allclose(chain.score_samples(X), expected, atol=1e-12)
    joint = [
        [np.logaddexp.reduce(chain.score_samples([[*f, s] for f in completions(x, "abc")])) for s in "abc"] for x in X
    ]
    np.testing.assert_allclose(chain.predict_proba(X), np.exp(np.array(joint) - np.array(expected)[:, None]), rtol=1e-9)


def test_em_with_missing_symbols_is_at_the_maximum():
    X, _ = visits(25, missing=0.3)
    chain = MarkovChain(tol=1e-12).fit(X)
    assert chain.n_iter_ > 0
    model = MixtureModel(MarkovFamily(3, 1), 1)
    number = {"a": 0, "b": 1, "c": 2, None: -1}
    codes = np.array([number[s] for x in X for s in x])
    source = sequence_source(codes, np.append(0, np.cumsum([len(x) for x in X])))

    def minus(logits):
        table = np.exp(logits.reshape(4, 3))
        table = (table / table.sum(axis=1, keepdims=True))[None]
        params = model.init(source.take(np.arange(25)), np.random.default_rng(0))
        params = type(params)(params.weight, type(params.components)(table, params.components.visits))
        return -source.sum(lambda block: model.e_step(params, block)).loglik

    start = np.log(np.vstack([chain.transmat_, chain.startprob_]))
    best = minimize(minus, np.zeros(12), method="BFGS")
    assert minus(start.ravel()) == pytest.approx(best.fun, abs=1e-5)
    np.testing.assert_allclose(chain.score_samples(X).sum(), -best.fun, atol=1e-5)


@pytest.mark.parametrize("prior", [0.0, 0.5])
@pytest.mark.parametrize("order", [1, 2])
def test_the_objective_never_falls(order, prior):
    X, _ = visits(60, missing=0.3)
    mixture = MarkovMixture(3, order=order, prior=prior, random_state=0, tol=0, max_iter=60, accelerate=None)
    with pytest.warns(UserWarning, match="did not converge"):
        mixture.fit(X)
    assert (np.diff(mixture.trace_.objectives) >= -1e-9).all()


def test_nothing_missing_is_the_path_of_missing_symbols_without_any():
    X, _ = visits(30)
    chain = MarkovChain(2, prior=0.2).fit(X)
    number = {s: i for i, s in enumerate("abc")}
    codes = np.array([number[s] for x in X for s in x])
    offsets = np.append(0, np.cumsum([len(x) for x in X]))
    np.testing.assert_allclose(chain._integrated(codes.astype(np.int32), offsets), chain.score_samples(X), rtol=1e-12)
    counts = np.zeros((16, 3))
    context, x = sum(s * 4**i for i, s in enumerate(window(codes, offsets, 2, 3)[1:])), codes
    np.add.at(counts, (context, x), 1.0)
    np.testing.assert_allclose(chain._table(), interpolated(counts, 0.2, np.zeros(2)))


def test_backoff_and_missing_symbols_go_together():
    X, _ = visits(40, missing=0.2)
    chain = MarkovChain(2, backoff="auto").fit(X)
    assert (chain.backoff_ > 0).all()
    assert chain._table().sum(axis=1) == pytest.approx(1.0)
    again = Contexts.of_table(np.zeros((16, 3)) + 1.0, 2)
    assert again.n_parameters == 32


# Orders, intervals, the long run


def test_the_order_is_found_by_every_criterion():
    rng = np.random.default_rng(0)
    second = rng.dirichlet(np.full(3, 0.4), (3, 3))
    X = []
    for _ in range(40):
        x = [0, 1]
        while len(x) < 80:
            x.append(int(rng.choice(3, p=second[x[-2], x[-1]])))
        X.append(x)
    for criterion in ("bic", "aic", "cv"):
        found = select_order(MarkovChain(prior=0.5), X, range(5), criterion=criterion)
        assert found.best_settings == {"order": 2}
        assert found.best.order == 2
        assert len(found.table) == 5
    row = found.table[0]
    assert row["bic"] == pytest.approx(found.best.bic(X))
    assert row["aic"] == pytest.approx(found.best.aic(X))
    short = select_order(MarkovChain(), [[0, 1, 0]], [0, 1, 7])
    assert "order=7 needs a sequence of 8 steps" in short.table[-1]["failed"]


def test_nested_orders_never_lose_likelihood():
    X, _ = visits(30)
    logs = [
        row["log_likelihood"]
        for row in sorted(select_order(MarkovChain(), X, range(5)).table, key=lambda r: r["order"])
    ]
    assert (np.diff(logs) >= -1e-9).all()


@pytest.mark.parametrize("n", [20, 100])
def test_intervals_cover(n):
    rng = np.random.default_rng(n)
    inside = []
    for _ in range(400):
        x = np.array(walk(np.array([[0.7, 0.3], [0.4, 0.6]]), n, rng))
        for row in MarkovChain().fit(x).contexts(level=0.9):
            if row["context"] == (0,) and row["symbol"] == 1:
                inside.append(row["low"] <= 0.3 <= row["high"])
    assert 0.86 <= np.mean(inside) <= 0.95


def test_the_stationary_distribution_of_known_chains():
    rng = np.random.default_rng(0)
    ring = MarkovChain().fit([0, 1, 2] * 20)  # a cycle, which never comes to rest by itself
    np.testing.assert_allclose(ring.stationary(), [1 / 3] * 3, atol=1e-9)
    x = np.array(walk(STAY @ TURN, 5000, rng))
    for order in (0, 1, 2, 3):
        np.testing.assert_allclose(MarkovChain(order).fit(x).stationary(), np.bincount(x) / len(x), atol=2e-3)
    apart = MarkovChain(prior=0.0).fit([[0, 0, 0], [1, 1, 1], [1, 1, 1]])  # two rooms without a door
    np.testing.assert_allclose(apart.stationary(), [1 / 3, 2 / 3], atol=1e-9)


def test_long_chains_of_contexts_come_to_rest_by_turns():
    x = np.random.default_rng(0).integers(2, size=20_000)
    chain = MarkovChain(11).fit(x)  # 2,048 contexts
    np.testing.assert_allclose(chain.stationary(), np.bincount(x) / len(x), atol=5e-3)


def test_draws_follow_the_chain():
    chain = MarkovChain(2, random_state=0).fit([list("aabbcabcacb" * 20)])
    again = MarkovChain(2).fit(chain.sample(20_000))
    expected = {(r["context"], r["symbol"]): r["probability"] for r in chain.contexts() if None not in r["context"]}
    found = {(r["context"], r["symbol"]): r["probability"] for r in again.contexts()}
    assert all(abs(found[key] - p) < 0.03 for key, p in expected.items())


# Mixtures


def test_a_mixture_of_one_group_is_the_chain():
    for missing in (0.0, 0.2):
        X, _ = visits(40, missing=missing)
        mixture, chain = MarkovMixture(1, tol=1e-12, max_iter=2000).fit(X), MarkovChain(tol=1e-12).fit(X)
        np.testing.assert_allclose(mixture.transmat_[0], chain.transmat_, atol=1e-6)
        np.testing.assert_allclose(mixture.startprob_[0], chain.startprob_, atol=1e-6)
        np.testing.assert_allclose(mixture.score_samples(X), chain.score_samples(X), atol=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_known_groups_are_recovered_and_their_number_chosen(missing):
    X, groups = visits(300, missing=missing)
    mixture = MarkovMixture(2, random_state=0, tol=1e-8, max_iter=1000).fit(X)
    assert adjusted_rand_score(groups, mixture.predict(X)) > (0.8 if not missing else 0.6)
    order = np.argsort(-mixture.transmat_[:, 0, 0])
    np.testing.assert_allclose(mixture.transmat_[order], [STAY, TURN], atol=0.08)
    np.testing.assert_allclose(mixture.predict_proba(X).sum(axis=1), 1.0)
    found = select(MarkovMixture(random_state=0), X, n_components=range(1, 4))
    assert found.best_settings == {"n_components": 2}
    assert found.table[0]["bic"] == pytest.approx(found.best.bic(X))


def test_known_labels_are_counting():
    X, groups = visits(60)
    with pytest.warns(UserWarning, match="every row's class"):
        mixture = MarkovMixture(2).fit(X, groups)
    for k in range(2):
        chain = MarkovChain().fit([x for x, g in zip(X, groups) if g == k])
        np.testing.assert_allclose(mixture.transmat_[k], chain.transmat_)
    np.testing.assert_allclose(mixture.weights_, np.bincount(groups) / 60)


def test_threads_and_weights_do_not_matter():
    X, _ = visits(4000, missing=0.05)
    X = [x * 12 for x in X]  # several blocks
    one, two = (MarkovMixture(2, random_state=0, n_jobs=n).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.params_.table, two.params_.table)
    X, _ = visits(60)
    twice = MarkovMixture(2, random_state=0, tol=1e-10, max_iter=1000).fit([*X, *X[:20]])
    weighted = clone(twice).fit(X, sample_weight=[2.0] * 20 + [1.0] * 40)
    np.testing.assert_allclose(weighted.params_.table, twice.params_.table, atol=1e-5)
    assert weighted.score(X) == pytest.approx(twice.score(X), abs=1e-6)


def test_arrays_with_lengths_are_the_same_sequences_to_a_mixture():
    X, _ = visits(30)
    flat, lengths = np.array([s for x in X for s in x]), [len(x) for x in X]
    listed = MarkovMixture(2, random_state=0).fit(X)
    given = MarkovMixture(2, random_state=0).fit(flat, lengths=lengths)
    np.testing.assert_array_equal(given.params_.table, listed.params_.table)
    np.testing.assert_array_equal(given.predict_proba(flat, lengths), listed.predict_proba(X))
    for name in ("score", "bic", "aic", "icl"):
        assert getattr(given, name)(flat, lengths=lengths) == getattr(listed, name)(X)


def test_draws_of_a_mixture_find_its_groups_again():
    mixture = MarkovMixture(2, random_state=0).fit(visits(300)[0])
    X, groups = mixture.sample(200, 15)
    assert adjusted_rand_score(groups, mixture.predict(X)) > 0.9
    assert len(X[0]) == 15
    assert mixture.describe().columns == ["context", "symbol", "group 0", "group 1"]


def test_what_needs_columns_is_not_there():
    mixture = MarkovMixture(2)
    assert not hasattr(mixture, "impute")
    with pytest.raises(AttributeError, match="MarkovMixture has no outliers: its rows are sequences"):
        mixture.outliers([["a"]])


# Files


def test_chains_and_mixtures_are_saved_and_loaded(tmp_path):
    X, _ = visits(40)
    numbers = [[{"a": 3, "b": 5, "c": 9}[s] for s in x] for x in X]
    for rows in (X, numbers):
        for model in (MarkovChain(2, backoff="auto"), MarkovChain(), MarkovMixture(2, random_state=0)):
            model.fit(rows)
            tacit.save(model, tmp_path / "model.tacit")
            again = tacit.load(tmp_path / "model.tacit")
            np.testing.assert_array_equal(again.score_samples(rows), model.score_samples(rows))
            np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


def test_counts_that_do_not_go_together_are_refused():
    chain = MarkovChain().fit(WEATHER)
    chain.contexts_.levels[1].keys[:] = 1
    with pytest.raises(ValueError, match="the keys of contexts of 1 symbols are not sorted numbers below 3"):
        chain._check_loaded()
    chain = MarkovChain().fit(WEATHER)
    chain.order = 2
    with pytest.raises(ValueError, match="its contexts are of 1 among 2 symbols, not of 2 among 2"):
        chain._check_loaded()


# Bad input


@pytest.mark.parametrize(
    ("settings", "X", "told"),
    [
        ({}, [["a"], []], "sequence 1 is empty"),
        ({}, [["a"]], "order=1 needs a sequence of 2 steps, but the longest has 1"),
        ({"order": 5}, [list("abc")], "order=5 needs a sequence of 6 steps, but the longest has 3"),
        ({"prior": -1.0}, WEATHER, "prior"),
        ({"order": -1}, WEATHER, "order"),
        ({}, [[None, None], [None, None]], "all of the 4 symbols are missing"),
        ({"unknown": "ignore"}, WEATHER, "unknown"),
        ({"sequence": "who"}, WEATHER, "X has no named columns"),
        ({}, np.zeros((4, 2)), "X has shape (4, 2); give one symbol for each step"),
        ({}, np.array([]), "X holds no step"),
    ],
)  # fmt: skip
def test_bad_input_is_told(settings, X, told):
    for model in (MarkovChain(**settings), MarkovMixture(1, **settings)):
        with pytest.raises(ValueError, match=re.escape(told)):
            model.fit(X)


def test_bad_settings_of_chains_are_told():
    for backoff in (-1.0, [1.0], "some", np.nan):
        with pytest.raises(ValueError, match=r"backoff=.* must be a number from 0, or 2 of them for order=2"):
            MarkovChain(2, backoff=backoff).fit(WEATHER)
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        MarkovChain().fit(WEATHER, sample_weight=[0.0, 0.0])
    with pytest.raises(ValueError, match="lengths add up to 3, but X has 4 rows"):
        MarkovChain().fit(list("abab"), lengths=[1, 2])
    with pytest.raises(ValueError, match="whose lengths are its own"):
        MarkovChain().fit(WEATHER, lengths=[3, 4])
    with pytest.raises(ValueError, match=r"has 6,991,712 cells to integrate over, more than 4,194,304"):
        MarkovChain(5).fit([[*"abcdefghijklm", None]])
    with pytest.raises(ValueError, match="name that of the symbols by symbol="):
        MarkovChain().fit(pd.DataFrame({"x": [1, 2], "y": [1, 2]}))
    with pytest.raises(ValueError, match="the table has no column 'z'"):
        MarkovChain(symbol="z").fit(pd.DataFrame({"x": [1, 2], "y": [1, 2]}))
    with pytest.raises(AttributeError, match="order=2 has no matrix of transitions"):
        _ = MarkovChain(2).fit(WEATHER).transmat_
    with pytest.raises(TypeError, match="select_order takes a MarkovChain, but got MarkovMixture"):
        select_order(MarkovMixture(2), WEATHER)
    with pytest.raises(ValueError, match="cv=5 exceeds the 2 sequences"):
        select_order(MarkovChain(), WEATHER, [1], criterion="cv")
    with pytest.raises(ValueError, match="orders is empty"):
        select_order(MarkovChain(), WEATHER, [])


def test_bad_settings_of_mixtures_are_told():
    with pytest.raises(ValueError, match="n_components=3 exceeds the 2 sequences"):
        MarkovMixture(3).fit(WEATHER)
    with pytest.raises(ValueError, match=r"order=9 over 6 symbols has .* cells for each group"):
        MarkovMixture(1, order=9).fit([list("abcdef" * 3)])
    with pytest.raises(AttributeError, match="order=2 have no matrices"):
        _ = MarkovMixture(1, order=2).fit(WEATHER).transmat_


def test_symbols_that_are_new_are_refused_or_missing():
    for model in (MarkovChain(), MarkovMixture(1)):
        model.fit(WEATHER)
        with pytest.raises(ValueError, match="the symbol 'snow' did not occur at fit; unknown='missing'"):
            model.score_samples([["sun", "snow"]])
        model.set_params(unknown="missing")
        np.testing.assert_allclose(model.score_samples([["sun", "snow"]]), model.score_samples([["sun"]]))


def test_impossible_sequences_have_probability_zero():
    chain = MarkovChain().fit([list("abab")])
    assert chain.score_samples([list("aab"), list("ab")]).tolist() == [-np.inf, 0.0]
    blank = ["a", None, "b"]
    assert chain.score_samples([blank, list("aab")]).tolist() == [-np.inf, -np.inf]
    np.testing.assert_allclose(chain.predict_proba([[*blank, None]]), [[0.5, 0.5]])


def test_long_sequences_with_missing_symbols_do_not_underflow():
    rng = np.random.default_rng(0)
    chain = MarkovChain().fit(rng.integers(4, size=5000))
    x = rng.integers(4, size=2001).astype(object)
    x[1::2] = None
    move = chain.transmat_ @ chain.transmat_
    expected = np.log(chain.startprob_[x[0]]) + sum(np.log(move[a, b]) for a, b in itertools.pairwise(x[::2]))
    assert expected < -1000
    np.testing.assert_allclose(chain.score_samples([x]), [expected])
