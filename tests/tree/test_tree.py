"""Trees: the split search against plain Python, what weights, missing cells and categories do, pruning as rpart prints it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

import tacit
from tacit.plot import TreeDisplay
from tacit.tree import DecisionTreeClassifier, DecisionTreeRegressor, Forest, Ranked, Rules, Targets, grow

WEIGHT = """
2560 2345 1845 2260 2440 2285 2275 2350 2295 1900 2390 2075 2330 3320 2885 3310 2695 2170 2710 2775 2840 2485 2670 2640
2655 3065 2750 2920 2780 2745 3110 2920 2645 2575 2935 2920 2985 3265 2880 2975 3450 3145 3190 3610 2885 3480 3200 2765
3220 3480 3325 3855 3850 3195 3735 3665 3735 3415 3185 3690
"""
MILEAGE = """
33 33 37 32 32 26 33 28 25 34 29 35 26 20 27 19 30 33 27 24 26 28 27 23 26 25 24 26 24 25 21 21 23 24 23 27 23 20 21 22
22 22 22 23 23 21 22 21 21 23 23 18 20 18 18 18 19 20 20 19
"""


def gini(share):
    return 1 - (share**2).sum()


def entropy(share):
    seen = share[share > 0]
    return -(seen * np.log2(seen)).sum()


def spread(y, w):
    return np.average((y - np.average(y, weights=w)) ** 2, weights=w)


def of_classes(measure):
    def told(y, w):
        return measure(np.bincount(y.astype(int), weights=w, minlength=3) / w.sum())

    return told


MEASURES = {
    "squared_error": spread,
    "absolute_error": None,
    "gini": of_classes(gini),
    "entropy": of_classes(entropy),
    "misclassification": of_classes(lambda share: 1 - share.max()),
}


def median_loss(y, w):
    return min(np.average(np.abs(y - m), weights=w) for m in y)


MEASURES["absolute_error"] = median_loss


def best_gain(X, y, w, measure, levels, least=1):
    """The best gain of a node by trying every split: thresholds with missing cells on either side, and all sets of levels."""
    best = -np.inf
    for j in range(X.shape[1]):
        x, gone = X[:, j], np.isnan(X[:, j])
        if levels[j]:
            seen = np.unique(x[~gone])
            sides = [np.isin(x, [v for b, v in enumerate(seen) if code >> b & 1]) for code in range(2 ** len(seen))]
        else:
            sides = [x <= v for v in np.unique(x[~gone])]
        for side in sides:
            for left in (side & ~gone, side | gone):
                if min(left.sum(), (~left).sum()) >= least:
                    parts = sum(w[part].sum() * measure(y[part], w[part]) for part in (left, ~left))
                    best = max(best, w.sum() * measure(y, w) - parts)
    return best


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("criterion", list(MEASURES))
def test_split_search_against_plain_python(criterion, gaps):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, numeric = 30, criterion in ("squared_error", "absolute_error")
        X = rng.integers(0, 5, size=(n, 3)).astype(float)
        X[:, 0] += rng.normal(size=n)
        X[rng.random(X.shape) < gaps] = np.nan
        # An order of levels is only sure to hold the best set of means, and of shares of two classes.
        levels = [0, 0, 5 if criterion == "squared_error" else 0]
        y, w = (rng.normal(size=n) if numeric else rng.integers(0, 3, n)), rng.integers(1, 4, n).astype(float)
        targets = (
            Targets.numbers(y[:, None], criterion) if numeric else Targets.classes(y[:, None], np.array([3]), criterion)
        )
        tree = grow(Ranked.of(X, levels), targets, w, Rules(criterion, max_depth=1, min_leaf=2, min_split=4))
        expected = best_gain(X, y, w, MEASURES[criterion], levels, 2)
        np.testing.assert_allclose(tree.gain[0], expected, rtol=1e-9, atol=1e-9)
        leaf = tree.apply(X)
        parts = sum(w[leaf == k].sum() * MEASURES[criterion](y[leaf == k], w[leaf == k]) for k in np.unique(leaf))
        np.testing.assert_allclose(w.sum() * MEASURES[criterion](y, w) - parts, expected, rtol=1e-9, atol=1e-9)


def gain_of(left, counted, y, w, measure):
    """By how much parting the rows that count lowers weight × impurity."""
    parts = [counted, left & counted, ~left & counted]
    if not all(part.any() for part in parts):
        return -np.inf
    whole, *sides = (w[part].sum() * measure(y[part], w[part]) for part in parts)
    return whole - sum(sides)


@pytest.mark.parametrize("surrogates", [0, 2])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("criterion", list(MEASURES))
def test_drawn_cuts_against_plain_python(criterion, gaps, surrogates):
    """A drawn split lies among the node's values, tells its own gain, and no side of the missing cells would gain more."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, numeric = 40, criterion in ("squared_error", "absolute_error")
        X = np.column_stack([rng.normal(size=n), rng.integers(0, 5, size=n).astype(float)])
        X[rng.random(X.shape) < gaps] = np.nan
        y, w = (rng.normal(size=n) if numeric else rng.integers(0, 3, n)), rng.integers(1, 4, n).astype(float)
        targets = (
            Targets.numbers(y[:, None], criterion) if numeric else Targets.classes(y[:, None], np.array([3]), criterion)
        )
        rules = Rules(criterion, max_depth=1, max_features=1, random=True, surrogates=surrogates)
        tree = grow(Ranked.of(X, [0, 5], 1, rules), targets, w, rules, seed)
        x = X[:, tree.feature[0]]
        seen, measure = ~np.isnan(x), MEASURES[criterion]
        side = tree.apply(X) == tree.left[0]
        if tree.feature[0] == 0:
            assert np.nanmin(x) <= tree.threshold[0] <= np.nanmax(x)
            np.testing.assert_array_equal(side[seen], x[seen] <= tree.threshold[0])
        counted = seen if surrogates else np.ones(n, bool)
        np.testing.assert_allclose(tree.gain[0], gain_of(side, counted, y, w, measure), rtol=1e-9, atol=1e-9)
        if not surrogates:
            others = [np.where(seen, side, True), np.where(seen, side, False), seen]
            assert tree.gain[0] >= max(gain_of(each, counted, y, w, measure) for each in others) - 1e-9


