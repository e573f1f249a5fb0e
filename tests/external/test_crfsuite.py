"""CRFsuite (python-crfsuite) and sklearn-crfsuite: the same objective, weights, answers and reading of attributes.

Neither ships its tests in a wheel. Those of sklearn-crfsuite run against `CRF` where the folder of its unpacked source archive is
named by SKLEARN_CRFSUITE_SOURCE; all of them pass. Deliberate differences: labels are sorted, model files are tacit's,
`training_log_` is `fit_`, features whose values sum to less than 0 are kept, and sequences without steps are refused at fit.
"""

import os
import types
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import tacit.sequence
from tacit.sequence import CRF, LinearChainCRF
from tacit.sequence.crf.reading import read_items
from tests.sequence.test_crf import draw

pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")

SOURCE = os.environ.get("SKLEARN_CRFSUITE_SOURCE")


def trained(X, y, path, algorithm="lbfgs", weights=None, **settings):
    """CRFsuite's trainer when it has learned, and the tagger of what it learned."""
    trainer = pycrfsuite.Trainer(verbose=False, algorithm=algorithm, params=settings)
    for sequence, labels in zip(X, y):
        trainer.append(sequence, labels)
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return trainer.logparser, tagger


def with_weights_of(tagger):
    """CRFsuite's weights as ours."""
    told, crf = tagger.info(), LinearChainCRF()
    crf.classes_, crf.from_matrix_ = np.array(sorted(told.labels), dtype=object), False
    crf.attributes_ = np.array(list(told.attributes), dtype=object)
    attribute, label = ({name: k for k, name in enumerate(names)} for names in (crf.attributes_, crf.classes_))
    cells = [(w, attribute[a], label[j]) for (a, j), w in told.state_features.items()]
    data, rows, columns = zip(*cells)
    crf.state_weights_ = csr_matrix((data, (rows, columns)), (len(attribute), len(label)))
    crf.transition_weights_ = np.zeros((len(label), len(label)))
    for (i, j), w in told.transitions.items():
        crf.transition_weights_[label[i], label[j]] = w
    crf.fit_ = None
    return crf


def positive(n=60, seed=0):
    """Sequences whose values are not negative."""
    X, y = draw(n, seed=seed)
    return [[item | {"size": abs(item["size"])} for item in sequence] for sequence in X], y


def size(crf):
    return crf.state_weights_.power(2).sum() + (crf.transition_weights_**2).sum()


@pytest.mark.parametrize("steps", [1, 5])
def test_the_objective_at_the_same_weights(tmp_path, steps):
    X, y = positive()
    log, tagger = trained(X, y, tmp_path / "m", c2=0.3, max_iterations=steps)
    crf = with_weights_of(tagger)
    loss = 0.3 * size(crf) - crf.log_prob(X, y).sum()
    np.testing.assert_allclose(loss, log.iterations[-1]["loss"], rtol=1e-7)


