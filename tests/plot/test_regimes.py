"""Displays of sequences draw what the model says."""

import numpy as np
import pandas as pd
import pytest

from tacit.plot import ForecastDisplay, RegimeDisplay, StatePosteriorDisplay, TransitionGraphDisplay
from tacit.sequence import HiddenMarkovModel


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(level, 1.0, n) for level, n in ((0, 40), (7, 30), (0, 30))])
    frame = pd.DataFrame({"day": np.tile(pd.date_range("2020-01-01", periods=50), 2), "who": np.repeat(["a", "b"], 50)})
    return frame.assign(y=rng.normal(size=100), x=x)


@pytest.fixture(scope="module")
def model(table):
    return HiddenMarkovModel(2, sequence="who", time="day", random_state=0).fit(table)


def test_a_series_in_the_colours_of_its_states(model, table):
    display = RegimeDisplay.from_estimator(model, table, column="x", sequence=1)
    states = model.predict(table)[50:]
    assert len(display.bands_) == 1 + np.count_nonzero(np.diff(states))
    assert len(display.lines_) == 2
    drawn = display.lines_[states[0]].get_ydata()
    np.testing.assert_allclose(drawn[states == states[0]], table.x.to_numpy()[50:][states == states[0]])
    assert display.ax_.get_ylabel() == "x"
    assert display.time.dtype.kind == "M"
    with pytest.raises(ValueError, match="sequence=2 is none of the 2; count from 0"):
        RegimeDisplay.from_estimator(model, table, sequence=2)


def test_probabilities_fill_the_whole_height(model, table):
    display = StatePosteriorDisplay.from_estimator(model, table)
    np.testing.assert_allclose(display.probability, model.predict_proba(table)[:50])
    np.testing.assert_allclose(display.probability.sum(axis=1), 1.0)
    assert len(display.areas_) == 2
    assert display.ax_.get_ylim() == (0.0, 1.0)


def test_moves_are_arrows_and_stays_are_told(model):
    display = TransitionGraphDisplay.from_estimator(model)
    assert set(display.arrows_) <= {(0, 1), (1, 0)}
    np.testing.assert_allclose(display.moves[display.moves.sum(axis=1) > 0].sum(axis=1), 1.0)
    texts = [text.get_text() for text in display.ax_.texts]
    assert f"lasts {display.stays[0]}" in texts
    assert display.stays[0].endswith(" days")
    sizes = [node.radius for node in display.nodes_]
    assert np.argmax(sizes) == np.argmax(model.weights_)


def test_the_fan_holds_its_intervals(model, table, pyplot):
    figure, ax = pyplot.subplots()
    display = ForecastDisplay.from_estimator(model, table, 5, column="x", sequence=1, levels=(0.5, 0.9), last=20, ax=ax)
    assert display.figure_ is figure
    ahead = model.forecast(table, 5, interval=0.9)
    np.testing.assert_allclose(display.intervals[0.9][0], ahead.low[1, :, 1])
    np.testing.assert_allclose(display.mean_.get_ydata(), ahead.mean[1, :, 1])
    assert len(display.line_.get_ydata()) == 20
    assert [fan.get_label() for fan in display.fans_] == ["90%", "50%"]
    assert display.ahead[0] == np.datetime64("2020-02-20")


def test_arrays_have_steps_for_times():
    x = np.random.default_rng(0).normal(size=(30, 1))
    model = HiddenMarkovModel(1, random_state=0).fit(x)
    display = ForecastDisplay.from_estimator(model, x, 3)
    assert display.ahead.tolist() == [30, 31, 32]
    assert RegimeDisplay.from_estimator(model, x).ax_.get_xlabel() == "step"
    assert TransitionGraphDisplay.from_estimator(model).arrows_ == {}
