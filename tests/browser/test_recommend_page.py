"""The page of ratings in a real browser: offline, by mouse and keys, without a script, on a phone, in the dark, in print."""

import pytest

from tacit.datasets import make_ratings
from tacit.recommend import Ratings, choose_recommender
from tacit.recommend.choice import find_types
from tacit.report.recommend import render_ratings
from tacit.study.recommend import study_ratings

pytestmark = pytest.mark.xdist_group("browser")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def findings():
    """Findings of ratings of items that would be markup if they could."""
    drawn = make_ratings(150, 40, density=0.4, random_state=0)
    ratings = Ratings.read(drawn.table())
    names = {
        item: f"{title} {HOSTILE}" if k % 7 == 0 else title
        for k, (item, title) in enumerate(drawn.more["titles"].items())
    }
    choice = choose_recommender(ratings, method="factorization", n_components=8)
    return study_ratings(choice, ratings, types=find_types(ratings, 3), names=names, title=f"films {HOSTILE}")


@pytest.fixture(scope="module")
def path(tmp_path_factory, findings):
    path = tmp_path_factory.mktemp("pages") / "ratings.html"
    path.write_text(render_ratings(findings), encoding="utf-8")
    return path


def chosen(page):
    return page.locator("#item-panel h3").inner_text()


def test_search_lights_items_up_and_enter_takes_the_first(open_page, findings):
    page = open_page()
    assert chosen(page) == findings.mapped[0].name
    wanted = [item for item in findings.mapped if "crime" in item.name.lower()]
    page.locator("#item-search").fill("CRIME")
    assert page.locator("#item-map .match").count() == len(wanted)
    assert page.locator("#item-count").inner_text().startswith(f"{len(wanted)} items")
    page.locator("#item-search").press("Enter")
    assert chosen(page) == wanted[0].name
    page.locator("#item-matches button").nth(1).click()
    assert chosen(page) == wanted[1].name
    page.locator("#item-search").fill("no such film")
    assert page.locator("#item-count").inner_text() == "no item on the map"
    page.locator("#item-search").press("Escape")
    assert page.locator(".searched").count() == 0
    page.locator("#item-search").fill(findings.mapped[3].id)  # ids are found as well
    page.locator("#item-search").press("Enter")
    assert chosen(page) == findings.mapped[3].name


def test_a_click_shows_ratings_and_similar_items(open_page, findings):
    page, item = open_page(), findings.mapped[5]
    page.locator(f'#item-map .item[data-item="{item.code}"]').dispatch_event("click")
    assert chosen(page) == item.name
    told = page.locator("#item-panel").inner_text()
    assert f"{item.n_ratings} ratings, mean" in told
    assert page.locator("#item-panel .level-bars tr").count() == len(findings.labels)
    assert [f"{100 * part:.0f}\u00a0%" for part in item.bars] == page.locator(
        "#item-panel .level-bars td.n"
    ).all_inner_texts()
    first = findings.names[item.similar[0][0]]
    page.locator("#item-panel li button").first.click()
    assert chosen(page) == first
    assert page.locator(".item[aria-current=true]").count() == 1


def test_keys_are_enough(open_page):
    page = open_page()
    assert page.locator('#item-map .item[tabindex="0"]').count() == 1
    page.locator('#item-map .item[tabindex="0"]').focus()
    before, seen = chosen(page), set()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp") * 2:
        page.keyboard.press(key)
        seen.add(chosen(page))
    assert seen - {before}
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "true"


def test_names_on_the_map_do_not_collide(open_page):
    for size, kind in (((1100, 800), ".place:not(.narrow)"), ((360, 740), ".narrow")):
        page = open_page(size=size)
        boxes = page.locator(f".item-names {kind}").evaluate_all(
            """names => names.filter(n => getComputedStyle(n).visibility !== 'hidden' && n.getBBox().width)
               .map(n => { const b = n.getBoundingClientRect(); return [b.left, b.top + 2, b.right, b.bottom - 2]; })"""
        )
        assert len(boxes) >= 4
        for k, (left, top, right, bottom) in enumerate(boxes):
            for other in boxes[k + 1 :]:
                assert right <= other[0] + 1 or other[2] <= left + 1 or bottom <= other[1] + 1 or other[3] <= top + 1


def test_whole_without_a_script(open_page, findings):
    page = open_page(java_script_enabled=False)
    assert not page.locator("#item-search").is_visible()
    assert not page.locator("#item-panel").is_visible()
    assert page.locator("#items-table tbody tr").count() == len(findings.mapped)
    for name in ("ratings", "types", "map", "accuracy", "examples", "model"):
        assert page.locator(f"#{name} h2").is_visible()
    panels = page.locator('.panel[data-set="user"]')
    assert panels.count() == 3
    assert all(panels.nth(k).is_visible() for k in range(3))


@pytest.mark.parametrize("size", [(360, 740), (800, 900), (1400, 900)])
def test_no_page_is_wider_than_its_window(open_page, size):
    page = open_page(size=size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    marks = page.locator("#item-map .item")
    ends = [marks.nth(k).bounding_box() for k in range(0, marks.count(), 9)]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= size[0] for box in ends)


def test_dark_colours_can_be_read(open_page):
    page = open_page(color_scheme="dark")

    def light(colour):
        return sum(int(part) for part in colour.strip("rgb()").split(",")[:3]) / 3

    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert light(ink) - light(paper) > 150
    assert light(page.evaluate("getComputedStyle(document.querySelector('.item-names .place')).fill")) > 150


def test_print_shows_all_users(open_page):
    page = open_page()
    page.emulate_media(media="print")
    panels = page.locator('.panel[data-set="user"]')
    assert all(panels.nth(k).is_visible() for k in range(panels.count()))
    assert not page.locator("#item-search").is_visible()


def test_texts_are_texts(open_page, findings):
    page = open_page()
    assert HOSTILE in page.locator("h1").inner_text()
    page.locator("#item-search").fill("onerror")
    page.locator("#item-search").press("Enter")
    assert HOSTILE[:30] in chosen(page)
    assert page.evaluate("document.scripts.length") == 1
    assert str(findings.summary[0]) in page.locator(".answer").inner_text()
