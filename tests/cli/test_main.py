"""`tacit` itself: help, exit codes, one line for whatever goes wrong, signals."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import tacit
from tacit.cli import console
from tacit.cli import main as entry
from tacit.cli.main import main
from tacit.cli.outcome import Outcome
from tacit.cli.progress import Progress, SweepProgress, is_prepared, told_time


@pytest.fixture
def doing(monkeypatch):
    """Make `tacit fit` do something else."""

    def doing(run):
        monkeypatch.setattr("tacit.cli.commands.fit.run", run)

    return doing


def test_alone_it_prints_help_with_an_example_and_all_commands(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "usage: tacit" in out
    assert "tacit fit penguins.csv" in out
    assert out.index("\n    fit ") < out.index("\n    predict ")


@pytest.mark.parametrize(
    ("argument", "text"), [("--version", f"tacit {tacit.__version__}"), ("--help", "usage: tacit")]
)
def test_version_and_help(argument, text, capsys):
    with pytest.raises(SystemExit) as stop:
        main([argument])
    assert stop.value.code == 0
    assert text in capsys.readouterr().out


def test_every_command_explains_itself(capsys):
    parser = entry.build_parser()
    for name in ("fit", "predict"):
        with pytest.raises(SystemExit):
            parser.parse_args([name, "--help"])
        out = capsys.readouterr().out
        assert re.search(rf"example:\n(  .*\n)*  tacit {name} penguins", out)
        assert "--json" in out


def test_help_fits_the_terminal_and_its_examples_name_what_is_there(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    parser = entry.build_parser()
    for name in entry.ORDER:
        with pytest.raises(SystemExit):
            main([name, "--help"])
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= 70
        lines = out[out.index("example:") :].splitlines()[1:]
        sets = {"recommend": "make ratings", "segment": "earthquakes"}
        first = f"  tacit datasets {sets.get(name, 'penguins')}"
        assert lines[0] == first or name in ("completion", "topics")
        there = {"reviews.csv"} if name == "topics" else set()  # no table of texts is shipped
        for line in lines:
            arguments = parser.parse_args(line.split()[1:])
            read = {getattr(arguments, "file", None), getattr(arguments, "model", None)} - {None}
            assert read <= there, line
            written = {"penguins.csv", "ratings.csv", "earthquakes.csv"}
            there |= written if arguments.command == "datasets" else {"penguins.fit.tacit"}


def test_results_as_json_hold_no_nan(doing, capsys):
    doing(lambda arguments: Outcome("text", {"a": [1, None]}))
    assert main(["fit", "x.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["a"] == [1, None]


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [(ValueError("bad\n cell;\tmend it."), 2, "tacit: bad cell; mend it."),
     (OSError("disk full"), 2, "tacit: disk full"),
     (ImportError("needs pyarrow"), 2, "tacit: needs pyarrow"),
     (MemoryError(), 2, "tacit: out of memory; use fewer columns (--columns) or rows."),
     (KeyboardInterrupt(), 130, "tacit: stopped; nothing was written."),
     (entry.Interrupted(signal.SIGTERM), 143, "tacit: stopped; nothing was written."),
     (ZeroDivisionError("division by zero"), 1, "tacit: unexpected ZeroDivisionError: division by zero; this is a fault of "
      "tacit; please report it, with the traceback that TACIT_DEBUG=1 shows."),
     (KeyError(), 1, "tacit: unexpected KeyError; this is a fault of tacit")],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_whatever_goes_wrong_is_one_line(doing, capsys, monkeypatch, error, code, message):
    def run(arguments):
        raise error

    monkeypatch.delenv("TACIT_DEBUG", raising=False)
    doing(run)
    assert main(["fit", "x.csv"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_a_traceback_is_there_for_those_who_ask(doing, capsys, monkeypatch):
    monkeypatch.setenv("TACIT_DEBUG", "1")
    doing(lambda arguments: 1 / 0)
    assert main(["fit", "x.csv"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_warnings_are_notes_of_one_line(doing, capsys):
    def run(arguments):
        warnings.warn("a thing\nto know", UserWarning, stacklevel=1)
        return Outcome("done")

    doing(run)
    before = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["fit", "x.csv"]) == 0
    assert capsys.readouterr() == ("done\n", "tacit: note: a thing to know\n")
    assert warnings.showwarning is before


def test_signal_handlers_are_put_back(doing):
    before = signal.getsignal(signal.SIGINT)
    doing(lambda arguments: Outcome(str(signal.getsignal(signal.SIGINT) is before)))
    main(["fit", "x.csv"])
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_real_interrupt_in_the_middle_leaves_nothing(tmp_path):
    rng = np.random.default_rng(0)
    np.savetxt(
        tmp_path / "t.csv", rng.normal(size=(900, 6)), delimiter=",", header="a,b,c,d,e,f", comments="", fmt="%.4f"
    )
    started = tmp_path / "started"
    script = (
        "import sys, pathlib; from tacit.cli.main import main; from tacit.cli import progress\n"
        "step = progress.SweepProgress.row\n"
        f"def told(self, row):\n    pathlib.Path({str(started)!r}).touch(); step(self, row)\n"
        "progress.SweepProgress.row = told\n"
        f"sys.exit(main(['fit', {str(tmp_path / 't.csv')!r}, '--covariance', 'full', '--restarts', '50']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not started.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert (out, err) == ("", "tacit: stopped; nothing was written.\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["started", "t.csv"]


def test_nothing_heavy_is_imported_for_help():
    heavy = "('numpy', 'sklearn', 'numba')"
    code = f"import sys, tacit.cli.main as m; m.build_parser(); print(*[n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_pandas_is_loaded_by_no_command(tmp_path):
    """Arrow would load it, where it is installed, to look whether it was given a frame of it."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i % 7}.5,{i % 5}\n" for i in range(40)))
    code = (
        "import sys, tacit.cli.main as m; sys.argv = ['tacit', 'inspect', sys.argv[1]]; "
        "assert m.main() == 0; print('pandas' in sys.modules, 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False True"


# Progress and text


class Terminal:
    def __init__(self, is_one=True):
        self.text, self.is_one = "", is_one

    def isatty(self):
        return self.is_one

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_a_bar_shows_on_terminals_only_and_goes_away():
    stream = Terminal()
    with Progress(stream=stream) as progress:
        progress.started -= 30
        progress.show(0.25, "trying model 2 of 9")
    assert "25%  trying model 2 of 9  about 90 s left" in stream.text or "2 min left" in stream.text
    assert stream.text.endswith("\r")
    for quiet, is_one in ((True, True), (False, False)):
        stream = Terminal(is_one)
        with Progress(quiet, stream) as progress:
            progress.show(0.5, "x")
        assert stream.text == ""


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "1 s"), (45, "45 s"), (600, "10 min"), (7200, "2.0 h")])
def test_times_in_words(seconds, text):
    assert told_time(seconds) == text


