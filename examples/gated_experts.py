"""Gated experts: two straight borders and a gate that says where each holds, where one border cannot do.

p(y | x) = Σ_k g_k(x) σ(w_k · x): the gate is a softmax regression, the experts are logistic regressions, and EM learns all of
them by weighted regressions.

Run: python examples/gated_experts.py [FIGURE.png]
"""

import sys

import numpy as np
from sklearn.linear_model import LogisticRegression

from tacit.mixture import MixtureOfExpertsClassifier

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (600, 2))
side = X[:, 0] > 0.5
chance = 1 / (
    1 + np.exp(-4 * np.where(side, X[:, 1] - 1, -X[:, 1] - 1))
)  # the border turns round where the gate switches
y = rng.random(600) < chance
best = np.minimum(chance, 1 - chance).mean()
print(f"600 points, {y.mean():.0%} of them of the second class; the best rule there is errs on {best:.1%}")
old, new = slice(0, 400), slice(400, 600)

# One border against two behind a gate, on points left out.
models = {"one border": LogisticRegression(), "two experts": MixtureOfExpertsClassifier(2, random_state=0)}
for name, model in models.items():
    wrong = 1 - model.fit(X[old], y[old]).score(X[new], y[new])
    print(f"{name:<12} errs on {wrong:.1%} of the points left out")

# What was learned: where the gate switches, and which way each expert looks.
experts = models["two experts"]
grid = np.column_stack([np.linspace(-3, 3, 601), np.zeros(601)])
gate = experts.predict_gate(grid)
switch = grid[np.abs(gate[:, 0] - 0.5).argmin(), 0]
print(f"the gate switches at {switch:.2f} (in truth at 0.50); stopped because {experts.fit_.reason}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across = np.linspace(-3, 3, 150)
    places = np.stack(np.meshgrid(across, across), axis=-1).reshape(-1, 2)
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.8), layout="constrained", sharey=True)
    for ax, (name, model) in zip(axes, models.items()):
        seen = model.predict_proba(places)[:, 1].reshape(150, 150)
        drawn = ax.contourf(across, across, seen, levels=np.linspace(0, 1, 11), cmap="PuOr", alpha=0.8)
        ax.scatter(*X.T, c=np.where(y, "#4B2E83", "#B35806"), s=8)
        ax.set(title=name, xlabel="first", ylabel="second")
    figure.colorbar(drawn, ax=axes, label="probability of the second class")
    figure.savefig(sys.argv[1], dpi=110)
