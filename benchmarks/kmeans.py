"""k-means against scikit-learn's two algorithms, from the same starts: clear clusters, no clusters, single precision."""

from functools import partial

import numpy as np
from sklearn.cluster import KMeans as Rival
from sklearn.datasets import make_blobs

from tacit.cluster import KMeans

from .harness import Job


def clusters(n, d, k, dtype=np.float64):
    """Rows around k centres with unit spread."""
    return make_blobs(n, d, centers=k, random_state=0)[0].astype(dtype)


def noise(n, d, dtype=np.float64):
    """Rows without any structure."""
    return np.random.default_rng(0).normal(size=(n, d)).astype(dtype)


def start(X, k):
    """Random rows, the same for everyone."""
    return X[np.random.default_rng(1).choice(len(X), min(k, len(X)), replace=False)]


def run(make, k, max_iter, X, **settings):
    """Fit from the common start."""
    k = min(k, len(X))
    return make(k, init=start(X, k), n_init=1, max_iter=max_iter, **settings).fit(X)


def equal(ours, theirs, rtol=1e-6):
    """Same loss after as many passes."""
    difference = abs(ours.inertia_ - theirs.inertia_) / theirs.inertia_
    assert difference < rtol, f"losses differ by {difference:.2g}"
    return f"loss equal to {difference:.0e} after {ours.n_iter_} and {theirs.n_iter_} passes"


def against_both(name, make, k, max_iter, target, repeats=3):
    """A job for each of scikit-learn's algorithms: the better one counts."""
    ours = partial(run, KMeans, k, max_iter)
    return [
        Job(
            f"k-means {name}", f"scikit-learn {algorithm}", make, ours,
            partial(run, Rival, k, max_iter, algorithm=algorithm), equal, target, repeats,
        )
        for algorithm in ("lloyd", "elkan")
    ]  # fmt: skip


def in_double(k, max_iter, X):
    """Ours on the same rows in double precision."""
    return run(KMeans, k, max_iter, X.astype(np.float64))


JOBS = [
    *against_both("n=500k d=32 K=64, blobs", partial(clusters, 500_000, 32, 64), 64, 300, 2.5),
    *against_both("n=100k d=32 K=1000, blobs", partial(clusters, 100_000, 32, 1000), 1000, 300, 1.5),
    *against_both("n=500k d=32 K=64, no structure", partial(noise, 500_000, 32), 64, 30, 1.0),
    *against_both("n=100k d=32 K=1000, no structure", partial(noise, 100_000, 32), 1000, 15, 1.0),
    *against_both("n=500k d=2 K=8, blobs", partial(clusters, 500_000, 2, 8), 8, 300, 1.0),
    *against_both("n=1000 d=4 K=3, blobs", partial(clusters, 1000, 4, 3), 3, 300, 1.0, 21),
    Job(
        "k-means n=500k d=32 K=64 float32, no structure", "ours in float64", partial(noise, 500_000, 32, np.float32),
        partial(run, KMeans, 64, 30), partial(in_double, 64, 30), partial(equal, rtol=1e-5), 1.5, 5,
    ),
    Job(
        "k-means n=500k d=32 K=64 float32, blobs", "ours in float64", partial(clusters, 500_000, 32, 64, np.float32),
        partial(run, KMeans, 64, 300), partial(in_double, 64, 300), partial(equal, rtol=1e-5), 1.5, 5,
    ),
]  # fmt: skip
