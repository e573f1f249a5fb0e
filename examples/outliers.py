"""Outliers: a few wild rows pull means away and take clusters for themselves; medians and medoids hold much longer.

Run: python examples/outliers.py [FIGURE.png]
"""

import sys

import numpy as np
from sklearn.metrics import adjusted_rand_score

from tacit.cluster import ColumnScaler, KMeans, KMedians, KMedoids, cluster_report

rng = np.random.default_rng(0)
middles = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])
groups = np.repeat(np.arange(3), 100)
rows = middles[groups] + rng.normal(size=(300, 2))
angles, n_wild = rng.uniform(-0.5, 0.5, 8), 8
directions = np.column_stack([np.cos(angles), np.sin(angles)])


def with_wild(distance):
    """The rows, and eight more at about this distance to the right."""
    return np.vstack([rows, distance * directions])


def models():
    return {
        "means": KMeans(3, n_init=10, random_state=0),
        "medians": KMedians(3, n_init=10, random_state=0),
        "medoids": KMedoids(3),
    }


print(f"{len(rows)} rows in three groups, and {n_wild} wild ones at a growing distance\n")
print(
    "agreement of the 300 with their groups (adjusted Rand index), and how far the worst centre is from a group's middle\n"
)
print(f"{'distance':>8}" + "".join(f"{name:>18}" for name in models()))
fits = {}
for distance in (10, 20, 40, 80, 160, 320):
    X, cells = with_wild(distance), []
    for name, model in models().items():
        fits[distance, name] = model.fit(X)
        agreement = adjusted_rand_score(groups, model.labels_[:300])
        off = max(np.linalg.norm(model.cluster_centers_ - middle, axis=1).min() for middle in middles)
        cells.append(f"{agreement:>10.2f} ({off:>4.1f})")
    print(f"{distance:>8}" + "".join(f"{cell:>18}" for cell in cells))
print(
    "\nA square of the distance is soon worth more than a group of rows, the distance itself only when it is very long."
)

# The same holds for the unit of a column: wild cells blow up its standard deviation, not its median absolute deviation.
for method in ("deviation", "mad"):
    clean, wild = (ColumnScaler(method).fit(X).scale_[0] for X in (rows, with_wild(80)))
    print(f"unit of the first column by {method}: {clean:.1f} without the wild rows, {wild:.1f} with them")

print("\nk-means with wild rows at 80, in its own words:\n")
print(cluster_report(with_wild(80), fits[80, "means"], feature_names=["x", "y"]))

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from tacit.plot import ClustersDisplay

    figure, places = pyplot.subplots(1, 3, figsize=(14, 4.4), layout="constrained", sharex=True, sharey=True)
    for ax, name in zip(places, models()):
        ClustersDisplay.from_estimator(fits[40, name], with_wild(40), ax=ax)
        ax.set(title=f"clusters around {name}", xlabel="x", ylabel="y")
    figure.savefig(sys.argv[1], dpi=100)
