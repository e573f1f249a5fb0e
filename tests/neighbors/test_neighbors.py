"""Nearest neighbours: every search finds what all pairs tell, equal distances by number; costly metrics; bad input."""

import re
import sysconfig
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import haversine_distances
from sklearn.neighbors import KNeighborsClassifier as Theirs

import tacit
from tacit.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    choice,
)
from tacit.neighbors import brute as brute_search

ELIMINATING = ("orchard", "aesa", "laesa")


def plainly(D, k, own=None):
    """The k least of each row of distances, equal ones by number."""
    D = D.copy()
    if own is not None:
        D[np.arange(len(D)), own] = np.inf
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


def rows_of(kind, rng, n=120):
    """Rows on which searches go wrong."""
    X = rng.normal(size=(n, 3))
    return {
        "plain": X,
        "ties": rng.integers(0, 4, size=(n, 3)).astype(float),
        "equal": np.ones((n, 3)),
        "constant columns": np.column_stack([X[:, 0], np.full((n, 2), 7.0)]),
        "far off": 1e7 + np.round(X, 3),
        "far groups": np.where(np.arange(n)[:, None] % 2, 1e6, -1e6) + np.round(X, 2) * 1e-2,
        "an outlier": np.vstack([X[1:], np.full((1, 3), 1e9)]),
        "single precision": X.astype(np.float32),
        "tiny": X * 1e-140,
    }[kind]


METRICS = {
    "euclidean": {}, "cityblock": {}, "chebyshev": {}, "minkowski": {"p": 3}, "canberra": {}, "hamming": {},
    "seuclidean": {"V": np.array([1.0, 4.0, 0.25])},
}  # fmt: skip


KINDS = (
    "plain",
    "ties",
    "equal",
    "constant columns",
    "far off",
    "far groups",
    "an outlier",
    "single precision",
    "tiny",
)
OFTEN = {("ties", metric) for metric in METRICS} | {(kind, "euclidean") for kind in KINDS}


@pytest.mark.parametrize(
    ("kind", "metric"),
    [
        pytest.param(kind, metric, marks=() if (kind, metric) in OFTEN else pytest.mark.full)
        for kind in KINDS
        for metric in METRICS
        if (kind, metric) != ("tiny", "minkowski")  # third powers of 1e-140 are 0
    ],
)
def test_every_search_finds_what_all_pairs_tell(metric, kind, rng):
    X = rows_of(kind, rng)
    Q = np.vstack([X[::10], rows_of(kind, rng)[:8]])
    params = METRICS[metric] if metric != "minkowski" else {}
    settings = {"metric": metric, "metric_params": params or None, "p": 3 if metric == "minkowski" else 2}
    points = metric not in ("canberra", "hamming")
    brute = NearestNeighbors(algorithm="brute", **settings).fit(X)
    D = brute._searching().metric.between(*map(brute._searching().metric.points, (Q, X)))
    np.testing.assert_allclose(D, cdist(Q, X, metric, **METRICS[metric]), rtol=1e-9, atol=1e-9 * D.max())
    own = cdist(X, X, metric, **METRICS[metric])
    for algorithm in ("brute", *(["kd_tree"] if points else []), "ball_tree", *ELIMINATING, "auto"):
        model = NearestNeighbors(algorithm=algorithm, leaf_size=5, n_buoys=6, **settings).fit(X)
        for k in (1, 7):
            distances, numbers = model.kneighbors(Q, k)
            expected = plainly(D, k)
            np.testing.assert_array_equal(distances, expected[0], err_msg=algorithm)
            np.testing.assert_array_equal(numbers, expected[1], err_msg=algorithm)
            assert 0 < model.n_distances_ <= D.size
        distances, numbers = model.kneighbors(None, 4)
        np.testing.assert_allclose(distances, plainly(own, 4, np.arange(len(X)))[0], rtol=1e-9, atol=1e-9 * own.max())
        assert (numbers != np.arange(len(X))[:, None]).all()
        radius = np.quantile(D, 0.1)
        near, numbers = model.radius_neighbors(Q, radius)
        for i in range(len(Q)):
            np.testing.assert_array_equal(numbers[i], np.flatnonzero(D[i] <= radius), err_msg=algorithm)
            np.testing.assert_array_equal(near[i], D[i, numbers[i]])


