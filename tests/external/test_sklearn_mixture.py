"""scikit-learn's own tests of GaussianMixture, and of both mixtures together, run against ours."""

from .borrowed import borrow

OURS = "from tacit.mixture import GaussianMixture"

DIFFERENCES = {
    "test_check_weights": "scikit-learn's message has the largest and the smallest weight swapped; ours has not",
    "test_gaussian_mixture_setting_best_params": "reg_covar=0 and a component that holds one row: the variance is exactly "
    "0, which we report as singular; scikit-learn goes on because of rounding",
    "test_gaussian_mixture_precisions_init": "calls scikit-learn's private methods _initialize and _set_parameters",
    "test_gaussian_mixture_all_init_does_not_estimate_gaussian_parameters": "counts calls of a private function of "
    "scikit-learn's module",
}

globals().update(
    borrow(
        "sklearn.mixture.tests.test_gaussian_mixture",
        {"from sklearn.mixture import GaussianMixture\n": OURS + "\n"},
        DIFFERENCES,
    )
)
globals().update(
    borrow(
        "sklearn.mixture.tests.test_mixture",
        {
            "from sklearn.mixture import BayesianGaussianMixture, GaussianMixture\n": "from tacit.mixture import "
            "BayesianGaussianMixture, GaussianMixture\n"
        },
        {},
    )
)
