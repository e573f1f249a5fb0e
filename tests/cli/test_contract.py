"""What every command keeps to: nothing is replaced without a word, results are named alike, JSON has one schema."""

import io
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.cli.main import ORDER, main
from tacit.cli.roles import ROLES, SHARED
from tacit.datasets import make_ratings
from tacit.tables import opening

VERBS = {
    "fit": ["{table}", "--groups", "2"],
    "impute": ["{table}", "--groups", "2"],
    "reduce": ["{table}", "--axes", "1"],
    "topics": ["{folder}/texts/t.txt", "--topics", "2", "--method", "anchors"],
    "recommend": ["{folder}/rated/t.csv", "--method", "factorization", "--components", "3", "--types", "2"],
    "segment": ["{table}", "--states", "1-2", "--forecast", "3"],
    "network": ["{table}", "--check", "4"],
    "learn": ["{table}", "--target", "a", "--models", "linear,support_vectors", "--budget", "none"],
    "predict": ["{folder}/t.fit.tacit", "{table}", "--fill"],
    "report": ["{folder}/t.fit.tacit", "{table}"],
    "compare": ["{table}", "--by", "colour", "--groups", "1"],
    "test": ["{table}", "--by", "colour"],
}
SAYERS = VERBS | {
    "explain": ["{folder}/t.fit.tacit", "7"],
    "inspect": ["{table}"],
    "datasets": [],
    "completion": ["fish"],
}


