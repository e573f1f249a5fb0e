"""MissingnessDisplay: the map, the shares, and imputed values with their intervals."""

import numpy as np
import pytest

from tacit.impute import GaussianImputer
from tacit.mixture import GaussianMixture
from tacit.plot import MissingnessDisplay

from ..zoo import gaussian_rows, with_missing

X = with_missing(gaussian_rows())


def test_map_and_shares():
    display = MissingnessDisplay.from_data(X)
    np.testing.assert_array_equal(display.image_.get_array(), np.isnan(X))
    np.testing.assert_allclose([bar.get_height() for bar in display.bars_], np.isnan(X).mean(axis=0))
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == [f"column {j}" for j in range(4)]
    assert display.imputed_axes_ == []
    assert f"{np.isnan(X).mean():.1%}" in display.share_ax_.get_title()


def test_many_rows_share_a_line_and_many_columns_a_name():
    big = with_missing(np.random.default_rng(0).normal(size=(2000, 70)))
    display = MissingnessDisplay.from_data(big)
    image = np.asarray(display.image_.get_array())
    assert image.shape == (400, 70)
    np.testing.assert_allclose(image.mean(), np.isnan(big).mean())
    np.testing.assert_allclose(image[0], np.isnan(big[:5]).mean(axis=0))
    assert len(display.ax_.get_xticks()) <= 30


def test_imputed_values_have_their_intervals():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    fitted = GaussianMixture(2, random_state=0).fit(frame)
    display = MissingnessDisplay.from_estimator(fitted, frame, columns=["c"], level=0.8)
    (panel,) = display.imputed_axes_
    assert panel.get_title().splitlines() == ["c", "80% intervals"]
    filled, low, high, _ = fitted.impute(X, interval=0.8)
    holes = np.isnan(X[:, 2])
    (bars,) = panel.containers
    np.testing.assert_allclose(bars.lines[0].get_ydata(), np.sort(filled[holes, 2]))
    lengths = [segment[1, 1] - segment[0, 1] for segment in bars.lines[2][0].get_segments()]
    order = np.argsort(filled[holes, 2])
    np.testing.assert_allclose(lengths, (high - low)[holes, 2][order])
    np.testing.assert_allclose(np.sort(panel.lines[0].get_ydata()), np.sort(X[~holes, 2]))


def test_default_is_the_columns_with_most_holes(pyplot):
    rows = gaussian_rows()
    rows[:60, 3] = rows[60:90, 1] = np.nan
    fitted = GaussianMixture(2, random_state=0).fit(rows)
    figure, ax = pyplot.subplots()
    display = MissingnessDisplay.from_estimator(fitted, rows, ax=ax)
    assert display.columns == [3, 1]
    assert display.figure_ is figure
    complete = MissingnessDisplay.from_estimator(fitted, gaussian_rows())
    assert complete.columns == []
    figure.canvas.draw()


def test_bad_input():
    fitted = GaussianMixture(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="columns holds 9, which is no column"):
        MissingnessDisplay.from_estimator(fitted, X, columns=[9])
    with pytest.raises(ValueError, match="X has 1 dimension"):
        MissingnessDisplay.from_data(np.ones(3))
    with pytest.raises(TypeError, match=r"GaussianImputer does not impute; use MissingnessDisplay.from_data"):
        MissingnessDisplay.from_estimator(GaussianImputer().fit(X), X)
