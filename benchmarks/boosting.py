"""Gradient boosting against LightGBM and scikit-learn, and AdaBoost against scikit-learn, at equal settings.

``python -m benchmarks.boosting`` runs all sides in turn and prints ratios of wall time and of CPU time, medians of runs.
"""

from functools import partial

import numpy as np

from .harness import Job
from .svm import main


def make(n, d=30):
    """Rows whose target has steps, products and squares."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3] ** 2 + rng.normal(size=n)


def make_classes(n, d=10):
    """Hastie's example 10.2."""
    from sklearn.datasets import make_hastie_10_2

    return make_hastie_10_2(n, random_state=0)


def shipped(name):
    """A small table of scikit-learn's."""
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(return_X_y=True)


def _boost(side, kind, rounds, data):
    X, y = data
    if side == "lightgbm":
        import lightgbm

        model = getattr(lightgbm, f"LGBM{kind}")(
            n_estimators=rounds, num_leaves=31, min_child_samples=20, learning_rate=0.1, verbose=-1
        )
    else:
        from importlib import import_module

        model = getattr(import_module(f"{side}.ensemble"), f"HistGradientBoosting{kind}")(
            max_iter=rounds, early_stopping=False
        )
    model.fit(X, y)
    return model.score(X[:50_000], y[:50_000])


def _vote(side, data):
    from importlib import import_module

    X, y = data
    return import_module(f"{side}.ensemble").AdaBoostClassifier(n_estimators=400).fit(X, y).score(X, y)


def agree(ours, theirs, within=0.01):
    """R², or the share that is right, of rows learned from."""
    assert ours > theirs - within, (ours, theirs)
    return f"{ours:.4f} and {theirs:.4f}"


def _job(rows, data, kind, rounds, rival, target, repeats=3):
    name = f"{kind} of {rows}, {rounds} rounds, {rival}"
    ours, theirs = (partial(_boost, side, kind, rounds) for side in ("tacit", rival))
    return Job(name, rival, data, ours, theirs, agree, target, repeats)


JOBS = [
    *(_job("1M x 30", partial(make, 1_000_000), "Regressor", 50, rival, 1.0, 2) for rival in ("lightgbm", "sklearn")),
    *(_job("100k x 30", partial(make, 100_000), "Regressor", 100, rival, 1.0) for rival in ("lightgbm", "sklearn")),
    _job("diabetes", partial(shipped, "diabetes"), "Regressor", 100, "sklearn", 1.0, 7),
    _job("iris", partial(shipped, "iris"), "Classifier", 100, "sklearn", 1.0, 7),
    _job("iris", partial(shipped, "iris"), "Classifier", 100, "lightgbm", 1.0, 7),
    Job(
        "AdaBoost of 2,000 x 10, 400 splits", "sklearn", partial(make_classes, 2000), partial(_vote, "tacit"),
        partial(_vote, "sklearn"), agree, 1.0,
    ),
]  # fmt: skip


if __name__ == "__main__":
    main(JOBS)
