"""Old Faithful: two kinds of eruption, and three components with a common covariance as the best model of all.

Run: python examples/old_faithful.py FAITHFUL.csv (columns eruptions, waiting), or with TACIT_DATA naming the data folder.
"""

import os
import sys
from pathlib import Path

import numpy as np

from tacit.mixture import GaussianMixture

if len(sys.argv) > 1:
    path = Path(sys.argv[1])
elif "TACIT_DATA" in os.environ:
    path = Path(os.environ["TACIT_DATA"]) / "faithful" / "faithful.csv"
else:
    sys.exit("give the path of faithful.csv, or set TACIT_DATA to the folder of published data sets")
X = np.genfromtxt(path, delimiter=",", skip_header=1)[:, -2:]

two = GaussianMixture(2, tol=1e-12, max_iter=2000, random_state=0).fit(X)
print(f"two components: log-likelihood {two.score(X) * len(X):.4f}, BIC {two.bic(X):.4f}")
for weight, mean in sorted(zip(two.weights_, two.means_), key=lambda pair: pair[1][0]):
    print(f"  {weight:.1%} of eruptions last {mean[0]:.2f} min and follow a wait of {mean[1]:.1f} min")

print("\nBIC by number of components and covariance (lower is better)")
kinds = ("full", "tied", "diag", "spherical")
print("  K " + "".join(f"{kind:>12}" for kind in kinds))
for k in range(1, 6):
    fits = [GaussianMixture(k, covariance_type=kind, tol=1e-8, max_iter=2000, random_state=0).fit(X) for kind in kinds]
    print(f"{k:>3} " + "".join(f"{fit.bic(X):>12.1f}" for fit in fits))

waiting = np.array([[np.nan, 60.0], [np.nan, 80.0]])
length, std = two.impute(waiting, return_std=True)
print("\nafter waiting 60 and 80 minutes, expect eruptions of")
for value, spread in zip(length[:, 0], std[:, 0]):
    print(f"  {value:.2f} ± {spread:.2f} min")