def table_with_gaps(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    X[:, 3] = rng.integers(0, 6, n)
    y = X[:, 0] + (X[:, 3] % 2) * 2 + rng.normal(size=n) * 0.3
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


@pytest.mark.parametrize("missing", ["direction", "surrogate"])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "gini", "entropy", "gain_ratio"])
def test_weight_two_is_a_row_twice(criterion, missing):
    X, y = table_with_gaps()
    w = np.random.default_rng(1).integers(0, 4, len(y))
    kind = DecisionTreeClassifier if criterion in ("gini", "entropy", "gain_ratio") else DecisionTreeRegressor
    y = np.digitize(y, [0, 1, 2]) if kind is DecisionTreeClassifier else np.exp(y)
    tree = kind(criterion=criterion, max_depth=5, categorical_features=[3], missing=missing)
    weighted = tree.fit(X, y, w).predict(X)
    np.testing.assert_allclose(weighted, tree.fit(X.repeat(w, axis=0), y.repeat(w)).predict(X), rtol=1e-12)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes])
def test_same_trees_as_scikit_learn(load):
    X, y = load(return_X_y=True)
    ours, theirs = DecisionTreeClassifier, TheirClassifier
    if load is load_diabetes:
        ours, theirs = DecisionTreeRegressor, TheirRegressor
    for settings in ({"min_samples_leaf": 5}, {"max_leaf_nodes": 8}, {"ccp_alpha": 0.01}):
        a, b = ours(**settings).fit(X, y), theirs(random_state=0, **settings).fit(X, y)
        assert a.get_n_leaves() == b.get_n_leaves()
        assert abs(a.score(X, y) - b.score(X, y)) < 0.02


