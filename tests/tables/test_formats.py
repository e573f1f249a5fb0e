"""The same table gives the same columns, cells and levels whatever holds it."""

import datetime
import os

import numpy as np
import pytest

from tacit.mixture import Mixture
from tacit.tables import data, open_table, reader

from .mixed import N, mixed, write_all

ROLES = {
    "customer": "id", "height": "measurement", "visits": "count", "colour": "category", "grade": "category", "member": "yes/no",
    "joined": "date", "country": "constant", "empty_one": "empty",
}  # fmt: skip


@pytest.fixture(scope="module")
def formats(tmp_path_factory):
    return write_all(tmp_path_factory.mktemp("formats"))


@pytest.fixture(scope="module")
def plain(formats):
    return open_table(*formats["people.csv"][0])


def test_roles_levels_and_moments_of_the_plain_table(plain):
    columns = mixed()
    assert {column.name: column.role for column in plain.columns} == ROLES
    assert (plain.n_rows, plain.ids) == (N, ["customer"])
    named = {column.name: column for column in plain.columns}
    for name, column in named.items():
        assert column.n_missing == sum(value is None for value in columns[name])
    heights = np.array([v for v in columns["height"] if v is not None])
    assert named["height"].mean == pytest.approx(heights.mean(), rel=1e-14)
    assert named["height"].std == pytest.approx(heights.std(), rel=1e-12)
    assert (named["height"].low, named["height"].high) == (heights.min(), heights.max())
    assert named["colour"].levels == ("blue", "green", "red")
    assert named["grade"].levels == ("1", "2", "3", "4")
    assert sum(named["colour"].counts) == N - named["colour"].n_missing
    assert "--as joined=number" in named["joined"].left_out


@pytest.mark.parametrize("name", [
    "packed.csv.gz", "comma.csv", "people.tsv", "people.parquet", "people.feather", "people.arrow", "people.xlsx", "duckdb",
    "duckdb of a file", "sqlite", "pandas", "pandas of Arrow", "polars", "pyarrow", "dictionary",
])  # fmt: skip
def test_every_format_gives_the_same_table(formats, plain, name):
    arguments, options = formats[name]
    table = open_table(*arguments, **options)
    assert table.n_rows == plain.n_rows
    for ours, theirs in zip(table.columns, plain.columns, strict=True):
        for field in (
            "name",
            "role",
            "reason",
            "left_out",
            "n_missing",
            "n_distinct",
            "levels",
            "counts",
            "low",
            "high",
            "notes",
        ):
            assert getattr(ours, field) == getattr(theirs, field), (ours.name, field)
        if theirs.mean is not None:
            assert (ours.mean, ours.std) == pytest.approx((theirs.mean, theirs.std), rel=1e-12)
    np.testing.assert_array_equal(table.cells, plain.cells)
    for ours, theirs in zip(table.batches(), plain.batches(), strict=name not in ("people.arrow", "people.parquet")):
        for column in ("colour", "grade", "member", "joined"):
            n = min(ours.n_rows, theirs.n_rows)
            assert ours[column].values[:n].tolist() == theirs[column].values[:n].tolist()


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.xlsx", "duckdb", "sqlite", "polars"])
def test_cells_keep_their_type_for_writing(formats, name):
    arguments, options = formats[name]
    batch = next(open_table(*arguments, **options).batches())
    columns, n = mixed(), batch.n_rows
    dates = batch["joined"].originals()
    if name in ("people.csv", "sqlite"):
        assert dates == [None if v is None else str(v) for v in columns["joined"][:n]]
    else:
        assert dates == columns["joined"][:n]
        assert all(v is None or type(v) is datetime.date for v in dates)
    heights = batch["height"].originals()
    expected = (
        [None if v is None else str(v) for v in columns["height"][:n]]
        if name == "people.csv"
        else columns["height"][:n]
    )
    assert heights == expected
    if name in ("people.parquet", "duckdb", "sqlite", "polars"):
        assert batch["visits"].originals() == columns["visits"][:n]
        assert all(v is None or type(v) is int for v in batch["visits"].originals())


