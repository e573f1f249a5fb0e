"""What the tables of results hold, whatever the table was read from: one pass, own types, ids that join."""

import csv
import sqlite3

import numpy as np
import pytest

from tacit.cli.main import main
from tacit.tables import delimited, reader

QUICK = ["--quiet", "--no-report", "--groups", "1-2"]


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def visits(n=120):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n) + np.where(np.arange(n) < n // 2, 6.0, 0.0)
    y = np.where(rng.random(n) < 0.2, None, (x + rng.normal(size=n)).round(3))
    days = np.datetime64("2024-01-01") + np.arange(n) % 60
    return [(1000 + i, round(float(a), 3), b, str(day)) for i, (a, b, day) in enumerate(zip(x, y, days))]


@pytest.fixture
def table(tmp_path):
    """The same table as text and in databases, with more rows than are kept between passes."""
    path = tmp_path / "visits.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("row", "x", "y", "day"), *visits()])
    return path


@pytest.fixture
def database(tmp_path):
    with sqlite3.connect(tmp_path / "clinic.db") as connection:
        connection.execute("create table visits (row integer, x real, y real, day text)")
        connection.executemany("insert into visits values (?, ?, ?, ?)", visits())
    return f"sqlite:///{tmp_path / 'clinic.db'}"


@pytest.mark.parametrize("order", ["", " order by random()"])
def test_rows_of_a_query_are_read_once_to_be_written(tmp_path, database, monkeypatch, order):
    monkeypatch.setattr(reader, "KEPT_CELLS", 0)
    monkeypatch.setattr(reader, "BATCH_ROWS", 25)
    known = {str(number): (x, y) for number, x, y, _ in visits()}
    query = ["--sql", f"select * from visits{order}", "--from", database, "--id", "row", "--out", str(tmp_path)]
    for command, name in (("fit", "visits.fit.filled.csv"), ("impute", "visits.impute.filled.csv")):
        assert main([command, *query, *QUICK]) == 0
        filled = rows_of(tmp_path / name)
        assert len(filled) == len(known)
        for row in filled:
            x, y = known[row["row"]]
            assert float(row["x"]) == x
            assert float(row["y"]) == y if y is not None else row["y"] != ""
    assert main(["reduce", *query, "--quiet", "--no-report", "--axes", "1"]) == 0
    assert {row["row (id)"] for row in rows_of(tmp_path / "visits.reduce.scores.csv")} == set(known)


def test_duckdb_runs_one_query_at_a_time(tmp_path, table, monkeypatch):
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(reader, "KEPT_CELLS", 0)
    query = ["--sql", f"select * from '{table}'", "--from", "duckdb://", "--id", "row", "--out", str(tmp_path)]
    for command in (["fit", *QUICK], ["impute", *QUICK], ["reduce", "--quiet", "--no-report", "--axes", "1"]):
        assert main([*command, *query]) == 0
    model = next(tmp_path.glob("*.reduce.tacit"))
    assert main(["predict", str(model), "--quiet", *(word for word in query if word not in ("--id", "row"))]) == 0


def test_ids_join_and_keep_their_names(tmp_path, table):
    assert main(["fit", str(table), "--id", "row", *QUICK]) == 0
    assert main(["impute", str(table), "--id", "row", *QUICK]) == 0
    groups, cells, imputed = (
        rows_of(tmp_path / f"visits.{name}.csv") for name in ("fit.groups", "fit.cells", "impute.cells")
    )
    assert groups[0]["row (id)"] == "1000"
    for row in (*cells, *imputed):
        assert int(row["row (id)"]) == 999 + int(row["row"])


def test_parquet_of_a_text_has_numbers_and_ids_of_one_type(tmp_path, table):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert main(["fit", str(table), "--id", "row", "--as", "day=number", "--format", "parquet", *QUICK]) == 0
    kinds = {field.name: str(field.type) for field in parquet.read_schema(tmp_path / "visits.fit.filled.parquet")}
    assert (kinds["x"], kinds["y"], kinds["day"]) == ("double", "double", "date32[day]")
    filled = parquet.read_table(tmp_path / "visits.fit.filled.parquet")
    assert filled.column("y").null_count == 0
    assert main(["fit", str(tmp_path / "visits.fit.filled.parquet"), "--id", "row", *QUICK]) == 0
    types = {
        str(parquet.read_schema(tmp_path / f"visits.fit.filled.fit.{name}.parquet").field("row (id)").type)
        for name in ("groups",)
    }
    assert types == {str(parquet.read_schema(tmp_path / "visits.fit.filled.parquet").field("row").type)}


def test_dates_are_filled_with_dates(tmp_path, table):
    text = table.read_text(encoding="utf-8").replace("2024-01-07", "")
    table.write_text(text, encoding="utf-8")
    assert main(["fit", str(table), "--id", "row", "--as", "day=number", *QUICK]) == 0
    assert all(row["day"].startswith("2024-0") for row in rows_of(tmp_path / "visits.fit.filled.csv"))
    dated = [row for row in rows_of(tmp_path / "visits.fit.cells.csv") if row["column"] == "day"]
    assert len(dated) == 2
    assert all(row["low"] < row["value"] < row["high"] for row in dated)
    assert all(row["low"][:2] == "20" and len(row["low"]) == 10 for row in dated)


def test_a_model_of_axes_fills_new_rows_as_it_filled_its_own(tmp_path, table):
    assert main(["impute", str(table), "--id", "row", "--method", "factors", "--quiet", "--no-report"]) == 0
    model = str(tmp_path / "visits.impute.tacit")
    assert main(["predict", model, str(table), "--fill", "--quiet"]) == 0
    imputed, filled = rows_of(tmp_path / "visits.impute.filled.csv"), rows_of(tmp_path / "visits.predict.filled.csv")
    assert [row["y"] for row in filled] == [row["y"] for row in imputed]
    assert all(row["y"] for row in filled)
    cells = rows_of(tmp_path / "visits.predict.cells.csv")
    assert len(cells) == sum(y is None for _, _, y, _ in visits())
    assert all(float(row["low"]) < float(row["value"]) < float(row["high"]) for row in cells)


def test_texts_of_numbers_are_written_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 600)  # so that numbers are read as numbers, and their texts again
    rng = np.random.default_rng(0)
    lines = [f"{x:.3f},{y:.2e},{'NA' if j % 9 == 0 else f'{x + y:08.3f}'},k{j % 2}"
             for j, (x, y) in enumerate(rng.normal(5, 1, (200, 2)))]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join(["x,y,z,k", *lines]) + "\n")
    assert main(["fit", str(tmp_path / "t.csv"), *QUICK]) == 0
    filled = (tmp_path / "t.fit.filled.csv").read_text().splitlines()[1:]
    assert len(filled) == 200
    for j, (before, after) in enumerate(zip(lines, filled)):
        known, told = before.split(","), after.split(",")
        assert [known[i] for i in (0, 1, 3)] == [told[i] for i in (0, 1, 3)]
        assert (known[2] == told[2]) == (j % 9 != 0)
        assert abs(float(told[2]) - 10) < 8
