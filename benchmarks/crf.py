"""Conditional random fields against CRFsuite (through python-crfsuite): phrases of CoNLL-2000, by attributes of a window.

Jobs fit until they reach the objective that CRFsuite has after STEPS steps, reading of attributes included, and tag the test
sentences. Besides, ``python -m benchmarks.crf`` fits both to the end and compares F1 of phrases. Needs TACIT_DATA.
"""

import os
import tempfile
import time
from functools import cache, partial
from pathlib import Path

import numpy as np

from .harness import Job

STEPS = 50
WORDS, TAGS = "w", "pos"
PAIRS = {WORDS: [(-1, 0), (0, 1)], TAGS: [(-2, -1), (-1, 0), (0, 1), (1, 2)]}
TRIPLES = [(-2, -1, 0), (-1, 0, 1), (0, 1, 2)]


def sentences(name):
    """Sentences of a file of the shared task: words, parts of speech, labels of phrases."""
    text = (Path(os.environ["TACIT_DATA"]) / "conll2000" / name).read_text()
    return [[tuple(line.split()) for line in part.splitlines()] for part in text.strip().split("\n\n")]


def attributes(sentence):
    """Names of attributes of every word: words and tags of a window of five, pairs and triples of neighbours."""
    columns = {WORDS: [word for word, *_ in sentence], TAGS: [tag for _, tag, *_ in sentence]}
    return [_attributes(columns, t, len(sentence)) for t in range(len(sentence))]


def _attributes(columns, t, n):
    found = ["__BOS__"] * (t == 0) + ["__EOS__"] * (t == n - 1)
    for name, column in columns.items():
        groups = [(i,) for i in range(-2, 3)] + PAIRS[name] + (TRIPLES if name == TAGS else [])
        for group in groups:
            if t + group[0] >= 0 and t + group[-1] < n:
                places = "|".join(f"{name}[{i}]" for i in group)
                found.append(f"{places}={'|'.join(column[t + i] for i in group)}")
    return found


@cache
def task():
    """Attributes and labels of both files."""
    found = []
    for name in ("train.txt", "test.txt"):
        given = sentences(name)
        found += [[attributes(each) for each in given], [[label for *_, label in each] for each in given]]
    return found


def phrases(labels):
    """Phrases of a sequence of BIO tags: type, first step, step after the last."""
    found, kind, first = set(), None, 0
    for t, label in enumerate([*labels, "O"]):
        letter, _, own = label.partition("-")
        if kind is not None and (letter in "BO" or own != kind):
            found.add((kind, first, t))
            kind = None
        if kind is None and letter != "O":
            kind, first = own, t
    return found


def f1(truth, found):
    """F1 of phrases, in percent."""
    pairs = [(phrases(a), phrases(b)) for a, b in zip(truth, found)]
    right, n_true, n_found = (sum(map(len, each)) for each in zip(*((a & b, a, b) for a, b in pairs)))
    return 200.0 * right / (n_true + n_found)


def trainer(data, **settings):
    """CRFsuite, when it has learned."""
    import pycrfsuite

    made = pycrfsuite.Trainer(verbose=False, algorithm="lbfgs", params={"c1": 0.0, "c2": 1.0} | settings)
    for x, y in zip(data[0], data[1]):
        made.append(x, y)
    path = tempfile.mktemp(suffix=".crfsuite")
    made.train(path)
    return made.logparser.iterations, path


class Reached:
    """A callback that ends a fit when the loss is no more than CRFsuite's."""

    def __init__(self, loss):
        self.loss = loss

    def __call__(self, progress):
        if not progress.done and -progress.objective * progress.weight <= self.loss:
            raise KeyboardInterrupt


def make(**settings):
    data = task()
    iterations, path = trainer(data, max_iterations=STEPS, **settings)
    return Data([*data, iterations[-1]["loss"], path])


class Data(list):
    """A list whose slices are few sequences, for the harness."""

    def __getitem__(self, key):
        if isinstance(key, slice):
            return Data([part[:20] if isinstance(part, list) else part for part in self])
        return super().__getitem__(key)


def _ours(data, **settings):
    import warnings

    from tacit.sequence import LinearChainCRF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        crf = LinearChainCRF(callback=Reached(data[4]), delta=-1.0, epsilon=0.0, max_iterations=400, **settings)
        crf.fit(data[0], data[1])
    return -crf.log_likelihood_, f"{crf.n_iter_} steps"


def _theirs(data, **settings):
    iterations, _ = trainer(data, max_iterations=STEPS, **settings)
    return iterations[-1]["loss"], f"{len(iterations)} steps"


