"""Displays of classifiers: regions with how sure they are, and whether probabilities hold."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from tacit.classification import GaussianBayes
from tacit.plot import DecisionRegionsDisplay, ReliabilityDisplay
from tacit.svm import SVC

X, Y = load_iris(return_X_y=True, as_frame=True)
PETALS = X.iloc[:, 2:]


def test_regions_show_the_class_and_how_sure_it_is():
    model = GaussianBayes("full").fit(PETALS, Y)
    display = DecisionRegionsDisplay.from_estimator(model, PETALS, Y, resolution=60)
    grid = pd.DataFrame(
        np.column_stack([part.ravel() for part in np.meshgrid(display.x, display.y)]), columns=PETALS.columns
    )
    np.testing.assert_array_equal(display.sure.argmax(axis=2).ravel(), model.predict(grid))
    shown = np.asarray(display.image_.get_array())
    best = display.sure.max(axis=2)
    assert shown[best > 0.999].mean() < shown[best < 0.6].mean()  # pale where it is not sure
    assert [len(part.get_offsets()) for part in display.rows_] == [50, 50, 50]
    assert display.ax_.get_xlabel() == PETALS.columns[0]


def test_regions_of_a_margin_circle_support_vectors():
    rows, labels = PETALS.to_numpy()[:100], Y.to_numpy()[:100]
    model = SVC(kernel="linear", C=np.inf).fit(rows, labels)
    display = DecisionRegionsDisplay.from_estimator(model, rows, labels, resolution=30)
    np.testing.assert_array_equal(display.support, model.support_)
    assert set(np.unique(display.sure)) == {0.0, 1.0}
    np.testing.assert_array_equal(display.values > 0, display.sure[..., 1] == 1)
    with pytest.raises(ValueError, match=r"X has shape \(150, 4\), but regions are drawn in the plane of two"):
        DecisionRegionsDisplay.from_estimator(model, X)


def test_reliability_is_on_the_line_where_probabilities_hold():
    rng = np.random.default_rng(0)
    told = rng.random(20_000)
    display = ReliabilityDisplay(told, rng.random(20_000) < told, n=20).plot()
    assert np.mean((display.low <= display.mean_told) & (display.mean_told <= display.high)) >= 0.85
    assert display.brier == pytest.approx(1 / 6, abs=0.01)
    wrong = ReliabilityDisplay(told, rng.random(20_000) < told**3)
    assert (wrong.high < wrong.mean_told)[2:8].all()
    model = GaussianBayes().fit(PETALS, Y)
    assert ReliabilityDisplay.from_estimator(model, PETALS, Y, label=1).name == "1"
    with pytest.raises(ValueError, match="label=7 is no class of the estimator; use one of 0, 1, 2"):
        ReliabilityDisplay.from_estimator(model, PETALS, Y, label=7)
