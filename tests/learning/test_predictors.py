"""Predictors of columns: what they choose, what their intervals hold, what they refuse."""

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.assess.exchangeable import limits
from tacit.learning import TableClassifier, TableRegressor, choose_predictor
from tacit.learning.candidates import CLASSIFIERS, REGRESSORS
from tacit.learning.design import design, moments_of, origins
from tacit.schema import Column, Schema

CHEAP = ["linear", "support_vectors"]


def mixed(n, rng, noise=1.0):
    """A table whose target is linear in a number and differs by a category, with missing cells."""
    x, colour = rng.normal(size=n), rng.choice(["blue", "green", "red"], n)
    y = 3.0 * x + np.select([colour == "red", colour == "green"], [4.0, -4.0], 0.0) + rng.normal(0.0, noise, n)
    table = pd.DataFrame({"x": x, "colour": colour, "chance": rng.normal(size=n)})
    return table.mask(rng.random(table.shape) < 0.1), y


def test_columns_of_numbers_are_indicators_angles_and_standard_scores():
    columns = (
        Column("x", "continuous"), Column("c", "category", ("a", "b", "c")), Column("b", "category", ("n", "y")),
        Column("h", "cyclic", cycle=(0.0, 24.0)),
    )  # fmt: skip
    schema = Schema(columns)
    cells = np.array([[1.0, 0.0, 1.0, 6.0], [3.0, 2.0, 0.0, 12.0], [np.nan, np.nan, 1.0, np.nan]])
    mean, scale = moments_of(schema, cells)
    Z = design(schema, cells, mean, scale)
    assert origins(schema).tolist() == [0, 1, 1, 1, 2, 3, 3]
    assert np.isnan(Z[2]).tolist() == [True, False, False, False, False, True, True]
    assert (Z[2, 1:4] == 0.0).all()  # a level that is missing tells nothing
    np.testing.assert_allclose(np.nanmean(Z, axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.sum(Z[:2, 1:4] ** 2), 2.0)  # all levels together vary as one column of numbers does
    assert Z[0, 0] == -1.0
    assert Z[1, 0] == 1.0
    assert (Z[:2, 2] == 0.0).all()  # no row has the second level
    raw = Z[:2, 5:] * scale[5:] + mean[5:]
    np.testing.assert_allclose(raw, [[0.0, 1.0], [-1.0, 0.0]], atol=1e-12)


def test_a_mixed_table_with_missing_cells():
    rng = np.random.default_rng(0)
    X, y = mixed(300, rng)
    model = TableRegressor(models=CHEAP, random_state=0).fit(X, y)
    assert model.method_ == "linear"
    new, truth = mixed(2000, rng)
    low, high = model.predict_interval(new, 0.9)
    assert 0.84 <= ((low <= truth) & (truth <= high)).mean() <= 0.96
    assert np.corrcoef(model.predict(new), truth)[0, 1] > 0.85
    # What is told of the choice is what new rows show.
    told = np.sqrt(model.trial_.nested.mean())
    assert told == pytest.approx(np.sqrt(np.mean((model.predict(new) - truth) ** 2)), rel=0.15)


def test_every_model_predicts_and_is_kept(tmp_path):
    rng = np.random.default_rng(1)
    X, y = mixed(80, rng, noise=0.5)
    labels = np.where(y > 0, "high", "low")
    for kind, known, target in ((TableRegressor, REGRESSORS, y), (TableClassifier, CLASSIFIERS, labels)):
        for candidate in known:
            target = np.exp(0.1 * y) if candidate.logs else target
            model = kind(models=candidate.name, n_splits=3, random_state=0).fit(X, target)
            assert model.method_ == candidate.name
            tacit.save(model, tmp_path / "m.tacit")
            again = tacit.load(tmp_path / "m.tacit")
            if kind is TableClassifier:
                p = model.predict_proba(X)
                np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-6)
                assert (model.predict(X) == labels).mean() > 0.75
                np.testing.assert_array_equal(again.predict_proba(X), p)
            else:
                assert np.corrcoef(model.predict(X), y)[0, 1] > 0.8
                np.testing.assert_array_equal(again.predict(X), model.predict(X))
                np.testing.assert_array_equal(again.predict_interval(X, 0.8), model.predict_interval(X, 0.8))


