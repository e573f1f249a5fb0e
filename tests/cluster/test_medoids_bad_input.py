"""KMedoids refuses what it cannot do with a message that says what and why."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tacit.cluster import KMedoids
from tacit.cluster.medoids.starts import STARTS

from ..zoo import gaussian_rows

X = gaussian_rows(n=30)


def changed(*cells):
    D = np.abs(X[:, :1] - X[:, 0])
    for i, j, value in cells:
        D[i, j] = value
    return D


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 31}, r"n_clusters=31 exceeds the 30 rows of X"),
        ({"n_clusters": 0}, r"n_clusters=0 is not a whole number of at least 1"),
        ({"n_clusters": 2.5}, r"n_clusters=2.5 is not a whole number"),
        ({"n_clusters": "many"}, r"n_clusters='many' is unknown; use 'auto', a number or several"),
        ({"n_clusters": [1, 2]}, r"n_clusters=1 is not a whole number of at least 2"),
        ({"n_clusters": []}, r"n_clusters is empty"),
        ({"n_clusters": [2, 40]}, r"n_clusters=40 exceeds the 30 rows"),
        ({"metric": "euclid"}, r"metric='euclid' is unknown; use one of 'braycurtis'"),
        ({"metric": None}, r"metric=None is unknown"),
        ({"metric_params": {"p": 3}}, r"metric_params=\{'p': 3\} do not fit metric='euclidean'"),
        ({"metric_params": [3]}, r"metric_params=\[3\] is not a dictionary"),
        (
            {"metric": "gower", "metric_params": {"p": 3}},
            r"metric_params holds 'p', which metric='gower' does not know",
        ),
        (
            {"metric": "gower", "metric_params": {"weights": [1, -1, 1, 1]}},
            r"\[1.0, -1.0, 1.0, 1.0\] are invalid weights of 4 columns",
        ),
        (
            {"metric": "mahalanobis", "metric_params": {"VI": np.eye(3)}},
            r"metric_params do not fit metric='mahalanobis': 'VI' has shape \(3, 3\), not 4 × 4",
        ),
        ({"metric": "gower", "metric_params": {"categorical": [9]}}, r"categorical'\] holds 9, which is no column"),
        (
            {"metric": "nan_euclidean", "metric_params": {"p": 3}},
            r"do not fit metric='nan_euclidean', which takes none",
        ),
        ({"metric": "haversine"}, r"metric='haversine' takes 2 columns, latitude and longitude; X has 4"),
        ({"method": "clara"}, r"method='clara' is unknown; use one of 'fasterpam', 'pam'"),
        ({"init": "best"}, r"init='best' is unknown; use one of 'build', 'lab'"),
        ({"init": [0, 0]}, r"init holds row 0 more than once; give each row once"),
        ({"init": [0, 30]}, r"init holds 30, but the rows of X are 0 to 29"),
        ({"init": [-1, 3]}, r"init holds -1, but the rows of X are 0 to 29"),
        ({"init": [0, 1, 2]}, r"has shape \(3,\) .*; give 2 numbers of rows"),
        ({"init": [0.5, 1.0]}, r"type float64; give 2 numbers of rows"),
        ({"init": [0, 1], "n_clusters": [2, 3]}, r"give the name of a start, with several n_clusters"),
        ({"max_iter": -1}, r"max_iter=-1 is not a whole number"),
        ({"sampling": "always"}, r"sampling='always' is unknown; use one of 'auto', None"),
        ({"sampling": 3}, r"sampling=3 rows are too few for n_clusters=2; use at least 4"),
        ({"n_samplings": 0}, r"n_samplings=0 is not a whole number of at least 1"),
        ({"n_jobs": 0}, r"n_jobs=0 is not a whole number of at least 1"),
        ({"metric": "precomputed"}, r"takes a square matrix, but X has shape \(30, 4\)"),
    ],
)
def test_settings(options, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(**{"n_clusters": 2, **options}).fit(X)


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (changed((3, 5, np.nan)), r"X\[3, 5\]=nan is not a dissimilarity \(NaN or infinity\)"),
        (changed((5, 3, np.inf)), r"X\[5, 3\]=inf is not a dissimilarity"),
        (changed((2, 9, -0.5), (9, 2, -0.5)), r"X\[(2, 9|9, 2)\]=-0.5; dissimilarities must not be negative"),
        (changed((2, 9, 50.0)), r"X\[9, 2\]=.* but X\[2, 9\]=50: the matrix is not symmetric; use \(X \+ X.T\) / 2"),
        (changed((4, 4, 1.0)), r"X\[4, 4\]=1, but a row is at distance 0 of itself; use np.fill_diagonal"),
    ],
)
def test_matrices(D, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(2, metric="precomputed").fit(D)


def test_faults_are_found_anywhere_in_a_large_matrix():
    D = np.ones((700, 700)) - np.eye(700)
    KMedoids(2, metric="precomputed").fit(D)
    for i, j in ((699, 0), (0, 699), (640, 639), (63, 64)):
        wrong = D.copy()
        wrong[i, j] = np.nan
        with pytest.raises(ValueError, match=rf"X\[{i}, {j}\]=nan"):
            KMedoids(2, metric="precomputed").fit(wrong)


def test_rounding_in_a_matrix_is_forgiven():
    D = changed()
    D[2, 9] *= 1 + 1e-9
    D[4, 4] = 1e-12
    D[6, 7] = D[7, 6] = -1e-15
    assert np.isfinite(KMedoids(2, metric="precomputed").fit(D).inertia_)


def test_dissimilarities_to_predict_from():
    model = KMedoids(2, metric="precomputed").fit(changed())
    with pytest.raises(ValueError, match=r"X has 7 features, but KMedoids is expecting 30 .* or to the 2 medoids"):
        model.predict(np.ones((3, 7)))
    with pytest.raises(ValueError, match=r"X holds -1 between row 0 and medoid 0"):
        model.predict(-np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"metric_params=\{'p': 1\} do not fit metric='precomputed'"):
        KMedoids(2, metric="precomputed", metric_params={"p": 1}).fit(changed())


def test_missing_cells_and_text():
    holes = X.copy()
    holes[3, 2] = np.nan
    message = r"contains NaN \(row 3, column 2\), which metric='euclidean' cannot handle; use metric='gower' or metric='nan_eu"
    with pytest.raises(ValueError, match=message):
        KMedoids(2).fit(holes)
    with pytest.raises(ValueError, match="contains NaN"):
        KMedoids(2).fit(X).predict(holes)
    with pytest.raises(ValueError, match="infinity"):
        KMedoids(2, metric="gower").fit(np.where(np.isnan(holes), np.inf, holes))
    with pytest.raises(ValueError, match="metric='gower' takes tables with text"):
        KMedoids(2).fit([["a", 1.0], ["b", 2.0]])
    with pytest.raises(ValueError, match="for other rows compute the matrix and use metric='precomputed'"):
        KMedoids(2, metric=lambda x, y: float(x != y)).fit([["a"], ["b"]])
    with pytest.raises(ValueError, match="column 2 has no observed value"):
        KMedoids(2, metric="gower").fit(np.column_stack([X[:, :2], np.full(30, np.nan)]))
    names = np.array([[f"name {i}", i] for i in range(30)], dtype=object)
    with pytest.raises(ValueError, match=r"say metric_params=\{'categorical': \[0\]\} if you mean it"):
        KMedoids(2, metric="gower").fit(names)
    KMedoids(2, metric="gower", metric_params={"categorical": [0]}).fit(names)


def test_undefined_distances_name_the_pair():
    rows = X.copy()
    rows[4] = 0.0
    with pytest.raises(ValueError, match=r"metric='cosine' gives nan between row (4 and row \d+|\d+ and row 4)"):
        KMedoids(2, metric="cosine").fit(rows)
    with pytest.raises(ValueError, match=r"metric='sqeuclidean' gives inf between"):
        KMedoids(2, metric="sqeuclidean").fit(1e200 * X)


def test_weights():
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        KMedoids(2).fit(X, sample_weight=np.zeros(30))
    with pytest.raises(ValueError, match=r"n_clusters=3 exceeds the 2 rows of positive weight"):
        KMedoids(3).fit(X, sample_weight=np.arange(30) < 2)
    for metric, rows in (("euclidean", X), ("precomputed", changed())):
        with pytest.raises(ValueError, match=r"init holds row 1, whose weight is 0"):
            KMedoids(2, init=[0, 1], metric=metric).fit(rows, sample_weight=np.arange(30) != 1)


@pytest.mark.parametrize("method", ["fasterpam", "pam", "alternate"])
@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_identical_points(method, init, metric):
    rows = np.zeros((20, 20)) if metric == "precomputed" else np.ones((20, 3))
    with pytest.warns(ConvergenceWarning, match="n_clusters=3 exceeds the 1 distinct rows of X"):
        model = KMedoids(3, metric=metric, method=method, init=init, random_state=0).fit(rows)
    assert model.inertia_ == 0
    assert model.medoid_silhouette_ == 0
    assert len(set(model.medoid_indices_)) == 3
    assert (model.labels_ == 0).all()
    np.testing.assert_array_equal(model.predict(rows), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KMedoids(1, metric=metric).fit(rows).inertia_ == 0


def test_more_clusters_than_distinct_points():
    rows = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    D = np.abs(rows - rows.T)
    for metric, given in (("euclidean", rows), ("precomputed", D)):
        with pytest.warns(ConvergenceWarning, match="n_clusters=5 exceeds the 3 distinct rows"):
            model = KMedoids(5, metric=metric).fit(given)
        assert model.inertia_ == 0
        assert len(np.unique(model.labels_)) == 3
        assert len(set(model.medoid_indices_)) == 5


def test_a_search_that_was_cut_short():
    rows = gaussian_rows(n=200)
    with pytest.warns(ConvergenceWarning, match="did not converge within max_iter=1 iterations"):
        model = KMedoids(6, max_iter=1, init="random", random_state=0).fit(rows)
    assert not model.converged_
    assert model.n_iter_ == 1


def test_not_fitted():
    from sklearn.exceptions import NotFittedError

    for call in (KMedoids().predict, KMedoids().transform, KMedoids().score):
        with pytest.raises(NotFittedError):
            call(X)
