"""scikit-learn's own tests of SpectralClustering, spectral_clustering, cluster_qr and discretize, run against ours."""

from .borrowed import borrow

DIFFERENCES: dict[str, str] = {}

globals().update(
    borrow(
        "sklearn.cluster.tests.test_spectral",
        {
            "from sklearn.cluster import SpectralClustering, spectral_clustering\n": "from tacit.cluster import "
            "SpectralClustering, spectral_clustering\n",
            "from sklearn.cluster._spectral import cluster_qr, discretize\n": "from tacit.cluster import cluster_qr, "
            "discretize\n",
            "@pytest.mark.no_check_spmatrix  # pickle breaks check_spmatrix\n": "",  # a mark of their own test run
        },
        DIFFERENCES,
    )
)
