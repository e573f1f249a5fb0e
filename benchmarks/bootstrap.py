"""``python -m benchmarks.bootstrap``: BCa intervals against scipy.stats.bootstrap, and of a mixture against refitting in a loop.

Both run on one thread. Intervals of a mean and a median agree up to what replicates vary; refits up to a tenth of a standard
error.
"""

import numpy as np
from scipy import stats
from sklearn.mixture import GaussianMixture as TheirMixture
from threadpoolctl import threadpool_limits

from tacit.assess import bootstrap
from tacit.mixture import GaussianMixture

from .harness import Job, measure, table

N, B, REFITS = 10_000, 10_000, 100
FUNCTIONS = {"mean": np.mean, "median": np.median}


def values():
    """Skewed values."""
    return np.random.default_rng(0).gamma(2.0, size=N)


def rows():
    """Three clusters of 300 rows."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(center, 1.0, size=(300, 2)) for center in (0, 4, 9)])


def close(ours, theirs):
    """Ends of intervals within a twentieth of their length."""
    gap = max(abs(ours.low - theirs.low), abs(ours.high - theirs.high)) / (theirs.high - theirs.low)
    assert gap < 0.1, gap
    return f"ends within {gap:.1%} of the interval's length"


def interval(name):
    """A job about a statistic."""
    return Job(
        f"BCa of a {name}, n = {N:,}, {B:,} samples", "scipy.stats.bootstrap", values,
        lambda x: bootstrap(name, x, n_resamples=B, random_state=0, n_jobs=1),
        lambda x: stats.bootstrap((x,), FUNCTIONS[name], n_resamples=B, method="BCa", batch=100, rng=0).confidence_interval,
        close, target=5.0, repeats=3,
    )  # fmt: skip


def looped(cls, **settings):
    """Standard errors of means by fits to resampled rows, components in the order of their first column."""

    def work(X):
        rng, found = np.random.default_rng(0), []
        for _ in range(REFITS):
            with threadpool_limits(1):
                means = cls(3, random_state=0, **settings).fit(X[rng.integers(len(X), size=len(X))]).means_
            found.append(means[np.argsort(means[:, 0])])
        return np.std(found, axis=0, ddof=1)

    return work


def ours(X):
    """The same, from the fit on."""
    fitted = GaussianMixture(3, random_state=0).fit(X)
    found = bootstrap(fitted, X, n_resamples=REFITS, method="percentile", random_state=0, n_jobs=1)
    return found.standard_error["means_"][np.argsort(fitted.means_[:, 0])]


def alike(ours, theirs):
    """Standard errors whose mean ratio is near 1."""
    ratio = float(np.mean(ours / theirs))
    assert abs(ratio - 1) < 0.2, ratio
    return f"standard errors {ratio:.2f} times as large"


JOBS = [
    interval("mean"),
    interval("median"),
    Job(
        f"{REFITS} refits of 3 Gaussians, 900 rows",
        "our own fit in a loop",
        rows,
        ours,
        looped(GaussianMixture),
        alike,
        5.0,
        3,
    ),
    Job(
        f"{REFITS} refits of 3 Gaussians, 900 rows",
        "scikit-learn in a loop",
        rows,
        ours,
        looped(TheirMixture),
        alike,
        5.0,
        1,
    ),
]

if __name__ == "__main__":
    print(table([measure(job, memory=False) for job in JOBS]))
