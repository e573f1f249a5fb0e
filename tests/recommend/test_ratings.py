"""Ratings of tables of every kind: the same ratings through every door, whatever ids are, and nothing lost in silence."""

import datetime
import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather
from scipy import sparse

from tacit.kernels import lazy
from tacit.recommend import Ratings, TwoSidedMixture, evaluate, reading, spool
from tacit.recommend.ratings import codes_of, pairs_of

grouping = lazy("grouping")
DATA = os.environ.get("TACIT_DATA", "")
DOORS = (
    "pandas",
    "polars",
    "arrow",
    "dict",
    "lists",
    "structured",
    "rows",
    "tuple",
    "csv",
    "tsv",
    "parquet",
    "feather",
    "excel",
    "dask",
    "query",
)


def example(rng, n=400, text=False):
    """A table of ratings with users and items in no order, some pairs twice, some cells missing."""
    user, item = rng.integers(0, 30, n) * 7 - 20, rng.integers(0, 25, n) + 100
    rating = rng.integers(1, 6, n).astype(float)
    rating[rng.random(n) < 0.05] = np.nan
    time = rng.permutation(n) + 1_000_000
    named = (
        (lambda codes, word: np.array([f"{word} {code}" for code in codes], dtype=object))
        if text
        else (lambda codes, word: codes)
    )
    return pd.DataFrame(
        {"userId": named(user, "u"), "movie_id": named(item, "film, no."), "Stars": rating, "timestamp": time}
    )


def through(door, frame, folder):
    """The same table as another library, or another file, has it, and how it is read."""
    path = str(folder / f"table.{door}")
    if door in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="," if door == "csv" else "\t")
    elif door == "parquet":
        frame.to_parquet(path, index=False, row_group_size=90)
    elif door == "feather":
        feather.write_feather(pa.Table.from_pandas(frame), path)
    elif door == "excel":
        frame.to_excel(path + ".xlsx", index=False)
        path += ".xlsx"
    elif door == "query":
        frame.to_parquet(path, index=False)
        pytest.importorskip("duckdb")
        return "duckdb://", {"sql": f"select * from read_parquet('{path}')"}
    if door in ("csv", "tsv", "parquet", "feather", "excel"):
        return path, {}
    if door == "dask":
        return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3, sort=False), {}
    made = {
        "pandas": lambda: frame, "polars": lambda: pl.from_pandas(frame), "arrow": lambda: pa.Table.from_pandas(frame),
        "dict": lambda: {name: frame[name].to_numpy() for name in frame},
        "lists": lambda: {name: frame[name].tolist() for name in frame},
        "structured": lambda: frame.to_records(index=False), "rows": lambda: list(frame.itertuples(index=False, name=None)),
        "tuple": lambda: tuple(frame[name].to_numpy() for name in frame),
    }  # fmt: skip
    return made[door](), {}


def plainly(frame):
    """What is expected: by pandas, the last rating of each pair by time."""
    kept = frame.dropna().sort_values("timestamp", kind="stable").drop_duplicates(["userId", "movie_id"], keep="last")
    return {(row.userId, row.movie_id): (row.Stars, row.timestamp) for row in kept.itertuples()}


def as_cells(found):
    return {
        (user, item): (rating, time)
        for user, item, rating, time in zip(
            found.users[found.user].tolist(),
            found.items[found.item].tolist(),
            found.rating.tolist(),
            found.time.tolist(),
        )
    }


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_the_same_ratings(door, text, tmp_path):
    frame = example(np.random.default_rng(3), text=text)
    table, how = through(door, frame, tmp_path)
    found = Ratings.read(table, **how)
    assert as_cells(found) == plainly(frame)
    assert found.users.tolist() == sorted(set(frame.dropna().userId))
    assert found.items.tolist() == sorted(set(frame.dropna().movie_id))
    notes = {note.code: note.values for note in found.notes}
    assert notes["missing_ratings"]["n"] == frame.Stars.isna().sum()
    assert notes["duplicates"]["n"] == len(frame.dropna()) - len(found)


