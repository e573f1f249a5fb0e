"""ResponsibilitiesDisplay: bands that add up to one, in order, with unsure rows marked."""

import numpy as np
import pytest

from tacit.mixture import GaussianMixture
from tacit.plot import ResponsibilitiesDisplay

from ..zoo import gaussian_rows

P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.05, 0.95], [1.0, 0.0]])


def test_rows_by_class_and_certainty():
    display = ResponsibilitiesDisplay(P, unsure=0.7).plot()
    assert display.order_.tolist() == [4, 0, 2, 3, 1]
    first, second = (band.get_data() for band in display.bands_)
    np.testing.assert_allclose(first.values, P[display.order_, 0])
    np.testing.assert_allclose(second.values, 1.0)
    np.testing.assert_allclose(second.baseline, first.values)
    assert display.unsure_.get_xdata().tolist() == [2.5]
    assert display.ax_.get_title() == "1 of 5 rows (20%) are less than 70% sure"
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["class 0", "class 1"]


def test_heat_map_holds_the_probabilities():
    display = ResponsibilitiesDisplay(P).plot(kind="heatmap")
    np.testing.assert_allclose(display.bands_[0].get_array(), P[display.order_].T)
    assert display.unsure_.get_xdata().tolist() == [2.5]


def test_from_estimator_one_class_and_many_rows():
    X = gaussian_rows()
    one = ResponsibilitiesDisplay.from_estimator(GaussianMixture().fit(X), X)
    assert len(one.bands_) == 1
    assert one.unsure_ is None
    assert one.ax_.get_title().startswith("0 of 240")
    many = np.tile(P, (1000, 1))
    display = ResponsibilitiesDisplay(many).plot()
    assert len(display.bands_[0].get_data().values) == 1000
    assert display.ax_.get_xlim() == (0, 5000)


def test_unknown_kind():
    with pytest.raises(ValueError, match="kind='pie' is unknown; use one of 'stacked', 'heatmap'"):
        ResponsibilitiesDisplay(P).plot(kind="pie")
