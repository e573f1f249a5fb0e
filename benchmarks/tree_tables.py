"""``python -m benchmarks.tree_tables``: forests and boosting by default on ten small tables, against scikit-learn and LightGBM.

Errors are means over the same five folds: shares of wrong classes, or root mean squares in standard deviations of the target.
Times are of the processor, per fit and prediction, both sides in turn. Tables beyond those of scikit-learn are read from the
folder that TACIT_DATA names.
"""

import os
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets, ensemble
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, StratifiedKFold

import tacit.ensemble
from tacit.datasets import load_penguins

from .harness import table


def tables():
    """Name, columns and target; the target's type says what is asked."""
    for name in ("iris", "wine", "breast_cancer", "diabetes"):
        yield name, *getattr(datasets, f"load_{name}")(return_X_y=True)
    X, y = datasets.load_digits(return_X_y=True)
    yield "digits, 500 rows", X[:500], y[:500]
    X, species, _ = load_penguins()
    yield "penguins", X, np.unique(species, return_inverse=True)[1]
    if folder := os.environ.get("TACIT_DATA"):
        air = pd.read_csv(Path(folder) / "missing" / "airquality.csv").select_dtypes("number").dropna(subset="Ozone")
        yield "airquality", air.drop(columns="Ozone").to_numpy(float), air["Ozone"].to_numpy(float)
        faithful = pd.read_csv(Path(folder) / "faithful" / "faithful.csv")
        yield "faithful", faithful[["eruptions"]].to_numpy(float), faithful["waiting"].to_numpy(float)
    wave = np.random.default_rng(0).uniform(-3, 3, (150, 3))
    yield "waves, 150 rows", wave, np.sin(2 * wave[:, 0]) + np.random.default_rng(1).normal(0, 0.3, 150)
    yield "friedman, 200 rows", *datasets.make_friedman1(200, random_state=0)


def models(classes):
    """Ours and each rival's, by what is compared."""
    kind = "Classifier" if classes else "Regressor"
    ours, theirs = (lambda package, name: lambda: getattr(package, name + kind)(random_state=0)), {}
    for name in ("HistGradientBoosting", "RandomForest", "ExtraTrees"):
        theirs[name] = {"ours": ours(tacit.ensemble, name), "scikit-learn": ours(ensemble, name)}
    try:
        import lightgbm
    except ImportError:
        return theirs
    theirs["HistGradientBoosting"]["LightGBM"] = lambda: getattr(lightgbm, "LGBM" + kind)(random_state=0, verbose=-1)
    return theirs


def judged(make, X, y):
    """Mean error over folds, and seconds of the processor."""
    model, errors, seconds = make(), [], []
    folds = (StratifiedKFold if is_classifier(model) else KFold)(5, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        start = time.process_time()
        told = make().fit(X[train], y[train]).predict(X[test])
        seconds.append(time.process_time() - start)
        errors.append(
            np.mean(told != y[test]) if is_classifier(model) else np.sqrt(np.mean((told - y[test]) ** 2)) / y.std()
        )
    return float(np.mean(errors)), statistics.median(seconds)


def main():
    """Print one table."""
    rows = []
    for name, X, y in tables():
        for what, makers in models(y.dtype.kind in "iu" and len(np.unique(y)) < 20).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = {who: judged(make, X, y) for who, make in makers.items()}
            row = {"table": name, "rows": str(len(X)), "model": what}
            for who, (error, seconds) in found.items():
                row |= {f"{who}: error": f"{error:.3f}", f"{who}: ms": f"{1e3 * seconds:.0f}"}
            rows.append(row | {key: row.get(key, "") for key in ("LightGBM: error", "LightGBM: ms")})
            print(rows[-1], flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
