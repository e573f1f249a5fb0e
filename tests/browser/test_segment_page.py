"""The page of regimes in a real browser: offline, by mouse and keys, without a script, on a phone, in the dark, in print."""

import numpy as np
import pandas as pd
import pytest

from tacit.report.segment import render_regimes
from tacit.sequence import find_regimes

pytestmark = pytest.mark.xdist_group("browser")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Three series, whose names and columns would be markup if they could."""
    rng = np.random.default_rng(0)
    parts = []
    for k in range(3):
        z = np.repeat([0, 1, 0, 2, 0], 20)
        x = rng.normal(np.array([0.0, 7.0, -7.0])[z], 1.0)
        x[30:33] = np.nan
        parts.append(pd.DataFrame({
            "who": f"{HOSTILE} {k}", "day": pd.date_range("2020-01-01", periods=100), f"x{HOSTILE}": x,
            "kind": rng.choice(["a", HOSTILE], 100),
        }).drop(index=[50]))  # fmt: skip
    found = find_regimes(pd.concat(parts), sequence="who", time="day", states=[3]).study(n_ahead=6)
    path = tmp_path_factory.mktemp("pages") / "regimes.html"
    path.write_text(render_regimes(found), encoding="utf-8")
    return path


def shown(page):
    panels = page.locator('#series .panel[data-set="series"]:not([hidden])')
    return panels.evaluate_all("panels => panels.map(p => p.dataset.panel)")


def test_one_series_at_a_time_from_the_list(open_page):
    page = open_page()
    assert shown(page) == ["0"]
    page.locator("#series-chosen").select_option("2")
    assert shown(page) == ["2"]
    assert page.locator("#forecast .panel:not([hidden])").get_attribute("data-panel") == "2"
    page.locator("#series-chosen").focus()
    page.keyboard.press("ArrowUp")
    assert shown(page) == ["1"]


def test_the_series_is_drawn_in_the_colours_of_its_regimes(open_page):
    page = open_page()
    panel = page.locator("#series .panel:not([hidden])")
    assert panel.locator(".band").count() == 5
    assert panel.locator(".regime-line .line").count() == 3
    assert panel.locator(".fills circle").count() == 4  # three cells and a day that is left out
    assert panel.locator(".forecast .fan").count() == 1
    colours = panel.locator(".regime-line .line").evaluate_all("lines => lines.map(l => getComputedStyle(l).stroke)")
    assert len(set(colours)) == 3
    assert panel.locator(".share").count() == 6


def test_moves_and_regimes_are_there(open_page):
    page = open_page()
    assert page.locator("#moves .state").count() == 3
    assert page.locator("#moves .arrow").count() >= 3
    assert page.locator("#regimes .card").count() == 3
    assert "days on average" in page.locator("#regimes").inner_text()
    assert page.locator("#accuracy tbody tr").count() >= 2


def test_whole_without_a_script(open_page):
    page = open_page(java_script_enabled=False)
    panels = page.locator("#series .panel")
    assert all(panels.nth(k).is_visible() for k in range(3))
    assert not page.locator("#series-chosen").is_visible()


@pytest.mark.parametrize("size", [(360, 740), (800, 900), (1400, 900)])
def test_no_page_is_wider_than_its_window(open_page, size):
    page = open_page(size=size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_dark_colours_can_be_read(open_page):
    page = open_page(color_scheme="dark")

    def light(colour):
        return sum(int(part) for part in colour.strip("rgb()").split(",")[:3]) / 3

    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert light(ink) - light(paper) > 150
    number = page.evaluate("getComputedStyle(document.querySelector('.state-number')).fill")
    assert light(number) > 150


def test_print_shows_all_series(open_page):
    page = open_page()
    page.emulate_media(media="print")
    panels = page.locator("#series .panel")
    assert all(panels.nth(k).is_visible() for k in range(3))
    assert not page.locator("#series-chosen").is_visible()


def test_texts_of_the_table_stay_texts(open_page):
    page = open_page()
    assert HOSTILE in page.locator("#series .panel:not([hidden]) h3").inner_text()
    assert page.evaluate("document.scripts.length") == 1
