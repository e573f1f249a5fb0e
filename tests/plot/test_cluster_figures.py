"""Figures of clusters: silhouettes, profiles, spectra, numbers of clusters, and centres instead of ellipses."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_samples

from tacit.cluster import KMeans, KMedoids, SpectralClustering, cluster_report, how_many, k_curve
from tacit.datasets import penguins_path
from tacit.mixture import GaussianMixture
from tacit.plot import (
    ClustersDisplay,
    HowManyDisplay,
    KSelectionDisplay,
    ProfilesDisplay,
    SilhouetteDisplay,
    SpectrumDisplay,
)
from tacit.table import Table

from ..zoo import gaussian_rows, with_missing


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(200, centers=[[0, 0, 0], [6, 0, 0], [0, 7, 1]], random_state=0)


@pytest.fixture(scope="module")
def means(blobs):
    return KMeans(3, random_state=0).fit(blobs[0])


@pytest.fixture(scope="module")
def penguins():
    return pd.read_csv(penguins_path()).drop(columns="year")


def test_blades_are_the_sorted_silhouettes(blobs, means):
    X = blobs[0]
    expected = silhouette_samples(X, means.labels_)
    display = SilhouetteDisplay.from_estimator(means, X)
    assert len(display.blades_) == 3
    for k, blade in enumerate(display.blades_):
        values, edges, _ = blade.get_data()
        np.testing.assert_allclose(values, -np.sort(-expected[means.labels_ == k]), atol=1e-9)
        assert edges[-1] - edges[0] == (means.labels_ == k).sum()
    assert display.mean_.get_xdata()[0] == pytest.approx(expected.mean())
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["0", "1", "2"]
    assert "0." in display.ax_.get_title()


def test_silhouettes_of_labels_leave_noise_out_and_thin_many_rows(blobs):
    X, y = blobs
    names = np.array(["a", "b", "c"])[y]
    display = SilhouetteDisplay.from_labels(X, names)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["a", "b", "c"]
    y = y.copy()
    y[:20] = -1
    assert len(SilhouetteDisplay.from_labels(X, y).values) == 180
    many = SilhouetteDisplay(np.linspace(-0.2, 0.9, 9000), np.zeros(9000, int)).plot()
    values, edges, _ = many.blades_[0].get_data()
    assert (len(values), edges[-1] - edges[0]) == (2000, 9000)
    assert many.ax_.get_xlim()[0] <= -0.2


def test_profiles_tell_means_and_shares(penguins):
    display = ProfilesDisplay.from_labels(penguins, penguins["species"])
    report = cluster_report(penguins, penguins["species"])
    place = display.names.index("flipper_length_mm")
    assert display.values[place] == pytest.approx(penguins.groupby("species")["flipper_length_mm"].mean())
    assert "island = Biscoe" in display.names
    texts = {text.get_position(): text.get_text() for text in display.texts_}
    assert texts[2, place] == "217"
    assert texts[2, display.names.index("island = Biscoe")] == "100 %"
    np.testing.assert_array_equal(display.image_.get_array(), display.differences)
    low, high = display.image_.get_clim()
    assert low == -high
    few = ProfilesDisplay.from_report(report, max_features=3)
    assert len(few.names) == 3
    assert "species = Gentoo" in few.names


def test_profiles_of_an_estimator_and_many_clusters(blobs, means, rng):
    assert ProfilesDisplay.from_estimator(means, blobs[0], feature_names=["a", "b", "c"]).names == ["a", "b", "c"]
    crowded = ProfilesDisplay.from_labels(rng.normal(size=(400, 10)), np.arange(400) % 40)
    assert crowded.texts_ == []


def test_spectrum_marks_the_gap(blobs):
    fitted = SpectralClustering("auto", gamma=0.3, random_state=0).fit(blobs[0])
    display = SpectrumDisplay.from_estimator(fitted)
    assert display.n_gap_ == fitted.n_clusters_ == 3
    np.testing.assert_allclose(display.points_.get_ydata(), fitted.eigenvalues_[:3])
    np.testing.assert_allclose(display.others_.get_ydata(), fitted.eigenvalues_[3:])
    assert "after 3: 3 clusters" in display.ax_.get_title()
    low, high = sorted(place[1] for place in (display.gap_.xy, display.gap_.xyann))
    assert high - low == pytest.approx(fitted.eigengap_)


def test_spectrum_without_a_gap(blobs):
    fitted = SpectralClustering(3, gamma=0.3, random_state=0).fit(blobs[0])
    display = SpectrumDisplay.from_estimator(fitted)
    assert display.gap_ is None
    assert "n_clusters='auto' finds the gap" in display.ax_.get_title()
    assert SpectrumDisplay([0.0, 0.0, 0.0], 2).plot().gap_ is None


def test_numbers_of_clusters(blobs):
    X = blobs[0]
    table = k_curve(KMeans(random_state=0, n_init=3), X, [5, 2, 3, 4])
    display = KSelectionDisplay.from_curve(table)
    np.testing.assert_allclose(display.loss_.get_ydata(), table["loss"])
    np.testing.assert_allclose(display.silhouette_.get_ydata(), table["silhouette"])
    assert display.best_n_clusters == 3
    np.testing.assert_allclose(display.best_.get_offsets(), [[3, max(table["silhouette"])]])
    assert display.right_ is not display.ax_
    medoids = KMedoids([2, 3, 4]).fit(X)
    display = KSelectionDisplay.from_estimator(medoids)
    np.testing.assert_allclose(display.silhouette_.get_ydata(), medoids.silhouettes_["medoid_silhouette"])
    assert display.right_.get_ylabel() == "medoid silhouette"


def test_numbers_of_clusters_without_losses_or_silhouettes():
    display = KSelectionDisplay.from_curve(
        Table([{"n_clusters": k, "loss": None, "silhouette": 0.1 * k} for k in (2, 3)])
    )
    assert display.loss_ is None
    assert display.right_ is display.ax_
    unknown = KSelectionDisplay.from_curve(Table([{"n_clusters": 2, "loss": 1.0, "silhouette": None}]))
    assert unknown.best_ is None


def test_centres_are_drawn_instead_of_ellipses(blobs, means):
    display = ClustersDisplay.from_estimator(means, blobs[0], features=[1, 2])
    assert display.ellipses_ == []
    places = np.concatenate([center.get_xydata() for center in display.centers_])
    np.testing.assert_allclose(places, means.cluster_centers_[:, 1:])
    colours = [to_hex(scatter.get_facecolor()[0]) for scatter in display.scatters_]
    assert [to_hex(center.get_color()) for center in display.centers_] == colours
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["class 0", "class 1", "class 2", "centre"]
    assert ClustersDisplay.from_estimator(GaussianMixture(2, random_state=0).fit(blobs[0]), blobs[0]).centers_ == []


def test_clusterers_of_every_kind_are_drawn(blobs, penguins):
    X = blobs[0]
    spectral = ClustersDisplay.from_estimator(SpectralClustering(3, gamma=0.3, random_state=0).fit(X), X)
    assert (len(spectral.scatters_), spectral.centers_) == (3, [])
    medoids = KMedoids(3, metric="gower").fit(penguins)
    table = ClustersDisplay.from_estimator(medoids, penguins)
    assert table.names == ["bill_length_mm", "bill_depth_mm"]
    np.testing.assert_allclose(table.means, medoids.cluster_centers_[:, 2:4])
    noise = ClustersDisplay.from_estimator(DBSCAN(eps=0.8).fit(X), X)
    assert "noise" in [text.get_text() for text in noise.ax_.get_legend().get_texts()]
    drawn = sum(len(scatter.get_offsets()) for scatter in noise.scatters_)
    assert drawn == len(X)


def test_missing_cells_of_k_means_lie_on_the_axes():
    X = with_missing(gaussian_rows())
    display = ClustersDisplay.from_estimator(KMeans(3, random_state=0).fit(X), X)
    assert display.rugs_
    complete = ~np.isnan(X[:, :2]).any(axis=1)
    assert sum(len(scatter.get_offsets()) for scatter in display.scatters_) == complete.sum()


@pytest.mark.parametrize(
    ("draw", "kind", "message"),
    [
        (lambda: SilhouetteDisplay.from_labels(np.ones((4, 1)), [0] * 4), ValueError, "no row has a silhouette"),
        (lambda: SpectrumDisplay([]), ValueError, r"eigenvalues have shape \(0,\)"),
        (lambda: SpectrumDisplay.from_estimator(KMeans(2).fit(np.eye(4))), TypeError, "KMeans has no eigenvalues_"),
        (lambda: KSelectionDisplay.from_estimator(KMeans(2).fit(np.eye(4))), TypeError, "KMeans has no silhouettes_"),
        (lambda: KSelectionDisplay.from_curve(Table([{"k": 1}])), ValueError, "the table has the columns k;"),
        (
            lambda: ProfilesDisplay.from_labels(np.ones((4, 4)), [0, 0, 1, 1], metric="precomputed"),
            ValueError, "the report is of a matrix of dissimilarities",
        ),
    ],
)  # fmt: skip
def test_bad_input(draw, kind, message):
    with pytest.raises(kind, match=message):
        draw()


def test_criteria_side_by_side(blobs):
    found = how_many(blobs[0], range(1, 5), criteria=["gap", "silhouette", "bic"], n_references=2, random_state=0)
    display = found.plot()
    assert isinstance(display, HowManyDisplay)
    assert list(display.lines_) == list(display.rings_) == ["gap", "silhouette", "bic"]
    for name, line in display.lines_.items():
        values = np.array(found.table[name], dtype=float) * (-1 if name == "bic" else 1)
        expected = (values - np.nanmin(values)) / (np.nanmax(values) - np.nanmin(values))
        np.testing.assert_allclose(line.get_ydata(), expected)
        np.testing.assert_allclose(display.rings_[name].get_offsets()[0], [3, expected[2]])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["gap: 3", "silhouette: 3", "bic: 3"]
