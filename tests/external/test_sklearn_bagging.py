"""scikit-learn's own tests of bagging, run against ours."""

from .borrowed import borrow

OURS = {
    "@pytest.mark.thread_unsafe\n": "",
    "    BaggingClassifier,\n    BaggingRegressor,\n": "",
    "from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor\n": (
        "from tacit.ensemble import BaggingClassifier, BaggingRegressor\n"
        "from tacit.tree import DecisionTreeClassifier, DecisionTreeRegressor\n"
    ),
}

globals().update(borrow("sklearn.ensemble.tests.test_bagging", OURS, {}))