@pytest.mark.parametrize("kind", ["plain", "ties", "equal", "far off", "far groups", "an outlier", "single precision"])
def test_products_only_screen_pairs(kind, rng, monkeypatch):
    """In blocks of any size and on any number of threads."""
    monkeypatch.setattr(brute_search, "FEW", 0)
    X, Q = np.hstack([rows_of(kind, rng, 5000)] * 4), np.hstack([rows_of(kind, rng, 400)] * 4)
    D = cdist(np.float64(Q), np.float64(X))
    model = NearestNeighbors(algorithm="brute", n_jobs=2).fit(X)
    distances, numbers = model.kneighbors(Q, 9)
    assert not model._searching()._few
    np.testing.assert_allclose(distances, plainly(D, 9)[0], rtol=1e-12)
    exact = plainly(model._searching().metric.between(Q, X), 9)
    np.testing.assert_array_equal(numbers, exact[1])
    np.testing.assert_array_equal(distances, exact[0])
    alone = [NearestNeighbors(algorithm="brute", n_jobs=1).fit(X).kneighbors(Q[i : i + 150], 9) for i in (0, 150, 300)]
    np.testing.assert_array_equal(np.vstack([each[1] for each in alone]), numbers)
    radius = float(np.quantile(D, 0.01))
    near = model.radius_neighbors_graph(Q, radius, mode="distance")
    assert near.nnz == (model._searching().metric.between(Q, X) <= radius).sum()


def test_far_queries_are_not_lost(rng, monkeypatch):
    monkeypatch.setattr(brute_search, "FEW", 0)
    X = rng.normal(size=(6000, 3))
    Q = np.vstack([rng.normal(size=(3, 3)) * 1e30, [[1e-300, 0.0, 0.0]]])
    distances, _ = NearestNeighbors(algorithm="brute").fit(X).kneighbors(np.repeat(Q, 5, axis=0), 2)
    np.testing.assert_allclose(distances[::5], plainly(cdist(Q, X), 2)[0])


