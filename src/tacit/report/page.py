"""`render`: findings as one HTML page that needs nothing but a browser.

The page is whole without its script: charts are SVG, results are tables. The script adds hovering, choosing, sorting and
filtering; it is the only one that may run, because the page's policy names it by its hash: no cell of any table ever does.
"""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from .. import __version__
from ..assess.groups import GroupTests
from ..study.comparison import Comparison
from ..study.findings import Findings
from .charts.colours import style
from .markup import Markup, cut, join, tag
from .sections import COMPARED, ORDER, TESTED, compared, summary, tested
from .sections.common import Section

__all__ = ["MADE", "page_of", "render", "render_comparison", "render_tests"]

MADE = f"Made with tacit {__version__}."
FOOT = f"{MADE} This page holds the rows it shows: share it as you would share the table."


def render(findings: Findings) -> str:
    """The whole page as HTML; the same findings give the same text."""
    sections = [section for section in (make(findings) for make in ORDER) if section is not None]
    return page_of(findings.title, summary(findings), sections)


def render_comparison(found: Comparison, title: str) -> str:
    """The page of a comparison."""
    sections = [section for section in (make(found) for make in COMPARED) if section is not None]
    return page_of(title, compared(found, title), sections)


def render_tests(found: GroupTests, title: str) -> str:
    """The page of tests of groups."""
    sections = [section for section in (make(found) for make in TESTED) if section is not None]
    return page_of(title, tested(found, title), sections)


def page_of(title: str, header: Markup, sections: list[Section], more: str = "", foot: str = FOOT) -> str:
    """A page with a header and sections; `more` names what scripts and styles it has beside those of all."""
    script = _asset("page.js") + (_asset(f"{more}.js") if more else "")
    page = [
        _head(cut(title, 120), script, _asset(f"{more}.css") if more else ""),
        tag(
            "body",
            tag("a", "Skip to the findings", href="#main", class_="skip"),
            _bar(sections),
            tag("main", header, [_section(section) for section in sections], id="main", tabindex="-1"),
            tag("footer", tag("p", foot)),
            tag("script", Markup(script)),
        ),
    ]
    return f'<!DOCTYPE html>\n<html lang="en" class="no-script">\n{join(page, Markup(chr(10)))}\n</html>\n'


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _head(title: str, script: str, own_style: str = "") -> Markup:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{title} · tacit"),
        # An icon of its own keeps browsers from asking for one.
        tag("link", rel="icon", href="data:,"),
        tag("style", Markup(style() + _asset("page.css") + own_style)),
    )


def _bar(sections: list[Section]) -> Markup:
    links = [tag("li", tag("a", section.short, href=f"#{section.name}")) for section in sections]
    theme = tag("button", "Dark", type="button", id="theme", class_="control", aria_pressed="false")
    return tag("div", tag("nav", tag("ul", links), aria_label="Sections"), theme, class_="top")


def _section(section: Section) -> Markup:
    heading = f"{section.name}-heading"
    return tag(
        "section",
        tag("h2", section.title, id=heading),
        tag("p", section.lead, class_="lead") if section.lead else None,
        section.body,
        id=section.name,
        aria_labelledby=heading,
    )
