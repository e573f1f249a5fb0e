"""Tables of results."""

import pytest

from tacit.table import Table

ROWS = [
    {"name": "a", "value": 1234.5678, "ok": True, "empty": None},
    {"name": "b" * 100, "value": None, "ok": False, "empty": None},
]


def test_columns_rows_and_slices():
    table = Table(ROWS)
    assert table["name"][0] == "a"
    assert table[1]["ok"] is False
    assert len(table[:1]) == 1
    assert [row["name"][0] for row in table] == ["a", "b"]
    with pytest.raises(KeyError, match="'banana' is no column; there are name, value, ok, empty"):
        table["banana"]


def test_text_aligns_numbers_and_leaves_empty_columns_out():
    lines = str(Table(ROWS, "title")).splitlines()
    assert lines[0] == "title"
    assert lines[1].split() == ["name", "value", "ok"]
    assert lines[2].split() == ["a", "1234.57", "yes"]
    assert lines[3].split() == ["b" * 71 + "…", "-", "no"]
    assert len({line.index(last) for line, last in zip(lines[1:], ("ok", "yes", "no"))}) == 1


def test_frame():
    pytest.importorskip("pandas")
    assert list(Table(ROWS).to_pandas().columns) == ["name", "value", "ok", "empty"]


def test_html_is_escaped_and_not_cut():
    long = "x" * 100
    page = Table([{"<b>": "<script>", "n": 1.5}, {"<b>": long, "n": None}], title="a & b")._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<caption>a &amp; b</caption>" in page
    assert long in page
    assert "<td>1.5000</td>" in page
    assert "<td>-</td>" in page
