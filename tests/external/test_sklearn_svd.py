"""scikit-learn's own tests of TruncatedSVD, run against ours."""

from .borrowed import borrow

globals().update(
    borrow(
        "sklearn.decomposition.tests.test_truncated_svd",
        {"from sklearn.decomposition import PCA, TruncatedSVD\n": "from tacit.factor import PCA, TruncatedSVD\n"},
        {},
    )
)
