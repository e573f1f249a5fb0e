"""What gradient boosting must hold to, whatever its rows."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

import tacit
from tacit.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from tacit.ensemble.bins import Bins, quantiles
from tacit.ensemble.losses import CLASSES, NUMBERS, loss_of
from tacit.source import ArraySource

DATA = os.environ.get("TACIT_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="TACIT_DATA is not set")


def holes(X, share=0.1, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def table(n=600, seed=0):
    """Numbers with holes, few values, and levels that matter by sets."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 3, n), rng.integers(0, 12, n)]).astype(float)
    y = X[:, 0] ** 2 + X[:, 1] * X[:, 3] + 2.0 * np.isin(X[:, 4], [1, 5, 6, 10]) + 0.3 * rng.normal(size=n)
    return holes(X), y


@pytest.mark.parametrize("loss", NUMBERS)
def test_slopes_are_those_of_the_loss(loss):
    """By differences, at predictions away from kinks."""
    rng = np.random.default_rng(0)
    y, raw, step = rng.gamma(2.0, size=50), rng.normal(size=(50, 1)), 1e-6
    own = loss_of(loss, 0, 0.3)
    own.delta = 0.7
    first, second = np.empty(50), np.empty(50)
    own.slopes(0, None, y, raw, np.empty(0), slice(None), first, second)
    for i in range(50):
        there, here = (own.value(y[i : i + 1], raw[i : i + 1] + s, None) for s in (step, -step))
        assert abs((there - here) / (2 * step) - first[i]) < 1e-5 * (1 + abs(first[i]))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_slopes_of_classes_are_those_of_the_loss(n_classes):
    rng = np.random.default_rng(0)
    own, y = loss_of(CLASSES[0], n_classes, 0.5), rng.integers(0, n_classes, 30).astype(float)
    raw = rng.normal(size=(30, own.n_outputs))
    seen = own.look(y, raw, None, lambda f: [f(slice(None))])
    for k in range(own.n_outputs):
        first, second = np.empty(30), np.empty(30)
        own.slopes(k, seen, y, raw, np.empty(0), slice(None), first, second)
        move = np.zeros_like(raw)
        move[:, k] = 1e-6
        for i in range(30):
            there, here = (own.value(y[i : i + 1], raw[i : i + 1] + s * move[:1], None) for s in (1, -1))
            assert abs((there - here) / 2e-6 - first[i]) < 1e-5


@pytest.mark.parametrize("settings", [
    {}, {"max_leaf_nodes": None, "min_samples_leaf": 3}, {"max_depth": 3, "l2_regularization": 2.0},
    {"monotonic_cst": [0, 0, 0, 1, 0]}, {"max_leaf_nodes": 4, "max_bins": 16}, {"loss": "poisson"},
])  # fmt: skip
def test_the_same_sum_of_trees_as_scikit_learn(settings):
    """Where no split of theirs is tied, to the precision of their gradients, which are of single precision."""
    X, y = table()
    settings = {"max_iter": 15, "early_stopping": False, **settings}
    ours = GradientBoostingRegressor(**settings).fit(X, np.abs(y))
    theirs = HistGradientBoostingRegressor(**settings).fit(X, np.abs(y))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4 * np.abs(y).max())


def test_levels_are_split_as_well_as_by_scikit_learn():
    X, y = table(1500)
    A, B, a, b = train_test_split(X, y, random_state=0)
    ours, theirs = (
        model(categorical_features=[4]).fit(A, a).score(B, b)
        for model in (GradientBoostingRegressor, HistGradientBoostingRegressor)
    )
    assert ours > theirs - 0.01
    assert ours > GradientBoostingRegressor().fit(A, a).score(B, b)


