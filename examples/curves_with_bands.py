"""Curves with bands: a Bayesian linear model of basis functions says where it knows the curve, and which functions it needs.

Run: python examples/curves_with_bands.py [FIGURE.png]; the prostate data where TACIT_DATA names a folder that has them (Hastie,
Tibshirani and Friedman), otherwise the diabetes data that come with scikit-learn.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline

from tacit.linear_model import BasisExpansion, BayesianLinearRegression, LinearRegression, SparseBayesianRegression
from tacit.table import Table

rng = np.random.default_rng(0)
x = np.sort(np.concatenate([rng.uniform(0, 0.45, 20), rng.uniform(0.75, 1, 12)]))[:, None]  # with a gap
y = np.sin(2 * np.pi * x[:, 0]) + 0.2 * rng.normal(size=len(x))
grid = np.linspace(-0.1, 1.1, 241)[:, None]

print("a sine wave from 32 noisy points with a gap\n")
bases = {
    "polynomial": BasisExpansion("polynomial", degree=7),
    "bumps": BasisExpansion("rbf", n_centers=12, centers="grid", width=0.5),
    "splines": BasisExpansion("spline", n_centers=8),
    "smooth steps": BasisExpansion("arctan", n_centers=12, centers="grid"),
    "steps": BasisExpansion("heaviside", n_centers=12, centers="grid"),
}
curves, lines = {}, []
for name, basis in bases.items():
    curve = make_pipeline(basis, BayesianLinearRegression()).fit(x, y)
    model, functions = curve[-1], curve[0]
    band = model.predictive(functions.transform(grid))
    curves[name] = band
    inside, gap = (np.flatnonzero(abs(grid[:, 0] - place) < 0.01) for place in (0.2, 0.6))
    lines.append(
        {
            "basis": name,
            "functions": functions.transform(x).shape[1],
            "log evidence": model.log_evidence_,
            "noise": float(np.sqrt(1 / model.alpha_)),
            "std at 0.2": band.std[inside].mean(),
            "std in the gap": band.std[gap].mean(),
        }
    )
print(Table(lines))

sparse = make_pipeline(BasisExpansion("rbf", n_centers=12, centers="grid", width=0.5), SparseBayesianRegression()).fit(
    x, y
)
print(f"\nsparse regression keeps {sparse[-1].relevant_.sum()} of 12 bumps")

path = Path(os.environ.get("TACIT_DATA", "")) / "esl" / "prostate.csv"
if path.is_file():
    table = pd.read_csv(path)
    train = table.pop("train").to_numpy()
    target, X, what = table.pop("lpsa").to_numpy(), table, "prostate"
else:
    X, target = load_diabetes(return_X_y=True, as_frame=True)
    target, what, train = target.to_numpy(), "diabetes", np.arange(len(X)) % 3 > 0
print(f"\n{what}: {train.sum()} rows to learn from, {(~train).sum()} held out")
lost = X.mask(rng.random(X.shape) < 0.2)
rows = []
for name, model in (("least squares", LinearRegression()), ("Bayesian", BayesianLinearRegression())):
    for cells, table in (("complete", X), ("20 % missing", lost)):
        model.fit(table[train], target[train])
        low, high = model.predict_interval(table[~train])
        error = np.mean((model.predict(table[~train]) - target[~train]) ** 2)
        covered = np.mean((low < target[~train]) & (target[~train] < high))
        rows.append({"model": name, "features": cells, "squared error": error, "in 95 % intervals": covered})
print(Table(rows))

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(2, 2, figsize=(11, 7), sharex=True, sharey=True, layout="constrained")
    for place, (name, band) in zip(places.ravel(), curves.items()):
        low, high = band.interval(0.95)
        place.fill_between(grid[:, 0], low, high, alpha=0.2, linewidth=0)
        place.plot(grid[:, 0], band.mean)
        place.plot(grid[:, 0], np.sin(2 * np.pi * grid[:, 0]), "k--", linewidth=1)
        place.plot(x[:, 0], y, "k.", markersize=5)
        place.set(title=name, ylim=(-2.5, 2.5))
    figure.savefig(sys.argv[1], dpi=100)
