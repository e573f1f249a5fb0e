"""HTML and SVG written so that no text of a table can become markup.

Everything goes through `tag` or `join`: attributes and children are escaped unless they are `Markup` already. Elsewhere `Markup`
is made only of numbers.
"""

import html
import re
from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np

from .. import words

__all__ = [
    "LONGEST_SENTENCE", "Markup", "amount", "breakable", "cut", "framed", "join", "note", "number", "option", "percent",
    "plural", "sentence", "signed", "table", "tag", "true_minus", "unfolding",
]  # fmt: skip

VOID = frozenset(["br", "circle", "ellipse", "input", "line", "link", "meta", "path", "rect", "use"])
# Controls of text direction can make a cell read as something else; the other controls are not allowed in HTML.
UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
OPTION = re.compile(r"(--[a-z][a-z-]*(?:=[^\s,;)]+| '[^']*'| [^\s,;)]*=[^\s,;).]+)?)")
LONGEST = 80
LONGEST_OPTION = 30
LONGEST_SENTENCE = 600


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def clean(text: Any) -> str:
    """Text without characters that do not belong on a page."""
    return UNFIT.sub("\ufffd", str(text))


def cut(text: Any, most: int = LONGEST) -> str:
    """Text of at most so many characters."""
    text = clean(text)
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _escaped(child: Any) -> str:
    return child if isinstance(child, Markup) else html.escape(clean(child), quote=True)


def join(children: Iterable, between: str = "") -> Markup:
    """Children one after the other, None left out."""
    flat = [child for child in children if child is not None and child is not False]
    return Markup(
        _escaped(between).join(join(child) if isinstance(child, (list, tuple)) else _escaped(child) for child in flat)
    )


def breakable(name: str) -> Markup:
    """A name that may be broken after its underscores, points and slashes."""
    return join(re.split(r"(?<=[_./])(?=\w)", name), Markup("<wbr>"))


def option(typed: str) -> Markup:
    """What is typed on a command line, in one piece."""
    return tag("code", typed, class_="whole")


def sentence(text: Any, most: int = LONGEST_SENTENCE) -> Markup:
    """Text of at most so many characters, in which options of the command line are not broken apart."""
    parts = OPTION.split(cut(text, most))
    return join([option(part) if k % 2 and len(part) <= LONGEST_OPTION else part for k, part in enumerate(parts)])


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element; ``class_`` and ``aria_label`` stand for class and aria-label, None leaves an attribute out."""
    opened = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID and not children:
        return Markup(f"<{opened}/>")
    return Markup(f"<{opened}>{join(children)}</{name}>")


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    key = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {key}"
    if isinstance(value, (float, np.floating)):
        value = f"{value:.2f}".rstrip("0").rstrip(".")
        value = "0" if value == "-0" else value
    return f' {key}="{_escaped(str(value))}"'


# Numbers in words


def true_minus(text: str) -> str:
    """A number as programs write it, with the minus of people."""
    return text.replace("-", "−")


def number(value: float | None, digits: int = 4, scale: float | None = None) -> str:
    """A number with a true minus sign; see `tacit.words.number`."""
    return true_minus(words.number(value, digits, scale))


def signed(value: float | None, decimals: int = 2) -> str:
    """A number with its sign; see `tacit.words.signed`."""
    return true_minus(words.signed(value, decimals))


def amount(count: float) -> str:
    """A whole number."""
    return f"{int(count):,}"


def percent(share: float | None, digits: int | None = None) -> str:
    """A share in one piece; see `tacit.words.share`."""
    return words.share(share, digits).replace(" ", "\u00a0")


def plural(count: int, noun: str, many: str | None = None) -> str:
    """A number of things: "1 row", "2 rows", "0 rows"."""
    return words.count(count, noun, many) if count else f"0 {many or noun + 's'}"


# Parts of a page


def note(words: str) -> Markup | None:
    """A remark in small letters; nothing for no words."""
    return tag("p", words, class_="note") if words else None


def unfolding(summary: str, *body: Any) -> Markup:
    """What is folded away until it is asked for."""
    return tag("details", tag("summary", summary), *body, class_="numbers")


def framed(
    heads: Any, body: Any, caption: str, class_: str | None = None, scroll: str = "scroll", **own: Any
) -> Markup:
    """A table of header cells and of rows that are made already, in a frame that scrolls where it is too narrow."""
    title = tag("caption", caption, class_="hidden-text")
    made = tag("table", title, tag("thead", tag("tr", heads)), tag("tbody", body), class_=class_, **own)
    return tag("div", made, class_=scroll, tabindex="0", role="region", aria_label=caption)


def table(
    header: Sequence, rows: Iterable[Iterable], *, caption: str, numeric: Container[int] = (), class_: str | None = None
) -> Markup:
    """A table with a header; columns whose position is in `numeric` stand right."""
    align = ["n" if j in numeric else None for j in range(len(header))]
    heads = [tag("th", name, scope="col", class_=side) for name, side in zip(header, align)]
    body = [tag("tr", [tag("td", cell, class_=side) for cell, side in zip(row, align)]) for row in rows]
    return framed(heads, body, caption, class_)
