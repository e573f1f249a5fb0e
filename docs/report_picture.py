"""Take the picture of a report that the README shows: ``python docs/report_picture.py REPORT.html PICTURE.png [dark]``."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1200, 1560


def take(report, picture, scheme="light"):
    """The top of the page: what was found, the groups, the map."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
        page.goto(Path(report).resolve().as_uri())
        page.screenshot(path=picture)
        chromium.close()


if __name__ == "__main__":
    take(*sys.argv[1:])
