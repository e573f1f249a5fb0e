"""What the survey takes columns for, why, and what it tells the user to do about it."""

import warnings

import numpy as np
import pytest

from tacit.cli.voice import said
from tacit.schema import Schema
from tacit.survey import ROLES, distinct
from tacit.survey.dates import days_of
from tacit.survey.moments import Moments
from tacit.tables import open_table, reader


@pytest.fixture
def column(tmp_path):
    """The only column of a CSV file with these cells, and the column's numbers or texts."""

    def column(cells, name="x", header=None, **options):
        path = tmp_path / "t.csv"
        lines = [header or f"{name};other", *(f"{cell};{j}.5" for j, cell in enumerate(cells))]
        path.write_text("\n".join(lines) + "\n", encoding=options.get("encoding") or "utf-8")
        table = open_table(path, separator=";", **options)
        return table.columns[0], next(table.batches())[table.columns[0].name]

    return column


COUNTS = list(map(str, np.random.default_rng(0).poisson(2.0, 60)))


def texts(pattern, n=60):
    return [pattern.format(j, j % 3, j % 7) for j in range(n)]


@pytest.mark.parametrize(
    ("cells", "name", "role", "reason"),
    [
        (texts("{0}.25"), "x", "measurement", "numbers with decimals"),
        (texts("1{2}0"), "x", "measurement", "whole numbers"),
        (texts("{2}"), "x", "category", "only 7 distinct whole numbers, each about as often, as codes are"),
        (COUNTS, "x", "count", "whole numbers from 0 to 7 (nats a cell: Poisson"),
        (["0", "1"] * 30, "x", "yes/no", "0 and 1 only"),
        (["1", "2", "3"] * 20, "x", "category", "only 3 distinct whole numbers"),
        (texts("level {1}"), "x", "category", "3 levels"),
        (["Yes", "no", "YES"] * 20, "x", "yes/no", "YES and Yes"),
        (["true", "FALSE"] * 20, "x", "yes/no", "FALSE and true only"),
        (["t", "f"] * 20, "x", "yes/no", "f and t only"),
        (["male", "female"] * 20, "x", "category", "2 levels"),
        (texts("{0}"), "x", "id", "a row number"),
        ([f"{7 * j + j % 5}" for j in range(60)], "velocity", "measurement", "whole numbers"),
        ([f"{7 * j + j % 5}" for j in range(60)], "visit_no", "id", "a different whole number in every row, under"),
        ([f"{j % 9 + 1}" for j in range(60)], "x", "category", "only 9 distinct whole numbers"),
        ([f"{j % 10 + 1}" for j in range(13)], "x", "measurement", "whole numbers"),
        ([f"{j % 31 + 1}" for j in range(93)], "x", "measurement", "days of a month"),
        ([f"200106{j % 30 + 1:02d}" for j in range(60)], "x", "date", "dates written as yyyymmdd"),
        ([f"200106{j + 1:02d}" for j in range(60)], "x", "id", "a row number"),
        ([f"{(j * 7919) % 60 * 13 + 9}" for j in range(60)], "customer_id", "id", "a different whole number in every row, under"),
        ([f"{(j * 7919) % 60 * 13 + 9}" for j in range(60)], "weight", "measurement", "whole numbers"),
        ([f"{(j * 7919) % 60 + 730000}" for j in range(60)], "x", "id", "a row number"),
        ([f"{(j * 7919) % 60 * 37 + 730000}" for j in range(60)], "x", "id", "a different number of 6 digits in every row"),
        (texts("name {0}"), "x", "id", "a different value in every row"),
        ([f"P{j % 40}" for j in range(60)], "patientID", "text", "40 different texts"),
        ([f"P{j % 40}" for j in range(60)], "patient_id", "id", "many different values under a name that ids have"),
        ([f"a long remark about the visit number {j} that nobody will ever read again" for j in range(60)], "x", "text",
         "long texts, each only once"),
        ([f"{j % 40} street" for j in range(60)], "x", "text", "40 different texts"),
        (["7"] * 60, "x", "constant", "the same value in every row (7)"),
        (["1.0", "1", "1.00"] * 20, "x", "constant", "the same value in every row (1)"),
        (["ja", ""] * 30, "x", "constant", "the same value in every row that has one (ja)"),
        (["", "NA", "n/a", "NaN", "null", "?", ".", "-", "#N/A"] * 6, "x", "empty", "no value in any row"),
        (["2024-01-31", "2023-02-01"] * 30, "x", "date", "dates"),
        (["007", "042", "113"] * 20, "x", "category", "3 levels"),
    ],
)  # fmt: skip
def test_roles_and_reasons(column, cells, name, role, reason):
    found, _ = column(cells, name)
    assert (found.role, found.reason[: len(reason)]) == (role, reason)
    assert found.used == (role in ("measurement", "count", "yes/no", "category"))
    assert found.used or found.left_out


