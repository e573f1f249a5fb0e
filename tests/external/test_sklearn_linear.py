"""scikit-learn's own tests of linear regression, ridge and Bayesian regression, run against ours."""

from .borrowed import borrow

RIDGE = {
    "test_n_iter": "theirs counts steps of iterative solvers; ours solves directly, whatever the name of the solver",
    "test_ridge_fit_intercept_sparse_error": "theirs refuses sparse rows with an intercept for some solvers, which ours takes",
    "test_ridge_fit_intercept_sparse_sag": "theirs warns that steps are too few; ours takes none",
    "test_lbfgs_solver_error": "theirs warns that steps are too few; ours takes none",
}
BAYES = {
    "test_update_sigma": "calls private methods that ours does not have",
}

globals().update(
    borrow(
        "sklearn.linear_model.tests.test_base",
        {
            "from sklearn.linear_model import LinearRegression\n": "from tacit.linear_model import LinearRegression\n",
            # copy_X=False lets theirs write over X; ours never does.
            "        assert np.linalg.norm(X - original_X_data) > 0.42": "        assert_allclose(X, original_X_data)",
        },
        {},
    )
)
globals().update(
    borrow(
        "sklearn.linear_model.tests.test_ridge",
        {
            "    LinearRegression,\n    Ridge,\n": "",
            "from sklearn.linear_model._ridge import (": "from tacit.linear_model import LinearRegression, Ridge\nfrom "
            "sklearn.linear_model._ridge import (",
            "Sample weights must be 1D array or scalar": "give one weight per row",
        },
        RIDGE,
    )
)
globals().update(
    borrow(
        "sklearn.linear_model.tests.test_bayes",
        {
            "from sklearn.linear_model import ARDRegression, BayesianRidge, Ridge\n": "from tacit.linear_model import "
            "ARDRegression, BayesianRidge, Ridge\n",
        },
        BAYES,
    )
)
