"""Curves and comparisons are drawn as they are told."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from tacit.plot import ComparisonDisplay, CurveDisplay

X, Y = load_diabetes(return_X_y=True)


def test_curves_and_comparisons():
    shown = CurveDisplay.from_estimator(LinearRegression(), X, Y, values=[30, 290], cv=3)
    assert shown.line_.get_xdata().tolist() == [30, 290]
    np.testing.assert_allclose(shown.line_.get_ydata(), [each.value for each in shown.curve.estimates])
    assert shown.ax_.get_ylabel() == "mean squared error"
    models = {"line": LinearRegression(), "mean": DummyRegressor()}
    one = ComparisonDisplay.from_estimators(models, X, Y, cv=3)
    assert one.names == ["line", "mean"]
    assert one.points_[1].get_xdata()[0] == one.comparison.difference("mean", "line").value
    several = ComparisonDisplay.from_estimators(models, {"a": (X[::2], Y[::2]), "b": (X[1::2], Y[1::2])}, cv=3)
    assert several.points_[0].get_xdata().tolist() == [1.0, 2.0]