CLAIMED = {
    "fit": {"verdict", "largest", "unsure", "unusual", "filled", "threshold"},
    "impute": {"filled"},
    "reduce": {"explained", "axis", "missing"},
    "topics": {"topics", "completion", "topic", "few", "short"},
    "recommend": {"verdict", "coverage", "size", "users", "items"},
    "segment": {"verdict", "regime", "sure", "now", "ahead", "filled", "forecast"},
    "network": {"verdict", "guessed", "dependency", "sure", "missing", "either", "few"},
    "learn": {"verdict", "compared", "rests", "direction", "covered"},
    "predict": {"sizes", "unsure", "filled"},
    "report": {"verdict", "largest", "unsure", "unusual", "filled"},
    "compare": {"verdict", "new_rows", "power"},
    "test": {"verdict", "values", "intervals", "left_out", "missing_cells"},
    "explain": {"explained"},
    "inspect": {"table", "values"},
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
    (folder / "texts").mkdir()
    subjects = (["sun", "moon", "star", "comet"], ["fish", "sea", "ship", "tide"])
    rng = np.random.default_rng(1)
    drawn = [" ".join(text) for words in subjects for text in rng.choice(words, (30, 8))]
    (folder / "texts" / "t.txt").write_text("\n".join(drawn) + "\n")
    (folder / "rated").mkdir()
    make_ratings(90, 30, density=0.4, random_state=0).write_csv(folder / "rated" / "t.csv")
    assert main(["fit", str(folder / "t.csv"), "--groups", "2", "--quiet"]) == 0
    return folder


def run(verb, folder, *more):
    words = [word.format(folder=folder, table=folder / "t.csv") for word in SAYERS[verb]]
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


# JSON


def faults(value, schema, root, place="$"):
    """Where a value breaks a JSON schema, of the keywords that ours uses."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    strange = set(schema) - {
        "$schema", "$defs", "title", "type", "required", "properties", "items", "additionalProperties", "allOf", "if", "then",
        "const", "enum", "minimum", "maximum",
    }  # fmt: skip
    assert not strange, strange
    kinds = {
        "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float)
    }  # fmt: skip
    allowed = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type")
    is_bool = isinstance(value, bool)
    if allowed and not any(isinstance(value, kinds[kind]) and (kind == "boolean" or not is_bool) for kind in allowed):
        yield f"{place}: {value!r} is no {allowed}"
        return
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        yield f"{place}: {value!r} is another value"
    counted = isinstance(value, (int, float)) and not is_bool
    if counted and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{place}: {value} is out of range"
    if isinstance(value, dict):
        yield from (f"{place}: {key} is missing" for key in schema.get("required", ()) if key not in value)
        for key, each in value.items():
            part = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            yield from faults(each, part, root, f"{place}.{key}")
    if isinstance(value, list):
        for i, each in enumerate(value):
            yield from faults(each, schema.get("items", {}), root, f"{place}[{i}]")
    for case in schema.get("allOf", ()):
        if not list(faults(value, case["if"], root, place)):
            yield from faults(value, case["then"], root, place)


@pytest.fixture(scope="module")
def schema():
    return json.loads((Path(tacit.__file__).parent / "cli" / "outcome.schema.json").read_text())


@pytest.mark.parametrize("verb", SAYERS)
def test_json_keeps_to_its_schema(verb, folder, tmp_path, capsys, schema):
    more = ["--out", str(tmp_path)] if verb in VERBS else []
    assert run(verb, folder, "--json", *more) == 0
    assert list(faults(json.loads(capsys.readouterr().out), schema, schema)) == []


@pytest.mark.parametrize("verb", [verb for verb in SAYERS if verb not in ("datasets", "completion")])
def test_claims_have_figures_that_pandas_gives_again(verb, folder, tmp_path, capsys):
    out = tmp_path if verb in VERBS else folder
    assert run(verb, folder, "--json", *(["--out", str(out)] if verb in VERBS else [])) == 0
    told = json.loads(capsys.readouterr().out)
    table = pd.read_csv(folder / ("rated/t.csv" if verb == "recommend" else "t.csv"))
    # What a verb wrote; `report` and `explain` tell of what `fit` wrote.
    wrote = out if list(out.glob(f"t.{verb}.*.csv")) else folder
    names = {path.name.split(".")[2]: pd.read_csv(path) for path in wrote.glob("t.*.csv") if path.name != "t.csv"}
    names |= {"table": table, "rows": names.get("scores", names.get("groups")), "pd": pd}
    assert {claim["code"] for claim in told["claims"]} >= CLAIMED[verb]
    checked = 0
    for claim in told["claims"]:
        assert claim["figures"]
        assert claim["basis"]
        if claim["pandas"]:
            assert eval(claim["pandas"], names) == pytest.approx(claim["figures"], abs=1e-6), claim["code"]
            checked += 1
    assert checked >= {"fit": 5, "predict": 3, "report": 5, "inspect": 4}.get(verb, 1)
    for sentence in [*told["summary"], *told["limits"]]:  # what states a figure has a check
        assert not re.search(r"\d", sentence) or sentence in {claim["text"] for claim in told["claims"]}, sentence


def test_the_schema_names_all_commands_and_finds_faults(schema):
    names = {name for name in ORDER if name}
    assert set(schema["properties"]["command"]["enum"]) == names == set(SAYERS)
    assert "$: table is missing" in list(faults({"schema": 1, "command": "fit"}, schema, schema))
    assert "$.schema: 2 is another value" in list(faults({"schema": 2}, schema, schema))


# Roles


@pytest.mark.parametrize("verb", SAYERS)
def test_roles_that_a_command_does_not_use_are_refused(verb, folder, capsys):
    users = {
        "by": ["compare", "test"], "target": ["learn", "predict"],
        "time": ["topics", "recommend", "segment", "compare", "report"], "sequence": ["segment"],
        "text": ["topics", "predict", "report"],
        "user": ["recommend", "predict"], "item": ["recommend", "predict"], "rating": ["recommend"], "weight": ["recommend"],
    }  # fmt: skip
    for role in ROLES:
        if verb in users.get(role, ()):
            continue
        with pytest.raises(SystemExit) as stop:
            run(verb, folder, f"--{role}", "a")
        assert stop.value.code == 2
        err = capsys.readouterr().err
        *others, last = (f"tacit {each}" for each in users.get(role, [""]))
        who = f"{', '.join(others)} and {last} can" if others else f"{last} can"
        who = who if role in users else "no command of this version does"
        assert err == f"tacit: tacit {verb} does not use --{role} ({ROLES[role]}); {who} (see tacit {verb} --help)\n"


@pytest.mark.parametrize("verb", SAYERS)
def test_shared_options_mean_the_same_or_are_refused(verb, folder, capsys):
    users = {
        "family": ["fit", "impute", "segment", "compare"],
        "check": ["fit", "impute", "reduce", "recommend", "network", "learn", "compare"],
        "budget": ["fit", "impute", "reduce", "topics", "recommend", "segment", "network", "learn", "compare"],
    }
    for name, what in SHARED.items():
        with pytest.raises(SystemExit) as stop:
            run(verb, folder, f"--{name}", "-")
        assert stop.value.code == 2
        err = capsys.readouterr().err
        if verb in users[name]:
            assert {"family": "'-' names no family; there are gaussian, student", "check": "'-' is no whole number; say --check",
                    "budget": "'-' is no time such as 60s, 5m or none"}[name] in err  # fmt: skip
        else:
            *others, last = (f"tacit {each}" for each in users[name])
            who = f"{', '.join(others)} and {last} can"
            assert err == f"tacit: tacit {verb} does not use --{name} ({what}); {who} (see tacit {verb} --help)\n"


# Completion


def test_bash_completes_commands_options_and_values(capsys, tmp_path):
    assert main(["completion", "bash"]) == 0
    (tmp_path / "c").write_text(capsys.readouterr().out)

    def completed(*words):
        typed = " ".join(f"'{word}'" for word in words)
        text = f"source {tmp_path}/c; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _tacit; echo ${{COMPREPLY[@]}}"
        return subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True).stdout.split()

    assert completed("tacit", "co") == ["compare", "completion"]
    assert completed("tacit", "fit", "t.csv", "--cr") == ["--criterion"]
    assert completed("tacit", "fit", "t.csv", "--criterion", "i") == ["icl"]
    assert completed("tacit", "fit", "t.csv", "--groups", "") == []
    assert "--target" not in completed("tacit", "fit", "--")


@pytest.mark.parametrize(
    ("shell", "line"), [("zsh", "fit) _arguments"), ("fish", "-l criterion -x -a 'bic icl aic cv'")]
)
def test_other_shells(shell, line, capsys):
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert line in out
    assert all(f"--{name}" in out or f"-l {name}" in out for name in ("groups", "force", "json"))
    with pytest.raises(SystemExit):
        main(["completion", "powers"])
    assert "there is no shell value 'powers'; there are bash, zsh, fish" in capsys.readouterr().err


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
