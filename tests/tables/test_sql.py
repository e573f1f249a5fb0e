"""Queries of DuckDB and SQLite: what is read, and that nothing can be written."""

import sqlite3

import pytest

from tacit.tables import open_table
from tacit.tables.sql import secrets_of, without_password


@pytest.fixture
def files(tmp_path):
    import duckdb

    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(
            "create table visits as select i as id, i * 0.5 as cost, 'c' || (i % 3) as colour from range(40) t(i)"
        )
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("create table visits (id, cost, colour)")
        connection.executemany("insert into visits values (?, ?, ?)", [(i, i * 0.5, f"c{i % 3}") for i in range(40)])
        connection.execute("create table odd (cost)")
        connection.executemany("insert into odd values (?)", [(1,), (2.5,), ("x",), (b"\1\2",), (None,)])
    connection.close()
    return tmp_path


@pytest.fixture(params=["duckdb", "sqlite"])
def address(files, request):
    return f"duckdb://{files}/shop.duckdb" if request.param == "duckdb" else f"sqlite:///{files}/shop.db"


def refused(address, sql):
    with pytest.raises(ValueError) as caught:
        open_table(address, sql=sql)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_query(address):
    table = open_table(address, sql="select id, cost, colour from visits where id >= 10 order by id desc; ")
    assert (table.n_rows, table.reader.name, table.ids) == (30, "visits", ["id"])
    assert table.cells[:2].tolist() == [[19.5, 0.0], [19.0, 2.0]]


def test_relative_paths(files, monkeypatch):
    monkeypatch.chdir(files)
    for address in ("duckdb://shop.duckdb", "duckdb:///shop.duckdb", "sqlite:///shop.db", "sqlite://shop.db"):
        assert open_table(address, sql="select * from visits").n_rows == 40


@pytest.mark.parametrize(
    "sql",
    [
        "insert into visits values (1, 2, 'x')", "drop table visits", "create table other as select 1", "attach 'new.db' as b",
        "vacuum into 'copy.db'", "copy visits to 'copy.csv'", "pragma journal_mode = wal", "select 1; drop table visits",
        "with a as (select 1) insert into visits select 1, 2, 'x'", "export database 'copy'",
    ],
)  # fmt: skip
def test_nothing_can_be_written(files, address, sql, monkeypatch):
    monkeypatch.chdir(files)
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    message = refused(address, sql)
    assert "read" in message or "one query" in message
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_a_database_in_memory_writes_no_file(files, monkeypatch):
    monkeypatch.chdir(files)
    before = sorted(path.name for path in files.iterdir())
    for sql in ("copy (select 1) to 'copy.csv'", "select 1; copy (select 1) to 'copy.csv'"):
        assert "read" in (told := refused("duckdb://", sql)) or "one query" in told
    assert sorted(path.name for path in files.iterdir()) == before


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select * from nowhere", "nowhere"),
        ("select heigth from visits", "heigth"),
        (
            "selec * from visits",
            "the query begins with 'selec', and only queries that read are run; begin with select or with.",
        ),
        ("select * fromm visits", "syntax error"),
        ("  ", "the query is empty; write one such as 'select * from visits'."),
        ("select * from visits where id > 99", "has no rows; at least one is needed."),
        ("select id as a, cost as a from visits", "names the column 'a' twice"),
    ],
)
def test_queries_that_fail(address, sql, message):
    assert message in refused(address, sql)


def test_places_that_are_no_database(tmp_path):
    (tmp_path / "t.txt").write_text("no database, but long enough to look at" * 20)
    assert "file is not a database" in refused(f"sqlite:///{tmp_path}/t.txt", "select 1")
    assert "cannot be opened as a DuckDB database" in refused(f"duckdb://{tmp_path}/t.txt", "select 1")
    assert "there is no database file" in refused(f"sqlite:///{tmp_path}/nowhere.db", "select 1")
    assert "sqlite:// needs a file" in refused("sqlite://", "select 1")
    assert refused("mysql://root:geheim@host/x", "select 1") == (
        "'mysql://root:***@host/x' is not a supported database; use duckdb://FILE, sqlite:///FILE or "
        "postgresql://USER@HOST/NAME."
    )


def test_cells_of_several_types_in_one_column(files):
    column = open_table(f"sqlite:///{files}/shop.db", sql="select * from odd").columns[0]
    assert (column.n_missing, column.role) == (1, "category")
    batch = next(open_table(f"sqlite:///{files}/shop.db", sql="select * from odd").batches())
    assert batch["cost"].values.tolist() == ["1", "2.5", "x", "2 bytes", None]


def test_passwords_are_hidden():
    for url in ("postgresql://u:p%40ss:w@host/x", "postgresql://host/x?user=u&password=p%40ss:w"):
        assert "p%40ss" not in without_password(url)
        assert "p@ss:w" in secrets_of(url)
