"""A real PostgreSQL server: the same table as elsewhere, and nothing is ever written."""

import pytest

from tacit.mixture import Mixture
from tacit.tables import open_table, reader

from .mixed import N, mixed, write_csv
from .server import binaries, run, server

pytest.importorskip("adbc_driver_postgresql", reason="tacit[sql] is not installed")
pytestmark = [
    pytest.mark.skipif(binaries() is None, reason="no PostgreSQL server is installed (initdb, postgres)"),
    pytest.mark.xdist_group("postgres"),
]
TYPES = {
    "customer": "bigint", "height": "numeric(6, 2)", "visits": "int", "grade": "smallint", "joined": "date", "colour": "text",
}  # fmt: skip


@pytest.fixture(scope="module")
def address():
    columns = mixed()
    types = ", ".join(f"{name} {TYPES.get(name, 'varchar(20)')}" for name in columns)
    rows = ", ".join(
        "(" + ", ".join("null" if v is None else f"'{v}'" for v in row) + ")" for row in zip(*columns.values())
    )
    with server() as address:
        run(address, f"create table people ({types})", f"insert into people values {rows}")
        yield address


def refused(address, sql):
    with pytest.raises(ValueError) as caught:
        open_table(address, sql=sql)
    message = str(caught.value)
    assert "\n" not in message
    assert "se%40cret" not in message
    assert "se@cret" not in message
    return message


def test_the_same_table_as_in_a_file(address, tmp_path):
    plain = open_table(write_csv(tmp_path / "people.csv", mixed()))
    table = open_table(address, sql="select * from people")
    for ours, theirs in zip(table.columns, plain.columns, strict=True):
        for field in ("name", "role", "reason", "left_out", "n_missing", "levels", "counts", "low", "high", "notes"):
            assert getattr(ours, field) == getattr(theirs, field), (ours.name, field)
    assert (table.cells == plain.cells)[~(plain.cells != plain.cells)].all()
    assert (table.reader.name, table.reader.place.partition(": ")[2]) == ("people", "select * from people")


def test_a_mixture_is_learnt_from_passes_over_the_server(address, monkeypatch):
    small = open_table(address, sql="select * from people").source()
    monkeypatch.setattr(reader, "KEPT_CELLS", 0)
    monkeypatch.setattr(reader, "BATCH_ROWS", 50)
    table = open_table(address, sql="select * from people where visits is not null or visits is null;")
    model = Mixture(2, max_iter=3, random_state=0).fit(table.source())
    assert model.lower_bound_ == Mixture(2, max_iter=3, random_state=0).fit(small).lower_bound_
    assert sum(batch.n_rows for batch in table.batches()) == N


def test_odd_types_are_left_out_and_times_are_dates(address):
    sql = """select g as id, case g % 2 when 0 then true end as ok, array[g] as list, '{"a": 1}'::jsonb as json,
             now() + g * interval '1 hour' as moment, 'NaN'::numeric as gone from generate_series(1, 40) g"""
    columns = {column.name: column for column in open_table(address, sql=sql).columns}
    assert {name: column.role for name, column in columns.items()} == {
        "id": "id", "ok": "constant", "list": "text", "json": "constant", "moment": "date", "gone": "empty",
    }  # fmt: skip
    assert columns["list"].left_out == "holds lists or records"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "drop table people",
            "the query begins with 'drop', and only queries that read are run; begin with select or with.",
        ),
        ("with gone as (delete from people returning *) select * from gone", "the query does more than read ("),
        ("select nextval(pg_get_serial_sequence('people', 'x'))", "does not exist; correct the query."),
        ("select * from nowhere", 'relation "nowhere" does not exist; correct the query.'),
        ("select 1; drop table people", "cannot insert multiple commands into a prepared statement"),
        ("select heigth from people", 'column "heigth" does not exist; correct the query.'),
        ("select 1 / 0", "division by zero; correct the query."),
        ("select 1 as a, 2 as a", "names the column 'a' twice (columns 1 and 2); rename one."),
        ("select * from people where false", "has no rows; at least one is needed."),
        ("", "the query is empty; write one such as 'select * from visits'."),
    ],
)
def test_queries_that_fail(address, sql, message):
    assert message in refused(address, sql)
    assert open_table(address, sql="select * from people").n_rows == N


def test_servers_that_do_not_answer(address):
    assert 'role "nobody_here" does not exist; check host, port, user and name' in refused(
        address.replace("tester", "nobody_here"), "select 1"
    )
    assert 'database "elsewhere" does not exist' in refused(address.replace("/postgres", "/elsewhere"), "select 1")
    assert "Connection refused" in refused("postgresql://u:se%40cret@127.0.0.1:1/x", "select 1")


def test_groups_of_a_query_are_those_of_the_file(address, tmp_path, capsys):
    from tacit.cli.main import main

    (tmp_path / "sql").mkdir()
    (tmp_path / "file").mkdir()
    asked = ["--groups", "1-2", "--covariance", "tied", "--quiet"]
    query = ["--sql", "select * from people", "--from", address]
    assert main(["fit", *query, "--out", str(tmp_path / "sql"), *asked]) == 0
    told = capsys.readouterr().out
    plain = str(write_csv(tmp_path / "people.csv", mixed()))
    assert main(["fit", plain, "--out", str(tmp_path / "file"), *asked]) == 0
    made = sorted(path.name for path in (tmp_path / "sql").iterdir())
    endings = ("cells.csv", "filled.csv", "groups.csv", "html", "tacit")
    assert made == [f"people.fit.{ending}" for ending in endings]
    groups = [(tmp_path / folder / "people.fit.groups.csv").read_text(encoding="utf-8") for folder in ("sql", "file")]
    assert groups[0] == groups[1]
    for path in (tmp_path / "sql").iterdir():
        assert b"cret@" not in path.read_bytes(), path.name
    assert "cret@" not in told
    model = str(tmp_path / "sql" / "people.fit.tacit")
    assert main(["predict", model, *query, "--out", str(tmp_path), "--quiet"]) == 0
    assert main(["report", model, *query, "--out", str(tmp_path / "again.html")]) == 0
    assert (tmp_path / "again.html").exists()
