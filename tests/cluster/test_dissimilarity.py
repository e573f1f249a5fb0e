"""Dissimilarities of KMedoids: by name, as functions that are compiled or not, and between rows of tables."""

import functools
import logging
import math

import numba
import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from tacit.cluster import KMedoids
from tacit.cluster.dissimilarity.gower import gower_parameters
from tacit.cluster.dissimilarity.metrics import METRICS, learn_parameters, make
from tacit.datasets import load_penguins, penguins_path

from ..zoo import gaussian_rows, some, with_missing


def matrix(metric, X, parameters=None, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    learned = learn_parameters(metric, parameters, X, weight)
    return make(metric, learned, X).square(X, np.arange(len(X)), 2)


@pytest.mark.parametrize("metric", sorted(set(METRICS) - {"gower", "precomputed"}))
def test_named_metrics_are_those_of_sklearn_and_scipy(metric):
    X = np.abs(gaussian_rows(n=300)) + 0.1
    X = X[:, :2] / 10 if metric == "haversine" else X
    if metric in ("dice", "jaccard", "yule", "rogerstanimoto", "sokalsneath"):
        X = np.hstack([X, X]) > 2
        X = X[(X.any(axis=1)) & ~X.all(axis=1)]
    D = matrix(metric, X.astype(float) if X.dtype == bool else X)
    if metric == "jensenshannon":
        expected = cdist(X, X, metric)
    else:
        expected = pairwise_distances(X, metric=metric)
    np.testing.assert_allclose(D, expected, atol=1e-6)
    np.testing.assert_array_equal(D, D.T)
    assert (D >= 0).all()


def test_parameters_of_metrics():
    X = gaussian_rows(n=50)
    np.testing.assert_allclose(matrix("minkowski", X, {"p": 3}), cdist(X, X, "minkowski", p=3))
    weight = np.random.default_rng(0).integers(1, 4, 50)
    for metric in ("seuclidean", "mahalanobis"):
        D = matrix(metric, X, weight=weight.astype(float))
        repeated = matrix(metric, np.repeat(X, weight, axis=0))
        first = np.cumsum(weight) - weight
        np.testing.assert_allclose(D, repeated[np.ix_(first, first)], rtol=1e-9)


def test_a_constant_column_tells_nothing():
    X = np.column_stack([np.arange(5.0), np.ones(5)])
    for metric in ("seuclidean", "mahalanobis", "gower"):
        assert KMedoids(2, metric=metric).fit(X).inertia_ == KMedoids(2, metric=metric).fit(X[:, :1]).inertia_ * (
            0.5 if metric == "gower" else 1.0
        )


def test_every_pair_is_asked_for_once():
    X, calls = np.arange(600.0).reshape(300, 2), []
    model = KMedoids(2, metric=lambda x, y: calls.append(1) or abs(x[0] - y[0])).fit(X)
    assert "called from Python" in model.metric_note_
    pairs, tried, assigned = 300 * 299 // 2, 36 + 64, 300 * 2
    assert len(calls) == pairs + tried + assigned


def canberra(x, y):
    total = 0.0
    for i in range(len(x)):
        total += abs(x[i] - y[i]) / (abs(x[i]) + abs(y[i]))
    return total


def minkowski(x, y, p=2.0, scale=1.0):
    return scale * np.sum(np.abs(x - y) ** p) ** (1 / p)


def cosine(x, y):
    return 1.0 - np.dot(x, y) / (np.linalg.norm(x) * np.linalg.norm(y))


@numba.njit
def compiled_already(x, y):
    return np.abs(x - y).max()


@pytest.mark.parametrize(
    ("function", "parameters", "metric"),
    [
        (canberra, None, "canberra"),
        (minkowski, None, "euclidean"),
        (minkowski, {"p": 1.0}, "cityblock"),
        (cosine, None, "cosine"),
        (compiled_already, None, "chebyshev"),
        (lambda x, y: np.sqrt(((x - y) ** 2).sum()), None, "euclidean"),
    ],
)
@pytest.mark.parametrize("dtype", some([np.float64, np.float32], [np.float64]))
def test_functions_are_compiled(function, parameters, metric, dtype):
    X = gaussian_rows(n=300).astype(dtype)
    ours = KMedoids(3, metric=function, metric_params=parameters).fit(X)
    named = KMedoids(3, metric=metric).fit(X)
    assert ours.metric_note_ == "compiled by numba"
    assert ours.inertia_ == pytest.approx(named.inertia_, rel=1e-5)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)
    np.testing.assert_allclose(ours.transform(X), cdist(X, ours.cluster_centers_, metric), rtol=1e-5, atol=1e-6)