def test_steps_and_conditions_are_for_boosted_trees():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.uniform(size=(600, 4)), columns=list("abcd")).mask(rng.random((600, 4)) < 0.05)
    y = 5.0 * ((X.a > 0.5) & (X.b > 0.3)) - 3.0 * (X.c > 0.8) + 0.3 * rng.normal(size=600)
    found = choose_predictor(
        X.assign(price=y), "price", models=["linear", "support_vectors", "boosted_trees"], n_splits=3, budget=None
    )
    assert found.model.method_ == "boosted_trees"
    assert "boosted trees" in found.study().method
    low, high = found.model.predict_interval(X[:300], 0.9)
    assert ((low <= y[:300]) & (y[:300] <= high)).mean() > 0.85


@pytest.mark.parametrize("n", [20, 60])
def test_intervals_hold_what_they_promise_of_skewed_errors(n):
    rng, inside, halves = np.random.default_rng(n), [], []
    for _ in range(60):
        X = rng.normal(size=(n + 20, 2))
        y = X @ [1.0, -1.0] + rng.exponential(1.0, n + 20)
        model = TableRegressor(models="linear", random_state=0).fit(X[:n], y[:n])
        low, high = model.predict_interval(X[n:], 0.9)
        inside.append(np.mean((low <= y[n:]) & (y[n:] <= high)))
        halves.append(np.mean(y[n:] > high))
    assert 0.87 <= np.mean(inside) <= 0.96
    assert 0.01 <= np.mean(halves) <= 0.08  # neither tail takes it all


def test_positive_targets_have_positive_intervals():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(1200, 2))
    y = 1e6 * np.exp(X @ [0.8, -0.5] + rng.normal(0.0, 0.6, 1200))
    model = TableRegressor(models=["linear", "log_linear"], random_state=0).fit(X[:200], y[:200])
    assert model.method_ == "log_linear"
    assert model.from_zero_
    low, high = model.predict_interval(X[200:], 0.9)
    assert (low > 0).all()
    assert 0.86 <= np.mean((low <= y[200:]) & (y[200:] <= high)) <= 0.94
    # What is predicted is the expectation, not the median.
    assert model.predict(X[200:]).mean() == pytest.approx(y[200:].mean(), rel=0.1)
    line = TableRegressor(models="linear", random_state=0).fit(X[:200], y[:200])
    assert line.predict_interval(X[200:])[0].min() == line.predict(X[200:]).min() == 0.0
    with pytest.raises(ValueError, match="models='log_linear' is for targets above 0, but the least is -1"):
        TableRegressor(models="log_linear").fit(X[:20], np.arange(-1.0, 19.0))
    assert not TableRegressor(models="linear").fit(X[:20], np.arange(50.0, 70.0)).from_zero_


def test_ends_of_intervals_are_ranks_of_errors():
    errors = np.arange(19.0)
    assert limits(errors, 0.9) == (0.0, 18.0)
    assert limits(errors, 0.5) == (4.0, 14.0)
    assert limits(errors[:18], 0.9) == (-np.inf, np.inf)
    with pytest.raises(ValueError, match=r"level=1\.5 is not a probability"):
        limits(errors, 1.5)


def test_nothing_to_predict_is_told():
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "target"])
    found = choose_predictor(table, "target", models=CHEAP).study()
    assert found.summary[0].startswith("No model predicts target better than its mean does")
    assert found.share <= 0
    assert not any(weight.sure and weight.growth > 1.0 for weight in found.weights)


