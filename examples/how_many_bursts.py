"""How many components has Old Faithful? The likelihood ratio of one against two and two against three, by the bootstrap.

Twice the log of the ratio has no χ² distribution here, since a component of weight nought could be anything; samples from the
smaller mixture tell what it is. Intervals of what two components say come from refits whose components keep their places.

Run: python examples/how_many_bursts.py [FAITHFUL.csv], with columns eruptions and waiting; without a table, TACIT_DATA must name
the folder of published data sets.
"""

import os
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from tacit.assess import bootstrap, likelihood_ratio
from tacit.mixture import GaussianMixture

given = [argument for argument in sys.argv[1:] if argument.endswith(".csv")]
if given:
    path = Path(given[0])
elif "TACIT_DATA" in os.environ:
    path = Path(os.environ["TACIT_DATA"]) / "faithful" / "faithful.csv"
else:
    sys.exit("give the path of faithful.csv, or set TACIT_DATA to the folder of published data sets")
X = pd.read_csv(path)[["eruptions", "waiting"]].to_numpy(dtype=float)
fits = [GaussianMixture(k, random_state=0).fit(X) for k in (1, 2, 3)]
for small, large in pairwise(fits):
    found = likelihood_ratio(small, large, X, n_bootstrap=39, random_state=0)
    verdict = "more" if found.rejected else "no more"
    print(f"{small.n_components} or {verdict}: ratio {found.statistic:.1f}, p = {found.p_value:.3f}")

two = fits[1]
spread = bootstrap(two, X, n_resamples=199, random_state=0)
for k in np.argsort(two.means_[:, 0]):
    ends = [
        f"{two.means_[k, j]:.2f} ({spread.low['means_'][k, j]:.2f} to {spread.high['means_'][k, j]:.2f})"
        for j in (0, 1)
    ]
    print(f"eruptions of {ends[0]} minutes, waits of {ends[1]}, {two.weights_[k]:.0%} of all")
