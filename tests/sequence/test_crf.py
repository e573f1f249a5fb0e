"""`LinearChainCRF`: held to sums over all labellings, to finite differences, to SciPy's optimum and to a hidden Markov model."""

import pickle
import warnings
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.sparse import csr_matrix
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

import tacit
from tacit.plot import TransitionWeightsDisplay
from tacit.sequence import CategoricalHMM, LinearChainCRF, scheme_pairs
from tacit.sequence.crf import field, model
from tacit.sequence.crf.layout import Layout
from tacit.sequence.crf.model import FieldModel, Weights, field_source
from tacit.sequence.crf.schemes import Chain

LABELS = "ABC"


def draw(n=30, seed=0, longest=5, hidden=0.0):
    """Sequences of attributes with values, whose labels go with the last attribute and the label before."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels, steps = [], []
        for t in range(rng.integers(1, longest + 1)):
            labels.append(int(rng.integers(3)) if t == 0 or rng.random() < 0.4 else labels[-1])
            shown = labels[-1] if rng.random() < 0.8 else int(rng.integers(3))
            steps.append({"sign": "xyz"[shown], "size": float(rng.normal(labels[-1])), "bias": 1})
        X.append(steps)
        y.append([LABELS[j] if rng.random() >= hidden else None for j in labels])
    return X, y


def brute(crf, sequence, known=None):
    """Every labelling that is allowed, with its score, made of the features as they are told."""
    states, moves, chain = crf.state_features_, crf.transition_features_, crf._chain()
    names, found = list(crf.classes_), []
    scores = [
        [sum(_value(item, a) * w for (a, j), w in states.items() if j == name) for name in names] for item in sequence
    ]
    for path in np.ndindex(*(len(names),) * len(sequence)):
        fits = known is None or all(k is None or names[j] == k for j, k in zip(path, known))
        legal = chain.start[path[0]] and chain.end[path[-1]] and all(chain.moves[a, b] for a, b in pairwise(path))
        if fits and legal:
            value = sum(scores[t][j] for t, j in enumerate(path))
            value += sum(moves.get((names[a], names[b]), 0.0) for a, b in pairwise(path))
            found.append((path, value))
    return found


def _value(item, attribute):
    name, _, text = attribute.partition(":")
    return float(item[name] == text) if text else float(item.get(name, 0.0))


@pytest.fixture(scope="module")
def fitted():
    return LinearChainCRF(c2=0.1).fit(*draw())


@pytest.mark.parametrize(
    "limits", [{}, {"forbidden": [("A", "C"), (None, "B"), ("C", None)]}, {"required": {"A": "B"}}]
)
def test_sums_over_all_labellings(limits):
    X, y = draw()
    free = LinearChainCRF(c2=0.1).fit(X, y)
    crf = free.set_params(**limits)  # what is allowed is also asked for at predict
    proba, paths, marginals = crf.predict_proba(X), crf.predict(X), crf.predict_marginals(X)
    for u, sequence in enumerate(X[:12]):
        found = brute(crf, sequence)
        values = np.array([value for _, value in found])
        assert paths[u] == [crf.classes_[j] for j in found[np.argmax(values)][0]]
        p = np.exp(values - logsumexp(values))
        expected = np.zeros_like(proba[u])
        for (path, _), share in zip(found, p):
            expected[np.arange(len(path)), path] += share
        np.testing.assert_allclose(proba[u], expected, atol=1e-12)
        assert marginals[u][0] == dict(zip("ABC", proba[u][0].tolist()))
        known = [label if t % 2 else None for t, label in enumerate(y[u])]
        some = [value for _, value in brute(crf, sequence, known)]
        told = logsumexp(some) - logsumexp(values) if some else -np.inf
        np.testing.assert_allclose(crf.log_prob([sequence], [known]), told, rtol=1e-10, atol=1e-12)
    assert crf.predict_single(X[0]) == paths[0]
    assert crf.predict_marginals_single(X[0]) == marginals[0]


def objective(crf, X, y, weight=None):
    """The model, its source and where it may begin."""
    items, attributes = crf._read(X, reset=True)
    crf.attributes_, crf.from_matrix_ = field._texts(attributes), False
    crf.classes_, codes = crf._known_labels(y, items)
    chain, weight = crf._chain(), np.ones(len(X)) if weight is None else weight
    each = np.repeat(weight, np.diff(items.offsets))
    states = field.observed_states(items.rows, codes, len(crf.classes_), each, 0.0, crf._setting("all_possible_states"))
    moves = field.observed_moves(codes, items.offsets, len(crf.classes_), each, 0.0, True)
    layout = Layout.of(states, moves & chain.moves)
    source = field_source(layout.arranged(items.rows), codes, weight, items.offsets)
    return FieldModel(layout, chain, crf._setting("c1"), crf._setting("c2")), source


@pytest.mark.parametrize("hidden", [0.0, 0.4])
@pytest.mark.parametrize("forbidden", [None, [("A", "C"), (None, "C")]])
def test_gradient_is_that_of_finite_differences(hidden, forbidden):
    X, y = draw(hidden=hidden, seed=3)
    if forbidden:  # sequences that are impossible are refused
        y = [[None if {"A", "C"} & {label} else label for label in labels] for labels in y]
        y[0] = ["A"] * len(y[0])
        y[1] = ["B"] + ["C"] * (len(y[1]) - 1)
    rng = np.random.default_rng(0)
    weight = rng.choice([0.5, 1.0, 2.0], len(X))
    found, source = objective(LinearChainCRF(forbidden=forbidden, c2=0.3), X, y, weight)
    place = np.where(found.layout.exists, rng.normal(size=len(found.layout.exists)), 0.0)

    def value(vector):
        params = Weights(vector)
        return source.sum(partial(found.slope, params)).loglik + found.log_prior(params)

    slope = source.sum(partial(found.slope, Weights(place))).gradient + found.prior_slope(Weights(place))[0]
    numeric = approx_fprime(place, value, 1e-6)[found.layout.exists]
    np.testing.assert_allclose(slope[found.layout.exists], numeric, rtol=1e-4, atol=1e-4)
    assert not slope[~found.layout.exists].any()


@pytest.mark.parametrize("c1", [0.0, 0.7])
@pytest.mark.parametrize("search", ["MoreThuente", "Backtracking", "StrongBacktracking"])
def test_the_maximum_is_scipys_and_never_left(c1, search):
    X, y = draw(hidden=0.1)
    settings = {"c1": c1, "c2": 0.2, "linesearch": search, "epsilon": 1e-9, "delta": 0.0, "period": 0}
    crf = LinearChainCRF(all_possible_transitions=True, **settings).fit(X, y)
    assert (np.diff(crf.trace_.objectives) >= 0).all()
    assert crf.converged_
    found, source = objective(LinearChainCRF(c1=0.0, c2=0.2), X, y)
    there = np.flatnonzero(found.layout.exists)
    n = len(there)

    def loss(halves):  # w = a − b with a, b ≥ 0, for which ‖w‖₁ is smooth
        vector = np.zeros(len(found.layout.exists))
        vector[there] = halves[:n] - halves[n:]
        stats = source.sum(partial(found.slope, Weights(vector)))
        slope = (-stats.gradient - found.prior_slope(Weights(vector))[0])[there]
        value = -stats.loglik - found.log_prior(Weights(vector)) + c1 * halves.sum()
        return value, np.concatenate([slope + c1, c1 - slope])

    best = minimize(loss, np.full(2 * n, 0.1), jac=True, bounds=[(0, None)] * (2 * n), method="L-BFGS-B",
                    options={"ftol": 1e-14, "gtol": 1e-8, "maxiter": 2000, "maxfun": 4000})  # fmt: skip
    assert abs(crf.log_likelihood_ + best.fun) < 1e-5
    if c1:
        assert 0 < len(crf.state_features_) < n - 9


def test_a_chain_of_hidden_states_says_the_same():
    rng = np.random.default_rng(0)
    hmm = CategoricalHMM(3)
    hmm.startprob_, hmm.transmat_ = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3)
    hmm.emissionprob_, hmm.n_features = rng.dirichlet(np.ones(4), 3), 4
    symbols = rng.integers(4, size=(50, 1))
    X = [[{"symbol": str(s)} | ({"first": 1} if t == 0 else {}) for t, (s,) in enumerate(symbols)]]
    crf = LinearChainCRF(all_possible_states=True, all_possible_transitions=True)
    crf.fit(X, [list(range(3)) + rng.integers(3, size=47).tolist()])
    states = {("first", k): np.log(hmm.startprob_[k]) for k in range(3)}
    states |= {(f"symbol:{s}", k): np.log(hmm.emissionprob_[k, s]) for s in range(4) for k in range(3)}
    order = {name: a for a, name in enumerate(crf.attributes_)}
    cells = [(value, order[a], k) for (a, k), value in states.items()]
    data, rows, columns = zip(*cells)
    crf.state_weights_ = csr_matrix((data, (rows, columns)), (len(order), 3))
    crf.transition_weights_ = np.log(hmm.transmat_)
    np.testing.assert_allclose(crf.predict_proba(X)[0], hmm.predict_proba(symbols), atol=1e-10)
    np.testing.assert_array_equal(crf.predict(X)[0], hmm.predict(symbols))


@pytest.fixture
def many_blocks(monkeypatch):
    monkeypatch.setattr(model, "LEAST_CELLS", 100)
    monkeypatch.setattr(model, "CHUNK", 7)


def equal(one, other, rtol=0.0):
    states = one.state_features_, other.state_features_
    assert states[0].keys() == states[1].keys()
    np.testing.assert_allclose([states[0][name] for name in states[1]], list(states[1].values()), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(one.transition_weights_, other.transition_weights_, rtol=rtol, atol=rtol)


@pytest.mark.usefixtures("many_blocks")
@pytest.mark.parametrize("c1", [0.0, 0.3])
def test_threads_do_not_matter(c1):
    X, y = draw(200, hidden=0.1)
    one, two = (LinearChainCRF(c1=c1, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.fit_.trace.objectives == two.fit_.trace.objectives
    equal(one, two)
    assert [p.tolist() for p in one.predict_proba(X)] == [p.tolist() for p in two.predict_proba(X)]


def test_blocks_do_not_matter(monkeypatch):
    X, y = draw(100, hidden=0.1)
    whole = LinearChainCRF(epsilon=1e-10, period=0).fit(X, y)
    monkeypatch.setattr(model, "LEAST_CELLS", 50)
    monkeypatch.setattr(model, "CHUNK", 3)
    cut = LinearChainCRF(epsilon=1e-10, period=0).fit(X, y)
    equal(cut, whole, rtol=1e-6)
    assert cut.predict(X) == whole.predict(X)


def test_weight_two_is_a_sequence_given_twice():
    X, y = draw()
    settings = {"epsilon": 1e-10, "period": 0}
    twice = LinearChainCRF(**settings).fit(X + X[:10], y + y[:10])
    weight = np.ones(len(X))
    weight[:10] = 2.0
    equal(LinearChainCRF(**settings).fit(X, y, sample_weight=weight), twice, rtol=1e-6)
    weight[:10] = 0.0
    equal(
        LinearChainCRF(**settings).fit(X, y, sample_weight=weight),
        LinearChainCRF(**settings).fit(X[10:], y[10:]),
        rtol=1e-6,
    )


def test_steps_without_labels():
    X, y = draw(150, longest=8, hidden=0.6, seed=1)
    truth = draw(150, longest=8, seed=1)[1]
    crf = LinearChainCRF(c2=0.1).fit(X, y)
    likelihood = crf.log_prob(X, y).sum() - 0.1 * (
        crf.state_weights_.power(2).sum() + (crf.transition_weights_**2).sum()
    )
    np.testing.assert_allclose(crf.log_likelihood_, likelihood, rtol=1e-10)
    test, labels = draw(100, longest=8, seed=2)
    assert crf.score(test, labels) > 0.97 * LinearChainCRF(c2=0.1).fit(X, truth).score(test, labels)
    nothing = [[None] * len(x) for x in X[:20]]
    more = LinearChainCRF(c2=0.1).fit(X + X[:20], y + nothing)  # labels of which none is known tell nothing
    equal(more, crf, rtol=1e-8)
    numbers = [[-1 if label is None else ord(label) for label in each] for each in y]
    np.testing.assert_allclose(LinearChainCRF(c2=0.1).fit(X, numbers).log_likelihood_, crf.log_likelihood_, rtol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_matrices_are_the_same_as_dictionaries(kind):
    rng = np.random.default_rng(0)
    lengths = [4, 1, 6, 9]
    rows = rng.normal(size=(20, 3)) * (rng.random((20, 3)) < 0.7)
    labels = rng.integers(3, size=20)
    cuts = np.cumsum(lengths)[:-1]
    named = [[{f"x{j}": row[j] for j in np.flatnonzero(row)} for row in part] for part in np.split(rows, cuts)]
    expected = LinearChainCRF(epsilon=1e-9, period=0).fit(named, [part.tolist() for part in np.split(labels, cuts)])
    crf = LinearChainCRF(epsilon=1e-9, period=0).fit(kind(rows), labels, lengths=lengths)
    np.testing.assert_array_equal(crf.predict(kind(rows), lengths), np.concatenate(expected.predict(named)))
    listed = LinearChainCRF(epsilon=1e-9, period=0).fit([kind(p) for p in np.split(rows, cuts)], np.split(labels, cuts))
    assert listed.state_features_ == crf.state_features_
    for name, w in expected.state_features_.items():
        np.testing.assert_allclose(crf.state_features_[name], w, rtol=1e-6, atol=1e-9)
    assert [part.shape for part in listed.predict_proba([rows[:4], rows[4:]])] == [(4, 3), (16, 3)]
    np.testing.assert_allclose(
        crf.score(kind(rows), labels, lengths=lengths), listed.score(np.split(rows, cuts), np.split(labels, cuts))
    )


# Other ways to learn


@pytest.mark.parametrize("algorithm", ["l2sgd", "ap", "pa", "arow"])
def test_other_algorithms_learn(algorithm):
    X, y = draw(200)
    test, labels = draw(100, seed=5)
    best = LinearChainCRF().fit(X, y)
    crf = LinearChainCRF(algorithm, max_iterations=40, random_state=0, n_jobs=1).fit(X, y)
    assert crf.score(test, labels) > best.score(test, labels) - 0.1
    again = LinearChainCRF(algorithm, max_iterations=40, random_state=0, n_jobs=2).fit(X, y)
    equal(crf, again)
    assert crf.n_iter_ == len(crf.trace_) <= 40
    part = [[None if t == 1 else label for t, label in enumerate(each)] for each in y]
    assert LinearChainCRF(algorithm, max_iterations=40, random_state=0).fit(X, part).score(test, labels) > 0.6


def test_stochastic_gradients_come_near_the_maximum():
    X, y = draw(200)
    best = LinearChainCRF().fit(X, y)
    crf = LinearChainCRF("l2sgd", random_state=0).fit(X, y)
    assert crf.fit_.reason.code == "period"
    features = crf.state_weights_.power(2).sum() + (crf.transition_weights_**2).sum()
    assert abs(crf.log_prob(X, y).sum() - features - best.log_likelihood_) < 1e-2 * abs(best.log_likelihood_)


# Limits on what follows what


def test_schemes():
    tags = ["B-X", "B-Y", "I-X", "I-Y", "O"]
    assert set(scheme_pairs(tags)) == {
        ("O", "I-X"), ("O", "I-Y"), (None, "I-X"), (None, "I-Y"), ("B-X", "I-Y"), ("B-Y", "I-X"), ("I-X", "I-Y"), ("I-Y", "I-X"),
    }  # fmt: skip
    first = scheme_pairs(tags, "IOB1")
    assert ("O", "B-X") in first
    assert (None, "I-X") not in first
    assert ("I-X", "B-X") not in first
    assert ("I-Y", "B-X") in first
    for letters, scheme in (("BIESO", "BIOES"), ("BILUO", "BILOU")):
        names = [each if each == "O" else f"{each}-X" for each in letters]
        b, i, e, s, o = names
        allowed = (
            {(x, y) for x in [*names, None] for y in [*names, None]} - set(scheme_pairs(names, scheme)) - {(None, None)}
        )
        assert allowed == {
            (b, i), (b, e), (i, i), (i, e), *((x, y) for x in (e, s, o, None) for y in (b, s, o)),
            (e, None), (s, None), (o, None),
        }  # fmt: skip
    with pytest.raises(ValueError, match=r"the label 'X' is no tag of scheme='BIO'; tags are O, B-…, I-…\."):
        scheme_pairs(["X"])


def test_what_is_not_allowed_is_not_said():
    rng = np.random.default_rng(0)
    tags = [["O", "B-X", "I-X", "O", "B-Y", "I-Y"]] * 30
    X = [[[f"w{rng.integers(4)}", "bias"] for _ in range(6)] for _ in tags]
    crf = LinearChainCRF(scheme="BIO", all_possible_transitions=True, c2=0.01).fit(X, tags)
    banned = set(scheme_pairs(crf.classes_))
    new = [[[f"w{rng.integers(4)}"] for _ in range(12)] for _ in range(40)]
    for labels in crf.predict(new):
        assert not banned & set(zip([None, *labels], [*labels, None]))
    assert not banned & set(crf.transition_features_)
    follows = LinearChainCRF(required={"B-X": ["I-X"]}, c2=0.01).fit(X, tags)
    for labels in follows.predict(new):
        assert all(after == "I-X" for before, after in zip(labels, [*labels[1:], None]) if before == "B-X")


# Files, copies, searches


def test_saved_pickled_and_cloned(fitted, tmp_path):
    X, _ = draw()
    tacit.save(fitted, tmp_path / "crf.tacit")
    for again in (tacit.load(tmp_path / "crf.tacit"), pickle.loads(pickle.dumps(fitted))):
        equal(again, fitted)
        assert [p.tolist() for p in again.predict_proba(X)] == [p.tolist() for p in fitted.predict_proba(X)]
        assert again.fit_.reason == fitted.fit_.reason
    fresh = clone(fitted)
    assert not hasattr(fresh, "classes_")
    equal(fresh.fit(*draw()), fitted)


def test_searches_and_cross_validation():
    X, y = draw(60)
    search = GridSearchCV(LinearChainCRF(), {"c2": [0.01, 1.0], "algorithm": ["lbfgs", "pa"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    assert len(cross_val_score(LinearChainCRF(), X, y, cv=3)) == 3


def test_warm_start_goes_on(fitted):
    X, y = draw()
    warm = LinearChainCRF(c2=0.1, warm_start=True, epsilon=1e-6, period=0).fit(X, y)
    steps = warm.n_iter_
    warm.fit(X, y)
    assert warm.n_iter_ < 0.2 * steps
    warm.fit([*X, [{"sign": "new"}, {"sign": "x"}]], [*y, ["D", "A"]])  # more attributes and labels
    assert ("sign:new", "D") in warm.state_features_
    crf = LinearChainCRF(c2=0.1, warm_start=True, c1=1.0).fit(X[:20], y[:20])
    assert crf.fit(X, y).score(X, y) > 0.6


def test_progress_and_reasons(capsys):
    X, y = draw()
    seen = []
    LinearChainCRF(callback=seen.append).fit(X, y)
    assert [p.step for p in seen[:3]] == [1, 2, 3]
    assert seen[-1].done
    crf = LinearChainCRF(verbose=True, delta=0.05).fit(X, y, X[:5], y[:5])
    assert crf.fit_.reason.code == "period"
    assert str(crf.fit_.reason) == "10 steps improved the objective by less than delta=0.05 of itself"
    assert 0 < crf.dev_score_ <= 1
    out = capsys.readouterr().out
    assert out.startswith("Iter 1   time=")
    assert f"Ended: {crf.fit_.reason}" in out

    def stop(progress):
        if progress.step == 3:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match=r"interrupted by the user after 3 steps; what was learned so far is kept\."):
        half = LinearChainCRF(callback=stop).fit(X, y)
    assert half.fit_.reason.code == "interrupted"
    assert half.score(X, y) > 0.4
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=2 steps were taken before the fit settled; increase max_iterations"
    ):
        LinearChainCRF(max_iterations=2).fit(X, y)


def test_what_was_learned(fitted):
    table = fitted.weights_table(3)
    assert set(table["label"]) == set("ABC")
    assert table["kind"].count("label before") >= 1
    rows = [row for row in table if row["label"] == "A"]
    assert np.abs([row["weight"] for row in rows]).tolist() == sorted(np.abs([row["weight"] for row in rows]))[::-1]
    told = fitted.state_features_ | {("before", *pair): w for pair, w in fitted.transition_features_.items()}
    for row in table:
        name = ("before", row["what"], row["label"]) if row["kind"] == "label before" else (row["what"], row["label"])
        assert told[name] == row["weight"]
    display = TransitionWeightsDisplay.from_estimator(fitted)
    assert display.image_.get_array().shape == (3, 3)
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["A", "B", "C"]


# Bad input


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([], [], r"X holds no sequence; give one at least\."),
        ([[["a"]], []], [["A"], []], r"sequence 1 is empty; every sequence has a step at least\."),
        ([[["a"]]], [["A", "B"]], r"sequence 0 has 1 steps and 2 labels; give one label for each step"),
        ([[["a"]], [["b"]]], [["A"]], r"y has 1 sequences, but X has 2; give labels of every sequence\."),
        ([[["a"]]], [[None]], r"none of the 1 steps has a label; give one at least\."),
        ([[[], []]], [["A", "B"]], r"none of the 2 steps has an attribute; give one at least\."),
        ([[{"a": 1}, {"a": float("nan")}]], [["A", "B"]], r"step 1 of sequence 0 has 'a' = nan; values must be finite"),
        ([[["b"]], [{"a": 1}, {"a": float("-inf")}]], [["A"], ["A", "B"]], r"step 1 of sequence 1 has 'a' = -inf"),
        ({"a": 1}, [["A"]], r"X is \{'a': 1\}, which is one step; give a list of sequences"),
        ([{"a": 1}], [["A"]], r"X begins with \{'a': 1\}, which is one step; give a list of sequences"),
        ([[["a"]]], None, r"requires y to be passed, but the target y is None; give a label for each step"),
        (np.ones((3, 2)), [0, 1], r"y has 2 labels, but X has 3 steps; give one label for each step\."),
        (np.array([[1.0], [np.nan]]), [0, 1], r"Input X contains NaN \(row 1, column 0\), and steps must have finite values"),
        (np.array([[1.0], [np.inf]]), [0, 1], r"Input X contains infinity"),
    ],
)  # fmt: skip
def test_bad_sequences(X, y, message):
    with pytest.raises(ValueError, match=message):
        LinearChainCRF().fit(X, y)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (["ab"], r"X begins with 'ab'|sequence 0 is a str"),
        ([[["a"]], "ab"], r"sequence 1 is a str; give a list of steps\."),
        ([[["a"]], [7]], r"step 0 of sequence 1 is 7; give a dictionary of attributes, or a list of their names\."),
        ([[["a"], [3]]], r"step 1 of sequence 0 has the attribute 3; names of attributes must be texts\."),
        (
            [[["a"], [{}]]],
            r"step 1 of sequence 0 has an attribute that is no name: unhashable type: 'dict'; give texts\.",
        ),
        ([[{"a": None}]], r"step 0 of sequence 0 has an attribute that cannot be read: 'a' is None; give texts"),
        ([[{7: 1.0}]], r"step 0 of sequence 0 has an attribute that cannot be read: 7 is no text"),
    ],
)
def test_steps_that_cannot_be_read(X, message):
    with pytest.raises((TypeError, ValueError), match=message):
        LinearChainCRF().fit(X, [["A"] * 2] * len(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "newton"}, r"algorithm='newton' is unknown; use one of 'lbfgs', 'l2sgd', 'ap', 'pa', 'arow'\."),
        ({"c2": -1.0}, r"c2=-1\.0 is not a number of at least 0"),
        ({"algorithm": "ap", "c1": 0.5}, r"c1=0\.5 is for algorithm='lbfgs', not 'ap'; use that or c1=0\."),
        ({"algorithm": "l2sgd", "c2": 0.0}, r"c2=0 leaves algorithm='l2sgd' without a length of its steps"),
        ({"scheme": "BOI"}, r"scheme='BOI' is unknown"),
        ({"num_memories": 0}, r"num_memories=0 is not a whole number of at least 1\."),
        ({"forbidden": ["AB"]}, r"forbidden holds 'AB'; give pairs of labels, one before the other\."),
        ({"forbidden": "AB"}, r"forbidden='AB' is no list; give pairs of labels, one before the other\."),
        ({"required": ["A"]}, r"required=\['A'\] is no dictionary; give what must follow, by label\."),
        (
            {"required": {"A": [["B"]]}},
            r"required\['A'\]=\[\['B'\]\] is no list of labels; give those that may follow\.",
        ),
        ({"averaging": "yes"}, r"averaging='yes' is neither True nor False\."),
        (
            {"forbidden": [("A", "B")]},
            r"step 1 of sequence 0 has the label 'B' after 'A', which scheme, forbidden and required rule",
        ),
        ({"forbidden": [(None, "A")]}, r"step 0 of sequence 0 has the label 'A' at the start"),
        ({"required": {"B": "A"}}, r"step 1 of sequence 0 has the label 'B' at the end, which scheme, forbidden"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        LinearChainCRF(**settings).fit([[["a"], ["b"]]], [["A", "B"]])


def test_labels_that_nothing_allows_between_known_ones():
    with pytest.raises(
        ValueError, match=r"sequence 1 has no labels: scheme, forbidden and required rule out every labelling"
    ):
        LinearChainCRF(forbidden=[("A", "A"), ("A", "B"), ("B", "A")]).fit(
            [[["a"]], [["a"], ["b"]]], [["B"], ["A", None]]
        )


def test_questions_without_an_answer(fitted):
    crf = pickle.loads(pickle.dumps(fitted)).set_params(forbidden=[(label, None) for label in LABELS])
    told = r"sequence 1 has no labels: scheme, forbidden and required rule out every labelling of its 2 steps; allow more\."
    for ask in (crf.predict, crf.predict_proba, crf.predict_marginals):
        with pytest.raises(ValueError, match=told):
            ask([[], [["sign:x"]] * 2])


def test_odd_questions(fitted):
    X, y = draw(5)
    assert fitted.predict([]) == []
    assert fitted.predict([[], X[0]]) == [[], fitted.predict(X[:1])[0]]
    assert fitted.predict([[{"never": "seen"}]])[0][0] in LABELS
    assert fitted.predict([[["sign:x"]]]) == fitted.predict([[{"sign": "x"}]])
    with pytest.raises(ValueError, match=r"step 1 of sequence 0 has the label 'Q', which did not occur at fit\."):
        fitted.log_prob([[["sign:x"]] * 2], [["A", "Q"]])
    with pytest.raises(ValueError, match=r"X is a matrix, but attributes by name were given at fit"):
        fitted.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"X is a list of sequences, whose lengths are its own; leave lengths out\."):
        fitted.predict(X, lengths=[1])
    with pytest.raises(ValueError, match=r"X_dev and y_dev go together; give both or neither\."):
        LinearChainCRF().fit(X, y, X)
    with pytest.raises(
        ValueError, match=r"all sequences with known labels have the weight 0; give one of them another\."
    ):
        LinearChainCRF().fit([[["a"]], [["b"]]], [[None], ["B"]], sample_weight=[1, 0])
    matrix = LinearChainCRF().fit(np.ones((3, 2)), [0, 1, 0])
    with pytest.raises(
        ValueError, match=r"X has attributes by name, but columns of a matrix were given at fit; give a matrix\."
    ):
        matrix.predict(X)
    with pytest.raises(ValueError, match=r"lengths add up to 5, but X has 3 rows"):
        LinearChainCRF().fit(np.ones((3, 2)), [0, 1, 0], lengths=[2, 3])
    with pytest.raises(
        ValueError, match=r"sample_weight has shape \(2,\); give one number for each of the 5 sequences\."
    ):
        LinearChainCRF().fit(X, y, sample_weight=[1, 2])
    with pytest.raises(ValueError, match=r"sample_weight holds 1 and 2 in one sequence; a sequence has one weight\."):
        LinearChainCRF().fit(np.ones((3, 2)), [0, 1, 0], sample_weight=[1.0, 2.0, 1.0])


def test_one_step_and_one_label():
    crf = LinearChainCRF().fit([[["a"]], [["b"]]], [["A"], ["B"]])
    assert crf.predict([[["b"]], [["a"]]]) == [["B"], ["A"]]
    assert not crf.transition_features_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LinearChainCRF().fit([[["a"], ["b"]]], [["A", "A"]]).predict([[["b"]] * 3]) == [["A"] * 3]


def test_large_weights_and_long_sequences(fitted):
    X = [[{"sign": "xyz"[t % 3]} for t in range(20_000)]]
    crf = pickle.loads(pickle.dumps(fitted))
    crf.state_weights_ = 200.0 * crf.state_weights_
    crf.transition_weights_ = 200.0 * crf.transition_weights_
    proba = crf.predict_proba(X)[0]
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.isfinite(crf.log_prob(X, [["A"] * 20_000])).all()


def test_chains_tell_where_labels_are_refused():
    chain = Chain.of(["A", "B"], None, [("A", "A"), ("B", None)], None)
    offsets = np.array([0, 2, 4])
    assert chain.refused(np.array([0, 1, 0, 0]), offsets) == (1, 1, -1)
    assert chain.refused(np.array([1, 0, 0, 0]), offsets) == (3, 0, 0)
    assert chain.refused(np.array([1, -1, -1, 0]), offsets) is None
