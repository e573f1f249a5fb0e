"""What charts share: the SVG around them, their axes, captions, and the same numbers as a table."""

from ..markup import Markup, tag

__all__ = ["chart", "figure", "horizontal", "line_path", "strip", "text", "vertical"]


def chart(name, title, description, width, height, *body, class_="chart", **attributes):
    """An SVG that a screen reader announces by its title and description."""
    return tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", description, id=f"{name}-desc"),
        *body,
        class_=class_, viewBox=f"0 0 {width} {height}", role="img",
        aria_labelledby=f"{name}-title", aria_describedby=f"{name}-desc", **attributes,
    )  # fmt: skip


def figure(svg, caption=None, data=None, class_=None, **attributes):
    """A chart with a caption, and its numbers to unfold."""
    numbers = tag("details", tag("summary", "Numbers of this chart"), data, class_="numbers") if data else None
    return tag("figure", svg, tag("figcaption", caption) if caption else None, numbers, class_=class_, **attributes)


def text(x, y, content, anchor="middle", **attributes):
    """Text in a chart."""
    return tag("text", content, x=float(x), y=float(y), text_anchor=anchor, **attributes)


def horizontal(scale, y, label=None, n=6, labels=None):
    """An axis below a chart."""
    marks = [
        (tag("line", x1=scale(tick), x2=scale(tick), y1=y, y2=y + 4, class_="axis"), text(scale(tick), y + 19, words))
        for tick, words in labels or scale.labels(n)
    ]
    line = tag("line", x1=scale.start, x2=scale.end, y1=y, y2=y, class_="axis")
    middle = 0.5 * (scale.start + scale.end)
    return tag("g", line, marks, text(middle, y + 42, label, class_="label") if label else None, class_="ticks")


def vertical(scale, x, to, label=None, n=5, labels=None):
    """An axis left of a chart, with lines across to `to`; its label stands above it."""
    marks = [
        (
            tag("line", x1=x, x2=to, y1=scale(tick), y2=scale(tick), class_="grid"),
            text(x - 8, scale(tick) + 4, words, "end"),
        )
        for tick, words in labels or scale.labels(n)
    ]
    top = min(scale.start, scale.end)
    return tag("g", marks, text(0, top - 18, label, "start", class_="label") if label else None, class_="ticks")


def line_path(points):
    """The path through points."""
    return Markup("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points))


def strip(share, class_="bar", label=None):
    """A bar of that share of its width; decoration beside a number, unless it has a label."""
    width = 100.0 * min(max(float(share), 0.0), 1.0)
    bar = tag("rect", width=width, height=10.0)
    own = {"aria_hidden": "true"} if label is None else {"role": "img", "aria_label": label}
    return tag("svg", bar, class_=class_, viewBox="0 0 100 10", preserveAspectRatio="none", focusable="false", **own)
