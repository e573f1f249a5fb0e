"""Stacked bars: probabilities of groups, a thin bar a row, ordered by group and certainty."""

from itertools import pairwise
from typing import Any

import numpy as np

from ..markup import Markup, amount, percent, plural, table, tag
from .colours import colour
from .figure import chart, line_path, text, vertical
from .scale import Scale

__all__ = ["mean_memberships", "stacked"]

WIDTH, HEIGHT = 680, 210
LEFT, RIGHT, TOP, BOTTOM = 78, 672, 16, 176
MOST_BARS = 620


def stacked(shares: np.ndarray, group: Any) -> Markup:
    """The chart as SVG."""
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    # Certain rows in the middle of a group's stretch would hide where it ends: the most certain come first.
    order = np.lexsort((-shares.max(axis=1), np.asarray(group)))
    bars, places = _binned(shares[order], np.asarray(group)[order])
    across, upward = Scale(0, len(bars), LEFT, RIGHT), Scale(0.0, 1.0, BOTTOM, TOP)
    tops = np.cumsum(bars, axis=1)
    layers = [
        tag("path", d=_steps(tops[:, k] - bars[:, k], tops[:, k], across, upward), class_=colour(k + 1))
        for k in range(bars.shape[1])
    ]
    names = _names(places, across)
    axis = vertical(upward, LEFT, RIGHT, labels=[(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")])
    sure = percent((shares.max(axis=1) >= 0.9).mean())
    words = f"{plural(len(shares), 'row')} ordered by group; {sure} are at least 90 % sure."
    return chart(
        "membership-chart", "Probability of each group, row by row", words, WIDTH, HEIGHT, axis,
        tag("g", layers, class_="stack"), names,
    )  # fmt: skip


def mean_memberships(shares: np.ndarray, group: Any) -> Markup:
    """What rows of every group have of each group on average, as a table."""
    numbers = sorted(set(np.asarray(group).tolist()))
    rows = []
    for each in numbers:
        own = shares[np.asarray(group) == each]
        rows.append([f"Group {each}", amount(len(own)), *(percent(share) for share in own.mean(axis=0))])
    header = ["Rows of", "Rows", *(f"Group {k + 1}" for k in range(shares.shape[1]))]
    return table(header, rows, numeric=range(1, len(header)), caption="Mean probability of each group")


def _binned(shares: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most as many bars as can be seen, means of neighbours, and the group of each."""
    if len(shares) <= MOST_BARS:
        return shares, group
    edges = np.linspace(0, len(shares), MOST_BARS + 1).astype(int)
    bars = np.array([shares[a:b].mean(axis=0) for a, b in pairwise(edges)])
    return bars, group[edges[:-1]]


def _steps(low: np.ndarray, high: np.ndarray, across: Scale, upward: Scale) -> Markup:
    """The outline of a layer of bars: along the top and back along the bottom, equal neighbours joined."""
    top = _stairs(high, across, upward)
    bottom = _stairs(low, across, upward)[::-1]
    return Markup(line_path([*top, *bottom]) + "Z")


def _stairs(values: np.ndarray, across: Scale, upward: Scale) -> list[tuple[float, float]]:
    points: list = []
    start = 0
    for i in range(1, len(values) + 1):
        if i == len(values) or abs(values[i] - values[start]) > 0.003:
            points += [(across(start), upward(values[start])), (across(i), upward(values[start]))]
            start = i
    return points


def _names(group: np.ndarray, across: Scale) -> list:
    """Numbers of the groups below their stretch, where there is room."""
    marks = []
    for number in sorted(set(group.tolist())):
        at = np.flatnonzero(group == number)
        left, right = across(at[0]), across(at[-1] + 1)
        words = f"Group {number}" if right - left > 62 else str(number) if right - left > 14 else ""
        marks.append(text(0.5 * (left + right), BOTTOM + 20, words) if words else None)
        marks.append(tag("line", x1=right, x2=right, y1=BOTTOM, y2=BOTTOM + 7, class_="axis"))
    return marks
