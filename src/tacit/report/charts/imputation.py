"""Filled cells against observed ones: a histogram with dots and intervals, or bars of levels."""

import numpy as np

from ..markup import cut, number, percent, plural, table, tag
from .figure import chart, figure, horizontal, text
from .scale import Scale, spanning

__all__ = ["filled_levels", "filled_numbers"]

WIDTH, LEFT, RIGHT = 320, 10, 310
MOST_DOTS = 30
MOST_LEVELS = 8


def filled_numbers(name, column, seen, values, low, high):
    """A histogram of observed numbers below, filled ones with their intervals above."""
    chosen = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_DOTS)).astype(int))
    order = np.argsort(values, kind="stable")[chosen]
    reach = [seen, values, low[np.isfinite(low)], high[np.isfinite(high)]]
    across = spanning(np.concatenate(reach), LEFT, RIGHT, 0.03)
    gap = min(9.0, max(3.2, 96.0 / len(order)))
    top = 34.0 + gap * len(order)
    base = top + 78.0
    dots = [_dot(across, 30.0 + gap * (len(order) - 1 - k), values[i], low[i], high[i]) for k, i in enumerate(order)]
    words = f"{plural(len(seen), 'observed cell')}, {plural(len(values), 'filled one')}"
    if len(order) < len(values):
        words += f" ({len(order)} of them drawn)"
    svg = chart(
        name, f"{cut(column.name, 60)}: observed and filled cells", words, WIDTH, round(base + 26),
        _histogram(seen, across, top, base), horizontal(across, base, n=4), tag("g", dots, class_="dots"),
    )  # fmt: skip
    rows = [["Observed", *_spread(seen)], ["Filled", *_spread(values)]]
    data = table(
        ["Cells", "Least", "Middle", "Most"], rows, numeric=(1, 2, 3), caption=f"{cut(column.name, 60)} in numbers"
    )
    return figure(tag("div", tag("h3", cut(column.name, 28)), svg), words + ".", data)


def _spread(values):
    return [number(value) for value in np.quantile(values, [0, 0.5, 1])] if len(values) else ["–"] * 3


def _dot(across, y, value, low, high):
    line = None
    if np.isfinite(low) and np.isfinite(high):
        line = tag("line", x1=across(low), x2=across(high), y1=y, y2=y)
    return [line, tag("circle", cx=across(value), cy=y, r=2.8)]


def _histogram(seen, across, top, base):
    if not len(seen):
        return None
    n_bins = int(np.clip(np.sqrt(len(seen)) * 1.5, 6, 36))
    edges = np.linspace(seen.min(), seen.max(), n_bins + 1)
    if edges[-1] <= edges[0]:
        edges = np.array([across.low, across.high])
    counts = np.histogram(seen, edges)[0]
    most = max(counts.max(), 1)
    bars = [
        tag("rect", x=across(a) + 0.5, width=max(across(b) - across(a) - 1.0, 0.5), y=base - h, height=h)
        for a, b, h in zip(edges[:-1], edges[1:], counts / most * (base - top - 6.0))
        if h > 0
    ]
    return tag("g", bars, class_="seen")


def filled_levels(name, column, seen, codes, sure):
    """Bars of the observed levels, and how often each was filled in."""
    n_levels = len(column.levels)
    observed = np.bincount(seen, minlength=n_levels)[:n_levels]
    into = np.bincount(codes.astype(int), minlength=n_levels)[:n_levels]
    order = np.argsort(-(observed + into), kind="stable")
    shown = order[:MOST_LEVELS]
    most = max(int((observed + into).max()), 1)
    across = Scale(0, most, LEFT, RIGHT - 74)
    lines = []
    for k, code in enumerate(shown):
        y = 16.0 + 36.0 * k
        lines += [
            text(LEFT, y, cut(column.levels[code], 36), "start"),
            tag("rect", x=LEFT, y=y + 5, width=across(observed[code]) - LEFT, height=12.0, class_="seen"),
            tag("rect", x=across(observed[code]), y=y + 5, width=across(into[code]) - LEFT, height=12.0, class_="new"),
            text(
                across(observed[code] + into[code]) + 6,
                y + 15,
                f"{observed[code]:,}" + (f" + {into[code]:,}" if into[code] else ""),
                "start",
            ),
        ]
    middle = float(np.median(sure)) if len(sure) else float("nan")
    words = f"{plural(len(codes), 'cell')} filled in, {percent(middle)} sure as a rule."
    svg = chart(
        name, f"{cut(column.name, 60)}: observed and filled cells", words, WIDTH, 36 * len(shown) + 8,
        tag("g", lines, class_="levels"),
    )  # fmt: skip
    rows = [[cut(column.levels[j]), f"{observed[j]:,}", f"{into[j]:,}"] for j in order[:50]]
    data = table(["Level", "Observed", "Filled"], rows, numeric=(1, 2), caption=f"{cut(column.name, 60)} in numbers")
    if n_levels > MOST_LEVELS:
        words += f" The {MOST_LEVELS} most frequent of {n_levels} levels."
    return figure(tag("div", tag("h3", cut(column.name, 28)), svg), words, data)
