"""scikit-learn's own tests of CCA, run against ours; the file's other tests go on with scikit-learn's classes."""

from .borrowed import borrow

globals().update(
    borrow(
        "sklearn.cross_decomposition.tests.test_pls",
        {
            "from sklearn.cross_decomposition import CCA, PLSSVD, PLSCanonical, PLSRegression\n": "from "
            "sklearn.cross_decomposition import PLSSVD, PLSCanonical, PLSRegression\nfrom tacit.factor import CCA\n"
        },
        {},
    )
)
