"""scikit-learn's own tests of BayesianGaussianMixture, run against ours."""

from .borrowed import borrow

DIFFERENCES = {
    "test_compare_covar_type": "calls scikit-learn's private methods _check_parameters and _initialize_parameters",
}

globals().update(
    borrow(
        "sklearn.mixture.tests.test_bayesian_mixture",
        {
            "from sklearn.mixture import BayesianGaussianMixture\n": "from tacit.mixture import BayesianGaussianMixture\n"
        },
        DIFFERENCES,
    )
)
