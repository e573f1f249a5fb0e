"""PCA against scikit-learn: tall, wide, large both ways, and sparse; equal variances and axes are checked."""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA as Rival

from tacit.factor import PCA

from .harness import Job


def rows(n, d, dtype=np.float64, rank=30):
    """Rows with `rank` directions of falling variance in noise, some way off zero."""
    rng = np.random.default_rng(0)
    k = min(rank, d)
    X = (rng.normal(size=(n, k)) / np.sqrt(np.arange(1.0, k + 1))) @ rng.normal(size=(k, d))
    X += rng.normal(size=(n, d))
    return (X + 3.0).astype(dtype)


def words(n, d, density):
    """Sparse counts, some columns more frequent than others."""
    rng = np.random.default_rng(0)
    X = sparse.random(
        n, d, density=density, format="csr", random_state=rng, data_rvs=lambda size: rng.poisson(2.0, size) + 1.0
    )
    return sparse.csr_array(X @ sparse.diags(np.arange(1.0, d + 1) ** -0.5))


def fit(make, settings, X):
    """Fitted components, of at most as many as the rows allow."""
    k = settings.get("n_components")
    return make(**settings | ({} if k is None else {"n_components": min(k, min(X.shape) - 1)})).fit(X), X


def equal(ours, theirs, rtol=1e-8, angle=1e-6):
    """The same variances, and axes that span the same."""
    ours, theirs = ours[0], theirs[0]
    apart = np.abs(ours.explained_variance_ / theirs.explained_variance_ - 1.0).max()
    assert apart < rtol, f"variances differ by {apart:.1e}"
    cosines = np.linalg.svd(ours.components_.astype(float) @ theirs.components_.T.astype(float), compute_uv=False)
    sine = np.sqrt(max(0.0, 1.0 - cosines.min() ** 2))
    assert sine < angle, f"axes differ by {sine:.1e}"
    return f"variances to {apart:.0e}, axes to {sine:.0e}"


def no_worse(ours, theirs):
    """No less of the variance, where both are approximate."""
    (ours, X), (theirs, _) = ours, theirs
    mean = X.mean(axis=0)
    kept = [float((((X - mean) @ pca.components_.T) ** 2).sum()) for pca in (ours, theirs)]
    assert kept[0] >= kept[1] * (1 - 1e-12), f"ours explain {kept[0] / kept[1]:.6f} of what theirs do"
    return f"explain {kept[0] / kept[1] - 1:+.1e} of their variance more"


def _job(name, rival, make, ours, theirs, check, target, repeats=7):
    return Job(f"PCA {name}", rival, make, partial(fit, PCA, ours), partial(fit, Rival, theirs), check, target, repeats)


COVARIANCE, TEN, TWENTY = (
    {"svd_solver": "covariance_eigh"},
    {"n_components": 10},
    {"n_components": 20, "random_state": 0},
)
SINGLE = partial(equal, rtol=1e-3, angle=0.02)

JOBS = [
    _job("n=200k d=100", "scikit-learn covariance_eigh", partial(rows, 200_000, 100), TEN, TEN | COVARIANCE, equal, 1 / 1.1),
    _job("n=200k d=100 float32", "scikit-learn covariance_eigh", partial(rows, 200_000, 100, np.float32), TEN, TEN | COVARIANCE,
         SINGLE, 1.0),
    _job("wide n=500 d=20k", "scikit-learn auto", partial(rows, 500, 20_000), TWENTY, TWENTY, no_worse, 1.0),
    _job("wide n=500 d=20k", "scikit-learn full", partial(rows, 500, 20_000), TEN, TEN | {"svd_solver": "full"}, equal, 1.0, 3),
    _job("n=20k d=2000 k=20", "scikit-learn randomized", partial(rows, 20_000, 2000), TWENTY | {"svd_solver": "randomized"},
         TWENTY | {"svd_solver": "randomized"}, no_worse, 1.0, 3),
    _job("sparse n=20k d=500", "scikit-learn auto (arpack)", partial(words, 20_000, 500, 0.02), TEN, TEN, equal, 1.0),
    _job("sparse n=20k d=5k k=20", "scikit-learn auto (arpack)", partial(words, 20_000, 5_000, 0.005),
         TWENTY, TWENTY, equal, 1.0, 3),
]  # fmt: skip
