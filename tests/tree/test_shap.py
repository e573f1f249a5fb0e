"""Shapley values of trees: equal to their definition, and they sum to what is predicted."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
import sklearn.tree

from tacit.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tacit.tree import DecisionTreeClassifier, DecisionTreeRegressor, Tree, shap_values
from tacit.tree.shap import expectation


def known(tree, x, columns, node=0):
    """The mean value where only some columns of a row are known: both ways are taken by the shares of training rows."""
    if tree.feature[node] < 0:
        return tree.flat[node]
    left, right = tree.left[node], tree.right[node]
    if tree.feature[node] in columns:
        alone = Tree.of(
            [tree.feature[node], -2, -2], [tree.threshold[node], 0, 0], [1, -1, -1], [2, -1, -1], [0, 1, 2], tree.n_features,
            missing_left=tree.missing_left[[node, node, node]],
            category=np.array([min(tree.category[node], 0), -1, -1], np.int32),
            sets=tree.sets[max(tree.category[node], 0) :],
        )  # fmt: skip
        return known(tree, x, columns, left if alone.apply(x[None])[0] == 1 else right)
    share = tree.weight[left] / tree.weight[node]
    return share * known(tree, x, columns, left) + (1 - share) * known(tree, x, columns, right)


def by_definition(tree, x):
    d, found = tree.n_features, np.zeros((tree.n_features, tree.flat.shape[1]))
    for j in range(d):
        others = [i for i in range(d) if i != j]
        for size in range(d):
            for chosen in combinations(others, size):
                share = factorial(size) * factorial(d - size - 1) / factorial(d)
                found[j] += share * (known(tree, x, {*chosen, j}) - known(tree, x, set(chosen)))
    return found


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 3] = rng.integers(0, 5, n)
    y = X[:, 0] * X[:, 1] + np.isin(X[:, 3], [1, 4]) + 0.1 * rng.normal(size=n)
    X[rng.random((n, 4)) < 0.1] = np.nan
    return X, y


def test_values_are_those_of_the_definition_with_missing_cells_levels_and_columns_asked_twice():
    X, y = rows()
    model = GradientBoostingRegressor(max_iter=4, categorical_features=[3], min_samples_leaf=5).fit(X, y)
    cells, terms, _ = model._explained(X[:12])
    assert any((tree.category >= 0).any() for tree, _ in terms)
    wanted = np.array([sum(by_definition(tree, x) for tree, _ in terms)[:, 0] for x in cells])
    np.testing.assert_allclose(shap_values(model, X[:12]).values, wanted, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_values_sum_to_what_is_predicted_less_what_is_expected(n_classes, n_jobs):
    X, y = rows(2000)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = (GradientBoostingClassifier if n_classes else GradientBoostingRegressor)(max_iter=20).fit(X, y)
    told = shap_values(model, X, n_jobs=n_jobs)
    raw = model.decision_function(X) if n_classes else model.predict(X)
    np.testing.assert_allclose(told.total, raw, atol=1e-10)
    np.testing.assert_allclose(told.base, raw.mean(axis=0), atol=1e-10)  # path dependent: the mean of training rows
    np.testing.assert_array_equal(told.values, shap_values(model, X).values)
    assert told.importances.shape == told.values.shape[1:]


def test_single_trees_are_explained():
    X, y = rows(150)
    X = np.nan_to_num(X)
    regressor = DecisionTreeRegressor(max_depth=4).fit(X, y)
    np.testing.assert_allclose(shap_values(regressor, X).total, regressor.predict(X), atol=1e-12)
    np.testing.assert_allclose(
        shap_values(regressor, X[:5]).values, [by_definition(regressor.tree_, x)[:, 0] for x in X[:5]], atol=1e-12
    )
    for classifier in (DecisionTreeClassifier(max_depth=3), RandomForestClassifier(10, random_state=0)):
        classifier.fit(X, y > 0)
        np.testing.assert_allclose(shap_values(classifier, X).total, classifier.predict_proba(X), atol=1e-12)


def test_a_tree_by_hand():
    # x0 ≤ 0: 0; else x1 ≤ 0: 1, else 3; half of the rows go each way.
    tree = Tree.of(
        [0, -2, 1, -2, -2], [0, 0, 0, 0, 0], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [1, 0, 2, 1, 3], 2,
        weight=np.array([4.0, 2, 2, 1, 1]),
    )  # fmt: skip
    assert expectation(tree, tree.flat)[0] == 1.0
    told = shap_values(tree, [[1.0, 1.0]])
    # Known first: x0 adds 2 − 1 = 1, then x1 3 − 2 = 1; x1 adds 1.5 − 1 = ½, then x0 3 − 1.5 = 1½.
    np.testing.assert_allclose(told.values, [[1.25, 0.75]], atol=1e-15)
    assert told.rules(0, 1) == [("x0", 1.0, 1.25)]


def test_deep_paths_keep_their_digits():
    """A chain of 60 splits on as many columns, where unwinding powers would lose all of them."""
    n = 60
    feature = np.array([j // 2 if j % 2 == 0 and j < 2 * n else -2 for j in range(2 * n + 1)])
    left = np.where(feature >= 0, np.arange(2 * n + 1) + 1, -1)
    right = np.where(feature >= 0, np.arange(2 * n + 1) + 2, -1)
    weight = np.array([0.9 ** (j // 2) * (1.0 if j % 2 == 0 else 0.1) for j in range(2 * n + 1)])
    weight[1::2] = 0.1 * weight[0:-1:2]
    tree = Tree.of(feature, np.zeros(2 * n + 1), left, right, np.arange(2.0 * n + 1), n, weight=weight)
    X = np.random.default_rng(0).normal(size=(5, n))
    told = shap_values(tree, X)
    np.testing.assert_allclose(told.total, tree.predict(X)[:, 0], atol=1e-9)


def test_what_is_no_tree_is_refused_with_what_is():
    from tacit.svm import SVC

    with pytest.raises(TypeError, match=r"SVC is no tree of tacit, nor a sum of them; give an estimator of tacit.tree"):
        shap_values(SVC().fit([[0.0], [1.0]], [0, 1]), [[0.0]])


@pytest.mark.parametrize("settings", [{}, {"max_features": 0.5, "bootstrap_features": True}])
def test_bagged_trees_are_explained_by_their_mean(settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = 2 * X[:, 0] + X[:, 1]
    model = BaggingRegressor(n_estimators=5, random_state=0, **settings).fit(X, y)
    np.testing.assert_allclose(shap_values(model, X[:7]).total, model.predict(X[:7]))
    labels = np.where(y > 2, "high", np.where(y < 0, "low", "middle"))
    votes = BaggingClassifier(n_estimators=5, max_samples=6, random_state=0, **settings).fit(X, labels)
    np.testing.assert_allclose(shap_values(votes, X[:7]).total, votes.predict_proba(X[:7]), atol=1e-12)


def test_cells_of_categories_are_told_by_their_levels():
    frame = pd.DataFrame({"s": ["u", "v", "w", None] * 15, "x": np.arange(60.0)})
    y = np.arange(60) % 4 + 0.01 * np.arange(60)
    for model in (DecisionTreeRegressor(), RandomForestRegressor(5), GradientBoostingRegressor(min_samples_leaf=5)):
        told = shap_values(model.fit(frame, y), frame[:4])
        assert [dict((name, cell) for name, cell, _ in told.rules(row))["s"] for row in range(4)] == [
            "u",
            "v",
            "w",
            None,
        ]
        with pytest.raises(IndexError, match="row=9 is none of the 4 rows that are explained; use 0 to 3"):
            told.rules(9, 2)


@pytest.mark.parametrize(
    "model", [sklearn.tree.DecisionTreeRegressor(), BaggingRegressor(sklearn.tree.DecisionTreeRegressor())]
)
def test_trees_of_scikit_learn_are_refused(model):
    X = np.arange(10.0)[:, None]
    with pytest.raises(TypeError, match=r"trees? of tacit"):
        shap_values(model.fit(X, X[:, 0]), X)
