"""KMedians: medians by hand, the loss, outliers, missing cells, weights, sources and bad input."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tacit.cluster import KMeans, KMedians, KMediansModel
from tacit.cluster.medians import Bracket
from tacit.engine import fit
from tacit.source import ArraySource, DaskSource
from tacit.testing import check_model

from ..zoo import gaussian_rows, heavy_rows, with_missing


def blobs(n=600, d=3, n_clusters=4, apart=8.0, seed=0):
    rng = np.random.default_rng(seed)
    means = apart * rng.normal(size=(n_clusters, d))
    classes = rng.integers(n_clusters, size=n)
    return means[classes] + rng.normal(size=(n, d)), classes, means


def lower_median(x, weight):
    """The least x that has half of the weight at or below it."""
    order = np.argsort(x)
    cumulated = np.cumsum(weight[order])
    return x[order][np.argmax(cumulated >= 0.5 * cumulated[-1] * (1 - 1e-12))]


def shares(X, weight):
    return weight * X.shape[1] / np.maximum((~np.isnan(X)).sum(axis=1), 1)


def medians_by_hand(X, weight, labels, n_clusters):
    share, seen = shares(X, weight), ~np.isnan(X)
    return np.array([
        [lower_median(X[rows, j], share[rows]) for j in range(X.shape[1]) for rows in [(labels == k) & seen[:, j]]]
        for k in range(n_clusters)
    ])  # fmt: skip


def loss_by_hand(X, weight, center):
    apart = np.nansum(np.abs(X[:, None] - center), axis=2)
    return float((shares(X, weight) * apart.min(axis=1)).sum()), apart.argmin(axis=1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize(
    "rows", [gaussian_rows, heavy_rows, lambda: blobs(apart=1.0)[0]], ids=["round", "heavy", "one blob"]
)
def test_centres_are_the_medians_of_their_rows(rows, holes, dtype):
    X = with_missing(rows(), holes).astype(dtype)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(X))
    fitted = KMedians(4, tol=0.0, random_state=0).fit(X, sample_weight=weight)
    assert fitted.fit_.reason == "no row changed its cluster"
    assert fitted.cluster_centers_.dtype == dtype
    np.testing.assert_array_equal(fitted.cluster_centers_, medians_by_hand(X, weight, fitted.labels_, 4))
    loss, labels = loss_by_hand(X.astype(np.float64), weight, fitted.cluster_centers_.astype(np.float64))
    np.testing.assert_array_equal(labels, fitted.labels_)
    assert fitted.inertia_ == pytest.approx(loss, rel=1e-6 if dtype == np.float32 else 1e-12)
    assert fitted.score(X, sample_weight=weight) == pytest.approx(-fitted.inertia_, rel=1e-12)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    assert np.diff(fitted.fit_.trace.objectives).min() >= -1e-12 * loss


@pytest.mark.parametrize("values", [
    [7.0], [1.0, 2.0], [3.0, 3.0, 3.0], [0.0, 0.0, 0.0, 5.0, 9.0], [-1e9, 0.1, 0.2, 0.3, 1e12], [1e8, 1e8 + 1, 1e8 + 2],
    [1e-300, 2e-300, 3e-300], [-5.0, -4.0, -4.0, 0.0], np.arange(101.0), np.repeat(np.arange(5.0), 40),
    np.geomspace(1e-9, 1e9, 77), np.random.default_rng(0).standard_cauchy(500),
])  # fmt: skip
def test_one_median_is_found_wherever_the_search_begins(values):
    X = np.asarray(values)[:, None]
    expected = lower_median(X[:, 0], np.ones(len(X)))
    model = KMediansModel(1)
    for start in (X[0], X[-1], expected, expected + 1e6, -1e3):
        found = fit(model, ArraySource(X), model.at(np.full((1, 1), start)), max_iter=60, tol=0.0)
        assert found.converged
        assert found.params.center[0, 0] == pytest.approx(expected, rel=1e-12, abs=1e-12 * np.abs(X - expected).mean())


def test_the_bracket_holds_the_median_and_knows_the_loss(rng):
    x, weight = rng.normal(size=200), rng.uniform(0.1, 2.0, 200)
    grid = np.sort(rng.normal(size=32))
    place = np.searchsorted(grid, x, side="right")
    sums = np.bincount(place, weight * (x - grid[np.maximum(place - 1, 0)]), minlength=33)
    bins = np.stack([np.bincount(place, weight, minlength=33), sums], axis=1)
    bracket = Bracket(grid[None, None], bins[None, None])
    losses = np.abs(x - grid[:, None]) @ weight
    assert bracket.low <= lower_median(x, weight) <= bracket.high
    assert bracket.best == grid[losses.argmin()]
    assert bracket.deviation == pytest.approx(losses.min() / weight.sum(), rel=1e-12)
    assert bracket.spread == pytest.approx(np.subtract(*np.quantile(x, [0.75, 0.25])), rel=0.2)
    assert (np.diff(bracket.next_grid()) >= 0).all()
    assert np.isin([bracket.low, bracket.high], bracket.next_grid()).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_properties(holes, weighted):
    X = with_missing(heavy_rows(), holes)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, len(X)) if weighted else None
    check_model(KMediansModel(4), X, weight=weight, max_iter=25)
    check_model(KMediansModel(4, tol=1e-2), X, weight=weight, max_iter=6)


def test_recovers_the_truth_and_weight_two_is_a_row_twice():
    X, classes, means = blobs(2000, apart=20.0)
    X = with_missing(X, 0.2)
    fitted, complete = KMedians(4, random_state=0).fit(X), ~np.isnan(X).any(axis=1)
    assert adjusted_rand_score(classes[complete], fitted.labels_[complete]) > 0.99
    order = np.abs(fitted.cluster_centers_[:, None] - means).sum(axis=2).argmin(axis=0)
    assert np.abs(fitted.cluster_centers_[order] - means).max() < 0.3
    start = X[:4].copy()
    start[np.isnan(start)] = 0.0
    double = KMedians(4, init=start).fit(X, sample_weight=np.full(len(X), 2.0))
    twice = KMedians(4, init=start).fit(np.vstack([X, X]))
    np.testing.assert_allclose(double.cluster_centers_, twice.cluster_centers_, rtol=1e-12)
    assert double.inertia_ == pytest.approx(twice.inertia_, rel=1e-12)


def test_outliers_pull_means_but_not_medians():
    X, _, means = blobs(1000, d=2, n_clusters=3)
    rng = np.random.default_rng(2)
    bad = rng.random(len(X)) < 0.08
    X[bad, 0] += 25.0 * np.abs(rng.standard_cauchy(bad.sum())).clip(1.0, 4.0)

    def error(estimator):
        centers = estimator.set_params(init=means).fit(X).cluster_centers_
        return np.abs(centers[:, None] - means).sum(axis=2).min(axis=0).max()

    assert error(KMedians(3)) < 0.5
    assert error(KMeans(3)) > 2.0


def test_a_tolerance_saves_passes_and_still_gives_medians():
    X = np.random.default_rng(0).normal(size=(4000, 4))
    exact, rough = (KMedians(8, tol=tol, random_state=0).fit(X) for tol in (0.0, 1e-3))
    assert rough.n_iter_ < exact.n_iter_
    assert rough.fit_.reason == "the centres moved by less than tol=0.001 of the spread of their rows"
    assert rough.inertia_ == pytest.approx(exact.inertia_, rel=1e-2)
    params = rough.fit_.params
    _, labels = loss_by_hand(X, np.ones(len(X)), params.guide)
    np.testing.assert_array_equal(params.center, medians_by_hand(X, np.ones(len(X)), labels, 8))


def test_an_empty_cluster_moves_to_the_row_that_fits_worst():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [50.0]])
    fitted = KMedians(2, init=[[1.0], [1000.0]], tol=0.0).fit(X)
    np.testing.assert_array_equal(np.sort(fitted.cluster_centers_[:, 0]), [1.0, 50.0])
    assert fitted.inertia_ == 4.0
    assert np.diff(fitted.fit_.trace.objectives).min() >= 0.0


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random"])
def test_every_start_and_every_source_agree(init, tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X = with_missing(blobs(500)[0])
    columns = {f"x{j}": pa.array(column, from_pandas=True) for j, column in enumerate(X.T)}
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=90)
    sources = [tmp_path / "rows.parquet", DaskSource(pytest.importorskip("dask.array").from_array(X, chunks=(90, -1)))]
    sources += [pytest.importorskip("torch").as_tensor(X)]
    base = KMedians(4, init=init, n_init=2, random_state=0).fit(X)
    for source in sources:
        fitted = KMedians(4, init=init, n_init=2, random_state=0).fit(source)
        np.testing.assert_allclose(fitted.cluster_centers_, base.cluster_centers_, rtol=1e-12)
        np.testing.assert_array_equal(fitted.labels_, base.labels_)
        np.testing.assert_array_equal(fitted.predict(source), base.labels_)
        np.testing.assert_allclose(fitted.transform(source), base.transform(X), rtol=1e-12)


def test_a_checkpoint_goes_on_where_it_stopped(tmp_path):
    X = np.random.default_rng(0).normal(size=(800, 3))
    whole = KMedians(6, random_state=0).fit(X)

    def stop(progress):
        if progress.step == 9:
            raise KeyboardInterrupt

    path = tmp_path / "state"
    with pytest.warns(UserWarning, match="interrupted by the user after 9 steps"):
        KMedians(6, random_state=0, callback=stop).fit(X, checkpoint=path, checkpoint_every=0.0)
    again = KMedians(6, random_state=0).fit(X, checkpoint=path)
    np.testing.assert_array_equal(again.cluster_centers_, whole.cluster_centers_)
    assert again.fit_.trace.objectives == whole.fit_.trace.objectives


def test_rows_without_cells_and_constant_columns():
    X = np.column_stack([blobs(200)[0], np.full(200, 7.0)])
    X[3] = np.nan
    X[5, 1:] = np.nan
    fitted = KMedians(3, random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.cluster_centers_[:, 3], 7.0)
    assert np.isfinite(fitted.inertia_)
    np.testing.assert_array_equal(fitted.transform(X)[3], 0.0)


def test_equal_rows_leave_clusters_empty():
    X = np.full((20, 2), 0.1)
    with pytest.warns(match=r"Number of distinct clusters \(1\) found smaller than n_clusters \(3\)"):
        fitted = KMedians(3, random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.cluster_centers_, 0.1)
    assert fitted.inertia_ == 0.0


@pytest.mark.parametrize(("settings", "message"), [
    ({"n_clusters": 7}, r"n_samples=6 should be >= n_clusters=7; use at most 6 clusters"),
    ({"n_clusters": 0}, r"n_clusters=0 is not a whole number of at least 1"),
    ({"tol": -1.0}, r"tol=-1\.0 is not a number of at least 0"),
    ({"init": "median"}, r"init='median' is unknown; use one of 'k-means\+\+', 'k-means\|\|', 'random'"),
    ({"init": np.zeros((2, 3))}, r"does not match the number of features of the data 2"),
])  # fmt: skip
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        KMedians(**({"n_clusters": 2} | settings)).fit(np.arange(12.0).reshape(6, 2))
