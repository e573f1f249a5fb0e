"""`tacit test`: the same answer as from Python, groups that are named, options, faults."""

import json

import numpy as np
import pandas as pd
import pytest

from tacit.assess import compare_groups
from tacit.cli.main import main
from tacit.datasets import penguins_path


def run(capsys, tmp_path, *words):
    code = main(["test", *map(str, words), "--out", str(tmp_path), "--quiet", "--json"])
    out = capsys.readouterr()
    return code, json.loads(out.out) if code == 0 else out.err


def test_python_and_the_command_say_the_same(capsys, tmp_path):
    path = str(penguins_path())
    code, told = run(
        capsys, tmp_path, path, "--by", "sex=male,female", "--correct", "bh", "--alpha", "0.1", "--numbers", "ranks"
    )
    found = compare_groups(path, "sex", values=["male", "female"], correction="bh", alpha=0.1, method="ranks")
    assert code == 0
    assert told["tests"] == json.loads(json.dumps(found.tests))
    assert told["groups"] == found.groups == [{"name": "male", "n_rows": 168}, {"name": "female", "n_rows": 165}]
    assert (told["summary"], told["limits"]) == (list(map(str, found.summary)), list(map(str, found.limits)))
    assert told["left_out"] == 11
    written = pd.read_csv(tmp_path / "penguins.test.tests.csv")
    np.testing.assert_allclose(written["adjusted"], [test["adjusted"] for test in found.tests])
    assert written["differs"].tolist() == [test["differs"] for test in found.tests]
    assert written["male: known"].tolist() == [test["known"][0] for test in found.tests]


def test_a_hostile_table_keeps_its_page_and_names(capsys, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "<b>g=1</b>": np.repeat(["<script>x</script>", "a,b"], 12), "x\n": rng.normal(size=24), "all missing": np.nan,
        "text": [f"words of row {i} that never come again, {i}" for i in range(24)], "one": 1,
    })  # fmt: skip
    table.loc[3, "x\n"] = np.nan
    table.to_csv(tmp_path / "odd.csv", index=False)
    code, told = run(capsys, tmp_path, tmp_path / "odd.csv", "--by", "<b>g=1</b>")
    assert code == 0
    assert {each["column"] for each in told["skipped"]} == {"all missing", "text", "one"}
    page = (tmp_path / "odd.test.html").read_text(encoding="utf-8")
    assert "<script>x" not in page
    assert "<b>g=1" not in page


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ([], "--by is missing; name the column that says which group a row is of, such as --by species."),
        (["--by", "specie"], "has no column 'specie' to tell the groups by; did you mean 'species'?"),
        (["--by", "species=Adelie"], "values=['Adelie'] must name at least two groups of column 'species', each once."),
        (["--by", "species", "--alpha", "0"], "alpha=0.0 is not between 0 and 1; use 0.05, for instance."),
    ],
)
def test_faults(words, fault, capsys, tmp_path):
    code, err = run(capsys, tmp_path, penguins_path(), *words)
    assert code == 2
    assert fault in err
    assert not list(tmp_path.iterdir())
