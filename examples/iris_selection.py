"""Iris from end to end: which model, how sure of it, what the groups are, and how precisely they are known.

Run: python examples/iris_selection.py [FIGURE.png]
"""

import sys
import tempfile
from pathlib import Path

import matplotlib
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from tacit.mixture import GaussianMixture, bootstrap_lrt, select, standard_errors
from tacit.plot import ClustersDisplay, ResponsibilitiesDisplay

matplotlib.use("Agg")
from matplotlib import pyplot

iris = load_iris(as_frame=True)
X, species = iris.data.rename(columns=lambda name: name.removesuffix(" (cm)")), iris.target

# Which model? Seven of the fourteen covariance structures ("all" tries every one), one to six groups.
kinds = ["full", "tied", "diag", "spherical", "VEV", "EEV", "VEE"]
found = select(
    GaussianMixture(tol=1e-6, max_iter=1000, random_state=0), X, n_components=range(1, 7), covariance_type=kinds
)
print(found.table[:6])
print(f"\nbest by BIC: {found.best_settings}")
print(f"agreement with the species (adjusted Rand index): {adjusted_rand_score(species, found.best.predict(X)):.2f}")

# BIC sees two groups; three are almost as good. Is the third one there?
test = bootstrap_lrt(GaussianMixture(), X, 2, n_bootstrap=19, random_state=0)
print(f"\ntwo groups against three: −2 log λ = {test.statistic:.1f}, p = {test.p_value:.2f}")
three = found.models[3, "VEV"]
print(f"agreement of three groups with the species: {adjusted_rand_score(species, three.predict(X)):.2f}")

# How well are the means of the three groups known?
errors = standard_errors(three, X, method="weighted", n_bootstrap=100, random_state=0)
means = [row for row in errors.table if row["parameter"].startswith("means_") and "petal length" in row["parameter"]]
print("\nmean petal length (cm), 95 % intervals")
for row in means:
    print(f"  {row['estimate']:.2f} ± {row['standard_error']:.2f}   [{row['lower']:.2f}, {row['upper']:.2f}]")

figure, places = pyplot.subplots(2, 2, figsize=(12, 8), layout="constrained")
found.plot(ax=places[0, 0])
ClustersDisplay.from_estimator(found.best, X, features="discriminating", ax=places[0, 1])
ClustersDisplay.from_estimator(three, X, features="discriminating", ax=places[1, 0])
ResponsibilitiesDisplay.from_estimator(three, X, ax=places[1, 1])
path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.gettempdir()) / "iris_selection.png"
figure.savefig(path, dpi=100)
print(f"\nfigure: {path}")
