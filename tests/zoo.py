"""Every family and every model of the library, with rows for each: the one list that property tests run over."""

import numpy as np

from tacit.families import (
    GAUSSIANS,
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    FullGaussian,
    Poisson,
    SphericalGaussian,
    StudentT,
    TiedGaussian,
)
from tacit.mixture import MixtureModel

N_LEVELS = (2, 3, 4)
STRUCTURED = ("EII", "EEI", "VEI", "EVI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV")  # the others are aliases


def gaussian_rows(n=240, d=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    means = 4.0 * rng.normal(size=(n_classes, d))
    roots = rng.normal(size=(n_classes, d, d)) / 2 + np.eye(d)
    classes = rng.integers(n_classes, size=n)
    return means[classes] + np.einsum("nij,nj->ni", roots[classes], rng.normal(size=(n, d)))


def heavy_rows(n=240, d=4, n_classes=3, seed=0):
    """As `gaussian_rows`, with the tails of Student's t with four degrees of freedom."""
    rng = np.random.default_rng(seed)
    means = 6.0 * rng.normal(size=(n_classes, d))
    roots = rng.normal(size=(n_classes, d, d)) / 2 + np.eye(d)
    classes = rng.integers(n_classes, size=n)
    noise = rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(4.0, size=(n, 1)) / 4.0)
    return means[classes] + np.einsum("nij,nj->ni", roots[classes], noise)


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
    **{name: (GAUSSIANS[name](), gaussian_rows) for name in STRUCTURED},
    "student": (StudentT(), heavy_rows),
    "student shared": (StudentT("VEV", df="shared"), heavy_rows),
    "student fixed": (StudentT("EEE", df=4.0), heavy_rows),
    "bernoulli": (Bernoulli(), binary_rows),
    "categorical": (Categorical(N_LEVELS), category_rows),
    "poisson": (Poisson(), count_rows),
}

MODELS = {f"mixture of {name}": (MixtureModel(family, 3), rows) for name, (family, rows) in FAMILIES.items()}
MODELS["one full"] = (MixtureModel(FullGaussian(), 1), lambda: with_holes(gaussian_rows(), 0.1))