def only_by_name(x, y, *, p):
    return np.sum(np.abs(x - y) ** p)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (math.dist, "TypeError"),
        (functools.partial(minkowski, p=2.0), "TypeError"),
        (lambda x, y: float(str(abs(x[0] - y[0]))) + {"a": len([*x])}.get("b", 0.0), "Error"),
    ],
)
def test_what_numba_cannot_compile_is_called(function, reason, caplog):
    X = gaussian_rows(n=40)
    with caplog.at_level(logging.INFO, "tacit"):
        model = KMedoids(3, metric=function).fit(X)
    assert model.metric_note_.startswith("called from Python, because numba cannot compile it")
    assert reason in model.metric_note_
    assert "called from Python" in caplog.text
    expected = np.array([[function(x, y) for y in X] for x in X])
    assert KMedoids(3, metric="precomputed").fit(expected).inertia_ == pytest.approx(model.inertia_)


def test_parameters_by_name_only_are_called():
    model = KMedoids(2, metric=only_by_name, metric_params={"p": 1}).fit(gaussian_rows(n=30))
    assert "can only be given by name" in model.metric_note_
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        KMedoids(2, metric=minkowski, metric_params={"q": 1}).fit(gaussian_rows(n=30))


SCALE = 1.0


def scaled(x, y):
    return SCALE * np.abs(x - y).sum()


def test_a_function_is_compiled_again_when_what_it_reads_has_changed(monkeypatch):
    X = gaussian_rows(n=30)
    once = KMedoids(2, metric=scaled).fit(X)
    assert KMedoids(2, metric=scaled).fit(X).inertia_ == once.inertia_
    monkeypatch.setitem(globals(), "SCALE", 10.0)
    again = KMedoids(2, metric=scaled).fit(X)
    assert again.inertia_ == pytest.approx(10 * once.inertia_)
    assert again.metric_note_ == "compiled by numba"
    columns = np.ones(4)
    closed = KMedoids(2, metric=lambda x, y: (columns * np.abs(x - y)).sum())
    first = closed.fit(X).inertia_
    columns *= 3.0
    assert closed.fit(X).inertia_ == pytest.approx(3 * first)


