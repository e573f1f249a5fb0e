"""Tables with a target, for the tests of linear models."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes


def folder(*parts):
    """A path in the folder of published data, or a skipped test."""
    root = os.environ.get("TACIT_DATA")
    if not root or not Path(root).is_dir():
        pytest.skip("TACIT_DATA does not name the folder of published data sets")
    return Path(root).joinpath(*parts)


def rows(n=120, d=5, noise=1.0, lost=0.0, seed=0):
    """Correlated columns, a linear target, and cells lost at random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) / np.sqrt(d) + 0.7 * np.eye(d)) + 2.0
    y = X @ rng.normal(size=d) + noise * rng.normal(size=n)
    if lost:
        gone = rng.random(X.shape) < lost
        gone[:2] = False
        X = np.where(gone, np.nan, X)
    return X, y


def real_tables():
    """Five real tables: features, target."""
    cars = pd.read_csv(folder("cars04", "cars04_387.csv"))
    sizes = ["Engine", "Cylinders", "Horsepower", "Weight", "Wheelbase", "Length", "Width"]
    buoys = pd.read_csv(folder("missing", "oceanbuoys.csv")).dropna(subset="air_temp_c")
    around = ["latitude", "longitude", "sea_temp_c", "humidity", "wind_ew", "wind_ns"]
    prostate = pd.read_csv(folder("esl", "prostate.csv"))
    california = np.load(folder("california", "california.npz"))
    some = np.random.default_rng(0).choice(len(california["y"]), 600, replace=False)
    return {
        "diabetes": load_diabetes(return_X_y=True),
        "prostate": (prostate.loc[:, "lcavol":"pgg45"].to_numpy(float), prostate["lpsa"].to_numpy(float)),
        "cars": (cars[sizes].to_numpy(float), np.log(cars["Retail"].to_numpy(float))),
        "buoys": (buoys[around].to_numpy(float), buoys["air_temp_c"].to_numpy(float)),
        "california": (np.log1p(california["X"][some] - california["X"].min(axis=0)), np.log(california["y"][some])),
    }


def coverage(model, X, y, n_splits=6, lost=0.0, level=0.95):
    """Share of held-out targets within their intervals, over random halves."""
    inside = []
    for seed in range(n_splits):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        train, test = order[: len(y) * 2 // 3], order[len(y) * 2 // 3 :]
        Z = np.where(rng.random(X.shape) < lost, np.nan, X)
        low, high = model.fit(Z[train], y[train]).predict_interval(Z[test], level)
        inside.append((low < y[test]) & (y[test] < high))
    return np.concatenate(inside).mean()
