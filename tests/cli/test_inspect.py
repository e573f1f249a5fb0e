"""`tacit inspect`: what it tells, to people and to programs."""

import json
import shlex
import shutil

import numpy as np
import pytest

from tacit.cli.main import main
from tacit.datasets import penguins_path


@pytest.fixture
def inspect(capsys):
    def inspect(*arguments):
        code = main(["inspect", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return inspect


@pytest.fixture
def visits(tmp_path):
    """A table with everything that is worth a remark."""
    rng = np.random.default_rng(5)
    n = 100
    cost, age = rng.normal(50, 5, n).round(2), rng.integers(20, 80, n)
    cost[41] = 5000.25
    age = [str(v) for v in age]
    age[3] = age[7] = "-999"
    rows = [[f"v{j}", f"{cost[j]}", age[j], f"{2 * cost[j]:.2f}", "ab"[j % 2], "2024-01-31"] for j in range(n)]
    for row in rows[10:20]:
        row[1] = row[3] = ""
    rows[30][1:] = [""] * 5
    path = tmp_path / "my visits.csv"
    path.write_text("visit,cost,age,double,kind,day\n" + "\n".join(",".join(row) for row in [*rows, rows[0]]) + "\n")
    return path


def test_penguins_on_a_page(inspect, tmp_path):
    path = shutil.copy(penguins_path(), tmp_path)
    code, out, err = inspect(path)
    assert (code, err) == (0, "")
    assert f"{path}: 344 rows, 8 columns; 19 of 2,752 cells missing (0.7 %)" in out
    assert "body_mass_g        measurement  2 (0.6 %)   2700 to 6300, mean 4202" in out
    assert "species            category     none        Adelie (152), Gentoo (124), Chinstrap (68)" in out
    assert "2 rows (0.6 %): bill_length_mm, bill_depth_mm, flipper_length_mm, body_mass_g, sex" in out
    assert "  year: whole numbers taken as codes; if their size counts, use --as year=number" in out
    assert out.rstrip().endswith(f"tacit fit {path}")
    assert [p.name for p in tmp_path.iterdir()] == ["penguins.csv"]


def test_everything_worth_a_remark(inspect, visits):
    code, out, err = inspect(visits)
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert any(line.startswith("cost 1") and line.endswith("5000 42") for line in lines)
    assert "1 row repeats an earlier row in every column" in lines
    assert "1 row without any value but the id" in lines
    assert "10 rows (9.9 %): cost, double" in lines
    assert "age: -999 occurs 2 times, far from the rest; if it stands for missing, use --missing=-999" in lines
    assert "double: equals 2 × cost; leave one of them out: --ignore double" in lines
    assert any(line.startswith("visit id none 100 different") for line in lines)
    assert lines[-1].endswith(f"tacit fit '{visits}' --missing=-999 --ignore double")


def test_for_programs(inspect, visits):
    code, out, _ = inspect(visits, "--json", "--as", "day=number", "--id", "visit")
    found = json.loads(out)
    assert code == 0
    assert (found["n_rows"], found["repeated_rows"], found["blank_rows"]) == (101, 1, 1)
    assert {column["name"]: column["role"] for column in found["columns"]} == {
        "visit": "id", "cost": "measurement", "age": "measurement", "double": "measurement", "kind": "category",
        "day": "constant",
    }  # fmt: skip
    assert found["outlying"][0]["row"] == 42
    assert found["next"][-1]["command"] == (
        f"tacit fit '{visits}' --missing=-999 --as day=number --ignore double --id visit"
    )


def test_tails_and_second_peaks_are_no_outlying_cells(inspect, tmp_path):
    rng = np.random.default_rng(0)
    price = np.where(np.arange(400) % 4 == 0, rng.normal(4, 0.1, 400), rng.normal(1, 0.1, 400))
    weight = np.append(rng.normal(70, 5, 399), 700)
    path = tmp_path / "t.csv"
    path.write_text("price,weight\n" + "".join(f"{a:.3f},{b:.3f}\n" for a, b in zip(price, weight)))
    found = json.loads(inspect(path, "--json")[1])["outlying"]
    assert [(each["column"], each["n"], each["row"]) for each in found] == [("weight", 1, 400)]


def test_wide_tables_are_cut(inspect, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.csv"
    rows = rng.normal(size=(20, 200)).round(3)
    path.write_text(
        ",".join(f"c{j}" for j in range(200)) + "\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    )
    code, out, _ = inspect(path)
    assert code == 0
    assert "… and 150 more columns; --all shows them" in out
    assert ("c49" in out, "c50 " in out) == (True, False)
    assert "c199" in inspect(path, "--all")[1]


def test_a_query_hides_its_password_and_keeps_its_options(inspect, tmp_path, monkeypatch):
    import sqlite3

    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("shop.db") as connection:
        connection.execute("create table visits (a, b)")
        connection.executemany(
            "insert into visits values (?, ?)", [(j / 4, None if j % 5 == 0 else j % 3) for j in range(50)]
        )
    connection.close()
    code, out, _ = inspect("--sql", "select * from visits", "--from", "sqlite:///shop.db")
    assert code == 0
    assert "shop.db: select * from visits: 50 rows, 2 columns" in out
    assert out.rstrip().endswith("tacit fit --sql 'select * from visits' --from sqlite:///shop.db")


@pytest.mark.parametrize(
    ("content", "end"),
    [
        ("a\n1\n", "tacit inspect {} --as a=category"),
        ("a,b\n,\n,\n", "tacit inspect {} --as a=category"),
        ("a\nx\ny\nx\n", "tacit fit {}"),
    ],
)
def test_tables_with_next_to_nothing_in_them(inspect, tmp_path, content, end):
    path = tmp_path / "t.csv"
    path.write_text(content)
    code, out, _ = inspect(path)
    assert code == 0
    assert out.rstrip().endswith(end.format(path))
    assert json.loads(inspect(path, "--json")[1])["n_rows"] == content.count("\n") - 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one table: either a file, or a query with --sql and --from."),
        (["--sql", "select 1"], "--sql needs a database; say which with --from, such as --from sqlite:///shop.db."),
        (["--from", "sqlite:///x.db"], "--from needs a query; say which rows to read with --sql"),
        (
            ["t.csv", "--columns", "heigth"],
            "t.csv has no column 'heigth', which --columns names; did you mean 'height'?",
        ),
        (["t.csv", "--columns", '"a,b",height'], "t.csv has no column 'a,b', which --columns names"),
        (["nowhere.csv"], "there is no file nowhere.csv."),
    ],
)
def test_bad_usage(inspect, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("height\n1.5\n2.5\n")
    code, out, err = inspect(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"tacit: {message}")


@pytest.mark.parametrize("role", ["height=banana", "height", "=number"])
def test_bad_roles(capsys, role):
    with pytest.raises(SystemExit):
        main(["inspect", "t.csv", "--as", role])
    assert (
        "is not NAME=ROLE with a role of number, yes/no, count, category, ordinal, date, id" in capsys.readouterr().err
    )


def test_next_follows_the_note(inspect, tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(["id", *(str(3 * j) for j in range(60))]))
    _, out, _ = inspect(tmp_path / "t.csv")
    assert "if they measure something, use --as id=number" in out
    assert f"tacit inspect {tmp_path / 't.csv'} --as id=number" in out


def test_topics_are_recommended_for_free_text(tmp_path, capsys):
    subjects = (
        "soup bread cheese kitchen waiter menu dessert coffee",
        "train airport ticket luggage hotel beach flight delay",
    )
    rng = np.random.default_rng(0)
    lines = [f"{i % 5},{' '.join(rng.choice(subjects[i % 2].split(), 12))}" for i in range(60)]
    (tmp_path / "reviews.csv").write_text("stars,my comment\n" + "\n".join(lines))
    place = str(tmp_path / "reviews.csv")
    assert main(["inspect", place, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    command = f"tacit topics {place} --text 'my comment'"
    assert command in [step["command"] for step in told["next"]]
    assert told["recommended"]["command"] == command
    assert (
        told["recommended"]["because"]
        == "my comment is free text, of 12 words on average, and 1 other column can be used"
    )
    assert main([*shlex.split(command)[1:], "--topics", "2", "--method", "anchors", "--quiet"]) == 0


def test_a_gross_error_among_cells_that_are_mostly_alike_is_told(tmp_path, capsys):
    cells = [0] * 180 + list(range(100, 139)) + [295140]
    (tmp_path / "t.csv").write_text("spent,x\n" + "".join(f"{cell},{k % 17}.5\n" for k, cell in enumerate(cells)))
    assert main(["inspect", str(tmp_path / "t.csv"), "--json"]) == 0
    (found,) = [each for each in json.loads(capsys.readouterr().out)["outlying"] if each["column"] == "spent"]
    assert (found["value"], found["row"], found["n"]) == (295140, 220, 1)
