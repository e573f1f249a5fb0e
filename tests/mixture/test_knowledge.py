"""Cells of columns that a group has never shown are left empty, wherever cells are filled."""

import csv
import json

import numpy as np
import pytest

from tacit import load
from tacit.cli.main import main
from tacit.mixture import Mixture
from tacit.mixture.knowledge import Knowledge
from tacit.study.sentences import empty_words

TRY = ("--groups", "2", "--quiet", "--json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of infants and boys, of whom only the boys have a stage and a volume, and its results."""
    folder = tmp_path_factory.mktemp("boys")
    rng = np.random.default_rng(0)
    lines = ["size,weight,volume,stage"]
    for i in range(120):
        old = i % 2
        size, weight = 60 + 90 * old + 4 * rng.normal(), 6 + 35 * old + rng.normal()
        seen = old and i % 7
        stage = "early" if size < 156 else "late"
        volume = f"{5 + 0.1 * (size - 150) + rng.normal():.3f}" if seen else ""
        lines.append(f"{size:.3f},{weight:.3f},{volume},{stage if seen else ''}")
    (folder / "boys.csv").write_text("\n".join(lines) + "\n")
    return folder


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check_rows(read, filled):
    for before, after in zip(read, filled):
        infant = float(before["size"]) < 100
        assert (after["volume"] == "") == (after["stage"] == "") == infant


def test_columns_left_empty_for_one_reason_are_told_together():
    (sentence,) = empty_words({"not applicable": {"a": 810, "b": 1, "c": 3}})
    assert sentence == "810 cells of a, 1 of b and 3 of c were left empty: they are taken as not applicable there."
    assert sentence.check.figures == {"a": 810, "b": 1, "c": 3}
    assert len(empty_words({"not applicable": {"a": 810, "b": 1}})) == 2


@pytest.mark.parametrize("command", ["fit", "impute"])
def test_left_empty(folder, tmp_path, capsys, command):
    assert main([command, str(folder / "boys.csv"), "--out", str(tmp_path), *TRY]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["empty"] == {"volume": 60, "stage": 60}
    assert told["filled"]["volume"] == told["filled"]["stage"] == 9
    expected = "60 cells of stage were left empty: their group has no row, or hardly any, in which stage is known."
    assert expected in told["summary"]
    read = rows_of(folder / "boys.csv")
    check_rows(read, rows_of(tmp_path / f"boys.{command}.filled.csv"))
    cells = rows_of(tmp_path / f"boys.{command}.cells.csv")
    assert len(cells) == 138
    for cell in cells:
        infant = float(read[int(cell["row"]) - 1]["size"]) < 100
        assert (cell["value"] == cell["low"] + cell["high"] + cell["probability"] == "") == infant
    # A model file says so to those who use it.
    model = next(tmp_path.glob("*.tacit"))
    observed = load(model).observed_
    assert observed.shape == (2, 4)
    assert observed.min() < 1e-3
    assert observed.sum() == pytest.approx(4 * 120 - 138)
    (tmp_path / "new.csv").write_text("size,weight,volume,stage\n61,6,,\n151,41,,\n")
    assert main(["predict", str(model), str(tmp_path / "new.csv"), "--fill", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["empty"] == {"volume": 1, "stage": 1}
    check_rows(rows_of(tmp_path / "new.csv"), rows_of(tmp_path / "new.predict.filled.csv"))
    assert main(["report", str(model), str(folder / "boys.csv"), "--out", str(tmp_path / "again.html")]) == 0
    assert "60 cells of volume were left empty" in capsys.readouterr().out
    assert "nan" not in (tmp_path / "again.html").read_text(encoding="utf-8").partition("<body")[2].lower().split()


def test_draws_leave_them_empty_too(folder, tmp_path):
    assert main(["impute", str(folder / "boys.csv"), "--out", str(tmp_path), "--draws", "1", "--no-report", *TRY]) == 0
    check_rows(rows_of(folder / "boys.csv"), rows_of(tmp_path / "boys.impute.draw1.csv"))


def test_groups_that_do_not_know_a_column_have_no_say():
    """A row between the groups is filled by the one that knows, or, where that is unlikely, by none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) + np.repeat([[0.0, 50.0], [6.0, 50.0], [12.0, 70.0]], 100, axis=0)
    X[:100, 1] = np.nan
    model = Mixture(3, covariance_type="diag", random_state=0).fit(X)
    rows = np.column_stack([np.linspace(-1, 8, 200), np.full(200, np.nan)])
    filled = model.impute(rows)[:, 1]
    ignorant = model.predict_proba(rows) @ (model.observed_[:, 1] < 2)
    assert (np.isnan(filled) == (ignorant > 0.1)).all()
    assert 0 < np.isnan(filled).sum() < 200
    mixed = (ignorant > 1e-3) & (ignorant <= 0.1)
    assert mixed.any()
    np.testing.assert_allclose(filled[mixed], 50, atol=0.5)
    drawn = model.draw_missing(rows, random_state=0)[0]
    assert (np.isnan(drawn) == np.isnan(np.column_stack([rows[:, 0], filled]))).all()


def test_where_nothing_is_missing_all_is_known():
    model = Mixture(1).fit(np.arange(8.0).reshape(4, 2))
    assert model.observed_ is None
    assert np.isfinite(model.impute([[np.nan, 3.0]])).all()
    assert Knowledge([[4, 4]]).is_whole
    assert empty_words({"unknown": {"a": 1}}) == [
        "1 cell of a was left empty: its group has no row, or hardly any, in which a is known."
    ]
