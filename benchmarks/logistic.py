"""Logistic regression against scikit-learn: many rows to the same gradient norm, and small tables by default."""

import time
import warnings
from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression as Theirs

from tacit.linear_model import LogisticRegression

from .harness import Job

TOL = 1e-5
SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")


def many(n=200_000, d=50, n_classes=10):
    """Correlated features, and classes that are drawn given them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)) / np.sqrt(d))
    return X, (X @ rng.normal(size=(d, n_classes)) * 0.5 + rng.gumbel(size=(n, n_classes))).argmax(axis=1)


def steepest(model, X, y):
    """Largest entry of the gradient, per row."""
    rest = model.predict_proba(X) - np.eye(len(model.classes_))[y]
    return np.abs(np.column_stack([rest.T @ X + model.coef_ / model.C, rest.sum(axis=0)])).max() / len(X)


def fitted(kind, **settings):
    """Fits the data, quietly; gives them back beside the model, so that both can be compared."""

    def fit(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind(**settings).fit(*data), data

    return fit


def equal(ours, theirs):
    """Says how far both went."""
    slopes = [steepest(model, *data) for model, data in (ours, theirs)]
    assert slopes[0] <= max(slopes[1], TOL)
    return f"gradients {slopes[0]:.1e} and {slopes[1]:.1e}"


def closer(ours, theirs):
    """Says that ours is at least as good; scikit-learn's default ends before the maximum where columns are on many scales."""
    values = [objective(model, *data) for model, data in (ours, theirs)]
    assert values[0] >= values[1] - 1e-6 * abs(values[1])
    return f"objectives {values[0]:.4f} and {values[1]:.4f}"


def objective(model, X, y):
    """What is maximised."""
    return model.predict_log_proba(X)[np.arange(len(y)), y].sum() - 0.5 / model.C * (model.coef_**2).sum()


def table(load, scaled):
    """A small table."""
    X, y = load(return_X_y=True)
    return ((X - X.mean(axis=0)) / X.std(axis=0) if scaled else X), y


JOBS = [
    Job(f"multinomial, n=200k d=50 K=10, against {solver}", "scikit-learn", many, fitted(LogisticRegression, tol=TOL),
        fitted(Theirs, solver=solver, tol=TOL, max_iter=1000), equal, 2.0, 3)
    for solver in SOLVERS
] + [
    Job(f"{load.__name__[5:]}{', scaled' if scaled else ''}, default", "scikit-learn", partial(table, load, scaled),
        fitted(LogisticRegression), fitted(Theirs), closer, 1.0, 9)
    for load in (load_iris, load_wine, load_breast_cancer)
    for scaled in (False, True)
]  # fmt: skip


def quick(n=60_000):
    """Ratios of wall and CPU time on fewer rows, interleaved."""
    data, sides = many(n), {"ours": fitted(LogisticRegression, tol=TOL)}
    sides |= {solver: fitted(Theirs, solver=solver, tol=TOL, max_iter=1000) for solver in SOLVERS}
    for _ in range(2):
        for name, side in sides.items():
            start = time.perf_counter(), time.process_time()
            model, _ = side(data)
            wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
            print(f"{name:16s} wall {wall:6.2f} s  CPU {cpu:6.2f} s  gradient {steepest(model, *data):.1e}", flush=True)


if __name__ == "__main__":
    quick()
