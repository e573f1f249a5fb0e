"""TraceDisplay and Trace.plot draw the same line."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from tacit.mixture import GaussianMixture
from tacit.plot import TraceDisplay

from ..zoo import gaussian_rows


def test_line_title_and_labels(pyplot):
    fitted = GaussianMixture(3, random_state=0).fit(gaussian_rows())
    display = TraceDisplay.from_estimator(fitted)
    np.testing.assert_allclose(display.line_.get_ydata(), fitted.lower_bounds_)
    assert list(display.line_.get_xdata()) == list(range(1, len(fitted.lower_bounds_) + 1))
    assert display.ax_.get_title() == fitted.fit_.reason
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("step", "objective per row")
    _, ax = pyplot.subplots()
    assert fitted.trace_.plot(ax) is ax
    np.testing.assert_allclose(ax.lines[0].get_ydata(), fitted.lower_bounds_)


def test_unfitted():
    with pytest.raises(NotFittedError):
        TraceDisplay.from_estimator(GaussianMixture())


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"plots need matplotlib; install it with: pip install 'tacit\[plot\]'"):
        TraceDisplay([1.0, 2.0]).plot()
