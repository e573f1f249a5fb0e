"""`tacit fit`: what it reports and writes, and how it refuses."""

import csv
import json
import os
import re
import shutil
import sys
import types

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.cli.outcome import plain
from tacit.datasets import penguins_path
from tacit.mixture import Mixture, sweep
from tacit.persistence import notes

QUICK = ("--groups", "1-2", "--covariance", "full")


@pytest.fixture(autouse=True)
def page(monkeypatch):
    """A page that is quickly made; the real one has tests of its own."""
    module = types.SimpleNamespace(render=lambda findings: f"<html>{findings.title}: {findings.summary[0]}</html>")
    monkeypatch.setitem(sys.modules, "tacit.report.page", module)


@pytest.fixture
def run(tmp_path, capsys):
    """Run `tacit fit` on a file of the temporary folder: (exit code, output, errors)."""

    def run(name, content=None, *arguments):
        if content is not None:
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        code = main(["fit", str(tmp_path / name), *arguments])
        return code, *capsys.readouterr()

    return run


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def two_groups(separator=",", n=60):
    """A table with two clear groups, ids and missing values, as text."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2)).round(3) + np.where(np.arange(n) < n // 3, 8.0, 0.0)[:, None]
    colour = np.where(np.arange(n) < n // 3, "red", "blue").astype(object)
    colour[[4, 30]] = ""
    second = ["", "NA", *(str(y) for y in X[2:, 1])]
    lines = [separator.join(["code", "a", "b", "colour"])]
    lines += [separator.join([f"x{i}y", str(x), y, c]) for i, (x, y, c) in enumerate(zip(X[:, 0], second, colour))]
    return "\n".join(lines) + "\n"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# What it says and writes


def test_files_and_text(run, tmp_path):
    code, out, err = run("t.csv", two_groups(), *QUICK)
    assert (code, err) == (0, "")
    assert names(tmp_path) == [
        "t.csv",
        "t.fit.cells.csv",
        "t.fit.filled.csv",
        "t.fit.groups.csv",
        "t.fit.html",
        "t.fit.tacit",
    ]
    assert out.startswith("t: 60 rows, 4 columns\n")
    assert re.search(r"^  colour +(category|yes/no) +.* 2$", out, re.M)
    assert "left out: code (a different value in every row" in out
    assert "60 rows fall into 2 clear groups; refitted to 10 resamples, they come back" in " ".join(out.split())
    assert "2 groups, each group with its own spread and correlations (full); BIC" in out
    assert re.search(r"^  1: 40 rows, 67 %: .*a low", out, re.M)
    # A share of fewer than 20 known cells is not told, but how many of how many there are.
    assert re.search(r"^ +colour = red +19 of 19 +33 % +\+\d\.\d sd +19$", out, re.M)
    assert "4 missing cells" in out
    assert f"tacit predict {tmp_path / 't.fit.tacit'} NEW.csv" in out
    for name in names(tmp_path):
        assert (name == "t.csv") != (str(tmp_path / name) in out)
    assert "\033" not in out
    assert (tmp_path / "t.fit.html").read_text().startswith("<html>t: 60 rows fall into 2 clear groups; ")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_cells_of_a_complete_table_have_a_header(run, tmp_path, ending):
    pd = pytest.importorskip("pandas")
    complete = [line for line in two_groups().splitlines() if not {"", "NA"} & set(line.split(","))]
    code, _, err = run("t.csv", "\n".join(complete), *QUICK, "--format", ending)
    assert (code, err) == (0, "")
    read = pd.read_csv if ending == "csv" else pd.read_parquet
    cells = read(tmp_path / f"t.fit.cells.{ending}")
    assert list(cells)[-6:] == ["row", "column", "value", "low", "high", "probability"]
    assert len(cells) == 0


def test_what_is_written_is_what_the_model_says(run, tmp_path):
    run("t.csv", two_groups(), *QUICK)
    model, told = tacit.load(tmp_path / "t.fit.tacit"), notes(tmp_path / "t.fit.tacit")
    assert isinstance(model, Mixture)
    assert [(column["name"], column["levels"]) for column in told["table"]["columns"]] == [
        ("a", []), ("b", []), ("colour", ["blue", "red"])]  # fmt: skip
    assert (told["command"], told["seed"], told["settings"]["n_rows"]) == ("fit", 0, 60)
    assert told["selection"][0]["n_components"] == 2
    source, groups, filled = (rows_of(tmp_path / f"t.{name}") for name in ("csv", "fit.groups.csv", "fit.filled.csv"))
    X = np.array(
        [[float(row[name]) if row[name] not in ("", "NA") else np.nan for name in "ab"]
         + [{"blue": 0.0, "red": 1.0}.get(row["colour"], np.nan)] for row in source]
    )  # fmt: skip
    cells = np.empty(X.shape, dtype=object)
    cells[:, :2], cells[:, 2] = X[:, :2], [None if np.isnan(c) else ("blue", "red")[int(c)] for c in X[:, 2]]
    order = np.argsort(-model.weights_)
    probability = model.predict_proba(cells)[:, order]
    assert list(groups[0]) == ["code", "row", "group", "probability_1", "probability_2", "outlier", "farther_out"]
    assert [row["code"] for row in groups] == [f"x{i}y" for i in range(60)]
    assert [int(row["row"]) for row in groups] == list(range(1, 61))
    assert [int(row["group"]) for row in groups] == (probability.argmax(axis=1) + 1).tolist()
    found = np.array([[float(row["probability_1"]), float(row["probability_2"])] for row in groups])
    np.testing.assert_allclose(found, probability, atol=1e-6)
    assert {row["outlier"] for row in groups} <= {"yes", "no"}
    expected = model.impute(cells)
    for before, after, cell in zip(source, filled, expected):
        assert float(after["a"]) == float(cell[0])
        assert float(after["b"]) == pytest.approx(cell[1], rel=1e-5)
        assert after["colour"] == cell[2]
        assert all(after[name] == before[name] for name in before if before[name] not in ("", "NA"))
    listed = rows_of(tmp_path / "t.fit.cells.csv")
    assert [(row["row"], row["column"]) for row in listed] == [
        ("1", "b"),
        ("2", "b"),
        ("5", "colour"),
        ("31", "colour"),
    ]
    assert listed[0]["code"] == "x0y"
    assert all(float(row["low"]) < float(row["value"]) < float(row["high"]) for row in listed[:2])
    assert [row["value"] for row in listed[2:]] == ["red", "blue"]
    assert all(0.9 < float(row["probability"]) <= 1 for row in listed[2:])


def test_the_same_seed_gives_the_same_bytes(run, tmp_path):
    results = []
    for folder in ("one", "two"):
        run("t.csv", two_groups(), *QUICK, "--out", str(tmp_path / folder))
        results.append({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()})
    assert len(results[0]) == 5
    assert results[0] == results[1]
    assert names(tmp_path) == ["one", "t.csv", "two"]


def test_json_has_everything(run, tmp_path):
    code, out, _ = run("t.csv", two_groups(), *QUICK, "--json", "--no-report")
    assert code == 0
    data = json.loads(out, parse_constant=lambda text: pytest.fail(f"{text} in JSON"))
    assert data["rows"] == 60
    assert [group["n_rows"] for group in data["groups"]] == [40, 20]
    assert {entry["column"] for entry in data["groups"][0]["profile"]} == {"a", "b", "colour"}
    assert {column["name"]: column["role"] for column in data["columns"]}["code"] == "id"
    assert data["filled"] == {"a": 0, "b": 2, "colour": 2}
    assert data["selection"][0]["bic"] == min(row["bic"] for row in data["selection"] if row["bic"] is not None)
    assert sorted(map(os.path.basename, data["files"])) == [
        "t.fit.cells.csv",
        "t.fit.filled.csv",
        "t.fit.groups.csv",
        "t.fit.tacit",
    ]
    assert "t.fit.html" not in names(tmp_path)


def test_plain_has_no_nan():
    value = {"a": np.array([1.0, np.nan]), 2: (np.float64(np.inf), np.int64(3), np.bool_(True), None, "x")}
    assert plain(value) == {"a": [1.0, None], "2": [None, 3, True, None, "x"]}


def test_mixed_penguins(run, tmp_path):
    shutil.copy(penguins_path(), tmp_path / "penguins.csv")
    code, out, _ = run("penguins.csv", None, "--groups", "3", "--covariance", "tied", "--student", "--ignore", "year")
    assert code == 0
    assert "344 rows fall into 3 clear groups; refitted" in " ".join(out.split())
    assert "(tied), heavy tails; BIC" in out
    assert "year (ignored, as asked)" in out
    assert "species always Gentoo" in out
    assert "a single group was not compared" in " ".join(out.split())
    source, filled = (rows_of(tmp_path / f"penguins.{name}csv") for name in ("", "fit.filled."))
    # Groups that are species do not tell the sex: its 11 missing cells stay empty, and two rows get their measurements.
    assert "11 cells of sex were left empty: no level is probable enough there." in " ".join(out.split())
    assert sum(before != after for before, after in zip(source, filled)) == 2
    assert [row["sex"] for row in filled] == [row["sex"] for row in source]
    assert all(float(row["body_mass_g"]).is_integer() for row in filled)


@pytest.mark.parametrize("criterion", ["icl", "aic", "cv"])
def test_other_criteria(run, criterion):
    code, out, _ = run("t.csv", two_groups(n=45), *QUICK, "--criterion", criterion, "--no-report")
    assert code == 0
    assert {"icl": "ICL", "aic": "AIC", "cv": "log density per row left out"}[criterion] in out
    assert "45 rows fall into 2 clear groups" in out


@pytest.mark.parametrize(
    ("asked", "words"),
    [("VEV", "varying volume, equal shape, varying orientation (VEV)"), ("full,VVV", "(full)")],
)
def test_structures(run, asked, words):
    code, out, _ = run("t.csv", two_groups(), "--groups", "2", "--covariance", asked, "--no-report")
    assert code == 0
    assert words in out
    assert "tried" not in out


def test_a_sample_that_says_nothing_is_refused(run, tmp_path):
    code, out, err = run("t.csv", two_groups(n=400), *QUICK, "--sample", "3")
    assert (code, out) == (2, "")
    assert err == "tacit: --sample 3 is too few rows to compare models of 3 columns on; use at least 100.\n"
    assert names(tmp_path) == ["t.csv"]
    code, _, err = run("t.csv", two_groups(n=60), *QUICK, "--sample", "59")
    assert code == 2
    assert "use at least 60." in err


def test_a_sample_of_rows_chooses_and_the_output_says_so(run):
    code, out, _ = run("t.csv", two_groups(n=400), *QUICK, "--sample", "120", "--restarts", "2")
    assert code == 0
    assert "on 120 rows drawn at random" in out
    assert "chosen on 120 of 400 rows" in " ".join(out.split())


def test_ids_that_are_named_like_results_keep_both(run, tmp_path):
    text = two_groups().replace("code,a", "row,a")
    code, _, _ = run("t.csv", text, *QUICK, "--no-report")
    assert code == 0
    first = rows_of(tmp_path / "t.fit.groups.csv")[0]
    assert (first["row (id)"], first["row"]) == ("x0y", "1")


def test_one_group_is_told_as_such(run):
    rng = np.random.default_rng(5)
    text = "a,b\n" + "".join(f"{x:.4f},{y:.4f}\n" for x, y in rng.normal(size=(80, 2)))
    code, out, _ = run("t.csv", text, *QUICK, "--no-report")
    assert code == 0
    assert "80 rows form one group: by BIC, no division into 2 describes them better." in " ".join(out.split())
    assert "all rows" in out


def test_a_collapsed_winner_is_not_given_an_artificial_bic(run):
    code, out, _ = run(
        "t.csv", "a,b\n" + "1.5,2.5\n3.5,9.5\n7.5,1.5\n" * 10, "--groups", "3", "--covariance", "full", "--no-report"
    )
    assert code == 0
    assert "a group collapsed: too few distinct rows for its columns" in out
    assert "BIC -" not in out


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_results_may_be_read_by_whom_other_files_may(run, tmp_path):
    run("t.csv", two_groups(), "--groups", "1", "--covariance", "full")
    assert len({path.stat().st_mode for path in tmp_path.iterdir()}) == 1


# What it refuses


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "t.csv"), ("a,b\n", "t.csv"), ("a,b\n1,2\n3\n", "t.csv"), ("a,b,a\n1,2,3\n4,5,6\n", "'a'"),
     ("a,b\n1,NA\n1,NA\n", "no column"), ("a,b\n1.5,2.5\n", "t.csv")],
    ids=["empty", "header only", "short row", "repeated name", "nothing measured", "one row"],
)  # fmt: skip
def test_bad_files_get_one_line_and_write_nothing(run, tmp_path, content, message):
    code, out, err = run("t.csv", content)
    assert (code, out) == (2, "")
    assert err.startswith("tacit: ")
    assert message in err
    assert err.count("\n") == 1
    assert names(tmp_path) == ["t.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--columns", "a,c"], "'c'"), (["--groups", "70-80"], "--groups starts at 70, but the table has 60 rows; use at most 60."),
     (["--out", f"{__file__}/x"], f"--out {__file__}/x cannot be a folder: {__file__} is a file; choose another.")],
)  # fmt: skip
def test_arguments_the_table_cannot_meet(run, tmp_path, arguments, message):
    code, out, err = run("t.csv", two_groups(), *arguments)
    assert (code, out) == (2, "")
    assert re.fullmatch(f"tacit: .*{re.escape(message)}.*\n", err)
    assert names(tmp_path) == ["t.csv"]


def test_values_too_large_for_any_model(run, tmp_path):
    text = "a,b\n" + "".join(f"{x}.5e300,{x % 7}.25e300\n" for x in range(30))
    code, out, err = run("t.csv", text, *QUICK)
    assert (code, out) == (2, "")
    assert err.startswith("tacit: ")
    assert err.count("\n") == 1
    assert names(tmp_path) == ["t.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["fly"], "there is no command 'fly'; there are fit, impute, reduce, topics, recommend, segment, network, learn, "),
     (["inspct", "t.csv"], "there is no command 'inspct'; did you mean 'inspect'? (see tacit --help)"),
     (["fit", "t.csv", "--format", "xls"], "there is no --format value 'xls'; there are csv, parquet (see tacit fit --help)"),
     (["fit", "t.csv", "--sql"], "--sql needs a value (see tacit fit --help)"),
     (["predict"], "model is missing (see tacit predict --help)"),
     (["fit", "t.csv", "more.csv"], "'more.csv' is one word too many"),
     (["datasets", "make", "mixed", "--missing", "x"], "--missing: 'x' is no number; say --missing 0.1"),
     (["datasets", "make", "mixed", "--rows", "x"], "--rows: 'x' is no whole number; say --rows 500"),
     (["fit", "t.csv", "--groups", "x"], "'x' is not a range such as 1-9"),
     (["fit", "t.csv", "--groups", "3-1"], "--groups: '3-1' runs backwards; say 1-3 (see tacit fit --help)"),
     (["fit", "t.csv", "--groups", "0-2"], "'0-2' starts below 1, but numbers of groups start at 1"),
     (["fit", "t.csv", "--covariance", "full,banana"], "'banana' is not one of full, tied, diag, spherical"),
     (["fit", "t.csv", "--restarts", "0"], "'0' is not from 1 to 4,294,967,295; say --restarts 1"),
     (["fit", "t.csv", "--seed", "x"], "--seed: 'x' is no whole number; say --seed 0"),
     (["fit", "t.csv", "--banana"], "there is no option --banana (see tacit fit --help)"),
     (["fit", "t.csv", "--seed", "-1"], "'-1' is not from 0 to 4,294,967,295; say --seed 0"),
     (["fit", "t.csv", "--gruops=2"], "there is no option --gruops; did you mean --groups?")],
)  # fmt: skip
def test_bad_usage(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tacit: ")
    assert err.count("\n") == 1
    assert message in err


def test_no_table_or_two(capsys):
    assert main(["fit"]) == 2
    assert "give one table" in capsys.readouterr().err


def test_a_failed_write_leaves_nothing(run, tmp_path, monkeypatch):
    def full(findings):
        raise OSError("disk full")

    monkeypatch.setattr(sys.modules["tacit.report.page"], "render", full)
    code, _, err = run("t.csv", two_groups(), "--groups", "1", "--covariance", "full")
    assert code == 2
    assert err.endswith("t.fit.html could not be written (disk full). Nothing was written.\n")
    assert names(tmp_path) == ["t.csv"]


def test_an_interrupt_that_a_sweep_survives_writes_nothing(run, tmp_path, monkeypatch):
    first = sweep.Sweep._first

    def stop(self, outcome):
        if outcome.settings["n_components"] == 2:
            raise KeyboardInterrupt
        first(self, outcome)

    monkeypatch.setattr(sweep.Sweep, "_first", stop)
    code, out, err = run("t.csv", two_groups(), *QUICK)
    assert (code, out, err) == (130, "", "tacit: stopped; nothing was written.\n")
    assert names(tmp_path) == ["t.csv"]


def test_families_of_columns(run, tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [
        f"{x:.4f},{y:.3f},{'ab'[i % 2]}" for i, (x, y) in enumerate(zip(rng.gamma(2.0, 3.0, 150), rng.normal(size=150)))
    ]
    text = "wait,size,kind\n" + "\n".join(rows) + "\n"
    code, _, _ = run(
        "t.csv", text, "--groups", "2", "--family", "wait=gamma", "--family", "student", "--quiet", "--no-report"
    )
    assert code == 0
    model = tacit.load(tmp_path / "t.fit.tacit")
    assert model.by_column == {"wait": "gamma", ("size",): "student"}
    assert {type(part).__name__ for part, _ in model.family_.parts} == {"Gamma", "StudentT", "Categorical"}
    code, _, err = run("t.csv", None, "--family", "kind=gamma", "--quiet", "--force")
    assert code == 2
    assert (
        err
        == "tacit: --family describes columns of numbers, and 'kind' is none that is used; these are 'wait' and 'size'.\n"
    )
