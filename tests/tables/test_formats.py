"""The same table gives the same columns, cells and levels whatever holds it."""

import csv
import datetime
import gzip
import io
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import pytest

from tacit.mixture import Mixture
from tacit.survey.cells import MISSING
from tacit.tables import data, delimited, open_table, reader, store
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


def test_a_table_is_read_once_whatever_becomes_of_its_file(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1.50,2\n2.5,4\n" * 50)
    monkeypatch.setattr(delimited, "BLOCK", 100)
    table = open_table(path)
    assert next(table.batches())["a"].originals()[:2] == ["1.50", "2.5"]
    path.write_text("a,b\n" + "1.5,2\n2.5,4\n" * 40)
    assert len(table.cells) == 100
    with pytest.raises(ValueError, match=r"t.csv was changed while it was read, so start again"):
        next(table.batches())["a"].originals()


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.xlsx", "sqlite", "duckdb"])
def test_a_table_beyond_memory_goes_through_a_file(formats, plain, name, monkeypatch):
    arguments, options = formats[name]
    monkeypatch.setattr(store, "KEPT_BYTES", 3000)
    monkeypatch.setattr(reader, "KEPT_CELLS", 0)
    monkeypatch.setattr(reader, "BATCH_ROWS", 37)
    table = open_table(*arguments, **options)
    path = table.reader._store.path
    assert os.path.getsize(path) > 3000
    np.testing.assert_array_equal(table.cells, plain.cells)
    np.testing.assert_array_equal(table.cells, open_table(*arguments, **options).cells)
    del table
    assert not os.path.exists(path)


def test_a_full_disk_is_said(formats, monkeypatch):
    monkeypatch.setattr(store, "KEPT_BYTES", 0)
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(OSError, match=r"does not fit into memory, and /nowhere does not take it .*set TMPDIR"):
        open_table(*formats["people.csv"][0])


def test_results_are_named_after_the_table(formats):
    for name, stem in (("people.csv", "people"), ("packed.csv.gz", "packed"), ("duckdb", "people"), ("sqlite", "people"),
                       ("duckdb of a file", "people"), ("pandas", "table")):  # fmt: skip
        arguments, options = formats[name]
        assert open_table(*arguments, **options).reader.name == stem
    assert open_table(*formats["people.csv"][0]).reader.folder == os.path.dirname(formats["people.csv"][0][0])


# Plain text in large pieces


@pytest.fixture
def read(tmp_path):
    """Read a text as a table: its rows, columns and cells, or what it is refused with."""

    def read(content, **options):
        path = tmp_path / "t.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        try:
            table = open_table(path, **options)
            batches = list(table.batches())
        except ValueError as error:
            return str(error)
        return table, {
            name: [cell for batch in batches for cell in batch[name].originals()] for name in table.reader.names
        }

    return read


def by_python(text, missing=()):
    """The same cells by the standard library."""
    names, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    gone = {*MISSING, *missing}
    cells = [[None if cell.strip().lower() in gone else cell.strip() for cell in row] for row in rows]
    return dict(zip(names, map(list, zip(*cells))))


def lines(n=400):
    rng = np.random.default_rng(4)
    return [f"{v!r},{w:.4f},{k},{'NA' if k % 5 == 0 else k * 1000},c{k % 3}" for v, w, k in
            zip(rng.normal(size=n).tolist(), np.exp(9 * rng.normal(size=n)), rng.integers(0, 99, n).tolist())]  # fmt: skip


@pytest.fixture(params=[1, 2], ids=["alone", "threads"])
def threads(request):
    """As many threads as pyarrow takes; alone, it words its errors otherwise."""
    pyarrow = pytest.importorskip("pyarrow")
    before = pyarrow.cpu_count()
    pyarrow.set_cpu_count(request.param)
    yield
    pyarrow.set_cpu_count(before)


@pytest.mark.parametrize("block", [400, 1 << 22])
@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows,
        lambda rows: [" , ".join(row.split(",")) for row in rows],
        lambda rows: [*rows[:99], "", '"1",2,3,"4",c1', *rows[99:]],
        lambda rows: [*rows, "1e5,-.5,+7,1E-3,é"],
        lambda rows: [*rows, "1e400,007,3,12345678901234567890,é"],
        lambda rows: [*rows, "1_000,inf,1e,--1,."],
        lambda rows: [*rows, "0x10,1.2.3,5.,12345678901234567,nan"],
        lambda rows: [*rows, '"two\nlines",2,"a ""b""",4,c"d'],
        lambda rows: [row + "\r" for row in rows],
        lambda rows: [*rows, "1,2,3,4,a\r1,2,3,4,b"],
    ],
)
def test_cells_are_what_python_reads(read, monkeypatch, threads, block, change):
    monkeypatch.setattr(delimited, "BLOCK", block)
    for text in ("\n".join(["a,b,c,d,e", *change(lines())]) + "\n", "\n".join(["a,b,c,d,e", *change(lines())])):
        assert read(text)[1] == by_python(text)
        assert read(text, missing=["-999", "7000", "inf"])[1] == by_python(text, ("-999", "7000", "inf"))


@pytest.mark.parametrize("block", [400, 1 << 22])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,2,3", "t.csv, line 402: 3 cells under 5 column names"),
        ('1,2,3,4,"c', 't.csv: a quote (") opens in or after line 402 and is never closed'),
    ],
)
def test_faults_are_found_in_their_lines(read, monkeypatch, block, line, message):
    monkeypatch.setattr(delimited, "BLOCK", block)
    assert message in read("\n".join(["a,b,c,d,e", *lines(), line, *lines(3)]) + "\n")
    assert "t.csv, line 4002: it holds a NUL character" in read("\n".join(["a,b,c,d,e", *lines(4000), "1,2,3,4,5\0"]))


