"""The display of a mixture of experts."""

import sys

import numpy as np
import pytest

from tacit.datasets import load_giss
from tacit.mixture import MixtureOfExperts, MixtureOfExpertsClassifier
from tacit.plot import GateDisplay

year, anomaly, columns = load_giss()
X, y = np.column_stack([year, np.sin(year)]), anomaly[:, 0]


@pytest.fixture(scope="module")
def model():
    return MixtureOfExperts(2, random_state=0).fit(X, y)


@pytest.fixture
def closing():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def curves(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines}


def test_draws_what_the_model_says(model, closing):
    display = GateDisplay.from_estimator(model, X, y, n_points=50)
    rows = np.column_stack([np.linspace(1880, 2015, 50), np.full(50, X[:, 1].mean())])
    drawn, gate = curves(display.ax_), curves(display.gate_ax_)
    np.testing.assert_allclose(drawn["mean"], np.column_stack([rows[:, 0], model.predict(rows)]))
    np.testing.assert_allclose(gate["expert 1"][:, 1], model.predict_gate(rows)[:, 1])
    heard = ~np.isnan(drawn["expert 0"][:, 1])
    np.testing.assert_allclose(drawn["expert 0"][heard, 1], model.predict_experts(rows)[heard, 0])
    np.testing.assert_array_equal(heard, model.predict_gate(rows)[:, 0] > 0.01)
    np.testing.assert_allclose(display.band, model.quantile(rows, [0.05, 0.95]))
    assert display.figure_ is display.ax_.figure is display.gate_ax_.figure
    assert display.gate_ax_.get_xlabel() == "x0"
    assert len(display.points[0]) == len(X)


def test_draws_where_told(model, closing):
    _, axes = closing.subplots(1, 2)
    display = GateDisplay.from_estimator(model, X, feature=1, axes=axes)
    assert display.ax_ is axes[0]
    assert display.gate_ax_ is axes[1]
    assert display.points is None
    assert display.grid[0] == pytest.approx(X[:, 1].min())


def test_draws_the_classes_of_a_classifier(closing):
    model = MixtureOfExpertsClassifier(2, random_state=0).fit(X, np.where(y > 0, "warm", "cold"))
    display = GateDisplay.from_estimator(model, X)
    assert {"class cold", "class warm"} <= set(curves(display.ax_))
    np.testing.assert_allclose(display.mean.sum(axis=1), 1.0)


def test_names_of_features(closing):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["year", "sine"])
    model = MixtureOfExperts(1).fit(table, y)
    assert GateDisplay.from_estimator(model, table, feature="sine").gate_ax_.get_xlabel() == "sine"
    with pytest.raises(ValueError, match="feature='age' is none of the 2 features; use year, sine or a number"):
        GateDisplay.from_estimator(model, table, feature="age")


def test_bad_requests(model):
    with pytest.raises(ValueError, match="feature=2 is none of the 2 features"):
        GateDisplay.from_estimator(model, X, feature=2)
    with pytest.raises(ValueError, match=r"coverage=1.5 is not a number of at least 0.01 and at most 0.999"):
        GateDisplay.from_estimator(model, X, coverage=1.5)
    with pytest.raises(ValueError, match="the estimator has 2 targets; fit one to draw it"):
        GateDisplay.from_estimator(MixtureOfExperts(1).fit(X, anomaly), X)


def test_without_matplotlib_the_extra_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'tacit\[plot\]'"):
        GateDisplay.from_estimator(model, X)
