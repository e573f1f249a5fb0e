"""Tables that ship with the library hold what their publishers say; generators know the truth; loaders name what they miss."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tacit.datasets import (
    DATASETS,
    Dataset,
    catalogue,
    load,
    load_ap,
    load_california,
    load_faces,
    load_giss,
    load_movielens,
    load_newsgroups,
    load_spambase,
    load_table,
    load_usps,
    make_factors,
    make_missing,
    make_mixed_table,
    make_outliers,
    make_ratings,
    penguins_path,
)
from tacit.mixture import Mixture


def test_giss():
    year, anomaly, columns = load_giss()
    assert columns == ["land_ocean", "land"]
    np.testing.assert_array_equal(year, np.arange(1880, 2016))
    np.testing.assert_array_equal(anomaly[0], [-0.20, -0.53])
    normal = (year >= 1951) & (year <= 1980)
    np.testing.assert_allclose(anomaly[normal].mean(axis=0), 0.0, atol=5e-4)
    assert 10 * np.polyfit(year, anomaly, 1)[0] == pytest.approx([0.06984, 0.09733], abs=5e-6)


def test_earthquakes():
    found = load("earthquakes")
    np.testing.assert_array_equal(found.X[:, 0], np.arange(1900, 2007))
    assert found.X[:, 1].mean() == pytest.approx(19.3645, abs=5e-5)
    assert found.X[:, 1].var(ddof=1) == pytest.approx(51.5734, abs=5e-5)


# The registry


@pytest.mark.parametrize("name", [name for name, entry in DATASETS.items() if entry.kind != "path"])
def test_every_set_says_what_it_is(name):
    found, entry = load(name), DATASETS[name]
    assert isinstance(found, Dataset)
    assert found.description
    assert entry.licence
    assert len(found.columns) == found.X.shape[1]
    if entry.rows is not None:
        given = found.X.shape[1] + (name == "penguins")  # the species is the target
        assert (len(found.X), given) == (entry.rows, entry.columns)
    assert found.target is None or len(found.target) == len(found.X)
    assert str(len(found.X)) in repr(found)


def test_the_catalogue_lists_all():
    assert [row["name"] for row in catalogue()] == list(DATASETS)
    assert {row["kind"] for row in catalogue()} == {"shipped", "scikit-learn", "path", "generator"}


def test_written_tables_are_read_back(tmp_path):
    iris = load("iris")
    iris.write_csv(tmp_path / "iris.csv")
    again = load_table(tmp_path / "iris.csv", target="target")
    np.testing.assert_array_equal(again.X, iris.X)
    assert again.target.tolist() == [iris.more["target_names"][code] for code in iris.target]
    mixed = make_mixed_table(60, missing=0.2, random_state=0)
    mixed.write_csv(tmp_path / "mixed.csv")
    again = load_table(tmp_path / "mixed.csv", target="group")
    assert [[str(cell) for cell in row] for row in again.X[:, -1:]] == [
        [str(cell) for cell in row] for row in mixed.X[:, -1:]
    ]
    assert load_table(penguins_path(), target="species").X.tolist() == load("penguins").X.tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load("titanic"), "there is no data set 'titanic'; there are penguins"),
        (lambda: load("movielens"), "movielens is not part of this library: get it from https://grouplens.org"),
        (lambda: load("iris", "here"), "iris is not read from a path"),
        (lambda: make_mixed_table(0), "n_rows=0 is not a whole number of at least 1"),
        (lambda: make_mixed_table(9, 2.5), "n_groups=2.5 is not a whole number"),
        (lambda: make_mixed_table(9, n_measurements=0, n_counts=0, n_categories=0), "ask for at least one column"),
        (lambda: make_mixed_table(9, missing=1.0), "share=1.0 is not a number from 0 to below 1"),
        (lambda: make_factors(9, 3, 3), "n_factors=3 leaves nothing to explain of 3 columns; use at most 2"),
        (lambda: make_factors(9, noise=0), "noise=0 is not a number above 0"),
        (lambda: make_outliers(9, share=1), "share=1 is not a number from 0 to below 1"),
        (lambda: make_ratings(9, 9, 9), "n_types=9 is more than there are genres; use at most 8"),
        (lambda: make_ratings(9, density=2), "density=2 is not a number of at least 0 and at most 1"),
        (lambda: make_missing(np.ones((3, 2)), 0.5, "never"), "mechanism='never' is unknown; use one of 'mcar'"),
        (lambda: make_missing(np.ones((3, 1)), 0.5, "mar"), "X has 1 column, by which no other can go missing"),
        (lambda: make_missing(np.ones(3)), "X has 1 dimension"),
    ],
)
def test_bad_requests(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


# Generators


def test_mixed_tables_have_the_groups_they_say():
    table = make_mixed_table(600, 3, separation=6.0, missing=0.1, random_state=0)
    assert {type(cell) for cell in table.X[:, 3]} == {int, type(None)}
    found = Mixture(3, random_state=0).fit(table.X).predict(table.X)
    assert adjusted_rand_score(table.target, found) > 0.9
    again = make_mixed_table(600, 3, separation=6.0, missing=0.1, random_state=0)
    assert (again.X == table.X).all()
    numbers = make_mixed_table(50, n_categories=0, random_state=0)
    assert numbers.X.dtype == np.float64
    complete = make_mixed_table(50, missing=0, random_state=0)
    assert (complete.more["complete"] == complete.X).all()


def test_factors_are_those_behind_the_columns():
    made = make_factors(20_000, 8, 2, noise=0.5, random_state=0)
    truth = made.more
    covariance = truth["loadings"] @ truth["loadings"].T + np.diag(truth["noise"] ** 2)
    np.testing.assert_allclose(np.cov(made.X.T), covariance, atol=4.0)
    np.testing.assert_array_equal(made.X, truth["complete"])


def test_outliers_lie_outside():
    made = make_outliers(2000, 3, 2, share=0.05, random_state=1)
    assert (made.target == -1).sum() == 100
    inside = made.X[made.target >= 0]
    centres = np.array([made.X[made.target == k].mean(axis=0) for k in (0, 1)])

    def nearest(X):
        return np.linalg.norm(X[:, None] - centres, axis=2).min(axis=1)

    assert np.median(nearest(made.X[made.target < 0])) > 4 * np.median(nearest(inside))


def test_ratings_follow_genres():
    made = make_ratings(400, 50, density=0.3, noise=0.5, random_state=0)
    user, item = (np.searchsorted(made.more[side], made.X[:, k]) for k, side in ((0, "users"), (1, "items")))
    own = made.more["user_type"][user] == made.more["genre"][item]
    assert made.target[own].mean() - made.target[~own].mean() > 1.5
    assert np.abs(np.clip(made.more["expected"], 1, 5) - made.target).mean() < 0.6
    assert len({tuple(pair) for pair in made.X}) == len(made.X)
    assert len(set(made.X[:, 0])) == 400
    assert 0.2 < len(made.X) / (400 * 50) < 0.35
    counts = np.sort(np.bincount(item))[::-1]
    assert counts[:5].sum() > 2 * counts[-5:].sum()
    assert made.more["titles"]["f01"].split()[0] == made.more["feature_names"][made.more["genre"][0]]
    assert make_ratings(5, 4, 1, random_state=0).X.shape[1] == 2


@pytest.mark.parametrize("mechanism", ["mcar", "mar", "mnar"])
def test_holes_go_where_the_mechanism_says(mechanism):
    X = np.random.default_rng(0).normal(size=(20_000, 3)) * [1.0, 5.0, 0.1] + 7.0
    lost = np.isnan(make_missing(X, 0.2, mechanism, random_state=0))
    if mechanism == "mar":
        assert not lost[:, 0].any()
    open_to = lost[:, 1:] if mechanism == "mar" else lost
    assert open_to.mean() == pytest.approx(0.2, abs=0.01)

    def slant(j, by):
        """Mean of a column in the rows that lost another's cell, in standard deviations."""
        return (X[lost[:, j], by].mean() - X[:, by].mean()) / X[:, by].std()

    assert slant(1, 1) == pytest.approx(1.04 if mechanism == "mnar" else 0.0, abs=0.06)
    assert slant(2, 0) == pytest.approx(1.04 if mechanism == "mar" else 0.0, abs=0.06)


