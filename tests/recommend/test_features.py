"""Features of ids: the same from every table, missing cells the mean, names kept, faults told."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from tacit.recommend import Features, features_of

FILMS = pd.DataFrame({
    "movieId": [30, 10, 20, 40],
    "title": ["Third", "First", "Second", "Fourth"],
    "year": [2000.0, 1990.0, np.nan, 2020.0],
    "genres": ["War|Drama", "Drama", None, "Comedy | War"],
    "colour": [True, False, True, True],
    "studio": ["A", "A", "A", "A"],
})  # fmt: skip
IDS = np.array([10, 20, 30, 99])


def dense(found):
    return found.matrix.toarray() if sparse.issparse(found.matrix) else found.matrix


@pytest.mark.parametrize("door", ["pandas", "polars", "arrow", "dict", "csv", "parquet"])
def test_every_table_gives_the_same_features(door, tmp_path):
    path = tmp_path / f"films.{door}"
    if door == "csv":
        FILMS.to_csv(path, index=False)
    elif door == "parquet":
        FILMS.to_parquet(path)
    made = {"pandas": FILMS, "polars": pl.from_pandas(FILMS), "arrow": pa.Table.from_pandas(FILMS)}
    table = made.get(door, path if door in ("csv", "parquet") else {name: FILMS[name].tolist() for name in FILMS})
    found = features_of(table, IDS)
    names = found.names.tolist()
    matrix = dense(found)
    assert names[:4] == ["title=First", "title=Second", "title=Third", "year"]
    np.testing.assert_allclose(matrix[:, names.index("year")], [-1, 0, 1, 0])
    genres = matrix[:, [names.index(f"genres={genre}") for genre in ("Drama", "War")]]
    assert genres.tolist() == [[1, 0], [0, 0], [1, 1], [0, 0]]
    assert found.known.tolist() == [True, True, True, False]
    assert not matrix[3].any()
    assert {note.code: note.values.get("name") for note in found.notes} == {"constant": "studio", "no_features": None}


def test_rare_levels_are_pooled_and_lonely_ones_left_out(rng):
    n = 400
    town = np.where(np.arange(n) < 6, [f"v{k}" for k in range(n)], np.repeat(["big", "small"], n // 2))
    table = {"user": np.arange(n), "town": town, "name": [f"n{k}" for k in range(n)], "age": rng.normal(size=n)}
    found = features_of(table, np.arange(n), "user")
    assert found.names.tolist() == ["town=big", "town=small", "town: other", "age"]
    assert dense(found)[:, 2].sum() == 6
    assert [(note.code, note.values["name"]) for note in found.notes] == [("rare", "name")]
    many = {"item": np.arange(n), "kind": [f"k{k % 50}" for k in range(n)]}
    wide = features_of(many, np.arange(n))
    assert sparse.issparse(wide.matrix)
    assert wide.shape == (n, 50)
    assert (wide.matrix.sum(axis=1) == 1).all()


def test_arrays_are_taken_as_they_are():
    matrix = np.arange(8.0).reshape(4, 2)
    found = features_of(matrix, IDS)
    np.testing.assert_array_equal(found.matrix, matrix)
    assert found.names.tolist() == ["item_feature_0", "item_feature_1"]
    assert features_of(found, IDS) is found
    assert sparse.issparse(features_of(sparse.coo_array(matrix), IDS).matrix)
    assert isinstance(found, Features)


@pytest.mark.parametrize(("table", "how", "message"), [
    (np.zeros((3, 2)), {}, r"features of the shape \(3, 2\) do not have a row for each of the 4 items"),
    (np.full((4, 2), np.nan), {}, "the features hold NaN or infinity"),
    ({"item": [10, 10], "x": [1, 2]}, {}, "has 2 rows for the item .*10"),
    ({"item": [1, 2], "x": [1, 2]}, {}, "no id in the table is that of a item of the ratings|no id in the table"),
    ({"item": [10, 20], "x": [1, 1]}, {}, "has no column besides 'item' that describes items"),
    ({"a": [10], "x": [1]}, {"id": "b"}, "has no column 'b', which id names; it has 'a', 'x'"),
    ({"item": [], "x": []}, {}, "no rows|no id"),
])  # fmt: skip
def test_tables_without_features_are_refused(table, how, message):
    with pytest.raises(ValueError, match=message):
        features_of(table, IDS, **how)
    with pytest.raises(ValueError, match="features have 4 rows, but there are 2 items"):
        features_of(features_of(np.zeros((4, 1)), IDS), IDS[:2])
