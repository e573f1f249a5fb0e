"""Numbers of ids, whatever they are and however they are looked for."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.recommend import ids
from tacit.recommend.ratings import as_ratings, codes_of, codes_of_pairs, pairs_of


def test_ids_keep_their_kind_when_parts_differ():
    found = ids.Ids()
    first, second = found.add(pa.array([5, 6, None])), found.add(pa.array(["x", "5"]))
    assert first.tolist() == [0, 1, -1]
    assert second.tolist() == [2, 3]
    wide = ids.Ids()
    assert wide.add(pa.array([1, 2])).tolist() == [0, 1]
    assert wide.add(pa.array([2, 10**12])).tolist() == [1, 2]
    assert wide.add(pa.array([1, 3])).tolist() == [0, 3]


@pytest.mark.parametrize("few", [0, 10**6])
def test_numbers_of_ids_are_found_whatever_way(few, monkeypatch):
    monkeypatch.setattr(ids, "FEW", few)
    rng = np.random.default_rng(0)
    for known in (np.array([3, 8, 12]), np.array([12, 3, 8]), np.array([3, 8, 10**14])):
        asked = rng.choice([*known.tolist(), 4, -1, 10**15], 50)
        assert codes_of(asked, known).tolist() == [
            known.tolist().index(each) if each in known else -1 for each in asked
        ]
        assert codes_of(asked.astype(float), known).tolist() == codes_of(asked, known).tolist()
        assert codes_of([str(each) for each in asked], known).tolist() == codes_of(asked, known).tolist()
    assert codes_of([8.5, np.nan, np.inf], np.array([8])).tolist() == [-1, -1, -1]
    assert codes_of(["08", "eight", "8 ", "", "-"], np.array([8])).tolist() == [-1, -1, 0, -1, -1]
    texts = np.array(["b", "12", "a"], dtype=object)
    assert codes_of(["a", "b", "c", None, 12, np.nan, ["x"]], texts).tolist() == [2, 0, -1, -1, 1, -1, -1]
    assert codes_of(np.array([12, 13]), texts).tolist() == [1, -1]
    assert codes_of(["12", "z"], np.sort(texts)).tolist() == [0, -1]
    mixed = np.array([12, "12"], dtype=object)
    assert codes_of(["12", 12, 3], mixed).tolist() == [1, 0, -1]
    assert codes_of([0.5, 2], np.array([0.25, 0.5, 2.0])).tolist() == [1, 2]
    assert codes_of([], texts).tolist() == []
    assert codes_of(["a"], texts[:0]).tolist() == [-1]


def test_pairs_of_tables():
    frame = pd.DataFrame({"uid": [1, 2], "product": ["a", "b"], "other": [0, 0]})
    for table in (
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        {name: frame[name].tolist() for name in frame},
    ):
        users, items = pairs_of(table)
        assert list(users) == [1, 2]
        assert list(items) == ["a", "b"]
    assert [each.tolist() for each in pairs_of(np.array([[1, 2], [3, 4]]))] == [[1, 3], [2, 4]]
    assert pairs_of(([1, 2], ["x", "y"])) == ([1, 2], ["x", "y"])
    with pytest.raises(ValueError, match="pairs are"):
        pairs_of(([1, 2], ["x"]))
    with pytest.raises(ValueError, match="named like an item"):
        pairs_of({"user": [1], "thing": [2]})
    found = as_ratings({"user": [5, 6], "item": ["a", "b"], "rating": [1, 2]})
    codes = codes_of_pairs(found, np.array([6, 7]), found.items)
    assert codes[0].tolist() == [-1, 0]
    assert codes[1].tolist() == [0, 1]
    assert as_ratings(found) is found
    assert [each.tolist() for each in codes_of_pairs(frame, np.array([2]), np.array(["a"]))] == [[-1, 0], [0, -1]]
