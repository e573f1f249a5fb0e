"""Relevance vectors: a noisy curve and two overlapping classes, each told by a handful of rows.

The curve is sin(x) / x with uniform noise, on splines; the classes are Ripley's two pairs of Gaussians. Both examples are
those of Tipping (2001), Sparse Bayesian learning and the relevance vector machine.

    python examples/relevance_vectors.py [FIGURE.png]
"""

import sys

import numpy as np

from tacit.relevance import RelevanceVectorClassifier, RelevanceVectorRegressor


def spline(x, y):
    """A linear spline kernel."""
    m = min(x[0], y[0])
    return 1 + x[0] * y[0] + x[0] * y[0] * m - (x[0] + y[0]) / 2 * m**2 + m**3 / 3


def ripley(n, rng):
    """Two classes of two Gaussians each."""
    centers = np.array([[-0.7, 0.3], [0.3, 0.3], [-0.3, 0.7], [0.4, 0.7]])
    group = rng.integers(4, size=n)
    return centers[group] + np.sqrt(0.03) * rng.normal(size=(n, 2)), group // 2


rng = np.random.default_rng(1)
x = np.linspace(-10, 10, 100)[:, None]
truth = np.sinc(x[:, 0] / np.pi)
t = truth + rng.uniform(-0.2, 0.2, 100)
curve = RelevanceVectorRegressor(spline, fit_intercept=False).fit(x, t)
mean, deviation = curve.predict(x, return_std=True)
error = np.sqrt(np.mean((mean - truth) ** 2))
print(f"the curve: {len(curve.relevance_)} of 100 rows, root mean square error {error:.3f}")
print(f"noise: standard deviation {np.sqrt(curve.noise_variance_):.3f}, in truth {0.2 / np.sqrt(3):.3f}")

X, y = ripley(250, rng)
Z, z = ripley(10_000, rng)
classes = RelevanceVectorClassifier(gamma=4.0).fit(X, y)
print(f"the classes: {len(classes.relevance_)} of 250 rows, {100 * (1 - classes.score(Z, z)):.1f} % of new rows wrong")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    left.fill_between(x[:, 0], mean - 1.96 * deviation, mean + 1.96 * deviation, alpha=0.2, label="95 % of new rows")
    left.plot(x[:, 0], mean, label="mean")
    left.plot(x[:, 0], t, ".", color="grey")
    left.plot(x[curve.relevance_, 0], t[curve.relevance_], "o", mfc="none", color="black", label="relevance vectors")
    left.legend(loc="upper right")
    a, b = np.meshgrid(np.linspace(-1.3, 1.1, 120), np.linspace(-0.3, 1.2, 120))
    chance = classes.predict_proba(np.column_stack([a.ravel(), b.ravel()]))[:, 1].reshape(a.shape)
    right.contourf(a, b, chance, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.5)
    right.contour(a, b, chance, levels=[0.5], colors="black")
    right.scatter(*X.T, c=y, s=8, cmap="RdBu")
    right.scatter(*classes.relevance_vectors_.T, s=80, facecolors="none", edgecolors="black")
    figure.tight_layout()
    figure.savefig(sys.argv[1], dpi=150)