@pytest.mark.parametrize(
    ("cells", "options", "role", "note"),
    [
        (["1.5"] * 40 + ["-999"] * 3 + texts("{0}.25"), {}, "measurement",
         "-999 occurs 3 times, far from the rest; if it stands for missing, use --missing=-999"),
        (texts("{0}.25") + ["abc"] * 4, {}, "text", "'abc' among 60 numbers; if it stands for missing, use --missing=abc"),
        ([*texts("{0}.25"), "not known"], {}, "text", "'not known' among 60 numbers; if it stands for missing, use --missing="),
        ([*texts("{0}.25"), "inf"], {}, "text", "'inf' among 60 numbers; if it stands for missing, use --missing=inf"),
        (texts("{0},5") + texts("{0}.75"), {}, "text",
         "'0,5' and '0.75' in one column: decimal commas and points; to read both as decimals, use --as x=number"),
        (texts("{0}%"), {}, "text", "'0%' is text; to read it as a number, use --as x=number"),
        (texts("€ {0}"), {}, "text", "'€ 0' is text; to read it as a number, use --as x=number"),
        (texts("1,{0:03d}.5"), {}, "text", "'1,000.5' is text; to read it as a number, use --as x=number"),
        (texts("1,{0:03d}"), {}, "text", "'1,000' may mean thousands or decimals; use --as x=number for thousands, --decimal ,"),
        (["1", "2"] * 30, {}, "category", "whole numbers taken as codes; if their size counts, use --as x=number"),
        (texts("{0}"), {}, "id", "numbers taken as ids; if they measure something, use --as x=number"),
        (["1", "2", "3", "4", "5", "6", "7"] * 9, {}, "category", "whole numbers taken as codes; if their size counts, use"),
        ([f"{7 * j + j % 5}" for j in range(60)], {}, "measurement",
         "grows from row to row; if it only numbers the rows, use --id x"),
        (["3", "4", "6", "8", "10", "12"] * 9 + ["-1"], {}, "measurement",
         "-1 in one row is the only negative number; if it stands for missing, use --missing=-1"),
        (COUNTS, {}, "count", "taken as counts; if they are codes, use --as x=category"),
        (["01/02/2024", "03/04/2023"] * 9, {}, "date", "to use it as a number of days (read with the day before the month,"),
        (["007", "042"] * 20, {}, "category", "written with leading zeros, as codes are; if they are numbers, use --as x=number"),
        (["Red", "red", "blue"] * 20, {}, "category", "'Red' and 'red' differ in case or spaces only; write them alike if they"),
        (["x", ""] * 20, {}, "constant", "if an empty cell means no, write no into it"),
        ([f"{j % 40} street" for j in range(60)], {}, "text", "to use it all the same, use --as x=category"),
    ],
)  # fmt: skip
def test_notes_end_in_the_option_that_helps(column, cells, options, role, note):
    found, _ = column(cells, **options)
    assert found.role == role
    assert any(said(told).startswith(note) for told in found.notes), found.notes


