"""Support vectors: two overlapping classes and what a price of errors does, and a hard margin where there is one.

Run: python examples/support_vectors.py [FIGURE.png]
"""

import sys

import numpy as np
from sklearn.datasets import load_iris

from tacit.svm import SVC

rng = np.random.default_rng(3)
centres = np.concatenate([rng.normal([1, 0], 1, size=(10, 2)), rng.normal([0, 1], 1, size=(10, 2))])


def draw(n):
    """Rows of two classes, each ten clouds, as in The Elements of Statistical Learning; and their classes."""
    cloud = rng.integers(20, size=n)
    return centres[cloud] + rng.normal(0, np.sqrt(0.2), size=(n, 2)), cloud // 10


X, y = draw(200)
new, new_y = draw(20_000)
likely = np.exp(-((new[:, None] - centres) ** 2).sum(axis=2) / 0.4)
best = np.mean((likely[:, 10:].sum(axis=1) > likely[:, :10].sum(axis=1)) != new_y)
print(f"error of the best rule there is       {best:.3f}")
for C in (0.1, 1.0, 100.0):
    model = SVC(C=C, gamma=1.0).fit(X, y)
    error = np.mean(model.predict(new) != new_y)
    print(
        f"error with C={C:<5g} {len(model.support_):3d} support vectors  {error:.3f}  (margin {model.margin_[0]:.2f})"
    )

iris, species = load_iris(return_X_y=True)
petals, species = iris[species < 2][:, 2:], species[species < 2]
hard = SVC(kernel="linear", C=np.inf, tol=1e-6).fit(petals, species)
print(f"hard margin of two species: {hard.margin_[0]:.3f} cm on each side, {len(hard.support_)} support vectors")
try:
    SVC(kernel="linear", C=np.inf).fit(X, y)
except ValueError as error:
    print(error)

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    from tacit.plot import DecisionRegionsDisplay

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    sure = SVC(C=1.0, gamma=1.0, probability=True, random_state=0).fit(X, y)
    DecisionRegionsDisplay.from_estimator(sure, X, y, ax=axes[0])
    DecisionRegionsDisplay.from_estimator(hard, petals, species, ax=axes[1])
    axes[1].set(xlabel="petal length", ylabel="petal width")
    figure.savefig(sys.argv[1], dpi=120)
