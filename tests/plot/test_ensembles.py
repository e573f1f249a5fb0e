"""Displays of boosting."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from tacit.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from tacit.plot import ImportancesDisplay, PartialDependenceDisplay, RoundsDisplay
from tacit.tree import DecisionTreeRegressor


def test_errors_by_rounds():
    X, y = load_breast_cancer(return_X_y=True)
    model = GradientBoostingClassifier(max_iter=30, early_stopping=True, random_state=0).fit(X[:400], y[:400])
    display = RoundsDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.lines_["rows held out"].get_ydata(), -model.validation_score_)
    assert display.best["training rows"] == model.n_iter_
    other = RoundsDisplay.from_estimator(model, X[400:], y[400:])
    assert other.lines_["other rows"].get_ydata()[-1] == pytest.approx(1 - model.score(X[400:], y[400:]))
    votes = RoundsDisplay.from_estimator(AdaBoostClassifier(n_estimators=9).fit(X, y))
    assert (votes.curves["training rows"] <= votes.curves["bound"]).all()
    with pytest.raises(ValueError, match=r"there are no errors by rounds; fit with early_stopping=True"):
        RoundsDisplay.from_estimator(GradientBoostingClassifier(max_iter=2).fit(X, y))


def test_importances_are_mean_sizes_of_shapley_values():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    display = ImportancesDisplay.from_estimator(GradientBoostingRegressor(max_iter=20).fit(X, y), X[:100])
    assert {display.names[j] for j in display.order[:2]} == {"bmi", "s5"}
    assert display.bars_[0].get_width() == display.importances.max()
    with pytest.raises(ValueError, match=r"values have shape \(3,\)"):
        ImportancesDisplay([1.0, 2.0, 3.0])


def test_partial_dependence_of_a_sum_is_its_term():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (2000, 3))
    y = 3.0 * (X[:, 0] > 0) + X[:, 1] ** 2
    model = GradientBoostingRegressor(interaction_cst="no_interactions", max_iter=200).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(model, X, 0)
    low, high = display.mean[display.grid < -0.02], display.mean[display.grid > 0.02]
    assert abs(high.mean() - low.mean() - 3.0) < 0.1
    assert display.error.max() < 1e-9  # without interactions all rows' curves are parallel
    np.testing.assert_allclose(display.line_.get_ydata(), display.mean)
    whole = X[:300].copy()
    values = display.grid[[0, -1]]
    for value, mean in zip(values, PartialDependenceDisplay.from_estimator(model, whole, 0).mean[[0, -1]]):
        whole[:, 0] = value
        assert model.predict(whole).mean() == pytest.approx(mean, abs=0.1)
    with pytest.raises(ValueError, match=r"column=5 is none of X, which has 3 columns"):
        PartialDependenceDisplay.from_estimator(model, X, 5)
    with pytest.raises(ValueError, match=r"column='age' is none of X"):
        PartialDependenceDisplay.from_estimator(model, X, "age")
    classifier = GradientBoostingClassifier(max_iter=5).fit(X, y > 1)
    assert PartialDependenceDisplay.from_estimator(classifier, X, 1, label=False).mean.max() <= 1
    with pytest.raises(ValueError, match=r"label=3 is no class of the estimator"):
        PartialDependenceDisplay.from_estimator(classifier, X, 1, label=3)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_categories_are_drawn_by_level(library):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "s": np.array(["a", "b", "c"])[rng.integers(0, 3, 80)]})
    frame["c"] = pd.Categorical(np.where(rng.random(80) < 0.5, "p", None))
    y = frame["x"] + 3 * (frame["s"] == "b")
    frame = frame if library == "pandas" else pytest.importorskip("polars").from_pandas(frame)
    model = DecisionTreeRegressor(min_samples_leaf=5).fit(frame, y)
    display = PartialDependenceDisplay.from_estimator(model, frame, "s")
    assert display.levels == [each.get_text() for each in display.ax_.get_xticklabels()] == ["a", "b", "c"]
    assert display.mean[1] - display.mean[0] > 2
    assert PartialDependenceDisplay.from_estimator(model, frame, 2).levels == ["p"]
    numbers = PartialDependenceDisplay.from_estimator(model, frame, "x")
    assert not numbers.levels
    assert numbers.mean[-1] > numbers.mean[0]


def test_what_has_no_rounds_is_refused():
    with pytest.raises(TypeError, match="a RandomForestRegressor has no rounds; RoundsDisplay draws gradient boosting"):
        RoundsDisplay.from_estimator(RandomForestRegressor(2).fit([[0.0], [1.0]], [0.0, 1.0]))
