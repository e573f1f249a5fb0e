"""`tacit segment`: what it writes, what it refuses, and what saved models say of series."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.cli.main import main
from tacit.cli.outcome import plain
from tacit.sequence import find_regimes


def rows_of():
    """Two shops over 90 days: two regimes, missing cells, days left out, a category, an id."""
    rng = np.random.default_rng(0)
    parts = []
    for name, change in (("north", 40), ("south", 60)):
        z = (np.arange(90) >= change).astype(int)
        sales, mood = rng.normal(10 + 8 * z, 1.0).round(2), np.where(rng.random(90) < 0.2 + 0.6 * z, "good", "bad")
        parts.append(
            pd.DataFrame({"shop": name, "day": pd.date_range("2021-03-01", periods=90), "sales": sales, "mood": mood})
        )
    table = pd.concat(parts, ignore_index=True)
    table.loc[[5, 6, 100], "sales"] = np.nan
    table.loc[9, "mood"] = None
    return table.drop(index=[20, 21]).sample(frac=1.0, random_state=0)  # rows need not lie in order


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("segment")
    rows_of().to_csv(folder / "s.csv", index=False)
    assert run(folder) == 0
    return folder


def run(folder, *options, file="s.csv"):
    told = ["--sequence", "shop", "--time", "day", "--states", "1-3", "--forecast", "4", "--quiet"]
    return main(["segment", str(folder / file), *told, *options])


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_everything_is_written(folder):
    names = ("segments.csv", "steps.csv", "filled.csv", "cells.csv", "forecast.csv", "tacit", "html")
    assert {path.name for path in folder.glob("s.segment.*")} == {f"s.segment.{name}" for name in names}
    segments = read(folder / "s.segment.segments.csv")
    assert {name: [row["length"] for row in segments if row["sequence"] == name] for name in ("north", "south")} == {
        "north": ["40", "50"], "south": ["60", "30"]
    }  # fmt: skip
    assert sorted(row["start"] for row in segments) == ["2021-03-01", "2021-03-01", "2021-04-10", "2021-04-30"]
    steps = read(folder / "s.segment.steps.csv")
    assert len(steps) == 180
    assert sum(not row["row"] for row in steps) == 2
    table = rows_of().reset_index(drop=True)
    for row in steps:
        shares = [float(row[f"probability_{k}"]) for k in (1, 2)]
        assert sum(shares) == pytest.approx(1.0, abs=1e-5)
        assert float(row["probability"]) == pytest.approx(shares[int(row["regime"]) - 1], abs=1e-5)
        if row["row"]:
            own = table.loc[int(row["row"]) - 1]
            assert (own.shop, str(own.day.date())) == (row["sequence"], row["time"])
            assert np.isnan(own.sales) or float(row["sales"]) == own.sales
    cells = read(folder / "s.segment.cells.csv")
    assert len(cells) == 3 + 1 + 2 * 2
    numbers = [row for row in cells if row["column"] == "sales"]
    assert all(float(row["low"]) < float(row["value"]) < float(row["high"]) for row in numbers)
    filled = pd.read_csv(folder / "s.segment.filled.csv")
    assert len(filled) == 178
    assert filled.notna().all().all()
    told = {(row["sequence"], row["time"]): float(row["value"]) for row in numbers if row["row"]}
    gone = filled[table.sales.isna()]
    assert [told[shop, day] for shop, day in zip(gone.shop, gone.day)] == pytest.approx(gone.sales.tolist(), rel=1e-5)
    ahead = read(folder / "s.segment.forecast.csv")
    assert [row["time"] for row in ahead if row["sequence"] == "south"] == [f"2021-05-{d}" for d in (30, 31)] + [
        "2021-06-01",
        "2021-06-02",
    ]
    assert all(float(row["sales_low"]) < float(row["sales"]) < float(row["sales_high"]) for row in ahead)


def test_python_gives_the_same_answers(folder, tmp_path, capsys):
    assert run(folder, "--out", str(tmp_path), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    found = find_regimes(rows_of(), sequence="shop", time="day", states=range(1, 4)).study(n_ahead=4)
    assert told["summary"] == found.summary
    assert told["limits"] == found.limits
    assert told["moves"] == plain(found.moves)
    np.testing.assert_allclose(told["forecast"]["mean"], found.forecast.mean)
    assert [regime["words"] for regime in told["regimes"]] == [regime.words for regime in found.regimes]
    assert (told["sequences"], told["steps"], told["missing"], told["left_out"]) == (2, 180, 4, 2)
    model = tacit.load(folder / "s.segment.tacit")
    steps = {(row["sequence"], row["time"]): int(row["regime"]) for row in read(folder / "s.segment.steps.csv")}
    table = rows_of()
    assert model.predict(table).tolist() == [
        steps[shop, str(day.date())] - 1 for shop, day in zip(table.shop, table.day)
    ]


def test_people_are_told(folder, tmp_path, capsys):
    assert run(folder, "--out", str(tmp_path)) == 0
    out = capsys.readouterr().out
    assert "s: 178 rows, 2 series" in out
    assert "2 series of 180 steps together move between 2 regimes in 4 segments" in " ".join(out.split())
    assert "sales (measurement), mood (category), shop (sequence), day (time)" in out
    assert "lasts on average" in out
    assert "Wrote" in out


def test_a_saved_model_is_applied_and_reported(folder, tmp_path, capsys):
    model = str(folder / "s.segment.tacit")
    assert main(["predict", model, str(folder / "s.csv"), "--fill", "--out", str(tmp_path), "--quiet"]) == 0
    for name in ("segments", "steps", "filled", "cells"):
        assert (tmp_path / f"s.predict.{name}.csv").read_bytes() == (folder / f"s.segment.{name}.csv").read_bytes()
    some = rows_of().query("shop == 'north'").drop(columns="mood")
    some.to_csv(tmp_path / "new.csv", index=False)
    capsys.readouterr()
    assert main(["predict", model, str(tmp_path / "new.csv"), "--out", str(tmp_path)]) == 2
    assert "has no column 'mood', which the model uses" in capsys.readouterr().err
    assert main(["report", model, "--out", str(tmp_path)]) == 0
    page = (tmp_path / "s.report.html").read_text(encoding="utf-8")
    assert "move between 2 regimes" in page
    assert "What comes next" in page
    capsys.readouterr()
    assert main(["report", model, "--merge", "1+2"]) == 2
    assert capsys.readouterr().err == "tacit: --merge is not for a model of regimes; leave it out.\n"
    assert main(["explain", model, "3"]) == 2
    assert "has no groups to explain: it is a HiddenMarkovModel" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_formats(folder, tmp_path, kind):
    assert run(folder, "--out", str(tmp_path), "--format", kind, "--no-report") == 0
    steps = (
        pd.read_parquet(tmp_path / "s.segment.steps.parquet")
        if kind == "parquet"
        else pd.read_csv(tmp_path / "s.segment.steps.csv")
    )
    assert steps["row"].isna().sum() == 2
    assert not (tmp_path / "s.segment.html").exists()


def test_irregular_times_are_told(tmp_path, capsys):
    x = np.concatenate([np.random.default_rng(k).normal(m, 1.0, 30) for k, m in enumerate((0, 8, 0))])
    t = np.cumsum(np.random.default_rng(9).exponential(1.0, 90)).round(4)
    pd.DataFrame({"t": t, "x": x}).to_csv(tmp_path / "i.csv", index=False)
    assert main(["segment", str(tmp_path / "i.csv"), "--states", "2", "--quiet"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "rates of change are learned in continuous time" in out
    assert "units of time on average" in out


def write_series(path, n=60, **columns):
    x = np.concatenate([np.random.default_rng(0).normal(m, 1.0, n // 3) for m in (0, 6, 0)])
    pd.DataFrame({"year": 1900 + np.arange(len(x)), "x": x} | columns).to_csv(path, index=False)


def test_lengths_are_told_in_the_units_of_the_table(tmp_path, capsys):
    write_series(tmp_path / "y.csv")
    assert main(["segment", str(tmp_path / "y.csv"), "--quiet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["unit"] == "years"
    assert told["regimes"][1]["lasts"].endswith(" years")
    assert told["notes"] == ["'year' is taken as the time of a row"]
    assert "The series of 60 steps (1900 to 1959) moves between 2 regimes in 3 segments" in told["summary"][0]


def test_one_regime_is_told_where_there_is_no_more(tmp_path, capsys):
    pd.DataFrame({"x": np.random.default_rng(0).normal(size=100)}).to_csv(tmp_path / "n.csv", index=False)
    assert main(["segment", str(tmp_path / "n.csv"), "--quiet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["summary"][0].endswith("shows one regime: 1 to 6 were tried, and the data support no more (BIC).")
    assert "in the order of the table; name one with --time" in told["notes"][0]
    page = (tmp_path / "n.segment.html").read_text(encoding="utf-8")
    assert "How regimes follow each other" not in page
    pd.DataFrame({"x": [1.0, 2.0, 1.5, 2.2, 1.1]}).to_csv(tmp_path / "few.csv", index=False)
    assert main(["segment", str(tmp_path / "few.csv"), "--quiet", "--json"]) == 0
    assert "is too short to tell regimes apart" in json.loads(capsys.readouterr().out)["summary"][0]


def test_lengths_of_stay_and_budgets(tmp_path, capsys):
    write_series(tmp_path / "y.csv")
    for option in ("5", "negative_binomial:2", "any:25"):
        assert (
            main(
                [
                    "segment",
                    str(tmp_path / "y.csv"),
                    "--states",
                    "2",
                    "--duration",
                    option,
                    "--quiet",
                    "--force",
                    "--json",
                ]
            )
            == 0
        )
        told = json.loads(capsys.readouterr().out)
        assert all(regime["stay"] >= 2 for regime in told["regimes"])
    assert main(["segment", str(tmp_path / "y.csv"), "--budget", "0.001s", "--quiet", "--force", "--json"]) == 0
    assert any("ended at its budget of 0.001 s" in each for each in json.loads(capsys.readouterr().out)["summary"])


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--time", "when"], "has no column 'when', which --time names"),
        (["--sequence", "who"], "has no column 'who', which --sequence names"),
        (["--states", "200"], "--states 200 is none of 1 to 60, the number of rows; ask for fewer states."),
        (["--sequence", "year"], "every sequence that 'year' names has one row"),
        (["--columns", "x", "--family", "x=poisson"], "x"),
        (["--time", "note"], "neither a date nor a number"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, capsys, options, fault):
    write_series(tmp_path / "y.csv", note=[f"text {k}" for k in range(60)])
    assert main(["segment", str(tmp_path / "y.csv"), *options, "--quiet"]) == 2
    err = capsys.readouterr().err
    assert fault in err
    assert err.count("\n") == 1


def test_repeated_times_are_refused(folder, capsys):
    assert main(["segment", str(folder / "s.csv"), "--time", "day", "--out", str(folder / "no"), "--quiet"]) == 2
    assert "has two rows at day = 2021-03-01" in capsys.readouterr().err
    assert not (folder / "no").exists()


@pytest.mark.parametrize(("option", "value", "fault"), [
    ("--interval", "2", "'2' is not a probability between 0 and 1, such as 0.9"),
    ("--duration", "0", "'0' is no length of stay such as 5, negative_binomial:3 or any:30"),
    ("--forecast", "x", "'x' is no whole number; say --forecast 12"),
])  # fmt: skip
def test_options_say_what_they_take(folder, capsys, option, value, fault):
    with pytest.raises(SystemExit):
        run(folder, option, value)
    assert fault in capsys.readouterr().err
