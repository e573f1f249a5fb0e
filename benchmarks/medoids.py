"""KMedoids against kmedoids (Rust) on a given matrix, and against a Python function called for every pair of rows."""

import time
import types
import warnings
from functools import partial

import numpy as np

from .harness import Job

N_CLUSTERS = 20


def rows(n, d):
    """Rows around 30 centres."""
    rng = np.random.default_rng(0)
    return 3.0 * rng.normal(size=(30, d))[rng.integers(30, size=n)] + rng.normal(size=(n, d))


def matrix(n, d):
    """Euclidean distances between all rows."""
    from scipy.spatial.distance import pdist, squareform

    return squareform(pdist(rows(n, d)))


def _square(D):
    """The matrix, or the part of it that the first rows are."""
    return np.ascontiguousarray(D[:, : len(D)])


def _start(n):
    return np.random.default_rng(1).choice(n, N_CLUSTERS, replace=False)


def _build(D):
    from tacit.cluster.medoids.partition import Pairs
    from tacit.cluster.medoids.starts import build
    from tacit.source.threads import thread_count

    D = _square(D)
    return D, build(Pairs.of(D, np.ones(len(D)), threads=thread_count(None)), N_CLUSTERS)


def _their_build(D):
    import kmedoids

    D = _square(D)
    return D, kmedoids.pam_build(D, N_CLUSTERS).medoids.astype(int)


def _equal_build(ours, theirs):
    assert set(ours[1]) == set(theirs[1]), "both find the same start"
    return "same medoids"


def _fit(init, D):
    from tacit.cluster import KMedoids

    D = _square(D)
    return KMedoids(N_CLUSTERS, metric="precomputed", init=_start(len(D)) if init is None else init).fit(D).inertia_


def _their_fit(init, n_cpu, D):
    import kmedoids

    D = _square(D)
    start = _start(len(D)) if init is None else kmedoids.pam_build(D, N_CLUSTERS).medoids
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seed = None if n_cpu == 1 else 0
        return kmedoids.fasterpam(D, start.astype(np.uint64), 300, random_state=seed, n_cpu=n_cpu).loss


def _equal_loss(slack, ours, theirs):
    gap = abs(ours - theirs) / theirs
    assert gap <= slack, f"losses differ: {ours} and {theirs}"
    return f"losses {ours:.2f} and {theirs:.2f}"


def canberra(x, y):
    """A metric as users write it."""
    total = 0.0
    for i in range(len(x)):
        scale = abs(x[i]) + abs(y[i])
        if scale > 0:
            total += abs(x[i] - y[i]) / scale
    return total


def _with_function(X):
    from tacit.cluster import KMedoids

    return KMedoids(N_CLUSTERS, metric=canberra, init=_start(len(X))).fit(X), X


def _called_for_pairs(X):
    from sklearn.metrics import pairwise_distances

    D = pairwise_distances(X, metric=canberra, n_jobs=1)
    return _their_fit(None, 1, D), D


def _equal_function(ours, theirs):
    """Also says what compiling costs a function that was never seen before."""
    from tacit.cluster import KMedoids

    model, X = ours
    loss, D = theirs
    np.testing.assert_allclose(model.inertia_, D[model.medoid_indices_].min(axis=0).sum(), rtol=1e-12)
    fresh = types.FunctionType(canberra.__code__, dict(canberra.__globals__))
    begun = time.perf_counter()
    KMedoids(2, metric=fresh).fit(X[:10])
    compiled = time.perf_counter() - begun
    # Rows are searched in an order of their own, so the two may end in different places.
    return f"same distances; {_equal_loss(0.02, model.inertia_, loss)}; compiling took {compiled:.1f} s once"


def _matrix_job(what, rival, **functions):
    return Job(
        name=f"k-medoids n=5,000 k={N_CLUSTERS} given matrix, {what}", rival=rival, make=partial(matrix, 5000, 10),
        target=0.83, repeats=5, **functions,
    )  # fmt: skip


JOBS = [
    _matrix_job("BUILD", "kmedoids", ours=_build, theirs=_their_build, equal=_equal_build),
    *(
        _matrix_job(
            what, f"kmedoids, {threads}", ours=partial(_fit, init), theirs=partial(_their_fit, init, n_cpu),
            equal=partial(_equal_loss, slack),
        )
        for what, init in (("BUILD and swap", "build"), ("swap from one start", None))
        for threads, n_cpu, slack in (("1 thread", 1, 1e-9), ("all threads", -1, 0.02))
    ),
    Job(
        name=f"k-medoids n=1,500 k={N_CLUSTERS} Python function", rival="pairwise_distances and kmedoids",
        make=partial(rows, 1500, 10), ours=_with_function, theirs=_called_for_pairs, equal=_equal_function, target=20.0,
        repeats=3,
    ),
]  # fmt: skip
