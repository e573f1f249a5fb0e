"""Units: the same penguins in metres or millimetres fall into other clusters; what to do about it.

Run: python examples/units.py [FIGURE.png]
"""

import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from tacit.cluster import ColumnScaler, KMeans, KMedoids, cluster_report
from tacit.datasets import penguins_path

table = pd.read_csv(penguins_path()).drop(columns="year")
species = table.pop("species")
millimetres = table.select_dtypes("number").drop(columns="body_mass_g")
mixed = millimetres.assign(flipper_length_mm=millimetres["flipper_length_mm"] / 1000.0)
mixed = mixed.rename(columns={"flipper_length_mm": "flipper_length_m"})
print("the same three lengths of 344 penguins, twice: all in millimetres, or the flippers in metres")


def clusters(rows, *steps):
    return make_pipeline(*steps, KMeans(3, n_init=10, random_state=0)).fit(rows)


print(f"\n{'':<28}{'one unit or the other':>22}{'with the species':>19}   (adjusted Rand index)")
for name, steps in (("as they are", ()), ("deviations", (ColumnScaler(),)), ("whitened", (ColumnScaler("whiten"),))):
    labels = [clusters(rows, *steps).predict(rows) for rows in (millimetres, mixed)]
    same = adjusted_rand_score(*labels)
    truth = " and ".join(f"{adjusted_rand_score(species, found):.2f}" for found in labels)
    print(f"k-means, {name:<19}{same:>22.2f}{truth:>19}")

# Gower's dissimilarity divides every column by its range, and takes island and sex along: these tell less of the species.
lengths = table.drop(columns="body_mass_g")
metres = lengths.assign(flipper_length_mm=lengths["flipper_length_mm"] / 1000.0)
labels = [KMedoids(3, metric="gower").fit(rows).labels_ for rows in (lengths, metres)]
truth = " and ".join(f"{adjusted_rand_score(species, found):.2f}" for found in labels)
print(f"{'k-medoids, Gower, all':<28}{adjusted_rand_score(*labels):>22.2f}{truth:>19}")

# The report notices where a unit decides, and tells what the clusters are in the units of the table.
whole = table.select_dtypes("number")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    cluster_report(whole, clusters(whole))
print(f"\nwith the mass in grams, the report warns: {caught[0].message}")
print("\nclusters of scaled rows, told in the table's own units:\n")
report = cluster_report(whole, clusters(whole, ColumnScaler()))
print(report)

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from tacit.plot import ProfilesDisplay, SilhouetteDisplay

    figure, places = pyplot.subplots(2, 2, figsize=(12, 9), layout="constrained")
    places = places.ravel()
    shown = np.array(["#0072B2", "#E69F00", "#009E73"])
    for ax, (name, rows) in zip(places, (("all in mm", millimetres), ("flippers in m", mixed))):
        ax.scatter(rows.iloc[:, 0], rows.iloc[:, 2], c=shown[clusters(rows).predict(rows)], s=10)
        ax.set(title=f"k-means, {name}", xlabel=rows.columns[0], ylabel=rows.columns[2])
    SilhouetteDisplay.from_report(report, ax=places[2])
    ProfilesDisplay.from_report(report, ax=places[3])
    figure.savefig(sys.argv[1], dpi=90)
