"""scikit-learn's own tests of LatentDirichletAllocation, run against ours."""

from .borrowed import borrow

DIFFERENCES = {
    "test_lda_preplexity_mismatch": "calls scikit-learn's private method _perplexity_precomp_distr",
}

globals().update(
    borrow(
        "sklearn.decomposition.tests.test_online_lda",
        {
            "from sklearn.decomposition import LatentDirichletAllocation\n": "from tacit.topics import "
            "LatentDirichletAllocation\n",
            "@pytest.mark.thread_unsafe": "",
        },
        DIFFERENCES,
    )
)
