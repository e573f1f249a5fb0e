"""`tacit fit`: what it reports and writes, and how it refuses."""

import csv
import os
import re
import shutil

import numpy as np
import pytest

import tacit
from tacit import engine
from tacit.cli.commands import _old_table as table
from tacit.cli.main import main
from tacit.datasets import load_penguins, penguins_path
from tacit.mixture import GaussianMixture

COLUMNS = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


@pytest.fixture
def run(tmp_path, capsys):
    """Run `tacit fit` on a file of the temporary folder: (exit code, output, errors)."""

    def run(name, content=None, *arguments):
        if content is not None:
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        code = main(["fit", str(tmp_path / name), *arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def penguins(tmp_path):
    return shutil.copy(penguins_path(), tmp_path / "penguins.csv").name


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def two_groups(separator=",", missing=("",), n=60):
    """A table with two clear groups and holes, as text."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2)).round(3) + np.where(np.arange(n) < n // 3, 8.0, 0.0)[:, None]
    second = [*missing, *(str(y) for y in X[len(missing) :, 1])]
    return f"a{separator}b\n" + "".join(f"{x}{separator}{y}\n" for x, y in zip(X[:, 0], second))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# What it says and writes


def test_penguins_summary(run, penguins):
    code, out, err = run(penguins, None, "--groups", "2-5", "--covariance", "full,tied")
    assert (code, err) == (0, "")
    X, _, _ = load_penguins()
    best = min(
        (GaussianMixture(k, covariance_type=kind, tol=1e-6, max_iter=1000, random_state=0).fit(X)
         for k in range(2, 6) for kind in ("full", "tied")),
        key=lambda mixture: mixture.bic(X),
    )  # fmt: skip
    assert "344 rows, 4 columns used: " + ", ".join(COLUMNS) in out
    assert "missing cells: 8 of 1376 (bill_length_mm 2, bill_depth_mm 2, flipper_length_mm 2, body_mass_g 2)" in out
    assert "left out: species (text); island (text); sex (text); year (only 3 distinct whole numbers" in out
    assert f"best model: {best.n_components} groups, " in out
    assert f"({best.covariance_type}), BIC {best.bic(X):.1f}" in out
    assert len(re.findall(r"BIC worse by \d+\.\d", out)) == 3
    sizes = sorted(np.bincount(best.predict(X)), reverse=True)
    assert [int(line.split()[1]) for line in re.findall(r"^  \d+ +\d+ +\d+%.*$", out, re.M)] == sizes
    unsure = (best.predict_proba(X).max(axis=1) < 0.9).sum()
    assert f"{unsure} rows are less than 90 % sure of their group." in out


def test_penguins_files(run, penguins, tmp_path):
    code, out, _ = run(penguins, None, "--groups", "3", "--covariance", "tied")
    assert code == 0
    assert names(tmp_path) == ["penguins.csv", "penguins.filled.csv", "penguins.groups.csv"]
    assert f"wrote {tmp_path / 'penguins.groups.csv'}" in out
    assert f"wrote {tmp_path / 'penguins.filled.csv'} (the table with 8 cells filled in)" in out

    X, _, _ = load_penguins()
    mixture = GaussianMixture(3, covariance_type="tied", tol=1e-6, max_iter=1000, random_state=0).fit(X)
    labels = mixture.predict(X)
    order = np.argsort(-np.bincount(labels), kind="stable")
    groups = rows_of(tmp_path / "penguins.groups.csv")
    assert list(groups[0]) == ["row", "group", "probability_1", "probability_2", "probability_3"]
    assert [int(row["row"]) for row in groups] == list(range(1, 345))
    assert [order[int(row["group"]) - 1] for row in groups] == labels.tolist()
    probability = np.array([[float(row[f"probability_{k}"]) for k in (1, 2, 3)] for row in groups])
    np.testing.assert_allclose(probability, mixture.predict_proba(X)[:, order], rtol=1e-5)

    source, filled = (rows_of(tmp_path / name) for name in ("penguins.csv", "penguins.filled.csv"))
    expected = mixture.impute(X)
    for i, (before, after) in enumerate(zip(source, filled)):
        for j, column in enumerate(COLUMNS):
            if np.isnan(X[i, j]):
                assert float(after.pop(column)) == pytest.approx(expected[i, j], rel=1e-5)
                before.pop(column)
        assert after == before
    assert len(filled) == 344
    assert sum(row["sex"] == "NA" for row in filled) == 11


def test_the_same_seed_gives_the_same_files(run, tmp_path):
    results = []
    for seed in ("0", "0", "5"):
        code, out, _ = run("t.csv", two_groups(), "--groups", "1-3", "--covariance", "full", "--seed", seed)
        results.append((code, out, (tmp_path / "t.groups.csv").read_bytes(), (tmp_path / "t.filled.csv").read_bytes()))
    assert results[0] == results[1]
    assert all("best model: 2 groups" in out for _, out, _, _ in results)


def test_groups_covariances_and_columns_are_as_asked(run, penguins):
    code, out, _ = run(penguins, None, "--groups", "2", "--covariance", "diag,full", "--columns", "year,body_mass_g")
    assert code == 0
    assert "2 columns used: body_mass_g, year" in out
    assert "bill_length_mm (not asked for)" in out
    assert "best model: 2 groups, " in out
    assert set(re.findall(r"\b(full|tied|diag|spherical)\b", out)) == {"diag", "full"}


@pytest.mark.parametrize(
    ("asked", "named", "words"),
    [("VEV", {"VEV"}, "varying volume, equal shape, varying orientation (VEV)"), ("EII", {"EII"}, "equal volume, round"),
     ("all", {"EII", "VEV", "VVV"}, "best model: 2 groups, ")],
)  # fmt: skip
def test_structures_of_three_letters(run, asked, named, words):
    code, out, _ = run("t.csv", two_groups(), "--groups", "2", "--covariance", asked)
    assert code == 0
    assert words in out
    assert len(set(re.findall(r"\b[EV][EVI]{2}\b", out)) - named) <= 3 * (asked == "all")


def test_results_go_to_another_folder(run, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    code, out, _ = run("t.csv", two_groups(), "--groups", "1-2", "--out", str(folder))
    assert code == 0
    assert names(folder) == ["t.filled.csv", "t.groups.csv"]
    assert names(tmp_path) == ["results", "t.csv"]
    assert str(folder / "t.groups.csv") in out


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_results_may_be_read_by_whom_other_files_may(run, tmp_path):
    run("t.csv", two_groups(), "--groups", "1")
    assert len({(tmp_path / name).stat().st_mode for name in ("t.csv", "t.groups.csv", "t.filled.csv")}) == 1


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_and_spellings_of_missing(run, tmp_path, separator):
    missing = ["", "NA", "n/a", "NaN", "null", "?", ".", " none "]
    code, out, _ = run("t.csv", two_groups(separator, missing), "--groups", "1-2", "--covariance", "diag")
    assert code == 0
    assert "missing cells: 8 of 120 (b 8)" in out
    assert "best model: 2 groups" in out
    assert re.search(r"^  1 +40 +67%", out, re.M)
    filled = rows_of(tmp_path / "t.filled.csv")
    assert list(filled[0]) == ["a", "b"]
    assert [float(row["b"]) for row in filled[:8]] == pytest.approx([8.0] * 8, abs=1.0)


def test_a_byte_order_mark_and_windows_lines(run):
    code, out, _ = run("t.csv", b"\xef\xbb\xbf" + two_groups().replace("\n", "\r\n").encode(), "--groups", "2")
    assert code == 0
    assert "60 rows, 2 columns used: a, b" in out


def test_columns_that_measure_nothing_are_left_out_with_the_reason(run):
    lines = [f"{x}.5,NA,7,{x},{x % 3},word" for x in range(1, 30)]
    code, out, _ = run("t.csv", "a,empty,constant,number,code,text\n" + "\n".join(lines), "--groups", "1")
    assert code == 0
    assert "1 columns used: a" in out
    assert (
        "left out: empty (no value in any row); constant (the same value in every row); number (a row number); "
        "code (only 3 distinct whole numbers, more a code than a measurement); text (text)"
    ) in out


def test_a_collapsed_winner_is_not_given_an_artificial_bic(run):
    code, out, _ = run("t.csv", "a,b\n" + "1.5,2.5\n3.5,9.5\n" * 10, "--groups", "2", "--covariance", "full")
    assert code == 0
    assert "a group collapsed onto few rows" in out
    assert not re.search(r"BIC -?\d{8}", out)


def test_version_and_help(capsys):
    for argument, text in (("--version", f"tacit {tacit.__version__}"), ("--help", "usage: tacit")):
        with pytest.raises(SystemExit) as stop:
            main([argument])
        assert stop.value.code == 0
        assert text in capsys.readouterr().out


# What it refuses


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.csv has 0 lines; a header and at least one row are needed"),
        ("a,b\n", "t.csv has 1 lines; a header and at least one row are needed"),
        ("a,b\n1,2\n3\n", "t.csv, row 3: 1 cells under 2 column names"),
        ("a,b\n1,2\n3,4,5\n", "t.csv, row 3: 3 cells under 2 column names"),
        ("a,b,a\n1,2,3\n4,5,6\n", "t.csv names the column 'a' more than once; rename one"),
        ("a,b\nx,y\nz,w\n", "t.csv has no column of measurements: a (text), b (text)"),
        ("a,b\n1,NA\n1,NA\n", "no column of measurements: a (the same value in every row), b (no value in any row)"),
        ("a,b\n1,inf\n1,2\n", "no column of measurements: a (the same value in every row), b (text)"),
        (bytes(range(128, 256)) * 20, "t.csv is not UTF-8 text (invalid start byte at byte 0); convert it first"),
        (b"a,b\n1,2\n3,caf\xe9\n", "t.csv is not UTF-8 text"),
        ("a,b\n" + "x" * 200_000 + ",2\n3,4\n", "t.csv is not a CSV file: field larger than field limit"),
    ],
    ids=["empty", "header only", "short row", "long row", "repeated name", "text", "nothing measured", "infinity",
         "garbage", "latin-1", "endless cell"],
)  # fmt: skip
def test_bad_files_get_one_line_and_write_nothing(run, tmp_path, content, message):
    code, out, err = run("t.csv", content)
    assert (code, out) == (2, "")
    assert err.startswith("tacit: ")
    assert message in err
    assert err.count("\n") == 1
    assert names(tmp_path) == ["t.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--columns", "a,c"], "t.csv has no column 'c'; it has a, b, t."),
        (["--columns", "a,t"], "column 't' holds 'x', which is not a number."),
        (["--groups", "70-80"], "--groups starts at 70, but the table has 60 rows."),
        (["--out", "nowhere"], "the folder nowhere does not exist; create it or choose another with --out."),
        (["--seed", "-1", "--groups", "1-2"], "eed"),
    ],
)
def test_arguments_the_table_cannot_meet(run, tmp_path, arguments, message):
    lines = two_groups().splitlines()
    text = "\n".join([lines[0] + ",t", *(line + ",x" for line in lines[1:])])
    code, out, err = run("t.csv", text, *arguments)
    assert (code, out) == (2, "")
    assert re.fullmatch(f"tacit: .*{re.escape(message)}.*\n", err)
    assert names(tmp_path) == ["t.csv"]


def test_values_too_large_for_any_model(run, tmp_path):
    text = "a,b\n" + "".join(f"{x}.5e300,{x % 7}.25e300\n" for x in range(30))
    code, out, err = run("t.csv", text, "--groups", "1-2")
    assert (code, out) == (2, "")
    assert err.startswith("tacit: ")
    assert err.count("\n") == 1
    assert names(tmp_path) == ["t.csv"]


def test_missing_files_and_folders(run, tmp_path):
    code, out, err = run("nowhere.csv")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"tacit: .*nowhere\.csv.*\n", err)
    (tmp_path / "folder").mkdir()
    code, out, err = run("folder")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"tacit: .*folder is a folder; give a CSV file\.\n", err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["fit"], "the following arguments are required: file"),
        (["fit", "t.csv", "--groups", "x"], "'x' is not a range such as 1-9"),
        (["fit", "t.csv", "--groups", "3-1"], "'3-1' is not a range of numbers from 1"),
        (["fit", "t.csv", "--groups", "0-2"], "'0-2' is not a range of numbers from 1"),
        (["fit", "t.csv", "--covariance", "full,banana"], "'banana' is not one of full, tied, diag, spherical"),
        (["fit", "t.csv", "--seed", "x"], "invalid int value: 'x'"),
        (["fit", "t.csv", "--banana"], "unrecognized arguments: --banana"),
    ],
)
def test_bad_usage(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_a_failed_write_leaves_no_temporary_file(run, tmp_path, monkeypatch):
    def full(*paths):
        raise OSError("disk full")

    monkeypatch.setattr(table.os, "replace", full)
    code, _, err = run("t.csv", two_groups(), "--groups", "1")
    assert (code, err) == (2, "tacit: disk full\n")
    assert names(tmp_path) == ["t.csv"]


def test_an_interrupt_writes_nothing(run, tmp_path, monkeypatch):
    def stop(bar, progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine.ProgressBar, "__call__", stop)
    code, out, err = run("t.csv", two_groups(), "--groups", "1-2")
    assert (code, out, err) == (130, "", "tacit: stopped; nothing was written.\n")
    assert names(tmp_path) == ["t.csv"]
