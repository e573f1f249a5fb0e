"""Linear models against scikit-learn's: equal coefficients, also of tables so small that calls are all there is."""

from functools import partial

import numpy as np
from sklearn import linear_model as theirs

from tacit import linear_model as ours

from .harness import Job


def make(n_rows, n_columns, share=1.0):
    """Rows, and a target that a share of the columns tells of."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    w = rng.normal(size=n_columns) * (rng.random(n_columns) < share)
    return X, X @ w + rng.normal(size=n_rows)


def fitted(library, name, calls, data):
    """Coefficients, after as many fits as take a time that can be measured."""
    for _ in range(calls):
        model = getattr(library, name)().fit(*data)
    return model.coef_


def agree(one, other):
    """The greatest difference of coefficients."""
    apart = np.abs(one - other).max()
    assert apart < 1e-6, f"coefficients differ by {apart:.1e}"
    return f"coefficients agree to {apart:.0e}"


def job(name, n_rows, n_columns, target, calls=1, repeats=3, share=1.0):
    """One comparison of classes of the same name."""
    return Job(
        f"{name} n={n_rows:,} d={n_columns}",
        "scikit-learn",
        partial(make, n_rows, n_columns, share),
        partial(fitted, ours, name, calls),
        partial(fitted, theirs, name, calls),
        agree,
        target,
        repeats,
    )


JOBS = [
    *(
        job(name, n, d, 1.0, calls=100, repeats=7)
        for n, d in ((100, 5), (150, 10))
        for name in ("LinearRegression", "Ridge", "BayesianRidge", "ARDRegression")
    ),
    *(
        job(name, n, d, 1.0)
        for n, d in ((2000, 300), (300, 2000), (1_000_000, 50))
        for name in ("LinearRegression", "Ridge")
    ),
    job("BayesianRidge", 1_000_000, 50, 5.0),
    job("ARDRegression", 20_000, 300, 5.0, share=0.2),
]
