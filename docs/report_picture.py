"""Take the picture of a report that the README shows: ``python docs/report_picture.py REPORT.html PICTURE.png [dark]``."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH = 1200


def take(report, picture, scheme="light"):
    """The top of the page: what was found, the groups, the map."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme=scheme)
        page.goto(Path(report).resolve().as_uri())
        box = page.locator("#map, #axes, #filled").first.bounding_box()
        height = box["y"] + box["height"]
        page.screenshot(path=picture, full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
        chromium.close()


if __name__ == "__main__":
    take(*sys.argv[1:])
