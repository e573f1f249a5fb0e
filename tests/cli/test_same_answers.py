"""The same table through Python and through the command: every number is the same."""

import csv
import json
from dataclasses import asdict

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.cli.outcome import plain
from tacit.cli.voice import said as in_the_command
from tacit.datasets import make_mixed_table, penguins_path
from tacit.factor import ProbabilisticPCA
from tacit.impute import choose_imputer, try_fills
from tacit.mixture import find_groups
from tacit.schema import Schema
from tacit.study import study
from tacit.tables import open_table

pandas = pytest.importorskip("pandas")

TABLES = ["penguins", "mixed"]


@pytest.fixture(scope="module", params=TABLES)
def path(request, tmp_path_factory):
    """A table as a file."""
    if request.param == "penguins":
        return penguins_path()
    data = make_mixed_table(300, missing=0.1, random_state=0)
    path = tmp_path_factory.mktemp("tables") / "mixed.csv"
    pandas.DataFrame(dict(zip(data.columns, np.asarray(data.X, dtype=object).T))).to_csv(path, index=False)
    return path


@pytest.fixture
def run(path, tmp_path, capsys):
    """Run a command on the table: what it says to programs, and a function that reads the files it wrote."""

    def run(command, *arguments):
        assert main([command, *arguments, "--out", str(tmp_path), "--quiet", "--json"]) == 0

        def written(name):
            with next(tmp_path.glob(f"*.{name}.csv")).open(newline="", encoding="utf-8") as file:
                return list(csv.DictReader(file))

        return json.loads(capsys.readouterr().out), written

    return run


def same(found, expected):
    """Whether two records agree in every number, word and name; numbers as a text file holds them."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            same(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    else:
        assert found == expected


def same_cells(rows, frame, imputed):
    """Whether a file of filled cells says what `impute` says of a frame."""
    assert rows
    for row in rows:
        i, j = int(row["row"]) - 1, list(frame.columns).index(row["column"])
        assert pandas.isna(frame.iat[i, j])
        value = imputed.filled.iat[i, j]
        if not row["value"]:  # no level is probable enough
            assert pandas.isna(value)
        elif row["probability"]:
            assert str(value) == row["value"]
            assert float(row["probability"]) == pytest.approx(imputed.probability[i, j], rel=1e-6)
        else:
            told = [float(row[name]) for name in ("value", "low", "high")]
            assert told == pytest.approx([value, imputed.low[i, j], imputed.high[i, j]], rel=1e-9)


def test_fit(run, path):
    said, written = run("fit", str(path), "--groups", "1-3", "--seed", "3")
    frame = pandas.read_csv(path)
    found = find_groups(frame, groups=range(1, 4), seed=3)
    findings = found.study(3)
    same(said["groups"], plain([asdict(group) for group in findings.groups]))
    same(said["columns"], plain([asdict(column) for column in findings.columns]))
    same(said["uncertain"], plain({"count": findings.n_uncertain, "rows": findings.uncertain}))
    same(said["outliers"], plain({"count": findings.n_outliers, "rows": findings.outliers}))
    for name in ("selection", "trace", "summary"):
        same(said[name], plain(getattr(findings, name)))
    for name in ("check", "shares"):
        same(said[name], plain(getattr(findings, name)))
    same(said["missingness"], plain([asdict(each) for each in findings.missingness]))
    same(said["filled"], plain(findings.n_filled))
    same(said["limits"], [in_the_command(sentence) for sentence in findings.limits])
    # A frame has no name.
    card = {key: path.name if value == "the table" else value for key, value in plain(findings.card).items()}
    same(said["card"], card)
    model, rows = found.model, written("groups")
    used = frame[list(model.feature_names_in_)]
    probabilities = [[float(row[f"probability_{k + 1}"]) for k in range(model.n_components)] for row in rows]
    np.testing.assert_allclose(probabilities, model.predict_proba(used), atol=1e-6)
    assert [int(row["group"]) - 1 for row in rows] == model.predict(used).tolist()
    assert [row["outlier"] == "yes" for row in rows] == model.outliers(used).tolist()
    same_cells(written("cells"), used, model.impute(used, interval=0.9))


def test_impute(run, path):
    said, written = run("impute", str(path), "--groups", "1-2", "--level", "0.8")
    frame = pandas.read_csv(path)
    choice = choose_imputer(frame, groups=range(1, 3), level=0.8)
    for name in ("method", "why", "selection"):
        same(said[name], plain(getattr(choice, name)))
    used = frame[list(choice.model.feature_names_in_)]
    same_cells(written("cells"), used, choice.model.impute(used, interval=0.8))
    same(said["check"], plain(try_fills(choice.model, choice.table, level=0.8)))


def test_reduce(run, path):
    said, written = run("reduce", str(path), "--axes", "1")
    names = said["columns"]
    frame = pandas.read_csv(path)[names]
    model = ProbabilisticPCA(1, scale=True, random_state=0).fit(frame)
    scores, covariance = model.transform(frame, return_cov=True)
    np.testing.assert_allclose([float(row["axis_1"]) for row in written("scores")], scores[:, 0], atol=1e-8)
    errors = [float(row["se_axis_1"]) for row in written("scores")]
    np.testing.assert_allclose(errors, np.sqrt(covariance[:, 0, 0]), rtol=1e-8)
    same(said["loadings"], plain(study(model, frame).axes.loadings))


def test_predict(run, path, tmp_path):
    frame = pandas.read_csv(path)
    model = find_groups(frame, groups=[2]).model
    tacit.save(model, tmp_path / "model.tacit")
    said, written = run("predict", str(tmp_path / "model.tacit"), str(path))
    used = frame[list(model.feature_names_in_)]
    probabilities = [[float(row[f"probability_{k + 1}"]) for k in range(2)] for row in written("groups")]
    np.testing.assert_allclose(probabilities, model.predict_proba(used), atol=1e-6)
    assert said["rows"] == len(frame)


def test_inspect(path, capsys):
    assert main(["inspect", str(path), "--json"]) == 0
    said = {column["name"]: column for column in json.loads(capsys.readouterr().out)["columns"]}
    frame = pandas.read_csv(path)
    opened = {column.name: column for column in open_table(frame).columns}
    assert said.keys() == opened.keys()
    for name, column in opened.items():
        assert (said[name]["role"], said[name]["n_missing"]) == (column.role, column.n_missing)
    used = [name for name, column in opened.items() if column.used]
    kinds = {"measurement": "continuous", "count": "count", "category": "category"}
    assert [column.kind for column in Schema.of(frame[used]).columns] == [kinds[opened[name].role] for name in used]
