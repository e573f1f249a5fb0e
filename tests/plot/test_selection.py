"""SelectionDisplay: a line per structure, the best marked, collapsed fits told apart."""

import numpy as np
import pytest

from tacit.mixture import GaussianMixture, select
from tacit.plot import SelectionDisplay

from ..zoo import gaussian_rows


@pytest.fixture(scope="module")
def found():
    return select(
        GaussianMixture(random_state=0), gaussian_rows(), n_components=range(1, 5), covariance_type=["full", "diag"]
    )


def test_a_line_per_structure_with_the_values_of_the_table(found):
    display = found.plot()
    assert set(display.lines_) == {("full",), ("diag",)}
    for (kind,), line in display.lines_.items():
        rows = sorted((row["n_components"], row["bic"]) for row in found.table if row["covariance_type"] == kind)
        np.testing.assert_allclose(np.column_stack([line.get_xdata(), line.get_ydata()]), rows)
    assert len({line.get_color() for line in display.lines_.values()}) == 2
    assert len({line.get_marker() for line in display.lines_.values()}) == 2
    assert display.ax_.get_xlabel() == "number of components"
    assert display.ax_.get_ylabel() == "BIC (lower is better)"
    assert display.ax_.get_legend().get_title().get_text() == "covariance_type"


def test_the_best_is_marked(found):
    display = SelectionDisplay.from_selection(found)
    best = found.table[0]
    np.testing.assert_allclose(display.best_.get_offsets(), [[best["n_components"], best["bic"]]])
    assert f"best: {best['n_components']}, {best['covariance_type']}" in [text.get_text() for text in display.ax_.texts]
    other = SelectionDisplay.from_selection(found, criterion="aic")
    assert other.best_.get_offsets()[0][1] == pytest.approx(min(found.table["aic"]))


def test_of_cross_validation_the_highest_is_best():
    result = select(GaussianMixture(random_state=0), gaussian_rows(), n_components=(1, 3), criterion="cv", cv=2)
    display = result.plot()
    assert display.best_.get_offsets()[0][1] == pytest.approx(max(result.table["cv"]))
    assert "higher is better" in display.ax_.get_ylabel()
    assert display.ax_.get_legend() is None


def test_collapsed_fits_are_crosses_off_the_lines(rng):
    X = np.concatenate([rng.normal(size=(80, 2)), np.full((20, 2), 6.0)])
    display = select(GaussianMixture(random_state=0), X, n_components=(1, 2)).plot()
    assert display.lines_[()].get_xdata().tolist() == [1]
    assert display.collapsed_.get_offsets()[:, 0].tolist() == [2]
    assert display.best_.get_offsets()[0][0] == 1


def test_settings_that_are_no_numbers_stand_side_by_side():
    rows = [
        {"covariance_type": "full", "bic": 1.0, "failed": None},
        {"covariance_type": "tied", "bic": 2.0, "failed": None},
    ]
    display = SelectionDisplay(rows, ("covariance_type",)).plot()
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["full", "tied"]


def test_a_criterion_that_was_not_computed_is_an_error(found):
    with pytest.raises(ValueError, match="criterion='cv' is not in the table; use one of 'bic', 'aic', 'icl'"):
        SelectionDisplay.from_selection(found, criterion="cv")
