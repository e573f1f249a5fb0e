"""Boosting: AdaBoost on Hastie's ten columns, and gradient boosting of the same, explained.

Run: python examples/boosting.py [FIGURE.png]
"""

import sys

import numpy as np
from sklearn.datasets import make_hastie_10_2

from tacit.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from tacit.tree import shap_values

X, y = make_hastie_10_2(12_000, random_state=0)  # whether ten squares sum to more than the median of χ²
train, test = slice(2000), slice(2000, None)
votes = AdaBoostClassifier(n_estimators=400).fit(X[train], y[train])
errors = [1 - score for score in votes.staged_score(X[test], y[test])]
for m in (1, 10, 100, 400):
    print(
        f"AdaBoost, {m:3d} splits: test error {errors[m - 1]:.3f}, training error {votes.train_errors_[m - 1]:.3f} "
        f"(bound {votes.bounds_[m - 1]:.3f})"
    )
model = GradientBoostingClassifier(max_iter=400, max_leaf_nodes=2, learning_rate=0.2).fit(X[train], y[train])
print(f"gradient boosting of 400 splits: test error {1 - model.score(X[test], y[test]):.3f}")
told = shap_values(model, X[test][:1000])
print(f"mean |φ| of the ten columns: {told.importances.min():.2f} to {told.importances.max():.2f}")
far = np.abs(X[test][:1000]) > 1.5
print(f"share of cells beyond ±1.5 that add to the odds: {(told.values[far] > 0).mean():.3f}")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    from tacit.plot import PartialDependenceDisplay, RoundsDisplay

    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    curves = {"training rows": votes.train_errors_, "bound": votes.bounds_, "other rows": np.array(errors)}
    RoundsDisplay(curves, "share of wrong classes").plot(axes[0])
    PartialDependenceDisplay.from_estimator(model, X[train], 0, ax=axes[1])
    figure.savefig(sys.argv[1], dpi=120)
