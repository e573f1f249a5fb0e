"""One Chromium for all pages, opened from files as a mail attachment is."""

import shutil

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="package")
def browser():
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="the browser tests need playwright: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip("no Chromium here: install chromium or google-chrome")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def visit(browser):
    """Open a file; afterwards nothing may have gone wrong, and nothing may have been asked of the network."""
    troubles, contexts = [], []

    def opened(path, size=(1100, 800), **options):
        viewport = dict(zip(("width", "height"), size))
        contexts.append(browser.new_context(viewport=viewport, reduced_motion="reduce", **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: message.type in ("error", "warning") and troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append("a dialog opened"))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or troubles.append(request.url))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def open_page(visit, path):
    """Open the page of the file that a module's `path` is."""
    return lambda size=(1100, 800), **options: visit(path, size, **options)
