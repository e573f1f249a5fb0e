"""What the documents show must work: the skeletons, the code of every page and what it prints, commands, examples."""

import ast
import contextlib
import doctest
import importlib
import io
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from tacit.engine import fit
from tacit.mixture import MixtureModel
from tacit.source import ArraySource, Block
from tacit.testing import check_family, check_model

from .zoo import gaussian_rows, with_missing

ROOT = Path(__file__).parents[1]
GENERATED = ("docs/api/", "docs/gallery/", "docs/_build/", "docs/command.md")
NOT_RUN = {
    "docs/architecture.md": "an excerpt of the engine's loop",
    "docs/scaling.md": "clusters, GPUs and files of many gigabytes",
}
PAGES = sorted(
    name
    for name in (path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    if not name.startswith(GENERATED)
)
OWN_TESTS = ("docs/mixtures.md", "docs/clustering.md", "docs/factors.md", "docs/adding.md")
PYTHON = re.compile(r"(<!-- not run: [^>]+ -->\n+)?```python\n(.*?)```(?:\n+```text\n(.*?)```)?", flags=re.DOTALL)


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name):
    return re.findall(r"```python\n(.*?)```", text(name), flags=re.DOTALL)


def run_page(name):
    """Run the blocks of a page in one namespace; a text block right after one is what that block prints."""
    scope, same = {}, doctest.OutputChecker().check_output
    for skipped, code, shown in PYTHON.findall(text(name)):
        if skipped:
            ast.parse(code)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), scope)
        assert not shown or same(shown, printed.getvalue(), doctest.ELLIPSIS), printed.getvalue()
    return scope


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Run a page in an empty folder, drawing nowhere."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    yield run_page
    pyplot.close("all")


@pytest.fixture
def skeleton(tmp_path, monkeypatch):
    """Import a code block of a document as a module, so that its classes pickle."""

    def load(number, name, document="CONTRIBUTING.md"):
        (tmp_path / f"{name}.py").write_text(blocks(document)[number], encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(name)

    return load


def test_family_skeleton_has_every_property(skeleton):
    Exponential = skeleton(0, "family_skeleton").Exponential
    rows = np.random.default_rng(0).exponential([[1.0, 5.0, 2.0]], size=(200, 3))
    check_family(Exponential(), rows)
    exec(blocks("CONTRIBUTING.md")[1], {"Exponential": Exponential})
    check_model(MixtureModel(Exponential(), 2), with_missing(rows))
    with pytest.raises(ValueError, match=r"X holds -1"):
        Exponential().check(-np.ones((2, 2)))


def test_model_skeleton_learns(skeleton):
    X = with_missing(gaussian_rows())
    model = skeleton(2, "model_skeleton").Columns()
    shown = {"Columns": type(model), "np": np, "rng": np.random.default_rng(0)}
    exec(blocks("CONTRIBUTING.md")[3], shown)
    assert shown["learned"].trace
    check_model(model, X)
    learned = fit(model, ArraySource(X), model.init(Block.of(X), None)).params
    np.testing.assert_allclose(learned.mean, np.nanmean(X, axis=0))
    np.testing.assert_allclose(learned.variance, np.nanvar(X, axis=0))


def test_command_skeleton_counts(skeleton, tmp_path):
    from tacit.cli.parser import Parser
    from tacit.cli.roles import add_roles
    from tacit.datasets import penguins_path

    command, parser = skeleton(0, "command_skeleton", "docs/adding.md"), Parser()
    command.add_arguments(parser)
    add_roles(parser, command.TAKES, {"count": command.TAKES})
    parser.set_defaults(command="count")
    arguments = parser.parse_args([str(penguins_path()), "--out", str(tmp_path / "new"), "--by", "species"])
    outcome = command.run(arguments)
    assert outcome.text.startswith("344 rows, 8 columns\nwrote ")
    assert outcome.data["rows"] == 344
    assert (tmp_path / "new" / "penguins.count.counts.csv").read_text().splitlines()[1] == "species,344"
    with pytest.raises(ValueError, match=r"penguins\.count\.counts\.csv is there already; say --force to replace"):
        command.run(arguments)


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


def test_the_page_on_mixtures_runs(page):
    scope = page("docs/mixtures.md")
    assert not scope["filled"].isna().any().any()
    assert scope["robust"].outliers(scope["rows"], level=0.999)[400:].mean() > 0.5


def test_the_page_on_clustering_runs(page, tmp_path):
    pytest.importorskip("pyarrow")
    scope = page("docs/clustering.md")
    assert (tmp_path / "clusters.parquet").exists()
    assert scope["shapes"].metric_note_ == "compiled by numba"


def test_the_page_on_factors_runs(page):
    scope = page("docs/factors.md")
    assert np.isfinite(scope["whole"]).all()
    assert np.mean((scope["clean"] - scope["picture"]) ** 2) < 0.5 * np.mean((scope["noisy"] - scope["picture"]) ** 2)
    np.testing.assert_allclose(scope["cca"].canonical_correlations_, [0.796, 0.201], atol=5e-4)


@pytest.mark.parametrize("name", [name for name in PAGES if name not in OWN_TESTS and "```python" in text(name)])
def test_page_runs(name, page):
    if name in NOT_RUN:
        for code in blocks(name):
            ast.parse(code)
    else:
        page(name)


def test_pages_that_print_something_else_are_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "page.md").write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n")
    with pytest.raises(AssertionError, match="1"):
        run_page("page.md")
    (tmp_path / "page.md").write_text("<!-- not run: it fails -->\n```python\n1 / 0\n```\n\n```python\ny = 1\n```\n")
    assert run_page("page.md")["y"] == 1


def shown_commands():
    """Lines of shell blocks that call the command, with the page they are on."""
    for name in ["README.md", *PAGES]:
        for block in re.findall(r"```sh\n(.*?)```", text(name), flags=re.DOTALL):
            for line in block.splitlines():
                if line.startswith("tacit "):
                    yield pytest.param(line, id=f"{name}: {line}")


@pytest.mark.parametrize("line", list(shown_commands()))
def test_commands_that_pages_show_are_understood(line):
    from tacit.cli.main import build_parser

    build_parser().parse_args(shlex.split(line)[1:])


def test_readme_holds_exactly_two_commands():
    commands = re.findall(r"```sh\n(.*?)\n```", text("README.md"), flags=re.DOTALL)
    assert len(commands) == 2
    assert all("\n" not in command for command in commands)


def test_readme_shows_what_the_command_prints(capsys, tmp_path):
    from tacit.cli.main import main
    from tacit.datasets import penguins_path

    assert main(["fit", str(penguins_path()), "--out", str(tmp_path), "--quiet"]) == 0
    printed = capsys.readouterr().out.splitlines()
    shown = re.search(r"```text\n(.*?)```", text("README.md"), flags=re.DOTALL).group(1)
    for line in shown.splitlines():
        assert line in [*printed, "  ..."]
    assert "In short" in shown
