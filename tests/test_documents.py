"""What the documents show must work: the skeletons of CONTRIBUTING, the code of the README, the examples."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tacit.engine import fit
from tacit.mixture import MixtureModel
from tacit.source import ArraySource, Block
from tacit.testing import check_family, check_model

from .zoo import gaussian_rows, with_holes

ROOT = Path(__file__).parents[1]


def blocks(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def skeleton(tmp_path, monkeypatch):
    """Import a code block of CONTRIBUTING as a module, so that its classes pickle."""

    def load(number, name):
        (tmp_path / f"{name}.py").write_text(blocks("CONTRIBUTING.md")[number], encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(name)

    return load


def test_family_skeleton_has_every_property(skeleton):
    Exponential = skeleton(0, "family_skeleton").Exponential
    rows = np.random.default_rng(0).exponential([[1.0, 5.0, 2.0]], size=(200, 3))
    check_family(Exponential(), rows)
    exec(blocks("CONTRIBUTING.md")[1], {"Exponential": Exponential})
    check_model(MixtureModel(Exponential(), 2), with_holes(rows))
    with pytest.raises(ValueError, match=r"X holds -1"):
        Exponential().check(-np.ones((2, 2)))


def test_model_skeleton_learns(skeleton):
    X = with_holes(gaussian_rows())
    model = skeleton(2, "model_skeleton").Columns()
    check_model(model, X)
    learned = fit(model, ArraySource(X), model.init(Block.of(X), None)).params
    np.testing.assert_allclose(learned.mean, np.nanmean(X, axis=0))
    np.testing.assert_allclose(learned.variance, np.nanvar(X, axis=0))


def test_readme_code_runs():
    scope = {}
    exec(blocks("README.md")[0], scope)
    assert np.isfinite(scope["filled"]).all()
    assert scope["tables"].shape == (20, 344, 4)
    exec(blocks("README.md")[1], scope)
    assert not scope["whole"].isna().any().any()
    assert len(scope["groups"]) == 344
    exec(blocks("README.md")[2], scope)
    assert len(scope["clusters"].predict(scope["X"])) == 344
    exec(blocks("README.md")[3], scope)
    assert np.isfinite(scope["filled"]).all()


def test_the_page_on_mixtures_runs():
    pytest.importorskip("matplotlib").use("Agg")
    scope = {}
    for code in blocks("docs/mixtures.md"):
        exec(code, scope)
    assert not scope["filled"].isna().any().any()
    assert scope["robust"].outliers(scope["rows"], level=0.999)[400:].mean() > 0.5


def test_the_page_on_clustering_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    scope = {}
    for code in blocks("docs/clustering.md"):
        exec(code, scope)
    page = (ROOT / "docs/clustering.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(.*?)```", page, flags=re.DOTALL).group(1)
    assert shown.strip() == str(scope["report"])
    assert (tmp_path / "clusters.parquet").exists()
    assert scope["shapes"].metric_note_ == "compiled by numba"


def test_the_page_on_factors_runs():
    pytest.importorskip("matplotlib").use("Agg")
    scope = {}
    for code in blocks("docs/factors.md"):
        exec(code, scope)
    assert np.isfinite(scope["whole"]).all()
    assert np.mean((scope["clean"] - scope["picture"]) ** 2) < 0.5 * np.mean((scope["noisy"] - scope["picture"]) ** 2)
    np.testing.assert_allclose(scope["cca"].canonical_correlations_, [0.796, 0.201], atol=5e-4)


def test_readme_holds_exactly_two_commands():
    commands = re.findall(r"```sh\n(.*?)\n```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(commands) == 2
    assert all("\n" not in command for command in commands)


def test_readme_shows_what_the_command_prints(capsys, tmp_path):
    from tacit.cli.main import main
    from tacit.datasets import penguins_path

    assert main(["fit", str(penguins_path()), "--out", str(tmp_path), "--quiet"]) == 0
    printed = capsys.readouterr().out.splitlines()
    shown = re.search(r"```text\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL).group(1)
    for line in shown.splitlines()[:6]:  # up to the model that won; later digits may differ between machines
        assert line in printed


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example(script, tmp_path):
    code = script.read_text(encoding="utf-8")
    if "set TACIT_DATA" in code and not os.environ.get("TACIT_DATA"):  # others fall back on data that are everywhere
        pytest.skip("TACIT_DATA does not name the folder of published data sets")
    if "needs scikit-image" in code:
        pytest.importorskip("skimage")
    figure = tmp_path / "figure.png"
    done = subprocess.run(
        [sys.executable, script, figure],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert figure.exists() == ("[FIGURE.png]" in code)
