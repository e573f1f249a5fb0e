"""how_many: answers on groups and clouds, with and without holes; scores as those of the models; bad input."""

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score
from sklearn.pipeline import make_pipeline

from tacit.cluster import ColumnScaler, KMedoids, how_many
from tacit.cluster.report.how_many import reference
from tacit.mixture import GaussianMixture, select


@pytest.fixture(scope="module")
def three():
    X, _ = make_blobs(180, centers=[[0, 0, 0, 0], [9, 9, 0, 0], [0, 0, 9, 9]], random_state=0)
    return X


@pytest.fixture(scope="module")
def counted(three):
    holes = np.random.default_rng(0).random(three.shape) < 0.1
    return [
        how_many(rows, range(1, 6), n_references=5, n_resamples=5, random_state=0)
        for rows in (three, np.where(holes, np.nan, three))
    ]


def test_criteria_agree_on_groups_that_are_apart_with_and_without_missing_cells(counted):
    for found in counted:
        assert found.answers == dict.fromkeys(("gap", "stability", "silhouette", "eigengap", "bic"), 3)
        assert found.majority == 3
        assert np.all(np.diff(found.table["loss"]) < 0)  # each number starts from the one before too
        assert "answers: gap 3, stability 3" in str(found)


def test_scores_are_those_of_the_models(three, counted):
    found = counted[0]
    row = found.table[2]
    assert row["n_clusters"] == found.models[3].n_clusters == 3
    assert row["loss"] == found.models[3].inertia_
    assert row["silhouette"] == pytest.approx(silhouette_score(three, found.models[3].labels_))
    fitted = select(GaussianMixture(random_state=0), three, n_components=[3]).best
    assert row["bic"] == pytest.approx(fitted.bic(three), rel=1e-6)
    assert row["stability"] == 1.0
    again = how_many(three, range(1, 6), n_references=5, n_resamples=5, random_state=0)
    assert again.table.rows == found.table.rows


def test_gap_by_hand(three):
    """One cluster: the loss is the scatter about the mean, of rows and of references that are drawn alike."""
    found = how_many(three, [1, 2], criteria=["gap"], n_references=3, random_state=7)
    assert found.table["loss"][0] == pytest.approx(((three - three.mean(axis=0)) ** 2).sum())
    axes = np.linalg.svd(three - three.mean(axis=0))[2]
    widths = np.ptp((three - three.mean(axis=0)) @ axes.T, axis=0)
    expected = np.log(len(three) * (widths**2).sum() / 12) - np.log(found.table["loss"][0])
    assert found.table["gap"][0] == pytest.approx(expected, abs=4 * found.table["gap_se"][0])
    line = np.linspace(0, 1, 50)[:, None] * [1.0, 2.0]
    drawn = reference(line)(np.random.default_rng(0))
    np.testing.assert_allclose(drawn[:, 1], 2 * drawn[:, 0], atol=1e-12)
    line[3, 1] = np.nan
    assert np.flatnonzero(np.isnan(reference(line)(np.random.default_rng(0)))).tolist() == [7]


def test_one_cloud_has_no_clusters():
    cloud = np.random.default_rng(1).normal(size=(200, 3))
    found = how_many(cloud, range(1, 5), n_references=5, n_resamples=5, random_state=0)
    assert [found.answers[name] for name in ("gap", "stability", "eigengap", "bic")] == [1, 1, 1, 1]


def test_collapsed_mixtures_have_no_bic():
    X = np.random.default_rng(0).normal(size=(14, 6))
    found = how_many(X, range(1, 5), random_state=0)
    bic = np.asarray([row["bic"] for row in found.table], dtype=float)
    assert np.isnan(bic[2:]).all()
    assert found.answers["bic"] == 1 + int(np.nanargmin(bic))


def test_any_clusterer_and_many_rows(three):
    table = pd.DataFrame(three * [1.0, 1000.0, 1.0, 1.0], columns=list("abcd"))
    scaled = make_pipeline(ColumnScaler(), KMedoids())
    found = how_many(
        table,
        [2, 3, 4],
        estimator=scaled,
        criteria=["silhouette", "stability"],
        n_resamples=3,
        max_rows=100,
        random_state=0,
    )
    assert found.answers == {"silhouette": 3, "stability": 3}
    assert found.notes == ["scores are those of a sample of 100 of 180 rows."]
    trees = how_many(three, [2, 3], estimator=sklearn.cluster.AgglomerativeClustering(), criteria=["gap", "silhouette"])
    assert trees.answers == {"gap": None, "silhouette": 3}
    assert trees.notes[0] == "there is no gap statistic: AgglomerativeClustering has no inertia_."
    assert trees.notes[1] == "silhouette answers 3, the largest number tried; try more."


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 3}, "n_clusters=3 must be several numbers"),
        ({"n_clusters": [2, 99]}, "n_clusters=99 is too many for 180 rows; use at most 90"),
        ({"criteria": ["elbow"]}, "criteria='elbow' is unknown; use one of 'gap'"),
        ({"n_references": 1}, "n_references=1 is not a whole number of at least 2"),
    ],
)
def test_how_many_names_bad_settings(three, settings, message):
    with pytest.raises(ValueError, match=message):
        how_many(three, **settings)
    with pytest.raises(ValueError, match="column 'a' holds categories, and how_many takes numbers; use KMedoids"):
        how_many(pd.DataFrame({"a": ["x", "y"] * 20, "b": range(40)}))
