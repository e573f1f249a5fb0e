"""KMedoids against the kmedoids package: equal losses from equal starts."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from tacit.cluster import KMedoids
from tacit.cluster.medoids.partition import Pairs
from tacit.cluster.medoids.starts import build

from ..zoo import gaussian_rows

kmedoids = pytest.importorskip("kmedoids")

SIZES = [(60, 3), (300, 8), (700, 12)]


def case(n, k, seed):
    D = squareform(pdist(gaussian_rows(n=n, n_classes=7, seed=seed)))
    return D, np.random.default_rng(seed).choice(n, k, replace=False)


@pytest.mark.parametrize(("n", "k"), SIZES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", ["fasterpam", "fastpam1", "pam"])
def test_same_loss_from_the_same_start(n, k, seed, method):
    D, start = case(n, k, seed)
    ours = KMedoids(k, metric="precomputed", method=method, init=start).fit(D)
    options = {"n_cpu": 1} if method == "fasterpam" else {}
    theirs = getattr(kmedoids, method)(D, start.astype(np.uint64), 300, **options)
    assert ours.inertia_ == pytest.approx(theirs.loss, rel=1e-12)
    assert set(ours.medoid_indices_) == set(theirs.medoids)


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_same_build_and_silhouette(n, k):
    D, _ = case(n, k, 0)
    theirs = kmedoids.pam_build(D, k)
    assert build(Pairs.of(D, np.ones(n)), k).tolist() == theirs.medoids.tolist()
    ours = KMedoids(k, metric="precomputed").fit(D)
    silhouette, _ = kmedoids.medoid_silhouette(D, ours.medoid_indices_.astype(np.uint64))
    assert ours.medoid_silhouette_ == pytest.approx(silhouette)


def test_estimators_name_the_same_things():
    D, _ = case(200, 5, 0)
    theirs = kmedoids.KMedoids(5, method="fasterpam", init="build", metric="precomputed").fit(D)
    ours = KMedoids(**{name: value for name, value in theirs.get_params().items() if name != "random_state"}).fit(D)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    assert set(ours.medoid_indices_) == set(theirs.medoid_indices_)
    assert ours.cluster_centers_ is None
    assert theirs.cluster_centers_ is None