def test_answers_with_the_same_weights(tmp_path):
    X, y = positive()
    _, tagger = trained(X, y, tmp_path / "m", c2=0.01)
    crf, test = with_weights_of(tagger), positive(20, seed=3)[0]
    for sequence, labels, proba in zip(test, crf.predict(test), crf.predict_proba(test)):
        assert labels == tagger.tag(sequence)
        tagger.set(sequence)
        expected = [[tagger.marginal(label, t) for label in crf.classes_] for t in range(len(sequence))]
        np.testing.assert_allclose(proba, expected, rtol=1e-5)  # its exp is good to some seven digits
        np.testing.assert_allclose(np.exp(crf.log_prob([sequence], [labels])), tagger.probability(labels), rtol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {"c2": 1.0},
        {"c2": 0.1, "all_possible_states": True, "all_possible_transitions": True},
        {"c2": 0.1, "min_freq": 3},
        {"c1": 1.0, "c2": 0.05},
        {"c1": 0.1, "c2": 0.0, "max_iterations": 100},
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_maximum_and_the_features(tmp_path, settings):
    names = {"all_possible_states": "feature.possible_states", "all_possible_transitions": "feature.possible_transitions",
             "min_freq": "feature.minfreq"}  # fmt: skip
    X, y = positive()
    log, tagger = trained(X, y, tmp_path / "m", **{names.get(k, k): v for k, v in settings.items()})
    crf = LinearChainCRF(**settings).fit(X, y)
    ours, theirs = -crf.log_likelihood_, log.iterations[-1]["loss"]
    assert ours < theirs + 2e-4 * abs(theirs)
    if not settings.get("c1"):
        assert len(crf.state_features_) + len(crf.transition_features_) == log.featgen_num_features
    assert abs(ours - theirs) < 1e-2 * abs(theirs)
    agree = [a == b for x, labels in zip(X, crf.predict(X)) for a, b in zip(tagger.tag(x), labels)]
    assert np.mean(agree) > 0.97


RULES = [
    ("ap", {"max_iterations": 7}, {}),
    ("pa", {"max_iterations": 7}, {}),
    ("pa", {"max_iterations": 7, "type": 0}, {"pa_type": 0}),
    ("pa", {"max_iterations": 7, "type": 2, "c": 0.3, "error_sensitive": 0},
     {"pa_type": 2, "c": 0.3, "error_sensitive": False}),
    ("pa", {"max_iterations": 7, "averaging": False}, {"averaging": False}),
    ("arow", {"max_iterations": 3, "variance": 0.7, "gamma": 2.0}, {"variance": 0.7, "gamma": 2.0}),
]  # fmt: skip


@pytest.mark.parametrize(("algorithm", "theirs", "ours"), RULES)
def test_the_same_updates(tmp_path, algorithm, theirs, ours):
    X, y = positive(12, seed=2)
    X, y = (
        [[item for part in X for item in part]],
        [[label for part in y for label in part]],
    )  # of one sequence there is only one order
    _, tagger = trained(X, y, tmp_path / "m", algorithm, **theirs)
    crf = LinearChainCRF(algorithm, max_iterations=theirs["max_iterations"], **ours).fit(X, y)
    told = tagger.info()
    assert crf.state_features_.keys() == told.state_features.keys()
    for mine, other in ((crf.state_features_, told.state_features), (crf.transition_features_, told.transitions)):
        np.testing.assert_allclose([mine.get(name, 0.0) for name in other], list(other.values()), rtol=1e-5, atol=1e-6)


def test_stochastic_gradients_end_as_well(tmp_path):
    X, y = positive(200)
    _, tagger = trained(X, y, tmp_path / "m", "l2sgd", c2=1.0)
    theirs = with_weights_of(tagger)
    crf = LinearChainCRF("l2sgd", c2=1.0, random_state=0).fit(X, y)
    ours, other = (size(each) - each.log_prob(X, y).sum() for each in (crf, theirs))
    assert ours < other + 5e-3 * abs(other)


def test_attributes_are_read_alike():
    X = [
        [["foo", "bar"], ["bar", "baz"]],
        [{"foo": True, "bar": {"foo": -1, "baz": False}}],
        [{"foo": "привет", "ключ": 1.0, "привет": "мир".encode()}],
        [{"foo": {"bar": "baz", "spam": 0.5, "egg": ["x", "y"], "ham": {"x": -0.5}}}, {"foo": {"ham": {"x", "y"}}}],
    ]
    items, numbers = read_items(X)
    names, row = list(numbers), 0
    for sequence in X:
        for expected in pycrfsuite.ItemSequence(sequence).items():
            found = items.rows[row]
            assert {names[a]: x for a, x in zip(found.indices, found.data)} == expected
            row += 1
    held = [pycrfsuite.ItemSequence(sequence) for sequence in X]
    assert (read_items(held)[0].rows != read_items([each.items() for each in held])[0].rows).nnz == 0


def test_a_replaced_import_is_enough(tmp_path):
    X, y = positive(20)
    crf = CRF("lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    assert crf.tagger_ is crf.classes_ is crf.size_ is crf.state_features_ is None
    crf.fit(X, y)
    assert crf.predict(X).dtype == object
    assert crf.predict(X).tolist() == [crf.tagger_.tag(x) for x in X]
    tagger = crf.tagger_
    tagger.set(X[0])
    np.testing.assert_allclose(tagger.marginal("A", 0), crf.predict_marginals(X)[0][0]["A"])
    np.testing.assert_allclose(tagger.probability(y[0]), np.exp(crf.log_prob(X[:1], y[:1])[0]))
    assert crf.size_ > 1000
    named = CRF(model_filename=str(tmp_path / "crf.tacit")).fit(X, y)
    assert CRF(model_filename=str(tmp_path / "crf.tacit")).score(X, y) == named.score(X, y)
    tacit.save(named, tmp_path / "again.tacit")
    assert tacit.load(tmp_path / "again.tacit").predict(X).tolist() == named.predict(X).tolist()
    with pytest.raises(ValueError, match=r"trainer_cls=1 is CRFsuite's; leave it out, and give a callback instead\."):
        CRF(trainer_cls=1).fit(X, y)
    with pytest.raises(AttributeError, match=r"'CRF' object has no attribute 'nothing'"):
        _ = crf.nothing


if SOURCE:
    borrowed = types.ModuleType("borrowed_sklearn_crfsuite")
    for name in ("conftest", "test_crf"):
        text = (Path(SOURCE) / "tests" / f"{name}.py").read_text(encoding="utf-8")
        exec(text.replace("from sklearn_crfsuite import CRF", "from tacit.sequence import CRF"), borrowed.__dict__)
    globals().update({k: v for k, v in vars(borrowed).items() if k.startswith("test_") or k in ("xseq", "yseq")})
else:

    @pytest.mark.skip(reason="SKLEARN_CRFSUITE_SOURCE names no source archive of sklearn-crfsuite")
    def test_of_sklearn_crfsuite():
        """Its own tests."""


@pytest.mark.full
@pytest.mark.parametrize("settings", [{"c2": 1.0}, {"c1": 0.5, "c2": 0.1}])
def test_phrases_of_conll(tmp_path, settings):
    """F1 of phrases is within 0.1 of CRFsuite's, by the attributes of the benchmark."""
    folder = Path(os.environ.get("TACIT_DATA", "")) / "conll2000"
    if not folder.exists():
        pytest.skip(f"there is no {folder}; TACIT_DATA names no folder with conll2000")
    from benchmarks.crf import f1, task

    X, y, test, truth = task()
    _, tagger = trained(X[:2000], y[:2000], tmp_path / "m", **settings)
    crf = LinearChainCRF(**settings).fit(X[:2000], y[:2000])
    assert f1(truth, crf.predict(test)) > f1(truth, [tagger.tag(x) for x in test]) - 0.1
