"""The checks of the built site find what they look for, and nothing is wrong with the repository's own Markdown."""

import check
import pytest

PAGE = '<html lang="en"><head><title>T</title></head><body><h1 id="top">T</h1>{}</body></html>'


@pytest.fixture
def site(tmp_path):
    """Write a page with this in its body, and say what is wrong with it."""

    def faults(body, name="page.html"):
        (tmp_path / "other.html").write_text(PAGE.format('<p id="here">x</p>'), encoding="utf-8")
        (tmp_path / name).write_text(PAGE.format(body), encoding="utf-8")
        return check.site_faults(tmp_path)

    return faults


@pytest.mark.parametrize(
    "body",
    [
        '<a href="other.html#here">x</a>',
        '<a href="#top">x</a>',
        '<a href="https://example.org/a">x</a>',
        '<img src="other.html" alt="a plot">',
        '<a href="other.html"><img src="other.html" alt=""></a>',
    ],
)
def test_sound_pages_have_no_fault(site, body):
    assert site(body) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="gone.html">x</a>', "links to gone.html, which is not there"),
        ('<a href="other.html#gone">x</a>', "links to other.html#gone, which has no such anchor"),
        ('<a href="#gone">x</a>', "links to #gone, which has no such anchor"),
        ('<a href="http://nowhere">x</a>', "links to http://nowhere, which is no address"),
        ('<script src="https://cdn.example.org/a.js"></script>', "loads https://cdn.example.org/a.js from outside"),
        ('<link href="//fonts.example.org/a.css">', "loads //fonts.example.org/a.css from outside"),
        ('<img src="gone.png" alt="x">', "loads gone.png, which is not there"),
        ('<img src="other.html">', "the picture other.html has no words (alt)"),
        ('<a href="#top">x</a><img src="other.html" alt="">', "the picture other.html has no words (alt)"),
        ('<img src="other.html" alt="other.html">', "the picture other.html has no words (alt)"),
        ("<h1>again</h1>", "has 1 titles, 2 first headings and the language en"),
    ],
)
def test_faults_are_found(site, body, fault):
    assert site(body) == [f"page.html: {fault}"]


def test_style_sheets_that_load_from_outside_are_found(site, tmp_path):
    (tmp_path / "a.css").write_text("p { background: url('https://example.org/a.png'); }", encoding="utf-8")
    assert site("") == ["a.css: loads https://example.org/a.png"]


def test_a_folder_without_pages_is_a_fault(tmp_path):
    assert "holds no page" in check.site_faults(tmp_path)[0]


def test_links_of_the_repository_lead_somewhere():
    assert check.markdown_faults() == []


def test_broken_links_of_markdown_are_found(tmp_path):
    for name in check.DOCUMENTS:
        (tmp_path / name).write_text("# Title here\n", encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        "[x](gone.md) [y](../README.md#title-here) [z](../README.md#gone) [a](api/index.md) `[b](no.md)`",
        encoding="utf-8",
    )
    assert check.markdown_faults(tmp_path) == [
        "docs/a.md: links to gone.md, which is not there",
        "docs/a.md: links to ../README.md#gone, which has no such heading",
    ]