def test_holes_keep_the_kind_of_table():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2, 3] * 50, "b": ["x", "y", "z"] * 50})
    incomplete = make_missing(frame, 0.3, "mnar", random_state=0)
    assert list(incomplete.columns) == ["a", "b"]
    assert incomplete["b"].isna().sum() > 20
    assert (incomplete["b"].dropna() == frame["b"][incomplete["b"].notna()]).all()
    array = np.array([["a", "b"], ["c", "d"]])
    assert make_missing(array, 0.0).tolist() == array.tolist()
    assert make_missing(np.arange(4).reshape(2, 2), 0.0).dtype == np.float64


# Sets on disk, in the forms they are published in


def test_movielens_in_its_forms(tmp_path):
    hundred, million, later = (tmp_path / name for name in ("100k", "1m", "latest"))
    for folder in (hundred, million, later):
        folder.mkdir()
    (hundred / "u.data").write_text("1\t10\t5\t880\n2\t20\t3\t881\n2\t10\t1\t882\n")
    flags = ["|".join("1" if k in genres else "0" for k in range(19)) for genres in ((1, 8), ())]
    (hundred / "u.item").write_text(f"10|Caf\xe9 (1990)|x||x|{flags[0]}\n20|Heat|x||x|{flags[1]}\n", encoding="latin-1")
    (hundred / "u.user").write_text("1|24|M|writer|85711\n2|53|F|other|94043\n")
    for k in range(1, 6):
        (hundred / f"u{k}.test").write_text(
            "2\t20\t3\t881\n" if k == 2 else "1\t10\t5\t880\n" if k == 4 else "9\t9\t3\t1\n"
        )
    found = load_movielens(hundred)
    assert found.X.tolist() == [[1, 10], [2, 20], [2, 10]]
    assert found.target.tolist() == [5.0, 3.0, 1.0]
    assert found.more["titles"] == {10: "Café (1990)", 20: "Heat"}
    np.testing.assert_array_equal(found.more["items"]["year"], [1990, np.nan])
    assert found.more["items"]["genres"].tolist() == ["Action|Drama", ""]
    assert {name: column.tolist() for name, column in found.more["users"].items()} == {
        "user": [1, 2], "age": [24, 53], "gender": ["M", "F"], "occupation": ["writer", "other"],
    }  # fmt: skip
    assert found.more["fold"].tolist() == [4, 2, 0]
    assert found.more["time"].tolist() == [880, 881, 882]
    (million / "ratings.dat").write_text("1::10::5::880\n2::20::3::881\n")
    (million / "movies.dat").write_text("10::A::Drama\n")
    (million / "users.dat").write_text("1::F::56::16::70072\n")
    found = load_movielens(million / "ratings.dat")
    assert found.more["titles"] == {10: "A"}
    assert found.more["items"]["genres"].tolist() == ["Drama"]
    assert found.more["users"]["occupation"].tolist() == ["self-employed"]
    (later / "ratings.csv").write_text("userId,movieId,rating,timestamp\n1,10,4.5,880\n2,20,3.0,881\n")
    (later / "movies.csv").write_text('movieId,title,genres\n10,"Heat, again",Drama\n')
    found = load_movielens(later)
    assert (found.target.tolist(), found.more["titles"]) == ([4.5, 3.0], {10: "Heat, again"})
    assert "users" not in found.more