def test_the_share_of_a_sweep_never_falls_and_counts_groups():
    sweep = SweepProgress(Progress(quiet=True), [1, 2, 3], rounds=2)
    done = type("Done", (), {"done": True})
    shares = [sweep.share]
    for _ in range(3):
        sweep.step(done)
        sweep.row({})
        shares.append(sweep.share)
    assert shares[:3] == pytest.approx([0, 1 / 12, 3 / 12])
    assert shares[3] == pytest.approx(0.5)
    for _ in range(5):
        sweep.step(done)
        shares.append(sweep.share)
    assert shares == sorted(shares)
    assert shares[-1] < 1
    assert is_prepared() in (True, False)


def test_headings_are_bold_on_terminals_unless_asked_not_to(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert console.is_styled(Terminal())
    assert not console.is_styled(Terminal(False))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not console.is_styled(Terminal())


def test_text_from_tables_cannot_command_the_terminal():
    lines = console.grid([["a\x1b[31m", "b\nc"], ["1", "x" * 100]], right=(0,))
    assert "\x1b" not in "".join(lines)
    assert all("\n" not in line for line in lines)
    assert lines[1].endswith("…")
    assert "\x1b" not in console.paragraph("red \x1b[31m")


# Tables that nothing can be learned from


@pytest.mark.parametrize("command", ["fit", "impute", "reduce"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n,\n,\n,\n", "all cells of {} are missing; see how it was read with tacit inspect, and set --sep or"),
        ("a,b\n1.5,2\n", "{} has 1 row; at least 2 are needed to learn from."),
        ("a,b\n1,x\n1,x\n1,x\n", "no column of {} varies: every one has the same value in all rows"),
        (
            "a,b\n" + "".join(f"{i / 7:.3f},{'1e300' if i == 4 else i * i / 3}\n" for i in range(30)),
            "column 'b' holds 1e300 in row 5, which is too large to compute with; if it stands for a missing cell, say "
            "--missing=1e300, or leave the column out with --ignore b.",
        ),
    ],
    ids=["missing", "one row", "constant", "huge"],
)
def test_tables_that_teach_nothing(tmp_path, capsys, command, content, message):
    path = tmp_path / "t.csv"
    path.write_text(content)
    assert main([command, str(path), "--no-report", "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert message.format(path) in err
    assert (out, err.count("\n")) == ("", 1)
    assert list(tmp_path.iterdir()) == [path]


def test_a_huge_number_may_stand_for_missing(tmp_path, capsys):
    rows = "".join(f"{i / 7:.3f},{'1e300' if i == 4 else i * i / 3}\n" for i in range(30))
    (tmp_path / "t.csv").write_text("a,b\n" + rows)
    assert main(["impute", str(tmp_path / "t.csv"), "--groups", "1", "--no-report", "--quiet", "--missing=1e300"]) == 0
    assert main(["inspect", str(tmp_path / "t.csv")]) == 0


@pytest.mark.parametrize("command", ["fit", "impute", "reduce"])
def test_out_that_is_a_file(tmp_path, capsys, command):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1.5,2.5\n2.5,1.5\n0.5,7.5\n")
    assert main([command, str(path), "--out", str(path)]) == 2
    assert capsys.readouterr().err == f"tacit: --out {path} is a file; give a folder.\n"