def test_a_date_becomes_days_when_asked(formats):
    for name in ("people.csv", "people.parquet", "people.xlsx", "duckdb", "sqlite", "pandas"):
        arguments, options = formats[name]
        table = open_table(*arguments, roles={"joined": "measurement"}, **options)
        column = next(column for column in table.columns if column.name == "joined")
        days = [np.nan if v is None else (v - datetime.date(1970, 1, 1)).days for v in mixed()["joined"]]
        assert column.used
        np.testing.assert_array_equal(table.cells[:, [c.name for c in table.used].index("joined")], days)


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "sqlite", "duckdb"])
def test_a_large_table_is_read_in_passes_with_equal_results(formats, plain, name, monkeypatch):
    arguments, options = formats[name]
    monkeypatch.setattr(data, "IN_MEMORY", 100)
    monkeypatch.setattr(reader, "KEPT_CELLS", 0)
    monkeypatch.setattr(reader, "BATCH_ROWS", 37)
    read = []
    table = open_table(*arguments, on_batch=read.append, **options)
    assert read[-1] == N
    assert max(np.diff([0, *read])) <= 37
    source = table.source()
    source.block_rows = 64
    assert table.is_large
    assert [len(block) for block in source] == [64, 64, 64, 48]
    np.testing.assert_array_equal(np.concatenate([block.X for block in source]), plain.cells)
    rows = np.array([0, 36, 37, 100, 239])
    np.testing.assert_array_equal(source.take(rows).X, plain.cells[rows])
    sampled, batch = table.sample(50, seed=1)
    expected, other = plain.sample(50, seed=1)
    np.testing.assert_array_equal(sampled, expected)
    for column in table.columns:
        np.testing.assert_array_equal(batch[column.name].missing, other[column.name].missing)
        assert str(batch[column.name].values.tolist()) == str(other[column.name].values.tolist())


def test_a_mixture_learns_the_same_from_memory_and_in_passes(formats, plain, monkeypatch):
    model = Mixture(2, max_iter=5, random_state=0).fit(plain.source())
    monkeypatch.setattr(data, "IN_MEMORY", 100)
    monkeypatch.setattr(reader, "KEPT_CELLS", 0)
    table = open_table(*formats["people.parquet"][0])
    other = Mixture(2, max_iter=5, random_state=0).fit(table.source())
    assert other.lower_bound_ == model.lower_bound_
    assert [column.name for column in model.schema_.columns] == ["height", "visits", "colour", "grade", "member"]


def test_small_tables_are_parsed_once(formats, monkeypatch):
    table = open_table(*formats["people.csv"][0])
    monkeypatch.setattr(type(table.reader), "read", lambda self: pytest.fail("read twice"))
    assert sum(batch.n_rows for batch in table.batches()) == N


def test_a_table_that_changes_between_passes(formats, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1.5,2\n2.5,4\n" * 5)
    monkeypatch.setattr(reader, "KEPT_CELLS", 0)
    table = open_table(path)
    path.write_text("a,b\n" + "1.5,2\n2.5,4\n" * 4)
    with pytest.raises(ValueError, match=r"t.csv had 10 rows and now has 8; it was changed while it was read"):
        table.cells  # noqa: B018


def test_results_are_named_after_the_table(formats):
    for name, stem in (("people.csv", "people"), ("packed.csv.gz", "packed"), ("duckdb", "people"), ("sqlite", "people"),
                       ("duckdb of a file", "people"), ("pandas", "table")):  # fmt: skip
        arguments, options = formats[name]
        assert open_table(*arguments, **options).reader.name == stem
    assert open_table(*formats["people.csv"][0]).reader.folder == os.path.dirname(formats["people.csv"][0][0])
