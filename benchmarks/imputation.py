"""GaussianImputer against IterativeImputer: fit, fill, and the error on cells that were hidden."""

import warnings
from functools import partial

import numpy as np

from .harness import Job


def complete(n=20_000, d=20):
    """Correlated rows without missing values."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ np.linalg.cholesky(root @ root.T + 2.0 * np.eye(d)).T


def hidden(shape):
    """The cells that are hidden: a fifth, at random."""
    return np.random.default_rng(1).random(shape) < 0.2


def make():
    """Rows with a fifth of their cells missing at random."""
    X = complete()
    return np.where(hidden(X.shape), np.nan, X)


def _ours(X):
    from tacit.impute import GaussianImputer

    return GaussianImputer().fit_transform(X)


def _theirs(X):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return IterativeImputer().fit_transform(X)


def _error(filled):
    X = complete()
    return float(np.sqrt(((filled - X)[hidden(X.shape)] ** 2).mean()))


def _equal(ours, theirs):
    a, b = _error(ours), _error(theirs)
    assert a <= 1.001 * b, f"held-out RMSE {a} is worse than {b}"
    return f"held-out RMSE {a:.4f} / {b:.4f}"


JOBS = [
    Job("one Gaussian n=20,000 d=20, 20 % missing, fit and fill", "IterativeImputer", make, partial(_ours), partial(_theirs),
        _equal, target=15, repeats=3),
]  # fmt: skip
