"""Every family and every model of the library, with rows for each: the one list that property tests run over."""

import numpy as np

from tacit.families import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    FullGaussian,
    Poisson,
    SphericalGaussian,
    TiedGaussian,
)
from tacit.mixture import MixtureModel, VariationalMixture, VariationalPrior
from tacit.mixture.weights import Dirichlet, Sticks

N_LEVELS = (2, 3, 4)


def gaussian_rows(n=240, d=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    means = 4.0 * rng.normal(size=(n_classes, d))
    roots = rng.normal(size=(n_classes, d, d)) / 2 + np.eye(d)
    classes = rng.integers(n_classes, size=n)
    return means[classes] + np.einsum("nij,nj->ni", roots[classes], rng.normal(size=(n, d)))


def binary_rows(n=240, d=6, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.1, 0.9, size=(3, d))
    return (rng.random((n, d)) < p[rng.integers(3, size=n)]).astype(float)


def category_rows(n=240, seed=0):
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n)
    columns = [[rng.choice(m, p=p) for p in rng.dirichlet(np.ones(m), 3)[classes]] for m in N_LEVELS]
    return np.array(columns, dtype=float).T


def count_rows(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(2.0, 3.0, size=(3, d))[rng.integers(3, size=n)]).astype(float)


def with_holes(X, share=0.2, seed=1):
    rng = np.random.default_rng(seed)
    holes = rng.random(X.shape) < share
    holes[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] = False
    return np.where(holes, np.nan, X)


FAMILIES = {
    "full": (FullGaussian(), gaussian_rows),
    "tied": (TiedGaussian(), gaussian_rows),
    "diag": (DiagonalGaussian(), gaussian_rows),
    "spherical": (SphericalGaussian(), gaussian_rows),
    "bernoulli": (Bernoulli(), binary_rows),
    "categorical": (Categorical(N_LEVELS), category_rows),
    "poisson": (Poisson(), count_rows),
}

MODELS = {f"mixture of {name}": (MixtureModel(family, 3), rows) for name, (family, rows) in FAMILIES.items()}


def belief(family, n_classes=3, d=4):
    """A variational mixture for rows of `gaussian_rows`."""
    scatter = {TiedGaussian: 9.0 * np.eye(d), FullGaussian: 9.0 * np.eye(d), DiagonalGaussian: np.full(d, 9.0)}
    weights = (
        Dirichlet(np.full(n_classes, 0.5))
        if type(family) in scatter
        else Sticks(np.ones(n_classes), np.ones(n_classes))
    )
    prior = VariationalPrior(weights, 0.5, np.ones(d), d + 1.0, scatter.get(type(family), np.array(9.0)))
    return VariationalMixture(family, n_classes, prior)


MODELS["one full"] = (MixtureModel(FullGaussian(), 1), lambda: with_holes(gaussian_rows(), 0.1))
MODELS |= {
    f"beliefs about {name}": (belief(FAMILIES[name][0]), gaussian_rows)
    for name in ("full", "tied", "diag", "spherical")
}
