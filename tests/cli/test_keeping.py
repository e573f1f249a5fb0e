"""`tacit.toml`: what is said of a table once holds for every command; what is wrong in it is told by line and key."""

import json
import tomllib

import numpy as np
import pytest

from tacit.cli.main import main
from tacit.tables.keeping import keep, read_kept


@pytest.fixture
def folder(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0.0], [8.0]], 20, axis=0)
    lines = [f"{a:.3f},{b:.3f},{i % 3},{i % 3}" for i, (a, b) in enumerate(X)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,q1,q2", *lines]) + "\n")
    return tmp_path


def roles(capsys, path, *more):
    assert main(["inspect", str(path), "--json", *more]) == 0
    return {column["name"]: column["role"] for column in json.loads(capsys.readouterr().out)["columns"]}


def test_roles_are_kept_and_options_go_before_them(folder, capsys):
    before = roles(capsys, folder / "t.csv")
    assert roles(capsys, folder / "t.csv", "--as", "q1=ordinal", "--as", "q2=ordinal", "--keep")["q1"] == "ordinal"
    told = tomllib.loads((folder / "tacit.toml").read_text())
    assert told == {"tables": {"t": {"roles": {"q1": "ordinal", "q2": "ordinal"}}}}
    assert roles(capsys, folder / "t.csv") == before | {"q1": "ordinal", "q2": "ordinal"}
    assert roles(capsys, folder / "t.csv", "--as", "q2=category")["q2"] == "category"
    (folder / "tacit.toml").write_text('[roles]\n"q*" = "ordinal"\nelsewhere = "id"\n')  # of other tables as well
    assert roles(capsys, folder / "t.csv") == before | {"q1": "ordinal", "q2": "ordinal"}
    (folder / "u.csv").write_bytes((folder / "t.csv").read_bytes())
    assert main(["compare", str(folder / "t.csv"), str(folder / "u.csv"), "--groups", "1", "--quiet", "--json"]) == 0
    what = {test["column"]: test["what"] for test in json.loads(capsys.readouterr().out)["looked"]}
    assert what["q1"] == "values"  # ordered


def test_titles_units_and_names_of_groups_are_on_the_page(folder, capsys):
    said = ["--label", "a=Length of a", "--unit", "a=mm", "--keep"]
    roles(capsys, folder / "t.csv", *said)
    assert main(["fit", str(folder / "t.csv"), "--groups", "2", "--quiet"]) == 0
    assert "Length of a" in (folder / "t.fit.html").read_text()
    model = str(folder / "t.fit.tacit")
    assert main(["report", model, "--name", "1=Smaller ones", "--keep"]) == 0
    assert main(["report", model, "--force"]) == 0
    page = (folder / "t.report.html").read_text()
    assert "Smaller ones" in page
    assert "Length of a" in page
    capsys.readouterr()
    assert main(["fit", str(folder / "t.csv"), "--groups", "2", "--ignore", "b", "--quiet", "--force"]) == 0
    assert main(["report", model, "--force"]) == 0  # of another model: its groups are not these
    assert "are of an earlier t.fit.tacit and are left out" in capsys.readouterr().out
    assert "Smaller ones" not in (folder / "t.report.html").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[roles]\nq1 = "ordnal"\n',
            "tacit.toml, line 2: roles.q1 is 'ordnal', which is no role; did you mean 'ordinal'?",
        ),
        ('[role]\nq1 = "id"\n', "tacit.toml, line 1: the key 'role' is unknown; did you mean 'roles'?"),
        ("[units]\n\na = 3\n", "tacit.toml, line 3: units.a is 3; write a text between quotes."),
        ("labels = 3\n", 'tacit.toml, line 1: labels is no section; write [labels] and lines of NAME = "TEXT" below.'),
        ("[labels\n", "tacit.toml is no TOML: "),
        ('[tables.t.roles]\nq9 = "id"\n', "tacit.toml, line 2: the table has no column 'q9'; it has a, b, q1, q2."),
        (
            '[tables.t.rules]\nq1 = "id"\n',
            "tacit.toml, line 1: tables.t has sections roles, labels and units, not 'rules'.",
        ),
        ('[groups."t.fit"]\nfirst = "x"\n', "tacit.toml, line 2: groups.t.fit has numbers of groups, not 'first'."),
    ],
)
def test_what_is_wrong_in_it(folder, capsys, text, message):
    (folder / "tacit.toml").write_text(text)
    for command in ("inspect", "fit"):
        assert main([command, str(folder / "t.csv")]) == 2
        err = capsys.readouterr().err
        assert message in err
        assert err.count("\n") == 1


def test_what_is_refused_to_be_kept(folder, capsys):
    cases = [
        (["--keep"], "--keep has nothing to keep"), (["--unit", "a=mm"], "--label and --unit are kept for pages; add --keep."),
        (["--unit", "aa=mm", "--keep"], "has no column 'aa'; did you mean 'a'?"),
    ]  # fmt: skip
    for asked, message in cases:
        assert main(["inspect", str(folder / "t.csv"), *asked]) == 2
        assert message in capsys.readouterr().err
    (folder / "tacit.toml").write_text('# mine\n[units]\na = "mm"\n')
    asked = ["inspect", str(folder / "t.csv"), "--unit", "b=cm", "--keep"]
    assert main(asked) == 2
    assert "has comments, which would be lost; add the lines by hand, or say --force." in capsys.readouterr().err
    assert main([*asked, "--force"]) == 0
    kept = read_kept(str(folder), "t")
    assert kept.units == {"a": "mm", "b": "cm"}


def test_any_text_is_kept_as_it_is(tmp_path):
    said = {"labels": {'a "b" \\ c': "x = [1]\n# ä\x7f", "": "e"}}
    keep(str(tmp_path), said)
    assert read_kept(str(tmp_path), "t").labels == said["labels"]
