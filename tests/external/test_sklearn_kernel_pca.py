"""scikit-learn's own tests of KernelPCA, run against ours."""

from .borrowed import borrow

DIFFERENCES: dict[str, str] = {}

globals().update(
    borrow(
        "sklearn.decomposition.tests.test_kernel_pca",
        {
            "from sklearn.decomposition import PCA, KernelPCA\n": "from sklearn.decomposition import PCA\n"
            "from tacit.factor import KernelPCA\n"
        },
        DIFFERENCES,
    )
)