def test_no_missing_cells_is_no_other_path():
    X, y = load_diabetes(return_X_y=True)
    seen = DecisionTreeRegressor(min_samples_leaf=4).fit(X, y)
    extra = DecisionTreeRegressor(min_samples_leaf=4, missing="surrogate").fit(X, y)
    assert (seen.tree_.feature == extra.tree_.feature).all()
    assert (seen.tree_.threshold == extra.tree_.threshold).all()
    flowers = load_iris(return_X_y=True)
    trees = [DecisionTreeClassifier(missing=missing).fit(*flowers).tree_ for missing in ("direction", "surrogate")]
    np.testing.assert_array_equal(trees[0].feature, trees[1].feature)
    np.testing.assert_allclose(trees[0].gain, trees[1].gain)
    forest, column = Forest.of([seen.tree_]), np.zeros(len(X))
    X[:, 9], column[0] = X[:, 9], 1.0
    np.testing.assert_array_equal(forest.node[forest.leaves(X)[:, 0]], seen.apply(X))
    X[::7, 2] = np.nan
    np.testing.assert_array_equal(forest.node[forest.leaves(X)[:, 0]], seen.apply(X))


def test_surrogates_know_where_a_twin_goes():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X = np.column_stack([x, -x + rng.normal(size=400) * 0.05, rng.normal(size=400)])
    y = (x > 0.3).astype(int)
    X[rng.random(400) < 0.3, 0] = np.nan
    tree = DecisionTreeClassifier(max_depth=1, missing="surrogate").fit(X, y)
    told = [[np.nan, -2.0, 0.0], [np.nan, 2.0, 0.0]]
    assert tree.predict(told).tolist() == [1, 0]
    assert DecisionTreeClassifier(max_depth=1).fit(X[:, [0, 2]], y).score(X[:, [0, 2]], y) < tree.score(X, y)


def test_categories_of_a_data_frame(tmp_path):
    rng = np.random.default_rng(0)
    town = rng.choice(["Bonn", "Köln", "Ulm", "Jena"], size=300)
    table = pd.DataFrame({"size": rng.normal(size=300), "town": pd.Categorical(town)})
    y = np.isin(town, ["Bonn", "Jena"]) * 3.0 + rng.normal(size=300) * 0.1
    tree = DecisionTreeRegressor(max_depth=1).fit(table, y)
    assert "town is Bonn or Jena: " in tree.rules()
    assert tree.levels_ == [[], ["Bonn", "Jena", "Köln", "Ulm"]]
    new = pd.DataFrame({"size": [0.0, 0.0, 0.0], "town": ["Jena", "Ulm", "Paris"]})
    told = tree.predict(new)
    assert told[0] > 2 > told[1]
    assert told[2] in told[:2]  # where missing cells go
    assert "a level that was not learned from" in tree.explain(new.iloc[[2]])
    tacit.save(tree, tmp_path / "tree")
    again = tacit.load(tmp_path / "tree")
    np.testing.assert_array_equal(again.predict(new), told)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tree)).predict(new), told)
    assert "<svg" in tree.to_svg()
    assert "town is Bonn or Jena" in tree.to_svg()


def test_the_tree_of_rpart():
    """rpart(Mileage ~ Weight, car.test.frame): its printed table of complexity, and the size that the 1-SE rule takes."""
    X, y = np.array(WEIGHT.split(), float)[:, None], np.array(MILEAGE.split(), float)
    tree = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7, random_state=0).fit(X, y)
    assert tree.tree_.impurity[0] == pytest.approx(22.576, abs=5e-4)
    assert tree.tree_.threshold[0] == 2567.5
    table = tree.prune(cv=10).cp_table_
    np.testing.assert_allclose(table.cp[:3], [0.595349, 0.134528, 0.012828], atol=5e-7)
    np.testing.assert_array_equal(table.n_splits[:3], [0, 1, 2])
    np.testing.assert_allclose(table.relative_error[:4], [1.0, 0.40465, 0.27012, 0.25729], atol=5e-6)
    assert tree.get_n_leaves() == 3
    assert str(table).splitlines()[3].endswith("*")


