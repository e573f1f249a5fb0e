"""scikit-learn's own tests of KMeans, run against ours."""

from .borrowed import borrow

DIFFERENCES = {}

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
