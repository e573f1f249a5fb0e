"""ImputationDisplay: a table before and after."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import KNNImputer, SimpleImputer

from tacit.datasets import penguins_path
from tacit.impute import GaussianImputer
from tacit.mixture import GaussianMixture, Mixture
from tacit.plot import ImputationDisplay

from ..zoo import gaussian_rows, with_missing

X = with_missing(gaussian_rows())
MIDDLE, SPREAD = np.nanmean(X, axis=0), np.nanstd(X, axis=0)


@pytest.mark.parametrize("imputer", [GaussianImputer(), KNNImputer(), SimpleImputer()])
def test_maps_are_standardised_by_the_observed_cells(imputer):
    display = ImputationDisplay.from_estimator(imputer.fit(X), X)
    before, after = display.before_.get_array(), display.after_.get_array()
    np.testing.assert_array_equal(np.ma.getmaskarray(before), np.isnan(X))
    np.testing.assert_allclose(before.filled(np.nan), (X - MIDDLE) / SPREAD)
    np.testing.assert_allclose(after, (imputer.transform(X) - MIDDLE) / SPREAD)
    assert display.before_.get_clim() == display.after_.get_clim() == (-2.5, 2.5)
    marked = display.marks_.get_xydata().astype(int)
    assert {tuple(cell) for cell in marked} == {(j, i) for i, j in np.argwhere(np.isnan(X))}
    assert display.ax_.get_title() == f"before: {np.isnan(X).mean():.1%} missing"
    assert display.after_ax_.get_title() == "after: all filled"


def test_models_and_tables(pyplot):
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = GaussianMixture(2, random_state=0).fit(frame)
    figure, ax = pyplot.subplots()
    display = ImputationDisplay.from_estimator(fitted, frame, ax=ax)
    assert display.figure_ is figure
    np.testing.assert_allclose(display.filled, fitted.impute(frame))
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == list("abcd")
    penguins = pd.read_csv(penguins_path()).drop(columns="year")
    mixed = ImputationDisplay.from_estimator(Mixture(2, random_state=0).fit(penguins), penguins)
    assert not np.isnan(mixed.filled).any()
    assert np.isnan(mixed.X).sum() == penguins.isna().sum().sum()


def test_many_rows_are_thinned_and_not_dotted(rng):
    big = with_missing(rng.normal(size=(1000, 40)))
    display = ImputationDisplay.from_data(big, np.nan_to_num(big))
    assert display.before_.get_array().shape == (400, 40)
    assert display.marks_ is None
    assert len(display.ax_.get_xticks()) <= 30
    assert display.ax_.get_ylim() == (999.5, -0.5)


def test_columns_that_are_empty_or_constant_and_cells_that_stay_missing():
    incomplete = np.array([[1.0, np.nan, 3.0], [1.0, np.nan, np.nan]])
    masked = np.ma.masked_invalid(incomplete)
    display = ImputationDisplay.from_data(masked, np.where(np.isnan(incomplete), [1.0, np.nan, 2.0], incomplete))
    np.testing.assert_allclose(display.after_.get_array().filled(9.0), [[0.0, 9.0, 0.0], [0.0, 9.0, -1.0]])
    assert display.after_ax_.get_title() == "after: 33.3% missing"


@pytest.mark.parametrize(
    ("draw", "kind", "message"),
    [
        (lambda: ImputationDisplay.from_data(X, X[1:]), ValueError, r"X has shape \(240, 4\) and filled \(239, 4\); give one"),
        (lambda: ImputationDisplay.from_data(X, "rows.parquet"), ValueError, "plots show rows in memory"),
        (lambda: ImputationDisplay.from_estimator(PCA(2).fit(np.eye(4)), np.eye(4)), TypeError, "PCA does not fill the cells"),
        (lambda: ImputationDisplay.from_estimator(KNNImputer(), X), NotFittedError, "not fitted"),
    ],
)  # fmt: skip
def test_bad_input(draw, kind, message):
    with pytest.raises(kind, match=message):
        draw()
