"""scikit-learn's own tests of drawn and printed trees, run on ours."""

from .borrowed import borrow

OURS = {
    "from sklearn.tree import (\n    DecisionTreeClassifier,\n    DecisionTreeRegressor,\n    export_graphviz,\n": (
        "from tacit.tree import DecisionTreeClassifier, DecisionTreeRegressor\n"
        "from sklearn.tree import (\n    export_graphviz,\n"
    ),
}
DIFFERENCES: dict[str, str] = {}

globals().update(borrow("sklearn.tree.tests.test_export", OURS, DIFFERENCES))