def _as_good(ours, theirs):
    assert ours[0] <= theirs[0], f"losses {ours[0]} and {theirs[0]}"
    return f"loss {ours[0]:.1f} after {ours[1]}, {theirs[0]:.1f} after {theirs[1]}"


def _same_model(data):
    """CRFsuite's weights as ours."""
    import pycrfsuite
    from scipy.sparse import csr_matrix

    from tacit.sequence import LinearChainCRF

    tagger = pycrfsuite.Tagger()
    tagger.open(data[5])
    told, crf = tagger.info(), LinearChainCRF()
    names = {name: number for number, name in enumerate(told.attributes)}
    crf.classes_ = np.array(sorted(told.labels), dtype=object)
    labels = {label: number for number, label in enumerate(crf.classes_)}
    crf.attributes_, crf.from_matrix_, crf.n_features_in_ = np.array(list(names), dtype=object), False, len(names)
    cells = [(w, names[a], labels[j]) for (a, j), w in told.state_features.items()]
    w, rows, columns = zip(*cells)
    crf.state_weights_ = csr_matrix((w, (rows, columns)), (len(names), len(labels)))
    crf.state_weights_.sort_indices()
    crf.transition_weights_ = np.zeros((len(labels), len(labels)))
    for (i, j), w in told.transitions.items():
        crf.transition_weights_[labels[i], labels[j]] = w
    return crf, tagger


def _tagging():
    data = make()
    return [*data, *_same_model(data)]


def _tag(data):
    return data[6].predict(data[2])


def _tag_theirs(data):
    return [data[7].tag(x) for x in data[2]]


def _same_labels(ours, theirs):
    share = np.mean([a == b for x, y in zip(ours, theirs) for a, b in zip(x, y)])
    assert share > 0.9999, f"{share} of the labels"
    return f"labels equal in {share:.4%} of the steps"


CRFSUITE = "CRFsuite (python-crfsuite)"
JOBS = [
    Job(f"CRF, CoNLL-2000, c2=1, to the loss of {STEPS} steps of CRFsuite", CRFSUITE, make, _ours, _theirs, _as_good, 2.0, 3),
    Job(
        f"CRF, CoNLL-2000, c1=0.5 c2=0.1 (orthant-wise), to the loss of {STEPS} steps of CRFsuite", CRFSUITE,
        partial(make, c1=0.5, c2=0.1), partial(_ours, c1=0.5, c2=0.1), partial(_theirs, c1=0.5, c2=0.1), _as_good, 2.0, 3,
    ),
    Job(
        "CRF, tagging of the 2,012 test sentences with the same weights", CRFSUITE, _tagging, _tag, _tag_theirs, _same_labels,
        1.0, 3,
    ),
]  # fmt: skip


def to_the_end(algorithm="lbfgs", **settings):
    """Both with their defaults, to the end: loss, seconds and F1."""
    import pycrfsuite

    from tacit.sequence import LinearChainCRF

    X, y, test, truth = task()
    LinearChainCRF(algorithm, **settings).fit(X[:50], y[:50])
    begin = time.perf_counter()
    crf = LinearChainCRF(algorithm, random_state=0, **settings).fit(X, y)
    middle = time.perf_counter()
    made = pycrfsuite.Trainer(verbose=False, algorithm=algorithm, params=settings)
    for each, labels in zip(X, y):
        made.append(each, labels)
    path = tempfile.mktemp(suffix=".crfsuite")
    made.train(path)
    end = time.perf_counter()
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    ours, theirs = f1(truth, crf.predict(test)), f1(truth, [tagger.tag(each) for each in test])
    iterations = made.logparser.iterations
    print(f"{algorithm} {settings}: F1 {ours:.2f} ours, {theirs:.2f} CRFsuite; {crf.fit_.reason}")
    own = f"loss {-crf.log_likelihood_:.1f} in {crf.n_iter_} steps, {middle - begin:.1f} s"
    other = f"{iterations[-1]['loss']:.1f} in {len(iterations)} steps, {end - middle:.1f} s" if iterations else ""
    print(f"  {own}; CRFsuite {other}: ratio {(end - middle) / (middle - begin):.2f}")


if __name__ == "__main__":
    import sys

    chosen = {
        "lbfgs": {"c2": 1.0}, "l1": {"c1": 0.5, "c2": 0.1}, "ap": {"max_iterations": 20},
        "l2sgd": {"c2": 1.0, "max_iterations": 30}, "pa": {"max_iterations": 20}, "arow": {"max_iterations": 10},
    }  # fmt: skip
    for name in sys.argv[1:] or chosen:
        to_the_end("lbfgs" if name == "l1" else name, **chosen[name])