def test_the_same_probabilities_as_scikit_learn():
    X, y = load_iris(return_X_y=True)
    for labels in (y, y == 1):
        ours, theirs = (
            model(max_iter=10).fit(X, labels) for model in (GradientBoostingClassifier, HistGradientBoostingClassifier)
        )
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("n", [500, 90_000])
def test_neither_threads_nor_the_order_of_rows_matter(n):
    """Below and above the size from which threads share a tree and gradients are packed."""
    rng = np.random.default_rng(0)
    X = holes(rng.normal(size=(n, 9)))
    y = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + rng.normal(size=n)
    y[0] = 1e3  # by which the unit of gradients is set
    order = rng.permutation(n)
    settings = {"max_iter": 5, "early_stopping": False, "max_bins": 30}
    one, two, three = (GradientBoostingRegressor(n_jobs=jobs, **settings).fit(X, y) for jobs in (1, 2, 3))
    for a, b in zip(one.trees_, two.trees_):
        np.testing.assert_array_equal(a[0].value, b[0].value)
        np.testing.assert_array_equal(a[0].threshold, b[0].threshold)
    np.testing.assert_array_equal(one.predict(X), three.predict(X))
    if n <= 1000:  # all rows make the bins
        np.testing.assert_allclose(
            GradientBoostingRegressor(**settings).fit(X[order], y[order]).predict(X), one.predict(X), rtol=1e-9
        )


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma", "absolute_error", "quantile", "huber"])
def test_the_loss_of_training_rows_never_rises_with_small_steps(loss):
    X, y = table()
    model = GradientBoostingRegressor(
        loss=loss, quantile=0.8, learning_rate=0.02, max_iter=60, early_stopping=True, validation_fraction=None, tol=0.0,
        n_iter_no_change=60,
    )  # fmt: skip
    model.fit(X, np.abs(y) + 0.1)
    slack = 1e-3 if loss == "huber" else 1e-12  # whose δ moves
    assert (np.diff(model.train_score_) >= -slack * np.abs(model.train_score_[1:])).all()


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile", "gamma"])
def test_a_weight_of_two_is_a_row_that_occurs_twice(loss):
    X, y = make_regression(250, 4, noise=30.0, random_state=0)
    y = np.abs(y) + 0.1
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    settings = {"loss": loss, "quantile": 0.3, "min_samples_leaf": 1, "max_iter": 15}
    weighted = GradientBoostingRegressor(**settings).fit(X, y, weight)
    repeated = GradientBoostingRegressor(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-8)


def test_balanced_classes_weigh_the_same():
    X, y = make_classification(400, weights=[0.9], random_state=0)
    weight = np.random.default_rng(1).integers(1, 3, 400)
    total = np.bincount(y, weight)
    by_hand = GradientBoostingClassifier(max_iter=10).fit(X, y, weight * (total.sum() / (2 * total))[y])
    balanced = GradientBoostingClassifier(max_iter=10, class_weight="balanced").fit(X, y, weight)
    np.testing.assert_allclose(balanced.predict_proba(X), by_hand.predict_proba(X), rtol=1e-9)
    assert abs(balanced.baseline_[0]) < 1e-12


def test_splits_are_the_best_of_all():
    """One split of a column with missing cells, and one of levels, against all there are."""
    rng = np.random.default_rng(0)
    for seed in range(8):
        x = holes(rng.integers(0, 9, (60, 1)).astype(float), 0.2, seed)
        y = rng.normal(size=60) + 2.0 * (x[:, 0] > 5) - np.isnan(x[:, 0])
        model = GradientBoostingRegressor(max_iter=1, max_leaf_nodes=2, min_samples_leaf=5, learning_rate=1.0).fit(x, y)
        best = np.inf
        for cut in [*np.arange(0.5, 8.0), np.inf]:
            for missing in (False, True):
                left = np.where(np.isnan(x[:, 0]), missing, x[:, 0] <= cut)
                if min(left.sum(), (~left).sum()) >= 5:
                    best = min(best, sum(((y[side] - y[side].mean()) ** 2).sum() for side in (left, ~left)))
        assert abs(((y - model.predict(x)) ** 2).sum() - best) < 1e-8