def test_what_matters_comes_first():
    rng = np.random.default_rng(3)
    X, y = mixed(300, rng)
    table = X.assign(y=np.where(rng.random(300) < 0.1, np.nan, y))
    choice = choose_predictor(table, "y", models=["linear"])
    found = choice.study()
    assert [weight.column for weight in found.weights[:2]] == ["colour", "x"]
    assert [weight.sure for weight in found.weights] == [True, True, False]
    assert found.n_known == len(choice.known) == int(table["y"].notna().sum())
    assert "rises with x" in " ".join(found.summary)
    assert 0.85 <= found.covered <= 0.95
    assert found.error == pytest.approx(np.sqrt(np.mean((found.known - found.predicted) ** 2)))


def test_results_do_not_depend_on_anything_but_the_seed():
    X, y = mixed(90, np.random.default_rng(4))
    first, again = (TableRegressor(models=CHEAP, random_state=5).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.predict(X), again.predict(X))
    np.testing.assert_array_equal(first.errors_, again.errors_)


def test_columns_that_tell_the_target_are_noted():
    rng = np.random.default_rng(5)
    X, y = mixed(60, rng)
    table = X.assign(
        y=y, cents=100 * y, odds=np.exp(y), near=y + rng.normal(size=60), grade=np.where(y > 0, "high", "low")
    )
    found = choose_predictor(table, "y", models=["linear"])
    assert [note.values["column"] for note in found.notes if note.code == "exact"] == ["cents", "odds"]
    assert "nearly without error" in " ".join(found.study().limits)
    found = choose_predictor(table.drop(columns=["odds", "cents"]), "grade", models=["discriminant"])
    assert [note.values["column"] for note in found.notes if note.code == "exact"] == ["y"]


def test_what_cannot_be_is_refused():
    X, y = mixed(40, np.random.default_rng(6))
    table = X.assign(y=y)
    with pytest.raises(ValueError, match="has no column 'z'"):
        choose_predictor(table, "z")
    with pytest.raises(ValueError, match="cannot be predicted"):
        choose_predictor(table.assign(y=1.0), "y")
    with pytest.raises(ValueError, match="'y' is known in 5 rows"):
        choose_predictor(table.assign(y=np.where(np.arange(40) < 5, y, np.nan)), "y")
    with pytest.raises(ValueError, match="models='tree'"):
        TableRegressor(models=["tree"]).fit(X, y)
    with pytest.raises(ValueError, match="n_splits=1"):
        TableRegressor(n_splits=1).fit(X, y)
    with pytest.raises(ValueError, match=r"Input y contains NaN \(row 3\)"):
        TableRegressor(models="linear").fit(X, np.where(np.arange(40) == 3, np.nan, y))
    with pytest.raises(ValueError, match="budget"):
        choose_predictor(table, "y", budget=-1.0)


def test_few_rows_and_a_column_without_cells_in_a_fold():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(12, 3))
    X[1:, 2] = np.nan  # known once: in most folds it is not known at all
    model = TableRegressor(models=CHEAP, random_state=0).fit(X, X[:, 0])
    assert np.isfinite(model.predict(X)).all()
    rare = np.array(["a"] * 11 + ["b"])
    assert set(TableClassifier(models="discriminant", random_state=0).fit(X[:, :2], rare).predict(X[:, :2])) <= {
        "a",
        "b",
    }


def test_rows_far_from_all_others_are_not_led_away_by_straight_lines(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    model = TableRegressor(models="linear").fit(X, y)
    low, high = X[:, 0].min(), X[:, 0].max()
    half = 0.5 * (high - low)
    near, far = model.predict([[high + half, 0.0], [low - half, 0.0]]), model.predict([[1e4, 0.0], [-1e4, 0.0]])
    np.testing.assert_allclose(near, far)
    assert near[0] > model.predict([[high, 0.0]])[0] + 0.9 * half
    tacit.save(model, tmp_path / "near.tacit")
    np.testing.assert_array_equal(tacit.load(tmp_path / "near.tacit").predict([[1e4, 0.0], [-1e4, 0.0]]), far)
