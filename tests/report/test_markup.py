"""No text becomes markup, and numbers read well."""

import numpy as np
import pytest

from tacit.report.markup import Markup, cut, join, number, percent, plural, table, tag


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "\"><img onerror='x'>", "a & b", "'", "</style>"])
def test_texts_are_escaped_in_elements_and_attributes(text):
    made = tag("p", text, title=text)
    assert made.count("<") == 2
    assert made.count(">") == 2
    assert made.count('"') == 2
    assert "'" not in made


def test_markup_is_kept_and_lists_are_joined():
    assert (
        tag("p", [tag("b", "x"), None, ["<", False]], class_="a", hidden=True) == '<p class="a" hidden><b>x</b>&lt;</p>'
    )
    assert join(["a", Markup("<br/>"), "b"], ", ") == "a, <br/>, b"
    assert tag("rect", x=1.25, y=-0.001, width=np.float64(3)) == '<rect x="1.25" y="0" width="3"/>'


def test_unfit_characters_are_replaced_and_long_texts_cut():
    assert cut("a\u202eb\x00c\u2028d\ud800e") == "a\ufffdb\ufffdc\ufffdd\ufffde"
    assert cut("x" * 100, 10) == "x" * 9 + "…"
    assert cut("مرحبا 🐧") == "مرحبا 🐧"
    tag("p", "\ud800").encode("utf-8")


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (np.nan, "–"), (0.0, "0"), (3.0, "3"), (-1234.56, "−1235"), (-12345.6, "−12,346"), (0.012343, "0.01234"),
     (1e12, "1e12"),
     (1e-9, "1e−9"), (12.30, "12.3")],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.004, "0.4 %"),
        (0.0004, "< 0.1 %"),
        (0.9996, "> 99.9 %"),
        (0.5, "50 %"),
        (np.nan, "–"),
    ],
)
def test_shares_are_never_rounded_to_all_or_nothing(share, text):
    assert percent(share).replace("\u00a0", " ") == text


def test_plurals_and_tables():
    assert [plural(1, "row"), plural(2000, "row"), plural(2, "axis", "axes")] == ["1 row", "2,000 rows", "2 axes"]
    made = table(["<a>", "b"], [["x", 1]], numeric=(1,), caption="c")
    assert '<th scope="col">&lt;a&gt;</th>' in made
    assert '<td class="n">1</td>' in made
