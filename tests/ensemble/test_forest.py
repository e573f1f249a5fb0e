"""Forests: the same for any number of threads, out of bag, intervals that hold, imputation, and published errors on spam."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1

import tacit
from tacit.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    ForestImputer,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tacit.tree import DecisionTreeClassifier


@pytest.mark.parametrize(
    "kind", [RandomForestClassifier, ExtraTreesClassifier, RandomForestRegressor, ExtraTreesRegressor]
)
def test_threads_do_not_matter(kind, tmp_path):
    X, y = load_iris(return_X_y=True)
    X[::9, 1] = np.nan
    few = kind(20, n_jobs=1, random_state=0).fit(X, y)
    many = kind(20, n_jobs=4, random_state=0).fit(X, y)
    told = "predict_proba" if hasattr(few, "predict_proba") else "predict"
    np.testing.assert_array_equal(getattr(few, told)(X), getattr(many, told)(X))
    tacit.save(many, tmp_path / "forest")
    np.testing.assert_array_equal(getattr(tacit.load(tmp_path / "forest"), told)(X), getattr(few, told)(X))
    alone = np.mean([getattr(tree, told)(X) for tree in many], axis=0)
    np.testing.assert_allclose(getattr(many, told)(X), alone, atol=1e-12)
    np.testing.assert_array_equal(many.apply(X)[:, 3], many.estimators_[3].apply(X))


def test_out_of_bag():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, y)
    votes, count = np.zeros((len(X), 2)), np.zeros(len(X))
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_):
        out = np.setdiff1d(np.arange(len(X)), rows)
        votes[out] += tree.predict_proba(X[out])
        count[out] += 1
    np.testing.assert_allclose(forest.oob_decision_function_, votes / count[:, None])
    assert forest.oob_curve_[-1] == pytest.approx(1 - forest.oob_score_)
    assert forest.oob_curve_[-1] < forest.oob_curve_[3]
    importance = forest.permutation_importance(X, y)
    noise = np.column_stack([X, np.random.default_rng(0).normal(size=len(X))])
    assert importance.max() > 0.01
    assert RandomForestClassifier(60, random_state=0).fit(noise, y).permutation_importance(noise, y)[-1] < 0.003
    near = forest.proximities(X[:20])
    np.testing.assert_allclose(np.diag(near), 1.0)
    leaves = forest.apply(X[:20])
    assert near[2, 7] == pytest.approx((leaves[2] == leaves[7]).mean())
    bags = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    assert isinstance(bags.estimators_[0], DecisionTreeClassifier)
    assert bags.oob_curve(X, y)[-1] == pytest.approx(1 - bags.oob_score_)
    X, y = load_diabetes(return_X_y=True)
    bags = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    assert bags.oob_curve(X, y)[-1] == pytest.approx(((bags.oob_prediction_ - y) ** 2).mean())


@pytest.mark.parametrize("n", [20, 100])
def test_intervals_hold_what_they_say(n):
    held, n_runs = [], 25
    for seed in range(n_runs):
        X, y = make_friedman1(n + 200, noise=1.0, random_state=seed)
        forest = RandomForestRegressor(80, intervals=True, random_state=seed).fit(X[:n], y[:n])
        low, high = forest.predict_interval(X[n:], level=0.9)
        held.append(((low <= y[n:]) & (y[n:] <= high)).mean())
    assert 0.87 < np.mean(held) < 0.97


def test_quantiles_are_those_of_leaves():
    X, y = make_friedman1(80, random_state=0)
    forest = RandomForestRegressor(30, min_samples_leaf=4, intervals=True, random_state=0).fit(X, y)
    weights = np.zeros((5, 80))
    for seed_rows, tree in zip(forest.estimators_samples_, forest.estimators_):
        count, leaf = np.bincount(seed_rows, minlength=80), tree.apply(X)
        for query, found in enumerate(tree.apply(X[:5])):
            weights[query] += np.where(leaf == found, count, 0) / count[leaf == found].sum() / 30
    order = np.argsort(y)
    cumulated = np.cumsum(weights[:, order], axis=1)
    expected = [[y[order][np.searchsorted(row, q - 1e-9)] for q in (0.1, 0.5, 0.9)] for row in cumulated]
    np.testing.assert_allclose(forest.predict_quantiles(X[:5], [0.1, 0.5, 0.9]), expected)


def test_more_trees():
    X, y = load_iris(return_X_y=True)
    whole = RandomForestClassifier(12, random_state=0).fit(X, y)
    grown = RandomForestClassifier(5, random_state=0, warm_start=True).fit(X, y).set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(whole.predict_proba(X), grown.predict_proba(X))
    batches = (
        RandomForestClassifier(6, random_state=0).partial_fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2], n_more=4)
    )
    assert len(batches.trees_) == 10
    assert batches.score(X, y) > 0.95
    halves = RandomForestClassifier(6, random_state=0).partial_fit(X[:75], y[:75], classes=[0, 1, 2])
    assert halves.partial_fit(X[75:], y[75:]).predict_proba(X).shape == (150, 3)
    with pytest.raises(ValueError, match=r"y holds the class .*7.*, but those that are known are 0, 1, 2"):
        batches.partial_fit(X[:100], y[:100] + 7)


def test_bad_input():
    X, y = load_iris(return_X_y=True)
    rare = np.r_[np.zeros(60, int), np.ones(60, int), [2]]
    forest = RandomForestClassifier(3, random_state=4).fit(X[:121], rare)  # the last class is in no bag, or in few
    assert forest.predict_proba(X).shape == (150, 3)
    missed = RandomForestClassifier(1, max_samples=5, random_state=0).fit(X[:121], rare)
    assert missed.predict_proba(X)[:, 2].max() == 0.0
    gone = np.full((30, 2), np.nan)
    assert np.isfinite(RandomForestRegressor(5, random_state=0).fit(gone, np.arange(30.0)).predict(gone)).all()
    for kind in (RandomForestClassifier, ExtraTreesClassifier):
        leaves = kind(5, max_depth=0, random_state=0).fit(X, y)
        assert [tree.node_count for tree in leaves.trees_] == [1] * 5
        constant = kind(5, random_state=0).fit(np.ones((150, 2)), y)
        assert [tree.node_count for tree in constant.trees_] == [1] * 5
        assert np.ptp(constant.predict_proba(X[:, :2]), axis=0).tolist() == [0.0] * 3
        table = pd.DataFrame({"x": np.nan, "s": np.array(["a", "b", "c"])[y]})
        named = kind(5, random_state=0).fit(table, y)
        assert named.score(table, y) == 1.0
        assert np.isfinite(named.predict_proba(table.head(1).assign(s="unseen"))).all()
    for settings, message in (
        ({"n_estimators": 0}, "n_estimators=0 is not a whole number of at least 1"),
        ({"bootstrap": False, "oob_score": True}, "only available if bootstrap=True"),
        ({"bootstrap": False, "max_samples": 5}, "which is now 5"),
        ({"n_jobs": 0}, "n_jobs=0 is not"),
        ({"class_weight": "odd"}, "class_weight='odd' is unknown"),
    ):
        with pytest.raises(ValueError, match=message):
            RandomForestClassifier(**settings).fit(X, y)
    with pytest.raises(ValueError, match="intervals=True needs rows out of bag"):
        ExtraTreesRegressor(intervals=True).fit(X, y)
    with pytest.raises(ValueError, match="fit with intervals=True"):
        RandomForestRegressor(2).fit(X, y).predict_interval(X)
    kept = RandomForestRegressor(2, intervals=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"quantiles holds 1\.5; quantiles lie between 0 and 1"):
        kept.predict_quantiles(X, [1.5])
    with pytest.raises(ValueError, match="but y has 2 columns"):
        RandomForestRegressor(2, intervals=True).fit(X, np.column_stack([y, y]))


def test_imputation():
    rng = np.random.default_rng(0)
    X, _ = load_iris(return_X_y=True)
    table = pd.DataFrame(X, columns=list("abcd"))
    table["e"] = pd.Categorical(np.where(X[:, 2] < 2.5, "small", "large"))
    hidden = rng.random(table.shape) < 0.15
    holed = table.mask(hidden)
    filled = ForestImputer(40, random_state=0).fit_transform(holed)
    assert not filled.isna().any().any()
    assert filled["e"].dtype == table["e"].dtype
    pd.testing.assert_frame_equal(filled.mask(hidden), holed)
    assert (filled["e"] == table["e"])[hidden[:, 4]].mean() > 0.9
    error = np.abs(filled["c"] - table["c"])[hidden[:, 2]].mean()
    assert error < 0.3 * np.abs(holed["c"].mean() - table["c"])[hidden[:, 2]].mean()
    with pytest.raises(ValueError, match="column 0 has no observed value"):
        ForestImputer().fit([[np.nan, 1.0], [np.nan, 2.0]])


BOOK = {"pruned tree": 0.087, "bagging": 0.054, "random forest": 0.0488, "boosting": 0.045}
"""Hastie, Tibshirani and Friedman (2009), sections 9.2.5, 10.8 and 15.2: errors on 1,536 mails, learned from 3,065."""


@pytest.mark.full
def test_spam(table):
    """Mean errors of random splits are those of the book's one split, which is not in the data, within two of its errors."""
    mails = table("spambase/spambase.csv")
    y = (mails.pop("type") == "spam").to_numpy().astype(int)
    X, errors = mails.to_numpy(), []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = order[:3065], order[3065:]
        models = (
            DecisionTreeClassifier(random_state=0).fit(X[train], y[train]).prune(),
            BaggingClassifier(n_estimators=200, random_state=0).fit(X[train], y[train]),
            RandomForestClassifier(300, random_state=0).fit(X[train], y[train]),
            GradientBoostingClassifier(max_iter=200, random_state=0).fit(X[train], y[train]),
        )
        errors.append([(model.predict(X[test]) != y[test]).mean() for model in models])
    found = dict(zip(BOOK, np.mean(errors, axis=0)))
    for name, told in BOOK.items():
        assert found[name] < told + 2 * np.sqrt(told * (1 - told) / 1536), name
    assert found["random forest"] < found["bagging"] < found["pruned tree"]