def test_texts_in_their_forms(tmp_path):
    (tmp_path / "train.data").write_text("1 1 2\n1 3 1\n2 2 4\n")
    (tmp_path / "train.label").write_text("1\n2\n")
    (tmp_path / "train.map").write_text("alt.atheism 1\ncomp.graphics 2\n")
    (tmp_path / "vocabulary.txt").write_text("a\nb\nc\n")
    found = load_newsgroups(tmp_path)
    assert found.X.toarray().tolist() == [[2, 0, 1], [0, 4, 0]]
    assert (found.target.tolist(), found.columns) == ([0, 1], ["a", "b", "c"])
    assert found.more["target_names"] == ["alt.atheism", "comp.graphics"]
    (tmp_path / "ap.dat").write_text("2 0:1 2:3\n1 1:5\n")
    (tmp_path / "vocab.txt").write_text("x\ny\nz\n")
    assert load_ap(tmp_path).X.toarray().tolist() == [[1, 0, 3], [0, 5, 0]]


def test_pictures_in_their_forms(tmp_path):
    from scipy.io import savemat

    rows = np.column_stack([[7, 3], np.linspace(-1, 1, 512).reshape(2, 256)])
    np.savetxt(tmp_path / "zip.test.gz", rows)
    found = load_usps(tmp_path, "test")
    assert (found.target.tolist(), found.X.shape) == ([7, 3], (2, 256))
    picture = np.arange(4096).reshape(64, 64) % 256
    savemat(tmp_path / "olivettifaces.mat", {"faces": np.column_stack([picture.T.ravel()] * 20).astype(np.uint8)})
    found = load_faces(tmp_path)
    np.testing.assert_allclose(found.X[0].reshape(64, 64), picture / 255)
    assert found.target.tolist() == [0] * 10 + [1] * 10


