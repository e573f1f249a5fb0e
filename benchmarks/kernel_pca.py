"""KernelPCA against scikit-learn's, by the same solver and by each library's own choice; landmarks against Nystroem and PCA.

Both sides take the Gaussian kernel of the same rows and give scores. Eigenvalues and, up to sign, scores are compared; with
landmarks, both sides draw the same ones from the same seed.
"""

from functools import partial

import numpy as np

from .harness import Job

GAMMA = 0.05


def make(n, d=10):
    """Five clouds that overlap."""
    from sklearn.datasets import make_blobs

    return make_blobs(n, d, centers=5, cluster_std=2.0, center_box=(-3, 3), random_state=0)[0]


def _ours(options, X):
    from tacit.factor import KernelPCA

    model = KernelPCA(kernel="rbf", gamma=GAMMA, random_state=0, **options)
    return model.fit_transform(X), model.eigenvalues_


def _theirs(options, X):
    from sklearn.decomposition import KernelPCA

    model = KernelPCA(kernel="rbf", gamma=GAMMA, random_state=0, **options)
    return model.fit_transform(X), model.eigenvalues_


def _pipeline(n_landmarks, n_components, X):
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem

    features = Nystroem(kernel="rbf", gamma=GAMMA, n_components=n_landmarks, random_state=0).fit_transform(X)
    model = PCA(n_components, random_state=0)
    return model.fit_transform(features), model.explained_variance_ * (len(X) - 1)


def _equal(compared, tolerance, ours, theirs):
    (scores, values), (others, expected) = ours, theirs
    assert scores.shape == others.shape, f"shapes {scores.shape} and {others.shape}"
    gap = np.abs(values - expected).max() / expected[0]
    assert gap < tolerance, f"eigenvalues differ by {gap} of the largest"
    apart = np.abs(np.abs(scores[:, :compared]) - np.abs(others[:, :compared])).max() / np.abs(others).max()
    assert apart < 100 * tolerance, f"scores differ by {apart} of the largest"
    return f"eigenvalues equal to {gap:.0e}, {compared} scores to {apart:.0e}"


def _job(n, solver, n_components, target=1.0, compared=None, repeats=5, theirs=None):
    ours = {"n_components": n_components, "eigen_solver": solver}
    return Job(
        name=f"kernel PCA {solver} n={n:,} k={n_components or 'all'}", rival=f"scikit-learn {theirs or solver}",
        make=partial(make, n), ours=partial(_ours, ours),
        theirs=partial(_theirs, {"n_components": n_components, "eigen_solver": theirs or solver}),
        equal=partial(_equal, compared or n_components, 1e-6 if solver == "randomized" else 1e-9), target=target, repeats=repeats,
    )  # fmt: skip


def _landmarks(n, m, n_components):
    options = {"n_components": n_components, "eigen_solver": "nystrom", "n_landmarks": m}
    return Job(
        name=f"kernel PCA nystrom n={n:,} landmarks={m} k={n_components}", rival="scikit-learn Nystroem + PCA",
        make=partial(make, n), ours=partial(_ours, options), theirs=partial(_pipeline, m, n_components),
        equal=partial(_equal, n_components, 1e-7), target=1.0, repeats=5,
    )  # fmt: skip


JOBS = [
    _job(2000, "dense", None, compared=5, repeats=3),
    _job(2000, "dense", 50, compared=5),
    _job(2000, "auto", 50, compared=5),
    _job(5000, "arpack", 4),
    _job(5000, "randomized", 4),
    _job(5000, "auto", 4),
    _landmarks(50_000, 500, 10),
]
