"""scikit-learn's own tests of trees, run against ours."""

from .borrowed import borrow

OURS = (
    "from tacit.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor\n"
    "import types\n"
    "from sklearn import tree as theirs\n"
    "import tacit.tree as ours\n"
    "tree = types.ModuleType('tree')\n"
    "vars(tree).update({**vars(theirs), **vars(ours)})\n"
)
COMMON = {
    "from sklearn import clone, datasets, tree\n": "from sklearn import clone, datasets\n",
    "from sklearn.tree import (\n    DecisionTreeClassifier,\n    DecisionTreeRegressor,\n    ExtraTreeClassifier,\n"
    "    ExtraTreeRegressor,\n)\n": OURS,
}
EXACT = "values are compared exactly: a column counts however small its numbers are, and none overflow"
CYTHON = "a test of scikit-learn's own compiled function"
DIFFERENCES = {
    "test_almost_constant_feature": EXACT,
    "test_big_input": EXACT,
    "test_build_pruned_tree_infinite_loop": CYTHON,
    "test_build_pruned_tree_py": CYTHON,
    "test_friedman_mse_deprecation": "friedman_mse is the same as squared_error, and stays",
    "test_huge_allocations": "memory is by rows, not by max_leaf_nodes, so that a large limit costs nothing",
    "test_min_sample_split_1_error": "messages are our own",
    "test_missing_value_errors": "sparse rows may have missing cells",
    "test_sample_weight_invalid": "one weight for all rows is taken as that",
}

globals().update(borrow("sklearn.tree.tests.test_tree", COMMON, DIFFERENCES))

MONOTONE = {
    # Sums are taken side by side, so that a mean of 0 is 0 up to rounding.
    "assert clf.tree_.value[0] == 0.0": "assert abs(clf.tree_.value[0]) < 1e-15",
    "from sklearn.tree import (\n    DecisionTreeClassifier,\n    DecisionTreeRegressor,\n    ExtraTreeClassifier,\n"
    "    ExtraTreeRegressor,\n)\n": OURS,
    "from sklearn.ensemble import (\n    ExtraTreesClassifier,\n    ExtraTreesRegressor,\n    RandomForestClassifier,\n"
    "    RandomForestRegressor,\n)\n": (
        "from tacit.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor\n"
    ),
}
monotone = borrow("sklearn.tree.tests.test_monotonic_tree", MONOTONE, {})
globals().update(monotone)
