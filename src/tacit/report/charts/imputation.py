"""Filled cells against observed ones: a histogram with dots and intervals, or bars of levels."""

from typing import Any

import numpy as np

from ...survey.column import ColumnInfo
from ..markup import Markup, cut, number, percent, plural, table, tag
from .distribution import bins_of
from .figure import chart, figure, horizontal, text
from .scale import Scale, spanning

__all__ = ["filled_levels", "filled_numbers"]

WIDTH, LEFT, RIGHT = 320, 10, 310
MOST_DOTS = 30
MOST_LEVELS = 8


def filled_numbers(
    name: str, column: ColumnInfo, seen: np.ndarray, values: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Markup:
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
    body = [_histogram(seen, across, top, base), horizontal(across, base, n=4), tag("g", dots, class_="dots")]
    rows = [["Observed", *_spread(seen)], ["Filled", *_spread(values)]]
    return _figure(name, column, words, body, round(base + 26), ["Cells", "Least", "Middle", "Most"], rows, ".")


def _figure(
    name: str, column: ColumnInfo, words: str, body: list, height: int, header: list[str], rows: list, more: str
) -> Markup:
    """The chart of a column under its name, with its numbers to unfold; `more` ends the words below it."""
    svg = chart(name, f"{cut(column.name, 60)}: observed and filled cells", words, WIDTH, height, *body)
    numeric, caption = range(1, len(header)), f"{cut(column.name, 60)} in numbers"
    data = table(header, rows, numeric=numeric, caption=caption)
    return figure(tag("div", tag("h3", cut(column.name, 28)), svg), words + more, data)


def _spread(values: np.ndarray) -> list[str]:
    return [number(value) for value in np.quantile(values, [0, 0.5, 1])] if len(values) else ["–"] * 3


def _dot(across: Scale, y: float, value: float, low: float, high: float) -> list:
    line = None
    if np.isfinite(low) and np.isfinite(high):
        line = tag("line", x1=across(low), x2=across(high), y1=y, y2=y)
    return [line, tag("circle", cx=across(value), cy=y, r=2.8)]


def _histogram(seen: np.ndarray, across: Scale, top: float, base: float) -> Markup | None:
    if not len(seen):
        return None
    edges = bins_of(seen, bool(np.all(seen == np.round(seen))), log=False).edges
    counts = np.histogram(seen, edges)[0]
    most = max(counts.max(), 1)
    bars = [
        tag("rect", x=across(a) + 0.5, width=max(across(b) - across(a) - 1.0, 0.5), y=base - h, height=h)
        for a, b, h in zip(edges[:-1], edges[1:], counts / most * (base - top - 6.0))
        if h > 0
    ]
    return tag("g", bars, class_="seen")


def filled_levels(name: str, column: ColumnInfo, seen: np.ndarray, codes: np.ndarray, sure: np.ndarray) -> Markup:
    """Bars of the observed levels, and how often each was filled in."""
    n_levels = len(column.levels)
    observed = np.bincount(seen, minlength=n_levels)[:n_levels]
    into = np.bincount(codes.astype(int), minlength=n_levels)[:n_levels]
    order = np.argsort(-(observed + into), kind="stable")
    shown = order[:MOST_LEVELS]
    across = Scale(0, max(int((observed + into).max()), 1), LEFT, RIGHT - 74)
    lines: list[Any] = []
    for k, code in enumerate(shown):
        y, end = 16.0 + 36.0 * k, across(observed[code] + into[code])
        counts = f"{observed[code]:,}" + (f" + {into[code]:,}" if into[code] else "")
        lines += [
            text(LEFT, y, cut(column.levels[code], 36), "start"),
            tag("rect", x=LEFT, y=y + 5, width=across(observed[code]) - LEFT, height=12.0, class_="seen"),
            tag("rect", x=across(observed[code]), y=y + 5, width=across(into[code]) - LEFT, height=12.0, class_="new"),
            text(end + 6, y + 15, counts, "start"),
        ]
    middle = float(np.median(sure)) if len(sure) else float("nan")
    words = f"{plural(len(codes), 'cell')} filled in, {percent(middle)} sure as a rule."
    body, height = [tag("g", lines, class_="levels")], 36 * len(shown) + 8
    rows = [[cut(column.levels[j]), f"{observed[j]:,}", f"{into[j]:,}"] for j in order[:50]]
    more = f" The {MOST_LEVELS} most frequent of {n_levels} levels." if n_levels > MOST_LEVELS else ""
    return _figure(name, column, words, body, height, ["Level", "Observed", "Filled"], rows, more)