def test_tables_in_their_forms(tmp_path):
    (tmp_path / "cal_housing.data").write_text("-122.23,37.88,41.0,880.0,129.0,322.0,126.0,8.3252,452600.0\n" * 2)
    found = load_california(tmp_path)
    assert found.X[0] == pytest.approx([8.3252, 41.0, 6.984127, 1.023810, 322.0, 2.555556, 37.88, -122.23], rel=1e-6)
    assert found.target[0] == pytest.approx(4.526)
    (tmp_path / "spambase.data").write_text("0.1,0.2,1\n0.3,0.4,0\n")
    assert load_spambase(tmp_path).target.tolist() == [True, False]


@pytest.mark.parametrize(
    ("loader", "name", "where"),
    [
        (load_movielens, "u.data or ratings.dat", "grouplens.org"),
        (load_newsgroups, "newsgroups20.npz or train.data", "qwone.com"),
        (load_ap, "ap.npz or ap.dat", "blei-lab"),
        (load_usps, "usps.npz or zip.train.gz", "ElemStatLearn"),
        (load_faces, "olivetti.npz or olivettifaces.mat", "roweis"),
        (load_california, "california.npz or cal_housing.data", "cal_housing"),
        (load_spambase, "spambase.csv or spambase.data", "uci.edu"),
    ],
)
def test_what_is_missing_is_named(tmp_path, loader, name, where):
    with pytest.raises(FileNotFoundError, match=re.escape(f"there is no {name}")) as error:
        loader(tmp_path)
    assert where in str(error.value)


def test_files_that_are_something_else(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("x")
    with pytest.raises(ValueError, match=re.escape("other.txt is none of u.data, ratings.dat")):
        load_movielens(other)
    (tmp_path / "u.data").write_text("no numbers here\n")
    with pytest.raises(ValueError, match="does not hold four numbers in each line"):
        load_movielens(tmp_path)
    (tmp_path / "california.npz").write_bytes(b"garbage")
    with pytest.raises(ValueError, match="cannot be read as an npz file"):
        load_california(tmp_path)
    np.savez(tmp_path / "usps.npz", X=np.ones(3))
    with pytest.raises(ValueError, match="holds no array 'X_train'"):
        load_usps(tmp_path)
    (tmp_path / "ap.npz").write_bytes((tmp_path / "usps.npz").read_bytes())
    with pytest.raises(FileNotFoundError, match=re.escape("there is no vocab.txt")):
        load_ap(tmp_path)
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(ValueError, match=r"line 3 of .* has 1 cells, but the first names 2 columns"):
        load_table(tmp_path / "ragged.csv")
    with pytest.raises(ValueError, match="has no column 'c'; it has"):
        load_table(penguins_path(), target="c")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_table(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("a,y\n")
    for target in ("y", None):
        with pytest.raises(ValueError, match="has no rows but a line of names; at least one is needed"):
            load_table(tmp_path / "empty.csv", target=target)
    for call in (lambda: load_newsgroups(tmp_path, "all"), lambda: load_usps(tmp_path, "all")):
        with pytest.raises(ValueError, match="subset='all' is unknown; use one of 'train', 'test'"):
            call()
    with pytest.raises(ValueError, match="name='orl' is unknown; use one of 'olivetti'"):
        load_faces(tmp_path, "orl")


@pytest.mark.skipif("TACIT_DATA" not in os.environ, reason="TACIT_DATA does not name the folder of published data sets")
def test_published_sets():
    folder = Path(os.environ["TACIT_DATA"])
    ratings = load_movielens(folder / "movielens100k")
    assert ratings.target.mean() == pytest.approx(3.52986)
    assert np.bincount(ratings.more["fold"]).tolist() == [0] + [20_000] * 5
    assert load_newsgroups(folder / "newsgroups20").X.sum() == 2_765_300
    assert load_ap(folder / "ap").X.sum() == 435_838
    assert np.bincount(load_usps(folder / "usps").target)[3] == 658
    assert load_california(folder / "california").X[:, 0].mean() == pytest.approx(3.870671, abs=1e-6)
    assert load_faces(folder / "faces").X.mean() * 255 == pytest.approx(132.3843, abs=1e-4)
    assert load_spambase(folder / "spambase").target.sum() == 1813