def test_pruning_is_best_for_every_alpha():
    """Weakest links against all subtrees of a small tree."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    path = DecisionTreeRegressor(max_depth=3).cost_complexity_pruning_path(X, y)
    whole = DecisionTreeRegressor(max_depth=3).fit(X, y).tree_
    risk = whole.impurity * whole.weight / whole.weight[0]

    def costs(node, alpha):
        if whole.feature[node] < 0:
            return [risk[node] + alpha]
        below = [a + b for a in costs(whole.left[node], alpha) for b in costs(whole.right[node], alpha)]
        return [risk[node] + alpha, *below]

    for alpha in [*path.ccp_alphas, 0.02, 0.5]:
        tree = DecisionTreeRegressor(max_depth=3, ccp_alpha=alpha).fit(X, y).tree_
        found = (tree.impurity * tree.weight / tree.weight[0])[tree.is_leaf].sum() + alpha * tree.n_leaves
        assert found == pytest.approx(min(costs(0, alpha)), abs=1e-12)


def test_display():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    display = TreeDisplay.from_estimator(tree, max_depth=2)
    assert len(display.nodes_) == (tree.tree_.depth <= 2).sum()
    texts = [text.get_text() for text in display.ax_.texts]
    assert "petal length (cm) ≤ 2.45" in texts
    assert "0 (1)\n50" in texts
    assert "of which the upper ones are drawn" in display.ax_.get_title()


def test_monotone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(size=300) * 0.3
    tree = DecisionTreeRegressor(monotonic_cst=[1, -1]).fit(X, y)
    line = np.column_stack([np.linspace(-3, 3, 200), np.zeros(200)])
    assert (np.diff(tree.predict(line)) >= 0).all()
    assert (np.diff(tree.predict(line[:, ::-1])) <= 0).all()


def test_bad_input():
    X, y = load_iris(return_X_y=True)
    leaf = DecisionTreeClassifier(max_depth=0).fit(X, y)
    assert leaf.get_n_leaves() == 1
    assert leaf.predict(X[:1]) == 0  # of a tie, the first class
    constant = DecisionTreeClassifier().fit(np.ones((6, 2)), [0, 1, 1, 1, 0, 1])
    assert constant.get_depth() == 0
    gone = X.copy()
    gone[:, 2] = np.nan
    assert 2 not in DecisionTreeClassifier().fit(gone, y).tree_.feature
    empty = DecisionTreeRegressor(max_depth=2).fit(np.full((5, 1), np.nan), np.arange(5.0))
    assert empty.predict([[1.0]]) == 2.0
    twice = np.column_stack([X, X])
    assert DecisionTreeClassifier(random_state=3).fit(twice, y).tree_.feature.max() < 4  # ties go to the first column
    for settings, message in (
        ({"max_depth": -1}, "max_depth=-1 is not a whole number of at least 0"),
        ({"criterion": "deviance"}, "criterion='deviance' is unknown; use one of 'gini'"),
        ({"missing": "mean"}, "missing='mean' is unknown; use one of 'direction', 'surrogate'"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0 is not a whole number of at least 1"),
        ({"max_features": 0.0}, "max_features=0.0 must be above 0"),
        ({"class_weight": "even"}, "class_weight='even' is unknown; use 'balanced'"),
        ({"categorical_features": [9]}, "categorical_features holds 9, which is no column"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "not supported with multiclass"),
    ):
        with pytest.raises(ValueError, match=message):
            DecisionTreeClassifier(**settings).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst\\[0\\]=1, but column 0 is one of categories"):
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0], categorical_features=[0]).fit(X, y)
    fitted = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="cv=151 exceeds the 150 rows"):
        fitted.prune(cv=151)
    with pytest.raises(ValueError, match="prune needs the rows of fit"):
        pickle.loads(pickle.dumps(fitted)).prune()
    with pytest.raises(ValueError, match="explain takes one row, but 2 were given"):
        fitted.explain(X[:2])
    with pytest.raises(ValueError, match="holds -1"):
        fitted.fit(X, y, -np.ones(150))
