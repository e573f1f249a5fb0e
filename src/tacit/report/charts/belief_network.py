"""A belief network as boxes below their parents, each with a bar for every state, or mean and standard deviation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..markup import Markup, cut, number, percent, plural, tag
from .figure import text
from .layers import Layers, layers

__all__ = ["MOST_STATES", "network_chart"]

MOST_STATES = 12
"""States of a variable that are drawn; the panel beside tells all."""
NARROWEST, WIDEST, LETTER, SMALL = 104, 192, 7.2, 6.3
HEAD, LINE, FOOT, ACROSS, BETWEEN, EDGE = 24, 18, 5, 28, 52, 10
LONGEST_NAME, LONGEST_STATE = 24, 20

Marginal = Any
"""Probabilities of states, mean and standard deviation of a continuous variable, or None where they are not known."""


def network_chart(
    ident: str, names: Sequence[str], states: Sequence[Sequence[str]], parents: Sequence[Sequence[int]],
    marginals: Sequence[Marginal],
) -> Markup:  # fmt: skip
    """The network with the marginals of its variables.

    Parameters
    ----------
    ident : str
        What identifiers in it begin with.
    names, states, parents : sequences
        Of the variables; a continuous variable has no states.
    marginals : sequence of (array, pair of mean and standard deviation, or None)
    """
    at, wide = layers(parents), _width(names, states)
    lines = [min(len(own), MOST_STATES + (len(own) == MOST_STATES + 1)) or 1 for own in states]
    lines = [n + (len(own) > n) for n, own in zip(lines, states)]
    high = [HEAD + LINE * n + FOOT for n in lines]
    depth = max(at.level) + 1
    tall = [max(h for h, level in zip(high, at.level) if level == k) for k in range(depth)]
    top = EDGE + np.concatenate([[0.0], np.cumsum([h + BETWEEN for h in tall])])
    across = [EDGE + (wide + ACROSS) * x - 0.5 * ACROSS for x in at.x]
    passes = {edge: [EDGE + (wide + ACROSS) * x - 0.5 * ACROSS for x in points] for edge, points in at.edges.items()}
    boxes = [
        _box(i, names[i], states[i], marginals[i], across[i] - 0.5 * wide, float(top[at.level[i]]), wide, high[i])
        for i in np.lexsort((across, at.level)).tolist()
    ]
    edges = _edges(parents, at, across, passes, top, tall, high, wide)
    width = max([*across, *(x for each in passes.values() for x in each)]) + 0.5 * wide + EDGE
    height = float(top[-1]) - BETWEEN + EDGE
    told = (
        f"{plural(len(names), 'variable')}, {plural(sum(map(len, parents)), 'edge')}; parents are above their children."
    )
    return tag(
        "svg", tag("title", "The network", id=f"{ident}-title"), tag("desc", told, id=f"{ident}-desc"),
        tag("g", edges, class_="edges"), tag("g", boxes, class_="boxes"),
        class_="chart network-graph", viewBox=f"0 0 {width:.0f} {height:.0f}", width=f"{width:.0f}", height=f"{height:.0f}",
        role="img", aria_labelledby=f"{ident}-title", aria_describedby=f"{ident}-desc",
    )  # fmt: skip


def _width(names: Sequence[str], states: Sequence[Sequence[str]]) -> float:
    """A width that most names and states fit in."""
    name = max(len(cut(each, LONGEST_NAME)) for each in names)
    state = max((len(cut(each, LONGEST_STATE)) for own in states for each in own), default=0)
    return float(np.clip(max(LETTER * name + 16, SMALL * (state + 8) + 12), NARROWEST, WIDEST))


def _fitting(name: str, room: float, letter: float) -> str:
    return cut(name, max(int(room / letter), 4))


def _box(
    i: int, name: str, states: Sequence[str], marginal: Marginal, x: float, y: float, wide: float, high: float
) -> Markup:
    """A variable: its name, and a line for each state."""
    head = [
        tag("rect", x=0, y=0, width=wide, height=high, rx=5, class_="box"),
        tag("text", _fitting(name, wide - 12, LETTER), x=0.5 * wide, y=16, text_anchor="middle", class_="name"),
    ]
    lines = _continuous(marginal, wide) if not states else _lines(states, marginal, wide)
    return tag(
        "g", tag("title", name), head, lines, class_="variable", data_variable=i,
        transform=Markup(f"translate({x:.1f} {y:.1f})"),
    )  # fmt: skip


def _continuous(marginal: Marginal, wide: float) -> list[Markup]:
    told = "" if marginal is None else f"{number(marginal[0], 4)} ± {number(marginal[1], 3)}"
    return [tag(
        "g", tag("rect", x=2, y=HEAD, width=wide - 4, height=LINE, class_="row"),
        text(0.5 * wide, HEAD + 13, told, class_="value"), class_="state number", data_state=0,
    )]  # fmt: skip


def _lines(states: Sequence[str], marginal: Marginal, wide: float) -> list[Markup]:
    n = MOST_STATES if len(states) > MOST_STATES + 1 else len(states)
    made = []
    for k, state in enumerate(states[:n]):
        share = None if marginal is None else float(marginal[k])
        y = HEAD + LINE * k
        bar = None if share is None else f"{(wide - 4) * share:.2f}"
        made.append(tag(
            "g", tag("title", state),
            tag("rect", x=2, y=y, width=wide - 4, height=LINE, class_="row"),
            None if share is None else tag("rect", x=2, y=y + 2, width=bar, height=LINE - 4, class_="bar-of"),
            text(7, y + 13, _fitting(state, wide - 8 * SMALL - 10, SMALL), "start", class_="label"),
            None if share is None else text(wide - 6, y + 13, percent(share), "end", class_="value"),
            class_="state", data_state=k,
        ))  # fmt: skip
    if n < len(states):
        made.append(text(7, HEAD + LINE * n + 13, f"and {len(states) - n} more states", "start", class_="more"))
    return made


# Edges


def _edges(
    parents: Sequence[Sequence[int]], at: Layers, across: list[float], passes: dict, top: np.ndarray, tall: Sequence[float],
    high: Sequence[float], wide: float,
) -> list[Markup]:  # fmt: skip
    """Arrows from the foot of a parent to the head of a child, through the gaps between boxes."""
    begins, ends = _ports(parents, across, passes, wide)
    made = []
    for child, above in enumerate(parents):
        for parent in above:
            x, y = begins[parent, child], float(top[at.level[parent]]) + high[parent]
            path = f"M{x:.1f} {y:.1f}"
            for k, through in enumerate(passes[parent, child], at.level[parent] + 1):
                path += _bend(x, y, through, float(top[k])) + f"V{top[k] + tall[k]:.1f}"
                x, y = through, float(top[k]) + tall[k]
            tip, end = ends[parent, child], float(top[at.level[child]])
            path += _bend(x, y, tip, end - 7)
            made.append(tag(
                "g", tag("path", d=Markup(path), class_="edge-line"),
                tag("path", d=Markup(f"M{tip:.1f} {end:.1f}l-4-8h8Z"), class_="edge-head"),
                class_="edge", data_from=parent, data_to=child,
            ))  # fmt: skip
    return made


def _bend(x: float, y: float, x1: float, y1: float) -> str:
    """A curve that begins and ends upright."""
    middle = 0.5 * (y + y1)
    return f"C{x:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"


def _ports(
    parents: Sequence[Sequence[int]], across: list[float], passes: dict, wide: float
) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
    """Where edges leave and enter boxes, side by side in the order in which they go on."""
    leaving: dict[int, list] = {}
    entering: dict[int, list] = {}
    for edge, points in passes.items():
        parent, child = edge
        leaving.setdefault(parent, []).append(((*points, across[child])[0], edge))
        entering.setdefault(child, []).append(((across[parent], *points)[-1], edge))
    found: list[dict] = []
    for sides in (leaving, entering):
        places = {}
        for box, own in sides.items():
            step = min(14.0, 0.7 * wide / len(own))
            for k, (_, edge) in enumerate(sorted(own)):
                places[edge] = across[box] + step * (k - 0.5 * (len(own) - 1))
        found.append(places)
    return found[0], found[1]
