"""`tacit predict`: saved models on new tables, and what is refused."""

import csv
import json
import re
import sys
import types

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.cluster import KMeans
from tacit.factor import ProbabilisticPCA
from tacit.mixture import GaussianMixture, Mixture

from .test_fit import rows_of, two_groups


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table and the model that `tacit fit` made of it."""
    folder = tmp_path_factory.mktemp("fitted")
    (folder / "t.csv").write_text(two_groups())
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tacit.report.page", types.SimpleNamespace(render=lambda findings: ""))
        assert main(["fit", str(folder / "t.csv"), "--groups", "2", "--covariance", "full", "--json"]) == 0
    return folder


@pytest.fixture
def predict(folder, tmp_path, capsys):
    """Run `tacit predict` with the fitted model on a new table: (exit code, output, errors)."""

    def predict(content, *arguments, model=folder / "t.fit.tacit"):
        (tmp_path / "new.csv").write_text(content)
        code = main(["predict", str(model), str(tmp_path / "new.csv"), "--force", *arguments])
        return code, *capsys.readouterr()

    return predict


def test_the_same_rows_get_the_same_answers(folder, tmp_path, capsys):
    assert main(["predict", str(folder / "t.fit.tacit"), str(folder / "t.csv"), "--fill", "--out", str(tmp_path)]) == 0
    for name in ("groups", "filled", "cells"):
        assert (tmp_path / f"t.predict.{name}.csv").read_bytes() == (folder / f"t.fit.{name}.csv").read_bytes()
    out = capsys.readouterr().out
    assert re.search(r"^ +1 +40 +67 % +67 %$", out, re.M)
    assert "4 missing cells filled in." in out


def test_columns_are_found_by_name_and_unknown_levels_are_missing(predict, tmp_path):
    code, out, err = predict("extra,colour,b,a\nx,green,8.1,7.9\ny,blue,,0.2\n", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert [group["rows"] for group in data["groups"]] == [1, 1]
    assert data["missing"] == 2
    assert len(data["notes"]) == 1
    assert "green" in data["notes"][0]
    groups = rows_of(tmp_path / "new.predict.groups.csv")
    assert [row["group"] for row in groups] == ["2", "1"]
    assert [row["row"] for row in groups] == ["1", "2"]
    assert not (tmp_path / "new.predict.filled.csv").exists()


def test_unknown_levels_stay_as_they_are(predict, tmp_path):
    code, out, err = predict("a,b,colour\n8.1,7.9,green\n0.1,,blue\n0.2,0.3,\n", "--fill", "--json")
    assert (code, err) == (0, "")
    assert [row["colour"] for row in rows_of(tmp_path / "new.predict.filled.csv")] == ["green", "blue", "blue"]
    cells = rows_of(tmp_path / "new.predict.cells.csv")
    assert [(row["row"], row["column"]) for row in cells] == [("2", "b"), ("3", "colour")]
    data = json.loads(out)
    assert (data["missing"], data["filled"], data["empty"]) == (3, 2, {})


def test_missing_columns_are_refused_or_integrated_out(predict, tmp_path):
    code, out, err = predict("a,b\n8.0,8.1\n0.1,0.2\n")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"tacit: .*has no column 'colour', which the model uses.*\n", err)
    code, out, err = predict("bb,extra\n8.0,8.1\n0.1,0.2\n")
    assert (code, out) == (2, "")
    assert err.split("new.csv ")[1] == (
        "has no columns 'a', 'b', 'colour', which the model uses; its other columns are bb, extra. Rename columns, or say "
        "--allow-missing to take those it lacks as missing in every row.\n"
    )
    code, out, _ = predict("b,a\n8.1,8.0\n,0.1\n", "--allow-missing", "--fill")
    assert code == 0
    assert "note: the table lacks colour; taken as missing in every row" in out
    assert [row["group"] for row in rows_of(tmp_path / "new.predict.groups.csv")] == ["2", "1"]
    filled = rows_of(tmp_path / "new.predict.filled.csv")
    assert list(filled[0]) == ["b", "a"]
    assert float(filled[1]["b"]) == pytest.approx(0, abs=2)
    code, _, err = predict("u,v\n1,2\n", "--allow-missing")
    assert code == 2
    assert "has none of the columns of the model; it has u, v." in err


def test_an_outlier_of_a_single_row_is_judged_as_at_fit(predict, tmp_path):
    code, out, _ = predict("a,b,colour\n30,30,blue\n0.3,0.1,blue\n")
    assert code == 0
    assert [row["outlier"] for row in rows_of(tmp_path / "new.predict.groups.csv")] == ["yes", "no"]
    assert "1 row unusual" in out


@pytest.mark.parametrize(
    ("content", "message"),
    [("a,b,colour\nx,2,red\n", "'x'"), ("a,b,colour\n", "new.csv"), ("", "new.csv")],
    ids=["text for a number", "no rows", "empty"],
)
def test_bad_tables(predict, content, message):
    code, out, err = predict(content)
    assert (code, out) == (2, "")
    assert err.startswith("tacit: ")
    assert err.count("\n") == 1
    assert message in err


def test_files_that_are_no_model(predict, folder, tmp_path, capsys):
    (tmp_path / "junk.tacit").write_bytes(b"PK\x03\x04 nothing")
    for model, message in (
        (
            folder / "t.csv",
            "t.csv is no model file; give a .tacit file that tacit fit, impute, reduce, topics, recommend, segment, network or",
        ),
        (tmp_path / "junk.tacit", "junk.tacit is no model file"),
        (tmp_path / "none.tacit", "does not exist; give a .tacit file that tacit fit"), (tmp_path, "is a folder; give a .tacit"),
    ):  # fmt: skip
        code, out, err = predict("a,b\n1,2\n", model=model)
        assert (code, out) == (2, "")
        assert re.fullmatch(f"tacit: .*{re.escape(message)}.*\n", err)
    assert main(["predict", str(folder / "t.fit.tacit")]) == 2
    assert "give one table after the model" in capsys.readouterr().err


def column(**changes):
    return {"name": "a", "role": "measurement", "reading": "number", "levels": []} | changes


@pytest.mark.parametrize("notes", [{}, {"table": {"name": "t"}}, {"anything": [1, {"else": None}]}])
def test_notes_may_say_nothing(predict, folder, tmp_path, notes):
    tacit.save(tacit.load(folder / "t.fit.tacit"), tmp_path / "m.tacit", notes=notes)
    code, _, err = predict("a,b,colour\n8,8,red\n0,0,blue\n", model=tmp_path / "m.tacit")
    assert (code, err) == (0, "")
    assert [row["group"] for row in rows_of(tmp_path / "new.predict.groups.csv")] == ["2", "1"]


@pytest.mark.parametrize(
    ("notes", "fault"),
    [({"table": 3}, "table is no dict"), ({"settings": []}, "settings is no dict"), ({"seed": "x"}, "seed is no int"),
     ({"seed": 10**400}, "the seed is too large"), ({"table": {"name": "../../secret"}}, "the name of the table is a path"),
     ({"table": {"columns": {"a": 1}}}, "its columns are no list"), ({"table": {"columns": [1, 2]}}, "a column is not described"),
     ({"table": {"columns": [column(role="zzz")]}}, "column 'a' has an unknown role"),
     ({"table": {"columns": [column(levels=[1])]}}, "column 'a' has an unknown role or level"),
     ({"table": {"columns": [column(reading="zzz")]}}, "column 'a' is read in an unknown way"),
     ({"selection": [1]}, "a row of the selection is none"),
     ({"selection": [{"n_components": "2", "bic": 1.0}]}, "a row of the selection is none"),
     ({"settings": {"n_rows": 10**400}}, "the number of rows is none"),
     ({"settings": {"level": 5}}, "the level of the intervals is no probability")],
)  # fmt: skip
def test_notes_are_believed_in_nothing(predict, folder, tmp_path, notes, fault, capsys):
    model = tmp_path / "m.tacit"
    tacit.save(tacit.load(folder / "t.fit.tacit"), model, notes=notes)
    code, _, err = predict("a,b,colour\n8,8,red\n0,0,blue\n", model=model)
    assert code == 2
    assert f"the notes in {model} are damaged ({fault}" in err
    assert main(["report", str(model), str(folder / "t.csv")]) == 2
    assert fault in capsys.readouterr().err


# Models from Python


def test_mixtures_of_tables_from_python(predict, tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"x": [1.0, 1.2, 0.9, 5.0, 5.2, 4.9], "flag": [True, True, True, False, False, False]})
    tacit.save(Mixture(2, random_state=0, smoothing=0.1).fit(frame), tmp_path / "m.tacit")
    code, _, err = predict("flag,x\nTrue,1.1\nfalse,5.1\n", model=tmp_path / "m.tacit")
    assert (code, err) == (0, "")
    first, second = rows_of(tmp_path / "new.predict.groups.csv")
    assert first["group"] != second["group"]


def test_estimators_without_names_take_columns_in_their_order(predict, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0, 0], [9, 9]], 20, axis=0)
    model = KMeans(2, random_state=0).fit(X)
    tacit.save(model, tmp_path / "m.tacit")
    code, out, _ = predict("p,q\n9,9\n0,0.5\n", model=tmp_path / "m.tacit")
    assert code == 0
    assert "2 rows, by a KMeans" in out
    expected = model.predict(np.array([[9.0, 9.0], [0.0, 0.5]])).tolist()
    assert [int(row["predicted"]) for row in rows_of(tmp_path / "new.predict.rows.csv")] == expected
    code, _, err = predict("n,p,q\nu,9,9\nv,0,0.5\n", model=tmp_path / "m.tacit")
    assert code == 2
    assert "the model takes 2 columns, which have no names, but the table has 3; name 2 with --columns" in err
    code, _, err = predict("n,p,q\nu,9,9\nv,0,0.5\n", "--columns", "q,p", model=tmp_path / "m.tacit")
    assert code == 0, err
    code, _, err = predict("p,q\n9,9\n", "--columns", "p,z", model=tmp_path / "m.tacit")
    assert code == 2
    assert "has no column 'z'; it has p, q." in err
    code, _, err = predict("p,q\n9,9\n", "--fill", model=tmp_path / "m.tacit")
    assert code == 2
    assert "--fill needs a model of tacit fit or tacit impute; this is a KMeans." in err


def test_gaussian_mixtures_give_probabilities_and_axes_give_scores(predict, tmp_path):
    import pandas as pd

    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3)), columns=["u", "v", "w"])
    mixture, axes = GaussianMixture(2, random_state=0).fit(frame), ProbabilisticPCA(1).fit(frame)
    text = "w,v,u\n" + "".join(f"{w!r},{v!r},{u!r}\n" for u, v, w in frame.to_numpy()[:5].tolist())
    tacit.save(mixture, tmp_path / "m.tacit")
    assert predict(text, model=tmp_path / "m.tacit")[0] == 0
    rows = rows_of(tmp_path / "new.predict.rows.csv")
    found = np.array([[float(row["probability_0"]), float(row["probability_1"])] for row in rows])
    np.testing.assert_allclose(found, mixture.predict_proba(frame[:5]), rtol=1e-6)
    tacit.save(axes, tmp_path / "m.tacit")
    assert predict(text, model=tmp_path / "m.tacit")[0] == 0
    with (tmp_path / "new.predict.scores.csv").open() as file:
        header, *lines = list(csv.reader(file))
    assert header[0] == "row"
    np.testing.assert_allclose([float(line[1]) for line in lines], axes.transform(frame[:5])[:, 0], rtol=1e-6)
