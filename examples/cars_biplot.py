"""Cars of 2004: size and price are two directions, and the rest of eleven columns follows from them.

Run: python examples/cars_biplot.py [FIGURE.png]; the cars where TACIT_DATA names a folder that has them (Journal of Statistics
Education, in openintro's cars04), otherwise the wines that come with scikit-learn.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from tacit.factor import PCA, ProbabilisticPCA
from tacit.table import Table

path = Path(os.environ.get("TACIT_DATA", "")) / "cars04" / "cars04_387.csv"
if path.is_file():
    cars = pd.read_csv(path)
    X, labels, what = cars.loc[:, "Retail":"Width"], cars["name"], "cars"
    kinds = {"Sports": "sports car", "SUV": "SUV", "Wagon": "wagon", "Minivan": "minivan"}
    groups = np.select([cars[column] == 1 for column in kinds], list(kinds.values()), "sedan")
else:
    wine = load_wine(as_frame=True)
    X, what = wine.data, "wines"
    labels, groups = pd.Series([f"wine {i}" for i in range(len(X))]), wine.target_names[wine.target]

model = PCA(scale=True).fit(X)  # columns have different units
print(f"{len(X)} {what}, {X.shape[1]} columns\n")
deviations = np.sqrt(model.explained_variance_)
cumulative = np.cumsum(model.explained_variance_ratio_)
shares = zip(deviations, model.explained_variance_ratio_, cumulative)
print(Table([dict(zip(("deviation", "share", "cumulative"), row)) for row in shares][:3]))
print("\ncorrelations of the columns with the first two:")
loadings = model.components_.T * deviations
print(Table([{"column": X.columns[j], "first": loadings[j, 0], "second": loadings[j, 1]} for j in range(X.shape[1])]))

scores = model.transform(X)
for k in (0, 1):
    order = np.argsort(scores[:, k])
    print(f"\ncomponent {k + 1} runs from {labels[order[0]]!r} to {labels[order[-1]]!r}")
middles = pd.DataFrame(scores[:, :2] / deviations[:2]).groupby(groups).mean()
print("\nmean scores of groups, in standard deviations:")
print(Table([{"group": name, "first": row[0], "second": row[1]} for name, row in middles.iterrows()]))

# How sure are scores, and how much less so of rows that lost half of their cells?
rng = np.random.default_rng(0)
incomplete = X.mask(rng.random(X.shape) < np.where(np.arange(len(X)) % 4 == 0, 0.5, 0.0)[:, None])
uncertain = ProbabilisticPCA(2, scale=True).fit(incomplete)
_, spread = uncertain.transform(incomplete, return_cov=True)
deviation = np.sqrt(spread[:, 0, 0])
lost = incomplete.isna().any(axis=1).to_numpy()
whole, half = deviation[~lost].mean(), deviation[lost].mean()
print(
    f"\nstandard deviation of the first score: {whole:.2f} of complete rows, {half:.2f} where half of the cells were lost"
)

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from tacit.plot import BiplotDisplay, LoadingsDisplay, ScoresDisplay, ScreeDisplay

    figure, places = pyplot.subplots(2, 2, figsize=(13, 11), layout="constrained")
    BiplotDisplay.from_estimator(model, X, groups=groups, ax=places[0, 0])
    ScreeDisplay.from_data(X, scale=True, ax=places[1, 0])
    ScoresDisplay.from_estimator(uncertain, incomplete, groups=groups, ax=places[0, 1])
    LoadingsDisplay.from_estimator(ProbabilisticPCA(3, scale=True).fit(X), ax=places[1, 1])
    figure.savefig(sys.argv[1], dpi=100)
