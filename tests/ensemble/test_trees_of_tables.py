"""What a new user gives trees, forests and bagging: frames of every kind, odd rows, and mistakes that messages must name."""

import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score

import tacit
from tacit.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ForestImputer,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tacit.tree import DecisionTreeClassifier, DecisionTreeRegressor

X = np.random.default_rng(0).normal(size=(60, 3))
NAMED = pd.DataFrame(X, columns=list("abc"))
NUMBERS = 3 * X[:, 0] + X[:, 1]


@pytest.fixture(scope="module")
def penguins():
    table = pd.read_csv(tacit.datasets.penguins_path()).sample(frac=1, random_state=0).reset_index(drop=True)
    return table.drop(columns="species"), table["species"]


def test_bagging_keeps_the_types_of_columns(penguins, tmp_path):
    t, s = penguins
    assert cross_val_score(BaggingClassifier(random_state=0), t, s).mean() > 0.95
    settings = {
        "n_estimators": 20,
        "max_features": 0.7,
        "bootstrap_features": True,
        "oob_score": True,
        "random_state": 0,
    }
    bags = BaggingClassifier(**settings).fit(t, s)
    assert bags.oob_curve(t, s)[-1] == pytest.approx(1 - bags.oob_score_)
    assert isinstance(bags.estimators_[0], DecisionTreeClassifier)
    assert list(bags.feature_names_in_) == list(t.columns)
    told = pickle.loads(pickle.dumps(bags)).predict_proba(t)
    for other in (pl.from_pandas(t), pa.Table.from_pandas(t)):
        np.testing.assert_array_equal(BaggingClassifier(**settings).fit(other, s).predict_proba(other), told)
    np.testing.assert_array_equal(bags.predict(t), bags.classes_[told.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(bags.predict_log_proba(t[:5])).sum(axis=1), 1.0)
    year = BaggingRegressor(n_jobs=2, random_state=0).fit(t, t["year"])
    np.testing.assert_allclose(year.predict(t), t["year"], atol=0.5)
    for model in (bags, year):
        tacit.save(model, tmp_path / "bags.tacit")
        loaded = tacit.load(tmp_path / "bags.tacit")
        np.testing.assert_array_equal(loaded.predict(t), model.predict(t))
        np.testing.assert_array_equal(loaded.estimators_samples_, model.estimators_samples_)
    foreign = BaggingClassifier(DummyClassifier(), 2).fit(t[["year"]], s)
    with pytest.raises(
        TypeError, match="cannot hold the DummyClassifier of sklearn that BaggingClassifier was fitted of"
    ):
        tacit.save(foreign, tmp_path / "bags.tacit")
    one = BaggingClassifier(DecisionTreeClassifier(), 1, bootstrap=False, random_state=0).fit(t, s)
    np.testing.assert_array_equal(one.predict(t), one.estimators_[0].predict(t).astype(int).choose(one.classes_))
    for bad, message in (
        ((t, None), "requires y to be passed"),
        ((t, s, -np.ones(len(t))), "sample_weight holds -1"),
        ((t.iloc[:, [0, 1, 0]], s), "names the column 'island' more than once"),
    ):
        with pytest.raises(ValueError, match=message):
            BaggingClassifier().fit(*bad)
    with pytest.raises(ValueError, match="feature names"):
        bags.predict(t.rename(columns={"sex": "zz"}))


def test_objects_that_are_numbers(penguins):
    t, s = penguins
    tree = DecisionTreeClassifier(random_state=0).fit(t, s)
    told = tree.predict(t)
    objects = t.astype({"bill_length_mm": object, "year": object})
    np.testing.assert_array_equal(DecisionTreeClassifier(random_state=0).fit(objects, s).predict(objects), told)
    cells = t.to_numpy(dtype=object)
    mixed = DecisionTreeClassifier(random_state=0).fit(cells, s)
    np.testing.assert_array_equal(mixed.predict(cells), told)
    assert [bool(levels) for levels in mixed.levels_] == [True, False, False, False, False, True, False]
    with pytest.raises(ValueError, match="column 1 holds 'long', but it was one of numbers at fit"):
        mixed.predict(np.where(cells == cells[0, 1], "long", cells))
    numbers = t.select_dtypes("number").convert_dtypes().astype(object)
    assert DecisionTreeClassifier(random_state=0).fit(numbers, s).score(numbers, s) == 1.0
    chosen = DecisionTreeClassifier(categorical_features=["island", "sex"], random_state=0).fit(t, s)
    np.testing.assert_array_equal(chosen.predict(t), told)
    with pytest.raises(ValueError, match="column 'sex' holds 'male', but is not among categorical_features"):
        DecisionTreeClassifier(categorical_features=["island"]).fit(t, s)


def test_rows_by_name(penguins):
    t, s = penguins
    tree = DecisionTreeClassifier(random_state=0).fit(t, s)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = tree.explain(t.iloc[0])
        assert tree.explain(t.iloc[0][::-1]) == told == tree.explain(t.iloc[[0]])
    with pytest.raises(ValueError, match="the row has no 'sex'"):
        tree.explain(t.iloc[0].drop("sex"))


def number_after(line, mark):
    return float(re.match(r"[\d.,]*\d", line.split(mark)[1])[0].replace(",", ""))


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_printed_thresholds_tell_sides_apart(offset):
    x = np.array([1000.019, 1000.039, 1000.059, 1000.079]) + offset
    tree = DecisionTreeRegressor(random_state=0).fit(x[:, None], [0.0, 1.0, 3.0, 9.0])
    printed = [number_after(line, "≤ ") for line in tree.rules().splitlines() if "≤" in line]
    assert np.searchsorted(np.sort(printed), x).tolist() == [0, 1, 2, 3]
    for each in (tree, pickle.loads(pickle.dumps(tree))):
        *_, last = each.explain([x[1]]).splitlines()
        threshold, cell = number_after(last, "> "), number_after(last, "it is ")
        assert threshold < cell


def test_rows_without_weight_teach_nothing():
    weight = np.r_[1.0, 1.0, np.zeros(58)]
    forest = RandomForestClassifier(20, oob_score=False, random_state=0).fit(X, np.r_[1, 1, np.zeros(58, int)], weight)
    np.testing.assert_array_equal(forest.predict_proba(X)[:, 1], 1.0)
    numbers = RandomForestRegressor(20, random_state=0).fit(X, NUMBERS, weight)
    inside = np.sort(NUMBERS[:2])
    assert ((numbers.predict(X) >= inside[0]) & (numbers.predict(X) <= inside[1])).all()
    assert all(np.isin(rows, [0, 1]).any() for rows in numbers.estimators_samples_)


def test_intervals_are_nested():
    forest = RandomForestRegressor(20, intervals=True, random_state=0).fit(X, NUMBERS)
    before = np.inf, -np.inf
    for level in np.linspace(0.02, 0.98, 49):
        low, high = forest.predict_interval(X, level)
        assert (low <= before[0]).all()
        assert (high >= before[1]).all()
        before = low, high
    assert np.isinf(forest.predict_interval(X[:1], 0.999)).all()
    alone = RandomForestRegressor(5, intervals=True, random_state=0).fit(X[:1], NUMBERS[:1])
    assert np.isinf(alone.predict_interval(X[:1])).all()
    for level in (0, 1, 1.5):
        with pytest.raises(ValueError, match=f"level={level} is not a probability between 0 and 1, both excluded"):
            forest.predict_interval(X, level)


def test_imputed_columns_keep_their_types(penguins):
    t = penguins[0].convert_dtypes()
    for table in (t, pl.from_pandas(t), pa.Table.from_pandas(t, preserve_index=False)):
        made = ForestImputer(5, max_iter=1, random_state=0).fit_transform(table)
        kinds = (lambda each: each.schema) if hasattr(table, "schema") else (lambda each: each.dtypes.tolist())
        assert kinds(made) == kinds(table)
        assert not tacit.frames.missing_cells(made).any()


def test_a_copy_is_pruned_alone():
    tree = DecisionTreeRegressor(random_state=0).fit(X, NUMBERS)
    other = copy.deepcopy(tree).prune()
    assert other.get_n_leaves() < tree.get_n_leaves() == 60


DATED = pd.DataFrame({"day": pd.date_range("2020", periods=60), "x": X[:, 0]})


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: DecisionTreeRegressor().fit(DATED, NUMBERS), r"column 'day' holds datetime64.*turn it into numbers"),
        (lambda: RandomForestRegressor(2).fit(DATED.astype(object), NUMBERS), "column 'day' holds Timestamp"),
        (lambda: ForestImputer(2).fit(pl.from_pandas(DATED)), "column 'day' holds Datetime"),
        (lambda: DecisionTreeRegressor().fit(DATED.assign(day=DATED.day - DATED.day[0]), NUMBERS), "holds timedelta64"),
        (
            lambda: RandomForestRegressor(5).fit(X, NUMBERS).permutation_importance(X[:20], NUMBERS[:20]),
            "needs the 60 rows of fit in their order, but X has 20 rows; for other rows use sklearn.inspection",
        ),
        (lambda: DecisionTreeRegressor().fit(X[:1], NUMBERS[:1]).prune(), "needs at least 2 rows"),
        (lambda: DecisionTreeRegressor().fit(X, ["red"] * 60), r"y holds 'red' \(row 0\), but .*use DecisionTreeClassifier"),
        (lambda: BaggingRegressor().fit(X, ["red"] * 60), r"y holds 'red' \(row 0\), but .*use BaggingClassifier"),
        (lambda: DecisionTreeRegressor(categorical_features=["zz"]).fit(NAMED, NUMBERS), "'zz', .*named a, b, c"),
        (lambda: RandomForestRegressor(2).fit(NAMED, NUMBERS).predict(NAMED.iloc[0]), r"Series of 3 .*frame\.iloc\[\[i\]\]"),
        (lambda: RandomForestRegressor(monotonic_cst={"q": 1}).fit(NAMED, NUMBERS), "unexpected feature names.*'q'"),
        (
            lambda: RandomForestClassifier(2).partial_fit(X, [0, 1] * 30).partial_fit(X, [0, 2] * 30),
            r"holds the class 2, .*known are 0, 1; name all classes in the first partial_fit, as classes=\[",
        ),
        (
            lambda: RandomForestClassifier(2).partial_fit(X, [0, 1] * 30).partial_fit(X, [0.0] * 59 + [np.nan]),
            "no label in row 59",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_named(action, message):
    with pytest.raises(ValueError, match=message):
        action()


def test_monotone_by_name():
    by_name = RandomForestRegressor(5, monotonic_cst={"a": 1}, random_state=0).fit(NAMED, NUMBERS)
    by_place = RandomForestRegressor(5, monotonic_cst=[1, 0, 0], random_state=0).fit(NAMED, NUMBERS)
    np.testing.assert_array_equal(by_name.predict(NAMED), by_place.predict(NAMED))
