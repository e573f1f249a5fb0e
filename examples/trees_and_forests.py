"""Trees and forests: a tree of its right size, what it says of one row, and a forest that tells how sure it is.

Run: python examples/trees_and_forests.py
"""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes

from tacit.ensemble import RandomForestClassifier, RandomForestRegressor
from tacit.tree import DecisionTreeClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
train = np.random.default_rng(0).permutation(len(y)) < 380
tree = DecisionTreeClassifier(random_state=0).fit(X[train], y[train])
print(f"whole tree   {tree.get_n_leaves():>2} leaves, error {1 - tree.score(X[~train], y[~train]):.3f}")
tree.prune(cv=10, rule="1se")
print(f"pruned       {tree.get_n_leaves():>2} leaves, error {1 - tree.score(X[~train], y[~train]):.3f}\n")
print(tree.cp_table_, "\n")
print(tree.rules(), "\n")
print(tree.explain(X[~train].iloc[[0]]), "\n")

forest = RandomForestClassifier(200, oob_score=True, random_state=0).fit(X[train], y[train])
print(f"forest       out of bag {forest.oob_curve_[-1]:.3f}, error {1 - forest.score(X[~train], y[~train]):.3f}")
importance = forest.permutation_importance(X[train], y[train])
print("most important: " + ", ".join(X.columns[np.argsort(-importance)[:3]]), "\n")

X, y = load_diabetes(return_X_y=True)
forest = RandomForestRegressor(200, min_samples_leaf=3, intervals=True, random_state=0).fit(X[:300], y[:300])
for level in (0.5, 0.8, 0.9):
    low, high = forest.predict_interval(X[300:], level)
    print(f"intervals of {level:.0%} hold {((low <= y[300:]) & (y[300:] <= high)).mean():.0%} of new rows")
