"""The page of topics in a real browser: offline, by mouse and keys, without a script, on a phone, in the dark, in print."""

import numpy as np
import pytest

from tacit.report.topics import render_topics
from tacit.study.topics import study_topics
from tacit.topics import AnchorTopics, Corpus, choose_topics

pytestmark = pytest.mark.xdist_group("browser")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def findings():
    """Topics of which each has words of its own and words of others, in documents that would be markup if they could."""
    rng = np.random.default_rng(0)
    own = [[f"{kind}{a}{b}" for a in "abcdef" for b in "abcdefg"] for kind in ("sun", "sea", "oak", "car")]
    shared = [f"every{a}{b}" for a in "abcd" for b in "abcd"]
    texts, days = [], []
    for i in range(200):
        words = [*rng.choice(own[i % 4], 25), *rng.choice(shared, 6), *rng.choice(own[(i + 1) % 4], 4)]
        texts.append(" ".join(rng.permutation(words)) + (HOSTILE if i % 9 == 0 else ""))
        days.append(np.datetime64("2022-01-01") + 3 * i)
    corpus = Corpus.from_texts(
        texts, titles=[f"{HOSTILE} {i}" for i in range(200)], times=np.array(days), name=f"pages {HOSTILE}"
    )
    return study_topics(AnchorTopics(4).fit(corpus), corpus, choice=choose_topics(AnchorTopics(), corpus, [2, 3, 4]))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "topics.html"
    path.write_text(render_topics(findings()), encoding="utf-8")
    return path


def first_words(page, n=8):
    return page.locator(".topic:not([hidden]) .word-bars tbody tr:not([hidden]) button").all_inner_texts()[:n]


def shown_topic(page):
    return page.locator(".panel.topic:not([hidden])").evaluate_all("panels => panels.map(p => p.id)")


def test_one_topic_at_a_time_by_button_and_map(open_page):
    page = open_page()
    assert shown_topic(page) == ["topic-1"]
    page.locator('.choices[data-set="topic"] button').nth(2).click()
    assert shown_topic(page) == ["topic-3"]
    assert page.locator("#topic-map a[aria-current]").get_attribute("data-topic") == "2"
    page.locator('#topic-map a[data-topic="3"] circle').click()
    assert shown_topic(page) == ["topic-4"]
    assert page.locator('.choices[data-set="topic"] button[aria-pressed="true"]').get_attribute("data-show") == "3"
    drawn = page.locator("#topic-map circle.bubble")
    assert drawn.count() == 4
    assert all(box["width"] > 20 for box in (drawn.nth(k).bounding_box() for k in range(4)))


def test_the_slider_ranks_words_as_python_does(open_page):
    page, found = open_page(), findings()
    topic = found.topics[0]

    def ranked(weight):
        score = lambda e: -(np.log(e["probability"]) - (1 - weight) * np.log(e["overall"]))  # noqa: E731
        return [entry["word"] for entry in sorted(topic.entries, key=score)]

    seen = []
    for weight in (1.0, 0.0, 0.6):
        page.locator("#relevance").fill(str(weight))
        seen.append(first_words(page, 5))
        scores = ranked(weight)
        # Four digits travel with the page: words that differ by less may change places.
        assert set(seen[-1]) <= set(scores[:9])
        assert page.locator(".relevance output").inner_text() == f"{weight:.2f}"
    assert seen[0] != seen[1]
    assert page.locator(".topic:not([hidden]) .word-bars tbody tr:not([hidden])").count() == 30


def test_bars_fill_their_cells_at_every_weight(open_page):
    page = open_page()
    for weight in (1.0, 0.0):
        page.locator("#relevance").fill(str(weight))
        bars = page.locator(".topic:not([hidden]) .word-bars tbody tr:not([hidden]) .all")
        widths = [float(bars.nth(k).get_attribute("width")) for k in range(bars.count())]
        assert max(widths) == 100
    below = "el => el.getBoundingClientRect().top - el.previousElementSibling.getBoundingClientRect().bottom"
    assert page.locator(".topic:not([hidden]) .word-bars + h3").evaluate(below) >= 16


def test_typical_documents_are_in_the_order_of_their_shares():
    for topic in findings().topics:
        shares = [entry["share"] for entry in topic.documents]
        assert shares == sorted(shares, reverse=True)


def test_keys_are_enough(open_page):
    page = open_page()
    page.locator('#topic-map a[data-topic="0"]').focus()
    page.keyboard.press("ArrowRight")
    following = shown_topic(page)
    assert following != ["topic-1"]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert shown_topic(page) == ["topic-1"]
    page.locator("#relevance").focus()
    before = page.locator(".relevance output").inner_text()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".relevance output").inner_text() != before
    page.locator(".topic:not([hidden]) .word-bars button").first.focus()
    assert page.locator("#topic-map .echo").count() >= 1


def test_a_word_shows_where_it_belongs(open_page):
    page = open_page()
    page.locator("#relevance").fill("1")
    common = page.locator(".topic:not([hidden]) .word-bars tr:not([hidden])[data-word^=every]").first
    common.hover()
    assert page.locator("#topic-map .echo").count() >= 3
    page.mouse.move(2, 2)
    assert page.locator("#topic-map .echo").count() == 0
    common.locator("button").click()
    page.mouse.move(2, 2)
    assert page.locator("#topic-map .echo").count() >= 3
    page.locator('.choices[data-set="topic"] button').nth(1).click()
    assert page.locator("#topic-map .echo").count() == 0


def test_whole_without_a_script(open_page):
    page = open_page(java_script_enabled=False)
    assert page.locator(".panel.topic").count() == 4
    assert all(page.locator(".panel.topic").nth(k).is_visible() for k in range(4))
    assert page.locator("#topic-2 .word-bars tbody tr").filter(visible=True).count() == 30
    assert not page.locator("#relevance").is_visible()
    assert page.locator("#topic-2 .documents li").count() == 5
    page.locator('#topic-map a[data-topic="2"]').click()
    assert page.url.endswith("#topic-3")


@pytest.mark.parametrize("size", [(360, 740), (800, 900), (1400, 900)])
def test_no_page_is_wider_than_its_window(open_page, size):
    page = open_page(size=size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    for k in range(4):
        box = page.locator("#topic-map circle.bubble").nth(k).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size[0]


def test_dark_colours_can_be_read(open_page):
    page = open_page(color_scheme="dark")

    def light(colour):
        return sum(int(part) for part in colour.strip("rgb()").split(",")[:3]) / 3

    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert light(ink) - light(paper) > 150
    number = page.evaluate("getComputedStyle(document.querySelector('.topic-number')).fill")
    assert light(number) > 150


def test_print_shows_all_topics(open_page):
    page = open_page()
    page.emulate_media(media="print")
    assert all(page.locator(".panel.topic").nth(k).is_visible() for k in range(4))
    assert not page.locator("#relevance").is_visible()


def test_time_choice_and_texts_are_there(open_page):
    page = open_page()
    assert page.locator("#time svg.chart").count() == 4
    assert "2022-01" in page.locator("#time").inner_text()
    assert "chosen" in page.locator("#selection").inner_text()
    assert HOSTILE in page.locator("h1").inner_text()
    assert HOSTILE[:20] in page.locator("#topic-1 .documents").inner_text()
    assert page.evaluate("document.scripts.length") == 1
