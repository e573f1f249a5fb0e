"""KMedians and SoftKMeans against plain NumPy: same rows, same start, same rule to stop."""

from functools import partial

import numpy as np

from .harness import Job


def make(n, d, n_clusters):
    """Rows around centres that overlap a little."""
    rng = np.random.default_rng(0)
    means = 1.5 * rng.normal(size=(n_clusters, d))
    return means[rng.integers(n_clusters, size=n)] + rng.normal(size=(n, d))


def start(X, n_clusters):
    """Where both sides begin."""
    return X[:n_clusters].copy()


def _our_medians(n_clusters, X):
    from tacit.cluster import KMedians

    fitted = KMedians(n_clusters, init=start(X, n_clusters), tol=0.0, max_iter=1000).fit(X)
    return fitted.inertia_, fitted.n_iter_


def _plain_medians(n_clusters, X):
    """Lloyd's algorithm with scikit-learn's Manhattan distances and NumPy's medians, until no row moves."""
    from sklearn.metrics import pairwise_distances_argmin_min

    center, labels, passes = start(X, n_clusters), None, 0
    while True:
        found, apart = pairwise_distances_argmin_min(X, center, metric="manhattan")
        passes += 1
        if labels is not None and (found == labels).all():
            return apart.sum(), passes
        labels = found
        for k in np.unique(labels):
            center[k] = np.median(X[labels == k], axis=0)


STIFFNESS, STEPS = 0.5, 30


def _our_soft(n_clusters, X):
    from tacit.cluster import SoftKMeansModel
    from tacit.engine import fit
    from tacit.source import ArraySource

    model = SoftKMeansModel(n_clusters, STIFFNESS)
    params = model.at(start(X, n_clusters), X.mean(axis=0))
    found = fit(model, ArraySource(X), params, max_iter=STEPS, tol=0.0)
    return found.trace.objectives[-1], STEPS


def _plain_soft(n_clusters, X):
    """The same steps with NumPy's products and SciPy's log-sum-exp."""
    from scipy.special import logsumexp

    center, square = start(X, n_clusters), (X**2).sum(axis=1)[:, None]
    for _ in range(STEPS):
        joint = -STIFFNESS * (square - 2.0 * X @ center.T + (center**2).sum(axis=1))
        evidence = logsumexp(joint, axis=1)
        r = np.exp(joint - evidence[:, None])
        center = (r.T @ X) / r.sum(axis=0)[:, None]
    return evidence.sum() / STIFFNESS, STEPS


def _equal(rtol, ours, theirs):
    gap = abs(ours[0] - theirs[0]) / abs(theirs[0])
    assert gap < rtol, f"objectives differ by {gap:.2g} of their value"
    return f"objective equal to {gap:.0e}, {ours[1]} and {theirs[1]} passes"


def _job(name, ours, theirs, rtol, n, d, k):
    return Job(
        name=f"{name} n={n:,} d={d} K={k}", rival="plain NumPy", make=partial(make, n, d, k), ours=partial(ours, k),
        theirs=partial(theirs, k), equal=partial(_equal, rtol), target=1.0, repeats=5,
    )  # fmt: skip


JOBS = [
    # Both are local optima of one start: medians that are approached stepwise may lead to another one.
    _job("k-medians", _our_medians, _plain_medians, 0.02, 100_000, 16, 16),
    _job("soft k-means", _our_soft, _plain_soft, 1e-9, 100_000, 16, 16),
]
