"""Moons and rings: groups that are long or hollow have no centre, but each is one part of a graph of near rows.

Run: python examples/moons_and_rings.py [FIGURE.png]
"""

import sys

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from tacit.cluster import KMeans, SpectralClustering, cluster_report

tables = {
    "moons": make_moons(600, noise=0.07, random_state=0),
    "rings": make_circles(600, factor=0.45, noise=0.06, random_state=0),
    "blobs": make_blobs(600, centers=[[0, 0], [5, 0], [2, 4.5]], random_state=0),
}

print(f"{'':<8}{'k-means':>9}{'spectral':>10}   (agreement with the truth: adjusted Rand index)")
found = {}
for name, (X, truth) in tables.items():
    n_groups = len(set(truth))
    means = KMeans(n_groups, random_state=0).fit(X)
    graph = SpectralClustering(n_groups, affinity="nearest_neighbors", n_neighbors=15, random_state=0).fit(X)
    found[name] = means, graph
    scores = [adjusted_rand_score(truth, model.labels_) for model in (means, graph)]
    print(f"{name:<8}{scores[0]:>9.2f}{scores[1]:>10.2f}")

# How many groups? The Laplacian of the graph has an eigenvalue near 0 for each, and a gap follows where they are compact.
open_ended = SpectralClustering("auto", gamma=0.5, random_state=0).fit(tables["blobs"][0])
values = ", ".join(f"{value:.2f}" for value in open_ended.eigenvalues_)
print(f"\neigenvalues of the blobs' graph: {values}")
print(
    f"the largest gap, {open_ended.eigengap_:.2f}, follows after {open_ended.n_clusters_}: {open_ended.n_clusters_} groups"
)

# New rows find their places by the rows they are near to.
new, classes = make_moons(200, noise=0.07, random_state=1)
print(f"\nagreement of 200 new rows of the moons: {adjusted_rand_score(classes, found['moons'][1].predict(new)):.2f}")

# Silhouettes go by distances to all rows of a group, so they prefer the wrong halves: no score judges every shape.
for name, (means, graph) in found.items():
    X, _ = tables[name]
    scores = [cluster_report(X, model).scores["silhouette"] for model in (means, graph)]
    print(f"silhouette of the {name}: k-means {scores[0]:.2f}, spectral {scores[1]:.2f}")
print("\nk-means cuts moons and rings in halves, as their silhouettes like it; the graph follows their shape.")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from tacit.plot import ClustersDisplay, SpectrumDisplay

    figure, places = pyplot.subplots(2, 4, figsize=(17, 8), layout="constrained")
    for column, (name, fits) in zip(places.T, found.items()):
        for ax, model, title in zip(column, fits, ("k-means", "spectral")):
            ClustersDisplay.from_estimator(model, tables[name][0], ax=ax)
            ax.set(title=f"{name}, {title}", xlabel="", ylabel="", aspect="equal")
            ax.get_legend().remove()
    SpectrumDisplay.from_estimator(open_ended, ax=places[0, 3])
    moons = found["moons"][1]
    second, colour = moons.embedding_[:, 1], np.where(moons.labels_ == 1, "#E69F00", "#0072B2")
    order = np.argsort(second)
    places[1, 3].scatter(np.arange(len(second)), second[order], c=colour[order], s=9)
    places[1, 3].set(title="moons, second eigenvector", xlabel="rows, sorted", ylabel="value")
    figure.savefig(sys.argv[1], dpi=100)