@pytest.mark.parametrize("metric", ["cosine", "correlation", "sqeuclidean", "mahalanobis"])
def test_points_of_other_dissimilarities(metric, rng):
    X, Q = rng.normal(size=(400, 5)), rng.normal(size=(40, 5))
    X[3] = X[4]
    model = NearestNeighbors(metric=metric, algorithm="brute").fit(X)
    params = {key: model.metric_params_[key] for key in model.metric_params_}
    expected = plainly(cdist(Q, X, metric, **params), 5)
    for algorithm in ("brute", "kd_tree"):
        distances, numbers = NearestNeighbors(metric=metric, algorithm=algorithm).fit(X).kneighbors(Q, 5)
        np.testing.assert_allclose(distances, expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(numbers, expected[1])
    if metric == "cosine":  # a row of zeros is at a right angle to all
        zero = NearestNeighbors(metric=metric).fit(np.vstack([X, np.zeros(5)]))
        np.testing.assert_allclose(zero.kneighbors(np.zeros((1, 5)), 2)[0], [[0.0, 1.0]], atol=1e-12)


def test_haversine_by_buoys(rng):
    X = np.column_stack([rng.uniform(-1.5, 1.5, 300), rng.uniform(-3, 3, 300)])
    model = NearestNeighbors(metric="haversine", algorithm="ball_tree", n_neighbors=3).fit(X[:250])
    distances, numbers = model.kneighbors(X[250:])
    expected = plainly(haversine_distances(X[250:], X[:250]), 3)
    np.testing.assert_allclose(distances, expected[0], atol=1e-12)
    np.testing.assert_array_equal(numbers, expected[1])
    assert model._fit_method == "ball_tree"
    assert model.n_distances_ < 0.5 * 50 * 250


# Texts and costly metrics


def english(n):
    """Words of the standard library's sources, in an order drawn once."""
    found = set()
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        found |= set(re.findall(r"(?<![A-Za-z_])[a-z]{3,}(?![A-Za-z_])", path.read_text("utf-8", errors="ignore")))
    words = sorted(found)
    return [words[i] for i in np.random.default_rng(0).permutation(len(words))[:n]]


def edits(a, b):
    """The edit distance, by its definition."""
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


def test_edit_distance(rng):
    words = ["", "a", "ab", "ba", "naïve", "naive", "😀x", "x😀"] + [
        "".join(rng.choice(list("abc"), size=rng.integers(1, 8))) for _ in range(40)
    ]
    D = np.array([[edits(a, b) for b in words] for a in words], dtype=float)
    for algorithm in ("brute", *ELIMINATING):
        model = NearestNeighbors(n_neighbors=5, metric="edit", algorithm=algorithm, n_buoys=4).fit(words[:30])
        distances, numbers = model.kneighbors(words)
        expected = plainly(D[:, :30], 5)
        np.testing.assert_array_equal(distances, expected[0])
        np.testing.assert_array_equal(numbers, expected[1])
    assert KNeighborsClassifier(1, metric="levenshtein").fit(words, words).predict(["nave", "naives"]).tolist() == [
        "naïve",
        "naive",
    ]


MOST = {"aesa": (0.02, 0.01), "laesa": (0.12, 0.05), "orchard": (0.3, 0.2)}


@pytest.mark.parametrize(
    "algorithm",
    ["aesa", pytest.param("laesa", marks=pytest.mark.full), pytest.param("orchard", marks=pytest.mark.full)],
)
def test_few_of_the_distances_between_words_are_computed(algorithm):
    """5,000 words and the nearest one: of words not among them, and of misspelt ones. AESA needs less than a fiftieth."""
    words = english(5100)
    known, unknown = words[:5000], words[5000:]
    rng = np.random.default_rng(1)
    misspelt = [word[:at] + word[at + 1 :] for word in known[:100] for at in [rng.integers(len(word))]]
    brute = NearestNeighbors(n_neighbors=1, metric="edit", algorithm="brute").fit(known)
    model = NearestNeighbors(n_neighbors=1, metric="edit", algorithm=algorithm).fit(known)
    for queries, most in zip((unknown, misspelt), MOST[algorithm]):
        expected = brute.kneighbors(queries)
        for mine, theirs in zip(model.kneighbors(queries), expected):
            np.testing.assert_array_equal(mine, theirs)
        assert brute.n_distances_ == 5000 * len(queries)
        assert model.n_distances_ <= most * brute.n_distances_
    if algorithm == "aesa":
        assert model.n_distances_fit_ == 5000 * 4999 / 2
        assert model.kneighbors()[1].shape == (5000, 1)
        assert model.n_distances_ == 0  # a row's distances are known


@pytest.mark.parametrize("algorithm", ELIMINATING)
def test_broken_triangles_are_told(algorithm, rng):
    X = rng.normal(size=(200, 2))
    model = NearestNeighbors(n_neighbors=2, metric="sqeuclidean", algorithm=algorithm).fit(X)
    with pytest.warns(UserWarning, match=r"metric='sqeuclidean' is no metric: of rows (\d+) and (\d+) .*d\(q") as seen:
        model.kneighbors(rng.normal(size=(30, 2)))
    assert len(seen) == 1
    b, j = map(int, re.search(r"of rows (\d+) and (\d+) of the fit", str(seen[0].message)).groups())
    between, first, second = map(float, re.findall(r"= ([\d.e+-]+\d)", str(seen[0].message)))
    assert between == pytest.approx(((X[b] - X[j]) ** 2).sum(), rel=1e-4)
    assert max(between, first, second) > sum((between, first, second)) - max(between, first, second)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NearestNeighbors(n_neighbors=2, algorithm=algorithm).fit(X).kneighbors(rng.normal(size=(30, 2)))


def test_functions_are_compiled_where_they_are_called_often(rng):
    X = rng.normal(size=(600, 4))

    def gap(x, y, power=1.0):
        total = 0.0
        for j in range(len(x)):
            total += abs(x[j] - y[j]) ** power
        return total ** (1.0 / power)

    few = NearestNeighbors(metric=gap, metric_params={"power": 2.0}).fit(X[:30])
    np.testing.assert_allclose(few.kneighbors(X[:9])[0], plainly(cdist(X[:9], X[:30]), 5)[0], atol=1e-12)
    assert few._searching().metric.note.startswith("called from Python")
    for algorithm in ("brute", *ELIMINATING):
        many = NearestNeighbors(metric=gap, metric_params={"power": 2.0}, algorithm=algorithm).fit(X[:500])
        many.kneighbors(X)
        np.testing.assert_allclose(many.kneighbors(X)[0], plainly(cdist(X, X[:500]), 5)[0], atol=1e-9)
    assert NearestNeighbors(metric=gap, algorithm="brute").fit(X).kneighbors(np.tile(X, (9, 1)))[0].shape == (5400, 5)


def test_what_is_chosen_by_cost(monkeypatch, rng):
    assert NearestNeighbors().fit(rng.normal(size=(1000, 2)))._fit_method == "brute"
    assert NearestNeighbors().fit(rng.normal(size=(20_000, 2)))._fit_method == "kd_tree"
    assert NearestNeighbors().fit(rng.normal(size=(3000, 60)))._fit_method == "brute"
    words = english(2000)
    monkeypatch.setattr(choice, "COSTLY", 0.0)  # a distance that costs anything
    assert NearestNeighbors(metric="edit").fit(words)._fit_method in ("brute", "laesa")
    line = rng.normal(size=(1500, 1))
    assert NearestNeighbors(metric="canberra").fit(10 + line)._fit_method == "laesa"
    assert NearestNeighbors(metric="braycurtis").fit(10 + line)._fit_method == "brute"  # keeps no triangle
    far = NearestNeighbors(metric=lambda x, y: abs(x[0] - y[0]) ** 2).fit(line)
    assert far._fit_method == "brute"


# Missing cells and mixed tables


def test_gower_and_missing_cells(rng):
    table = pd.DataFrame(
        {
            "size": [1.0, 1.2, None, 5.0, 5.1, 4.9],
            "sort": ["a", "a", "a", "b", "b", None],
            "rank": pd.Categorical(["low", "low", "mid", "high", None, "high"], ["low", "mid", "high"], ordered=True),
        }
    )
    y = ["small", "small", "small", "large", "large", "large"]
    model = KNeighborsClassifier(2, metric="gower").fit(table, y)
    assert model.predict(table).tolist() == y
    asked = pd.DataFrame(
        {"size": [1.1, None], "sort": [None, "b"], "rank": pd.Categorical([None, "high"], ["low", "mid", "high"])}
    )
    assert model.predict(asked).tolist() == ["small", "large"]
    with pytest.warns(UserWarning, match="'c', which was not there at fit"):
        assert model.predict(asked.assign(sort=["c", "b"])).tolist() == ["small", "large"]
    with pytest.raises(ValueError, match="column 'size' has no observed value"):
        KNeighborsClassifier(metric="gower").fit(table.assign(size=np.nan), y)

    X = rng.normal(size=(80, 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    model = NearestNeighbors(metric="nan_euclidean").fit(X[:60])
    gaps = (X[60:, None] - X[None, :60]) ** 2
    seen = (~np.isnan(gaps)).sum(axis=2)
    D = np.sqrt(np.nansum(gaps, axis=2) / np.maximum(seen, 1) * 4)
    D[seen == 0] = model.metric_params_["unknown"]
    np.testing.assert_allclose(model.kneighbors(X[60:])[0], plainly(D, 5)[0])
    with pytest.raises(
        ValueError, match=r"Input X contains NaN \(row 0, column 1\), which metric='minkowski' cannot handle"
    ):
        NearestNeighbors().fit([[0.0, np.nan], [1.0, 2.0]])
    empty = np.column_stack([X[:, 0], np.full(80, np.nan)])
    found = NearestNeighbors(metric="nan_euclidean").fit(empty)
    assert np.isfinite(found.kneighbors(empty)[0]).all()


# Saving, and bad input


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "aesa", "laesa", "orchard"])
def test_saved_models_find_the_same(algorithm, tmp_path, rng):
    X = rng.normal(size=(60, 3))
    model = KNeighborsRegressor(3, weights="distance", algorithm=algorithm, n_buoys=5).fit(X, X @ [1.0, 2.0, 3.0])
    tacit.save(model, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(again.predict(X + 0.1), model.predict(X + 0.1))
    assert again.n_distances_ == model.n_distances_
    assert again.n_distances_fit_ == model.n_distances_fit_


def test_texts_targets_and_sparse_rows_are_saved(tmp_path, rng):
    words = NearestNeighbors(n_neighbors=1, metric="edit", algorithm="aesa").fit(["latent", "patent"])
    several = KNeighborsClassifier(1).fit([[0.0], [1.0]], [["a", "x"], ["b", "y"]])
    given = NearestNeighbors(n_neighbors=1, metric="precomputed").fit(
        words.kneighbors_graph(["latent", "patent"], 2, "distance")
    )
    outliers = RadiusNeighborsClassifier(1.0, outlier_label="c").fit([[0.0], [1.0]], ["a", "b"])
    for name, model, asked in (
        ("words", words, ["parent"]), ("several", several, [[0.9]]), ("given", given, [[1.0, 0.0]]), ("out", outliers, [[9.0]]),
    ):  # fmt: skip
        tacit.save(model, tmp_path / name)
        ask = model.predict if hasattr(model, "predict") else model.kneighbors
        again = tacit.load(tmp_path / name)
        np.testing.assert_array_equal(
            (again.predict if hasattr(again, "predict") else again.kneighbors)(asked), ask(asked)
        )


def test_bad_input(rng):
    X, y = rng.normal(size=(6, 2)), [0, 0, 0, 1, 1, 1]
    model = KNeighborsClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"n_neighbors = 7, n_samples_fit = 6, n_samples = 6; use at most 6"):
        KNeighborsClassifier(7).fit(X, y).predict(X)
    with pytest.raises(ValueError, match=r"Expected n_neighbors < n_samples_fit, but n_neighbors = 6.*use at most 5"):
        model.kneighbors(None, 6)
    with pytest.raises(ValueError, match="n_neighbors=0 is not a whole number of at least 1"):
        KNeighborsClassifier(0).fit(X, y)
    with pytest.raises(ValueError, match="algorithm='octree' is unknown"):
        KNeighborsClassifier(algorithm="octree").fit(X, y)
    with pytest.raises(ValueError, match="metric='euklid' is unknown"):
        KNeighborsClassifier(metric="euklid").fit(X, y)
    with pytest.raises(ValueError, match="weights='most' is unknown"):
        KNeighborsClassifier(weights="most").fit(X, y)
    with pytest.raises(ValueError, match="leaf_size=0"):
        KNeighborsClassifier(leaf_size=0).fit(X, y)
    with pytest.raises(ValueError, match="n_buoys=0"):
        KNeighborsClassifier(n_buoys=0).fit(X, y)
    with pytest.raises(ValueError, match="p=0 is not a number above 0"):
        KNeighborsClassifier(p=0).fit(X, y)
    with pytest.raises(ValueError, match="X has 6 rows and y 5; KNeighborsRegressor takes one target"):
        KNeighborsRegressor().fit(X, y[:5])
    with pytest.raises(ValueError, match=r"metric_params\['w'\]=\[1.0\] must be 2 numbers"):
        KNeighborsRegressor(metric="minkowski", metric_params={"w": [1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="radius=-1"):
        RadiusNeighborsRegressor(radius=-1).fit(X, y)
    with pytest.raises(ValueError, match="compares texts, but row 1 of X is missing"):
        NearestNeighbors(metric="edit").fit(["a", None])
    with pytest.raises(ValueError, match="compares texts, but row 0 of X is 3"):
        NearestNeighbors(metric="edit").fit([3, "a"])
    with pytest.raises(ValueError, match="is not symmetric: it gives"):
        NearestNeighbors(metric=lambda x, y: max(x[0] - y[0], 0.0), algorithm="aesa").fit(X)
    with pytest.raises(ValueError, match=r"gives -\d"):
        NearestNeighbors(metric=lambda x, y: -abs(x[0] - y[0]) - 1.0).fit(X).kneighbors(X)
    with pytest.raises(ValueError, match="distances of each row to the 6 rows of the fit"):
        NearestNeighbors(metric="precomputed").fit(cdist(X, X)).kneighbors(np.ones((2, 5)))
    with pytest.raises(ValueError, match=r"gives an array of shape \(2,\) for distances of shape \(6, 5\)"):
        KNeighborsClassifier(weights=lambda d: d[0, :2]).fit(X, y).predict(X)


def test_defaults_predict_as_scikit_learn_does(rng):
    """Where no two distances are equal."""
    for n, d in ((20, 2), (150, 4), (600, 30)):
        X, Q = rng.normal(size=(n, d)), rng.normal(size=(50, d))
        y = rng.integers(0, 3, n)
        ours, theirs = KNeighborsClassifier().fit(X, y), Theirs().fit(X, y)
        np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q))
        np.testing.assert_allclose(ours.predict_proba(Q), theirs.predict_proba(Q))
        assert ours.score(None, y) == theirs.score(None, y)


@pytest.mark.parametrize("metric", ["nan_euclidean", "gower"])
def test_queries_without_observed_cells_are_answered_by_all_rows(metric):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    X[7] = np.nan
    queries = np.vstack([X[:2], [[np.nan, np.nan]]])
    model, classes = KNeighborsRegressor(3, metric=metric), KNeighborsClassifier(3, metric=metric)
    with pytest.warns(UserWarning, match="row 2 of X has no observed cell: .* predicted from all"):
        found = model.fit(X, y).predict(queries)
    with pytest.warns(UserWarning, match="row 2 of X has no observed cell"):
        shares = classes.fit(X, y > 0).predict_proba(queries)
    np.testing.assert_allclose(found[2], y.mean())
    np.testing.assert_allclose(shares[2, 1], (y > 0).mean())
    np.testing.assert_array_equal(found[:2], model.predict(queries[:2]))
    np.testing.assert_array_equal(shares[:2], classes.predict_proba(queries[:2]))
    with pytest.warns(UserWarning, match="row 7 of X"):
        np.testing.assert_allclose(model.predict(None)[7], np.delete(y, 7).mean())
    with pytest.warns(UserWarning, match="row 0 of X and 1 more have no observed cell"):
        model.kneighbors(queries[[2, 2]])


def test_levels_that_were_not_there_at_fit_are_missing():
    table = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "s": ["u", "u", "v", "v"]})
    model = KNeighborsRegressor(1, metric="gower").fit(table, [0.0, 1.0, 2.0, 3.0])
    with pytest.warns(UserWarning, match="column 's' holds 'w', which was not there at fit .* taken as missing"):
        found = model.predict(pd.DataFrame({"a": [2.1], "s": ["w"]}))
    assert found.tolist() == model.predict(pd.DataFrame({"a": [2.1], "s": [None]})).tolist() == [2.0]


@pytest.mark.parametrize(("y", "message"), [
    (["a", "b", "b"], r"y holds 'a' \(row 0\), but KNeighborsRegressor predicts numbers; use KNeighborsClassifier"),
    (np.array([[0, "b"], [1.0, "b"], [1.0, "b"]], dtype=object), r"y holds 'b' \(row 0\)"),
    ([0.0, np.nan, 1.0], r"NaN \(row 1\); leave out rows whose target is missing \(1\)"),
])  # fmt: skip
def test_targets_that_are_no_numbers_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        KNeighborsRegressor(1).fit([[0.0], [1.0], [2.0]], y)


def test_messages_name_the_class_and_a_remedy_that_helps():
    for cls in (KNeighborsClassifier, KNeighborsRegressor, RadiusNeighborsClassifier, RadiusNeighborsRegressor):
        with pytest.raises(TypeError, match=f"{cls.__name__}.fit.* 'sample_weight'"):
            cls().fit([[0.0], [1.0]], [0, 1], sample_weight=[1, 1])
    with pytest.raises(ValueError, match="fit at least 2 rows, or give queries"):
        KNeighborsRegressor(1).fit([[0.0]], [0.0]).predict(None)
