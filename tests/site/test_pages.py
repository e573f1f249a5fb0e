"""What the build writes by itself: the reference, the command's page, the gallery, equations."""

import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import command
import gallery
import pytest
import reference
import running

ROOT = Path(__file__).parents[2]


def test_every_public_name_has_a_page(tmp_path):
    import tacit

    reference.write(SimpleNamespace(srcdir=tmp_path))
    pages = {path.name for path in (tmp_path / "api").iterdir()}
    for package in ["tacit", *(f"tacit.{name}" for name in tacit._SUBMODULES)]:
        assert f"{package}.rst" in pages
        for name in import_module(package).__all__:
            home = reference.AT_HOME.get(package, package)
            described = {f"{package}.{name}.rst", f"{home}.{name}.rst"} & pages
            assert len(described) == 1 or name in (*tacit._SUBMODULES, "__version__"), name


def test_pages_of_names_that_are_gone_are_removed(tmp_path):
    old = tmp_path / "api" / "tacit.Old.rst"
    old.parent.mkdir()
    old.write_text("Old")
    reference.write(SimpleNamespace(srcdir=tmp_path))
    assert not old.exists()


def test_docstrings_are_plain_words():
    lines = ["log|Σ| of `means_` and means_, ``a_``", ">>> x_ | y", ".. note_"]
    reference.plain(None, "class", "x", None, None, lines)
    assert lines == [r"log\|Σ\| of `means_` and means\_, ``a_``", ">>> x_ | y", ".. note_"]


def test_the_page_of_the_command_tells_every_option():
    from argparse import SUPPRESS

    from tacit.cli.main import build_parser

    parser = build_parser()
    text = command.page(parser)
    for name, own in command.commands(parser).items():
        section = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        for action in own._actions:
            if action.help == SUPPRESS:  # refused by this command
                continue
            assert all(option in section for option in action.option_strings or [action.metavar or action.dest])


@pytest.mark.parametrize("script", running.scripts(), ids=lambda path: path.stem)
def test_examples_have_a_title_and_a_description(script):
    title, description, _ = gallery.words(script)
    assert 2 < len(title) < 80
    assert description.endswith((".", "?"))


def test_an_example_without_a_title_is_refused(tmp_path):
    (tmp_path / "bad.py").write_text('"""Some words."""')
    with pytest.raises(ValueError, match=r"bad.py begins with 'Some words.'; begin with 'Title: description.'"):
        gallery.words(tmp_path / "bad.py")


def test_an_example_without_its_data_still_has_a_page(monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    script = ROOT / "examples" / "old_faithful.py"
    assert gallery.result(script) is None
    page = gallery.script_page(script, None)
    assert "**Not run here:** it needs the folder of published data sets, named by TACIT_DATA." in page
    assert "GaussianMixture(2, tol=1e-12" in page
    assert "not run here" in gallery.card(script, None)


def test_an_example_that_fails_stops_the_build(monkeypatch):
    failed = running.Ran(1, "", "ZeroDivisionError", None)
    monkeypatch.setattr(running, "recorded", lambda script: failed)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        gallery.result(ROOT / "examples" / "penguins.py")


def test_records_are_used_while_neither_script_nor_library_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "RECORDS", tmp_path / "records")
    script = tmp_path / "example.py"
    script.write_text("import sys\nprint('found')\nopen(sys.argv[1], 'w').close()\n")
    assert running.recorded(script) is None
    ran = running.run(script)
    assert (ran.code, ran.output, ran.figure.name) == (0, "found\n", "figure.png")
    assert running.recorded(script) == ran
    script.write_text("print('other')\n")
    assert running.recorded(script) is None
    assert running.run(script).figure is None


def test_every_equation_can_be_drawn():
    tex2mathml = pytest.importorskip("docutils.utils.math.latex2mathml").tex2mathml
    for path in sorted((ROOT / "docs" / "mathematics").glob("*.md")):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        found = re.findall(r"\$\$(.*?)\$\$|\$([^$]+)\$", text, flags=re.DOTALL)
        assert found, path
        for block, inline in found:
            tex = block or inline
            aligned = rf"\begin{{aligned}}{tex}\end{{aligned}}" if r"\\" in tex else tex
            assert tex2mathml(aligned.strip(), as_block=bool(block)).startswith("<math"), path
