"""``python -m benchmarks.maxima``: how often default fits of Gaussian mixtures come to the best maximum that is known.

Twelve real tables × 20 seeds. A fit has reached a maximum where plain EM that goes on from it ends within `SAME` nats of it, for
all rows together; so neither side is held to the other's tolerance. Fits with a class on the covariance floor, or of no more rows
than a covariance needs (d + 1), do not count: there the likelihood has no maximum. ``--search N`` looks for better maxima by
N fits of every kind and prints the best; those below were found by some 800 to 3,000 starts of each table. Tables beyond those of
scikit-learn are read from the folder that TACIT_DATA names.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.mixture import GaussianMixture as Rival

from tacit.mixture import GaussianMixture

from .harness import table

SEEDS = 20
SAME = 0.01
CARS = [
    "Retail",
    "Dealer",
    "Engine",
    "Cylinders",
    "Horsepower",
    "CityMPG",
    "HighwayMPG",
    "Weight",
    "Wheelbase",
    "Length",
    "Width",
]
READ = {
    "diabetes": ("mclust/diabetes_full.csv", ["glufast", "glutest", "instest"], 3, "full"),
    "thyroid": ("mclust/thyroid.csv", ["RT3U", "T4", "T3", "TSH", "DTSH"], 3, "full"),
    "banknote": ("mclust/banknote.csv", ["Length", "Left", "Right", "Bottom", "Top", "Diagonal"], 3, "full"),
    "galaxies": ("mclust/galaxies.csv", ["velocity"], 4, "full"),
    "faithful": ("faithful/faithful.csv", ["eruptions", "waiting"], 3, "full"),
    "geyser": ("faithful/geyser.csv", ["waiting", "duration"], 3, "full"),
    "cars": ("cars04/cars04_387.csv", CARS, 3, "full"),
    "vowel": ("esl/vowel_train.csv", [f"x.{j}" for j in range(1, 11)], 6, "tied"),
}
BEST = {
    "iris": -180.1855, "wine": -2768.9401, "breast cancer": 4778.9504, "diabetes": -2295.0935, "thyroid": -2238.3904,
    "banknote": -627.0366, "galaxies": -197.4538, "faithful": -1114.4399, "geyser": -1363.9893, "cars": -16562.0064,
    "vowel": -3945.8438, "california": -33867.1568,
}  # fmt: skip
"""Log-likelihoods of the best maxima that are known."""


def tables():
    """Name, rows, number of classes and covariance type of each table."""
    yield "iris", load_iris().data, 3, "full"
    yield "wine", load_wine().data, 3, "full"
    yield "breast cancer", load_breast_cancer().data[:, :10], 3, "full"
    folder = os.environ.get("TACIT_DATA")
    for name, (path, columns, k, kind) in READ.items() if folder else ():
        X = pd.read_csv(Path(folder) / path)[columns].to_numpy(float)
        yield name, X / 1000 if name == "galaxies" else X, k, kind
    if folder:
        X = np.load(Path(folder) / "california/california.npz")["X"]
        yield "california", X[np.random.default_rng(0).choice(len(X), 2000, replace=False)], 6, "full"


def finished(fit, X, k, kind):
    """The log-likelihood that EM comes to from a fit, −∞ where a class collapses."""
    start = dict(weights_init=fit.weights_, means_init=fit.means_, precisions_init=fit.precisions_)
    start["weights_init"] = start["weights_init"] / start["weights_init"].sum()
    end = GaussianMixture(k, covariance_type=kind, tol=1e-10, max_iter=5000, **start).fit(X)
    least = X.shape[1] + 1 if kind == "full" else 0
    collapsed = end._model().collapsed(end.fit_.params) or end.weights_.min() * len(X) <= least
    return -np.inf if collapsed else end.score(X) * len(X)


def fits(kinds, X, k, kind, seeds):
    """Fits of each kind in turn, so that both meet the same load: name, seconds, log-likelihood as it is and in the end."""
    for seed in seeds:
        for name, make in kinds.items():
            started = time.perf_counter()
            fit = make(k, covariance_type=kind, random_state=seed).fit(X)
            yield name, time.perf_counter() - started, fit.score(X) * len(X), finished(fit, X, k, kind)


def compare(name, X, k, kind):
    """A row of the table."""
    kinds = {"tacit": GaussianMixture, "scikit-learn": Rival}
    for make in kinds.values():
        make(k, covariance_type=kind, random_state=0).fit(X)  # compiles and warms up
    found = pd.DataFrame(fits(kinds, X, k, kind, range(SEEDS)), columns=["by", "seconds", "value", "end"]).groupby("by")
    row = {"table": f"{name}, {len(X):,} × {X.shape[1]}, {k} {kind}", "best known": f"{BEST[name]:,.2f}"}
    for by in kinds:
        part = found.get_group(by)
        hits = int((part["end"] >= BEST[name] - SAME).sum())
        gap = BEST[name] - part["end"].replace(-np.inf, np.nan).median()
        row |= {
            by: f"{hits}",
            f"{by}, nats below": f"{abs(gap):.2f}",
            f"{by} (ms)": f"{1e3 * part['seconds'].median():.0f}",
        }
        if (part["end"] > BEST[name] + SAME).any():
            print(f"{name}: a better maximum, {part['end'].max():.4f}")
    return row


def search(n, name, X, k, kind):
    """The best that n fits of every kind come to."""
    kinds = {
        "ours": GaussianMixture,
        "k-means": Rival,
        "random rows": lambda *a, **b: Rival(*a, init_params="random_from_data", **b),
        "random": lambda *a, **b: Rival(*a, init_params="random", **b),
    }
    return max(end for *_, end in fits(kinds, X, k, kind, range(1000, 1000 + n)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="tables, default all")
    parser.add_argument("--search", type=int, metavar="N")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for each in tables():
        if asked.names and each[0] not in asked.names:
            continue
        if asked.search:
            print(each[0], f"{search(asked.search, *each):.4f}", f"known {BEST[each[0]]:.4f}", flush=True)
        else:
            rows.append(compare(*each))
            print(rows[-1], flush=True)
    if rows:
        print(table(rows))
        print({by: sum(int(row[by]) for row in rows) for by in ("tacit", "scikit-learn")}, "of", SEEDS * len(rows))
