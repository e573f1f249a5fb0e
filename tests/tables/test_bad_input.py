"""Tables that cannot be read: one line with the fault, the value and the remedy."""

import gzip
import os

import numpy as np
import pyarrow as pa
import pytest

from tacit.tables import open_table

NUMBERS = "".join(f"{x}.5,{x % 7}\n" for x in range(30))


@pytest.fixture
def refused(tmp_path):
    """Try to open a file with this content; the message, which is one line and names the file."""

    def refused(content, name="t.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(ValueError) as caught:
            open_table(path, **options)
        message = str(caught.value)
        assert "\n" not in message
        return message.replace(str(path), name)

    return refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.csv is empty; a line of names and at least one row are needed."),
        ("\n\n\n", "t.csv holds nothing but blank lines; a line of names and at least one row are needed."),
        ("a,b\n", "t.csv has a line of names but no row below it."),
        ("a,b\n1,2\n3\n", "t.csv, line 3: 1 cell under 2 column names; quote cells that hold the separator, or"),
        ("a,b\n1,2\n\n3,4,5\n", "t.csv, line 4: 3 cells under 2 column names"),
        ('a,b\n"x\ny",2\n3,4,5\n', "t.csv, line 4: 3 cells under 2 column names"),
        ("a,b,a\n1,2,3\n", "t.csv names the column 'a' twice (columns 1 and 3); rename one."),
        ("a, a\n1,2\n", "t.csv names the column 'a' twice (columns 1 and 2); rename one."),
        (bytes(range(128, 256)) * 20, "t.csv is not UTF-8 text: byte 0x80 in line 1; if it is text, name its encoding; if not"),
        (b"a,b\n1,2\n3,caf\xe9\n", "t.csv is not UTF-8 text: byte 0xe9 in line 3; it looks like cp1252 (Windows"),
        ("a,b\n1,2\n".encode("utf-16-le"), "t.csv looks like UTF-16 without its mark; use encoding='utf-16-le'."),
        ("a,b\n1,2\n".encode("utf-16-be"), "t.csv looks like UTF-16 without its mark; use encoding='utf-16-be'."),
        (b"a,b\n1,2\n\0\0\0\1\2\3\n", "t.csv is not a text file: it holds a NUL byte in line 3; give CSV, TSV, Parquet, Arrow"),
        (b"a,b\n" + b"1,2\n" * 30000 + b"3,\0\n", "t.csv, line 30002: it holds a NUL character; is the file damaged?"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "t.csv is not a text file: it holds a NUL byte in line 3"),
        ('a,b\n1,2\n3,"4\n5,6\n7,8\n', 't.csv: a quote (") opens in or after line 3 and is never closed; close it.'),
        ("a,b\n" + "x" * 18_000_000 + ",2\n", "t.csv, line 2: a cell is longer than 131,072 characters; a quote is probably not"),
        ('a,b\n1,"2\n' + "3,4\n" * 50_000, "a cell is longer than 131,072 characters; a quote is probably not"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-6], "t.csv is damaged (Compressed file ended before the end-of-stream marker"),
        (b"PAR1 but no more", "t.csv cannot be read as Parquet ("),
        (b"ARROW1\0\0 but no more", "t.csv cannot be read as Arrow ("),
        (b"PK\x03\x04 but no more", "t.csv is a damaged Excel or zip file; save it again."),
        (b"\xd0\xcf\x11\xe0 but no more", "t.csv cannot be read as an Excel file ("),
        (b"SQLite format 3\0....", "t.csv is a database; say which rows to read by a query: open_table('sqlite:///t"),
    ],
)  # fmt: skip
def test_files_that_are_no_table(refused, content, message):
    assert message in refused(content)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"encoding": "klingon"},
            "the encoding 'klingon' is unknown; use utf-8, utf-16, cp1252 (Windows, western) or latin-1",
        ),
        ({"encoding": "ascii"}, "t.csv is not ASCII text: byte 0xc3 in line 1; it looks like cp1252"),
        ({"separator": ";;"}, "separator=';;' is not one character; use , ; | tab or space."),
        ({"sheet": "Sheet1"}, "sheet='Sheet1' is for Excel files, and t.csv is none; leave it out."),
        ({"columns": ["heigth"]}, "t.csv has no column 'heigth', which columns names; did you mean 'height'?"),
        ({"ignore": ["zzz"]}, "t.csv has no column 'zzz', which ignore names; it has height, größe."),
        ({"roles": {"Height": "id"}}, "t.csv has no column 'Height', which roles names; did you mean 'height'?"),
        (
            {"roles": {"height": "colour"}},
            "column 'height' is asked for as 'colour'; roles are measurement, count, category,",
        ),
        (
            {"roles": {"größe": "measurement"}},
            "column 'größe' is asked for as a number but holds 'x'; if that stands for a miss",
        ),
        (
            {"roles": {"größe": "date"}},
            "column 'größe' is asked for as a date but holds 'x'; write dates as 2024-01-31.",
        ),
        (
            {"roles": {"height": "count"}},
            "column 'height' is asked for as a count but holds fractional numbers (from 1.5 to 2.5); use roles={'height'",
        ),
    ],
)
def test_options_the_table_cannot_meet(refused, options, message):
    assert message in refused("height,größe\n1.5,x\n2.5,y\n", **options)