@pytest.mark.parametrize("text", [False, True])
def test_ratings_in_files_are_those_in_memory(text, tmp_path, monkeypatch):
    frame = example(np.random.default_rng(4), 3000, text).assign(weight=lambda table: table.Stars.fillna(1) + 0.5)
    path, _ = through("parquet", frame, tmp_path)
    plain = Ratings.read(path)
    for module, name, value in (
        (spool, "KEPT_BYTES", 100),
        (spool, "BUCKET_ROWS", 64),
        (spool, "BLOCK_ROWS", 50),
        (reading, "GATHERED_ROWS", 70),
    ):
        monkeypatch.setattr(module, name, value)
    found = Ratings.read(path)
    assert spool.is_mapped(found.rating)
    assert not spool.is_mapped(plain.rating)
    assert as_cells(found) == as_cells(plain)
    assert found.by_user.order is None
    assert {note.code: note.values["n"] for note in found.notes} == {
        note.code: note.values["n"] for note in plain.notes
    }
    half = np.arange(len(found)) % 2 == 0
    some = found.take(half)
    assert spool.is_mapped(some.rating)
    assert some.by_user.order is None
    for one, other in (
        (found, plain),
        (
            some,
            Ratings(
                some.user.copy(),
                some.item.copy(),
                some.rating.copy(),
                some.users,
                some.items,
                time=some.time.copy(),
                weight=some.weight.copy(),
            ),
        ),
    ):
        for side in ("by_user", "by_item"):
            mine, theirs = getattr(one, side), getattr(other, side)
            for name in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(mine.rows, name), getattr(theirs.rows, name))
            np.testing.assert_array_equal(mine.weight, theirs.weight)
            np.testing.assert_array_equal(mine.time, theirs.time)
    assert found.levels.tolist() == plain.levels.tolist()
    assert found.scale == plain.scale


def test_pairs_are_put_in_order(rng):
    for n, n_own, n_other in ((0, 3, 2), (1, 1, 1), (500, 20, 30), (500, 3, 2)):
        own, other = rng.integers(0, n_own, n).astype(np.int32), rng.integers(0, n_other, n).astype(np.int32)
        values = rng.random(n).astype(np.float32)
        order, indptr, others, data, twice = grouping.grouped(own, other, values, n_own, n_other)
        expected = np.lexsort((other, own))
        np.testing.assert_array_equal(order, expected)
        np.testing.assert_array_equal(indptr, np.searchsorted(own[expected], np.arange(n_own + 1)))
        np.testing.assert_array_equal(others, other[expected])
        np.testing.assert_array_equal(data, values[expected])
        assert twice == (len(set(zip(own.tolist(), other.tolist()))) < n)


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    class Full:
        def write(self, content):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool, "KEPT_BYTES", 10)
    monkeypatch.setattr(spool, "temporary_file", Full)
    with pytest.raises(OSError, match=r"does not take them either .No space left on device.; set TMPDIR to a folder"):
        Ratings.read({"user": [1, 2], "item": [1, 2], "rating": [3, 4]})


def test_numbers_far_apart_and_dates_and_mixed_ids():
    far = np.array([10**15, 5, 10**15, -3])
    assert Ratings.read({"user": far, "item": [1, 2, 3, 4]}).users.tolist() == [-3, 5, 10**15]
    days = pd.to_datetime(["2024-03-01", "2024-01-01", "2024-03-01"])
    dated = Ratings.read(pd.DataFrame({"user": days, "item": ["a", "b", "c"], "rating": [1, 2, 3]}))
    assert dated.users.tolist() == [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 3, 1)]
    assert codes_of(days, dated.users).tolist() == [1, 0, 1]
    mixed = Ratings.read([("x", 1, 3.0), (7, 1, 4.0), (None, 1, 5.0), ("x", 2, 5.0)])
    assert mixed.users.tolist() == ["x", 7]
    assert codes_of(["x", 7, "7", None], mixed.users).tolist() == [0, 1, -1, -1]
    whole = Ratings.read(pd.DataFrame({"user": [1.0, np.nan, 3.0], "item": [1, 1, 1], "rating": [1, 2, 3]}))
    assert whole.users.tolist() == [1, 3]
    assert whole.users.dtype == np.int64
    level = pd.Categorical(["b", "a", "b"], categories=["a", "b", "never"])
    assert Ratings.read({"user": level, "item": [1, 2, 3]}).users.tolist() == ["a", "b"]


