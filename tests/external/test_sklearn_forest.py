"""scikit-learn's own tests of forests and bagging, run against ours."""

from .borrowed import borrow

FOREST = {
    "@pytest.mark.thread_unsafe\n": "",
    "from sklearn.ensemble import (\n    ExtraTreesClassifier,\n    ExtraTreesRegressor,\n    RandomForestClassifier,\n"
    "    RandomForestRegressor,\n    RandomTreesEmbedding,\n)\n": (
        "from sklearn.ensemble import RandomTreesEmbedding\n"
        "from tacit.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor\n"
    ),
}
DIFFERENCES: dict[str, str] = {}

globals().update(borrow("sklearn.ensemble.tests.test_forest", FOREST, DIFFERENCES))
