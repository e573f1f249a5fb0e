"""how_many at 1,000 rows against loops over scikit-learn's estimators that compute the same criteria as often.

``python -m benchmarks.how_many`` prints what `SpectralClustering("auto")` and each criterion answer on tables with known classes.
"""

import warnings
from functools import partial

import numpy as np

from .harness import Job, table

COUNTS = range(1, 11)


def blobs(n):
    """Six clouds in 8 dimensions that touch."""
    from sklearn.datasets import make_blobs

    return make_blobs(n, 8, centers=6, cluster_std=3.0, random_state=0)[0]


def _ours(criteria, X):
    from tacit.cluster import how_many

    return how_many(X, COUNTS, criteria=criteria, random_state=0).answers


def _theirs(criteria, X):
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, silhouette_score
    from sklearn.mixture import GaussianMixture

    rng, answers = np.random.default_rng(0), {}

    def fits(rows):
        return [KMeans(k, random_state=0).fit(rows) for k in COUNTS]

    found = fits(X)
    if "gap" in criteria:
        axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2]
        places = (X - X.mean(axis=0)) @ axes.T
        low, high = places.min(axis=0), places.max(axis=0)
        drawn = [
            [np.log(fit.inertia_) for fit in fits(rng.uniform(low, high, size=places.shape) @ axes)] for _ in range(10)
        ]
        gap = np.mean(drawn, axis=0) - [np.log(fit.inertia_) for fit in found]
        error = np.std(drawn, axis=0) * np.sqrt(1.1)
        answers["gap"] = COUNTS[next((i for i in range(9) if gap[i] >= gap[i + 1] - error[i + 1]), 9)]
    if "stability" in criteria:
        agreement = np.zeros((20, 9))
        for one in agreement:
            rows = rng.permutation(len(X))[: len(X) // 2]
            for i, fit in enumerate(found[1:]):
                half = KMeans(i + 2, random_state=0).fit(X[rows])
                one[i] = adjusted_rand_score(fit.labels_[rows], half.labels_)
        answers["stability"] = 2 + int(agreement.mean(axis=0).argmax())
    if "silhouette" in criteria:
        answers["silhouette"] = 2 + int(np.argmax([silhouette_score(X, fit.labels_) for fit in found[1:]]))
    if "bic" in criteria:
        fits = [GaussianMixture(k, n_init=5, random_state=0).fit(X).bic(X) for k in COUNTS]
        answers["bic"] = 1 + int(np.argmin(fits))
    return answers


def _equal(ours, theirs):
    return "; ".join(f"{name} {ours[name]} / {theirs[name]}" for name in ours)


JOBS = [
    Job(f"how many clusters, 1,000 × 8, {told}", "scikit-learn, in loops", partial(blobs, 1000), partial(_ours, criteria),
        partial(_theirs, criteria), _equal, repeats=3)
    for told, criteria in (
        ("k-means and silhouettes", ["silhouette"]), ("four criteria", ["gap", "stability", "silhouette", "bic"]),
    )
]  # fmt: skip


def tables():
    """Tables with known classes: name, rows, classes."""
    from sklearn import datasets
    from sklearn.preprocessing import scale

    for seed in range(3):
        yield f"3 blobs ({seed})", *datasets.make_blobs(300, centers=3, random_state=seed)
        yield f"5 blobs ({seed})", *datasets.make_blobs(500, centers=5, cluster_std=0.8, random_state=seed)
        yield f"moons ({seed})", *datasets.make_moons(400, noise=0.05, random_state=seed)
        yield f"circles ({seed})", *datasets.make_circles(400, noise=0.05, factor=0.5, random_state=seed)
        yield f"one cloud ({seed})", np.random.default_rng(seed).normal(size=(400, 2)), np.zeros(400)
    for name in ("iris", "wine", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, scale(X), y


def answers():
    """What each criterion answers, as rows of a table."""
    from tacit.cluster import how_many

    rows = []
    for name, X, y in tables():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = how_many(X, random_state=0)
        rows.append({"table": name, "classes": str(len(set(y)))} | {key: str(k) for key, k in found.answers.items()})
    return rows


if __name__ == "__main__":
    print(table(answers()))
