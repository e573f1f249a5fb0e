"""The same table gives the same columns, cells and levels whatever holds it."""

import dataclasses
import datetime
import gzip
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from tacit.kernels.text import NUMBER, TEXT, cut_rows, read_numbers
from tacit.mixture import Mixture
from tacit.tables import chunks, data, delimited, open_table, reader
from tacit.tables.source import TableSource

from .mixed import N, mixed, write_all, write_csv

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
    assert "roles={'joined': 'measurement'}" in named["joined"].left_out


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
    source = TableSource(table, block_rows=64)
    assert table.is_large
    assert isinstance(table.source(), TableSource)
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


# Plain text in large pieces


@pytest.fixture
def both(tmp_path, monkeypatch):
    """A text file read by compiled loops and by Python: its columns, cells and originals, which must be equal."""

    def read(content, worth, **options):
        monkeypatch.setattr(delimited, "WORTH_COMPILING", worth)
        path = tmp_path / "t.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        try:
            table = open_table(path, **options)
            batches = list(table.batches())
        except ValueError as error:
            return str(error)
        parts = {name: [cell for batch in batches for cell in batch[name].originals()] for name in table.reader.names}
        typed = {name: str([v for batch in batches for v in batch[name].values.tolist()]) for name in parts}
        return table.n_rows, [dataclasses.replace(c, mean=None, std=None) for c in table.columns], parts, typed

    def both(content, **options):
        compiled, plain = (read(content, worth, **options) for worth in (0, 1 << 40))
        assert compiled == plain
        return plain

    return both


def lines(n=400):
    rng = np.random.default_rng(4)
    return [f"{v!r},{w:.4f},{k},{'NA' if k % 5 == 0 else k * 1000},c{k % 3}" for v, w, k in
            zip(rng.normal(size=n).tolist(), np.exp(9 * rng.normal(size=n)), rng.integers(0, 99, n).tolist())]  # fmt: skip


@pytest.mark.parametrize("chunk", [100, 1 << 22])
@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows,
        lambda rows: [" , ".join(row.split(",")) for row in rows],
        lambda rows: [*rows[:99], "", '"1",2,3,"4",c1', *rows[99:]],
        lambda rows: [*rows, "1,2,3"],
        lambda rows: [*rows, '1,2,3,4,"c'],
        lambda rows: [*rows, "1,2,3,4,5\0"],
        lambda rows: [*rows, "1e5,-.5,+7,1E-3,é"],
        lambda rows: [*rows, "1e400,007,3,12345678901234567890,é"],
        lambda rows: [*rows, "1_000,inf,1e,--1,."],
        lambda rows: [*rows, "0x10,1.2.3,5.,12345678901234567,nan"],
        lambda rows: [row + "\r" for row in rows],
        lambda rows: [*rows, "1,2,3,4,a\rb"],
        lambda rows: [],
    ],
)
def test_compiled_loops_read_what_python_reads(both, monkeypatch, chunk, change):
    monkeypatch.setattr(chunks, "CHUNK", chunk)
    both("\n".join(["a,b,c,d,e", *change(lines())]) + "\n")
    both("\n".join(["a,b,c,d,e", *change(lines())]), missing=["-999", "7000", "inf"])


def test_other_encodings_and_separators(both, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK", 64)
    text = "a;b\n" + "".join(f"{j},5;Größe {j % 2}\n" for j in range(40))
    assert (
        both(text)[1][1].levels == both(text.encode("cp1252"), encoding="cp1252")[1][1].levels == ("Größe 0", "Größe 1")
    )
    assert "not UTF-8 text: byte 0xf6 in line 2; it looks like cp1252" in both(text.encode("cp1252"))
    both(text.replace(";", "\t"))
    both(text.replace(";", "|").replace("\n", "\r"))
    both(gzip.compress(text.encode(), mtime=0))


def test_numbers_are_pythons_to_the_last_bit():
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.normal(size=4000), np.exp(20 * rng.normal(size=4000)), rng.integers(0, 2**63, 2000)])
    texts = [form(v) for v in values.tolist() for form in (repr, "{:.3f}".format, "{:.17g}".format, "{:.19f}".format)]
    texts += [
        "9007199254740993",
        "0.1",
        "1e22",
        "1e23",
        "123456789012345678e-5",
        "9007199254740992.5",
        "4503599627370497.5",
    ]
    content = "\n".join(texts).encode() + b"\n"
    edges = np.empty((len(texts), 2), dtype=np.int64)
    buffer = np.frombuffer(content, dtype=np.uint8)
    assert cut_rows(buffer, ord(","), 1, edges) == len(texts)
    starts, ends, found, kinds = (
        edges[:, 0].copy(),
        edges[:, 1].copy(),
        np.empty(len(texts)),
        np.empty(len(texts), np.uint8),
    )
    read_numbers(buffer, starts, ends, found, kinds)
    sure = kinds == NUMBER
    assert sure.mean() > 0.7
    assert not (kinds == TEXT).any()
    np.testing.assert_array_equal(found[sure], np.array(list(map(float, texts)))[sure])


def test_text_files_need_nothing_but_the_bare_install(tmp_path):
    script = f"""
import sys
for name in ("pandas", "pyarrow", "polars", "duckdb", "python_calamine", "adbc_driver_postgresql", "matplotlib"):
    sys.modules[name] = None
from tacit.cli.main import main
from tacit.tables import open_table
path = {str(write_csv(tmp_path / "people.csv", mixed()))!r}
assert main(["inspect", path]) == 0
for arguments, extra in (((path[:-3] + "parquet",), "tacit[parquet]"), (("duckdb://", "select 1"), "tacit[sql]"),
                         (("postgresql://h/x", "select 1"), "tacit[sql]"), ((path[:-3] + "xlsx",), "tacit[excel]")):
    try:
        open_table(arguments[0], sql=arguments[1] if len(arguments) > 1 else None)
    except ImportError as error:
        assert extra in str(error), error
    else:
        raise AssertionError(arguments)
"""
    (tmp_path / "people.parquet").write_bytes(b"PAR1")
    with zipfile.ZipFile(tmp_path / "people.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "height" in done.stdout
