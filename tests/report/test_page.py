"""The page as text: whole, valid, the same every time, and safe whatever the table holds."""

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from tacit.notes import Check, Claim
from tacit.report.page import render

from .factory import axes_findings, findings_of, hostile, left_empty, penguins, written


class Reader(HTMLParser):
    """Collects what tests ask about."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.ids, self.headings, self.attributes, self.texts = Counter(), [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        found = dict(attrs)
        self.attributes.append((tag, found))
        if "id" in found:
            self.ids.append(found["id"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def page():
    return render(penguins())


def test_sentences_open_to_their_checks_and_nothing_of_a_check_is_markup():
    bad = "</code></details><script>window.ran = 1</script>"
    check = Check("counted in all 344 rows", {bad: bad, "n": 344, "share": 1 / 3}, f"{{'n': len(table)}}  # {bad}")
    claim = Claim("n", "{n} rows {bad}.", check=check, n=344, bad=bad)
    page = render(replace(penguins(), summary=["A headline.", claim], limits=[claim]))
    assert page.count('<details class="claim"><summary>344 rows &lt;/code&gt;') == 2
    assert "n = 344, share = 0.3333333333" in page
    assert "{&#x27;n&#x27;: len(table)}" in page
    assert page.count("<script>") == 1


def test_labels_units_and_names_of_groups_stand_in_their_places():
    named = replace(
        penguins(), labels={"body_mass_g": "Body mass"}, units={"body_mass_g": "g"}, group_names={2: "<Gentoo>"}
    )
    page = render(named)
    assert "<h3>Body mass (g)</h3>" in page
    assert "more Body mass" in page
    assert "Group 2: &lt;Gentoo&gt;</span></h3>" in page


def test_every_section_is_there(page):
    names = [
        "groups",
        "map",
        "profiles",
        "distributions",
        "memberships",
        "outliers",
        "missing",
        "filled",
        "rows",
        "selection",
        "convergence",
        "model",
        "columns",
    ]
    assert re.findall(r'<section id="(\w+)"', page) == names
    for name in names:
        assert f'<a href="#{name}">' in page
    assert "The 344 rows fall into 3 groups." in page


def test_the_page_is_sound(page):
    read = Reader(page)
    assert max(Counter(read.ids).values()) == 1
    assert read.headings[0] == 1
    assert read.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(read.headings, read.headings[1:]))
    assert read.tags["script"] == read.tags["main"] == read.tags["nav"] == 1
    for name, found in read.attributes:
        for key in ("aria-labelledby", "aria-describedby"):
            assert all(part in read.ids for part in found.get(key, "").split())
        if name == "svg":
            assert found.get("aria-hidden") == "true" or (
                found["role"] == "img" and {"aria-label", "aria-labelledby"} & set(found)
            )
        if found.get("href", "").startswith("#") and name != "a":
            assert found["href"][1:] in read.ids
        assert not any(key.startswith("on") for key in found)


def test_the_page_needs_no_network(page):
    assert not re.findall(r'(?:src|href|action|data)="(?!#|data:,")', page)
    assert "@import" not in page
    assert "url(" not in page.replace("url(#", "")
    assert re.search(
        r"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[\w+/=]+'; img-src data:",
        Reader(page).attributes[3][1]["content"],
    )


def test_the_same_findings_give_the_same_bytes(page):
    penguins.cache_clear()
    assert render(penguins()) == page


def test_groups_of_the_map_and_rows_of_the_table_agree(page):
    rows = re.findall(r'<tr(?: class="[a-z ]*")? data-g="(\d)">', page)
    assert np.bincount([int(group) for group in rows])[1:].tolist() == [group.n_rows for group in penguins().groups]
    first = re.search(r'<svg class="chart map".*?</svg>', page, re.S).group()
    for number, places in re.findall(r'data-group="(\d)" data-rows="([\d ]+)"', first):
        assert {rows[int(place)] for place in places.split()} == {number}
    assert len(re.findall(r'href="#m\d"', first)) == 344


def test_filled_cells_say_their_interval(page):
    sample = penguins().sample
    assert page.count('<td class="new"') == np.isnan(sample.encoded[:, 1:5]).sum()
    assert len(re.findall(r'<td class="new" title="90\u00a0%: [\d.,]+ to [\d.,]+"', page)) == 8


def test_intervals_say_their_level(page):
    other = render(
        replace(penguins(), level=0.8, check={"columns": [{"column": "a", "cells": 5, "error": 0.4, "covered": 0.8}]})
    )
    assert len(re.findall(r'title="80\u00a0%: [\d.,]+ to', other)) == 8
    for words in ("true one with 80 % probability", "80 % interval or probability", "should hold about 80 % of"):
        assert words in other.replace("\u00a0", " ")
        assert words.replace("80", "90") not in other.replace("\u00a0", " ")


def test_cells_left_empty_are_shown_as_missing(page):
    other = render(left_empty())
    assert other.count('<td class="gone" title="missing, left empty"><td') == 2
    assert other.count(' new" title=') + other.count('="new" title=') == 17
    assert "2 missing cells of the rows shown were left empty" in other
    assert "left empty" not in page
    assert "List of the 17 filled cells" in other
    assert "List of the 19 filled cells" in page
    assert "nan" not in re.sub(r"<style>.*?</style>|<script>.*?</script>", "", other, flags=re.S).lower()


def test_options_and_names_of_groups_stay_in_one_piece():
    found = replace(penguins(), limits=["Codes? Say --as year=number, or --student."], trace=np.array([-3.0, -2.0]))
    page = render(found)
    for words in ("--as NAME=ROLE", "--as year=number", "--student"):
        assert f'<code class="whole">{words}</code>' in page
    assert re.search(
        r'<span class="whole"><svg class="glyph.{,200}</svg> <span data-called="1">Group 1</span></span>', page
    )
    assert "Settled after 2 steps" in page
    assert "trace-curve" not in page


def test_loadings_are_called_correlations():
    assert "A loading is the correlation of the column with the axis" in render(axes_findings())


@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_axes(n_axes):
    page = render(axes_findings(n_axes))
    assert re.findall(r'<section id="(\w+)"', page) == [
        "axes",
        "scores",
        "missing",
        "filled",
        "rows",
        "model",
        "columns",
    ]
    assert page.count('class="chart map"') == {1: 1, 2: 1, 3: 3}[n_axes]
    assert 'id="scree-plot-title"' in page
    assert max(Counter(Reader(page).ids).values()) == 1


def test_absent_parts_leave_no_section():
    found = penguins()
    bare = replace(
        found, kind="fill", groups=(), memberships=None, group=None, outlier=None, uncertain=[], outliers=[],
        n_uncertain=0, n_outliers=0,
        selection=[], trace=np.empty(0), card={}, limits=[], summary=[],
    )  # fmt: skip
    assert re.findall(r'<section id="(\w+)"', render(bare)) == ["missing", "filled", "rows", "columns"]
    assert "19 missing cells of 344 rows filled in." in render(bare)


def test_the_check_of_fills_is_told():
    check = {
        "columns": [
            {"column": "a<b", "cells": 5, "error": 0.42, "covered": 0.8},
            {"column": "c", "cells": 3, "right": 1.0, "usual": 0.5},
            {"column": "d", "cells": 3, "right": 0.4, "usual": 0.5},
            {"column": "e", "cells": 3, "error": 1.2, "covered": 0.5},
        ]
    }
    page = render(replace(penguins(), check=check))
    assert "How good they are" in page
    assert "a&lt;b" in page
    assert ">0.42<" in page
    assert "No better than a guess: d, e." in page


def test_hostile_texts_stay_texts(tmp_path):
    page = render(hostile(tmp_path))
    read = Reader(page)
    assert read.tags["script"] == 1
    assert read.tags["img"] == 0
    assert not any(key.startswith("on") for _, found in read.attributes for key in found)
    assert not re.search("[\u2028\u2029\u202e\x01\x07]", page)
    assert "x" * 601 not in page
    assert "🐧 مرحبا שלום" in page
    page.encode("utf-8")


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_rows(tmp_path, n_rows):
    found = penguins()
    parts = {
        name: getattr(found.sample, name)[:n_rows] for name in ("rows", "encoded", "filled", "low", "high", "sure")
    }
    cells = {name: cells[:n_rows] for name, cells in found.sample.cells.items()}
    sample = replace(found.sample, cells=cells, **parts)
    few = replace(
        found,
        sample=sample,
        memberships=found.memberships[:n_rows],
        group=found.group[:n_rows],
        outlier=found.outlier[:n_rows],
    )
    assert render(few).count("<tr data-g=") + render(few).count("<tr class=") >= n_rows


def test_one_group_no_holes_and_one_column(tmp_path, rng):
    page = render(findings_of(written(tmp_path, ["a"], [[f"{x:.3f}"] for x in rng.normal(size=50)]), 1))
    assert re.findall(r'<section id="(\w+)"', page) == [
        "groups",
        "map",
        "outliers",
        "rows",
        "selection",
        "convergence",
        "model",
        "columns",
    ]
    assert "One axis tells all" in page


def test_two_thousand_rows_of_forty_columns_stay_small(rng):
    X = np.round(rng.normal(size=(2000, 40)) + 4 * (np.arange(2000) % 3)[:, None], 3)
    X[rng.random(X.shape) < 0.1] = np.nan
    found = penguins()
    names = [f"column_{j}" for j in range(40)]
    number = next(column for column in found.columns if column.role == "measurement")
    filled = np.where(np.isnan(X), 1.25, X)
    low, high = (np.where(np.isnan(X), value, np.nan) for value in (-0.123, 3.456))
    sample = replace(
        found.sample, rows=np.arange(1, 2001), cells={}, encoded=X, filled=filled, low=low, high=high,
        sure=np.full_like(X, np.nan),
    )  # fmt: skip
    group = np.arange(2000) % 3 + 1
    large = replace(
        found, n_rows=2000, used=names, columns=tuple(replace(number, name=name) for name in names), sample=sample, group=group,
        memberships=np.eye(3)[group - 1], outlier=np.full(2000, 0.5),
    )  # fmt: skip
    assert len(render(large).encode()) < 1_400_000


def test_infinite_and_absent_numbers_do_no_harm():
    found = penguins()
    profile = [
        {"column": "a", "level": None, "value": None, "rest": float("nan"), "difference": float("inf"), "text": ""}
    ]
    groups = tuple(replace(group, profile=profile, share=float("nan")) for group in found.groups)
    page = render(replace(found, groups=groups, trace=np.array([np.nan, -np.inf, 1.0, 2.0])))
    assert "nan" not in re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.S).lower().replace(
        "dominant", ""
    )
