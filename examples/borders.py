"""Borders between two classes: perceptron, logistic regression by every solver, what priors do, and a curved border.

Run: python examples/borders.py [FIGURE.png]; Ripley's synthetic classes where TACIT_DATA names a folder that has them, otherwise
rows drawn like them.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from tacit.gaussian_process import GaussianProcessClassifier
from tacit.gaussian_process.kernels import RBF, ConstantKernel
from tacit.linear_model import BayesianLogisticRegression, LogisticRegression, Perceptron
from tacit.table import Table

folder = Path(os.environ.get("TACIT_DATA", "")) / "ripley"
if (folder / "synth_tr.csv").is_file():
    train, test = (pd.read_csv(folder / f"synth_{part}.csv") for part in ("tr", "te"))
    (X, y), (Z, t) = ((each[["xs", "ys"]].to_numpy(), each["yc"].to_numpy()) for each in (train, test))
else:
    rng = np.random.default_rng(0)
    centres = np.array([[-0.7, 0.3], [0.3, 0.3], [-0.3, 0.7], [0.4, 0.7]])

    def drawn(n):
        group = rng.integers(0, 4, n)
        return centres[group] + np.sqrt(0.03) * rng.normal(size=(n, 2)), group // 2

    (X, y), (Z, t) = drawn(250), drawn(1000)

apart = np.array([[0.0, 2.0], [1.0, 3.0], [0.5, 2.5], [2.0, 0.0], [3.0, 1.0], [2.5, 0.5]])
sides = np.array([0, 0, 0, 1, 1, 1])
first = Perceptron(shuffle=False, tol=None, max_iter=50).fit(apart, sides)
made, allowed = int(first.mistakes_[0]), first.mistake_bound_[0]
print(f"six points with a gap: the perceptron makes {made} mistakes, its bound allows {allowed:.0f}")
print(
    f"and of {len(X)} rows that overlap {(Perceptron(average=True).fit(X, y).predict(Z) != t).mean():.1%} wrong when averaged\n"
)

print("maximum likelihood of logistic regression, the same by every solver")
for solver in ("newton-cg", "lbfgs", "newton-cholesky", "sag"):
    model = LogisticRegression(C=np.inf, solver=solver, tol=1e-8, max_iter=20_000, random_state=0).fit(X, y)
    print(f"  {solver:<16} {np.round(model.coef_[0], 4)} {model.intercept_[0]:.4f}")

few = np.sort(np.random.default_rng(1).choice(len(X), 12, replace=False))
kernel = ConstantKernel(1.0) * RBF(0.5)
models = {
    "ML": LogisticRegression(C=np.inf), "MAP": LogisticRegression(C=1.0), "Bayesian": BayesianLogisticRegression(),
    "Gaussian process": GaussianProcessClassifier(kernel, random_state=0),
}  # fmt: skip
rows = []
for name, model in models.items():
    told = {"model": name}
    for which, label in ((few, "12 rows"), (np.arange(len(X)), f"{len(X)} rows")):
        p = model.fit(X[which], y[which]).predict_proba(Z)[:, 1]
        loss = -np.log(np.maximum(np.where(t == 1, p, 1 - p), 1e-12))
        told |= {f"wrong, {label}": float(((p > 0.5) != t).mean()), f"log loss, {label}": float(loss.mean())}
    rows.append(told)
print()
print(Table(rows))

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained", sharey=True)
    a, b = np.meshgrid(np.linspace(-1.3, 1.0, 120), np.linspace(-0.3, 1.2, 100))
    for ax, name in zip(axes, ("Bayesian", "Gaussian process")):
        p = models[name].predict_proba(np.column_stack([a.ravel(), b.ravel()]))[:, 1].reshape(a.shape)
        ax.contourf(a, b, p, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.6)
        ax.contour(a, b, p, levels=[0.5], colors="black")
        for k, colour in ((0, "#0072B2"), (1, "#D55E00")):
            ax.scatter(*X[y == k].T, s=9, color=colour)
        ax.set(title=name)
    figure.savefig(sys.argv[1], dpi=110)
