"""AgglomerativeClustering: as scikit-learn's and SciPy's, with holes, mixed tables and matrices; its tree as a picture."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

import tacit
from tacit.cluster import AgglomerativeClustering, KMedoids, cluster_report
from tacit.datasets import load_penguins, penguins_path
from tacit.plot import DendrogramDisplay


@pytest.mark.parametrize("linkage", ["ward", "complete", "average", "single"])
def test_as_scikit_learn(linkage):
    X = make_blobs(90, 4, centers=4, random_state=0)[0]
    for settings in ({"n_clusters": 4}, {"n_clusters": None, "distance_threshold": 5.0}):
        ours = AgglomerativeClustering(linkage=linkage, **settings).fit(X)
        theirs = sklearn.cluster.AgglomerativeClustering(linkage=linkage, compute_distances=True, **settings).fit(X)
        assert ours.n_clusters_ == theirs.n_clusters_
        assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
        np.testing.assert_allclose(np.sort(ours.distances_), np.sort(theirs.distances_), rtol=1e-6)
    np.testing.assert_allclose(ours.linkage_matrix_, hierarchy.linkage(X, linkage), rtol=1e-9)
    assert ours.labels_[0] == 0
    assert (ours.n_leaves_, ours.n_connected_components_, ours.children_.shape) == (90, 1, (89, 2))


def test_cuts_at_every_number_are_nested():
    X = load_iris().data[::3]
    labels = [AgglomerativeClustering(k, linkage="average").fit(X).labels_ for k in range(1, len(X) + 1)]
    for k, (coarse, fine) in enumerate(pairwise(labels), 2):
        assert len(set(fine)) == k
        assert len(set(zip(coarse, fine))) == k  # a cluster is split, none is mixed
        assert list(dict.fromkeys(fine.tolist())) == list(range(k))  # numbered by first rows


def test_missing_cells_tables_and_matrices(tmp_path):
    X, species, _ = load_penguins()
    scaled = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    known = ~np.isnan(X).all(axis=1)
    holes = np.random.default_rng(0).random(scaled.shape) < 0.05
    rows = np.where(holes, np.nan, scaled)[known]
    rows = rows[~np.isnan(rows).all(axis=1)]
    model = AgglomerativeClustering(3, metric="nan_euclidean", linkage="average").fit(rows)
    gaps = rows[:, None] - rows
    shared = (~np.isnan(gaps)).sum(axis=2)
    D = np.sqrt(np.nansum(gaps**2, axis=2) * 4 / np.maximum(shared, 1))
    D[shared == 0] = model.metric_params_["unknown"]
    expected = hierarchy.linkage(squareform(D, checks=False), "average")
    np.testing.assert_allclose(model.distances_, expected[:, 2], rtol=1e-9)
    given = AgglomerativeClustering(3, metric="precomputed", linkage="average").fit(D)
    np.testing.assert_array_equal(given.labels_, model.labels_)

    table = pd.read_csv(penguins_path()).drop(columns=["year", "sex"])[known]
    mixed = AgglomerativeClustering(3, metric="gower", linkage="average").fit(table.drop(columns="species"))
    assert adjusted_rand_score(species[known], mixed.labels_) > 0.6
    assert cluster_report(table.drop(columns="species"), mixed.labels_, metric="gower").scores["silhouette"] > 0.3
    medoids = KMedoids(2, metric="gower").fit(table.drop(columns="species"))
    np.testing.assert_allclose(mixed.metric_params_["ranges"], medoids.metric_params_["ranges"])
    path = tmp_path / "tree.tacit"
    tacit.save(mixed, path)
    np.testing.assert_array_equal(tacit.load(path).linkage_matrix_, mixed.linkage_matrix_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"n_clusters": 5, "distance_threshold": 1.0},
            "Exactly one of n_clusters and distance_threshold has to be set",
        ),
        ({"n_clusters": None}, "n_clusters=None and distance_threshold=None"),
        ({"n_clusters": 99}, "n_clusters=99 exceeds the 10 rows of X"),
        ({"linkage": "centroid"}, "linkage='centroid' is unknown; use one of 'ward'"),
        (
            {"metric": "cityblock"},
            "metric='cityblock' was provided; linkage='ward' is of means and works with 'euclidean'",
        ),
        ({"connectivity": np.eye(10)}, "connectivity is not taken; use sklearn.cluster.AgglomerativeClustering"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        AgglomerativeClustering(**settings).fit(np.arange(20.0).reshape(10, 2))
    with pytest.raises(
        ValueError, match="which metric='euclidean' cannot handle; use metric='gower' or metric='nan_eucl"
    ):
        AgglomerativeClustering().fit([[1.0, np.nan], [2.0, 3.0]])


def test_the_tree_is_drawn():
    X = make_blobs(30, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]
    model = AgglomerativeClustering(3).fit(X)
    display = DendrogramDisplay.from_estimator(model, names=[f"row {i}" for i in range(30)])
    assert len(display.leaves_) == 30
    assert "row 29" in display.leaves_
    height = display.cut_.get_ydata()[0]
    assert np.sum(model.distances_ > height) == 2
    drawn = {tuple(np.round(c, 3)) for line in display.ax_.collections for c in line.get_colors()}
    assert len(drawn) == 4  # three clusters, and what is above the cut
    assert display.ax_.get_title() == f"3 clusters, cut at {height:.3g}"
    many = DendrogramDisplay.from_estimator(
        AgglomerativeClustering(2).fit(np.random.default_rng(0).normal(size=(200, 2)))
    )
    assert len(many.leaves_) == 60
    with pytest.raises(ValueError, match="names has 2 entries, but the tree has 30 rows"):
        DendrogramDisplay.from_estimator(model, names=["a", "b"])
    with pytest.raises(TypeError, match="KMedoids has no linkage_matrix_"):
        DendrogramDisplay.from_estimator(KMedoids(2).fit(X))
