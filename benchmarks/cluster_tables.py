"""``python -m benchmarks.cluster_tables``: clusterers as they are by default against scikit-learn's, on small real tables.

KMeans, SpectralClustering and AgglomerativeClustering are given the number of classes and nothing else but a seed; columns are
scaled. Runs are interleaved. Told are the adjusted Rand index with the classes, what each makes small (k-means: its loss,
spectral clustering: NCut, trees: the sum of squares) relative to scikit-learn's (medians over seeds), and scikit-learn's least
time over ours. Tables beyond those of scikit-learn are read from the folder that TACIT_DATA names.
"""

import argparse
import os
import statistics
import time
import warnings
from pathlib import Path

import numpy as np

from .harness import table

MORE = {
    "banknote": ("mclust/banknote.csv", "Status"), "diabetes": ("mclust/diabetes.csv", "class"),
    "thyroid": ("mclust/thyroid.csv", "Diagnosis"), "vowel": ("esl/vowel_train.csv", "y"),
    "synthetic (Ripley)": ("ripley/synth_tr.csv", "yc"),
}  # fmt: skip
NAMES = ("KMeans", "SpectralClustering", "AgglomerativeClustering")


def tables():
    """Names, scaled rows and classes."""
    import pandas as pd
    from sklearn import datasets
    from sklearn.preprocessing import scale

    from tacit.datasets import load_penguins

    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X / 16 if name == "digits" else scale(X), y
    X, y, _ = load_penguins()
    whole = ~np.isnan(X).any(axis=1)
    yield "penguins", scale(X[whole]), y[whole]
    for name, (path, label) in MORE.items() if os.environ.get("TACIT_DATA") else ():
        read = pd.read_csv(Path(os.environ["TACIT_DATA"]) / path)
        yield name, scale(read.drop(columns=label).to_numpy()), read[label].to_numpy()


def makes_small(name, fitted, X):
    """What a clusterer's labels make small."""
    from sklearn.metrics.pairwise import rbf_kernel

    from tacit.cluster.spectral.laplacian import cuts

    if name == "SpectralClustering":
        affinity = rbf_kernel(X, gamma=1.0)
        np.fill_diagonal(affinity, 0.0)
        return cuts(affinity, np.unique(fitted.labels_, return_inverse=True)[1])[1]
    return sum(((X[fitted.labels_ == k] - X[fitted.labels_ == k].mean(axis=0)) ** 2).sum() for k in set(fitted.labels_))


def compare(name, X, y, n_seeds):
    """One row of the table, from interleaved runs."""
    import sklearn.cluster
    from sklearn.metrics import adjusted_rand_score

    import tacit.cluster

    found = {side: [] for side in ("ours", "theirs")}
    for seed in range(-1, n_seeds):  # the first compiles
        for side, library in (("ours", tacit.cluster), ("theirs", sklearn.cluster)):
            seeded = {} if name == "AgglomerativeClustering" else {"random_state": max(seed, 0)}
            start = time.perf_counter()
            fitted = getattr(library, name)(len(set(y)), **seeded).fit(X)
            seconds = time.perf_counter() - start
            if seed >= 0:
                found[side].append((adjusted_rand_score(y, fitted.labels_), makes_small(name, fitted, X), seconds))
    ours, theirs = ([statistics.median(values) for values in zip(*found[side])] for side in found)
    faster = min(each[2] for each in found["theirs"]) / min(each[2] for each in found["ours"])
    loss = ours[1] / theirs[1] if theirs[1] > 0 else float("nan")
    return {
        "clusterer": name, "ARI, ours / scikit-learn": f"{ours[0]:.2f} / {theirs[0]:.2f}", "loss ratio": f"{loss:.3f}",
        "time ratio": f"{faster:.1f} ×",
    }  # fmt: skip


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_tables", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="seeds of each")
    arguments = parser.parse_args()
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for told, X, y in tables():
            for name in NAMES:
                rows.append({"table": f"{told}, {X.shape[0]} × {X.shape[1]}"} | compare(name, X, y, arguments.seeds))
    print(table(rows))


if __name__ == "__main__":
    main()
