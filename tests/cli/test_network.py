"""`tacit network`: what it writes, what it refuses, and what saved networks say of new rows."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.cli.main import main
from tacit.cli.outcome import plain
from tacit.graph import BeliefNetwork, find_network

HOSTILE = "</script><script>alert(1)</script>"


def made(n=400):
    """Rows in which weight and colour follow the kind, with holes, a column of names and levels that look like markup."""
    rng = np.random.default_rng(0)
    kind = rng.choice(["cat", "dog", HOSTILE], n, p=[0.5, 0.3, 0.2])
    weight = pd.Series(kind).map({"cat": 4.0, "dog": 20.0, HOSTILE: 60.0}).to_numpy() * np.exp(rng.normal(0, 0.2, n))
    frame = pd.DataFrame({"kind": kind, "weight": weight.round(1), "legs": rng.choice([3, 4], n, p=[0.1, 0.9]),
                          "colour": np.where(rng.random(n) < 0.85, np.where(kind == "cat", "grey", "brown"), "white"),
                          "name": [f"animal {i}" for i in range(n)]})  # fmt: skip
    return frame.mask(rng.random(frame.shape) < np.array([0.05, 0.1, 0.0, 0.05, 0.0]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("network")
    made().to_csv(folder / "pets.csv", index=False)
    assert main(["network", str(folder / "pets.csv"), "--check", "5", "--quiet"]) == 0
    return folder


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_everything_is_written(folder):
    names = ("edges.csv", "levels.csv", "tacit", "html")
    assert {path.name for path in folder.glob("pets.network.*")} == {f"pets.network.{name}" for name in names}
    edges = read(folder / "pets.network.edges.csv")
    assert {frozenset((row["from"], row["to"])) for row in edges} == {
        frozenset(("kind", "weight")),
        frozenset(("kind", "colour")),
    }
    assert float(edges[0]["bits"]) > float(edges[1]["bits"]) > 0.2
    assert all(float(row["found"]) == 1.0 for row in edges)
    levels = read(folder / "pets.network.levels.csv")
    for column in ("kind", "weight", "legs", "colour"):
        rows = [row for row in levels if row["column"] == column]
        assert sum(float(row["probability"]) for row in rows) == pytest.approx(1.0)
        assert sum(int(row["rows"]) for row in rows) + int(rows[0]["missing"]) == 400
    assert [row["level"] for row in levels if row["column"] == "legs"] == ["3", "4"]
    page = (folder / "pets.network.html").read_text(encoding="utf-8")
    assert HOSTILE not in page
    assert 'class="network-data"' in page


def test_python_gives_the_same_answers(folder, tmp_path, capsys):
    assert main(["network", str(folder / "pets.csv"), "--check", "5", "--quiet", "--json", "--out", str(tmp_path)]) == 0
    told = json.loads(capsys.readouterr().out)
    found = find_network(folder / "pets.csv", check=5)
    study = found.study()
    assert told["summary"] == [str(each) for each in study.summary]
    assert told["limits"] == [str(each) for each in study.limits]
    assert [(row["from"], row["to"], row["bits"]) for row in told["edges"]] == [
        (each.parent, each.child, each.information) for each in study.dependencies
    ]  # fmt: skip
    assert told["check"]["columns"] == plain(study.guessed.columns)
    for name in ("edges.csv", "levels.csv", "tacit", "html"):
        assert (tmp_path / f"pets.network.{name}").read_bytes() == (folder / f"pets.network.{name}").read_bytes()
    model = tacit.load(folder / "pets.network.tacit")
    given = {"weight": 3.9, "colour": "grey"}
    np.testing.assert_array_equal(model.query("kind", given).values, found.model.query("kind", given).values)


def test_the_console_says_what_is_found(folder, tmp_path, capsys):
    assert main(["network", str(folder / "pets.csv"), "--check", "1", "--out", str(tmp_path), "--no-report"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "left out: name (a different value in every row)" in out
    assert "400 rows of 4 columns: 2 of 6 pairs of columns are found to depend on each other directly." in out
    assert "legs is not found to depend on any other column." in out
    assert "Both edges were found again in at least 90 % of 1 resample of the rows." in out
    assert not (tmp_path / "pets.network.html").exists()


def test_new_rows_are_predicted_and_filled(folder, tmp_path, capsys):
    new = tmp_path / "new.csv"
    new.write_text("colour,weight,legs\ngrey,4.1,4\nbrown,,4\n,55,3\ngreen,19,4\n")
    model = str(folder / "pets.network.tacit")
    assert main(["predict", model, str(new), "--target", "kind", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    rows = read(tmp_path / "new.predict.rows.csv")
    assert [row["predicted"] for row in rows] == ["cat", "dog", HOSTILE, "dog"]
    assert float(rows[0]["probability_cat"]) > 0.95
    assert any("green" in note for note in told["notes"])
    network = tacit.load(model)
    frame = pd.DataFrame({"kind": [None], "weight": [4.1], "legs": ["4"], "colour": ["grey"]})
    assert float(rows[0]["log_probability"]) == pytest.approx(network.score_samples(frame)[0])
    assert float(rows[0]["probability_cat"]) == pytest.approx(network.predict_proba(frame, "kind")[0, 1], abs=1e-6)
    assert (
        main(["predict", model, str(folder / "pets.csv"), "--target", "weight", "--fill", "--out", str(tmp_path)]) == 0
    )
    out = capsys.readouterr().out
    frame, filled = pd.read_csv(folder / "pets.csv"), pd.read_csv(tmp_path / "pets.predict.filled.csv")
    known = frame.notna()
    assert (filled.where(known) == frame).where(known, other=True).drop(columns="name").to_numpy().all()
    assert filled.drop(columns="name").notna().to_numpy().all()
    cells = read(tmp_path / "pets.predict.cells.csv")
    n_missing = int(frame.drop(columns="name").isna().to_numpy().sum())
    assert len(cells) == n_missing
    assert f"{n_missing} missing cells filled in." in out
    for row in cells:
        if row["column"] == "weight":
            assert float(row["low"]) < float(row["value"]) < float(row["high"])
        else:
            assert 0 < float(row["probability"]) <= 1
    rows = pd.read_csv(tmp_path / "pets.predict.rows.csv")
    inside = (rows["low"] <= frame["weight"]) & (frame["weight"] <= rows["high"])
    assert inside[frame["weight"].notna()].mean() == pytest.approx(0.92, abs=0.06)
    error = np.sqrt(np.mean((rows["predicted"] - frame["weight"]) ** 2))
    assert f"predictions are off by {error:.3g} (root mean square)" in " ".join(out.split())


def test_the_page_is_written_again(folder, tmp_path, capsys):
    model = str(folder / "pets.network.tacit")
    assert main(["report", model, "--out", str(tmp_path)]) == 0
    assert (tmp_path / "pets.report.html").read_bytes() == (folder / "pets.network.html").read_bytes()
    assert main(["report", model, "--out", str(tmp_path), "--force", "--title", "Animals"]) == 0
    assert "<h1>Animals</h1>" in (tmp_path / "pets.report.html").read_text(encoding="utf-8")
    assert main(["report", model, "--out", str(tmp_path), "--force", "--merge", "1+2"]) == 2
    assert "--merge is not for a belief network; leave it out." in capsys.readouterr().err


def test_networks_made_in_python_predict_rows(folder, tmp_path, capsys):
    frame = pd.read_csv(folder / "pets.csv").drop(columns="name")
    network = BeliefNetwork([("kind", "weight"), ("kind", "colour"), ("kind", "secret")], hidden={"secret": 2}, max_iter=5,
                            n_init=1, random_state=0)  # fmt: skip
    network.fit(frame)
    tacit.save(network, tmp_path / "own.tacit")
    asked = ["predict", str(tmp_path / "own.tacit"), str(folder / "pets.csv"), "--out", str(tmp_path), "--force"]
    for target in ("weight", "secret", "legs"):
        assert main([*asked, "--target", target, "--fill"]) == 0
        rows = pd.read_csv(tmp_path / "pets.predict.rows.csv")
        expected = network.predict(frame, target)
        if target == "weight":
            np.testing.assert_allclose(rows["predicted"], expected, rtol=1e-8)
        else:
            assert (rows["predicted"] == expected).all()
    capsys.readouterr()
    assert main(["report", str(tmp_path / "own.tacit"), str(folder / "pets.csv"), "--out", str(tmp_path)]) == 2
    assert "has continuous or hidden variables" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--required", "kind-weight"], "'kind-weight' is no edge between two columns, such as 'age->income'"),
        (["--required", "kind->size"], "--required names 'size', which is no column in use"),
        (["--required", "kind->weight", "--required", "weight->kind"], "the edges form the cycle "),
        (["--columns", "kind"], "has 1 column that a network can be learned from, and at least 2 are needed"),
        (["--levels", "1"], "--levels 3"),
        (["--structure", "chow-liu", "--max-parents", "2"], "--max-parents is for hill climbing"),
        (["--structure", "best"], "there is no --structure value 'best'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(options, fault, folder, tmp_path, capsys):
    try:
        code = main(["network", str(folder / "pets.csv"), *options, "--out", str(tmp_path), "--quiet"])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    err = capsys.readouterr().err
    assert fault in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--target", "size"], "target='size' is no variable of the network"),
        (["--columns", "kind"], "--columns"),
    ],
)
def test_predictions_that_cannot_be_are_refused(options, fault, folder, tmp_path, capsys):
    asked = ["predict", str(folder / "pets.network.tacit"), str(folder / "pets.csv"), "--out", str(tmp_path)]
    assert main([*asked, *options]) == 2
    assert fault in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_target_is_for_networks(folder, tmp_path, capsys):
    assert (
        main(["fit", str(folder / "pets.csv"), "--groups", "2", "--out", str(tmp_path), "--quiet", "--no-report"]) == 0
    )
    assert main(["predict", str(tmp_path / "pets.fit.tacit"), str(folder / "pets.csv"), "--target", "kind"]) == 2
    assert "--target is for models of tacit network" in capsys.readouterr().err


def test_a_damaged_note_is_named(folder, tmp_path, capsys):
    model = tacit.load(folder / "pets.network.tacit")
    tacit.save(model, tmp_path / "m.tacit", notes={"command": "network", "settings": {"structure": "magic"}})
    assert main(["report", str(tmp_path / "m.tacit"), str(folder / "pets.csv"), "--out", str(tmp_path)]) == 2
    assert "are damaged (the way edges were found is unknown)" in capsys.readouterr().err
