"""The built site in a real browser: pages open, search answers, and nothing is asked of any other place."""

from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
BUILT = (SITE / "index.html").is_file()
pytestmark = [
    pytest.mark.skipif(not BUILT, reason="the site has not been built; python docs/build.py builds it"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture
def visit(browser):
    """Open a page of the site; what it asks of other places and what goes wrong is noted."""
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.faults = []
    page.on("request", lambda request: page.faults.append(request.url) if request.url.startswith("http") else None)
    page.on("pageerror", lambda error: page.faults.append(str(error)))

    def opened(name, query=""):
        page.goto((SITE / name).as_uri() + query)
        return page

    yield opened
    page.close()


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("index.html", "tacit"),
        ("start.html", "Five minutes"),
        ("gallery/index.html", "Gallery"),
        ("mathematics/gaussian-mixture.html", "Gaussian mixture"),
        ("api/tacit.mixture.GaussianMixture.html", "GaussianMixture"),
    ],
)
def test_pages_open_without_the_network(visit, name, title):
    page = visit(name)
    assert title in page.title()
    assert page.locator("h1").first.inner_text().startswith(title)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # nothing hangs over on a phone
    assert page.evaluate("[...document.images].every(i => i.loading == 'lazy' || i.complete && i.naturalWidth > 0)")
    assert page.faults == []


def test_equations_are_drawn(visit):
    page = visit("mathematics/gaussian-mixture.html")
    assert page.locator("math").count() > 20
    assert page.evaluate("document.querySelector('.equation math').getBoundingClientRect().height") > 20


def test_search_answers_without_the_network(visit):
    page = visit("search.html", "?q=imputation")
    page.wait_for_selector("#search-results li a", timeout=20_000)
    assert page.locator("#search-results li").count() > 3
    # Excerpts are read from the pages found, which a browser refuses to a page that was opened from a file.
    assert set(page.faults) <= {"Failed to fetch"}
