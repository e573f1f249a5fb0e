"""GaussianMixture against scikit-learn's: same data, same start, same number of steps."""

import warnings
from functools import partial

import numpy as np

from .harness import Job

STEPS = 10


def make(n, d, k, dtype=np.float64):
    """Rows around k random means."""
    rng = np.random.default_rng(0)
    means = 3.0 * rng.normal(size=(k, d))
    return (means[rng.integers(k, size=n)] + rng.normal(size=(n, d))).astype(dtype)


def settings(d, k, kind):
    """The common start."""
    rng = np.random.default_rng(0)
    means = 3.0 * rng.normal(size=(k, d)) + 0.5 * np.random.default_rng(1).normal(size=(k, d))
    precision = {
        "full": np.repeat(np.eye(d)[None], k, axis=0), "tied": np.eye(d), "diag": np.ones((k, d)), "spherical": np.ones(k)
    }[kind]  # fmt: skip
    return {
        "n_components": k, "covariance_type": kind, "tol": 0.0, "max_iter": STEPS, "means_init": means,
        "weights_init": np.full(k, 1 / k), "precisions_init": precision,
    }  # fmt: skip


def _fit(module, options, X):
    if module == "tacit":
        from tacit.mixture import GaussianMixture
    else:
        from sklearn.mixture import GaussianMixture
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GaussianMixture(**options).fit(X).lower_bound_


def _equal(ours, theirs):
    gap = abs(ours - theirs)
    assert gap < 1e-4 * abs(theirs), f"log-likelihoods differ by {gap} per row"
    return f"log-likelihood per row equal to {gap:.0e}"


def _job(n, d, k, kind, target, dtype=np.float64):
    options = settings(d, k, kind)
    suffix = " float32" if dtype == np.float32 else ""
    return Job(
        name=f"GMM {kind} n={n:,} d={d} K={k}{suffix}, {STEPS} steps", rival="scikit-learn",
        make=partial(make, n, d, k, dtype), ours=partial(_fit, "tacit", options), theirs=partial(_fit, "sklearn", options),
        equal=_equal, target=target, repeats=3,
    )  # fmt: skip


JOBS = [
    _job(200_000, 16, 16, "full", 7),
    _job(50_000, 64, 8, "full", 3),
    _job(500_000, 32, 32, "diag", 10),
    _job(200_000, 16, 16, "tied", 1),
    _job(200_000, 16, 16, "spherical", 1),
    _job(200_000, 16, 16, "full", 1, np.float32),
]
