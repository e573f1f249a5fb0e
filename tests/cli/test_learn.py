"""`tacit learn`: what it writes, what it tells, what it refuses, and what its models say of new rows."""

import json

import numpy as np
import pandas as pd
import pytest

from tacit.cli.main import main
from tacit.learning import choose_predictor


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learn")
    rng = np.random.default_rng(0)
    size, kind = rng.normal(100.0, 20.0, 120).round(1), rng.choice(["flat", "house"], 120)
    price = (3.0 * size + 50.0 * (kind == "house") + rng.normal(0, 10, 120)).round(1)
    table = pd.DataFrame({"key": [f"k{i:03}" for i in range(120)], "size": size, "kind": kind, "price": price})
    table.loc[[3, 4], "size"] = np.nan
    table.loc[[7, 8, 9], "price"] = np.nan
    table.to_csv(folder / "homes.csv", index=False)
    assert run(folder) == 0
    return folder


def run(folder, *options, models="linear,support_vectors", target="price"):
    told = ["--target", target, "--models", models, "--budget", "none", "--quiet"]
    return main(["learn", str(folder / "homes.csv"), *told, *options])


def test_everything_is_written(folder):
    names = ("predictions.csv", "models.csv", "columns.csv", "tacit", "html")
    assert {path.name for path in folder.glob("homes.learn.*")} == {f"homes.learn.{name}" for name in names}
    made = pd.read_csv(folder / "homes.learn.predictions.csv")
    assert made["key"].tolist() == [f"k{i:03}" for i in range(120)]
    assert made["known"].isna().sum() == made["held_out"].isna().sum() == 3
    assert made["predicted"].notna().all()
    inside = (made["low"] <= made["known"]) & (made["known"] <= made["high"])
    assert 0.85 <= inside[made["known"].notna()].mean() <= 0.97
    assert np.sqrt(((made["held_out"] - made["known"]) ** 2).mean()) < 15
    assert pd.read_csv(folder / "homes.learn.columns.csv")["column"].tolist()[0] == "size"
    assert pd.read_csv(folder / "homes.learn.models.csv")["model"].tolist()[0] == "linear"


def test_python_gives_the_same_answers(folder, tmp_path, capsys):
    assert run(folder, "--out", str(tmp_path), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    found = choose_predictor(
        str(folder / "homes.csv"), "price", models=["linear", "support_vectors"], budget=None
    ).study()
    assert told["summary"] == list(found.summary)
    assert told["error"] == found.error
    assert [each["after"] for each in told["weights"]] == [each.after for each in found.weights]
    assert (tmp_path / "homes.learn.html").read_bytes() == (folder / "homes.learn.html").read_bytes()


def test_a_saved_model_is_applied_and_reported(folder, tmp_path, capsys):
    model = str(folder / "homes.learn.tacit")
    new = pd.read_csv(folder / "homes.csv").drop(columns="price").iloc[::-1]
    new.to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", model, str(tmp_path / "new.csv"), "--quiet"]) == 0
    made = pd.read_csv(tmp_path / "new.predict.predictions.csv")
    kept = pd.read_csv(folder / "homes.learn.predictions.csv")
    assert made["predicted"].tolist() == kept["predicted"].tolist()[::-1]
    assert made["low"].tolist() == kept["low"].tolist()[::-1]
    assert main(["report", model, "--out", str(tmp_path)]) == 0
    page = (tmp_path / "homes.report.html").read_text()
    assert page == (folder / "homes.learn.html").read_text()
    assert main(["report", model, "--merge", "1+2"]) == 2
    assert main(["predict", model, str(tmp_path / "new.csv"), "--fill"]) == 2
    assert main(["explain", model, "3"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_classes(folder, tmp_path, capsys):
    assert run(folder, "--out", str(tmp_path), "--json", models="discriminant,logistic", target="kind") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["classes"] == ["flat", "house"]
    assert told["share"] > 0.9
    made = pd.read_csv(tmp_path / "homes.learn.predictions.csv")
    assert ((made["predicted"] == "house") == (made["probability_house"] > 0.5)).all()
    np.testing.assert_allclose(made[["probability_flat", "probability_house"]].sum(axis=1), 1.0, atol=2e-6)


@pytest.mark.parametrize(
    ("options", "fault"),
    [(["--models", "linear"], "say which column to predict with --target"),
     (["--target", "prize"], "did you mean 'price'"),
     (["--target", "key"], "column 'key' cannot be predicted"),
     (["--target", "price", "--models", "logistic"], "models='logistic'"),
     (["--target", "price", "--check", "1"], "--check 1 is too few folds; say 2 at least"),
     (["--target", "price", "--ignore", "size,kind"], "has no column to predict 'price' from")],
)  # fmt: skip
def test_what_cannot_be_is_refused(folder, tmp_path, capsys, options, fault):
    assert main(["learn", str(folder / "homes.csv"), *options, "--out", str(tmp_path), "--quiet"]) == 2
    told = capsys.readouterr().err
    assert fault in told
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_models_that_there_are_not(folder, capsys):
    with pytest.raises(SystemExit):
        main(["learn", str(folder / "homes.csv"), "--target", "price", "--models", "tree"])
    assert "'tree' is no model; there are linear," in capsys.readouterr().err
