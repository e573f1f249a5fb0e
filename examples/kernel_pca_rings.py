"""Rings: no straight line parts one from the other, but the first kernel component does, and it denoises them too.

Run: python examples/kernel_pca_rings.py [FIGURE.png]
"""

import sys

import numpy as np
from sklearn.datasets import make_circles
from sklearn.linear_model import LogisticRegression

from tacit.factor import KernelPCA

GAMMA = 4.0

X, ring = make_circles(500, factor=0.35, noise=0.07, random_state=0)
new, new_ring = make_circles(300, factor=0.35, noise=0.07, random_state=1)


def straight_line(rows, new_rows):
    """Share of new rows on the right side of the best straight line."""
    return LogisticRegression(C=1e3).fit(rows, ring).score(new_rows, new_ring)


linear = KernelPCA(2).fit(X)
model = KernelPCA(2, kernel="rbf", gamma=GAMMA).fit(X)
scores = model.transform(X)
print("share of new rows that a straight line puts into the right ring:")
print(f"  of the rows themselves          {straight_line(X, new):.2f}")
print(f"  of linear components            {straight_line(linear.transform(X), linear.transform(new)):.2f}")
print(f"  of components of the RBF kernel {straight_line(scores, model.transform(new)):.2f}")
print(f"their shares of the kernel's variance: {', '.join(f'{r:.2f}' for r in model.explained_variance_ratio_)}")

# Pre-images: the row that belongs to the first components of another. Noise across a ring is lost, the place along it is not.
cleaned = {}
for preimage in ("ridge", "fixed_point"):
    denoiser = KernelPCA(
        16, kernel="rbf", gamma=GAMMA, fit_inverse_transform=True, alpha=0.1, preimage=preimage, random_state=0
    ).fit(X)
    cleaned[preimage] = denoiser.inverse_transform(denoiser.transform(new))
radius = np.where(new_ring == 1, 0.35, 1.0)
print("\nroot mean square distance from the ring:")
for name, rows in {"as it came": new, **cleaned}.items():
    print(f"  {name:<12} {np.sqrt(np.mean((np.linalg.norm(rows, axis=1) - radius) ** 2)):.3f}")

# Landmarks: a tenth of the rows stands for all of them.
few = KernelPCA(2, kernel="rbf", gamma=GAMMA, n_landmarks=50, random_state=0).fit(X)
gap = np.abs(few.eigenvalues_ / model.eigenvalues_ - 1).max()
print(
    f"\n50 landmarks miss {few.approximation_error_:.1%} of the variance; the first two eigenvalues differ by {gap:.1%}."
)

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(1, 4, figsize=(17, 4.2), layout="constrained")
    colour = np.where(ring == 1, "#E69F00", "#0072B2")
    panels = {"rows": X, "linear components": linear.transform(X), "RBF components": scores}
    for ax, (title, points) in zip(places, panels.items()):
        ax.scatter(*points.T, c=colour, s=9)
        ax.set(title=title)
    places[3].scatter(*new.T, c="0.75", s=9, label="new rows")
    places[3].scatter(
        *cleaned["fixed_point"].T, c=np.where(new_ring == 1, "#E69F00", "#0072B2"), s=9, label="pre-images"
    )
    places[3].set(title="pre-images of 16 components")
    places[3].legend(loc="upper right")
    for ax in (places[0], places[3]):
        ax.set_aspect("equal")
    figure.savefig(sys.argv[1], dpi=100)
