"""Conformal intervals: on a skewed target Gaussian intervals hold too many or too few; conformal ones hold what they say.

Medical scores, prices and counts are skewed, and wider where they are large. The same linear model tells intervals four ways.

Run: python examples/conformal_intervals.py [FIGURE.png]; house prices of California where TACIT_DATA names a folder that has
them, otherwise the diabetes data that come with scikit-learn.
"""

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_wine

from tacit.assess import ConformalClassifier, ConformalRegressor, interval_coverage, interval_score
from tacit.ensemble import RandomForestRegressor
from tacit.linear_model import BayesianRidge, LogisticRegression
from tacit.table import Table

if (Path(os.environ.get("TACIT_DATA", "")) / "california").is_dir():
    from tacit.datasets import load_california

    data = load_california(Path(os.environ["TACIT_DATA"]) / "california")
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.target, dtype=float)
    print("house prices of California: 600 districts to learn from\n")
else:
    X, y = load_diabetes(return_X_y=True)
    print("diabetes: half of the rows to learn from\n")
rng = np.random.default_rng(0)
order = rng.permutation(len(y))
n = min(600, len(y) // 2)
train, test = order[:n], order[n : n + 2000]
model, scale = BayesianRidge(), RandomForestRegressor(60, min_samples_leaf=10, random_state=0)
ways = {
    "Gaussian": model,
    "split": ConformalRegressor(model, method="split", random_state=0),
    "CV+": ConformalRegressor(model, random_state=0),
    "CV+, each end by itself": ConformalRegressor(model, symmetric=False, random_state=0),
    "CV+, wide where errors are": ConformalRegressor(model, scale=scale, cv=5, random_state=0),
}
rows, ends = [], {}
for name, way in ways.items():
    low, high = ends[name] = way.fit(X[train], y[train]).predict_interval(X[test], 0.9)
    found, mean = interval_coverage(y[test], low, high), way.predict(X[test])
    top = mean > np.quantile(mean, 0.75)
    rows.append(
        {"intervals of 90 %": name, "inside": found.share, "below": found.below, "above": found.above,
         "inside, largest quarter": interval_coverage(y[test][top], low[top], high[top]).share, "mean width": found.width,
         "interval score": float(interval_score(y[test], low, high, 0.9).mean())}
    )  # fmt: skip
print(Table(rows))

wine, kind = load_wine(return_X_y=True)
order = rng.permutation(len(kind))
half = len(kind) // 2
columns = [0, 1, 9]  # few, so that kinds overlap
told = []
for score in ("lac", "aps"):
    sets = ConformalClassifier(LogisticRegression(max_iter=2000), kind=score, random_state=0)
    sets.fit(wine[order[:half]][:, columns], kind[order[:half]])
    inside = sets.predict_set(wine[order[half:]][:, columns], 0.95)
    held = inside[np.arange(len(inside)), kind[order[half:]]].mean()
    sizes = np.bincount(inside.sum(axis=1), minlength=4)[1:4]
    told.append(
        {"sets of 95 %": score, "hold the kind": float(held), **{f"of {k + 1}": int(s) for k, s in enumerate(sizes)}}
    )
print("\nthree kinds of wine by three columns: sets that hold the kind")
print(Table(told))

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
    for ax, name in zip(axes, ("Gaussian", "CV+, wide where errors are")):
        low, high = ends[name]
        place = np.argsort(0.5 * (low + high))[:: max(len(low) // 150, 1)]
        out = (y[test][place] < low[place]) | (y[test][place] > high[place])
        at = np.arange(len(place))
        ax.vlines(at, low[place], high[place], color="#56B4E9", linewidth=1.5)
        ax.scatter(at, y[test][place], s=8, c=np.where(out, "#D55E00", "#333333"), zorder=3)
        ax.set(title=name, xlabel="rows by prediction")
    axes[0].set_ylabel("target")
    figure.savefig(sys.argv[1], dpi=110)