@pytest.mark.parametrize(
    ("cells", "options", "numbers"),
    [
        (["1,5", "2", "-0,25", "1e3"], {}, [1.5, 2, -0.25, 1000]),
        (["1,234", "0,5"], {}, [1.234, 0.5]),
        (["1,234", "5,678"], {"decimal": ","}, [1.234, 5.678]),
        (["1,234", "5,678"], {"roles": {"x": "measurement"}}, [1234, 5678]),
        (["1,5", "1.75"], {"roles": {"x": "measurement"}}, [1.5, 1.75]),
        (["€ 1.234,50", "€ 2"], {"roles": {"x": "measurement"}}, [1234.5, 2]),
        (["$1,234.50", "$2"], {"roles": {"x": "measurement"}}, [1234.5, 2]),
        (["12.5%", "3 %"], {"roles": {"x": "measurement"}}, [12.5, 3]),
        ([" 1.5 ", "\t2"], {}, [1.5, 2]),
        (["1.5", "abc", "3.5"], {"missing": ["ABC"]}, [1.5, np.nan, 3.5]),
        (["1.5", "-999", "3.5"], {"missing": ["-999"]}, [1.5, np.nan, 3.5]),
        (["007", "042"], {"roles": {"x": "measurement"}}, [7, 42]),
        (["1970-01-02", "31.12.1969", "03/01/1970"], {"roles": {"x": "measurement"}}, [1, -1, 2]),
        (["01/13/1970", "01/02/1970"], {"roles": {"x": "measurement"}}, [12, 1]),
        (["1970-01-01 12:00", "1970-01-02T06:00:00Z"], {"roles": {"x": "measurement"}}, [0.5, 1.25]),
        (["3", "1", "1", "2"], {"roles": {"x": "count"}}, [3, 1, 1, 2]),
    ],
)  # fmt: skip
def test_cells_are_read_as_they_are_written(column, cells, options, numbers):
    found, read = column(cells, **options)
    assert found.used
    np.testing.assert_allclose(read.values, numbers, rtol=1e-15)
    assert read.originals() == [None if np.isnan(v) else cell.strip() for cell, v in zip(cells, numbers)]


def test_codes_and_numbers_are_levels_by_value(column):
    found, read = column(["1", "1.0", "2", "10", "", "2.00"] * 5, roles={"x": "category"})
    assert (found.levels, found.counts) == (("1", "2", "10"), (10, 10, 5))
    assert read.values[:6].tolist() == ["1", "1", "2", "10", None, "2"]
    found, read = column(["01", "1"] * 9)
    assert found.levels == ("01", "1")


def test_columns_asked_for_by_name_are_used(column):
    assert column(texts("{0}"), columns=["x"])[0].role == "measurement"
    assert column(["2024-01-31", "2023-02-01"], columns=["x"])[0].role == "measurement"
    assert column([f"{j % 40} street" for j in range(60)], columns=["x"])[0].role == "category"
    assert column(texts("{0}.5"), columns=["other"])[0].left_out == "not asked for"
    assert column(texts("{0}.5"), ignore=["x"])[0].left_out == "ignored, as asked"
    assert column(["7"] * 9, columns=["x"])[0].left_out == "the same value in every row (7)"


def test_the_only_column_is_no_id(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["velocity", *(str(9000 + 37 * j + j % 7) for j in range(60))]))
    assert open_table(path).columns[0].role == "measurement"
    path.write_text("\n".join(["rank", *map(str, range(5, 60))]))
    assert open_table(path).columns[0].role == "measurement"
    path.write_text("\n".join(["rank,why", *(f"{j},reason {j}" for j in range(5, 60))]))
    assert [column.role for column in open_table(path).columns] == ["measurement", "id"]
    path.write_text("\n".join(["id,why", *(f"{j},reason {j}" for j in range(5, 60))]))
    assert [column.role for column in open_table(path).columns] == ["id", "id"]


def test_yes_and_no_as_numbers_need_no_note(column):
    assert column(["0", "1"] * 30)[0].notes == ()


def test_names_of_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",b,column_1,\n1,2.5,3.5,4\n2,3.5,1.5,5\n")
    table = open_table(path)
    assert [column.name for column in table.columns] == ["column_1_", "b", "column_1", "column_4"]
    assert table.notes == (
        "column 1 has no name and is called column_1_",
        "column 4 has no name and is called column_4",
    )
    path.write_text("1.5,2.5\n3.5,4.5\n")
    assert open_table(path).notes[0].startswith("the first line holds numbers only (1.5, 2.5…) and was taken as names")


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (b"a,b\r\n1.5,x\r\n2.5,y\r\n", {}),
        (b"a,b\r1.5,x\r2.5,y\r", {}),
        (b"\xef\xbb\xbfa,b\n1.5,x\n2.5,y\n", {}),
        ("a,b\n1.5,x\n2.5,y\n".encode("utf-16"), {}),
        ("a,b\n1.5,x\n2.5,y\n".encode("utf-16-le"), {"encoding": "utf-16-le"}),
        (b"sep=;\na;b\n1.5;x\n2.5;y\n", {}),
        (b"a|b\n1.5|x\n2.5|y", {}),
        (b"a b\n1.5 x\n2.5 y\n", {"separator": "space"}),
        (b'"a","b"\n"1.5","x"\n\n"2.5","y"\n\n', {}),
        (b"\na,b\n1.5,x\n2.5,y\n", {}),
    ],
)
def test_text_files_of_every_kind(tmp_path, content, options):
    (tmp_path / "t.csv").write_bytes(content)
    table = open_table(tmp_path / "t.csv", **options)
    batch = next(table.batches())
    assert (batch["a"].values.tolist(), batch["b"].values.tolist()) == ([1.5, 2.5], ["x", "y"])


