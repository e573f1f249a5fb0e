"""Links out of ``docs/``, right on the repository's web view, lead to the page of the site that holds the same text."""

import re

PAGES = {
    "../CONTRIBUTING.md": "/adding.md",
    "../README.md": "/start.md",
    "../CHANGELOG.md": "/changelog.md",
    "../examples": "/gallery/index.md",
}


def _lead_inside(app, docname, source):
    for outside, inside in PAGES.items():
        source[0] = re.sub(rf"\]\((?:\.\./)*{re.escape(outside)}/?(?:#[\w-]+)?\)", f"]({inside})", source[0])


def setup(app):
    app.connect("source-read", _lead_inside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
