"""SpectralClustering on graphs of nearest neighbours against scikit-learn's; ``python -m benchmarks.spectral`` for 100,000 rows.

Both sides find neighbours, eigenvectors and clusters with the same settings. Their partitions are compared by NCut on the
same graph.
"""

import time
import warnings
from functools import partial

from .harness import Job, _memory_line


def moons(n):
    """Two half circles in the plane, joined by noise."""
    from sklearn.datasets import make_moons

    return make_moons(n, noise=0.12, random_state=0)[0]


def rings(n):
    """Two circles in the plane, joined by noise."""
    from sklearn.datasets import make_circles

    return make_circles(n, noise=0.08, factor=0.5, random_state=0)[0]


def blobs(n):
    """Ten clouds in 16 dimensions that touch."""
    from sklearn.datasets import make_blobs

    return make_blobs(n, 16, centers=10, cluster_std=4.0, random_state=0)[0]


def _fit(kind, k, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(k, affinity="nearest_neighbors", random_state=0).fit(X)


def _ours(k, X):
    from tacit.cluster import SpectralClustering

    return _fit(SpectralClustering, k, X)


def _theirs(k, X):
    from sklearn.cluster import SpectralClustering

    return _fit(SpectralClustering, k, X)


def _equal(ours, theirs):
    from tacit.cluster.laplacian import cuts

    mine, other = (cuts(theirs.affinity_matrix_, model.labels_)[1] for model in (ours, theirs))
    assert mine <= other * (1 + 1e-6), f"NCut {mine} against {other}"
    return f"NCut {mine:.5f} / {other:.5f}"


def _job(make, n, k, repeats=5):
    return Job(
        name=f"spectral {make.__name__} n={n:,} K={k}", rival="scikit-learn", make=partial(make, n),
        ours=partial(_ours, k), theirs=partial(_theirs, k), equal=_equal, target=2.0, repeats=repeats,
    )  # fmt: skip


JOBS = [_job(moons, 10_000, 2), _job(rings, 10_000, 2), _job(blobs, 10_000, 10)]


def main():
    """Time and peak memory of this process, all rows and libraries included, at 100,000 rows."""
    for make, k in ((moons, 2), (rings, 2), (blobs, 10)):
        X = make(100_000)
        start = time.perf_counter()
        model = _ours(k, X)
        seconds, peak = time.perf_counter() - start, _memory_line("VmHWM") / 1024
        print(
            f"{make.__name__} n=100,000 K={k}: {seconds:.1f} s, NCut {model.n_cut_:.5f}, peak so far {peak:,.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
