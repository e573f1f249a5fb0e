"""Gaussian processes against scikit-learn's, to the same marginal likelihood: `python -m benchmarks gaussian`.

Both sides take the same kernels from the same hyperparameters and climb with L-BFGS. With the words ``inducing points`` as main
module, `python -m benchmarks.gaussian_process ROWS POINTS` times one fit by inducing points, which scikit-learn does not have.
"""

import sys
import time
from functools import partial

import numpy as np

from .harness import Job


def make(n, d=5):
    """Rows, a smooth target with noise, and its sign."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    return X, y, (y + 0.3 * rng.normal(size=n) > 0).astype(int)


def _kernel(name):
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    return {
        "default": None,
        "noise": ConstantKernel() * RBF() + WhiteKernel(),
        "scales": ConstantKernel() * RBF(np.ones(5)) + WhiteKernel(),
        "learned": ConstantKernel() * RBF(),
    }[name]


def _fit(library, kind, kernel, data):
    import warnings

    if library == "ours":
        from tacit import gaussian_process
    else:
        from sklearn import gaussian_process
    X, y, labels = data
    model = getattr(gaussian_process, f"GaussianProcess{kind}")(_kernel(kernel))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y if kind == "Regressor" else labels)
    return model.log_marginal_likelihood()


def _equal(ours, theirs):
    assert ours >= theirs - 1e-4 * abs(theirs), f"log marginal likelihoods {ours} and {theirs}"
    return f"log marginal likelihood {ours:.3f} / {theirs:.3f}"


def _job(kind, kernel, n, target=1.0, repeats=5):
    return Job(
        name=f"gaussian process {kind.lower()} {kernel} n={n:,}", rival="scikit-learn", make=partial(make, n),
        ours=partial(_fit, "ours", kind, kernel), theirs=partial(_fit, "theirs", kind, kernel), equal=_equal,
        target=target, repeats=repeats,
    )  # fmt: skip


JOBS = [
    _job("Regressor", "default", 100, repeats=25),
    _job("Classifier", "default", 150, repeats=25),
    _job("Regressor", "noise", 150, repeats=9),
    _job("Regressor", "scales", 1000, 4.0, repeats=3),
    _job("Regressor", "noise", 3000, 4.0, repeats=2),
    _job("Classifier", "learned", 1500, 4.0, repeats=2),
]


def inducing(n_rows, n_points):
    """Seconds of a fit by inducing points, and how well it predicts."""
    from tacit.gaussian_process import GaussianProcessRegressor

    (X, y, _), (fresh, target, _) = make(n_rows), make(2000)
    start, used = time.perf_counter(), time.process_time()
    model = GaussianProcessRegressor(_kernel("noise"), inducing_points=n_points, random_state=0).fit(X, y)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    error = np.sqrt(np.mean((model.predict(fresh) - target) ** 2))
    print(f"{n_rows:,} rows, {n_points} points: {seconds:.0f} s ({used:.0f} s of processors)")
    print(f"bound {model.log_marginal_likelihood():.1f}, root mean square error {error:.4f} where the noise is 0.3")
    print(model.kernel_)


if __name__ == "__main__":
    inducing(*map(int, sys.argv[1:] or (1_000_000, 500)))
