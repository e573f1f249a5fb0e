"""Similarity graphs: the same two moons as four graphs, cut by two criteria, and where a random walk spends its time.

Rows within a radius, either or both among the other's nearest, or all pairs weighed by a Gaussian of their squared distance.

Run: python examples/similarity_graphs.py
"""

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from tacit.cluster import SpectralClustering
from tacit.table import Table

X, truth = make_moons(300, noise=0.06, random_state=0)
graphs = {
    "radius 0.3": {"affinity": "epsilon", "epsilon": 0.3},
    "either is near (or)": {"affinity": "nearest_neighbors", "n_neighbors": 10},
    "both are near (and)": {"affinity": "mutual_nearest_neighbors", "n_neighbors": 40},
    "all pairs, Gaussian": {"affinity": "rbf", "gamma": 30.0},
}
rows = []
for name, graph in graphs.items():
    for laplacian, cut in (("unnormalised", "ratio_cut_"), ("random_walk", "n_cut_")):
        model = SpectralClustering(2, laplacian=laplacian, random_state=0, **graph).fit(X)
        edges = csr_matrix(model.affinity_matrix_).nnz
        told = {"graph": name, "criterion": cut.strip("_"), "edges": edges // 2, "pieces": model.n_connected_components_,
                "value": float(getattr(model, cut)), "second eigenvalue": float(model.eigenvalues_[1]),
                "agrees with the moons": adjusted_rand_score(truth, model.labels_)}  # fmt: skip
        rows.append(told)
print(Table(rows))

# The walk that steps along edges by their weight comes to rest at its degrees: it stays as likely where it was.
walk = SpectralClustering(2, affinity="rbf", gamma=30.0, random_state=0).fit(X)
W = np.array(walk.affinity_matrix_)
np.fill_diagonal(W, 0.0)
step = W / W.sum(axis=1, keepdims=True)
apart = np.abs(walk.stationary_distribution_ @ step - walk.stationary_distribution_).max()
inside = [walk.stationary_distribution_[walk.labels_ == k].sum() for k in (0, 1)]
leave = [
    (walk.stationary_distribution_[walk.labels_ == k] @ step[np.ix_(walk.labels_ == k, walk.labels_ != k)]).sum()
    / inside[k]
    for k in (0, 1)
]
print(f"\na step changes the walk's shares by {apart:.0e} at most")
print(
    f"it leaves the moons with chances {leave[0]:.4f} and {leave[1]:.4f} a step; their sum is NCut, {walk.n_cut_:.4f}"
)
