"""Regimes as a graph: circles as large as their shares, arrows as wide as the probability of the move."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..markup import Markup, percent, table, tag
from .colours import colour
from .figure import chart, figure, text

__all__ = ["transition_graph"]

WIDTH, HEIGHT, RADIUS = 620, 430, 130
LEAST, WIDEST = 0.02, 9.0


def transition_graph(found: Any) -> Markup:
    """Where regimes go when they are left, with how long they last."""
    regimes, moves = found.regimes, found.moves
    k = len(regimes)
    at = _places(k)
    size = np.array([18 + 30 * np.sqrt(regime.share) for regime in regimes])
    arrows = [
        _arrow(at[i], at[j], size[i], size[j], float(moves[i, j]), i + 1)
        for i in range(k) for j in range(k) if i != j and moves[i, j] >= LEAST and regimes[i].n_left
    ]  # fmt: skip
    nodes = [
        tag(
            "g", tag("circle", cx=float(at[n, 0]), cy=float(at[n, 1]), r=float(size[n]), class_="state"),
            text(at[n, 0], at[n, 1] + 5, str(regime.number), class_="state-number"),
            text(at[n, 0], at[n, 1] + size[n] + 18, _stay(regime), class_="label"),
            class_=colour(regime.number),
        )
        for n, regime in enumerate(regimes)
    ]  # fmt: skip
    words = "; ".join(
        f"regime {i + 1} goes to {int(moves[i].argmax()) + 1} in {percent(float(moves[i].max()))}"
        for i in range(k) if regimes[i].n_left
    )  # fmt: skip
    drawn = chart(
        "transition-graph", "How regimes follow each other",
        f"Of moves out of a regime, {words}." if words else "No regime was left.", WIDTH, HEIGHT, arrows, nodes,
    )  # fmt: skip
    rows = [
        [f"Regime {regime.number}", regime.lasts or "never left",
         *(percent(float(moves[i, j])) if i != j and regime.n_left else "–" for j in range(k))]
        for i, regime in enumerate(regimes)
    ]  # fmt: skip
    heads = ["From", "Lasts on average", *(f"To regime {regime.number}" for regime in regimes)]
    data = table(heads, rows, numeric=range(2, len(heads)), caption="Moves out of each regime")
    caption = "Arrows show where a regime goes when it is left; moves of less than 2 % are not drawn."
    return tag("div", figure(drawn, caption), data)


def _stay(regime: Any) -> str:
    return f"lasts {regime.lasts}" if regime.lasts else "was never left"


def _places(k: int) -> np.ndarray:
    angle = np.pi + 2.0 * np.pi * np.arange(k) / k
    wide = 1.45 if k > 2 else 1.3
    return np.column_stack([WIDTH / 2 + wide * RADIUS * np.cos(angle), HEIGHT / 2 - 14 + RADIUS * np.sin(angle)])


def _arrow(a: np.ndarray, b: np.ndarray, from_size: float, to_size: float, p: float, number: int) -> Markup:
    """An arrow that bends to its right, so that the way back has its own."""
    gap = b - a
    way = gap / np.linalg.norm(gap)
    aside = np.array([-way[1], way[0]]) * 0.2 * np.linalg.norm(gap)
    middle = (a + b) / 2 + aside
    begin, end = (middle - a) / np.linalg.norm(middle - a), (middle - b) / np.linalg.norm(middle - b)
    width = max(WIDEST * p, 1.2)
    head = 7.0 + width
    start, tip = a + begin * (from_size + 2), b + end * (to_size + 3)
    base = tip + end * head
    side = np.array([-end[1], end[0]]) * (0.45 * head)
    path = Markup(f"M{start[0]:.1f} {start[1]:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {base[0]:.1f} {base[1]:.1f}")
    corners = [tip, base + side, base - side]
    shape = Markup("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "Z")
    t = 0.36  # nearer to where it begins: labels of arrows that cross keep apart
    label = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * base + aside / np.linalg.norm(aside) * 17
    return tag(
        "g", tag("path", d=path, stroke_width=width, class_="arrow"), tag("path", d=shape, class_="arrow-head"),
        text(label[0], label[1] + 4, percent(p), class_="arrow-label"), class_=colour(number),
    )  # fmt: skip
