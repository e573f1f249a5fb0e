"""`tacit report`: the page of a saved model."""

import os
from contextlib import suppress
from functools import cache

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.datasets import load_penguins, penguins_path
from tacit.factor import ProbabilisticPCA
from tacit.mixture import GaussianMixture, Mixture
from tacit.study import study
from tacit.study.subject import study_table
from tacit.tables import open_table

COLUMNS = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


@cache
def fitted(command, columns):
    """A model and what commands note beside it."""
    table = open_table(str(penguins_path()), columns=list(columns))
    model = ProbabilisticPCA(1) if command == "reduce" else Mixture(2, random_state=0)
    model.fit(table.source())
    notes = {
        "command": command, "table": {"name": "penguins", "columns": [column.saved() for column in table.used]}, "seed": 0,
        "selection": [{"n_components": k, "covariance_type": "full", "bic": 10.0 + k, "failed": None} for k in (2, 3)],
        "settings": {},
    }  # fmt: skip
    return model, notes


def saved(folder, name="penguins.fit.tacit", command="fit", columns=("bill_length_mm", "body_mass_g", "sex")):
    """A model file as commands write it."""
    model, notes = fitted(command, tuple(columns))
    tacit.save(model, folder / name, notes=notes)
    return str(folder / name)


def test_the_table_is_found_in_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    (tmp_path / "penguins.csv").write_bytes(penguins_path().read_bytes())
    model = saved(tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    assert main(["report", model]) == 0
    assert (tmp_path / "results" / "penguins.report.html").exists()


def test_groups_are_merged_and_named(tmp_path, capsys):
    table = open_table(str(penguins_path()), columns=["bill_length_mm", "body_mass_g", "sex"])
    model = Mixture(4, random_state=0).fit(table.source())
    notes = {
        "command": "fit",
        "table": {"name": "penguins", "columns": [column.saved() for column in table.used]},
        "seed": 0,
    }
    tacit.save(model, tmp_path / "penguins.fit.tacit", notes=notes)
    own = study(model, str(penguins_path()))
    merged = study_table(model._for_study(), table, merge=[(2, 4)])
    np.testing.assert_allclose(merged.memberships[:, 1], own.memberships[:, [1, 3]].sum(axis=1))
    np.testing.assert_array_equal(merged.group, merged.memberships.argmax(axis=1) + 1)
    assert sum(group.n_rows for group in merged.groups) == 344
    assert [group.share for group in merged.groups] == pytest.approx(
        [own.groups[0].share, own.groups[1].share + own.groups[3].share, own.groups[2].share]
    )
    inside = merged.group == 2
    mass = merged.sample.encoded[:, 1]
    told = next(entry for entry in merged.groups[1].profile if entry["column"] == "body_mass_g")
    assert told["value"] == pytest.approx(np.nanmean(mass[inside]))
    command = ["report", str(tmp_path / "penguins.fit.tacit"), str(penguins_path()), "--out", str(tmp_path / "p.html")]
    assert main([*command, "--merge", "2+4", "--name", "2=Large & heavy"]) == 0
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "Merged as asked: groups 2 and 4 of the 4 that the model has." in page
    assert "Group 2: Large &amp; heavy" in page
    for words, fault in [
        (["--merge", "2"], "'2' does not name groups to merge, such as 1+3"),
        (["--merge", "2+9"], "merge='2+9' does not name two or more of the 4 groups; their numbers run from 1 to 4"),
        (["--name", "7=x"], "--name 7=… names no group; their numbers run from 1 to 4"),
        (["--name", "x"], "'x' is not N=TEXT, such as 1=Gentoo"),
    ]:
        with suppress(SystemExit):
            assert main([*command, "--force", *words]) == 2
        assert fault in capsys.readouterr().err


def test_levels_that_the_model_does_not_know(tmp_path, capsys):
    strange = penguins_path().read_text().replace(",male,", ",drake,")
    (tmp_path / "strange.csv").write_text(strange)
    model, table = saved(tmp_path), str(tmp_path / "strange.csv")
    for command in ("report", "predict"):
        assert main([command, model, table]) == 0
        assert main([command, model, table, "--unknown", "error", "--force"]) == 2
        said = capsys.readouterr().err
        assert "column 'sex' holds 'drake', which was not there at fit (known: 'female', 'male')" in said
        assert "--unknown missing" in said
    groups = np.genfromtxt(tmp_path / "strange.predict.groups.csv", delimiter=",", names=True)["probability_1"]
    own, frame = (
        fitted("fit", ("bill_length_mm", "body_mass_g", "sex"))[0],
        pytest.importorskip("pandas").read_csv(table),
    )
    own = (
        own.__class__(**own.get_params())
        .set_params(unknown="missing")
        .fit(open_table(str(penguins_path()), columns=own.schema_.names))
    )
    found = own.predict_proba(frame[own.schema_.names])[:, np.argmax(own.weights_)]
    np.testing.assert_allclose(groups, found, atol=1e-6)


@pytest.fixture
def run(tmp_path, capsys):
    def call(*arguments):
        code = main(["report", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def copy_table(folder, name="penguins.csv"):
    (folder / name).write_bytes(penguins_path().read_bytes())
    return folder / name


def test_the_table_is_found_beside_the_model(run, tmp_path):
    copy_table(tmp_path)
    code, out, err = run(saved(tmp_path), "--title", "My <penguins>")
    assert (code, err) == (0, "")
    page = (tmp_path / "penguins.report.html").read_text()
    assert f"wrote {tmp_path / 'penguins.report.html'}" in out
    assert "<h1>My &lt;penguins&gt;</h1>" in page
    assert 'id="selection-curve-title"' in page
    first = (tmp_path / "penguins.report.html").read_bytes()
    code, _, err = run(saved(tmp_path), "--title", "My <penguins>")
    assert code == 2
    assert f"{tmp_path}/penguins.report.html is there already; say --force to replace" in err
    assert run(saved(tmp_path), "--title", "My <penguins>", "--force")[0] == 0
    assert (tmp_path / "penguins.report.html").read_bytes() == first


def test_another_table_place_and_browser(run, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    other = copy_table(tmp_path, "other.csv")
    code, out, _ = run(saved(tmp_path), other, "--out", tmp_path / "pages", "--open", "--json")
    assert code == 0
    assert '"files"' in out
    assert opened == [f"file://{tmp_path}/pages/other.report.html"]
    assert "<h1>other</h1>" in (tmp_path / "pages" / "other.report.html").read_text()
    code, _, _ = run(saved(tmp_path), other, "--out", tmp_path / "x.html")
    assert code == 0
    assert (tmp_path / "x.html").exists()


@pytest.mark.parametrize(("command", "section"), [("impute", 'id="filled"'), ("reduce", 'id="scores"')])
def test_models_of_other_commands(run, tmp_path, command, section):
    copy_table(tmp_path)
    columns = COLUMNS if command == "reduce" else ["bill_length_mm", "body_mass_g", "sex"]
    code, _, err = run(saved(tmp_path, f"penguins.{command}.tacit", command, columns))
    assert (code, err) == (0, "")
    assert section in (tmp_path / "penguins.report.html").read_text()


def test_a_model_without_notes_needs_the_table(run, tmp_path):
    pandas = pytest.importorskip("pandas")
    X = load_penguins()[0]
    path = tmp_path / "m.tacit"
    tacit.save(GaussianMixture(2, random_state=0).fit(pandas.DataFrame(X, columns=COLUMNS)), path)
    code, _, err = run(path)
    assert code == 2
    assert (
        err
        == f"tacit: {path} does not say which table it was learned from; give the table: tacit report {path} TABLE.csv\n"
    )
    code, _, err = run(path, penguins_path())
    assert (code, err) == (0, "")
    assert "fall into 2 groups" in (tmp_path / "penguins.report.html").read_text()


def test_what_it_refuses(run, tmp_path):
    model = saved(tmp_path)
    before = sorted(os.listdir(tmp_path))
    (tmp_path / "garbage.tacit").write_bytes(b"\x00\x01garbage")
    np.savetxt(tmp_path / "bad.csv", np.ones((3, 2)), header="a,b", comments="", delimiter=",")
    cases = [
        ([tmp_path / "no.tacit"], "does not exist; give a .tacit file that tacit fit"),
        ([tmp_path], f"{tmp_path} is a folder; give a .tacit file"),
        ([tmp_path / "garbage.tacit"], "is no model file; give a .tacit file"),
        ([model], "learned from a table named 'penguins', which is not beside it; give the table: tacit report"),
        ([model, tmp_path / "bad.csv"], "has no columns 'bill_length_mm', "),
        ([model, penguins_path(), "--out", tmp_path / "x.csv"], "x.csv is no HTML file; name one that ends in .html"),
        ([model, penguins_path(), "--out", tmp_path / "bad.csv" / "x.html"], f"{tmp_path}/bad.csv is a file; give a folder"),
        ([model, penguins_path(), "--sql", "select 1"], "--sql needs a database; say which with --from"),
        ([model, penguins_path(), "--sql", "select 1", "--from", "sqlite:///x.db"], "give one table: either a file, or a query"),
    ]  # fmt: skip
    for arguments, message in cases:
        code, out, err = run(*arguments)
        assert (code, out) == (2, ""), arguments
        assert err.startswith("tacit: ")
        assert message in err
        assert err.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "garbage.tacit", "bad.csv"])


def test_other_numbers_of_groups_are_shown_where_the_model_holds_them(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [f"{8 * (i % 3) + v:.3f},{w:.3f}" for i, (v, w) in enumerate(rng.normal(size=(120, 2)))]
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(rows) + "\n")
    (tmp_path / "new.csv").write_text("a,b\n0.1,0.2\n8.1,0.4\n")
    assert main(["fit", str(tmp_path / "t.csv"), "--groups", "2-4", "--covariance", "tied", "--quiet"]) == 0
    model = str(tmp_path / "t.fit.tacit")
    assert [other.n_components for other in tacit.load(model).others_] == [2, 4]
    first = (tmp_path / "t.fit.html").read_text("utf-8")
    assert main(["report", model]) == 0
    again = (tmp_path / "t.report.html").read_text("utf-8")
    section = first[first.index('<section id="numbers"') :].partition("</section>")[0]
    assert 'id="numbers-slider"' in section
    assert section in again
    assert main(["report", model, str(tmp_path / "new.csv")]) == 0  # two rows do not describe groups
    assert 'id="numbers-slider"' not in (tmp_path / "new.report.html").read_text("utf-8")
    capsys.readouterr()
