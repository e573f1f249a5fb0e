"""Faults of the built site and of the repository's Markdown: broken links and anchors, requests to other places, pictures
without words, public names without a page. Needs no network.

Run: python docs/check.py [SITE]
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "_build" / "html"
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
GENERATED = ("docs/api/", "docs/gallery/", "docs/command.md", "docs/_build/")
LOADED = {**dict.fromkeys(("script", "img", "iframe", "source", "video", "embed"), "src"), "object": "data"}
CODE = re.compile(r"^(```+).*?^\1\s*$|`[^`\n]*`", flags=re.DOTALL | re.MULTILINE)


class Page(HTMLParser):
    """What a page refers to and what it offers: ids, links, things it loads, pictures."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads, self.wordless, self.titles, self.headings = set(), [], [], [], 0, 0
        self.language, self.in_link = None, False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.update(given[name] for name in ("id", "name") if given.get(name))
        self.titles += tag == "title"
        self.headings += tag == "h1"
        if tag == "html":
            self.language = given.get("lang")
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "link" and given.get("href"):
            self.loads.append(given["href"])
        if LOADED.get(tag) in given:
            self.loads.append(given[LOADED[tag]])
        self.in_link = tag == "a" or self.in_link
        # Inside a link the words are the link's own, and alt="" says that the picture adds none. Sphinx gives the file's
        # name to pictures that were given no words.
        words, source = given.get("alt"), given.get("src") or ""
        if tag == "img" and (words == source or (not words and not (self.in_link and words is not None))):
            self.wordless.append(source)

    def handle_endtag(self, tag):
        self.in_link = self.in_link and tag != "a"


def site_faults(site):
    """Faults of all pages of a built site, as sentences."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        return [f"{site} holds no page; build the site with python docs/build.py"]
    faults = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        faults += [f"{name}: {fault}" for fault in _page_faults(path, page, pages)]
    for path in sorted(site.rglob("*.css")):
        called = re.findall(r"url\(\s*['\"]?((?:https?:)?//[^'\")]+)|@import", path.read_text(encoding="utf-8"))
        faults += [f"{path.name}: loads {address or 'another sheet'}" for address in called]
    return faults


def _page_faults(path, page, pages):
    for link in page.links:
        fault = _link_fault(path, link, pages)
        if fault:
            yield fault
    for load in page.loads:
        if urlsplit(load).netloc:
            yield f"loads {load} from outside"
        elif not load.startswith("data:") and not _target(path, load).exists():
            yield f"loads {load}, which is not there"
    yield from (f"the picture {source} has no words (alt)" for source in page.wordless)
    search = path.name == "search.html"  # its heading is written by its script
    if page.titles < 1 or page.headings != (0 if search else 1) or not page.language:
        yield f"has {page.titles} titles, {page.headings} first headings and the language {page.language}"


def _target(path, link):
    return (path.parent / unquote(urlsplit(link).path)).resolve()


def _link_fault(path, link, pages):
    """What is wrong with a link, or None."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        sound = parts.scheme == "mailto" or (parts.scheme in ("http", "https") and "." in parts.netloc)
        return None if sound and " " not in link else f"links to {link}, which is no address"
    target = path if not parts.path else _target(path, link)
    if not target.exists():
        return f"links to {link}, which is not there"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
        return f"links to {link}, which has no such anchor"
    return None


def _slugs(path):
    """Anchors of a Markdown file's headings, as web views of repositories make them."""
    text = re.sub(r"^(```+).*?^\1\s*$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+\s+(.*?)\s*$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def markdown_faults(root=ROOT):
    """Broken links between the Markdown files, as the repository's web view follows them."""
    paths = [root / name for name in DOCUMENTS] + sorted((root / "docs").rglob("*.md"))
    faults = []
    for path in paths:
        name = path.relative_to(root).as_posix()
        if name.startswith(GENERATED):
            continue
        for link in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", path.read_text(encoding="utf-8"))):
            fault = _markdown_fault(path, link, root)
            faults += [f"{name}: {fault}"] if fault else []
    return faults


def _markdown_fault(path, link, root):
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return _link_fault(path, link, {})
    target = _target(path, link) if parts.path else path
    if target.is_relative_to(root.resolve()) and target.relative_to(root.resolve()).as_posix().startswith(GENERATED):
        return None  # a page that the build writes: the site's own links are checked there
    if not target.exists():
        return f"links to {link}, which is not there"
    if parts.fragment and target.suffix == ".md" and parts.fragment not in _slugs(target):
        return f"links to {link}, which has no such heading"
    return None


def reference_faults(site):
    """Public names that have no page of the reference."""
    from sphinx.util.inventory import InventoryFile

    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    from reference import packages, public_names

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    known = {name for role, items in inventory.data.items() if role.startswith("py:") for name in items}
    wanted = [f"{package}.{name}" for package in packages() for name in public_names(package)]
    return [f"{name} has no page" for name in (*packages(), *wanted) if name not in known]


def main(site=SITE):
    """Print all faults; the number of them is the exit code's reason."""
    faults = [*site_faults(site), *markdown_faults(), *reference_faults(site)]
    print("\n".join(faults) if faults else f"{site}: no faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
