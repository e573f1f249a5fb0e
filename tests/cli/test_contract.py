"""What every command keeps to: nothing is replaced without a word, results are named alike, JSON has one schema."""

import io
import json
import os

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.tables import opening

VERBS = {
    "fit": ["{table}", "--groups", "2"],
    "impute": ["{table}", "--groups", "2"],
    "reduce": ["{table}", "--axes", "1"],
    "predict": ["{folder}/t.fit.tacit", "{table}", "--fill"],
    "report": ["{folder}/t.fit.tacit", "{table}"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table, and what `tacit fit` writes of it."""
    folder = tmp_path_factory.mktemp("contract")
    X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0.0], [6.0]], 30, axis=0)
    rows = [f"{a:.3f},{b:.3f},{c:.3f},{'blue' if i < 30 else 'red'}" for i, (a, b, c) in enumerate(X)]
    rows[3] = rows[3].replace(",blue", ",")
    rows[7] = f",{rows[7].partition(',')[2]}"
    (folder / "t.csv").write_text("\n".join(["a,b,c,colour", *rows]) + "\n")
    assert main(["fit", str(folder / "t.csv"), "--groups", "2", "--quiet"]) == 0
    return folder


def run(verb, folder, *more):
    words = [word.format(folder=folder, table=folder / "t.csv") for word in VERBS[verb]]
    return main([verb, *words, *more])


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_is_replaced_unless_asked(verb, folder, tmp_path, capsys, monkeypatch):
    out = tmp_path / "new" / "results"
    asked = ["--out", str(out)]
    assert run(verb, folder, *asked, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {os.path.basename(path) for path in told["files"]} == {path.name for path in out.iterdir()}
    assert all(name.startswith(f"t.{verb}.") for name in os.listdir(out))
    kept = {path: path.read_bytes() for path in out.iterdir()}
    first = sorted(out.iterdir())[-1]
    for path in kept:
        if path != first:
            path.unlink()
    first.write_bytes(b"mine")
    with monkeypatch.context() as patch:  # refused before the table is read
        if verb != "report":
            patch.setattr("tacit.tables.opening.survey", None)
            patch.setattr("tacit.tables.opening.read_like", None)
        assert run(verb, folder, *asked) == 2
    remedy = "is there already; say --force to replace, or choose another folder with --out."
    assert capsys.readouterr().err == f"tacit: {first} {remedy}\n"
    assert first.read_bytes() == b"mine"
    assert os.listdir(out) == [first.name]
    assert run(verb, folder, *asked, "--force") == 0
    assert {path: path.read_bytes() for path in out.iterdir()} == kept


def test_the_standard_input_is_a_table(folder, tmp_path, capsys, monkeypatch):
    class Given:
        buffer = io.BytesIO((folder / "t.csv").read_bytes())

    opening._standard_input.cache_clear()
    monkeypatch.setattr("sys.stdin", Given)
    monkeypatch.chdir(tmp_path)
    assert main(["fit", "-", "--groups", "2", "--quiet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "stdin.fit.groups.csv" in os.listdir(tmp_path)
    assert (tmp_path / "stdin.fit.groups.csv").read_bytes() == (folder / "t.fit.groups.csv").read_bytes()
    assert (told["rows"], told["schema"], told["version"], told["command"]) == (60, 1, tacit.__version__, "fit")
    opening._standard_input.cache_clear()
    assert main(["inspect", "-"]) == 2
    assert capsys.readouterr().err.startswith("tacit: the standard input is empty; a line of names")
