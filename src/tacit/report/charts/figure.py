"""What charts share: the SVG around them, their axes, captions, and the same numbers as a table."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..markup import Markup, cut, plural, tag, unfolding
from .scale import Scale

__all__ = ["chart", "figure", "horizontal", "line_path", "missing_strip", "stretched", "strip", "text", "vertical"]


def chart(name: str, title: str, description: str, width: float, height: float, *body: Any) -> Markup:
    """An SVG that a screen reader announces by its title and description."""
    return tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", description, id=f"{name}-desc"),
        *body,
        class_="chart", viewBox=f"0 0 {width} {height}", role="img",
        aria_labelledby=f"{name}-title", aria_describedby=f"{name}-desc",
    )  # fmt: skip


def figure(svg: Any, caption: str = "", data: Markup | None = None, **attributes: Any) -> Markup:
    """A chart with a caption, and its numbers to unfold."""
    numbers = unfolding("Numbers of this chart", data) if data else None
    return tag("figure", svg, tag("figcaption", caption) if caption else None, numbers, **attributes)


def text(x: float, y: float, content: str, anchor: str = "middle", **attributes: Any) -> Markup:
    """Text in a chart."""
    return tag("text", content, x=float(x), y=float(y), text_anchor=anchor, **attributes)


def horizontal(scale: Scale, y: float, label: str = "", n: int = 6, labels: list | None = None) -> Markup:
    """An axis below a chart."""
    marks = [
        (tag("line", x1=scale(tick), x2=scale(tick), y1=y, y2=y + 4, class_="axis"), text(scale(tick), y + 19, words))
        for tick, words in labels or scale.labels(n)
    ]
    line = tag("line", x1=scale.start, x2=scale.end, y1=y, y2=y, class_="axis")
    middle = 0.5 * (scale.start + scale.end)
    return tag("g", line, marks, text(middle, y + 42, label, class_="label") if label else None, class_="ticks")


def vertical(scale: Scale, x: float, to: float, label: str = "", labels: list | None = None) -> Markup:
    """An axis left of a chart, with lines across to `to`; its label stands above it."""
    marks = [
        (tag("line", x1=x, x2=to, y1=y, y2=y, class_="grid"), text(x - 8, y + 4, words, "end"))
        for y, words in ((scale(tick), words) for tick, words in labels or scale.labels())
    ]
    top = min(scale.start, scale.end)
    return tag("g", marks, text(0, top - 18, label, "start", class_="label") if label else None, class_="ticks")


def line_path(points: Iterable[tuple[float, float]]) -> Markup:
    """The path through points."""
    return Markup("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points))


def stretched(body: Any, box: str, class_: str, **attributes: Any) -> Markup:
    """An SVG that takes whatever width there is."""
    return tag("svg", body, class_=class_, viewBox=box, preserveAspectRatio="none", **attributes)


def strip(share: float) -> Markup:
    """A bar of that share of its width: decoration beside a number."""
    bar = tag("rect", width=100.0 * min(max(float(share), 0.0), 1.0), height=10.0)
    return stretched(bar, "0 0 100 10", class_="bar", focusable="false", aria_hidden="true")


def missing_strip(missing: np.ndarray, name: str) -> Markup:
    """Rows from left to right, with a mark for every run of them in which the cell is missing."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], missing.astype(np.int8), [0]])))
    path = "".join(f"M{start} 5H{end}" for start, end in zip(edges[::2], edges[1::2]))
    words = f"{cut(name, 60)}: {plural(missing.sum(), 'row')} with it missing"
    marks = tag("path", d=Markup(path)) if path else None
    return stretched(marks, f"0 0 {max(len(missing), 1)} 10", class_="missing-strip", role="img", aria_label=words)
