"""Non-negative factorisation against scikit-learn, to an equal or lower loss.

Every side runs by its defaults but for what a job names. Where a rival needs fixed passes, ours runs until its loss is as low.
"""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import NMF as Rival

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
    """Ten small tables without negative cells."""
    rng = np.random.default_rng(0)
    sets = [load_iris().data, load_wine().data, load_breast_cancer().data, load_digits().data, load_digits().data[:300]]
    diabetes = load_diabetes(scaled=False).data
    sets += [diabetes, np.log1p(load_breast_cancer().data), load_wine().data / load_wine().data.max(axis=0)]
    sets += [rng.poisson(rng.gamma(1.0, size=(500, 4)) @ rng.gamma(1.0, size=(4, 30))).astype(float)]
    sets += [load_digits().data[:1000, 8:56]]
    return sets


def all_tables(make, sets):
    """Fits of all tables by default settings, parts as many as a third of the columns."""
    return [make(max(2, X.shape[1] // 3), random_state=0).fit(X) for X in sets]


def all_lower(mine, other):
    """Ratios of errors over the tables."""
    ratios = np.array([a.reconstruction_err_ / b.reconstruction_err_ for a, b in zip(mine, other)])
    told = f"error {np.exp(np.log(ratios).mean()):.4f} of theirs (worst {ratios.max():.4f}, best {ratios.min():.4f})"
    assert np.exp(np.log(ratios).mean()) <= 1.0, told
    return told


SQUARES = {"n_components": 20, "max_iter": 100}
KL = {"n_components": 20, "solver": "mu", "beta_loss": "kullback-leibler", "max_iter": 50, "init": "random", "tol": 0.0}

JOBS = [
    Job("NMF squares n=5k d=2k K=20, 100 passes", "scikit-learn cd", dense, partial(ours, SQUARES), partial(theirs, SQUARES),
        lower, 2.0, 3),
    Job("NMF KL sparse n=20k d=10k 1 % K=20, 50 passes", "scikit-learn mu", counts, partial(ours, KL), partial(theirs, KL),
        lower, 10.0, 3),
    Job("NMF ten small tables, default settings", "scikit-learn cd", tables, partial(all_tables, NMF),
        partial(all_tables, Rival), all_lower, 1.0, 5),
]  # fmt: skip
