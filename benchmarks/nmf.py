"""Non-negative factorisation against scikit-learn, to an equal or lower loss.

Every side runs by its defaults but for what a job names. Where a rival needs fixed passes, ours runs until its loss is as low.
"""

import argparse
import os
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_linnerud, load_wine
from sklearn.decomposition import NMF as Rival
from sklearn.exceptions import ConvergenceWarning

from tacit.topics import NMF

from .harness import Job


def dense(n=5000, d=2000, k=20):
    """Sums of sparse parts, with noise."""
    rng = np.random.default_rng(0)
    W, H = rng.gamma(0.5, size=(n, k)), rng.gamma(0.5, size=(k, d)) * (rng.random((k, d)) < 0.5)
    return W @ H + 0.5 * rng.random((n, d))


def counts(n=20_000, d=10_000, k=20, words=100):
    """Counts of words of documents of several topics, 1 % of them not zero."""
    rng = np.random.default_rng(0)
    topics = np.cumsum(rng.dirichlet(np.full(d, 0.05), size=k), axis=1)
    share = np.cumsum(rng.dirichlet(np.full(k, 0.2), size=n), axis=1)
    topic = (rng.random((n, words))[:, :, None] > share[:, None]).sum(axis=2).clip(max=k - 1)
    word = np.empty(topic.shape, np.int32)
    for each in range(k):
        here = topic == each
        word[here] = np.searchsorted(topics[each], rng.random(here.sum())).clip(max=d - 1)
    starts = np.arange(0, n * words + 1, words)
    X = sparse.csr_matrix((np.ones(n * words), word.ravel(), starts), shape=(n, d))
    X.sum_duplicates()
    return X


class Watched:
    """What ours found, once its loss was as low as the rival's."""

    def __init__(self, goal):
        self.goal = goal

    def __call__(self, progress):
        if -progress.objective * progress.weight <= self.goal:
            raise KeyboardInterrupt


def theirs(settings, X):
    """The rival's fit."""
    return Rival(random_state=0, **settings).fit(X)


GOALS = {}


def ours(settings, X):
    """Ours, until its loss is that of the rival, which is found once."""
    key = X.shape, str(settings)
    if key not in GOALS:
        GOALS[key] = 0.5 * theirs(settings, X).reconstruction_err_ ** 2
    return NMF(random_state=0, callback=Watched(GOALS[key]), **{**settings, "tol": 0.0}).fit(X)


def lower(mine, other):
    """Both losses, of which ours must not be higher."""
    ratio = mine.reconstruction_err_ / other.reconstruction_err_
    assert ratio < 1.0 + 1e-6, f"our error is {ratio:.6f} of theirs"
    return f"error {ratio:.5f} of theirs after {mine.n_iter_} and {other.n_iter_} passes"


def tables():
    """Real tables without negative cells, by name; those of files where TACIT_DATA says where they are."""
    diabetes, exercise = load_diabetes(scaled=False).data, load_linnerud().data
    found = {
        "iris": load_iris().data, "wine": load_wine().data, "breast cancer": load_breast_cancer().data,
        "digits": load_digits().data, "diabetes": diabetes - diabetes.min(axis=0), "linnerud": exercise,
    }  # fmt: skip
    if "TACIT_DATA" in os.environ:
        found |= read_tables(Path(os.environ["TACIT_DATA"]))
    return found


def read_tables(folder):
    """The first 2,000 rows of each."""
    rng, read = np.random.default_rng(0), {}
    spam = np.genfromtxt(folder / "spambase" / "spambase.csv", delimiter=",", skip_header=1)[:, :-1]
    named = {
        "faces": ("faces/cbcl.npz", "X"),
        "usps": ("usps/usps.npz", None),
        "california": ("california/california.npz", None),
    }
    for name, (path, key) in named.items():
        stored = np.load(folder / path)
        X = stored[key or next(each for each in stored if stored[each].ndim == 2)]
        read[name] = X.reshape(len(X), -1).astype(float)
    read["spambase"] = spam
    stored = np.load(folder / "ap" / "ap.npz")
    counts = sparse.csr_matrix((stored["count"], (stored["doc"], stored["term"])), dtype=float)
    read["ap"] = counts[:, np.argsort(-np.asarray(counts.sum(axis=0)).ravel())[:100]].toarray()
    chosen = {name: X[np.sort(rng.permutation(len(X))[:2000])] for name, X in read.items()}
    return {name: X - np.minimum(X.min(axis=0), 0.0) for name, X in chosen.items()}


def some(name, many):
    """One table, and how many parts: a third of its columns, or three."""
    X = tables()[name]
    return X, max(2, X.shape[1] // 3) if many else min(3, X.shape[1])


def by_default(make, given):
    """A fit by default settings but for the number of parts."""
    X, k = given
    return make(k, random_state=0).fit(X)


SQUARES = {"n_components": 20, "max_iter": 100}
KL = {"n_components": 20, "solver": "mu", "beta_loss": "kullback-leibler", "max_iter": 50, "init": "random", "tol": 0.0}

JOBS = [
    Job("NMF squares n=5k d=2k K=20, 100 passes", "scikit-learn cd", dense, partial(ours, SQUARES), partial(theirs, SQUARES),
        lower, 2.0, 3),
    Job("NMF KL sparse n=20k d=10k 1 % K=20, 50 passes", "scikit-learn mu", counts, partial(ours, KL), partial(theirs, KL),
        lower, 10.0, 3),
]  # fmt: skip


def table_jobs():
    """Two jobs for each table."""
    for name in tables():
        for many in (True, False):
            told = f"NMF {name}, {'a third of columns' if many else 'three'} parts, default settings"
            sides = partial(by_default, NMF), partial(by_default, Rival)
            yield Job(told, "scikit-learn cd", partial(some, name, many), *sides, lower, 1.0, 7)


def main():
    """Print one line per job, with the ratio of processor time and the load of the machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="run only jobs whose name holds every word")
    words = parser.parse_args().words
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(
        "| job | ours (s) | rival (s) | ratio | of processor time | target | load | results |\n|---|---|---|---|---|---|---|---|"
    )
    for job in [*JOBS, *table_jobs()]:
        if all(word in job.name for word in words):
            print(line(job), flush=True)


def line(job):
    """Interleaved runs of a job."""
    data = job.make()
    job.ours(data), job.theirs(data)  # compiles and warms up
    spent, found = {job.ours: [], job.theirs: []}, {}
    for _ in range(job.repeats):
        for side, seconds in spent.items():
            start = time.perf_counter(), time.process_time()
            found[side] = side(data)
            seconds.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    (a, own), (b, other) = (np.median(seconds, axis=0) for seconds in spent.values())
    try:
        told = job.equal(found[job.ours], found[job.theirs])
    except AssertionError as fault:
        told = f"NOT EQUAL: {fault}"
    load = os.getloadavg()[0]
    return f"| {job.name} | {a:.4f} | {b:.4f} | {b / a:.2f} × | {other / own:.2f} × | {job.target:g} × | {load:.1f} | {told} |"


if __name__ == "__main__":
    main()