def test_constraints_hold():
    X, y = table(2000)
    model = GradientBoostingRegressor(monotonic_cst=[1, -1, 0, 0, 0], loss="absolute_error", max_iter=30).fit(X, y)
    rows = np.repeat(X[:50], 30, axis=0)
    for column, sign in ((0, 1), (1, -1)):
        moved = rows.copy()
        moved[:, column] = np.tile(np.linspace(-3, 3, 30), 50)
        assert (sign * np.diff(model.predict(moved).reshape(50, 30), axis=1) >= -1e-12).all()
    apart = GradientBoostingRegressor(interaction_cst=[{0, 1}, {2, 3, 4}], max_iter=20).fit(X, y)
    for (tree,) in apart.trees_:
        for leaf in np.flatnonzero(tree.is_leaf):
            asked, node = set(), leaf
            while node:
                node = tree.parent[node]
                asked.add(int(tree.feature[node]))
            assert asked <= {0, 1} or asked <= {2, 3, 4}


def test_drawn_rows_and_columns_are_the_seeds_and_help_no_less():
    X, y = make_regression(600, 10, noise=20.0, random_state=0)
    A, B, a, b = train_test_split(X, y, random_state=0)
    settings = {"subsample": 0.5, "max_features": 0.4, "max_iter": 150}
    one, two, other = (GradientBoostingRegressor(random_state=s, **settings).fit(A, a) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.predict(B), two.predict(B))
    assert not np.allclose(one.predict(B), other.predict(B))
    assert one.score(B, b) > GradientBoostingRegressor(max_iter=150).fit(A, a).score(B, b) - 0.02
    # What rows that were not drawn are predicted in training is what predict says of them.
    told = GradientBoostingRegressor(early_stopping=True, validation_fraction=None, random_state=0, **settings).fit(
        A, a
    )
    assert told.train_score_[-1] == pytest.approx(-0.5 * np.mean((told.predict(A) - a) ** 2))