def test_other_encodings_and_separators(read, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 128)
    text = "a;b\n" + "".join(f"{j},5;Größe {j % 2}\n" for j in range(40))
    found = read(text)[1]
    assert found["b"][:2] == ["Größe 0", "Größe 1"]
    for content, options in (
        (text.encode("cp1252"), {"encoding": "cp1252"}), (text.encode("utf-16"), {}), (text.replace(";", "\t"), {}),
        (text.replace(";", "|").replace("\n", "\r"), {}), (gzip.compress(text.encode(), mtime=0), {}),
    ):  # fmt: skip
        assert read(content, **options)[1] == found
    assert "not UTF-8 text: byte 0xf6 in line 2; it looks like cp1252" in read(text.encode("cp1252"))


def test_numbers_are_pythons_to_the_last_bit(read):
    rng = np.random.default_rng(5)
    texts = [
        *map(repr, (rng.normal(size=3000) * 10.0 ** rng.integers(-300, 300, 3000)).tolist()),
        "0.1", "1e22", "1e23", "123456789012345678e-5", "9007199254740992.5", "4503599627370497.5",
    ]  # fmt: skip
    table, _ = read("a,b\n" + "".join(f"{text},x\n" for text in texts))
    np.testing.assert_array_equal(next(table.batches())["a"].values, np.array(list(map(float, texts))))


ROWS = "1.5,x\n2.5,y\n3.5,x\n"


@pytest.mark.parametrize(
    ("content", "options", "names", "note", "n_rows"),
    [
        ("a,b\n" + ROWS, {}, ["a", "b"], None, 3),
        (ROWS, {"header": "no"}, ["column_1", "column_2"], None, 3),
        ("\ufeff" + ROWS, {"header": False}, ["column_1", "column_2"], None, 3),
        ("1,2\n1.5,3\n", {}, ["1", "2"], "the first line holds numbers only (1, 2…) and was taken as names; if it is a row, use "
         "header='no'", 1),
        ("Sales of 2024\n\na,b\n" + ROWS, {}, ["a", "b"], "names of columns were found in line 3, below 'Sales of 2024'; to take "
         "other lines, use skip=2", 3),
        ("Sales of 2024;\nfor the board;\na;b\n" + ROWS.replace(",", ";"), {}, ["a", "b"], "names of columns were found in", 3),
        ("made by hand\nx,y\n1,2\na,b\n" + ROWS, {"skip": 3}, ["a", "b"], None, 3),
        ("made by hand\n" + ROWS, {"skip": 1, "header": "no"}, ["column_1", "column_2"], None, 3),
        ("2023,,2024,\nq1,q2,q1,q2\n" + "1,2,3,4\n" * 3, {}, ["2023 q1", "2023 q2", "2024 q1", "2024 q2"], "names of columns", 3),
        (",,c\n1,2,3\n4,5,6\n7,8,9\n", {}, ["column_1", "column_2", "c"], "column 1 has no name", 3),
    ],
)  # fmt: skip
def test_where_the_names_are(read, tmp_path, content, options, names, note, n_rows):
    found = read(content, **options)
    assert not isinstance(found, str), found
    table, cells = found
    assert table.reader.names == names
    assert table.n_rows == len(cells[names[0]]) == n_rows
    assert (note is None and not table.notes) or table.notes[0].startswith(note)
    if ";" not in content and "\ufeff" not in content:  # the same as a sheet
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in csv.reader(io.StringIO(content)):
            book.active.append([None if cell == "" else float(cell) if cell[0].isdigit() else cell for cell in row])
        book.save(tmp_path / "t.xlsx")
        sheet = open_table(tmp_path / "t.xlsx", **options)
        assert sheet.n_rows == n_rows
        if not any(name[0].isdigit() for name in names):
            assert sheet.reader.names == names


def test_bad_headers(read, tmp_path):
    assert "skip=-1 is not a whole number of at least 0" in read(ROWS, skip=-1)
    assert "header='maybe' is neither yes nor no" in read(ROWS, header="maybe")
    assert "holds nothing but blank lines" in read(ROWS, skip=9)
    write_all(tmp_path)
    with pytest.raises(ValueError, match=r"skip=1 is for text and Excel files, and .*people.parquet is none"):
        open_table(tmp_path / "people.parquet", skip=1)


def test_text_files_need_nothing_but_the_bare_install(tmp_path):
    script = f"""
import sys
import tempfile
class Bare:
    def find_spec(self, name, path=None, target=None):
        if name in ("pandas", "polars", "duckdb", "python_calamine", "adbc_driver_postgresql", "matplotlib"):
            raise ImportError(name)
sys.meta_path.insert(0, Bare())
from tacit.cli.main import main
from tacit.tables import open_table
path = {str(write_csv(tmp_path / "people.csv", mixed()))!r}
assert main(["inspect", path]) == 0
for arguments, extra in ((("duckdb://", "select 1"), "tacit[sql]"),
                         (("postgresql://h/x", "select 1"), "tacit[sql]"), ((path[:-3] + "xlsx",), "tacit[excel]")):
    try:
        open_table(arguments[0], sql=arguments[1] if len(arguments) > 1 else None)
    except ImportError as error:
        assert extra in str(error), error
    else:
        raise AssertionError(arguments)
"""
    with zipfile.ZipFile(tmp_path / "people.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "height" in done.stdout
