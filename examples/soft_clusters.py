"""Soft clusters: rows belong to centres by exp(−‖x − μ‖² / β); small β is k-means, large β a single centre.

In between there are critical widths at which centres part, one after the other.

Run: python examples/soft_clusters.py
"""

import warnings

import numpy as np

from tacit.cluster import KMeans, SoftKMeans
from tacit.table import Table

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(place, 0.5, (60, 2)) for place in ([0, 0], [3, 0], [0, 7])])
hard = KMeans(3, random_state=0).fit(X)
print(f"k-means: loss {hard.inertia_:.3f} after {hard.n_iter_} passes")
rows = []
warnings.simplefilter("ignore")  # that centres coincide is the point here
for width in (0.1, 0.5, 2.0, 8.0, 20.0, 60.0):
    soft = SoftKMeans(3, stiffness=1.0 / width, random_state=0, max_iter=5000, tol=1e-10).fit(X)
    memberships = soft.predict_proba(X)
    centres = np.unique(soft.cluster_centers_.round(2), axis=0)
    rows.append(
        {"beta": width, "places of centres": len(centres), "surest membership": float(memberships.max(axis=1).mean()),
         "as k-means": float((soft.labels_ == hard.labels_).mean()) if len(centres) == 3 else None}
    )  # fmt: skip
print(Table(rows))
critical = 4.0 * np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1] / 2.0
print(f"a single centre parts below beta = 2 × the largest variance along an axis = {critical:.1f}")
