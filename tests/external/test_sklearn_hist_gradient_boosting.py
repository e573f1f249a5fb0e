"""scikit-learn's own tests of histogram gradient boosting, run against ours."""

from .borrowed import borrow

OURS = {
    "from sklearn.ensemble import (\n    HistGradientBoostingClassifier,\n    HistGradientBoostingRegressor,\n)": (
        "from tacit.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor"
    ),
}
TREES = {
    # A level of −1 that was seen in six rows need not be predicted as one that was never seen.
    '"missing_value", [np.nan, -1]': '"missing_value", [np.nan]',
    # Ours are records.
    "len(predictor[0].nodes) == 1": "predictor[0].node_count == 1",
    'predictor[0].nodes[0]["value"] == 0': "predictor[0].value[0] == 0",
    "in est._predictors)": "in est.trees_)",
    "est._predictors[0][0]": "est.trees_[0][0]",
    "tree.get_max_depth()": "tree.max_depth",
    "tree.get_n_leaf_nodes()": "tree.n_leaves",
    "._predictors[0][0].raw_left_cat_bitsets[0]": ".trees_[0][0].sets[1:]",
    "expected_left_bitset = [21, 0, 0, 0, 0, 0, 0, 0]": "expected_left_bitset = [21]",
    "hist_np._predictors": "hist_np.trees_",
    "hist_pd._predictors": "hist_pd.trees_",
    "hist_a_b._predictors": "hist_a_b.trees_",
    "hist_b_a._predictors": "hist_b_a.trees_",
    "len(predictor_1[0].nodes) == len(predictor_2[0].nodes)": "predictor_1[0].node_count == predictor_2[0].node_count",
    'hist_pd._preprocessor.named_transformers_["encoder"].categories_[0]': "hist_pd.levels_.values[1]",
}
DIFFERENCES = {
    "test_binning_train_validation_are_separated": "the bins of a fit are not kept; a test of ours looks at them",
    "test_consistent_lengths": "the message on weights is the library's own, which names both lengths",
    "test_early_stopping_with_sample_weights": "it replaces a function in scikit-learn's own module",
    "test_custom_loss": "loss objects are private classes of scikit-learn; ours are named",
}
globals().update(
    borrow("sklearn.ensemble._hist_gradient_boosting.tests.test_gradient_boosting", OURS | TREES, DIFFERENCES)
)

WARM = {
    "from sklearn.ensemble import (\n    HistGradientBoostingClassifier,\n    HistGradientBoostingRegressor,\n)": (
        "from tacit.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor"
    ),
    "zip(gb_1._predictors, gb_2._predictors)": "zip(gb_1.trees_, gb_2.trees_)",
    "predictor_1.nodes, predictor_2.nodes": "predictor_1.value, predictor_2.value",
    "gb._predictors[i][0].get_max_depth()": "gb.trees_[i][0].max_depth",
    "gb._predictors[-i][0].get_max_depth()": "gb.trees_[-i][0].max_depth",
}
globals().update(borrow("sklearn.ensemble._hist_gradient_boosting.tests.test_warm_start", WARM, {}))
globals().update(borrow("sklearn.ensemble._hist_gradient_boosting.tests.test_monotonic_constraints", OURS, {}))
