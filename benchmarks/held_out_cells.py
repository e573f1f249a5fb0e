"""``python -m benchmarks.held_out_cells``: a fifth of the cells of real tables is lost, and filled by us and by rivals.

Printed are root mean square errors in standard deviations of the columns, and how many lost cells the 90 % intervals hold. With
the argument ``models`` our models are compared with each other and with forests on six of the tables. Tables beyond those
of scikit-learn are read from the folder that TACIT_DATA names.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from tacit.ensemble import ForestImputer
from tacit.factor import ProbabilisticPCA
from tacit.impute import GaussianImputer, MixtureImputer
from tacit.variational import VariationalAutoencoder

from .harness import table

REPEATS = 3
MORE = {
    "airquality": ("missing/airquality.csv", ["Ozone", "Solar.R", "Wind", "Temp"]),
    "marks": ("marks/marks.csv", slice(-5, None)),
    "cars": ("cars04/cars04_387.csv", slice(-11, None)),
    "ozone": ("missing/ozone.csv", slice(-11, None)),
    "pima": ("missing/pima.csv", slice(None)),
    "ocean buoys": ("missing/oceanbuoys.csv", slice(-5, None)),
}


def tables():
    """Names and standardised columns."""
    for load in (load_iris, load_wine, load_diabetes, load_breast_cancer):
        yield load.__name__.removeprefix("load_"), load().data
    for name, (path, columns) in MORE.items() if os.environ.get("TACIT_DATA") else ():
        read = pd.read_csv(Path(os.environ["TACIT_DATA"]) / path).select_dtypes("number")
        yield name, (read[columns] if isinstance(columns, list) else read.iloc[:, columns]).to_numpy(float)


def rivals():
    """Who else fills cells, by name."""
    return {"mean": SimpleImputer(), "5 neighbours": KNNImputer(), "IterativeImputer": IterativeImputer(random_state=0)}


def compare(X):
    """Errors by method, and the share of lost cells within the intervals."""
    rng, errors, covered = np.random.default_rng(0), {}, []
    for _ in range(REPEATS):
        lost = (rng.random(X.shape) < 0.2) & ~np.isnan(X)
        H = np.where(lost, np.nan, X)
        filled, std = ProbabilisticPCA("bic", scale=True).fit(H).impute(H, return_std=True)
        covered.append((np.abs(filled - X) < 1.645 * std)[lost].mean())
        found = {"ProbabilisticPCA": filled} | {name: rival.fit_transform(H) for name, rival in rivals().items()}
        for name, whole in found.items():
            errors.setdefault(name, []).append(np.sqrt(np.mean((whole - X)[lost] ** 2)))
    return {name: f"{np.mean(values):.3f}" for name, values in errors.items()} | {
        "within 90 %": f"{np.mean(covered):.3f}"
    }


def compare_models(X):
    """Errors of our models, of scikit-learn's and of forests, and the share of lost cells within the autoencoder's intervals."""
    rng, errors, covered = np.random.default_rng(0), {}, []
    for seed in range(REPEATS):
        lost = (rng.random(X.shape) < 0.2) & ~np.isnan(X)
        H = np.where(lost, np.nan, X)
        drawn = VariationalAutoencoder(random_state=seed).fit(H).impute(H, interval=0.9)
        covered.append(((drawn.low <= X) & (drawn.high >= X))[lost].mean())
        found = {
            "VariationalAutoencoder": drawn.filled,
            "ProbabilisticPCA": ProbabilisticPCA("auto", scale=True).fit(H).impute(H),
            "GaussianImputer": GaussianImputer().fit_transform(H),
            "MixtureImputer": MixtureImputer(random_state=seed).fit_transform(H),
            "IterativeImputer": IterativeImputer(random_state=seed).fit_transform(H),
            "ForestImputer": ForestImputer(random_state=seed).fit_transform(H),
        }
        for name, whole in found.items():
            errors.setdefault(name, []).append(np.sqrt(np.mean((whole - X)[lost] ** 2)))
    return {name: f"{np.mean(values):.3f}" for name, values in errors.items()} | {
        "within 90 %": f"{np.mean(covered):.3f}"
    }


def main():
    """Print one table."""
    rows, run = [], compare_models if "models" in sys.argv[1:] else compare
    for name, X in tables():
        if run is compare_models and os.environ.get("TACIT_DATA") and name not in MORE:
            continue
        X = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.append({"table": f"{name} {X.shape[0]} × {X.shape[1]}"} | run(X))
    print(table(rows))


if __name__ == "__main__":
    main()