def test_rows_of_a_file_and_of_a_source_teach_the_same(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    X = holes(rng.normal(size=(5000, 4)))
    y, weight = np.nan_to_num(X[:, 0]) ** 2 + rng.normal(size=5000), rng.integers(0, 3, 5000).astype(float)
    columns = {f"c{j}": X[:, j] for j in range(4)}
    pq.write_table(pa.table(columns | {"y": y, "w": weight, "class": (y > 1).astype(int)}), tmp_path / "rows.parquet")
    pq.write_table(pa.table(columns), tmp_path / "new.parquet")
    held = GradientBoostingRegressor(max_iter=8).fit(X, y, weight)
    path = str(tmp_path / "rows.parquet")
    taken = pq.read_table(path).drop_columns(["class"])
    pq.write_table(taken, tmp_path / "numbers.parquet")
    streamed = GradientBoostingRegressor(max_iter=8).fit(str(tmp_path / "numbers.parquet"), "y", "w")
    np.testing.assert_allclose(streamed.predict(X), held.predict(X), rtol=1e-9)
    np.testing.assert_allclose(streamed.predict(str(tmp_path / "new.parquet")), held.predict(X), rtol=1e-9)
    source = ArraySource(X, weight, targets=y[:, None], block_rows=700)
    np.testing.assert_allclose(GradientBoostingRegressor(max_iter=8).fit(source).predict(X), held.predict(X), rtol=1e-9)
    pq.write_table(pq.read_table(path).drop_columns(["y", "w"]), tmp_path / "classes.parquet")
    early = {"max_iter": 6, "early_stopping": True, "random_state": 0}
    by_file = GradientBoostingClassifier(**early).fit(str(tmp_path / "classes.parquet"), "class")
    assert by_file.classes_.tolist() == [0, 1]
    assert len(by_file.validation_score_) == by_file.n_iter_ + 1
    with pytest.raises(ValueError, match=r"scoring='accuracy' needs rows in memory; use 'loss'"):
        GradientBoostingClassifier(scoring="accuracy", **early).fit(str(tmp_path / "classes.parquet"), "class")


def test_levels_of_a_data_frame_are_saved_and_unseen_ones_are_missing(tmp_path):
    import pandas as pd

    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["e"] = pd.Categorical([None if np.isnan(v) else f"level {int(v)}" for v in X[:, 4]])
    model = GradientBoostingRegressor(max_iter=20).fit(frame, y)
    assert model.is_categorical_.tolist() == [False] * 4 + [True]
    tacit.save(model, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    unseen, gone = frame.copy(), frame.copy()
    unseen["e"], gone["e"] = "new", pd.Categorical([None] * len(frame))
    np.testing.assert_array_equal(model.predict(unseen), model.predict(gone))
    by_code = GradientBoostingRegressor(max_iter=20, categorical_features=[4]).fit(X, y)
    assert by_code.score(X, y) == pytest.approx(model.score(frame, y), abs=0.02)  # levels in another order


def test_bins_are_of_rows_learned_from_and_cut_weights_in_equal_parts():
    rng = np.random.default_rng(0)
    x = rng.normal(size=5000)
    cuts = quantiles(x, None, 10)
    counts = np.bincount(np.searchsorted(cuts, x), minlength=10)
    assert np.abs(counts - 500).max() <= 1
    twice = quantiles(x, np.full(5000, 2.0), 10)
    np.testing.assert_array_equal(twice, cuts)
    assert quantiles(np.array([3.0, np.nan, 1.0, 3.0]), None, 255).tolist() == [2.0]
    assert quantiles(np.array([-np.inf, 0.0, np.inf]), None, 255).tolist() == [-np.inf, np.finfo(float).max]
    bins = Bins.of(np.array([[1.0, 2.0], [2.0, 0.0], [np.nan, 1.0]]), None, 255, np.array([0, 3]), 1)
    cells = bins.cells(np.array([[1.5, 2.0], [1.6, 7.0], [np.nan, np.nan]]), 1)
    assert cells.columns.tolist() == [[0, 1, 3], [2, 3, 3]]
    model = GradientBoostingRegressor(
        early_stopping=True, random_state=0, max_iter=1, min_samples_leaf=1, max_leaf_nodes=9
    )
    X = np.arange(40.0)[:, None]
    model.fit(X, X[:, 0])
    held = train_test_split(np.arange(40), test_size=0.1, random_state=model._random_seed)[1]
    cuts = model.trees_[0][0].threshold[~model.trees_[0][0].is_leaf]
    assert len(cuts)
    assert not (np.abs(cuts[:, None] - held) == 0.5).any()


@pytest.mark.parametrize("n", [20, 60, pytest.param(300, marks=pytest.mark.full)])
@pytest.mark.parametrize("loss", ["squared_error", "gamma"])
def test_intervals_hold_the_share_they_state(n, loss):
    rng, held = np.random.default_rng(n), []
    for _ in range(60 if n < 100 else 20):
        X = rng.normal(size=(n + 200, 3))
        mean = np.exp(0.5 * X[:, 0])
        y = rng.gamma(4.0, mean / 4.0) if loss == "gamma" else mean + rng.normal(size=n + 200)
        model = GradientBoostingRegressor(loss=loss, interval_cv=5, max_iter=30, min_samples_leaf=5).fit(X[:n], y[:n])
        low, high = model.predict_interval(X[n:], 0.8)
        held.append(((y[n:] >= low) & (y[n:] <= high)).mean())
    assert 0.77 < np.mean(held) < 0.88


def test_an_interval_that_rows_cannot_tell_has_no_ends():
    X = np.arange(12.0)[:, None]
    model = GradientBoostingRegressor(interval_cv=3, min_samples_leaf=2, max_iter=5).fit(X, X[:, 0])
    low, high = model.predict_interval(X, 0.99)
    assert np.isinf(np.concatenate([low, high])).all()
    with pytest.raises(ValueError, match=r"level=1.5 is not a probability"):
        model.predict_interval(X, 1.5)
    with pytest.raises(ValueError, match=r"set interval_cv=5"):
        GradientBoostingRegressor().fit(X, X[:, 0]).predict_interval(X)


def test_importances_and_stages():
    X, y = table(800)
    model = GradientBoostingRegressor(max_iter=12, categorical_features=[4]).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[2] < 0.05  # which has no effect
    stages = list(model.staged_predict(X))
    assert len(stages) == 12
    np.testing.assert_allclose(stages[-1], model.predict(X))
    more = GradientBoostingRegressor(max_iter=5, categorical_features=[4], warm_start=True).fit(X, y)
    np.testing.assert_allclose(more.set_params(max_iter=12).fit(X, y).predict(X), model.predict(X), rtol=1e-9)


@pytest.mark.parametrize(("settings", "message"), [
    ({"learning_rate": 0}, r"learning_rate=0 is not a number above 0"),
    ({"max_iter": 0}, r"max_iter=0 is not a whole number of at least 1"),
    ({"max_depth": 0}, r"max_depth=0 is not a whole number of at least 1"),
    ({"max_leaf_nodes": 1}, r"max_leaf_nodes=1 is not a whole number of at least 2"),
    ({"max_bins": 256}, r"max_bins=256 is not a whole number of at least 2 and at most 255"),
    ({"subsample": 1.5}, r"subsample=1.5 is not a number of at least 0 and at most 1"),
    ({"max_features": 0.0}, r"max_features=0.0 is not a number above 0"),
    ({"loss": "hinge"}, r"loss='hinge' is unknown; use one of 'squared_error'"),
    ({"loss": "quantile"}, r"quantile=None is no quantile; loss='quantile' needs one from 0 to 1"),
    ({"loss": "poisson"}, r"loss='poisson' requires non-negative y and sum\(y\) > 0. The least is -3"),
    ({"loss": "gamma"}, r"loss='gamma' requires strictly positive y. The least is -3"),
    ({"validation_fraction": 1.0}, r"validation_fraction=1.0 is not a share below 1"),
    ({"categorical_features": "some"}, r"categorical_features='some' is unknown"),
    ({"categorical_features": [2]}, r"but 2 is not; there are 2 columns"),
    ({"interval_cv": 9}, r"interval_cv=9 exceeds the 4 sample\(s\) of X; use at most 4"),
    ({"early_stopping": "yes"}, r"early_stopping='yes' is unknown"),
])  # fmt: skip
def test_what_cannot_be_is_refused_with_its_value(settings, message):
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(**settings).fit(
            [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [-3.0, 1.0, 2.0, 3.0]
        )


def test_columns_that_tell_nothing_are_asked_for_nothing():
    X = np.column_stack([np.ones(50), np.full(50, np.nan), np.arange(50.0)])
    model = GradientBoostingRegressor(min_samples_leaf=2).fit(X, X[:, 2])
    assert model.feature_importances_.tolist() == [0.0, 0.0, 1.0]
    alone = GradientBoostingRegressor().fit(X[:, :2], X[:, 2])
    assert alone.predict(X[:3, :2]).tolist() == [24.5] * 3
    empty_levels = GradientBoostingRegressor(categorical_features=[1], min_samples_leaf=2).fit(X, X[:, 2])
    np.testing.assert_allclose(empty_levels.predict(X), model.predict(X))


@needs_data
def test_spambase():
    """Hastie, Tibshirani and Friedman (2009), section 10.8: 4.5 % of 1536 held-out messages, by trees of five splits."""
    cells = np.genfromtxt(Path(DATA) / "spambase" / "spambase.csv", delimiter=",", skip_header=1)
    X, y = cells[:, :-1], cells[:, -1].astype(int)
    A, B, a, b = train_test_split(X, y, train_size=3065, random_state=0, stratify=y)
    errors = 1 - GradientBoostingClassifier(max_iter=200, random_state=0).fit(A, a).score(B, b)
    assert errors <= 0.046


@needs_data
@pytest.mark.full
def test_california_housing_is_predicted_as_lightgbm_does():
    lightgbm = pytest.importorskip("lightgbm")
    stored = np.load(Path(DATA) / "california" / "california.npz")
    X, y = stored["X"], stored["y"]
    A, B, a, b = train_test_split(X, y, random_state=0)
    ours = GradientBoostingRegressor(max_iter=200, early_stopping=False).fit(A, a)
    theirs = lightgbm.LGBMRegressor(
        n_estimators=200, num_leaves=31, min_child_samples=20, learning_rate=0.1, verbose=-1
    ).fit(A, a)
    error, other = (np.sqrt(np.mean((model.predict(B) - b) ** 2)) for model in (ours, theirs))
    assert error < 1.01 * other


def test_diabetes_is_predicted_no_worse_than_by_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    A, B, a, b = train_test_split(X, y, random_state=0)
    assert (
        GradientBoostingRegressor().fit(A, a).score(B, b) > HistGradientBoostingRegressor().fit(A, a).score(B, b) - 0.01
    )


def mixed(n=120):
    rng = np.random.default_rng(0)
    number, level = rng.normal(size=n), rng.integers(0, 4, n)
    texts = np.array(["b", "a", "d", "c"], dtype=object)[level]
    texts[5] = None
    return pd.DataFrame({"x": number, "s": texts}), number + np.array([2.0, -1.0, 5.0, 0.0])[level]


@pytest.mark.parametrize("kind", ["object", "string", "category", "polars"])
def test_columns_of_text_are_categories(kind, tmp_path):
    """The same model from every type, in files too; levels that were not there at fit are missing."""
    frame, y = mixed()
    codes = frame.assign(s=frame["s"].astype("category").cat.codes.replace(-1, np.nan).astype(float))
    expected = GradientBoostingRegressor(categorical_features=[1]).fit(codes.to_numpy(), y).predict(codes.to_numpy())
    if kind == "polars":
        frame = pytest.importorskip("polars").from_pandas(frame)
    else:
        frame = frame.astype({"s": kind})
    model = GradientBoostingRegressor().fit(frame, y)
    assert model.is_categorical_.tolist() == [False, True]
    np.testing.assert_array_equal(model.predict(frame), expected)
    tacit.save(model, tmp_path / "model.tacit")
    np.testing.assert_array_equal(tacit.load(tmp_path / "model.tacit").predict(frame), expected)
    if kind == "object":
        gone, strange = frame[:3].assign(s=np.array([None] * 3, dtype=object)), frame[:3].assign(s="z")
        np.testing.assert_array_equal(model.predict(strange), model.predict(gone))


def test_one_class_has_one_column_of_ones():
    model = GradientBoostingClassifier().fit([[0.0], [1.0], [2.0]], ["a"] * 3)
    assert model.predict_proba([[0.0], [9.0]]).tolist() == [[1.0], [1.0]]
    assert [each.shape for each in model.staged_predict_proba([[0.0]])] == [(1, 1)] * model.n_iter_


def test_remedies_can_be_taken():
    rows, few = np.arange(30.0)[:, None], [0] * 29 + [1]
    with pytest.raises(
        ValueError, match=r"early_stopping=True holds out validation_fraction=0.1 of the 30 .* by class"
    ):
        GradientBoostingClassifier(early_stopping=True).fit(rows, few)
    with pytest.raises(ValueError, match=r"of the 1 sample\(s\), which are too few: use early_stopping=False"):
        GradientBoostingRegressor(early_stopping=True).fit(rows[:1], [1.0])
    with pytest.raises(ValueError, match=r"interval_cv=5 exceeds the 1 sample\(s\) of X; use interval_cv=None"):
        GradientBoostingRegressor(interval_cv=5).fit(rows[:1], [1.0])
    with pytest.raises(ValueError, match=r"y holds 'u' \(row 0\), .* use GradientBoostingClassifier for classes"):
        GradientBoostingRegressor().fit(rows, ["u"] * 30)
    with pytest.raises(
        ValueError, match=r"'c' .* cardinality of 300; join its rare levels, leave it out, or use a forest"
    ):
        GradientBoostingRegressor().fit(pd.DataFrame({"c": [f"level {i}" for i in range(300)]}), np.arange(300.0))
    model = GradientBoostingRegressor(interval_cv=2).fit(rows, rows[:, 0])
    with pytest.raises(ValueError, match="level='a' is not a probability"):
        model.predict_interval(rows, "a")
