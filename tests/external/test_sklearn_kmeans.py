"""scikit-learn's own tests of KMeans, run against ours."""

from .borrowed import borrow

DIFFERENCES = {}

globals().update(
    borrow(
        "sklearn.cluster.tests.test_k_means",
        {
            "from sklearn.cluster import KMeans, MiniBatchKMeans, k_means, kmeans_plusplus\n": "from sklearn.cluster import "
            "MiniBatchKMeans, k_means, kmeans_plusplus\nfrom tacit.cluster import KMeans\n"
        },
        DIFFERENCES,
    )
)
