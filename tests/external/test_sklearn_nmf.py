"""scikit-learn's own tests of NMF and MiniBatchNMF, run against ours."""

from .borrowed import borrow

SAME_ARRAY = (
    "both models of the test are given one H, which scikit-learn changes in place, so that they share their components"
)

DIFFERENCES = {"test_minibatch_nmf_partial_fit": SAME_ARRAY}

globals().update(
    borrow(
        "sklearn.decomposition.tests.test_nmf",
        {
            "from sklearn.decomposition import NMF, MiniBatchNMF, non_negative_factorization\n": "from tacit.topics import NMF, "
            "MiniBatchNMF, non_negative_factorization\n"
        },
        DIFFERENCES,
    )
)
