"""Classes made of groups: a mixture for each class finds what no single Gaussian per class can.

Ripley's two classes are two groups each, so that neither a straight line nor a parabola divides them. BIC finds the groups from
the labelled rows alone. Where classes are Gaussian, as the species of iris, one of fourteen structures is chosen instead.

Run: python examples/classes_of_groups.py [FIGURE.png]; Ripley's own rows where TACIT_DATA names a folder that has them, otherwise
rows drawn from the same distribution.
"""

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from tacit.classification import GaussianBayes, MixtureDiscriminant

folder = Path(os.environ.get("TACIT_DATA", "")) / "ripley"
if (folder / "synth_tr.csv").exists():
    train, test = (np.loadtxt(folder / f"synth_{part}.csv", delimiter=",", skiprows=1) for part in ("tr", "te"))
else:
    rng = np.random.default_rng(0)
    centres = np.array([[-0.7, 0.3], [0.3, 0.3], [-0.3, 0.7], [0.4, 0.7]])
    group = [np.arange(n) % 4 for n in (250, 1000)]
    train, test = (np.column_stack([rng.normal(centres[g], np.sqrt(0.03)), g // 2]) for g in group)

models = {
    "one covariance (LDA)": GaussianBayes("tied"),
    "own covariances (QDA)": GaussianBayes("full"),
    "a mixture per class": MixtureDiscriminant(
        (1, 2, 3), covariance_type=["EII", "VII", "tied", "full"], random_state=0
    ),
}
print(f"{'':<24}{'errors':>8}{'log-loss':>10}")
for name, model in models.items():
    model.fit(train[:, :2], train[:, 2])
    error = 1 - model.score(test[:, :2], test[:, 2])
    print(f"{name:<24}{error:>8.1%}{log_loss(test[:, 2], model.predict_proba(test[:, :2])):>10.3f}")
chosen = [f"{mixture.n_components} groups, {mixture.covariance_type}" for mixture in model.mixtures_]
print(f"the classes: {chosen[0]}; {chosen[1]}")

X, species = load_iris(return_X_y=True)
iris = GaussianBayes("all").fit(X, species)
print(f"\niris: {iris.covariance_type_}, log-likelihood {iris.score_samples(X).sum():.4f}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(6, 4.4), layout="constrained")
    grid = np.stack(np.meshgrid(np.linspace(-1.3, 0.9, 200), np.linspace(-0.3, 1.2, 200)), axis=-1)
    for (name, model), style in zip(models.items(), ("--", ":", "-")):
        share = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(200, 200)
        ax.contour(grid[..., 0], grid[..., 1], share, [0.5], colors="black", linestyles=style)
        ax.plot([], [], "k" + style, label=name)
    ax.scatter(*train[:, :2].T, c=np.where(train[:, 2] == 1, "#E69F00", "#0072B2"), s=14)
    ax.legend(frameon=False, fontsize="small")
    figure.savefig(sys.argv[1], dpi=110)
