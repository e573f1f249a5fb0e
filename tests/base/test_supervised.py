"""Targets are taken from arrays, tables, files, Dask and tensors alike, and refused with their value where they are none."""

import numpy as np
import pandas as pd
import pytest

from tacit.base import Supervised
from tacit.source import ArraySource

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = X.sum(axis=1)
KINDS = RNG.integers(0, 3, 50)


def gathered(source):
    return np.concatenate([np.asarray(block.targets) for block in source])


@pytest.fixture
def table():
    return pd.DataFrame(X, columns=list("abc")).assign(y=Y, kind=KINDS)


def test_targets_of_arrays_and_tables(table):
    for rows, y, one in ((X, Y, True), (table[list("abc")], table["y"], True), (X, np.c_[Y, -Y], False)):
        model = Supervised()
        source = model._open_targets(rows, y)
        np.testing.assert_array_equal(gathered(source)[:, 0], Y)
        assert (model._one_target, model.n_features_in_, source.n_targets) == (one, 3, 1 if one else 2)


def test_targets_of_files_are_named(table, tmp_path):
    path = tmp_path / "rows.parquet"
    table.to_parquet(path)
    model = Supervised()
    np.testing.assert_array_equal(gathered(model._open_targets(path, "y"))[:, 0], Y)
    assert list(model.feature_names_in_) == ["a", "b", "c", "kind"]
    source, classes = Supervised()._open_classes(path, "kind")
    np.testing.assert_array_equal(gathered(source)[:, 0], KINDS)
    assert classes.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="y must be the name of a column"):
        Supervised()._open_targets(path, Y)
    with pytest.raises(ValueError, match="has no column 'z'; it has a, b, c, y, kind"):
        Supervised()._open_targets(path, "z")
    with pytest.raises(ValueError, match=r"must be the numbers 0, 1, … without gaps, but -?\d"):
        Supervised()._open_classes(path, "y")


def test_targets_of_dask_and_tensors(table):
    dd, torch = pytest.importorskip("dask.dataframe"), pytest.importorskip("torch")
    source = Supervised()._open_targets(dd.from_pandas(table.drop(columns="kind"), npartitions=2), "y")
    np.testing.assert_array_equal(gathered(source)[:, 0], Y)
    source = Supervised()._open_targets(torch.tensor(X), torch.tensor(Y))
    np.testing.assert_array_equal(gathered(source)[:, 0], Y)


def test_classes_are_numbered():
    source, classes = Supervised()._open_classes(X, np.array(["b", "a"])[KINDS % 2])
    assert classes.tolist() == ["a", "b"]
    np.testing.assert_array_equal(gathered(source)[:, 0], 1 - KINDS % 2)


@pytest.mark.parametrize(("y", "message"), [
    (None, "requires y to be passed, but the target y is None"),
    (np.where(np.arange(50) == 7, np.nan, Y), r"Input y contains NaN \(row 7\).* leave out the 1 rows"),
    (Y[1:], "inconsistent numbers of samples: X has 50 rows and y 49"),
    (np.where(np.arange(50) == 3, np.inf, Y), r"Input y contains infinity .*\(row 3\); leave out"),
])  # fmt: skip
def test_targets_that_are_none(y, message):
    with pytest.raises(ValueError, match=message):
        Supervised()._open_targets(X, y)


def test_text_and_infinity_are_told_by_their_column(table):
    with pytest.raises(ValueError, match=r"'u' in column 1 \('b'\): Supervised takes numbers; encode .*OneHotEncoder"):
        Supervised()._open_targets(table[list("abc")].assign(b="u"), Y)
    with pytest.raises(ValueError, match=r"infinity .*\(row 4, column 2 \('c'\)\); replace it, or set the cell to NaN"):
        Supervised()._open_targets(table[list("abc")].assign(c=np.where(np.arange(50) == 4, np.inf, Y)), Y)


def test_a_source_carries_its_own_targets():
    with pytest.raises(ValueError, match="carries its own targets"):
        Supervised()._open_targets(ArraySource(X, targets=Y[:, None]), Y)
    with pytest.raises(ValueError, match="the source has no targets"):
        Supervised()._open_targets(ArraySource(X), None)
    np.testing.assert_array_equal(
        gathered(Supervised()._open_targets(ArraySource(X, targets=Y[:, None]), None))[:, 0], Y
    )
