"""`select` against the same sweep with scikit-learn's GaussianMixture and its defaults: every K from 1 to 9, four covariances."""

import itertools
import warnings
from functools import partial

import numpy as np

from .gaussian_mixture import make
from .harness import Job

KINDS = ("full", "tied", "diag", "spherical")
SIZES = range(1, 10)


def overlapping(n, d, k):
    """Rows from k classes that overlap, each with its own covariance."""
    rng = np.random.default_rng(0)
    means = 1.5 * rng.normal(size=(k, d))
    roots = rng.normal(size=(k, d, d)) / 3 + np.eye(d)
    classes = rng.integers(k, size=n)
    return means[classes] + np.einsum("nij,nj->ni", roots[classes], rng.normal(size=(n, d)))


def ours(X):
    """The best BIC of `select`."""
    from tacit.mixture import GaussianMixture, select

    return select(GaussianMixture(random_state=0), X, n_components=SIZES, covariance_type=KINDS).table[0]["bic"]


def theirs(X):
    """The best BIC of a loop over scikit-learn's estimator."""
    from sklearn.mixture import GaussianMixture

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [
            GaussianMixture(k, covariance_type=kind, random_state=0).fit(X)
            for k, kind in itertools.product(SIZES, KINDS)
        ]
        return min(fit.bic(X) for fit in fits)


def _equal(found, other):
    assert found <= other + 1e-6 * abs(other), f"best BIC {found}, rival's {other}"
    return f"best BIC {found:.1f}, rival's {other:.1f}"


def _job(name, data, target):
    return Job(
        name=f"select {name} n=20,000 d=8, 9 K × 4 covariances", rival="scikit-learn", make=data,
        ours=ours, theirs=theirs, equal=_equal, target=target, repeats=3,
    )  # fmt: skip


JOBS = [
    _job("overlapping classes", partial(overlapping, 20_000, 8, 5), 4),
    _job("separate classes", partial(make, 20_000, 8, 5), 1),
]
