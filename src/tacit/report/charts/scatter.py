"""Rows on a plane: a mark each, coloured and shaped by group, with the ellipse that holds 90 % of a group."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..markup import Markup, join, tag
from .colours import SHAPES, colour, shape
from .ellipse import Ellipse, ellipse_of
from .figure import text
from .scale import Scale, spanning

__all__ = ["scatter", "symbols"]

WIDTH, HEIGHT = 680, 426
LEFT, RIGHT, TOP, BOTTOM = 1, 679, 1, 425
MOST_SPREADS = 80
REACH = 4.605170185988092
"""Quantile 0.9 of χ² with two degrees of freedom."""
MOST_ROOM = 0.25
"""Share of its length by which a scale may grow at either end to hold ellipses."""


def symbols(groups: Iterable[int], n_rows: int) -> Markup:
    """The marks of groups, defined once for all maps of the page; smaller where there are many."""
    size = 1.0 if n_rows <= 400 else 0.8 if n_rows <= 1000 else 0.65
    marks = [
        tag("g", tag("path", d=SHAPES[shape(group)], transform=f"scale({size})"), id=f"m{group}") for group in groups
    ]
    marks.append(tag("g", tag("circle", r=7.5 * size), id="ring"))
    return tag("svg", tag("defs", marks), class_="defs", aria_hidden="true", focusable="false")


def scatter(
    name: str, places: np.ndarray, group: np.ndarray, *, hollow: np.ndarray | None = None, ringed: np.ndarray | None = None,
    spread: np.ndarray | None = None, ellipses: bool = True, arrows: Sequence[tuple[str, float, float]] = (), **attributes: Any,
) -> tuple[Markup, int]:  # fmt: skip
    """The map as SVG.

    Parameters
    ----------
    name : str
        Begins the ids of its parts.
    places : (m, 2) array
    group : (m,) int array
        Number of each row's group, from 1; all 1 where there are none.
    hollow, ringed : (m,) bool arrays, optional
        Rows drawn hollow, and with a ring around.
    spread : (m, 2) array, optional
        Standard deviation of each place, drawn as an ellipse of 90 %.
    ellipses : bool
        Whether to draw the ellipses of groups.
    arrows : sequence of (name, x, y)
        Directions drawn from the origin, the longest first, all at the same scale of their own.
    """
    numbers = sorted(set(group.tolist()))
    reaches = {number: ellipse_of(places[group == number]) if ellipses else None for number in numbers}
    across, upward, beyond = _scales(places, [reach for reach in reaches.values() if reach is not None])
    x = np.clip(across(places[:, 0]), LEFT + 4, RIGHT - 4)
    y = np.clip(upward(places[:, 1]), TOP + 4, BOTTOM - 4)
    hollow = np.zeros(len(x), bool) if hollow is None else hollow
    ringed = np.zeros(len(x), bool) if ringed is None else ringed
    layers, names = [], []
    taken: list = []
    for number in numbers:
        rows = np.flatnonzero(group == number)
        outline, spots = _outline(reaches[number], across, upward)
        names += _name(number, spots, taken, x, y, group)
        around = None if spread is None else _spreads(places[rows], spread[rows], across, upward)
        marks = [_mark(number, x[i], y[i], hollow[i], ringed[i]) for i in rows]
        layers.append(_layer(number, rows, around, outline, Markup("".join(marks))))
    frame = {"x": LEFT, "y": TOP, "width": RIGHT - LEFT, "height": BOTTOM - TOP}
    window = tag("clipPath", tag("rect", **frame), id=f"{name}-window")
    inside = tag(
        "g", _zero(across, upward), layers, names, _arrows(arrows, across, upward), clip_path=f"url(#{name}-window)"
    )
    svg = tag(
        "svg", window, tag("rect", **frame, class_="frame"), inside, tag("g", class_="focus"),
        class_="chart map", viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", id=name,
        data_across=_ends(across), data_upward=_ends(upward), **attributes,
    )  # fmt: skip
    return svg, int(beyond.sum())


def _ends(scale: Scale) -> str:
    """What the script needs to turn places back into numbers."""
    return " ".join(f"{float(end):.8g}" for end in (scale.low, scale.high, scale.start, scale.end))


def _arrows(arrows: Sequence[tuple[str, float, float]], across: Scale, upward: Scale) -> list[Markup]:
    """Arrows from the origin, and their names where none covers another; the longest reaches towards the frame."""
    if not arrows:
        return []
    x0, y0 = (float(sorted((scale.start, float(scale(0.0)), scale.end))[1]) for scale in (across, upward))
    room = [(RIGHT - 60 - x0 if x > 0 else x0 - LEFT - 60) / max(abs(x), 1e-9) for _, x, _ in arrows]
    room += [(y0 - TOP - 24 if y > 0 else BOTTOM - 24 - y0) / max(abs(y), 1e-9) for _, _, y in arrows]
    unit = max(0.8 * min(room), 1.0)
    drawn: list[Markup] = []
    taken: list[tuple[float, float, float]] = []
    for name, x, y in arrows:
        a, b = x0 + unit * x, y0 - unit * y
        angle = np.degrees(np.arctan2(b - y0, a - x0))
        head = tag("path", d="M0 0L-8 3.4V-3.4Z", transform=f"translate({a:.1f} {b:.1f}) rotate({angle:.1f})")
        wide = 5.0 * len(name) + 8
        side, spot = ("start", a + 6) if a >= x0 else ("end", a - 6)
        middle = spot + (0.5 if side == "start" else -0.5) * wide
        high = b + 4 + 8 * float(np.sign(b - y0))
        clear = all(abs(middle - c) > 0.5 * (wide + w) or abs(high - d) > 18 for c, d, w in taken)
        clear = clear and middle - 0.5 * wide > LEFT and middle + 0.5 * wide < RIGHT
        label = text(spot, high, name, side, class_="place") if clear else None
        if clear:
            taken.append((middle, high, wide))
        drawn.append(tag("g", tag("title", name), tag("line", x1=x0, y1=y0, x2=a, y2=b), head, label, class_="arrow"))
    return drawn


def _layer(number: int, rows: np.ndarray, *parts: Any) -> Markup:
    """What is drawn of a group; the script finds the rows of its marks by their places in the table of rows."""
    return tag("g", *parts, class_=f"layer {colour(number)}", data_group=number, data_rows=" ".join(map(str, rows)))


def _mark(number: int, x: float, y: float, hollow: bool, ringed: bool) -> str:
    # Written by hand: there are thousands of these, and nothing in them but numbers.
    ring = f'<use href="#ring" class="o" x="{x:.1f}" y="{y:.1f}"/>' if ringed else ""
    kind = ' class="u"' if hollow else ""
    return f'{ring}<use href="#m{number}"{kind} x="{x:.1f}" y="{y:.1f}"/>'


def _scales(places: np.ndarray, reaches: list[Ellipse]) -> tuple[Scale, Scale, np.ndarray]:
    """Scales that hold the ellipses and that a few rows far out do not spoil, and which rows lie beyond them."""
    lines, beyond = [], np.zeros(len(places), bool)
    for axis, start, end in ((0, LEFT + 8, RIGHT - 8), (1, BOTTOM - 8, TOP + 8)):
        values = places[:, axis]
        scale = spanning(values, start, end, 0.04)
        low, high = np.quantile(values, [0.02, 0.98]) if len(values) else (0.0, 1.0)
        room = 0.75 * (high - low)
        if high > low and scale.high - scale.low > 3.0 * (high - low + 2 * room):
            scale = Scale(max(scale.low, low - room), min(scale.high, high + room), start, end)
        scale = _holding(scale, [(reach.centre[axis], reach.reach[axis]) for reach in reaches])
        beyond |= (values < scale.low) | (values > scale.high)
        lines.append(scale)
    return lines[0], lines[1], beyond


def _zero(across: Scale, upward: Scale) -> list[Markup]:
    lines = []
    if across.low < 0 < across.high:
        lines.append(tag("line", x1=across(0), x2=across(0), y1=TOP, y2=BOTTOM, class_="grid"))
    if upward.low < 0 < upward.high:
        lines.append(tag("line", x1=LEFT, x2=RIGHT, y1=upward(0), y2=upward(0), class_="grid"))
    return lines


def _holding(scale: Scale, spans: list[tuple[float, float]]) -> Scale:
    """The scale made longer, within reason, so that spans (middle, half its length) lie on it."""
    room = MOST_ROOM * (scale.high - scale.low)
    low = min([scale.low, *(middle - 1.03 * half for middle, half in spans)])
    high = max([scale.high, *(middle + 1.03 * half for middle, half in spans)])
    return Scale(max(low, scale.low - room), min(high, scale.high + room), scale.start, scale.end)


def _outline(reach: Ellipse | None, across: Scale, upward: Scale) -> tuple[Markup | None, list]:
    """The ellipse of a group, and where its name may stand: above it, below it, beside it."""
    if reach is None:
        return None, []
    centre = reach.centre
    factors = np.array([across(1.0) - across(0.0), upward(1.0) - upward(0.0)])
    values, vectors = np.linalg.eigh(reach.shape * np.outer(factors, factors))
    radii = np.sqrt(np.maximum(values, 0.0))
    angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    x, y = float(across(centre[0])), float(upward(centre[1]))
    wide, high = reach.reach * np.abs(factors)
    turn = f"translate({x:.1f} {y:.1f}) rotate({angle:.1f})"
    # A group of equal rows has no ellipse.
    outline = tag("ellipse", rx=radii[1], ry=radii[0], transform=turn, class_="reach") if radii[1] > 1 else None
    beside = [(x + side * (0.72 * wide + 50), y + up * (0.72 * high + 12)) for side in (1, -1) for up in (1, -1)]
    around = [(x, y - high - 6), (x, y + high + 22), (x + wide + 50, y + 4), (x - wide - 50, y + 4)]
    return outline, [*around, *beside, (x, y + 4)]


def _name(number: int, spots: list, taken: list, x: np.ndarray, y: np.ndarray, group: np.ndarray) -> list[Markup]:
    """The name of a group where no other name stands and it covers fewest marks; none where there is no such place."""
    # Room for the size that narrow screens show; a spot inside the frame is better than one moved there.
    fitted = [(float(np.clip(a, LEFT + 50, RIGHT - 50)), float(np.clip(b, TOP + 22, BOTTOM - 8))) for a, b in spots]
    free = [
        (_covered(x - a, y - b + 6, group != number) + 3 * ((a, b) != tuple(spot)), k, (a, b))
        for k, (spot, (a, b)) in enumerate(zip(spots, fitted))
        if all(abs(a - c) > 96 or abs(b - d) > 24 for c, d in taken)
    ]
    if not free:
        return []
    a, b = min(free)[2]
    taken.append((a, b))
    return [text(a, b, f"Group {number}", class_=f"place {colour(number)}", data_group=number)]


def _covered(dx: np.ndarray, dy: np.ndarray, others: np.ndarray) -> int:
    """How many marks a name would cover, and more where the nearest one is of another group."""
    stray = others[np.argmin(dx**2 + dy**2)] if len(dx) else False
    return int(((np.abs(dx) < 40) & (np.abs(dy) < 14)).sum()) + 6 * int(stray)


def _spreads(places: np.ndarray, spread: np.ndarray, across: Scale, upward: Scale) -> Markup:
    """Ellipses of rows; of many rows only of those that are less certain than most, and a typical one in the corner."""
    typical = None
    if len(places) > MOST_SPREADS:
        usual = np.median(spread, axis=0)
        x, y = across.low + 0.06 * (across.high - across.low), upward.low + 0.12 * (upward.high - upward.low)
        ellipse = _spreads(np.array([[x, y]]), usual[None], across, upward)
        name = text(across(x), BOTTOM - 10, "typical", class_="end")
        typical = tag("g", ellipse, name, class_="typical") if ellipse else None
        chosen = (spread > 1.25 * usual).any(axis=1)
        places, spread = places[chosen], spread[chosen]
    reach = np.sqrt(REACH)
    wide = reach * spread[:, 0] * abs(across(1.0) - across(0.0))
    high = reach * spread[:, 1] * abs(upward(1.0) - upward(0.0))
    parts = [
        f'<ellipse class="spread" cx="{across(p[0]):.1f}" cy="{upward(p[1]):.1f}" rx="{w:.1f}" ry="{h:.1f}"/>'
        for p, w, h in zip(places, wide, high)
        if w > 0.5 or h > 0.5
    ]
    return join([Markup("".join(parts)), typical])
