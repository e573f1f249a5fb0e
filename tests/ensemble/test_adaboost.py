"""What AdaBoost must hold to."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.datasets import load_iris, make_hastie_10_2
from sklearn.tree import DecisionTreeClassifier

import tacit
from tacit import tree
from tacit.ensemble import AdaBoostClassifier
from tacit.tree import shap_values


def hastie(n, seed):
    X, y = make_hastie_10_2(n, random_state=seed)
    return X, y.astype(int)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rounds_are_those_of_scikit_learn(n_classes):
    """Beside columns without ties, where theirs draws among equal splits."""
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=0.01, size=X.shape)
    X, y = X[y < n_classes], y[y < n_classes]
    if n_classes == 2:
        y = y ^ (np.random.default_rng(1).random(len(y)) < 0.2)
    ours = AdaBoostClassifier(n_estimators=15).fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(n_estimators=15, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, atol=1e-6)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)


def test_the_training_error_keeps_to_its_bound_which_falls():
    for X, y in (hastie(800, 0), load_iris(return_X_y=True)):
        weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
        model = AdaBoostClassifier(n_estimators=40).fit(X, y, weight)
        assert (model.train_errors_ <= model.bounds_ + 1e-12).all()
        if model.n_classes_ == 2:
            assert (np.diff(model.bounds_) < 0).all()
            factors = 2 * np.sqrt(model.estimator_errors_ * (1 - model.estimator_errors_))
            np.testing.assert_allclose(model.bounds_, np.cumprod(factors))
        share = [weight[said != y].sum() / weight.sum() for said in model.staged_predict(X)]
        np.testing.assert_allclose(share, model.train_errors_, atol=1e-12)


def test_a_weight_of_two_is_a_row_that_occurs_twice():
    X, y = hastie(300, 1)
    weight = np.random.default_rng(0).integers(0, 3, 300)
    one = AdaBoostClassifier(n_estimators=20).fit(X, y, weight)
    two = AdaBoostClassifier(n_estimators=20).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-9)


def test_stumps_send_missing_cells_where_they_help():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0.3).astype(int)
    X[(y == 1) & (rng.random(400) < 0.5), 0] = np.nan
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)
    assert model.score(X, y) == 1.0
    assert not model.estimators_[0].missing_left[0]
    only = np.where(np.arange(400) < 200, np.nan, 1.0)[:, None]
    assert AdaBoostClassifier(n_estimators=1).fit(only, np.arange(400) < 200).score(only, np.arange(400) < 200) == 1.0


def test_any_classifier_is_boosted_and_stumps_are_kept_in_files(tmp_path):
    X, y = hastie(500, 0)
    trees = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=10, random_state=0).fit(X, y)
    stumps = AdaBoostClassifier(n_estimators=10).fit(X, y)
    assert trees.score(X, y) > stumps.score(X, y)
    tacit.save(stumps, tmp_path / "model.tacit")
    np.testing.assert_array_equal(
        tacit.load(tmp_path / "model.tacit").decision_function(X), stumps.decision_function(X)
    )
    told = shap_values(stumps, X[:20])
    np.testing.assert_allclose(told.total, stumps.decision_function(X[:20]), atol=1e-12)
    with pytest.raises(TypeError, match=r"votes of DecisionTreeClassifier are not those of tacit's trees"):
        shap_values(trees, X)


def test_where_nothing_can_be_learned():
    assert AdaBoostClassifier().fit([[0.0], [1.0]], ["a", "a"]).predict([[5.0]]).tolist() == ["a"]
    with pytest.raises(ValueError, match=r"worse than random"):
        AdaBoostClassifier().fit(np.ones((4, 1)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"n_estimators=0 is not a whole number of at least 1"):
        AdaBoostClassifier(n_estimators=0).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"learning_rate=0 is not a number above 0"):
        AdaBoostClassifier(learning_rate=0).fit([[0.0], [1.0]], [0, 1])


def test_hastie_10_2():
    """Hastie, Tibshirani and Friedman (2009), section 10.1: 2,000 rows, 10,000 to test; a stump 45.8 %, AdaBoost about 12 %."""
    X, y = hastie(12_000, 0)
    model = AdaBoostClassifier(n_estimators=400).fit(X[:2000], y[:2000])
    stump = 1 - next(model.staged_score(X[2000:], y[2000:]))
    error = 1 - model.score(X[2000:], y[2000:])
    assert 0.44 < stump < 0.48
    assert 0.105 < error < 0.13


@pytest.mark.parametrize("estimator", [None, tree.DecisionTreeClassifier(max_depth=2)])
def test_categories_are_split_by_levels_and_models_are_saved(estimator, tmp_path):
    rng = np.random.default_rng(0)
    level, number = rng.integers(0, 4, 200), rng.normal(size=200)
    frame = pd.DataFrame({"x": number, "s": np.array(list("abcd"))[level], "c": pd.Categorical(level % 2 == 0)})
    y = np.where(np.isin(level, [0, 3]), number > -0.3, number > 0.9)
    model = AdaBoostClassifier(estimator, n_estimators=8).fit(frame[:150], y[:150])
    assert model.score(frame[150:], y[150:]) > 0.9
    assert [levels[:2] for levels in model.estimators_[0].levels_][:2] == [[], ["a", "b"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tacit.save(model, tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(loaded.decision_function(frame), model.decision_function(frame))
    assert str(loaded.estimator) == str(estimator)
    told = shap_values(model, frame[:9])
    np.testing.assert_allclose(told.total, model.decision_function(frame[:9]), atol=1e-12)
    assert dict((name, cell) for name, cell, _ in told.rules(0))["s"] == frame["s"][0]
