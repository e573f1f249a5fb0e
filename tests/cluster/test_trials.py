"""What new users stumbled over: overflow, masks, single rows, unfit metrics, unfinished frames."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.pipeline import make_pipeline

from tacit.cluster import ColumnScaler, KMeans, KMedians, KMedoids, SoftKMeans, SpectralClustering, k_curve

X = np.random.default_rng(0).normal(size=(60, 3))


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "mutual_nearest_neighbors", "epsilon", "rbf"])
def test_graphs_of_rows_whose_squares_overflow_are_refused(affinity):
    wild = X.copy()
    wild[3, 0] = 1e160
    with pytest.raises(
        ValueError, match=r"column 0 holds 1e\+160, and sums of squares of cells beyond 1e\+151 overflow"
    ):
        SpectralClustering(2, affinity=affinity, random_state=0).fit(wild)


@pytest.mark.parametrize("estimator", [KMeans(2), KMedians(2), SoftKMeans(2)])
def test_sums_of_squares_that_overflow_are_refused(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(
            ValueError, match=r"column 0 holds .*, and sums of squares of cells beyond 1e\+151 overflow"
        ):
            estimator.fit(1e160 * X)
        with pytest.raises(
            ValueError, match="overflow float32; divide its columns by their scale or give it in float64"
        ):
            estimator.fit((1e20 * X).astype(np.float32))
    assert len(np.unique(KMeans(2, random_state=0).fit(1e20 * X).labels_)) == 2


def test_an_isolated_fitted_row_is_predicted_as_it_was_labelled():
    rings, _ = make_circles(1000, factor=0.4, noise=0.05, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SpectralClustering(2, affinity="epsilon", random_state=0).fit(rings)
    alone = model.degrees_ == 0
    assert alone.sum() > 3
    np.testing.assert_array_equal(model.predict(rings[alone]), model.labels_[alone])


def test_metrics_of_booleans_say_so():
    blobs = make_blobs(100, random_state=0)[0]
    with pytest.warns(DataConversionWarning, match="metric='jaccard' compares booleans"):
        KMedoids(3, metric="jaccard").fit(blobs)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataConversionWarning)
        KMedoids(3, metric="jaccard").fit((blobs > 0).astype(float))
    with pytest.raises(ValueError, match="p=-1, but metric='minkowski' needs p > 0"):
        KMedoids(3, metric="minkowski", metric_params={"p": -1}).fit(blobs)


def test_fewer_distinct_rows_than_spectral_clusters():
    with pytest.warns(ConvergenceWarning, match="n_clusters=2 exceeds the 1 distinct rows of X"):
        SpectralClustering(2, random_state=0).fit(np.ones((20, 3)))


@pytest.mark.parametrize("estimator", [KMeans(1), KMedians(1), SoftKMeans(1)])
def test_one_row_is_one_cluster(estimator):
    np.testing.assert_allclose(estimator.fit(X[:1]).cluster_centers_, X[:1])


def test_weights_reach_the_clusterer_at_the_end_of_a_pipeline():
    blobs, weight = make_blobs(120, random_state=0)[0], np.random.default_rng(0).uniform(0.5, 2.0, 120)
    model = make_pipeline(ColumnScaler(), KMeans(random_state=0))
    heavy, plain = k_curve(model, blobs, [2, 3], sample_weight=weight), k_curve(model, blobs, [2, 3])
    assert heavy[0]["loss"] != plain[0]["loss"]


@pytest.mark.parametrize("estimator", [KMeans(2, random_state=0), KMedians(2, random_state=0), ColumnScaler()])
def test_masked_cells_are_missing(estimator):
    mask = np.random.default_rng(1).random(X.shape) < 0.1
    masked = np.ma.MaskedArray(np.where(mask, 1e6, X), mask)
    expected = estimator.fit(np.where(mask, np.nan, X)).transform(X)
    np.testing.assert_array_equal(estimator.fit(masked).transform(X), expected)
    with pytest.raises(ValueError, match="NaN"):
        SpectralClustering(2).fit(masked)


def test_a_lazy_frame_is_to_be_collected():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X).lazy()
    for estimator in (KMeans(2), KMedoids(2, metric="gower"), SpectralClustering(2), ColumnScaler()):
        with pytest.raises(TypeError, match=r"LazyFrame, which holds no rows yet; call \.collect\(\) first"):
            estimator.fit(frame)


@pytest.mark.parametrize("estimator", [KMedoids(2), SpectralClustering(2), ColumnScaler()])
def test_paths_where_rows_must_be_in_memory(estimator):
    with pytest.raises(
        ValueError, match=r"X='rows.parquet' is a path, but \w+ takes rows in memory here; read the file"
    ):
        estimator.fit("rows.parquet")


def test_a_silhouette_that_still_rises_is_told():
    with pytest.warns(UserWarning, match="still rises at n_clusters=10, the largest tried"):
        KMedoids("auto").fit(X)


def test_a_slow_metric_is_told():
    rows = np.random.default_rng(0).normal(size=(1100, 2))
    with pytest.warns(UserWarning, match="called from Python, because numba cannot compile it"):
        KMedoids(2, metric=lambda a, b: float(str(abs(a[0] - b[0]))), sampling=50).fit(rows)


def test_weights_of_columns_by_name():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    named = KMedoids(2, metric="gower", metric_params={"weights": {"b": 3.0}}).fit(table)
    listed = KMedoids(2, metric="gower", metric_params={"weights": [1.0, 3.0, 1.0]}).fit(table)
    assert named.inertia_ == listed.inertia_
    with pytest.raises(ValueError, match=r"holds 'z', which is no column; there are 0 to 2, named a, b, c"):
        KMedoids(2, metric="gower", metric_params={"weights": {"z": 3.0}}).fit(table)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: KMeans(2, callback=3).fit(X), ValueError, "callback=3 is not callable"),
        (lambda: KMeans("auto").fit(X), ValueError, "n_clusters='auto' is not a whole number .*k_curve tries several"),
        (lambda: k_curve(KMeans(), X, 3), ValueError, r"n_clusters=3 must be several numbers; give a range"),
        (lambda: k_curve(KMeans, X), TypeError, r"estimator is the class KMeans; give an instance, such as KMeans\(\)"),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()