def test_an_encoding_that_is_named(tmp_path):
    (tmp_path / "t.csv").write_bytes("a,b\n1.5,café\n2.5,über\n3,über\n".encode("cp1252"))
    assert open_table(tmp_path / "t.csv", encoding="cp1252").columns[1].levels == ("café", "über")


def test_copies_and_sums_are_noted():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200)).round(3)
    colour = rng.choice(["red", "blue", "green"], 200)
    code = np.array([{"red": "R", "blue": "B", "green": "G"}[c] for c in colour])
    incomplete = np.where(rng.random(200) < 0.2, np.nan, a)
    table = open_table({"a": a, "copy": incomplete, "twice": 2 * a + 3, "b": b, "total": a + b, "colour": colour, "code": code,
                        "other": rng.normal(size=200)})  # fmt: skip
    notes = {column.name: column.notes for column in table.columns if column.copied}
    assert notes == {
        "copy": ("a copy of a; leave one of them out: ignore=['copy']",),
        "twice": ("equals 2 × a + 3; leave one of them out: ignore=['twice']",),
        "total": ("equals a + b; leave one of them out: ignore=['total']",),
        "code": ("tells the same rows apart as colour; leave one of them out: ignore=['code']",),
    }


def test_infinity_and_marks_in_typed_tables():
    table = open_table({"a": np.array([1.5, np.inf, 2.5, 3.5]), "b": [1.5, -999.0, 2.5, 3.5]}, missing=["-999"])
    assert (table.columns[0].role, table.columns[1].n_missing) == ("category", 1)
    assert table.columns[0].notes == ("'inf' among 3 numbers; if it stands for missing, use missing=['inf']",)
    assert open_table({"a": np.array([1.5, np.inf, 2.5, 3.5])}, missing=["inf"]).columns[0].role == "measurement"


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (np.arange(1, 41), "id"), (np.random.default_rng(0).permutation(40) + 7, "id"), (np.tile([1, 2, 3], 5), "category"),
        (np.tile([0, 1], 20), "yes/no"), (np.tile(np.arange(9), 5), "category"),
        (np.random.default_rng(1).poisson(3.0, 45), "count"),
        (np.repeat(np.arange(1, 8), [2, 5, 9, 12, 9, 5, 3]), "ordinal"), (np.arange(100, 140) * 3, "measurement"),
        (np.tile(np.arange(1, 31), 2), "measurement"),
    ],
)  # fmt: skip
def test_a_missing_cell_changes_no_role_in_any_door(tmp_path, values, role):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for gone in (None, 3, len(values) // 2):
        cells = pd.Series(values).astype(float)
        cells[cells.index == gone] = None
        frame = pd.DataFrame({"k": cells, "x": np.random.default_rng(1).normal(size=len(cells))})
        typed = frame.assign(k=cells.astype("Int64"))
        frame.to_csv(tmp_path / "floats.csv", index=False)
        typed.to_csv(tmp_path / "whole.csv", index=False)
        doors = (frame, typed, pl.from_pandas(typed), tmp_path / "floats.csv", tmp_path / "whole.csv")
        assert [open_table(door).columns[0].role for door in doors] == [role] * 5
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that ids are taken as measurements
            kinds = {
                Schema.of(door).columns[0].kind for door in (frame, typed, frame.to_numpy(), pl.from_pandas(frame))
            }
        assert kinds == {ROLES[role] or "continuous"}


def test_infinity_is_named():
    cells = np.r_[np.random.default_rng(0).normal(size=30), np.inf]
    (info,) = open_table({"a": cells}).columns
    assert info.left_out == "holds infinity; replace it, or leave the cell empty if it is missing"


def test_long_numbers_keep_their_digits():
    ids = [2**60 + j for j in range(30)]
    table = open_table({"account": ids, "b": np.arange(30) / 4})
    assert table.ids == ["account"]
    assert next(table.batches())["account"].values.tolist() == [str(v) for v in ids]
    assert next(table.batches())["account"].originals() == ids


# Bounded memory


def test_memory_does_not_grow_with_the_rows(monkeypatch):
    monkeypatch.setattr(distinct, "MOST", 500)
    monkeypatch.setattr(reader, "BATCH_ROWS", 1000)
    rng = np.random.default_rng(1)
    n = 20_000
    table = open_table({
        "key": [f"k{j:06d}" for j in rng.permutation(n)], "name": [f"n{j}" for j in rng.integers(0, n // 2, n)],
        "number": rng.normal(size=n), "level": rng.choice(list("abc"), n), "customer": rng.permutation(n) * 3 + 1,
    })  # fmt: skip
    roles = {column.name: column.role for column in table.columns}
    assert roles == {
        "key": "id",
        "name": "text",
        "number": "measurement",
        "level": "category",
        "customer": "measurement",
    }
    for column, expected in zip(table.columns, (n, 8600, n, 3, n)):
        assert column.n_distinct == pytest.approx(expected, rel=0.3)


def test_kept_values_are_counted_exactly(monkeypatch):
    monkeypatch.setattr(distinct, "MOST", 100)
    values = np.random.default_rng(2).integers(0, 3000, 9000)
    kept = distinct.Distinct()
    for part in np.split(values.astype(float), 9):
        kept.add(part)
    assert not kept.exact
    assert not kept.unique
    assert all(times == (values == value).sum() for value, times in kept.counts.items())
    assert kept.n == pytest.approx(len(np.unique(values)), rel=0.3)


def test_moments_do_not_cancel_at_an_offset():
    values = np.random.default_rng(3).normal(size=3000)
    moments = Moments()
    for part in np.split(values + 1e9, 10):
        moments.add(part)
    exact = (values + 1e9) - 1e9
    assert moments.std == pytest.approx(exact.std(), rel=1e-9)
    assert moments.mean - 1e9 == pytest.approx(exact.mean(), abs=1e-6)
    mean, std = moments.without(float(values[0] + 1e9), 1)
    assert (mean - 1e9, std) == pytest.approx((exact[1:].mean(), exact[1:].std()), abs=1e-6)


def test_numbers_near_the_largest_there_is():
    table = open_table({"a": [1e308, -1e308, 1.7e308, 3.5], "b": [1.5, 2, 3, 4]})
    assert table.columns[0].role == "measurement"
    assert np.isfinite(table.columns[0].mean)


@pytest.mark.parametrize(
    "text", ["2024-02-30", "32.01.2024", "2024-01", "12:30", "2024-01-01 25:00", "1/2/24", "tomorrow"]
)
def test_what_is_no_date(text):
    assert days_of([text]) is None


def test_a_column_hardly_ever_observed_is_left_out(tmp_path):
    path = tmp_path / "rare.csv"
    rows = [f"{i % 97 / 7:.3f},{i % 89 / 3:.3f},{i / 7 if i in (3, 700, 1900) else ''}" for i in range(2000)]
    path.write_text("\n".join(["x,y,rare", *rows]), encoding="utf-8")
    rare = open_table(path).columns[2]
    assert rare.left_out == "only 3 of 2,000 cells observed, too few to learn from"


def test_none_is_an_answer_and_marks_are_told(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text("care,test,x\n" + "none,+,1.5\ndrug,-,2.5\nnone,±,0.5\n" * 4, encoding="utf-8")
    care, test, _ = open_table(path).columns
    assert (care.levels, care.n_missing) == (("drug", "none"), 0)
    assert (test.levels, test.n_missing) == (("+", "±"), 4)
    assert any(note.startswith("'-' is taken as missing (4 cells)") for note in test.notes)


def test_texts_that_are_codes_are_not_offered_as_missing():
    codes = [str(k) for k in range(100, 160)] + ["c1", "c2", "c3", "c4"]
    (column,) = open_table({"station": codes, "x": np.arange(64.0) % 9}).columns[:1]
    assert not any("missing" in str(note) for note in column.notes)
    (column,) = open_table({"dose": [str(k) for k in range(60)] + ["none"] * 4, "x": np.arange(64.0) % 9}).columns[:1]
    assert any("if it stands for missing" in str(note) for note in column.notes)


def test_numbers_that_differ_in_half_of_their_range_are_ids():
    rng = np.random.default_rng(0)
    kid = np.sort(rng.choice(np.arange(2, 4628), 2449, replace=False))
    assert open_table({"kid": kid, "x": rng.normal(size=2449)}).columns[0].role == "id"
