"""Support vector machines against scikit-learn's (libsvm): learning and prediction, from 100 rows to 10,000.

Both sides solve the same problem to the same tolerance. Dual objectives are computed anew from both sides' coefficients.
``python -m benchmarks.svm`` runs both sides in turn and prints ratios of wall time and of CPU time, medians of pairs of runs.
"""

from functools import partial

import numpy as np

from .harness import Job


def make(n, d=30):
    """Two classes of four clouds each, with a twentieth of labels wrong."""
    from sklearn.datasets import make_classification

    return make_classification(
        n, d, n_informative=15, n_clusters_per_class=4, class_sep=1.0, flip_y=0.05, random_state=0
    )


def make_numbers(n, d=10):
    """Targets of the first Friedman function, standardised."""
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(n, d, noise=1.0, random_state=0)
    return X, (y - y.mean()) / y.std()


def shipped(name):
    """A small table of scikit-learn's."""
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(return_X_y=True)


def _fit(library, name, options, data):
    from importlib import import_module

    X, y = data
    model = getattr(import_module(f"{library}.svm"), name)(**options)
    return (model.fit(X) if name == "OneClassSVM" else model.fit(X, y)), data


def _predict(library, data):
    return data[library].predict(data["new"]), None


def fitted(name, n, options):
    """Both libraries' models of the same coefficients, nearly, and new rows."""
    data = make(n)
    return {side: _fit(side, name, options, data)[0] for side in ("tacit", "sklearn")} | {"new": make(2 * n)[0][n:]}


def objective(model, y, tube):
    """The dual objective of a machine of one output."""
    from sklearn.metrics.pairwise import rbf_kernel

    beta, rows = model.dual_coef_[0], model.support_vectors_
    gamma = model.gamma_ if hasattr(model, "gamma_") else model._gamma
    linear = beta @ y[model.support_] - tube * np.abs(beta).sum()
    return float(linear - 0.5 * beta @ rbf_kernel(rows, gamma=gamma) @ beta)


def _equal(name, ours, theirs):
    (model, (X, y)), (other, _) = ours, theirs
    if name == "SVC" and len(model.classes_) > 2:
        agree = (model.predict(X) == other.predict(X)).mean()
        assert agree > 0.99, f"predictions agree on {agree:.3f} of the rows"
        return f"predictions equal on {agree:.1%} of the rows"
    y = np.where(y == model.classes_[1], 1.0, -1.0) if name == "SVC" else y if name == "SVR" else np.zeros(len(X))
    found, expected = (objective(each, y, 0.1 if name == "SVR" else 0.0) for each in (model, other))
    gap = abs(found - expected) / abs(expected)
    assert gap < 1e-4, f"dual objectives {found} and {expected}"
    return f"dual objectives equal to {gap:.0e}"


def _same(ours, theirs):
    agree = (ours[0] == theirs[0]).mean()
    assert agree > 0.99, f"predictions agree on {agree:.3f} of the rows"
    return f"predictions equal on {agree:.1%} of the rows"


def _job(name, n, source, target, repeats=3, **options):
    told = " ".join(f"{key}={value}" for key, value in options.items())
    return Job(
        name=f"{name} {n} {told}".strip(), rival="scikit-learn (libsvm)", make=source,
        ours=partial(_fit, "tacit", name, options), theirs=partial(_fit, "sklearn", name, options),
        equal=partial(_equal, name), target=target, repeats=repeats,
    )  # fmt: skip


JOBS = [
    _job("SVC", "n=10,000 d=30", partial(make, 10_000), 4.0, C=1.0),
    _job("SVC", "n=10,000 d=30", partial(make, 10_000), 2.4, C=10.0),
    _job("SVR", "n=5,000 d=10", partial(make_numbers, 5000), 2.0),
    _job("OneClassSVM", "n=5,000 d=30", partial(make, 5000), 2.0, nu=0.2),
    *(_job("SVC", name, partial(shipped, name), 1.0, repeats=15) for name in ("iris", "wine", "breast_cancer")),
    Job(
        name="SVC predict n=5,000 d=30", rival="scikit-learn (libsvm)", make=partial(fitted, "SVC", 5000, {}),
        ours=partial(_predict, "tacit"), theirs=partial(_predict, "sklearn"), equal=_same, target=4.0,
    ),
]  # fmt: skip


def main(jobs=JOBS):
    """Both sides in turn: ratios of wall time and of CPU time."""
    import time

    def timed(function, data):
        wall, cpu = time.perf_counter(), time.process_time()
        result = function(data)
        return time.perf_counter() - wall, time.process_time() - cpu, result

    for job in jobs:
        data, runs = job.make(), []
        job.ours(data)
        for _ in range(job.repeats):
            runs.append((timed(job.ours, data), timed(job.theirs, data)))
        agreed = job.equal(runs[-1][0][2], runs[-1][1][2])
        wall, cpu = (np.median([b[k] / a[k] for a, b in runs]) for k in (0, 1))
        ours, theirs = (min(run[side][1] for run in runs) for side in (0, 1))
        print(
            f"{job.name:45s} wall {wall:5.2f}x  CPU {cpu:5.2f}x  least CPU {ours:.4f} s, {theirs:.4f} s  {agreed}",
            flush=True,
        )


if __name__ == "__main__":
    main()
