"""FactorAnalysis against scikit-learn's, whole fits: both of its SVD methods, likelihoods compared on the rows."""

import warnings
from functools import partial

import numpy as np

from .harness import Job


def make(n, d, k):
    """Rows with k factors and noise of every size."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(n, d)) * np.sqrt(0.1 + rng.gamma(1.0, size=d))
    return rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) + noise + rng.normal(size=d)


def _ours(k, X):
    from tacit.factor import FactorAnalysis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FactorAnalysis(k).fit(X), X


def _sklearn(k, method, X):
    from sklearn.decomposition import FactorAnalysis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FactorAnalysis(k, svd_method=method).fit(X)


def _equal(ours, theirs):
    """At the default tolerances, our likelihood of the rows is no lower and theirs is within what its tolerance leaves."""
    fitted, X = ours
    mine, other = fitted.score(X), theirs.score(X)
    assert mine >= other - 1e-10 * abs(other), f"log-likelihood per row {mine} falls short of {other}"
    assert mine - other < 1e-3 * abs(other), f"log-likelihood per row {mine} is far from {other}"
    return f"log-likelihood per row higher by {mine - other:.1e}"


def _job(n, d, k, method, target, repeats):
    return Job(
        name=f"factor analysis n={n:,} d={d} k={k}", rival=f"scikit-learn, {method}", make=partial(make, n, d, k),
        ours=partial(_ours, k), theirs=partial(_sklearn, k, method), equal=_equal, target=target, repeats=repeats,
    )  # fmt: skip


JOBS = [
    _job(50_000, 200, 10, "randomized", 20.0, 3),
    _job(50_000, 200, 10, "lapack", 20.0, 1),
    _job(2_000, 30, 4, "randomized", 1.0, 3),
]
