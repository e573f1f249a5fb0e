"""scikit-learn's own tests of AdaBoost, run against ours."""

from .borrowed import borrow

OURS = {
    "from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor\n": (
        "from sklearn.ensemble import AdaBoostRegressor\nfrom tacit.ensemble import AdaBoostClassifier\n"
    ),
    "Negative values in data passed to `sample_weight`": "Negative values in data|weights must be finite and not negative",
}
DIFFERENCES = {
    "test_iris": "stumps are records without random states, since they draw nothing",
    "test_adaboost_classifier_sample_weight_error": "the message on weights is the library's own, which names both lengths",
    "test_adaboost_numerically_stable_feature_importance_with_small_weights": (
        "weights of 1e-263 are refused everywhere, with the remedy to divide them by their mean"
    ),
}
globals().update(borrow("sklearn.ensemble.tests.test_weight_boosting", OURS, DIFFERENCES))
