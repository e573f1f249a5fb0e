"""Probabilistic PCA with missing cells: one pass of EM against the matrix products in it, and fit and fill against an imputer."""

from functools import partial

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from tacit.factor import ProbabilisticPCA
from tacit.families import FactorGaussian, FullGaussian
from tacit.mixture.model import MixtureModel, MixtureParams
from tacit.source import ArraySource

from .harness import Job
from .imputation import hidden

N_ROWS, N_COLUMNS, N_FACTORS, PASSES = 20_000, 50, 5, 10
MODEL = MixtureModel(FactorGaussian(N_FACTORS), 1)


def complete():
    """Rows of rank five and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FACTORS)) @ rng.normal(size=(N_FACTORS, N_COLUMNS))
    return X + rng.normal(size=X.shape)


def make():
    """The same with a fifth of the cells lost."""
    X = complete()
    return np.where(hidden(X.shape), np.nan, X)


def start(source):
    """Where the passes are taken."""
    rng = np.random.default_rng(0)
    return MODEL.init(source.sample(2000, rng), rng)


def passes(X):
    """E-steps at one place: the log-likelihood there."""
    source = ArraySource(X)
    params = start(source)
    for _ in range(PASSES):
        stats = source.sum(partial(MODEL.e_step, params))
    return stats.loglik


def as_dense(loglik, _):
    """The log-likelihood is that of the Gaussian with the same covariance, by quite another way."""
    source = ArraySource(make())
    params = start(source).components
    same = FullGaussian().params(params.mean, params.dense, params.origin, params.scale)
    dense = source.sum(partial(MixtureModel(FullGaussian(), 1).e_step, MixtureParams(np.ones(1), same))).loglik
    np.testing.assert_allclose(loglik, dense, rtol=1e-11)
    return f"log-likelihood {loglik:.8g}, the dense Gaussian's {dense:.8g}"


def products(X):
    """The same number of floating-point operations by BLAS alone, on the same blocks and threads."""
    source = ArraySource(X)
    pairs, more = N_FACTORS * (N_FACTORS + 1) // 2, (N_FACTORS + 1) * (N_FACTORS + 2) // 2
    rng = np.random.default_rng(0)
    right, tall = rng.normal(size=(N_COLUMNS, pairs)), rng.normal(size=(len(X), more))

    def multiply(block):
        x, n = block.X, len(block)
        x @ right
        x.T @ tall[:n]
        score = x @ right[:, :N_FACTORS]
        score @ right[:, :N_FACTORS].T
        x.T @ tall[:n, : N_FACTORS + 1]
        return 0.0

    for _ in range(PASSES):
        source.sum(multiply)


def ours(X):
    """Fit and fill."""
    return ProbabilisticPCA(N_FACTORS).fit(X).impute(X)


def theirs(X):
    """Chained regressions."""
    return IterativeImputer(random_state=0, max_iter=3).fit_transform(X)


def fewer():
    """Rows that the imputer takes seconds for, not minutes."""
    return make()[:4000]


def equal(ours, theirs):
    """Errors of the cells that were lost."""
    X = complete()
    lost = hidden(X.shape)[: len(ours)]
    X = X[: len(ours)]
    error, other = (float(np.sqrt(np.mean((table - X)[lost] ** 2))) for table in (ours, theirs))
    assert error <= other * 1.001, f"held-out RMSE {error} is worse than {other}"
    return f"held-out RMSE {error:.4f} / {other:.4f}"


JOBS = [
    Job(
        f"PPCA, {PASSES} EM passes, 20 % missing, n=20k d=50 k=5",
        "its matrix products alone",
        make, passes, products, as_dense, 0.3,
    ),
    Job("PPCA fit and fill, 20 % missing, n=4k d=50 k=5", "IterativeImputer", fewer, ours, theirs, equal, 10, repeats=3),
]  # fmt: skip
