"""The report in a real browser: one Chromium for all tests, pages opened from files as a mail attachment is."""

from xml.etree import ElementTree

import numpy as np
import pytest

from tacit.report import Report
from tacit.report.page import render
from tacit.report.projection import views

from ..report.factory import HOSTILE, axes_findings, hostile, left_empty, penguins, with_alternatives

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Paths of the pages."""
    folder = tmp_path_factory.mktemp("pages")
    found = {"groups": penguins(), "axes": axes_findings(3), "hostile": hostile(folder), "empty": left_empty(),
             "numbers": with_alternatives()}  # fmt: skip
    paths = {}
    for name, findings in found.items():
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(render(findings), encoding="utf-8")
    return paths


class Tabs:
    """One tab for each size of the window, whose page is loaded anew only where something may differ."""

    def __init__(self, browser, pages):
        self.browser, self.pages = browser, pages
        self.kept, self.contexts, self.troubles = {}, [], []

    def open(self, name, size, options, changes):
        """The tab with that page; the next test loads it again if this one `changes` it."""
        page, shown = (None, None) if options else self.kept.get(size, (None, None))
        page = page or self.tab(size, options)
        if shown != name:
            page.set_viewport_size(dict(zip(("width", "height"), size)))
            page.emulate_media(media="null")
            page.mouse.move(0, 0)
            page.goto(self.pages[name].as_uri())
        if not options:
            self.kept[size] = page, None if changes else name
        return page

    def tab(self, size, options):
        viewport = dict(zip(("width", "height"), size))
        self.contexts.append(self.browser.new_context(reduced_motion="reduce", viewport=viewport, **options))
        page = self.contexts[-1].new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: message.type in ("error", "warning") and self.troubles.append(message.text))
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("request", self.watch)
        page.on("dialog", lambda dialog: self.troubles.append("a dialog opened"))
        return page

    def watch(self, request):
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.troubles.append(f"asked for {request.url}")

    def check(self):
        """Nothing may have been asked of the network, and nothing may have gone wrong."""
        found, self.troubles[:] = self.troubles[:], []
        assert found == []


@pytest.fixture(scope="module")
def tabs(browser, pages):
    opened = Tabs(browser, pages)
    yield opened
    for context in opened.contexts:
        context.close()


@pytest.fixture
def open_page(tabs):
    """Open a page."""
    yield lambda name="groups", size=(1100, 800), **options: tabs.open(name, size, options, changes=True)
    tabs.check()


@pytest.fixture
def read_page(tabs):
    """As `open_page`, for tests that leave the page as they found it; it may have been loaded by another such test."""
    yield lambda name="groups", size=(1100, 800): tabs.open(name, size, {}, changes=False)
    tabs.check()


def visible(page, selector):
    return page.locator(selector).filter(visible=True)


def test_every_chart_is_there(read_page):
    page = read_page()
    for section in (
        "groups",
        "map",
        "profiles",
        "memberships",
        "outliers",
        "missing",
        "filled",
        "rows",
        "selection",
        "convergence",
    ):
        assert page.locator(f"section#{section} h2").is_visible(), section
    for chart in ("map0", "map1"):
        assert page.locator(f"#{chart} use[href^='#m']").count() == 344
    assert page.locator("#map0").is_visible()
    assert not page.locator("#map1").is_visible()
    assert page.locator("#map0 .reach").count() == 3
    for name in ("selection-curve", "membership-chart"):
        box = page.locator(f"svg[aria-labelledby='{name}-title']").bounding_box()
        assert box["width"] > 300, name
        assert box["height"] > 100, name
    assert visible(page, "#missing .missing-strip").count() == 5
    assert visible(page, "#filled svg.chart").count() == 5
    assert page.locator("#groups .card").count() == 3
    # Symbols are really drawn: the middle of a mark has the colour of its group.
    drawn = page.evaluate("getComputedStyle(document.querySelector('#map0 .layer.g1')).fill")
    assert drawn == "rgb(0, 103, 165)"


def test_no_text_of_a_chart_leaves_it(read_page):
    for size in ((1100, 800), (360, 740)):
        page = read_page(size=size)
        outside = page.evaluate(
            """() => [...document.querySelectorAll('svg.chart')].filter(s => s.getBoundingClientRect().width).flatMap(s => {
                const box = s.closest('figure').getBoundingClientRect();
                return [...s.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()])
                    .filter(([, b]) => b.width && (b.left < box.left - 2 || b.right > box.right + 2)).map(([t]) => t);
            })"""
        )
        assert outside == []


def test_hovering_shows_the_row(read_page):
    page = read_page()
    tip = page.locator("#map .panel:not([hidden]) .tip")
    assert not tip.is_visible()
    mark = page.locator("#map0 .layer[data-group='2'] use:not(.o)").first
    row = page.locator("#map0 .layer[data-group='2']").get_attribute("data-rows").split()[0]
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    assert tip.is_visible()
    assert f"Row {int(row) + 1}" in tip.inner_text()
    assert "bill_length_mm" in tip.inner_text()
    assert "Probability" in tip.inner_text()
    box, frame = tip.bounding_box(), page.locator("#map0").bounding_box()
    assert box["x"] >= frame["x"] - 1
    assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
    page.mouse.move(5, 5)
    assert not tip.is_visible()


def test_keys_walk_from_row_to_row(open_page):
    page = open_page()
    plot, tip = page.locator("#map .panel:not([hidden]) .plot"), page.locator("#map .panel:not([hidden]) .tip")
    plot.focus()
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
        assert tip.is_visible()
        seen.append(tip.locator("b").inner_text())
    assert len(set(seen[:3])) == 3  # the first, and two more, each further to the right
    assert seen[3] != seen[2]
    assert page.locator("#map0 .focus circle").count() == 1
    page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_a_filled_cell_is_marked_in_the_tip(open_page):
    page = open_page()
    point_at(page, int(np.flatnonzero(np.isnan(penguins().sample.encoded).any(axis=1))[0]))
    assert page.locator("#map .panel:not([hidden]) .tip dd.new").first.inner_text()


def point_at(page, index):
    """Move the mouse to a row on the map."""
    x, y = page.evaluate(
        """(index) => { for (const layer of document.querySelectorAll('#map0 .layer')) {
            const k = layer.dataset.rows.split(' ').indexOf(String(index));
            if (k >= 0) { const mark = layer.querySelectorAll('use:not(.o)')[k];
                layer.closest('svg').scrollIntoView({block: 'center', behavior: 'instant'});
                const c = mark.getBoundingClientRect();
                return [c.left + c.width / 2, c.top + c.height / 2]; } } }""",
        index,
    )
    page.mouse.move(x, y)


def test_a_cell_left_empty_is_missing_everywhere(open_page, tmp_path):
    page = open_page("empty")
    page.locator("#rows-table th", has_text="bill_length_mm").locator("button").click()
    page.get_by_label("only with filled cells").check()
    assert page.locator("#rows-table tbody tr").last.locator("td.gone").inner_text() == ""
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "rows.csv")
    table = [line.split(",") for line in (tmp_path / "rows.csv").read_text(encoding="utf-8-sig").splitlines()]
    assert table[-1][table[0].index("bill_length_mm")] == ""
    index = int(table[-1][0]) - 1
    point_at(page, index)
    assert "missing" in page.locator("#map .panel:not([hidden]) .tip").inner_text()


def test_numbers_have_a_minus_that_programs_read_in_files(open_page, tmp_path):
    page = open_page("axes")
    assert any(text.startswith("−") for text in column(page, "Axis 1"))
    head = page.locator("#rows-table th", has_text="Axis 1")
    head.locator("button").click()
    least = float(column(page, "Axis 1")[0].replace("−", "-"))
    np.testing.assert_allclose(least, axes_findings(3).axes.scores[:, 0].min(), atol=1e-3)
    page.locator("#rows-search").fill(f"{least:.3f}")
    assert page.locator("#rows-table tbody tr").count() >= 1
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "rows.csv")
    text = (tmp_path / "rows.csv").read_text(encoding="utf-8-sig")
    assert f"{least:.3f}" in text
    assert "−" not in text


def test_tables_that_go_on_say_so(open_page):
    page = open_page(size=(380, 800))
    scroll, cue = page.locator("#rows .scroll"), page.locator("#rows .cue")
    assert cue.is_visible()
    assert "more" in scroll.get_attribute("class")
    scroll.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    page.locator(
        "#rows .scroll:not(.more)"
    ).wait_for()  # a locator: the page's policy refuses functions that are polled
    assert cue.is_visible()
    # The number of the row stays in sight.
    assert page.locator("#rows-table tbody td:first-child").first.bounding_box()["x"] >= 0
    # Columns stand one below the other, with nothing off-screen.
    inside = page.locator(".columns-table").evaluate("t => t.scrollWidth <= t.parentNode.clientWidth")
    assert inside
    assert not page.locator("#columns .cue").is_visible()
    wide = open_page(size=(1280, 900))
    assert not wide.locator("#rows .cue").is_visible()
    assert wide.locator("#rows-table").evaluate("t => t.parentNode.scrollWidth <= t.parentNode.clientWidth")
    assert wide.evaluate("document.documentElement.scrollWidth") <= 1280


def test_texts_of_charts_can_be_read_on_small_screens(read_page):
    page = read_page(size=(380, 800))
    heights = page.evaluate(
        """() => [...document.querySelectorAll('#map .meaning, #map0 .place, svg.chart text')].map(
            e => e.getBoundingClientRect().height).filter(h => h > 0)"""
    )
    assert min(heights) >= 11
    ends = page.locator("#selection text.end").evaluate_all("all => all.map(e => e.getBoundingClientRect().y)")
    assert np.diff(np.sort(ends)).min() >= 9


def test_the_legend_hides_and_shows_groups(read_page):
    page = read_page()
    button, layer = page.locator("[data-toggle='1']"), page.locator("#map0 .layer[data-group='1']")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert layer.evaluate("e => getComputedStyle(e).display") == "none"
    button.press("Enter")
    assert layer.evaluate("e => getComputedStyle(e).display") == "inline"


def test_buttons_choose_panels(open_page):
    page = open_page()
    page.get_by_role("button", name="Most variation").click()
    assert page.locator("#map1").is_visible()
    assert not page.locator("#map0").is_visible()
    assert visible(page, "#profiles .panel").count() == 1
    page.locator("#profiles .choices button", has_text="Group 2").click()
    assert [words.strip() for words in visible(page, "#profiles .panel h3").all_inner_texts()] == ["Group 2"]
    axes = open_page("axes")
    axes.locator("#scores .choices button").nth(2).click()
    assert axes.locator("#scores2").is_visible()


def column(page, name):
    position = page.locator("#rows-table thead th").all_inner_texts().index(name)
    return page.locator(f"#rows-table tbody tr td:nth-child({position + 1})").all_inner_texts()


def test_the_table_sorts_by_mouse_and_key(open_page):
    page = open_page()
    masses = np.sort(penguins().sample.encoded[:, penguins().used.index("body_mass_g")])
    head = page.locator("#rows-table th", has_text="body_mass_g")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    np.testing.assert_allclose([float(text) for text in column(page, "body_mass_g")], masses[:25])
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert float(column(page, "body_mass_g")[0]) == 6300
    page.locator("#rows-table th", has_text="island").locator("button").click()
    assert head.get_attribute("aria-sort") == "none"
    assert column(page, "island") == ["Biscoe"] * 25


def test_the_table_filters_and_pages(open_page):
    page = open_page()
    count = page.locator("#rows-count")
    assert count.inner_text() == "344 rows"
    page.get_by_role("button", name="Next").click()
    assert column(page, "Row")[0] == "26"
    page.locator("#rows-search").fill("torgersen")
    assert count.inner_text() == "52 of 344 rows"
    assert set(column(page, "island")) == {"Torgersen"}
    page.locator("#rows-search").fill("")
    page.locator("#rows-group").select_option("2")
    assert count.inner_text() == f"{penguins().groups[1].n_rows} of 344 rows"
    page.locator("#rows-group").select_option("")
    page.get_by_label("only with filled cells").check()
    assert count.inner_text() == "11 of 344 rows"
    page.locator("#rows-search").fill("no such thing")
    assert count.inner_text() == "0 of 344 rows"
    assert column(page, "Row") == []


def test_rows_are_downloaded_and_copied(open_page, tmp_path):
    page = open_page()
    page.get_by_label("only with filled cells").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert download.value.suggested_filename == "rows.csv"
    download.value.save_as(tmp_path / "rows.csv")
    lines = (tmp_path / "rows.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("Row,Group,Probability,")
    assert len(lines) == 12
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()


def saved(page, figure, kind, path):
    figure.locator("details.numbers summary").click()
    with page.expect_download() as download:
        figure.get_by_role("button", name=f"Save this chart as {kind}").click()
    download.value.save_as(path)
    return path


def test_every_chart_is_saved_as_drawing_picture_and_numbers(open_page, tmp_path):
    page = open_page()
    charts = page.locator("figure:has(svg.chart)")
    for kind in ("SVG", "PNG", "CSV"):
        assert (
            page.locator(f"figure:has(svg.chart) button[aria-label='Save this chart as {kind}']").count()
            == charts.count()
        )
    figure = page.locator("#map figure").first
    drawn = ElementTree.parse(saved(page, figure, "SVG", tmp_path / "map.svg")).getroot()
    ns = "{http://www.w3.org/2000/svg}"
    marks = [use for use in drawn.iter(f"{ns}use") if use.get("class") != "o"]
    assert len(marks) == 344
    assert {use.get("href")[1:] for use in marks} <= {part.get("id") for part in drawn.find(f"{ns}defs")}
    assert "rgb(0, 103, 165)" in marks[0].get("style")
    assert any(text.text and text.text.startswith("↑") for text in drawn.iter(f"{ns}text"))
    assert not any("http" in (value or "") for part in drawn.iter() for value in part.attrib.values())
    figure.locator("details.numbers summary").click()
    picture = saved(page, figure, "PNG", tmp_path / "map.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") == 3 * 680
    figure.locator("details.numbers summary").click()
    lines = saved(page, figure, "CSV", tmp_path / "map.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "row,group,across,up"
    places = np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])
    view = views(penguins())[0].places[places[:, 0].astype(int) - 1]
    np.testing.assert_allclose(places[:, 2:], view, atol=0.01 * np.ptp(view))
    spread = page.locator("#distributions figure", has_text="body_mass_g")
    table = saved(page, spread, "CSV", tmp_path / "s.csv").read_text(encoding="utf-8-sig").splitlines()
    assert table[0] == "Rows,Known,A tenth below,Middle,A tenth above"
    mass = penguins().sample.encoded[:, penguins().used.index("body_mass_g")]
    assert float(table[-1].split(",")[3]) == pytest.approx(np.nanmedian(mass), rel=1e-3)


def test_the_map_takes_the_colours_of_any_column(open_page):
    page = open_page()
    select, fill = page.locator("#map-colour"), "u => getComputedStyle(u).fill"
    options = select.locator("option").all_inner_texts()
    assert options[0] == "group"
    assert {"island", "sex", "body_mass_g"} <= set(options)
    before = page.locator("#map0 .layer use:not(.o):not(.u)").first.evaluate(fill)
    select.select_option("island")
    islands = {}
    for layer in page.locator("#map0 .layer").all():
        rows = layer.get_attribute("data-rows").split()
        drawn = layer.evaluate("l => [...l.querySelectorAll('use:not(.o)')].map(u => u.style.fill || u.style.stroke)")
        for row, colour in zip(rows, drawn):
            islands.setdefault(penguins().sample.cells["island"][int(row)], set()).add(colour)
    assert {name: len(colours) for name, colours in islands.items()} == {"Biscoe": 1, "Dream": 1, "Torgersen": 1}
    assert len(set.union(*islands.values())) == 3
    assert page.locator("#map-key span").all_inner_texts() == ["Biscoe", "Dream", "Torgersen"]
    select.select_option("body_mass_g")  # two are not known, and their filled values are not shown
    words = page.locator("#map-key span").all_inner_texts()
    assert words == ["least 2700", "middle 4050", "most 6300", "not known"]
    assert page.locator("#map0 use[style*='fill: none']").count() == 2
    select.select_option("")
    assert page.locator("#map0 .layer use:not(.o):not(.u)").first.evaluate(fill) == before


def test_a_slider_shows_other_numbers_of_groups(open_page):
    page = open_page("numbers")
    slider, panel = page.locator("#numbers-slider"), visible(page, "#numbers .panel")
    assert panel.locator("h3").first.inner_text() == "3 groups"
    slider.press("ArrowRight")
    assert page.locator("#numbers-shown").inner_text() == "5 groups"
    assert slider.get_attribute("aria-valuetext") == "5 groups"
    assert panel.locator(".card").count() == 5
    assert "200 behind the best" in panel.inner_text()
    assert "tacit fit 'penguins and more.csv' --groups 5" in panel.inner_text()
    other = with_alternatives().alternatives[-1].group
    drawn = page.evaluate(
        """() => [...document.querySelectorAll('#numbers-map .layer')].flatMap(l => { const rows = l.dataset.rows.split(' ');
            return [...l.querySelectorAll('use')].map((u, k) => [+rows[k], +u.getAttribute('href').slice(2)]); })"""
    )
    assert len(drawn) == 344
    assert all(other[row] == group for row, group in drawn)
    slider.press("Home")
    assert panel.locator(".card").count() == 1


def test_groups_are_renamed_and_merged_and_the_command_is_told(open_page):
    page = open_page("numbers")
    page.get_by_text("Rename or merge groups").click()
    command = page.locator("#edit-command")
    assert command.inner_text() == "tacit report penguins.fit.tacit 'penguins and more.csv'"
    sizes = [group.n_rows for group in penguins().groups]
    page.get_by_label("What becomes of group 3").select_option("1")
    page.get_by_label("Name of group 1").fill("it's <b>")
    page.get_by_label("Name of group 2").fill("Gentoo")
    assert command.inner_text().endswith("""--merge 1+3 --name '1=it'"'"'s <b>' --name 2=Gentoo""")
    cards = visible(page, "#groups .card")
    assert [words.strip() for words in cards.locator("h3").all_inner_texts()] == [
        "Groups 1 + 3: it's <b>",
        "Group 2: Gentoo",
    ]
    assert cards.first.locator(".size").inner_text().startswith(f"{sizes[0] + sizes[2]} rows · ")
    assert cards.first.locator(".what").inner_text() == "Described when the page is made anew."
    assert page.locator("#map0 .layer[data-group='3'] use:not(.o)").first.get_attribute("href") == "#m1"
    assert "3" not in set(column(page, "Group"))
    page.locator("#rows-group").select_option("1")
    assert page.locator("#rows-count").inner_text() == f"{sizes[0] + sizes[2]} of 344 rows"
    page.get_by_label("What becomes of group 1").select_option("3")  # each into the other
    assert "--merge 1+3 --name '1=" in command.inner_text()
    page.get_by_label("What becomes of group 1").select_option("")
    page.get_by_label("What becomes of group 3").select_option("")
    assert visible(page, "#groups .card").count() == 3
    assert cards.first.locator(".what").inner_text() == penguins().groups[0].words
    assert page.locator("#map0 .layer[data-group='3'] use:not(.o)").first.get_attribute("href") == "#m3"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_and_the_button(open_page, scheme):
    page = open_page(color_scheme=scheme)
    grounds = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 21, 23)"}
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == grounds[scheme]
    page.locator("#theme").click()
    other = "dark" if scheme == "light" else "light"
    assert page.evaluate(ground) == grounds[other]
    page.emulate_media(media="print")
    assert page.evaluate(ground) == grounds["light"]


def test_paper_shows_all_profiles_and_no_controls(open_page):
    page = open_page()
    page.emulate_media(media="print")
    assert visible(page, "#profiles .panel").count() == 4
    assert visible(page, ".control, .tip, nav").count() == 0
    assert page.locator("#map0").is_visible()
    page.set_viewport_size({"width": 688, "height": 980})
    # What is wider than the paper would shrink all of it.
    assert page.evaluate("document.documentElement.scrollWidth") <= 688
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") < 12
    # The summary is a page of its own: what was found and the groups, before everything else.
    page.set_viewport_size({"width": 688, "height": 1010})
    assert page.locator("#map").evaluate("e => getComputedStyle(e).breakBefore") == "page"
    last = page.locator("#groups .card").last.bounding_box()
    assert last["y"] + last["height"] <= 1010
    avoid = "all => all.map(e => getComputedStyle(e).breakInside)"
    assert set(page.locator("#groups .card, #profiles .panel, #distributions figure").evaluate_all(avoid)) == {"avoid"}
    style = page.evaluate("[...document.styleSheets[0].cssRules].map(r => r.cssText).join()")
    assert "counter(page)" in style


@pytest.mark.parametrize("name", ["groups", "axes", "hostile"])
def test_small_screens_do_not_scroll_sideways(read_page, name):
    page = read_page(name, size=(360, 740))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for locator in page.locator("h1, h2, .answer, .card").all():
        box = locator.bounding_box()
        assert box["x"] + box["width"] <= 361


def test_the_page_is_whole_without_its_script(open_page):
    page = open_page(java_script_enabled=False)
    assert page.locator("#map0").is_visible()
    assert page.locator("#profiles .panel").filter(visible=True).count() == 4
    assert page.locator("#rows-table tbody tr").count() == 344
    assert visible(page, ".control").count() == 0


def test_nothing_of_the_table_ever_runs(open_page):
    page = open_page("hostile")
    assert page.evaluate("window.ran") is None
    assert page.locator("script").count() == 1
    assert page.locator("img, iframe, object, embed").count() == 0
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert page.title().startswith(HOSTILE[0])
    mark = page.locator("#map0 use:not(.o)").first
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    assert page.locator("#map .panel:not([hidden]) .tip").is_visible()
    page.locator("#rows-search").fill("<img")
    assert page.locator("#rows-table tbody tr").count() > 0
    assert page.evaluate("window.ran") is None


def test_the_policy_stops_scripts_that_come_in_by_any_other_way(browser, pages):
    context = browser.new_context(
        reduced_motion="reduce",
    )
    page = context.new_page()
    stopped = []
    page.on("console", lambda message: stopped.append(message.text))
    page.goto(pages["groups"].as_uri())
    page.evaluate(
        """() => { const p = document.createElement('p'); p.innerHTML = '<b id="bait" onclick="window.ran = 1">x</b>';
            document.body.append(p); const s = document.createElement('script'); s.textContent = 'window.ran = 2';
            document.body.append(s); document.getElementById('bait').click(); }"""
    )
    assert page.evaluate("window.ran") is None
    assert any("Content Security Policy" in text for text in stopped)
    context.close()


@pytest.mark.parametrize("name", ["groups", "numbers", "axes"])
def test_what_a_screen_reader_meets(open_page, name):
    page = open_page(name)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the findings"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, [role=region], [role=img]')].filter(e =>
            !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() ||
            e.closest('label'))).length"""
    )
    assert unnamed == 0
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_a_notebook_shows_it_in_a_frame(open_page, pages):
    report = Report.__new__(Report)
    report.findings = penguins()
    pages["notebook"] = pages["groups"].with_name("notebook.html")
    pages["notebook"].write_text(f"<!DOCTYPE html><body>{report._repr_html_()}", encoding="utf-8")
    page = open_page("notebook")
    frame = page.frames[1]
    assert frame.locator("#rows-count").inner_text() == "344 rows"
    frame.locator("nav a", has_text="Map").click()
    mark, tip = frame.locator("#map0 .layer.g2 use").first, frame.locator("#map .panel:not([hidden]) .tip")
    for _ in range(30):  # the frame may still be on its way to the map
        page.mouse.move(0, 0)
        mark.hover(force=True)
        if tip.is_visible():
            break
        page.wait_for_timeout(100)
    assert tip.is_visible()
    frame.locator("#rows-copy").click()
    frame.get_by_role("button", name="Copied").wait_for()
    assert frame.url == "about:srcdoc"
