"""`tacit impute`: what it fills, what it says of it, what it leaves alone, and how it refuses."""

import csv
import json
import shutil

import numpy as np
import pytest

import tacit
from tacit import engine
from tacit.assess.cells import hide_alike
from tacit.cli.main import main
from tacit.datasets import penguins_path
from tacit.impute.choice import choose_imputer
from tacit.impute.trial import judge
from tacit.persistence import notes
from tacit.study.imputation import tell_check
from tacit.tables import open_table

QUICK = ("--groups", "2", "--no-report")


@pytest.fixture
def run(tmp_path, capsys):
    """Run `tacit impute` on a file of the temporary folder: (exit code, output, errors)."""

    def run(name, content=None, *arguments):
        if content is not None:
            (tmp_path / name).write_text(content, encoding="utf-8")
        code = main(["impute", str(tmp_path / name), *arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def penguins(tmp_path):
    return shutil.copy(penguins_path(), tmp_path / "penguins.csv").name


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def visits(n=120, seed=0):
    """A table of people: id, a date, an empty column, a whole-number measurement, a decimal one, a count, a category."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    lines = ["person,seen,nothing,height,score,visits,colour"]
    for i, g in enumerate(group):
        cells = [
            f"p{i:03d}", f"2024-01-{i % 28 + 1:02d}", "", str(round(160 + 25 * g + 4 * rng.normal())),
            f"{3 + 5 * g + rng.normal():.3f}", str(rng.poisson(3 + 9 * g)), ["red", "blue"][int(rng.random() < 0.1 + 0.8 * g)],
        ]  # fmt: skip
        for j in range(3, 7):
            cells[j] = "NA" if rng.random() < 0.1 else cells[j]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# What it writes


def test_everything_else_stays_as_it_was(run, tmp_path):
    code, out, err = run("visits.csv", visits(), *QUICK)
    assert (code, err) == (0, "")
    before, after = rows_of(tmp_path / "visits.csv"), rows_of(tmp_path / "visits.impute.filled.csv")
    cells = rows_of(tmp_path / "visits.impute.cells.csv")
    holes = [(i, name) for i, row in enumerate(before) for name, cell in row.items() if cell == "NA"]
    assert [(int(cell["row"]) - 1, cell["column"]) for cell in cells] == holes
    assert [cell["person"] for cell in cells] == [before[i]["person"] for i, _ in holes]
    for i, row in enumerate(before):
        for name, cell in row.items():
            if (i, name) not in holes:
                assert after[i][name] == cell
    for cell in cells:
        written = after[int(cell["row"]) - 1][cell["column"]]
        if cell["column"] == "colour":
            assert written == cell["value"] in ("red", "blue")
            assert 0.5 <= float(cell["probability"]) <= 1
            assert cell["low"] == cell["high"] == ""
            continue
        low, value, high = (float(cell[key]) for key in ("low", "value", "high"))
        assert low <= value <= high
        assert cell["probability"] == ""
        if cell["column"] in ("height", "visits"):  # whole numbers stay whole, and counts are not negative
            assert float(written) == round(value) >= 0
        else:
            assert float(written) == pytest.approx(value, rel=1e-5)
    assert "nothing has no value in any row and stays empty." in out


def test_the_model_remembers_the_table(run, tmp_path):
    run("visits.csv", visits(), *QUICK, "--method", "mixture")
    path = tmp_path / "visits.impute.tacit"
    told = notes(path)
    assert told["command"] == "impute"
    assert told["table"]["name"] == "visits"
    assert told["settings"]["level"] == 0.9
    used = {column["name"]: column["role"] for column in told["table"]["columns"]}
    assert used["colour"] == "category"
    assert used["visits"] == "count"
    assert len(told["selection"]) == 3
    assert told["selection"][0]["n_components"] == 2
    assert tacit.load(path).n_components == 2


def test_draws_differ_and_keep_what_is_known(run, tmp_path):
    assert run("visits.csv", visits(), *QUICK, "--draws", "2")[0] == 0
    first, second = (rows_of(tmp_path / f"visits.impute.draw{k}.csv") for k in (1, 2))
    before = rows_of(tmp_path / "visits.csv")
    assert first != second
    for known, one, other in zip(before, first, second):
        assert all(one[name] == other[name] == cell for name, cell in known.items() if cell not in ("NA", ""))
        assert "NA" not in one.values()
        assert float(one["visits"]) >= 0


def test_same_seed_same_bytes(run, tmp_path):
    kept = {}
    for _ in range(2):
        assert run("visits.csv", visits(), *QUICK, "--draws", "1", "--force")[0] == 0
        found = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix in (".csv", ".tacit")}
        assert not kept or found == kept
        kept = found
    run("visits.csv", visits(), *QUICK, "--draws", "1", "--seed", "1", "--force")
    assert (tmp_path / "visits.impute.draw1.csv").read_bytes() != kept["visits.impute.draw1.csv"]


def test_parquet(tmp_path, capsys):
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "t.csv").write_text(visits(60), encoding="utf-8")
    assert main(["impute", str(tmp_path / "t.csv"), *QUICK, "--format", "parquet"]) == 0
    filled, cells = (pa.parquet.read_table(tmp_path / f"t.impute.{what}.parquet") for what in ("filled", "cells"))
    assert filled.num_rows == 60
    assert cells.column("value").null_count == 0
    assert "t.impute.cells.parquet" in capsys.readouterr().out


def test_types_stay_as_they_were(tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 200)
    table = pd.DataFrame({
        "person": np.arange(200) + 1000, "x": rng.normal(size=200) + 5 * group, "visits": rng.poisson(3 + 9 * group) + 0.0,
        "kind": np.array(["a", "b"], dtype=object)[group], "member": rng.random(200) < 0.5, "code": group * 7 + 2.0,
    })  # fmt: skip
    table["member"] = table["member"].astype(object)
    for name in table.columns[1:]:
        table.loc[rng.random(200) < 0.1, name] = None
    table.to_parquet(tmp_path / "t.parquet")
    assert main(["impute", str(tmp_path / "t.parquet"), *QUICK]) == 0
    filled, cells = (pd.read_parquet(tmp_path / f"t.impute.{what}.parquet") for what in ("filled", "cells"))
    assert filled.notna().all().all()
    assert filled["person"].dtype == cells["person"].dtype == np.int64
    assert filled["member"].dtype == bool
    assert set(filled["code"]) == {2.0, 9.0}
    known = table.notna()
    for name in table:
        assert (filled[name][known[name]] == table[name][known[name]]).all()
    assert (filled["visits"] == filled["visits"].round()).all()


def commas(separator=";", n=60):
    """Two columns of numbers with decimal commas, one cell missing, and those numbers."""
    X = np.random.default_rng(0).normal(size=(n, 2)) @ [[1.0, 0.9], [0.0, 0.2]] + 5
    lines = [f"{x:.2f}{separator}{y:.2f}".replace(".", ",") for x, y in X]
    lines[7] = lines[7].split(separator)[0] + separator
    return f"a{separator}b\n" + "\n".join(lines) + "\n", X


@pytest.mark.parametrize("command", ["impute", "fit", "reduce"])
@pytest.mark.parametrize(("separator", "ending"), [(";", "csv"), ("\t", "tsv")])
def test_decimal_commas_are_written_as_they_were_read(tmp_path, capsys, separator, ending, command):
    pd = pytest.importorskip("pandas")
    text, X = commas(separator)
    (tmp_path / f"t.{ending}").write_text(text)
    asked = ("--axes", "1") if command == "reduce" else ("--groups", "1")
    assert main([command, str(tmp_path / f"t.{ending}"), *asked, "--no-report", "--quiet"]) == 0
    made = {path.name.split(".")[2]: path for path in tmp_path.glob(f"t.{command}.*.{ending}")}
    names = {
        "impute": ["cells", "filled"],
        "fit": ["cells", "filled", "groups"],
        "reduce": ["loadings", "scores"],
    }
    assert sorted(made) == names[command]
    for name, path in made.items():
        table = pd.read_csv(path, sep=separator, decimal=",")
        numbers = table.drop(columns="outlier" if name == "groups" else "column", errors="ignore")
        assert all(kind.kind in "if" for kind in numbers.dtypes)
        if name == "filled":
            np.testing.assert_allclose(table["a"], X[:, 0], atol=0.006)
            assert abs(table["b"][7] - X[7, 1]) < 1
            assert path.read_text().splitlines()[1] == text.splitlines()[1]
        if name.endswith("cells"):
            assert table["low"][0] < table["value"][0] < table["high"][0]


def test_a_text_table_as_another_format(tmp_path, capsys):
    text, _ = commas("\t")
    (tmp_path / "t.tsv").write_text(text)
    assert main(["impute", str(tmp_path / "t.tsv"), "--groups", "1", "--no-report", "--quiet", "--format", "csv"]) == 0
    assert (tmp_path / "t.impute.filled.csv").read_text().startswith("a,b\n")


def test_rows_that_do_not_fit_into_memory(run, tmp_path, monkeypatch):
    run("t.csv", visits(), *QUICK)
    kept = (tmp_path / "t.impute.filled.csv").read_bytes()
    monkeypatch.setattr("tacit.tables.data.IN_MEMORY", 0)
    assert run("t.csv", visits(), *QUICK, "--force")[0] == 0
    assert (tmp_path / "t.impute.filled.csv").read_bytes() == kept
    monkeypatch.setattr("tacit.impute.trial.REFIT_ROWS", 100)
    code, out, _ = run("t.csv", visits(), *QUICK, "--force")
    assert code == 0
    assert "hidden on purpose" in out
    assert "learned without them" not in out


# What it says


def test_penguins(run, penguins):
    code, out, err = run(penguins, None, "--groups", "3-4", "--no-report", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert sum(told["filled"].values()) == 19
    assert told["filled"]["sex"] == 11
    check = told["check"]
    assert check["refit"]
    assert check["numbers"] > 100
    assert 0.8 < check["covered"] < 0.98
    assert check["error"] < 0.6
    assert check["right"] > check["usual"]
    assert {row["column"] for row in check["columns"]} == {name for name, n in told["filled"].items() if n}
    assert any("hidden on purpose" in sentence for sentence in told["summary"])
    assert len(told["selection"]) == 6


def test_no_coin_is_tossed_for_a_level(run, tmp_path):
    """Levels that are about as often as each other, and that nothing tells, are left empty."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 300, p=[0.53, 0.47])
    sex[rng.random(300) < 0.3] = ""
    path = tmp_path / "t.csv"
    path.write_text("x,sex\n" + "".join(f"{x:.3f},{each}\n" for x, each in zip(rng.normal(size=300), sex)))
    code, out, _ = run(path, None, "--no-report", "--json")
    assert code == 0
    assert json.loads(out)["empty"] == {"sex": int((sex == "").sum())}


def test_hidden_cells_are_judged_by_what_they_were():
    """A model that knows nothing but the means errs by the whole spread and covers what it says."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    hidden = hide_alike(X)
    assert not hidden[np.isnan(X)].any()
    assert hidden.sum() == pytest.approx(0.1 * (~np.isnan(X)).sum(), abs=1)
    from tacit.mixture import GaussianMixture
    from tacit.tables import ColumnInfo

    table = type("Table", (), {"used": [ColumnInfo(name, "measurement", n_rows=2000) for name in "abc"]})()
    model = GaussianMixture(covariance_type="diag").fit(np.where(hidden, np.nan, X))
    told = judge(model, table, X, hidden)
    assert told["error"] == pytest.approx(1.0, abs=0.08)
    assert told["covered"] == pytest.approx(0.9, abs=0.03)
    assert told["categories"] == 0
    assert told["right"] is None
    assert not hide_alike(np.ones((5, 2))).any()


def test_columns_that_are_filled_badly_are_named():
    columns = [
        {"column": "a", "cells": 40, "error": 0.97, "covered": 0.9}, {"column": "b", "cells": 40, "error": 0.4, "covered": 0.5},
        {"column": "c", "cells": 40, "right": 0.5, "usual": 0.5}, {"column": "d", "cells": 9, "error": 1.4, "covered": 0.1},
        {"column": "e", "cells": 40, "error": 1.2, "covered": 0.85}, {"column": "f", "cells": 40, "right": 0.6, "usual": 0.5},
    ]  # fmt: skip
    check = {"numbers": 129, "categories": 80, "level": 0.9, "error": 0.9, "covered": 0.8, "right": 0.5, "usual": 0.5}
    assert tell_check(check | {"columns": columns, "refit": True})[2:] == [
        "a and e are filled hardly better than by the mean.",
        "c is filled no better than by the most frequent level.",
        "Intervals are too narrow in b (50 %): they should hold 90 % of the hidden cells.",
    ]


def test_too_few_cells_to_try(run):
    code, out, _ = run("t.csv", visits(20), "--groups", "1", "--no-report")
    assert code == 0
    assert " ".join(out.split()).count("that takes at least 200 in columns that have missing values, 20 in each.") == 1
    assert "How good the fills are" not in out
    assert "hidden" not in out


def test_auto_says_why(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)) @ rng.normal(size=(2, 5)) + 0.2 * rng.normal(size=(150, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    lines = [",".join("" if x != x else f"{x:.4f}" for x in row) for row in X]
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,d,e\n" + "\n".join(lines) + "\n")
    choice = choose_imputer(open_table(str(path)), "auto", groups=[1, 2])
    assert choice.said.startswith("On ")
    assert "hidden on purpose" in choice.said
    assert choice.said.endswith({"factors": "so axes were taken.", "mixture": "so groups were taken."}[choice.method])
    rushed = choose_imputer(open_table(str(path)), "auto", groups=[1, 2], budget=0)
    assert rushed.said == "Axes were taken because the 0 s allowed were spent before another model could be tried."
    with pytest.raises(ValueError, match="budget=-1 is not a number of at least 0"):
        choose_imputer(open_table(str(path)), budget=-1)
    # Counts that go with measurements inside a group fill better as measurements; axes do not fill categories.
    rate = rng.gamma(4.0, 3.0, 300)
    counts, sort = rng.poisson(rate), rng.choice(["a", "b"], 300)
    lines = [f"{x:.2f},{n},{s}" for x, n, s in zip(rate + 0.3 * rng.normal(size=300), counts, sort)]
    lines[::9] = [f",{line.split(',')[1]}," for line in lines[::9]]
    path.write_text("rate,times,sort\n" + "\n".join(lines) + "\n")
    choice = choose_imputer(open_table(str(path), roles={"times": "count"}), "auto", groups=[1])
    assert choice.method == "mixture"
    assert choice.said.endswith("so groups with counts taken as measurements were taken.")
    assert choice.model.calibration_.check(choice.table.schema.names)["error"] < 0.7


def test_factors_leave_the_rest(run, tmp_path):
    code, out, _ = run("visits.csv", visits(), "--method", "factors", "--no-report")
    assert code == 0
    assert "(axes take numbers only)" in out
    assert "Missing values remain in colour" in out
    assert {row["column"] for row in rows_of(tmp_path / "visits.impute.cells.csv")} == {"height", "score", "visits"}
    assert any(row["colour"] == "NA" for row in rows_of(tmp_path / "visits.impute.filled.csv"))


def test_the_page(run, tmp_path):
    assert run("visits.csv", visits(60), "--groups", "1")[0] == 0
    assert "<html" in (tmp_path / "visits.impute.html").read_text(encoding="utf-8")


# What it refuses


def test_nothing_missing_writes_nothing(run, tmp_path):
    code, out, err = run("full.csv", "a,b\n" + "".join(f"{i / 7:.3f},{i * i / 3:.3f}\n" for i in range(30)))
    assert (code, err) == (0, "")
    assert "no cell is missing" in out
    assert "nothing was written" in out
    assert names(tmp_path) == ["full.csv"]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("a,b\n1.5,\n2.5,\n,\n3.1,\n1.2,\n", ("--method", "factors"), "axes need at least 2 columns of numbers"),
        (visits(40), ("--groups", "90"), "--groups starts at 90, but the table has 40 rows"),
        (visits(40), ("--out", f"{__file__}/x"), f"cannot be a folder: {__file__} is a file"),
    ],
)
def test_bad_input(run, tmp_path, content, arguments, message):
    code, out, err = run("t.csv", content, "--no-report", *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""
    assert names(tmp_path) == ["t.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--level", "90"], "'90' is not a probability between 0 and 1"),
        (["--draws", "0"], "'0' is not a number of tables"),
        (["--groups", "5-2"], "'5-2' runs backwards; say 2-5"),
        (["--method", "magic"], "there is no --method value 'magic'; there are auto, mixture, factors"),
    ],
)
def test_bad_options(capsys, penguins, tmp_path, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        main(["impute", str(tmp_path / penguins), *arguments])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_interrupted_leaves_nothing(run, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine.ProgressBar, "__call__", stop)
    monkeypatch.setattr("tacit.study.imputation.take_sample", stop)
    code, out, err = run("visits.csv", visits(), *QUICK)
    assert (code, out) == (130, "")
    assert "nothing was written" in err
    assert names(tmp_path) == ["visits.csv"]
