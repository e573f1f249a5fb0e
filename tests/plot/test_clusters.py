"""ClustersDisplay: where ellipses and points lie, and how missing cells show."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from tacit.mixture import GaussianMixture
from tacit.plot import ClustersDisplay

from ..zoo import gaussian_rows, with_missing


@pytest.fixture
def iris():
    return load_iris(as_frame=True).data


def texts(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_ellipses_are_the_marginal_covariances(iris, kind):
    fitted = GaussianMixture(3, covariance_type=kind, random_state=0).fit(iris)
    display = ClustersDisplay.from_estimator(fitted, iris, features=[3, 1])
    assert len(display.ellipses_) == 6
    dense = fitted._params().components.dense
    for k in range(3):
        expected = np.sqrt(np.linalg.eigvalsh(dense[k][np.ix_([3, 1], [3, 1])]))[::-1]
        for n_deviations, ellipse in zip((1, 2), display.ellipses_[2 * k : 2 * k + 2]):
            assert ellipse.center == pytest.approx(fitted.means_[k, [3, 1]])
            assert [ellipse.width, ellipse.height] == pytest.approx(2 * n_deviations * expected)


def test_ellipse_is_turned_along_the_covariance(iris):
    fitted = GaussianMixture(1).fit(iris)
    ellipse = ClustersDisplay.from_estimator(fitted, iris, features=[2, 3]).ellipses_[0]
    # A point at the end of the long axis is one standard deviation away along the first eigenvector.
    long_axis = np.array([np.cos(np.radians(ellipse.angle)), np.sin(np.radians(ellipse.angle))])
    covariance = fitted.covariances_[0][2:, 2:]
    assert long_axis @ covariance @ long_axis == pytest.approx((ellipse.width / 2) ** 2)


def test_points_colours_and_names(iris):
    fitted = GaussianMixture(3, random_state=0).fit(iris)
    display = ClustersDisplay.from_estimator(fitted, iris, features=["petal length (cm)", "petal width (cm)"])
    assert len(display.scatters_) == 3
    classes = fitted.predict(iris)
    for k, scatter in enumerate(display.scatters_):
        np.testing.assert_allclose(scatter.get_offsets(), iris.to_numpy()[classes == k][:, 2:])
        assert to_hex(scatter.get_facecolor()[0]) == to_hex(display.ellipses_[2 * k].get_edgecolor())
    assert len({to_hex(scatter.get_facecolor()[0]) for scatter in display.scatters_}) == 3
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("petal length (cm)", "petal width (cm)")
    assert texts(display) == ["class 0", "class 1", "class 2", "1 standard deviation", "2 standard deviations"]
    assert display.figure_ is display.ax_.figure


def test_discriminating_columns_are_those_that_differ(rng):
    X = rng.normal(size=(200, 5))
    X[:100, [1, 4]] += 8.0
    fitted = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    display = ClustersDisplay.from_estimator(fitted, X, features="discriminating")
    assert display.names == ["column 1", "column 4"]
    assert ClustersDisplay.from_estimator(fitted, X).names == ["column 0", "column 1"]


def test_imputed_rows_are_hollow_and_at_their_expectation():
    X = with_missing(gaussian_rows())
    fitted = GaussianMixture(2, random_state=0).fit(X)
    display = ClustersDisplay.from_estimator(fitted, X)
    holes = np.isnan(X[:, :2]).any(axis=1)
    hollow = [scatter for scatter in display.scatters_ if not len(scatter.get_facecolor())]
    points = np.concatenate([scatter.get_offsets() for scatter in hollow])
    assert len(points) == holes.sum() > 0
    expected = fitted.impute(X)[holes][:, :2]
    np.testing.assert_allclose(np.sort(points, axis=0), np.sort(expected, axis=0))
    assert "a cell imputed" in texts(display)
    assert sum(len(scatter.get_offsets()) for scatter in display.scatters_) == len(X)


def test_rug_marks_the_cell_that_is_there():
    X = with_missing(gaussian_rows())
    fitted = GaussianMixture(2, random_state=0).fit(X)
    display = ClustersDisplay.from_estimator(fitted, X, missing="rug")
    first_only = ~np.isnan(X[:, 0]) & np.isnan(X[:, 1])
    along_x = np.concatenate([rug.get_xdata() for rug in display.rugs_ if rug.get_marker() == "|"])
    np.testing.assert_allclose(np.sort(along_x), np.sort(X[first_only, 0]))
    complete = ~np.isnan(X[:, :2]).any(axis=1)
    assert sum(len(scatter.get_offsets()) for scatter in display.scatters_) == complete.sum()
    assert "other cell missing" in texts(display)


def test_one_class_many_classes_and_given_axes(iris, pyplot):
    figure, ax = pyplot.subplots()
    display = ClustersDisplay.from_estimator(GaussianMixture().fit(iris), iris, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(display.ellipses_) == 2
    many = ClustersDisplay.from_estimator(GaussianMixture(12, covariance_type="diag", random_state=0).fit(iris), iris)
    assert len(many.ellipses_) == 24
    assert len({to_hex(ellipse.get_edgecolor()) for ellipse in many.ellipses_}) == 12


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"features": [0, 9]}, ValueError, r"features=\[0, 9\] are not two columns; use two of column 0"),
        ({"features": [0]}, ValueError, "are not two columns"),
        ({"features": "best"}, ValueError, "features='best' is unknown; use one of 'discriminating'"),
        ({"missing": "hide"}, ValueError, "missing='hide' is unknown"),
        ({"X": "rows.parquet"}, ValueError, "plots show rows in memory"),
        ({"estimator": GaussianMixture()}, NotFittedError, "not fitted"),
    ],
)
def test_bad_input(change, kind, message):
    X = gaussian_rows()
    arguments = {"estimator": GaussianMixture(2, random_state=0).fit(X), "X": X, **change}
    with pytest.raises(kind, match=message):
        ClustersDisplay.from_estimator(**arguments)


def test_one_column_is_an_error(rng):
    X = rng.normal(size=(20, 1))
    with pytest.raises(ValueError, match="shows two columns, but X has 1"):
        ClustersDisplay.from_estimator(GaussianMixture().fit(X), X)