def test_other_values_of_numba_are_not_used(monkeypatch):
    from tacit.kernels import compiled as module

    def wrong(function):
        def between(A, B, extra, out):
            out[:] = 7.0

        return between, lambda A, extra, out: None

    monkeypatch.setattr(module, "compile_pairs", wrong)
    X = gaussian_rows(n=30)
    model = KMedoids(2, metric=scaled).fit(X)
    assert model.metric_note_ == "called from Python, because numba's version of it gives other values"
    assert model.inertia_ == pytest.approx(KMedoids(2, metric="cityblock").fit(X).inertia_)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x, y: abs(x[0] - y[0]) + (x[0] > y[0]),
            r"is not symmetric: it gives .* for rows .* use the mean of both",
        ),
        (
            lambda x, y: -abs(x[0] - y[0]),
            r"gives -\d.* between row 0 and row \d+: a dissimilarity must not be negative",
        ),
        (lambda x, y: np.nan * x[0], r"gives nan between row 0 and row 0: a dissimilarity must be a finite number"),
        (lambda x, y: 1.0 + abs(x[0] - y[0]), r"gives 1 between row 0 and itself; a dissimilarity must give 0"),
        (lambda x, y: None, r"returned None for a pair of rows, which is not a number"),
        (lambda x, y: x - y, r"returned .* which is not a number"),
    ],
)
def test_functions_that_are_no_dissimilarities(function, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(2, metric=function).fit(gaussian_rows(n=50))


def test_faults_of_functions_are_theirs():
    X = gaussian_rows(n=50)
    with pytest.raises(IndexError):
        KMedoids(2, metric=lambda x, y: abs(x[9] - y[9])).fit(X)

    def writes(x, y):
        x[0] = 0.0
        return abs(x[1] - y[1])

    with pytest.raises(ValueError, match="read-only"):
        KMedoids(2, metric=writes).fit(X)
    X[7, 0] = X[31, 0] = 0.0

    def rarely_negative(x, y):
        return np.abs(x - y).sum() - 1e3 * ((x[0] == 0.0) & (y[0] == 0.0) & (x[1] != y[1]))

    with pytest.raises(
        ValueError, match=r"between row (7 and row 31|31 and row 7): a dissimilarity must not be negative"
    ):
        KMedoids(2, metric=rarely_negative).fit(X)


# Gower


def test_gower_by_hand():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(
        {"size": [0.0, 5.0, 10.0, np.nan], "colour": ["red", "blue", "red", None], "old": [True, True, False, True]}
    )
    model = KMedoids(1, metric="gower").fit(table)
    D = {
        (0, 1): (0.5 + 1 + 0) / 3,
        (0, 2): (1 + 0 + 1) / 3,
        (1, 2): (0.5 + 1 + 1) / 3,
        (0, 3): 0.0,
        (1, 3): 0.0,
        (2, 3): 1.0,
    }
    (medoid,) = model.medoid_indices_
    expected = [0.0 if i == medoid else D[min(i, medoid), max(i, medoid)] for i in range(4)]
    np.testing.assert_allclose(model.transform(table)[:, 0], expected)
    assert medoid == 0  # row 3 would be nearer to all, for so little is known of it
    assert model.inertia_ == pytest.approx(sum(expected))
    assert model.medoids_["colour"].tolist() == ["red"]
    weighted = KMedoids(4, metric="gower", metric_params={"weights": [2, 1, 0]}).fit(table)
    order = np.argsort(weighted.medoid_indices_)
    np.testing.assert_allclose(weighted.transform(table)[0, order[:3]], [0, (2 * 0.5 + 1) / 3, 2 / 3])


def test_rows_without_a_common_column_are_as_far_as_random_ones():
    X = np.array([[0.0, np.nan], [np.nan, 1.0], [4.0, 3.0], [2.0, 1.0]])
    parameters = gower_parameters(None, X, np.ones(4))
    gaps = [np.abs(np.subtract.outer(c, c)).mean() / np.ptp(c) for c in (X[[0, 2, 3], 0], X[1:, 1])]
    assert parameters["unknown"] == pytest.approx(np.mean(gaps))
    assert make("gower", parameters, X).between(X[:1], X[1:2])[0, 0] == parameters["unknown"]
    variances = X[[0, 2, 3], 0].var() + X[1:, 1].var()
    assert matrix("nan_euclidean", X)[0, 1] == pytest.approx(np.sqrt(2 * variances))


def test_gower_of_numbers_is_scaled_cityblock_and_takes_categories_by_number():
    X = gaussian_rows(n=60)
    scaled = cdist(X / np.ptp(X, axis=0), X / np.ptp(X, axis=0), "cityblock") / 4
    learned = gower_parameters(None, X, np.ones(60))
    np.testing.assert_allclose(make("gower", learned, X).between(X, X), scaled)
    X[:, 1] = np.random.default_rng(0).integers(3, size=60)
    X[:, 3] = 5.0  # a constant column tells nothing
    learned = gower_parameters({"categorical": [1]}, X, np.ones(60))
    D = make("gower", learned, X).between(X, X)
    gaps = np.abs(X[:, None] - X) / np.array([np.ptp(X[:, 0]), 1, np.ptp(X[:, 2]), 1])
    gaps[:, :, 1] = X[:, None, 1] != X[:, 1]
    np.testing.assert_allclose(D, gaps.mean(axis=2))


def test_penguins_as_tables_of_every_kind():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = ["island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "sex"]
    frame = pd.read_csv(penguins_path())[columns]
    model = KMedoids(3, metric="gower").fit(frame)
    assert model.medoids_.columns.tolist() == columns
    expected = frame.iloc[model.medoid_indices_].reset_index(drop=True)
    pd.testing.assert_frame_equal(model.medoids_, expected, check_dtype=False)
    assert model.medoids_.notna().all().all()  # two penguins of which only the island is known are nobody's medoids
    cells = frame.astype(object).where(frame.notna(), None)
    for table in (pl.from_pandas(frame), pa.Table.from_pandas(frame), cells.to_numpy(), cells.to_numpy().tolist()):
        same = KMedoids(3, metric="gower").fit(table)
        assert same.inertia_ == pytest.approx(model.inertia_)
        np.testing.assert_array_equal(same.medoid_indices_, model.medoid_indices_)
        np.testing.assert_array_equal(same.predict(table), model.labels_)
    with pytest.raises(ValueError, match="holds 'Mars', which was not there at fit"):
        model.predict(frame.assign(island="Mars"))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.drop(columns="sex"))


def test_gower_finds_penguins():
    pd = pytest.importorskip("pandas")
    frame = pd.read_csv(penguins_path())
    _, species, columns = load_penguins()
    for more in ([], ["island"], ["island", "sex"]):
        model = KMedoids(3, metric="gower").fit(frame[columns + more])
        assert adjusted_rand_score(species, model.labels_) > 0.5


def test_holes_with_nan_euclidean():
    X = with_missing(gaussian_rows(n=200))
    model = KMedoids(3, metric="nan_euclidean").fit(X)
    whole = ~np.isnan(X).any(axis=1)
    np.testing.assert_allclose(
        model.transform(X[whole])[:, 0],
        pairwise_distances(X[whole], model.cluster_centers_, metric="nan_euclidean")[:, 0],
    )


def plain_gower(rows, kinds, weights):
    """Σ w δ gap / Σ w δ by its definition; ranks and ranges from all rows."""
    n, out = len(rows), {}
    columns = list(zip(*rows))
    scaled = []
    for column, kind in zip(columns, kinds):
        seen = sorted({cell for cell in column if cell is not None})
        place = {cell: i / (len(seen) - 1) if kind == "ranks" else cell for i, cell in enumerate(seen)}
        width = 1.0 if kind == "ranks" else (seen[-1] - seen[0] if kind == "number" else None)
        scaled.append(([None if cell is None else place[cell] for cell in column], width))
    for i in range(n):
        for j in range(n):
            total = counted = 0.0
            for (cells, width), kind, w in zip(scaled, kinds, weights):
                a, b = cells[i], cells[j]
                if a is None or b is None or (kind == "asymmetric" and not a and not b):
                    continue
                counted += w
                total += w * (abs(a - b) / width if width else float(a != b))
            out[i, j] = total / counted if counted else None
    return out


def test_gower_with_ranks_dates_and_asymmetric_columns():
    rows = [  # size, grade, date, symptom, colour, steps
        (1.0, "low", 0, True, "red", 1.0), (3.0, "high", 31, False, "blue", 100.0), (None, "low", 59, False, "red", 10.0),
        (2.0, "middle", None, True, "green", 1.0), (9.0, None, 10, False, "blue", 1000.0), (4.0, "high", 3, None, "red", None),
    ]  # fmt: skip
    size, grade, days, symptom, colour, steps = map(list, zip(*rows))
    table = pd.DataFrame({
        "size": size, "grade": pd.Categorical(grade, ["low", "middle", "high"], ordered=True),
        "date": [pd.NaT if day is None else pd.Timestamp("2024-01-01") + pd.Timedelta(days=day) for day in days],
        "symptom": pd.array(symptom, dtype="boolean"), "colour": colour, "steps": steps,
    })  # fmt: skip
    weights = [2.0, 1.0, 1.0, 3.0, 1.0, 1.0]
    settings = {"asymmetric": ["symptom"], "ordered": ["steps"], "weights": weights}
    model = KMedoids(2, metric="gower", metric_params=settings, medoid_candidates=[0, 1, 4]).fit(table)
    codes = {"low": 0, "middle": 1, "high": 2, None: None}
    coded = [(a, codes[b], c, d, e, f) for a, b, c, d, e, f in rows]
    expected = plain_gower(coded, ["number", "ranks", "number", "asymmetric", "level", "ranks"], weights)
    found = model.transform(table)
    for i in range(6):
        for k, medoid in enumerate(model.medoid_indices_):
            assert found[i, k] == pytest.approx(expected[i, medoid])
    assert set(model.medoid_indices_) <= {0, 1, 4}
    assert model.schema_.columns[2].type == "date"
    np.testing.assert_array_equal(model.metric_params_["asymmetric"], [False, False, False, True, False, False])
    # Of two rows that lack the same things nothing else is known: they are equal as far as is known.
    told = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    parameters = gower_parameters({"asymmetric": [0, 1]}, told, np.ones(3))
    np.testing.assert_array_equal(make("gower", parameters, told).between(told, told), 1.0 - np.eye(3))
    ranked = KMedoids(3, metric="gower", metric_params={"ordered": [0]}).fit([[1.0], [10.0], [1000.0], [10.0]])
    np.testing.assert_allclose(np.sort(ranked.transform([[1.0], [10.0]]), axis=1), [[0.0, 0.5, 1.0], [0.0, 0.5, 0.5]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"asymmetric": ["a"]}, "column 'a' is said to be asymmetric, but holds 3 values or numbers other than 0 and 1"),
        ({"ordered": ["b"]}, r"column 'b' is said to be ordered, but nothing tells the order of its levels \('x', 'y'\)"),
        ({"ranks": ["a"]}, "metric_params holds 'ranks', which metric='gower' does not know; it takes 'categorical', 'ordered'"),
        ({"ordered": ["z"]}, "'z'"),
    ],
)  # fmt: skip
def test_kinds_of_columns_that_cannot_be(settings, message):
    table = pd.DataFrame({"a": [0.0, 1.0, 2.0, 2.0], "b": ["x", "y", "x", "y"]})
    with pytest.raises(ValueError, match=message):
        KMedoids(2, metric="gower", metric_params=settings).fit(table)