def test_texts_of_files_are_numbers_only_where_all_are_written_as_such(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("user;item;rating\n1;007; 3,5\n 2;08;4\nNA;9;5\n2;9;\n")
    found = Ratings.read(path)
    assert found.users.tolist() == [1, 2]
    assert found.items.tolist() == ["007", "08"]
    assert found.rating.tolist() == [3.5, 4.0]
    assert {note.code for note in found.notes} == {"missing_ids", "missing_ratings"}
    assert pairs_of(path)[0].tolist() == ["1", "2", None, "2"]


def test_a_file_without_names_is_read_by_places(tmp_path):
    path = tmp_path / "u.data"
    path.write_text("196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    found = Ratings.read(path)
    assert found.users.tolist() == [186, 196]
    assert found.time.max() == 891717742
    assert found.notes[0].code == "no_header"


def test_sparse_matrices_hold_zeros_and_users_without_ratings():
    matrix = sparse.coo_array(([0.0, 2.0, np.nan, 5.0], ([0, 0, 1, 2], [1, 2, 0, 2])), shape=(4, 3))
    for made in (matrix, matrix.tocsr(), matrix.tocsc(), sparse.csr_matrix(matrix)):
        found = Ratings.read(made)
        assert found.n_users == 4
        assert found.n_items == 3
        assert found.notes[0].code == "missing_ratings"
        dense = np.full((4, 3), np.nan)
        dense[0, 1], dense[0, 2], dense[2, 2] = 0, 2, 5
        np.testing.assert_array_equal(found.by_user.rows.toarray(), dense)
        np.testing.assert_array_equal(found.by_item.rows.toarray(), dense.T)


@pytest.mark.parametrize(("how", "rating", "weight"), [
    ("last", 1.0, 2.0), ("first", 5.0, 1.0), ("mean", (5 * 1 + 3 * 3 + 1 * 2) / 6, 6.0), ("sum", 9.0, 2.0),
])  # fmt: skip
def test_duplicates_by_time(how, rating, weight):
    table = {
        "user": [1, 2, 1, 1],
        "item": [1, 1, 1, 1],
        "rating": [1, 4, 5, 3],
        "time": [30, 1, 10, 20],
        "weight": [2, 9, 1, 3],
    }
    found = Ratings.read(table, duplicates=how)
    assert len(found) == 2
    assert found.notes[0].code == "duplicates"
    assert found.notes[0].values["n"] == 2
    assert found.rating[found.user == 0][0] == pytest.approx(rating)
    assert found.weight[found.user == 0][0] == weight


def test_duplicates_by_row_and_refused():
    table = {"user": ["a", "b", "a"], "item": ["x", "x", "x"], "rating": [1, 4, 5]}
    assert Ratings.read(table).rating.tolist() == [4, 5]
    assert Ratings.read(table, duplicates="first").rating.tolist() == [1, 4]
    with pytest.raises(ValueError, match=r"user 'a' rated item 'x' 2 times; .* use duplicates='last'"):
        Ratings.read(table, duplicates="error")
    with pytest.raises(ValueError, match="duplicates='all' is unknown"):
        Ratings.read(table, duplicates="all")


def test_ratings_outside_the_scale_are_refused():
    table = {"user": [1, 2, 3], "item": [1, 1, 1], "rating": [1, 5, 9]}
    assert Ratings.read(table, scale=(0, 10)).scale == (0, 10)
    assert Ratings.read(table, scale=(0, 10)).take([0]).scale == (0, 10)
    with pytest.raises(
        ValueError, match=r"1 of 3 ratings lie outside the scale from 1 to 5, such as 9; .* use scale=\(1.0, 9.0\)"
    ):
        Ratings.read(table, scale=(1, 5))
    for bad in ((5, 1), 3, (1, np.nan), "15x"):
        with pytest.raises(ValueError, match="is not a smallest and a largest rating"):
            Ratings.read(table, scale=bad)


@pytest.mark.parametrize(("table", "message"), [
    ({"user": [], "item": [], "rating": []}, "the table has no rows; at least one rating is needed"),
    ({"user": [1], "item": [None], "rating": [3]}, r"none of the 1 rows of the table is a rating \(1 without a user"),
    ({"user": [1, 2], "item": [1, 1], "rating": [np.nan, np.inf]}, "1 without a rating, 1 with an infinite rating"),
    ({"who": [1], "thing": [2], "rating": [3]}, r"no column that is named like an item; it has .who., .thing., .rating.: say"),
    ({"a": [1], "b": [2]}, "named like a user or an item"),
    ({"user": [1, 2], "item": [2], "rating": [3]}, "have 1 to 2 rows"),
    ({"user": [1], "item": [2], "rating": ["good"]}, "column 'rating' holds 'good', which is no number"),
    ({"user": [1], "item": [2], "rating": [1], "weight": [-1]}, "the weights hold -1"),
    (3, "ratings cannot be read from int"),
    ([(1, 2, 3), (1, 2)], "rows of the list are not equally long"),
    (sparse.csr_array((2, 3)), "the sparse matrix has no rows"),
])  # fmt: skip
def test_tables_that_are_no_ratings_are_refused(table, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Ratings.read(table)


def test_columns_are_named_and_left_out():
    table = {"a": [1, 2], "b": [3, 3], "c": [1, 5], "date": ["monday", "tuesday"], "stars": [4, 4]}
    found = Ratings.read(table, user="a", item="b", rating="c")
    assert found.rating.tolist() == [1, 5]
    assert found.time is None
    assert found.notes[0].code == "no_time"
    with pytest.raises(ValueError, match="column 'date' holds 'monday', neither a number nor a date"):
        Ratings.read(table, user="a", item="b", time="date")
    events = Ratings.read(table, user="a", item="b", rating=False, time=False)
    assert events.rating.tolist() == [1, 1]
    assert events.notes[0].code == "implicit"
    assert "time" not in events.columns
    with pytest.raises(ValueError, match="has no column 'bb', which item names; did you mean 'b'"):
        Ratings.read(table, user="a", item="bb")
    with pytest.raises(TypeError, match="sheet is for files and queries"):
        Ratings.read(table, sheet="x")


def test_one_user_and_one_item_and_infinite_ratings():
    found = Ratings.read({"user": ["me"] * 3, "item": ["it", "that", "more"], "rating": [3, np.inf, 4]})
    assert len(found) == 2
    assert found.n_users == 1
    assert found.items.tolist() == ["it", "more"]
    assert found.notes[0].code == "infinite"
    assert (
        repr(Ratings.read({"user": [1], "item": [1], "rating": [3]}))
        == "Ratings(1 ratings of 1 items by 1 users, from 3 to 3)"
    )


@pytest.mark.skipif(not DATA, reason="TACIT_DATA does not say where MovieLens is")
def test_movielens_is_read_from_its_file_and_its_data_set():
    from tacit.datasets import load_movielens

    path = os.path.join(DATA, "movielens100k")
    read, loaded = Ratings.read(os.path.join(path, "u.data")), Ratings.read(load_movielens(path))
    assert repr(read) == repr(loaded) == "Ratings(100,000 ratings of 1,682 items by 943 users, from 1 to 5)"
    assert as_cells(read) == as_cells(loaded)


def test_ratings_and_times_are_found_by_words_of_names():
    table = {"user": [1, 2], "item": [3, 4], "candidate": [7, 8], "Book-Rating": [2.0, 5.0], "reviewDate": [10, 20]}
    found = Ratings.read(table).columns
    assert (found["rating"], found["time"]) == ("Book-Rating", "reviewDate")
    assert "time" not in Ratings.read({"user": [1, 2], "item": [3, 4], "rating": [1, 2], "candidate": [7, 8]}).columns


@pytest.mark.parametrize(("change", "message"), [
    ({"rating": [3, np.nan, 4]}, "rating nan of row 1 must be finite; leave it out"),
    ({"rating": [3, 4, np.inf]}, "rating inf of row 2 must be finite; leave it out"),
    ({"user": [0, 1, 2]}, "user 2 of row 2 must be a number from 0 to 1, the place of an id in users"),
    ({"item": [-1, 1, 0]}, "item -1 of row 0 must be a number from 0 to 1, the place of an id in items"),
    ({"weight": [1, 1, -2]}, "weight -2 of row 2 must be finite and not negative"),
    ({"user": [0, 1]}, "there are 3 ratings and 2 values of user; give one for each"),
])  # fmt: skip
def test_numbered_ratings_are_checked_wherever_they_are_taken(change, message):
    good = {"user": [0, 1, 1], "item": [0, 1, 0], "rating": [3, 5, 4], "users": ["a", "b"], "items": ["x", "y"]}
    bad, model = Ratings(**good | change), TwoSidedMixture(1, 1, n_fits=1, random_state=0).fit(Ratings(**good))
    for take in (model.fit, model.score, lambda ratings: evaluate(model, ratings)):
        with pytest.raises(ValueError, match=message):
            take(bad)
