"""scikit-learn's own tests of bagging, run against ours."""

from .borrowed import borrow

OURS = {
    "@pytest.mark.thread_unsafe\n": "",
    "    BaggingClassifier,\n    BaggingRegressor,\n": "",
    "from sklearn.utils import check_random_state\n": (
        "from sklearn.utils import check_random_state\nfrom tacit.ensemble import BaggingClassifier, BaggingRegressor\n"
    ),
}
DIFFERENCES: dict[str, str] = {}

globals().update(borrow("sklearn.ensemble.tests.test_bagging", OURS, DIFFERENCES))