def test_places_that_are_no_file(tmp_path):
    (tmp_path / "visits.csv").write_text("a\n1\n")
    for path, message in (
        (tmp_path / "vases.csv", f"there is no file {tmp_path}/vases.csv."),
        (tmp_path / "visit.csv", f"there is no file {tmp_path}/visit.csv. Did you mean {tmp_path}/visits.csv?"),
        (tmp_path, f"{tmp_path} is a folder; give a file."),
        (
            "sqlite:///t.db",
            "sqlite:// is a database; say which rows to read by a query: open_table('sqlite://…', sql='select …').",
        ),
        ("https://example.org/t.csv", "https://… is not a file on this machine; download it first."),
        (7, "a table is a path, a data frame, a dictionary of columns or an array, not int."),
    ):
        with pytest.raises(ValueError) as caught:
            open_table(path)
        assert str(caught.value) == message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    (tmp_path / "t.csv").chmod(0)
    with pytest.raises(ValueError, match="permission denied"):
        open_table(tmp_path / "t.csv")


def test_a_million_columns_are_refused_and_some_can_be_chosen(tmp_path, refused):
    names = ",".join(f"c{j}" for j in range(1_000_000))
    content = f"{names}\n" + ",".join(["1.5", "2", "x", *["0"] * 999_997]) + "\n" + ",".join(["1"] * 1_000_000) + "\n"
    message = refused(content)
    assert message == (
        "t.csv has 1,000,000 columns, and at most 10,000 are read at once; choose some, such as columns=['c0', 'c1']."
    )
    table = open_table(tmp_path / "t.csv", columns=["c0", "c2"])
    assert [column.name for column in table.columns] == ["c0", "c2"]


def test_no_usable_column(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"1,x{j}\n" for j in range(30)))
    table = open_table(tmp_path / "t.csv")
    with pytest.raises(
        ValueError, match=r"t.csv has no column that a model can use: a \(the same value in every row \(1\)\), b \(a"
    ):
        table.source()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), "Expected 2D array, got 1D array instead; give a table with rows and columns."),
        (pa.array([1, 2]), "a pyarrow Int64Array is not a table; give a Table."),
        ({}, "the table has no columns; at least one is needed."),
        ({"a": [1, 2], "b": [1]}, "the columns of the table have 1 to 2 rows; all must have the same number."),
        ({"a": []}, "the table has no rows; at least one is needed."),
    ],
)
def test_frames_that_are_no_table(X, message):
    with pytest.raises(ValueError) as caught:
        open_table(X)
    assert str(caught.value) == message


def test_sheets_of_excel(tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "Visits"
    other = book.create_sheet("Prices")
    for row in (["a", "b"], [1.5, "x"], [2.5, "y"], [3.5, "y"]):
        other.append(row)
    book.save(tmp_path / "t.xlsx")
    table = open_table(tmp_path / "t.xlsx", sheet="Prices")
    assert (table.n_rows, table.columns[0].mean) == (3, 2.5)
    assert open_table(tmp_path / "t.xlsx", sheet="2").n_rows == 3
    for sheet, message in (("Price", "has no sheet 'Price'; did you mean 'Prices'?"), (None, "sheet Visits is empty")):
        with pytest.raises(ValueError, match=message.replace("?", r"\?")):
            open_table(tmp_path / "t.xlsx", sheet=sheet)
