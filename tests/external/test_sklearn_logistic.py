"""scikit-learn's own tests of LogisticRegression, run against ours."""

import pytest

from .borrowed import borrow

CALLBACKS = "tells its steps by fit_.trace, not by scikit-learn's callbacks"
CLOSER = (
    "compares with scikit-learn's LogisticRegressionCV or path, which end further from the maximum than the test allows"
)

DIFFERENCES = {
    "test_liblinear_dual_random_state": "no solver draws anything, so that other random states do not change results",
    "test_logistic_cv": CLOSER,
    "test_logreg_predict_proba_multinomial": "calls scikit-learn's private method _predict_proba_lr",
    "test_liblinear_with_large_values": "no solver freezes at 1e100, so that there is nothing to refuse",
    "test_newton_cholesky_fallback_to_lbfgs": "Newton's method takes the shortest step where the curvature is singular",
    "test_logisticregression_warns_with_n_jobs": "n_jobs has an effect: blocks of rows run on threads",
    "test_logistic_regression_callback_support": CALLBACKS,
    "test_logistic_regression_callback_fitted_estimator": CALLBACKS,
    "test_logistic_regression_callback_support_warning": CALLBACKS,
}

SOME = {
    "test_logistic_cv_multinomial_score[neg_log_loss-multiclass_agg_list3]": CLOSER,
    "test_logistic_regression_cv_refit[42-1]": CLOSER,
    "test_consistency_path[7]": CLOSER,
} | {
    f"test_large_sparse_matrix[{kind}-{solver}]": "sparse rows with 64-bit indices are taken by every solver"
    for kind in ("csr_matrix", "csr_array")
    for solver in ("liblinear", "sag", "saga")
}


@pytest.fixture(autouse=True)
def some_parameters(request):
    if reason := SOME.get(request.node.name):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


globals().update(
    borrow(
        "sklearn.linear_model.tests.test_logistic",
        {
            "from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier\n": "from "
            "sklearn.linear_model import LogisticRegressionCV, SGDClassifier\n"
            "from tacit.linear_model import LogisticRegression\n",
            "@pytest.mark.thread_unsafe\n": "",
            # One sentence for every solver.
            '"newton-cg failed to converge.* Increase the number of iterations."': '"newton-cg failed to converge"',
            '"Liblinear failed to converge, increase the number of iterations."': '"liblinear failed to converge"',
            '("sag", "The max_iter was reached which means the coef_ did not converge")': '("sag", "sag failed")',
            '("saga", "The max_iter was reached which means the coef_ did not converge")': '("saga", "saga failed")',
            '"Newton solver did not converge after [0-9]* iterations"': '"newton-cholesky failed to converge"',
        },
        DIFFERENCES,
    )
)
