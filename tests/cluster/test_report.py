"""cluster_report: silhouettes as scikit-learn's, what defines clusters, weights, holes, names, noise, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, nan_euclidean_distances, silhouette_samples
from sklearn.pipeline import make_pipeline

from tacit.cluster import ColumnScaler, KMeans, KMedoids, SpectralClustering, cluster_report, k_curve
from tacit.datasets import load_penguins, penguins_path

from ..zoo import gaussian_rows, with_missing


@pytest.fixture
def blobs():
    return make_blobs(300, centers=[[0, 0, 0], [6, 0, 0], [0, 7, 1]], random_state=0)


@pytest.fixture
def penguins():
    return pd.read_csv(penguins_path()).drop(columns="year")


def overall(report):
    return np.average(list(report.silhouettes.values()), weights=list(report.sizes.values()))


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "cosine", "nan_euclidean"])
def test_silhouettes_are_those_of_sklearn(blobs, metric):
    X, y = blobs
    expected = silhouette_samples(X, y, metric=metric)
    report = cluster_report(X, y, metric=metric)
    np.testing.assert_allclose(report.silhouette_samples, expected, atol=1e-9)
    assert report.scores["silhouette"] == pytest.approx(expected.mean()) == pytest.approx(overall(report))
    for k in range(3):
        assert report.silhouettes[k] == pytest.approx(expected[y == k].mean())


def test_tight_clusters_far_apart_lose_no_digits(rng):
    """Expanded squares cancel where rows are much nearer to each other than to the mean."""
    X = np.repeat([[0.0, 0.0], [0.0, 1e-6], [1e6, 3e6]], 20, axis=0) + 1e7
    X[:40] += 1e-7 * rng.normal(size=(40, 2))
    X[[3, 4, 5]] = X[2]  # equal rows
    y = np.repeat([0, 1, 2], 20)
    expected = silhouette_samples(cdist(X, X), y, metric="precomputed")
    np.testing.assert_allclose(cluster_report(X, y, metric="euclidean").silhouette_samples, expected, atol=1e-6)
    same = np.repeat([[1.0, 2.0], [1.0, 2.0], [7.0, 7.0]], 5, axis=0) / 3.0
    values = cluster_report(same, np.repeat([0, 1, 2], 5)).silhouettes
    assert values == {0: 0.0, 1: 0.0, 2: 1.0}


def test_scores_are_those_of_sklearn(blobs):
    X, y = blobs
    scores = cluster_report(X, y).scores
    assert scores["calinski_harabasz"] == pytest.approx(calinski_harabasz_score(X, y))
    assert scores["davies_bouldin"] == pytest.approx(davies_bouldin_score(X, y))


def test_silhouettes_with_missing_cells():
    X = with_missing(gaussian_rows(120))
    y = KMeans(3, random_state=0).fit_predict(X)
    common = (~np.isnan(X)).astype(float)
    whole = (common @ common.T > 0).all(axis=1)  # rows that share a cell with every other
    X, y = X[whole], y[whole]
    D = nan_euclidean_distances(X)
    report = cluster_report(X, y)
    np.testing.assert_allclose(report.silhouette_samples, silhouette_samples(D, y, metric="precomputed"), atol=1e-7)
    assert "nan_euclidean" in report.title
    assert report.scores["calinski_harabasz"] is None
    given = cluster_report(X, y, space=D, metric="precomputed")
    np.testing.assert_allclose(given.silhouette_samples, report.silhouette_samples, atol=1e-7)
    assert given.defining["text"] == report.defining["text"]


def test_weight_two_is_the_row_twice(blobs, rng):
    X, y = blobs
    weight = rng.integers(0, 4, len(X))
    many, once = np.repeat(np.arange(len(X)), weight), weight > 0
    twice, weighted = cluster_report(X[many], y[many]), cluster_report(X, y, sample_weight=weight)
    assert weighted.scores == pytest.approx(twice.scores)
    assert weighted.sizes == twice.sizes
    assert weighted.silhouettes == pytest.approx(twice.silhouettes)
    assert weighted.table["radius"] == pytest.approx(twice.table["radius"])
    assert weighted.defining["text"] == twice.defining["text"]
    assert np.isnan(weighted.silhouette_samples[~once]).all()
    # Shares of a survey add up to one: their scale changes neither silhouettes nor means.
    small = cluster_report(X, y, sample_weight=np.full(len(X), 1.0 / len(X)))
    np.testing.assert_allclose(small.silhouette_samples, silhouette_samples(X, y), atol=1e-9)


def test_a_sample_is_near_the_whole_and_shows_every_cluster():
    X, y = make_blobs([3000, 1000, 12], centers=[[0, 0], [4, 0], [0, 9]], random_state=0)
    whole, part = cluster_report(X, y), cluster_report(X, y, max_rows=600)
    n_sampled = int((~np.isnan(part.silhouette_samples)).sum())
    assert n_sampled <= 620
    assert f"a sample of {n_sampled} rows" in str(part)
    assert whole.sizes == part.sizes
    for k in range(3):
        assert part.silhouettes[k] == pytest.approx(whole.silhouettes[k], abs=0.05)
    np.testing.assert_array_equal(part.silhouette_samples, cluster_report(X, y, max_rows=600).silhouette_samples)


def test_simplified_silhouettes_are_ratios_of_distances_to_centres(blobs):
    X, y = blobs
    apart = cdist(X, [X[y == k].mean(axis=0) for k in range(3)])
    inside = apart[np.arange(len(X)), y]
    apart[np.arange(len(X)), y] = np.inf
    outside = apart.min(axis=1)
    report = cluster_report(X, y, silhouette="simplified")
    np.testing.assert_allclose(report.silhouette_samples, (outside - inside) / np.maximum(inside, outside), atol=1e-12)
    assert report.table["radius"] == pytest.approx([inside[y == k].mean() for k in range(3)])
    for k, row in enumerate(report.table["central row"]):
        assert inside[row] == inside[y == k].min()


def test_single_precision(blobs):
    X, y = blobs
    for how in ("exact", "simplified"):
        single = cluster_report(X.astype(np.float32), y, silhouette=how)
        np.testing.assert_allclose(
            single.silhouette_samples, cluster_report(X, y, silhouette=how).silhouette_samples, atol=1e-5
        )


def test_threads_do_not_matter(blobs):
    X, y = blobs
    one, two = (cluster_report(X, y, n_jobs=n).silhouette_samples for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_radius_nearest_and_central_row(blobs):
    X, y = blobs
    D = cdist(X, X)
    table = cluster_report(X, y).table
    for k in range(3):
        mine = np.flatnonzero(y == k)
        within = D[np.ix_(mine, mine)].mean(axis=0)
        assert table[k]["radius"] == pytest.approx(within.min())
        assert table[k]["central row"] == mine[within.argmin()]
    assert table["nearest"][1:] == [0, 0]
    assert sum(table["share"]) == pytest.approx(1.0)


def test_what_defines_clusters_in_words_and_numbers(penguins):
    report = cluster_report(penguins, penguins["species"])
    gentoo = [row for row in report.defining if row["cluster"] == "Gentoo"]
    text = {row["column"]: row["text"] for row in gentoo}
    assert text["flipper_length_mm"] == "flipper_length_mm high (217 vs 201)"
    assert text["species"] == "species always Gentoo (100 % of rows vs 36 %)"
    assert text["island"] == "island always Biscoe (100 % of rows vs 49 %)"
    assert [abs(row["difference"]) for row in gentoo] == sorted(
        (abs(row["difference"]) for row in gentoo), reverse=True
    )
    mass = next(row for row in gentoo if row["column"] == "body_mass_g")
    column, others = penguins["body_mass_g"], penguins["species"] != "Gentoo"
    assert mass["value"] == pytest.approx(column[~others].mean())
    assert mass["rest"] == pytest.approx(column[others].mean())
    assert mass["overall"] == pytest.approx(column.mean())
    assert mass["difference"] == pytest.approx((mass["value"] - mass["overall"]) / column.std(ddof=0))
    assert "sex" not in text  # as many males as elsewhere
    assert "Chinstrap: species always Chinstrap" in str(report)


def test_missing_cells_can_define_a_cluster():
    few = {"age": [20.0, 21.0, np.nan, np.nan, np.nan, 22.0], "height": [1.0, 1.1, 5.0, 5.2, 5.1, 1.2]}
    labels = ["a", "a", "b", "b", "b", "a"]
    report = cluster_report(pd.DataFrame({name: 7 * cells for name, cells in few.items()}), 7 * labels)
    assert "age always missing (100 % of rows vs 50 %)" in report.describe("b")
    assert "missing" not in report.describe("a")
    # Three rows could be so by chance.
    assert "missing" not in cluster_report(pd.DataFrame(few), labels).describe("b")


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow", "objects"])
def test_tables_of_every_library_tell_the_same(penguins, library):
    expected = cluster_report(penguins, penguins["species"].to_numpy())
    if library == "polars":
        given = pytest.importorskip("polars").from_pandas(penguins)
    elif library == "arrow":
        given = pytest.importorskip("pyarrow").Table.from_pandas(penguins)
    else:
        given = penguins if library == "pandas" else penguins.to_numpy(dtype=object)
    names = list(penguins.columns) if library == "objects" else None
    report = cluster_report(given, penguins["species"].to_numpy(), feature_names=names)
    assert report.defining["text"] == expected.defining["text"]
    assert report.silhouettes == pytest.approx(expected.silhouettes)


def test_estimators_of_every_kind(blobs):
    X, _ = blobs
    expected = cluster_report(X, SklearnKMeans(3, random_state=0, n_init=3).fit(X))
    for model in (
        KMeans(3, random_state=0), KMedoids(3), SpectralClustering(3, gamma=0.3, random_state=0),
        make_pipeline(ColumnScaler("range"), KMeans(3, random_state=0)),
    ):  # fmt: skip
        report = cluster_report(X, model.fit(X))
        assert sorted(report.sizes.values()) == sorted(expected.sizes.values())
    # The pipeline clustered scaled rows, so distances are between these; columns are told in their own units.
    scaled = cluster_report(ColumnScaler("range").fit_transform(X), model.predict(X))
    assert report.silhouettes == pytest.approx(scaled.silhouettes)
    assert report.profiles[0]["value"][0] == pytest.approx(X[report.codes == 0, 0].mean())


def test_an_estimators_own_metric_and_names(penguins):
    fitted = KMedoids(3, metric="gower").fit(penguins)
    assert "metric 'gower'" in cluster_report(penguins, fitted).title
    X, _, columns = load_penguins()
    rows = pd.DataFrame(X, columns=columns).dropna()
    model = make_pipeline(ColumnScaler(), KMeans(2, random_state=0)).fit(rows)
    assert "flipper_length_mm" in str(cluster_report(rows, model[-1].fit(rows).labels_, metric="cosine"))
    D = cdist(X[:30, :2][~np.isnan(X[:30, :2]).any(axis=1)], X[:30, :2][~np.isnan(X[:30, :2]).any(axis=1)])
    report = cluster_report(D, KMedoids(2, metric="precomputed").fit(D))
    assert report.scores["silhouette"] > 0.3
    assert len(report.defining) == 0


def test_noise_is_no_cluster(blobs):
    X, y = blobs
    y = y.copy()
    y[:30] = -1
    report = cluster_report(X, y)
    assert report.labels == [0, 1, 2]
    assert report.table["cluster"] == [0, 1, 2, "noise"]
    assert report.table["rows"][-1] == 30
    np.testing.assert_allclose(report.silhouette_samples[30:], silhouette_samples(X[30:], y[30:]), atol=1e-9)
    assert np.isnan(report.silhouette_samples[:30]).all()
    assert -1 in cluster_report(X, y, noise=None).labels
    assert len(cluster_report(X, DBSCAN(eps=1.0).fit(X)).labels) >= 2


def test_units_that_decide_are_warned_of():
    X, _, columns = load_penguins()
    fitted = KMeans(3, random_state=0).fit(X)
    with pytest.warns(UserWarning, match=r"'body_mass_g' carries over 99.9 % of the total variance.*ColumnScaler"):
        report = cluster_report(X, fitted, feature_names=columns)
    assert "body_mass_g" in report.notes[0]
    assert not cluster_report(ColumnScaler().fit_transform(X), fitted.labels_).notes


def test_forms_of_the_report(blobs):
    X, y = blobs
    names = np.array(["<b>x</b>", "two", "three"])[y]
    report = cluster_report(pd.DataFrame(X, columns=["<script>", "b", "c"]), names)
    frame = report.to_pandas()
    assert list(frame["cluster"]) == ["<b>x</b>", "three", "two"]
    assert "high" in frame["defined by"][2]
    page = report._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page
    assert str(report) == repr(report)


def test_many_clusters_are_cut_short():
    X = np.arange(120.0).reshape(60, 2)
    report = cluster_report(X, np.arange(60) // 2)
    assert "… and 10 more" in str(report)
    assert len(report.table) == 30


def test_one_cluster_singletons_and_equal_rows():
    X = np.arange(12.0).reshape(6, 2)
    one = cluster_report(X, np.zeros(6, int))
    assert one.silhouettes == {0: None}
    assert "one cluster" in str(one)
    assert one.scores == {"silhouette": None, "calinski_harabasz": None, "davies_bouldin": None}
    assert cluster_report(X, np.zeros(6, int), silhouette="simplified").silhouettes == {0: None}
    each = cluster_report(X, np.arange(6))
    assert set(each.silhouettes.values()) == {0.0}
    assert each.scores["calinski_harabasz"] is None
    equal = cluster_report(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    assert set(equal.silhouettes.values()) == {0.0}
    assert "all rows are equal" in str(equal)
    assert equal.describe(0) == "nothing sets it apart"


def test_dates_are_left_out():
    X = pd.DataFrame({"x": np.r_[np.zeros(9), np.ones(9)], "when": pd.date_range("2024-01-01", periods=18)})
    assert cluster_report(X, np.repeat([0, 1], 9)).notes == ["column 'when' is left out: dates."]


def test_columns_that_tell_nothing_are_left_out():
    table = pd.DataFrame({"name": [f"n{i}" for i in range(30)], "x": np.arange(30.0), "empty": np.full(30, np.nan)})
    report = cluster_report(table, np.arange(30) // 15)
    assert {row["column"] for row in report.defining} == {"x"}
    assert report.notes == [
        "column 'name' is left out: as many levels as an identifier has.", "column 'empty' is left out: no observed value.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"labels": [0, 1]}, ValueError, r"labels have shape \(2,\), but X has 6 rows"),
        ({"labels": [0, 1, 0.5, 1, 0, 1]}, ValueError, "labels hold 0.5, which is not the label"),
        ({"labels": [0, 1, None, 1, 0, 1]}, ValueError, "the label of row 2 is missing"),
        ({"labels": [-1] * 6}, ValueError, "every row is noise or has weight 0"),
        ({"labels": KMeans()}, NotFittedError, "not fitted"),
        ({"labels": ColumnScaler().fit(np.eye(6))}, TypeError, "ColumnScaler has neither predict nor labels_"),
        ({"X": np.empty((0, 2)), "labels": []}, ValueError, r"Found array with 0 sample\(s\)"),
        ({"X": pd.DataFrame({"a": []}), "labels": []}, ValueError, r"Found array with 0 sample\(s\)"),
        ({"X": np.full((6, 2), np.nan)}, ValueError, "no column has an observed value"),
        ({"X": np.full((6, 2), np.inf)}, ValueError, "infinity"),
        ({"X": np.linspace(-1e200, 1e200, 12).reshape(6, 2)}, ValueError, "column 0' holds numbers beyond 1e\\+150"),
        ({"X": "rows.parquet"}, ValueError, "reports need rows in memory"),
        ({"metric": "banana"}, ValueError, "metric='banana' is unknown"),
        ({"metric": "precomputed"}, ValueError, r"takes a matrix of 6 × 6, but the shape is \(6, 2\)"),
        ({"space": np.ones((5, 2))}, ValueError, "space has 5 rows, but X has 6"),
        ({"silhouette": "fast"}, ValueError, "silhouette='fast' is unknown"),
        ({"max_rows": 1}, ValueError, "max_rows=1 is not a whole number of at least 2"),
        ({"n_defining": 0}, ValueError, "n_defining=0"),
        ({"feature_names": ["a"]}, ValueError, "feature_names has 1 names, but X has 2 columns"),
        ({"sample_weight": [-1.0] * 6}, ValueError, "sample_weight holds -1"),
        ({"X": np.array([[0.0, 1.0]] * 5 + [[np.nan, 1.0]]), "metric": "cosine"}, ValueError, "metric='cosine' cannot handle"),
        ({"X": pd.DataFrame({"a": list("xxyyzz")}), "metric": "euclidean"}, ValueError, "column 'a' holds categories"),
        ({"metric": "precomputed", "space": -np.ones((6, 6))}, ValueError, "holds -1; dissimilarities must not be negative"),
        (
            {"metric": "precomputed", "space": np.ones((6, 6)), "silhouette": "simplified"},
            ValueError, "silhouette='simplified' needs rows",
        ),
    ],
)  # fmt: skip
def test_bad_input(change, kind, message):
    arguments = {"X": np.arange(12.0).reshape(6, 2), "labels": [0, 0, 0, 1, 1, 1], **change}
    with pytest.raises(kind, match=message):
        cluster_report(arguments.pop("X"), arguments.pop("labels"), **arguments)


def test_identifiers_are_no_labels():
    with pytest.raises(ValueError, match="labels hold 6000 different values in 6000 rows"):
        cluster_report(np.ones((6000, 1)), np.arange(6000))


def test_unknown_cluster_is_named(blobs):
    with pytest.raises(KeyError, match="9 is not a cluster; there are 0, 1, 2"):
        cluster_report(*blobs).describe(9)


def test_k_curve_finds_the_number_of_blobs(blobs):
    X, y = blobs
    table = k_curve(KMeans(random_state=0, n_init=3), X, range(2, 6))
    assert table["n_clusters"] == [2, 3, 4, 5]
    assert table["loss"] == sorted(table["loss"], reverse=True)
    assert max(table, key=lambda row: row["silhouette"])["n_clusters"] == 3
    labels = KMeans(3, random_state=0, n_init=3).fit_predict(X)
    assert table["silhouette"][1] == pytest.approx(silhouette_samples(X, labels).mean())
    piped = k_curve(make_pipeline(ColumnScaler(), KMedoids()), X, [2, 3])
    assert piped["silhouette"][1] > piped["silhouette"][0]
    weight = np.where(y == 2, 0.0, 1.0)
    weighted = k_curve(KMeans(random_state=0), X, [2], sample_weight=weight)
    assert weighted["silhouette"][0] == pytest.approx(silhouette_samples(X[y < 2], y[y < 2]).mean(), rel=1e-2)
    with pytest.raises(ValueError, match="n_clusters=1 is not a whole number of at least 2"):
        k_curve(KMeans(), X, [1, 2])
    with pytest.raises(ValueError, match="n_clusters is empty"):
        k_curve(KMeans(), X, [])
    with pytest.raises(TypeError, match="ColumnScaler has no setting n_clusters"):
        k_curve(ColumnScaler(), X)
