"""Charts of predictions: what was predicted against what was found, and how predictions go with a column."""

from collections.abc import Sequence

import numpy as np

from ..markup import Markup, amount, cut, number, percent, table, tag
from .figure import chart, figure, horizontal, line_path, text, vertical
from .scale import Scale, spanning

__all__ = ["calibration_line", "effect_chart", "found_against_predicted"]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BASE = 360, 236, 56, 352, 34, 186
MOST_DOTS, MOST_LEVELS = 800, 12


def found_against_predicted(known: np.ndarray, predicted: np.ndarray, target: str) -> Markup:
    """A dot for each held-out row, and the line on which both are the same."""
    keep = np.unique(np.linspace(0, len(known) - 1, min(len(known), MOST_DOTS)).astype(int))
    order = np.argsort(predicted, kind="stable")[keep]
    both = np.concatenate([known, predicted])
    across, upward = spanning(both, LEFT, 620.0, 0.03), spanning(both, 386.0, TOP, 0.03)
    dots = [
        tag("circle", cx=float(across(p)), cy=float(upward(k)), r=2.6) for p, k in zip(predicted[order], known[order])
    ]
    ends = across.low, across.high
    line = tag("line", x1=across(ends[0]), y1=upward(ends[0]), x2=across(ends[1]), y2=upward(ends[1]), class_="ideal")
    r = float(np.corrcoef(known, predicted)[0, 1]) if known.std() > 0 and predicted.std() > 0 else float("nan")
    words = f"Correlation of what was predicted with what was found: {number(r, 2)}."
    if len(order) < len(known):
        words += f" {amount(len(order))} of {amount(len(known))} rows are drawn."
    svg = chart(
        "predicted", f"{cut(target, 60)}: found against predicted", words, 640, 440,
        vertical(upward, LEFT, 620.0, f"{cut(target, 40)}, found"), horizontal(across, 386.0, "predicted from the other rows"),
        line, tag("g", dots, class_="dots"),
    )  # fmt: skip
    parts = [part for part in np.array_split(np.argsort(predicted, kind="stable"), min(10, len(known))) if len(part)]
    rows = [
        [number(float(predicted[part].mean()), 4), number(float(known[part].mean()), 4), amount(len(part))]
        for part in parts
    ]
    data = table(["Mean predicted", "Mean found", "Rows"], rows, numeric=(0, 1, 2), caption="Found against predicted")
    return figure(svg, words, data)


def calibration_line(points: Sequence[dict]) -> Markup:
    """How often the predicted class is right, against how probable it was said to be."""
    low = max(0.0, min(min(p["predicted"], p["found"]) for p in points) - 0.05)
    across, upward = Scale(low, 1.0, LEFT, RIGHT), Scale(low, 1.0, BASE, TOP)
    places = [(float(across(p["predicted"])), float(upward(p["found"]))) for p in points]
    ticks = [(tick, percent(tick, 0)) for tick in across.ticks(4)]
    far = max(abs(p["predicted"] - p["found"]) for p in points)
    words = f"In {len(points)} parts of equal size, shares right differ from mean probabilities by {number(far, 2)} at most."
    svg = chart(
        "calibration", "How sure, and how often right", words, WIDTH, HEIGHT,
        vertical(upward, LEFT, RIGHT, "share right", labels=ticks), horizontal(across, BASE, "probability told", labels=ticks),
        tag("line", x1=LEFT, x2=RIGHT, y1=BASE, y2=TOP, class_="ideal"), tag("path", d=line_path(places), class_="followed"),
        tag("g", [tag("circle", cx=x, cy=y, r=4.0) for x, y in places], class_="dots"),
    )  # fmt: skip
    rows = [[percent(p["predicted"]), percent(p["found"]), amount(p["n"])] for p in points]
    data = table(
        ["Probability told", "Right", "Rows"], rows, numeric=(0, 1, 2), caption="How sure, and how often right"
    )
    return figure(svg, words, data)


def effect_chart(k: int, column: str, values: Sequence[float], labels: Sequence[str], is_levels: bool, means: np.ndarray,
                 names: Sequence[str], upward: Scale) -> Markup:  # fmt: skip
    """Mean predictions along a column: a line for numbers, dots for levels; one for each of `names`."""
    x = np.arange(len(values), dtype=float) if is_levels else np.asarray(values)
    across = Scale(-0.5, len(x) - 0.5, LEFT, RIGHT) if is_levels else spanning(x, LEFT, RIGHT, 0.02)
    lines = []
    for s, series in enumerate(means.T):
        places = [(float(across(a)), float(upward(b))) for a, b in zip(x, series)]
        path = None if is_levels else tag("path", d=line_path(places))
        lines.append(tag("g", path, [tag("circle", cx=a, cy=b, r=3.4) for a, b in places], class_=f"curve s{s}"))
    every = max(1, -(-len(labels) // 4))
    ticks = [(float(a), cut(label, 12)) for a, label in zip(x, labels)][::every] if is_levels else None
    words = f"{cut(column, 60)}: from {number(float(means.min()), 3)} to {number(float(means.max()), 3)}."
    svg = chart(
        f"effect-{k}", f"Predictions along {cut(column, 60)}", words, WIDTH, HEIGHT, vertical(upward, LEFT, RIGHT),
        horizontal(across, BASE, n=4, labels=ticks), tag("g", lines),
    )  # fmt: skip
    rows = [[cut(label, 40), *(number(float(value), 4) for value in row)] for label, row in zip(labels, means)]
    data = table(
        [cut(column, 40), *names],
        rows,
        numeric=range(1, 1 + len(names)),
        caption=f"Predictions along {cut(column, 60)}",
    )
    return figure(tag("div", tag("h3", cut(column, 40)), svg), words, data)


def legend(names: Sequence[str]) -> Markup | None:
    """Which line is which class."""
    if len(names) < 2:
        return None
    shape = {"viewBox": "0 0 12 12", "style": "width:.8em;display:inline-block"}
    marks = [
        tag("span", tag("svg", text(0, 10, "●", "start", class_=f"s{s}"), class_="chart", **shape), f" {cut(name, 40)}")
        for s, name in enumerate(names)
    ]
    return tag("p", marks, class_="legend")
