"""scikit-learn's own tests of drawn and printed trees, run on ours."""

import pytest

from .borrowed import borrow

OURS = {
    "from sklearn.tree import (\n    DecisionTreeClassifier,\n    DecisionTreeRegressor,\n    export_graphviz,\n": (
        "from tacit.tree import DecisionTreeClassifier, DecisionTreeRegressor\n"
        "from sklearn.tree import (\n    export_graphviz,\n"
    ),
}
TAKEN = "export_text and plot_tree of scikit-learn take instances of its own classes alone; ours are rules() and TreeDisplay"
DIFFERENCES = dict.fromkeys(
    (
        "test_export_text",
        "test_export_text_errors",
        "test_export_text_feature_class_names_array_support",
        "test_not_fitted_tree",
        "test_plot_tree_entropy",
        "test_plot_tree_gini",
    ),
    TAKEN,
)


@pytest.fixture
def pyplot():
    return pytest.importorskip("matplotlib.pyplot")


globals().update(borrow("sklearn.tree.tests.test_export", OURS, DIFFERENCES))
