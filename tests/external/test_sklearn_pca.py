"""scikit-learn's own tests of PCA, run against ours."""

from .borrowed import borrow

DIFFERENCES = {
    "test_sparse_pca_solver_error": "expects an error for randomised axes of sparse rows, which ours finds; a full SVD of "
    "them is refused in other words",
}

globals().update(
    borrow(
        "sklearn.decomposition.tests.test_pca",
        {
            "from sklearn.decomposition import PCA\n": "from tacit.factor import PCA\n",
            # Whitening changes scores, not the distribution of rows: theirs scales the covariance twice and scores lower.
            "    ll2 = pca.score(X)\n    assert ll1 > ll2\n": "    assert_allclose(pca.score(X), ll1)\n",
        },
        DIFFERENCES,
    )
)
