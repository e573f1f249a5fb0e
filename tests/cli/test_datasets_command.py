"""`tacit datasets`: the list, tables written and drawn, and files that are not overwritten."""

import json

import pytest

from tacit.cli.main import main
from tacit.datasets import DATASETS, load_table, penguins_path


@pytest.fixture
def run(tmp_path, capsys):
    """Run `tacit datasets` with the temporary folder as --out: (exit code, output, errors)."""

    def run(*arguments):
        code = main(["datasets", *arguments, "--out", str(tmp_path)])
        return code, *capsys.readouterr()

    return run


def test_the_list(run):
    code, out, _ = run()
    assert code == 0
    assert all(name in out for name in DATASETS)
    told = json.loads(run("--json")[1])["datasets"]
    assert {row["name"]: row["licence"] for row in told}["penguins"] == "CC0"


def test_penguins_are_written_once(run, tmp_path):
    code, out, _ = run("penguins")
    path = tmp_path / "penguins.csv"
    assert code == 0
    assert path.read_bytes() == penguins_path().read_bytes()
    assert out.endswith(f"next: tacit fit {path}\n")
    path.write_text("mine")
    code, out, err = run("penguins")
    assert (code, out) == (2, "")
    assert "is there already; say --force" in err
    assert path.read_text() == "mine"
    assert run("penguins", "--force")[0] == 0
    assert path.read_bytes() == penguins_path().read_bytes()


def test_scikit_learns_tables(run, tmp_path):
    assert run("wine")[0] == 0
    assert load_table(tmp_path / "wine.csv", target="target").X.shape == (178, 13)


def test_tables_are_drawn_with_their_truth(run, tmp_path):
    code, out, _ = run("make", "mixed", "--rows", "80", "--missing", "0.3", "--mechanism", "mar", "--seed", "4")
    assert code == 0
    assert "tacit fit" in out
    incomplete, truth = load_table(tmp_path / "mixed.csv"), load_table(tmp_path / "mixed.truth.csv", target="group")
    known = incomplete.X != None  # noqa: E711
    assert 0.1 < 1 - known.mean() < 0.4
    assert known[:, 0].all()
    assert (incomplete.X[known] == truth.X[known]).all()
    before = (tmp_path / "mixed.csv").read_bytes()
    run("make", "mixed", "--rows", "80", "--missing", "0.3", "--mechanism", "mar", "--seed", "4", "--force")
    assert (tmp_path / "mixed.csv").read_bytes() == before
    code, out, _ = run("make", "factors", "--columns", "5", "--groups", "2", "--rows", "30")
    assert "tacit reduce" in out
    assert load_table(tmp_path / "factors.truth.csv").columns[-2:] == ["factor_1", "factor_2"]
    assert run("make", "outliers", "--rows", "30")[0] == 0
    code, out, _ = run("make", "ratings", "--rows", "30", "--columns", "12", "--groups", "2")
    assert "tacit recommend" in out
    assert load_table(tmp_path / "ratings.csv", target="rating").columns == ["user", "item", "date"]
    assert load_table(tmp_path / "ratings.items.csv").X.shape == (12, 3)


def test_all_or_none(run, tmp_path):
    (tmp_path / "mixed.truth.csv").write_text("mine")
    assert run("make", "mixed")[0] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mixed.truth.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["titanic"], "there is no data set 'titanic'; tacit datasets lists those there are"),
        (["movielens"], "movielens does not come along (research only, not to be passed on); get it from https://"),
        (["mixed"], "mixed is drawn at random; say tacit datasets make mixed"),
        (["make"], "nothing was named; tacit datasets make takes one of mixed, factors, outliers, ratings"),
        (["make", "penguins"], "'penguins' cannot be made"),
        (["iris", "mixed"], "say tacit datasets make mixed"),
        (["make", "mixed", "--columns", "4"], "--columns does not go with mixed"),
        (["make", "mixed", "--rows", "0"], "n_rows=0 is not a whole number of at least 1"),
        (["make", "factors", "--missing", "2"], "share=2.0 is not a number from 0 to below 1"),
    ],
)
def test_bad_requests(run, tmp_path, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_no_such_folder(capsys):
    assert main(["datasets", "penguins", "--out", f"{__file__}/folder"]) == 2
    assert f"cannot be a folder: {__file__} is a file" in capsys.readouterr().err
