"""Old Faithful: two kinds of eruption, and three components with a common covariance as the best model of all.

Run: python examples/old_faithful.py [FAITHFUL.csv] [FIGURE.png], with columns eruptions and waiting; without a table, TACIT_DATA
must name the data folder.
"""

import os
import sys
from pathlib import Path

import numpy as np

from tacit.mixture import GaussianMixture, select

given = {Path(argument).suffix: Path(argument) for argument in sys.argv[1:]}
if ".csv" in given:
    path = given[".csv"]
elif "TACIT_DATA" in os.environ:
    path = Path(os.environ["TACIT_DATA"]) / "faithful" / "faithful.csv"
else:
    sys.exit("give the path of faithful.csv, or set TACIT_DATA to the folder of published data sets")
X = np.genfromtxt(path, delimiter=",", skip_header=1)[:, -2:]

two = GaussianMixture(2, tol=1e-12, max_iter=2000, random_state=0).fit(X)
print(f"two components: log-likelihood {two.score(X) * len(X):.4f}, BIC {two.bic(X):.4f}")
for weight, mean in sorted(zip(two.weights_, two.means_), key=lambda pair: pair[1][0]):
    print(f"  {weight:.1%} of eruptions last {mean[0]:.2f} min and follow a wait of {mean[1]:.1f} min")

# All fourteen structures of covariance; rows and starts are shared.
chosen = select(GaussianMixture(random_state=0, max_iter=500), X, n_components=range(1, 6), covariance_type="all")
print("\nthe five best of", len(chosen.table))
print(chosen.table[:5])

waiting = np.array([[np.nan, 60.0], [np.nan, 80.0]])
length, std = two.impute(waiting, return_std=True)
print("\nafter waiting 60 and 80 minutes, expect eruptions of")
for value, spread in zip(length[:, 0], std[:, 0]):
    print(f"  {value:.2f} ± {spread:.2f} min")

if ".png" in given:
    import matplotlib.pyplot as plt

    from tacit.plot import ClustersDisplay

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    ClustersDisplay.from_estimator(chosen.best, X, ax=left)
    left.set(xlabel="eruption (min)", ylabel="waiting (min)", title="the best model")
    chosen.plot(ax=right)
    figure.savefig(given[".png"], dpi=120)
