"""Learning curves: what more rows would bring, how bent a curve may be, and which models the data tell apart.

Run: python examples/learning_curves.py [FIGURE.png]
"""

import sys

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from tacit.assess import compare, learning_curve, validation_curve
from tacit.ensemble import RandomForestRegressor
from tacit.linear_model import BasisExpansion, BayesianRidge, LinearRegression

X, y = load_diabetes(return_X_y=True)
print("diabetes, 442 rows: squared errors on rows held out\n")
curve = learning_curve(BayesianRidge(), X, y, [20, 40, 80, 160, 350])
print(curve)

rng = np.random.default_rng(0)
x = rng.uniform(0, 1, (60, 1))
wave = np.sin(2 * np.pi * x[:, 0]) + 0.3 * rng.normal(size=60)
bend = validation_curve(
    make_pipeline(BasisExpansion("polynomial"), LinearRegression()), x, wave, setting="basisexpansion__degree",
    values=[1, 2, 3, 4, 5, 7, 9, 12], repeats=5,
)  # fmt: skip
print(
    f"\na sine wave from 60 points, by polynomials: the best degree is {bend.best}, and {bend.simplest()} by the 1-SE rule"
)
print(bend)

models = {
    "Bayesian ridge": BayesianRidge(), "least squares": LinearRegression(),
    "forest": RandomForestRegressor(60, min_samples_leaf=3, random_state=0), "tree": DecisionTreeRegressor(random_state=0),
}  # fmt: skip
found = compare(models, X, y)
print(f"\n{found.sentence}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    for each, ax in zip((curve, bend, found), axes):
        each.plot(ax)
    axes[1].set_ylim(0, 1)
    figure.savefig(sys.argv[1], dpi=110)
