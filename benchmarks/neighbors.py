"""Nearest neighbours against scikit-learn: all pairs, trees, a metric written in Python, imputation, and ten small tables.

Runs are interleaved; ratios are of wall time and, in brackets, of CPU time; the same rows must be found.

    python -m benchmarks.neighbors
"""

import argparse
import statistics
import time
import warnings

import numpy as np
import sklearn.datasets as sets
from sklearn.impute import KNNImputer as TheirImputer
from sklearn.neighbors import KNeighborsClassifier as TheirClassifier
from sklearn.neighbors import KNeighborsRegressor as TheirRegressor
from sklearn.neighbors import NearestNeighbors as TheirNeighbors

from tacit.impute import KNNImputer
from tacit.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors


def gap(x, y):
    """A city block distance that the user wrote."""
    total = 0.0
    for j in range(len(x)):
        total += abs(x[j] - y[j])
    return total


def against(name, ours, theirs, repeats=5, equal=np.testing.assert_array_equal):
    """Print the ratio of medians of interleaved runs."""
    ours()  # compiles
    mine, other = [], []
    for _ in range(repeats):
        for function, times in ((ours, mine), (theirs, other)):
            wall, cpu = time.perf_counter(), time.process_time()
            found = function()
            times.append((time.perf_counter() - wall, time.process_time() - cpu))
            if function is ours:
                kept = found
    equal(kept, found)
    (a, c), (b, d) = ([statistics.median(each) for each in zip(*times)] for times in (mine, other))
    print(f"{name:58s} {1000 * a:10.2f} ms {1000 * b:10.2f} ms {b / a:8.1f} x  [{d / max(c, 1e-9):.1f} x]", flush=True)


def close(mine, other):
    """Both fills, up to rounding."""
    np.testing.assert_allclose(mine, other, rtol=1e-6)


def large(rng):
    """Many rows."""
    X, Q = rng.normal(size=(100_000, 32)), rng.normal(size=(10_000, 32))
    for kind in (np.float64, np.float32):
        A, B = X.astype(kind), Q.astype(kind)
        against(
            f"all pairs, n=100,000 d=32, 10,000 queries, k=5, {kind.__name__}",
            lambda A=A, B=B: NearestNeighbors(algorithm="brute").fit(A).kneighbors(B)[1],
            lambda A=A, B=B: TheirNeighbors(algorithm="brute", n_jobs=-1).fit(A).kneighbors(B)[1],
            3,
        )
    radius = 3.6
    against(
        "all pairs within a radius, same rows",
        lambda: NearestNeighbors(algorithm="brute").fit(X).radius_neighbors_graph(Q[:2000], radius).nnz,
        lambda: TheirNeighbors(algorithm="brute", n_jobs=-1).fit(X).radius_neighbors_graph(Q[:2000], radius).nnz,
        3,
    )
    P, R = rng.normal(size=(100_000, 3)), rng.normal(size=(100_000, 3))
    against(
        "KD-tree, n=100,000 d=3, 100,000 queries, k=5",
        lambda: NearestNeighbors(algorithm="kd_tree").fit(P).kneighbors(R)[1],
        lambda: TheirNeighbors(algorithm="kd_tree", n_jobs=-1).fit(P).kneighbors(R)[1],
        3,
    )
    against(
        "defaults, n=100,000 d=8, 10,000 queries",
        lambda: NearestNeighbors().fit(X[:, :8]).kneighbors(Q[:, :8])[1],
        lambda: TheirNeighbors(n_jobs=-1).fit(X[:, :8]).kneighbors(Q[:, :8])[1],
        3,
    )
    few, asked = X[:3000, :8], Q[:1000, :8]
    against(
        "a function in Python, n=3,000 d=8, 1,000 queries",
        lambda: NearestNeighbors(metric=gap, algorithm="brute").fit(few).kneighbors(asked)[1],
        lambda: TheirNeighbors(metric=gap, algorithm="brute").fit(few).kneighbors(asked)[1],
        1,
    )
    M = rng.normal(size=(3000, 20)) @ rng.normal(size=(20, 20))
    M[rng.random(M.shape) < 0.1] = np.nan
    against(
        "imputation, n=3,000 d=20, a tenth missing",
        lambda: KNNImputer().fit_transform(M),
        lambda: TheirImputer().fit_transform(M),
        3,
        close,
    )


def tables():
    """Ten small real tables: rows, and what is predicted."""
    iris, wine, cancer, digits = (
        load(return_X_y=True) for load in (sets.load_iris, sets.load_wine, sets.load_breast_cancer, sets.load_digits)
    )
    diabetes, linnerud = sets.load_diabetes(return_X_y=True), sets.load_linnerud(return_X_y=True)
    pick = slice(None, None, 4)
    return {
        "iris": iris, "wine": wine, "breast cancer": cancer, "breast cancer, a quarter": (cancer[0][pick], cancer[1][pick]),
        "digits, 180": (digits[0][:180], digits[1][:180]), "digits": digits, "iris, 2 columns": (iris[0][:, :2], iris[1]),
        "diabetes": diabetes, "diabetes, a quarter": (diabetes[0][pick], diabetes[1][pick]), "linnerud": linnerud,
    }  # fmt: skip


def small():
    """Fit and predict by defaults."""
    for name, (X, y) in tables().items():
        numbers = "diabetes" in name or name == "linnerud"
        mine, other = (KNeighborsRegressor, TheirRegressor) if numbers else (KNeighborsClassifier, TheirClassifier)

        def agree(found, theirs):
            same = np.isclose(found, theirs, rtol=1e-9).mean()
            assert same > 0.95, same  # equally near rows are taken in another order

        against(
            f"{name}, n={len(X)} d={X.shape[1]}, fit and predict",
            lambda mine=mine, X=X, y=y: mine().fit(X, y).predict(X),
            lambda other=other, X=X, y=y: other().fit(X, y).predict(X),
            21,
            agree,
        )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--small", action="store_true", help="the small tables only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'':58s} {'ours':>13s} {'rival':>13s} {'wall':>10s}  [CPU]")
    if not arguments.small:
        large(np.random.default_rng(0))
    small()


if __name__ == "__main__":
    main()
