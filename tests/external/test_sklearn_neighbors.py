"""scikit-learn's own tests of neighbours, run against ours."""

import pytest

from .borrowed import borrow

OURS = (
    "import types\nimport sklearn.neighbors\nimport tacit.neighbors as ours\nfrom tacit.neighbors import *\n"
    "neighbors = types.SimpleNamespace(**{**vars(sklearn.neighbors), **{n: getattr(ours, n) for n in ours.__all__}})\n"
)
COMMON = {
    "from sklearn import (\n    config_context,\n    datasets,\n    metrics,\n    neighbors,\n)": (
        f"from sklearn import config_context, datasets, metrics\n{OURS}"
    ),
    "from sklearn.neighbors import (\n    VALID_METRICS_SPARSE,\n    KNeighborsRegressor,\n)": (
        "from sklearn.neighbors import VALID_METRICS_SPARSE"
    ),
    "@pytest.mark.thread_unsafe\n": "",
    "issubclass(NeighborsMixinSubclass, KNeighborsMixin)": '"KNeighbors" in NeighborsMixinSubclass.__name__',
}

DIFFERENCES = {
    # Predicted labels do not depend on it that a label unknown at fit has no column of probabilities: only predict_proba says so.
    'with pytest.warns(UserWarning, match="Outlier label -1 is not in training classes"):\n'
    "        assert_array_equal(correct_labels2": ("if True:\n        assert_array_equal(correct_labels2"),
    # Of equally near rows those that come first are neighbours.
    "assert_allclose(ind, [[1], [0], [1]])": "assert_allclose(ind, [[1], [0], [0]])",
    "assert_allclose(kng.indices, [1, 0, 1])": "assert_allclose(kng.indices, [1, 0, 0])",
    "np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),": "np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0.0]]),",
    # Standardised, whitened and weighted rows are points too, which a KD-tree takes.
    'if exclude_kd_tree and algorithm == "kd_tree":\n                with pytest.raises(ValueError):\n'
    "                    neigh.fit(X_train)\n": ('if exclude_kd_tree and algorithm == "kd_tree":\n'),
    # A fit refuses columns that are no angles.
    'nbrs = Estimator(metric="haversine", algorithm="brute")\n    nbrs.fit(X3, y)\n'
    '    msg = "Haversine distance only valid in 2 dimensions"': (
        'nbrs = Estimator(metric="haversine", algorithm="brute")\n    msg = "takes 2 columns, latitude and longitude; X has 3"'
    ),
    "with pytest.raises(ValueError, match=msg):\n        nbrs.predict(X3)": (
        "with pytest.raises(ValueError, match=msg):\n        nbrs.fit(X3, y)"
    ),
    # Up to 1,000 rows all pairs are as quick as a tree; beyond, the time on a sample decides.
    '(np.random.randn(10, 5), "euclidean", None, "kd_tree")': '(np.random.randn(10, 5), "euclidean", None, "brute")',
    '{"V": [2] * 5}, "ball_tree")': '{"V": [2] * 5}, "brute")',
}
"""What is different on purpose, as we have it."""

FULL = (
    "test_neigh_predictions_algorithm_agnosticity", "test_radius_neighbors_brute_backend", "test_kneighbors_brute_backend",
    "test_unsupervised_kneighbors", "test_neighbors_classifier_with_string_labels",
)  # fmt: skip
"""Tests of hundreds of settings, which run with the long ones."""

for name, value in borrow("sklearn.neighbors.tests.test_neighbors", COMMON | DIFFERENCES, {}).items():
    globals()[name] = pytest.mark.full(value) if name in FULL else value
